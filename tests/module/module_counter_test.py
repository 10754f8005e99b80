"""COUNTER.*: every command, with valid and invalid arguments."""

import time

import server_runner
from family_cases import Described, some
from server_runner import Case, Error, pairs

MOST, LEAST = 2**63 - 1, -2**63


class Counters(Case):
    def create(self, *options, table="t", window="10m"):
        self.assertEqual(self.client("COUNTER.CREATE", table, "WINDOW", window, *options), b"OK")

    def info(self, table="t"):
        return pairs(self.client("COUNTER.INFO", table))

    def listing(self, count, table="t", each=lambda: None):
        """All counters by SCAN, and how often each was listed."""
        cursor, found, rounds = 0, [], 0
        while True:
            cursor, part = self.client("COUNTER.SCAN", table, cursor, "COUNT", count)
            self.assertLessEqual(len(part), 2 * count)
            found += zip(part[::2], part[1::2])
            rounds += 1
            if cursor == b"0":
                return found, rounds
            each()


class Create(Counters):
    def test_skew_of_a_short_window(self):
        self.create(window="100")
        self.assertEqual(self.info()[b"skew"], 26)

    def test_all_options(self):
        self.client("counter.create", "t", "seed", 2**64 - 1, "capacity", "1e5", "maxmem", "1mb",
                    "error", "0.1%", "window", "90s", "engine", "fbf", "skew", "5s")
        info = self.info()
        self.assertEqual((info[b"engine"], info[b"skew"]), (b"fbf", 5000))
        self.assertEqual((info[b"window"], info[b"capacity"], info[b"maxmem"], info[b"seed"]),
                         (90000, 100000, 2**20, str(2**64 - 1).encode()))
        self.assertEqual(float(info[b"promised_error"]), 0.001)

    def test_the_smallest_error(self):
        self.create("ERROR", "1e-12")
        info = self.info()
        self.assertEqual(float(info[b"promised_error"]), 1e-12)
        self.assertGreaterEqual(info[b"capacity"], 1000)

    def test_seeds_are_random(self):
        self.create(table="t")
        self.create(table="u")
        self.assertNotEqual(self.info("t")[b"seed"], self.info("u")[b"seed"])

    def test_refusals_name_the_argument(self):
        self.refused_each("COUNTER.CREATE", "t", (
            ("ERR", "WINDOW is required: how long retries",),
            ("ERR", "WINDOW is required", "ERROR", 0.1),
            ("RANGE", "MAXMEM 100 is too small", "WINDOW", 5, "MAXMEM", 100),
            ("RANGE", "more than bloomery.max-key-bytes", "WINDOW", 5, "CAPACITY", "1e9",
             "ERROR", "1%"),
            ("RANGE", "too small for this CAPACITY", "WINDOW", 5, "CAPACITY", "1e12"),
            ("RANGE", "SKEW is longer than WINDOW", "WINDOW", 5, "SKEW", 6),
            ("ERR", "ENGINE 'dba' is not one of auto, compact or fbf", "WINDOW", 5,
             "ENGINE", "dba"),
            ("ERR", "unknown argument 'AT'", "WINDOW", 5, "AT", 5),
            ("ERR", "unknown argument ''", "WINDOW", 5, ""),
        ))


