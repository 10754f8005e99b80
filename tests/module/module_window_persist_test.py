"""Windows survive restarts, replication and copies, with equal digests; the same changes give the
same bytes whenever and wherever they are applied."""

import time

import server_runner
from persist_cases import ChangedAtRandom, Kept
from server_runner import Case, pairs

START = 1_700_000_000_000
EVENTS = ("EVENTTIME", "SKEW", "1d")


def fill(client):
    """Windows of every kind, with a history: grown, expired, refused, forgotten from, merged."""
    def add(key, at, items):
        return client("WINDOW.INSERT", key, "AT", at, "ITEMS", *items)

    client("WINDOW.CREATE", "compact", "WINDOW", "60s", "CAPACITY", 300, "SEED", 1, *EVENTS)
    client("WINDOW.CREATE", "refresh", "WINDOW", "60s", "REFRESH", *EVENTS)
    client("WINDOW.CREATE", "fbf", "WINDOW", "60s", "ENGINE", "fbf", "CAPACITY", 300, *EVENTS)
    client("WINDOW.CREATE", "coarse fbf", "WINDOW", "60s", "ENGINE", "fbf", "ERROR", "1%", *EVENTS)
    for key in ("compact", "refresh", "fbf", "coarse fbf"):
        for i in range(40):  # over two windows, with a burst
            add(key, START + i * 3333, range(i * 10, i * 10 + (1500 if i == 25 else 30)))
    for i in range(300, 340):
        client("WINDOW.DEL", "compact", i)
    for key, engine in (("full", "compact"), ("full fbf", "fbf")):
        client("WINDOW.CREATE", key, "WINDOW", "60s", "MAXMEM", "16kb", "ENGINE", engine, *EVENTS)
        for i in range(0, 20000, 200):
            client.ask("WINDOW.INSERT", key, "AT", START + i * 5, "ITEMS", *range(i, i + 200))
    client("WINDOW.CREATE", "like", "LIKE", "compact")
    client("WINDOW.INSERT", "like", "AT", START + 130000, "ITEMS", "only")
    client("WINDOW.CREATE", "empty", "WINDOW", "1h")
    client("WINDOW.CREATE", "merged", "LIKE", "compact")
    client("WINDOW.MERGE", "merged", "compact", "none", "like")
    client("WINDOW.MERGE", "made", "none", "compact", "like")
    client("WINDOW.MERGE", "made fbf", "fbf")
    client("WINDOW.CREATE", "silent", "WINDOW", "60s", *EVENTS)
    add("silent", START, "abc")
    client("WINDOW.ADVANCE", "silent", "AT", START + 10**9)
    client("EXPIRE", "merged", 10000)
    # With the clock of whichever server this is.
    client("WINDOW.CREATE", "clock", "WINDOW", "1h")
    client("WINDOW.CREATE", "brief", "WINDOW", 5, "ENGINE", "fbf", "MAXMEM", "64kb")
    for i in range(200):
        client("WINDOW.ADD", "clock", f"c{i % 150}")
        client("WINDOW.ADD", "brief", f"b{i}")
    client("WINDOW.ADD", "clock", *range(500))
    client("WINDOW.DEL", "clock", "c5")
    client("WINDOW.ADVANCE", "brief")


KEYS = ("compact", "refresh", "fbf", "coarse fbf", "full", "full fbf", "like", "empty", "merged",
        "made", "made fbf", "silent", "clock", "brief")
PASSING = ("bytes", "refused_full", "refused_skew")  # of this server, not of the window


def answers(client):
    """All query results, and the dump of each window."""
    infos = [pairs(client("WINDOW.INFO", key)) for key in KEYS]
    for info in infos:
        for name in PASSING:
            info.pop(name.encode())
    return ([client("WINDOW.EXISTS", key, *range(2000), *(f"c{i}" for i in range(150)), "only")
             for key in KEYS if key != "brief"] + infos + [client("DEBUG", "DIGEST-VALUE", *KEYS)])


