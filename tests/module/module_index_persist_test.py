"""What an index survives: saving, the append-only file and its rewrites, replicas, copies, moves,
and bad payloads."""

import pathlib
import random
import struct

import server_runner
from persist_cases import ChangedAtRandom, Kept
from payloads import contents, payload_of, resealed
from server_runner import Case, Server, pairs

ENGINES = ("compact", "dba")


def fill(client):
    """Indexes of every kind, with a history: grown, deleted from, sealed, dropped, installed."""
    client("INDEX.CREATE", "grown", "UNITS", 4, "CAPACITY", 200, "SEED", 1)
    for unit in range(12):
        client("INDEX.ADD", "grown", unit * 5, "shared", *(f"{unit} {j}" for j in range(150)))
    client("INDEX.DEL", "grown", 5, *(f"1 {j}" for j in range(0, 99, 7)))
    client("INDEX.SEAL", "grown", 10)
    client("INDEX.DROP", "grown", 20)
    client("INDEX.DROP", "grown", 5)
    client("INDEX.ADD", "grown", 5, *range(50))
    client("INDEX.CREATE", "gone", "UNITS", 150, "CAPACITY", 90, "SEED", 9)
    for unit in range(1000, 1150):
        client("INDEX.ADD", "gone", unit, *(f"{unit} {j}" for j in range(90)))
    client("INDEX.DROP", "gone", 1007)  # no longer a candidate, but its items are still stored
    client("INDEX.CREATE", "dba", "ENGINE", "dba", "UNITS", 40, "CAPACITY", 100, "ERROR", "1%")
    for unit in range(40):
        client("INDEX.ADD", "dba", unit + 2**40, "shared", *(f"{unit} {j}" for j in range(99)))
    client.ask("INDEX.ADD", "dba", 1, "one too many")
    for unit in range(0, 30, 3):
        client("INDEX.DROP", "dba", unit + 2**40)
    client("INDEX.CREATE", "groups", "GROUP", 8, "UNITS", 20, "CAPACITY", 50, "SEED", 3)
    for unit in range(9):
        client("INDEX.ADD", "groups", unit, *(f"{unit} {j}" for j in range(40)))
    client("INDEX.CREATE", "fixed", "NOGROW", "UNITS", 2, "CAPACITY", 10)
    for unit in range(3):
        client.ask("INDEX.ADD", "fixed", unit, *range(10))
    client("INDEX.CREATE", "like", "LIKE", "dba")
    client("INDEX.ADD", "like", 7, "only")
    client("INDEX.IMPORT", "dba", 8, client("INDEX.EXPORT", "like", 7))
    client("INDEX.CREATE", "part", "LIKE", "grown")
    client("INDEX.ADD", "part", 1, *(f"part {j}" for j in range(120)))
    client("INDEX.IMPORT", "grown", 77, client("INDEX.EXPORT", "part", 1))
    client("INDEX.CREATE", "made")  # with this server's defaults and a random seed
    client("INDEX.ADD", "made", 1, "a")
    client("INDEX.CREATE", "empty")
    client("EXPIRE", "made", 10000)
    client("EVAL", "redis.call('INDEX.ADD', KEYS[1], 3, 'a'); redis.call('INDEX.DROP', KEYS[2], 0)",
           2, "made", "grown")
    client("MULTI")
    client("INDEX.ADD", "made", 4, "a")
    client("INDEX.ADD", "made", 5, "a", "b")
    client("EXEC")


KEYS = ("grown", "gone", "dba", "groups", "fixed", "like", "part", "made", "empty")
# Engine dba chooses the layout of its columns again when it is loaded, which changes its memory;
# compact then has nothing of dropped units; sums of errors are added in another order.
MAY_DIFFER = (b"bytes", b"fill", b"groups", b"widest_group", b"estimated_error", b"dropped_items")


def answers(client):
    """All query results, and the dump of each index."""
    said = []
    for key in KEYS:
        said.append(client("INDEX.LOCATE", key, "shared", "only", "a", *range(60),
                           *(f"part {j}" for j in range(50)),
                           *(f"{unit} {j}" for unit in range(12) for j in range(0, 150, 3))))
        said.append({name: value for name, value in pairs(client("INDEX.INFO", key)).items()
                     if name not in MAY_DIFFER})
    return said + [client("DEBUG", "DIGEST-VALUE", *KEYS)]


