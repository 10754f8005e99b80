"""What must hold on every server that people run, in a short form: a key of every type is
replicated, logged, rewritten, restarted and moved; clients can neither call internal commands nor
pass limits, and get errors as errors, wherever they call from."""

import contextlib

import server_runner
from cluster_case import ClusterCase
from server_runner import Case, Client, Error, Server, pairs

# Commands that make a key of every type, each with {tag} in its name, and change it.
FAMILIES = {
    "map": (["MAP.CREATE", "{tag}map", "CAPACITY", 100], ["MAP.SET", "{tag}map", "a", "1", "b", "2"],
            ["MAP.DEL", "{tag}map", "b"]),
    "kbf": (["MAP.CREATE", "{tag}kbf", "ENGINE", "kbf", "CAPACITY", 100, "ERROR", 0.01,
             "VALUES", 9], ["MAP.SET", "{tag}kbf", "a", "1"]),
    "window": (["WINDOW.CREATE", "{tag}window", "WINDOW", "1h"], ["WINDOW.ADD", "{tag}window", "a"],
               ["WINDOW.ADD", "{tag}window", "b", "c"]),
    "counter": (["COUNTER.CREATE", "{tag}counter", "WINDOW", "1h"],
                ["COUNTER.INCRBY", "{tag}counter", "n", 5, "id"],
                ["COUNTER.INCRBY", "{tag}counter", "n", 1, "id2", "m", 1, "id3"]),
    "index": (["INDEX.CREATE", "{tag}index"], ["INDEX.ADD", "{tag}index", 3, "a", "b"]),
    "filter": (["BF.ADD", "{tag}filter", "a"], ["BF.MADD", "{tag}filter", "b", "c"]),
    "once": (["ONCE.CREATE", "{tag}guard", "WINDOW", "1h"],
             ["ONCE", "{tag}guard", "1", "INCR", "{tag}number"],
             ["ONCE", "{tag}guard", "2", "SET", "{tag}text", "x", "EX", 1000]),
}
KEYS = 9
CALL = "return redis.call(unpack(ARGV))"


def fill(client):
    for commands in FAMILIES.values():
        for command in commands:
            client(*command)


class Data(Case):
    SETTINGS = {"appendonly": "yes", "aof-use-rdb-preamble": "no"}

    def test_replica_rewrite_restart(self):
        fill(self.client)
        self.assertEqual(self.client("DBSIZE"), KEYS)
        with Server(**self.SETTINGS) as replica:
            self.follow(replica)  # a snapshot, then the stream
            for start in range(0, 200, 50):
                self.client.pipeline([["MULTI"], ["BF.ADD", "{tag}filter", start], ["EXEC"]] + [
                    command for i in range(start, start + 50) for command in (
                        ["BF.ADD", "{tag}filter", i], ["MAP.SET", "{tag}map", i, i % 7],
                        ["COUNTER.INCRBY", "{tag}counter", i % 9, 1, i],
                        ["WINDOW.ADD", "{tag}window", i], ["INDEX.ADD", "{tag}index", i % 4, i],
                        ["ONCE", "{tag}guard", f"id {i}", "INCR", "{tag}number"],
                        ["EVAL", CALL, 0, "BF.ADD", "{tag}filter", f"script {i}"])])
            self.same_on(replica)
            digest = self.client("DEBUG", "DIGEST")
            self.wait_rewritten(replica)
            replica.restart()
            self.assertEqual(replica.client("DEBUG", "DIGEST"), digest)
            self.assertEqual(replica.complaints(), "")
        self.server.restart()  # from the log as it was written
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)
        self.rewrite()
        self.server.restart()
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)
        self.assertEqual(self.client("GET", "{tag}number"), b"201")
        self.client("DEBUG", "RELOAD")
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)
        self.assertNotIn("slower way", self.server.log)


