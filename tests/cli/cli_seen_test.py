"""`bloomery seen` compared with an exact model: which lines pass, by whole lines, fields and
times."""

import os
import random
import re
import signal
import time

from cli_runner import main
from seen_runner import STATS, SeenCase, first_ones, joined

TIME = "is neither a number nor a time such as 2026-11-15T12:00:00Z"


class Lines(SeenCase):
    def test_first_occurrences_in_order(self):
        draw = random.Random(1)
        lines = [b"line %d" % draw.randrange(30000) for _ in range(50000)]
        for engine in ("auto", "compact", "fbf"):
            self.expect(["--engine", engine, "--error", "1e-9"], joined(lines),
                        joined(first_ones(lines)))

    def test_odd_lines(self):
        everything = bytes(byte for byte in range(256) if byte != 10)
        lines = [b"", b"a", b"", b"a\r", b"a", b"\0", b"\0\0", b"a\0", everything, b"\0",
                 everything, b"\t", b" ", b"", b"x" * 300000, b"y" * 300000, b"x" * 300000,
                 b"x" * 299999]
        wanted = joined(first_ones(lines))
        self.expect([], joined(lines), wanted)
        # The last line may lack its newline, which is added.
        self.expect([], joined(lines)[:-1], wanted)
        self.expect([], b"", b"")
        self.expect([], b"\n", b"\n")
        self.expect([], b"\n\n", b"\n")
        self.expect([], b"a", b"a\n")
        self.expect([], b"a\na", b"a\n")
        self.expect([], b"a\nb\na", b"a\nb\n")

    def test_nul(self):
        lines = [b"a\nb", b"", b"a\nb", b"\n", b"", b"c"]
        self.expect(["-0"], joined(lines, b"\0"), joined(first_ones(lines), b"\0"))
        self.expect(["-0"], b"a\0a\0b", b"a\0b\0")

    def test_pieces_of_any_length(self):
        """Lines that cross the pieces in which the program reads."""
        draw = random.Random(2)
        lines = [bytes([97 + draw.randrange(3)]) * draw.choice((0, 1, 7, 4095, 70000, 262143,
                                                                262144, 262145, 600000))
                 for _ in range(60)]
        self.expect([], joined(lines), joined(first_ones(lines)))

    def test_too_long(self):
        most = 16 << 20
        lines = joined([b"a", b"b" * most, b"a"])
        self.expect([], lines, joined([b"a", b"b" * most]))
        self.expect([], joined([b"a", b"b" * (most + 1)]), b"a\n", 3,
                    b"bloomery: line 2: longer than 16777216 bytes\n")

    def test_only_repeats(self):
        lines = [b"a", b"b", b"a", b"c", b"a", b"b"]
        self.expect(["--only-repeats"], joined(lines), b"a\na\nb\n")
        self.expect(["--only-repeats"], b"a\nb\nb", b"b\n")

    def test_count(self):
        lines = joined([b"a", b"b", b"a", b"c", b"a", b"b"])
        self.expect(["--count"], lines, b"3\n")
        self.expect(["--count", "--only-repeats"], lines, b"3\n")
        self.expect(["--count"], b"", b"0\n")

    def test_from_a_file(self):
        lines = [b"%d" % (i % 70000) for i in range(100000)]
        self.write("lines", joined(lines))
        with open(self.path("lines"), "rb") as file:
            file.seek(6)  # three lines were read before
            self.expect(["--error", "1e-9"], file, joined(first_ones(lines[3:])))


