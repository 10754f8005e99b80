"""MAP.*: every command, with valid and invalid arguments."""

import server_runner
from family_cases import Described, some
from server_runner import Case, Error, pairs

UNSURE_TEXT = "UNSURE the stored value is ambiguous, so nothing was changed"


class Create(Case):
    def info(self, key="m"):
        return pairs(self.client("MAP.INFO", key))

    def test_numbers_as_typed(self):
        for typed, capacity in (("1e6", 10**6), ("64k", 64000), ("2^20", 2**20), ("1.5M", 1500000),
                                ("1000", 1000)):
            self.client("DEL", "m")
            self.client("map.create", "m", "capacity", typed)
            self.assertEqual(self.info()[b"capacity"], capacity, typed)
        for typed, error in (("0.1%", 0.001), ("1e-4", 1e-4), ("0.25", 0.25), (".5", 0.5)):
            self.client("DEL", "m")
            self.client("MAP.CREATE", "m", "ERROR", typed)
            self.assertEqual(float(self.info()[b"promised_error"]), error, typed)

    def test_all_options(self):
        self.client("MAP.CREATE", "m", "NOGROW", "SEED", 2**64 - 1, "RAW", 7, "ENGINE", "KBF",
                    "ERROR", 0.01, "CAPACITY", 500)
        info = self.info()
        self.assertEqual((info[b"engine"], info[b"seed"], info[b"value_bits"], info[b"grows"]),
                         (b"kbf", str(2**64 - 1).encode(), 7, 0))

    def test_refusals_name_the_argument(self):
        self.refused_each("MAP.CREATE", "m", (
            ("ERR", "unknown argument 'SIZE'", "SIZE", 5),
            ("ERR", "CAPACITY '10m' ends in m, which means minutes: write M", "CAPACITY", "10m"),
            ("RANGE", "more than bloomery.max-key-bytes", "CAPACITY", "1e10"),
            ("ERR", "ENGINE 'fbf' is not one of auto, compact or kbf", "ENGINE", "fbf"),
            ("ERR", "VALUES and RAW cannot be combined", "VALUES", 5, "RAW", 5),
            ("RANGE", "RAW exceeds the limit of engine kbf", "ENGINE", "kbf", "RAW", 14),
            ("ERR", "LIKE cannot be combined", "LIKE", "m", "SEED", 5),
            ("ERR", "LIKE 'm': no such key", "LIKE", "m"),
            ("ERR", "unknown argument", "x" * 5000),
            ("ERR", "unknown argument", ""),
        ))

    def test_like(self):
        self.client("MAP.CREATE", "m", "ENGINE", "kbf", "CAPACITY", 300, "SEED", 9)
        self.client("MAP.SET", "m", "a", "red", "b", "blue")
        self.client("MAP.CREATE", "n", "LIKE", "m")
        self.assertEqual(self.info("n")[b"seed"], b"9")
        self.client("MAP.SET", "n", "c", "blue", "d", "red")
        self.assertEqual(self.client("MAP.MERGE", "m", "n"), 4)
        self.assertEqual(self.client("MAP.GET", "m", *"abcd"), [b"red", b"blue", b"blue", b"red"])


