"""The check of cluster_once_test.py finds bugs: each of these is planted, and must be caught.

    window      replicas get the increments with other ids: a retry after a failover counts twice
    effect      replicas remember the ids and not the increments: they are lost in a failover
    early       a repeat is acknowledged before a replica has its first try
    elsewhere   WAIT is sent on another connection than the increment
"""

import copy
import os
import re
import threading
import unittest

import cluster_runner
from fault_proxy import FaultPlan, Proxies
from once_experiment import Counters, ProxiedCluster, Schedule, Worker, check, table

SECONDS = float(os.environ.get("BLOOMERY_ONCE_SECONDS", "300"))
PAUSE = 0.02  # as cluster_once_test.py has by default
TAGS = [str(i) for i in range(6)]


def other_ids(stream):
    return re.sub(rb"[0-9a-f](?=[0-9a-f]{31}-\d)", b"x", stream)


def no_increments(stream):
    return re.sub(rb"(?<=\r\n\$1\r\n)1(?=\r\n\$\d+\r\n[0-9a-f]{32}-)", b"0", stream)


class Early(Counters):
    def _try(self, key, operation, asked):
        reply, replicas = super()._try(key, operation, asked)
        if not isinstance(reply, Exception) and not any(applied for _, applied in reply):
            replicas = self.wait
        return reply, replicas


class Elsewhere(Counters):
    def _try(self, key, operation, asked):
        without = copy.copy(self)
        without.wait = 0
        reply, _ = Counters._try(without, key, operation, asked)
        pool = asked or self.nodes._pool(key)
        try:
            other = pool.make_connection()
            other.send_command("WAIT", 1, int(self.wait_for * 1000))
            return reply, other.read_response()
        except self.nodes.RETRIED:
            return reply, 0


class Planted(unittest.TestCase):
    def caught(self, what, kind=Counters, rewrite=None, actions=("kill", "lag")):
        """Faults until the check finds something."""
        plan = FaultPlan(1, reply=0.05, between=0.05)
        stop = threading.Event()
        with Proxies(plan, rewrite) as proxies, ProxiedCluster(proxies) as cluster:
            one = table(kind, cluster, "t", window=600, parts=6, capacity=10**5)
            workers = [Worker(one, i, stop, TAGS, PAUSE) for i in range(4)]
            for worker in workers:
                worker.start()
            found = None

            def enough():
                nonlocal found
                found = check(workers, one)
                return bool(getattr(found, what))
            try:
                Schedule(cluster, 1, one.parts(), lambda *_: None, actions=actions).run(
                    SECONDS, enough)
            finally:
                stop.set()
                for worker in workers:
                    worker.join()
        print(f"{self.id().rpartition('.')[2]}: {found.acknowledged} acknowledged, "
              f"{len(found.lost)} lost, {len(found.doubled)} doubled", flush=True)
        self.assertTrue(getattr(found, what))

    def test_window(self):
        self.caught("doubled", rewrite=other_ids)

    def test_effect(self):
        self.caught("lost", rewrite=no_increments)

    def test_early(self):
        self.caught("lost", Early, actions=("lag",))

    def test_elsewhere(self):
        self.caught("lost", Elsewhere, actions=("lag",))


cluster_runner.main()
