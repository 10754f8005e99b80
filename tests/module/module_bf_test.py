"""BF.*: exact replies and errors, arguments, numbers, chunks, and the methods of the Python
client."""

import os
import pathlib
import re

import server_runner
from family_cases import Described
from server_runner import Case, Error, Server, pairs

EXCHANGE = pathlib.Path(__file__).with_name("bf_exchange.txt")
DIR = os.path.dirname(server_runner.MODULE or "")
TAKEN = os.path.join(DIR, "names-taken.so")
SMALL_CHUNKS = os.path.join(DIR, "bloomery-small-chunks.so")


class Tee:
    """A file that records what was read from it."""

    def __init__(self, file):
        self.file, self.seen = file, b""

    def readline(self):
        line = self.file.readline()
        self.seen += line
        return line

    def read(self, size):
        data = self.file.read(size)
        self.seen += data
        return data

    def close(self):
        self.file.close()


class Exchange(Case):
    def recorded(self):
        """(command, RESP2, RESP3) of each record in the file."""
        command, replies = None, {}
        for line in EXCHANGE.read_text().splitlines() + ["> end"]:
            kind, rest = line[:1], line[2:]
            if kind == ">":
                if command:
                    yield command.split(" "), replies["2"], replies["3"]
                command, replies = rest, {}
            elif kind in ("2", "3", "="):
                for version in "23" if kind == "=" else kind:
                    replies[version] = rest

    def pattern(self, reply):
        text = re.escape(reply).replace(re.escape("\\r\\n"), "\r\n")
        return text.replace("<n>", "[0-9]+").replace("<data>", ".*").encode()

    def check(self, version):
        client = self.connect()
        if version == 3:
            client.hello3()
        client.file = tee = Tee(client.file)
        names = set()
        for command, *replies in self.recorded():
            tee.seen = b""
            client.ask(*command)
            wanted = self.pattern(replies[version - 2])
            self.assertTrue(re.fullmatch(wanted, tee.seen, re.DOTALL), (command, tee.seen))
            names.add(command[0].lower().encode())
        ours = set(self.client("COMMAND", "LIST", "FILTERBY", "MODULE", "bloomery"))
        self.assertEqual(names - {b"set", b"exists"},
                         {name.lower() for name in ours if name.lower().startswith(b"bf.")})

    def test_resp2(self):
        self.check(2)

    def test_resp3(self):
        self.check(3)