class Fields(Case):
    def test_life_of_a_field(self):
        self.assertEqual(self.client("MAP.SET", "m", "a", "1", "b", "2", "a", "3"), [1, 1, 0])
        self.assertEqual(self.client("MAP.GET", "m", "a", "x", "b"), [b"3", None, b"2"])
        self.assertEqual(self.client("MAP.EXISTS", "m", "x", "a"), [0, 1])
        self.assertEqual(self.client("MAP.INSERT", "m", "XX", "FIELDS", "a", "5", "x", "6", "b", "7"), [1, 0, 1])
        self.assertEqual(self.client("MAP.GET", "m", "a", "x", "b"), [b"5", None, b"7"])
        self.assertEqual(self.client("MAP.DEL", "m", "x", "a", "a"), [0, 1, 0])
        self.assertEqual(self.client("MAP.GET", "m", "a", "b"), [None, b"7"])

    def test_any_bytes(self):
        fields = [b"", b"\0", b"\0\0", b"\xff" * 300, "Übergröße".encode(), b"\r\n", b"x" * 100000]
        values = [b"", b"\0", b"\r\n$5\r\n", b"\xff", b"v" * 65535, b"-ERR", b"x"]
        self.client("MAP.SET", b"k\0ey", *(x for pair in zip(fields, values) for x in pair))
        self.assertEqual(self.client("MAP.GET", b"k\0ey", *fields), values)

    def test_value_too_long_changes_nothing(self):
        self.client("MAP.SET", "m", "a", "1")
        self.refused("TOOLONG", "MAP.SET", "m", "a", "2", "bad", b"x" * 65536, text="'bad' has 65536")
        self.refused("TOOLONG", "MAP.INSERT", "m", "XX", "FIELDS", "a", "2", "bad", b"x" * 65536)
        self.refused("TOOLONG", "MAP.SET", "new", "bad", b"x" * 65536)
        self.assertEqual(self.client("MAP.GET", "m", "a"), [b"1"])
        self.assertEqual(self.client("EXISTS", "new"), 0)

    def test_integers(self):
        self.client("MAP.CREATE", "m", "RAW", 16)
        self.assertEqual(self.client("MAP.SET", "m", "a", 0, "b", 65535), [1, 1])
        self.assertEqual(self.client("MAP.GET", "m", "a", "b", "c"), [0, 65535, None])
        for word, *values in (("RANGE", 65536, -1, "99999999999999999999"),
                              ("ERR", "x", "", "1.5", "1e2", " 1", "0x1", "-1x")):
            for value in values:
                self.refused(word, "MAP.SET", "m", "a", 7, "b", value,
                             text="is not an integer of 16 bits")
                self.refused(word, "MAP.INSERT", "m", "XX", "FIELDS", "b", value)
        self.client("MAP.CREATE", "wide", "RAW", 32)
        self.client("MAP.SET", "wide", "a", 2**32 - 1)
        self.assertEqual(self.client("MAP.GET", "wide", "a"), [2**32 - 1])

    def test_many_fields_in_one_command(self):
        n = 1000
        names = [f"field {i}" for i in range(n)]
        values = [f"value {i % 37}".encode() for i in range(n)]
        self.client("MAP.CREATE", "m", "CAPACITY", n, "ERROR", 1e-9, "SEED", 1)
        reply = self.client("MAP.SET", "m", *(x for pair in zip(names, values) for x in pair))
        self.assertEqual(reply, [1] * n)
        self.assertEqual(self.client("MAP.GET", "m", *names), values)
        some = [x for i in range(n) for x in (names[i] if i % 3 else f"none {i}", "new")]
        self.assertEqual(self.client("MAP.INSERT", "m", "XX", "FIELDS", *some), [int(i % 3 > 0) for i in range(n)])
        self.assertEqual(self.client("MAP.GET", "m", *names),
                         [b"new" if i % 3 else values[i] for i in range(n)])
        self.assertEqual(self.client("MAP.DEL", "m", *names[:500], *names[:500]),
                         [1] * 500 + [0] * 500)
        self.assertEqual(self.client("MAP.EXISTS", "m", *names), [0] * 500 + [1] * 500)

    def test_full(self):
        self.client("MAP.CREATE", "m", "CAPACITY", 3, "NOGROW", "SEED", 5, "ERROR", 1e-9)
        self.client("MAP.SET", "m", *"a1b2")
        reply = self.client.ask("MAP.SET", "m", *"c3d4")
        self.assertEqual(reply.word, "FULL")
        self.assertEqual(self.client("MAP.GET", "m", *"abcd"), [b"1", b"2", None, None])
        self.assertEqual(self.client("MAP.SET", "m", *"c3a9"), [1, 0])
        self.assertEqual(pairs(self.client("MAP.INFO", "m"))[b"refused_full"], 1)

    def test_unsure_is_an_element(self):
        self.client("MAP.CREATE", "m", "ENGINE", "kbf", "CAPACITY", 50, "ERROR", 0.4, "SEED", 1,
                    "NOGROW", "VALUES", 200)
        for i in range(50):
            self.client.ask("MAP.SET", "m", f"k{i}", f"v{i}")
        names = [f"k{i}" for i in range(50)]
        answers = self.client("MAP.GET", "m", *names)
        unsure = [i for i, got in enumerate(answers) if isinstance(got, Error)]
        self.assertTrue(0 < len(unsure) < 50, "this seed has some")
        for i in unsure:
            self.assertEqual(answers[i], Error(UNSURE_TEXT))
        self.assertEqual([i for i, got in enumerate(self.client("MAP.EXISTS", "m", *names))
                          if isinstance(got, Error)], unsure)
        known = next(i for i in range(50) if answers[i] == f"v{i}".encode())
        update = self.client("MAP.INSERT", "m", "XX", "FIELDS", f"k{unsure[0]}", "v1", f"k{known}", "v2")
        self.assertEqual(update, [Error(UNSURE_TEXT), 1])
        self.assertEqual(self.client("MAP.DEL", "m", f"k{unsure[0]}"), [Error(UNSURE_TEXT)])
        self.assertGreater(self.client.info("bloomery")["bloomery_map_unsure"], 0)

    def test_ghosts(self):
        """INFO shows about how many fields of a kbf map could not be deleted."""
        for engine in ("kbf", "compact"):
            self.client("MAP.CREATE", engine, "ENGINE", engine, "CAPACITY", 300, "ERROR", 0.01, "SEED", 1)
            self.client.pipeline(["MAP.SET", engine, i, i % 9] for i in range(300))
            self.client.pipeline([command, engine, *words] for i in range(300, 20_000)
                                 for command, *words in (["MAP.DEL", i - 300], ["MAP.SET", i, i % 9]))
            info = pairs(self.client("MAP.INFO", engine))
            if engine == "compact":
                self.assertEqual(info[b"ghosts"], 0)
                continue
            self.assertGreater(info[b"items"], 310)
            self.assertAlmostEqual(info[b"ghosts"], info[b"items"] - 300, delta=info[b"ghosts"] / 4)
            self.client("RESTORE", "again", 0, self.client("DUMP", engine))
            self.assertEqual(pairs(self.client("MAP.INFO", "again"))[b"ghosts"], info[b"ghosts"])


