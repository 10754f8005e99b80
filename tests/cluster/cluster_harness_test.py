"""The harness itself: ordinary maps of the module while a cluster changes."""

import cluster_runner
from cluster_runner import ClusterCase, slot_of


class Harness(ClusterCase):
    REPLICAS = 1
    KEYS = [f"map{i}" for i in range(30)]

    def fill(self):
        for key in self.KEYS:
            self.assertEqual(self.cluster.ask("MAP.SET", key, "a", 1, "b", key), [1, 1])

    def check(self):
        for key in self.KEYS:
            self.assertEqual(self.cluster.ask("MAP.GET", key, "a", "b"), [b"1", key.encode()])

    def test_slots(self):
        node = self.cluster.nodes[0]
        for key in ("a", "{a}b", "{}a", "x{", "x{y", "}{a}"):
            self.assertEqual(slot_of(key), node.client("CLUSTER", "KEYSLOT", key), key)
        self.assertEqual(sum(len(self.cluster.slots_of(node)) for node in self.cluster.primaries()),
                         16384)

    def test_change(self):
        cluster = self.cluster
        self.fill()
        first, second, third = cluster.primaries()

        # Half of a slot's keys are on the other side.
        slot = slot_of(self.KEYS[0])
        source = cluster.owner(slot)
        target = second if source is first else first
        cluster.open_slots([slot], target)
        cluster.move_keys(source, slot, target)
        self.check()
        cluster.close_slots([slot], target)
        cluster.wait_ok()
        self.check()

        new = cluster.add_primary()
        cluster.move_slots(range(4096, 8192), new)
        self.assertEqual(len(cluster.slots_of(new)), 4096)
        self.check()

        taken = cluster.failover(second)
        self.assertEqual((taken.role, second.role), ("master", "slave"))
        self.check()
        for node in cluster.primaries()[:3]:
            if cluster.replicas_of(node):
                node.client("WAIT", 1, 10000)
        cluster.failover(third, kill=True)
        self.assertFalse(third.alive)
        self.check()
        cluster.restart(third)
        self.assertEqual(third.role, "slave")
        self.check()


cluster_runner.main()
