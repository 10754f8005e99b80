"""Distributed maps while their cluster changes: no answer is wrong or missing beyond the bound.

BLOOMERY_CLUSTER_PAIRS: pairs in each of three maps, 17,000 by default.
"""

import os
import signal
import threading

import cluster_runner
import map_agents
from cluster_runner import slot_of
from map_agents import UNSURE, Failed

PAIRS = int(float(os.environ.get("BLOOMERY_CLUSTER_PAIRS", 17000)))
CHUNK = 50000
ERROR = 0.001
VALUES = [b"value %d " % i + b"." * 40 for i in range(300)]


def numbers(i):
    return i * 7919 % 4096


def strings(i):
    return VALUES[i * 7919 % len(VALUES)]


MAPS = {  # name → options, value of the i-th key
    "compact": ({"engine": "compact", "raw": 12}, numbers),
    "kbf": ({"engine": "kbf", "raw": 12}, numbers),
    "strings": ({"engine": "compact", "values": len(VALUES)}, strings),
}


def key(i):
    return b"pair:%d" % i


def too_many(wrong, n):
    return not map_agents.within(wrong, n, ERROR)


class Changes(map_agents.MapCase):
    def load(self):
        """Each map is written by all clients in turn, in chunks."""
        for name, (options, value) in MAPS.items():
            for agent in self.agents:
                agent.create(self.url + name, capacity=PAIRS, error=ERROR, seed=17, **options)
            step = min(CHUNK, -(-PAIRS // len(self.agents)))
            for at, start in enumerate(range(0, PAIRS, step)):
                part = range(start, min(start + step, PAIRS))
                self.agents[at % len(self.agents)].set_many([(key(i), value(i)) for i in part])

    def check(self, when, sample=1):
        """All clients get every pair, or each `sample`-th, and as many keys that are absent."""
        for name, (_, value) in MAPS.items():
            for agent in self.agents:
                agent.use(self.url + name)
                wrong = found = 0
                for start in range(0, PAIRS, CHUNK * sample):
                    part = range(start, min(start + CHUNK * sample, PAIRS), sample)
                    got = agent.get_many([key(i) for i in part])
                    wrong += sum(answer != value(i) if answer is not UNSURE else 1
                                 for i, answer in zip(part, got))
                    got = agent.get_many([b"absent:%d" % i for i in part])
                    found += len(got) - got.count(None)
                n = len(range(0, PAIRS, sample))
                with self.subTest(when=when, map=name, client=agent.name):
                    self.assertFalse(too_many(wrong, n), f"{wrong} wrong or unsure of {n}")
                    self.assertFalse(too_many(found, n), f"{found} absent ones found, of {n}")

    def test_changes(self):
        cluster = self.cluster
        self.load()
        self.check("loaded")

        self.half_moved(cluster.primaries()[1])
        new = cluster.add_primary()
        cluster.move_slots(range(3000, 7096), new)
        self.check("a node was added and got 4,096 slots", sample=3)
        cluster.move_slots(range(3000, 4000), cluster.primaries()[-2])
        self.check("some went on", sample=3)

        second = cluster.owner(16000)
        taken = cluster.failover(second)
        self.check("a failover", sample=3)
        taken.client("WAIT", 1, 10000)
        cluster.failover(taken, kill=True)
        self.check("kill -9", sample=3)
        for agent in self.agents:
            agent.use(self.url + "strings")
            agent.set_many([(b"late " + agent.name.encode(), b"a late value")])
            self.assertEqual(agent.get_many([b"late " + agent.name.encode()]), [b"a late value"])
        cluster.restart(taken)

    def half_moved(self, target):
        """A slot on the move, with its keys here, on their way, and there: that of a slab, and
        that of the record and the values."""
        part = range(0, PAIRS, max(1, PAIRS // 5000))

        def right(agent, step):
            got = agent.get_many([key(i) for i in part])
            wrong = sum(answer != strings(i) for i, answer in zip(part, got))
            self.assertFalse(too_many(wrong, len(part)), wrong)
            agent.set_many([(key(i), strings(i)) for i in part])
            agent.set_many([(step, step)])  # a new value
            self.assertEqual(agent.get_many([step]), [step])
        slab = next(name for name in self.cluster.keys() if b"{strings:" in name)
        for agent in self.agents:
            agent.use(self.url + "strings")
            for name in (slab, b"{strings}"):
                slot, step = slot_of(name), agent.name.encode() + name
                source = self.cluster.owner(slot)
                other = target if source is not target else self.cluster.primaries()[0]
                self.cluster.open_slots([slot], other)
                right(agent, step + b"1")
                self.cluster.move_keys(source, slot, other, most=1)
                right(agent, step + b"2")
                self.cluster.move_keys(source, slot, other)
                right(agent, step + b"3")
                self.cluster.close_slots([slot], other)
                right(agent, step + b"4")
                self.cluster.wait_ok()

    def test_acknowledged(self):
        """What a replica has confirmed is there after a kill -9 of any primary, whichever client
        wrote it."""
        done, kept, problems = threading.Event(), {}, []

        def work(agent):
            round_ = 0
            while not done.is_set():
                pairs = [(b"%s %d %d" % (agent.name.encode(), round_, i), (round_ + i) % 4096)
                         for i in range(100)]
                round_ += 1
                try:
                    agent.set_many(pairs, wait=1)
                    kept.update(pairs)
                except Failed as error:
                    if error.kind != "NotConfirmed":
                        problems.append(str(error))
                        return
        for agent in self.agents:
            agent.create(self.url + "kept", raw=12, capacity=100000, seed=17)
            agent.wait_for(0.3)
        workers = [threading.Thread(target=work, args=(agent,)) for agent in self.agents]
        for worker in workers:
            worker.start()
        victim = self.cluster.primaries()[-1]
        cluster_runner.wait_until(lambda: problems or len(kept) > 5000, "some pairs are set")
        self.cluster.failover(victim, kill=True)
        done.set()
        for worker in workers:
            worker.join()
        self.assertEqual(problems, [])
        self.cluster.restart(victim)
        for agent in self.agents:
            got = agent.get_many(list(kept))
            wrong = sum(answer != value for answer, value in zip(got, kept.values()))
            self.assertFalse(too_many(wrong, len(kept)), f"{agent.name}: {wrong} of {len(kept)}")
            self.assertLess(got.count(None), 3, agent.name)

    def test_codes_are_lost(self):
        """The newest values are lost with their primary: nobody used their codes, and those who
        get the same codes afterwards read their own values."""
        cluster = self.cluster
        for agent in self.agents:
            agent.create(self.url + "v", values=100)
            agent.wait_for(0.2)
            agent.set_many([(b"old " + agent.name.encode(), b"old value")])
        primary = cluster.owner("{v}:map")
        replica = cluster.replicas_of(primary)[0]
        values = next(name for name in cluster.keys() if b"values" in name).decode()

        # The replica neither gets nor confirms anything from now on.
        replica.process.send_signal(signal.SIGSTOP)
        primary.client("CLIENT", "KILL", "TYPE", "replica")
        for agent in self.agents:
            for _ in range(2):  # the second time it finds the value in the list
                with self.assertRaises(Failed) as caught:
                    agent.set_many([(b"lost " + agent.name.encode(), b"lost value"),
                                    (b"more " + agent.name.encode(), b"old value")])
                self.assertEqual(caught.exception.kind, "NotConfirmed")
        self.assertEqual(primary.client("LRANGE", values, 0, -1), [b"old value", b"lost value"])
        primary.stop(kill=True)
        replica.process.send_signal(signal.SIGCONT)
        replica.client("CLUSTER", "FAILOVER", "TAKEOVER")
        cluster_runner.wait_until(lambda: replica.role == "master", "the replica has taken over")
        cluster.wait_ok()
        self.assertEqual(replica.client("LRANGE", values, 0, -1), [b"old value"])

        # It has no replica now that could confirm; the cluster soon knows that.
        primary.start()
        cluster.wait_ok()
        cluster_runner.wait_until(lambda: primary.role == "slave" and primary.client.info(
            "replication")["master_link_status"] == "up", "the old primary follows")
        for agent in self.agents:
            agent.wait_for(10)
            agent.set_many([(b"new " + agent.name.encode(), b"new " + agent.name.encode())])
        for agent in self.agents:
            for other in (agent.name.encode() for agent in self.agents):
                self.assertEqual(agent.get_many([b"old " + other, b"lost " + other,
                                                 b"more " + other, b"new " + other]),
                                 [b"old value", None, None, b"new " + other], agent.name)
        for agent in self.agents:
            agent.set_many([(b"lost " + agent.name.encode(), b"lost value")])
            self.assertEqual(agent.get_many([b"lost " + agent.name.encode()]), [b"lost value"])
        self.assertEqual(cluster.ask("LINDEX", values, 1), b"new " + self.agents[0].name.encode())


cluster_runner.main()
