"""`bloomery count`: totals, repeats, options of a directory, and what ends a run."""

import base64
import os
import resource
import signal
import subprocess
import time
import unittest

from cli_runner import StreamCase, load, main

STATS = ["lines", "applied", "repeats", "engine", "window_ms", "counters", "remembered",
         "promised_error", "estimated_error", "expected_lost", "bytes", "log_bytes"]


class CountCase(StreamCase):
    command = ("count",)

    def expect_misuse(self, arguments, problem):
        super().expect_misuse(arguments, problem)
        self.assertFalse(os.path.exists(self.path("new")))

    def wait_for_log(self, process, text):
        """Writes lines, and waits until they are in the log."""
        before = os.path.getsize(self.path("d/log"))
        self.say(process, text)
        deadline = time.monotonic() + 60
        while os.path.getsize(self.path("d/log")) == before:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)


class Totals(CountCase):
    def test_once(self):
        lines = b"1\ttea\t3\n2\tpot\t1\n1\ttea\t3\n"
        self.expect(["d"], lines, b"pot\t1\ntea\t3\n")
        self.expect(["d"], lines + b"3\ttea\t-5\n", b"pot\t1\ntea\t-2\n")
        self.expect(["d", "--totals"], b"4\ttea\t9\n", b"pot\t1\ntea\t-2\n")
        self.expect(["d", "-q"], b"4\ttea\t9\n", b"")
        self.expect(["d"], b"", b"pot\t1\ntea\t7\n")

    def test_an_id_belongs_to_a_name(self):
        self.expect(["d"], b"1\ta\t1\n1\tb\t1\n1\ta\t2\n", b"a\t1\nb\t1\n")

    def test_amounts(self):
        least, most = -2**63, 2**63 - 1
        self.expect(["d"], b"1\ta\t%d\n1\tb\t%d\n1\tc\n1\td\t-0\n1\te\t007\n" % (least, most),
                    b"a\t%d\nb\t%d\nc\t1\nd\t0\ne\t7\n" % (least, most))
        for wrong in (b"", b"-", b"+1", b"1 ", b" 1", b"1k", b"1.0", b"%d" % (most + 1),
                      b"%d" % (least - 1), b"--1", b"x"):
            self.expect(["d", "-q"], b"9\tz\t%s\n" % wrong, b"", 3,
                        b'bloomery: line 1: the amount "%s" is not a whole number of 64 bits\n' % wrong)
        self.expect(["d", "-q", "--amount", "3"], b"9\tz\n", b"", 3,
                    b"bloomery: line 1: there is no field 3\n")
        self.expect(["d", "--ones"], b"1\tz\tx\n2\tz\t5\n", b"a\t%d\nb\t%d\nc\t1\nd\t0\ne\t7\nz\t2\n" %
                    (least, most))

    def test_fields(self):
        self.expect(["d", "-d", " ", "--counter", "1", "--id", "2,4", "--amount", "3"],
                    b"tea x 3 y\ntea x 3 z\ntea x 3 y\ntea xy 3 \n", b"tea 9\n")
        self.expect(["d", "--delimiter", " ", "--totals"], b"", b"tea 9\n")
        for line, missing in ((b"", 2), (b"x", 2), (b"x\n", 2)):
            self.expect(["d", "-q"], b"1\ta\n" + line + b"\n", b"", 3,
                        b"bloomery: line 2: there is no field %d\n" % missing)

    def test_lines(self):
        everything = bytes(byte for byte in range(256) if byte not in b"\t\n")
        self.expect(["d"], b"1\t\t2\n\tb\t3\n1\t" + everything + b"\t4\n2\t\t1",
                    b"\t3\n" + everything + b"\t4\nb\t3\n")
        totals = load(self.call("d", "--totals", "--json").stdout)["totals"]
        self.assertEqual(totals, [{"name": "", "total": 3},
                                  {"name_base64": base64.b64encode(everything).decode(), "total": 4},
                                  {"name": "b", "total": 3}])
        self.expect(["n", "-0"], b"1\ta\nb\t2\0" b"2\ta\nb\0", b"a\nb\t3\0")
        self.assertEqual(self.call("n", "--totals", "--json").stdout,
                         b'{\n  "totals": [\n    {\n      "name": "a\\u000ab",\n      "total": 3\n'
                         b'    }\n  ]\n}\n')
        self.expect(["z"], b"1\ta\0\n1\ta\n", b"a\t1\na\0\t1\n")
        self.assertEqual([one["name"] for one in
                          load(self.call("z", "--totals", "--json").stdout)["totals"]],
                         ["a", "a\0"])
        self.expect(["e"], b"", b"")
        self.assertEqual(load(self.call("e", "--totals", "--json").stdout), {"totals": []})

    def test_inputs(self):
        self.write("one", b"1\ta\n2\ta")
        self.write("two", b"2\ta\n3\tb\n")
        self.expect(["d", "one", "-", "two"], b"4\tc\n", b"a\t2\nb\t1\nc\t1\n")
        self.expect(["d", "two", "one"], b"5\tc\n", b"a\t2\nb\t1\nc\t1\n")
        self.expect(["d", "one", "none"], b"", b"", 3,
                    b"bloomery: none: No such file or directory\n")

    def test_many(self):
        """Batches of all sizes, and names that come again."""
        lines = [b"%d\tname %d\t%d\n" % (i, i * 7 % 1000, i) for i in range(30000)]
        wanted = {}
        for i in range(30000):
            wanted[b"name %d" % (i * 7 % 1000)] = wanted.get(b"name %d" % (i * 7 % 1000), 0) + i
        out = b"".join(b"%s\t%d\n" % pair for pair in sorted(wanted.items()))
        for engine in ("compact", "fbf"):
            self.expect([engine, "--engine", engine, "--log-size", "100k"], b"".join(lines + lines[::3]),
                        out)
            self.expect([engine], b"".join(lines[::-1]), out)
            self.assertIn("snapshot", os.listdir(self.path(engine)))

    def test_long_names(self):
        """A batch of the library takes 16 MiB."""
        longest = 65535
        names = [b"%05d" % i + b"n" * (longest - 5) for i in range(600)]
        lines = b"".join(b"1\t%s\t%d\n" % (name, i) for i, name in enumerate(names))
        self.expect(["d", "-q"], lines * 2, b"")
        self.assertEqual(self.call("d", "--totals").stdout,
                         b"".join(b"%s\t%d\n" % (name, i) for i, name in enumerate(names)))
        self.expect(["d", "-q"], b"2\ta\n2\t%sn\n" % names[0], b"", 3,
                    b"bloomery: line 2: the name is longer than 65535 bytes\n")

    def test_window(self):
        self.expect(["d", "--window", "50ms"], b"1\ta\n1\ta\n", b"a\t1\n")
        time.sleep(0.2)  # an id is remembered for at most an eighth longer
        self.expect(["d"], b"1\ta\n", b"a\t2\n")

    def test_stats(self):
        done = self.call("d", "--stats", "--json", "--window", "1h", stdin=b"1\ta\n2\ta\n1\ta\n")
        stats = load(done.stderr)
        self.assertEqual(list(stats), STATS)
        self.assertEqual([stats[name] for name in STATS[:8]], [3, 2, 1, "compact", 3600000, 1, 2, 1e-9])
        self.assertEqual(load(done.stdout), {"totals": [{"name": "a", "total": 2}]})
        done = self.call("e", "--stats", "-q", "--engine", "fbf", stdin=b"1\ta\n")
        self.assertEqual(done.stdout, b"")
        self.assertRegex(done.stderr, rb"^lines       1: 1 counted, 0 counted before\n"
                         rb"table       fbf: 1 names, 1 ids remembered\n"
                         rb"error       1e-09 promised, \S+ estimated; \S+ ids expected to be lost\n"
                         rb"bytes       \d+\n$")


