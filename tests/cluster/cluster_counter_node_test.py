"""The counters of the Node client: parts, hot counters, ids, the outbox, and what it says if it does
not know. The Python client works on the same tables and outboxes."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import cluster_runner
from cluster_runner import TESTS, ClusterCase
from map_agents import NODE, NodeAgent, copy_node_client

sys.path.insert(0, str(TESTS.parent / "clients" / "python"))
try:
    import bloomery_counter
except ImportError:  # no redis-py
    bloomery_counter = None


class Agent:
    def __init__(self):
        self.directory = tempfile.TemporaryDirectory(dir=NODE)
        copy_node_client(self.directory.name)
        program = shutil.copy(TESTS / "cluster" / "counter_agent.mjs", self.directory.name)
        self.process = subprocess.Popen(["node", program], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def __call__(self, *words):
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self.directory.cleanup()


@unittest.skipIf(NodeAgent.missing(), NodeAgent.missing())
class CounterCase(ClusterCase):
    def setUp(self):
        super().setUp()
        self.node = self.start()

    def start(self):
        agent = Agent()
        self.addCleanup(agent.close)
        return agent

    def url(self, name="sales"):
        return f"redis://{self.cluster.nodes[0].address}/{name}"

    def create(self, agent=None, **options):
        record = (agent or self.node)("create", self.url(), {"wait": 0, "parts": 8} | options)
        self.assertNotIn("thrown", record)
        return record

    def thrown(self, kind, text, *words):
        answer = self.node(*words)
        self.assertEqual(answer.get("thrown"), kind, answer)
        self.assertIn(text, answer["message"])


class Counters(CounterCase):
    def test_counting(self):
        self.create()
        self.assertEqual(self.node("add", "tea", 3), {"value": 3, "applied": True})
        self.assertEqual(self.node("add", "tea"), {"value": 4, "applied": True})
        self.assertEqual(self.node("getMany", ["tea", "none"]), [4, None])
        added = self.node("addMany", {"{till7}tea": 1, "{till7}milk": -2})
        self.assertEqual([each["value"] for each in added], [1, -2])
        self.thrown("BloomeryError", "same {tag}", "addMany", [[f"c{i}", 1] for i in range(20)])
        self.thrown("BloomeryError", "twice", "addMany", [["tea", 1], ["tea", 2]])
        self.thrown("BloomeryError", "whole number", "add", "tea", 0.5)
        self.node("add", "top", 2**53 - 1)
        info = self.node("info")
        self.assertEqual((info["counters"], info["applied"], info["parts"]), (4, 5, 8))
        if bloomery_counter:
            sales = bloomery_counter.open(self.url(), wait=0)
            self.assertEqual(sales.get_many(["tea", "{till7}milk"]), [4, -2])
            self.assertEqual(sales.add("tea"), (5, True))
            self.assertEqual(self.node("get", "tea"), 5)
        self.node("drop")
        self.assertEqual(self.cluster.keys(), [])

    def test_retries(self):
        self.create(window=10)
        now = int(time.time() * 1000)
        operation = {"id": "id", "sent": now, "pairs": [["tea", 3]]}
        self.assertEqual(self.node("repeat", operation, True), [{"value": 3, "applied": True}])
        self.assertEqual(self.node("repeat", operation), [{"value": 3, "applied": False}])
        late = {"id": "late", "sent": now - 9500, "pairs": [["tea", 3]]}
        self.thrown("Unknown", "EXPIRED", "repeat", late)
        self.thrown("Refused", "EXPIRED", "repeat", late, True)
        self.thrown("BloomeryError", "longer than the table's window", "open", self.url(),
                    {"retryFor": 9500})

    def test_no_replica(self):
        self.create(wait=1, waitFor=50, retryFor=300)
        self.thrown("Unknown", "0 of 1 replicas", "add", "tea")
        self.assertEqual(self.node("get", "tea"), 1)  # it was counted, once

    def test_hot_and_creating(self):
        record = self.create(hot=["all"], parts=5, engine="fbf")
        for _ in range(30):
            self.node("add", "all", 2)
        self.assertEqual(self.node("get", "all"), 60)
        self.assertEqual(self.node("info")["counters"], 5)  # in every part
        self.thrown("BloomeryError", "by itself", "addMany", {"all": 1, "tea": 1})
        self.assertEqual(self.node("create", self.url(), {}), record)
        for options in ({"window": 61}, {"engine": "compact"}, {"parts": 9}, {"hot": ["a"]},
                        {"error": 0.1}, {"seed": "5"}, {"capacity": 7}, {"skew": 2}):
            self.thrown("Mismatch", next(iter(options)), "create", self.url(), options)
        self.thrown("Missing", "no table", "open", self.url("other"))
        if bloomery_counter:
            sales = bloomery_counter.create(self.url(), engine="fbf", hot=["all"], error=1e-9)
            self.assertEqual(sales.get("all"), 60)


class Outboxes(CounterCase):
    def test_crashes(self):
        """What was sent and not finished is repeated with its id, by any of the clients."""
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        path = os.path.join(directory.name, "outbox")
        for recover in ("node", "python"):
            agent = self.start()
            self.create(agent, outbox=path)
            agent("add", "tea", 3)
            for part in ("before", "after"):  # the crash comes before it is sent, or after
                name = f"{recover} {part}"
                self.assertEqual(agent("crash", part, name, 5)["message"], "crash")
                self.node("open", self.url(), {"wait": 0})
            self.thrown("BloomeryError", "another process", "open", self.url(),
                        {"wait": 0, "outbox": path})
            agent("die")
            agent.process.wait()
            with open(path, "a", encoding="ascii") as file:
                file.write('{"id": "incompl')
            if recover == "python" and bloomery_counter:
                sales = bloomery_counter.open(self.url(), wait=0, outbox=path)
                got = [added[0].applied for _, added in sales.recover()]
                sales.outbox.close()
            else:
                again = self.start()
                again("open", self.url(), {"wait": 0, "outbox": path})
                got = [added[0]["applied"] for added in again("recover")]
                again.close()
            self.assertEqual(sorted(got), [False, True])
            names = [f"{recover} before", f"{recover} after"]
            self.assertEqual(self.node("getMany", names), [5, 5])


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    cluster_runner.main()
