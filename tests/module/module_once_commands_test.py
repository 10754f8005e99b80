"""Which commands ONCE runs, where commands were renamed and other modules have commands."""

import os

import server_runner
from server_runner import Case, Server


class Renamed(Case):
    """The command decides, not the name that rename-command gave it."""

    NAMES = {"RESTORE": "bring", "MIGRATE": "carry", "SET": "restore", "INCR": "plus"}

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server().configure(
            *(f"rename-command {old} {new}" for old, new in cls.NAMES.items())))

    def test_renamed(self):
        self.client("ONCE.CREATE", "g", "WINDOW", "1h")
        self.client("restore", "k", "v")
        dump = self.client("DUMP", "k")
        for command in (["bring", "copy", 0, dump], ["BRING", "copy", 0, dump],
                        ["carry", "127.0.0.1", self.server.port, "k", 0, 1, "COPY"]):
            self.refused("ERR", "ONCE", "g", "id", *command, text="ONCE cannot call")
        self.assertEqual(self.client("EXISTS", "copy"), 0)
        self.assertEqual(self.client("ONCE", "g", "1", "restore", "k", "w"), [1, b"OK"])
        self.assertEqual(self.client("ONCE", "g", "2", "plus", "n"), [1, 1])


class WithoutCommand(Case):
    """Without COMMAND INFO, ONCE cannot tell what a command does."""

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server().configure("rename-command COMMAND ''"))

    def test_refused(self):
        self.client("ONCE.CREATE", "g", "WINDOW", "1h")
        for _ in range(2):
            self.refused("ERR", "ONCE", "g", "id", "INCR", "n", text="ONCE needs the server's COMMAND")


class OtherModules(Case):
    """Modules that are loaded and unloaded, and have odd commands (odd_commands.c)."""

    MODULE = os.path.join(os.path.dirname(server_runner.MODULE or ""), "odd-commands.so")

    def setUp(self):
        super().setUp()
        self.assertTrue(os.path.exists(self.MODULE), "odd_commands is built")
        self.client("ONCE.CREATE", "g", "WINDOW", "1h")

    def load(self, flags):
        self.client("MODULE", "LOAD", self.MODULE, flags)

    def unload(self):
        self.client("MODULE", "UNLOAD", "odd_commands")

    def test_flags_that_change(self):
        self.load("write")
        self.assertEqual(self.client("ONCE", "g", 1, "ODD.WRITE", "k"), [1, 42])
        self.unload()
        self.refused("ERR", "ONCE", "g", 2, "ODD.WRITE", "k", text="unknown command")
        self.load("readonly")
        self.refused("ERR", "ONCE", "g", 2, "ODD.WRITE", "k", text="write commands only")
        self.unload()
        self.load("write")
        self.assertEqual(self.client("ONCE", "g", 2, "ODD.WRITE", "k"), [1, 42])
        self.unload()

    def test_a_range_of_keys_without_a_step(self):
        if self.is_server("valkey", (9, 1)):
            self.skipTest("this server crashes when such a command is called, also without us")
        self.load("write")
        self.assertEqual(self.client("ODD.STEP", "k"), 42)
        self.refused("ERR", "ONCE", "g", 1, "ODD.STEP", "k", text="commands with keys only")
        self.assertEqual(self.client("WINDOW.EXISTS", "g", 1), [0])
        self.unload()

    def test_a_guard_that_vanishes_meanwhile(self):
        self.load("write")
        with Server() as other:
            other.client("MODULE", "LOAD", self.MODULE, "write")
            self.follow(other)
            self.assertEqual(self.client("ONCE", "g", 1, "ODD.DROP", "k", "g"), [1, 1])
            self.assertEqual(self.client("EXISTS", "g"), 0)
            self.client("ONCE.CREATE", "g", "WINDOW", "1h")
            reply = self.client.ask("ONCE", "g", 1, "ODD.DROPFAIL", "k", "g")
            self.assertEqual(str(reply), "ODD it failed")
            self.assertEqual(self.client("EXISTS", "g"), 0)
            self.client("ONCE.CREATE", "g", "WINDOW", "1h")
            reply = self.client.ask("ONCE", "g", 1, "ODD.DROPFAIL", "k", "other")
            self.assertEqual(str(reply), "ODD it failed")
            self.assertEqual(self.client("WINDOW.EXISTS", "g", 1), [0])
            self.same_on(other)
        self.unload()


server_runner.main()
