"""Very many pairs on five primaries: `bloomery map build`, resident memory, random keys checked.

BLOOMERY_CLUSTER_ENGINE: compact or kbf. BLOOMERY_CLUSTER_PAIRS: number of pairs; 5·10^8 by
default, with kbf 10^8. A hundredth of them, as a try:

    BLOOMERY_CLUSTER_PAIRS=5e6 ctest --test-dir build-test -R cluster_large -V
"""

import os
import random
import subprocess
import time

import cluster_runner
import map_agents
from cluster_runner import ClusterCase
from map_agents import UNSURE

ENGINE = os.environ.get("BLOOMERY_CLUSTER_ENGINE", "compact")
PAIRS = int(float(os.environ.get("BLOOMERY_CLUSTER_PAIRS", 1e8 if ENGINE == "kbf" else 5e8)))
ERROR = 0.001
CHECKED = min(PAIRS, 10**6)
# Resident bytes per pair: 2.5 GiB for 5·10^8 of compact. An empty server has up to 20 MB.
BYTES_PER_PAIR = {"compact": 2.5 * 2**30 / 5e8, "kbf": 32}[ENGINE]
EMPTY = 20e6
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def key(i):
    """As pair_lines.c writes them."""
    text = "k"
    while True:
        i, digit = divmod(i, 36)
        text += DIGITS[digit]
        if not i:
            return text


def value(i):
    return (i * 0x9e3779b97f4a7c15 & 2**64 - 1) >> 52


def resident(node):
    with open(f"/proc/{node.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


class Large(ClusterCase):
    PRIMARIES = 5

    def setUp(self):
        super().setUp()
        self.url = f"redis://{self.cluster.nodes[0].address}/large"
        if map_agents.PythonAgent.missing():
            self.skipTest(map_agents.PythonAgent.missing())

    def build(self):
        start = time.monotonic()
        with subprocess.Popen([os.environ["PAIR_LINES"], str(PAIRS)],
                              stdout=subprocess.PIPE) as lines:
            done = subprocess.run(
                [map_agents.PROGRAM, "map", "build", self.url, "--capacity", str(PAIRS), "--error",
                 str(ERROR), "--raw", "12", "--engine", ENGINE, "--seed", "17"], stdin=lines.stdout,
                stderr=subprocess.PIPE, text=True)
            lines.stdout.close()
        self.assertEqual(done.returncode, 0, done.stderr)
        return time.monotonic() - start

    def test_many(self):
        seconds = self.build()
        nodes = self.cluster.primaries()
        at_once = sum(map(resident, nodes))
        time.sleep(20)  # the allocator returns what was freed after about ten seconds
        total = sum(map(resident, nodes))
        agent = map_agents.PythonAgent()
        agent.open(self.url)
        info = agent.info()
        print(f"\n{PAIRS} pairs, engine {ENGINE}: {info['slabs']} slabs; loaded in {seconds:.0f} s,"
              f" {PAIRS / seconds / 1e6:.2f} M pairs per second; {at_once / 2**30:.3f} GiB "
              f"resident at the end, {total / 2**30:.3f} after 20 s, {total / PAIRS:.2f} bytes per "
              f"pair, {info['bytes'] / PAIRS:.2f} counted")
        self.assertLess(abs(info["items"] - PAIRS), PAIRS * ERROR)
        self.assertLess(total, PAIRS * BYTES_PER_PAIR + (len(nodes) * EMPTY if PAIRS < 5e8 else 0))
        self.check(agent)

    def check(self, agent):
        """Random keys that are present, and random keys that are absent."""
        generator = random.Random(17)
        bound = CHECKED * ERROR + 5 * (CHECKED * ERROR) ** 0.5
        wrong = unsure = found = 0
        for start in range(0, CHECKED, 50000):
            part = [generator.randrange(PAIRS) for _ in range(min(50000, CHECKED - start))]
            for i, answer in zip(part, agent.get_many([key(i) for i in part])):
                unsure += answer is UNSURE
                wrong += answer is not UNSURE and answer != value(i)
            absent = [key(PAIRS + generator.randrange(10**12)) for _ in part]
            found += sum(answer is not None for answer in agent.get_many(absent))
        print(f"of {CHECKED} present keys {wrong} answered wrongly, {unsure} unsure; of as many "
              f"absent keys {found} found; promised {ERROR}")
        self.assertLess(wrong + unsure, bound)
        self.assertLess(found, bound)


cluster_runner.main()