class Insert(Case):
    """MAP.INSERT creates the map that it needs; MAP.REMOVE deletes the one that it empties."""

    OPTIONS = ("CAPACITY", 500, "ERROR", "0.01", "ENGINE", "compact", "RAW", 12, "SEED", 7)

    def info(self):
        return pairs(self.client("MAP.INFO", "m"))

    def test_creates_with_its_options(self):
        self.assertEqual(self.client("MAP.INSERT", "m", *self.OPTIONS, "FIELDS", "a", 1, "b", 2, "a", 3),
                         [1, 1, 0])
        info = self.info()
        self.assertEqual((info[b"capacity"], float(info[b"promised_error"]), info[b"engine"],
                          info[b"value_bits"], info[b"seed"], info[b"grows"]),
                         (500, 0.01, b"compact", 12, b"7", 1))
        self.assertEqual(self.client("MAP.INSERT", "m", *self.OPTIONS, "FIELDS", "c", 4, "b", 5), [1, 0])
        self.assertEqual(self.client("map.insert", "m", "fields", "FIELDS", 6), [1])
        self.assertEqual(self.client("MAP.GET", "m", *"abc", "FIELDS"), [3, 5, 4, 6])
        self.client("DEL", "m")
        self.client("MAP.INSERT", "m", "NOGROW", "CAPACITY", 2, "FIELDS", "a", "x")
        self.assertEqual((self.info()[b"grows"], self.info()[b"capacity"]), (0, 2))
        self.refused("FULL", "MAP.INSERT", "new", "NOGROW", "CAPACITY", 2, "FIELDS", *"a1b2c3")

    def test_options_that_differ(self):
        self.client("MAP.INSERT", "m", *self.OPTIONS, "FIELDS", "a", 1)
        for text, *options in (("the map has CAPACITY 500, not 501", "CAPACITY", 501),
                               ("the map has ERROR 0.01, not 0.02", "ERROR", 0.02),
                               ("the map has ENGINE compact, not kbf", "ENGINE", "kbf"),
                               ("created with RAW 12, not with VALUES", "VALUES", 12),
                               ("the map has RAW 12, not 13", "RAW", 13),
                               ("created without NOGROW", "NOGROW")):
            self.refused("MISMATCH", "MAP.INSERT", "m", *options, "FIELDS", "a", 2, text=text)
        self.assertEqual(self.client("MAP.INSERT", "m", "ENGINE", "auto", "FIELDS", "a", 2), [0])
        self.client("MAP.CREATE", "bytes", "VALUES", 50, "NOGROW")
        self.refused("MISMATCH", "MAP.INSERT", "bytes", "RAW", 12, "FIELDS", "a", 1,
                     text="created with VALUES, not with RAW")
        self.refused("MISMATCH", "MAP.INSERT", "bytes", "VALUES", 51, "FIELDS", "a", 1)
        self.client("MAP.INSERT", "bytes", "VALUES", 50, "NOGROW", "FIELDS", "a", 1)

    def test_seed_is_not_revealed(self):
        """A user who may not call MAP.INFO does not learn the seed from a refusal."""
        self.client("MAP.SET", "m", "a", "1")
        reply = self.refused("MISMATCH", "MAP.INSERT", "m", "SEED", 8, "FIELDS", "a", 2)
        self.assertEqual(str(reply), "MISMATCH the map has another SEED")

    def test_a_compressed_kbf_map_still_fits(self):
        options = ("CAPACITY", 1000, "ENGINE", "kbf", "RAW", 8, "SEED", 7)
        self.client("MAP.INSERT", "m", *options, "FIELDS", "a", 1)
        self.client("MAP.COMPRESS", "m")
        self.assertLess(self.info()[b"capacity"], 1000)
        self.assertEqual(self.client("MAP.INSERT", "m", *options, "FIELDS", "b", 2), [1])

    def test_refusals(self):
        self.refused_each("MAP.INSERT", "m", (
            ("ERR", "no such key", "NOCREATE", "FIELDS", "a", 1),
            ("ERR", "unknown argument 'SIZE'", "SIZE", 5, "FIELDS", "a", 1),
            ("ERR", "unknown argument 'LIKE'", "LIKE", "x", "FIELDS", "a", 1),
            ("ERR", "VALUES and RAW cannot be combined", "VALUES", 5, "RAW", 5, "FIELDS", "a", 1),
            ("ERR", "wrong number of arguments", "FIELDS", "a"),
            ("ERR", "wrong number of arguments", "FIELDS", "a", 1, "b"),
            ("ERR", "FIELDS is required", "CAPACITY", 100, "SEED", 5),
            ("ERR", "nothing follows FIELDS", "SEED", 5, "FIELDS"),
            ("ERR", "unknown argument 'a' before FIELDS", "a", 1, "FIELDS"),
            ("ERR", "FIELDS is required before 'a'", "a", 1),
            ("ERR", "FIELDS is required before 'a'", "a"),
            ("ERR", "FIELDS is required before 'a'", "XX", "a", 1),
            ("ERR", "XX is given twice", "XX", "XX", "FIELDS", "a", 1),
            ("ERR", "no such key", "XX", "NOCREATE", "FIELDS", "a", 1),
            ("ERR", "no such key", "NOCREATE", "XX", "SEED", 5, "FIELDS", "a", 1),
            ("RANGE", "more than bloomery.max-key-bytes", "CAPACITY", "1e10", "FIELDS", "a", 1),
            ("RANGE", "is not an integer of 4 bits (argument 8)", "RAW", 4, "FIELDS", "a", 1, "b", 16),
        ))
        self.client("SET", "s", "text")
        self.refused("WRONGTYPE", "MAP.INSERT", "s", "FIELDS", "a", 1)
        self.refused("WRONGTYPE", "MAP.REMOVE", "s", "DROPEMPTY", "FIELDS", "a")
        self.client("MAP.SET", "m", "a", "1")
        self.assertEqual(self.client("MAP.INSERT", "m", "NOCREATE", "FIELDS", "b", 1), [1])

    def test_remove(self):
        self.assertEqual(self.client("MAP.REMOVE", "m", "DROPEMPTY", "FIELDS", "a", "b"), [0, 0])
        self.client("MAP.SET", "m", *"a1b2c3")
        self.assertEqual(self.client("MAP.REMOVE", "m", "DROPEMPTY", "FIELDS", "a", "x", "a"), [1, 0, 0])
        self.assertEqual(self.client("EXISTS", "m"), 1)
        self.assertEqual(self.client("MAP.REMOVE", "m", "DROPEMPTY", "FIELDS", "b", "c"), [1, 1])
        self.assertEqual(self.client("EXISTS", "m"), 0)
        self.client("MAP.CREATE", "m")
        self.assertEqual(self.client("MAP.REMOVE", "m", "DROPEMPTY", "FIELDS", "x"), [0])
        self.assertEqual(self.client("EXISTS", "m"), 0)
        self.assertEqual(self.client.info("bloomery")["bloomery_map_keys"], 0)

    def test_remove_without_options(self):
        """As MAP.DEL: the empty map stays."""
        self.refused_each("MAP.REMOVE", "m", (
            ("ERR", "FIELDS is required before 'a'", "a", "b"),
            ("ERR", "FIELDS is required before 'a'", "a"),
            ("ERR", "nothing follows FIELDS", "FIELDS"),
            ("ERR", "unknown argument 'XX' before FIELDS", "XX", "FIELDS", "a"),
            ("ERR", "DROPEMPTY is given twice", "DROPEMPTY", "DROPEMPTY", "FIELDS", "a"),
            ("ERR", "nothing follows FIELDS", "DROPEMPTY", "FIELDS"),
            ("ERR", "FIELDS is required before 'x'", "DROPEMPTY", "x"),
        ))
        self.client("MAP.SET", "m", "a", 1)
        self.assertEqual(self.client("MAP.REMOVE", "m", "FIELDS", "a", "x"), [1, 0])
        self.assertEqual((self.client("EXISTS", "m"), self.info()[b"items"]), (1, 0))

    def test_words_are_fields_too(self):
        words = ["XX", "FIELDS", "NOCREATE", "DROPEMPTY", "AT", "CAPACITY", b"\0", ""]
        for setting in (["MAP.SET", "m"], ["MAP.INSERT", "m", "FIELDS"]):
            self.assertEqual(self.client(*setting, *(x for i, word in enumerate(words)
                                                     for x in (word, i))), [1] * len(words))
            self.assertEqual(self.client("MAP.GET", "m", *words), [b"%d" % i for i in range(8)])
            self.assertEqual(self.client("MAP.INSERT", "m", "XX", "FIELDS", "XX", 9, "FIELDS", 10), [1, 1])
            self.assertEqual(self.client("MAP.GET", "m", "XX", "FIELDS"), [b"9", b"10"])
            self.assertEqual(self.client("MAP.DEL", "m", "DROPEMPTY", "FIELDS"), [1, 1])
            self.assertEqual(self.client("EXISTS", "m"), 1)
            self.assertEqual(self.client("MAP.REMOVE", "m", "DROPEMPTY", "FIELDS", "FIELDS", *words),
                             [0, 1, 0, 1, 0, 1, 1, 1, 1])
            self.assertEqual(self.client("EXISTS", "m"), 0)

    def test_existing_only(self):
        for words in (["XX"], ["XX", "SEED", 5], ["SEED", 5, "XX", "CAPACITY", 10]):
            self.assertEqual(self.client("MAP.INSERT", "m", *words, "FIELDS", "a", 1, "b", 2), [0, 0])
            self.assertEqual(self.client("EXISTS", "m"), 0)
        self.client("MAP.INSERT", "m", *self.OPTIONS, "FIELDS", "a", 1)
        for words in (["XX"], ["XX", "NOCREATE"], [*self.OPTIONS, "XX"]):
            self.assertEqual(self.client("MAP.INSERT", "m", *words, "FIELDS", "a", 2, "b", 3, "a", 4),
                             [1, 0, 1])
            self.assertEqual(self.client("MAP.GET", "m", "a", "b"), [4, None])
        self.refused("MISMATCH", "MAP.INSERT", "m", "XX", "SEED", 8, "FIELDS", "a", 5)
        self.refused("RANGE", "MAP.INSERT", "m", "XX", "FIELDS", "a", 5, "b", 4096)
        self.assertEqual(self.client("MAP.GET", "m", "a"), [4])
        self.assertEqual(self.info()[b"items"], 1)

    def test_queries(self):
        """Of each field, once; not of the map as a whole, and gone where the key is loaded."""
        self.client("MAP.INSERT", "m", "FIELDS", *"a1b2")
        for n, *command in ((2, "MAP.SET", "m", *"a2c3"), (3, "MAP.GET", "m", *"abx"),
                            (1, "MAP.EXISTS", "m", "y"), (2, "MAP.INSERT", "m", "XX", "FIELDS", *"a2y3"),
                            (1, "MAP.DEL", "m", "c"), (1, "MAP.REMOVE", "m", "DROPEMPTY", "FIELDS", "b"),
                            (200, "MAP.GET", "m", *range(200)), (0, "MAP.COMPRESS", "m"),
                            (0, "MAP.INFO", "m")):
            before = self.info()[b"queries"]
            self.client(*command)
            self.assertEqual(self.info()[b"queries"], before + n, command)
        digest = self.client("DEBUG", "DIGEST-VALUE", "m")
        self.client("MAP.GET", "m", "a")
        self.assertEqual(self.client("DEBUG", "DIGEST-VALUE", "m"), digest)
        self.client("DEBUG", "RELOAD")
        self.assertEqual(self.info()[b"queries"], 0)