class Arguments(Described, Case):
    PREFIX, INTERNAL = "BF", ()
    COMMANDS = (("RESERVE k 0.1 9", "k"), ("ADD k a", "k"), ("MADD k a b", "k"),
                ("INSERT k ITEMS a b", "k"), ("EXISTS k a", "k"), ("MEXISTS k a b", "k"),
                ("DEL k a b", "k"), ("CARD k", "k"), ("INFO k", "k"), ("DEBUG k", "k"), ("MERGE a b c", "a b c"),
                ("SCANDUMP k 0", "k"), ("LOADCHUNK k 1 x", "k"))
    MADE = "RESERVE k 1e-6 99 SEED 1; ADD k a"
    STORE, ASK, FOUND = "MADD k", "MEXISTS k", 1
    SHORT = ("RESERVE k 0.01; ADD k; ADD k a b; MADD k; EXISTS k; EXISTS k a b; MEXISTS k; "
             "INSERT k ITEMS; CARD; CARD k k; INFO; INFO k SIZE ITEMS; DEL k; SCANDUMP k; "
             "SCANDUMP k 0 0; LOADCHUNK k 1; MERGE k; INSERT k CAPACITY 10 ITEMS; "
             "INSERT k NOCREATE CAPACITY; INSERT k NOCREATE NONSCALING")
    HISTORY = (("RESERVE k 0.01 9", "bf.reserve k"), ("ADD k a", "bf.add k"), ("ADD k a", ""),
               ("DEL k a", "bf.del k"), ("MERGE m k", "bf.merge m"),
               ("ADD made a", "bf.reserve made; bf.add made"),
               ("INSERT too ITEMS a b", "bf.reserve too; bf.add too"))

    def test_what_cannot_be_had(self):
        self.refused("RANGE", "BF.RESERVE", "k", "1e-10", 100, text="at least 1e-09")
        self.refused("RANGE", "BF.RESERVE", "k", "1e-9", 1 << 40, text="too small for this capacity")
        self.refused("ERR", "BF.RESERVE", "k", "0.01", 1 << 41, text="bad capacity")
        self.refused("ERR", "BF.RESERVE", "k", "0.01", 9, "EXPANSION", 1 << 32, text="bad expansion")
        self.refused("ERR", "BF.RESERVE", "k", "nan", 9, text="bad error rate")
        self.refused("RANGE", "BF.RESERVE", "k", "0.01", 9, "SEED", 0, text="SEED '0'")
        self.refused("ERR", "BF.RESERVE", "k", "0.01", 9, "SEED", text="number of arguments")

    def test_errors_of_more_than_a_half(self):
        self.client("BF.RESERVE", "k", "0.9", 1000)
        self.client("BF.MADD", "k", *range(1000))
        self.assertEqual(self.client("BF.MEXISTS", "k", *range(1000)), [1] * 1000)
        self.client("DEBUG", "RELOAD")
        self.assertEqual(self.client("BF.MEXISTS", "k", *range(1000)), [1] * 1000)

    def test_settings(self):
        presets = {"bf": "auto", "bf-initial-size": "100", "bf-error-rate": "0.01",
                   "bf-expansion-factor": "2"}
        shown = pairs(self.client("CONFIG", "GET", "bloomery.bf*"))
        self.assertEqual({name.decode(): value.decode() for name, value in shown.items()},
                         {f"bloomery.{name}": value for name, value in presets.items()})
        for name in ("bf-initial-size", "bf-error-rate", "bf-expansion-factor"):
            self.addCleanup(self.client, "CONFIG", "SET", f"bloomery.{name}", presets[name])
        self.client("CONFIG", "SET", "bloomery.bf-initial-size", 7, "bloomery.bf-error-rate", "1e-6",
                    "bloomery.bf-expansion-factor", 5)
        self.client("BF.ADD", "k", "a")
        self.client("BF.INSERT", "i", "CAPACITY", 9, "ITEMS", "a")
        info = pairs(self.client("BF.INFO", "k"))
        self.assertEqual((info[b"Capacity"], info[b"Expansion rate"]), (7, 5))
        self.assertEqual(self.client("BF.INFO", "i", "CAPACITY"), [9])
        for name, value in (("bf-initial-size", 0), ("bf-error-rate", 1), ("bf", "no"),
                            ("bf-expansion-factor", -1)):
            self.assertIsInstance(self.client.ask("CONFIG", "SET", f"bloomery.{name}", value), Error)
        self.client("CONFIG", "SET", "bloomery.bf-error-rate", "0.9",
                    "bloomery.bf-expansion-factor", 0)
        self.client("BF.ADD", "fixed", "a")
        self.assertEqual(self.client("BF.INFO", "fixed", "EXPANSION"), [None])

    def test_statistics_in_lower_case(self):
        self.client("BF.ADD", "k", "a")
        self.assertIn("cmdstat_bf.add", self.client.info("commandstats"))
        names = self.client("COMMAND", "LIST", "FILTERBY", "MODULE", "bloomery")
        self.assertEqual(names, [name.lower() for name in names])

    def test_category(self):
        """@bloom, if the server lets modules have categories."""
        categories = self.client("ACL", "CAT")
        if b"bloomery" not in categories:
            self.skipTest("modules have no categories here")
        listed = self.client("COMMAND", "LIST", "FILTERBY", "ACLCAT", "bloom")
        self.assertEqual({name for name in listed},
                         {f"bf.{line.split()[0].lower()}".encode() for line, _ in self.COMMANDS})