def go_on(client):
    """Later changes must give the same bytes wherever they are applied."""
    more = pairs(client("WINDOW.INFO", "compact"))[b"time"]  # a different one each time
    for key in ("compact", "refresh", "fbf", "coarse fbf", "full", "full fbf", "merged", "made",
                "made fbf", "silent"):
        moment = pairs(client("WINDOW.INFO", key))[b"time"]
        for i in range(30):
            client.ask("WINDOW.INSERT", key, "AT", moment + i * 7001, "ITEMS",
                       *(f"{more} later {j}" for j in range(i * 50, i * 50 + 99)))
    for i in range(100):
        client("WINDOW.ADD", "clock", f"{more} later {i}")
        client("WINDOW.ADD", "brief", f"{more} later {i}")
    client.pipeline([["WINDOW.ADD", "clock", f"{more} at once {i}"] for i in range(300)])


class Windows(Kept, Case):
    family, load = "window", "BLOOMERY.WINDOW.LOAD"
    keys, lasting = KEYS, "merged"
    counted = ("keys",)  # expired items count until somebody looks
    fill, go_on, answers = staticmethod(fill), staticmethod(go_on), staticmethod(answers)
    new = (["WINDOW.CREATE", "k", "WINDOW", "1h"], ["WINDOW.ADD", "k", "a"])
    asked, absent = ["WINDOW.EXISTS", "k", "a"], [0]
    others = {"bloomery.window-error": "10%", "bloomery.window-engine": "fbf",
              "bloomery.window-capacity": "77"}

    def change(self, key):
        info = pairs(self.client("WINDOW.INFO", key))
        if not info[b"eventtime"]:  # the clock would give each a different time
            return
        for at in range(info[b"time"], info[b"time"] + 90000, 9001):
            self.client.ask("WINDOW.INSERT", key, "AT", at, "ITEMS", *range(at % 97, at % 97 + 300))

    def large(self):
        self.client("WINDOW.CREATE", "large", "WINDOW", "1h", "ERROR", "1e-9")
        self.client("WINDOW.ADD", "large", *range(30000))
        return ["large"]

    def test_asking_changes_nothing(self):
        fill(self.client)
        digest = self.client("DEBUG", "DIGEST")
        answers(self.client)
        for key in KEYS:
            self.client("WINDOW.EXISTS", key, "a")
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)

    def test_the_clock_is_in_the_log(self):
        self.client("WINDOW.CREATE", "w", "WINDOW", "1h")
        self.client("WINDOW.ADD", "w", "item 1")
        moment = pairs(self.client("WINDOW.INFO", "w"))[b"time"]
        self.client("WINDOW.ADVANCE", "w")
        log = self.log()
        self.assertIn(b"WINDOW.INSERT\r\n$1\r\nw\r\n$2\r\nAT\r\n$13\r\n%d\r\n$5\r\nITEMS\r\n$6\r\nitem 1\r\n"
                      % moment, log)
        self.assertIn(b"WINDOW.ADVANCE\r\n$1\r\nw\r\n$2\r\nAT\r\n", log)

    def test_changes_of_one_millisecond(self):
        """A change that does not move a window's time is logged verbatim and replayed at that time,
        whenever that is."""
        self.client("WINDOW.CREATE", "w", "WINDOW", 400, "REFRESH")
        before = self.log()
        for turn in range(40):
            self.client.pipeline(
                [["WINDOW.ADD", "w", f"{turn % 7} {i}"] for i in range(200)] +
                [["WINDOW.ADD", "w", *range(turn, turn + 5)],
                 ["WINDOW.DEL", "w", f"{turn % 7} 3"]] * 5)
        log = self.log()
        adds, timed, deletes, told = (log.count(word) - before.count(word) for word in (
            b"\r\nWINDOW.ADD\r\n", b"\r\nWINDOW.INSERT\r\n", b"\r\nWINDOW.DEL\r\n", b"\r\nAT\r\n"))
        self.assertEqual((adds + timed, deletes), (40 * 205, 40 * 5))
        self.assertTrue(0 < timed <= told < 8400, told)  # some, but not all
        answers_now, digest = pairs(self.client("WINDOW.INFO", "w")), self.client("DEBUG", "DIGEST")
        time.sleep(0.6)  # all of it has expired according to the clock
        self.server.restart()
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)
        again = pairs(self.client("WINDOW.INFO", "w"))
        for field in (b"items", b"time", b"generations"):
            self.assertEqual(again[field], answers_now[field], field)

    def test_replayed_far_from_its_time(self):
        """An old append-only file of a window that uses the clock: items that were new then are
        still recorded as new."""
        log = [["SELECT", "0"], ["WINDOW.CREATE", "w", "WINDOW", "60000", "SEED", "5"]]
        log += [["WINDOW.INSERT", "w", "AT", str(START + i * 1000), "ITEMS", f"item {i % 70}"]
                for i in range(300)]
        self.client("WINDOW.CREATE", "by events", "WINDOW", "60s", "SEED", 5, *EVENTS)
        new = sum(self.client("WINDOW.INSERT", "by events", *command[2:])[0] for command in log[2:])
        self.rewrite()
        self.server.replay(*log)
        info, other = (pairs(self.client("WINDOW.INFO", key)) for key in ("w", "by events"))
        for field in (b"items", b"time", b"generations", b"estimated_error"):
            self.assertEqual(info[field], other[field], field)
        self.assertEqual(info[b"time"], START + 299000)
        self.assertTrue(info[b"items"] <= new <= 300)
        self.assertEqual(self.client("WINDOW.EXISTS", "w", "item 5"), [0], "that is long ago")
        self.assertEqual(self.client("WINDOW.EXISTS", "by events", "item 5"), [1])


