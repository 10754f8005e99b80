"""Clusters of real servers with the module, for the tests in this directory.

A test program is called as those of tests/module: PROGRAM SERVER MODULE [PRELOAD] [more …].

    with Cluster(primaries=3, replicas=1) as cluster:
        cluster.ask("SET", "k", 1)               to the right node, by the first key
        cluster.move_slots(range(100), node)     as `redis-cli --cluster reshard` does
        cluster.failover(cluster.primaries()[0]) its replica takes over
        cluster.add_primary()

Replicas take over only when a test says so (failover(), with the primary alive or dead), unless
`cluster-replica-no-failover` is set to "no": a machine that stalls for seconds then changes no
roles. Everything listens on 127.0.0.1, on free ports, and ends with the test.
"""

import binascii
import pathlib
import random
import socket
import sys
import time
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "module"))
import server_runner  # noqa: E402
from server_runner import PATIENCE, Error, Server, free_port  # noqa: E402

SLOTS = 16384


def slot_of(key):
    """The slot of a key: CRC-16 of its {tag}, or of all of it."""
    key = key.encode() if isinstance(key, str) else key
    start = key.find(b"{")
    end = key.find(b"}", start + 1) if start >= 0 else -1
    if end > start + 1:
        key = key[start + 1:end]
    return binascii.crc_hqx(key, 0) % SLOTS


def free_ports(count):
    """The first of free ports in a row, for `bloomery cluster up`, whose servers also use those
    10,000 above them. All are below the ports that other servers and connections get."""
    for first in random.sample(range(10000, 22000), 200):
        try:
            for port in range(first, first + count):
                for probed in (port, port + 10000):
                    with socket.socket() as probe:
                        probe.bind(("127.0.0.1", probed))
            return first
        except OSError:
            continue
    raise RuntimeError("no free ports")


def wait_until(condition, what):
    """Returns the first true value of condition()."""
    end = time.monotonic() + PATIENCE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(f"in vain waited until {what}")
        time.sleep(0.05)


class Node(Server):
    """A server of a cluster. It keeps its ports when it is started again."""

    def __init__(self, **settings):
        super().__init__(**{"cluster-enabled": "yes", "cluster-node-timeout": "5000",
                            "cluster-replica-no-failover": "yes",
                            "cluster-allow-replica-migration": "no",
                            "cluster-require-full-coverage": "no"} | settings)
        self.port = None
        self.id = None

    def choose_ports(self):
        self.port = free_port()
        self.settings["cluster-port"] = str(free_port())

    def launch(self):
        """Starts the process on free ports; start() then waits for it."""
        self.choose_ports()
        self._launch()

    def start(self):
        if self.id:
            if not self._try_start():
                raise RuntimeError(f"{self} does not start again:\n{self.log[-4000:]}")
            return
        for _ in range(5):
            if not self.process:
                self.launch()
            if self._answers():
                self.id = self.client("CLUSTER", "MYID").decode()
                return
            self.process = None
        raise RuntimeError(f"a node does not start:\n{self.log[-4000:]}")

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    @property
    def alive(self):
        return self.process is not None and self.process.poll() is None

    @property
    def role(self):
        return self.client("ROLE")[0].decode()

    def info_ok(self):
        return b"cluster_state:ok" in self.client("CLUSTER", "INFO")

    def ranges(self):
        """{id: (id of its primary or "-", (range of slots, …))} as this node sees the cluster."""
        nodes = {}
        for line in self.client("CLUSTER", "NODES").decode().splitlines():
            identity, _, _, primary, _, _, _, _, *parts = line.split()
            nodes[identity] = (primary, tuple(part for part in parts if part[0] != "["))
        return nodes

    def view(self):
        """The same with the slots in a list."""
        nodes = {}
        for identity, (primary, parts) in self.ranges().items():
            slots = []
            for part in parts:
                first, _, last = part.partition("-")
                slots += range(int(first), int(last or first) + 1)
            nodes[identity] = (primary, slots)
        return nodes

    def __repr__(self):
        return f"node {self.address}"


