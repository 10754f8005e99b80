"""Maps in a temporary directory, and the program run on them with bytes as input and output."""

import os
import subprocess

from cli_runner import PROGRAM, DirectoryCase, load

ENGINES = ("compact", "kbf")


class MapCase(DirectoryCase):
    def run_map(self, *arguments, stdin=b"", **options):
        """Runs `bloomery map` in the directory, so that messages contain names without it."""
        return subprocess.run([PROGRAM, "map", *arguments], input=stdin, timeout=300,
                              **{"capture_output": True, "cwd": self.directory, **options})

    def expect(self, arguments, code, out=b"", err=b"", stdin=b""):
        with self.subTest(arguments=arguments):
            done = self.run_map(*arguments, stdin=stdin)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (code, out, err))

    def expect_misuse(self, arguments, problem):
        command = ["map", *arguments[:1]] if arguments and arguments[0] in (
            "build", "get", "put", "del", "info", "merge", "compress", "ls", "drop", "save",
            "restore") else ["map"]
        message = f'bloomery: {problem}\nTry "bloomery {" ".join(command)} --help".\n'
        self.expect(arguments, 2, err=message.encode())

    def build(self, name, pairs, *options):
        """The pairs are bytes, as the program reads them."""
        self.expect(["build", name, "--seed", "7", *options], 0, stdin=pairs)

    def info(self, name):
        done = self.run_map("info", name, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return load(done.stdout)

    def make_unsure(self, name, key):
        """A key that is added twice as new becomes unsure."""
        self.expect(["put", name, key, "another value", "--new"], 0)

    def assert_files(self, *names):
        """The directory contains nothing else: no temporary file is left."""
        self.assertEqual(sorted(os.listdir(self.directory)), sorted(names))


def numbered(first, last, values=900):
    """Bytes of pairs key<i><TAB>value<i mod values>."""
    return b"".join(b"key%d\tvalue%d\n" % (i, i % values) for i in range(first, last))


def keys(first, last):
    return b"".join(b"key%d\n" % i for i in range(first, last))