class Numbers(Case):
    def info(self, key):
        info = pairs(self.client("BF.INFO", key))
        return info[b"Capacity"], info[b"Number of filters"], info[b"Number of items inserted"]

    def test_capacity_expands_as_items_pass_it(self):
        self.client("BF.RESERVE", "k", "1e-6", 10, "EXPANSION", 3)
        seen = []
        for i in range(131):
            self.client("BF.ADD", "k", i)
            if not seen or self.info("k")[:2] != seen[-1][1:]:
                seen.append((i + 1, *self.info("k")[:2]))
        self.assertEqual(seen, [(1, 10, 1), (11, 40, 2), (41, 130, 3), (131, 400, 4)])
        self.client("BF.DEL", "k", *range(100))
        self.assertEqual(self.info("k"), (40, 2, 31))

    def test_a_large_expansion(self):
        self.client("BF.RESERVE", "k", "1e-6", 1, "EXPANSION", (1 << 32) - 1)
        self.client("BF.MADD", "k", *range(3))
        self.assertEqual(self.info("k"), (1 << 32, 2, 3))
        self.client("BF.RESERVE", "one", "1e-6", 1, "EXPANSION", 1)
        self.client("BF.MADD", "one", *range(3000))
        self.assertEqual(self.info("one"), (3000, 3000, 3000))

    def test_size_is_the_memory(self):
        self.client("BF.MADD", "k", *range(5000))
        # MEMORY USAGE also counts the key's name and the server's own entry.
        size, usage = self.client("BF.INFO", "k", "SIZE")[0], self.client("MEMORY", "USAGE", "k")
        self.assertTrue(0 <= usage - size < 200, (usage, size))
        self.assertEqual(self.client.info("bloomery")["bloomery_filter_bytes"], size)
        self.assertEqual(self.client.info("bloomery")["bloomery_filter_items"],
                         self.client("BF.CARD", "k"))

    def test_items_there_change_nothing(self):
        self.client("BF.MADD", "k", *range(100))
        self.client("CONFIG", "RESETSTAT")
        before = self.client("DEBUG", "DIGEST")
        offset = self.client.info("replication")["master_repl_offset"]
        self.assertEqual(self.client("BF.MADD", "k", *range(100)), [0] * 100)
        self.assertEqual(self.client("BF.ADD", "k", 5), 0)
        self.assertEqual(self.client("BF.DEL", "k", "none"), [0])
        self.assertEqual(self.client("DEBUG", "DIGEST"), before)
        self.assertEqual(self.client.info("replication")["master_repl_offset"], offset)

    def test_full_to_the_last(self):
        self.client("BF.RESERVE", "k", "0.01", 1000, "NONSCALING", "SEED", 5)
        replies = [self.client.ask("BF.ADD", "k", i) for i in range(1200)]
        stored = [i for i, reply in enumerate(replies) if reply == 1]
        self.assertEqual(len(stored), 1000)
        self.assertEqual(self.client("BF.CARD", "k"), 1000)
        for i in range(stored[-1] + 1, 1200):
            self.assertIn(replies[i], (0, Error("ERR non scaling filter is full")))
        self.assertEqual(self.client("BF.MEXISTS", "k", *stored), [1] * 1000)
        self.client("BF.DEL", "k", stored[0])
        self.assertEqual(self.client("BF.ADD", "k", "one more"), 1)
        # Items are added until the filter is full.
        self.client("BF.DEL", "k", *stored[1:4])
        reply = self.client("BF.MADD", "k", *(f"more {i}" for i in range(50)))
        self.assertEqual(reply.count(1), 3)
        self.assertEqual(reply[-1], Error("ERR non scaling filter is full"))
        self.assertEqual(self.client("BF.CARD", "k"), 1000)

    def test_delete_all(self):
        self.client("BF.ADD", "k", "a")
        little = self.client("MEMORY", "USAGE", "k")
        self.client("BF.MADD", "k", *range(30000))
        self.assertGreater(self.client("MEMORY", "USAGE", "k"), 30000)
        self.client("BF.DEL", "k", *range(30000))
        self.assertLess(self.client("MEMORY", "USAGE", "k"), little + 1024)
        self.assertLessEqual(self.client("BF.CARD", "k"), 1)

    def test_max_key_bytes(self):
        self.client("CONFIG", "SET", "bloomery.max-key-bytes", "64kb")
        for step in (100, 1):
            self.until_refused("FULL", lambda n, step=step: [
                "BF.MADD", "k", *(f"{step} {n * step + i}" for i in range(step))])
        self.assertLess(self.client("MEMORY", "USAGE", "k"), 66000)
        self.refused("FULL", "BF.ADD", "k", "one more")
        there = [f"100 {i}" for i in range(5000)]
        self.assertEqual(self.client("BF.MADD", "k", *there), [0] * 5000)  # adds nothing
        self.client("BF.DEL", "k", *there)
        self.assertEqual(self.client("BF.ADD", "k", "one more"), 1)

    def test_reserved_beyond_the_limit(self):
        """Nothing is allocated, so nothing is refused before items are added."""
        self.client("CONFIG", "SET", "bloomery.max-key-bytes", "64kb")
        for key, *more in (["scales"], ["fixed", "NONSCALING"]):
            self.client("BF.RESERVE", key, "1e-6", 300_000_000, *more)
            self.assertLess(self.client("MEMORY", "USAGE", key), 6000)
            replies = self.client.pipeline(["BF.MADD", key, *range(i, i + 500)]
                                           for i in range(0, 20000, 500))
            self.assertEqual(replies[0], [1] * 500)
            self.assertEqual(replies[-1].word, "FULL")
            self.assertLess(self.client("MEMORY", "USAGE", key), 66000)

    def test_info_of_the_server(self):
        self.client("BF.MADD", "k", *range(3000))
        self.client("BF.MEXISTS", "k", *range(3000))
        before = self.client.info("bloomery")
        self.assertEqual(before["bloomery_filter_keys"], 1)
        self.assertTrue(0 < float(before["bloomery_filter_estimated_error"])
                        <= float(before["bloomery_filter_promised_error"]))
        self.client("BF.EXISTS", "k", "a")
        self.client("BF.RESERVE", "full", "1e-6", 1, "NONSCALING")
        self.client("BF.ADD", "full", "a")
        self.client.ask("BF.ADD", "full", "b")
        now = self.client.info("bloomery")
        self.assertEqual(now["bloomery_filter_operations"],
                         before["bloomery_filter_operations"] + 3)
        self.assertEqual(now["bloomery_filter_refused"], before["bloomery_filter_refused"] + 1)


