"""WINDOW.*: every command, with valid and invalid arguments.

Windows with event time get their times as arguments, so nothing here depends on when it runs; windows
that use the server's clock are an hour long, which is longer than the tests.
"""

import server_runner
from family_cases import Described
from server_runner import Case, Error, pairs

EVENTS = ("EVENTTIME", "SKEW", "1h")
START = 1_700_000_000_000  # an event time


class WindowCase(Case):
    def info(self, key="w"):
        return pairs(self.client("WINDOW.INFO", key))

    def create(self, key="w", *options, window="60s"):
        self.assertEqual(self.client("WINDOW.CREATE", key, "WINDOW", window, *options), b"OK")


class Create(WindowCase):

    def test_times_as_typed(self):
        for typed, window in (("60s", 60000), ("500ms", 500), ("1", 1), ("1234", 1234),
                              ("1.5s", 1500), ("5min", 300000), ("2h", 7200000), ("7d", 604800000),
                              ("1m", 60000), ("1E3", 1000), ("2^52", 2**52)):
            self.client("DEL", "w")
            self.client("window.create", "w", "window", typed)
            self.assertEqual(self.info()[b"window"], window, typed)

    def test_all_options(self):
        self.create("w", "SKEW", "5s", "EVENTTIME", "REFRESH", "ENGINE", "FBF",
                    "MAXMEM", "1mb", "ERROR", "1%", "CAPACITY", "5k", "SEED", 2**64 - 1)
        info = self.info()
        self.assertEqual([info[name] for name in (b"engine", b"seed", b"refresh", b"eventtime",
                                                  b"skew", b"maxmem", b"capacity")],
                         [b"fbf", str(2**64 - 1).encode(), 1, 1, 5000, 1 << 20, 5000])
        self.assertEqual(float(info[b"promised_error"]), 0.01)

    def test_engines(self):
        for options, engine in ((["ENGINE", "auto"], b"compact"), (["MAXMEM", "64kb"], b"compact"),
                                (["ENGINE", "compact"], b"compact"), (["ENGINE", "fbf"], b"fbf")):
            self.client("DEL", "w")
            self.create("w", *options)
            self.assertEqual(self.info()[b"engine"], engine, options)
            self.assertEqual(self.client("WINDOW.ADD", "w", *"aba"), [1, 1, 0])

    def test_refusals_name_the_argument(self):
        self.create("other", "SEED", 3)
        self.refused_each("WINDOW.CREATE", "w", (
            ("ERR", "WINDOW is required: how long items", "REFRESH"),
            ("ERR", "WINDOW is required",),
            ("ERR", "WINDOW is required", "CAPACITY", 5),
            ("ERR", "WINDOW is required", "EVENTTIME", "REFRESH"),
            ("ERR", "unit in lower case", "WINDOW", "2H"),
            ("ERR", "unknown argument 'SIZE'", "WINDOW", 5, "SIZE", 5),
            ("RANGE", "ERROR is too small for this CAPACITY", "WINDOW", 5, "ERROR", "1e-12",
             "CAPACITY", "2^40"),
            ("RANGE", "more than bloomery.max-key-bytes", "WINDOW", 5, "CAPACITY", "1e9"),
            ("ERR", "MAXMEM '64m' ends in m, which means minutes: write mb", "WINDOW", 5,
             "MAXMEM", "64m"),
            ("RANGE", "MAXMEM is too small: this window needs at least", "WINDOW", 5, "MAXMEM", 9),
            ("RANGE", "MAXMEM is too small: this window needs at least", "WINDOW", "60s",
             "ENGINE", "fbf", "MAXMEM", 1000, "CAPACITY", 100),
            ("ERR", "ENGINE 'kbf' is not one of auto, compact or fbf", "WINDOW", 5, "ENGINE",
             "kbf"),
            ("ERR", "EVENTTIME needs SKEW", "WINDOW", 5, "EVENTTIME"),
            ("ERR", "SKEW needs EVENTTIME", "WINDOW", 5, "SKEW", 5),
            ("ERR", "LIKE cannot be combined", "LIKE", "other", "SEED", 5),
            ("ERR", "LIKE cannot be combined", "WINDOW", 5, "LIKE", "other", "REFRESH"),
            ("ERR", "LIKE 'none': no such key", "LIKE", "none"),
            ("ERR", "WINDOW differs from that of 'other', which is 60000 ms", "LIKE", "other",
             "WINDOW", 5),
        ))

    def test_like(self):
        for engine in self.each("compact", "fbf"):
            self.create("w", "SEED", 9, "ERROR", "2%", "ENGINE", engine, "REFRESH", *EVENTS)
            self.client("WINDOW.INSERT", "w", "AT", START, "ITEMS", "a")
            self.client("WINDOW.CREATE", "n", "LIKE", "w")
            self.client("WINDOW.CREATE", "same", "LIKE", "w", "WINDOW", "1min")
            kept = (b"seed", b"engine", b"promised_error", b"refresh", b"skew", b"window", b"time")
            self.assertEqual([self.info("n")[x] for x in kept], [self.info("w")[x] for x in kept])
            self.assertEqual(self.client("WINDOW.EXISTS", "n", "a"), [0])
            self.client("WINDOW.INSERT", "n", "AT", START + 5, "ITEMS", "b")
            self.assertEqual(self.client("WINDOW.MERGE", "w", "n", "same"), 2)
            self.assertEqual(self.client("WINDOW.EXISTS", "w", *"abc"), [1, 1, 0])


