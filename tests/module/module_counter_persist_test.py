"""Tables of counters survive restarts, replication and copies, with equal digests, and no operation
is lost or counted twice."""

import random
import time

import server_runner
from persist_cases import Kept
from server_runner import Case, Error, Server, pairs

KEYS = ("plain", "short", "full", "empty", "many", "fbf")


def operations(names, ids):
    return [x for i in ids for x in (f"c{i % names}", i % 19 - 9, f"id {i}")]


def fill(client):
    """Tables with a history: repeats, refusals, deletions, expired ids."""
    client("COUNTER.CREATE", "plain", "WINDOW", "1h")  # with a random seed
    client("COUNTER.INCRBY", "plain", *operations(100, range(3000)))
    client("COUNTER.INCRBY", "plain", *operations(100, range(2500, 3500)))
    client("COUNTER.DEL", "plain", *(f"c{i}" for i in range(0, 100, 7)), "none")
    client("COUNTER.INCRBY", "plain", "top", 2**63 - 1, "i")
    client.ask("COUNTER.INCRBY", "plain", "top", 1, "j")
    client("COUNTER.CREATE", "short", "WINDOW", 7, "ERROR", 0.001, "CAPACITY", 50, "SEED", 2)
    for start in range(0, 3000, 10):
        client("COUNTER.INCRBY", "short", *operations(10, range(start, start + 10)))
    client("COUNTER.CREATE", "full", "WINDOW", "1h", "ERROR", "1e-6", "MAXMEM", "19kb")
    client.pipeline(["COUNTER.INCRBY", "full", f"c{i % 9}", 1, i] for i in range(4000))
    client("COUNTER.CREATE", "empty", "WINDOW", 1)
    client("COUNTER.CREATE", "many", "WINDOW", "1d")
    client("COUNTER.INCRBY", "many", *operations(6000, range(6000)))
    client("COUNTER.DEL", "many", *(f"c{i}" for i in range(0, 6000, 2)))
    client("EXPIRE", "many", 10000)
    client("COUNTER.CREATE", "fbf", "WINDOW", "1h", "ENGINE", "fbf", "SKEW", "7s", "CAPACITY", 2000)
    client("COUNTER.INCRBY", "fbf", *operations(50, range(1500)), "SENT", int(time.time() * 1000))


def go_on(client):
    """Later changes must give the same bytes wherever they are applied."""
    source = random.Random(3)
    for _ in range(200):
        key = source.choice(KEYS)
        start = source.randrange(6000)
        client.ask("COUNTER.INCRBY", key, *operations(source.choice((3, 500)),
                                                      range(start, start + source.randrange(1, 40))))
        client("COUNTER.DEL", key, f"c{source.randrange(500)}")


def answers(client):
    """All query results and the dump of each table; not the memory, which depends on the
    history."""
    parts = []
    for key in KEYS:
        info = pairs(client("COUNTER.INFO", key))
        for name in (b"bytes", b"bytes_ids", b"bytes_counters"):
            info.pop(name)
        parts += [info, client("COUNTER.SCAN", key, 0, "COUNT", 100000)]
    return parts + [client("DEBUG", "DIGEST-VALUE", *KEYS)]


class Counters(Kept, Case):
    family, load = "counter", "BLOOMERY.COUNTER.LOAD"
    keys, lasting = KEYS, "many"
    fill, go_on, answers = staticmethod(fill), staticmethod(go_on), staticmethod(answers)
    by_clock = True
    new = (["COUNTER.CREATE", "k", "WINDOW", "1h"], ["COUNTER.INCRBY", "k", "c", 1, "i"])
    asked, absent = ["COUNTER.GET", "k", "c"], [None]
    others = {"bloomery.counter-capacity": "77"}

    def change(self, key):
        self.client.ask("COUNTER.INCRBY", key, "c", 1, "only here")  # FULL for one of them
        self.client("COUNTER.DEL", key, "c1", "c2")
        self.client("COUNTER.SCAN", key, 0)

    def large(self):
        self.client("COUNTER.CREATE", "large", "WINDOW", "1h")
        self.client("COUNTER.INCRBY", "large", *operations(5000, range(50000)))
        return ["large"]

    def as_meant(self):
        """The tables are as fill() should make them."""
        full, plain, short = (pairs(self.client("COUNTER.INFO", key)) for key in
                              ("full", "plain", "short"))
        self.assertGreater(full[b"refused_full"], 100)
        self.assertEqual((plain[b"repeats"], plain[b"refused_overflow"]), (500, 1))
        self.assertLess(short[b"ids"], 3000)

    def same_after(self, *actions):
        super().same_after(self.as_meant, *actions)
        # The ids are known, with the counters' names hashed in as before.
        (value,) = self.client("COUNTER.GET", "plain", "c99")
        self.assertEqual(self.client("COUNTER.INCRBY", "plain", "c99", 5, "id 199"), [[value, 0]])

    def test_it_knows_the_ids(self):
        """And continues with them as a primary."""
        fill(self.client)
        with Server() as other:
            self.follow(other)
            go_on(self.client)
            self.answers_same_on(other)
            other.client("REPLICAOF", "NO", "ONE")
            self.assertEqual(other.client("COUNTER.INCRBY", "plain", "top", -5, "i"), [[2**63 - 1, 0]])

    def test_limit_while_memory_differs(self):
        """One node has reclaimed expired ids and the other has not: the primary decides."""
        self.client("COUNTER.CREATE", "t", "WINDOW", 60, "MAXMEM", "16kb", "SEED", 1)
        with Server() as other:
            count = refused = 0
            for part in range(6):
                # More than fits at once, however slow the machine; then what may fit.
                many = [word for i in range(4000) for word in ("c0", 1, f"{part} {i}")]
                refused += isinstance(self.client.ask("COUNTER.INCRBY", "t", *many), Error)
                for _ in range(1500):
                    reply = self.client.ask("COUNTER.INCRBY", "t", f"c{count % 60}", 1, count)
                    refused += isinstance(reply, Error)
                    count += 1
                if part % 2:
                    other.client("REPLICAOF", "NO", "ONE")  # and load it again
                self.follow(other)
                self.same_on(other)
            self.assertTrue(0 < refused < count + 6)

    def test_a_repeat_reaches_the_replicas(self):
        """So that WAIT after a repeat waits for the first try."""
        self.client("COUNTER.CREATE", "t", "WINDOW", "1h")
        with Server() as other:
            self.follow(other)
            self.client("COUNTER.INCRBY", "t", "c", 1, "i")
            self.caught_up()
            offset = self.client.info("replication")["master_repl_offset"]
            self.assertEqual(self.client("COUNTER.INCRBY", "t", "c", 1, "i"), [[1, 0]])
            self.assertGreater(self.client.info("replication")["master_repl_offset"], offset + 30)
            self.same_on(other)

    def test_transactions_and_scripts(self):
        with Server() as other:
            self.follow(other)
            self.client("COUNTER.CREATE", "t", "WINDOW", "1h")
            self.client("MULTI")
            self.client("COUNTER.INCRBY", "t", "c", 1, "i")
            self.client("COUNTER.INCRBY", "t", "c", 1, "i")
            self.assertEqual(self.client("EXEC"), [[[1, 1]], [[1, 0]]])
            script = "return redis.call('COUNTER.INCRBY', KEYS[1], 'c', 2, ARGV[1])"
            self.assertEqual(self.client("EVAL", script, 1, "t", "j"), [[3, 1]])
            self.assertEqual(self.client("EVAL", script, 1, "t", "j"), [[3, 0]])
            self.same_on(other)


server_runner.main()