class Anything(ChangedAtRandom, Case):
    COMMANDS = 2000
    OUTCOMES = (("WINDOW.ADD", "done"), ("WINDOW.INSERT", "done"),
                ("WINDOW.INSERT", "FULL"), ("WINDOW.DEL", "done"), ("WINDOW.ADVANCE", "done"),
                ("WINDOW.MERGE", "done"), ("WINDOW.MERGE", "MISMATCH"))
    KINDS = (["ENGINE", "compact"], ["ENGINE", "compact", "REFRESH"], ["ENGINE", "fbf"],
             ["ENGINE", "fbf", "REFRESH"])

    @staticmethod
    def by_the_clock(source, times):
        key, item, n = source.choice(("clock", "clock fbf")), source.randrange(500), source.choice((1, 1, 70))
        if key not in times:
            times[key] = 0
            return ["WINDOW.CREATE", key, "WINDOW", 50, *(["ENGINE", "fbf"] if "fbf" in key else [])]
        verb = source.choice(("ADD", "ADD", "INSERT", "DEL"))
        return [f"WINDOW.{verb}", key, *(["ITEMS"] if verb == "INSERT" else []), *range(item, item + n)]

    def command(self, source, times):
        if source.random() < 0.2:
            return self.by_the_clock(source, times)
        key = f"w{source.randrange(6)}"
        kind = source.random()
        if key not in times:
            times[key] = START
            like = f"w{source.randrange(6)}"
            if kind < 0.6 and like in times and like != key:
                times[key] = times[like]
                return (["WINDOW.CREATE", key, "LIKE", like] if kind < 0.3 else
                        ["WINDOW.MERGE", key, like])
            limit = ["MAXMEM", source.choice(("8112", "40kb"))] if source.random() < 0.4 else []
            return ["WINDOW.CREATE", key, "WINDOW", "60s", "CAPACITY", source.choice((20, 1000)), *limit,
                    "SEED", source.randrange(1, 99),
                    "ERROR", source.choice(("10%", "1e-6")), *source.choice(self.KINDS), *EVENTS]
        step = source.choice((0, 0, 1, 700, 4615, 7500, 7501, 60000, 61000, 130000, 10**7))
        at = times[key] = times[key] + (step if source.random() < 0.4 else 0)
        item = source.randrange(3000)
        if kind < 0.01:
            del times[key]
            return ["DEL", key]
        if kind < 0.5:
            return ["WINDOW.INSERT", key, "AT", at - source.choice((0, 0, 10**5)), "ITEMS", item]
        if kind < 0.85:
            n = source.choice((1, 2, 64, 65, 900))
            return ["WINDOW.INSERT", key, "AT", at, "ITEMS", *range(item, item + n)]
        if kind < 0.93:
            return ["WINDOW.DEL", key, *range(item, item + source.choice((1, 1, 2, 100)))]
        if kind < 0.96:
            return ["WINDOW.ADVANCE", key, "AT", at]
        others = source.sample([f"w{i}" for i in range(6) if f"w{i}" != key], source.choice((1, 2)))
        return ["WINDOW.MERGE", key, *others]


server_runner.main()
