"""ONCE with plain INCRBY on a server that is killed under load, with an append-only file that is synced
before each reply: no acknowledged command is lost, and none is run twice, however often it is
retried.

    PROGRAM SERVER MODULE [PRELOAD]      3 rounds; more with BLOOMERY_CRASH_ROUNDS=n
"""

import module_counter_crash_test as counters
import server_runner


class Writer(counters.Writer):
    """One increment per command, because a command has one id."""

    def command(self, operations):
        (place, delta, number), = operations
        name = self.names[place]
        return ["ONCE", "g", f"{name} {number}", "INCRBY", name, delta]

    def fresh(self):
        return super().fresh()[:1]

    def settle(self, operations, reply, new=True):
        (place, delta, _), = operations
        self.sums[place] += delta if new else 0
        self.problems += reply != ([1, self.sums[place]] if new else [0, None])


class Crash(counters.Crash):
    writer = Writer

    def create(self):
        self.client("ONCE.CREATE", "g", "WINDOW", "7d", "SEED", 1)

    def values(self, names):
        return [int(value or 0) for value in self.client("MGET", *names)]


server_runner.main()