class Stats(SeenCase):
    def test_counts(self):
        lines = joined([b"a", b"b", b"a", b"c", b"a"])
        out, stats = self.stats(stdin=lines)
        self.assertEqual(out, b"a\nb\nc\n")
        self.assertEqual([stats[name] for name in STATS[:10]],
                         [5, 3, 2, 3, 2, 0, 0, 0, "compact", None])
        self.assertEqual([stats[name] for name in ("remembered", "promised_error", "at_limit")],
                         [3, 1e-6, False])
        out, stats = self.stats("--only-repeats", "--window", "60s", "--engine", "fbf", "--error",
                                "0.1%", stdin=lines)
        self.assertEqual(out, b"a\na\n")
        self.assertEqual([stats[name] for name in STATS[:10]],
                         [5, 2, 3, 3, 2, 0, 0, 0, "fbf", 60000])
        self.assertEqual(stats["promised_error"], 0.001)

    def test_false_drops_are_as_expected(self):
        """A high error, so that there are many losses; within five standard deviations."""
        lines = joined(b"%d" % i for i in range(200000))
        for engine, capacity in (("compact", "10k"), ("fbf", "200k")):
            out, stats = self.stats("--error", "1%", "--engine", engine, "--capacity", capacity,
                                    stdin=lines)
            dropped, expected = stats["dropped"], stats["expected_false_drops"]
            self.assertEqual(out.count(b"\n"), stats["passed"])
            self.assertLessEqual(stats["estimated_error"], 0.01)
            self.assertLessEqual(dropped, 2000)
            self.assertGreater(dropped, 0)
            self.assertLess(abs(dropped - expected), 5 * max(expected, 1) ** 0.5 + 0.02 * expected,
                            (engine, capacity, dropped, expected))

    def test_covered(self):
        """Counted from the first line, not from 1970, and at most what is remembered."""
        before = time.monotonic()
        _, stats = self.stats(stdin=b"a\nb\n")
        self.assertLess(stats["covered_ms"], (time.monotonic() - before) * 1000 + 1)
        arguments = ["--state", "kept", "--window", "100s", "--time", "1"]
        for lines, covered in ((b"", 0), (b"1000\n1030\n", 30000), (b"1060\n", 60000)):
            _, stats = self.stats(*arguments, stdin=lines)
            self.assertEqual(stats["covered_ms"], covered)
        _, stats = self.stats(*arguments, stdin=b"1100\n1200\n1300\n")
        self.assertGreaterEqual(stats["covered_ms"], 100000)
        self.assertLess(stats["covered_ms"], 200000)

    def test_text(self):
        done = self.call("--stats", "--window", "90s", "--time", "1", "--on-bad", "drop",
                         stdin=b"5\tx\nx\n4\ty\n5\tx\n")
        self.assertEqual(done.stdout, b"5\tx\n4\ty\n")
        text = done.stderr.decode().splitlines()
        self.assertEqual(text[:3], ["lines       4: 2 passed, 2 dropped",
                                    "            2 new, 1 repeats, 1 bad; 1 late",
                                    "window      compact, 90 s: 2 remembered in 1 generation"])
        self.assertRegex(text[3], r"^error       1e-06 promised, [0-9.e-]+ estimated; [0-9.e-]+ "
                                  r"new lines expected to be dropped$")
        self.assertRegex(text[4], r"^bytes       \d+$")
        self.assertEqual(len(text), 5)


