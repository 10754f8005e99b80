"""Random commands of every family in ONCE and beside it, in pipelines, transactions, scripts and
functions, of several clients at once, with clients that wait for lists and keys that expire: a
replica, its replica, the append-only files of all, and such a file after its rewrite, have the same
data, and identical guards.

    PROGRAM SERVER MODULE [PRELOAD]      12 rounds; BLOOMERY_ONCE_FUZZ_SECONDS=n runs for n seconds
                                         instead, BLOOMERY_ONCE_FUZZ_COMMANDS=n for n commands;
                                         BLOOMERY_ONCE_FUZZ_SEED=n sets the seed,
                                         BLOOMERY_ONCE_FUZZ_THREADS=n the servers' io-threads
"""

import os
import random
import time

import server_runner
from server_runner import Case, Client, Server, encode

SECONDS = float(os.environ.get("BLOOMERY_ONCE_FUZZ_SECONDS", "0"))
LEAST_COMMANDS = int(os.environ.get("BLOOMERY_ONCE_FUZZ_COMMANDS", "0"))
SEED = int(os.environ.get("BLOOMERY_ONCE_FUZZ_SEED", "1"))
THREADS = os.environ.get("BLOOMERY_ONCE_FUZZ_THREADS", "1")
ROUNDS = 12
CLIENTS = 4

HOUR = 3600_000
GUARDS = {"ahead": [HOUR], "hour": [HOUR], "small": [HOUR, "CAPACITY", 20, "ERROR", "1e-4"],
          "brief": [7, "CAPACITY", 50], "full": [HOUR, "CAPACITY", 20, "MAXMEM", "4kb"]}
OBJECTS = (["COUNTER.CREATE", "c", "WINDOW", HOUR], ["COUNTER.CREATE", "cb", "WINDOW", 20],
           ["WINDOW.CREATE", "win", "WINDOW", HOUR], ["MAP.CREATE", "m"],
           ["BF.RESERVE", "b", 0.01, 100], ["INDEX.CREATE", "i", "UNITS", 8, "CAPACITY", 500],
           ["MAP.CREATE", "mk", "ENGINE", "kbf", "CAPACITY", 500, "ERROR", 0.01, "VALUES", 99])
NAMES = {"N": ["n1", "n2", "v1", "v2", "v3"], "V": ["v1", "v2", "v3"], "H": ["h1", "h2"],
         "L": ["l1", "l2"], "S": ["s1", "s2"], "K": ["n1", "v1", "h1", "l1", "l2", "s1", "x", "z"]}
# Capitals stand for keys, w for a word, w… for some.
COMMANDS = [line.split() for line in """
    INCR N, INCR N, INCR V, DECR N, INCRBY N 5, INCRBY N w, DECRBY N 2, HINCRBY H w 3,
    HINCRBY H f w, HSET H w w, HSET H w w w w, HSET H w…, LPUSH L w, LPUSH L w…, RPUSH L w…,
    SADD S w, SADD S w…, SPOP S, SPOP S 3, SET V 5 PX 2, SET V 5 PX 9, SET N 7, PEXPIRE K 5,
    EXPIRE K -1, GETEX V PX 3, GETSET N 1, INCRBYFLOAT N 1.5, DEL K K, UNLINK H, RENAME L L,
    LMOVE L L LEFT RIGHT, LPOP L, XADD x * f w, ZADD z INCR 1 w, MOVE K 3, COPY L L DB 3 REPLACE,
    COUNTER.INCRBY c w 3 w, COUNTER.INCRBY c a 1 w b 2 w, COUNTER.INCRBY cb a 1 w,
    COUNTER.DEL c w, WINDOW.ADD win w, WINDOW.DEL win w, BF.ADD b w, BF.MADD b w…, BF.DEL b w,
    MAP.SET m w 5, MAP.DEL m w, MAP.SET mk w 7, MAP.INSERT m XX FIELDS w 6, INDEX.ADD i 3 w, INDEX.ADD i 5 w…,
    INDEX.DEL i 3 w, INDEX.DROP i 5, GET N, NONE K, BLPOP L 0.001
    """.replace("\n", " ").split(",")]
CALL_EACH = """local i = 1
    while i <= #ARGV do
        local n = tonumber(ARGV[i])
        redis.pcall(unpack(ARGV, i + 1, i + n))
        i = i + n + 1
    end"""
WAITING = (["BLPOP", "l1", "l2", 0], ["BLMOVE", "l1", "l2", "LEFT", "RIGHT", 0],
           ["BLMPOP", 0, 2, "l2", "l1", "LEFT", "COUNT", 3],
           ["XREAD", "BLOCK", 0, "STREAMS", "x", "$"])