def go_on(client):
    """Later changes must give the same bytes wherever they are applied."""
    for key in ("grown", "gone", "made"):
        for unit in range(10):
            client("INDEX.ADD", key, 100 + unit, *(f"later {unit} {j}" for j in range(80)))
        client("INDEX.DEL", key, 103, *(f"later 3 {j}" for j in range(0, 80, 3)))
        for unit in (101, 104, 105, 109):
            client("INDEX.DROP", key, unit)
        client("INDEX.ADD", key, 101, "again")
    for unit in range(100, 104):
        client("INDEX.ADD", "dba", unit, *range(unit, unit + 50))
    client("INDEX.ADD", "groups", 30, *range(50))
    client.ask("INDEX.ADD", "fixed", 9, "x")
    for key in ("grown", "gone", "made"):
        for unit in range(100, 110):
            client("INDEX.DROP", key, unit)
    for unit in range(100, 104):
        client("INDEX.DROP", "dba", unit)
    client("INDEX.DROP", "groups", 30)


class Indexes(Kept, Case):
    family, load = "index", "BLOOMERY.INDEX.LOAD"
    keys, lasting = KEYS, "made"
    fill, go_on, answers = staticmethod(fill), staticmethod(go_on), staticmethod(answers)
    new = (["INDEX.CREATE", "k"], ["INDEX.ADD", "k", 1, "a"])
    asked, absent = ["INDEX.LOCATE", "k", "a"], [[]]
    others = {"bloomery.index-error": "10%", "bloomery.index-engine": "dba",
              "bloomery.index-units": "5", "bloomery.index-capacity": "77"}

    def change(self, key):
        self.client.ask("INDEX.ADD", key, 5, "a")

    def large(self):
        for engine in ENGINES:
            self.client("INDEX.CREATE", f"large {engine}", "ENGINE", engine, "ERROR", "1e-9")
            self.client("INDEX.ADD", f"large {engine}", 1, *range(50000))
            self.client("INDEX.IMPORT", f"large {engine}", 2,
                        self.client("INDEX.EXPORT", f"large {engine}", 1))
        return [f"large {engine}" for engine in ENGINES]

    def test_what_fill_makes(self):
        fill(self.client)
        self.assertGreater(pairs(self.client("INDEX.INFO", "gone"))[b"dropped_items"], 0)


