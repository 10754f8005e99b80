"""Runs the program under test and compares its output, for the other files here."""

import contextlib
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM, ORACLE = sys.argv[1:3]
NAME = os.path.basename(PROGRAM)  # as in messages

# payloads.py there forges streams.
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "module"))

# Under a sanitizer a start takes ten times as long, so only a part of many similar runs is done.
SANITIZED = "BLOOMERY_SANITIZED" in os.environ
SAMPLE = 7 if SANITIZED else 1


# What is wrong with a file that does not load: a place, unless it is the header.
BROKEN = (rb"(damaged at byte \d+: .+|not Bloomery data|another kind of object, not .+|.*\bheader\b.*"
          rb"|unsupported .+)")


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, timeout=300,
                          **{"capture_output": True, "text": True, **options})


def reject_constant(name):
    raise ValueError(f"{name} is not JSON")


def load(text):
    """Strict JSON: no NaN, no infinity, no duplicate names."""
    def unique(pairs):
        names = [name for name, _ in pairs]
        assert len(names) == len(set(names)), names
        return dict(pairs)
    return json.loads(text, parse_constant=reject_constant, object_pairs_hook=unique)


class Case(unittest.TestCase):
    maxDiff = None

    def expect(self, arguments, code, out="", err=""):
        """Exactly this on stdout and stderr, and this exit code."""
        with self.subTest(arguments=arguments):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (code, out, err))

    def expect_misuse(self, arguments, problem):
        command = arguments[0] + " " if arguments[:1] == ["plan"] else ""
        self.expect(arguments, 2, "",
                    f'{NAME}: {problem}\nTry "{NAME} {command}--help".\n')

    def read_json(self, *arguments, **options):
        done = run(*arguments, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return load(done.stdout)


class DirectoryCase(unittest.TestCase):
    """With a directory of its own for each test."""

    maxDiff = None

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def assert_files(self, *names):
        """The directory contains nothing else: no temporary file is left."""
        self.assertEqual(sorted(map(os.fsencode, os.listdir(self.directory))),
                         sorted(map(os.fsencode, names)))


class CommandCase(DirectoryCase):
    """Runs a command with bytes as input and output. It runs in the directory, so that messages contain
    names without it."""

    command = ()
    subcommands = ()

    def call(self, *arguments, stdin=b"", **options):
        """With bytes or a file as standard input."""
        source = "input" if isinstance(stdin, bytes) else "stdin"
        return subprocess.run([PROGRAM, *self.command, *arguments], timeout=300, **{
            source: stdin, "capture_output": True, "cwd": self.directory, **options})

    def expect(self, arguments, code=0, out=b"", err=b"", stdin=b"", **options):
        with self.subTest(arguments=arguments):
            done = self.call(*arguments, stdin=stdin, **options)
            self.assertEqual((done.returncode, done.stderr), (code, err))
            # assertEqual takes minutes for long outputs that differ.
            self.assertTrue(done.stdout == out, (done.stdout and done.stdout[:300], out and out[:300]))

    def fails(self, arguments, message, code=3, **options):
        """With exactly this message, and without output."""
        self.expect(arguments, code, err=f"bloomery: {message}\n".encode(), **options)

    def expect_misuse(self, arguments, problem, stdin=b""):
        words = [*self.command, *(word for word in arguments[:1] if word in self.subcommands)]
        message = f'bloomery: {problem}\nTry "bloomery {" ".join(words)} --help".\n'
        self.expect(arguments, 2, err=message.encode(), stdin=stdin)

    def expect_damaged(self, arguments, name, **options):
        """The file of this name does not load, and the message says where or why."""
        done = self.call(*arguments, **options)
        self.assertEqual((done.returncode, done.stdout), (3, b""), arguments)
        self.assertRegex(done.stderr, rb"^bloomery: " + name.encode() + rb": " + BROKEN + rb"\n$")

    def output(self, *arguments, code=0, err=b"", **options):
        done = self.call(*arguments, **options)
        self.assertEqual((done.returncode, done.stderr), (code, err), arguments)
        return done.stdout

    def json(self, *arguments, **options):
        return load(self.output(*arguments, **options))

    def start(self, *arguments, **options):
        """A process with pipes, which is ended after the test."""
        process = subprocess.Popen([PROGRAM, *self.command, *arguments], cwd=self.directory, **{
            "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in filter(None, (process.stdin, process.stdout, process.stderr)):
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    @staticmethod
    def say(process, text):
        process.stdin.write(text)
        process.stdin.flush()


class StreamCase(CommandCase):
    """A command that reads a stream: each call has its input before its output."""

    def expect(self, arguments, stdin, out, code=0, err=b""):
        super().expect(arguments, code, out, err, stdin)

    def expect_misuse(self, arguments, problem):
        self.expect(arguments, b"1\ta\n", b"", 2, f'bloomery: {problem}\nTry "bloomery '
                    f'{self.command[0]} --help".\n'.encode())


def note_of(content):
    """The note of a saved object (doc/format.md), and the offset of its end."""
    note, at = b"", 64
    while content[at:at + 4] == b"NOTE":
        size, = struct.unpack_from("<I", content, at + 4)
        note += content[at + 16:at + 16 + size]
        at += 24 + size
    return note, at


def read_terminal(inner):
    """Everything written to a terminal until its other end is closed; closes this end."""
    written = b""
    try:
        while piece := os.read(inner, 65536):
            written += piece
    except OSError:  # the end of a terminal
        pass
    os.close(inner)
    return written


def main():
    unittest.main(argv=sys.argv[:1])
