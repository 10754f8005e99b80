"""Forged payloads with valid checksums: whatever the server accepts can be used, saved and loaded.

Payloads are loaded by RESTORE, INDEX.IMPORT, BF.LOADCHUNK, and by LOAD in an append-only file.
Accepted keys are used with the commands of their family. No key exceeds bloomery.max-key-bytes, or
what it had when it was loaded from a log, by more than an eighth of that setting. No command takes
seconds of processor time, and a replica has the same data, as has the server itself after a
rewrite of its append-only file and a restart.

    PROGRAM SERVER MODULE [PRELOAD]      300 payloads; BLOOMERY_FORGED_PAYLOADS=n sets the number,
                                         BLOOMERY_FORGED_SECONDS=n runs for n seconds instead
"""

import os
import struct

import module_fuzz_test
import server_runner
from payloads import CHUNK_HEAD, chunk_of, commands_of, contents, payload_of, resealed
from server_runner import Error, Server

PAYLOADS = int(os.environ.get("BLOOMERY_FORGED_PAYLOADS", "300"))
SECONDS = float(os.environ.get("BLOOMERY_FORGED_SECONDS", "0"))
SEED = int(os.environ.get("BLOOMERY_FORGED_SEED", "1"))

KEY_BYTES = 1 << 20
PEAK_BYTES = 256 << 20  # of the whole server
PROCESSOR_SECONDS = 10  # for everything done to one key; normally a thousandth of it
KEPT = 40  # forged keys that stay
ROUND = 150  # payloads between two rewrites of the append-only file
WINDOW_PIECE = 16384
LIMITED = {"bloomery.max-key-bytes": str(KEY_BYTES), "rdbcompression": "no"}
LOG = {"appendonly": "yes", "aof-use-rdb-preamble": "no", "auto-aof-rewrite-percentage": "0",
       "appendfsync": "no", **LIMITED}