class EventTime(SeenCase):
    def model(self, events, out, window, longest, refresh=False):
        """events: (time in ms, key). Checks the output: within the window a repeat must be dropped,
        after the longest time it must pass; in between both are correct."""
        printed = iter(out)
        latest, added, nearest = 0, {}, next(printed, None)
        for number, (now, key) in enumerate(events):
            latest = max(latest, now)
            passed = nearest == number
            if passed:
                nearest = next(printed, None)
            age = latest - added[key] if key in added else None
            if age is None or age > longest:
                self.assertTrue(passed, (number, key, age))
            elif age <= window:
                self.assertFalse(passed, (number, key, age))
            if passed or refresh:
                added[key] = latest
        self.assertIsNone(nearest)

    def test_model(self):
        draw = random.Random(3)
        for arguments, window, refresh in (
                ([], 10000, False), (["--engine", "fbf"], 10000, False),
                (["--refresh"], 10000, True), (["--engine", "fbf", "--refresh"], 10000, True),
                (["--capacity", "10"], 1000, False), (["--capacity", "10", "--engine", "fbf"], 777,
                                                      False)):
            now, events = 10**12, []
            for _ in range(20000):
                now += draw.choice((0, 0, 0, 1, 2, 50, 700)) + (draw.random() < 0.001) * 60000
                events.append((now - draw.choice((0, 0, 5, 3000)), draw.randrange(300)))
            text = joined(b"%d\t%d\t%d" % (i, when, key) for i, (when, key) in enumerate(events))
            done = self.call("--window", f"{window}ms", "--time", "2", "--key", "3", "--time-unit",
                             "ms", "--error", "1e-9", *arguments, stdin=text)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            numbers = [int(line.split(b"\t")[0]) for line in done.stdout.splitlines()]
            self.assertLess(len(numbers), len(events))
            self.model(events, numbers, window, 2 * window, refresh)

    def test_units(self):
        """The same time, and one that is 2 s later, in all notations."""
        for unit, early, late in (
                ("s", b"1700000000", b"1700000002"), ("s", b"1700000000.5", b"1700000002.501"),
                ("ms", b"1700000000000", b"1700000002000"), ("ms", b"1700000000000.75", b"1700000002000"),
                ("us", b"1700000000000000", b"1700000002000000"),
                ("ns", b"1700000000000000000", b"1700000002000000000"),
                ("s", b"2023-11-14T22:13:20Z", b"2023-11-14T22:13:22Z"),
                ("s", b"2023-11-14 22:13:20", b"1700000002"),
                ("s", b"2023-11-15T00:13:20.999+02:00", b"2023-11-14t17:13:23,100-0500"),
                ("s", b"2024-02-28T24:00:00Z", b"2024-02-29T00:00:02+00"),
                ("s", b"2024-02-29", b"2024-02-29T00:00:02"),
                ("s", b"2016-12-31T23:59:60Z", b"2017-01-01T00:00:02Z"),
                ("s", b"1.7e9", b"1700000002"), ("s", b"17000000005E-1", b"1.700000002501e+9"),
                ("ms", b"1.7e12", b"1700000002000"), ("ns", b"1.7e18", b"1.700000002e18"),
                ("ns", b"00001700000000999999999", b"1700000002999999999"),
                ("s", b"1e-999999999999999999999", b"2e0"), ("s", b"0e99999999", b"2"),
                ("s", b"0", b"2"), ("s", b".5", b"2.6"), ("s", b"1970-01-01", b"2.")):
            for window, out in (("2500ms", joined([b"x;" + early])),
                                ("900ms", joined([b"x;" + early, b"x;" + late]))):
                self.expect(["-d", ";", "--key", "1", "--time", "2", "--time-unit", unit,
                             "--window", window], joined([b"x;" + early, b"x;" + late]), out)

    def test_dates_are_the_calendars(self):
        draw = random.Random(4)
        lines = out = b""
        for when in sorted(draw.sample(range(4102444800), 400)):
            date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when)).encode()
            # Equal to the millisecond: with a window of 1 ms, a line 3 ms later is new.
            lines += date + b"\tk\n%d\tk\n%d.003\tk\n" % (when, when)
            out += date + b"\tk\n%d.003\tk\n" % when
        self.expect(["--time", "1", "--key", "2", "--window", "1ms"], lines, out)

    def test_bad_times(self):
        late = "is after the year 9999: is its unit s, ms, us or ns?"
        negative = "is negative: times are counted from 1970"
        for text, problem in (
                ("", TIME), ("x", TIME), ("+5", TIME), ("1e", TIME), ("1e+", TIME),
                ("e3", TIME), (".e3", TIME), ("1e3.5", TIME), ("1e3x", TIME), ("-", TIME),
                ("-x", TIME), ("--5", TIME), ("1 ", TIME), ("-5", negative), ("-0.5e1", negative),
                ("1e12", late), ("1e999999999999999999999", late),
                (" 1", TIME), (".", TIME), ("1.2.3", TIME), ("0x10", TIME),
                ("2026-11-15T12", TIME), ("2026-11-15T12:00:00+", TIME),
                ("2026-11-15T12:00:00+1", TIME), ("2026-11-15T12:00:00+01:", TIME),
                ("2026-11-15T12:00:00Zx", TIME), ("2026-1-15", TIME), ("2026-11-15Tx", TIME),
                ("2026-02-29", "is not a valid date"), ("2026-13-01", "is not a valid date"),
                ("2026-00-01", "is not a valid date"), ("2026-01-00", "is not a valid date"),
                ("1900-02-29", "is not a valid date"),
                ("2026-01-01T25:00:00", "is not a valid date"),
                ("2026-01-01T24:00:01", "is not a valid date"),
                ("2026-01-01T23:60:00", "is not a valid date"),
                ("2026-01-01T23:59:61", "is not a valid date"),
                ("1969-12-31", "is before 1970"), ("1970-01-01T00:00:00+01:00", "is before 1970"),
                ("253402300800", late), ("1" * 30, late), ("1763208000000", late)):
            self.expect(["--time", "1", "--window", "1s"], f"7\tx\n{text}\ty\n7\tz\n".encode(),
                        b"7\tx\n", 3, f'bloomery: line 2: the time "{text}" {problem}\n'
                        .encode())

    def test_skew(self):
        lines = b"100\ta\n170\tb\n9999999\tc\n231\td\n99\ta\n"
        arguments = ["--time", "1", "--key", "2", "--window", "10m", "--skew", "70s"]
        self.expect(arguments, lines, b"100\ta\n170\tb\n", 3,
                    b"bloomery: line 3: the time is 9999829000 ms ahead of the latest; "
                    b"--skew allows 70000\n")
        # A bad line does not advance the time.
        self.expect([*arguments, "--on-bad", "drop"], lines, b"100\ta\n170\tb\n231\td\n")
        self.expect([*arguments, "--on-bad", "pass"], lines,
                    b"100\ta\n170\tb\n9999999\tc\n231\td\n")
        out, stats = self.stats(*arguments, "--on-bad", "drop", stdin=lines)
        self.assertEqual([stats["bad"], stats["late"], stats["time_ms"]], [1, 1, 231000])

    def test_a_stray_time_without_skew(self):
        """Everything after it is late, and gets its time."""
        self.expect(["--time", "1", "--key", "2", "--window", "10s"],
                    b"1\ta\n5000\tb\n2\ta\n3\ta\n20\tb\n", b"1\ta\n5000\tb\n2\ta\n")


