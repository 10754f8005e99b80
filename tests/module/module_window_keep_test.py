"""Windows outlive servers, links and copies, with equal digests; and the same changes lead to the
same bytes whenever and wherever they are carried out."""

import random
import sys
import time

import server_runner
from keep_cases import MovedAndReloaded, Replicated
from server_runner import Case, Error, Server, pairs

START = 1_700_000_000_000
EVENTS = ("EVENTTIME", "SKEW", "1d")


def fill(client):
    """Windows of every kind, with a history: grown, expired, refused, forgotten from, merged."""
    def add(key, at, items):
        return client("WINDOW.MADD", key, "AT", at, "ITEMS", *items)

    client("WINDOW.CREATE", "compact", "WINDOW", "60s", "CAPACITY", 300, "SEED", 1, *EVENTS)
    client("WINDOW.CREATE", "refresh", "WINDOW", "60s", "REFRESH", *EVENTS)
    client("WINDOW.CREATE", "fbf", "WINDOW", "60s", "ENGINE", "fbf", "CAPACITY", 300, *EVENTS)
    client("WINDOW.CREATE", "paper", "WINDOW", "60s", "MODE", "paper", "ERROR", "1%", *EVENTS)
    for key in ("compact", "refresh", "fbf", "paper"):
        for i in range(40):  # over two windows, with a burst
            add(key, START + i * 3333, range(i * 10, i * 10 + (1500 if i == 25 else 30)))
    for i in range(300, 340):
        client("WINDOW.FORGET", "compact", i)
    for key, engine in (("full", "compact"), ("full fbf", "fbf")):
        client("WINDOW.CREATE", key, "WINDOW", "60s", "MAXMEM", "16kb", "ENGINE", engine, *EVENTS)
        for i in range(0, 20000, 200):
            client.ask("WINDOW.MADD", key, "AT", START + i * 5, "ITEMS", *range(i, i + 200))
    client("WINDOW.CREATE", "like", "LIKE", "compact")
    client("WINDOW.ADD", "like", "only", "AT", START + 130000)
    client("WINDOW.CREATE", "empty", "WINDOW", "1h")
    client("WINDOW.CREATE", "merged", "LIKE", "compact")
    client("WINDOW.MERGE", "merged", "compact", "none", "like")
    client("WINDOW.CREATE", "silent", "WINDOW", "60s", *EVENTS)
    add("silent", START, "abc")
    client("WINDOW.ADVANCE", "silent", "AT", START + 10**9)
    client("EXPIRE", "merged", 10000)
    # By the clock of whichever server this is.
    client("WINDOW.CREATE", "clock", "WINDOW", "1h")
    client("WINDOW.CREATE", "brief", "WINDOW", 5, "ENGINE", "fbf", "MAXMEM", "64kb")
    for i in range(200):
        client("WINDOW.ADD", "clock", f"c{i % 150}")
        client("WINDOW.ADD", "brief", f"b{i}")
    client("WINDOW.MADD", "clock", "ITEMS", *range(500))
    client("WINDOW.FORGET", "clock", "c5")
    client("WINDOW.ADVANCE", "brief")


KEYS = ("compact", "refresh", "fbf", "paper", "full", "full fbf", "like", "empty", "merged",
        "silent", "clock", "brief")
PASSING = ("bytes", "refused_full", "refused_time")  # of this server, not of the window


def answers(client):
    """All that can be asked, and how each window would be saved."""
    infos = [pairs(client("WINDOW.INFO", key)) for key in KEYS]
    for info in infos:
        for name in PASSING:
            info.pop(name.encode())
    return ([client("WINDOW.MEXISTS", key, *range(2000), *(f"c{i}" for i in range(150)), "only")
             for key in KEYS if key != "brief"] + infos + [client("DEBUG", "DIGEST-VALUE", *KEYS)])


def go_on(client, more=1):
    """Later changes must lead to the same bytes wherever they are carried out."""
    for key in ("compact", "refresh", "fbf", "paper", "full", "full fbf", "merged", "silent"):
        moment = pairs(client("WINDOW.INFO", key))[b"time"]
        for i in range(30):
            client.ask("WINDOW.MADD", key, "AT", moment + i * 7001, "ITEMS",
                       *(f"{more} later {j}" for j in range(i * 50, i * 50 + 99)))
    for i in range(100):
        client("WINDOW.ADD", "clock", f"{more} later {i}")
        client("WINDOW.ADD", "brief", f"{more} later {i}")
    client.pipeline([["WINDOW.ADD", "clock", f"{more} at once {i}"] for i in range(300)])