class Whole(Case):
    def test_join(self):
        self.client("MAP.CREATE", "a", "SEED", 4)
        for name, field in (("b", "x"), ("c", "y")):
            self.client("MAP.CREATE", name, "LIKE", "a")
            self.client("MAP.SET", name, field, name)
        self.client("MAP.SET", "a", "z", "a", "x", "old")
        self.assertEqual(self.client("MAP.MERGE", "a", "b", "none", "c"), 3)
        self.assertEqual(self.client("MAP.GET", "a", *"xyz"), [b"b", b"c", b"a"])
        self.assertEqual(self.client("MAP.MERGE", "new", "b", "c"), 2)
        self.assertEqual(self.client("MAP.GET", "new", *"xyz"), [b"b", b"c", None])
        self.assertEqual(self.client("MAP.MERGE", "nothing", "none"), 0)
        self.assertEqual(self.client("EXISTS", "nothing"), 0)

    def test_join_of_grown_maps(self):
        """Each is within its error, but not both together; into an empty map each fits."""
        self.client("MAP.CREATE", "a", "CAPACITY", 100, "SEED", 4)
        for name in ("b", "empty"):
            self.client("MAP.CREATE", name, "LIKE", "a")
        for name in ("a", "b"):
            self.client("MAP.SET", name, *(x for i in range(5000) for x in (f"{name}{i}", i % 9)))
        reply = self.client.ask("MAP.MERGE", "a", "b")
        self.assertEqual(reply.word, "FULL")
        self.assertIn("with a CAPACITY for the fields of all", str(reply))
        items = pairs(self.client("MAP.INFO", "b"))[b"items"]
        self.assertEqual(self.client("MAP.MERGE", "empty", "b"), items)
        self.assertEqual(self.client("MAP.GET", "empty", "b7", "b4999"), [b"7", b"%d" % (4999 % 9)])

    def test_join_refused_changes_nothing(self):
        self.client("MAP.CREATE", "a", "SEED", 4)
        self.client("MAP.CREATE", "b", "LIKE", "a")
        self.client("MAP.CREATE", "other", "SEED", 5)
        for name in ("a", "b", "other"):
            self.client("MAP.SET", name, name, "1")
        self.refused("MISMATCH", "MAP.MERGE", "a", "other")
        self.refused("MISMATCH", "MAP.MERGE", "a", "b", "other")
        self.refused("MISMATCH", "MAP.MERGE", "new", "b", "other",
                     text="'other' was not created LIKE 'b'")
        self.refused("ERR", "MAP.MERGE", "a", "b", "b", text="source 'b' is named twice")
        self.refused("ERR", "MAP.MERGE", "a", "a", text="source 'a' is the destination")

    def test_join_keeps_the_time_to_live(self):
        self.client("MAP.CREATE", "a", "SEED", 4)
        for name in "bc":
            self.client("MAP.CREATE", name, "LIKE", "a")
            self.client("MAP.SET", name, name, "1")
        self.client("EXPIRE", "a", 1000)
        self.client("MAP.MERGE", "a", "b", "c")
        self.assertGreater(self.client("TTL", "a"), 0)

    def test_compress(self):
        self.client("MAP.CREATE", "m", "CAPACITY", 100, "SEED", 2)
        self.client("MAP.SET", "m", *(x for i in range(5000) for x in (f"k{i}", f"v{i}")))
        self.client("MAP.DEL", "m", *(f"k{i}" for i in range(10, 5000)))
        before = pairs(self.client("MAP.INFO", "m"))[b"bytes"]
        gained = self.client("MAP.COMPRESS", "m")
        after = pairs(self.client("MAP.INFO", "m"))[b"bytes"]
        self.assertGreater(gained, 0)
        self.assertEqual(before - after, gained)
        self.assertEqual(self.client("MAP.GET", "m", "k3", "k4"), [b"v3", b"v4"])