class Fields(SeenCase):
    def test_key(self):
        lines = b"1\ta\tx\n2\ta\ty\n1\tb\n\ta\n3\t\n4\t\tz\n"
        self.expect(["--key", "2"], lines, b"1\ta\tx\n1\tb\n3\t\n")
        self.expect(["--key", "1"], lines, b"1\ta\tx\n2\ta\ty\n\ta\n3\t\n4\t\tz\n")
        for arguments in (["-d", ":", "--key", "2"], ["-d:", "--key", "2"],
                          ["--delimiter=:", "--key=2"]):
            self.expect(arguments, b"a:b\nc:b:d\nc:e", b"a:b\nc:e\n")
        self.expect(["-d", "\\t", "--key", "1"], b"a\tb\na\tc\n", b"a\tb\n")
        self.expect(["-d=", "--key", "1"], b"a=b\na=c\n", b"a=b\n")

    def test_missing(self):
        lines = b"a\tb\na\nc\tb\n\nd\te\n"
        self.expect(["--key", "2"], lines, b"a\tb\n", 3,
                    b"bloomery: line 2: there is no field 2\n")
        self.expect(["--key", "2", "--on-bad", "drop"], lines, b"a\tb\nd\te\n")
        self.expect(["--key", "2", "--on-bad", "pass"], lines, b"a\tb\na\n\nd\te\n")
        self.expect(["--key", "2", "--on-bad", "pass", "--only-repeats"], lines, b"c\tb\n")
        self.expect(["--key", "9", "--time", "1", "--window", "1s"], b"1\ta\n", b"", 3,
                    b"bloomery: line 1: there is no field 9\n")
        self.expect(["--key", "1", "--time", "3", "--window", "1s"], b"1\ta\n", b"", 3,
                    b"bloomery: line 1: there is no field 3\n")

    def test_json(self):
        lines = [b'{"id":"a","n":{"id":"z","x":[1,"]}"]},"v":1}', b' { "v" : 2 , "id" : "a" } ',
                 b'{"id":"b"}', b'{"v":"}\\"","id":"a"}', b'{"id":1}', b'{"id": 1.0}',
                 b'{"other":null,"id":true}', b'{"id":{"a":[]}}', b'{"id":{"a":[]},"x":2}',
                 b'{"id":"a\\u0062"}', b'{"x":true,"id":true}']
        self.expect(["--json-lines", "--key", "id"], joined(lines),
                    joined([lines[0], lines[2], lines[4], lines[5], lines[6], lines[7], lines[9]]))
        self.expect(["--json-lines", "--time", "t", "--key", "k", "--window", "5s"],
                    b'{"t":10,"k":1}\n{"t":"11.5","k":1}\n{"k":1,"t":"1970-01-01T00:00:30Z"}\n',
                    b'{"t":10,"k":1}\n{"k":1,"t":"1970-01-01T00:00:30Z"}\n')

    def test_json_rules(self):
        """As in the manual: the first member of a name, names without escapes, and nothing after it
        is checked."""
        for first, second in ((b'{"id":1,"id":2}', b'{"id":1,"id":3}'), (b'{"id":1}', b'{"id":1,??'),
                              (b'{"\\u0069d":5,"id":1}', b'{"id":1}')):
            self.expect(["--json-lines", "--key", "id"], joined([first, second]), joined([first]))

    def test_bad_json(self):
        for line, where, problem in (
                ("", ", column 1", "the line ends too early"), ("[]", ", column 1",
                                                                "an object is expected, in braces"),
                ("{}", "", 'there is no member "k"'), ('{"K":1}', "", 'there is no member "k"'),
                ('{"a":1', ", column 7", "the line ends too early"), ('{"a"', ", column 5",
                                                                      "the line ends too early"),
                ('{"k":"x', ", column 8", "the line ends too early"), ('{"k":[1,{}', ", column 11",
                                                                       "the line ends too early"),
                ('{"k":"\\', ", column 8", "the line ends too early"),
                ('{a:1}', ", column 2", "the name of a member is expected, in quotes"),
                ('{"a" 1}', ", column 6", "a colon is expected"),
                ('{"a":,"k":1}', ", column 6", "a value is expected here"),
                ('{"a":1 "k":1}', ", column 8", "a comma or a closing brace is expected"),
                ('{"a":1,}', ", column 8", "the name of a member is expected, in quotes")):
            self.expect(["--json-lines", "--key", "k"], b'{"k":1}\n' + line.encode() + b"\n",
                        b'{"k":1}\n', 3, f"bloomery: line 2{where}: {problem}\n".encode())

    def test_damaged_json(self):
        """Any line is read or reported as bad, and the good ones beside it are found."""
        draw = random.Random(6)
        whole = [b'{"t":%d,"n":{"a":["x",{"k":"\\"}"}]},"k":"key %d"}' % (i, i) for i in range(4000)]
        damaged = []
        for line in whole:
            bytes_ = bytearray(line)
            for _ in range(draw.randrange(1, 4)):
                at = draw.randrange(len(bytes_))
                if draw.random() < 0.5:
                    bytes_[at] = draw.choice(b'{}[]",:\\0kt \xff\0')
                else:
                    del bytes_[at:at + draw.randrange(1, 9)]
                    bytes_ = bytes_ or bytearray(b"{")
            damaged.append(bytes(bytes_).replace(b"\n", b" "))
        lines = [line for pair in zip(whole, damaged) for line in pair]
        out, stats = self.stats("--json-lines", "--key", "k", "--time", "t", "--window", "1000d",
                                "--on-bad", "drop", "--error", "1e-9", stdin=joined(lines))
        printed = set(out.splitlines())
        self.assertTrue(set(whole) <= printed, len(set(whole) - printed))
        self.assertGreater(stats["bad"], 500)
        self.assertEqual(stats["bad"] + stats["first"] + stats["repeats"], 8000)


