"""Small forged payloads that would be expensive later: memory at the next write, time at the next
query, or the whole append-only file at the next start. Each is the payload of an honest key with
a few numbers changed and valid checksums, loaded by RESTORE."""

import itertools
import struct

import server_runner
from payloads import MAGIC, contents, payload_of, resealed
from server_runner import Case, Error

KEY_BYTES = 64 << 20
PROCESSOR_SECONDS = 5  # normally a thousandth of it

# Fields of frames (doc/format.md): frame, offset, format.
INDEX_FLAGS, UNIT_BITS, UNIT_HASHES = (b"NUMS", 4, "<I"), (b"NUMS", 48, "<Q"), (b"NUMS", 56, "<I")
RANGE, LEVEL_HASHES, PLANNED = (b"DBA ", 24, "<Q"), (b"DBA ", 32, "<I"), (b"DBA ", 36, "<I")
SEGMENT = (b"KTAB", 0, "<Q")
WINDOW_FLAGS, MAX_BYTES, MAX_SKEW = (b"NUMS", 4, "<I"), (b"NUMS", 40, "<Q"), (b"NUMS", 48, "<Q")
COUNTER_MAX_BYTES, COUNTER_MAX_SKEW = (b"NUMS", 32, "<Q"), (b"NUMS", 40, "<Q")
FILTER_BITS, FILTER_HASHES = (b"NUMS", 56, "<Q"), (b"NUMS", 12, "<I")


