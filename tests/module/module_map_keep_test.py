"""Maps outlive servers, links and copies: every way in which a key travels, with equal digests."""

import random
import struct
import sys

import server_runner
from keep_cases import MovedAndReloaded, Replicated
from server_runner import Case, Client, Error, Server, pairs


def fill(client, scale=1):
    """Maps of every kind, with a history: grown, updated, deleted from, refused, compressed."""
    client("MAP.CREATE", "grown", "CAPACITY", 200, "SEED", 1)
    client("MAP.SET", "grown", *(x for i in range(3000 * scale) for x in (f"k{i}", f"v{i % 77}")))
    client("MAP.DEL", "grown", *(f"k{i}" for i in range(0, 900, 7)))
    client("MAP.UPDATE", "grown", *(x for i in range(1, 900, 7) for x in (f"k{i}", f"u{i}")))
    client("MAP.CREATE", "raw", "RAW", 20, "CAPACITY", 5000, "ERROR", 1e-6)
    client("MAP.SET", "raw", *(x for i in range(5000) for x in (i, i * 200)))
    client("MAP.CREATE", "kbf", "ENGINE", "kbf", "CAPACITY", 400, "ERROR", 0.05, "SEED", 3)
    for start in range(0, 1000, 50):
        client("MAP.SET", "kbf", *(x for i in range(start, start + 50) for x in (i, i % 30)))
    client("MAP.DEL", "kbf", *range(100, 160))
    client("MAP.CREATE", "fixed", "NOGROW", "CAPACITY", 10)
    for i in range(14):
        client.ask("MAP.SET", "fixed", f"f{i}", f"x{i}")
    client("MAP.SET", "made", "a", "1")  # with this server's defaults and a seed of its own
    client("MAP.CREATE", "like", "LIKE", "kbf")
    client("MAP.SET", "like", "only", "5")
    client("MAP.CREATE", "empty")
    client("MAP.JOIN", "joined", "grown", "none")
    client("MAP.COMPRESS", "joined")
    client("EXPIRE", "joined", 10000)
    client("EVAL", "redis.call('MAP.SET', KEYS[1], 'a', '1'); redis.call('MAP.DEL', KEYS[2], 'k3')",
           2, "script", "grown")
    client("MULTI")
    client("MAP.SET", "queued", "a", "1")
    client("MAP.SET", "queued", "a", "2", "b", "3")
    client("EXEC")


KEYS = ("grown", "raw", "kbf", "fixed", "made", "like", "empty", "joined", "script",
        "queued")


def answers(client):
    """All that can be asked, and how each map would be saved."""
    return ([client("MAP.GET", key, *(f"k{i}" for i in range(300)), *range(300),
                    *(f"f{i}" for i in range(20)), "a", "only") for key in KEYS]
            + [pairs(client("MAP.INFO", key)) for key in KEYS]
            + [client("DEBUG", "DIGEST-VALUE", *KEYS)])


def without_memory(everything):
    """The same without the bytes now allocated, which depend on the way an object came to be."""
    for part in everything:
        if isinstance(part, dict):
            for name in (b"bytes", b"bytes_keys", b"bytes_values"):
                part.pop(name)
    return everything


def go_on(client):
    """Later changes must lead to the same bytes wherever they are carried out."""
    for key in ("grown", "kbf", "joined"):
        for start in range(0, 3000, 100):
            client("MAP.SET", key, *(x for i in range(start, start + 100)
                                     for x in (f"later {i}", f"v{i % 200}")))
    client("MAP.DEL", "grown", *(f"later {i}" for i in range(0, 3000, 2)))
    client.ask("MAP.SET", "fixed", "one", "more")
    client("MAP.COMPRESS", "grown")


