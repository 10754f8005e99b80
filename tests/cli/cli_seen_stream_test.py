"""`bloomery seen` as a stream: memory limits, pauses, signals, failing outputs, and the state
between runs."""

import fcntl
import os
import random
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

from cli_runner import PROGRAM, load, main, note_of
from payloads import resealed
from seen_runner import SeenCase, first_ones, joined


class Memory(SeenCase):
    LINES = [b"line %d" % i for i in range(40000)] + [b"line %d" % i for i in range(20000)]

    def test_full(self):
        arguments = ["--max-memory", "64k", "--capacity", "100k"]
        done = self.call(*arguments, stdin=joined(self.LINES))
        self.assertEqual(done.returncode, 3)
        passed = done.stdout.count(b"\n")
        self.assertEqual(done.stdout, joined(self.LINES[:passed]))
        self.assertEqual(done.stderr, b"bloomery: line %d: the window has reached "
                                      b"--max-memory\n" % (passed + 1))
        self.assertGreater(passed, 10000)

    def test_plans_beyond_memory(self):
        """fbf would take all memory for a few lines; compact takes what the lines need."""
        done = self.call("--engine", "fbf", "--capacity", "2^40", stdin=b"a\n")
        self.assertEqual((done.returncode, done.stdout), (3, b""))
        wanted, capacity, most = (int(number) for number in re.fullmatch(
            rb"bloomery: engine fbf needs (\d+) bytes for --capacity (\d+), and three "
            rb"quarters of the machine's memory are (\d+)\n", done.stderr).groups())
        self.assertEqual((capacity, most), (2**40, os.sysconf("SC_PHYS_PAGES") *
                                            os.sysconf("SC_PAGE_SIZE") // 4 * 3))
        self.assertGreater(wanted, most)
        self.expect(["--capacity", "2^40"], b"a\nb\na\n", b"a\nb\n")
        small = ["--engine", "fbf", "--capacity", "100k", "--max-memory", "64k"]
        done = self.call(*small, stdin=b"a\n")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertRegex(done.stderr, rb"^bloomery: --max-memory: engine fbf needs \d{7} bytes for "
                                      rb"--capacity 100000; reduce --capacity\n")
        for full in ("pass", "err"):
            self.expect([*small, "--on-full", full], b"a\nb\n", b"a\nb\n")
            self.expect(["--engine", "fbf", "--capacity", "2^40", "--max-memory", "1M", "--on-full",
                         full], b"a\nb\n", b"a\nb\n")

    def test_pass(self):
        """Remembered lines are always recognised; the others pass every time."""
        out, stats = self.stats("--max-memory", "64k", "--capacity", "100k", "--on-full", "pass",
                                stdin=joined(self.LINES))
        passed = out.splitlines()
        self.assertEqual(passed[:40000], self.LINES[:40000])
        remembered = 40000 - stats["unremembered"] + (len(passed) - 40000)
        self.assertEqual(passed[40000:], [line for line in self.LINES[40000:]
                                          if line in set(passed[40000:])])
        self.assertGreater(stats["unremembered"], 0)
        self.assertEqual(stats["remembered"], remembered)
        self.assertLessEqual(stats["bytes"], 64000)
        self.assertEqual(stats["remembered"] + stats["unremembered"], stats["first"])

    def test_err(self):
        """Memory is bounded, and the error grows."""
        out, stats = self.stats("--max-memory", "64k", "--capacity", "10k", "--on-full", "err",
                                "--error", "0.01%", stdin=joined(self.LINES))
        self.assertEqual((stats["engine"], stats["at_limit"]), ("fbf", True))
        self.assertLessEqual(stats["bytes"], 64000)
        self.assertGreater(stats["estimated_error"], 0.0001)
        self.assertGreaterEqual(stats["dropped"], 20000)

    def test_old_lines_make_room(self):
        """The size of a window depends on the lines in it, not on the length of the stream."""
        lines = joined(b"%d\t%d" % (i // 100, i) for i in range(400000))
        out, stats = self.stats("--time", "1", "--key", "2", "--window", "60s", "--max-memory",
                                "100k", stdin=lines)
        self.assertEqual(stats["dropped"], 0)
        self.assertLess(stats["remembered"], 8000)


class Pauses(SeenCase):
    def test_lines_go_out_when_the_input_pauses(self):
        process = self.start()
        for text, answer in ((b"a\n", b"a\n"), (b"b\na\nc\n", b"b\nc\n"), (b"a\nd\ne", b"d\n"),
                             (b"\n", b"e\n"), (b"\n", b"\n")):
            self.say(process, text)
            self.assertEqual(os.read(process.stdout.fileno(), 100), answer)
        self.say(process, b"last")
        process.stdin.close()
        self.assertEqual(process.stdout.read(), b"last\n")
        self.assertEqual(process.wait(timeout=60), 0)

    def test_wall_clock(self):
        process = self.start("--window", "1ms")
        for _ in range(3):
            self.say(process, b"a\n")
            self.assertEqual(os.read(process.stdout.fileno(), 100), b"a\n")
            time.sleep(0.05)
        process.stdin.close()
        self.assertEqual(process.wait(timeout=60), 0)
        process = self.start("--window", "24h")
        self.say(process, b"a\n")
        self.assertEqual(os.read(process.stdout.fileno(), 100), b"a\n")
        self.say(process, b"a\nb\n")
        self.assertEqual(os.read(process.stdout.fileno(), 100), b"b\n")


class Signals(SeenCase):
    def test_ends_in_order(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.start("--state", "kept", "--stats", "--json")
            self.say(process, b"%d\n%d\nhalf" % (number, number))
            self.assertEqual(os.read(process.stdout.fileno(), 100), b"%d\n" % number)
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=60), -number)
            self.assertEqual(process.stdout.read(), b"")  # an incomplete line is not printed
            self.assertEqual(load(process.stderr.read())["lines"], 2)
            self.expect(["--state", "kept"], b"%d\nhalf%d\n" % (number, number),
                        b"half%d\n" % number)

    def test_counts_when_stopped(self):
        process = self.start("--count")
        self.say(process, b"a\nb\na\n")
        time.sleep(0.2)  # it may not have read all of them
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), -signal.SIGINT)
        self.assertIn(process.stdout.read(), (b"0\n", b"2\n"))

    def test_ignored_stays_ignored(self):
        process = self.start(preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        self.say(process, b"a\n")
        self.assertEqual(os.read(process.stdout.fileno(), 100), b"a\n")
        process.send_signal(signal.SIGINT)
        self.say(process, b"b\n")
        self.assertEqual(os.read(process.stdout.fileno(), 100), b"b\n")
        process.stdin.close()
        self.assertEqual(process.wait(timeout=60), 0)

    def test_ends_between_batches(self):
        """The first signal ends it as soon as the reader accepts the pending output; lines read in
        advance are neither printed nor remembered."""
        lines = joined(b"%07d" % i for i in range(200000))
        self.write("lines", lines)
        with open(self.path("lines"), "rb") as file:
            process = self.start("--error", "1e-9", "--state", "kept", stdin=file)
        pipe, held = process.stdout.fileno(), bytearray(4)
        while int.from_bytes(held, sys.byteorder) < fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ):
            self.assertIsNone(process.poll())
            time.sleep(0.01)
            fcntl.ioctl(pipe, termios.FIONREAD, held)
        process.send_signal(signal.SIGINT)
        out = process.stdout.read()
        self.assertEqual(process.wait(timeout=60), -signal.SIGINT)
        # It was waiting to write the first 256 KiB, and had read as much again.
        self.assertLess(len(out), 300000)
        self.assertTrue(lines.startswith(out))
        self.expect(["--state", "kept"], lines, lines[len(out):])

    def test_a_second_one_ends_at_once(self):
        """If nobody reads the output, the first signal has to wait."""
        process = self.start()
        os.set_blocking(process.stdin.fileno(), False)
        lines = joined(b"%d" % i for i in range(200000))
        sent = 0
        deadline = time.monotonic() + 60
        while sent < len(lines) and select.select([], [process.stdin], [], 1)[1]:
            sent += os.write(process.stdin.fileno(), lines[sent:])
        self.assertLess(sent, len(lines))
        while process.poll() is None and time.monotonic() < deadline:
            process.send_signal(signal.SIGTERM)
            time.sleep(0.05)
        self.assertEqual(process.wait(timeout=60), -signal.SIGTERM)


class Output(SeenCase):
    def test_full_disk(self):
        lines = joined(b"%d" % i for i in range(1000))
        for arguments in ([], ["--count"], ["--only-repeats"]):
            with open("/dev/full", "wb") as full:
                done = self.call("--state", "kept", *arguments, stdin=lines + lines,
                                 capture_output=False, stdout=full, stderr=subprocess.PIPE)
            self.assertEqual((done.returncode, done.stderr),
                             (3, b"bloomery: standard output: No space left on device\n"))
        # Lines that were not written are not remembered, except with --count, which prints at the
        # end.
        os.unlink(self.path("kept"))
        with open("/dev/full", "wb") as full:
            self.call("--state", "kept", stdin=lines, capture_output=False, stdout=full,
                      stderr=subprocess.PIPE)
        self.assertEqual(os.listdir(self.directory), [])

    def test_statistics_lost(self):
        for arguments in (["--stats"], ["--stats", "--json"]):
            with open("/dev/full", "wb") as full:
                done = self.call(*arguments, stdin=b"a\n", capture_output=False, stderr=full,
                                 stdout=subprocess.PIPE)
            self.assertEqual((done.returncode, done.stdout), (3, b"a\n"))

    def test_reader_gone(self):
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            for arguments in ([], ["--stats"], ["--count"]):
                done = self.call(*arguments, stdin=b"a\n", capture_output=False, stdout=pipe,
                                 stderr=subprocess.PIPE)
                self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b""))
            self.call("--state", "kept", stdin=b"a\n", capture_output=False, stdout=pipe,
                      stderr=subprocess.PIPE)
        self.assertEqual(os.listdir(self.directory), [])

    def test_reader_goes(self):
        """It stops reading when the reader is gone."""
        process = self.start()
        self.say(process, b"a\n")
        self.assertEqual(os.read(process.stdout.fileno(), 100), b"a\n")
        process.stdout.close()
        self.say(process, b"b\n")
        self.assertEqual(process.wait(timeout=60), -signal.SIGPIPE)
        self.assertEqual(process.stderr.read(), b"")

    def test_input_is_a_directory(self):
        descriptor = os.open(self.directory, os.O_RDONLY)
        done = subprocess.run([PROGRAM, "seen"], stdin=descriptor, capture_output=True)
        os.close(descriptor)
        self.assertEqual((done.returncode, done.stderr),
                         (3, b"bloomery: standard input: Is a directory\n"))


