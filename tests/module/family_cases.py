"""Tests of the commands of every family, for the module_*_test.py files."""

from server_runner import Client, pairs


class Described:
    """A class with these tests has PREFIX, and COMMANDS: every command of the family at least once,
    as a line without the prefix, and its keys. INTERNAL are those that clients never send."""

    INTERNAL = ("LOAD",)

    def test_described(self):
        names = {line.split()[0] for line, _ in self.COMMANDS}
        listed = self.client("COMMAND", "LIST", "FILTERBY", "MODULE", "bloomery")
        listed = {name.decode().upper() for name in listed}
        self.assertEqual({name for name in listed if name.startswith(f"{self.PREFIX}.")},
                         {f"{self.PREFIX}.{name}" for name in names})
        for name in names:
            docs = pairs(self.client("COMMAND", "DOCS", f"{self.PREFIX}.{name}")[1])
            for field in (b"summary", b"complexity", b"since"):
                self.assertTrue(docs[field], (name, field))
            self.assertEqual(bool(docs.get(b"arguments")), name not in self.INTERNAL, name)

    def test_keys_are_declared(self):
        for line, keys in self.COMMANDS:
            self.assertEqual(self.client("COMMAND", "GETKEYS", *f"{self.PREFIX}.{line}".split()),
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
