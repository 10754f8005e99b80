"""Damaged append-only files, and damaged snapshots at their beginning: the server starts with every
key, or it does not start.

    PROGRAM SERVER MODULE [PRELOAD]      BLOOMERY_DAMAGED=n tries n damages per family and kind of
                                         file, 4 by default
"""

import os

import server_runner
from module_forged_test import Source, commands_of
from payloads import contents, crc64, resealed, with_false_length
from server_runner import Case, Server, encode

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
              ["INDEX.CREATE", "index dba", "ENGINE", "dba", "UNITS", 8, "CAPACITY", 300],
              ["INDEX.ADD", "index dba", 1, *ITEMS]),
    "filter": (["BF.MADD", "filter", *ITEMS],),
}


class Damaged(Case):
    SETTINGS = {"appendonly": "yes", "rdbcompression": "no"}

    def setUp(self):
        super().setUp()
        for commands in MAKE.values():
            for command in commands:
                self.client(*command)
        self.client("SET", "other", "x")
        self.keys = sorted(self.client("KEYS", "*"))
        self.payloads = {key.decode(): contents(self.client("DUMP", key))
                         for key in self.keys if key != b"other"}

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
