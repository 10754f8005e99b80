"""ONCE: a command at most once per id. Replies, refusals and permissions; module_once_persist_test.py
tests persistence and replication, module_cluster_test.py clusters."""

import time

import server_runner
from family_cases import Options
from server_runner import Case, Client, Error, pairs

# A command, its preparation, and a query of its effect.
WRITES = {
    "INCRBY": (["INCRBY", "n", 5], [], ["GET", "n"]),
    "LPUSH": (["LPUSH", "list", "a", "b"], [], ["LRANGE", "list", 0, -1]),
    "HSET": (["HSET", "hash", "f", "v"], [], ["HGETALL", "hash"]),
    "XADD": (["XADD", "stream", "*", "f", "v"], [], ["XRANGE", "stream", "-", "+"]),
    "SPOP": (["SPOP", "set"], ["SADD", "set", *range(20)], ["SMEMBERS", "set"]),
    "SET EX": (["SET", "s", "v", "EX", 1000], [], ["PEXPIRETIME", "s"]),
    "MSET": (["MSET", "a", 1, "b", 2], [], ["MGET", "a", "b"]),
    "XGROUP": (["XGROUP", "CREATE", "str", "group", "$", "MKSTREAM"], [],
               ["XINFO", "GROUPS", "str"]),
    "MAP.SET": (["MAP.SET", "map", "field", "v"], [], ["MAP.GET", "map", "field"]),
}


