"""What keys of every family go through unchanged, for the *_keep_test.py files.

MovedAndReloaded: a class with these tests has `keys`, the names of its keys, and same_after(action),
which fills the server, carries the action out and compares.

Replicated: a class with these tests has `fill` and `go_on`, functions of a client that fill a server
and change it further, and `answers`, one that asks for all that must be the same elsewhere.
"""

import os
import re

import server_runner
from server_runner import Error, Server


class MovedAndReloaded:
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
        lines = re.findall(r"was written in encoding \d+, and this module reads up to \d+: load a "
                           "newer one", log)
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


class Replicated:
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
            self.assertEqual(other.client("DEBUG", "DIGEST"), self.client("DEBUG", "DIGEST"))
            self.assertEqual(self.answers(other.client), self.answers(self.client))
            self.assertNotIn("sending an error", other.log)
            self.assertEqual(other.complaints(), "")
