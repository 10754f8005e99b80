"""The commands of doc/cluster.md, in order, on other ports."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import cluster_runner
import map_agents
from cluster_runner import PATIENCE
from map_agents import ROOT, PythonAgent

NODES = 6
TEXT = (ROOT / "doc" / "cluster.md").read_text()


class Documentation(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        if not os.environ.get("MAP_AGENT"):
            self.skipTest("the program was built without clusters")
        self.directory = tempfile.TemporaryDirectory(prefix="bloomery-doc-")
        self.addCleanup(self.directory.cleanup)
        self.addCleanup(self.kill_all)
        self.port = cluster_runner.free_ports(NODES)

    def kill_all(self):
        """If a test failed: the servers, by the process ids in their files."""
        for file in pathlib.Path(self.directory.name).glob("hall/*/pid"):
            try:
                os.kill(int(file.read_text()), signal.SIGKILL)
            except (ValueError, ProcessLookupError):
                pass

    def blocks(self, language):
        section = TEXT[TEXT.index("## Try it"):TEXT.index("## The path of a request")]
        return [block.replace("127.0.0.1:7000", f"127.0.0.1:{self.port}")
                .replace("--port 7000", f"--port {self.port}")
                for block in re.findall(rf"```{language}\n(.*?)```", section, re.S)]

    def run_block(self, *program, block):
        path = os.path.dirname(os.path.abspath(map_agents.PROGRAM)) + ":" + os.environ["PATH"]
        done = subprocess.run([*program, "-c", block], cwd=self.directory.name, capture_output=True,
                              text=True, timeout=2 * PATIENCE,
                              env=os.environ | {"PATH": path, "PYTHONPATH":
                                                str(ROOT / "clients" / "python")})
        self.assertEqual(done.stderr, "", done.stdout)
        return done.stdout

    def test_commands(self):
        first, last = self.blocks("sh")
        printed = self.run_block("sh", block=first)
        self.assertIn(f"run on 127.0.0.1:{self.port} to {self.port + NODES - 1}", printed)
        self.assertIn("\n10.0.0.1\t7\n", printed)
        self.assertNotIn("10.9.9.9", printed)
        self.assertRegex(printed, r"\nkeys +4, planned for 2000000\n")
        self.assertRegex(printed, r"\nslabs +\d of 96 in use\n")
        self.assertRegex(printed, rf"\n127.0.0.1:{self.port} +primary")
        self.assertIn("Imbalance", printed)
        if not PythonAgent.missing():
            block, = self.blocks("python")
            self.assertEqual(self.run_block(sys.executable, block=block), "[7, 8, None]\n")
        self.assertEqual(self.run_block("sh", block=last), "6 servers ended.\n")


cluster_runner.main()