class Merge(Case):
    def test_of_different_capacities(self):
        self.client("BF.RESERVE", "a", "0.001", 10, "SEED", 5)
        self.client("BF.RESERVE", "b", "0.001", 5000, "SEED", 5)
        self.client("BF.MADD", "a", *range(0, 3000))
        self.client("BF.MADD", "b", *range(2000, 5000))
        count = self.client("BF.MERGE", "c", "a", "b")
        self.assertEqual(self.client("BF.CARD", "c"), count)
        self.assertLess(abs(count - 5000), 30)
        self.assertEqual(self.client("BF.MEXISTS", "c", *range(5000)), [1] * 5000)
        self.assertEqual(self.client("BF.MERGE", "a", "b"), count)
        self.assertEqual(self.client("BF.MEXISTS", "a", *range(5000)), [1] * 5000)

    def test_refused(self):
        self.client("BF.RESERVE", "a", "0.001", 10, "SEED", 5)
        for i, other in enumerate((["0.001", 10, "SEED", 6], ["0.01", 10, "SEED", 5],
                                   ["0.001", 10, "NONSCALING", "SEED", 5], ["0.001", 10])):
            self.client("BF.RESERVE", f"b{i}", *other)
            self.refused("MISMATCH", "BF.MERGE", "a", f"b{i}", text="same error_rate and SEED")
            self.refused("MISMATCH", "BF.MERGE", "new", "a", f"b{i}")
        self.refused("ERR", "BF.MERGE", "a", "a", text="source 'a' is the destination")
        self.refused("ERR", "BF.MERGE", "a", "b0", "b0", text="source 'b0' is named twice")
        self.client("BF.RESERVE", "f", "0.001", 10, "NONSCALING", "SEED", 5)
        self.client("BF.RESERVE", "g", "0.001", 10, "NONSCALING", "SEED", 5)
        self.client("BF.MADD", "f", *range(8))
        self.client("BF.MADD", "g", *range(10, 18))
        self.refused("FULL", "BF.MERGE", "f", "g",
                     text="reserve filters that will be merged with a capacity for the items of all")