class Crafted(Case):
    """Indexes and units with valid checksums and invalid contents."""

    def index(self, engine):
        self.client("FLUSHALL")
        self.client("INDEX.CREATE", "i", "SEED", 8, "UNITS", 20, "CAPACITY", 30, "ENGINE", engine)
        for unit in range(12):
            self.client("INDEX.ADD", "i", unit, "shared", *(f"{unit} {j}" for j in range(20)))
        self.client("INDEX.DROP", "i", 3)
        self.dump = self.client("DUMP", "i")
        return contents(self.dump)

    def setUp(self):
        super().setUp()
        self.client("CONFIG", "SET", "rdbcompression", "no")

    def test_units_with_a_note(self):
        for engine in ENGINES:
            self.index(engine)
            unit = self.client("INDEX.EXPORT", "i", 5)
            noted = resealed(unit, lambda frames: [(b"NOTE", b"of somebody else"), *frames])
            reply = self.client.ask("INDEX.IMPORT", "i", 60, noted)
            self.assertIn("BADDATA the frame is refused: the unit has a note", str(reply))
            self.assertEqual(self.client("DUMP", "i"), self.dump)
            self.assertEqual(self.client("INDEX.IMPORT", "i", 60, unit), 21)

    def load(self, stream):
        self.client("DEL", "t")
        return self.client.ask("RESTORE", "t", 0, payload_of(self.dump, stream))

    def test_numbers_of_units(self):
        at_tag, size = 16, 56  # in a record of the frame UNIT

        def renumbered(tags):
            """A change of frames: these numbers for the first units, and others for the rest."""
            def change(frames):
                records = bytearray(dict(frames)[b"UNIT"])
                self.units = len(records) // size
                for number in range(self.units):
                    tag = tags[number] if number < len(tags) else 100 + number
                    struct.pack_into("<Q", records, size * number + at_tag, tag)
                return [(kind, bytes(records) if kind == b"UNIT" else payload)
                        for kind, payload in frames]
            return change
        for engine in ENGINES:
            stream = self.index(engine)
            for tags, taken in (((5, 5), False), ((2**63, 5), False), ((2**63 - 1, 5), True),
                                ((2**64 - 1, 5), False)):
                reply = self.load(resealed(stream, renumbered(tags)))
                self.assertEqual(reply == b"OK", taken, (tags, reply))
                if taken:
                    self.assertEqual(len(self.client("INDEX.LOCATE", "t", "shared")[0]), self.units)
                else:
                    self.assertIn("the number of a unit is out of range or a duplicate",
                                  self.server.log)
                    self.assertEqual(self.client("EXISTS", "t"), 0)

    def test_what_the_library_wrote(self):
        """Frames written by a program with the library, created with the options that INFO
        shows."""
        golden = pathlib.Path(__file__).resolve().parent.parent / "golden"
        unit = (golden / "index_unit.bry").read_bytes()
        for name in ("empty", "compact", "dba"):
            self.index("compact")
            self.assertEqual(self.load((golden / f"index_{name}.bry").read_bytes()), b"OK")
            reply = self.client.ask("INDEX.IMPORT", "t", 7, unit)
            self.assertEqual(reply.word if name == "dba" else reply,
                             "MISMATCH" if name == "dba" else 8)
        info = pairs(self.client("INDEX.INFO", "t"))
        # More units than planned, without a supplier of their items.
        self.assertEqual((info[b"supplier"], info[b"units"], info[b"planned_units"]),
                         (b"none", 11, 6))
        self.assertGreater(float(info[b"full_error"]), float(info[b"promised_error"]))