class Once(Options, Case):
    PREFIX, CREATE = "ONCE", "CREATE x WINDOW 1s"
    OPTIONS = {"WINDOW": ("time", 5, 0), "ERROR": ("fraction", 0.1, 0.9),
               "MAXMEM": ("size", "1mb", 0), "CAPACITY": ("count", 5, 0, -1),
               "SEED": ("number", 5, 0)}

    def setUp(self):
        super().setUp()
        self.client("ONCE.CREATE", "g", "WINDOW", "1h")

    def info(self, key="g"):
        return pairs(self.client("ONCE.INFO", key))

    def guard(self):
        """The state of the guard, except its time."""
        info = self.info()
        passing = (b"time", b"covered", b"generations", b"bytes")
        return {name: info[name] for name in info if name not in passing}

    def state(self):
        """The state of the guard and of all other keys."""
        keys = sorted(key for key in self.client("KEYS", "*") if key != b"g")
        return self.guard(), self.client("DEBUG", "DIGEST-VALUE", *keys)

    def test_applied_once(self):
        for name, (command, before, ask) in WRITES.items():
            if before:
                self.client(*before)
            was = self.client.ask(*ask)
            applied, reply = self.client("ONCE", "g", name, *command)
            self.assertEqual(applied, 1, name)
            self.assertNotIsInstance(reply, Error)
            then = self.client(*ask)
            self.assertNotEqual(was, then, name)
            state, keys = self.state()
            for _ in range(3):
                self.assertEqual(self.client("ONCE", "g", name, *command), [0, None], name)
            self.assertEqual(self.client(*ask), then, name)
            state[b"repeats"] += 3
            self.assertEqual(self.state(), (state, keys), "a repeat changes nothing else")
        # Only the id counts, not the command.
        self.assertEqual(self.client("ONCE", "g", "XADD", "SET", "other", "v"), [0, None])
        self.assertEqual(self.client("EXISTS", "other"), 0)

    def test_replies_are_those_of_the_command(self):
        commands = [["SET", "k", "v"], ["SET", "k", "w", "GET"], ["GETDEL", "none"], ["DEL", "k"],
                    ["ZADD", "z", 1.5, "a", 2, "b"], ["ZADD", "z", "INCR", 0.25, "a"],
                    ["ZPOPMIN", "z", 2], ["HINCRBYFLOAT", "h", "f", 2.5], ["SADD", "s", 1, 2],
                    ["SPOP", "s", 5], ["LPOP", "none"], ["LPUSH", "l", 3, 1, 2],
                    ["SORT", "l"], ["LPOP", "l", 2], ["SET", "b", b"\x00\xff\r\n"], ["GETDEL", "b"],
                    ["MAP.SET", "m", "f", "v"], ["MAP.DEL", "m", "f", "g"]]
        for resp3 in (False, True):
            client = self.connect()
            if resp3:
                client.hello3()
            plain = [client.ask(*command) for command in commands]
            self.client("DEL", "k", "z", "h", "s", "l", "b", "m")
            for command, reply in zip(commands, plain):
                once = client("ONCE", "g", f"{resp3} {command}", *command)
                if command[0] == "SPOP":  # in any order
                    once[1], reply = sorted(once[1]), sorted(reply)
                self.assertEqual(once, [1, reply], command)
            self.client("DEL", "k", "z", "h", "s", "l", "b", "m")

    def test_an_error_is_not_remembered(self):
        self.client("SET", "text", "v")
        self.client("SET", "large", 2**63 - 1)
        before, keys = self.guard(), self.client("DEBUG", "DIGEST-VALUE", "text", "large")
        for word, *command in (["WRONGTYPE", "LPUSH", "text", "a"], ["ERR", "INCRBY", "text", 1],
                               ["ERR", "INCR", "large"], ["ERR", "INCRBY", "k", "x"],
                               ["ERR", "SET", "k", "v", "EX", 0], ["ERR", "SET", "k", "v", "NO"],
                               ["ERR", "XADD", "k", "0-0", "f", "v"], ["ERR", "MSET", "a", 1, "b"],
                               ["ERR", "XGROUP", "CREATE", "none", "group", "$"],
                               ["ERR", "COUNTER.INCRBY", "none", "c", 1, "id"],
                               ["BUSYGROUP", "XGROUP", "CREATE", "str", "group", "$"]):
            if word == "BUSYGROUP":
                self.client(*command, "MKSTREAM")
            plain = self.client.ask(*command)
            for _ in range(2):
                reply = self.client.ask("ONCE", "g", "id", *command)
                self.assertIsInstance(reply, Error, command)
                self.assertEqual(reply, plain, "the error is the command's own")
                self.assertEqual(reply.word, word)
            self.assertEqual(self.guard(), before, command)
            self.assertEqual(self.client("WINDOW.EXISTS", "g", "id"), [0])
        self.assertEqual(self.client("DEBUG", "DIGEST-VALUE", "text", "large"), keys)
        self.assertEqual(self.client("DBSIZE"), 4)
        self.assertEqual(self.client("ONCE", "g", "id", "INCR", "k"), [1, 1])
        self.assertEqual(self.client("ONCE", "g", "id", "INCR", "text"), [0, None])

    def test_names_of_commands_in_any_case(self):
        """Also right after the same or another command."""
        for i, name in enumerate(("INCR", "incr", "Incr", "INCR", "DECR", "INCR", "INCR")):
            self.assertEqual(self.client("ONCE", "g", i, name, "k")[0], 1, i)
            self.refused("ERR", "ONCE", "g", "id", "GET", "k", text="write commands only")
        self.assertEqual(self.client("GET", "k"), b"5")
        for applied in (1, 0):
            self.assertEqual(self.client("ONCE", "g", "x", "XGROUP", "CREATE", "s", "group", "$",
                                         "MKSTREAM")[0], applied)
            self.refused("ERR", "ONCE", "g", "id", "XGROUP", "HELP", text="write")

    def test_failed_commands_among_many(self):
        """Forgetting an id keeps all others, in every level of a guard that has outgrown its
        plan."""
        self.client("ONCE.CREATE", "small", "WINDOW", "1h", "CAPACITY", 10, "ERROR", "1e-6")
        self.client("SET", "text", "v")
        ids = range(4000)
        replies = self.client.pipeline(
            [["ONCE", "small", i, *(["INCR", "k"] if i % 3 else ["LPUSH", "text", "v"])]
             for i in ids])
        self.assertTrue(all(isinstance(reply, Error) == (i % 3 == 0)
                            for i, reply in zip(ids, replies)))
        known = self.client("WINDOW.EXISTS", "small", *ids)
        self.assertEqual([i for i in ids if known[i] != (i % 3 > 0)], [])
        self.assertEqual(self.client("GET", "k"), b"%d" % sum(i % 3 > 0 for i in ids))
        info = self.info("small")
        self.assertEqual((info[b"items"], info[b"applied"]), (2666, 2666))

    def test_refused(self):
        self.client("SET", "k", "v")
        self.client("RPUSH", "list", "v")
        self.client("XADD", "stream", "*", "f", "v")
        for text, command in {
            "GET k": "write commands only", "PING": "write commands only",
            "SELECT 1": "write commands only", "EVAL x 1 k": "write commands only",
            "FCALL f 1 k": "write commands only", "MULTI": "write commands only",
            "DEBUG SLEEP 0": "write commands only", "CONFIG SET maxmemory 1": "write commands only",
            "PUBLISH c m": "write commands only", "OBJECT ENCODING k": "write commands only",
            "XGROUP HELP": "write", "XGROUP": "write commands only",
            "SHUTDOWN": "write commands only", "FLUSHALL": "with keys",
            "FLUSHDB": "with keys", "SWAPDB 0 1": "with keys", "ZUNIONSTORE d x a": "with keys",
            "BLPOP list 1": "may block", "BLMOVE list l2 LEFT LEFT 1": "may block",
            "XREADGROUP GROUP a b STREAMS stream >": "may block",
            "MIGRATE h 1 k 0 1": "'MIGRATE'", "RESTORE k 0 x": "'RESTORE'",
            "restore-asking k 0 x": "'restore-asking'", "ONCE g x SET k w": "'ONCE'",
            "once other x SET k w": "'once'", "BLOOMERY.MAP.LOAD m 0 x": "'BLOOMERY.MAP.LOAD'",
            "nosuch k": "unknown command 'nosuch'", "XGROUP nosuch k": "unknown subcommand",
            "xgroup|create stream group $": "unknown command", "SET k": "wrong number",
            "INCRBY k 1 2": "wrong number", "XGROUP CREATE stream": "wrong number",
            **dict.fromkeys((
                "DEL g", "DEL k g", "RENAME k g", "SORT list STORE g", "WINDOW.DEL g x",
                "WINDOW.ADD g id", "COPY g h", "MAP.MERGE m g", "WINDOW.MERGE w g",
                "WINDOW.CREATE w LIKE g", "MAP.CREATE m like g", "INDEX.CREATE i LIKE g",
            ), "must not use the guard as one of its own keys"),
        }.items():
            self.refused("ERR", "ONCE", "g", "id", *text.split(), text=command)
        long = "x" * 100
        self.refused("ERR", "ONCE", "g", "id", long, "k", text="unknown command")
        self.refused("ERR", "ONCE", "g", "id", "x" * (1 << 20), "k", text="unknown command")
        self.refused("ERR", "ONCE", "g", "id", "xgroup", long, "k", text="unknown subcommand")
        self.refused("ERR", "ONCE", "g", "id", "", "k", text="unknown command")
        self.refused("ERR", "ONCE", "g", "id", b"SET\x00", "k", "v", text="unknown command")
        self.refused("ERR", "ONCE", "g", "id", *["ONCE", "g", "id"] * 100000, text="'ONCE'")
        self.assertEqual(self.client("WINDOW.EXISTS", "g", "id"), [0])

    def test_what_restores_keys_is_refused(self):
        """Including internal commands that this module may add later."""
        names = self.client("COMMAND", "LIST", "FILTERBY", "PATTERN", "bloomery.*")
        names.remove(b"bloomery.probe")  # which does not write
        self.assertGreaterEqual(len(names), 12)
        for name in names:
            self.refused("ERR", "ONCE", "g", "id", name, "k", 0, "x", text="ONCE cannot call")

    def test_internal_commands_are_not_for_clients(self):
        for name in ("BLOOMERY.ONCE.DONE", "BLOOMERY.ONCE.APPLY"):
            self.refused("ERR", name, "g", "id", "INCR", "k", text="for replication")
            self.refused("ERR", name, "g", "id", text="wrong number of arguments")
            self.assertEqual(self.client("COMMAND", "GETKEYS", name, "g", "id", "SET", "k", "v"),
                             [b"g"])
        self.assertEqual(self.client("EXISTS", "k"), 0)
        self.assertEqual(self.client("WINDOW.EXISTS", "g", "id"), [0])

    def test_arguments(self):
        for command in (["ONCE"], ["ONCE", "g"], ["ONCE", "g", "id"], ["ONCE.CREATE"],
                        ["ONCE.INFO"], ["ONCE.INFO", "g", "g"]):
            self.refused("ERR", *command, text="wrong number of arguments")
        create = ["ONCE.CREATE", "x"]
        for text, command in {
            "WINDOW is required: how long ids": [], "WINDOW is required": ["ERROR", "1%"],
            "'REFRESH'": ["WINDOW", "1s", "REFRESH"],
            "'EVENTTIME'": ["WINDOW", "1s", "EVENTTIME", "SKEW", "1s"],
            "'\\xff'": ["WINDOW", "1s", b"\xff", 1],
        }.items():
            self.refused("ERR", *create, *command, text=text)
        self.refused("RANGE", *create, "WINDOW", "1s", "MAXMEM", 10, text="MAXMEM is too small")
        self.refused("BUSYKEY", "ONCE.CREATE", "g", "WINDOW", "1s")
        self.client("SET", "text", "v")
        self.refused("WRONGTYPE", "ONCE.CREATE", "text", "WINDOW", "1s")
        self.refused("WRONGTYPE", "ONCE.INFO", "text")
        self.refused("WRONGTYPE", "ONCE", "text", "id", "SET", "k", "v")

    def test_ids_and_arguments_of_any_kind(self):
        for one in ("", b"\x00", b"\x00\x01\xff\r\n", "x" * (1 << 20), "1", "01", " 1", "1\n"):
            length = self.client("STRLEN", "k") + 1
            self.assertEqual(self.client("ONCE", "g", one, "APPEND", "k", "x"), [1, length])
            self.assertEqual(self.client("ONCE", "g", one, "APPEND", "k", "x"), [0, None])
        large = b"\r\n\x00" * (1 << 20)
        self.assertEqual(self.client("ONCE", "g", "large", "SET", b"\x00key", large), [1, b"OK"])
        self.assertTrue(self.client("GET", b"\x00key") == large)
        many = [word for i in range(20000) for word in (f"k{i}", i)]
        self.assertEqual(self.client("ONCE", "g", "many", "MSET", *many), [1, b"OK"])
        self.assertEqual(self.client("ONCE", "g", "many", "MSET", *many), [0, None])
        self.assertEqual(self.client("DBSIZE"), 20003)
        self.client("ONCE.CREATE", b"\x00 \xff", "WINDOW", "1h")
        self.assertEqual(self.client("ONCE", b"\x00 \xff", "a", "DEL", "k1"), [1, 1])

    # ---- guards --------------------------------------------------------------------------------

    def test_guards(self):
        self.refused("NOGUARD", "ONCE", "none", "id", "SET", "k", "v")
        self.refused("NOGUARD", "ONCE.INFO", "none")
        self.assertEqual(self.client("EXISTS", "none", "k"), 0)
        for text, options in {
            "engine fbf": ["ENGINE", "fbf"], "REFRESH": ["REFRESH"],
            "event time": ["EVENTTIME", "SKEW", "1s"],
        }.items():
            self.client("DEL", "w")
            self.client("WINDOW.CREATE", "w", "WINDOW", "1h", *options)
            self.refused("UNSUPPORTED", "ONCE", "w", "id", "SET", "k", "v", text=text)
        self.client("DEL", "w")
        self.client("WINDOW.CREATE", "w", "WINDOW", "1h", "ERROR", "1e-9", "ENGINE", "compact")
        self.assertEqual(self.client("ONCE", "w", "id", "SET", "k", "v"), [1, b"OK"])
        # A guard is a window: ids that were done elsewhere can be added and forgotten.
        self.assertEqual(self.client("WINDOW.ADD", "g", "elsewhere"), [1])
        self.assertEqual(self.client("ONCE", "g", "elsewhere", "INCR", "n"), [0, None])
        self.assertEqual(self.client("WINDOW.DEL", "g", "elsewhere"), [1])
        self.assertEqual(self.client("ONCE", "g", "elsewhere", "INCR", "n"), [1, 1])
        self.client("PEXPIRE", "w", 1)
        self.wait_until(lambda: isinstance(self.client.ask("ONCE", "w", "id", "INCR", "n"), Error),
                        "the guard has expired")
        self.refused("NOGUARD", "ONCE", "w", "id", "INCR", "n")
        # Another guard does not know it.
        self.client("ONCE.CREATE", "h", "WINDOW", "1h")
        self.assertEqual(self.client("ONCE", "h", "elsewhere", "INCR", "n"), [1, 2])

    def test_creation(self):
        info = self.info()
        self.assertEqual((info[b"window"], info[b"engine"], info[b"capacity"], info[b"maxmem"],
                          float(info[b"promised_error"])),
                         (3600000, b"compact", 1000000, 0, 1e-9))
        self.addCleanup(self.client, "CONFIG", "SET", "bloomery.once-error", "1e-9",
                        "bloomery.once-capacity", 1000000)
        self.client("CONFIG", "SET", "bloomery.once-error", "0.01%", "bloomery.once-capacity", 500)
        self.client("ONCE.CREATE", "h", "WINDOW", "10min")
        self.client("ONCE.CREATE", "i", "WINDOW", "2s", "ERROR", "1e-6", "CAPACITY", "10k",
                    "MAXMEM", "1mb", "SEED", 9)
        info, other = self.info("h"), self.info("i")
        self.assertEqual((info[b"window"], info[b"capacity"], float(info[b"promised_error"])),
                         (600000, 500, 1e-4))
        self.assertEqual((other[b"window"], other[b"capacity"], float(other[b"promised_error"]),
                          other[b"maxmem"], other[b"seed"]), (2000, 10000, 1e-6, 1 << 20, b"9"))
        for value in ("0.9", "x", "-1"):
            self.assertIsInstance(
                self.client.ask("CONFIG", "SET", "bloomery.once-error", value), Error)

    def test_what_is_expected_to_be_lost(self):
        """expected_lost is the sum of the errors when new ids were checked; and its upper bound."""
        self.client("ONCE.CREATE", "h", "WINDOW", "1h", "CAPACITY", 1000, "ERROR", "1%", "SEED", 3)
        applied = repeated = 0
        expected = 0.0
        for i in range(1500):
            error = float(self.info("h")[b"estimated_error"]) if i % 50 == 0 else None
            reply = self.client("ONCE", "h", i, "INCR", "k")
            applied += reply[0]
            repeated += not reply[0]
            expected += 50 * error if error is not None else 0
        info = self.info("h")
        self.assertEqual((info[b"applied"], info[b"repeats"]), (applied, repeated))
        self.assertAlmostEqual(float(info[b"expected_lost"]), expected,
                               delta=0.08 * expected)
        # 5 sigma around the expectation; each id was new, so each repeat is a lost write.
        self.assertLess(abs(repeated - expected), 5 * expected ** 0.5)
        self.assertGreater(repeated, 0)
        self.assertLess(float(info[b"expected_lost"]), 1500 * 0.01)

    def test_ids_come_free_after_the_window(self):
        self.client("ONCE.CREATE", "brief", "WINDOW", 300, "CAPACITY", 100)
        start = time.monotonic()
        self.assertEqual(self.client("ONCE", "brief", "id", "INCR", "k"), [1, 1])
        again = self.client("ONCE", "brief", "id", "INCR", "k")
        if time.monotonic() - start < 0.3:
            self.assertEqual(again, [0, None])

        def applied():
            return self.client("ONCE", "brief", "id", "INCR", "k")[0] == 1
        self.wait_until(applied, "the window has passed")
        self.assertGreaterEqual(time.monotonic() - start, 0.3)
        self.assertEqual(self.client("EXISTS", "brief"), 1)

    # ---- room ----------------------------------------------------------------------------------

    def test_a_full_guard_refuses_before_the_command(self):
        self.client("ONCE.CREATE", "h", "WINDOW", "1h", "MAXMEM", "16kb", "CAPACITY", 100)
        applied, _ = self.until_refused("FULL", lambda i: ["ONCE", "h", i, "INCR", "k"])
        self.assertGreater(applied, 100)
        self.refused("FULL", "ONCE", "h", "new", "INCR", "k",
                     text="FULL the guard has reached MAXMEM (16384 bytes); room is freed as ids")
        self.refused("FULL", "ONCE", "h", "new", "LPUSH", "k", "v")  # which would fail
        self.assertEqual(self.client("GET", "k"), b"%d" % applied)
        self.assertEqual(self.client("ONCE", "h", 5, "INCR", "k"), [0, None], "repeats need no room")
        self.assertEqual(self.client("WINDOW.DEL", "h", 5), [1])
        self.assertEqual(self.client("ONCE", "h", "new", "INCR", "k"), [1, applied + 1])

    def test_the_limit_of_a_key(self):
        self.client("ONCE.CREATE", "h", "WINDOW", "1h", "CAPACITY", 1000)
        self.client("CONFIG", "SET", "bloomery.max-key-bytes", "64kb")
        replies = self.client.pipeline([["ONCE", "h", i, "INCR", "k"] for i in range(20000)])
        applied = sum(reply == [1, i + 1] for i, reply in enumerate(replies))
        refusals = replies[applied:]
        self.assertTrue(5000 < applied < 20000, applied)
        self.assertTrue(all(isinstance(reply, Error) and reply.word == "FULL"
                            for reply in refusals))
        self.assertIn("bloomery.max-key-bytes", str(refusals[0]))
        self.assertEqual(self.client("GET", "k"), b"%d" % applied)
        self.assertEqual(self.client("ONCE", "h", 5, "INCR", "k"), [0, None])
        self.assertLessEqual(self.client("MEMORY", "USAGE", "h"), 70000)

    def test_maxmemory(self):
        self.client("ONCE", "g", "known", "INCR", "k")
        self.client("CONFIG", "SET", "maxmemory", "1mb")
        for command in (["SET", "x", "v"], ["DEL", "k"], ["INCR", "k"]):
            self.refused("OOM", "ONCE", "g", "id", *command)
        self.refused("OOM", "EVAL", "return redis.call('ONCE', KEYS[1], 'id', 'INCR', KEYS[2])", 2,
                     "g", "k")
        self.client("CONFIG", "SET", "maxmemory", 0)
        self.assertEqual(self.client("ONCE", "g", "id", "INCR", "k"), [1, 2])

    # ---- in transactions and scripts -----------------------------------------------------------

    def test_in_a_transaction(self):
        self.client("MULTI")
        for command in (["g", "a", "INCR", "k"], ["g", "a", "INCR", "k"],
                        ["g", "b", "LPUSH", "k", "v"], ["g", "b", "INCR", "k"],
                        ["none", "c", "INCR", "k"], ["g", "d", "BLPOP", "l", 0]):
            self.assertEqual(self.client("ONCE", *command), b"QUEUED")
        replies = self.client("EXEC")
        self.assertEqual([replies[i] for i in (0, 1, 3)], [[1, 1], [0, None], [1, 2]])
        self.assertEqual([replies[i].word for i in (2, 4, 5)], ["WRONGTYPE", "NOGUARD", "ERR"])
        # Clients that WATCH the guard notice it.
        other = self.connect()
        self.client("WATCH", "g")
        other("ONCE", "g", "e", "INCR", "k")
        self.client("MULTI")
        self.client("INCR", "k")
        self.assertIsNone(self.client("EXEC"))

    def test_in_a_script(self):
        call = "return redis.call('ONCE', KEYS[1], ARGV[1], 'INCRBY', KEYS[2], 5)"
        self.assertEqual(self.client("EVAL", call, 2, "g", "k", "a"), [1, 5])
        self.assertEqual(self.client("EVAL", call, 2, "g", "k", "a"), [0, None])
        self.client("SET", "text", "v")
        reply = self.client.ask("EVAL", call, 2, "g", "text", "b")
        self.assertIn("not an integer", str(reply))
        self.assertEqual(self.client("WINDOW.EXISTS", "g", "b"), [0])
        caught = ("local r = redis.pcall('ONCE', KEYS[1], 'c', 'LPUSH', KEYS[2], 1) "
                  "local s = redis.call('ONCE', KEYS[1], 'c', 'INCR', KEYS[2]) "
                  "return {r.err, s[1], s[2]}")
        error, applied, value = self.client("EVAL", caught, 2, "g", "k")
        self.assertTrue(error.startswith(b"WRONGTYPE"))
        self.assertEqual((applied, value), (1, 6))
        three = ("redis.setresp(3) local r = redis.call('ONCE', KEYS[1], 'd', 'HSET', KEYS[2], 1,"
                 " 2) return {r[1], r[2]}")
        self.assertEqual(self.client("EVAL", three, 2, "g", "h"), [1, 1])
        # Flags that are not cached yet can be looked up within a script, too.
        fresh = "return redis.call('ONCE', KEYS[1], 'f', 'SETRANGE', KEYS[2], 2, 'x')"
        self.assertEqual(self.client("EVAL", fresh, 2, "g", "range"), [1, 3])
        self.assertIsInstance(self.client.ask("EVAL_RO", call, 2, "g", "k", "e"), Error)
        self.assertEqual(self.client("WINDOW.EXISTS", "g", "e"), [0])

    def test_a_repeat_is_no_change_to_those_who_watch(self):
        other = self.connect()

        def is_left_alone(key, *command):
            other("WATCH", key)
            self.client.ask(*command)
            other("MULTI")
            other("PING")
            return other("EXEC") is not None
        self.assertFalse(is_left_alone("g", "ONCE", "g", "id", "INCR", "n"))
        self.assertTrue(is_left_alone("g", "ONCE", "g", "id", "INCR", "n"))
        self.assertTrue(is_left_alone("n", "ONCE", "g", "id", "INCR", "n"))
        self.assertTrue(is_left_alone("g", "ONCE", "g", "other", "GET", "n"))
        self.assertEqual(self.client("GET", "n"), b"1")

    # ---- what the server shows -----------------------------------------------------------------

    def test_keys_are_declared(self):
        def keys(*command):
            return sorted(self.client("COMMAND", "GETKEYS", *command))
        self.assertEqual(keys("ONCE", "g", "id", "SET", "k", "v"), [b"g", b"k"])
        self.assertEqual(keys("ONCE", "g", "id", "MSET", "a", 1, "b", 2), [b"a", b"b", b"g"])
        self.assertEqual(keys("ONCE", "g", "id", "ZUNIONSTORE", "d", 2, "a", "b"),
                         [b"a", b"b", b"d", b"g"])
        self.assertEqual(keys("ONCE", "g", "id", "XGROUP", "CREATE", "s", "x", "$"), [b"g", b"s"])
        self.assertEqual(keys("ONCE", "g", "id", "SORT", "l", "STORE", "d"), [b"d", b"g", b"l"])
        self.assertEqual(keys("ONCE", "g", "id", "MAP.SET", "m", "f", "v"), [b"g", b"m"])
        for rest in (["PING"], ["nosuch", "k"], ["SET", "k"], [""], ["ONCE", "h", "id", "DEL", "k"],
                     ["ONCE", "g", "id"] * 100000):
            self.assertEqual(keys("ONCE", "g", "id", *rest), [b"g"])

    def test_numbers_and_events(self):
        listener = self.connect()
        self.client("CONFIG", "SET", "notify-keyspace-events", "KEd")
        listener("SUBSCRIBE", "__keyspace@0__:g")
        before = self.client.info("bloomery")
        self.client("ONCE", "g", "a", "INCR", "k")
        self.client("ONCE", "g", "a", "INCR", "k")
        self.client("ONCE", "g", "a", "INCR", "k")
        self.client.ask("ONCE", "g", "b", "LPUSH", "k", 1)
        self.client.ask("ONCE", "g", "b", "GET", "k")
        self.client.ask("ONCE", "none", "b", "INCR", "k")
        now = self.client.info("bloomery")
        self.assertEqual([now[f"bloomery_once_{what}"] - before[f"bloomery_once_{what}"]
                          for what in ("applied", "repeats", "failed", "refused")], [1, 2, 1, 2])
        self.assertEqual(now["bloomery_window_repeats"], before["bloomery_window_repeats"])
        self.assertEqual((now["bloomery_once_keys"], now["bloomery_once_items"]), (1, 1))
        self.assertEqual([listener._read()[2] for _ in range(3)],
                         [b"once.applied", b"once.repeated", b"once.repeated"])

    def test_guards_are_counted_apart(self):
        """From ONCE.CREATE on, or from the first ONCE that this server runs with the window."""
        def counted():
            now = self.client.info("bloomery")
            return [now[f"bloomery_{family}_{what}"] for family in ("window", "once")
                    for what in ("keys", "items")]
        self.client("FLUSHALL", "SYNC")
        self.client("WINDOW.CREATE", "w", "WINDOW", "1h")
        self.client("WINDOW.CREATE", "x", "WINDOW", "1h")
        self.client("WINDOW.ADD", "w", 1, 2, 3)
        self.client("WINDOW.ADD", "x", 1, 2)
        self.assertEqual(counted(), [2, 5, 0, 0])
        self.client("ONCE.CREATE", "g", "WINDOW", "1h")
        self.assertEqual(counted(), [2, 5, 1, 0])
        self.client("ONCE", "g", "id", "INCR", "k")
        self.client("ONCE", "x", "id", "INCR", "k")
        self.assertEqual(counted(), [1, 3, 2, 4])
        now = self.client.info("bloomery")
        around = self.client("MEMORY", "USAGE", "w") - now["bloomery_window_bytes"]
        usage = self.client("MEMORY", "USAGE", "g") + self.client("MEMORY", "USAGE", "x")
        self.assertEqual(now["bloomery_once_bytes"], usage - 2 * around)
        self.client("DEL", "g")
        self.assertEqual(counted(), [1, 3, 1, 3])
        self.client("DEBUG", "RELOAD")  # a saved guard is an ordinary window
        self.assertEqual(counted(), [2, 6, 0, 0])
        self.client("FLUSHALL", "SYNC")
        self.assertEqual(counted(), [0, 0, 0, 0])

    def test_many_commands(self):
        """More names than the cache holds, twice."""
        names = [name.decode() for name in self.client("COMMAND", "LIST")]
        for _ in range(2):
            for name in names:
                if name.upper().startswith(("ONCE", "DEBUG")):
                    continue
                about = self.client("COMMAND", "INFO", name)[0]
                parts = len(about) > 9 and about[9]
                reply = self.client.ask("ONCE", "g", "id", *name.split("|"))
                self.assertIsInstance(reply, Error, name)  # none writes without arguments
                if not parts and b"write" not in about[2]:
                    self.assertIn("write commands only", str(reply), name)
        self.assertEqual(self.client("ONCE", "g", "id", "INCR", "k"), [1, 1])