class Files(SeenCase):
    def test_one_after_the_other(self):
        self.write("a", b"1\n2\n1\nlast")
        self.write("b", b"2\n3\nlast\n")
        self.write("empty", b"")
        self.expect(["a", "b"], b"none of this", b"1\n2\nlast\n3\n")
        self.expect(["empty", "b", "a", "empty"], b"", b"2\n3\nlast\n1\n")
        self.expect(["a", "-", "b"], b"3\n4\n1\n", b"1\n2\nlast\n3\n4\n")
        self.expect(["-"], b"3\n3\n", b"3\n")
        self.expect(["--count", "a", "b"], b"", b"4\n")
        self.expect(["--", "a"], b"", b"1\n2\nlast\n")

    def test_many(self):
        lines = [b"%d" % (i * i % 30011) for i in range(60000)]
        for i in range(6):
            self.write(f"f{i}", joined(lines[i * 10000:(i + 1) * 10000]))
        self.expect([f"f{i}" for i in range(6)], b"", joined(first_ones(lines)))

    def test_a_pipe_by_name(self):
        os.mkfifo(self.path("pipe"))
        process = self.start("pipe")
        with open(self.path("pipe"), "wb") as pipe:
            pipe.write(b"a\na\nb\n")
        self.assertEqual(process.stdout.read(), b"a\nb\n")
        self.assertEqual(process.wait(), 0)

    def test_a_signal_ends_the_wait_for_a_pipe(self):
        self.write("a", b"1\n")
        os.mkfifo(self.path("pipe"))
        process = self.start("--state", "s", "a", "pipe")
        self.assertEqual(process.stdout.readline(), b"1\n")
        process.terminate()
        self.assertEqual(process.wait(timeout=60), -signal.SIGTERM)
        self.expect(["--state", "s", "a"], b"", b"")

    def test_bad(self):
        self.write("a", b"1\n")
        self.write("short", b"1\t2\n1\n")
        for arguments, problem in (
                (["a", "none"], 'none: No such file or directory'),
                (["a", "."], '.: Is a directory')):
            self.expect(arguments, b"", b"", 3, f"bloomery: {problem}\n".encode())
        self.expect(["--key", "2", "short"], b"", b"1\t2\n", 3,
                    b'bloomery: short: line 2: there is no field 2\n')


