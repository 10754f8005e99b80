"""Damaged append-only files, and damaged snapshots at their beginning: the server starts with every
key, or it does not start. Damaged payloads: RESTORE refuses them, or makes a key that can be used.

    PROGRAM SERVER MODULE [PRELOAD]      BLOOMERY_DAMAGED=n tries n damages per family and kind of
                                         file, 4 by default
"""

import os
import struct

import server_runner
from module_forged_test import Source
from payloads import commands_of, contents, crc64, payload_of, resealed, with_false_length
from server_runner import Case, Error, Server, encode

DAMAGES = int(os.environ.get("BLOOMERY_DAMAGED", "4"))
ITEMS = [f"item {i}" for i in range(300)]
MAKE = {
    "map": (["MAP.SET", "map", *(word for item in ITEMS for word in (item, item[-1]))],
            ["MAP.CREATE", "map kbf", "ENGINE", "kbf", "CAPACITY", 300, "ERROR", 0.01, "VALUES", 9],
            ["MAP.SET", "map kbf", *(word for item in ITEMS for word in (item, item[-1]))]),
    "window": (["WINDOW.CREATE", "window", "WINDOW", "1d"],
               ["WINDOW.ADD", "window", *ITEMS],
               ["WINDOW.CREATE", "window fbf", "WINDOW", "1d", "ENGINE", "fbf", "CAPACITY", 300],
               ["WINDOW.ADD", "window fbf", *ITEMS]),
    "counter": (["COUNTER.CREATE", "counter", "WINDOW", "1d"],
                ["COUNTER.INCRBY", "counter", *(word for item in ITEMS for word in (item, 1, item))]),
    "index": (["INDEX.CREATE", "index"], ["INDEX.ADD", "index", 1, *ITEMS],
              ["INDEX.ADD", "index", 3, *ITEMS[:60]], ["INDEX.DROP", "index", 3],
              ["INDEX.CREATE", "index dba", "ENGINE", "dba", "UNITS", 8, "CAPACITY", 300],
              ["INDEX.ADD", "index dba", 1, *ITEMS]),
    "filter": (["BF.RESERVE", "filter", "0.001", 10, "EXPANSION", 7],
               ["BF.MADD", "filter", *ITEMS]),
}
USE = {  # commands that query and change the key t
    "map": (["MAP.GET", "t", *ITEMS], ["MAP.SET", "t", "n", "1"], ["MAP.DEL", "t", ITEMS[5]],
            ["MAP.INFO", "t"]),
    "window": (["WINDOW.EXISTS", "t", *ITEMS], ["WINDOW.ADD", "t", "n"],
               ["WINDOW.DEL", "t", ITEMS[5]], ["WINDOW.INFO", "t"]),
    "counter": (["COUNTER.SCAN", "t", 0], ["COUNTER.INCRBY", "t", "n", 1, "n"],
                ["COUNTER.DEL", "t", ITEMS[5]], ["COUNTER.INFO", "t"]),
    "index": (["INDEX.LOCATE", "t", *ITEMS], ["INDEX.ADD", "t", 1, "n"],
              ["INDEX.ADD", "t", 50, "n"], ["INDEX.DEL", "t", 1, ITEMS[5]],
              ["INDEX.EXPORT", "t", 1], ["INDEX.DROP", "t", 1], ["INDEX.INFO", "t"]),
    "filter": (["BF.MEXISTS", "t", *ITEMS], ["BF.ADD", "t", "n"], ["BF.DEL", "t", ITEMS[5]],
               ["BF.INFO", "t"], ["BF.SCANDUMP", "t", 0]),
}
# Notes instead of those that the module writes: refused, and taken.
NOTES = {
    "counter": ((b"", bytes(16), bytes(32)), (bytes(24), b"\xff" * 24)),
    "filter": ((b"", bytes(24), bytes(25), struct.pack("<QQ", 10, 7),
                struct.pack("<QQdQ", 10, 7, 0.001, 0),
                *(struct.pack("<QQd", *note) for note in (
                    (0, 7, 0.001), (2**63, 7, 0.001), (10, 2**63, 0.001), (10, 0, 0.001),
                    (10, 7, 0.002), (10, 7, 1), (10, 7, float("nan"))))),
               (struct.pack("<QQd", 9, 8, 0.001),)),
}
FOREIGN = (b"x", bytes(64), bytes(1000), bytes(100000))  # for keys without notes


class KeyCase(Case):
    """With keys of every family and engine."""

    def setUp(self):
        super().setUp()
        for commands in MAKE.values():
            for command in commands:
                self.client(*command)
        self.dumps = {key.decode(): self.client("DUMP", key) for key in self.client("KEYS", "*")}