class Options(CountCase):
    def test_of_a_directory(self):
        made = ["--window", "1h", "--error", "1e-6", "--capacity", "5k", "--engine", "fbf", "--seed", "7"]
        self.expect(["d", *made], b"1\ta\n", b"a\t1\n")
        self.expect(["d", *made], b"1\ta\n", b"a\t1\n")
        self.expect(["d", "--engine", "auto", "--log-size", "1k"], b"1\ta\n", b"a\t1\n")
        for option, other, has in (("--window", "2h", "--window 1h"),
                                   ("--error", "1e-7", "--error 1e-06"),
                                   ("--capacity", "6k", "--capacity 5000"),
                                   ("--engine", "compact", "--engine fbf"),
                                   ("--seed", "8", "--seed 7")):
            self.expect(["d", option, other], b"2\ta\n", b"", 3,
                        b"bloomery: d: was created with %s\n" % has.encode())
        self.expect(["d", "--totals"], b"", b"a\t1\n")
        self.expect(["plain"], b"", b"")
        self.expect(["plain", "--window", "1h"], b"", b"", 3,
                    b"bloomery: plain: was created without --window\n")

    def test_misuse(self):
        self.expect_misuse([], "missing directory")
        self.expect_misuse(["new", "--ones", "--amount", "3"],
                           "--ones cannot be combined with --amount")
        self.expect_misuse(["new", "-q", "--totals"], "-q cannot be combined with --totals")
        self.expect_misuse(["new", "x", "--totals"], "--totals reads no files")
        self.expect_misuse(["new", "--counter", "1,2"], '--counter: "1,2" is more than one field')
        self.expect_misuse(["new", "--id", "0"],
                           '--id: "0" is not a field from 1 to 65535, or several such as 1,3')
        self.expect_misuse(["new", "--engine", "dba"],
                           '--engine: "dba" is not one of auto, compact and fbf')
        self.expect_misuse(["new", "-dab"], '-d: "ab" is not one byte')
        done = self.call("new", "--max-memory", "1")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, rb"^bloomery: --max-memory: a table takes at least \d+ bytes\n")
        self.assertIn(b"tables take times up to", self.call("new", "--error", "1e-12", "--capacity",
                                                            "2^40").stderr)
        self.assertEqual(os.listdir(self.directory), [])

    def test_totals_create_nothing(self):
        self.expect(["d", "--totals"], b"", b"", 3, b"bloomery: d: there is no table of counters\n")
        self.assertEqual(os.listdir(self.directory), [])


