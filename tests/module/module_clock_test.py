"""Objects that use the server's clock, after the clock was in the future and came back. An
append-only file provides that time, since its commands carry theirs."""

import time

import server_runner
from server_runner import Case, pairs

AHEAD = 3600_000


class Clock(Case):
    SETTINGS = {"appendonly": "yes"}

    def ahead(self, command, key):
        return pairs(self.client(command, key))[b"ahead_ms"]

    def test_ahead(self):
        self.client("WINDOW.CREATE", "w", "WINDOW", "1ms")
        self.client("WINDOW.CREATE", "events", "WINDOW", "1h", "EVENTTIME", "SKEW", "1h")
        self.client("ONCE.CREATE", "g", "WINDOW", "1ms")
        self.client("COUNTER.CREATE", "t", "WINDOW", "1ms")
        self.client("WINDOW.ADD", "w", "a")
        self.client("ONCE", "g", "a", "INCR", "n")
        self.client("COUNTER.INCRBY", "t", "c", 1, "a")
        asked = (("WINDOW.INFO", "w"), ("WINDOW.INFO", "g"), ("ONCE.INFO", "g"),
                 ("COUNTER.INFO", "t"))
        for command, key in asked:
            self.assertEqual(self.ahead(command, key), 0)
        future = int(time.time() * 1000) + AHEAD
        self.server.replay(["WINDOW.ADVANCE", "w", "AT", future],
                           ["WINDOW.ADVANCE", "g", "AT", future],
                           ["WINDOW.INSERT", "events", "AT", future, "ITEMS", "a"],
                           ["BLOOMERY.COUNTER.TOUCH", "t", future, 0])
        for command, key in asked:
            before = int(time.time() * 1000)
            ahead = self.ahead(command, key)
            self.assertLessEqual(ahead, future - before)
            self.assertGreater(ahead, 0)
        self.assertEqual(self.ahead("WINDOW.INFO", "events"), 0)  # the clock is not used there

        # Nothing added now expires early, however short the window.
        self.assertEqual(self.client("WINDOW.ADD", "w", "b"), [1])
        self.assertEqual(self.client("ONCE", "g", "b", "INCR", "n"), [1, 2])
        self.assertEqual(self.client("COUNTER.INCRBY", "t", "c", 1, "b"), [[2, 1]])
        time.sleep(0.02)
        self.assertEqual(self.client("WINDOW.ADD", "w", "b"), [0])
        self.assertEqual(self.client("ONCE", "g", "b", "INCR", "n"), [0, None])
        self.assertEqual(self.client("COUNTER.INCRBY", "t", "c", 1, "b"), [[2, 0]])
        # The remedies.
        self.assertEqual(self.client("WINDOW.DEL", "w", "b"), [1])
        self.assertEqual(self.client("WINDOW.ADD", "w", "b"), [1])
        self.client("DEL", "w")
        self.client("WINDOW.CREATE", "w", "WINDOW", "1ms")
        self.client("WINDOW.ADD", "w", "a")
        self.assertEqual(self.ahead("WINDOW.INFO", "w"), 0)


server_runner.main()
