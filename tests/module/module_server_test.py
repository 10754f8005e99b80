"""What the server sees of the module, whatever the family: access control, memory and its limits."""

import sys

import server_runner
from server_runner import Case, Client, Error, pairs


class Access(Case):
    def commands(self):
        names = self.client("COMMAND", "LIST", "FILTERBY", "MODULE", "bloomery")
        self.assertGreater(len(names), 20)
        return {info[0].lower(): info for info in self.client("COMMAND", "INFO", *names)}

    def test_categories(self):
        """Where a server knows categories of modules, every command is in ours and in those that
        its flags stand for, and rules with them work. (ACL CAT leaves modules out.)"""
        if b"bloomery" not in self.client("ACL", "CAT"):
            self.assertEqual({tuple(info[6]) for info in self.commands().values()}, {()})
            self.skipTest("this server has no categories for modules")
        for name, info in self.commands().items():
            flags, categories = set(info[2]), set(info[6])
            self.assertIn(b"@bloomery", categories, name)
            self.assertEqual(b"@write" in categories, b"write" in flags, name)
            self.assertEqual(b"@read" in categories, b"readonly" in flags, name)
            self.assertEqual(b"@fast" in categories, b"fast" in flags, name)
        listed = self.client("COMMAND", "LIST", "FILTERBY", "ACLCAT", "bloomery")
        self.assertEqual({name.lower() for name in listed}, set(self.commands()))
        self.client("ACL", "SETUSER", "reader", "on", ">x", "~*", "-@all", "+@bloomery", "-@write")
        self.addCleanup(self.client, "ACL", "DELUSER", "reader")
        self.client("MAP.SET", "m", "a", "1")
        user = Client(self.server.port)
        user("AUTH", "reader", "x")
        self.assertEqual(user("MAP.GET", "m", "a"), [b"1"])
        for command in (["MAP.SET", "m", "a", "2"], ["GET", "m"], ["DEL", "m"]):
            self.assertEqual(user.ask(*command).word, "NOPERM", command)
        user.close()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    server_runner.main()
