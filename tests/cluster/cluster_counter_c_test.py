"""The counters of the C client: parts, hot counters, ids, the outbox, and what it says if it does
not know. The Python client works on the same tables and outboxes."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import cluster_client_c_test
import cluster_runner
from cluster_runner import TESTS, ClusterCase

sys.path.insert(0, str(TESTS.parent / "clients" / "python"))
try:
    import bloomery_counter
except ImportError:  # no redis-py
    bloomery_counter = None

TALK = os.environ["COUNTER_TALK"]


class CounterCase(ClusterCase):
    def setUp(self):
        super().setUp()
        self.talk = self.start()

    def start(self):
        talk = cluster_client_c_test.Talk(self.url(""), program=TALK)
        self.addCleanup(talk.__exit__)
        return talk

    def url(self, name):
        return f"redis://{self.cluster.nodes[0].address}/{name}"

    def say(self, line, status="OK", talk=None):
        """The answer, without the ids of operations."""
        lines, said = (talk or self.talk).map(line)
        self.assertRegex(said, "^" + status)
        return [line.split()[2:] if line.split() and line.split()[0].count("-") == 1
                and len(line.split()[0]) > 32 else line for line in lines]


class Counters(CounterCase):
    REPLICAS = 1

    def test_counting(self):
        self.say("create sales parts=8 nowait")
        self.assertEqual(self.say("add tea 3"), [["3", "1"]])
        self.assertEqual(self.say("add tea 1"), [["4", "1"]])
        self.assertEqual(self.say("add milk -2"), [["-2", "1"]])
        self.assertEqual(self.say("get tea milk none"), ["4 -2 none"])
        self.assertEqual(self.say("add {till7}tea 1 {till7}milk 2"), [["1", "1", "2", "1"]])
        self.say("add a 1 b 1 c 1 d 1 e 1 f 1 g 1 h 1", "RANGE .*same {tag}")
        self.say("add tea 1 tea 2", "RANGE .*twice")
        self.say("add tea 9223372036854775807", "OVERFLOW .*overflow")
        self.assertEqual(self.say("info"), ["4 counters 5 applied 0 repeats 8 parts"])
        self.say("drop sales")
        self.assertEqual(self.cluster.keys(), [])
        self.say("open sales", 'NOTFOUND table sales: not found')

    def test_a_retry_is_a_repeat(self):
        # Without waiting for replicas: a wait that ends too early makes the client retry by itself.
        self.say("create sales parts=8 nowait")
        now = int(time.time() * 1000)
        self.assertEqual(self.talk.map(f"repeat id {now} tea 3"), ([f"id {now} 3 1"], "OK"))
        self.assertEqual(self.talk.map(f"repeat id {now} tea 3"), ([f"id {now} 3 0"], "OK"))

    def test_late(self):
        self.say("create sales parts=8 window=10000")
        now = int(time.time() * 1000)
        self.say(f"repeat id {now - 9500} tea 3", "UNSURE operation id may or may not be counted: "
                 "EXPIRED")
        self.assertEqual(self.say("get tea"), ["none"])
        self.say("open sales retry=9500", "RANGE retry_ms is longer")

    def test_refused_before_wait(self):
        """A command is refused at once, and WAIT is answered later: that reply belongs to it."""
        self.say("create sales parts=1 window=10000")
        replicas = [node.process for node in self.cluster.nodes if node.role == "slave"]
        for process in replicas:
            process.send_signal(signal.SIGSTOP)
        try:
            self.say(f"repeat id {int(time.time() * 1000) - 9500} tea 3", "UNSURE .* EXPIRED")
            self.assertEqual(self.say("get tea"), ["none"])
        finally:
            for process in replicas:
                process.send_signal(signal.SIGCONT)

    def test_replicas(self):
        self.say("create sales parts=8 replicas=1")
        self.assertEqual(self.say("add tea 1"), [["1", "1"]])
        self.say("open sales replicas=2 wait=50 retry=300")
        lines, said = self.talk.map("add tea 1")
        self.assertRegex(said, "UNSURE .* only 1 of 2 replicas confirmed it")
        operation = " ".join(lines[0].split()[:2])
        self.assertEqual(self.say("get tea"), ["2"])  # it was counted, once
        self.say("open sales replicas=1")
        self.assertEqual(self.say(f"repeat {operation} tea 1"), [["2", "0"]])

    def test_hot(self):
        self.say("create sales parts=5 hot=all,b nowait")
        for _ in range(40):
            self.say("add all 2")
        self.assertEqual(self.say("get all x"), ["80 none"])
        self.assertEqual(self.say("info")[0].split()[0], "5")
        self.say("add all 1 tea 1", "RANGE .*in an operation of its own")

    def test_creating(self):
        self.say("create sales window=60000 engine=fbf parts=8 hot=b,a")
        first = self.say("record")
        self.say("create sales", talk=(other := self.start()))
        self.assertEqual(self.say("record", talk=other), first)
        for option in ("window=61000", "engine=compact", "parts=9", "hot=a", "error=0.1", "seed=5",
                       "capacity=7", "skew=2000"):
            self.say(f"create sales {option}", 'MISMATCH table sales: exists with another')
        self.assertEqual(len(self.cluster.keys()), 9)
        self.say("create a{b", "RANGE")
        self.say("create x window=5 skew=9", "RANGE")

    def test_ids(self):
        self.say("create sales parts=8 nowait")
        ids = [self.talk.map("add tea 1")[0][0].split()[0] for _ in range(3)]
        self.talk.map("fork")
        ids += [self.talk.map("add tea 1")[0][0].split()[0] for _ in range(2)]
        self.assertEqual([one.split("-")[1] for one in ids], ["1", "2", "3", "1", "2"])
        self.assertEqual(len({one.split("-")[0] for one in ids}), 2)

    def test_connections_cut(self):
        """Retries after a lost connection are recognised."""
        self.say("create sales parts=8")
        for i in range(30):
            self.assertEqual(self.say("add tea 1"), [[str(i + 1), "1"]])
            if i % 3 == 0:
                for node in self.cluster.primaries():
                    node.client("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")

    def test_python(self):
        if not bloomery_counter:
            self.skipTest("this Python has no module redis (Debian: python3-redis)")
        self.say("create sales parts=8 hot=all")
        sales = bloomery_counter.open(self.url("sales"))
        self.assertEqual(sales.record.text(), self.say("record")[0])
        sales.add("tea", 3)
        self.say("add tea 4")
        self.say("add {x}y 1 {x}z 2")
        for i in range(20):
            sales.add("all", 1)
            self.say("add all 1")
        self.assertEqual(sales.get_many(["tea", "{x}y", "{x}z", "all"]), [7, 1, 2, 40])
        self.assertEqual(self.say("get tea {x}y {x}z all"), ["7 1 2 40"])
        made = bloomery_counter.create(self.url("other"), parts=8, error=1e-5, hot=["q", "\xff"])
        self.say("open other")
        self.assertEqual(self.say("record")[0], made.record.text())


class Outboxes(CounterCase):
    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = pathlib.Path(directory.name, "outbox")

    def test_a_crash_between(self):
        """What was begun and not finished is repeated with its id, and is counted once."""
        self.say(f"create sales parts=8 nowait outbox={self.path}")
        self.say("add tea 3")
        begun, done = self.path.read_text().splitlines()
        self.assertIn('"pairs": [["746561", 3]]}', begun)
        self.say("open sales nowait outbox=" + str(self.path), "OK")  # ours, closed before
        self.say(f"open sales outbox={self.path}", "IO .*another process", talk=self.start())
        self.assertEqual(self.path.read_text(), "")
        self.say("close")
        # The first was counted before the crash, the second was not; a third is incomplete.
        second = begun.replace("-1", "-2").replace("746561", "ff7b")
        self.path.write_text(f'{begun}\n{second}\n{{"id": "incompl')
        self.say(f"open sales nowait outbox={self.path}")
        self.assertEqual(self.path.read_text(), f"{begun}\n{second}\n")
        self.assertEqual(self.say("recover"), [["3", "0"], ["3", "1"]])
        self.assertEqual(self.say("recover"), [])
        self.assertEqual(self.say("get tea"), ["3"])
        # Python reads what C wrote.
        self.say("close")
        if bloomery_counter:
            sales = bloomery_counter.open(self.url("sales"), wait=0, outbox=str(self.path))
            self.assertEqual(sales.recover(), [])
            sales.outbox.begin(bloomery_counter.Operation("py-1", int(time.time() * 1000),
                                                          ((b"tea", 4), (b"tea", 1))))
            sales.outbox.close()
            self.say(f"open sales nowait outbox={self.path}")
            self.assertEqual(self.talk.map("recover")[0][0].split()[2:], ["7", "1", "7", "0"])

    def test_example(self):
        done = subprocess.run([os.environ["COUNTER_EXAMPLE"], self.url("example"), self.path],
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

    def test_damage(self):
        self.say("create sales parts=8 nowait")
        for line in ('{"id": 1}', "{}", "x", '{"id": "a", "sent": 1, "pairs": []}',
                     '{"id": "a", "sent": 1, "pairs": [["6", 1]]}', '{"done": "a"} x',
                     '{"id": "a", "sent": -1, "pairs": [["61", 1]]}'):
            self.path.write_text(line + "\n")
            self.say(f"open sales outbox={self.path}", "BADDATA .*the outbox is damaged")
            self.assertEqual(self.path.read_text(), line + "\n")
        self.say("open sales outbox=/nowhere/x", "IO")


del cluster_client_c_test.Client, cluster_client_c_test.Passwords, cluster_client_c_test.Single
if __name__ == "__main__":
    sys.dont_write_bytecode = True
    cluster_runner.main()
