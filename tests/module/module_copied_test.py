"""Commands that are replicated under another name, on a server that passes copies of the arguments
to modules (copied_arguments.c) and on one that does not: the same reaches replicas and logs."""

import os
import time

import server_runner
from server_runner import Case, Server

COPIED = os.path.join(os.path.dirname(server_runner.MODULE or ""), "copied-arguments.so")
SLOWER = "replicates BF.ADD, COUNTER.INCRBY and ONCE in a slower way"
HOUR = 3600_000


def copying(**settings):
    """A server that passes copies."""
    return Server(**settings).configure(f"loadmodule {COPIED} {server_runner.MODULE}")


class Copied(Case):
    SETTINGS = {"appendonly": "yes"}
    CREATE = (["ONCE.CREATE", "g", "WINDOW", "1h", "SEED", 1],
              ["COUNTER.CREATE", "c", "WINDOW", "1h", "SEED", 1],
              ["BF.RESERVE", "f", 0.01, 100, "SEED", 1])
    COMMANDS = (["BF.ADD", "f", "a"], ["BF.MADD", "f", "a", "b", "c"],
                ["COUNTER.INCRBY", "c", "n", 5, "id"], ["COUNTER.INCRBY", "c", "n", 5, "id"],
                ["COUNTER.INCRBY", "c", "n", 1, "id1", "m", 2, "id2"],
                ["ONCE", "g", "1", "INCR", "i"], ["ONCE", "g", "1", "INCR", "i"],
                ["ONCE", "g", "2", "SET", "s", "x", "EX", 1000], ["ONCE", "g", "3", "SADD", "t", "y"])
    NAMES = (b"BLOOMERY.FILTER.ADD", b"BLOOMERY.COUNTER.SAME", b"BLOOMERY.ONCE.APPLY", b"BLOOMERY.ONCE.DONE")

    def run_on(self, primary, replica):
        """Runs the commands while the keys' times stand still; returns what the append-only files
        of both then have of them."""
        future = int(time.time() * 1000) + HOUR
        for command in self.CREATE:
            primary.client(*command)
        log = primary.replay(["WINDOW.ADVANCE", "g", "AT", future],
                             ["BLOOMERY.COUNTER.TOUCH", "c", future, 0])
        self.follow(replica, primary)
        self.wait_rewritten(replica)
        before = log.stat().st_size
        replies = [primary.client(*command) for command in self.COMMANDS]
        self.assertEqual(primary.client("WAIT", 1, 60_000), 1)
        digest = primary.client("DEBUG", "DIGEST")
        self.assertEqual(replica.client("DEBUG", "DIGEST"), digest)
        (copy,) = (replica.path / "appendonlydir").glob("*.incr.aof")
        for server in (primary, replica):  # which completes its file
            server.restart()
            self.assertEqual(server.client("DEBUG", "DIGEST"), digest)
            self.assertEqual(server.complaints(), "")
        return replies, [log.read_bytes()[before:], copy.read_bytes()]

    def counts(self, log):
        return [log.count(name) for name in self.NAMES]

    def test_copies(self):
        with Server(**self.SETTINGS) as primary, Server(**self.SETTINGS) as replica:
            replies, logs = self.run_on(primary, replica)
            self.assertNotIn(SLOWER, primary.log)
        self.assertGreater(min(self.counts(logs[0])), 0)
        self.assertEqual(self.counts(logs[1])[2], 0)  # a replica logs the effect, and BLOOMERY.ONCE.DONE
        with copying(**self.SETTINGS) as primary, copying(**self.SETTINGS) as replica:
            same, copied = self.run_on(primary, replica)
            self.assertIn(SLOWER, primary.log)
        self.assertEqual(same, replies)
        for log, wanted in zip(copied, logs):
            self.assertEqual(self.counts(log), self.counts(wanted))
            for client_only in (b"BF.ADD", b"COUNTER.INCRBY", b"\r\nONCE\r\n"):
                self.assertNotIn(client_only, log)


server_runner.main()