class State(SeenCase):
    def test_across_runs(self):
        for engine in ("compact", "fbf"):
            draw = random.Random(5)
            kept, known = f"kept.{engine}", {}
            for _ in range(4):
                lines = [b"%d" % draw.randrange(20000) for _ in range(10000)]
                fresh = [line for line in first_ones(lines) if line not in known]
                self.expect(["--state", kept, "--engine", engine, "--error", "1e-9"],
                            joined(lines), joined(fresh))
                known.update(dict.fromkeys(lines))
        self.assertEqual(sorted(os.listdir(self.directory)), ["kept.compact", "kept.fbf"])

    def test_event_time_goes_on(self):
        arguments = ["--state", "kept", "--window", "10s", "--time", "1", "--key", "2"]
        self.expect(arguments, b"100\ta\n105\tb\n", b"100\ta\n105\tb\n")
        self.expect(arguments, b"106\ta\n106\tb\n", b"")
        self.expect(arguments, b"50\tb\n130\ta\n", b"130\ta\n")

    def test_default_capacity(self):
        """The default plan is that of the manual: 16M, and 1M for fbf."""
        for engine, capacity in (("compact", "16M"), ("fbf", "1M")):
            arguments = ["--state", engine, "--engine", engine]
            self.expect(arguments, b"a\n", b"a\n")
            self.expect([*arguments, "--capacity", capacity], b"a\nb\n", b"b\n")

    def test_options_must_be_the_same(self):
        self.expect(["--state", "kept", "--window", "10s", "--error", "1e-5", "--capacity", "5000"],
                    b"a\n", b"a\n")
        before = self.content("kept")
        for arguments, problem in (
                ([], "--window 10s"), (["--window", "11s"], "--window 10s"),
                (["--window", "10s", "--error", "1e-6"], "--error 1e-05"),
                (["--window", "10s", "--engine", "fbf"], "--engine compact"),
                (["--window", "10s", "--capacity", "6k"], "--capacity 5000"),
                (["--window", "10s", "--max-memory", "1M"], "--max-memory 0"),
                (["--window", "10s", "--seed", "8"], "--seed 7")):
            self.expect(["--state", "kept", *arguments], b"a\nb\n", b"", 3,
                        f'bloomery: kept: was created with {problem}\n'.encode())
        self.expect(["--state", "kept", "--window", "10s", "--refresh"], b"a\n", b"", 3,
                    b'bloomery: kept: was created without --refresh\n')
        self.expect(["--state", "fresh", "--window", "10s", "--refresh"], b"a\n", b"a\n")
        self.expect(["--state", "fresh", "--window", "10s"], b"a\n", b"", 3,
                    b'bloomery: fresh: was created with --refresh\n')
        self.assertEqual(self.content("kept"), before)
        self.expect(["--state", "other"], b"a\n", b"a\n")
        self.expect(["--state", "other", "--window", "10s"], b"a\n", b"", 3,
                    b'bloomery: other: was created without --window\n')

    def test_lines_must_mean_the_same(self):
        """A state fits only the same kind of key and the same source of time."""
        line, other = b'{"a":5,"b":6},1\n', b'{"a":5,"b":7},2\n'
        window = ["--window", "10s"]
        kinds = {
            "line": [], "clock": window, "first": ["--key", "1"],
            "second": ["--key", "2", "--delimiter", ","], "second by colon":
            ["--key", "2", "--delimiter", ":"], "a": ["--json-lines", "--key", "a"],
            "b": ["--json-lines", "--key", "b"],
            "event": [*window, "--time", "3", "-d", ",", "--key", "1"],
            "json event": [*window, "--time", "a", "--json-lines", "--key", "b"],
            "by clock": [*window, "--key", "1", "-d", ","],
        }
        for name, arguments in kinds.items():
            self.expect(["--state", name, *arguments], line, line)
            self.expect(["--state", name, *arguments], line, b"")
        for name, kind, problem in (
                ("line", "first", "without --key"), ("line", "a", "without --key"),
                ("first", "line", "with --key 1"), ("first", "a", "without --json-lines"),
                ("first", "second", "with --key 1"),
                ("second", "second by colon", 'with --delimiter ","'),
                ("a", "line", 'with --key "a"'), ("a", "b", 'with --key "a"'),
                ("a", "first", "with --json-lines"),
                ("clock", "event", "without --time"), ("event", "by clock", "with --time"),
                ("by clock", "event", "without --time"),
                ("event", "json event", "without --json-lines")):
            shown = f'"{name}"' if " " in name else name
            self.expect(["--state", name, *kinds[kind]], other, b"", 3,
                        f"bloomery: {shown}: was created {problem}\n".encode())
        # The field and the unit of the time are not part of the state.
        self.expect(["--state", "event", *window, "--time", "4", "-d", ",", "--key", "1",
                     "--time-unit", "ms"], b"x,,,1500\n", b"x,,,1500\n")
        # The whole line as key does not depend on the time field.
        self.expect(["--state", "whole", *window, "--time", "3", "-d", ","], line, line)
        self.expect(["--state", "whole", *window, "--time", "a", "--json-lines"], line, b"")

    def test_note(self):
        """The note of the window (doc/format.md)."""
        self.expect(["--state", "kept", "--window", "10s", "--time", "1", "--key", "2", "-d", ";"],
                    b"7;x\n9;y\n", b"7;x\n9;y\n")
        self.assertEqual(self.content("kept")[12:16], b"WNDW")
        self.assertEqual(struct.unpack("<8sI4BQ8H", note_of(self.content("kept"))[0]),
                         (b"BRYSTATE", 3, 1, 1, ord(";"), 0, 7000, 2, *[0] * 7))
        self.expect(["--state", "other", "--json-lines", "--key", "name"], b'{"name":1}\n',
                    b'{"name":1}\n')
        content = self.content("other")
        head = struct.unpack("<8sI4BQ8H4s", note_of(content)[0])
        self.assertEqual(head[:6] + head[7:], (b"BRYSTATE", 3, 0, 2, 0, 0, *[0] * 8, b"name"))

    def test_forged_notes(self):
        self.expect(["--state", "kept"], b"a\n", b"a\n")
        content, note = self.content("kept"), note_of(self.content("kept"))[0]
        for new, problem in (
                (b"", rb'kept: not a state of "bloomery seen"\n$'),
                (note[:39], rb'kept: not a state'),
                (b"x" * 50, rb'kept: not a state'),
                (note[:8] + b"\x04" + note[9:], rb'kept: unsupported version of the state\n$'),
                (note[:12] + b"\x02" + note[13:], rb'kept: damaged at byte 9[23]: unknown kind of key\n$'),
                (note[:13] + b"\x03" + note[14:], rb'kept: damaged at byte 9[23]: unknown kind of key\n$'),
                (note[:13] + b"\x01" + note[14:], rb'kept: damaged at byte 9[23]: unknown kind of key\n$'),
                (note[:15] + b"\x01" + note[16:], rb'kept: damaged at byte 9[23]: unknown kind of key\n$'),
                (note + b"name", rb'kept: damaged at byte 9[23]: unknown kind of key\n$'),
                (note[:13] + b"\x02" + note[14:] + b"a\0b",
                 rb'kept: damaged at byte 9[23]: unknown kind of key\n$'),
                (note + bytes(2**20 + 1), rb'kept: the window needs more memory than --max-memory')):
            pieces = [(b"NOTE", new[at:at + 65536]) for at in range(0, len(new), 65536)]
            self.write("kept", resealed(content, lambda frames, p=pieces: [*p, *frames[1:]]))
            done = self.call("--state", "kept", stdin=b"a\n")
            self.assertEqual((done.returncode, done.stdout), (3, b""))
            self.assertRegex(done.stderr, rb"^bloomery: " + problem)

    def test_a_failed_run_leaves_it(self):
        self.expect(["--state", "kept", "--key", "2"], b"x\ta\n", b"x\ta\n")
        content = self.content("kept")
        self.expect(["--state", "kept", "--key", "2"], b"x\tb\na\n", b"x\tb\n", 3,
                    b"bloomery: line 2: there is no field 2\n")
        self.assertEqual(self.content("kept"), content)


main()