class Keep(MovedAndReloaded, Replicated, Case):
    keys = KEYS
    fill, go_on = staticmethod(fill), staticmethod(go_on)
    answers = staticmethod(answers)

    def same_after(self, action):
        fill(self.client)
        before, digest = answers(self.client), self.client("DEBUG", "DIGEST")
        action()
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)
        self.assertEqual(answers(self.client), before)
        now = self.client.info("bloomery")
        self.assertEqual(now["bloomery_window_keys"], len(KEYS))
        self.assertGreater(self.client("TTL", "merged"), 9000)

    def test_copy(self):
        fill(self.client)
        for key in KEYS:
            self.client("COPY", key, "copy")
            self.assertEqual(*self.client("DEBUG", "DIGEST-VALUE", key, "copy"), key)
            # Both go on alike, and each with its own memory.
            moment = pairs(self.client("WINDOW.INFO", key))[b"time"]
            if key not in ("empty", "clock", "brief"):
                for at in range(moment, moment + 90000, 9001):
                    for name in (key, "copy"):
                        self.client.ask("WINDOW.MADD", name, "AT", at, "ITEMS",
                                        *range(at % 97, at % 97 + 300))
                self.assertEqual(*self.client("DEBUG", "DIGEST-VALUE", key, "copy"), key)
            self.client("DEL", key)
            self.client("WINDOW.MEXISTS", "copy", *range(10))
            self.client("DEL", "copy")
        self.wait_until(lambda: self.client.info("bloomery")["bloomery_window_bytes"] == 0,
                        "all is freed")  # aside, where a server's DEL is UNLINK

    def test_asking_changes_nothing(self):
        fill(self.client)
        digest = self.client("DEBUG", "DIGEST")
        answers(self.client)
        for key in KEYS:
            self.client("WINDOW.EXISTS", key, "a")
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)

    def test_freed_aside(self):
        for how in (["FLUSHALL", "ASYNC"], ["UNLINK", *KEYS]):
            fill(self.client)
            self.client(*how)
            self.wait_until(lambda: self.client.info("bloomery")["bloomery_window_bytes"] == 0,
                            "all is freed")
            info = self.client.info("bloomery")
            self.assertEqual((info["bloomery_window_keys"], info["bloomery_window_items"]), (0, 0))