class Payloads(KeyCase):
    """The server's own checksum is switched off for these."""

    SETTINGS = {"rdbcompression": "no"}

    def setUp(self):
        super().setUp()
        self.client("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
        self.addCleanup(self.client, "DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 0)

    def taken(self, key, payload):
        """The payload is refused, or gives a key that can be queried and changed."""
        reply = self.client.ask("RESTORE", "t", 0, payload)
        if isinstance(reply, Error):
            self.assertEqual(self.client("EXISTS", "t"), 0)
            return False
        self.client.pipeline(USE[key.split()[0]])
        self.client("DEL", "t")
        return True

    def test_notes(self):
        """With valid checksums."""
        for key, dump in self.dumps.items():
            refused, taken = NOTES.get(key, (FOREIGN, ()))
            kept = int(key in NOTES)
            for note in refused + taken:
                frames = resealed(contents(dump), lambda frames, note=note, kept=kept:
                                  [(b"NOTE", note)] * bool(note) + frames[kept:])
                self.assertEqual(self.taken(key, payload_of(dump, frames)), note in taken,
                                 (key, note))
        for message in ("the note with the table's MAXMEM is missing",
                        "keys of this type have no note", "the note is longer than the limit",
                        "the filter does not match the parameters"):
            self.assertIn(message, self.server.log)

    def test_under_the_lowest_limit(self):
        """Loading needs larger buffers, which do not count as memory of the key."""
        self.client("CONFIG", "SET", "bloomery.max-key-bytes", "64kb")
        for key, dump in self.dumps.items():
            self.assertTrue(self.taken(key, dump), key)

    def test_truncated(self):
        for key, dump in self.dumps.items():
            for end in (*range(0, 100), *range(100, len(dump) - 10, 97)):
                self.assertFalse(self.taken(key, dump[:end] + dump[-10:]), (key, end))
                self.assertFalse(self.taken(key, dump[:end]), (key, end))
            self.assertIn(f"{key.split()[0]} 't' is refused: ", self.server.log)

    def test_flipped(self):
        """A checksum covers every byte of a frame."""
        source = Source(7)
        for key, dump in self.dumps.items():
            taken = 0
            for _ in range(200):
                at = source.randrange(10, len(dump) - 10)  # after the type's name
                changed = bytearray(dump)
                changed[at] ^= 1 << source.randrange(8)
                taken += self.taken(key, bytes(changed))
            self.assertLess(taken, 5, key)
            self.assertRegex(self.server.log, key.split()[0] +
                             r" 't' is refused: .* at byte \d+ \(BADDATA\)")


class Damaged(KeyCase):
    SETTINGS = {"appendonly": "yes", "rdbcompression": "no"}

    def setUp(self):
        super().setUp()
        self.client("SET", "other", "x")
        self.keys = sorted(self.client("KEYS", "*"))
        self.payloads = {key: contents(dump) for key, dump in self.dumps.items()}

    def base(self, preamble):
        """The append-only file after a rewrite."""
        self.client("CONFIG", "SET", "aof-use-rdb-preamble", preamble)
        self.rewrite()
        (base,) = (self.server.path / "appendonlydir").glob("*.base.*")
        return base.read_bytes()

    @staticmethod
    def damages(source, payload):
        """The payload with a flipped bit, twice; with fields forged, and with the length of a frame
        forged, both with valid checksums."""
        for _ in range(2):
            at = source.randrange(len(payload))
            yield payload[:at] + bytes([payload[at] ^ 1 << source.randrange(8)]) + payload[at + 1:]
        yield resealed(payload, source.forged_frames)
        yield with_false_length(payload, source)

    def check(self, kind, damaged):
        """Tries every damage: damaged(key, payload) is the file with that payload of the key."""
        source, tally = Source(1), {}
        for family in MAKE:
            keys = [key for key in self.payloads if key.split()[0] == family]
            for number in range(0, DAMAGES, 4):
                key = keys[number // 4 % len(keys)]
                for payload in self.damages(source, self.payloads[key]):
                    self.try_start(kind, damaged(key, payload), key, tally)
        print(f"{kind}: {tally}")
        self.assertGreater(tally["refused"], len(MAKE) * DAMAGES // 3)

    def try_start(self, kind, data, key, tally):
        server = Server()
        try:
            base = server.write_base(data, kind)
            outcome = "started" if server.refuses() is None else "refused"
            tally[outcome] = tally.get(outcome, 0) + 1
            if outcome == "started":
                self.assertEqual(sorted(server.client("KEYS", "*")), self.keys, key)
                self.assertEqual(server.client("TYPE", key), self.client("TYPE", key))
            else:
                self.assertEqual(base.read_bytes(), data)
                self.assertRegex(server.log, f"{key.split()[0]} '{key}' is refused: |checksum")
            self.assertEqual(server.complaints(), "")
        finally:
            server.__exit__()

    def test_log(self):
        log = list(commands_of(self.base("no")))

        def damaged(key, payload):
            return b"".join(encode([*words[:3], payload, *words[4:]])
                            if words[1] == key.encode() and words[0].endswith(b".LOAD") else
                            encode(words) for words in log)
        self.assertEqual(damaged("none", b""), self.base("no"))
        self.check("aof", damaged)

    def test_snapshot(self):
        """Most of them with the server's own checksum made valid."""
        snapshot, turn = self.base("yes"), [0]

        def damaged(key, payload):
            whole = self.payloads[key]
            self.assertEqual(snapshot.count(whole), 1, key)
            changed = snapshot.replace(whole, payload)[:-8]
            turn[0] += 1
            return changed + (crc64(changed).to_bytes(8, "little") if turn[0] % 3 else snapshot[-8:])
        self.assertEqual(crc64(snapshot[:-8]).to_bytes(8, "little"), snapshot[-8:])
        self.check("rdb", damaged)


server_runner.main()