class SmallForged(Case):
    SETTINGS = {"appendonly": "yes", "auto-aof-rewrite-percentage": "0", "appendfsync": "no",
                "rdbcompression": "no", "bloomery.max-key-bytes": str(KEY_BYTES)}

    def forge(self, size, commands, *numbers):
        """The payload of the key that the commands make, `size` bytes, with other numbers."""
        def change(frames):
            frames = [(kind, bytearray(payload)) for kind, payload in frames]
            for (kind, at, form), number in numbers:
                struct.pack_into(form, dict(frames)[kind], at, number)
            return [(kind, bytes(payload)) for kind, payload in frames]
        for command in commands:
            self.client(*command)
        dump = self.client("DUMP", "h")
        self.client("DEL", "h")
        forged = resealed(contents(dump), change)
        self.assertEqual(len(forged) - forged.index(MAGIC), size)
        return payload_of(dump, forged)

    def used(self):
        """Processor time in seconds, and memory in bytes."""
        cpu = self.client.info("cpu")
        return (float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"]), self.client.info("memory")["used_memory"])

    def cheap(self, payload, *commands):
        """It is refused, or using it takes neither much memory nor time."""
        seconds, size = self.used()
        reply = self.client.ask("RESTORE", "k", 0, payload)
        if isinstance(reply, Error):
            self.assertIn("Bad data format", str(reply))
        else:
            for command in commands:
                self.client.ask(*command)
            seconds, size = self.used()[0] - seconds, self.used()[1] - size
            self.assertLess(size, KEY_BYTES * 9 // 8)
            self.assertLess(seconds, PROCESSOR_SECONDS)
        return reply

    # ---- memory ------------------------------------------------------------------------------

    def test_index_rows(self):
        """A level with 2^33 rows, which the next unit would have."""
        create = ["INDEX.CREATE", "h", "ENGINE", "dba", "UNITS", 2, "CAPACITY", 40]
        for power in (20, 30, 33, 40):
            reply = self.cheap(self.forge(272, [create], (RANGE, 1 << power)), ["INDEX.ADD", "k", 1, "a"])
            self.assertIsInstance(reply, Error)

    def test_map_cells(self):
        """A table with very many cells; each field would allocate a piece of it."""
        create = ["MAP.CREATE", "h", "ENGINE", "kbf", "CAPACITY", 100]
        for power in (20, 30, 33, 40):
            reply = self.cheap(self.forge(304, [create], (SEGMENT, 1 << power)),
                               *(["MAP.SET", "k", i, "v"] for i in range(100)))
            self.assertIsInstance(reply, Error)

    def window(self, *numbers):
        """With one item, in two filters, from 1970; it uses the server's clock, as it has no
        SKEW."""
        return self.forge(648, [["WINDOW.CREATE", "h", "WINDOW", "1s", "ENGINE", "fbf", "CAPACITY", 1,
                                 "EVENTTIME", "SKEW", 1 << 52],
                                ["WINDOW.INSERT", "h", "AT", 1000, "ITEMS", "a"]], (MAX_SKEW, 0), *numbers)

    def test_window_bits(self):
        """Options with very many bits per filter, which the next filters would have."""
        for power in (30, 33, 36, 40):
            reply = self.cheap(self.window((FILTER_BITS, 1 << power), (FILTER_HASHES, 64)),
                               *(["WINDOW.ADD", "k", i] for i in range(100)))
            self.assertIsInstance(reply, Error)

    def test_counters_with_limits(self):
        """The library would refuse what the server has accepted, and a replica would differ."""
        create = ["COUNTER.CREATE", "h", "WINDOW", "1h", "SEED", 1]
        self.client(*create)
        size = len(contents(self.client("DUMP", "h")).partition(MAGIC)[2]) + len(MAGIC)
        self.client("DEL", "h")
        self.client("RESTORE", "k", 0, self.forge(size, [create]))
        for limit in (COUNTER_MAX_BYTES, COUNTER_MAX_SKEW):
            reply = self.client.ask("RESTORE", "l", 0, self.forge(size, [create], (limit, 1 << 40)))
            self.assertIsInstance(reply, Error)
            self.assertIn("Bad data format", str(reply))

    # ---- time --------------------------------------------------------------------------------

    def test_window_limit(self):
        """A window without room for a third filter must not advance to the present period by
        period. Any limit is refused, or the window advances at once."""
        taken = 0
        for fixed, limit in itertools.product((0, 2), (1000, 2047, 2048, 3000, 4000, 10_000)):
            self.client("FLUSHALL")
            forged = self.window((WINDOW_FLAGS, 8 | fixed), (MAX_BYTES, limit))
            reply = self.cheap(forged, ["WINDOW.EXISTS", "k", "a"], ["WINDOW.ADD", "k", "b"])
            taken += not isinstance(reply, Error)
        self.assertGreater(taken, 2)

    # ---- the log -----------------------------------------------------------------------------

    def test_index_with_an_odd_shape(self):
        """What RESTORE accepts is in the append-only file after a rewrite, which must load, with
        all other keys: also an index whose further levels have fewer hashes than the given
        shape."""
        shapes = ((576, 12, 9), (576, 12, 2), (40, 1, 1), (1, 1, 1), (4096, 64, 1 << 20))
        create = ["INDEX.CREATE", "h", "ENGINE", "dba", "UNITS", 2, "CAPACITY", 40, "ERROR", "0.01", "SEED", 1]
        self.client("SET", "other", "x")
        taken = 0
        for number, (bits, hashes, planned) in enumerate(shapes):
            forged = self.forge(272, [create], (INDEX_FLAGS, 0), (UNIT_BITS, bits), (UNIT_HASHES, hashes),
                                (RANGE, bits), (LEVEL_HASHES, hashes), (PLANNED, planned))
            key = f"index {number}"
            if isinstance(self.client.ask("RESTORE", key, 0, forged), Error):
                continue
            taken += 1
            for i in range(20):
                self.client("INDEX.ADD", key, i, f"item {i}")
        self.assertGreater(taken, 0)
        digest = self.client("DEBUG", "DIGEST")
        for preamble in ("yes", "no"):  # as a snapshot, and as commands
            self.client("CONFIG", "SET", "aof-use-rdb-preamble", preamble)
            self.rewrite()
            self.server.restart()
            self.assertEqual(self.client("DEBUG", "DIGEST"), digest)
        self.assertEqual(self.client("GET", "other"), b"x")
        self.assertIn(7, self.client("INDEX.LOCATE", "index 0", "item 7")[0])


server_runner.main()