class Compound(SeenCase):
    def test_fields(self):
        lines = [b"a\tx\tc", b"a\ty\tc", b"a\tx\td", b"ac\t\t", b"a\t\tc\t", b"\t\tac"]
        for key, kept in (("1,3", [0, 2, 3, 5]), ("3,1", [0, 2, 3, 5]), ("1,2,3", [0, 1, 2, 3, 4, 5]),
                          ("1,1", [0, 3, 5])):
            self.expect(["--key", key], joined(lines), joined([lines[i] for i in kept]))

    def test_members(self):
        lines = [b'{"a":1,"b":"x","c":2}', b'{"c":2,"a":1}', b'{"a":"1","c":2}', b'{"a":12,"c":2}',
                 b'{"a":1,"c":"2,3"}', b'{"a":"1,2","c":3}']
        self.expect(["--json-lines", "--key", "a,c"], joined(lines),
                    joined(line for i, line in enumerate(lines) if i != 1))

    def test_with_a_time(self):
        lines = [b"0;a;b", b"1;a;c", b"2;a;b", b"20;a;b"]
        self.expect(["--window", "10s", "--time", "1", "--key", "2,3", "-d", ";"], joined(lines),
                    joined([lines[0], lines[1], lines[3]]))

    def test_in_a_state(self):
        line = b"a\tb\tc\n"
        self.expect(["--state", "kept", "--key", "1,3"], line, line)
        self.expect(["--state", "kept", "--key", "1,3"], b"a\tother\tc\n", b"")
        for key in ("1", "1,2", "1,3,3", "3,1"):
            self.expect(["--state", "kept", "--key", key], line, b"", 3,
                        b'bloomery: kept: was created with --key 1,3\n')
        self.expect(["--state", "json", "--json-lines", "--key", "a,b"], b'{"a":1,"b":2}\n',
                    b'{"a":1,"b":2}\n')
        self.expect(["--state", "json", "--json-lines", "--key", "a,c"], b'{"a":1,"c":2}\n', b"",
                    3, b'bloomery: json: was created with --key "a,b"\n')

    def test_many(self):
        lines = [b"%d,%d,%d" % (i % 90, i, i % 77) for i in range(20000)]
        self.expect(["--key", "1,3", "-d", ","], joined(lines), joined(lines[:6930]))


