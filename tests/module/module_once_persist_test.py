"""What ONCE did is the same on replicas and after a restart from the append-only file: by effect,
in one transaction, with equal digests and identical guards; and WAIT after a repeat waits for
the first try."""

import os
import signal
import time

import server_runner
from module_once_test import WRITES
from payloads import commands_of
from server_runner import Case, Error, Server, pairs


def fill(client, more=""):
    """Guards of several kinds, commands that were run, repeated and refused, in two databases, in
    transactions and scripts."""
    if not more:
        client("ONCE.CREATE", "g", "WINDOW", "1h")
        client("ONCE.CREATE", "levels", "WINDOW", "1h", "CAPACITY", 20, "ERROR", "1e-4")
        client("ONCE.CREATE", "full", "WINDOW", "1h", "CAPACITY", 20, "MAXMEM", "4kb")
        client("ONCE.CREATE", "brief", "WINDOW", 7, "CAPACITY", 50)
        client("WINDOW.CREATE", "w", "WINDOW", "10min", "SEED", 3)
    client("SET", "text", "v")
    for name, (command, before, _) in WRITES.items():
        if before:
            client(*before)
        if name != "XGROUP" or not more:
            assert client("ONCE", "g", name + more, *command)[0] == 1, name
        client.ask("ONCE", "g", name + more, *command)
    outcomes = set()
    for i in range(702):  # the last one fails
        for guard in ("levels", "full", "brief", "w"):
            one = f"{more} {i % 600}"  # some of them again
            command = ["LPUSH", "text", "v"] if i % 5 == 1 else ["INCR", f"n {guard}"]
            reply = client.ask("ONCE", guard, one, *command)
            outcomes.add(reply.word if isinstance(reply, Error) else reply[0])
    assert outcomes >= {0, 1, "WRONGTYPE", "FULL"}, outcomes
    # Many in a millisecond, with short and long arguments, some of them again or failing.
    long = ["SET", "long", "v" * 200], ["MSET", *(f"m{i}" for i in range(20))]
    bulk = [["ONCE", guard, f"bulk {more} {i % 250}", *command] for i in range(300)
            for guard in ("g", "levels")
            for command in ([["INCR", "n"], ["LPUSH", "text", i], *long, ["HINCRBY", "sums", "f", i],
                             ["RPUSH", "l", *range(i % 30 + 1)], ["DECRBY", "n", 3]][i % 7],)]
    client.pipeline(bulk)
    client("MULTI")
    for command in bulk[:40]:
        client(*command[:2], "multi " + command[2], *command[3:])
    client("EXEC")
    client("MULTI")
    for i in (1, 2, 1, 3):
        client("ONCE", "g", f"multi {i}{more}", "RPUSH", "list", i)
        client("ONCE", "g", f"multi {i} fails{more}", "RPUSH", "text", i)
    client("EXEC")
    script = ("for i = 1, 20 do redis.pcall('ONCE', KEYS[1], ARGV[1] .. i % 15, i % 4 == 0 and "
              "'LPUSH' or 'INCR', KEYS[2], i % 4 == 0 and 1 or nil) end")
    client("EVAL", script, 2, "g", "n script", f"lua {more}")
    client("EVAL", "return redis.call('ONCE', KEYS[1], ARGV[1], 'SPOP', KEYS[2], 3)", 2, "g",
           "set", f"pop {more}")
    client("SELECT", 3)
    client.ask("ONCE.CREATE", "g", "WINDOW", "1h")
    client("ONCE", "g", f"a{more}", "SET", "k", "v", "PX", 10**9)
    client("ONCE", "g", f"a{more}", "SET", "k", "v", "PX", 10**9)
    client("ONCE", "g", f"b{more}", "MOVE", "k", 4)
    client("SELECT", 0)


GUARDS = ("g", "levels", "full", "brief", "w")


def guards(client):
    """All bytes of the guards."""
    return [client("DUMP", key) for key in GUARDS]


