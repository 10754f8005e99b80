"""INDEX.*: every command, with valid and invalid arguments."""

import random

import server_runner
from family_cases import Described, some
from server_runner import Case, Error, pairs

ENGINES = ("compact", "dba")


class IndexCase(Case):
    def info(self, key="i", *unit):
        return pairs(self.client("INDEX.INFO", key, *unit))

    def create(self, key="i", *options):
        self.assertEqual(self.client("INDEX.CREATE", key, *options), b"OK")

    def add(self, unit, *items, key="i"):
        return self.client("INDEX.ADD", key, unit, *items)

    def locate(self, *items, key="i"):
        return self.client("INDEX.LOCATE", key, *items)


class Create(IndexCase):

    def test_all_options(self):
        self.client("index.create", "i", "seed", 2**64 - 1, "Engine", "DBA", "group", 16, "error",
                    "1%", "capacity", "1k", "units", "2^5")
        info = self.info()
        self.assertEqual([info[name] for name in (b"engine", b"planned_units", b"grows",
                                                  b"capacity", b"deletes", b"supplier", b"group",
                                                  b"seed")],
                         [b"dba", 32, 0, 1000, 0, b"none", 16, str(2**64 - 1).encode()])
        self.assertEqual(float(info[b"promised_error"]), 0.01)
        self.assertEqual(self.add(7, *"aba"), [1, 1, 0])
        self.assertEqual(self.info()[b"widest_group"], 16)

    def test_engines(self):
        for options, engine, grows in (([], b"compact", 1), (["ENGINE", "auto"], b"compact", 1),
                                       (["NOGROW"], b"compact", 0), (["GROUP", 1], b"dba", 0),
                                       (["GROUP", 8, "ENGINE", "auto"], b"dba", 0),
                                       (["ENGINE", "dba", "NOGROW"], b"dba", 0),
                                       (["ENGINE", "compact"], b"compact", 1)):
            self.client("DEL", "i")
            self.create("i", "UNITS", 3, "CAPACITY", 9, *options)
            info = self.info()
            self.assertEqual((info[b"engine"], info[b"grows"]), (engine, grows), options)
        self.assertEqual((info[b"planned_units"], info[b"promised_units"]), (3, 2**20))

    def test_refusals_name_the_argument(self):
        self.create("other", "SEED", 3)
        self.refused_each("INDEX.CREATE", "i", (
            ("RANGE", "more than bloomery.max-key-bytes", "CAPACITY", "1e9"),
            ("RANGE", "ERROR is too small for this CAPACITY and number of UNITS", "CAPACITY",
             "2^40", "UNITS", "2^20"),
            ("ERR", "ENGINE 'kbf' is not one of auto, compact or dba", "ENGINE", "kbf"),
            ("RANGE", "GROUP must be 1, 8, 16, 32, 64, 128, 256 or 512", "GROUP", 2),
            ("RANGE", "GROUP must be 1, 8, 16, 32, 64, 128, 256 or 512", "GROUP", 4),
            ("RANGE", "GROUP must be 1, 8, 16, 32, 64, 128, 256 or 512", "GROUP", 65),
            ("UNSUPPORTED", "GROUP needs engine dba", "GROUP", 64, "ENGINE", "compact"),
            ("ERR", "unknown argument 'SIZE'", "SIZE", 5),
            ("ERR", "LIKE cannot be combined", "LIKE", "other", "SEED", 5),
            ("ERR", "LIKE 'none': no such key", "LIKE", "none"),
        ))

    def test_like(self):
        for options in (["ENGINE", "compact"], ["ENGINE", "dba"], ["GROUP", 8], ["NOGROW"]):
            self.client("FLUSHALL")
            self.create("i", "SEED", 9, "ERROR", "2%", "UNITS", 4, "CAPACITY", 50, *options)
            for unit in range(4):  # engine dba: beyond its last unit
                self.add(unit, *range(unit * 50, unit * 50 + 50))
            self.create("n", "LIKE", "i")
            kept = (b"engine", b"seed", b"planned_units", b"capacity", b"promised_error", b"grows",
                    b"group", b"deletes")
            self.assertEqual([self.info("n")[x] for x in kept], [self.info("i")[x] for x in kept])
            self.assertEqual(self.locate("1", key="n"), [[]])
            # They have the same shape: units can be moved between them.
            self.client("INDEX.IMPORT", "n", 77, self.client("INDEX.EXPORT", "i", 2))
            self.assertEqual(self.locate(*range(100, 150), key="n"), [[77]] * 50)
            self.client("INDEX.DROP", "i", 3)
            self.add(5, "of n", key="n")
            self.client("INDEX.IMPORT", "i", 3, self.client("INDEX.EXPORT", "n", 5))
            self.assertIn(3, self.locate("of n")[0])