class Chunks(Case):
    """With chunks so small that a filter of a few thousand items has several."""

    SETTINGS = {"loadmodule": SMALL_CHUNKS}
    SIZE = 4096

    def dump(self, key):
        chunks, iterator = [], 0
        while True:
            iterator, data = self.client("BF.SCANDUMP", key, iterator)
            if iterator == 0:
                self.assertEqual(data, b"")
                return chunks
            self.assertLessEqual(len(data), self.SIZE)
            self.assertLess(iterator, 1 << 53)
            chunks.append((iterator, data))

    def filled(self, n=6000):
        self.client("BF.RESERVE", "k", "0.001", 1000, "EXPANSION", 3, "SEED", 9)
        self.client("BF.MADD", "k", *range(n))
        return self.dump("k")

    def test_moved(self):
        for n in (0, 1, 100, 6000):
            self.client("FLUSHALL")
            self.client("BF.RESERVE", "k", "0.001", 1000, "EXPANSION", 3)
            if n:
                self.client("BF.MADD", "k", *range(n))
            chunks = self.dump("k")
            self.assertEqual(len(chunks) > 2, n == 6000)
            for iterator, data in chunks:
                self.assertEqual(self.client("BF.LOADCHUNK", "t", iterator, data), b"OK")
            self.assertEqual(*self.client("DEBUG", "DIGEST-VALUE", "k", "t"))
            self.assertEqual(self.client("BF.INFO", "k", "CAPACITY"),
                             self.client("BF.INFO", "t", "CAPACITY"))
            absent = [f"none {i}" for i in range(2000)]
            self.assertEqual(self.client("BF.MEXISTS", "k", *range(n), *absent),
                             self.client("BF.MEXISTS", "t", *range(n), *absent))
            self.assertEqual(self.dump("t"), chunks)

    def test_half_is_none(self):
        chunks = self.filled()
        self.client("BF.LOADCHUNK", "t", *chunks[0])
        for command in (["BF.EXISTS", "t", 1], ["BF.MEXISTS", "t", 1], ["BF.ADD", "t", 1],
                        ["BF.MADD", "t", 1], ["BF.INSERT", "t", "ITEMS", 1], ["BF.DEL", "t", 1],
                        ["BF.CARD", "t"], ["BF.INFO", "t"], ["BF.SCANDUMP", "t", 0],
                        ["BF.RESERVE", "t", "0.1", 9], ["BF.MERGE", "k", "t"]):
            self.refused("BADDATA", *command, text="being restored")
        # The unfinished filter is saved, and the rest may follow later.
        digest = self.client("DEBUG", "DIGEST")
        self.client("DEBUG", "RELOAD")
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)
        for chunk in chunks[1:]:
            self.client("BF.LOADCHUNK", "t", *chunk)
        self.assertEqual(*self.client("DEBUG", "DIGEST-VALUE", "k", "t"))

    def test_out_of_order(self):
        chunks = self.filled()
        self.refused("ERR", "BF.LOADCHUNK", "t", *chunks[1], text="not found")
        self.client("BF.LOADCHUNK", "t", *chunks[0])
        self.refused("ERR", "BF.LOADCHUNK", "t", *chunks[2], text="received bad data")
        self.refused("ERR", "BF.LOADCHUNK", "t", chunks[2][0], chunks[1][1], text="bad data")
        self.client("BF.LOADCHUNK", "t", *chunks[0])  # starts again
        for chunk in chunks[1:]:
            self.client("BF.LOADCHUNK", "t", *chunk)
        self.assertEqual(*self.client("DEBUG", "DIGEST-VALUE", "k", "t"))
        self.refused("ERR", "BF.LOADCHUNK", "t", *chunks[1], text="received bad data")

    def test_damaged(self):
        chunks = self.filled(100)
        (iterator, data), = chunks
        self.client("BF.ADD", "t", "as it was")
        for end in range(0, len(data), 7):
            self.refused("ERR", "BF.LOADCHUNK", "t", iterator, data[:end], text="received bad data")
        for at in range(0, len(data), 3):
            changed = bytearray(data)
            changed[at] ^= 1 << at % 8
            self.refused("ERR", "BF.LOADCHUNK", "t", iterator, bytes(changed), text="bad data")
        for wrong in (0, -1, 1, iterator + 1, iterator ^ 1 << 30, 1 << 62):
            self.refused("ERR", "BF.LOADCHUNK", "t", wrong, data, text="received bad data")
        self.refused("ERR", "BF.LOADCHUNK", "t", iterator, data + b"x", text="received bad data")
        self.assertEqual(self.client("BF.EXISTS", "t", "as it was"), 1)
        self.client("BF.LOADCHUNK", "t", iterator, data)  # replaces the filter
        self.assertEqual(*self.client("DEBUG", "DIGEST-VALUE", "k", "t"))

    def test_changed_meanwhile(self):
        chunks = self.filled()
        first, _ = self.client("BF.SCANDUMP", "k", 0)
        self.client("BF.ADD", "k", "new")
        self.refused("ERR", "BF.SCANDUMP", "k", first, text="begin again at 0")
        later = self.dump("k")
        self.assertEqual(len(later), len(chunks))
        # Mixed chunks from before and after a change.
        self.client("BF.LOADCHUNK", "t", *chunks[0])
        for chunk in later[1:-1]:
            self.client("BF.LOADCHUNK", "t", *chunk)
        reply = self.client.ask("BF.LOADCHUNK", "t", *later[-1])
        self.assertEqual(str(reply), "ERR received bad data")
        self.assertEqual(self.client("EXISTS", "t"), 0)
        # How to dump a filter that is being written.
        self.client("COPY", "k", "copy")
        first, data = self.client("BF.SCANDUMP", "copy", 0)
        self.client("BF.ADD", "k", "newer")
        self.assertEqual(self.client("BF.SCANDUMP", "copy", first), list(later[1]))

    def test_to_replicas(self):
        """One of the replicas has no commands BF.*"""
        chunks = self.filled()
        with Server(**self.SETTINGS) as other, \
                Server(**self.SETTINGS, **{"bloomery.bf": "no"}) as silent:
            for server in (other, silent):
                self.follow(server)
            for number, chunk in enumerate(chunks):
                self.client("BF.LOADCHUNK", "t", *chunk)
                if number == 0:
                    self.same_on(other, silent)
            self.client("BF.LOADCHUNK", "u", *chunks[0])
            self.same_on(other, silent)
            # A replica returns the same chunks as its primary.
            self.assertEqual(other.client("BF.SCANDUMP", "k", chunks[0][0]), list(chunks[1]))
            self.assertIsInstance(silent.client.ask("BF.SCANDUMP", "k", 0), Error)

    def test_of_other_sizes(self):
        """A filter that is one chunk of the real module is also accepted here, if it fits."""
        (iterator, data), = self.filled(100)
        with Server() as other:
            other.client("BF.LOADCHUNK", "k", iterator, data)
            self.assertEqual(other.client("DEBUG", "DIGEST-VALUE", "k"),
                             self.client("DEBUG", "DIGEST-VALUE", "k"))