class Failures(CountCase):
    def test_bad_line(self):
        """The lines before it are counted, and the corrected input counts the rest."""
        self.write("good", b"1\ta\t2\n")
        self.write("bad", b"2\ta\t2\n3\ta\tx\n4\ta\t2\n")
        self.expect(["d", "good", "bad", "good"], b"", b"", 3,
                    b'bloomery: bad: line 2: the amount "x" is not a whole number of 64 bits\n')
        self.expect(["d", "--totals"], b"", b"a\t4\n")
        self.write("bad", b"2\ta\t2\n3\ta\t2\n4\ta\t2\n")
        self.expect(["d", "good", "bad"], b"", b"a\t8\n")

    def test_overflow(self):
        most = 2**63 - 1
        self.expect(["d"], b"1\ta\t%d\n2\tb\n3\ta\n4\tb\n" % most, b"", 3,
                    b"bloomery: line 3: the total does not fit in 64 bits\n")
        self.expect(["d"], b"4\tb\n3\ta\t-1\n", b"a\t%d\nb\t2\n" % (most - 1))

    def test_long_line(self):
        self.expect(["d", "-q"], b"1\ta\n1\tb\t" + b"0" * (16 << 20) + b"\n", b"", 3,
                    b"bloomery: line 2: longer than 16777216 bytes\n")
        self.expect(["d", "--totals"], b"", b"a\t1\n")

    def test_memory(self):
        lines = [b"%d\ta\n" % i for i in range(60000)]
        done = self.call("d", "--max-memory", "64k", "--capacity", "100k", stdin=b"".join(lines))
        self.assertEqual((done.returncode, done.stdout), (3, b""))
        counted = int(self.call("d", "--totals").stdout.split()[1])
        self.assertEqual(done.stderr, b"bloomery: line %d: the table has reached --max-memory\n" %
                         (counted + 1))
        self.assertGreater(counted, 5000)
        self.expect(["d"], b"".join(lines), b"a\t60000\n")  # the limit is not stored
        done = self.call("d", "--max-memory", "64k")
        self.assertEqual((done.returncode, done.stderr), (
            3, b"bloomery: d: the table needs more memory than --max-memory allows (64000 bytes)\n"))

    def test_full_disk(self):
        """The log cannot grow: what was counted stays, and the same input counts the rest."""
        lines = b"".join(b"%d\ta\n" % i for i in range(20000))

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (300000, 300000))

        done = self.call("d", stdin=lines, preexec_fn=limit)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (3, b"", b"bloomery: d: File too large\n"))
        counted = int(self.call("d", "--totals").stdout.split()[1])
        self.assertGreater(counted, 1000)
        self.assertLess(counted, 20000)
        self.expect(["d"], lines, b"a\t20000\n")

    def test_full_output(self):
        with open("/dev/full", "wb") as full:
            done = self.call("d", stdin=b"1\ta\n", capture_output=False, stdout=full,
                             stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr),
                         (3, b"bloomery: standard output: No space left on device\n"))
        self.expect(["d"], b"1\ta\n", b"a\t1\n")

    def test_in_use(self):
        self.expect(["d"], b"", b"")
        first = self.start("d")
        self.wait_for_log(first, b"1\ta\n")
        for arguments in (["d"], ["d", "--totals"]):
            self.expect(arguments, b"2\ta\n", b"", 3, b"bloomery: d: another process is using it\n")
        self.assertEqual(first.communicate(b"2\ta\n"), (b"a\t2\n", b""))

    def test_paths(self):
        self.write("file", b"1\ta\n")
        self.expect(["file"], b"", b"", 3, b"bloomery: file: Not a directory\n")
        self.expect(["no/d"], b"", b"", 3, b"bloomery: no/d: No such file or directory\n")
        self.expect(["d/"], b"1\ta\n", b"a\t1\n")
        os.mkdir(self.path("empty"))
        self.expect(["empty"], b"1\ta\n", b"a\t1\n")
        os.mkdir(self.path("foreign"))
        self.write("foreign/log", b"a log of something else\n" * 9)
        self.expect(["foreign"], b"", b"", 3, b"bloomery: foreign: not Bloomery data\n")

    def test_damage(self):
        """Damage is refused, and the files are not changed."""
        self.expect(["d", "-q", "--log-size", "1k"], b"".join(b"%d\ta\n" % i for i in range(9000)), b"")
        self.expect(["d", "-q"], b"x\ta\n", b"")
        self.expect(["d", "-q"], b"y\ta\n", b"")
        kept = {name: self.content("d/" + name) for name in ("log", "snapshot")}
        for name, content in kept.items():
            for at in (3, 70, len(content) // 2):
                self.write("d/" + name, content[:at] + bytes([content[at] ^ 1]) + content[at + 1:])
                done = self.call("d", "--totals")
                self.assertEqual((done.returncode, done.stdout), (3, b""), (name, at))
                self.assertRegex(done.stderr, rb"^bloomery: d: (damaged at byte \d+: |not Bloomery data)")
            self.write("d/" + name, content)
        os.rename(self.path("d/snapshot"), self.path("snapshot"))
        self.expect(["d"], b"", b"", 3, b"bloomery: d: damaged at byte 64: the snapshot is missing\n")
        os.rename(self.path("snapshot"), self.path("d/snapshot"))
        os.remove(self.path("d/log"))
        self.expect(["d"], b"", b"", 3, b"bloomery: d: the log is missing\n")


class Syncs(CountCase):
    def syncs(self):
        return os.path.getsize(self.path("syncs")) if os.path.exists(self.path("syncs")) else 0

    @unittest.skipUnless("BLOOMERY_SYNC_TRACE" in os.environ, "needs a library to preload")
    def test_before_waiting(self):
        """What was read is on disk when the program waits for more; otherwise it does not sync."""
        environment = {**os.environ, "LD_PRELOAD": os.environ["BLOOMERY_SYNC_TRACE"],
                       "SYNC_TRACE": self.path("syncs")}
        self.expect(["d"], b"", b"")
        process = self.start("d", env=environment)
        for i in range(3):
            before = self.syncs()
            self.wait_for_log(process, b"%d\ta\n" % i)
            deadline = time.monotonic() + 60
            while self.syncs() == before:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
        self.assertEqual(process.communicate(), (b"a\t3\n", b""))
        before = self.syncs()
        self.write("lines", b"".join(b"%d\ta\n" % i for i in range(50000)))
        self.assertEqual(self.call("d", "lines", env=environment).stdout, b"a\t50000\n")
        self.assertLess(self.syncs() - before, 8)


class Signals(CountCase):
    def test_the_input_ends(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.expect(["d"], b"", self.call("d").stdout)
            process = self.start("d")
            self.wait_for_log(process, b"%d\ta\nincomplete\tlin" % number)
            process.send_signal(number)
            out, err = process.communicate()
            self.assertEqual((process.returncode, err), (-number, b""))
            self.assertRegex(out, rb"^a\t\d\n$")
        self.expect(["d"], b"2\ta\n15\ta\n1\ta\n", b"a\t3\n")

    def test_nobody_reads(self):
        """What was read is counted, although nobody reads the totals."""
        lines = b"".join(b"1\t%d\n" % i for i in range(100000))
        process = self.start("d")
        process.stdin.write(lines)
        process.stdin.close()
        process.stdout.read(10)
        process.stdout.close()
        self.assertEqual((process.wait(), process.stderr.read()), (-signal.SIGPIPE, b""))
        process.stderr.close()
        self.assertEqual(self.call("d", "--totals").stdout.count(b"\n"), 100000)


main()