class Source(module_fuzz_test.Source):
    def odd_number(self):
        power = 1 << self.randrange(64)
        return self.choice((0, self.randrange(20), power, power - 1, power + 1, ~power, self.getrandbits(64),
                            struct.unpack("<Q", struct.pack("<d", self.choice((0.0, 1e-12, 0.5, 1e300))))[0]))

    def forged(self, payload):
        """A payload with one or two fields changed."""
        data = bytearray(payload)
        for _ in range(self.choice((1, 1, 2))):
            size = self.choice((1, 2, 4, 8))
            if len(data) < size:
                break
            at = min(self.randrange(min(len(data), self.choice((160, 1 << 20)))) // 4 * 4, len(data) - size)
            value = int.from_bytes(data[at:at + size], "little")
            value = self.choice((value + 1, value - 1, value << 1, value >> 1, self.odd_number(),
                                 value ^ 1 << self.randrange(8 * size)))
            data[at:at + size] = (value % (1 << 8 * size)).to_bytes(size, "little")
        return bytes(data)

    def forged_frames(self, frames):
        """Changes fields of some frames, or of the window's frames inside."""
        window = b"".join(payload for kind, payload in frames if kind == b"WIND")
        if window and self.random() < 0.7:
            window = resealed(window, self.forged_frames)
            return ([frame for frame in frames if frame[0] != b"WIND"]
                    + [(b"WIND", window[at:at + WINDOW_PIECE]) for at in range(0, len(window), WINDOW_PIECE)])
        frames = list(frames)
        for _ in range(self.choice((1, 1, 2))):
            at = self.randrange(min(len(frames), self.choice((3, 1 << 20))))
            frames[at] = (frames[at][0], self.forged(frames[at][1]))
        return frames


class Forged(module_fuzz_test.Fuzz):
    SETTINGS = LOG
    test_anything = None  # that belongs to the other test

    def honest(self, source):
        """Keys of every family and engine, in different shapes each time; also empty ones, whose
        shapes no contents confirm."""
        items = [f"item {i}" for i in range(source.choice((0, 1, 20, 200)))]
        some = source.choice((1, 10, 100, 1000))
        error = source.choice(("1e-6", "0.01", "0.4"))
        window = source.choice((1, 5000, 3600000))
        return [
            [["MAP.CREATE", "h", "CAPACITY", some, "ERROR", error],
             ["MAP.SET", "h", *(w for i in items for w in (i, i))]],
            [["MAP.CREATE", "h", "ENGINE", "kbf", "CAPACITY", some, "ERROR", "0.01"],
             ["MAP.SET", "h", *(w for i in items for w in (i, "v"))]],
            [["WINDOW.CREATE", "h", "WINDOW", window, "CAPACITY", some, "ERROR", error], ["WINDOW.ADD", "h", *items]],
            [["WINDOW.CREATE", "h", "WINDOW", window, "CAPACITY", some, "ENGINE", "fbf", "ERROR", error],
             ["WINDOW.ADD", "h", *items]],
            [["COUNTER.CREATE", "h", "WINDOW", window, "CAPACITY", some],
             ["COUNTER.INCRBY", "h", *(w for i in items for w in (i, 1, i))]],
            [["INDEX.CREATE", "h", "UNITS", some, "CAPACITY", 200, "ERROR", error], ["INDEX.ADD", "h", 1, *items]],
            [["INDEX.CREATE", "h", "UNITS", some, "CAPACITY", 200, "ENGINE", "dba", "ERROR", error],
             ["INDEX.ADD", "h", 1, *items]],
            [["BF.RESERVE", "h", error, some], ["BF.MADD", "h", *items]],
        ]

    def make_honest(self, source):
        while True:
            self.client("DEL", "h")
            for command in source.choice(self.honest(source)):
                self.client.ask(*command)
            kind = self.client("TYPE", "h")
            if kind != b"none":  # the shape is too large
                return kind

    # ---- three ways in -----------------------------------------------------------------------

    def restore(self, key, source):
        self.make_honest(source)
        dump = self.client("DUMP", "h")
        frames = resealed(contents(dump), source.forged_frames)
        return self.client.ask("RESTORE", key, 0, payload_of(dump, frames), "REPLACE")

    def install(self, key, source):
        while self.make_honest(source) != b"bloom-idx" or not (frames := self.client("INDEX.EXPORT", "h", 1)):
            pass
        self.client("COPY", "h", key, "REPLACE")
        return self.client.ask("INDEX.IMPORT", key, 2, resealed(frames, source.forged_frames))

    def load_chunk(self, key, source):
        while self.make_honest(source) != b"bloom-flt":
            pass
        _, chunk = self.client("BF.SCANDUMP", "h", 0)
        forged = chunk_of(resealed(chunk[CHUNK_HEAD:], source.forged_frames))
        self.client("DEL", key)
        return self.client.ask("BF.LOADCHUNK", key, *forged)

    # ---- accepted keys ------------------------------------------------------------------------

    def processor_seconds(self):
        return sum(float(self.client.info("cpu")[name]) for name in ("used_cpu_user", "used_cpu_sys"))

    def use(self, key, source, key_bytes=KEY_BYTES):
        family = module_fuzz_test.FAMILIES.get(self.client("TYPE", key))
        own = [g for g in self.commands if g.name.split(b".")[0] == family and not g.name.endswith(b".LOAD")]
        before = self.processor_seconds()
        done = []
        for grammar in source.choices(own, k=12) if own else []:
            done.append([grammar.name, key, *grammar.plausible(source)[1:]])
            self.client.ask(*done[-1])
        self.client("DEBUG", "DIGEST-VALUE", key)
        bytes_used = self.client("MEMORY", "USAGE", key) or 0
        self.assertLess(self.processor_seconds() - before, PROCESSOR_SECONDS, done)
        self.assertLess(bytes_used, key_bytes + KEY_BYTES // 8 + (1 << 16), done)
        self.assertLess(self.client.info("memory")["used_memory_peak"], PEAK_BYTES, done)

    def rewrite_and_restart(self, replica):
        self.compare(replica)
        self.rewrite()
        self.restarts_as_it_is()
        self.follow(replica)
        self.compare(replica)

    def test_payloads(self):
        source, self.commands = Source(SEED), self.grammars()
        taken = {}
        with Server(**LIMITED) as replica:
            self.follow(replica)
            for count in self.steps(PAYLOADS, SECONDS):
                key = f"forged {source.randrange(KEPT)}"
                way = source.choice((self.restore, self.restore, self.install, self.load_chunk))
                tally = taken.setdefault(way.__name__, [0, 0])
                reply = way(key, source)
                tally[not isinstance(reply, Error)] += 1
                if not isinstance(reply, Error):
                    self.use(key, source)
                if count % ROUND == ROUND - 1:
                    self.rewrite_and_restart(replica)
            self.rewrite_and_restart(replica)
        print(f"{count + 1} payloads, refused and taken: {taken}")
        self.assertTrue(all(min(tally) > 0 for tally in taken.values()), taken)

    def test_chunk_of_something_else(self):
        self.client("BF.ADD", "h", "a")
        _, chunk = self.client("BF.SCANDUMP", "h", 0)
        self.assertEqual(self.client("BF.LOADCHUNK", "copy", *chunk_of(chunk[CHUNK_HEAD:])), b"OK")
        self.client("DEL", "copy")
        self.refused("ERR", "BF.LOADCHUNK", "copy", *chunk_of(chunk[CHUNK_HEAD:], b"NOTCHUNK"),
                     text="bad data")

    # ---- by the append-only file --------------------------------------------------------------

    def log_of(self, server):
        return next((server.path / "appendonlydir").glob("*.base.aof")).read_bytes()

    def test_log(self):
        source, self.commands = Source(SEED), self.grammars()
        for i in range(2 * KEPT):
            self.make_honest(source)
            self.client("RENAME", "h", f"forged {i}")
        self.rewrite()
        honest = list(commands_of(self.log_of(self.server)))
        for _ in range(1 if not SECONDS else 20):
            log = b"".join(server_runner.encode(
                [*words[:3], resealed(words[3], source.forged_frames), *words[4:]]
                if words[0].endswith(b".LOAD") else words) for words in honest)
            self.start_from(log, source)

    def info_of(self, key):
        return module_fuzz_test.FAMILIES[self.client("TYPE", key)] + b".INFO"

    def start_from(self, log, source):
        with_log = Server(**LOG, **{"bloomery.damaged-keys": "keep"})
        with_log.write_base(log)
        ours = self.server
        with with_log:
            type(self).server = with_log
            try:
                keys = [key for key in sorted(self.client("KEYS", "*"))
                        if not isinstance(self.client.ask(self.info_of(key), key), Error)]
                print(f"{len(keys)} of {2 * KEPT} forged keys of a log were taken")
                for key in keys:
                    # A log is loaded without that limit, which may have been higher before.
                    self.use(key, source, max(KEY_BYTES, self.client("MEMORY", "USAGE", key)))
                self.rewrite()
                self.restarts_as_it_is(with_log)
                self.assertEqual(with_log.complaints(), "")
            finally:
                type(self).server = ours


if __name__ == "__main__":
    server_runner.main()
