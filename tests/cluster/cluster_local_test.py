"""bloomery cluster up, status and down: a cluster of the program's own, and what it shows."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import unittest

import cluster_runner
import server_runner
from cluster_runner import slot_of
from map_agents import PROGRAM
from server_runner import Client


def is_free(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def knows_another(port):
    if is_free(port):
        return False
    client = Client(port)
    try:
        return "cluster_known_nodes:2" in str(client.ask("CLUSTER", "INFO"))
    finally:
        client.close()


class Local(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="bloomery-cluster-")
        self.addCleanup(self.directory.cleanup)
        self.dir = os.path.join(self.directory.name, "hall")
        self.addCleanup(self.end)

    def end(self):
        """Nothing stays, even if a test failed."""
        for path in pathlib.Path(self.dir).glob("*/pid"):
            os.kill(int(path.read_text()), signal.SIGKILL)

    def run_program(self, *words, code=0):
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True,
                              timeout=cluster_runner.PATIENCE, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def up(self, *options, code=0):
        return self.run_program("cluster", "up", "--dir", self.dir, "--server", server_runner.SERVER,
                                "--module", server_runner.MODULE, *options, code=code)

    def test_life(self):
        first = cluster_runner.free_ports(4)
        said = self.up("--primaries", 2, "--replicas", 1, "--port", first)
        self.assertIn(f"4 servers with the module run on 127.0.0.1:{first} to {first + 3}", said)
        self.check_status(first)
        self.check_settings()
        self.check_queries(first)
        self.assertIn('map no: not found', self.run_program(
            "cluster", "balance", f"127.0.0.1:{first}", "--map", "no", "--dry-run", code=3))
        self.assertIn("4 servers", self.up())  # they run already
        self.assertIn("has a cluster already", self.up("--primaries", 3, code=3))
        self.run_program("cluster", "up", "--dir", self.dir + "2", "--port", first, code=3)
        self.assertEqual(self.run_program("cluster", "down", "--dir", self.dir), "4 servers ended.\n")
        self.assertTrue(all(is_free(first + i) for i in range(4)))
        self.assertEqual(self.run_program("cluster", "down", "--dir", self.dir), "0 servers ended.\n")
        self.up()
        client = Client(first + self.owner("a"))
        self.assertEqual(client("MAP.GET", "a", "x"), [b"1"])
        client.close()
        self.run_program("cluster", "down", "--dir", self.dir)

    @staticmethod
    def owner(key):
        return int(slot_of(key) >= 8192)

    def check_status(self, first):
        clients = [Client(first), Client(first + 1)]
        self.addCleanup(clients[0].close)
        self.addCleanup(clients[1].close)
        self.clients = clients
        counts = [0, 0]
        for i in range(40):
            key = f"{{{i % 20}}}{i}"
            new = clients[self.owner(key)]("MAP.SET", key, *(word for j in range(i) for word in (j, "v")),
                                           "x", "1")
            # The seed is random, so now and then two fields share a fingerprint, and are one pair.
            self.assertGreater(sum(new), i - 2)
            counts[self.owner(key)] += sum(new)
        clients[self.owner("a")]("MAP.SET", "a", "x", "1")
        counts[self.owner("a")] += 1
        clients[self.owner("text")]("SET", "text", "t")
        counts[self.owner("text")] += 1
        shown = json.loads(self.run_program("cluster", "status", f"127.0.0.1:{first + 3}", "--json",
                                            "--sample", "10ms"))
        primaries = [node for node in shown["nodes"] if node["role"] == "primary"]
        self.assertEqual([(node["node"], node["slots"], node["pairs"]) for node in primaries],
                         [(f"127.0.0.1:{first + i}", 8192, counts[i]) for i in range(2)])
        self.assertEqual(sum(node["maps"] for node in primaries), 41)
        self.assertEqual(sum(node["other_keys"] for node in primaries), 1)
        self.assertTrue(all(node["bytes"] > 1000 for node in primaries))
        self.assertEqual([node["role"] for node in shown["nodes"]], ["primary"] * 2 + ["replica"] * 2)
        mean = sum(counts) / 2
        self.assertAlmostEqual(shown["rho"]["pairs"], abs(counts[0] - mean) / mean)
        self.assertEqual(shown["open_slots"], [])
        clients[0]("CLUSTER", "SETSLOT", 5, "MIGRATING", primaries[1]["id"])
        said = self.run_program("cluster", "status", f"127.0.0.1:{first}", "--sample", "1ms")
        self.assertIn("Slots are open, slot 5", said)
        self.assertIn("replica", said)
        self.run_program("cluster", "balance", f"127.0.0.1:{first}", "--repair")
        self.assertNotIn(b"[", clients[0]("CLUSTER", "NODES"))

    def check_settings(self):
        """The servers have the settings that doc/cluster.md tells people to use."""
        page = (pathlib.Path(__file__).parents[2] / "doc/cluster.md").read_text()
        table = page.partition("## Settings of the servers")[2].partition("\n## ")[0]
        told = dict(re.findall(r"^\| `([a-z-]+)` \| `([^`]+)`", table, re.M))
        self.assertGreaterEqual(len(told), 9)
        asked = self.clients[0]("CONFIG", "GET", *told)
        told["repl-backlog-size"] = str(64 << 20)  # "64mb"
        self.assertEqual({asked[i].decode(): asked[i + 1].decode()
                          for i in range(0, len(asked), 2)}, told)

    def check_queries(self, first):
        """The node whose maps are asked is hot, and its slots move by queries, not by pairs."""
        hot = [f"{{{i % 20}}}{i}" for i in range(40) if self.owner(f"{{{i % 20}}}") == 0]
        watcher = subprocess.Popen(
            [PROGRAM, "cluster", "balance", f"127.0.0.1:{first}", "--by", "queries", "--sample", "300ms",
             "--dry-run", "--json"], stdout=subprocess.PIPE)
        while watcher.poll() is None:
            self.clients[0].pipeline([["MAP.GET", key, *"abc"] for key in hot])
        shown = json.loads(watcher.communicate()[0])
        nodes = [node["load"] for node in shown["nodes"]]
        self.assertGreater(nodes[0], 0)
        self.assertEqual(nodes[1], 0)
        self.assertAlmostEqual(shown["rho"], 1)
        self.assertLess(shown["rho_planned"], 0.5)
        self.assertEqual({step["from"] for step in shown["steps"]}, {f"127.0.0.1:{first}"})

    def test_interrupted(self):
        """Servers of an interrupted `up` are found, and the next one starts over."""
        first = cluster_runner.free_ports(2)
        shape = ("--primaries", "2", "--replicas", "0", "--port", str(first))
        ports = os.path.join(self.dir, "ports")
        for then in ("down", "up"):
            process = subprocess.Popen([PROGRAM, "cluster", "up", "--dir", self.dir, "--server",
                                        server_runner.SERVER, "--module", server_runner.MODULE,
                                        *shape], stdout=subprocess.DEVNULL)
            cluster_runner.wait_until(lambda: knows_another(first), "the servers meet")
            process.kill()
            process.wait()
            if os.path.exists(ports):
                self.skipTest("this machine was too slow to interrupt it")
            if then == "down":
                self.assertEqual(self.run_program("cluster", "down", "--dir", self.dir),
                                 "2 servers ended.\n")
        said = self.up(*shape)
        self.assertTrue(os.path.exists(ports))
        example = next(line for line in said.splitlines() if "map build" in line)
        pathlib.Path(self.directory.name, "FILE").write_text("a\t1\n", encoding="ascii")
        subprocess.run(example.replace("bloomery", PROGRAM, 1), shell=True, check=True,
                       cwd=self.directory.name)
        self.run_program("cluster", "down", "--dir", self.dir)

    def test_refusals(self):
        for words, text, code in (
                (("cluster", "status"), "missing node", 2),
                (("cluster", "status", "127.0.0.1:1"), "127.0.0.1:1", 3),
                (("cluster", "down", "--dir", self.dir), "hall", 3),
                (("cluster", "up", "--replicas", "x"), "is not a number", 2),
                (("cluster", "up", "--primaries", "150"), "at most 200 servers", 2),
                (("cluster", "up", "--port", "60000"), "below 55536", 2),
                (("cluster", "balance", "127.0.0.1:1", "--by", "size"), "is not pairs, queries or bytes", 2),
                (("cluster", "balance",), "missing node", 2)):
            with self.subTest(words=words):
                self.assertIn(text, self.run_program(*words, code=code))


server_runner.main()
