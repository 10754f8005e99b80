"""Tables of counters outlive servers, links and copies: every way in which a key travels, with equal
digests, and no operation lost or counted twice on the way."""

import random
import sys

import server_runner
from keep_cases import MovedAndReloaded, Replicated
from server_runner import Case, Error, Server, pairs

KEYS = ("plain", "short", "full", "empty", "many")


def operations(names, ids):
    return [x for i in ids for x in (f"c{i % names}", i % 19 - 9, f"id {i}")]


def fill(client):
    """Tables with a history: repeats, refusals, deletions, ids that were forgotten."""
    client("COUNTER.CREATE", "plain", "WINDOW", "1h")  # with a seed of its own
    client("COUNTER.MINCRBY", "plain", *operations(100, range(3000)))
    client("COUNTER.MINCRBY", "plain", *operations(100, range(2500, 3500)))
    client("COUNTER.DEL", "plain", *(f"c{i}" for i in range(0, 100, 7)), "none")
    client("COUNTER.INCRBY", "plain", "top", 2**63 - 1, "i")
    client.ask("COUNTER.INCRBY", "plain", "top", 1, "j")
    client("COUNTER.CREATE", "short", "WINDOW", 7, "ERROR", 0.001, "CAPACITY", 50, "SEED", 2)
    for start in range(0, 3000, 10):
        client("COUNTER.MINCRBY", "short", *operations(10, range(start, start + 10)))
    client("COUNTER.CREATE", "full", "WINDOW", "1h", "ERROR", "1e-6", "MAXMEM", "20kb")
    client.pipeline(["COUNTER.INCRBY", "full", f"c{i % 9}", 1, i] for i in range(4000))
    client("COUNTER.CREATE", "empty", "WINDOW", 1)
    client("COUNTER.CREATE", "many", "WINDOW", "1d")
    client("COUNTER.MINCRBY", "many", *operations(20000, range(20000)))
    client("COUNTER.DEL", "many", *(f"c{i}" for i in range(0, 20000, 2)))
    client("EXPIRE", "many", 10000)


def go_on(client):
    """Later changes must lead to the same bytes wherever they are carried out."""
    source = random.Random(3)
    for _ in range(200):
        key = source.choice(KEYS)
        start = source.randrange(6000)
        client.ask("COUNTER.MINCRBY", key, *operations(source.choice((3, 500)),
                                                       range(start, start + source.randrange(1, 40))))
        client("COUNTER.DEL", key, f"c{source.randrange(500)}")


def answers(client):
    """All that can be asked, and how each table would be saved; not the memory, which depends on the
    way an object came to be."""
    parts = []
    for key in KEYS:
        info = pairs(client("COUNTER.INFO", key))
        for name in (b"bytes", b"bytes_ids", b"bytes_counters"):
            info.pop(name)
        parts += [info, client("COUNTER.SCAN", key, 0, "COUNT", 100000)]
    return parts + [client("DEBUG", "DIGEST-VALUE", *KEYS)]