class Slots(ClusterCase):
    def test_a_slot_moves(self):
        fill(self.client)
        keys = sorted(self.client("KEYS", "*"))
        digests = self.client("DEBUG", "DIGEST-VALUE", *keys)
        with self.moving("{tag}") as other:
            for key in keys:
                self.move(key, other)
            self.assertEqual(other.client("DEBUG", "DIGEST-VALUE", *keys), digests)
            self.refused("ASK", "BF.EXISTS", "{tag}filter", "a")
            self.assertEqual(self.asking(other, "BF.EXISTS", "{tag}filter", "a"), 1)
            self.assertEqual(self.asking(other, "ONCE", "{tag}guard", "1", "INCR", "{tag}number"), [0, None])
            self.assertEqual(other.client("DBSIZE"), KEYS)

    def test_a_slot_moves_at_once(self):
        """Valkey 9 streams it as commands, those of a log after a rewrite."""
        if not self.is_server("valkey", (9, 0)):
            self.skipTest("only Valkey 9 has CLUSTER MIGRATESLOTS")
        fill(self.client)
        keys = sorted(self.client("KEYS", "*"))
        digests = self.client("DEBUG", "DIGEST-VALUE", *keys)
        slot = self.client("CLUSTER", "KEYSLOT", "{tag}")
        with self.other_node() as other, Server(**self.SETTINGS) as replica:
            replica.client("CLUSTER", "MEET", "127.0.0.1", self.server.port)
            name = other.client("CLUSTER", "MYID")
            self.wait_until(lambda: replica.client.ask("CLUSTER", "REPLICATE", name) == b"OK",
                            "a replica follows")
            self.wait_linked(replica)
            self.client("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", name)
            self.wait_until(lambda: other.client("DBSIZE") == KEYS and self.client("DBSIZE") == 0,
                            "the slot has moved")
            self.assertEqual(other.client("DEBUG", "DIGEST-VALUE", *keys), digests)
            self.assertEqual(other.client("BF.EXISTS", "{tag}filter", "a"), 1)
            self.assertEqual(other.client("ONCE", "{tag}guard", "1", "INCR", "{tag}number"), [0, None])
            self.assertEqual(other.client("WAIT", 1, 60_000), 1)
            self.assertEqual(replica.client("DEBUG", "DIGEST"), other.client("DEBUG", "DIGEST"))
            self.assertNotIn("sending an error", other.log + replica.log)