class Names(Case):
    """`bf auto|yes|no`, with another module that already has BF.ADD."""

    SETTINGS = {"loadmodule": TAKEN}

    def setUp(self):
        super().setUp()
        if any(b"bloomery" in module for module in self.client("MODULE", "LIST")):
            self.fail("the server has our module from another test")

    def with_both(self, *arguments):
        """A server with both modules, ours loaded with these arguments."""
        server = self.enterContext(Server(loadmodule=TAKEN))
        reply = server.client.ask("MODULE", "LOAD", server_runner.MODULE, *arguments)
        return server, reply

    def test_auto_and_no_leave_them(self):
        for arguments in ((), ("bf", "auto"), ("BF", "no")):
            server, reply = self.with_both(*arguments)
            self.assertEqual(reply, b"OK")
            client = server.client
            self.assertEqual(client("BF.ADD", "k", "a"), 42)
            self.assertIn("unknown command", str(client.ask("BF.EXISTS", "k", "a")))
            self.assertEqual(client("MAP.SET", "m", "a", "1"), [1])
            chosen = arguments[1] if arguments else "auto"
            self.assertEqual(client("CONFIG", "GET", "bloomery.bf"),
                             [b"bloomery.bf", chosen.encode()])
            said = "another module has BF.ADD: bloomery does not register the commands BF.*"
            self.assertEqual(said in server.log, chosen == "auto")

    def test_yes_wants_them(self):
        server, reply = self.with_both("bf", "yes")
        self.assertIsInstance(reply, Error)
        self.assertIn("bf yes: another module has BF.ADD", server.log)
        self.assertEqual(server.client("BF.ADD", "k", "a"), 42)
        self.assertIsInstance(server.client.ask("MAP.SET", "m", "a", "1"), Error)
        # A refused load leaves nothing behind that would break the next one.
        self.assertEqual(server.client("MODULE", "LOAD", server_runner.MODULE, "bf", "auto"), b"OK")
        self.assertEqual(server.client("MAP.SET", "m", "a", "1"), [1])
        self.assertEqual(server.client("BF.ADD", "k", "a"), 42)

    def test_wrong_arguments(self):
        for text, *arguments in (
                ("bf needs a value", "bf"), ("bf 'perhaps' is not auto", "bf", "perhaps"),
                ("unknown module argument 'fast'", "fast", "yes"),
                ("unknown module argument 'more'", "bf", "no", "more"),
                ("INITIAL_SIZE '0' is not a whole number", "INITIAL_SIZE", "0"),
                ("ERROR_RATE '1' is not a number from", "ERROR_RATE", "1"),
                ("ERROR_RATE needs a value", "INITIAL_SIZE", 5, "error_rate")):
            reply = self.client.ask("MODULE", "LOAD", server_runner.MODULE, *arguments)
            self.assertIsInstance(reply, Error, arguments)
            self.assertIn(text, self.server.log)

    def test_arguments_of_redisbloom(self):
        for line in ("INITIAL_SIZE 200 ERROR_RATE 0.02", "error_rate 0.02 bf no initial_size 200 bf yes",
                     "bf-error-rate 0.02 bf-initial-size 200 bf-expansion-factor 3 "
                     "CF_MAX_EXPANSIONS 16"):
            client = self.enterContext(
                Server().configure(f"loadmodule {server_runner.MODULE} {line}")).client
            client("BF.ADD", "k", "a")
            factor = 3 if "factor" in line else 2
            self.assertEqual((client("BF.INFO", "k", "CAPACITY"), client("BF.INFO", "k", "EXPANSION")),
                             ([200], [factor]), line)
            self.assertIn(b"ratio:0.02", client("BF.DEBUG", "k")[1])
            self.assertEqual(client("CONFIG", "GET", "*bf-error-rate")[1], b"0.02")
            # A setting in the configuration file overrides the argument.
            client("CONFIG", "SET", "bloomery.bf-error-rate", "0.05")
            client("BF.ADD", "other", "a")
            self.assertIn(b"ratio:0.05", client("BF.DEBUG", "other")[1])

    def test_in_a_configuration(self):
        for lines, there in ((f"loadmodule {server_runner.MODULE} bf no", False),
                             (f"loadmodule {server_runner.MODULE} bf yes", True),
                             (f"loadmodule {server_runner.MODULE}\nbloomery.bf no", False),
                             (f"loadmodule {server_runner.MODULE} bf no\nbloomery.bf yes", True)):
            server = self.enterContext(Server().configure(lines))
            reply = server.client.ask("BF.ADD", "k", "a")
            self.assertEqual(reply == 1, there, (lines, reply))


