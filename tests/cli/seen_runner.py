"""Runs `bloomery seen` for its tests."""

from cli_runner import StreamCase, load

STATS = ["lines", "passed", "dropped", "first", "repeats", "bad", "late", "unremembered", "engine",
         "window_ms", "covered_ms", "time_ms", "remembered", "generations", "promised_error",
         "estimated_error", "expected_false_drops", "at_limit", "bytes"]


def first_ones(lines):
    """The first occurrences, in order."""
    return list(dict.fromkeys(lines))


def joined(lines, end=b"\n"):
    return b"".join(line + end for line in lines)


class SeenCase(StreamCase):
    command = ("seen", "--seed", "7")

    def stats(self, *arguments, stdin):
        done = self.call("--stats", "--json", *arguments, stdin=stdin)
        self.assertEqual(done.returncode, 0, done.stderr)
        stats = load(done.stderr)
        self.assertEqual(list(stats), STATS)
        return done.stdout, stats