class Damaged(Case):
    """Payloads that did not come whole. The server's own checksum is switched off for these."""

    def setUp(self):
        super().setUp()
        self.client("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
        self.addCleanup(self.client, "DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 0)
        self.client("CONFIG", "SET", "rdbcompression", "no")
        self.addCleanup(self.client, "CONFIG", "SET", "rdbcompression", "yes")

    def small(self, engine):
        self.client("DEL", "w")
        self.client("WINDOW.CREATE", "w", "WINDOW", "60s", "SEED", 8, "CAPACITY", 60, "ENGINE",
                    engine, *EVENTS)
        for i in range(8):
            self.client("WINDOW.MADD", "w", "AT", START + i * 7000, "ITEMS",
                        *range(i * 9, i * 9 + 9))
        return self.client("DUMP", "w")

    def try_restore(self, payload):
        """Refused, or a window that can be asked and changed."""
        reply = self.client.ask("RESTORE", "t", 0, payload)
        if isinstance(reply, Error):
            self.assertEqual(self.client("EXISTS", "t"), 0)
            return False
        for command in (["MEXISTS", "t", *range(70)], ["ADD", "t", "n", "AT", START + 65000],
                        ["FORGET", "t", 5], ["INFO", "t"]):
            self.client.ask(f"WINDOW.{command[0]}", *command[1:])
        self.client("DEL", "t")
        return True

    def test_truncated(self):
        for engine in ("compact", "fbf"):
            dump = self.small(engine)
            self.assertTrue(self.try_restore(dump))
            for end in list(range(0, 64)) + list(range(64, len(dump) - 10, 97)):
                self.assertFalse(self.try_restore(dump[:end] + dump[-10:]), end)
        self.assertIn("a window is refused", self.server.log)

    def test_flipped(self):
        source = random.Random(7)
        for engine in ("compact", "fbf"):
            dump = self.small(engine)
            refused = 0
            for _ in range(400):
                at = source.randrange(10, len(dump) - 10)  # past the type's name
                changed = bytearray(dump)
                changed[at] ^= 1 << source.randrange(8)
                refused += not self.try_restore(bytes(changed))
            # Every byte of a frame is under a checksum.
            self.assertGreater(refused, 395, engine)
        self.assertRegex(self.server.log, r"a window is refused: .* at byte \d+ \(BADDATA\)")


class Log(Keep):
    SETTINGS = {"appendonly": "yes", "appendfsync": "no"}
    # Those of Keep run on this server as well; what a restart loads is the log.

    def test_save_and_restart(self):
        self.same_after(self.server.restart)

    def log(self):
        return b"".join(path.read_bytes() for path in
                        sorted((self.server.path / "appendonlydir").glob("*.aof")))

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
                self.assertIn(b"WINDOW.LOAD", self.log())
            # What was loaded goes on as what was not: this is replayed on loaded windows, …
            go_on(self.client)
            digest = self.client("DEBUG", "DIGEST")
            self.server.restart()
            self.assertEqual(self.client("DEBUG", "DIGEST"), digest)
            # … and again, on windows that came to be another way.
            go_on(self.client, 2)
            digest = self.client("DEBUG", "DIGEST")
            self.server.restart(kill=True)
            self.assertEqual(self.client("DEBUG", "DIGEST"), digest)

    def test_creation_is_logged_with_all_its_parameters(self):
        self.client("WINDOW.CREATE", "w", "WINDOW", "60s")
        info, digest = pairs(self.client("WINDOW.INFO", "w")), self.client("DEBUG", "DIGEST")
        others = {"window-error": "10%", "window-capacity": "77", "window-engine": "fbf"}
        self.addCleanup(self.server.restart)
        for name, value in others.items():
            self.server.settings[f"bloomery.{name}"] = value
            self.addCleanup(self.server.settings.pop, f"bloomery.{name}")
        self.server.restart()
        self.assertEqual(pairs(self.client("WINDOW.INFO", "w")), info)
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)

    def test_the_clock_is_in_the_log(self):
        self.client("WINDOW.CREATE", "w", "WINDOW", "1h")
        self.client("WINDOW.ADD", "w", "item 1")
        moment = pairs(self.client("WINDOW.INFO", "w"))[b"time"]
        self.client("WINDOW.ADVANCE", "w")
        log = self.log()
        self.assertIn(b"item 1\r\n$2\r\nAT\r\n$13\r\n%d\r\n" % moment, log)
        self.assertIn(b"WINDOW.ADVANCE\r\n$1\r\nw\r\n$2\r\nAT\r\n", log)

    def test_changes_of_one_millisecond(self):
        """What did not move a window's time is logged as it came, and is carried out at that time
        on whatever day."""
        self.client("WINDOW.CREATE", "w", "WINDOW", 400, "REFRESH")
        before = self.log()
        for turn in range(40):
            self.client.pipeline(
                [["WINDOW.ADD", "w", f"{turn % 7} {i}"] for i in range(200)] +
                [["WINDOW.MADD", "w", "ITEMS", *range(turn, turn + 5)],
                 ["WINDOW.FORGET", "w", f"{turn % 7} 3"]] * 5)
        log = self.log()
        adds, told = (log.count(word) - before.count(word)
                      for word in (b"\r\nWINDOW.ADD\r\n", b"\r\nAT\r\n"))
        self.assertEqual(adds, 8000)
        self.assertTrue(0 < told < 8400, told)  # some, and not all
        answers_now, digest = pairs(self.client("WINDOW.INFO", "w")), self.client("DEBUG", "DIGEST")
        time.sleep(0.6)  # all of it has expired by the clock
        self.server.restart()
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)
        again = pairs(self.client("WINDOW.INFO", "w"))
        for field in (b"items", b"time", b"generations"):
            self.assertEqual(again[field], answers_now[field], field)

    def test_replayed_far_from_its_time(self):
        """A log of long ago, by the clock: what was told new then is not told otherwise now."""
        log = [["SELECT", "0"], ["WINDOW.CREATE", "w", "WINDOW", "60000", "SEED", "5"]]
        log += [["WINDOW.ADD", "w", f"item {i % 70}", "AT", str(START + i * 1000)]
                for i in range(300)]
        self.client("WINDOW.CREATE", "by events", "WINDOW", "60s", "SEED", 5, *EVENTS)
        new = sum(self.client("WINDOW.ADD", "by events", *command[2:]) for command in log[2:])
        self.rewrite()
        self.server.stop()
        folder = self.server.path / "appendonlydir"
        last = sorted(folder.glob("*.incr.aof"))[-1]
        with last.open("ab") as file:
            for command in log:
                file.write(server_runner.encode(command))
        self.server.start()
        info, other = (pairs(self.client("WINDOW.INFO", key)) for key in ("w", "by events"))
        for field in (b"items", b"time", b"generations", b"estimated_error"):
            self.assertEqual(info[field], other[field], field)
        self.assertEqual(info[b"time"], START + 299000)
        self.assertTrue(info[b"items"] <= new <= 300)
        self.assertEqual(self.client("WINDOW.EXISTS", "w", "item 5"), 0, "that is long ago")
        self.assertEqual(self.client("WINDOW.EXISTS", "by events", "item 5"), 1)


