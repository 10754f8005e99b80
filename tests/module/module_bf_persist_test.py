"""Filters survive restarts, replication and copies, with equal digests."""

import os
import re
import shutil

import server_runner
from persist_cases import Family, Kept
from server_runner import Case, Server, pairs


def fill(client):
    """Filters of every kind, with a history: grown, deleted from, refused, merged, copied by
    chunks."""
    client("BF.RESERVE", "grown", "0.01", 50, "EXPANSION", 3, "SEED", 1)
    for start in range(0, 5000, 500):
        client("BF.MADD", "grown", *(f"k{i}" for i in range(start, start + 500)))
    client("BF.DEL", "grown", *(f"k{i}" for i in range(0, 900, 7)), "none")
    client("BF.RESERVE", "exact", "1e-9", 2000)
    client("BF.MADD", "exact", *range(2000))
    client("BF.RESERVE", "fixed", "0.05", 100, "NONSCALING", "SEED", 3)
    for i in range(0, 140, 7):
        client.ask("BF.MADD", "fixed", *range(i, i + 7))
    for i in range(5):
        client.ask("BF.ADD", "fixed", f"f{i}")
    client("BF.ADD", "made", "a")  # with this server's defaults and a random seed
    client("BF.INSERT", "inserted", "CAPACITY", 7, "ERROR", "0.2", "EXPANSION", 9, "ITEMS", "a", "b")
    client("BF.INSERT", "sized", "CAPACITY", 9, "ITEMS", "a")
    client("BF.INSERT", "cut", "CAPACITY", 2, "ERROR", "1e-6", "NONSCALING", "ITEMS", *"abcd")
    client("BF.RESERVE", "coarse", "0.9", 10)
    client("BF.MADD", "coarse", *range(50))
    client("BF.RESERVE", "empty", "0.01", 100)
    client("BF.RESERVE", "other", "0.01", 5000, "SEED", 1)
    client("BF.MADD", "other", *(f"o{i}" for i in range(700)))
    client("BF.MERGE", "merged", "grown", "none", "other")
    client("EXPIRE", "merged", 10000)
    client("BF.LOADCHUNK", "carried", *client("BF.SCANDUMP", "exact", 0))
    client("BF.ADD", "carried", "more")
    client("EVAL", "redis.call('BF.ADD', KEYS[1], 'a'); redis.call('BF.DEL', KEYS[2], 'k3')",
           2, "script", "grown")
    client("MULTI")
    client("BF.ADD", "queued", "a")
    client("BF.MADD", "queued", "a", "b")
    client("EXEC")


KEYS = ("grown", "exact", "fixed", "made", "inserted", "cut", "coarse", "empty", "other", "merged",
        "carried", "script", "queued", "sized")


def answers(client):
    """All query results except allocated bytes, which depend on the history, and the dump of each
    filter."""
    infos = [pairs(client("BF.INFO", key)) for key in KEYS]
    for info in infos:
        info.pop(b"Size")
    return ([client("BF.MEXISTS", key, *(f"k{i}" for i in range(1000)), *range(1000),
                    *(f"o{i}" for i in range(20)), "a", "b", "c", "f1") for key in KEYS]
            + infos + [client("BF.CARD", key) for key in KEYS]
            + [client("BF.SCANDUMP", key, 0) for key in KEYS]
            + [client("DEBUG", "DIGEST-VALUE", *KEYS)])


def go_on(client):
    """Later changes must give the same bytes wherever they are applied."""
    for key in ("grown", "exact", "merged", "made", "coarse"):
        for start in range(0, 3000, 100):
            client("BF.MADD", key, *(f"later {i}" for i in range(start, start + 100)))
    client("BF.DEL", "grown", *(f"later {i}" for i in range(0, 3000, 2)))
    client.ask("BF.MADD", "fixed", *(f"later {i}" for i in range(9)))
    client("BF.DEL", "fixed", *range(50))
    client.ask("BF.MADD", "fixed", *(f"later still {i}" for i in range(70)))
    client("BF.MERGE", "merged", "other")


class Filters(Family):
    family, load = "filter", "BLOOMERY.FILTER.LOAD"
    keys, lasting = KEYS, "merged"
    fill, go_on, answers = staticmethod(fill), staticmethod(go_on), staticmethod(answers)
    new = (["BF.ADD", "k", "a"],)
    asked, absent = ["BF.EXISTS", "k", "a"], 0
    others = {"bloomery.bf-error-rate": "0.1", "bloomery.bf-initial-size": "5",
              "bloomery.bf-expansion-factor": "9"}

    def change(self, key):
        self.client("BF.DEL", key, 1, "k1")
        self.client.ask("BF.ADD", key, "after")

    def large(self):
        self.client("BF.ADD", "of the primary's settings", "a")
        self.client("BF.INSERT", "of both", "ERROR", "0.3", "ITEMS", "a")
        self.client("BF.MADD", "large", *range(120000))
        self.client("BF.LOADCHUNK", "once more", *self.client("BF.SCANDUMP", "large", 0))
        return ["large"]