class Sweeping(Case):
    """While the items of dropped units are being cleared in steps: a server that received the key
    in the middle continues as one that had it from the start."""

    SETTINGS = {"appendonly": "yes", "appendfsync": "no"}
    UNITS, ITEMS = 300, 60
    ROUNDS = 15

    def both(self, never, *command):
        self.assertEqual(self.client(*command), never.client(*command))

    def both_all(self, never, commands):
        self.assertEqual(self.client.pipeline(commands), never.client.pipeline(commands))

    def dropped_items(self, key):
        return pairs(self.client("INDEX.INFO", key))[b"dropped_items"]

    def same(self, servers):
        for key in self.KEYS:
            digest = self.client("DEBUG", "DIGEST-VALUE", key)
            for server in servers:
                self.assertEqual(server.client("DEBUG", "DIGEST-VALUE", key), digest, key)

    KEYS = ("grows", "fixed", "past its plan")

    def fill(self, never):
        for key, *words in ((self.KEYS[0], "UNITS", self.UNITS), (self.KEYS[2], "UNITS", 5),
                            (self.KEYS[1], "NOGROW", "UNITS", self.UNITS)):
            self.both(never, "INDEX.CREATE", key, "CAPACITY", self.ITEMS, "SEED", 5, *words)
            self.both_all(never, [["INDEX.ADD", key, unit, "shared",
                                   *(f"{unit} {j}" for j in range(self.ITEMS - 1))]
                                  for unit in range(self.UNITS)])

    def attach(self):
        """A further replica, with a full synchronisation in the middle of the sweep."""
        server = Server()
        server.start()
        self.addCleanup(server.directory.cleanup)
        self.addCleanup(server.stop)
        self.follow(server)
        return server

    def interrupt(self, number, replicas):
        """Saves and loads the key, in one of several ways."""
        kind = number % 5
        if kind == 0:
            self.client("DEBUG", "RELOAD")
        elif kind == 1:
            self.client("CONFIG", "SET", "aof-use-rdb-preamble", "no" if number % 2 else "yes")
            self.rewrite()
            self.server.restart()
        elif kind == 2:
            self.server.restart()
        elif kind == 3 and len(replicas) < 3:
            replicas.append(self.attach())
        else:
            for key in self.KEYS:
                self.client("COPY", key, "copy")
                self.client("RENAME", "copy", key)
        for server in replicas:  # a restarted server has another port
            server.client("REPLICAOF", "127.0.0.1", self.server.port)

    def test_in_the_middle(self):
        replicas, midway = [], 0
        source = random.Random(5)
        with Server() as never:
            self.fill(never)
            units = list(range(self.UNITS))
            for number in range(self.ROUNDS):
                gone = units.pop(source.randrange(len(units)))
                for key in self.KEYS:
                    self.both(never, "INDEX.DROP", key, gone)
                midway += all(self.dropped_items(key) > 0 for key in self.KEYS)
                self.interrupt(number, replicas)
                self.same([never])
                for key in self.KEYS:
                    for begin in range(0, self.ITEMS, 61):
                        self.both(never, "INDEX.ADD", key, self.UNITS + number,
                                  *(f"{number} new {j}" for j in
                                    range(begin, min(begin + 61, self.ITEMS))))
                    self.both(never, "INDEX.DEL", key, self.UNITS + number, f"{number} new 7")
                units.append(self.UNITS + number)
                for server in replicas:
                    self.wait_linked(server)
                self.caught_up(len(replicas))
                self.same([never, *replicas])
            self.assertGreater(midway, self.ROUNDS // 2)
            for number, unit in enumerate(units):  # without additions in between, until done
                for key in self.KEYS:
                    self.both(never, "INDEX.DROP", key, unit)
                if number % 7 == 0:
                    self.same([never])
            self.assertEqual(len(replicas), 3)
            self.caught_up(3)
            self.same([never, *replicas])
            for server in (self.server, never, *replicas):
                self.assertEqual(server.complaints(), "")

    def test_drops_alone(self):
        """Units of one item: their items are cleared too, some with every 32nd unit."""
        self.client("INDEX.CREATE", "i", "UNITS", 2000, "CAPACITY", 1)
        for unit in range(2000):
            self.client("INDEX.ADD", "i", unit, f"item {unit}")
        most = 0
        for unit in range(2000):
            self.assertEqual(self.client("INDEX.DROP", "i", unit), 1)
            most = max(most, self.dropped_items("i"))
        self.assertTrue(0 < most < 1000, most)
        self.assertLess(self.dropped_items("i"), 100)


class Anything(ChangedAtRandom, Case):
    COMMANDS = 3000
    OUTCOMES = (("INDEX.ADD", "done"), ("INDEX.ADD", "FULL"), ("INDEX.ADD", "SEALED"),
                ("INDEX.DEL", "done"), ("INDEX.SEAL", "done"), ("INDEX.DROP", "done"),
                ("INDEX.IMPORT", "done"), ("INDEX.IMPORT", "FULL"),
                ("INDEX.IMPORT", "MISMATCH"), ("INDEX.IMPORT", "BADDATA"))
    KINDS = (["ENGINE", "compact"], ["ENGINE", "compact"], ["NOGROW"], ["ENGINE", "dba"],
             ["GROUP", 8])

    def command(self, source, there):
        key = f"i{source.randrange(6)}"
        kind = source.random()
        if key not in there:
            there[key] = True
            like = f"i{source.randrange(6)}"
            if kind < 0.6 and like in there and like != key:
                return ["INDEX.CREATE", key, "LIKE", like]
            return ["INDEX.CREATE", key, "UNITS", source.choice((2, 10)), "CAPACITY",
                    source.choice((20, 300)), "SEED", source.randrange(1, 99), "ERROR",
                    source.choice(("10%", "1e-6")), *source.choice(self.KINDS)]
        unit = source.randrange(16)
        item = source.randrange(3000)
        if kind < 0.01:
            del there[key]
            return ["DEL", key]
        if kind < 0.55:
            n = source.choice((1, 2, 19, 64, 65, 290))
            return ["INDEX.ADD", key, unit, *range(item, item + n)]
        if kind < 0.65:
            return ["INDEX.DEL", key, unit, *range(item, item + source.choice((1, 20, 200)))]
        if kind < 0.7:
            return ["INDEX.SEAL", key, unit]
        if kind < 0.8:
            return ["INDEX.DROP", key, unit]
        frame = self.client.ask("INDEX.EXPORT", f"i{source.randrange(6)}", source.randrange(16))
        return ["INDEX.IMPORT", key, unit, frame or b"none"]


server_runner.main()
