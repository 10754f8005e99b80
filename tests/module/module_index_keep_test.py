"""What an index survives: saving, the log, rewriting it, replicas, copies, moves, and bad payloads."""

import pathlib
import random
import struct
import sys

import server_runner
import xxhash
from keep_cases import MovedAndReloaded, Replicated
from server_runner import Case, Error, Server, pairs

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
    client("INDEX.CREATE", "gone", "UNITS", 20, "CAPACITY", 90, "SEED", 9)
    for unit in range(20):
        client("INDEX.ADD", "gone", unit, *(f"{unit} {j}" for j in range(90)))
    client("INDEX.DROP", "gone", 7)  # no candidate, but its items are still there
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
    client("INDEX.INSTALL", "dba", 8, client("INDEX.EXPORT", "like", 7))
    client("INDEX.CREATE", "part", "LIKE", "grown")
    client("INDEX.ADD", "part", 1, *(f"part {j}" for j in range(120)))
    client("INDEX.INSTALL", "grown", 77, client("INDEX.EXPORT", "part", 1))
    client("INDEX.CREATE", "made")  # with this server's defaults and a seed of its own
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
# How engine dba lays its columns out is decided anew on loading, and so is the memory; sums of
# errors are of numbers in another order then.
MAY_DIFFER = (b"bytes", b"fill", b"groups", b"widest_group", b"estimated_error")


def answers(client):
    """All that can be asked, and how each index would be saved."""
    said = []
    for key in KEYS:
        said.append(client("INDEX.LOCATE", key, "shared", "only", "a", *range(60),
                           *(f"part {j}" for j in range(50)),
                           *(f"{unit} {j}" for unit in range(12) for j in range(0, 150, 3))))
        said.append({name: value for name, value in pairs(client("INDEX.INFO", key)).items()
                     if name not in MAY_DIFFER})
    return said + [client("DEBUG", "DIGEST-VALUE", *KEYS)]


def go_on(client):
    """Later changes must lead to the same bytes wherever they are carried out."""
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


