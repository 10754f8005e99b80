"""What keys of every family must survive, for the *_persist_test.py files. Each of these has a class
that describes its family, which is mixed with the test classes here and with Case."""

import os
import random
import re

import server_runner
from server_runner import Error, Server


class Family:
    """What the class of a family defines; attributes with a value here are optional.

    family      its name in INFO bloomery
    load        the restore command in its append-only file
    keys        the names of the keys that fill() makes
    lasting     the one of them that has a time to live
    fill        function of a client: makes keys of all kinds, with a history
    go_on       function of a client: changes them further
    answers     function of a client: queries everything that must be the same elsewhere
    change(key) changes any key, or does nothing
    new         commands that make the key "k"
    asked       a command that queries this key, and
    absent      its reply if the key does not exist
    others      other settings for new keys, which must have no effect on these
    large()     makes keys larger than 128 kilobytes; returns their names
    """

    counted = ("keys", "items")  # what INFO bloomery counts and must not change
    by_clock = False  # whether the effect of a change depends on the clock

    def answers_same_on(self, *replicas):
        self.same_on(*replicas)
        for other in replicas:
            self.assertEqual(self.answers(other.client), self.answers(self.client))


class Kept(Family):
    """Tests of a family on a server with an append-only file, which a restart loads."""

    SETTINGS = {"appendonly": "yes", "appendfsync": "no", "repl-backlog-size": "64mb"}

    def totals(self):
        now = self.client.info("bloomery")
        return [now[f"bloomery_{self.family}_{name}"] for name in self.counted]

    def wait_freed(self):
        """In another thread, if the server's DEL is UNLINK."""
        self.wait_until(lambda: self.client.info("bloomery")[f"bloomery_{self.family}_bytes"] == 0,
                        "all is freed")

    def state(self):
        return self.client("DEBUG", "DIGEST"), self.answers(self.client), self.totals()

    def same_after(self, *actions):
        """Fills the server, and compares after each action."""
        self.wait_freed()
        self.fill(self.client)
        before = self.state()
        self.assertEqual(before[-1][0], len(self.keys))
        for action in actions:
            with self.subTest(action.__name__):
                action()
                self.assertEqual(self.state(), before)
                self.assertGreater(self.client("TTL", self.lasting), 9000)

    def test_copy(self):
        """A copy has the same bytes and its own memory, and behaves like the original."""
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

    # ---- moved and reloaded ------------------------------------------------------------------

    def test_moved_and_reloaded(self):
        self.same_after(self.restart_with_others, self.swap_move_rename, self.migrate,
                        self.dump_restore, self.reload, self.restart_without)

    def restart_with_others(self):
        """The log has all parameters of what the settings of the time made."""
        self.addCleanup(self.server.settings.update, dict(self.server.settings))
        self.server.settings |= self.others
        self.server.restart()

    def restart_without(self):
        for name in self.others:
            del self.server.settings[name]
        self.server.restart()

    def swap_move_rename(self):
        self.client("SWAPDB", 0, 1)
        self.client("SELECT", 1)
        for key in self.keys:
            self.client("MOVE", key, 0)
        self.client("SELECT", 0)
        for key in self.keys:
            self.client("RENAME", key, "elsewhere")
            self.client("RENAME", "elsewhere", key)

    def dump_restore(self):
        for key in self.keys:
            dump, ttl = self.client("DUMP", key), max(0, self.client("PTTL", key))
            self.client("DEL", key)
            self.client("RESTORE", key, ttl, dump)

    def reload(self):
        self.client("DEBUG", "RELOAD")

    def migrate(self):
        """To another server and back; only one of them has the keys at a time."""
        wait = server_runner.PATIENCE * 1000
        digest = self.client("DEBUG", "DIGEST")
        with Server() as other:
            self.client("MIGRATE", "127.0.0.1", other.port, "", 0, wait, "KEYS", *self.keys)
            self.assertEqual(self.client("DBSIZE"), 0)
            self.assertEqual(other.client("DEBUG", "DIGEST"), digest)
            other.client("SET", "none", "of ours")
            reply = self.client.ask("MIGRATE", "127.0.0.1", other.port, "none", 0, wait)
            self.assertEqual(reply, b"NOKEY")
            other.client("DEL", "none")
            # A server without an append-only file keeps them in its snapshot.
            other.client("SAVE")
            self.restarts_as_it_is(other)
            other.client("MIGRATE", "127.0.0.1", self.server.port, "", 0, wait, "KEYS", *self.keys)
            self.assertEqual(other.client("DBSIZE"), 0)
            self.assertEqual(other.complaints(), "")

    # ---- a server with an older module -------------------------------------------------------

    def test_an_older_module(self):
        if not os.path.exists(server_runner.OLDER_MODULE):
            self.skipTest("bloomery_older is not built")
        self.older = self.enterContext(Server(loadmodule=server_runner.OLDER_MODULE))
        self.refusals = 0
        self.same_after(self.restore_there, self.migrate_there, self.replica_there,
                        self.snapshot_there)

    def refused_there(self, at_least=1):
        """The server with the older module has logged that many more refusals."""
        lines = re.findall(r"has encoding \d+, but this module reads only up to \d+: load a newer "
                           "module", self.older.log)
        self.assertGreaterEqual(len(lines), self.refusals + at_least, self.older.log[-3000:])
        self.refusals = len(lines)
        self.assertEqual(self.older.complaints(), "")

    def restore_there(self):
        """RESTORE returns an error and logs why; no key is created, and an existing one is
        unchanged."""
        there = self.older.client
        for key in self.keys:
            payload = self.client("DUMP", key)
            for exists in (False, True):
                if exists:
                    there("SET", key, "of theirs")
                reply = there.ask("RESTORE", key, 0, payload, "REPLACE")
                self.assertIsInstance(reply, Error)
                self.assertIn("Bad data format", str(reply))
                self.assertEqual(there("GET", key), b"of theirs" if exists else None)
        self.refused_there(2 * len(self.keys))

    def migrate_there(self):
        """MIGRATE does not delete a key that the target refuses."""
        for key in self.keys:
            reply = self.client.ask("MIGRATE", "127.0.0.1", self.older.port, key, 0,
                                    server_runner.PATIENCE * 1000, "REPLACE")
            self.assertIsInstance(reply, Error)
        self.refused_there(len(self.keys))

    def replica_there(self):
        """It does not load a part: the server exits and logs why."""
        self.older.client("REPLICAOF", "127.0.0.1", self.server.port)
        code = self.older.process.wait(server_runner.PATIENCE)
        self.assertGreaterEqual(code, 0, "it ended by a signal")
        self.refused_there()

    def snapshot_there(self):
        """The server does not start and does not change the file. It exits with 1, or with 0 if its
        own check of the file, which ignores modules, finds no error."""
        self.save()
        snapshot = (self.server.path / "dump.rdb").read_bytes()
        (self.older.path / "dump.rdb").write_bytes(snapshot)
        self.assertIn(self.older.refuses(), (0, 1))
        self.refused_there()
        self.assertEqual((self.older.path / "dump.rdb").read_bytes(), snapshot)

    # ---- the log and replicas ----------------------------------------------------------------

    def log(self):
        return b"".join(path.read_bytes() for path in
                        sorted((self.server.path / "appendonlydir").glob("*.aof")))

    def test_rewrite_and_restart(self):
        def rewrite_and_restart():
            self.rewrite()
            self.server.restart()
        for preamble in ("yes", "no"):
            self.client("FLUSHALL")
            self.client("CONFIG", "SET", "aof-use-rdb-preamble", preamble)
            self.same_after(rewrite_and_restart)
            if preamble == "no":
                self.assertIn(self.load.encode(), self.log())
            # Loaded keys behave like others: this is replayed on loaded keys, and then on keys made
            # in another way.
            for kill in (False, True):
                self.go_on(self.client)
                self.restarts_as_it_is(kill=kill)

    def test_replica(self):
        """Full synchronisation, every command from the creation on, and a broken link, which
        resumes where it stopped, however much was written meanwhile."""
        self.fill(self.client)
        with Server(**self.others, **{"bloomery.max-key-bytes": "64kb"}) as other:
            self.follow(other)
            self.answers_same_on(other)
            self.go_on(self.client)
            self.answers_same_on(other)
            self.client("DEL", *self.keys)
            self.fill(self.client)
            self.answers_same_on(other)
            for key in self.large():  # larger than this replica allows its own clients
                self.assertGreater(self.client("MEMORY", "USAGE", key), 2 * 65536)
                self.client("RESTORE", f"{key} again", 0, self.client("DUMP", key))
            self.answers_same_on(other)
            before = self.client.info("stats")
            self.client("CLIENT", "KILL", "TYPE", "REPLICA")
            self.go_on(self.client)
            self.wait_linked(other)
            self.answers_same_on(other)
            now = self.client.info("stats")
            self.assertGreater(now["sync_partial_ok"], before["sync_partial_ok"])
            self.assertEqual(now["sync_full"], before["sync_full"])


class ChangedAtRandom:
    """Random changes on keys small enough to reach every limit: the append-only file, a replica
    from the start and a later one have the same bytes as the primary.

    A class with these tests has COMMANDS, their number; command(source, there), the next one, where
    `there` is a dictionary of the existing keys; and OUTCOMES, pairs of a command and the first
    word of its reply ("done", or an error code) that must occur.
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
            self.assertEqual(self.server.complaints(), "")
        for outcome in self.OUTCOMES:
            self.assertGreater(said.get(outcome, 0), 0, f"{outcome} in {said}")
        self.restarts_as_it_is()

    def check(self, replicas):
        for server in replicas:
            self.wait_linked(server)
        self.same_on(*replicas)
