"""interface.py must detect a change: tests headers with one change each, and with none.

interface_selftest.py CC INCLUDE
"""

import pathlib
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import interface  # noqa: E402

COMPILER, INCLUDE = sys.argv[1:3]

# header, what is replaced, by what, what the report names
CHANGES = (
    ("index.h", "    uint32_t sealed;", "    uint64_t sealed;", "sealed"),
    ("filter.h", "    double fill;", "    double filled;", "fill"),
    ("counters.h", "BRY_COUNTERS_SYNC_ASKED = 1", "BRY_COUNTERS_SYNC_ASKED = 2", "SYNC_ASKED"),
    ("base.h", "X(IO, -9)", "X(IO, -19)", "BRY_E_IO"),
    ("map.h", "BRY_MAP_VALUE_MAX 65535u", "BRY_MAP_VALUE_MAX 65536u", "BRY_MAP_VALUE_MAX"),
    ("hash.h", "const unsigned char digest[16]", "const uint32_t *digest", "bry_hash_digest"),
    ("window.h", "uint64_t bry_window_time(", "uint64_t bry_window_now(", "bry_window_time"),
)


class Interface(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.written = interface.describe(COMPILER, INCLUDE, self.directory)

    def findings(self, changes):
        headers = self.directory / "include"
        shutil.copytree(INCLUDE, headers)
        for name, old, new, _ in changes:
            header = headers / "bloomery" / name
            text = header.read_text()
            self.assertIn(old, text, "the test is out of date")
            header.write_text(text.replace(old, new, 1))
        now = interface.describe(COMPILER, headers, self.directory)
        return interface.compare(COMPILER, self.directory, self.written, now)

    def test_nothing(self):
        self.assertEqual(self.findings([]), "")

    def test_comments_do_not_count(self):
        self.assertEqual(self.findings([("base.h", "/*", "/* More. */\n/*", "")]), "")

    def test_every_change_is_named(self):
        """All at once, because each comparison takes a while; a macro separately, because it is
        text."""
        macros = [change for change in CHANGES if change[0] == "map.h"]
        report = self.findings([change for change in CHANGES if change not in macros])
        for _, _, _, name in CHANGES:
            if name != macros[0][3]:
                self.assertIn(name, report)
        shutil.rmtree(self.directory / "include")
        self.assertIn(macros[0][3], self.findings(macros))


unittest.main(argv=sys.argv[:1])