class Replica(Case):
    def test_full_and_partial_sync(self):
        fill(self.client)
        others = {"bloomery.window-error": "10%", "bloomery.max-key-bytes": "64kb",
                  "bloomery.window-engine": "fbf"}
        with Server(**others) as other:
            replica = other.client
            replica("REPLICAOF", "127.0.0.1", self.server.port)
            self.wait_until(lambda: replica.info("replication")["master_link_status"] == "up",
                            "the replica is connected")
            self.check(replica)
            go_on(self.client)
            self.check(replica)
            self.client("DEL", *KEYS)
            fill(self.client)  # every command as it is replicated, from the creation on
            self.check(replica)
            # Larger than this replica would let its own clients make one.
            self.client("WINDOW.CREATE", "large", "WINDOW", "1h", "ERROR", "1e-9")
            self.client("WINDOW.MADD", "large", "ITEMS", *range(30000))
            self.assertGreater(self.client("MEMORY", "USAGE", "large"), 2 * 65536)
            self.check(replica)
            # A broken link is taken up where it broke.
            self.client("CLIENT", "KILL", "TYPE", "REPLICA")
            go_on(self.client, 2)
            self.wait_until(lambda: replica.info("replication")["master_link_status"] == "up",
                            "the replica is connected again")
            self.check(replica)
            self.assertNotIn("sending an error", other.log)
            self.assertEqual(other.complaints(), "")

    def test_limits_of_the_master(self):
        """What a limit made the master do is done on the replica, which has none."""
        self.addCleanup(self.client, "CONFIG", "SET", "bloomery.max-key-bytes", "256mb")
        with Server() as other:
            replica = other.client
            replica("REPLICAOF", "127.0.0.1", self.server.port)
            self.wait_until(lambda: replica.info("replication")["master_link_status"] == "up",
                            "the replica is connected")
            self.client("CONFIG", "SET", "bloomery.max-key-bytes", "64kb")
            refused = 0
            for engine in ("compact", "fbf"):
                self.client("WINDOW.CREATE", engine, "WINDOW", "60s", "ENGINE", engine, "ERROR",
                            "1e-6", *EVENTS)
                for i in range(300):  # a load that rises, falls and rises again
                    n = 600 if i % 100 < 50 else 20
                    reply = self.client.ask("WINDOW.MADD", engine, "AT", START + i * 2000, "ITEMS",
                                            *(f"{i} {j}" for j in range(n)))
                    if isinstance(reply, Error):
                        refused += 1
                        self.check(replica, keys=())
                self.assertEqual(self.client.ask("WINDOW.ADD", engine, "x", "AT", START + 800000),
                                 1)
            self.assertGreater(refused, 10)
            self.check(replica, keys=())

    def check(self, replica, keys=KEYS):
        self.assertEqual(self.client("WAIT", 1, server_runner.PATIENCE * 1000), 1)
        self.assertEqual(self.client("DEBUG", "DIGEST"), replica("DEBUG", "DIGEST"))
        if keys:
            self.assertEqual(answers(self.client), answers(replica))