class Around(Described, Case):
    PREFIX = "MAP"
    COMMANDS = (("CREATE k CAPACITY 5", "k"), ("CREATE k LIKE o", "k o"),
                ("CREATE like LIKE o", "like o"), ("SET k f v", "k"), ("GET k f g", "k"),
                ("INSERT k CAPACITY 5 FIELDS f v", "k"), ("REMOVE k DROPEMPTY FIELDS f", "k"),
                ("INSERT k XX FIELDS f v", "k"), ("DEL k f", "k"), ("EXISTS k f", "k"),
                ("MERGE k s t", "k s t"), ("COMPRESS k", "k"), ("INFO k", "k"))
    MADE = "SET k a 1"
    ADDED = (f"GET none 1 2; CREATE k SEED 1; SET k {some(100, '{0} {0}')}; DEL k 1 2 3; GET k 1", 97,
             {"operations": 106})
    SHORT = ("CREATE; SET k; SET k a; SET k a 1 b; GET k; GET; INSERT k; INSERT k XX FIELDS a; "
             "INSERT k XX FIELDS a 1 b; REMOVE k; DEL k; EXISTS k; MERGE k; COMPRESS; COMPRESS k n; "
             "INFO; INFO k n")
    ABSENT = {"GET k a b": [None, None], "EXISTS k a": [0], "DEL k a b": [0, 0],
              "INSERT k XX FIELDS a 1": [0]}
    NEEDED = "INFO k; COMPRESS k"
    HISTORY = (("SET k a 1", "map.create k; map.set k"), ("INSERT k XX FIELDS a 2", "map.set k"),
               ("INSERT k XX FIELDS none 2", ""), ("DEL k a", "map.del k"),
               ("COMPRESS k", "map.compress k"), ("MERGE n k", "map.merge n"),
               ("INSERT o FIELDS a 1 b 2", "map.create o; map.set o"),
               ("REMOVE o DROPEMPTY FIELDS a b", "map.del o; del o"))
    DEFAULTS = {b"items": 0, b"grows": 1}
    OPTIONS = {"CAPACITY": ("count", 5, -5, 0, "2^41", "1e30"),
               "ERROR": ("fraction", 0.1, 0, 1, "1e-10"), "VALUES": ("count", 5, 0),
               "RAW": ("count", 5, 0, 33), "SEED": ("number", 5, 0, 2**64)}
    PRESETS = {"map-capacity": (b"capacity", 1000, 500),
               "map-error": (b"promised_error", 0.001, 0.01),
               "map-engine": (b"engine", b"compact", b"kbf")}
    READER, MAY = "GET MERGE CREATE", "GET k a"
    MAY_NOT = "SET k a 2; GET other a; MERGE k2 k; CREATE k2 LIKE k"

    def test_max_key_bytes(self):
        self.client("CONFIG", "SET", "bloomery.max-key-bytes", "1mb")
        refused_before = self.client.info("bloomery")["bloomery_map_refused"]
        self.client("MAP.CREATE", "m", "SEED", 6)
        i, reply = self.until_refused("FULL", lambda n: ["MAP.SET", "m", *(
            x for j in range(100 * n, 100 * n + 100) for x in (f"k{j}", b"v%09d" % j))])
        i *= 100
        self.assertIn("bloomery.max-key-bytes", reply)
        self.assertLessEqual(pairs(self.client("MAP.INFO", "m"))[b"bytes"], 2**20 * 9 // 8)
        self.assertGreater(i, 10000)
        self.assertEqual(self.client("MAP.GET", "m", "k7", f"k{i}"), [b"v%09d" % 7, None])
        while not isinstance(self.client.ask("MAP.SET", "m", f"k{i}", b"v%09d" % i), Error):
            i += 1  # a batch is refused before the last bytes are used; some fields seem to exist
        self.assertEqual(self.client("MAP.SET", "m", "k7", "v%09d" % 8), [0])
        self.refused("FULL", "MAP.SET", "m", "k7", "x", "fresh", "y")
        self.assertEqual(self.client("MAP.DEL", "m", "k7"), [1])
        self.assertEqual(self.client.info("bloomery")["bloomery_map_refused"], refused_before + 3)


server_runner.main()
