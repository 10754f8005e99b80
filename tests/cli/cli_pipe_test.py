"""The reader of standard output goes away: every command ends by SIGPIPE, without a message."""

import os
import re
import signal
import struct
import subprocess
import sys

from cli_runner import PROGRAM, CommandCase, main

BENCH = sys.argv[3]


def commands(program, *path):
    """Every command, the program itself included."""
    yield (program, *path)
    text = subprocess.run([program, *path, "--help"], capture_output=True, text=True).stdout
    found = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.M)
    for line in found[1].splitlines() if found else []:
        if line.split()[0] != "help":
            yield from commands(program, *path, line.split()[0])


class ClosedPipe(CommandCase):
    def into_closed_pipe(self, *command, stdin=b"", **options):
        """The exit status, and what was written to standard error."""
        reading, writing = os.pipe()
        os.close(reading)
        try:
            done = subprocess.run(command, input=stdin, stdout=writing, stderr=subprocess.PIPE,
                                  cwd=self.directory, timeout=300, **options)
        finally:
            os.close(writing)
        return done.returncode, done.stderr

    def expect_silent(self, *command, **options):
        with self.subTest(command=command):
            self.assertEqual(self.into_closed_pipe(*command, **options), (-signal.SIGPIPE, b""))

    def test_help(self):
        for program in (PROGRAM, BENCH):
            for command in commands(program):
                self.expect_silent(*command, "--help")
            self.expect_silent(program, "--version")
        self.expect_silent(PROGRAM, "help", "map", "get")

    def test_plan(self):
        for more in ([], ["--json"], ["--cluster"]):
            self.expect_silent(PROGRAM, "plan", "--capacity", "1M", "--error", "1%", *more)

    def test_bench(self):
        self.expect_silent(BENCH, "hash", "--rounds", "1")

    def test_map(self):
        self.output("map", "build", "m", stdin=b"a\t1\nb\t2\n")
        self.expect_silent(PROGRAM, "map", "get", "m", "a")
        self.expect_silent(PROGRAM, "map", "get", "m", "a", "none")
        self.expect_silent(PROGRAM, "map", "get", "m", "--json", stdin=b"a\n" * 100000)
        self.expect_silent(PROGRAM, "map", "info", "m")
        self.expect_silent(PROGRAM, "map", "build", "-", stdin=b"a\t1\n")
        self.output("map", "build", "n", "--like", "m", stdin=b"c\t3\n")
        self.expect_silent(PROGRAM, "map", "merge", "m", "n", "--output", "-")
        self.assertEqual(sorted(os.listdir(self.directory)), ["m", "n"])

    def test_seen(self):
        lines = b"".join(b"%d\n" % i for i in range(100000))
        self.expect_silent(PROGRAM, "seen", "--state", "s", "--stats", stdin=lines)
        self.assertEqual(os.listdir(self.directory), [])

    def test_index(self):
        self.write("f", b"a\n")
        self.output("index", "build", "i", "f")
        for arguments in (["locate", "i", "a"], ["locate", "i", "a", "--confirm"], ["info", "i"],
                          ["info", "i", "--files"], ["check", "i", "--all"],
                          ["unit", "f", "--like", "i"]):
            self.expect_silent(PROGRAM, "index", *arguments)

    def test_flows(self):
        self.write("empty.pcap", struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for more in ([], ["--json"], ["--csv"]):
            self.expect_silent(PROGRAM, "flows", "empty.pcap", *more)

    def test_dedup(self):
        self.write("f", os.urandom(300000))
        self.output("dedup", "init", "r")
        self.output("dedup", "put", "r", "first", "f")
        for arguments in (["ls", "r"], ["ls", "r", "first"], ["get", "r", "first", "f"],
                          ["stats", "r"], ["check", "r"], ["put", "r", "second", "f"]):
            self.expect_silent(PROGRAM, "dedup", *arguments)
        self.output("dedup", "check", "r")

    def test_serve(self):
        self.write("server", b"#!/bin/sh\n")
        os.chmod(self.path("server"), 0o755)
        self.expect_silent(PROGRAM, "serve", "--dry-run", "--server", "./server", "--module", "server")

    def test_ignored_signal(self):
        """Also if the caller ignores SIGPIPE, as Python does."""
        self.expect_silent(PROGRAM, "--help", restore_signals=False)

    def test_messages(self):
        """Without output, messages and exit codes are as usual."""
        code, text = self.into_closed_pipe(PROGRAM, "map", "get", "none", "key")
        self.assertEqual((code, text.count(b"\n")), (3, 1))
        self.output("map", "build", "m", stdin=b"a\t1\n")
        self.assertEqual(self.into_closed_pipe(PROGRAM, "map", "get", "m", "b"), (1, b""))


main()