class Keep(MovedAndReloaded, Replicated, Case):
    keys = KEYS
    fill, go_on, answers = staticmethod(fill), staticmethod(go_on), staticmethod(answers)

    def same_after(self, action):
        fill(self.client)
        before, digest = answers(self.client), self.client("DEBUG", "DIGEST")
        totals = self.client.info("bloomery")
        action()
        self.assertEqual(answers(self.client), before)
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)
        now = self.client.info("bloomery")
        self.assertEqual([now[f"bloomery_index_{x}"] for x in ("keys", "items")],
                         [totals[f"bloomery_index_{x}"] for x in ("keys", "items")])
        self.assertGreater(self.client("TTL", "made"), 9000)

    def test_what_fill_makes(self):
        fill(self.client)
        self.assertGreater(pairs(self.client("INDEX.INFO", "gone"))[b"dropped_items"], 0)

    def test_copy(self):
        fill(self.client)
        for key in KEYS:
            self.client("COPY", key, "copy")
            self.assertEqual(self.client("DEBUG", "DIGEST-VALUE", key),
                             self.client("DEBUG", "DIGEST-VALUE", "copy"), key)
            usage = self.client("MEMORY", "USAGE", key)
            self.client("DEL", key)  # the copy has its own memory
            self.client.ask("INDEX.ADD", "copy", 5, "a")
            self.assertLess(abs(self.client("MEMORY", "USAGE", "copy") - usage),
                            8192 + usage // 2, key)
            self.client("DEL", "copy")
        self.wait_until(lambda: self.client.info("bloomery")["bloomery_index_bytes"] == 0,
                        "all is freed")  # aside, where a server's DEL is UNLINK

    def test_expire(self):
        self.client("INDEX.CREATE", "i")
        self.client("INDEX.ADD", "i", 1, "a")
        self.client("PEXPIRE", "i", 1)
        self.wait_until(lambda: self.client("INDEX.LOCATE", "i", "a") == [[]], "it is gone")

    def test_flushall_async(self):
        for how in (["FLUSHALL", "ASYNC"], ["UNLINK", *KEYS], ["FLUSHDB", "ASYNC"]):
            fill(self.client)
            self.client(*how)
            self.wait_until(lambda: self.client.info("bloomery")["bloomery_index_bytes"] == 0,
                            "all is freed")
            info = self.client.info("bloomery")
            self.assertEqual((info["bloomery_index_keys"], info["bloomery_index_items"]), (0, 0))


class Damaged(Case):
    """Payloads that did not come whole. The server's own checksum is switched off for these."""

    def setUp(self):
        super().setUp()
        self.client("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
        self.addCleanup(self.client, "DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 0)
        self.client("CONFIG", "SET", "rdbcompression", "no")
        self.addCleanup(self.client, "CONFIG", "SET", "rdbcompression", "yes")

    def small(self, engine):
        self.client("DEL", "i")
        self.client("INDEX.CREATE", "i", "SEED", 8, "UNITS", 20, "CAPACITY", 30, "ENGINE", engine)
        for unit in range(12):
            self.client("INDEX.ADD", "i", unit, *(f"{unit} {j}" for j in range(20)))
        self.client("INDEX.DROP", "i", 3)
        return self.client("DUMP", "i")

    def try_restore(self, payload):
        """Refused, or an index that can be asked and changed."""
        reply = self.client.ask("RESTORE", "t", 0, payload)
        if isinstance(reply, Error):
            self.assertEqual(self.client("EXISTS", "t"), 0)
            return False
        for command in (["LOCATE", "t", *range(70)], ["ADD", "t", 1, "n"], ["ADD", "t", 50, "n"],
                        ["DEL", "t", 1, "1 5"], ["DROP", "t", 2], ["EXPORT", "t", 1],
                        ["INFO", "t"]):
            self.client.ask(f"INDEX.{command[0]}", *command[1:])
        self.client("DEL", "t")
        return True

    def test_truncated(self):
        for engine in ENGINES:
            dump = self.small(engine)
            self.assertTrue(self.try_restore(dump))
            for end in list(range(0, 64)) + list(range(64, len(dump) - 10, 97)):
                self.assertFalse(self.try_restore(dump[:end] + dump[-10:]), end)
                self.assertFalse(self.try_restore(dump[:end]), end)
        self.assertIn("an index is refused", self.server.log)

    def test_flipped(self):
        source = random.Random(7)
        for engine in ENGINES:
            dump = self.small(engine)
            refused = 0
            for _ in range(400):
                at = source.randrange(10, len(dump) - 10)  # past the type's name
                changed = bytearray(dump)
                changed[at] ^= 1 << source.randrange(8)
                refused += not self.try_restore(bytes(changed))
            # Every byte of a frame is under a checksum.
            self.assertGreater(refused, 395, engine)

    def test_newer_encoding(self):
        dump = bytearray(self.small("compact"))
        # Type 7, a 64-bit length of which the low ten bits are the encoding.
        self.assertEqual((dump[0], dump[1]), (7, 0x81))
        module = struct.unpack(">Q", dump[2:10])[0]
        self.assertEqual(module & 1023, 1)
        dump[2:10] = struct.pack(">Q", module + 1)
        self.assertFalse(self.try_restore(bytes(dump)))
        self.assertIn("was written in encoding 2, and this module reads up to 1", self.server.log)


def frames_of(stream):
    """A stream cut up: its header, and kind and payload of every frame but the last, the end."""
    at, frames = 64, []
    while stream[at:at + 4] != b"END ":
        kind, length = struct.unpack_from("<4sI", stream, at)
        frames.append((kind, stream[at + 16:at + 16 + length]))
        at += 24 + length
    return stream[:64], frames


def stream_of(header, frames):
    """The reverse, with all checksums right (doc/format.md)."""
    def xxh3(data, seed=0):
        return xxhash.xxh3_64_intdigest(data, seed=seed)

    chain = xxh3(header[:56])
    stream = header[:56] + struct.pack("<Q", chain)
    end = struct.pack("<QQ", len(frames), sum(len(payload) for _, payload in frames))
    for kind, payload in [*frames, (b"END ", end)]:
        head = struct.pack("<4sI", kind, len(payload))
        check = xxh3(head, chain)
        chain = xxh3(payload, check)
        stream += head + struct.pack("<Q", check) + payload + struct.pack("<Q", chain)
    return stream


class Crafted(Case):
    """Whole indexes and units whose checksums are right and whose contents are not."""

    def index(self, engine):
        self.client("FLUSHALL")
        self.client("INDEX.CREATE", "i", "SEED", 8, "UNITS", 20, "CAPACITY", 30, "ENGINE", engine)
        for unit in range(12):
            self.client("INDEX.ADD", "i", unit, "shared", *(f"{unit} {j}" for j in range(20)))
        self.client("INDEX.DROP", "i", 3)
        dump = self.client("DUMP", "i")
        start = dump.index(b"\x8bBRY\r\n\x1a\n")
        size = struct.unpack(">H", dump[start - 2:start])[0] & 0x3fff  # a length of 14 bits
        return dump[start:start + size]

    def setUp(self):
        super().setUp()
        self.client("CONFIG", "SET", "rdbcompression", "no")
        self.addCleanup(self.client, "CONFIG", "SET", "rdbcompression", "yes")

    def load(self, stream):
        self.client("DEL", "t")
        return self.client.ask("INDEX.LOAD", "t", 0, stream, "LAST")

    def test_numbers_of_units(self):
        at_tag, size = 16, 56  # in a record of the frame UNIT
        for engine in ENGINES:
            header, frames = frames_of(self.index(engine))
            place = [kind for kind, _ in frames].index(b"UNIT")
            self.assertEqual(self.load(stream_of(header, frames)), b"OK")
            for tags, word in (((5, 5), "BADDATA"), ((2**63, 5), "BADDATA"),
                               ((2**63 - 1, 5), None), ((2**64 - 1, 5), "BADDATA")):
                records = bytearray(frames[place][1])
                for number, tag in enumerate(tags):
                    struct.pack_into("<Q", records, size * number + at_tag, tag)
                for number in range(2, len(records) // size):
                    struct.pack_into("<Q", records, size * number + at_tag, 100 + number)
                changed = list(frames)
                changed[place] = (b"UNIT", bytes(records))
                reply = self.load(stream_of(header, changed))
                if word:
                    self.assertEqual(reply.word, word, tags)
                    self.assertIn("the number of a unit is out of range, or there is another",
                                  str(reply))
                    self.assertEqual(self.client("EXISTS", "t"), 0)
                else:
                    self.assertEqual(reply, b"OK", tags)
                    self.assertEqual(len(self.client("INDEX.LOCATE", "t", "shared")[0]),
                                     len(records) // size)

    def mutated(self, source, stream):
        header, frames = frames_of(stream)
        for _ in range(source.choice((1, 1, 2, 5))):
            place = source.randrange(len(frames))
            kind, payload = frames[place]
            payload = bytearray(payload)
            what = source.random()
            if what < 0.1 and payload:
                payload = payload[:source.randrange(len(payload))]
            elif what < 0.15:
                frames.pop(place)
                if not frames:
                    return stream_of(header, frames)
                continue
            elif what < 0.2:
                frames.insert(place, source.choice(frames))
                continue
            elif what < 0.6 and payload:
                payload[source.randrange(len(payload))] ^= 1 << source.randrange(8)
            elif len(payload) >= 8:
                value = source.choice((0, 1, 2**20, 2**32 - 1, 2**63, 2**64 - 1))
                struct.pack_into("<Q", payload, source.randrange(len(payload) - 7), value)
            frames[place] = (kind, bytes(payload))
        return stream_of(header, frames)

    def use(self, key):
        """Commands of every kind, on an index that may be odd and must not be dangerous."""
        for command in (["LOCATE", key, "shared", *range(50)], ["EXISTS", key, "shared"],
                        ["ADD", key, 1, "n"], ["ADD", key, 50, *range(25)], ["DEL", key, 1, "1 5"],
                        ["SEAL", key, 4], ["DROP", key, 2], ["DROP", key, 50], ["DROP", key, 0],
                        ["EXPORT", key, 1], ["INFO", key], ["INFO", key, 1]):
            self.client.ask(f"INDEX.{command[0]}", *command[1:])

    def test_whole_indexes(self):
        source = random.Random(9)
        for engine in ENGINES:
            stream = self.index(engine)
            loaded = 0
            for _ in range(400):
                reply = self.load(self.mutated(source, stream))
                if isinstance(reply, Error):
                    self.assertEqual(self.client("EXISTS", "t"), 0)
                    self.assertIn(reply.word, ("BADDATA", "VERSION", "LIMIT", "RANGE", "NOMEM"))
                    continue
                loaded += 1
                self.use("t")
            self.assertTrue(0 < loaded < 400, loaded)

    def test_units(self):
        source = random.Random(10)
        for engine in ENGINES:
            self.index(engine)
            unit = self.client("INDEX.EXPORT", "i", 5)
            installed = 0
            for _ in range(400):
                before = self.client("DEBUG", "DIGEST")
                reply = self.client.ask("INDEX.INSTALL", "i", 60, self.mutated(source, unit))
                if isinstance(reply, Error):
                    self.assertIn(reply.word, ("BADDATA", "VERSION", "LIMIT", "MISMATCH", "FULL"))
                    self.assertEqual(self.client("DEBUG", "DIGEST"), before, str(reply))
                    continue
                installed += 1
                self.client.ask("INDEX.LOCATE", "i", "shared", *range(50))
                self.client.ask("INDEX.ADD", "i", 60, "n")
                self.client.ask("INDEX.DEL", "i", 60, "5 5")
                self.assertEqual(self.client("INDEX.DROP", "i", 60), 1)
            self.assertTrue(0 < installed < 400, installed)

    def test_what_the_library_wrote(self):
        """Frames of a program that has the library, made with the options that INFO tells."""
        golden = pathlib.Path(__file__).resolve().parent.parent / "golden"
        unit = (golden / "index_unit.bry").read_bytes()
        for name in ("empty", "compact", "dba"):
            self.assertEqual(self.load((golden / f"index_{name}.bry").read_bytes()), b"OK")
            reply = self.client.ask("INDEX.INSTALL", "t", 7, unit)
            self.assertEqual(reply.word if name == "dba" else reply,
                             "MISMATCH" if name == "dba" else 8)
        info = pairs(self.client("INDEX.INFO", "t"))
        # More units than it was planned for, and nobody to hand it their items again.
        self.assertEqual((info[b"supplier"], info[b"units"], info[b"planned_units"]),
                         (b"none", 11, 6))
        self.assertGreater(float(info[b"full_error"]), float(info[b"promised_error"]))


class Log(Keep):
    SETTINGS = {"appendonly": "yes", "appendfsync": "no"}
    # Those of Keep run on this server as well; what a restart loads is the log.

    def test_save_and_restart(self):
        self.same_after(self.server.restart)

    def rewrite(self):
        self.assertEqual(self.client.info("persistence")["aof_rewrite_in_progress"], 0)
        self.client("BGREWRITEAOF")
        self.wait_until(lambda: self.client.info("persistence")["aof_rewrite_in_progress"] == 0
                        and self.client.info("persistence")["aof_rewrite_scheduled"] == 0,
                        "the log is rewritten")
        self.assertEqual(self.client.info("persistence")["aof_last_bgrewrite_status"], "ok")

    def test_rewrite_and_restart(self):
        for preamble in ("yes", "no"):
            self.client("FLUSHALL")
            self.client("CONFIG", "SET", "aof-use-rdb-preamble", preamble)

            def action():
                self.rewrite()
                self.server.restart()
            self.same_after(action)
            if preamble == "no":
                log = b"".join(path.read_bytes() for path in
                               (self.server.path / "appendonlydir").glob("*.aof"))
                self.assertIn(b"INDEX.LOAD", log)
            go_on(self.client)
            digest = self.client("DEBUG", "DIGEST")
            self.server.restart()
            self.assertEqual(self.client("DEBUG", "DIGEST"), digest)

    def test_creation_is_logged_with_all_parameters(self):
        self.client("INDEX.CREATE", "i")
        self.client("INDEX.CREATE", "d", "GROUP", 32)
        before = [pairs(self.client("INDEX.INFO", key)) for key in "id"]
        digest = self.client("DEBUG", "DIGEST")
        settings = {"bloomery.index-error": "10%", "bloomery.index-units": "5",
                    "bloomery.index-capacity": "77", "bloomery.index-engine": "dba"}
        self.server.settings |= settings
        self.server.restart()
        after = [pairs(self.client("INDEX.INFO", key)) for key in "id"]
        self.assertEqual((after, self.client("DEBUG", "DIGEST")), (before, digest))
        for name in settings:
            self.server.settings.pop(name)
        self.server.restart()


class Replica(Case):
    def test_full_and_partial_sync(self):
        fill(self.client)
        others = {"bloomery.index-error": "10%", "bloomery.max-key-bytes": "64kb",
                  "bloomery.index-engine": "dba"}
        with Server(**others) as other:
            replica = other.client
            replica("REPLICAOF", "127.0.0.1", self.server.port)
            self.wait_until(lambda: replica.info("replication")["master_link_status"] == "up",
                            "the replica is connected")
            self.check(replica)
            go_on(self.client)
            self.check(replica)
            self.client("DEL", *KEYS)
            fill(self.client)  # every command as it is replicated, from the creation on
            self.check(replica)
            # Larger than this replica would let its own clients make one.
            for engine in ENGINES:
                self.client("INDEX.CREATE", f"large {engine}", "ENGINE", engine, "ERROR", "1e-9")
                self.client("INDEX.ADD", f"large {engine}", 1, *range(50000))
                self.assertGreater(self.client("MEMORY", "USAGE", f"large {engine}"), 2 * 65536)
                self.client("INDEX.INSTALL", f"large {engine}", 2,
                            self.client("INDEX.EXPORT", f"large {engine}", 1))
            self.check(replica)
            self.assertNotIn("sending an error", other.log)
            self.assertEqual(other.complaints(), "")

    def check(self, replica):
        self.assertEqual(self.client("WAIT", 1, server_runner.PATIENCE * 1000), 1)
        self.assertEqual(self.client("DEBUG", "DIGEST"), replica("DEBUG", "DIGEST"))
        self.assertEqual(answers(self.client), answers(replica))


class Sweeping(Case):
    """While the items of dropped units are taken out, little by little: a server that got the key in
    the middle of it goes on as one that has had it from the beginning."""

    SETTINGS = {"appendonly": "yes", "appendfsync": "no"}
    UNITS, ITEMS = 40, 500
    ROUNDS = 15

    def both(self, never, *command):
        self.assertEqual(self.client(*command), never.client(*command))

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
            for unit in range(self.UNITS):
                self.both(never, "INDEX.ADD", key, unit, "shared",
                          *(f"{unit} {j}" for j in range(self.ITEMS - 1)))

    def rewrite(self):
        self.client("BGREWRITEAOF")
        self.wait_until(lambda: self.client.info("persistence")["aof_rewrite_in_progress"] == 0
                        and self.client.info("persistence")["aof_rewrite_scheduled"] == 0,
                        "the log is rewritten")

    def attach(self, number):
        """A further replica, with a full synchronization in the middle of whatever is going on."""
        server = Server()
        server.start()
        self.addCleanup(server.folder.cleanup)
        self.addCleanup(server.stop)
        server.client("REPLICAOF", "127.0.0.1", self.server.port)
        self.wait_until(lambda: server.client.info("replication")["master_link_status"] == "up",
                        f"replica {number} is connected")
        return server

    def interrupt(self, number, replicas):
        """One of the ways in which a key is written down and read again."""
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
            replicas.append(self.attach(number))
        else:
            for key in self.KEYS:
                self.client("COPY", key, "copy")
                self.client("RENAME", "copy", key)
        for server in replicas:  # a server that was started again has another port
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
                self.wait_until(lambda: all(server.client.info("replication")
                                            ["master_link_status"] == "up"
                                            for server in replicas), "all are connected")
                self.assertEqual(self.client("WAIT", len(replicas), server_runner.PATIENCE * 1000),
                                 len(replicas))
                self.same([never, *replicas])
            self.assertGreater(midway, self.ROUNDS // 2)
            for unit in units:  # without additions in between, to the last one
                for key in self.KEYS:
                    self.both(never, "INDEX.DROP", key, unit)
                self.same([never])
            self.assertEqual(len(replicas), 3)
            self.assertEqual(self.client("WAIT", 3, server_runner.PATIENCE * 1000), 3)
            self.same([never, *replicas])
            for server in (self.server, never, *replicas):
                self.assertEqual(server.complaints(), "")

    def test_drops_alone(self):
        """Units of one item each: their items go as well, some with every thirty-second unit."""
        self.client("INDEX.CREATE", "i", "UNITS", 2000, "CAPACITY", 1)
        for unit in range(2000):
            self.client("INDEX.ADD", "i", unit, f"item {unit}")
        most = 0
        for unit in range(2000):
            self.assertEqual(self.client("INDEX.DROP", "i", unit), 1)
            most = max(most, self.dropped_items("i"))
        self.assertTrue(0 < most < 1000, most)
        self.assertLess(self.dropped_items("i"), 100)


class Anything(Case):
    """Changes at random, on indexes small enough to meet every limit: the log, a replica that was
    there from the beginning, and one that came later have the same bytes as the master."""

    SETTINGS = {"appendonly": "yes", "appendfsync": "no", "bloomery.max-key-bytes": "64kb"}
    COMMANDS = 3000
    KINDS = (["ENGINE", "compact"], ["ENGINE", "compact"], ["NOGROW"], ["ENGINE", "dba"],
             ["GROUP", 8])

    def command(self, source, there):
        key = f"i{source.randrange(6)}"
        kind = source.random()
        if key not in there:
            there.add(key)
            like = f"i{source.randrange(6)}"
            if kind < 0.6 and like in there and like != key:
                return ["CREATE", key, "LIKE", like]
            return ["CREATE", key, "UNITS", source.choice((2, 10)), "CAPACITY",
                    source.choice((20, 300)), "SEED", source.randrange(1, 99), "ERROR",
                    source.choice(("10%", "1e-6")), *source.choice(self.KINDS)]
        unit = source.randrange(16)
        item = source.randrange(3000)
        if kind < 0.01:
            there.remove(key)
            return ["DEL", key]
        if kind < 0.55:
            n = source.choice((1, 2, 19, 64, 65, 290))
            return ["ADD", key, unit, *range(item, item + n)]
        if kind < 0.65:
            return ["DELETE", key, unit, *range(item, item + source.choice((1, 20, 200)))]
        if kind < 0.7:
            return ["SEAL", key, unit]
        if kind < 0.8:
            return ["DROP", key, unit]
        frame = self.client.ask("INDEX.EXPORT", f"i{source.randrange(6)}", source.randrange(16))
        return ["INSTALL", key, unit, frame or b"none"]

    def test_random_changes(self):
        source, there, said = random.Random(4), set(), {}
        with Server() as first, Server() as second:
            replicas = [first]
            first.client("REPLICAOF", "127.0.0.1", self.server.port)
            for number in range(self.COMMANDS):
                name, *words = self.command(source, there)
                spelled = {"DEL": "DEL", "DELETE": "INDEX.DEL"}.get(name, f"INDEX.{name}")
                reply = self.client.ask(spelled, *words)
                word = reply.word if isinstance(reply, Error) else "done"
                said[name, word] = said.get((name, word), 0) + 1
                if (name, word) == ("CREATE", "RANGE"):
                    there.remove(words[0])
                if number == self.COMMANDS // 2:
                    second.client("REPLICAOF", "127.0.0.1", self.server.port)
                    replicas.append(second)
                if number % 50 == 0 or word == "FULL":
                    self.check(replicas)
            self.check(replicas)
            for server in (self.server, first, second):
                self.assertEqual(server.complaints(), "")
        for outcome in (("ADD", "done"), ("ADD", "FULL"), ("ADD", "RANGE"), ("DELETE", "done"),
                        ("SEAL", "done"), ("DROP", "done"), ("INSTALL", "done"),
                        ("INSTALL", "FULL"), ("INSTALL", "MISMATCH"), ("INSTALL", "BADDATA")):
            self.assertGreater(said.get(outcome, 0), 0, f"{outcome} in {said}")
        digest = self.client("DEBUG", "DIGEST")
        self.server.restart()
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)

    def check(self, replicas):
        for server in replicas:
            self.wait_until(lambda link=server: link.client.info("replication")
                            ["master_link_status"] == "up", "the replica is connected")
        self.assertEqual(self.client("WAIT", len(replicas), server_runner.PATIENCE * 1000),
                         len(replicas))
        for server in replicas:
            self.assertEqual(server.client("DEBUG", "DIGEST"), self.client("DEBUG", "DIGEST"))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    server_runner.main()
