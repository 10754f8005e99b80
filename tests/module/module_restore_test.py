"""*.LOAD, of which an append-only file consists after a rewrite: loaded by servers, refused from
clients."""

import contextlib
import unittest

import server_runner
from payloads import contents
from server_runner import Case, Server

# A key of every type: its restore command, commands that make it, and a query.
KINDS = {
    "BLOOMERY.MAP.LOAD": ((["MAP.SET", "k", "a", "1", "b", "2"],), ["MAP.GET", "k", "a"]),
    "BLOOMERY.WINDOW.LOAD": ((["WINDOW.CREATE", "k", "WINDOW", "1h"], ["WINDOW.ADD", "k", "a"]),
                             ["WINDOW.EXISTS", "k", "a"]),
    "BLOOMERY.COUNTER.LOAD": ((["COUNTER.CREATE", "k", "WINDOW", "1h"],
                               ["COUNTER.INCRBY", "k", "a", 5, "id"]), ["COUNTER.GET", "k", "a"]),
    "BLOOMERY.INDEX.LOAD": ((["INDEX.CREATE", "k"], ["INDEX.ADD", "k", 3, "a"]), ["INDEX.LOCATE", "k", "a"]),
    "BLOOMERY.FILTER.LOAD": ((["BF.ADD", "k", "a"],), ["BF.EXISTS", "k", "a"]),
}


