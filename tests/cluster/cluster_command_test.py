"""`bloomery map` on a cluster and on a single server."""

import contextlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import cluster_runner
from cluster_runner import ClusterCase, server_runner

PROGRAM = os.path.abspath(sys.argv[4])


def pairs(count, value):
    return "".join(f"key{i}\t{value(i)}\n" for i in range(count)).encode()


def limit_files():
    """As on a disk that is full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


class Commands:
    """The tests; the classes below say where."""

    ENGINES = ("compact", "kbf")

    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory(prefix="bloomery-command-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def run_map(self, *words, stdin=b"", **environment):
        return subprocess.run([PROGRAM, "map", *words], input=stdin, capture_output=True,
                              cwd=self.directory, timeout=300, env=os.environ | environment)

    def expect(self, words, code=0, out=b"", err=b"", stdin=b""):
        done = self.run_map(*words, stdin=stdin)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (code, out, err), words)

    def url(self, name):
        return f"redis://{self.address}/{name}"

    def answers(self, place, stdin):
        """The answers for the keys of pairs."""
        keys = b"".join(line.split(b"\t")[0] + b"\n" for line in stdin.splitlines())
        done = self.run_map("get", place, stdin=keys)
        self.assertIn(done.returncode, (0, 1, 4))
        return dict(line.split(b"\t") for line in done.stdout.splitlines())

    def check(self, place, stdin, share):
        """All pairs answer, except for a share."""
        wanted = dict(line.split(b"\t") for line in stdin.splitlines())
        found = self.answers(place, stdin)
        wrong = sum(found.get(key) != value for key, value in wanted.items())
        self.assertLessEqual(wrong, share * len(wanted))

    def test_one_key_at_a_time(self):
        url = self.url("routes")
        self.expect(["get", url, "a"], 3, err=b'bloomery: map routes: not found\n')
        self.expect(["build", url, "--capacity", "1k"], stdin=b"a\tred\nb\tgreen\n")
        self.expect(["build", url], 3, err=b"bloomery: map routes: exists already; --force "
                    b"replaces it\n")
        self.expect(["get", url, "a"], out=b"red\n")
        self.expect(["get", url, "a", "b", "c"], 1, out=b"a\tred\nb\tgreen\n")
        self.expect(["get", url, "--all"], 1, stdin=b"c\nb\n", out=b"absent\tc\npresent\tb\tgreen\n")
        self.expect(["get", url, "--json", "a"],
                    out=b'{"key":"a","answer":"present","value":"red"}\n')
        self.expect(["put", url, "c", "green"])
        self.expect(["put", url, "--json-lines"], stdin=b'{"key":"d","value":""}\n')
        self.expect(["get", url, "--all", "c", "d"], out=b"present\tc\tgreen\npresent\td\t\n")
        self.expect(["del", url, "c", "x"], 1)
        self.expect(["del", url], stdin=b"b\n")
        self.expect(["get", url, "a", "b", "c"], 1, out=b"a\tred\n")
        self.expect(["ls", self.url("").rstrip("/")], out=b"routes\n")
        info = json.loads(self.run_map("info", url, "--json").stdout)
        self.assertEqual((info["items"], info["values"], info["capacity"], info["slabs_used"]),
                         (2, 3, 1000, 2))
        self.expect(["build", url, "--force", "--raw", "8", "--slabs", "7", "--keyed"],
                    stdin=b"a\t255\n")
        info = json.loads(self.run_map("info", url, "--json").stdout)
        self.assertEqual((info["value_bits"], info["slabs"], info["keyed"]), (8, 7, True))
        self.expect(["put", url, "a", "256"], 2, err=b'bloomery: "256": the value has more '
                    b'bits than the values of this map\nTry "bloomery map put --help".\n')
        self.expect(["drop", url])
        self.expect(["drop", url], 3, err=b'bloomery: map routes: not found\n')
        self.assertEqual(self.all_keys(), [])

    def test_planned_slabs(self):
        """`plan --cluster` says how many a new map gets."""
        for engine in self.ENGINES:
            shape = ["--capacity", "1e9", "--error", "1e-4", "--engine", engine, "--raw", "8"]
            self.expect(["build", self.url(f"planned-{engine}"), *shape], stdin=b"a\t1\n")
            made = self.run_map("info", self.url(f"planned-{engine}"), "--json")
            plan = subprocess.run([PROGRAM, "plan", "--cluster", *shape, "--primaries", "3", "--json"],
                                  capture_output=True, check=True, timeout=300)
            self.assertEqual(json.loads(made.stdout)["slabs"], json.loads(plan.stdout)["slabs"])

    def test_mistake_in_the_first_lines(self):
        """It leaves no empty map, so that the corrected build works; with --force, the old one."""
        url = self.url("m")
        for line in (b"a", b"a\tx\n", b"a\t1\nb\t4096\n"):
            self.assertEqual(self.run_map("build", url, "--raw", "12", stdin=line).returncode, 3)
            self.assertEqual(self.all_keys(), [])
        self.expect(["build", url, "--raw", "12"], stdin=b"a\t1\n")
        self.assertEqual(self.run_map("build", url, "--force", stdin=b"a").returncode, 3)
        self.expect(["get", url, "a"], out=b"1\n")
        self.expect(["build", url, "--force"])
        self.expect(["get", url, "a"], 1)
        self.expect(["drop", url])

    def test_many_keys(self):
        numbers, words = pairs(20000, lambda i: i * 7 % 4096), pairs(20000, lambda i: f"value {i % 300}")
        for engine in self.ENGINES:
            for name, stdin, options in (("n", numbers, ["--raw", "12"]),
                                         ("w", words, ["--slabs", "9"]),
                                         ("k", words, ["--slabs", "9", "--keyed"])):
                with self.subTest(engine=engine, name=name):
                    url, copy = self.url(engine + name), f"{engine}{name}.saved"
                    self.expect(["build", url, "--engine", engine, *options], stdin=stdin)
                    self.check(url, stdin, 0.002)
                    before = self.answers(url, stdin)
                    self.expect(["save", url, copy])
                    self.assertEqual(self.answers(copy, stdin), before)
                    self.expect(["put", url, "key1", "5"])
                    self.expect(["restore", copy, url], 3, err=b"bloomery: map %s: exists "
                                b"already; --force replaces it\n" %
                                (engine + name).encode())
                    self.expect(["restore", copy, url, "--force"])
                    self.assertEqual(self.answers(url, stdin), before)
        self.assertEqual(self.run_map("ls", self.url("").rstrip("/")).stdout.split(),
                         [(engine + name).encode() for engine in self.ENGINES for name in "knw"])
        for engine in self.ENGINES:
            for name in "nwk":
                self.expect(["drop", self.url(engine + name)])
        self.assertEqual(self.all_keys(), [])

    def test_repeated_and_long_keys(self):
        url = self.url("l")
        # More than one command for a slab: the last value of a key wins.
        stdin = b"".join(b"a\t%d\nb%d\t1\n" % (i % 256, i) for i in range(2600))
        self.expect(["build", url, "--raw", "8", "--slabs", "1"], stdin=stdin)
        self.expect(["get", url, "a"], out=b"%d\n" % (2599 % 256))
        lengthy = b"x" * (3 << 20)
        self.expect(["put", url], stdin=lengthy + b"1\t7\n" + lengthy + b"2\t8\n\t9\n")
        done = self.run_map("get", url, "--json", stdin=lengthy + b"2\n\n" + lengthy + b"1\n")
        self.assertEqual([json.loads(line)["value"] for line in done.stdout.splitlines()],
                         [8, 9, 7])
        self.expect(["drop", url])

    def test_damaged_directory(self):
        url = self.url("d")
        self.expect(["build", url, "--slabs", "4"], stdin=pairs(100, lambda i: f"value {i % 9}"))
        for name in ("values", "slab-000002.map", "record"):
            directory = self.directory / name.replace(".", "-")
            self.expect(["save", url, directory])
            content = (directory / name).read_bytes()
            (directory / name).write_bytes(content[:-3])
            for command in (["get", directory, *(f"key{i}" for i in range(100))],
                            ["restore", directory, self.url("e")]):
                done = self.run_map(*command)
                self.assertEqual(done.returncode, 3, name)
                self.assertRegex(done.stderr, rb"^bloomery: \S+: damaged( at byte \d+: .+)?\n$"
                                 if name != "record" else rb"^bloomery: \S+: .+\n$")
            (directory / name).unlink()
            self.assertEqual(self.run_map("restore", directory, self.url("e")).returncode, 3)
        self.expect(["save", url, "."], 3, err=b'bloomery: .: exists already\n')
        self.expect(["drop", url])
        self.assertEqual(self.all_keys(), [])

    def interrupted(self, words, stdin, from_file):
        """Begins a build that ends after its first batch: at a damaged line, or by a kill -9."""
        if from_file:
            (self.directory / "pairs").write_bytes(stdin[:stdin.index(b"key300000")] + b"damaged\n")
            with (self.directory / "pairs").open("rb") as source:
                done = subprocess.run([PROGRAM, "map", *words], stdin=source, cwd=self.directory,
                                      capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (3, b"bloomery: line 300001: "
                             b"there is no tab between key and value\n"))
            return
        build = subprocess.Popen([PROGRAM, "map", *words], cwd=self.directory, stdin=subprocess.PIPE)
        build.stdin.write(stdin[:stdin.index(b"key300000")])
        build.stdin.flush()
        while not (self.directory / "state").exists():
            self.assertIsNone(build.poll())
            time.sleep(0.005)
        build.send_signal(signal.SIGKILL)
        build.wait()
        build.stdin.close()

    def test_resume(self):
        """A build that is interrupted loses nothing that its record says is stored."""
        url, state = self.url("r"), self.directory / "state"
        stdin = pairs(330000, lambda i: i * 7 % 4096)
        words = ["build", url, "--raw", "12", "--capacity", "330k", "--resume", "state"]
        (self.directory / "one").write_bytes(stdin[:stdin.index(b"key200000")])
        (self.directory / "two").write_bytes(stdin[stdin.index(b"key200000"):])
        for from_file, inputs in ((True, []), (True, ["pairs"]), (False, []), (False, ["one", "two"])):
            self.interrupted(words, stdin, from_file)
            at = stdin.index(b"key262144") if from_file else 0
            self.assertIn(f"lines=262144 bytes={at} ", state.read_text())
            self.check(url, stdin[stdin.index(b"key261144"):stdin.index(b"key262144")], 0.005)
            self.expect([*words, "--force"], 2, err=b"bloomery: --force cannot be combined "
                        b'with a build that is continued\nTry "bloomery map build --help".\n')
            self.expect(["build", self.url("other"), *words[2:]], 3, err=b"bloomery: "
                        b'state: belongs to a build of map r\n')
            (self.directory / "pairs").write_bytes(stdin)
            with (self.directory / "pairs").open("rb") as source:
                done = subprocess.run(
                    [PROGRAM, "map", *words, *inputs], cwd=self.directory, capture_output=True,
                    check=False, **({"stdin": source} if from_file else {"input": b"" if inputs else stdin}))
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertFalse(state.exists())
            self.check(url, stdin[-10**6:], 0.002)
            info = json.loads(self.run_map("info", url, "--json").stdout)
            self.assertAlmostEqual(info["items"] / 330000, 1, delta=0.002)
            self.expect(["drop", url])


class InCluster(Commands, ClusterCase):
    REPLICAS = 1

    @property
    def address(self):
        return self.cluster.nodes[0].address

    def all_keys(self):
        return self.cluster.keys()

    def test_wait(self):
        url = self.url("w")
        self.expect(["build", url, "--raw", "4", "--wait", "1"], stdin=b"a\t1\n")
        self.expect(["put", url, "a", "2", "--wait", "1"])
        self.expect(["put", url, "a", "3", "--wait", "2"], 1, err=b"bloomery: the change was "
                    b"made, but only 1 of 2 replicas confirmed it in time\n")
        self.expect(["get", url, "a"], out=b"3\n")
        self.expect(["del", url, "a", "--wait", "1"])
        self.expect(["save", url, "f"])
        self.expect(["restore", "f", self.url("v"), "--wait", "1"])

    def test_password(self):
        url = self.url("p")
        self.expect(["build", url, "--raw", "4"], stdin=b"a\t1\n")
        for node in self.cluster.nodes:
            node.client("ACL", "SETUSER", "me", "on", ">s3cret/", "~*", "&*", "+@all")
        try:
            at = url.replace("redis://", "redis://me:s3cret%2F@")
            self.expect(["get", at, "a"], out=b"1\n")
            done = self.run_map("get", url, "a", BLOOMERY_USER="me", BLOOMERY_PASSWORD="s3cret/")
            self.assertEqual(done.stdout, b"1\n")
            done = self.run_map("get", url, "a", BLOOMERY_USER="me", BLOOMERY_PASSWORD="wrong")
            self.assertEqual(done.returncode, 3)
            self.assertIn(b"WRONGPASS", done.stderr)
            self.assertNotIn(b"wrong", done.stderr)
        finally:
            for node in self.cluster.nodes:
                node.client("ACL", "DELUSER", "me")


@unittest.skipUnless("BLOOMERY_CLUSTER_PAIRS" in os.environ, "a part of make soak")
class Building(Commands, ClusterCase):
    """A bulk load while a primary dies and while slots move."""

    REPLICAS = 1
    SETTINGS = {"cluster-node-timeout": "2000", "cluster-replica-no-failover": "no"}
    PAIRS = int(os.environ.get("BLOOMERY_CLUSTER_PAIRS", 0))
    test_one_key_at_a_time = test_many_keys = test_repeated_and_long_keys = None
    test_damaged_directory = test_resume = None

    @property
    def address(self):
        return self.cluster.nodes[2].address

    def build_during(self, event, mend=None):
        """Builds, with an event in the middle. After it, replicas may be missing: then the build
        stops, and is continued when `mend` has been called."""
        url, stdin = self.url("b"), pairs(self.PAIRS, lambda i: i * 7 % 4096)
        words = [PROGRAM, "map", "build", url, "--raw", "12", "--capacity", str(self.PAIRS),
                 "--resume", "state"]
        build = subprocess.Popen(words, cwd=self.directory, stdin=subprocess.PIPE)
        half = stdin.index(b"key%d\t" % (self.PAIRS // 2))
        build.stdin.write(stdin[:half])
        build.stdin.flush()
        happens = threading.Thread(target=event)
        happens.start()
        with contextlib.suppress(BrokenPipeError):
            for at in range(half, len(stdin), 1 << 18):
                build.stdin.write(stdin[at:at + (1 << 18)])
                time.sleep(0.02)
            build.stdin.close()
        happens.join()
        code = build.wait()
        if mend:
            self.assertIn(code, (0, 1))
            mend()
            if code == 1:
                code = subprocess.run(words, cwd=self.directory, input=stdin, check=False).returncode
        self.assertEqual(code, 0)
        self.check(url, stdin, 0.001)
        self.expect(["drop", url])

    def test_a_primary_dies(self):
        self.cluster.wait_ok(roles=True)
        primary = self.cluster.primaries()[0]
        self.build_during(lambda: primary.stop(kill=True), lambda: self.cluster.restart(primary))

    def test_slots_move(self):
        first, second = self.cluster.primaries()[:2]
        self.build_during(lambda: self.cluster.move_slots(self.cluster.slots_of(first)[:1500],
                                                          second))


class OnOneServer(Commands, server_runner.Case):
    test_resume = test_repeated_and_long_keys = test_damaged_directory = None  # the same code
    ENGINES = ("compact",)

    @property
    def address(self):
        return f"127.0.0.1:{self.server.port}"

    def all_keys(self):
        return self.client("KEYS", "*")

    def test_stopped_copies(self):
        """What a copy has left if the disk is full, or after SIGINT: nothing."""
        url = self.url("d")
        self.expect(["build", url, "--slabs", "4", "--raw", "12"], stdin=pairs(100, lambda i: i))
        done = subprocess.run([PROGRAM, "map", "save", url, "full"], cwd=self.directory,
                              capture_output=True, check=False, preexec_fn=limit_files)
        self.assertEqual((done.returncode, done.stderr), (
            3, b'bloomery: full/slab-000000.map: File too large\n'))
        self.assertFalse((self.directory / "full").exists())
        self.expect(["save", url, "whole"])
        self.expect(["drop", url])
        self.client("CLIENT", "PAUSE", 10**6, "WRITE")
        restore = subprocess.Popen([PROGRAM, "map", "restore", "whole", self.url("e")],
                                   cwd=self.directory, stderr=subprocess.DEVNULL)
        cluster_runner.wait_until(lambda: self.client.info("clients")["blocked_clients"],
                                  "the first slab is on its way")
        restore.send_signal(signal.SIGINT)
        self.client("CLIENT", "UNPAUSE")
        self.assertEqual(restore.wait(), 3)
        self.assertEqual(self.all_keys(), [])


cluster_runner.main()
