"""The clients of distributed maps, all called in the same way, for the tests in this directory.

Such a test is called as PROGRAM SERVER MODULE PRELOAD BLOOMERY NODE: PRELOAD may be empty, BLOOMERY
is the command-line program, NODE a directory with npm packages (scripts/npm-packages). The variable
MAP_AGENT names the program of map_agent.c; CLUSTER_AGENTS the clients to test, by default all.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

from cluster_runner import PATIENCE, TESTS, ClusterCase

ROOT = TESTS.parent
sys.path.insert(0, str(ROOT / "clients" / "python"))
try:
    import bloomery_map
    from bloomery_map import UNSURE
except ImportError:  # no redis-py
    bloomery_map, UNSURE = None, object()

WANTED = os.environ.get("CLUSTER_AGENTS", "python node c").split()
PROGRAM = sys.argv[4] if len(sys.argv) > 4 else None
NODE = pathlib.Path(sys.argv[5]) if len(sys.argv) > 5 else None


class Failed(Exception):
    """An error of a client; `kind` is the name of its class, such as NotConfirmed."""

    def __init__(self, kind, message):
        super().__init__(f"{kind}: {message}")
        self.kind = kind


class PythonAgent:
    name = "python"

    @staticmethod
    def missing():
        if "python" not in WANTED:
            return "not wanted"
        return None if bloomery_map else "this Python has no module redis (Debian: python3-redis)"

    def __init__(self):
        self.map, self.maps, self.clients = None, {}, {}

    def __getattr__(self, method):
        return lambda *given, **options: self._try(getattr(self.map, method), *given, **options)

    @staticmethod
    def _try(function, *given, **options):
        try:
            return function(*given, **options)
        except bloomery_map.MapError as error:
            raise Failed(type(error).__name__, str(error)) from error

    def _place(self, url):
        """A client, which takes long to make, and the name of a map."""
        server, _, name = url.rpartition("/")
        if server not in self.clients:
            self.clients[server] = bloomery_map.connect(url)[0]
        return self.clients[server], urllib.parse.unquote(name)

    def create(self, url, **options):
        self.map = self._try(bloomery_map.create, *self._place(url), **options)

    def open(self, url):
        self.map = self.maps[url] = self._try(bloomery_map.open, *self._place(url))

    def use(self, url):
        """The same, but a map that was opened before is not opened again."""
        if url not in self.maps:
            self.open(url)
        self.map = self.maps[url]

    def names(self, url):
        return bloomery_map.names(self._place(url)[0])

    def wait_for(self, seconds):
        self.map.nodes.wait_for = seconds

    def age(self):
        """A minute passes."""
        self.map.read_at -= 61

    def close(self):
        pass


def copy_node_client(directory):
    for name in ("bloomery_counter.mjs", "bloomery_map.mjs", "bloomery_nodes.mjs"):
        shutil.copy(ROOT / "clients" / "node" / name, directory)


class NodeAgent:
    """Drives map_agent.mjs. Byte strings are strings of Latin-1 characters on the way."""
    name, PROGRAM = "node", "map_agent.mjs"

    @staticmethod
    def missing():
        if "node" not in WANTED:
            return "not wanted"
        if not shutil.which("node"):
            return "there is no node"
        if not NODE or not (NODE / "node_modules" / "installed").exists():
            return f"no npm packages; scripts/npm-packages {NODE} installs them"
        return None

    def __init__(self):
        # Node searches for packages in the directories above a program.
        self.directory = tempfile.TemporaryDirectory(dir=NODE)
        copy_node_client(self.directory.name)
        program = shutil.copy(TESTS / "cluster" / self.PROGRAM, self.directory.name)
        self.process = subprocess.Popen(["node", program], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def _do(self, *words):
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or "null")  # it may have ended
        if isinstance(answer, dict) and "thrown" in answer:
            raise Failed(answer["thrown"], answer["message"])
        return answer

    @staticmethod
    def _in(value):
        return value.decode("latin1") if isinstance(value, bytes) else value

    @staticmethod
    def _out(value):
        if isinstance(value, dict):  # {"unsure": true}
            return UNSURE
        return value.encode("latin1") if isinstance(value, str) else value

    def create(self, url, **options):
        if "seed" in options:  # may be too large for a number
            options["seed"] = str(options["seed"])
        self._do("create", url, options)

    def open(self, url):
        self._do("open", url)

    def use(self, url):
        self._do("use", url)

    def names(self, url):
        return self._do("names", url)

    def wait_for(self, seconds):
        self._do("waitFor", int(seconds * 1000))

    def age(self):
        self._do("age")

    def set_many(self, pairs, **options):
        pairs = [(self._in(key), self._in(value)) for key, value in pairs]
        return [self._out(answer) for answer in self._do("setMany", pairs, options)]

    def update_many(self, pairs, **options):
        pairs = [(self._in(key), self._in(value)) for key, value in pairs]
        return [self._out(answer) for answer in self._do("updateMany", pairs, options)]

    def get_many(self, keys):
        return [self._out(answer) for answer in self._do("getMany", [*map(self._in, keys)])]

    def delete_many(self, keys, **options):
        keys = [*map(self._in, keys)]
        return [self._out(answer) for answer in self._do("deleteMany", keys, options)]

    def info(self):
        return self._do("info")

    def drop(self):
        return self._do("drop")

    def close(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.directory.cleanup()


class CAgent:
    """Drives map_agent.c."""
    name = "c"
    KINDS = {"MISMATCH": "Mismatch", "FULL": "Full", "NOTFOUND": "Missing",
             "UNCONFIRMED": "NotConfirmed"}

    @staticmethod
    def missing():
        return None if os.environ.get("MAP_AGENT") else "MAP_AGENT is not set"

    def __init__(self):
        self.process = subprocess.Popen([os.environ["MAP_AGENT"]], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.milliseconds = 0

    def _do(self, *words):
        self.process.stdin.write(" ".join(map(self._in, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if answer.startswith("! "):
            word, _, message = answer[2:].partition(" ")
            confirmed = "replicas confirmed" in message
            raise Failed("NotConfirmed" if confirmed else self.KINDS.get(word, word), message)
        return [self._out(word) for word in answer.split()]

    @staticmethod
    def _in(value):
        return "x" + value.hex() if isinstance(value, bytes) else str(value)

    @staticmethod
    def _out(word):
        if word[0] == "x":
            return bytes.fromhex(word[1:])
        return {"U": UNSURE, "-": None}.get(word, int(word) if word.isdigit() else word)

    def create(self, url, **options):
        names = {"raw": "value_bits"}
        if "keyed" in options:
            options["keyed"] = 1 if options["keyed"] else 2
        self._do("create", url, *(f"{names.get(name, name)}={value}"
                                  for name, value in options.items()))

    def open(self, url):
        self._do("open", url)

    def use(self, url):
        self._do("use", url)

    def names(self, url):
        return [name.decode() for name in self._do("names", url)]

    def wait_for(self, seconds):
        self.milliseconds = int(seconds * 1000)
        self._do("wait", 0, self.milliseconds)

    def _change(self, what, words, wait):
        if wait:
            self._do("wait", wait, self.milliseconds)
        try:
            answers = self._do(what, *words)
        finally:
            if wait:
                self._do("wait", 0, self.milliseconds)
        return [answer if answer is UNSURE else answer == 1 for answer in answers]

    def set_many(self, pairs, wait=0):
        return self._change("set", [word for pair in pairs for word in pair], wait)

    def update_many(self, pairs, wait=0):
        return self._change("update", [word for pair in pairs for word in pair], wait)

    def delete_many(self, keys, wait=0):
        return self._change("del", keys, wait)

    def get_many(self, keys):
        return self._do("get", *keys)

    def info(self):
        return dict(zip(("slabs", "slabs_used", "items"), self._do("info")))

    def drop(self):
        self._do("drop")

    def close(self):
        self.process.stdin.close()
        code = self.process.wait(PATIENCE)
        self.process.stdout.close()
        assert code == 0, f"the C client ended with {code}"  # the sanitizer's complaint is above


def within(count, n, error):
    """Whether this many wrong answers of n are possible: five standard deviations."""
    return count <= n * error + 5 * (n * error) ** 0.5


class MapCase(ClusterCase):
    """Tests of maps by all clients that are installed."""

    REPLICAS = 1

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.agents = agents(cls)

    def setUp(self):
        super().setUp()
        # Of a node that stays where it is.
        self.url = f"redis://{self.cluster.nodes[0].address}/"


def agents(case):
    """One agent of each language that is installed; they end with the class of tests."""
    made = []
    for kind in (PythonAgent, NodeAgent, CAgent):
        why = kind.missing()
        if why:
            if kind.name in WANTED:
                print(f"without {kind.name}: {why}", file=sys.stderr)
            continue
        made.append(kind())
        case.addClassCleanup(made[-1].close)
    if not made:
        raise unittest.SkipTest("no client is installed")
    return made
