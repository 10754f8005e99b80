"""Values of maps that are added and dropped: what is freed, and what FULL says."""

import server_runner
from server_runner import Case, Error, Server, pairs

LONG = 60000


def long_value(i):
    return b"%d:" % i + b"%07d" % i * (LONG // 7)


class Values(Case):
    """With a replica, whose maps have the same bytes."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.replica = cls.enterClassContext(Server())

    def setUp(self):
        super().setUp()
        if self.replica.client.info("replication")["role"] != "slave":
            self.follow(self.replica)
        self.addCleanup(self.same_on, self.replica)

    def info(self, key="m"):
        return pairs(self.client("MAP.INFO", key))

    def full(self, *command):
        reply = self.client.ask(*command)
        self.assertIsInstance(reply, Error, command)
        self.assertEqual(reply.word, "FULL")
        return str(reply)

    def fill_to_the_limit(self):
        """Adds fields with long values until the key has 1 MB; returns how many."""
        self.client("CONFIG", "SET", "bloomery.max-key-bytes", "1mb")
        i, reply = self.until_refused("FULL", lambda i: ["MAP.SET", "m", f"k{i}", long_value(i)], 100)
        self.assertGreater(i, 5)
        self.assertIn("bloomery.max-key-bytes, which is 1048576", reply)
        return i, reply

    def test_kbf_that_is_emptied_takes_new_values(self):
        self.client("MAP.CREATE", "m", "ENGINE", "kbf")
        n, reply = self.fill_to_the_limit()
        self.assertIn("frees values only when the map is empty", reply)
        self.client("MAP.DEL", "m", *(f"k{i}" for i in range(1, n)))
        self.full("MAP.SET", "m", "other", long_value(1000))
        self.client("MAP.DEL", "m", "k0")
        self.assertEqual((self.info()[b"items"], self.info()[b"values"]), (0, 0))
        self.assertLess(self.client("MEMORY", "USAGE", "m"), 200000)
        self.assertEqual(self.client("MAP.SET", "m", "other", long_value(1000)), [1])
        self.assertEqual(self.client("MAP.GET", "m", "other"), [long_value(1000)])

    def test_kbf_says_that_values_are_exhausted(self):
        self.client("MAP.CREATE", "m", "ENGINE", "kbf", "ERROR", 1e-6)
        for i in range(1023):
            self.assertEqual(self.client("MAP.SET", "m", "one", f"v{i}"), [int(i == 0)])
        self.assertEqual(self.info()[b"values_left"], 0)
        for command in (("MAP.SET", "m", "one", "more"), ("MAP.SET", "m", "two", "more"),
                        ("MAP.SET", "m", "one", "v7", "two", "more"),
                        ("MAP.INSERT", "m", "XX", "FIELDS", "one", "more")):
            reply = self.full(*command)
            self.assertIn("has used 1023 of the 1023 different values that VALUES allows", reply)
            self.assertIn("when the map is empty", reply)
        self.assertEqual(self.info()[b"refused_full"], 4)
        self.assertEqual(self.client("MAP.SET", "m", "one", "v7"), [0])
        self.client("MAP.DEL", "m", "one")
        self.assertEqual(self.info()[b"values_left"], 1023)
        self.assertEqual(self.client("MAP.SET", "m", "one", "more"), [1])

    def test_update_is_never_short_of_fields(self):
        self.client("MAP.CREATE", "m", "ENGINE", "kbf", "CAPACITY", 300, "ERROR", 1e-6,
                    "VALUES", 255, "NOGROW")
        self.client("MAP.SET", "m", *(x for i in range(300) for x in (f"k{i}", f"v{i % 255}")))
        reply = self.full("MAP.INSERT", "m", "XX", "FIELDS", "k1", "v2", "none", "x", "k2", "more")
        self.assertIn("255 of the 255 different values that VALUES allows", reply)

    def test_nogrow_says_so(self):
        for engine in ("compact", "kbf"):
            self.client("MAP.CREATE", engine, "ENGINE", engine, "CAPACITY", 10, "NOGROW")
            self.client("MAP.SET", engine, *(x for i in range(8) for x in (f"k{i}", f"v{i}")))
            reply = self.full("MAP.SET", engine, "a", 1, "b", 2, "k1", 3, "c", 4)
            self.assertIn("NOGROW and has 8 of 10 fields", reply)
            self.assertEqual(self.client("MAP.SET", engine, "a", 1, "b", 2, "k1", 3), [1, 1, 0])
            self.assertIn("NOGROW and has 10 of 10 fields", self.full("MAP.SET", engine, "c", 4))

    def test_compact_drops_what_no_field_has(self):
        for i in range(300):
            self.client("MAP.SET", "m", "one", long_value(i))
            self.assertLess(self.client("MEMORY", "USAGE", "m"), 5 * LONG)
        self.assertEqual(self.client("MAP.GET", "m", "one"), [long_value(299)])
        for i in range(100):
            self.client("MAP.SET", "m", f"k{i}", long_value(i))
        self.client("MAP.DEL", "m", *(f"k{i}" for i in range(100)))
        self.assertLess(self.client("MEMORY", "USAGE", "m"), 5 * LONG)

    def test_compact_at_the_limit(self):
        n, reply = self.fill_to_the_limit()
        self.assertIn("MAP.COMPRESS may free", reply)
        self.client("MAP.DEL", "m", *(f"k{i}" for i in range(n)))
        self.assertEqual(self.client("MAP.SET", "m", "other", long_value(1000)), [1])

    def test_compressing_what_is_empty(self):
        self.client("MAP.CREATE", "m", "ENGINE", "kbf")
        self.client("MAP.SET", "m", *(x for i in range(50) for x in (f"k{i}", f"v{i}")))
        self.client("MAP.COMPRESS", "m")
        self.assertEqual(self.info()[b"values"], 50)
        self.client("MAP.DEL", "m", *(f"k{i}" for i in range(50)))
        self.client("MAP.COMPRESS", "m")
        self.assertEqual(self.info()[b"values"], 0)


server_runner.main()
