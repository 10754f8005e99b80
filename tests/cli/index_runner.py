"""Indexes of files in a temporary directory, with an exact twin that holds every line."""

import os
import random
import subprocess
import tempfile
import unittest

from cli_runner import PROGRAM, load

ENGINES = ("compact", "dba")
EXACT = ("--error", "1e-9")  # so small that there is no false candidate among some thousand keys


class IndexCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.model = {}  # name → set of lines, in the order of addition

    def path(self, name):
        return os.path.join(os.fsencode(self.directory), os.fsencode(name))

    def run_index(self, *arguments, stdin=b"", **options):
        return subprocess.run([PROGRAM, "index", *arguments], input=stdin, timeout=300,
                              **{"capture_output": True, "cwd": self.directory, **options})

    def expect(self, arguments, code, out=b"", err=b"", stdin=b""):
        with self.subTest(arguments=arguments):
            done = self.run_index(*arguments, stdin=stdin)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (code, out, err))

    def expect_misuse(self, arguments, problem, command=None):
        command = "index" if command is None else f"index {command}"
        message = f'bloomery: {problem}\nTry "bloomery {command} --help".\n'
        self.expect(arguments, 2, err=message.encode())

    def json(self, *arguments, code=0, stdin=b""):
        done = self.run_index(*arguments, stdin=stdin)
        self.assertEqual((done.returncode, done.stderr), (code, b""), arguments)
        return load(done.stdout)

    # ---- files, and the twin of the index

    def write(self, name, lines, end=b"\n"):
        """Writes a file of these lines. Its modification time differs from all earlier ones."""
        with open(self.path(name), "wb") as file:
            file.write(b"".join(line + end for line in lines))
        self.tick = getattr(self, "tick", 10**18) + 10**6
        os.utime(self.path(name), ns=(self.tick, self.tick))

    def put(self, name, lines, **options):
        self.write(name, lines, **options)
        self.model.pop(name, None)
        self.model[name] = set(lines)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def files_of(self, key):
        """The output of locate: the file added last comes first."""
        return [name for name in reversed(self.model) if key in self.model[name]]

    def assert_located(self, index, keys, *options):
        """Looks up all keys in one call and compares with the twin."""
        expected = b"".join(key + b"\t" + os.fsencode(name) + b"\0"
                            for key in keys for name in self.files_of(key))
        done = self.run_index("locate", index, "-0", *options,
                              stdin=b"".join(key + b"\0" for key in keys))
        self.assertEqual(done.stderr, b"")
        self.assertEqual(done.stdout.split(b"\0"), expected.split(b"\0"))
        self.assertEqual(done.returncode, 0 if all(map(self.files_of, keys)) else 1)

    def all_keys(self, strangers=200):
        keys = sorted(set().union(*self.model.values())) if self.model else []
        return keys + [b"stranger %d" % i for i in range(strangers)]

    def assert_files(self, *names):
        """The directory contains nothing else: no temporary file is left."""
        self.assertEqual(sorted(os.listdir(os.fsencode(self.directory))),
                         sorted(map(os.fsencode, names)))


def numbered(first, last):
    return [b"line %d" % i for i in range(first, last)]


def words(seed, count, most=12):
    """Lines with any bytes except newline and NUL, some of them empty or equal."""
    dice = random.Random(seed)
    letters = bytes(set(range(256)) - {0, 10})
    return [bytes(dice.choice(letters) for _ in range(dice.randrange(most)))
            for _ in range(count)]