class Keep(MovedAndReloaded, Replicated, Case):
    keys = KEYS
    fill, go_on = staticmethod(fill), staticmethod(go_on)
    answers = staticmethod(answers)

    def assertSame(self, one, other):
        self.assertEqual(answers(one), answers(other))
        self.assertEqual(one("DEBUG", "DIGEST"), other("DEBUG", "DIGEST"))

    def assertHistory(self, client):
        """The tables are what fill() is meant to make."""
        full, plain, short = (pairs(client("COUNTER.INFO", key)) for key in
                              ("full", "plain", "short"))
        self.assertGreater(full[b"refused_full"], 100)
        self.assertEqual((plain[b"repeats"], plain[b"refused_overflow"]), (500, 1))
        self.assertLess(short[b"ids"], 3000)

    def same_after(self, action):
        fill(self.client)
        self.assertHistory(self.client)
        before, digest = answers(self.client), self.client("DEBUG", "DIGEST")
        totals = self.client.info("bloomery")
        action()
        self.assertEqual(answers(self.client), before)
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)
        now = self.client.info("bloomery")
        self.assertEqual([now[f"bloomery_counter_{x}"] for x in ("keys", "items")],
                         [totals[f"bloomery_counter_{x}"] for x in ("keys", "items")])
        self.assertGreater(self.client("TTL", "many"), 9000)
        # The ids are known, and the names mixed in as before.
        value = self.client("COUNTER.GET", "plain", "c99")
        self.assertEqual(self.client("COUNTER.INCRBY", "plain", "c99", 5, "id 199"), [value, 0])

    def test_copy(self):
        fill(self.client)
        for key in KEYS:
            self.client("COPY", key, "copy")
            digest = self.client("DEBUG", "DIGEST-VALUE", key)
            self.assertEqual(self.client("DEBUG", "DIGEST-VALUE", "copy"), digest, key)
            self.client.ask("COUNTER.INCRBY", "copy", "c", 1, "only here")  # FULL for one of them
            self.client("COUNTER.DEL", "copy", "c1", "c2")
            self.assertEqual(self.client("DEBUG", "DIGEST-VALUE", key), digest, key)
            self.client("DEL", key)
            self.client("COUNTER.SCAN", "copy", 0)
            self.client("DEL", "copy")
        self.wait_until(lambda: self.client.info("bloomery")["bloomery_counter_bytes"] == 0,
                        "all is freed")  # aside, where a server's DEL is UNLINK

    def test_flushall_async(self):
        for how in (["FLUSHALL", "ASYNC"], ["UNLINK", *KEYS]):
            fill(self.client)
            self.client(*how)
            self.wait_until(lambda: self.client.info("bloomery")["bloomery_counter_bytes"] == 0,
                            "all is freed")
            info = self.client.info("bloomery")
            self.assertEqual((info["bloomery_counter_keys"], info["bloomery_counter_items"]), (0, 0))


