"""ONCE in a cluster: all keys are declared, so the server routes by them."""

import sys

import server_runner
from cluster_case import ClusterCase
from server_runner import Error


class Cluster(ClusterCase):
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
        self.client("ONCE.CREATE", "{a}guard", "WINDOW", "1h")
        self.client("SET", "{a}n", 1)
        with self.moving("{a}") as other:
            self.assertEqual(self.client("ONCE", "{a}guard", 1, "INCR", "{a}n"), [1, 2])
            self.refused("TRYAGAIN", "ONCE", "{a}guard", 2, "INCR", "{a}gone")
            self.move("{a}guard", other)
            self.refused("TRYAGAIN", "ONCE", "{a}guard", 1, "INCR", "{a}n")
            self.assertEqual(self.asking(other, "ONCE", "{a}guard", 1, "INCR", "{a}n").word, "TRYAGAIN")
            self.move("{a}n", other)
            self.refused("ASK", "ONCE", "{a}guard", 1, "INCR", "{a}n")
            self.assertEqual(self.asking(other, "ONCE", "{a}guard", 1, "INCR", "{a}n"), [0])
            self.assertEqual(self.asking(other, "ONCE", "{a}guard", 2, "INCR", "{a}n"), [1, 3])
            self.assertEqual(other.client.ask("ONCE", "{a}guard", 3, "INCR", "{a}n").word, "MOVED")


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    server_runner.main()
