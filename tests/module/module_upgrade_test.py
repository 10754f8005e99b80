"""A rolling upgrade as in doc/server.md, under load: the replica first, a failover, then the other
node. Between the module of the last commit and this one, and back.

    PROGRAM SERVER MODULE PRELOAD PREVIOUS      PREVIOUS: as scripts/previous-module builds it
"""

import contextlib
import os
import sys
import threading
import time

import server_runner
from server_runner import PATIENCE, Case, Client, Error, Server

PREVIOUS = sys.argv[4] if len(sys.argv) > 4 else ""
TABLES = (["COUNTER.CREATE", "c", "WINDOW", "1h"], ["ONCE.CREATE", "g", "WINDOW", "1h"],
          ["WINDOW.CREATE", "w", "WINDOW", "1h"], ["INDEX.CREATE", "i"],
          ["MAP.CREATE", "k", "ENGINE", "kbf", "CAPACITY", 1000])


class Writer(threading.Thread):
    """Sends operations to the primary, each again until it is acknowledged."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.done, self.ended = port, 0, threading.Event()

    def commands(self, n):
        return [["COUNTER.INCRBY", "c", n % 7, 1, f"id {n}"], ["ONCE", "g", n, "INCR", "total"],
                ["BF.ADD", "f", n], ["MAP.SET", "m", n, n % 9], ["MAP.SET", "k", n % 500, n % 9],
                ["WINDOW.ADD", "w", n], ["INDEX.ADD", "i", n % 3, n]]

    def send(self, n):
        """True if the primary, and a replica, have all of them."""
        with contextlib.suppress(OSError, ConnectionError):
            client = Client(self.port)
            try:
                replies = client.pipeline([*self.commands(n), ["WAIT", 1, 200]])
                return replies[-1] == 1 and not any(isinstance(one, Error) for one in replies)
            finally:
                client.close()
        return False

    def run(self):
        while not self.ended.is_set():
            if self.send(self.done):
                self.done += 1
            else:
                time.sleep(0.01)

    def finish(self):
        self.ended.set()
        self.join(PATIENCE)


class Upgrade(Case):
    SETTINGS = {"appendonly": "yes"}

    def setUp(self):
        if not os.path.exists(PREVIOUS):
            self.skipTest("there is no module of an earlier commit (scripts/previous-module)")

    def wait_caught_up(self, replica, primary):
        self.wait_linked(replica)
        self.wait_until(lambda: replica.client.info("replication")["slave_repl_offset"] + 100_000 >
                        primary.client.info("replication")["master_repl_offset"], "it has caught up")

    def replace_module(self, replica, primary, module):
        self.wait_rewritten(replica)
        replica.stop()
        replica.settings["loadmodule"] = module
        replica.start()
        replica.client("REPLICAOF", "127.0.0.1", primary.port)
        self.wait_caught_up(replica, primary)

    def fail_over(self, primary, replica):
        self.wait_until(lambda: primary.client.ask("FAILOVER", "TO", "127.0.0.1", replica.port) ==
                        b"OK", "the replica is online")
        self.wait_until(lambda: replica.client("ROLE")[0] == b"master", "the replica has taken over")
        self.wait_caught_up(primary, replica)

    def roll(self, before, after):
        settings = {**self.SETTINGS, "loadmodule": before}
        with Server(**settings) as one, Server(**settings) as two:
            for command in TABLES:
                one.client(*command)
            self.follow(two, one)
            writer = Writer(one.port)
            writer.start()
            self.wait_until(lambda: writer.done > 50, "the first operations")
            self.replace_module(two, one, after)
            self.wait_until(lambda: writer.done > 100, "operations on both modules")
            self.fail_over(one, two)
            writer.port = two.port
            self.wait_until(lambda: writer.done > 200, "operations on the new primary")
            self.replace_module(one, two, after)
            self.wait_until(lambda: writer.done > 300, "operations after the upgrade")
            writer.finish()
            n = writer.done
            self.check(two.client, n)
            self.wait_until(lambda: one.client.info("replication")["slave_repl_offset"] ==
                            two.client.info("replication")["master_repl_offset"], "all is there")
            digest = two.client("DEBUG", "DIGEST")
            self.assertEqual(one.client("DEBUG", "DIGEST"), digest)
            for server in (one, two):
                self.assertNotIn("sending an error", server.log)
                self.wait_rewritten(server)
                server.restart()
                self.assertEqual(server.client("DEBUG", "DIGEST"), digest)
                self.assertEqual(server.complaints(), "")
        print(f"{n} operations of each kind")

    def check(self, client, n):
        """All that was acknowledged was applied, and once; the last one may have been, too."""
        counted = sum(client("COUNTER.GET", "c", *range(7)))
        self.assertIn(counted, (n, n + 1))
        self.assertIn(int(client("GET", "total")), (n, n + 1))
        self.assertEqual(client("BF.MEXISTS", "f", *range(n)), [1] * n)
        self.assertEqual(client("WINDOW.EXISTS", "w", *range(n)), [1] * n)
        self.assertEqual(client("MAP.EXISTS", "m", *range(n)), [1] * n)

    def test_upgrade(self):
        self.roll(PREVIOUS, server_runner.MODULE)

    def test_downgrade(self):
        """Allowed as long as the encodings are the same."""
        self.roll(server_runner.MODULE, PREVIOUS)


server_runner.main()