# As the server words it.
DENIED = "^NOPERM|user executing the script can't|ACL failure in script"


class Users(Case):
    """Permissions: ONCE gives nobody access that he does not have."""

    def setUp(self):
        super().setUp()
        self.client("ONCE.CREATE", "g:1", "WINDOW", "1h")
        self.client("SET", "k:1", 1)
        self.client("SET", "secret", 1)

    def user(self, *rules):
        self.client("ACL", "SETUSER", "till", "reset", "on", "nopass", *rules)
        client = Client(self.server.port)
        client("AUTH", "till", "x")
        self.addCleanup(client.close)
        return client

    def denied(self, client, *command):
        """Denied in every way in which a command can be sent."""
        before = self.client("DEBUG", "DIGEST-VALUE", "k:1", "secret")
        items = pairs(self.client("WINDOW.INFO", "g:1"))[b"items"]
        replies = [client.ask(*command)]
        if client.ask("MULTI") == b"OK":
            queued = client.ask(*command)
            done = client.ask("EXEC")
            if isinstance(queued, Error):
                self.assertEqual(done.word, "EXECABORT")
                replies.append(queued)
            else:
                replies += done
        words = ", ".join(f"ARGV[{i + 1}]" for i in range(len(command)))
        script = f"local r = redis.pcall({words}) return r.err or 'none'"
        reply = client.ask("EVAL", script, 0, *command)
        if not isinstance(reply, Error):  # the user may run scripts
            replies.append(Error(reply.decode()))
        for reply in replies:
            self.assertIsInstance(reply, Error, command)
            self.assertRegex(str(reply), DENIED, command)
        self.assertEqual(self.client("DEBUG", "DIGEST-VALUE", "k:1", "secret"), before)
        self.assertEqual(pairs(self.client("WINDOW.INFO", "g:1"))[b"items"], items, command)

    def test_commands_and_keys(self):
        client = self.user("~g:*", "~k:*", "-@all", "+once", "+incr", "+multi", "+exec", "+eval")
        self.assertEqual(client("ONCE", "g:1", "a", "INCR", "k:1"), [1, 2])
        self.denied(client, "ONCE", "g:1", "b", "SET", "k:1", "v")  # the command
        self.denied(client, "ONCE", "g:1", "b", "DEL", "k:1")
        self.denied(client, "ONCE", "g:1", "b", "INCR", "secret")  # the key
        self.denied(client, "ONCE", "secret", "b", "INCR", "k:1")  # the guard
        self.denied(client, "INCR", "secret")
        client = self.user("~*", "-@all", "+incr", "+multi", "+exec", "+eval")
        self.denied(client, "ONCE", "g:1", "b", "INCR", "k:1")  # ONCE itself
        self.denied(client, "ONCE.INFO", "g:1")
        client = self.user("~*", "+@all", "-set", "+multi", "+exec", "+eval")
        self.assertEqual(client("ONCE", "g:1", "c", "INCR", "k:1"), [1, 3])
        self.denied(client, "ONCE", "g:1", "b", "SET", "k:1", "v")
        client = self.user("~*", "+@all", "-xgroup|create")
        self.denied(client, "ONCE", "g:1", "b", "XGROUP", "CREATE", "k:2", "x", "$", "MKSTREAM")

    def test_several_keys(self):
        client = self.user("~g:*", "~k:*", "+@all")
        self.assertEqual(client("ONCE", "g:1", "a", "MSET", "k:1", 5, "k:2", 6), [1, b"OK"])
        self.denied(client, "ONCE", "g:1", "b", "MSET", "k:1", 7, "secret", 8)
        self.denied(client, "ONCE", "g:1", "b", "RENAME", "k:1", "secret")
        self.denied(client, "ONCE", "g:1", "b", "COPY", "secret", "k:1", "REPLACE")
        self.denied(client, "ONCE", "g:1", "b", "SORT", "k:3", "STORE", "secret")

    def test_reading_and_writing(self):
        rest = ("~g:*", "+@all")
        client = self.user("%R~k:*", *rest)
        self.denied(client, "ONCE", "g:1", "b", "INCR", "k:1")
        self.denied(client, "ONCE", "g:1", "b", "SET", "k:1", "v")
        client = self.user("%W~k:*", *rest)
        self.denied(client, "ONCE", "g:1", "b", "SET", "k:1", "v", "GET")
        self.denied(client, "ONCE", "g:1", "b", "GETDEL", "k:1")
        self.assertEqual(client("ONCE", "g:1", "a", "SET", "k:1", "v"), [1, b"OK"])
        client = self.user("%R~g:*", "~k:*", "+@all")  # the guard is written as well
        self.denied(client, "ONCE", "g:1", "b", "SET", "k:1", "v")

    def test_selectors(self):
        client = self.user("~g:*", "~k:*", "-@all", "+once", "+incr", "+multi", "+exec", "+eval",
                           "(~secret +get)", "(~other:* +set)")
        self.denied(client, "ONCE", "g:1", "b", "INCR", "secret")
        self.denied(client, "ONCE", "g:1", "b", "SET", "k:1", "v")
        self.assertEqual(client("ONCE", "g:1", "a", "INCR", "k:1"), [1, 2])
        # One selector must allow ONCE with all its keys, and one the command.
        self.denied(client, "ONCE", "g:1", "b", "SET", "other:1", "v")
        client = self.user("-@all", "(~g:* ~other:* +once)", "(~other:* +set)")
        self.assertEqual(client("ONCE", "g:1", "c", "SET", "other:1", "v"), [1, b"OK"])
        self.assertIsInstance(client.ask("ONCE", "g:1", "d", "DEL", "other:1"), Error)

    def test_denials_say_what_was_denied(self):
        client = self.user("~g:*", "%W~k:*", "+@all", "-set")
        for name, *rest in (["SET", "v"], ["GETDEL"]):
            reply = client.ask("ONCE", "g:1", "b", name, "k:1", *rest)
            self.assertEqual(reply.word, "NOPERM")
            self.assertRegex(str(reply).lower(), f"'{name.lower()}'|access a key")
            self.assertNotIn("acl verification", str(reply))
            self.assertEqual(self.client("WINDOW.EXISTS", "g:1", "b"), [0])
        # The command's own errors are unchanged.
        self.client("SET", "k:1", "text")
        reply = self.user("~*", "+@all").ask("ONCE", "g:1", "b", "INCR", "k:1")
        self.assertEqual(reply, self.client.ask("INCR", "k:1"))

    def test_denials_are_in_the_log(self):
        client = self.user("~g:*", "~k:*", "+@all", "-set")
        self.client("ACL", "LOG", "RESET")
        client.ask("ONCE", "g:1", "b", "SET", "k:1", "v")
        entry = pairs(self.client("ACL", "LOG")[0])
        self.assertEqual((entry[b"reason"], entry[b"object"].lower(), entry[b"username"]),
                         (b"command", b"set", b"till"))


if __name__ == "__main__":
    server_runner.main()
