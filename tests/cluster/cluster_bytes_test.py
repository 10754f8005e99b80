"""Bytes per pair over a whole cluster, against one map on one server: in memory, in RDB files, in a
full synchronization, and in DUMP.

BLOOMERY_CLUSTER_PAIRS: number of pairs, 300,000 by default. BLOOMERY_CLUSTER_VERBOSE=1 prints the
table of doc/cluster.md.
"""

import os
import random
import time

import cluster_runner
import map_agents
from cluster_runner import ClusterCase, Server, wait_until

PAIRS = int(float(os.environ.get("BLOOMERY_CLUSTER_PAIRS", 300000)))
VERBOSE = os.environ.get("BLOOMERY_CLUSTER_VERBOSE") == "1"
CHUNK = 20000
BYTES = 327
# With few pairs, 32 slabs per primary would be mostly empty tables.
SLABS = min(96, max(9, PAIRS // 100000))
random.seed(17)
VALUES = [random.randbytes(BYTES) for _ in range(3000)]
KINDS = ("memory", "RDB file", "full sync", "DUMP", "used_memory")


def number(i):
    return i * 7919 % 4096


def value(i):
    return VALUES[i * 7919 % len(VALUES)]


def key(i):
    return b"pair:%d" % i


def key_memory(server):
    return sum(server.client("MEMORY", "USAGE", name, "SAMPLES", 0)
               for name in server.client("KEYS", "*"))


def used_memory(server):
    """Without the backlog for replicas, which fills up to a megabyte."""
    info = server.client.info("memory")
    return info["used_memory"] - info["mem_total_replication_buffers"]


def rdb_bytes(server):
    server.client("SAVE")
    return (server.path / "dump.rdb").stat().st_size


def sync_bytes(server):
    """What a new replica gets. It need not be in the cluster. (Redis 8 does not count what its
    child sends, but what it gets.)"""
    with Server() as replica:
        replica.client("REPLICAOF", "127.0.0.1", server.port)
        wait_until(lambda: replica.client.info("replication")["master_link_status"] == "up",
                   "the replica is in sync")
        return replica.client.info("stats")["total_net_repl_input_bytes"]


def dump_bytes(server):
    total = 0
    for name in server.client("KEYS", "*"):
        total += len(server.client("DUMP", name))
    return total


def bytes_of(servers):
    """The bytes of what these servers hold, for each of KINDS. used_memory also counts buffers of
    connections, which shrink after some seconds; the rest matters only if there are few pairs."""
    counted = [sum(map(count, servers)) for count in (key_memory, rdb_bytes, sync_bytes,
                                                      dump_bytes)]
    if PAIRS > 5e6:
        time.sleep(5)
        counted.append(sum(map(used_memory, servers)))
    return counted


class Bytes(ClusterCase):
    def setUp(self):
        super().setUp()
        if map_agents.PythonAgent.missing():
            self.skipTest(map_agents.PythonAgent.missing())

    def growth(self, servers, load):
        empty = bytes_of(servers)
        load()
        return [now - before for now, before in zip(bytes_of(servers), empty)]

    def one_map(self, value_of, *options):
        """The bytes of one map on one server."""
        with Server() as server:
            def load():
                server.client("MAP.CREATE", "one", "CAPACITY", PAIRS, "ERROR", 0.001, "SEED", 17,
                              *options)
                for start in range(0, PAIRS, CHUNK):
                    part = range(start, min(start + CHUNK, PAIRS))
                    server.client("MAP.SET", "one", *(word for i in part
                                                      for word in (key(i), value_of(i))))
            return self.growth([server], load)

    def distributed(self, value_of, **options):
        agent = map_agents.PythonAgent()

        def load():
            agent.create(f"redis://{self.cluster.nodes[0].address}/m", capacity=PAIRS,
                         slabs=SLABS, error=0.001, seed=17, **options)
            for start in range(0, PAIRS, CHUNK):
                part = range(start, min(start + CHUNK, PAIRS))
                agent.set_many([(key(i), value_of(i)) for i in part])
            for client in agent.clients.values():
                client.disconnect_connection_pools()
        grown = self.growth(self.cluster.primaries(), load)
        part = range(0, PAIRS, 10)
        wrong = sum(answer != value_of(i) for i, answer in
                    zip(part, agent.get_many([key(i) for i in part])))
        self.assertLess(wrong, len(part) * 0.001 + 5 * (len(part) * 0.001) ** 0.5)
        return grown

    def compare(self, title, one, many, bound):
        if VERBOSE:
            print(f"\n{title}, {PAIRS} pairs, {SLABS} slabs")
        for kind, single, spread in zip(KINDS, one, many):
            if VERBOSE:
                print(f"  {kind:9}  one map {single / PAIRS:6.3f}  cluster {spread / PAIRS:6.3f} "
                      f"bytes per pair, {spread / single:.3f} times")
            with self.subTest(title, kind=kind):
                self.assertLess(spread, bound * single)

    def test_numbers(self):
        self.compare("12-bit integers", self.one_map(number, "RAW", 12),
                     self.distributed(number, raw=12), 1.1 if PAIRS > 10**6 else 1.15)

    def test_strings(self):
        self.compare(f"3,000 values of {BYTES} bytes", self.one_map(value, "VALUES", 3000),
                     self.distributed(value, values=3000), 1.5)


cluster_runner.main()
