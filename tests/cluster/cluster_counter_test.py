"""The counters of all clients: parts, hot counters, ids, the outbox, and what they say if they do not
know. All work on the same tables and outboxes."""

import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import cluster_runner
from cluster_runner import ClusterCase
from counter_agents import CAgent, Failed, NodeAgent, PythonAgent, bloomery_counter

KINDS = [kind for kind in (PythonAgent, NodeAgent, CAgent) if not kind.missing()]


def each_client(**options):
    """A test of each client, with a table that is new."""
    def decorate(test):
        def run(self):
            for kind in KINDS:
                with self.subTest(client=kind.name):
                    agent = self.start(kind)
                    agent.create("sales", **{"wait": 0, "parts": 8} | options)
                    test(self, agent)
                    agent.drop()
                    self.assertEqual(self.cluster.keys(), [])
        run.__doc__ = test.__doc__
        return run
    return decorate


class Counters(ClusterCase):
    REPLICAS = 1

    def setUp(self):
        super().setUp()
        # Of a node that stays where it is.
        self.base = f"redis://{self.cluster.nodes[0].address}/"
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = pathlib.Path(directory.name, "outbox")

    def start(self, kind):
        agent = kind(self.base)
        self.addCleanup(agent.close)
        return agent

    def fails(self, kind, text, call, *given, **options):
        """Unknown, Refused, Mismatch, Missing, or Wrong for all other errors."""
        kind = r"\w+Error|RANGE|IO|BADDATA" if kind == "Wrong" else kind
        with self.assertRaisesRegex(Failed, f"^({kind}): .*{text}") as caught:
            call(*given, **options)
        return caught.exception

    @each_client()
    def test_counting(self, agent):
        self.assertEqual(agent.add(("tea", 3)), [(3, True)])
        self.assertEqual(agent.add(("tea", 1)), [(4, True)])
        self.assertEqual(agent.add(("milk", -2)), [(-2, True)])
        self.assertEqual(agent.get("tea", "milk", "none"), [4, -2, None])
        self.assertEqual(agent.add(("{till7}tea", 1), ("{till7}milk", 2)),
                         [(1, True), (2, True)])
        self.fails("Wrong", "same {tag}", agent.add, *((f"c{i}", 1) for i in range(20)))
        self.fails("Wrong", "twice", agent.add, ("tea", 1), ("tea", 2))
        if agent.name == "node":
            self.fails("Wrong", "whole number", agent.add, ("tea", 0.5))
        else:
            self.fails("Refused", "overflow", agent.add, ("tea", 2**63 - 1))
        info = agent.info()
        self.assertEqual([info[name] for name in ("counters", "applied", "parts")], [4, 5, 8])

    @each_client()
    def test_a_retry_is_a_repeat(self, agent):
        now = int(time.time() * 1000)
        for applied in (True, False):
            self.assertEqual(agent.repeat("id", now, ("tea", 3)), [(3, applied)])

    @each_client(window=10)
    def test_late(self, agent):
        """Too late for a retry that might have been counted: unknown. Else it is refused."""
        late = "id", int(time.time() * 1000) - 9500, ("tea", 3)
        self.fails("Unknown", "EXPIRED", agent.repeat, *late)
        if agent.name != "c":
            self.fails("Refused", "EXPIRED", agent.repeat, *late, first=True)
        self.assertEqual(agent.get("tea"), [None])
        self.fails("Wrong", "is longer", agent.open, "sales", retry_for=9.5)
        agent.open("sales")

    @each_client(window=10, parts=1, wait=1)
    def test_refused_before_wait(self, agent):
        """A command is refused at once, and WAIT is answered later: that reply belongs to it."""
        replicas = [node.process for node in self.cluster.nodes if node.role == "slave"]
        for process in replicas:
            process.send_signal(signal.SIGSTOP)
        try:
            self.fails("Unknown", "EXPIRED", agent.repeat, "id",
                       int(time.time() * 1000) - 9500, ("tea", 3))
            self.assertEqual(agent.get("tea"), [None])
        finally:
            for process in replicas:
                process.send_signal(signal.SIGCONT)

    @each_client(wait=1)
    def test_replicas(self, agent):
        self.assertEqual(agent.add(("tea", 1)), [(1, True)])
        agent.open("sales", wait=2, wait_for=0.05, retry_for=0.3)
        unknown = self.fails("Unknown", "1 of 2 replicas", agent.add, ("tea", 1))
        self.assertEqual(agent.get("tea"), [2])  # it was counted, once
        agent.open("sales", wait=1)
        if agent.name != "node":  # which does not tell it
            self.assertEqual(agent.repeat(*unknown.operation, ("tea", 1)), [(2, False)])

    @each_client(hot=["all", "b"], parts=5)
    def test_hot(self, agent):
        for _ in range(40):
            agent.add(("all", 2))
        self.assertEqual(agent.get("all", "x"), [80, None])
        self.assertEqual(agent.info()["counters"], 5)  # in every part
        self.fails("Wrong", "hot counter", agent.add, ("all", 1), ("tea", 1))

    @each_client(window=60, engine="fbf", hot=["b", "a"])
    def test_creating(self, agent):
        record = agent.open("sales")
        others = [self.start(kind) for kind in KINDS]
        for other in others:
            self.assertEqual(other.create("sales"), record)
            self.assertEqual(other.open("sales"), record)
        for options in ({"window": 61}, {"engine": "compact"}, {"parts": 9}, {"hot": ["a"]},
                        {"error": 0.1}, {"seed": "5"}, {"capacity": 7}, {"skew": 2}):
            if agent.name == "python":
                options |= {name: int(seed) for name, seed in options.items() if name == "seed"}
            self.fails("Mismatch", "exists with", agent.create, "sales", **options)
        self.fails("Missing", "", agent.open, "other")
        for name, options in (("a{b", {}), ("x" * 201, {}), ("other", {"window": 0.005, "skew": 9}),
                              ("other", {"error": 1}), ("other", {"parts": 2**20 + 1}),
                              ("other", {"engine": "kbf"})):
            self.fails("Wrong", "", agent.create, name, **options)
        if agent.name == "python":
            self.fails("Wrong", "capacity is a number, not '1M'", agent.create, "other",
                       capacity="1M")
        self.fails("Missing", "", agent.open, "other")
        agent.open("sales")

    def test_several_create(self):
        """Only one table comes of it, and nothing is left of the others."""
        agents = [self.start(kind) for kind in KINDS * 2]
        made = []
        threads = [threading.Thread(target=lambda agent=agent: made.append(
            agent.create("sales", parts=8))) for agent in agents]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(set(made)), len(made)), (1, len(agents)))
        self.assertEqual(len(self.cluster.keys()), 8 + 1)

    def test_one_table(self):
        """All clients count in the same counters."""
        agents = [self.start(kind) for kind in KINDS]
        agents[0].create("sales", parts=8, hot=["all", "\xff"], error=1e-5)
        for i, agent in enumerate(agents):
            agent.open("sales")
            self.assertEqual(agent.add(("tea", 3)), [(3 * i + 3, True)])
            agent.add(("{x}y", 1), ("{x}z", 2))
            for _ in range(20):
                agent.add(("all", 1))
        n = len(agents)
        for agent in agents:
            self.assertEqual(agent.get("tea", "{x}y", "{x}z", "all"), [3 * n, n, 2 * n, 20 * n])

    @each_client(wait=1)
    def test_connections_cut(self, agent):
        """Retries after a lost connection are recognised. So is a retry because the replica was late;
        its answer says that the increment was counted before."""
        for i in range(30):
            self.assertEqual(agent.add(("tea", 1))[0][0], i + 1)
            if i % 3 == 0:
                for node in self.cluster.primaries():
                    node.client("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")

    # ---- ids ---------------------------------------------------------------------------------

    @unittest.skipIf(PythonAgent.missing(), PythonAgent.missing())
    def test_names_in_python(self):
        sales = bloomery_counter.create(self.base + "sales", wait=0)
        self.assertEqual(sales.add(b"\xff milk", -2), (-2, True))
        self.assertEqual(sales.add_many({"tea": 1}), [(1, True)])
        self.assertEqual(sales.get_many(["tea", b"\xff milk"]), [1, -2])

    @unittest.skipIf(PythonAgent.missing(), PythonAgent.missing())
    def test_ids_of_python(self):
        """Different in every process, also after a fork."""
        mine = {bloomery_counter._ids.next() for _ in range(100)}
        self.assertEqual(len({one.rpartition("-")[0] for one in mine}), 1)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writing, bloomery_counter._ids.next().encode())
            os._exit(0)
        os.waitpid(child, 0)
        theirs = os.read(reading, 100).decode()
        self.assertNotIn(theirs.rpartition("-")[0], {one.rpartition("-")[0] for one in mine})
        os.close(reading)
        os.close(writing)

    @unittest.skipIf(CAgent.missing(), CAgent.missing())
    def test_ids_of_c(self):
        agent = self.start(CAgent)
        agent.create("sales", parts=8, wait=0)
        ids = [agent.do("add tea 1")[0].split()[0] for _ in range(3)]
        agent.do("fork")
        ids += [agent.do("add tea 1")[0].split()[0] for _ in range(2)]
        self.assertEqual([one.split("-")[1] for one in ids], ["1", "2", "3", "1", "2"])
        self.assertEqual(len({one.split("-")[0] for one in ids}), 2)

    # ---- outboxes ----------------------------------------------------------------------------

    def test_crashes(self):
        """What was begun and not finished is repeated with its id, by any of the clients, and is
        counted once."""
        for first in KINDS:
            for second in KINDS:
                with self.subTest(crashed=first.name, recovering=second.name):
                    path = self.path.with_name(f"{first.name}-{second.name}")
                    agent, again = self.start(first), self.start(second)
                    agent.create("sales", parts=8, wait=0, outbox=str(path))
                    agent.add(("tea", 3))
                    agent.crash("before", "before", 5)
                    agent.crash("after", "after", 5)
                    if first is second:
                        self.fails("Wrong", "another process", again.open, "sales",
                                   outbox=str(path))
                    agent.die()
                    with path.open("a", encoding="ascii") as file:
                        file.write('{"id": "incompl')
                    again.open("sales", wait=0, outbox=str(path))
                    self.assertEqual(again.recover(), [[(5, True)], [(5, False)]])
                    self.assertEqual(again.recover(), [])
                    self.assertEqual(again.get("tea", "before", "after"), [3, 5, 5])
                    again.drop()

    @each_client()
    def test_damage(self, agent):
        checked_by_c = ('{"id": "a", "sent": 1, "pairs": []}',
                        '{"id": "a", "sent": -1, "pairs": [["61", 1]]}',
                        '{"id": "a", "sent": 1, "pairs": [["6", 1]]}')
        for line in ('{"id": 1}', "{}", "x", '{"done": "a"} x',
                     *(checked_by_c if agent.name == "c" else ())):
            self.path.write_text(line + "\n")
            self.fails("Wrong", "the outbox", agent.open, "sales", outbox=str(self.path))
            self.assertEqual(self.path.read_text(), line + "\n")
        if agent.name == "c":
            self.fails("Wrong", "", agent.open, "sales", outbox="/nowhere/x")
        agent.open("sales")

    @unittest.skipIf(CAgent.missing(), CAgent.missing())
    def test_example(self):
        done = subprocess.run([os.environ["COUNTER_EXAMPLE"], self.base + "example", self.path],
                              text=True, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, """\
a sale of 3: UNSURE
recovered: was counted before, the counter is 3
another sale of 3: the counter is 6
2 applied in 4 parts; at least one repeat: yes
the record begins with bloomery-counters 1
""")
        self.assertEqual(self.cluster.keys(), [])


cluster_runner.main()