class PythonClient(Case):
    """Every method of python3-redis's .bf()."""

    def setUp(self):
        super().setUp()
        try:
            import redis
        except ImportError:
            self.skipTest("python3-redis is not installed")
        connection = redis.Redis("127.0.0.1", self.server.port)
        self.addCleanup(connection.close)
        self.bf = connection.bf()

    def test_all_methods(self):
        bf = self.bf
        self.assertTrue(bf.create("a", 0.01, 1000))
        self.assertTrue(bf.create("b", 0.01, 1000, expansion=4))
        self.assertTrue(bf.create("c", 0.0001, 2, noScale=True))
        self.assertEqual((bf.add("a", "x"), bf.add("a", "x")), (1, 0))
        self.assertEqual(bf.madd("a", "x", "y"), [0, 1])
        self.assertEqual((bf.exists("a", "x"), bf.exists("a", "z")), (1, 0))
        self.assertEqual(bf.mexists("a", "x", "z", "y"), [1, 0, 1])
        self.assertEqual(bf.insert("a", ["y", "z"], noCreate=True), [0, 1])
        self.assertEqual(bf.insert("d", ["x", "y"], capacity=50, error=0.001, expansion=3), [1, 1])
        self.assertEqual(bf.insert("e", ["x"], capacity=50, noScale=True), [1])
        reply = bf.madd("c", "x", "y", "z")
        self.assertEqual(reply[:2], [1, 1])
        self.assertIn("non scaling filter is full", str(reply[2]))
        info = bf.info("d")
        self.assertEqual((info.capacity, info.filterNum, info.insertedNum, info.expansionRate),
                         (50, 1, 2, 3))
        self.assertGreater(info.size, 0)
        self.assertIsNone(bf.info("c").expansionRate)
        if hasattr(bf, "card"):
            self.assertEqual(bf.card("d"), 2)
        self.assertEqual(
            {name for name in dir(type(bf).__mro__[1]) if not name.startswith("_")} - {"card"},
            {"create", "reserve", "add", "madd", "insert", "exists", "mexists", "scandump",
             "loadchunk", "info"} & set(dir(bf)))

    def test_dump(self):
        from redis.commands.bf import commands
        if getattr(commands, "HIREDIS_AVAILABLE", False):
            self.skipTest("the client refuses this where hiredis is installed")
        self.bf.create("k", 0.0001, 1000)
        self.bf.madd("k", *range(1000))
        chunks, iterator = [], 0
        while True:
            iterator, data = self.bf.scandump("k", iterator)
            if iterator == 0:
                break
            chunks.append((iterator, data))
        digest = self.client("DEBUG", "DIGEST-VALUE", "k")
        self.client("DEL", "k")
        for iterator, data in chunks:
            self.assertEqual(self.bf.loadchunk("k", iterator, data), b"OK")
        self.assertEqual(self.client("DEBUG", "DIGEST-VALUE", "k"), digest)


server_runner.main()
