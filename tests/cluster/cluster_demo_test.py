"""`bloomery demo once`: it runs, its counters are exact, and it leaves nothing behind."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import cluster_runner
from cluster_runner import wait_until

SERVER, MODULE, PROGRAM = (sys.argv[i] if len(sys.argv) > 4 else None for i in (1, 2, 4))


class Demo(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def start(self):
        return subprocess.Popen([PROGRAM, "demo", "once", "--server", SERVER, "--module", MODULE],
                                env=os.environ | {"TMPDIR": str(self.directory)}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def servers(self):
        """Process ids of the servers in the directory."""
        return [int(file.read_text()) for file in self.directory.glob("*/*/pid")]

    @staticmethod
    def runs(process):
        """False also for one that has ended and that nobody has asked about."""
        try:
            about = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="ascii")
            return about.rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return False

    def test_whole(self):
        demo = self.start()
        output, errors = demo.communicate()
        print(output)
        self.assertEqual((demo.returncode, errors), (0, ""))
        self.assertIn("Bloomery's counter is exact.", output)
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_interrupted(self):
        demo = self.start()
        wait_until(lambda: len(self.servers()) == 6, "the servers run")
        processes = self.servers()
        time.sleep(5)
        demo.send_signal(signal.SIGINT)
        demo.communicate()
        self.assertEqual(demo.returncode, 3)
        self.assertEqual(list(self.directory.iterdir()), [])
        wait_until(lambda: not any(map(self.runs, processes)), "the servers have ended")


cluster_runner.main()
