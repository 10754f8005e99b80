"""Counters stay right while replies are lost, nodes die and slots move.

    PROGRAM SERVER MODULE PRELOAD …

    BLOOMERY_ONCE_SECONDS     how long (default 34)
    BLOOMERY_ONCE_INCREMENTS  and how many at least (default 0), in at most about twice the time
    BLOOMERY_ONCE_CLIENTS     clients of each candidate (default 2)
    BLOOMERY_ONCE_PAUSE       seconds after each operation (default 0.02), so that the clients do not
                              take all processor time; three times that without WAIT, which is
                              there for comparison
    BLOOMERY_ONCE_SEED        another schedule

It prints the schedule, so that a failure can be repeated.
"""

import os
import threading
import time
import unittest
from collections import Counter

import cluster_runner
from fault_proxy import FaultPlan, Proxies
from once_experiment import (NODE_TIMEOUT, Counters, Observer, Once, Plain, ProxiedCluster,
                             Schedule, Worker, check, table)

SECONDS = float(os.environ.get("BLOOMERY_ONCE_SECONDS", "34"))
CLIENTS = int(os.environ.get("BLOOMERY_ONCE_CLIENTS", "2"))
PAUSE = float(os.environ.get("BLOOMERY_ONCE_PAUSE", "0.02"))
RUN = 300
INCREMENTS = int(os.environ.get("BLOOMERY_ONCE_INCREMENTS", "0"))
SEED = int(os.environ.get("BLOOMERY_ONCE_SEED", "1"))
RATES = {"request": 0.01, "reply": 0.01, "between": 0.005, "late_request": 0.001,
         "late_reply": 0.001}
TAGS = [str(i) for i in range(12)]
OPTIONS = {"window": 600, "parts": 12, "capacity": 10**5}


def say(*words):
    print(*words, flush=True)


class Load:
    """Clients of several candidates, and observers of their counters."""

    def __init__(self, tables):
        self.stop = threading.Event()
        self.workers = {name: [Worker(one, i, self.stop, TAGS, PAUSE if one.wait else 3 * PAUSE)
                               for i in range(CLIENTS)] for name, one in tables.items()}
        self.observers = {name: Observer(one, self.workers[name], self.stop)
                          for name, one in tables.items() if type(one) is Counters and one.wait}
        self.threads = [*self.observers.values(),
                        *(worker for workers in self.workers.values() for worker in workers)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join()


class ExactlyOnce(unittest.TestCase):
    def report(self, load, tables, plan, faults=()):
        """Prints and returns the outcome of each candidate."""
        outcomes = {}
        for name, workers in load.workers.items():
            outcome = outcomes[name] = check(workers, tables[name])
            times = sorted(t for worker in workers for t in worker.latencies) or [0]
            say(f"{name:14} acknowledged {outcome.acknowledged:7}  unknown {outcome.unknown:4}  "
                f"lost {len(outcome.lost):3}  doubled {len(outcome.doubled):3}  "
                f"median {times[len(times) // 2] * 1e6:.0f} us")
            self.assertEqual(outcome.problems, [], name)
        for name, observer in load.observers.items():
            say(f"{name:14} reads {observer.reads:7}  outside of [acknowledged, attempted] "
                f"{len(observer.wrong)}, not near a fault "
                f"{len(observer.gated(faults, NODE_TIMEOUT))}")
            self.assertEqual(observer.gated(faults, NODE_TIMEOUT), [], name)
            self.assertGreater(observer.reads, 0)
        say(f"faults on the wire: {dict(plan.done)}, retries {plan.retries()}")
        return outcomes

    def test_lost_replies(self):
        """Without other faults, plain increments double as often as a reply was lost."""
        plan = FaultPlan(SEED, request=0.02, reply=0.02, between=0.02)
        with Proxies(plan) as proxies, ProxiedCluster(proxies) as cluster:
            # Nothing is late here, so that a slow machine does not cause a retry.
            patient = OPTIONS | {"timeout": 60, "wait_for": 50}
            tables = {"compact": table(Counters, cluster, "c", **patient),
                      "fbf": table(Counters, cluster, "f", engine="fbf", **patient),
                      "once": table(Once, cluster, "o", **patient),
                      "plain": table(Plain, cluster, "p", wait=0, **patient)}
            with Load(tables) as load:
                time.sleep(SECONDS / 3)
            outcomes = self.report(load, tables, plan)
            for name in ("compact", "fbf", "once"):
                self.assertEqual((outcomes[name].lost, outcomes[name].doubled), ([], []), name)
            doubled = {name: value - 1 for name, value in outcomes["plain"].doubled}
            fields = {n for worker in load.workers["plain"] for n in worker.acknowledged}
            unheard = {name.decode(): count for name, count in plan.applied_unheard.items()
                       if name.decode() in fields and count}
            self.assertEqual(doubled, unheard)
            self.assertGreater(len(doubled), 0)
            self.assertEqual(outcomes["plain"].lost, [])

    def test_schedule(self):
        """A long test is several runs, each with its own seed and cluster. A run in which the cluster
        left the fault model by itself says nothing, so there is another one in its place."""
        total, runs, voids = Counter(), 0, 0
        while total["seconds"] < SECONDS or total["increments"] < INCREMENTS:
            runs += 1
            void = self.one_schedule(SEED + runs - 1, min(SECONDS, RUN), total)
            if void:
                voids += 1
                say(f"void: {void}")
            say(f"total without {voids} void of {runs} runs: {dict(total)}")
            self.assertLess(runs, 3 + 2 * SECONDS / RUN, "void, or slow, too often")

    def one_schedule(self, seed, seconds, total):
        """Why the run is void, or None. What was done in a run that is not void is added to total."""
        plan = FaultPlan(seed, **RATES)
        say(f"seed {seed}")
        with Proxies(plan) as proxies, ProxiedCluster(proxies) as cluster:
            tables = {"compact": table(Counters, cluster, "c", **OPTIONS),
                      "fbf": table(Counters, cluster, "f", engine="fbf", **OPTIONS),
                      "once": table(Once, cluster, "o", **OPTIONS),
                      "without wait": table(Counters, cluster, "w", wait=0, **OPTIONS),
                      "plain": table(Plain, cluster, "p", wait=0, **OPTIONS)}
            keys = [key for one in tables.values() for key in one.parts()]
            schedule = Schedule(cluster, seed, keys, say)
            with Load(tables) as load:
                schedule.run(seconds)
            self.assertEqual(cluster.complaints(), "")
            if schedule.stuck:
                return schedule.stuck
            plan.active = False
            time.sleep(plan.delay + 0.2)
            cluster.settle()
            outcomes = self.report(load, tables, plan, schedule.times)
            say(f"faults {dict(schedule.count)}, failovers {schedule.failovers}")
            if schedule.void:
                return schedule.void
            for name in ("compact", "fbf", "once"):
                self.assertEqual((outcomes[name].lost, outcomes[name].doubled), ([], []), name)
            total.update(seconds=round(seconds), retries=plan.retries(),
                         failovers=schedule.failovers, moves=schedule.count["move"],
                         increments=sum(outcome.acknowledged for outcome in outcomes.values()))
            return None


cluster_runner.main()
