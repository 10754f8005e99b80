"""Tests of the commands of every family, for the module_*_test.py files."""

from server_runner import Client, pairs


class Described:
    """A class with these tests has PREFIX, and COMMANDS: every command of the family at least once,
    as a line without the prefix, and its keys. INTERNAL: the same for BLOOMERY.PREFIX.*, which
    clients never send."""

    INTERNAL = (("LOAD k 0 x", "k"),)

    def lines(self):
        """(prefix, line, keys) of all commands."""
        yield from ((self.PREFIX, *command) for command in self.COMMANDS)
        yield from ((f"BLOOMERY.{self.PREFIX}", *command) for command in self.INTERNAL)

    def test_described(self):
        listed = {name.decode().upper() for name in
                  self.client("COMMAND", "LIST", "FILTERBY", "MODULE", "bloomery")}
        names = {f"{prefix}.{line.split()[0]}" for prefix, line, _ in self.lines()}
        self.assertEqual({name for name in listed if name.startswith(
            (f"{self.PREFIX}.", f"BLOOMERY.{self.PREFIX}."))}, names)
        for name in names:
            docs = pairs(self.client("COMMAND", "DOCS", name)[1])
            for field in (b"summary", b"complexity", b"since"):
                self.assertTrue(docs[field], (name, field))
            internal = name.startswith("BLOOMERY.")
            self.assertEqual(bool(docs.get(b"arguments")), not internal, name)
            self.assertEqual(docs[b"summary"].startswith(b"Internal: "), internal, name)

    def test_internal_commands_are_not_for_clients(self):
        for line, _ in self.INTERNAL:
            self.refused("ERR", *f"BLOOMERY.{self.PREFIX}.{line}".split(), text="for replication")

    def test_keys_are_declared(self):
        for prefix, line, keys in self.lines():
            self.assertEqual(self.client("COMMAND", "GETKEYS", *f"{prefix}.{line}".split()),
                             [key.encode() for key in keys.split()], line)

    def reader(self, pattern, *commands):
        """A client that may read keys of this pattern and call only these commands."""
        self.client("ACL", "SETUSER", "reader", "on", ">x", f"%R~{pattern}",
                    *(f"+{command.lower()}" for command in commands))
        self.addCleanup(self.client, "ACL", "DELUSER", "reader")
        client = Client(self.server.port)
        self.addCleanup(client.close)
        client("AUTH", "reader", "x")
        return client

    def grows_as_counted(self, key, commands, least):
        """The server's memory grows by what is counted for the key, which is at least `least`."""
        used = self.client.info("memory")["used_memory"]
        counted = self.client("MEMORY", "USAGE", key)
        for command in commands:
            self.client(*command)
        used = self.client.info("memory")["used_memory"] - used
        counted = self.client("MEMORY", "USAGE", key) - counted
        self.assertGreater(counted, least)
        # The buffers of the connection vary.
        self.assertLessEqual(abs(used - counted), 65536 + counted // 100)
