"""Indexes of files in a temporary directory, with an exact twin that holds every line."""

import os
import random

from cli_runner import CommandCase

ENGINES = ("compact", "dba")
EXACT = ("--error", "1e-9")  # so small that there is no false candidate among some thousand keys


class IndexCase(CommandCase):
    command = ("index",)
    subcommands = ("build", "add", "del", "refresh", "locate", "check", "info", "unit", "import")

    def setUp(self):
        super().setUp()
        self.model = {}  # name → set of lines, in the order of addition

    def path(self, name):
        return os.path.join(os.fsencode(self.directory), os.fsencode(name))

    # ---- files, and the twin of the index

    def write(self, name, lines, end=b"\n"):
        """Writes a file of these lines. Its modification time differs from all earlier ones."""
        self.store(name, b"".join(line + end for line in lines))
        self.tick = getattr(self, "tick", 10**18) + 10**6
        os.utime(self.path(name), ns=(self.tick, self.tick))

    def store(self, name, content):
        super().write(name, content)

    def put(self, name, lines, **options):
        self.write(name, lines, **options)
        self.model.pop(name, None)
        self.model[name] = set(lines)

    def files_of(self, key):
        """The output of locate: the file added last comes first."""
        return [name for name in reversed(self.model) if key in self.model[name]]

    def assert_located(self, index, keys, *options):
        """Looks up all keys in one call and compares with the twin."""
        expected = b"".join(key + b"\t" + os.fsencode(name) + b"\0"
                            for key in keys for name in self.files_of(key))
        done = self.call("locate", index, "-0", *options,
                         stdin=b"".join(key + b"\0" for key in keys))
        self.assertEqual(done.stderr, b"")
        self.assertEqual(done.stdout.split(b"\0"), expected.split(b"\0"))
        self.assertEqual(done.returncode, 0 if all(map(self.files_of, keys)) else 1)

    def all_keys(self, strangers=200):
        keys = sorted(set().union(*self.model.values())) if self.model else []
        return keys + [b"stranger %d" % i for i in range(strangers)]


def numbered(first, last):
    return [b"line %d" % i for i in range(first, last)]


def words(seed, count, most=12):
    """Lines with any bytes except newline and NUL, some of them empty or equal."""
    dice = random.Random(seed)
    letters = bytes(set(range(256)) - {0, 10})
    return [bytes(dice.choice(letters) for _ in range(dice.randrange(most)))
            for _ in range(count)]
