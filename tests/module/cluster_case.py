"""A server that owns all slots of a cluster, and a second one to which a slot moves."""

import contextlib

import server_runner
from server_runner import Case, Server


class ClusterCase(Case):
    SETTINGS = {"cluster-enabled": "yes", "cluster-require-full-coverage": "no"}

    def setUp(self):
        self.client.ask("CLUSTER", "ADDSLOTSRANGE", 0, 16383)  # they exist the second time
        self.wait_until(lambda: self.client("CLUSTER", "INFO").startswith(b"cluster_state:ok"),
                        "the cluster is up")
        super().setUp()

    @contextlib.contextmanager
    def other_node(self):
        """A second node, without slots."""
        with Server(**self.SETTINGS) as other:
            there = other.client
            there("CLUSTER", "MEET", "127.0.0.1", self.server.port)
            name = there("CLUSTER", "MYID")
            self.wait_until(lambda: name in self.client("CLUSTER", "NODES") and
                            there("CLUSTER", "INFO").startswith(b"cluster_state:ok"),
                            "the nodes have met")
            self.addCleanup(self.client, "CLUSTER", "FORGET", name)
            yield other
            self.assertEqual(other.complaints(), "")

    @contextlib.contextmanager
    def moving(self, tag):
        """The slot of this tag moves to a new node, which is yielded; no key has moved yet."""
        slot = self.client("CLUSTER", "KEYSLOT", tag)
        with self.other_node() as other:
            there = other.client
            name, ours = there("CLUSTER", "MYID"), self.client("CLUSTER", "MYID")
            self.addCleanup(self.client, "CLUSTER", "SETSLOT", slot, "STABLE")
            there("CLUSTER", "SETSLOT", slot, "IMPORTING", ours)
            self.client("CLUSTER", "SETSLOT", slot, "MIGRATING", name)
            yield other

    def move(self, key, other):
        self.client("MIGRATE", "127.0.0.1", other.port, key, 0, server_runner.PATIENCE * 1000)

    @staticmethod
    def asking(other, *command):
        """What a client does after ASK."""
        other.client("ASKING")
        return other.client.ask(*command)