class Keep(MovedAndReloaded, Replicated, Case):
    keys = KEYS
    fill, go_on = staticmethod(fill), staticmethod(go_on)
    answers = staticmethod(lambda client: without_memory(answers(client)))

    def assertSame(self, one, other):
        a, b = without_memory(answers(one)), without_memory(answers(other))
        self.assertEqual(a, b)
        self.assertEqual(one("DEBUG", "DIGEST"), other("DEBUG", "DIGEST"))

    def same_after(self, action):
        fill(self.client)
        before, digest = without_memory(answers(self.client)), self.client("DEBUG", "DIGEST")
        totals = self.client.info("bloomery")
        action()
        self.assertEqual(without_memory(answers(self.client)), before)
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)
        now = self.client.info("bloomery")
        self.assertEqual([now[f"bloomery_map_{x}"] for x in ("keys", "items")],
                         [totals[f"bloomery_map_{x}"] for x in ("keys", "items")])
        self.assertGreater(self.client("TTL", "joined"), 9000)

    def test_copy(self):
        fill(self.client)
        for key in KEYS:
            self.client("COPY", key, "copy")
            self.assertEqual(self.client("DEBUG", "DIGEST-VALUE", key),
                             self.client("DEBUG", "DIGEST-VALUE", "copy"), key)
            usage = self.client("MEMORY", "USAGE", key)
            self.client("MAP.DEL", key, 1, "k1")  # the copy has its own memory
            self.client("DEL", key)
            self.client("MAP.UPDATE", "copy", "a", "5")
            self.assertLess(abs(self.client("MEMORY", "USAGE", "copy") - usage),
                            8192 + usage // 4, key)
            self.client("DEL", "copy")
        self.wait_until(lambda: self.client.info("bloomery")["bloomery_map_bytes"] == 0,
                        "all is freed")  # aside, where a server's DEL is UNLINK

    def test_expire(self):
        self.client("MAP.SET", "m", "a", "1")
        self.client("PEXPIRE", "m", 1)
        self.wait_until(lambda: self.client("MAP.GET", "m", "a") == [None], "it is gone")
        self.assertEqual(self.client("MAP.SET", "m", "a", "1"), [1])

    def test_flushall_async(self):
        for how in (["FLUSHALL", "ASYNC"], ["UNLINK", *KEYS], ["FLUSHDB", "ASYNC"]):
            fill(self.client)
            self.client(*how)
            self.wait_until(lambda: self.client.info("bloomery")["bloomery_map_bytes"] == 0,
                            "all is freed")
            info = self.client.info("bloomery")
            self.assertEqual((info["bloomery_map_keys"], info["bloomery_map_items"]), (0, 0))


class Damaged(Case):
    """Payloads that did not come whole. The server's own checksum is switched off for these."""

    def setUp(self):
        super().setUp()
        self.client("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
        self.addCleanup(self.client, "DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 0)

    def small(self, engine="compact"):
        self.client("MAP.CREATE", "m", "SEED", 8, "CAPACITY", 60, "ENGINE", engine)
        self.client("MAP.SET", "m", *(x for i in range(60) for x in (i, f"v{i % 9}")))
        return self.client("DUMP", "m")

    def try_restore(self, payload):
        """Refused, or a map that can be asked and changed."""
        reply = self.client.ask("RESTORE", "t", 0, payload)
        if isinstance(reply, Error):
            self.assertEqual(self.client("EXISTS", "t"), 0)
            return False
        for command in (["MAP.GET", "t", *range(70)], ["MAP.SET", "t", "n", "v1"],
                        ["MAP.DEL", "t", 5], ["MAP.INFO", "t"]):
            self.client.ask(*command)
        self.client("DEL", "t")
        return True

    def test_intact(self):
        self.assertTrue(self.try_restore(self.small()))

    def test_truncated(self):
        dump = self.small()
        for end in list(range(0, 64)) + list(range(64, len(dump) - 10, 97)):
            self.assertFalse(self.try_restore(dump[:end] + dump[-10:]), end)
            self.assertFalse(self.try_restore(dump[:end]), end)
        self.assertIn("a map is refused", self.server.log)

    def test_flipped(self):
        source = random.Random(7)
        for engine in ("compact", "kbf"):
            self.client("CONFIG", "SET", "rdbcompression", "no")
            self.addCleanup(self.client, "CONFIG", "SET", "rdbcompression", "yes")
            dump = self.small(engine)
            refused = 0
            for _ in range(400):
                at = source.randrange(10, len(dump) - 10)  # past the type's name
                changed = bytearray(dump)
                changed[at] ^= 1 << source.randrange(8)
                refused += not self.try_restore(bytes(changed))
            # Every byte of a frame is under a checksum.
            self.assertGreater(refused, 395, engine)
            self.client("DEL", "m")
        self.assertRegex(self.server.log, r"a map is refused: .* at byte \d+ \(BADDATA\)")

    def test_newer_encoding(self):
        dump = bytearray(self.small())
        # Type 7, a 64-bit length of which the low ten bits are the encoding.
        self.assertEqual((dump[0], dump[1]), (7, 0x81))
        module = struct.unpack(">Q", dump[2:10])[0]
        self.assertEqual(module & 1023, 1)
        dump[2:10] = struct.pack(">Q", module + 1)
        self.assertFalse(self.try_restore(bytes(dump)))
        self.assertIn("was written in encoding 2, and this module reads up to 1", self.server.log)


class Pieces(Case):
    """The command that the log is made of."""

    def frames(self):
        self.client("MAP.SET", "m", "a", "1", "b", "2")
        self.client("CONFIG", "SET", "rdbcompression", "no")
        self.addCleanup(self.client, "CONFIG", "SET", "rdbcompression", "yes")
        dump = self.client("DUMP", "m")
        start = dump.index(b"\x8bBRY\r\n\x1a\n")  # frames begin with a magic
        # A string's length in 14 bits stands before it; what follows the frames is 0, the end of
        # the module's value, and the server's own ten bytes.
        size = struct.unpack(">H", dump[start - 2:start])[0] & 0x3fff
        return dump[start:start + size]

    def test_in_pieces(self):
        frames = self.frames()
        digest = self.client("DEBUG", "DIGEST-VALUE", "m")
        for at in range(0, len(frames), 100):
            last = ["LAST"] if at + 100 >= len(frames) else []
            self.assertEqual(self.client("MAP.LOAD", "t", at, frames[at:at + 100], *last), b"OK")
            if at == 200:
                for command in (["MAP.GET", "t", "a"], ["MAP.SET", "t", "a", "1"],
                                ["MAP.INFO", "t"], ["MAP.JOIN", "m", "t"]):
                    self.refused("BADDATA", *command, text="is being restored")
                self.refused("BADDATA", "MAP.LOAD", "t", 200, "x", text="not the next one")
                before = self.client("DEBUG", "DIGEST")
                self.client("DEBUG", "RELOAD")
                self.assertEqual(self.client("DEBUG", "DIGEST"), before)
                self.client("COPY", "t", "half")
                self.assertEqual(*self.client("DEBUG", "DIGEST-VALUE", "t", "half"))
        self.assertEqual(self.client("DEBUG", "DIGEST-VALUE", "t"), digest)
        self.assertEqual(self.client("MAP.GET", "t", "a", "b"), [b"1", b"2"])
        self.refused("BUSYKEY", "MAP.LOAD", "t", 0, "x")

    def test_bad_pieces(self):
        frames = self.frames()
        self.refused("BADDATA", "MAP.LOAD", "t", 5, "x", text="the first piece has not come")
        self.refused("ERR", "MAP.LOAD", "t", "first", "x", text="offset 'first'")
        self.refused("RANGE", "MAP.LOAD", "t", -1, "x", text="offset '-1'")
        self.refused("ERR", "MAP.LOAD", "t", 0, "x", "END")
        for bad in (b"", b"x", frames[:-1], frames + b"x", frames[:50] + b"?" + frames[51:]):
            self.refused("BADDATA", "MAP.LOAD", "t", 0, bad, "LAST", text="the map is refused")
            self.assertEqual(self.client("EXISTS", "t"), 0)
        self.client("MAP.LOAD", "t", 0, "x")
        self.client("MAP.LOAD", "t", 0, frames, "LAST")  # a first piece begins again
        self.assertEqual(self.client("MAP.GET", "t", "a"), [b"1"])


class Log(Keep):
    SETTINGS = {"appendonly": "yes", "appendfsync": "no"}
    # Those of Keep run on this server as well; what a restart loads is the log.

    def test_save_and_restart(self):
        self.same_after(self.server.restart)

    def rewrite(self):
        runs = self.client.info("persistence")
        self.assertEqual(runs["aof_rewrite_in_progress"], 0)
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
                self.assertIn(b"MAP.LOAD", log)
            go_on(self.client)
            digest = self.client("DEBUG", "DIGEST")
            self.server.restart()
            self.assertEqual(self.client("DEBUG", "DIGEST"), digest)

    def test_creation_is_logged_with_its_seed(self):
        self.client("MAP.SET", "m", "a", "1")
        seed = pairs(self.client("MAP.INFO", "m"))[b"seed"]
        self.client("CONFIG", "SET", "bloomery.map-error", "5%", "bloomery.map-capacity", 77)
        before = self.client("DEBUG", "DIGEST")
        self.server.settings["bloomery.map-error"] = "10%"
        self.addCleanup(self.server.settings.pop, "bloomery.map-error")
        self.server.restart()
        info = pairs(self.client("MAP.INFO", "m"))
        self.assertEqual((info[b"seed"], float(info[b"error"]), info[b"capacity"]),
                         (seed, 0.001, 1000))
        self.assertEqual(self.client("DEBUG", "DIGEST"), before)


class Replica(Case):
    def test_full_and_partial_sync(self):
        fill(self.client)
        with Server(**{"bloomery.map-error": "10%", "bloomery.max-key-bytes": "64kb"}) as other:
            replica = other.client
            replica("REPLICAOF", "127.0.0.1", self.server.port)
            self.wait_until(lambda: replica.info("replication")["master_link_status"] == "up",
                            "the replica is connected")
            self.check(replica)
            go_on(self.client)
            self.client("MAP.SET", "of the master's settings", "a", "1")
            # Larger than this replica would let its own clients make one.
            self.client("MAP.SET", "large", *(x for i in range(30000) for x in (i, i)))
            self.assertGreater(pairs(self.client("MAP.INFO", "large"))[b"bytes"], 2 * 65536)
            self.client("RESTORE", "again", 0, self.client("DUMP", "large"))
            self.check(replica)
            # A broken link is taken up where it broke.
            self.client("CLIENT", "KILL", "TYPE", "REPLICA")
            go_on(self.client)
            self.wait_until(lambda: replica.info("replication")["master_link_status"] == "up",
                            "the replica is connected again")
            self.check(replica)
            self.assertNotIn("sending an error", other.log)
            self.assertEqual(other.complaints(), "")

    def test_what_is_refused_is_not_tried_elsewhere(self):
        """A last piece that is no good: replicas and the log see the key go, and not the piece. Its
        sizes may be beyond all ceilings, and a replica has none."""
        with Server(appendonly="yes") as other:
            self.follow(other)
            self.wait_until(lambda: other.client.info("persistence")["aof_rewrite_in_progress"] +
                            other.client.info("persistence")["aof_rewrite_scheduled"] == 0,
                            "the replica has begun its log")
            self.client("MAP.LOAD", "t", 0, "some")
            self.caught_up()
            self.assertEqual(other.client("EXISTS", "t"), 1)
            self.assertEqual(self.client.ask("MAP.LOAD", "t", 4, "thing", "LAST").word, "BADDATA")
            self.assertEqual(self.client.ask("MAP.LOAD", "u", 0, "thing", "LAST").word, "BADDATA")
            self.caught_up()
            self.assertEqual(other.client("DBSIZE"), 0)
            self.assertNotIn("is refused", other.log)
            self.assertIn("a map is refused", self.server.log)
            other.restart()
            self.assertEqual(other.client("DBSIZE"), 0)
            self.assertNotIn("is refused", other.log)

    def check(self, replica):
        self.assertEqual(self.client("WAIT", 1, server_runner.PATIENCE * 1000), 1)
        self.assertEqual(self.client("DEBUG", "DIGEST"), replica("DEBUG", "DIGEST"))
        self.assertEqual(without_memory(answers(self.client)), without_memory(answers(replica)))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    server_runner.main()