class Damaged(Case):
    """Payloads that did not come whole. The server's own checksum is switched off for these."""

    def setUp(self):
        super().setUp()
        self.client("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
        self.client("CONFIG", "SET", "rdbcompression", "no")
        self.client("COUNTER.CREATE", "t", "WINDOW", "1h", "SEED", 8)
        self.client("COUNTER.MINCRBY", "t", *operations(20, range(200)))

    def try_restore(self, payload):
        """Refused, or a table that can be asked and changed."""
        reply = self.client.ask("RESTORE", "u", 0, payload)
        if isinstance(reply, Error):
            self.assertEqual(self.client("EXISTS", "u"), 0)
            return False
        for command in (["SCAN", "u", 0], ["INCRBY", "u", "c1", 1, "i"], ["DEL", "u", "c2"],
                        ["INFO", "u"]):
            self.client.ask(f"COUNTER.{command[0]}", *command[1:])
        self.client("DEL", "u")
        return True

    def test_truncated(self):
        dump = self.client("DUMP", "t")
        self.assertTrue(self.try_restore(dump))
        for end in list(range(0, 100)) + list(range(100, len(dump) - 10, 53)):
            self.assertFalse(self.try_restore(dump[:end] + dump[-10:]), end)
        self.assertIn("a counter is refused", self.server.log)

    def test_flipped(self):
        dump, source, taken = self.client("DUMP", "t"), random.Random(7), 0
        for _ in range(400):
            at = source.randrange(10, len(dump) - 10)
            changed = bytearray(dump)
            changed[at] ^= 1 << source.randrange(8)
            taken += self.try_restore(bytes(changed))
        # All but MAXMEM and a count of refusals are under a checksum, and there any bits make sense.
        self.assertLess(taken, 20)


class Log(Keep):
    """The same with a log, so that a restart replays commands instead of loading frames."""

    SETTINGS = {"appendonly": "yes", "appendfsync": "no", "auto-aof-rewrite-percentage": "0",
                "aof-use-rdb-preamble": "no"}

    def test_save_and_restart(self):
        """Here: nothing but the log."""
        self.same_after(self.server.restart)

    def rewritten(self):
        self.client("BGREWRITEAOF")
        self.wait_until(lambda: self.client.info("persistence")["aof_rewrite_in_progress"] == 0 and
                        self.client.info("persistence")["aof_rewrite_scheduled"] == 0,
                        "the log is rewritten")
        self.assertEqual(self.client.info("persistence")["aof_last_bgrewrite_status"], "ok")
        self.server.restart()

    def test_rewrite(self):
        self.same_after(self.rewritten)

    def test_rewrite_then_more(self):
        fill(self.client)
        self.rewritten()
        go_on(self.client)
        before = answers(self.client)
        self.server.restart()
        self.assertEqual(answers(self.client), before)


class Replica(Keep):
    def test_every_step(self):
        """The replica is there from the start, and has other limits."""
        with Server(**{"bloomery.max-key-bytes": "64kb"}) as other:
            self.follow(other)
            fill(self.client)
            self.assertHistory(self.client)
            self.caught_up()
            self.assertSame(self.client, other.client)
            go_on(self.client)
            self.caught_up()
            self.assertSame(self.client, other.client)
            self.assertEqual(other.complaints(), "")

    def test_late(self):
        """The replica loads what is there; then both go on. It is other memory that a full table
        takes there, and must be the same table all the same."""
        fill(self.client)
        with Server() as other:
            self.follow(other)
            self.assertSame(self.client, other.client)
            go_on(self.client)
            self.caught_up()
            self.assertSame(self.client, other.client)
            other.client("REPLICAOF", "NO", "ONE")
            value = self.client("COUNTER.GET", "plain", "c98")
            self.assertEqual(other.client("COUNTER.INCRBY", "plain", "c98", 5, "id 98"), [value, 0])
            self.assertEqual(other.complaints(), "")

    def test_ceiling_while_memory_differs(self):
        """Expired ids that one node has reclaimed and the other has not: the master decides."""
        self.client("COUNTER.CREATE", "t", "WINDOW", 60, "MAXMEM", "16kb", "SEED", 1)
        with Server() as other:
            count = refused = 0
            for part in range(6):
                # More than fits at one moment, however slow the machine; then what may fit.
                many = [word for i in range(4000) for word in ("c0", 1, f"{part} {i}")]
                refused += isinstance(self.client.ask("COUNTER.MINCRBY", "t", *many), Error)
                for _ in range(1500):
                    reply = self.client.ask("COUNTER.INCRBY", "t", f"c{count % 60}", 1, count)
                    refused += isinstance(reply, Error)
                    count += 1
                if part % 2:
                    other.client("REPLICAOF", "NO", "ONE")  # and load it anew
                self.follow(other)
                self.caught_up()
                self.assertEqual(other.client("DEBUG", "DIGEST"), self.client("DEBUG", "DIGEST"))
            self.assertTrue(0 < refused < count + 6)

    def test_a_repeat_reaches_the_replicas(self):
        """So that WAIT after a repeat waits for the first try."""
        self.client("COUNTER.CREATE", "t", "WINDOW", "1h")
        with Server() as other:
            self.follow(other)
            self.client("COUNTER.INCRBY", "t", "c", 1, "i")
            self.caught_up()
            offset = self.client.info("replication")["master_repl_offset"]
            self.assertEqual(self.client("COUNTER.INCRBY", "t", "c", 1, "i"), [1, 0])
            self.assertGreater(self.client.info("replication")["master_repl_offset"], offset + 30)
            self.caught_up()
            self.assertEqual(other.client("DEBUG", "DIGEST"), self.client("DEBUG", "DIGEST"))

    def test_transactions_and_scripts(self):
        with Server() as other:
            self.follow(other)
            self.client("COUNTER.CREATE", "t", "WINDOW", "1h")
            self.client("MULTI")
            self.client("COUNTER.INCRBY", "t", "c", 1, "i")
            self.client("COUNTER.INCRBY", "t", "c", 1, "i")
            self.assertEqual(self.client("EXEC"), [[1, 1], [1, 0]])
            script = "return redis.call('COUNTER.INCRBY', KEYS[1], 'c', 2, ARGV[1])"
            self.assertEqual(self.client("EVAL", script, 1, "t", "j"), [3, 1])
            self.assertEqual(self.client("EVAL", script, 1, "t", "j"), [3, 0])
            self.caught_up()
            self.assertEqual(other.client("DEBUG", "DIGEST"), self.client("DEBUG", "DIGEST"))

    # Inherited, and the same here as there:
    test_save_and_restart = test_debug_reload = test_swapdb_move_rename = None
    test_dump_restore = test_copy = test_flushall_async = test_migrate = None
    test_restore_on_an_older_module = test_an_older_module_as_a_replica = None
    test_an_older_module_on_our_snapshot = test_partial_resync = None


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    server_runner.main()
