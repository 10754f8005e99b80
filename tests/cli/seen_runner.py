"""Runs `bloomery seen` for its tests."""

import subprocess
import tempfile
import unittest

from cli_runner import PROGRAM, load

STATS = ["lines", "passed", "dropped", "first", "repeats", "bad", "late", "unremembered", "engine",
         "window_ms", "covered_ms", "time_ms", "remembered", "generations", "promised_error",
         "estimated_error", "expected_false_drops", "at_limit", "bytes"]


def first_ones(lines):
    """The first occurrences, in order."""
    return list(dict.fromkeys(lines))


def joined(lines, end=b"\n"):
    return b"".join(line + end for line in lines)


class SeenCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def seen(self, *arguments, stdin=b"", **options):
        return subprocess.run([PROGRAM, "seen", "--seed", "7", *arguments], input=stdin,
                              timeout=300, **{"capture_output": True, "cwd": self.directory,
                                              **options})

    def expect(self, arguments, stdin, out, code=0, err=b""):
        with self.subTest(arguments=arguments):
            done = self.seen(*arguments, stdin=stdin)
            self.assertEqual((done.returncode, done.stderr), (code, err))
            # assertEqual takes minutes for long outputs that differ.
            self.assertTrue(done.stdout == out, (done.stdout[:300], out[:300]))

    def expect_misuse(self, arguments, problem):
        self.expect(arguments, b"a\n", b"", 2,
                    f'bloomery: {problem}\nTry "bloomery seen --help".\n'.encode())

    def stats(self, *arguments, stdin):
        done = self.seen("--stats", "--json", *arguments, stdin=stdin)
        self.assertEqual(done.returncode, 0, done.stderr)
        stats = load(done.stderr)
        self.assertEqual(list(stats), STATS)
        return done.stdout, stats

    def start(self, *arguments, **options):
        process = subprocess.Popen([PROGRAM, "seen", "--seed", "7", *arguments],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, cwd=self.directory, **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()

    def say(self, process, text):
        process.stdin.write(text)
        process.stdin.flush()