class Keep(Filters, Kept, Case):
    pass


class WithoutTheNames(Filters, Case):
    """Nodes without BF.*, or where another module has these names, hold the same filters."""

    SETTINGS = {"appendonly": "yes", "appendfsync": "no", "aof-use-rdb-preamble": "no"}

    def nodes(self):
        """Servers that are not started yet."""
        taken = os.path.join(os.path.dirname(server_runner.MODULE), "names-taken.so")
        for lines in ([f"loadmodule {server_runner.MODULE} bf no"],
                      [f"loadmodule {taken}", f"loadmodule {server_runner.MODULE} bf auto"]):
            yield Server(**self.SETTINGS).configure(*lines)

    def check(self, *nodes):
        for node in nodes:
            self.assertEqual(node.client("DEBUG", "DIGEST"), self.client("DEBUG", "DIGEST"))
            for name in ("keys", "items"):
                self.assertEqual(node.client.info("bloomery")[f"bloomery_filter_{name}"],
                                 self.client.info("bloomery")[f"bloomery_filter_{name}"])
            self.assertIn("unknown command", str(node.client.ask("BF.EXISTS", "grown", "k1")))
            self.assertNotIn("sending an error", node.log)
            self.assertEqual(node.complaints(), "")

    def change(self):
        self.fill(self.client)
        self.client("ONCE.CREATE", "guard", "WINDOW", "1h")
        self.client("ONCE", "guard", "id", "BF.ADD", "by once", "a")
        self.go_on(self.client)
        self.client("BF.ADD", "deleted", "a")
        self.client("BF.DEL", "deleted", "a")
        self.refused("MISMATCH", "BF.MERGE", "grown", "exact")
        self.client("BF.MADD", "fixed", *range(50))  # into the freed room
        self.client("BF.RESERVE", "full", "0.05", 100, "NONSCALING", "SEED", 3)
        self.client("BF.MADD", "full", *(f"f{i}" for i in range(90)))
        self.assertEqual(self.client.ask("BF.MERGE", "full", "fixed").word, "FULL")

    def test_as_replicas(self):
        nodes = list(self.nodes())
        for node in nodes:
            self.enterContext(node)
            self.follow(node)
        self.change()
        self.caught_up(len(nodes))
        self.check(*nodes)
        # Their own append-only files and replicas have it too.
        with Server() as behind:
            self.follow(behind, nodes[0])
            self.change_again()
            self.caught_up(len(nodes))
            digest = self.client("DEBUG", "DIGEST")
            self.wait_until(lambda: behind.client("DEBUG", "DIGEST") == digest,
                            "the replica's replica has it all")
            self.assertEqual(self.answers(behind.client), self.answers(self.client))
        for node in nodes:
            node.restart()
            self.check(node)

    def change_again(self):
        self.client("DEL", "merged")
        self.client("BF.MERGE", "merged", "grown", "other")
        self.client("BF.INSERT", "new", "CAPACITY", 9, "ITEMS", "a", "b", "a")
        self.client("BF.MADD", "new", "b", "c")
        self.client("BF.LOADCHUNK", "new", *self.client("BF.SCANDUMP", "grown", 0))
        self.client("BF.DEL", "new", "k1", "k2")

    def test_with_our_log(self):
        self.change()
        digest = self.client("DEBUG", "DIGEST")
        self.server.stop()
        self.addCleanup(self.server.restart)
        directory = self.server.path / "appendonlydir"
        logged = b"".join(path.read_bytes() for path in directory.glob("*.aof"))
        self.assertIsNone(re.search(rb"\r\nbf\.", logged, re.IGNORECASE))
        for command in (b"CREATE", b"ADD", b"DEL", b"MERGE", b"CHUNK"):
            self.assertIn(b"BLOOMERY.FILTER." + command, logged)
        for node in self.nodes():
            shutil.copytree(directory, node.path / "appendonlydir")
            self.enterContext(node)
            self.assertEqual(node.client("DEBUG", "DIGEST"), digest)
            node.restart()
            self.assertEqual(node.client("DEBUG", "DIGEST"), digest)
            self.assertEqual(node.complaints(), "")


server_runner.main()