class Anything(Case):
    """Changes at random, on windows small enough to meet every limit: the log, a replica that was
    there from the beginning, and one that came later have the same bytes as the master."""

    SETTINGS = {"appendonly": "yes", "appendfsync": "no", "bloomery.max-key-bytes": "64kb"}
    COMMANDS = 2000
    KINDS = (["ENGINE", "compact"], ["ENGINE", "compact", "REFRESH"], ["ENGINE", "fbf"],
             ["ENGINE", "fbf", "REFRESH"], ["MODE", "paper"], ["MODE", "paper-simple"])

    def command(self, source, times):
        key = f"w{source.randrange(6)}"
        kind = source.random()
        if key not in times:
            times[key] = START
            like = f"w{source.randrange(6)}"
            if kind < 0.6 and like in times and like != key:
                times[key] = times[like]
                return ["CREATE", key, "LIKE", like]
            limit = ["MAXMEM", source.choice(("8kb", "40kb"))] if source.random() < 0.4 else []
            return ["CREATE", key, "WINDOW", "60s", "CAPACITY", source.choice((20, 1000)), *limit,
                    "SEED", source.randrange(1, 99),
                    "ERROR", source.choice(("10%", "1e-6")), *source.choice(self.KINDS), *EVENTS]
        step = source.choice((0, 0, 1, 700, 4615, 7500, 7501, 60000, 61000, 130000, 10**7))
        at = times[key] = times[key] + (step if source.random() < 0.4 else 0)
        item = source.randrange(3000)
        if kind < 0.01:
            del times[key]
            return ["DEL", key]
        if kind < 0.5:
            return ["ADD", key, item, "AT", at - source.choice((0, 0, 10**5))]
        if kind < 0.85:
            n = source.choice((1, 2, 64, 65, 900))
            return ["MADD", key, "AT", at, "ITEMS", *range(item, item + n)]
        if kind < 0.93:
            return ["FORGET", key, item]
        if kind < 0.96:
            return ["ADVANCE", key, "AT", at]
        others = source.sample([f"w{i}" for i in range(6) if f"w{i}" != key], source.choice((1, 2)))
        return ["MERGE", key, *others]

    def test_random_changes(self):
        source, times, said = random.Random(4), {}, {}
        with Server() as first, Server() as second:
            replicas = [first]
            first.client("REPLICAOF", "127.0.0.1", self.server.port)
            for number in range(self.COMMANDS):
                name, *words = self.command(source, times)
                reply = self.client.ask(name if name == "DEL" else f"WINDOW.{name}", *words)
                word = reply.word if isinstance(reply, Error) else "done"
                said[name, word] = said.get((name, word), 0) + 1
                if (name, word) == ("CREATE", "RANGE"):
                    del times[words[0]]
                if number == self.COMMANDS // 2:
                    second.client("REPLICAOF", "127.0.0.1", self.server.port)
                    replicas.append(second)
                if number % 50 == 0 or word == "FULL":
                    self.check(replicas)
            self.check(replicas)
            for server in (self.server, first, second):
                self.assertEqual(server.complaints(), "")
        for outcome in (("ADD", "done"), ("ADD", "FULL"), ("MADD", "done"), ("MADD", "FULL"),
                        ("FORGET", "done"), ("ADVANCE", "done"), ("MERGE", "done"),
                        ("MERGE", "MISMATCH")):
            self.assertGreater(said.get(outcome, 0), 0, f"{outcome} in {said}")
        digest = self.client("DEBUG", "DIGEST")
        self.server.restart()
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)

    def check(self, replicas):
        for server in replicas:
            self.wait_until(lambda link=server: link.client.info("replication")
                            ["master_link_status"] == "up", "the replica is connected")
        self.assertEqual(self.client("WAIT", len(replicas), server_runner.PATIENCE * 1000),
                         len(replicas))
        for server in replicas:
            self.assertEqual(server.client("DEBUG", "DIGEST"), self.client("DEBUG", "DIGEST"))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    server_runner.main()
