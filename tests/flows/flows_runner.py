"""Runs `bloomery flows` on captures, for the other files here."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]


def run(*arguments, stdin=b"", **options):
    """With a fixed seed, so that an engine errs in the same places in every run."""
    return subprocess.run([PROGRAM, "flows", "--seed", "7", *arguments], input=stdin, capture_output=True,
                          timeout=300, **options)


class FlowsCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def write(self, name, content):
        path = os.path.join(self.directory, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def summary(self, content, *arguments, code=0):
        """The JSON summary of a capture, without what is 0."""
        done = run("--json", *arguments, stdin=content)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def states(self, content, *arguments):
        """Flows by state, and packets by note."""
        found = self.summary(content, *arguments)
        self.assertEqual(sum(found["states"].values()), found["flows"])
        return ({name: count for name, count in found["states"].items() if count},
                {name: count for name, count in found["notes"].items() if count})


def main():
    unittest.main(argv=sys.argv[:1])