class Log(Case):
    SETTINGS = {"appendonly": "yes", "appendfsync": "no", "aof-use-rdb-preamble": "no"}

    def log(self):
        """The commands of this test in the append-only file."""
        commands = [words for path in
                    sorted((self.server.path / "appendonlydir").glob("*.incr.aof"))
                    for words in commands_of(path.read_bytes())]
        last = max((i for i, words in enumerate(commands) if words[0].upper() == b"FLUSHALL"),
                   default=-1)
        return [words for words in commands[last + 1:] if words[0] != b"SELECT"]

    def logged(self, *command):
        """What a command adds to the append-only file."""
        before = len(self.log())
        reply = self.client.ask(*command)
        return reply, self.log()[before:]

    def move_ahead(self, key="g"):
        """Moves the time of a guard ahead of the clock, so that it stands still."""
        future = int(time.time() * 1000) + 3600_000
        self.server.replay(["WINDOW.ADVANCE", key, "AT", future])

    EFFECTS = {
        "INCRBY": lambda self, reply: [b"INCRBY", b"n", b"5"],
        "LPUSH": lambda self, reply: [b"LPUSH", b"list", b"a", b"b"],
        "HSET": lambda self, reply: [b"HSET", b"hash", b"f", b"v"],
        "XADD": lambda self, reply: [b"XADD", b"stream", reply, b"f", b"v"],
        "SPOP": lambda self, reply: [b"SREM", b"set", reply],
        "SET EX": lambda self, reply: [b"SET", b"s", b"v", b"PXAT",
                                       b"%d" % self.client("PEXPIRETIME", "s")],
        "MSET": lambda self, reply: [b"MSET", b"a", b"1", b"b", b"2"],
    }

    def test_logged_by_effect(self):
        """The guard's time moves with each command, and is logged."""
        self.client("ONCE.CREATE", "g", "WINDOW", "1h", "SEED", 5)
        self.assertEqual(self.log()[0][:4], [b"WINDOW.CREATE", b"g", b"WINDOW", b"3600000"])
        for name, effect in self.EFFECTS.items():
            command, before, _ = WRITES[name]
            if before:
                self.client(*before)
            for first in (True, False):
                time.sleep(0.002)
                reply, log = self.logged("ONCE", "g", name, *command)
                moment = b"%d" % pairs(self.client("ONCE.INFO", "g"))[b"time"]
                words = [b"WINDOW.INSERT", b"g", b"AT", moment, b"ITEMS", name.encode()]
                self.assertEqual(reply[0], first)
                self.assertEqual(log, [[b"MULTI"], effect(self, reply[1]), words, [b"EXEC"]]
                                 if first else [words])
        # Commands that failed, had no effect, or were refused.
        time.sleep(0.002)
        _, log = self.logged("ONCE", "g", "x", "LPUSH", "s", "v")
        moment = b"%d" % pairs(self.client("ONCE.INFO", "g"))[b"time"]
        self.assertEqual(log, [[b"WINDOW.ADVANCE", b"g", b"AT", moment]])
        time.sleep(0.002)
        _, log = self.logged("ONCE", "g", "x", "DEL", "none")
        self.assertEqual([words[:3] + words[4:] for words in log],
                         [[b"WINDOW.INSERT", b"g", b"AT", b"ITEMS", b"x"]])
        for command in (["g", "y", "GET", "k"], ["none", "y", "SET", "k", "v"]):
            self.assertEqual(self.logged("ONCE", *command)[1], [])

    def test_logged_while_the_time_stands_still(self):
        """In one command, if the server would log the words that were sent."""
        self.client("ONCE.CREATE", "g", "WINDOW", "1h")
        self.move_ahead()
        whole = [["INCR", "n"], ["incrby", "n", 5], ["DECR", "n"], ["DECRBY", "n", 2],
                 ["LPUSH", "l", "a"], ["HSET", "h", "g", "v"],
                 ["RPUSH", "l", "v" * 300, *range(20)], ["SADD", "s", "a"], ["SADD", "s", "a"]]
        if "valkey_version" not in self.client.info("server"):
            whole.append(["HINCRBY", "h", "f", 3])
        for i, command in enumerate(whole):
            sent = [b"g", b"%d" % i, *(str(word).encode() for word in command)]
            reply, log = self.logged("ONCE", "g", i, *command)
            self.assertEqual((reply[0], log), (1, [[b"BLOOMERY.ONCE.APPLY", *sent]]))
            reply, log = self.logged("ONCE", "g", i, *command)
            self.assertEqual((reply, log), ([0, None], [[b"WINDOW.ADD", b"g", b"%d" % i]
                                                        if len(command) > 16 else
                                                        [b"BLOOMERY.ONCE.DONE", *sent]]))
        for name in ("XADD", "SPOP", "SET EX", "MSET"):
            command, before, _ = WRITES[name]
            if before:
                self.client(*before)
            done = [b"BLOOMERY.ONCE.DONE", b"g", name.encode(), *(str(word).encode() for word in command)]
            reply, log = self.logged("ONCE", "g", name, *command)
            self.assertEqual(log, [[b"MULTI"], self.EFFECTS[name](self, reply[1]), done, [b"EXEC"]])
            self.assertEqual(self.logged("ONCE", "g", name, *command), ([0, None], [done]))
        digest, bytes_of_all = self.client("DEBUG", "DIGEST"), self.client("DUMP", "g")
        self.server.restart()
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)
        self.assertEqual(self.client("DUMP", "g"), bytes_of_all)

    def test_hincrby_in_valkey(self):
        """It replicates HINCRBY as HSET or HSETEX if fields of the hash expire, so the module lets
        the server replicate it; in Redis it is a single command."""
        self.client("ONCE.CREATE", "g", "WINDOW", "1h")
        self.move_ahead()
        words = [b"HINCRBY", b"h", b"f", b"3"]
        reply, log = self.logged("ONCE", "g", "id", *words)
        self.assertEqual(reply, [1, 3])
        if self.is_server("valkey"):
            self.assertEqual(log, [[b"MULTI"], words, [b"BLOOMERY.ONCE.DONE", b"g", b"id", *words], [b"EXEC"]])
        else:
            self.assertEqual(log, [[b"BLOOMERY.ONCE.APPLY", b"g", b"id", *words]])

    def test_long_arguments_are_not_logged_twice(self):
        self.client("ONCE.CREATE", "g", "WINDOW", "1h")
        self.move_ahead()
        for name, command in {"BLOOMERY.ONCE.DONE": ["SETNX", "a", "v" * 122],
                              "WINDOW.ADD": ["SETNX", "b", "v" * 123]}.items():
            self.assertEqual(self.logged("ONCE", "g", name, *command)[1][2][0], name.encode())
        for name, command in {"BLOOMERY.ONCE.DONE": ["PFADD", "c", *range(14)],
                              "WINDOW.ADD": ["PFADD", "d", *range(15)]}.items():
            _, log = self.logged("ONCE", "g", f"{name} words", *command)
            self.assertEqual(log[2][:3], [name.encode(), b"g", f"{name} words".encode()])
            self.assertEqual(len(log[2]), 19 if name == "BLOOMERY.ONCE.DONE" else 3)

    def test_logged_within_transactions_and_scripts(self):
        self.client("ONCE.CREATE", "g", "WINDOW", "1h")
        self.move_ahead()
        call = "redis.call('ONCE', KEYS[1], 'a', '%s', KEYS[2]) "
        script = call % "PERSIST" + call % "PERSIST" + "redis.call('INCR', KEYS[2]) "
        _, log = self.logged("EVAL", script, 2, "g", "k")
        self.assertEqual([words[0] for words in log],
                         [b"MULTI", b"BLOOMERY.ONCE.DONE", b"BLOOMERY.ONCE.DONE", b"INCR", b"EXEC"])
        script = (call % "INCR").replace("'a'", "'b'") * 2
        _, log = self.logged("EVAL", script, 2, "g", "k")
        self.assertEqual(log, [[b"MULTI"], [b"BLOOMERY.ONCE.APPLY", b"g", b"b", b"INCR", b"k"],
                               [b"BLOOMERY.ONCE.DONE", b"g", b"b", b"INCR", b"k"], [b"EXEC"]])
        before = len(self.log())
        self.client("MULTI")
        for command in (["INCR", "k"], ["INCR", "k"], ["SET", "k", "v"]):
            self.client("ONCE", "g", "c", *command)
        self.client("ONCE", "g", "d", "SET", "k", "v")
        self.client("SET", "other", "v")
        self.client("EXEC")
        self.assertEqual([words[0] for words in self.log()[before:]],
                         [b"MULTI", b"BLOOMERY.ONCE.APPLY", b"BLOOMERY.ONCE.DONE", b"BLOOMERY.ONCE.DONE", b"SET",
                          b"BLOOMERY.ONCE.DONE", b"SET", b"EXEC"])

    def test_writes_of_another_module_that_listens(self):
        """What it writes when it hears of the command is logged too (odd_commands.c)."""
        self.client("ONCE.CREATE", "g", "WINDOW", "1h")
        self.move_ahead()
        self.client("MODULE", "LOAD", os.path.join(os.path.dirname(server_runner.MODULE),
                                                   "odd-commands.so"), "write")
        for i, command in enumerate((["INCR"], ["INCRBY", 2], ["APPEND", 3])):
            reply, log = self.logged("ONCE", "g", i, command[0], "heard", *command[1:])
            self.assertEqual(reply[0], 1)
            self.assertIn([b"INCR", b"echo"], log)
        self.restarts_as_it_is()  # without the other module

    def test_errors_of_a_replica_are_reported(self):
        """A command that fails there only: the replica had been changed."""
        self.client("ONCE.CREATE", "g", "WINDOW", "1h")
        self.move_ahead()
        with Server(**{"replica-read-only": "no"}) as other:
            self.follow(other)
            other.client("SET", "k", "text")
            self.assertEqual(self.client("ONCE", "g", "id", "INCR", "k"), [1, 1])
            self.caught_up()
            self.assertRegex(other.log, "sending an error.*not an integer.*bloomery.once.apply")
            self.assertEqual(other.client("WINDOW.EXISTS", "g", "id"), [1])

    def test_replayed(self):
        fill(self.client)
        self.assertNotIn(b"ONCE", {words[0].upper() for words in self.log()})
        for kill in (False, True):
            digest, bytes_of_all = self.client("DEBUG", "DIGEST"), guards(self.client)
            self.server.restart(kill=kill)
            self.assertEqual(self.client("DEBUG", "DIGEST"), digest)
            self.assertEqual(guards(self.client), bytes_of_all)
            self.assertNotIn("sending an error", self.server.log)
            for name, (command, _, _) in WRITES.items():
                self.assertEqual(self.client("ONCE", "g", name, *command), [0, None])
            # The counts are of this process only; the ids are still known.
            info = pairs(self.client("ONCE.INFO", "levels"))
            self.assertEqual((info[b"applied"], info[b"repeats"], float(info[b"expected_lost"])),
                             (0, 0, 0))
            fill(self.client, f" after {kill}")


