"""ONCE in a cluster: all keys are declared, so the server routes by them."""

import sys

import server_runner
from server_runner import Case, Error, Server


class Cluster(Case):
    SETTINGS = {"cluster-enabled": "yes", "cluster-require-full-coverage": "no"}

    def setUp(self):
        self.client.ask("CLUSTER", "ADDSLOTSRANGE", 0, 16383)  # they exist the second time
        self.wait_until(lambda: self.client("CLUSTER", "INFO").startswith(b"cluster_state:ok"),
                        "the cluster is up")
        super().setUp()

    def test_slots(self):
        self.client("ONCE.CREATE", "{a}guard", "WINDOW", "1h")
        self.assertEqual(self.client("ONCE", "{a}guard", 1, "INCR", "{a}n"), [1, 1])
        self.assertEqual(self.client("ONCE", "{a}guard", 1, "INCR", "{a}n"), [0])
        self.assertEqual(self.client("ONCE", "{a}guard", 2, "MSET", "{a}x", 1, "{a}y", 2),
                         [1, b"OK"])
        self.refused("CROSSSLOT", "ONCE", "{a}guard", 3, "INCR", "{b}n")
        self.refused("CROSSSLOT", "ONCE", "{a}guard", 3, "MSET", "{a}x", 1, "{b}y", 2)
        self.refused("CROSSSLOT", "ONCE", "{b}guard", 3, "INCR", "{a}n")
        call = "return redis.call('ONCE', KEYS[1], ARGV[1], 'INCR', KEYS[2])"
        self.assertEqual(self.client("EVAL", call, 2, "{a}guard", "{a}n", 4), [1, 2])
        sly = "return redis.call('ONCE', KEYS[1], ARGV[1], 'INCR', '{b}n')"
        reply = self.client.ask("EVAL", sly, 1, "{a}guard", 5)
        self.assertIsInstance(reply, Error)
        self.assertEqual(self.client("EXISTS", "{b}n"), 0)
        self.assertEqual(self.client("WINDOW.EXISTS", "{a}guard", 5), 0)

    def test_a_slot_on_the_move(self):
        """The server checks all keys: if some have moved already, the client must try again, and
        neither node runs the command."""
        slot = self.client("CLUSTER", "KEYSLOT", "{a}")
        with Server(**self.SETTINGS) as other:
            there = other.client
            there("CLUSTER", "MEET", "127.0.0.1", self.server.port)
            name, ours = there("CLUSTER", "MYID"), self.client("CLUSTER", "MYID")
            self.wait_until(lambda: name in self.client("CLUSTER", "NODES") and
                            there("CLUSTER", "INFO").startswith(b"cluster_state:ok"),
                            "the nodes have met")
            self.addCleanup(self.client, "CLUSTER", "FORGET", name)
            self.addCleanup(self.client, "CLUSTER", "SETSLOT", slot, "STABLE")
            self.client("ONCE.CREATE", "{a}guard", "WINDOW", "1h")
            self.client("SET", "{a}n", 1)
            there("CLUSTER", "SETSLOT", slot, "IMPORTING", ours)
            self.client("CLUSTER", "SETSLOT", slot, "MIGRATING", name)

            def asking(*command):
                there("ASKING")
                return there.ask(*command)

            def move(key):
                self.client("MIGRATE", "127.0.0.1", other.port, key, 0,
                            server_runner.PATIENCE * 1000)
            self.assertEqual(self.client("ONCE", "{a}guard", 1, "INCR", "{a}n"), [1, 2])
            self.refused("TRYAGAIN", "ONCE", "{a}guard", 2, "INCR", "{a}gone")
            move("{a}guard")
            self.refused("TRYAGAIN", "ONCE", "{a}guard", 1, "INCR", "{a}n")
            self.assertEqual(asking("ONCE", "{a}guard", 1, "INCR", "{a}n").word, "TRYAGAIN")
            move("{a}n")
            self.refused("ASK", "ONCE", "{a}guard", 1, "INCR", "{a}n")
            self.assertEqual(asking("ONCE", "{a}guard", 1, "INCR", "{a}n"), [0])
            self.assertEqual(asking("ONCE", "{a}guard", 2, "INCR", "{a}n"), [1, 3])
            self.assertEqual(there.ask("ONCE", "{a}guard", 3, "INCR", "{a}n").word, "MOVED")
            self.assertEqual(other.complaints(), "")


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    server_runner.main()