class Cluster:
    def __init__(self, primaries=3, replicas=0, **settings):
        self.settings = settings
        self.nodes = [self.make_node() for _ in range(primaries * (1 + replicas))]
        self.first = primaries

    def make_node(self):
        return Node(**self.settings)

    def __enter__(self):
        try:
            self._form()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.__exit__()

    def _form(self):
        for node in self.nodes:
            node.launch()
        for epoch, node in enumerate(self.nodes):
            node.start()
            node.client("CLUSTER", "SET-CONFIG-EPOCH", epoch + 1)
        primaries = self.nodes[:self.first]
        for i, node in enumerate(primaries):
            node.client("CLUSTER", "ADDSLOTSRANGE", SLOTS * i // self.first,
                        SLOTS * (i + 1) // self.first - 1)
        self._meet(self.nodes)
        for i, node in enumerate(self.nodes[self.first:]):
            self._follow(node, primaries[i % self.first])
        self.wait_ok()

    def _meet(self, newcomers):
        known = self.nodes[0]
        for node in newcomers:
            if node is not known:
                known.client("CLUSTER", "MEET", "127.0.0.1", node.port,
                             node.settings["cluster-port"])
        everyone = {node.id for node in self.nodes if node.alive}
        wait_until(lambda: all(everyone <= node.ranges().keys() for node in self.nodes
                               if node.alive), "the nodes know one another")

    def _follow(self, replica, primary):
        # Before it has heard of its slots, a node is no primary to a newcomer.
        wait_until(lambda: "OK" in str(replica.client.ask("CLUSTER", "REPLICATE", primary.id)),
                   "a replica follows")
        wait_until(lambda: replica.client.info("replication")["master_link_status"] == "up",
                   "a replica is in sync")

    def wait_ok(self, roles=False):
        """Waits until all living nodes serve the slots and agree about their owners; with roles,
        also about who follows whom: without that a primary does not vote for a replica."""
        def agreed():
            alive = [node for node in self.nodes if node.alive]
            if not all(node.info_ok() for node in alive):
                return False
            views = [node.ranges() for node in alive]
            seen = [[view.get(node.id, (None, ()))[0 if roles else 1:] for node in alive]
                    for view in views]
            return all(one == seen[0] for one in seen)
        wait_until(agreed, "the nodes agree")

    @staticmethod
    def _owners(node):
        return {slot: identity for identity, (_, slots) in node.view().items()
                for slot in slots}

    # Who is who.

    def by_id(self, identity):
        return next(node for node in self.nodes if node.id == identity)

    def primaries(self):
        """The living primaries, in the order of their creation."""
        return [node for node in self.nodes if node.alive and node.role == "master"]

    def replicas_of(self, primary):
        witness = next(node for node in self.nodes if node.alive)
        return [self.by_id(identity) for identity, (of, _) in witness.ranges().items()
                if of == primary.id and self.by_id(identity).alive]

    def owner(self, slot_or_key):
        slot = slot_or_key if isinstance(slot_or_key, int) else slot_of(slot_or_key)
        witness = self.primaries()[0]
        return self.by_id(next(identity for identity, (_, slots) in witness.view().items()
                               if slot in slots))

    def slots_of(self, node):
        return node.view()[node.id][1]

    # Commands.

    def ask(self, *command, key=None):
        """Sends a command to the owner of its key, which is its second word by default; follows
        redirections. Returns the reply, also if it is an error."""
        key = command[1] if key is None else key
        client, asking = self.owner(key).client, False
        for _ in range(PATIENCE * 50):
            if asking:
                client("ASKING")
            reply, asking = client.ask(*command), False
            word = reply.word if isinstance(reply, Error) else ""
            if word in ("MOVED", "ASK"):
                port = int(str(reply).rpartition(":")[2])
                client = next(node for node in self.nodes if node.port == port).client
                asking = word == "ASK"
            elif word in ("TRYAGAIN", "CLUSTERDOWN", "LOADING"):
                time.sleep(0.02)
            else:
                return reply
        raise TimeoutError(f"{command[0]}: {reply}")

    def keys(self):
        return sorted(key for node in self.primaries() for key in node.client("KEYS", "*"))

    # What happens to clusters.

    def open_slots(self, slots, target):
        """Marks slots as moving to a node. Returns {source: its slots}."""
        owners = self._owners(target)
        by_source = {}
        for slot in slots:
            source = self.by_id(owners[slot])
            if source is not target:
                by_source.setdefault(source, []).append(slot)
        for source, its in by_source.items():
            self._all_ok(target, [("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
                                  for slot in its])
            self._all_ok(source, [("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id)
                                  for slot in its])
        return by_source

    def move_keys(self, source, slot, target, most=None):
        """Moves keys of an open slot, all of them by default."""
        moved = 0
        while most is None or moved < most:
            keys = source.client("CLUSTER", "GETKEYSINSLOT", slot, 1)
            if not keys:
                break
            source.client("MIGRATE", "127.0.0.1", target.port, keys[0], 0, PATIENCE * 1000)
            moved += 1
        return moved

    def close_slots(self, slots, target):
        """Gives slots to a node that has their keys."""
        others = [node for node in self.primaries() if node is not target]
        for node in (target, *others):
            self._all_ok(node, [("CLUSTER", "SETSLOT", slot, "NODE", target.id)
                                for slot in slots])

    def move_slots(self, slots, target):
        """Moves slots with their keys, live."""
        slots = list(slots)
        for source, its in self.open_slots(slots, target).items():
            counts = source.client.pipeline([("CLUSTER", "COUNTKEYSINSLOT", slot)
                                             for slot in its])
            for slot, count in zip(its, counts):
                if count:
                    self.move_keys(source, slot, target)
        self.close_slots(slots, target)
        self.wait_ok()

    @staticmethod
    def _all_ok(node, commands):
        for command, reply in zip(commands, node.client.pipeline(commands)):
            if "not a master" in str(reply):  # the node has not heard of a failover yet
                wait_until(lambda again=command: node.client.ask(*again) == b"OK", command)
            elif reply != b"OK":
                raise RuntimeError(f"{node}: {command}: {reply}")

    def failover(self, primary, kill=False):
        """A replica of the primary takes over, after a kill -9 of the primary if wanted. Returns
        the new primary."""
        self.wait_ok(roles=True)
        replica = self.replicas_of(primary)[0]
        if kill:
            primary.stop(kill=True)
        self.take_over(replica, force=kill)
        self.wait_ok()
        return replica

    @staticmethod
    def take_over(replica, force=True):
        """The replica becomes the primary; with force, without the help of the old one."""
        last = 0.0

        def taken():
            nonlocal last
            if replica.role == "master":
                return True
            # Votes need some time between two elections, so one try may fail.
            if time.monotonic() > last + 6:
                replica.client.ask("CLUSTER", "FAILOVER", *(["FORCE"] if force else []))
                last = time.monotonic()
            return False
        wait_until(taken, "a replica has taken over")

    def restart(self, node):
        """Starts a node that was stopped or killed; it finds its place."""
        node.start()
        self.wait_ok()
        if node.role == "slave":
            wait_until(lambda: node.client.info("replication")["master_link_status"] == "up",
                       "the node is in sync")

    def add_primary(self):
        """Adds an empty primary."""
        node = self.make_node()
        self.nodes.append(node)
        node.start()
        self._meet([node])
        self.wait_ok()
        return node

    def add_replica(self, primary):
        node = self.add_primary()
        self._follow(node, primary)
        self.wait_ok()
        return node

    def require_password(self, user, password):
        """From now on connections need this user and password."""
        for node in self.nodes:
            node.client("ACL", "SETUSER", user, "on", ">" + password, "~*", "&*", "+@all")
            node.client("CONFIG", "SET", "masteruser", user, "masterauth", password)
        for node in self.nodes:
            node.client("ACL", "SETUSER", "default", "resetpass", "off")

    def forget_password(self):
        for node in self.nodes:
            node.client("ACL", "SETUSER", "default", "on", "nopass")

    def complaints(self):
        return "".join(node.complaints() for node in self.nodes)


class ClusterCase(unittest.TestCase):
    """Tests on one cluster for the whole class, emptied before each."""

    maxDiff = None
    PRIMARIES, REPLICAS = 3, 0
    SETTINGS = {}

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(cls.PRIMARIES, cls.REPLICAS, **cls.SETTINGS)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)

    @classmethod
    def tearDownClass(cls):
        assert cls.cluster.complaints() == "", cls.cluster.complaints()

    def setUp(self):
        for node in self.cluster.primaries():
            node.client("FLUSHALL", "SYNC")


def main():
    server_runner.main()