class Replica(Case):
    def same(self, other):
        self.same_on(other)
        self.assertEqual(guards(other.client), guards(self.client))

    def test_equal_to_the_byte(self):
        with Server(**{"bloomery.max-key-bytes": "64kb", "bloomery.once-error": "10%"}) as other:
            self.follow(other)
            fill(self.client)
            self.same(other)
            self.client("CLIENT", "KILL", "TYPE", "REPLICA")
            fill(self.client, " more")
            self.wait_linked(other)
            self.same(other)
            reply = other.client.ask("ONCE", "g", "id", "INCR", "k")
            self.assertEqual(reply.word, "READONLY")
            # As a primary, it continues with what it received.
            other.client("REPLICAOF", "NO", "ONE")
            for name, (command, _, _) in WRITES.items():
                self.assertEqual(other.client("ONCE", "g", name, *command), [0, None])
            self.assertEqual(other.client("ONCE", "g", "a new one", "INCR", "fresh"), [1, 1])

    def test_a_key_that_expires(self):
        """The primary deletes it when ONCE uses it; a replica does not by itself."""
        with Server() as other:
            self.follow(other)
            self.client("DEBUG", "SET-ACTIVE-EXPIRE", 0)
            self.addCleanup(self.client, "DEBUG", "SET-ACTIVE-EXPIRE", 1)
            for key in GUARDS:
                self.client("ONCE.CREATE", key, "WINDOW", "1h")
            self.client.pipeline([["SET", f"n{i}", 5, "PX", 1] for i in range(100)])
            time.sleep(0.01)
            replies = self.client.pipeline([["ONCE", "g", i, "INCR", f"n{i}"] for i in range(100)])
            self.assertEqual(replies, [[1, 1]] * 100)
            self.same(other)
            self.assertEqual(other.client("MGET", *(f"n{i}" for i in range(100))), [b"1"] * 100)

    def test_limits_of_the_master(self):
        """Limits that made the primary refuse, or drop expired ids, do not apply elsewhere."""
        with Server() as other:
            self.follow(other)
            for key in GUARDS:
                self.client("ONCE.CREATE", key, "WINDOW", "600ms", "CAPACITY", 1000)
            self.client("CONFIG", "SET", "bloomery.max-key-bytes", "64kb")
            refused, sent = 0, 0
            end = time.monotonic() + server_runner.PATIENCE

            def again():  # until it was full and had room again
                nonlocal refused, sent
                replies = self.client.pipeline(
                    [["ONCE", "brief", f"{sent} {i}", "INCR", "k"] for i in range(4000)])
                sent += 1
                full = sum(isinstance(reply, Error) for reply in replies)
                had_been = refused > 0
                refused += full
                return had_been and full < 4000
            while not again():
                self.assertLess(time.monotonic(), end)
            self.same(other)

    def test_wait_after_a_repeat(self):
        with Server() as other:
            self.follow(other)
            self.client("ONCE.CREATE", "g", "WINDOW", "1h")
            self.caught_up()
            other.process.send_signal(signal.SIGSTOP)
            try:
                self.assertEqual(self.client("ONCE", "g", "id", "INCR", "k"), [1, 1])
                retry = self.connect()  # the reply to the first try was lost
                self.assertEqual(retry("ONCE", "g", "id", "INCR", "k"), [0, None])
                self.assertEqual(retry("WAIT", 1, 300), 0)
                script = self.connect()
                call = "return redis.call('ONCE', KEYS[1], 'id', 'INCR', KEYS[2])"
                self.assertEqual(script("EVAL", call, 2, "g", "k"), [0, None])
                self.assertEqual(script("WAIT", 1, 300), 0)
            finally:
                other.process.send_signal(signal.SIGCONT)
            self.assertEqual(retry("WAIT", 1, server_runner.PATIENCE * 1000), 1)
            self.assertEqual(script("WAIT", 1, server_runner.PATIENCE * 1000), 1)
            self.assertEqual(other.client("GET", "k"), b"1")
            self.assertEqual(other.client("WINDOW.EXISTS", "g", "id"), [1])


server_runner.main()