class Items(WindowCase):
    def test_by_the_clock(self):
        self.create("w", window="1h")
        self.assertEqual(self.client("WINDOW.ADD", "w", "a"), [1])
        self.assertEqual(self.client("WINDOW.ADD", "w", "a"), [0])
        self.assertEqual(self.client("WINDOW.ADD", "w", *"abcb"), [0, 1, 1, 0])
        self.assertEqual(self.client("WINDOW.EXISTS", "w", "b"), [1])
        self.assertEqual(self.client("WINDOW.EXISTS", "w", *"xabx"), [0, 1, 1, 0])
        self.assertEqual(self.client("WINDOW.DEL", "w", "a"), [1])
        self.assertEqual(self.client("WINDOW.DEL", "w", "a"), [0])
        self.assertEqual(self.client("WINDOW.EXISTS", "w", "a"), [0])
        self.assertEqual(self.client("WINDOW.ADVANCE", "w"), 2)
        seconds, micros = map(int, self.client("TIME"))
        now, then = seconds * 1000 + micros // 1000, self.info()[b"time"]
        self.assertTrue(0 <= now - then < 3_600_000, "the server's own clock")

    def test_the_clock_forgets(self):
        self.create("w", window=1)
        self.client("WINDOW.ADD", "w", "a")
        self.wait_until(lambda: self.client("WINDOW.EXISTS", "w", "a") == [0], "it is forgotten")
        self.assertEqual(self.info()[b"items"], 1, "asking leaves the window as it is")
        self.assertEqual(self.client("WINDOW.ADVANCE", "w"), 0)
        self.assertEqual(self.info()[b"items"], 0)
        self.assertEqual(self.client("WINDOW.ADD", "w", "a"), [1])

    def test_by_events(self):
        for engine in self.each("compact", "fbf"):
            self.create("w", "ENGINE", engine, *EVENTS)
            self.assertEqual(self.client("WINDOW.INSERT", "w", "AT", START, "ITEMS", "a"), [1])
            self.assertEqual(self.client("WINDOW.INSERT", "w", "AT", START + 60000, "ITEMS", "a"), [0])
            self.assertEqual(self.client("WINDOW.EXISTS", "w", "a"), [1])
            # At most one generation longer: an eighth in engine fbf.
            self.assertEqual(self.client("WINDOW.INSERT", "w", "AT", START + 69001, "ITEMS", "b"),
                             [1])
            self.assertEqual(self.client("WINDOW.EXISTS", "w", "a", "b"), [0, 1])
            # A late event counts from the window's time.
            self.assertEqual(self.client("WINDOW.INSERT", "w", "AT", 5, "ITEMS", "late"), [1])
            self.assertEqual(self.info()[b"time"], START + 69001)
            self.assertEqual(self.client("WINDOW.EXISTS", "w", "late"), [1])

    def test_refresh(self):
        for options, later in ((["REFRESH"], 1), ([], 0)):
            self.client("FLUSHALL")
            self.create("w", *options, *EVENTS)
            self.client("WINDOW.INSERT", "w", "AT", START, "ITEMS", "a")
            self.assertEqual(self.client("WINDOW.INSERT", "w", "AT", START + 50000, "ITEMS", "a"), [0])
            self.client("WINDOW.INSERT", "w", "AT", START + 100000, "ITEMS", "b")
            self.assertEqual(self.client("WINDOW.EXISTS", "w", "a"), [later])

    def test_skew(self):
        self.create("w", "EVENTTIME", "SKEW", 1000)
        self.assertEqual(self.client("WINDOW.DEL", "w", "a"), [0])  # does not start its time
        self.client("WINDOW.INSERT", "w", "AT", START, "ITEMS", "a")
        for command in (["WINDOW.INSERT", "w", "AT", START + 1001, "ITEMS", "b"],
                        ["WINDOW.INSERT", "w", "AT", START * 1000, "ITEMS", "b", "c"]):
            self.refused("SKEW", *command, text=f"which is {START}")
        self.assertEqual(self.info()[b"refused_skew"], 2)
        self.assertEqual(self.client("WINDOW.INSERT", "w", "AT", START + 1000, "ITEMS", "b"), [1])
        # After a silence its time is moved with ADVANCE.
        self.assertEqual(self.client("WINDOW.ADVANCE", "w", "AT", START + 10**7), 0)
        self.assertEqual(self.client("WINDOW.INSERT", "w", "AT", START + 10**7 + 1, "ITEMS", "b"), [1])
        self.assertEqual(self.client("WINDOW.ADVANCE", "w", "AT", 1), 1)  # it does not go back
        self.assertEqual(self.info()[b"time"], START + 10**7 + 1)

    def test_delete_by_events(self):
        self.create("w", *EVENTS)
        self.client("WINDOW.INSERT", "w", "AT", START, "ITEMS", *"abc")
        self.assertEqual(self.client("WINDOW.DEL", "w", "a"), [1])
        self.assertEqual(self.info()[b"time"], START)
        self.assertEqual(self.client("WINDOW.DEL", "w", "b", "AT", "b"), [1, 0, 0])
        self.assertEqual(self.info()[b"time"], START)
        self.assertEqual(self.client("WINDOW.DEL", "w", "x"), [0])
        self.assertEqual(self.client("WINDOW.EXISTS", "w", *"abc"), [0, 0, 1])

    def test_fbf_cannot_delete(self):
        self.create("w", "ENGINE", "fbf", *EVENTS)
        self.client("WINDOW.INSERT", "w", "AT", START, "ITEMS", "a")
        self.refused("UNSUPPORTED", "WINDOW.DEL", "w", "a", text="engine compact can")

    def test_at_belongs_to_event_time(self):
        self.create("clock", window="1h")
        self.create("events", *EVENTS)
        for command in (["INSERT", "AT", START, "ITEMS", "a"], ["ADVANCE", "AT", START]):
            self.refused("ERR", f"WINDOW.{command[0]}", "clock", *command[1:],
                         text="AT needs a window created with EVENTTIME")
        for command in (["ADD", "a"], ["ADD", "a", "AT", START], ["INSERT", "ITEMS", "a"]):
            self.refused("ERR", f"WINDOW.{command[0]}", "events", *command[1:],
                         text="uses event time: add items with WINDOW.INSERT and AT")
        self.refused("ERR", "WINDOW.ADVANCE", "events", text="AT is required")
        self.assertEqual((self.info("clock")[b"items"], self.info("events")[b"items"]), (0, 0))

    def test_insert_by_the_clock(self):
        self.create("w", window="1h")
        self.assertEqual(self.client("WINDOW.INSERT", "w", "ITEMS", "ITEMS", "AT", "a"), [1, 1, 1])
        self.assertEqual(self.client("WINDOW.ADD", "w", "ITEMS", "AT", "a", "b"), [0, 0, 0, 1])

    def test_delete_by_the_clock(self):
        """An expired item is absent, also if nothing was added since."""
        self.create("w", window=50)
        self.client("WINDOW.ADD", "w", *"abc")
        self.assertEqual(self.client("WINDOW.DEL", "w", "a", "a", "x"), [1, 0, 0])
        self.wait_until(lambda: self.client("WINDOW.EXISTS", "w", "b") == [0], "b expires")
        self.assertEqual(self.client("WINDOW.DEL", "w", *"bc"), [0, 0])
        self.assertEqual(self.client("WINDOW.DEL", "w", *range(200)), [0] * 200)

    def test_wrong_arguments(self):
        self.create("w", *EVENTS)
        self.client("WINDOW.INSERT", "w", "AT", START, "ITEMS", "a")
        for word, text, *command in (
                ("ERR", "ITEMS is required before 'ITEM'", "INSERT", "w", "ITEM", "AT"),
                ("ERR", "AT 'now' is not a whole number of milliseconds", "INSERT", "w", "AT", "now",
                 "ITEMS", "b"),
                ("ERR", "AT '' is not a whole number", "INSERT", "w", "AT", "", "ITEMS", "b"),
                ("ERR", "AT '10m' is not a whole number", "INSERT", "w", "AT", "10m", "ITEMS", "b"),
                ("ERR", "AT '1e13' is not a whole number", "INSERT", "w", "AT", "1e13", "ITEMS", "b"),
                ("ERR", "AT '10m' is not a whole number", "ADVANCE", "w", "AT", "10m"),
                ("RANGE", "AT '-5' is not between", "INSERT", "w", "AT", -5, "ITEMS", "b"),
                ("RANGE", "AT '0' is not between 1", "INSERT", "w", "AT", 0, "ITEMS", "b"),
                ("RANGE", "AT '9223372036854775808' is not between", "INSERT", "w", "AT", 2**63,
                 "ITEMS", "b"),
                ("ERR", "AT is given twice", "INSERT", "w", "AT", START, "AT", START, "ITEMS", "b"),
                ("ERR", "ITEMS is required before 'b'", "INSERT", "w", "b", "c"),
                ("ERR", "ITEMS is required before 'b'", "INSERT", "w", "b"),
                ("ERR", "unknown argument 'b' before ITEMS", "INSERT", "w", "b", "ITEMS", "c"),
                ("ERR", "nothing follows ITEMS", "INSERT", "w", "ITEMS"),
                ("ERR", "ITEMS is required", "INSERT", "w", "AT", START),
                ("ERR", "nothing follows ITEMS", "INSERT", "w", "AT", START, "ITEMS"),
                ("ERR", "AT 'ITEMS' is not a whole", "INSERT", "w", "AT", "ITEMS", "b"),
                ("ERR", "unknown argument '5'", "ADVANCE", "w", 5),
                ("ERR", "source 'w' is the destination", "MERGE", "w", "w"),
        ):
            with self.subTest(command=command):
                self.refused(word, f"WINDOW.{command[0]}", *command[1:], text=text)


