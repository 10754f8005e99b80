"""The progress line on a terminal: keys, keys per second and, if the size is known, the percentage
and the time left. A preloaded clock makes time pass quickly."""

import os
import pty
import re
import subprocess

from cli_runner import ORACLE as CLOCK
from cli_runner import PROGRAM, DirectoryCase, main, read_terminal

KNOWN = rb"\d+ keys, \d+ keys/s, \d+%, (\d+:)?\d+:\d\d left\x1b\[K"
UNKNOWN = rb"\d+ keys, \d+ keys/s\x1b\[K"


class Progress(DirectoryCase):
    def setUp(self):
        super().setUp()
        self.write("pairs", b"".join(b"key %d\tvalue\n" % i for i in range(60000)))
        self.write("lines", b"".join(b"line %d\n" % i for i in range(60000)))

    def shown(self, *arguments, stdin=None, on_terminal=("stderr",)):
        """The lines on the terminal, in order."""
        inner, outer = pty.openpty()
        streams = {name: outer if name in on_terminal else subprocess.DEVNULL
                   for name in ("stdout", "stderr")}
        source = open(self.path(stdin), "rb") if stdin else subprocess.DEVNULL
        process = subprocess.Popen([PROGRAM, *arguments], cwd=self.directory, stdin=source, **streams,
                                   env={**os.environ, "LD_PRELOAD": CLOCK})
        os.close(outer)
        written = read_terminal(inner)
        if stdin:
            source.close()
        self.assertIn(process.wait(), (0, 1), written)  # 1: one false positive
        return written.split(b"\r")

    def expect(self, pattern, *arguments, **options):
        with self.subTest(arguments=arguments):
            *steps, last = self.shown(*arguments, **options)
            self.assertTrue(steps)
            self.assertEqual(last, b"\x1b[K")  # it is removed at the end
            for step in steps[1:]:
                self.assertRegex(step, rb"^" + pattern + rb"$")
            shares = [int(re.search(rb"(\d+)%", step)[1]) for step in steps if b"%" in step]
            self.assertEqual(shares, sorted(shares))
            if pattern == KNOWN:
                self.assertEqual(shares[-1], 100)

    def test_where_the_size_is_known(self):
        self.expect(KNOWN, "seen", "lines")
        self.expect(KNOWN, "seen", "lines", "pairs", "lines")
        self.expect(KNOWN, "seen", stdin="lines")
        self.expect(KNOWN, "seen", "--count", "-", "pairs", stdin="lines")
        self.expect(KNOWN, "count", "c", "pairs", "--ones", "-d", " ", "--counter", "1", "--id", "2")
        self.expect(KNOWN, "map", "build", "m", "--capacity", "60k", stdin="pairs")
        self.expect(KNOWN, "map", "put", "m", stdin="pairs")
        self.write("keys", b"".join(b"key %d\n" % i for i in range(60000)))
        self.expect(KNOWN, "map", "get", "m", stdin="keys")
        self.expect(KNOWN, "map", "del", "m", stdin="keys")
        self.expect(KNOWN, "index", "build", "i", "lines", "pairs")
        self.expect(KNOWN, "index", "build", "w", "lines", "pairs", "--words")
        self.expect(KNOWN, "index", "add", "i", "lines")
        self.expect(KNOWN, "index", "refresh", "i", "--all")
        self.expect(KNOWN, "index", "check", "i")
        self.expect(KNOWN, "index", "locate", "i", stdin="lines")
        self.expect(KNOWN, "index", "del", "i", "--from", "lines", stdin="lines")
        self.expect(KNOWN, "index", "unit", "lines", "--like", "i")

    def test_where_it_is_not(self):
        os.mkfifo(self.path("pipe"))
        for name, *arguments in (("lines", "seen", "pipe", "lines"),
                                 ("pairs", "map", "build", "m", "--capacity", "9", "pipe")):
            feeder = subprocess.Popen(["sh", "-c", f"cat {name} > pipe"], cwd=self.directory)
            self.expect(UNKNOWN, *arguments)
            feeder.wait()

    def test_on_a_terminal_alone(self):
        for streams in ((), ("stdout",), ("stdout", "stderr")):
            shown = b"\r".join(self.shown("seen", "lines", on_terminal=streams))
            self.assertNotIn(b"keys/s", shown)
        shown = b"\r".join(self.shown("map", "build", "m", stdin="pairs", on_terminal=("stdout",)))
        self.assertEqual(shown, b"")


main()
