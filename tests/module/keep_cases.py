"""What keys of every family go through unchanged, for the *_keep_test.py files.

Each of these has a class that says what its family has, which is mixed with classes of tests from
here and with Case.
"""

import os
import random
import re
import struct

import server_runner
from payloads import contents, payload_of, resealed
from server_runner import Error, Server


class Family:
    """What the classes of a family say; those with a value need not.

    family      its name in INFO bloomery
    load        the command that its log is made of
    keys        the names of the keys that fill() makes
    lasting     the one of them that has a time to live
    fill        a function of a client that fills a server with all kinds of keys, with a history
    go_on       one that changes these further
    answers     one that asks for all that must be the same elsewhere
    change(key) changes any key, or leaves it alone
    new         commands that make the key "k"
    asked       one that asks this key, and
    absent      the reply when there is none
    others      settings of a replica that must not matter there
    large()     makes keys larger than 128 kilobytes; their names
    """

    counted = ("keys", "items")  # what INFO bloomery counts and must not change on the way
    by_clock = False  # whether what a change makes of a key depends on the moment


class MovedAndReloaded:
    def totals(self):
        now = self.client.info("bloomery")
        return [now[f"bloomery_{self.family}_{name}"] for name in self.counted]

    def wait_freed(self):
        """Aside, where a server's DEL is UNLINK."""
        self.wait_until(lambda: self.client.info("bloomery")[f"bloomery_{self.family}_bytes"] == 0,
                        "all is freed")

    def same_after(self, action):
        """Fills the server, carries the action out and compares."""
        self.wait_freed()
        self.fill(self.client)
        before, digest = self.answers(self.client), self.client("DEBUG", "DIGEST")
        totals = self.totals()
        self.assertEqual(totals[0], len(self.keys))
        action()
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)
        self.assertEqual(self.answers(self.client), before)
        self.assertEqual(self.totals(), totals)
        self.assertGreater(self.client("TTL", self.lasting), 9000)

    def test_copy(self):
        """It has the same bytes, its own memory, and goes on as the other does."""
        self.fill(self.client)
        for key in self.keys:
            self.client("COPY", key, "copy")
            digest, copied = self.client("DEBUG", "DIGEST-VALUE", key, "copy")
            self.assertEqual(copied, digest, key)
            usage = self.client("MEMORY", "USAGE", key)
            self.assertLess(abs(self.client("MEMORY", "USAGE", "copy") - usage),
                            8192 + usage // 4, key)
            self.change("copy")
            self.assertEqual(self.client("DEBUG", "DIGEST-VALUE", key), [digest], key)
            self.change(key)
            if not self.by_clock:
                self.assertEqual(*self.client("DEBUG", "DIGEST-VALUE", key, "copy"), key)
            self.client("DEL", key)
            self.change("copy")
            self.client("DEL", "copy")
        self.wait_freed()

    def test_expire(self):
        def make():
            return [self.client(*command) for command in self.new]
        replies = make()
        self.client("PEXPIRE", "k", 1)
        self.wait_until(lambda: self.client(*self.asked) == self.absent, "it is gone")
        self.assertEqual(make(), replies)
        self.assertNotEqual(self.client(*self.asked), self.absent)

    def test_freed_aside(self):
        for how in (["FLUSHALL", "ASYNC"], ["UNLINK", *self.keys], ["FLUSHDB", "ASYNC"]):
            self.fill(self.client)
            self.client(*how)
            self.wait_freed()
            info = self.client.info("bloomery")
            for name in ("keys", "items"):
                self.assertEqual(info[f"bloomery_{self.family}_{name}"], 0, how)

    def test_save_and_restart(self):
        def action():
            self.save()
            self.server.restart()
        self.same_after(action)
        self.client("FLUSHALL")
        self.save()

    def test_debug_reload(self):
        self.same_after(lambda: self.client("DEBUG", "RELOAD"))

    def test_swapdb_move_rename(self):
        def action():
            self.client("SWAPDB", 0, 1)
            self.client("SELECT", 1)
            for key in self.keys:
                self.client("MOVE", key, 0)
            self.client("SELECT", 0)
            for key in self.keys:
                self.client("RENAME", key, "elsewhere")
                self.client("RENAME", "elsewhere", key)
        self.same_after(action)

    def test_dump_restore(self):
        def action():
            for key in self.keys:
                dump, ttl = self.client("DUMP", key), max(0, self.client("PTTL", key))
                self.client("DEL", key)
                self.client("RESTORE", key, ttl, dump)
        self.same_after(action)

    def test_migrate(self):
        """To another server, which has them then and we do not; and back."""
        wait = server_runner.PATIENCE * 1000

        def action():
            digest = self.client("DEBUG", "DIGEST")
            with Server() as other:
                self.client("MIGRATE", "127.0.0.1", other.port, "", 0, wait, "KEYS", *self.keys)
                self.assertEqual(self.client("DBSIZE"), 0)
                self.assertEqual(other.client("DEBUG", "DIGEST"), digest)
                other.client("SET", "none", "of ours")
                reply = self.client.ask("MIGRATE", "127.0.0.1", other.port, "none", 0, wait)
                self.assertEqual(reply, b"NOKEY")
                other.client("DEL", "none")
                other.client("MIGRATE", "127.0.0.1", self.server.port, "", 0, wait, "KEYS",
                             *self.keys)
                self.assertEqual(other.client("DBSIZE"), 0)
                self.assertEqual(other.complaints(), "")
        self.same_after(action)

    # ---- servers with an older module --------------------------------------------------------
    # A server that cannot load what it must ends with 1, or with 0 where its own check of the file,
    # which knows nothing of modules, finds no fault.

    def older(self, **settings):
        if not os.path.exists(server_runner.OLDER_MODULE):
            self.skipTest("bloomery_older is not built")
        return Server(loadmodule=server_runner.OLDER_MODULE, **settings)

    def refused_by_older(self, log, at_least=1):
        lines = re.findall(r"has encoding \d+, but this module reads only up to \d+: load a newer "
                           "module", log)
        self.assertGreaterEqual(len(lines), at_least, log[-3000:])

    def test_restore_on_an_older_module(self):
        """An error, nothing in its place, the key of that name as it was, a line in the log."""
        def action():
            with self.older() as other:
                for key in self.keys:
                    payload = self.client("DUMP", key)
                    for there in (False, True):
                        if there:
                            other.client("SET", key, "of theirs")
                        reply = other.client.ask("RESTORE", key, 0, payload, "REPLACE")
                        self.assertIsInstance(reply, Error)
                        self.assertIn("Bad data format", str(reply))
                        self.assertEqual(other.client("GET", key), b"of theirs" if there else None)
                self.refused_by_older(other.log, 2 * len(self.keys))
                # What cannot be taken is not given away either.
                for key in self.keys:
                    reply = self.client.ask("MIGRATE", "127.0.0.1", other.port, key, 0,
                                            server_runner.PATIENCE * 1000, "REPLACE")
                    self.assertIsInstance(reply, Error)
                self.assertEqual(other.complaints(), "")
        self.same_after(action)

    def test_an_older_module_as_a_replica(self):
        """It does not take half of it: the server ends by itself, with a line that says why."""
        def action():
            with self.older() as other:
                other.client("REPLICAOF", "127.0.0.1", self.server.port)
                code = other.process.wait(server_runner.PATIENCE)
                self.assertGreaterEqual(code, 0, "it ended by a signal")
                self.refused_by_older(other.log)
                self.assertEqual(other.complaints(), "")
        self.same_after(action)

    def test_an_older_module_on_our_snapshot(self):
        """The server does not start, and leaves the file as it is."""
        def action():
            self.save()
            snapshot = (self.server.path / "dump.rdb").read_bytes()
            other = self.older()
            (other.path / "dump.rdb").write_bytes(snapshot)
            try:
                self.assertIn(other.refuses(), (0, 1))
                self.refused_by_older(other.log)
                self.assertEqual(other.complaints(), "")
                self.assertEqual((other.path / "dump.rdb").read_bytes(), snapshot)
            finally:
                other.stop()
                other.folder.cleanup()
        self.same_after(action)
        self.client("FLUSHALL")
        self.save()


class Logged(MovedAndReloaded):
    """The same on a server with a log, which is what a restart loads."""

    SETTINGS = {"appendonly": "yes", "appendfsync": "no"}

    def test_save_and_restart(self):
        self.same_after(self.server.restart)

    def log(self):
        return b"".join(path.read_bytes() for path in
                        sorted((self.server.path / "appendonlydir").glob("*.aof")))

    def test_rewrite_and_restart(self):
        def action():
            self.rewrite()
            self.server.restart()
        for preamble in ("yes", "no"):
            self.client("FLUSHALL")
            self.client("CONFIG", "SET", "aof-use-rdb-preamble", preamble)
            self.same_after(action)
            if preamble == "no":
                self.assertIn(self.load.encode(), self.log())
            # What was loaded goes on as what was not: this is replayed on loaded keys, and then on
            # keys that came to be another way.
            for kill in (False, True):
                self.go_on(self.client)
                digest = self.client("DEBUG", "DIGEST")
                self.server.restart(kill=kill)
                self.assertEqual(self.client("DEBUG", "DIGEST"), digest)


class Compared:
    def same_on(self, *replicas):
        self.caught_up(len(replicas))
        for other in replicas:
            self.assertEqual(other.client("DEBUG", "DIGEST"), self.client("DEBUG", "DIGEST"))
            self.assertEqual(self.answers(other.client), self.answers(self.client))
            self.assertNotIn("sending an error", other.log)
            self.assertEqual(other.complaints(), "")


class Replicated(Compared):
    def test_partial_resync(self):
        """A link that broke is taken up where it broke, however much was written meanwhile."""
        self.client("CONFIG", "SET", "repl-backlog-size", "64mb")
        self.fill(self.client)
        with Server() as other:
            self.follow(other)
            self.caught_up()
            before = self.client.info("stats")
            for _ in range(2):
                self.client("CLIENT", "KILL", "TYPE", "REPLICA")
                self.go_on(self.client)
                self.wait_linked(other)
            self.caught_up()
            now = self.client.info("stats")
            self.assertGreaterEqual(now["sync_partial_ok"], before["sync_partial_ok"] + 2)
            self.assertEqual(now["sync_full"], before["sync_full"])
            self.same_on(other)


class Followed(Compared):
    def test_every_way(self):
        """What is loaded as a whole, every command from the creation on, and a link that breaks."""
        self.fill(self.client)
        with Server(**self.others, **{"bloomery.max-key-bytes": "64kb"}) as other:
            self.follow(other)
            self.same_on(other)
            self.go_on(self.client)
            self.same_on(other)
            self.client("DEL", *self.keys)
            self.fill(self.client)
            self.same_on(other)
            for key in self.large():  # than this replica would let its own clients make one
                self.assertGreater(self.client("MEMORY", "USAGE", key), 2 * 65536)
                self.client("RESTORE", f"{key} again", 0, self.client("DUMP", key))
            self.same_on(other)
            self.client("CLIENT", "KILL", "TYPE", "REPLICA")
            self.go_on(self.client)
            self.wait_linked(other)
            self.same_on(other)


class Damaging:
    """Payloads that did not come whole. The server's own checksum is switched off for these.

    A class with these tests has `kind`, what the log calls a key ("a map"); small(engine), the
    payload of a small key made with one of the `engines`; and uses(key), commands that ask and
    change what such a payload made. Of 400 changes of one bit, fewer than `unnoticed` may pass. `notes` says whether such keys have one.
    """

    engines = ("compact",)
    unnoticed = 5
    notes = False  # whether keys of this type are saved with a note of the module's

    def setUp(self):
        super().setUp()
        self.client("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
        self.addCleanup(self.client, "DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 0)
        self.client("CONFIG", "SET", "rdbcompression", "no")
        self.addCleanup(self.client, "CONFIG", "SET", "rdbcompression", "yes")

    def payloads(self):
        for engine in self.engines:
            self.client("FLUSHALL")
            yield self.small(engine)

    def try_restore(self, payload):
        """Refused, or something that can be asked and changed."""
        reply = self.client.ask("RESTORE", "t", 0, payload)
        if isinstance(reply, Error):
            self.assertEqual(self.client("EXISTS", "t"), 0)
            return False
        for command in self.uses("t"):
            self.client.ask(*command)
        self.client("DEL", "t")
        return True

    def test_intact(self):
        for dump in self.payloads():
            self.assertTrue(self.try_restore(dump))

    def test_foreign_notes(self):
        """Bytes of somebody else that the key would lose, with right checksums."""
        for dump in self.payloads() if not self.notes else ():
            for note in (b"x", bytes(64), bytes(1000), bytes(100000)):
                forged = payload_of(dump, resealed(contents(dump), lambda frames, note=note:
                                                   [(b"NOTE", note), *frames]))
                self.assertFalse(self.try_restore(forged), note)
            self.assertIn("keys of this type have no note", self.server.log)

    def test_small_keys_under_the_lowest_limit(self):
        """Buffers that are larger are needed while a key is loaded, and are no part of it."""
        self.addCleanup(self.client, "CONFIG", "SET", "bloomery.max-key-bytes", "256mb")
        for dump in self.payloads():
            self.client("CONFIG", "SET", "bloomery.max-key-bytes", "64kb")
            self.assertTrue(self.try_restore(dump))
            self.client("CONFIG", "SET", "bloomery.max-key-bytes", "256mb")

    def test_truncated(self):
        for dump in self.payloads():
            for end in (*range(0, 100), *range(100, len(dump) - 10, 53)):
                self.assertFalse(self.try_restore(dump[:end] + dump[-10:]), end)
                self.assertFalse(self.try_restore(dump[:end]), end)
        self.assertIn(f"{self.kind} is refused", self.server.log)

    def test_flipped(self):
        """Every byte of a frame is under a checksum."""
        source = random.Random(7)
        for dump in self.payloads():
            taken = 0
            for _ in range(400):
                at = source.randrange(10, len(dump) - 10)  # past the type's name
                changed = bytearray(dump)
                changed[at] ^= 1 << source.randrange(8)
                taken += self.try_restore(bytes(changed))
            self.assertLess(taken, self.unnoticed)
        self.assertRegex(self.server.log, self.kind + r" is refused: .* at byte \d+ \(BADDATA\)")

    def test_newer_encoding(self):
        dump = bytearray(next(self.payloads()))
        # Type 7, a 64-bit length of which the low ten bits are the encoding.
        self.assertEqual((dump[0], dump[1]), (7, 0x81))
        module = struct.unpack(">Q", dump[2:10])[0]
        self.assertEqual(module & 1023, 1)
        dump[2:10] = struct.pack(">Q", module + 1)
        self.assertFalse(self.try_restore(bytes(dump)))
        self.assertIn("has encoding 2, but this module reads only up to 1", self.server.log)


def frames_in(dump):
    """The frames in the payload of a small key, written without compression."""
    start = dump.index(b"\x8bBRY\r\n\x1a\n")  # they begin with a magic
    # A string's length in 14 bits stands before it; what follows the frames is 0, the end of the
    # module's value, and the server's own ten bytes.
    size = struct.unpack(">H", dump[start - 2:start])[0] & 0x3fff
    return dump[start:start + size]


class ChangedAtRandom:
    """Changes at random, on keys small enough to meet every limit: the log, a replica that was
    there from the beginning, and one that came later have the same bytes as the master.

    A class with these tests has COMMANDS, how many; command(source, there), the next one, where
    `there` is a dictionary of the keys that exist; and OUTCOMES, pairs of a command and a word of
    its reply ("done", or an error's) that must be among them.
    """

    SETTINGS = {"appendonly": "yes", "appendfsync": "no", "bloomery.max-key-bytes": "64kb"}

    def test_random_changes(self):
        source, there, said = random.Random(4), {}, {}
        with Server() as first, Server() as second:
            replicas = [first]
            self.follow(first)
            for number in range(self.COMMANDS):
                name, *words = self.command(source, there)
                reply = self.client.ask(name, *words)
                word = reply.word if isinstance(reply, Error) else "done"
                said[name, word] = said.get((name, word), 0) + 1
                if name.endswith(".CREATE") and word == "RANGE":
                    del there[words[0]]
                if number == self.COMMANDS // 2:
                    self.follow(second)
                    replicas.append(second)
                if number % 50 == 0 or word == "FULL":
                    self.check(replicas)
            self.check(replicas)
            for server in (self.server, first, second):
                self.assertEqual(server.complaints(), "")
        for outcome in self.OUTCOMES:
            self.assertGreater(said.get(outcome, 0), 0, f"{outcome} in {said}")
        digest = self.client("DEBUG", "DIGEST")
        self.server.restart()
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)

    def check(self, replicas):
        for server in replicas:
            self.wait_linked(server)
        self.caught_up(len(replicas))
        for server in replicas:
            self.assertEqual(server.client("DEBUG", "DIGEST"), self.client("DEBUG", "DIGEST"))