class Misuse(SeenCase):
    def test_misuse(self):
        for arguments, problem in (
                (["--windows", "60s"], 'unknown option "--windows"; did you mean "--window"?'),
                (["--window", "60"], '--window: "60" needs a unit: ms, s, m, h or d'),
                (["--window", "0s"], '--window: "0s" is not above 0'),
                (["--error", "2"], '--error: "2" is not above 0 and below 1'),
                (["--engine", "bloom"], '--engine: "bloom" is not one of auto, compact and fbf'),
                (["--engine", "x"], '--engine: "x" is not one of auto, compact and fbf'),
                *((["--key", key], f'--key: "{key}" is not a field from 1 to 65535, or several such as 1,3')
                  for key in ("0", "65536", "-1", "name", "1,", "1,,2")),
                (["--key", "1,2,3,4,5,6,7,8,9"],
                 '--key: "1,2,3,4,5,6,7,8,9" has more than 8 fields'),
                (["--json-lines", "--key", "a,,b"], '--key: "a,,b" has an empty name'),
                (["--time", "1,2", "--window", "1s"], '--time: "1,2" is more than one field'),
                (["--state", "-"], '--state needs a file, not "-"'),
                (["--time", "1"], "--time requires --window"),
                (["--refresh"], "--refresh requires --window"),
                (["--skew", "1s"], "--skew requires --time"),
                (["--time-unit", "ms"], "--time-unit requires --time"),
                (["--time", "1", "--window", "1s", "--time-unit", "h"],
                 '--time-unit: "h" is not one of s, ms, us and ns'),
                (["--json"], "--json requires --stats"),
                (["--json-lines"], "--json-lines requires --key or --time"),
                (["--json-lines", "--key", "k", "-d", ","],
                 "--delimiter cannot be combined with --json-lines"),
                (["-d", ","], "--delimiter requires --key or --time"),
                (["-d", "", "--key", "1"], '-d: "" is empty'),
                (["--key", "1", "-d"], "-d needs a value"),
                (["--delimiter", "", "--key", "1"], '--delimiter: "" is empty'),
                (["--error", "1e-12", "--capacity", "2^40"],
                 "an error of 1e-12 is not possible with a capacity of 1099511627776: reduce "
                 "--capacity"),
                (["-d,,", "--key", "1"], '-d: ",," is not one byte'),
                (["-delimiter", ",", "--key", "1"],
                 'unknown option "-delimiter"; did you mean "--delimiter"?'),
                (["--on-bad", "stop"], '--on-bad: "stop" is not one of fail, pass and drop'),
                (["--on-full", "drop"], '--on-full: "drop" is not one of fail, pass and err'),
                (["--on-full", "err"], "--on-full err requires --max-memory"),
                (["--on-full", "err", "--max-memory", "1M", "--engine", "compact"],
                 "--on-full err is for engine fbf"),
                (["--capacity", "2T"],
                 "windows take times up to 2^52 ms, capacities up to 2^40, errors from 1e-12 to "
                 "0.5; some combinations are not possible"),
                (["--error", "0.6"],
                 "windows take times up to 2^52 ms, capacities up to 2^40, errors from 1e-12 to "
                 "0.5; some combinations are not possible")):
            self.expect_misuse(arguments, problem)
        done = self.call("--max-memory", "10", stdin=b"a\n")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, rb"^bloomery: --max-memory: a window takes at least "
                                      rb"\d+ bytes\n")
        low = ["--engine", "fbf", "--on-full", "err", "--capacity", "100"]
        lines = b"".join(b"%d\n" % i for i in range(100))
        done = self.call(*low, "--max-memory", "1000", stdin=lines)
        least = re.match(rb"bloomery: --max-memory: a window takes at least (\d+) bytes\n",
                         done.stderr).group(1).decode()
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        done = self.call(*low, "--max-memory", least, stdin=lines)
        self.assertEqual((done.returncode, done.stderr), (0, b""))


main()