class Pieces(Case):
    SETTINGS = {"rdbcompression": "no"}

    def payload(self, load):
        """The payload of such a key in the append-only file, and the key's digest."""
        self.client("FLUSHALL")
        for command in KINDS[load][0]:
            self.client(*command)
        return contents(self.client("DUMP", "k")), self.client("DEBUG", "DIGEST-VALUE", "k")

    def loaded(self, *commands, **settings):
        """A server that has loaded an append-only file of these commands."""
        server = Server(**settings)
        self.addCleanup(server.__exit__)
        server.write_log(*commands)
        server.start()
        self.assertEqual(server.complaints(), "")
        return server

    def test_from_a_log(self):
        for load, (_, asks) in KINDS.items():
            payload, digest = self.payload(load)
            pieces = [[load, "k", at, payload[at:at + 100]] for at in range(0, len(payload), 100)]
            pieces[-1].append("LAST")
            server = self.loaded([load, "k", 0, "begun and given up"], *pieces,
                                 [load, "half", 0, payload[:100]])
            client = server.client
            self.assertEqual(client("DEBUG", "DIGEST-VALUE", "k"), digest)
            self.assertEqual(client(*asks), self.client(*asks))
            # An unfinished key answers nothing, and is saved as it is.
            reply = client.ask(asks[0], "half", *asks[2:])
            self.assertEqual(reply.word, "BADDATA")
            self.assertIn("damaged, or still being restored", str(reply))
            before = client("DEBUG", "DIGEST")
            server.restart()
            self.assertEqual(server.client("DEBUG", "DIGEST"), before)
            server.client("COPY", "half", "copy")
            self.assertEqual(*server.client("DEBUG", "DIGEST-VALUE", "half", "copy"))
            self.assertNotIn("is refused", server.log)

    def bad_pieces(self, load, name):
        """Commands of a log that restore the key `name` and damage others; the names of those that
        are unfinished then; and commands on them that follow."""
        payload, _ = self.payload(load)
        bad = (b"", b"x", payload[:20], payload[:-1], payload + b"x",
               payload[:50] + b"?" + payload[51:])
        one, two, other = (f"{name} {i}" for i in "abc")
        damaged = [one, two, *(f"{name} {i}" for i in range(len(bad)))]
        commands = [
            [load, name, 0, payload, "LAST"], [load, name, 0, "x"], [load, one, 5, "x"],
            [load, two, 0, "xx"], [load, two, 1, "x"], ["SET", other, "x"], [load, other, 0, "x"],
            ["DEL", other], [load, one, "first", "x"], [load, one, -1, "x"],
            [load, one, 0, "x", "END"],
            *([load, f"{name} {i}", 0, each, "LAST"] for i, each in enumerate(bad))]
        later = [[command[0].replace("BF.", "BLOOMERY.FILTER."), key, *command[2:]]
                 for key in damaged for command in KINDS[load][0]]
        return commands + later, damaged

    def test_bad_pieces_that_are_kept(self):
        """They are reported in the server's log and do not affect other keys. A damaged key answers
        nothing, also if other commands on it follow in the log, until it is deleted."""
        log, damaged, digests = [], {}, {}
        for load in KINDS:
            commands, damaged[load] = self.bad_pieces(load, load)
            log += commands
            digests[load.encode()] = self.client("DEBUG", "DIGEST-VALUE", "k")
        server = self.loaded(*log, **{"bloomery.damaged-keys": "keep"})
        for text, times in (("the key already exists", 1), ("the first piece is missing", 1),
                            ("a piece is missing", 1), ("the key holds another type", 1),
                            ("the arguments are not", 3), (" is refused: ", 13),
                            ("as it was before this command", 2)):
            self.assertEqual(server.log.count(text), times * len(KINDS), text)
        for _ in range(2):
            client = server.client
            self.assertEqual({key: client("DEBUG", "DIGEST-VALUE", key) for key in digests}, digests)
            self.assertEqual(client("DBSIZE"), sum(map(len, damaged.values())) + len(KINDS))
            for load, (_, asks) in KINDS.items():
                for key in damaged[load]:
                    self.assertIn("BADDATA", str(client.ask(asks[0], key, *asks[2:])), (load, key))
            server.restart()
        server.client("DEL", *(key for keys in damaged.values() for key in keys))
        server.client("BGREWRITEAOF")
        self.wait_rewritten(server)
        del server.settings["bloomery.damaged-keys"]
        server.restart()
        self.assertEqual(sorted(server.client("KEYS", "*")), sorted(digests))

    def test_bad_pieces_stop_the_start(self):
        """The log names the key and says how to continue; the append-only file does not change."""
        for load in KINDS:
            payload, digest = self.payload(load)
            good = [load, "k", 0, payload, "LAST"]
            # Damaged payloads of every kind are in module_damaged_test.py.
            for bad, why in (([load, "t", 0, payload[:-1], "LAST"], "BADDATA"),
                             ([load, "t", 7, payload, "LAST"], "the first piece is missing")):
                server = Server()
                self.addCleanup(server.__exit__)
                log = server.write_log(good, bad, ["SET", "after", "x"])
                before = log.read_bytes()
                self.assertEqual(server.refuses(), 1, (load, why))
                family = load.split(".")[1].lower()
                self.assertRegex(server.log, f"append-only file is damaged: {family} 't' is refused: "
                                             f".*{why}.*bloomery.damaged-keys to keep")
                self.assertEqual(log.read_bytes(), before)
                self.assertEqual(server.complaints(), "")
            server.settings["bloomery.damaged-keys"] = "keep"
            server.start()
            self.assertEqual(sorted(server.client("KEYS", "*")), [b"after", b"k", b"t"])
            self.assertEqual(server.client("DEBUG", "DIGEST-VALUE", "k"), digest)

    def test_other_payloads_stop_the_start(self):
        """INDEX.IMPORT and BLOOMERY.FILTER.CHUNK in an append-only file, damaged by one bit anywhere."""
        self.client("INDEX.CREATE", "i", "SEED", 1)
        self.client("INDEX.ADD", "i", 1, "a", "b")
        self.client("BF.MADD", "f", "a", "b")
        unit = self.client("INDEX.EXPORT", "i", 1)
        chunk = self.client("BF.SCANDUMP", "f", 0)
        self.assertEqual(self.loaded(["BLOOMERY.FILTER.CHUNK", "k", *chunk]).client("KEYS", "*"), [b"k"])

        def flipped(data, at):
            return data[:at] + bytes([data[at] ^ 4]) + data[at + 1:]
        create = ["INDEX.CREATE", "k", "SEED", 1]
        install, load = ["INDEX.IMPORT", "k", "5", unit], ["BLOOMERY.FILTER.CHUNK", "k", str(chunk[0]), chunk[1]]
        for family, *commands in (
                ("index", create, [*install[:3], flipped(unit, -9)]),
                ("index", create, [*install[:3], flipped(unit, 80)]),
                ("index", create, [*install[:2], "u", unit]),
                ("index", create, [*install, "x"]),
                ("index", create, ["BLOOMERY.INDEX.IMPORT", *install[1:3], flipped(unit, -9)]),
                ("index", create, install, install),
                ("index", create, install[:3]),
                ("index", install),
                ("filter", [*load[:3], flipped(load[3], -9)]),
                ("filter", [*load[:3], flipped(load[3], 3)]),
                ("filter", [*load[:2], f"x{load[2][1:]}", load[3]]),
                ("filter", [*load[:2], int(load[2]) ^ 2, load[3]]),
                ("filter", load[:3]),
                ("filter", ["SET", "k", "x"], load)):
            server = Server()
            self.addCleanup(server.__exit__)
            server.write_log(*commands)
            self.assertEqual(server.refuses(), 1, commands)
            self.assertRegex(server.log, f"append-only file is damaged: {family} 'k' is refused|"
                                         "wrong number of arguments for")  # Valkey 9 looks itself

    def test_units_without_folding(self):
        """What a primary without the memory to fold tables logs."""
        log = []
        for key in ("i", "j"):
            log.append(["INDEX.CREATE", key, "UNITS", 1, "CAPACITY", 1000, "SEED", 5])
            log += [["INDEX.ADD", key, unit, *(f"{unit} {j}" for j in range(1000))] for unit in range(6)]
            log += [["INDEX.DROP", key, unit] for unit in range(1, 5)]
        client = self.loaded(*log).client
        self.assertEqual(client("DUMP", "i"), client("DUMP", "j"))
        frame = client("INDEX.EXPORT", "i", 0)
        log += [["BLOOMERY.INDEX.DROP", "i", 0], ["INDEX.DROP", "j", 0]]
        client = self.loaded(*log).client
        self.assertNotEqual(client("DUMP", "i"), client("DUMP", "j"))
        self.assertEqual(client("INDEX.LOCATE", "i", "5 7", "0 7"), [[5], []])
        client = self.loaded(*log, ["BLOOMERY.INDEX.IMPORT", "i", 7, frame]).client
        self.assertEqual(client("INDEX.LOCATE", "i", "5 7", "0 7"), [[5], [7]])

    @unittest.skipIf(server_runner.PRELOAD, "the sanitizer needs more address space")
    def test_too_little_memory(self):
        """That is no damage: the server exits, whatever the setting says."""
        server = Server(**{"bloomery.damaged-keys": "keep"})
        self.addCleanup(server.__exit__)
        self.client("BF.RESERVE", "k", 1e-9, 1_000_000)
        for start in range(0, 1_000_000, 250_000):
            self.client("BF.MADD", "k", *range(start, start + 250_000))
        payload = contents(self.client("DUMP", "k"))
        keys = [f"k{i}" for i in range(4)]
        server.write_log(*(["BLOOMERY.FILTER.LOAD", key, 0, payload, "LAST"] for key in keys))
        for megabytes in range(70, 200, 4):  # at times the server fails first, and aborts
            server.address_space = megabytes << 20
            with contextlib.suppress(ConnectionError):  # also after it has started
                if server.refuses() is None:
                    self.assertEqual(server.client("EXISTS", *keys), len(keys))
                    break
            self.assertNotIn("is damaged", server.log)
        self.assertIsNone(server.process.poll(), "it never starts")
        self.assertIn("not enough memory to load filter 'k", server.log)

    def test_clients_have_a_limit(self):
        """One and a half times max-key-bytes, in whatever way they load a key; replicas and
        append-only files have no limit."""
        large = {
            "map": ["MAP.SET", "map", *(x for i in range(40000) for x in (i, i % 99))],
            "window": ["WINDOW.ADD", "window", *range(70_000)],
            "counter": ["COUNTER.INCRBY", "counter", *(x for i in range(25000)
                                                       for x in (i % 9, 1, i))],
            "index": ["INDEX.ADD", "index", 1, *range(50000)],
            "filter": ["BF.MADD", "filter", *range(100_000)],
        }
        self.client("WINDOW.CREATE", "window", "WINDOW", "1h", "CAPACITY", 70_000)
        self.client("COUNTER.CREATE", "counter", "WINDOW", "1h", "CAPACITY", 25000)
        self.client("INDEX.CREATE", "index", "SEED", 1)
        self.client("INDEX.CREATE", "other", "LIKE", "index")
        for command in large.values():
            self.client(*command)
        dumps = {key: self.client("DUMP", key) for key in large}
        unit, chunk = self.client("INDEX.EXPORT", "index", 1), self.client("BF.SCANDUMP", "filter", 0)
        self.client("CONFIG", "SET", "bloomery.max-key-bytes", "64kb")
        for key, dump in dumps.items():
            self.assertGreater(self.client("MEMORY", "USAGE", key), 110_000, key)
            self.assertIn("Bad data format", str(self.client.ask("RESTORE", "new", 0, dump)))
        self.refused("FULL", "INDEX.IMPORT", "other", 1, unit)
        self.assertEqual(self.client.ask("BF.LOADCHUNK", "new", *chunk).word, "FULL")
        self.assertEqual(self.client("EXISTS", "new"), 0)
        with Server(**{"bloomery.max-key-bytes": "64kb"}) as other:
            self.follow(other)  # from a snapshot
            self.client("CONFIG", "SET", "bloomery.max-key-bytes", "256mb")
            for key, dump in dumps.items():
                self.client("RESTORE", f"{key} again", 0, dump)
            self.client("INDEX.IMPORT", "other", 1, unit)
            self.client("BF.LOADCHUNK", "new", *chunk)
            self.same_on(other)


server_runner.main()