class Limits(WindowCase):
    def fill_until_full(self, at, prefix="k"):
        return self.until_refused("FULL", lambda i: ["WINDOW.INSERT", "w", "AT", at, "ITEMS",
                                                     f"{prefix}{i}"])

    def test_maxmem(self):
        for engine in self.each("compact", "fbf"):
            self.create("w", "MAXMEM", "32kb", "ENGINE", engine, "SEED", 6, "ERROR", "1e-6",
                        *EVENTS)
            full, _ = self.fill_until_full(START)
            self.assertGreater(full, 1000)
            self.assertLessEqual(self.info()[b"bytes"], 34000)  # of the allocator
            self.refused("FULL", "WINDOW.INSERT", "w", "AT", START, "ITEMS", f"k{full}",
                         text="the window has reached MAXMEM (")
            self.refused("FULL", "WINDOW.INSERT", "w", "AT", START, "ITEMS", "k1", "x", "y")
            self.assertEqual(self.info()[b"refused_full"], 3)
            self.assertEqual(self.info()[b"at_limit"], 1)
            # Everything else works, …
            self.assertEqual(self.client("WINDOW.INSERT", "w", "AT", START + 1, "ITEMS", "k7"), [0])
            self.assertEqual(self.client("WINDOW.EXISTS", "w", "k7", f"k{full}"), [1, 0])
            if engine == "compact":
                self.assertEqual(self.client("WINDOW.DEL", "w", "k7"), [1])
            # … and room is freed as items expire.
            self.assertEqual(self.client("WINDOW.INSERT", "w", "AT", START + 200000, "ITEMS", "x"), [1])
            self.assertEqual(self.info()[b"items"], 1)

    def test_max_key_bytes(self):
        self.client("CONFIG", "SET", "bloomery.max-key-bytes", "64kb")
        for engine in self.each("compact", "fbf"):
            before = self.client.info("bloomery")["bloomery_window_refused"]
            self.create("w", "SEED", 6, "ENGINE", engine, "ERROR", "1e-6", *EVENTS)
            full, text = self.fill_until_full(START)
            self.assertIn("bloomery.max-key-bytes", text)
            self.assertGreater(full, 3000)
            self.assertLessEqual(self.info()[b"bytes"], 65536 * 5 // 4)
            self.refused("FULL", "WINDOW.INSERT", "w", "AT", START, "ITEMS", "k1", "x")
            self.assertEqual(self.client("WINDOW.INSERT", "w", "AT", START, "ITEMS", "k7"), [0])
            self.assertEqual(self.client("WINDOW.INSERT", "w", "AT", START, "ITEMS", "k1", "k2"),
                             [0, 0])
            self.assertEqual(self.client("WINDOW.EXISTS", "w", "k7", f"k{full}"), [1, 0])
            self.assertEqual(self.client.info("bloomery")["bloomery_window_refused"], before + 2)
            # Expired items free their memory, also for the next item.
            at = START + 200000
            self.assertEqual(self.client("WINDOW.INSERT", "w", "AT", at, "ITEMS", "x"), [1])
            self.assertEqual(self.info()[b"items"], 1)
            again, _ = self.fill_until_full(at, "again")
            self.assertGreater(again, full // 2)

    def test_large_filters_below_max_key_bytes(self):
        """Filters that take nearly all, or a little more, of what a key may have, when all of it
        has expired: the next filter must not wait for room that only it can free."""
        self.client("CONFIG", "SET", "bloomery.max-key-bytes", "64kb")
        refused = 0
        for capacity in range(13000, 19001, 500):
            self.client("DEL", "w")
            self.create("w", "ENGINE", "fbf", "CAPACITY", capacity, "SEED", 3, *EVENTS)
            for i in range(120):
                reply = self.client.ask("WINDOW.INSERT", "w", "AT", START + i * 500, "ITEMS",
                                        *(f"{i} {j}" for j in range(capacity // 100)))
            if isinstance(reply, Error):
                self.assertEqual(reply.word, "FULL", capacity)
                refused += 1
            self.assertLessEqual(self.info()[b"bytes"], 65536 * 9 // 8 + 1024)
            self.assertEqual(self.client("WINDOW.INSERT", "w", "AT", START + 500000, "ITEMS", "x"), [1], capacity)
            self.assertEqual(self.info()[b"items"], 1)
        self.assertGreater(refused, 5)


class Whole(WindowCase):
    def test_merge(self):
        self.create("a", "SEED", 4, *EVENTS)
        for name in "bc":
            self.client("WINDOW.CREATE", name, "LIKE", "a")
        self.client("WINDOW.INSERT", "a", "AT", START, "ITEMS", "x")
        self.client("WINDOW.INSERT", "b", "AT", START + 30000, "ITEMS", "y")
        self.client("WINDOW.INSERT", "c", "AT", START + 50000, "ITEMS", "z")
        self.client("EXPIRE", "a", 1000)
        self.assertEqual(self.client("WINDOW.MERGE", "a", "b", "none", "c"), 3)
        self.assertGreater(self.client("TTL", "a"), 0)
        self.assertEqual(self.client("WINDOW.EXISTS", "a", *"xyz"), [1, 1, 1])
        self.assertEqual(self.info("a")[b"time"], START + 50000)
        # Each item is remembered as long as in its own window.
        self.client("WINDOW.ADVANCE", "a", "AT", START + 30000 + 60000)
        self.assertEqual(self.client("WINDOW.EXISTS", "a", *"xyz"), [0, 1, 1])
        self.client("WINDOW.ADVANCE", "a", "AT", START + 50000 + 60000)
        self.assertEqual(self.client("WINDOW.EXISTS", "a", *"xyz"), [0, 0, 1])
        self.assertEqual(self.client("WINDOW.MERGE", "a", "none"), 1)

    def test_merge_creates(self):
        for engine in self.each("compact", "fbf"):
            self.assertEqual(self.client("WINDOW.MERGE", "new", "none"), 0)
            self.assertEqual(self.client("EXISTS", "new"), 0)
            self.create("a", "SEED", 4, "ENGINE", engine, *EVENTS)
            self.client("WINDOW.CREATE", "b", "LIKE", "a")
            self.client("WINDOW.INSERT", "a", "AT", START, "ITEMS", "x")
            self.client("WINDOW.INSERT", "b", "AT", START + 30000, "ITEMS", "y")
            self.client("EXPIRE", "a", 1000)
            self.assertEqual(self.client("WINDOW.MERGE", "new", "none", "a", "b"), 2)
            self.assertEqual(self.client("TTL", "new"), -1)
            kept = (b"seed", b"engine", b"promised_error", b"skew", b"window")
            self.assertEqual([self.info("new")[x] for x in kept],
                             [self.info("a")[x] for x in kept])
            self.assertEqual(self.client("WINDOW.EXISTS", "new", *"xyz"), [1, 1, 0])
            # It is a window of its own, with the times of the items.
            self.client("WINDOW.INSERT", "new", "AT", START + 31000, "ITEMS", "z")
            self.assertEqual(self.client("WINDOW.EXISTS", "a", *"xyz"), [1, 0, 0])
            self.client("WINDOW.ADVANCE", "new", "AT", START + 29000 + 60000)
            self.assertEqual(self.client("WINDOW.EXISTS", "new", *"yz"), [1, 1])
            self.client("WINDOW.ADVANCE", "new", "AT", START + 3 * 60000)
            self.assertEqual(self.client("WINDOW.EXISTS", "new", *"xyz"), [0, 0, 0])
        self.create("other", "SEED", 5, *EVENTS)
        self.refused("MISMATCH", "WINDOW.MERGE", "fresh", "a", "other")

    def test_merge_refused_changes_nothing(self):
        self.create("a", "SEED", 4, *EVENTS)
        self.client("WINDOW.CREATE", "b", "LIKE", "a")
        self.create("other", "SEED", 5, *EVENTS)
        for name in ("a", "b", "other"):
            self.client("WINDOW.INSERT", name, "AT", START, "ITEMS", name)
        self.refused("MISMATCH", "WINDOW.MERGE", "a", "other",
                     text="'other' was not created LIKE 'a'")
        self.refused("MISMATCH", "WINDOW.MERGE", "a", "b", "other",
                     text="'other' was not created LIKE 'a'")
        self.refused("ERR", "WINDOW.MERGE", "a", "b", "b", text="source 'b' is named twice")
        for name in ("c", "d"):
            self.create(name, "CAPACITY", 1000, "SEED", 3)
            self.client("WINDOW.ADD", name, *(f"{name}{i}" for i in range(9000)))
        self.refused("FULL", "WINDOW.MERGE", "c", "d", text="with a CAPACITY for the items of all")


class Around(Described, WindowCase):
    PREFIX = "WINDOW"
    COMMANDS = (("CREATE k WINDOW 5", "k"), ("CREATE k LIKE o", "k o"),
                ("CREATE like WINDOW 5 LIKE o", "like o"), ("ADD k i", "k"),
                ("ADD k LIKE j", "k"), ("INSERT k AT 5 ITEMS LIKE b", "k"), ("EXISTS k i j", "k"),
                ("DEL k i", "k"), ("ADVANCE k", "k"),
                ("MERGE k s t", "k s t"), ("INFO k", "k"))
    MADE = "CREATE k WINDOW 1h SEED 1; ADD k a"
    STORE, ASK, FOUND = "ADD k", "EXISTS k", 1
    SHORT = "CREATE; ADD k; INSERT k; EXISTS k; DEL k; ADVANCE; MERGE k; INFO; INFO k x"
    ABSENT = {"EXISTS k a": [0], "EXISTS k a b c": [0, 0, 0], "DEL k a": [0]}
    NEEDED = f"ADD k a; INSERT k AT {START} ITEMS a; INSERT k ITEMS a; ADVANCE k; INFO k"
    NO_KEY = "no such key: create it with WINDOW.CREATE"
    HISTORY = (("CREATE k WINDOW 1h", "window.create k"), ("ADD k a", "window.add k"),
               ("EXISTS k a", ""), ("ADD k a", "window.add k"), ("DEL k a", "window.del k"),
               ("DEL k a", ""), ("ADVANCE k", "window.advance k"),
               ("CREATE v LIKE k", "window.create v"), ("MERGE k v", "window.merge k"))
    CREATE = "CREATE k WINDOW 60s"
    OPTIONS = {"WINDOW": ("time", 5, "-60s", "1e30", 0, "2^53"),
               "ERROR": ("fraction", 0.1, 0, "1e-13", "0.6"), "CAPACITY": ("count", 5, 0),
               "MAXMEM": ("size", "1mb", 0), "SKEW": ("time", 5, 0),
               "SEED": ("number", 5, 0, 2**64)}
    DEFAULTS = {b"window": 60000, b"items": 0, b"eventtime": 0, b"skew": 0, b"refresh": 0,
                b"maxmem": 0}
    PRESETS = {"window-capacity": (b"capacity", 1000, 500),
               "window-error": (b"promised_error", 0.001, 0.01),
               "window-engine": (b"engine", b"compact", b"fbf")}
    READER, MAY = "EXISTS MERGE CREATE", "EXISTS k a"
    MAY_NOT = "ADD k b; EXISTS other a; MERGE k2 k; CREATE k2 LIKE k"

    def test_info_adds_up(self):
        start = self.client.info("bloomery")
        for name, engine in (("a", "compact"), ("f", "fbf")):
            self.create(name, "SEED", 1, "ENGINE", engine, "ERROR", "1e-9", *EVENTS)
            self.client("WINDOW.INSERT", name, "AT", START, "ITEMS", *range(100))
            self.client("WINDOW.INSERT", name, "AT", START, "ITEMS", *range(50))
        self.client("WINDOW.DEL", "a", 1)
        self.client("WINDOW.EXISTS", "a", *range(10))
        self.client("COPY", "a", "b")
        now = self.client.info("bloomery")
        self.assertEqual(now["bloomery_window_keys"], 3)
        self.assertEqual(now["bloomery_window_items"], 99 + 99 + 100)
        for what, count in (("operations", 311), ("repeats", 100), ("refused", 0)):
            name = f"bloomery_window_{what}"
            self.assertEqual(now[name] - start[name], count, what)
        self.assertEqual(now["bloomery_window_bytes"],
                         sum(self.info(key)[b"bytes"] for key in "abf"))
        # Expired items are no longer counted when time moves, in every engine.
        for name in "abf":
            self.client("WINDOW.INSERT", name, "AT", START + 100000, "ITEMS", "later")
        self.assertEqual(self.client.info("bloomery")["bloomery_window_items"], 3)
        self.client("DEL", *"abf")
        empty = self.client.info("bloomery")
        self.assertEqual([empty[f"bloomery_window_{what}"] for what in ("keys", "items", "bytes")],
                         [0, 0, 0])


server_runner.main()
