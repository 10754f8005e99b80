"""The settings of the module in a configuration file, by all their names."""

import os

import server_runner
from server_runner import Case, Server, pairs

TAKEN = os.path.join(os.path.dirname(server_runner.MODULE or ""), "names-taken.so")


class Settings(Case):
    """Their names in a configuration file: with a prefix on every server, and in Redis 8 without it
    too, as RedisBloom has them."""

    NAMES = ("bf-initial-size 7", "bf-error-rate 0.02", "bf-expansion-factor 3")

    def started(self, *lines, before=()):
        """A server with these lines in its configuration; None if it does not start."""
        server = Server().configure(*before, f"loadmodule {server_runner.MODULE}", *lines)
        self.addCleanup(server.__exit__)
        return server if server.refuses() is None else None

    def check(self, client):
        client("BF.ADD", "k", "a")
        self.assertEqual([client("BF.INFO", "k", what)[0] for what in ("CAPACITY", "EXPANSION")],
                         [7, 3])

    def test_with_a_prefix(self):
        server = self.started(*(f"bloomery.{line}" for line in self.NAMES))
        self.check(server.client)
        server.client("CONFIG", "SET", "bloomery.bf-initial-size", 9)
        server.client("BF.ADD", "l", "a")
        self.assertEqual(server.client("BF.INFO", "l", "CAPACITY"), [9])
        self.assertEqual(pairs(server.client("CONFIG", "GET", "bloomery.bf-e*")),
                         {b"bloomery.bf-error-rate": b"0.02", b"bloomery.bf-expansion-factor": b"3"})

    def test_without_a_prefix(self):
        server = self.started(*self.NAMES)
        if not self.is_server("redis", (8, 0)):
            self.assertIsNone(server)
            return
        self.check(server.client)
        server.client("CONFIG", "SET", "bf-initial-size", 9)
        for name in (b"bf-initial-size", b"bloomery.bf-initial-size"):
            self.assertEqual(server.client("CONFIG", "GET", name), [name, b"9"])

    def test_names_that_another_module_has(self):
        """RedisBloom, for example."""
        server = self.started("bloomery.bf-initial-size 7", "bloomery.bf-expansion-factor 3",
                              before=[f"loadmodule {TAKEN} settings"])
        self.check(server.client)
        if self.is_server("redis", (8, 0)):
            self.assertEqual(server.client("CONFIG", "GET", "bf-initial-size"),
                             [b"bf-initial-size", b"123"])

    def test_limits(self):
        """The least and the most are accepted, and nothing beyond them."""
        most = 2**40
        limits = {name: (1, most, 0, most + 1, "x") for name in (
            "map-capacity", "window-capacity", "counter-capacity", "once-capacity", "index-capacity",
            "bf-initial-size")}
        limits["index-units"] = (1, 2**20, 0, 2**20 + 1)
        limits["bf-expansion-factor"] = (0, 2**32 - 1, -1, 2**32)
        limits["max-key-bytes"] = (65536, most, 65535, most + 1, "5")
        for name in ("map-error", "window-error", "index-error", "once-error"):
            limits[name] = ("1e-9", "50%", "0", "51%", "2", "x", "-0.1")
        limits["bf-error-rate"] = ("1e-9", "99%", "0", "1", "x")
        for name, other in (("map-engine", "fbf"), ("window-engine", "kbf"), ("index-engine", "bloom")):
            limits[name] = ("auto", "compact", other, "x", "")
        for name, (least, most, *beyond) in limits.items():
            setting = f"bloomery.{name}"
            before = self.client("CONFIG", "GET", setting)
            self.addCleanup(self.client, "CONFIG", "SET", *before)
            for value in beyond:
                self.refused("ERR", "CONFIG", "SET", setting, value)
            self.assertEqual(self.client("CONFIG", "GET", setting), before)
            for value in (least, most):
                self.assertEqual(self.client("CONFIG", "SET", setting, value), b"OK", (name, value))


server_runner.main()