class Doors(Case):
    """What clients may not do, on a server with debug commands."""

    DEBUG = "yes"
    WAYS = ("plain", "MULTI", "EVAL", "FCALL")

    @classmethod
    def setUpClass(cls):
        cls.SETTINGS = {"enable-debug-command": cls.DEBUG}
        super().setUpClass()
        cls.server.client("FUNCTION", "LOAD", "#!lua name=call\nredis.register_function('call', "
                          f"function(KEYS, ARGV) {CALL} end)")

    def setUp(self):
        super().setUp()
        fill(self.client)

    def sent(self, way, command, client=None):
        """The reply to a command that is sent in one of these ways."""
        client = client or self.client
        if way == "plain":
            return client.ask(*command)
        if way == "MULTI":
            client("MULTI")
            queued = client.ask(*command)
            replies = client.ask("EXEC")
            return queued if isinstance(queued, Error) else replies[0]
        return client.ask(*(("EVAL", CALL) if way == "EVAL" else ("FCALL", "call")), 0, *command)

    def state(self, client=None):
        """All keys with their contents, without debug commands."""
        client = client or self.client
        return {key: client("DUMP", key) for key in client("KEYS", "*")}

    def assertRefused(self, word, command, text="", client=None):
        for way in self.WAYS:
            before = self.state(client)
            reply = self.sent(way, command, client)
            self.assertIsInstance(reply, Error, (way, command, reply))
            self.assertIn(f"{word} ", str(reply), (way, command))
            self.assertIn(text, str(reply), (way, command))
            self.assertEqual(self.state(client), before, (way, command))

    def internal(self):
        """Every internal command, with as many arguments as it takes."""
        names = self.client("COMMAND", "LIST", "FILTERBY", "MODULE", "bloomery")
        docs = pairs(self.client("COMMAND", "DOCS", *names))
        hidden = [name for name in names if not pairs(docs[name]).get(b"arguments")]
        self.assertGreater(len(hidden), 12)
        for info in self.client("COMMAND", "INFO", *hidden):
            self.assertEqual(info[0].partition(b".")[0], b"bloomery")
            family = info[0].split(b".")[1].decode()
            key = {"once": "{tag}guard", "probe": None}.get(family, f"{{tag}}{family}")
            count = abs(info[1]) - 1
            yield [info[0], *([key, *["1"] * (count - 1)] if key else [])]

    def check(self, client=None):
        for command in self.internal():
            self.assertRefused("ERR", command, "is reserved for replication", client)
        self.assertRefused("WRONGTYPE", ["BF.ADD", "{tag}text", "a"], client=client)
        self.assertRefused("WRONGTYPE", ["MAP.SET", "{tag}text", "a", "b"], client=client)
        self.assertRefused("ERR", ["COUNTER.INCRBY", "{tag}none", "n", 1, "id"], "no such key", client)
        self.assertRefused("NOGUARD", ["ONCE", "{tag}none", "id", "INCR", "{tag}number"], client=client)
        self.assertRefused("ERR", ["ONCE", "{tag}guard", "id", "BLOOMERY.FILTER.ADD", "{tag}filter", "x"],
                           "ONCE cannot call", client)

    def test_internal_commands_and_errors(self):
        self.check()

    def check_limits(self, client):
        client("CONFIG", "SET", "bloomery.max-key-bytes", "64kb")
        for command in (["BF.MADD", "{tag}filter", *range(80_000)],
                        ["INDEX.ADD", "{tag}index", 1, *range(50_000)],
                        ["WINDOW.ADD", "{tag}window", *range(50_000)],
                        ["MAP.SET", "{tag}map", *(x for i in range(30_000) for x in (i, i))]):
            reply = client.ask(*command)
            self.assertIn("FULL", str(reply), command[:2])
            self.assertLess(client("MEMORY", "USAGE", command[1]), 80_000, command[:2])

    def test_limits(self):
        self.check_limits(self.client)

    def test_on_a_replica(self):
        """Also on one that its clients may change."""
        with Server(**self.SETTINGS) as replica:
            replica.client("FUNCTION", "LOAD", "#!lua name=call\nredis.register_function('call', "
                           f"function(KEYS, ARGV) {CALL} end)")
            self.follow(replica)
            self.assertIn("READONLY", str(replica.client.ask("BF.ADD", "{tag}filter", "z")))
            self.assertIn("READONLY", str(replica.client.ask("BLOOMERY.FILTER.ADD", "{tag}filter", "z")))
            replica.client("CONFIG", "SET", "replica-read-only", "no")
            self.check(replica.client)
            self.check_limits(replica.client)


class DoorsWithoutDebug(Doors):
    DEBUG = "no"


class DoorsWithLocalDebug(Doors):
    DEBUG = "local"
    test_on_a_replica = None  # the others are enough


class Loading(Case):
    def test_clients_while_loading(self):
        """They get LOADING, whatever they send. The server reads what they send after every 1,024
        commands of its log."""
        server = Server(**{"key-load-delay": "100"})  # microseconds for each of them
        self.addCleanup(server.__exit__)
        self.addCleanup(server.stop, kill=True)
        server.write_log(*(["SET", i, "x"] for i in range(30_000)))
        server.port = server_runner.free_port()
        server._launch()
        commands = (["BF.ADD", "k", "a"], ["BLOOMERY.FILTER.ADD", "k", "a"],
                    ["BLOOMERY.FILTER.LOAD", "k", 0, "", "LAST"],
                    ["MULTI"], ["BLOOMERY.ONCE.APPLY", "g", "1", "INCR", "n"],
                    ["EVAL", CALL, 0, "BLOOMERY.FILTER.ADD", "k", "a"])

        def client():
            with contextlib.suppress(OSError):
                return Client(server.port)
        self.wait_until(client, "the server listens")
        for reply, command in zip(client().pipeline(commands), commands):
            self.assertIn("LOADING" if command[0] != "MULTI" else "OK", str(reply), command)


server_runner.main()
