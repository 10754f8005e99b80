"""What keys of every family go through unchanged, for the *_keep_test.py files.

A class with these tests has `keys`, the names of its keys, and same_after(action), which fills the
server, carries the action out and compares.
"""


class MovedAndReloaded:
    def test_save_and_restart(self):
        def action():
            self.client("SAVE")
            self.server.restart()
        self.same_after(action)
        self.client("FLUSHALL")
        self.client("SAVE")

    def test_debug_reload(self):
        self.same_after(lambda: self.client("DEBUG", "RELOAD"))

    def test_swapdb_move_rename(self):
        def action():
            self.client("SWAPDB", 0, 1)
            self.client("SELECT", 1)
            for key in self.keys:
                self.client("MOVE", key, 0)
            self.client("SELECT", 0)
            for key in self.keys:
                self.client("RENAME", key, "elsewhere")
                self.client("RENAME", "elsewhere", key)
        self.same_after(action)

    def test_dump_restore(self):
        def action():
            for key in self.keys:
                dump, ttl = self.client("DUMP", key), max(0, self.client("PTTL", key))
                self.client("DEL", key)
                self.client("RESTORE", key, ttl, dump)
        self.same_after(action)
