"""A map whose slot moves: the command that needs a map creates it at the right node, with the options
that the caller gave."""

import sys

import server_runner
from cluster_case import ClusterCase
from server_runner import pairs

OPTIONS = ("CAPACITY", 500, "ERROR", "0.01", "RAW", 12, "SEED", 7)


class Cluster(ClusterCase):
    def test_a_slot_on_the_move(self):
        here, there, brief = (["MAP.INSERT", key, *OPTIONS, "FIELDS"] for key in
                              ("{a}here", "{a}new", "{a}brief"))
        self.client(*here, "x", 1)
        self.client(*brief, "x", 1)
        with self.moving("{a}") as other:
            self.assertEqual(self.client(*here, "y", 2), [1])
            self.refused("ASK", *there, "x", 3)
            self.assertEqual(self.asking(other, *there, "x", 3), [1])
            info = pairs(self.asking(other, "MAP.INFO", "{a}new"))
            self.assertEqual((info[b"capacity"], info[b"value_bits"], info[b"seed"]), (500, 12, b"7"))
            # Emptied before it moves: the next write creates it where the slot goes.
            self.assertEqual(self.client("MAP.REMOVE", "{a}brief", "x"), [1])
            self.refused("ASK", *brief, "x", 2)
            self.assertEqual(self.asking(other, *brief, "x", 2), [1])
            self.move("{a}here", other)
            self.refused("ASK", *here, "z", 4)
            self.assertEqual(self.asking(other, *here, "z", 4, "x", 5), [1, 0])
            self.assertEqual(self.asking(other, "MAP.GET", "{a}here", *"xyz"), [5, 2, 4])
            # What empties a map leaves no key behind on either side.
            self.refused("ASK", "MAP.REMOVE", "{a}here", *"xyz")
            self.assertEqual(self.asking(other, "MAP.REMOVE", "{a}here", *"xyz"), [1, 1, 1])
            self.refused("ASK", "MAP.GET", "{a}here", "x")
            self.assertEqual(self.asking(other, "MAP.GET", "{a}here", "x"), [None])
            self.assertEqual(other.client.ask("MAP.REMOVE", "{a}new", "x").word, "MOVED")


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    server_runner.main()
