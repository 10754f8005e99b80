"""Filters outlive servers, links and copies: every way in which a key travels, with equal digests."""

import random
import struct
import sys

import server_runner
from keep_cases import MovedAndReloaded, Replicated
from server_runner import Case, Client, Error, Server, pairs


def fill(client):
    """Filters of every kind, with a history: grown, deleted from, refused, merged, carried over."""
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
    client("BF.ADD", "made", "a")  # with this server's defaults and a seed of its own
    client("BF.INSERT", "inserted", "CAPACITY", 7, "ERROR", "0.2", "EXPANSION", 9, "ITEMS", "a", "b")
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
        "carried", "script", "queued")


def answers(client):
    """All that can be asked but the bytes now allocated, which depend on the way an object came to
    be, and how each filter would be saved."""
    infos = [pairs(client("BF.INFO", key)) for key in KEYS]
    for info in infos:
        info.pop(b"Size")
    return ([client("BF.MEXISTS", key, *(f"k{i}" for i in range(1000)), *range(1000),
                    *(f"o{i}" for i in range(20)), "a", "b", "c", "f1") for key in KEYS]
            + infos + [client("BF.CARD", key) for key in KEYS]
            + [client("BF.SCANDUMP", key, 0) for key in KEYS]
            + [client("DEBUG", "DIGEST-VALUE", *KEYS)])


def go_on(client):
    """Later changes must lead to the same bytes wherever they are carried out."""
    for key in ("grown", "exact", "merged", "made", "coarse"):
        for start in range(0, 3000, 100):
            client("BF.MADD", key, *(f"later {i}" for i in range(start, start + 100)))
    client("BF.DEL", "grown", *(f"later {i}" for i in range(0, 3000, 2)))
    client.ask("BF.MADD", "fixed", *(f"later {i}" for i in range(9)))
    client("BF.DEL", "fixed", *range(50))
    client.ask("BF.MADD", "fixed", *(f"later still {i}" for i in range(70)))
    client("BF.MERGE", "merged", "other")


class Keep(MovedAndReloaded, Replicated, Case):
    keys = KEYS
    fill, go_on, answers = staticmethod(fill), staticmethod(go_on), staticmethod(answers)

    def same_after(self, action):
        fill(self.client)
        before, digest = answers(self.client), self.client("DEBUG", "DIGEST")
        totals = self.client.info("bloomery")
        action()
        self.assertEqual(answers(self.client), before)
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)
        now = self.client.info("bloomery")
        self.assertEqual([now[f"bloomery_filter_{x}"] for x in ("keys", "items")],
                         [totals[f"bloomery_filter_{x}"] for x in ("keys", "items")])
        self.assertGreater(self.client("TTL", "merged"), 9000)

    def test_copy(self):
        fill(self.client)
        for key in KEYS:
            self.client("COPY", key, "copy")
            self.assertEqual(*self.client("DEBUG", "DIGEST-VALUE", key, "copy"), key)
            self.client("BF.DEL", key, 1, "k1")  # the copy has its own memory
            self.client("DEL", key)
            self.client.ask("BF.ADD", "copy", "after")
            self.client("DEL", "copy")
        self.wait_until(lambda: self.client.info("bloomery")["bloomery_filter_bytes"] == 0,
                        "all is freed")  # aside, where a server's DEL is UNLINK

    def test_expire(self):
        self.client("BF.ADD", "k", "a")
        self.client("PEXPIRE", "k", 1)
        self.wait_until(lambda: self.client("BF.EXISTS", "k", "a") == 0, "it is gone")
        self.assertEqual(self.client("BF.ADD", "k", "a"), 1)

    def test_flushall_async(self):
        for how in (["FLUSHALL", "ASYNC"], ["UNLINK", *KEYS], ["FLUSHDB", "ASYNC"]):
            fill(self.client)
            self.client(*how)
            self.wait_until(lambda: self.client.info("bloomery")["bloomery_filter_bytes"] == 0,
                            "all is freed")
            info = self.client.info("bloomery")
            self.assertEqual((info["bloomery_filter_keys"], info["bloomery_filter_items"]), (0, 0))