class Items(IndexCase):
    def test_add_and_locate(self):
        for engine in self.each(*ENGINES):
            self.create("i", "ENGINE", engine, "ERROR", "1e-9")
            self.assertEqual(self.add(3, "a", "b", "a"), [1, 1, 0])
            self.assertEqual(self.add(8, "b"), [1])
            self.assertEqual(self.add(1000, "b", "c"), [1, 1])
            # The unit opened last comes first.
            self.assertEqual(self.locate("a", "b", "z", "c"), [[3], [1000, 8, 3], [], [1000]])
            self.assertEqual(self.client("INDEX.EXISTS", "i", *"zabc"), [0, 1, 1, 1])
            info = self.info()
            self.assertEqual((info[b"units"], info[b"items"]), (3, 5))
            unit = self.info("i", 3)
            self.assertEqual([unit[x] for x in (b"unit", b"items", b"capacity", b"sealed")],
                             [3, 2, 65536, 0])

    def test_numbers_of_units(self):
        for engine in self.each(*ENGINES):
            self.create("i", "ENGINE", engine, "ERROR", "1e-9", "UNITS", 5, "CAPACITY", 100)
            numbers = [2**63 - 1, 0, 2**53 + 1, 17, 18]
            for number in numbers:
                self.assertEqual(self.add(number, "a", f"only {number}"), [1, 1])
            self.assertEqual(self.locate("a"), [numbers[::-1]])
            for number in numbers:
                self.assertEqual(self.locate(f"only {number}"), [[number]])

    def test_an_item_in_every_unit(self):
        """It is located in order, and deleted."""
        for engine in self.each(*ENGINES):
            units = {"compact": 20000, "dba": 2000}[engine]
            self.create("i", "ENGINE", engine, "UNITS", units, "CAPACITY", 2, "ERROR", "1e-6")
            self.client.pipeline(["INDEX.ADD", "i", 7 * unit, "everywhere", f"own {unit}"]
                                 for unit in range(units))
            there = [7 * unit for unit in range(units - 1, -1, -1)]
            self.assertEqual(self.locate("everywhere", "own 5", "nowhere"), [there, [35], []])
            self.assertEqual(self.add(77, "everywhere"), [0])  # it is full
            if engine == "compact":
                self.client.pipeline(["INDEX.DEL", "i", unit, "everywhere"] for unit in there[::2])
                there = there[1::2]
                self.assertEqual(self.locate("everywhere"), [there])
            self.client.pipeline(["INDEX.DROP", "i", unit] for unit in there if unit != 14)
            self.assertEqual(self.locate("everywhere", "own 2"), [[14], [14]])

    def test_del(self):
        self.create("i", "ERROR", "1e-9")
        self.add(1, *"abc")
        self.add(2, *"bcd")
        self.assertEqual(self.client("INDEX.DEL", "i", 1, *"bzb"), [1, 0, 0])
        self.assertEqual(self.client("INDEX.DEL", "i", 9, *"ab"), [0, 0])
        self.assertEqual(self.locate(*"abcd"), [[1], [2], [2, 1], [2]])
        self.assertEqual(self.info()[b"items"], 5)
        self.assertEqual(self.add(1, "b"), [1])

    def test_dba_has_no_supplier(self):
        self.create("i", "ENGINE", "dba", "UNITS", 2, "CAPACITY", 10)
        self.add(1, "a")
        self.add(2, "b")
        self.refused("UNSUPPORTED", "INDEX.DEL", "i", 1, "a", text="or use engine compact")
        self.refused("FULL", "INDEX.ADD", "i", 3, "c", text="all 2 units")
        frame = self.client("INDEX.EXPORT", "i", 1)
        self.refused("FULL", "INDEX.IMPORT", "i", 3, frame, text="all 2 units")
        self.client("INDEX.DROP", "i", 1)
        self.assertEqual(self.add(3, "c"), [1])
        info = self.info()
        self.assertEqual((info[b"supplier"], info[b"deletes"], info[b"grows"]), (b"none", 0, 0))
        self.assertLessEqual(float(info[b"full_error"]), 0.001)

    def test_full_unit(self):
        for engine in self.each(*ENGINES):
            self.create("i", "ENGINE", engine, "CAPACITY", 10, "ERROR", "1e-9", "UNITS", 3)
            self.add(1, *range(8))
            self.refused("FULL", "INDEX.ADD", "i", 1, *range(7, 11), text="unit 1 has room for 2 more")
            self.refused("FULL", "INDEX.ADD", "i", 2, *range(11), text="unit 2 has room for 10 more")
            self.assertEqual(self.add(1, *range(10)), [0] * 8 + [1, 1])
            self.assertEqual(self.add(1, *range(9, -1, -1)), [0] * 10)
            self.refused("FULL", "INDEX.ADD", "i", 1, "one more", text="unit 1 has room for 0 more")
            self.assertEqual(self.locate("8", "one more"), [[1], []])
            self.assertEqual(self.info()[b"units"], 1)

    def test_nogrow(self):
        self.create("i", "NOGROW", "UNITS", 2, "CAPACITY", 5, "ERROR", "1e-9")
        self.add(1, *range(5))
        self.add(2, *range(5))
        self.refused("FULL", "INDEX.ADD", "i", 3, "x", text="all 2 units")
        for number in range(3, 20):  # freed room can be used again and again
            self.assertEqual(self.client("INDEX.DROP", "i", number - 1), 1)
            self.assertEqual(self.add(number, *range(5)), [1] * 5)
            self.assertEqual(self.locate("3"), [[number, 1]])

    def test_wrong_units(self):
        self.create()
        self.add(1, "a")
        for word, text, unit in (("ERR", "unit 'first' is not a whole number, digits only", "first"),
                                 ("ERR", "unit '' is not a whole number", ""),
                                 ("RANGE", "unit '-1' is not between", -1),
                                 ("ERR", "unit '1.5' is not a whole number", "1.5"),
                                 ("RANGE", "unit '9223372036854775808' is not between 0 and "
                                  "9223372036854775807", 2**63),
                                 ("ERR", "unit '1k' is not a whole number", "1k"),
                                 ("ERR", r"unit '1\x00' is not a whole number", b"1\0")):
            for command in (["ADD", "b"], ["DEL", "a"], ["SEAL"], ["DROP"], ["EXPORT"],
                            ["IMPORT", "x"], ["INFO"]):
                for key in ("i", "none"):
                    self.refused(word, f"INDEX.{command[0]}", key, unit, *command[1:], text=text)

    def test_many_items_in_one_command(self):
        n = 5000
        for engine in self.each(*ENGINES):
            self.create("i", "ERROR", "1e-9", "ENGINE", engine, "UNITS", 4)
            self.assertEqual(self.add(1, *range(n)), [1] * n)
            self.assertEqual(self.add(2, *range(n // 2, n + 100)), [1] * (n // 2 + 100))
            self.assertEqual(self.locate(*range(n + 200)),
                             [[1]] * (n // 2) + [[2, 1]] * (n // 2) + [[2]] * 100 + [[]] * 100)
            self.assertEqual(self.client("INDEX.EXISTS", "i", *range(n + 200)),
                             [1] * (n + 100) + [0] * 100)


class Units(IndexCase):
    def test_seal(self):
        for engine in self.each(*ENGINES):
            self.create("i", "ENGINE", engine)
            self.add(1, "a")
            self.assertEqual(self.client("INDEX.SEAL", "i", 1), 1)
            self.assertEqual(self.client("INDEX.SEAL", "i", 1), 0)
            self.assertEqual(self.info("i", 1)[b"sealed"], 1)
            self.refused("SEALED", "INDEX.ADD", "i", 1, "b",
                         text="unit 1 is sealed: it takes no more items")
            self.refused("SEALED", "INDEX.ADD", "i", 1, "a", text="is sealed")
            self.refused("NOUNIT", "INDEX.SEAL", "i", 2, text="there is no unit 2")
            self.refused("NOUNIT", "INDEX.INFO", "i", 2, text="there is no unit 2")
            self.assertEqual(self.locate("a"), [[1]])
            self.assertEqual(self.add(2, "b"), [1])
            self.assertEqual(self.client("INDEX.DROP", "i", 1), 1)
            self.assertEqual(self.add(1, "a"), [1])  # a new unit with the same number

    def test_sealed_units_delete(self):
        self.create()
        self.add(1, "a")
        self.client("INDEX.SEAL", "i", 1)
        self.assertEqual(self.client("INDEX.DEL", "i", 1, "a"), [1])
        self.assertEqual(self.locate("a"), [[]])

    def test_drop(self):
        for engine in self.each(*ENGINES):
            self.create("i", "ENGINE", engine, "UNITS", 40, "CAPACITY", 100, "ERROR", "1e-9")
            for unit in range(40):
                self.add(unit, "shared", *(f"{unit} {j}" for j in range(99)))
            left = list(range(40))
            for unit in random.Random(2).sample(range(40), 40):
                self.assertEqual(self.client("INDEX.DROP", "i", unit), 1)
                self.assertEqual(self.client("INDEX.DROP", "i", unit), 0)
                left.remove(unit)
                self.assertEqual(self.locate("shared", f"{unit} 5"), [left[::-1], []])
                self.assertEqual(self.client("INDEX.EXISTS", "i", f"{unit} 5", "shared"),
                                 [0, int(bool(left))])
                info = self.info()
                self.assertEqual((info[b"units"], info[b"items"]), (len(left), 100 * len(left)))
                # Items of dropped units are cleared at least as fast as units are dropped.
                self.assertLessEqual(info[b"dropped_items"], 5 * 100)
                self.assertEqual(self.client.info("bloomery")["bloomery_index_items"],
                                 100 * len(left))
            self.assertEqual(self.client("INDEX.DROP", "i", 99), 0)
            self.assertEqual(float(self.info()[b"estimated_error"]), 0)

    def test_drop_gives_memory_back(self):
        for engine in self.each(*ENGINES):
            self.create("i", "ENGINE", engine, "UNITS", 32, "CAPACITY", 1000)
            self.add(0, *range(1000))
            small = self.info()[b"bytes"]
            for unit in range(1, 32):
                self.add(unit, *(f"{unit} {j}" for j in range(1000)))
            large = self.info()[b"bytes"]
            for unit in range(1, 32):
                self.client("INDEX.DROP", "i", unit)
            for _ in range(50):  # engine dba: by later changes
                self.client("INDEX.DROP", "i", 0)
                self.add(0, "x")
            self.assertLess(self.info()[b"bytes"], small + (large - small) // 4, engine)

    def test_numbers_come_and_go(self):
        """Compared with a dictionary; with many numbers the table grows in steps, while some are
        dropped."""
        source = random.Random(3)
        for engine, numbers in ((engine, numbers) for engine in ENGINES for numbers in (60, 3000)):
            self.client("FLUSHALL")
            self.create("i", "ENGINE", engine, "UNITS", 2000, "CAPACITY", 50, "ERROR", "1e-9")
            twin, commands, expected = {}, [], []
            for _ in range(1500 if numbers < 100 else 4000):
                unit = source.randrange(numbers) * 2**40
                kind = source.random()
                if kind < 0.3:
                    commands.append(["INDEX.DROP", "i", unit])
                    expected.append(int(twin.pop(unit, None) is not None))
                elif kind < 0.7:
                    items = [source.randrange(40) for _ in range(source.choice((1, 3)))]
                    held = twin.setdefault(unit, set())
                    commands.append(["INDEX.ADD", "i", unit, *items])
                    expected.append([int(x not in held and x not in items[:at])
                                     for at, x in enumerate(items)])
                    held.update(items)
                else:
                    item = source.randrange(45)
                    commands.append(["INDEX.LOCATE", "i", item])
                    expected.append({unit for unit, held in twin.items() if item in held})
            replies = self.client.pipeline(commands)
            for command, reply, answer in zip(commands, replies, expected):
                if command[0] == "INDEX.LOCATE":
                    self.assertEqual(len(reply[0]), len(answer))
                    reply = set(reply[0])
                self.assertEqual(reply, answer, command)
            self.assertEqual(self.info()[b"units"], len(twin))


class Frames(IndexCase):
    def frame(self, engine, *options, n=200):
        self.create("i", "ENGINE", engine, "UNITS", 8, "CAPACITY", 300, "SEED", 4, *options)
        self.add(1, *range(n))
        self.create("part", "LIKE", "i")
        self.add(0, *(f"part {j}" for j in range(n)), key="part")
        return self.client("INDEX.EXPORT", "part", 0)

    def test_export_and_import(self):
        for engine in self.each(*ENGINES):
            frame = self.frame(engine)
            self.assertEqual(self.client("INDEX.IMPORT", "i", 9, frame), 200)
            self.client("CONFIG", "SET", "notify-keyspace-events", "EA")
            listener = self.connect()
            listener("SUBSCRIBE", "__keyevent@0__:index.import")
            self.assertEqual(self.client("INDEX.IMPORT", "i", 8, frame), 200)
            self.assertEqual(listener._read()[2], b"i")
            for found in self.locate(*(f"part {j}" for j in range(200))):
                self.assertEqual(found[:2], [8, 9])
            self.assertEqual(self.info("i", 9)[b"items"], 200)
            self.assertEqual(self.add(9, "part 7", "more"), [0, 1])  # it is still open
            self.client("INDEX.SEAL", "part", 0)
            self.client("INDEX.IMPORT", "i", 10, self.client("INDEX.EXPORT", "part", 0))
            self.refused("SEALED", "INDEX.ADD", "i", 10, "x", text="is sealed")
            self.refused("ERR", "INDEX.IMPORT", "i", 9, frame, text="unit 9 already exists")
            self.assertIsNone(self.client("INDEX.EXPORT", "i", 77))

    def test_damaged_frames(self):
        source = random.Random(5)
        for engine in self.each(*ENGINES):
            frame = self.frame(engine, n=60)
            for end in [*range(0, len(frame), 13), len(frame) - 1]:
                self.refused("BADDATA", "INDEX.IMPORT", "i", 9, frame[:end],
                             text="the frame is refused: ")
            self.refused("BADDATA", "INDEX.IMPORT", "i", 9, frame + b"x",
                         text="trailing bytes after the unit")
            self.refused("BADDATA", "INDEX.IMPORT", "i", 9, frame + frame)
            for _ in range(100):  # a checksum covers every byte of a frame
                at, changed = source.randrange(64, len(frame)), bytearray(frame)
                changed[at] ^= 1 << source.randrange(8)
                self.refused("BADDATA", "INDEX.IMPORT", "i", 9, bytes(changed))
            self.assertEqual(self.info()[b"units"], 1)
            self.assertEqual(self.client("INDEX.IMPORT", "i", 9, frame), 60)

    def test_frames_of_others(self):
        for engine, other in (("compact", "dba"), ("dba", "compact")):
            self.client("FLUSHALL")
            frame = self.frame(engine)
            shape = {"ENGINE": engine, "UNITS": 8, "CAPACITY": 300, "SEED": 4}
            for change in ({"SEED": 5}, {"ENGINE": other}, {"ERROR": "1%"}, {"CAPACITY": 3000},
                           {"UNITS": 800}):
                words = [str(x) for pair in (shape | change).items() for x in pair]
                self.create("x", *words)
                self.refused("MISMATCH", "INDEX.IMPORT", "x", 9, frame, text="LIKE this one")
                self.client("DEL", "x")
            self.create("x", *(str(x) for pair in shape.items() for x in pair))
            self.assertEqual(self.client("INDEX.IMPORT", "x", 9, frame), 200)
        # An index, a map or foreign bytes are not a unit either.
        self.client("MAP.SET", "m", "a", "1")
        for key in ("i", "m"):
            self.refused("BADDATA", "INDEX.IMPORT", "i", 9, self.client("DUMP", key))

    def test_imported_past_the_plan(self):
        """compact: imported units use up the error; then FULL, until some are dropped."""
        self.create("i", "UNITS", 2, "CAPACITY", 100, "SEED", 6)
        self.create("part", "LIKE", "i")
        imported = 0
        for unit in range(100, 110):
            self.add(0, *(f"{unit} {j}" for j in range(100)), key="part")
            frame = self.client("INDEX.EXPORT", "part", 0)
            self.client("INDEX.DROP", "part", 0)
            reply = self.client.ask("INDEX.IMPORT", "i", unit, frame)
            if isinstance(reply, Error):
                self.assertEqual(reply.word, "FULL")
                self.assertIn("units imported beyond UNITS have used up the ERROR", str(reply))
                break
            imported += 1
        self.assertTrue(2 <= imported <= 5, imported)
        self.assertEqual(self.info()[b"units"], imported)
        self.assertLessEqual(float(self.info()[b"estimated_error"]), 0.001)
        self.client("INDEX.DROP", "i", 100)
        self.assertEqual(self.client("INDEX.IMPORT", "i", unit, frame), 100)


class Around(Described, IndexCase):
    PREFIX = "INDEX"
    COMMANDS = (("CREATE k UNITS 5", "k"), ("CREATE k LIKE o", "k o"), ("ADD k 1 a b", "k"),
                ("LOCATE k a b", "k"), ("EXISTS k a", "k"), ("DEL k 1 a", "k"), ("SEAL k 1", "k"),
                ("DROP k 1", "k"), ("EXPORT k 1", "k"), ("IMPORT k 1 x", "k"), ("INFO k 1", "k"))
    INTERNAL = (("LOAD k 0 x", "k"), ("DROP k 1", "k"), ("IMPORT k 1 x", "k"))
    MADE = "CREATE k SEED 1; ADD k 1 a"
    ADDED = (f"CREATE k SEED 1; ADD k 1 {some(100, '{}')}; ADD k 1 {some(10, '{}')}; "
             "DEL k 1 1 2 3; LOCATE k 1 2", 97, {"operations": 115, "repeats": 10})
    STORE, ASK, FOUND = "ADD k 1", "LOCATE k", [1]
    SHORT = ("CREATE; ADD; ADD k; ADD k 1; LOCATE; LOCATE k; EXISTS k; DEL k 1; SEAL k; SEAL k 1 2; "
             "DROP k; DROP k 1 NOFOLD; EXPORT k; EXPORT k 1 2; IMPORT k 1; IMPORT k 1 x NOFOLD; "
             "INFO; INFO k 1 2")
    ABSENT = {"LOCATE k a b": [[], []], "EXISTS k a b c": [0, 0, 0], "DEL k 1 a b": [0, 0],
              "DROP k 1": 0, "EXPORT k 1": None}
    NEEDED = "ADD k 1 a; IMPORT k 1 x; SEAL k 1; INFO k; INFO k 1"
    NO_KEY = "no such key: create it with INDEX.CREATE"
    HISTORY = (("CREATE k", "index.create k"), ("ADD k 1 a", "index.add k"), ("ADD k 1 a", ""),
               ("DEL k 1 none", ""), ("DEL k 1 a", "index.del k"), ("SEAL k 1", "index.seal k"),
               ("SEAL k 1", ""), ("DROP k 9", ""), ("DROP k 1", "index.drop k"))
    OPTIONS = {"UNITS": ("count", 5, 0, "2^21", -1), "CAPACITY": ("count", 5, 0, "2^41"),
               "ERROR": ("fraction", 0.1, 0, "1e-10", "0.6"), "GROUP": ("count", 8, 0, 1024),
               "SEED": ("number", 5, 0, 2**64)}
    DEFAULTS = {b"units": 0, b"items": 0, b"group": 0}
    PRESETS = {"index-units": (b"planned_units", 64, 7),
               "index-capacity": (b"capacity", 65536, 500),
               "index-error": (b"promised_error", 0.001, 0.01),
               "index-engine": (b"engine", b"compact", b"dba")}
    READER, MAY = "LOCATE CREATE EXPORT", "LOCATE k a; EXPORT k 1"
    MAY_NOT = "ADD k 1 b; LOCATE other a; CREATE k2 LIKE k; DROP k 1"

    def test_max_key_bytes(self):
        for engine in self.each(*ENGINES):
            self.create("i", "ENGINE", engine, "UNITS", 300, "CAPACITY", 1000, "SEED", 6)
            self.create("part", "LIKE", "i")
            self.add(0, *(f"part {j}" for j in range(1000)), key="part")
            frame = self.client("INDEX.EXPORT", "part", 0)
            refused = self.client.info("bloomery")["bloomery_index_refused"]
            self.client("CONFIG", "SET", "bloomery.max-key-bytes", "256kb")
            unit, reply = self.until_refused("FULL", lambda unit: [
                "INDEX.ADD", "i", unit, *(f"{unit} {j}" for j in range(1000))], most=300)
            self.assertIn("bloomery.max-key-bytes", reply)
            info = self.info()
            self.assertLessEqual(info[b"bytes"], 2**18 * 9 // 8)
            self.assertEqual(info[b"units"], unit)
            self.assertGreater(unit, 20)
            self.assertEqual(self.add(3, "3 7", "3 8"), [0, 0])
            more, reply = self.until_refused("FULL", lambda i, unit=unit, frame=frame: [
                "INDEX.IMPORT", "i", unit + i, frame], most=300 - unit)
            unit += more
            self.assertIn("bloomery.max-key-bytes", reply)
            self.assertLessEqual(self.info()[b"bytes"], 2**18 * 9 // 8)
            self.refused("RANGE", "INDEX.CREATE", "n", text="more than bloomery.max-key-bytes")
            self.assertEqual(self.client("INDEX.DROP", "i", 3), 1)
            self.assertEqual(self.client.info("bloomery")["bloomery_index_refused"], refused + 2)
            self.client("CONFIG", "SET", "bloomery.max-key-bytes", "256mb")
            self.assertEqual(sum(self.add(unit, *range(500))), 500)


server_runner.main()