class Count(Counters):
    def test_once_for_each_id(self):
        self.create()
        self.assertEqual(self.client("COUNTER.INCRBY", "t", "c", 5, "i1"), [[5, 1]])
        self.assertEqual(self.client("COUNTER.INCRBY", "t", "c", 5, "i1"), [[5, 0]])
        self.assertEqual(self.client("COUNTER.INCRBY", "t", "c", -7, "i2"), [[-2, 1]])
        self.assertEqual(self.client("COUNTER.INCRBY", "t", "c", 5, "i1"), [[-2, 0]])
        self.assertEqual(self.client("COUNTER.INCRBY", "t", "c", 0, "i3"), [[-2, 1]])
        info = self.info()
        self.assertEqual((info[b"applied"], info[b"repeats"], info[b"ids"], info[b"counters"]),
                         (3, 2, 3, 1))

    def test_an_id_belongs_to_its_counter(self):
        self.create()
        self.assertEqual(self.client("COUNTER.INCRBY", "t", "c", 5, "i"), [[5, 1]])
        self.assertEqual(self.client("COUNTER.INCRBY", "t", "d", 6, "i"), [[6, 1]])
        self.assertEqual(self.client("COUNTER.INCRBY", "t", "c", 5, "i", "d", 6, "i", "e", 7, "i"),
                         [[5, 0], [6, 0], [7, 1]])
        # The boundary between name and id matters.
        self.assertEqual(self.client("COUNTER.INCRBY", "t", "ab", 1, "c", "a", 1, "bc"),
                         [[1, 1], [1, 1]])

    def test_batches(self):
        self.create()
        self.assertEqual(self.client("COUNTER.INCRBY", "t", "c", 1, "i"), [[1, 1]])
        self.assertEqual(self.client("COUNTER.INCRBY", "t", "c", 2, "j", "c", 2, "j", "d", 3, "j",
                                     "c", 1, "i"), [[3, 1], [3, 0], [3, 1], [3, 0]])
        words = [x for i in range(1000) for x in (f"n{i % 7}", i, i // 14)]
        got = self.client("COUNTER.INCRBY", "t", *words)
        self.assertEqual(len(got), 1000)
        expected, seen, sums = [], set(), {}
        for i in range(1000):
            new = (i % 7, i // 14) not in seen
            seen.add((i % 7, i // 14))
            sums[i % 7] = sums.get(i % 7, 0) + (i if new else 0)
            expected.append([sums[i % 7], int(new)])
        # Each value is that after its own operation.
        self.assertEqual(got, expected)
        again = self.client("COUNTER.INCRBY", "t", *words)
        self.assertEqual(again, [[sums[i % 7], 0] for i in range(1000)])

    def test_overflow(self):
        self.create()
        self.client("COUNTER.INCRBY", "t", "c", MOST, "a", "d", LEAST, "a")
        for command in (["INCRBY", "t", "c", 1, "x"], ["INCRBY", "t", "d", -1, "x"],
                        ["INCRBY", "t", "c", -5, "y", "e", 5, "y", "d", -1, "y"],
                        ["INCRBY", "t", "e", MOST, "y", "e", 1, "z"]):
            reply = self.client.ask(f"COUNTER.{command[0]}", *command[1:])
            self.assertEqual((reply.word, "nothing was changed" in str(reply)), ("OVERFLOW", True))
        self.assertEqual(self.client("COUNTER.GET", "t", "c", "d", "e"), [MOST, LEAST, None])
        self.assertEqual(self.info()[b"refused_overflow"], 4)
        # A refused operation was not remembered; a batch may cross zero and return.
        self.assertEqual(self.client("COUNTER.INCRBY", "t", "c", -5, "x", "c", 5, "y", "d", 1, "x"),
                         [[MOST - 5, 1], [MOST, 1], [LEAST + 1, 1]])

    def test_odd_arguments(self):
        self.create()
        for word, *deltas in (("ERR", "", "x", "1.5", "1e3", " 1", "1 ", "+", "-", b"1\0", "0x10",
                               "nan"), ("RANGE", 2**63, -2**63 - 1, 10**30)):
            for delta in deltas:
                self.refused(word, "COUNTER.INCRBY", "t", "c", delta, "i", text="delta")
                self.refused(word, "COUNTER.INCRBY", "t", "a", 1, "i", "c", delta, "i",
                             text="(argument 6)")
        for one in (["c", 1, "i"], ["c", 1, "i", "d", 1, "i"]):
            for word, text, *words in (("ERR", "unknown argument 'd'", "d", 1),
                                       ("ERR", "SENT 'x'", "SENT", "x"),
                                       ("RANGE", "SENT '-1'", "SENT", -1)):
                self.refused(word, "COUNTER.INCRBY", "t", *one, *words, text=text)
            self.refused("RANGE", "COUNTER.INCRBY", "t", *one, "SENT", 0, text="SENT '0'")
        # The number of arguments decides what SENT is: a counter may have that name.
        self.client("COUNTER.CREATE", "sent", "WINDOW", 5000)
        self.assertEqual(self.client("COUNTER.INCRBY", "sent", "SENT", 5, "SENT"), [[5, 1]])
        self.assertEqual(self.client("COUNTER.GET", "sent", "SENT"), [5])
        self.refused("TOOLONG", "COUNTER.INCRBY", "t", b"n" * 65536, 1, "i", text="the limit is 65535")
        self.refused("TOOLONG", "COUNTER.INCRBY", "t",
                     *(x for i in range(300) for x in (b"%05d" % i + b"n" * 60000, 1, "i")),
                     text="use several commands")
        self.assertEqual(self.info()[b"counters"], 0)
        for name in (b"n" * 65535, b"", b"\0\r\n\xff"):
            for i in (b"", b"\0", b"i" * 100000):
                before = self.client("COUNTER.GET", "t", name)[0] or 0
                self.assertEqual(self.client("COUNTER.INCRBY", "t", name, 3, i), [[before + 3, 1]])
                self.assertEqual(self.client("COUNTER.INCRBY", "t", name, 3, i), [[before + 3, 0]])
            self.assertEqual(self.client("COUNTER.GET", "t", name), [9])

    def test_late_operations(self):
        """An operation older than WINDOW less SKEW is refused if it is not known: it may have been
        applied and forgotten."""
        for engine in ("compact", "fbf"):
            self.create("ENGINE", engine, "SKEW", "5m", "CAPACITY", 1000, table=engine)
            self.assertEqual(self.info(engine)[b"skew"], 300_000)
            now = int(time.time() * 1000)
            add = ["COUNTER.INCRBY", engine, "c", 1]
            self.assertEqual(self.client(*add, "a", "SENT", now), [[1, 1]])
            self.assertEqual(self.client(*add, "a", "sent", now), [[1, 0]])
            self.assertEqual(self.client(*add, "b", "SENT", now - 290_000), [[2, 1]])
            self.assertEqual(self.client(*add, "ahead", "SENT", now + 290_000), [[3, 1]])
            self.refused("EXPIRED", *add, "d", "SENT", now - 300_500, text="may have been forgotten")
            self.refused("EXPIRED", *add, "d", "SENT", 1)
            self.refused("SKEW", *add, "d", "SENT", now + 400_000, text="ahead of the server's")
            # What is known is a repeat, however late; all or none.
            self.assertEqual(self.client(*add, "a", "SENT", 1), [[3, 0]])
            many = ["COUNTER.INCRBY", engine, "c", 1, "a", "e", 1, "b"]
            self.refused("EXPIRED", *many, "SENT", now - 300_500)
            self.assertEqual(self.client("COUNTER.GET", engine, "c", "e"), [3, None])
            self.assertEqual(self.client(*many, "SENT", now), [[3, 0], [1, 1]])
            self.assertEqual(self.client(*many, "SENT", 1), [[3, 0], [1, 0]])

    def test_window_forgets(self):
        self.create(window=50)
        self.assertEqual(self.client("COUNTER.INCRBY", "t", "c", 1, "i"), [[1, 1]])
        self.wait_until(lambda: self.client("COUNTER.INCRBY", "t", "c", 1, "i")[0][1] == 1,
                        "the id is forgotten")
        self.assertEqual(self.client("COUNTER.GET", "t", "c"), [2])

    def test_reads_leave_the_table_alone(self):
        self.create(window=20)
        self.client("COUNTER.INCRBY", "t", *(x for i in range(500) for x in (f"c{i}", 1, i)))
        before = self.client("DEBUG", "DIGEST-VALUE", "t")

        def now():
            seconds, microseconds = self.client("TIME")
            return int(seconds) * 10**6 + int(microseconds)

        start = now()
        self.wait_until(lambda: now() > start + 100000, "some windows have passed")
        self.client("COUNTER.GET", "t", "c1", "none")
        self.listing(100)
        self.client("COUNTER.INFO", "t")
        self.client("MEMORY", "USAGE", "t")
        self.assertEqual(self.client("DEBUG", "DIGEST-VALUE", "t"), before)


class Ask(Counters):
    def test_get(self):
        self.create()
        self.client("COUNTER.INCRBY", "t", "c", 5, "i", "zero", 0, "i")
        self.assertEqual(self.client("COUNTER.GET", "t", "c"), [5])
        self.assertEqual(self.client("COUNTER.GET", "t", "zero"), [0])
        self.assertEqual(self.client("COUNTER.GET", "t", "none"), [None])
        many = [f"none {i}" if i % 3 else "c" for i in range(200)]
        self.assertEqual(self.client("COUNTER.GET", "t", *many), [None if i % 3 else 5 for i in range(200)])
        self.assertEqual(self.client("COUNTER.GET", "t", "c"), [5])
        self.assertEqual(self.client("COUNTER.GET", "t", "none", "c", "c"), [None, 5, 5])

    def test_scan(self):
        self.create()
        self.assertEqual(self.client("COUNTER.SCAN", "t", 0), [b"0", []])
        expected = {b"c%d" % i: i for i in range(1000)}
        self.client("COUNTER.INCRBY", "t", *(x for name, i in expected.items()
                                             for x in (name, i, "i")))
        for count in (1, 7, 64, 65, 200, 999, 1000, 5000):
            found, rounds = self.listing(count)
            self.assertEqual((len(found), dict(found)), (1000, expected), count)
            self.assertEqual(rounds, -(-1000 // count), count)
        self.assertEqual(len(self.client("COUNTER.SCAN", "t", 0)[1]), 20)
        for words, text in ((["x"], "invalid cursor 'x'"),
                            (["-1"], "invalid cursor '-1'"), (["2^6"], "invalid cursor '2^6'"),
                            (["10m"], "invalid cursor '10m'"), ([2**64], "invalid cursor"),
                            (["0", "COUNT"], "COUNT needs a value"),
                            (["0", "COUNT", "x"], "COUNT 'x'"), (["0", "MATCH", "*"], "'MATCH'")):
            self.refused("ERR", "COUNTER.SCAN", "t", *words, text=text)
        self.refused("RANGE", "COUNTER.SCAN", "t", 0, "COUNT", 0)

    def test_scan_while_it_changes(self):
        self.create()
        self.client("COUNTER.INCRBY", "t", *(x for i in range(300) for x in (f"c{i}", i, "i")))
        more = iter(range(100000))

        def change():
            i = next(more)
            self.client("COUNTER.INCRBY", "t", *(x for j in range(40)
                                                 for x in (f"new {i} {j}", 1, "i")))
            self.client("COUNTER.DEL", "t", *(f"new {i - 1} {j}" for j in range(20)))
        found = dict(self.listing(100, each=change)[0])
        self.assertLessEqual({b"c%d" % i for i in range(300)}, set(found))

    def test_del(self):
        self.create()
        self.client("COUNTER.INCRBY", "t", "c", 5, "i", "d", 6, "i")
        self.assertEqual(self.client("COUNTER.DEL", "t", "c", "none", "c"), [1, 0, 0])
        self.assertEqual(self.client("COUNTER.GET", "t", "c", "d"), [None, 6])
        self.assertEqual(self.client("COUNTER.INCRBY", "t", "c", 5, "i"), [[0, 0]])
        self.assertEqual(self.client("COUNTER.GET", "t", "c"), [None])
        self.assertEqual(self.client("COUNTER.INCRBY", "t", "c", 5, "j"), [[5, 1]])
        self.assertEqual(self.client("COUNTER.DEL", "t", b"x" * 70000, ""), [0, 0])


class Full(Counters):
    def fill(self):
        """Counts until the table is full; returns how many were applied."""
        for start in range(0, 10**6, 8):
            replies = self.client.pipeline([["COUNTER.INCRBY", "t", "c", 1, i]
                                            for i in range(start, start + 8)])
            for i, reply in enumerate(replies):
                if isinstance(reply, Error):
                    self.assertEqual(reply.word, "FULL", reply)
                    return start + i, reply
        self.fail("it is never full")

    def still_works(self, n):
        """At the limit, repeats and reads work, and new names are refused."""
        (value,) = self.client("COUNTER.GET", "t", "c")
        self.assertGreaterEqual(value, n)  # some of the last batch may have found room
        for i in (0, 1, n // 2, n - 1):
            self.assertEqual(self.client("COUNTER.INCRBY", "t", "c", 1, i), [[value, 0]])
        # A batch of this size needs temporary memory of its own.
        self.assertEqual(self.client("COUNTER.INCRBY", "t", *(x for i in range(2500)
                                                              for x in ("c", 1, i))),
                         [[value, 0]] * 2500)
        applied = self.info()[b"applied"]
        reply = self.client.ask("COUNTER.INCRBY", "t", "c", 1, 0, b"new" * 20000, 1, "x")
        self.assertEqual(reply.word, "FULL")
        self.assertIn("nothing was changed", str(reply))
        self.assertEqual(self.info()[b"applied"], applied)
        self.assertEqual(len(self.listing(10)[0]), 1)
        self.assertEqual(self.client("COUNTER.GET", "t", "c"), [value])

    def test_maxmem(self):
        self.create("MAXMEM", 65536, "SEED", 4)
        n, reply = self.fill()
        self.assertIn("MAXMEM", str(reply))
        self.assertGreater(n, 4000)
        info = self.info()
        self.assertGreater(info[b"refused_full"], 0)
        self.assertLessEqual(info[b"bytes"], 65536)
        self.still_works(n)
        self.assertLessEqual(self.info()[b"bytes"], 65536)

    def test_room_comes_back(self):
        self.create("MAXMEM", 16384, "SEED", 4, window=400)
        self.fill()
        self.wait_until(lambda: not isinstance(
            self.client.ask("COUNTER.INCRBY", "t", "c", 1, "later"), Error), "there is room")

    def test_max_key_bytes(self):
        self.create("SEED", 4)
        self.client("CONFIG", "SET", "bloomery.max-key-bytes", "64kb")
        n, reply = self.fill()
        self.assertIn("bloomery.max-key-bytes", str(reply))
        self.still_works(n)
        self.assertLessEqual(self.info()[b"bytes"], 65536)


class Around(Described, Counters):
    PREFIX = "COUNTER"
    COMMANDS = tuple((line, "t") for line in (
        "CREATE t WINDOW 5", "INCRBY t c 1 i", "INCRBY t c 1 i d 1 j SENT 5", "GET t c d",
        "SCAN t 0", "DEL t c d", "INFO t"))
    INTERNAL = tuple((line, "t") for line in (
        "LOAD t 0 x", "APPLY t 5 c 1 i", "SAME t c 1 i", "TOUCH t 5 0"))
    MADE = "CREATE k WINDOW 10m; INCRBY k c 5 i"
    ADDED = (f"CREATE k WINDOW 10m SEED 1; INCRBY k {some(100, 'c{} 1 i')}; "
             f"INCRBY k {some(20, 'c{} 1 i', 90)}; DEL k c1 none; GET k c2; GET none c1 c2", 109,
             {"operations": 125, "repeats": 10, "refused": 0})
    SHORT = ("GET k; INFO; INFO k x; DEL k; SCAN k; INCRBY k; INCRBY k c; INCRBY k c 1; "
             "INCRBY k c 1 i d; INCRBY k SENT 5; INCRBY k c 1 i d 2 i e")
    ABSENT = {"GET k c": [None], "GET k c d": [None, None], "SCAN k 0": [b"0", []],
              "DEL k c d": [0, 0]}
    NEEDED, NO_KEY = "INCRBY k c 1 i; INFO k", "no such key: create it with COUNTER.CREATE"
    HISTORY = (("CREATE k WINDOW 1h", "counter.create k"), ("INCRBY k c 1 i", "counter.incrby k"),
               ("INCRBY k c 1 i", ""), ("DEL k none", ""), ("DEL k c", "counter.del k"))
    CREATE = "CREATE k WINDOW 10m"
    OPTIONS = {"WINDOW": ("time", 5, -5, 0, "2^53"), "CAPACITY": ("count", 5, 0, "2^41"),
               "ERROR": ("fraction", 0.1, 0, "0.6", "1e-13"), "MAXMEM": ("size", "1mb", 0),
               "SEED": ("number", 5, 0, 2**64), "SKEW": ("time", 5)}
    DEFAULTS = {b"engine": b"compact", b"window": 600000, b"maxmem": 0, b"skew": 1000,
                b"promised_error": b"1e-09", b"time": 0,
                **dict.fromkeys((b"counters", b"ids", b"applied", b"repeats", b"refused_full",
                                 b"refused_overflow"), 0)}
    PRESETS = {"counter-capacity": (b"capacity", 10**6, 500)}


server_runner.main()