class Damaged(Case):
    """Payloads that did not come whole. The server's own checksum is switched off for these."""

    def setUp(self):
        super().setUp()
        self.client("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
        self.addCleanup(self.client, "DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 0)
        self.client("CONFIG", "SET", "rdbcompression", "no")
        self.addCleanup(self.client, "CONFIG", "SET", "rdbcompression", "yes")

    def small(self):
        self.client("BF.RESERVE", "k", "0.001", 10, "EXPANSION", 7, "SEED", 8)
        self.client("BF.MADD", "k", *range(60))
        return self.client("DUMP", "k")

    def try_restore(self, payload):
        """Refused, or a filter that can be asked and changed."""
        reply = self.client.ask("RESTORE", "t", 0, payload)
        if isinstance(reply, Error):
            self.assertEqual(self.client("EXISTS", "t"), 0)
            return False
        for command in (["BF.MEXISTS", "t", *range(70)], ["BF.ADD", "t", "n"], ["BF.DEL", "t", 5],
                        ["BF.INFO", "t"], ["BF.SCANDUMP", "t", 0]):
            self.client.ask(*command)
        self.client("DEL", "t")
        return True

    def test_intact(self):
        self.assertTrue(self.try_restore(self.small()))

    def test_truncated(self):
        dump = self.small()
        for end in list(range(0, 96)) + list(range(96, len(dump) - 10, 31)):
            self.assertFalse(self.try_restore(dump[:end] + dump[-10:]), end)
            self.assertFalse(self.try_restore(dump[:end]), end)
        self.assertIn("a filter is refused", self.server.log)

    def test_flipped(self):
        source, dump, refused = random.Random(7), self.small(), 0
        for _ in range(600):
            at = source.randrange(10, len(dump) - 10)  # past the type's name
            changed = bytearray(dump)
            changed[at] ^= 1 << source.randrange(8)
            refused += not self.try_restore(bytes(changed))
        # Every byte of the head and of the frames is under a checksum.
        self.assertGreater(refused, 594)
        self.assertRegex(self.server.log, r"a filter is refused: .* at byte \d+ \(BADDATA\)")

    def test_every_bit_of_the_head(self):
        dump = self.small()
        start = dump.index(struct.pack("<QQd", 10, 7, 0.001))
        for at in range(start, start + 32):
            for bit in range(8):
                changed = bytearray(dump)
                changed[at] ^= 1 << bit
                self.assertFalse(self.try_restore(bytes(changed)), (at - start, bit))
        self.assertIn("what the filter was reserved with is damaged", self.server.log)


class Log(Keep):
    SETTINGS = {"appendonly": "yes", "appendfsync": "no"}
    # Those of Keep run on this server as well; what a restart loads is the log.

    def test_save_and_restart(self):
        self.same_after(self.server.restart)

    def rewrite(self):
        self.client("BGREWRITEAOF")
        self.wait_until(lambda: self.client.info("persistence")["aof_rewrite_in_progress"] == 0
                        and self.client.info("persistence")["aof_rewrite_scheduled"] == 0,
                        "the log is rewritten")
        self.assertEqual(self.client.info("persistence")["aof_last_bgrewrite_status"], "ok")

    def test_rewrite_and_restart(self):
        for preamble in ("yes", "no"):
            self.client("FLUSHALL")
            self.client("CONFIG", "SET", "aof-use-rdb-preamble", preamble)

            def action():
                self.rewrite()
                self.server.restart()
            self.same_after(action)
            if preamble == "no":
                log = b"".join(path.read_bytes() for path in
                               (self.server.path / "appendonlydir").glob("*.aof"))
                self.assertIn(b"FILTER.LOAD", log)
            go_on(self.client)
            digest = self.client("DEBUG", "DIGEST")
            self.server.restart()
            self.assertEqual(self.client("DEBUG", "DIGEST"), digest)

    def test_creation_is_logged_with_all_it_takes(self):
        self.client("BF.ADD", "k", "a")
        self.client("BF.INSERT", "i", "CAPACITY", 9, "ITEMS", "a")
        before = self.client("DEBUG", "DIGEST")
        more = {"bloomery.bf-error": "0.1", "bloomery.bf-capacity": "5", "bloomery.bf-expansion": "9"}
        self.server.settings |= more
        self.server.restart()
        info = pairs(self.client("BF.INFO", "k"))
        self.assertEqual((info[b"Capacity"], info[b"Expansion rate"]), (100, 2))
        self.assertEqual(self.client("DEBUG", "DIGEST"), before)
        for name in more:
            del self.server.settings[name]
        self.server.restart()


class Replica(Case):
    def test_full_and_partial_sync(self):
        fill(self.client)
        with Server(**{"bloomery.bf-error": "0.1", "bloomery.bf-capacity": "5",
                       "bloomery.max-key-bytes": "64kb"}) as other:
            replica = other.client
            replica("REPLICAOF", "127.0.0.1", self.server.port)
            self.wait_until(lambda: replica.info("replication")["master_link_status"] == "up",
                            "the replica is connected")
            self.check(replica)
            go_on(self.client)
            self.client("BF.ADD", "of the master's settings", "a")
            self.client("BF.INSERT", "of both", "ERROR", "0.3", "ITEMS", "a")
            # Larger than this replica would let its own clients make one.
            self.client("BF.MADD", "large", *range(60000))
            self.assertGreater(self.client("BF.INFO", "large", "SIZE")[0], 65536)
            self.client("RESTORE", "again", 0, self.client("DUMP", "large"))
            self.client("BF.LOADCHUNK", "once more", *self.client("BF.SCANDUMP", "large", 0))
            self.check(replica)
            self.assertNotIn("sending an error", other.log)
            self.assertEqual(other.complaints(), "")

    def check(self, replica):
        self.assertEqual(self.client("WAIT", 1, server_runner.PATIENCE * 1000), 1)
        self.assertEqual(self.client("DEBUG", "DIGEST"), replica("DEBUG", "DIGEST"))
        self.assertEqual(answers(self.client), answers(replica))


class Pieces(Case):
    """The command that the log is made of."""

    def payload(self):
        """What a chunk carries behind its head is what the log carries."""
        self.client("BF.MADD", "k", *range(500))
        return self.client("BF.SCANDUMP", "k", 0)[1][40:]

    def test_in_pieces(self):
        payload = self.payload()
        for at in range(0, len(payload), 100):
            last = ["LAST"] if at + 100 >= len(payload) else []
            self.assertEqual(self.client("FILTER.LOAD", "t", at, payload[at:at + 100], *last), b"OK")
            if not last:
                self.refused("BADDATA", "BF.EXISTS", "t", 1, text="is being restored")
        self.assertEqual(*self.client("DEBUG", "DIGEST-VALUE", "k", "t"))
        self.refused("BUSYKEY", "FILTER.LOAD", "t", 0, "x")

    def test_bad_pieces(self):
        payload = self.payload()
        for bad in (b"", b"x", payload[:20], payload[:32], payload[:-1], payload + b"x",
                    payload[:50] + b"?" + payload[51:]):
            self.refused("BADDATA", "FILTER.LOAD", "t", 0, bad, "LAST", text="the filter is refused")
            self.assertEqual(self.client("EXISTS", "t"), 0)

    def test_begun_anew(self):
        """Who went away in the middle leaves what answers nothing, and another one may begin."""
        payload = self.payload()
        other = Client(self.server.port)
        other("FILTER.LOAD", "t", 0, payload[:100])
        other.close()
        self.refused("BADDATA", "BF.ADD", "t", "a")
        self.client("FILTER.LOAD", "t", 0, payload, "LAST")
        self.assertEqual(*self.client("DEBUG", "DIGEST-VALUE", "k", "t"))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    server_runner.main()