class Source(random.Random):
    made = 0  # number of commands so far

    def word(self):
        return self.choice((str(self.randrange(20)), "", self.randbytes(3), "long " * 25, "v" * 128,
                            str(self.getrandbits(64) - 2**63)))

    def words(self, sign):
        if sign in NAMES:  # sometimes one of another type, or a guard, which may then be gone
            others = [*NAMES["K"], *GUARDS]
            others.remove("ahead")
            return [self.choice(NAMES[sign] if self.random() < 0.95 else others)]
        if sign == "w…":
            return [self.word() for _ in range(self.choice((1, 2, 13, 14, 15, 16)))]
        return [self.word()] if sign == "w" else [sign]

    def command(self):
        self.made += 1
        first, *signs = self.choice(COMMANDS)
        return [self.choice((first, first.lower())),
                *(word for sign in signs for word in self.words(sign))]

    def once(self):
        return ["ONCE", self.choice([*GUARDS, "ahead", "ahead", "none", "n1"]),
                self.choice(("", self.randbytes(2), f"id {self.randrange(10**6)}")),
                *self.command()]

    def commands(self):
        kind = self.random()
        many = [self.once() for _ in range(self.randrange(1, 5))]
        if kind < 0.7:
            return many
        if kind < 0.8:
            return [self.command()]
        if kind < 0.9:
            return [["MULTI"], *many, self.command(), ["EXEC"]]
        arguments = [word for one in many for word in (len(one), *one)]
        return [[*(("EVAL", CALL_EACH) if kind < 0.95 else ("FCALL", "each")), 0, *arguments]]


class Fuzz(Case):
    SETTINGS = {"appendonly": "yes", "appendfsync": "no", "io-threads": THREADS}

    def furnish(self):
        self.client.pipeline([["ONCE.CREATE", guard, "WINDOW", *options]
                              for guard, options in GUARDS.items()])
        self.client.pipeline(OBJECTS)

    def move_ahead(self):
        """Moves the time of one guard and one table ahead of the clock, so that it stands still."""
        future = int(time.time() * 1000) + HOUR
        self.server.replay(["WINDOW.ADVANCE", "ahead", "AT", future],
                           ["BLOOMERY.COUNTER.TOUCH", "c", future, 0])

    def state(self, server):
        ask = server.client
        return [ask("DEBUG", "DIGEST"),
                *(ask("DUMP", key) for key in GUARDS if ask("TYPE", key) == b"bloom-win")]

    def settled(self):
        """The state once all keys with a time to live have expired, and were deleted because a
        command asked for them."""
        time.sleep(0.02)
        for database in (3, 0):
            self.client("SELECT", database)
            self.client("EXISTS", *GUARDS, *(name for names in NAMES.values() for name in names))
        return self.state(self.server)

    def round(self, source):
        waiting = [Client(self.server.port) for _ in WAITING]
        for client, command in zip(waiting, WAITING):
            client.socket.sendall(encode(command))
        clients = [Client(self.server.port) for _ in range(CLIENTS)]
        for _ in range(3):
            self.furnish()
            batches = [[one for _ in range(60) for one in source.commands()] for _ in clients]
            for client, batch in zip(clients, batches):  # all at once
                client.socket.sendall(b"".join(map(encode, batch)))
            for client, batch in zip(clients, batches):
                for _ in batch:
                    client._read()
        for client in (*waiting, *clients):
            client.close()

    def test_the_same_everywhere(self):
        source, end, rounds = Source(SEED), time.monotonic() + SECONDS, 0
        self.furnish()
        self.move_ahead()
        self.client("FUNCTION", "LOAD", "#!lua name=each\nredis.register_function('each', "
                    f"function(KEYS, ARGV) {CALL_EACH} end)")
        with Server(**self.SETTINGS) as middle, Server(**self.SETTINGS) as last:
            self.follow(middle)
            self.follow(last, middle)
            while (time.monotonic() < end if SECONDS else source.made < LEAST_COMMANDS
                   if LEAST_COMMANDS else rounds < ROUNDS):
                rounds += 1
                self.round(source)
                wanted, where = self.settled(), f"seed {SEED}, round {rounds}"
                for other in (middle, last):
                    self.wait_until(lambda: self.offset(other) == self.offset(self.server),
                                    "all is there")
                    self.assertEqual(self.state(other), wanted, where)
                    self.assertNotIn("sending an error", other.log)
            logged = b"".join(path.read_bytes()
                              for path in (self.server.path / "appendonlydir").glob("*.incr.aof"))
            for name in (b"BLOOMERY.ONCE.APPLY", b"BLOOMERY.ONCE.DONE", b"WINDOW.ADD", b"BLOOMERY.COUNTER.SAME"):
                self.assertIn(name, logged)
            for server in (self.server, middle, last):
                server.restart()
                self.assertEqual(self.state(server), wanted)
                self.assertNotIn("sending an error", server.log)
                self.assertEqual(server.complaints(), "")
            for preamble in ("no", "yes"):
                self.client("CONFIG", "SET", "aof-use-rdb-preamble", preamble)
                self.rewrite()
                self.server.restart()
                self.assertEqual(self.state(self.server), wanted)
        print(f"{source.made} commands, {rounds} rounds")

    def offset(self, server):
        about = server.client.info("replication")
        return about.get("slave_repl_offset", about["master_repl_offset"])


server_runner.main()
