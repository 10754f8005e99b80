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


server_runner.main()
