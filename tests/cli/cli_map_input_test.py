"""bloomery map build: every form of input, good and bad, and how the map is planned for it."""

import json
import os
import subprocess
import time

from cli_runner import PROGRAM, main
from map_runner import ENGINES, WHOLE, WIDE, MapCase, keys, numbered

NO_TAB = "there is no tab between key and value"


class Tabs(MapCase):
    def refused(self, problem, stdin, *options):
        self.fails(["build", "m", *options], f"{problem}", stdin=stdin)
        self.assert_files()

    def test_any_bytes(self):
        for engine in ENGINES:
            self.build(engine, b"a\t1\r\n\0\t\0\nlast\t no end", "--engine", engine)
            self.expect(["get", engine, "a"], 0, b"1\r\n")
            self.expect(["get", engine], 0, b"\0\t\0\n", stdin=b"\0\n")
            self.expect(["get", engine, "last"], 0, b" no end\n")
            self.assertEqual(self.info(engine)["items"], 3)

    def test_nothing(self):
        for engine in ENGINES:
            self.build(engine, b"", "--engine", engine)
            self.assertEqual(self.info(engine)["items"], 0)
            self.expect(["get", engine, "a"], 1)
            self.expect(["put", engine, "a", "1"], 0)
            self.expect(["get", engine, "a"], 0, b"1\n")

    def test_a_key_twice(self):
        for engine in ENGINES:
            self.build(engine, b"a\t1\nb\t2\na\t3\n" + numbered(0, 600) + b"b\t4\n", "--engine",
                       engine)
            self.expect(["get", engine, "a", "b"], 0, b"a\t3\nb\t4\n")
            self.assertEqual(self.info(engine)["items"], 602)

    def test_a_new_map_refuses_no_key_for_being_unsure(self):
        pairs = numbered(0, 20000)
        self.build("m", pairs, "--engine", "kbf", "--error", "20%")
        # A false positive is not counted as a new key.
        self.assertGreater(self.info("m")["items"], 16000)
        self.assertEqual(self.info("m")["refused_unsure"], 0)
        self.expect(["build", "n", "--like", "m"], 0)
        done = self.call("put", "n", stdin=pairs)
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, rb"^bloomery: line \d+: ")
        self.expect(["put", "n", "--new"], 0, stdin=pairs)

    def test_refused(self):
        self.refused(f"line 1: {NO_TAB}", b"a")
        self.refused(f"line 1: {NO_TAB}", b"\n")
        self.refused(f"line 3: {NO_TAB}", b"a\t1\nb\t2\n\nc\t3\n")
        self.refused(f"line 100001: {NO_TAB}", numbered(0, 100000) + b"x\n" + numbered(0, 9))
        self.refused(f"line 2: {NO_TAB}", b"a\t\0\nb", "-0")
        self.refused(f"line 2: {WHOLE}", b"a\t1\na\tx\n", "--raw", "4")
        self.refused(f"line 1: {WHOLE}", b"a\t\n", "--raw", "4")
        self.refused(f"line 1: {WIDE}", b"a\t16\n", "--raw", "4")

    def test_long_values(self):
        longest = b"x" * 65535
        for engine in ENGINES:
            self.build(engine, b"a\t" + longest + b"\nb\t" + longest[1:] + b"\n", "--engine", engine)
            self.expect(["get", engine, "a"], 0, longest + b"\n")
            self.expect(["get", engine, "b"], 0, longest[1:] + b"\n")
            os.remove(self.path(engine))
        self.refused("line 2: the value is longer than 65535 bytes", b"a\t1\nb\tx" + longest)
        self.build("m", b"a\t1\n")
        before = self.content("m")
        text = "x" + longest.decode()
        self.expect_misuse(["put", "m", "a", text], '"' + "x" * 86 +
                           '...": the value is longer than 65535 bytes')
        self.assertEqual(self.content("m"), before)

    def test_long_keys(self):
        longest = b"k" * ((16 << 20) - 2)
        self.build("m", longest + b"\t1\n")
        self.expect(["get", "m"], 0, longest + b"\t1\n", stdin=longest)
        os.remove(self.path("m"))
        self.refused("line 2: longer than 16777216 bytes", b"a\t1\n" + longest + b"\t12")

    def test_no_end_marks(self):
        done = subprocess.run(f"head -c 100M /dev/zero | '{PROGRAM}' map build m", shell=True,
                              cwd=self.directory, capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (
            3, b"bloomery: line 1: longer than 16777216 bytes\n"))


class JsonLines(MapCase):
    def test_forms(self):
        lines = (b'{"key":"a","value":"1"}\n'
                 b' { "value" : "2\\t\\u00e9\\ud83c\\udf7a" , "key" : "b" } \r\n'
                 b'{"key":"","value":""}\n'
                 b'{"key_base64":"/w==","value":"3"}\n'
                 b'{"key":"\\u0001\\n","value_base64":"AAo="}')
        for engine in ENGINES:
            self.build(engine, lines, "--json-lines", "--engine", engine)
            self.expect(["get", engine, "a"], 0, b"1\n")
            self.expect(["get", engine, "b"], 0, "2\t\u00e9\U0001f37a\n".encode())
            self.expect(["get", engine, ""], 0, b"\n")
            self.expect(["get", engine, b"\xff"], 0, b"3\n")
            self.expect(["get", engine, "\x01\n"], 0, b"\0\n\n")
            self.assertEqual(self.info(engine)["items"], 5)
        self.build("raw", b'{"key":"a","value":7}\n{"key":"b","value":4294967295}\n',
                   "--json-lines", "--raw", "32")
        self.expect(["get", "raw", "a", "b"], 0, b"a\t7\nb\t4294967295\n")
        self.build("nul", b'{"key":"a",\n "value":"1"}\0', "--json-lines", "-0")
        self.expect(["get", "nul", "a"], 0, b"1\n")

    def test_refused(self):
        for line, problem in (  # the reader is tested in test_cli_lines.c
                (b"", "column 1: the line ends too early"),
                (b'{"key":"\xff","value":"1"}', "column 9: invalid UTF-8"),
                (b'{"key":"a","value":"1","other":"x"}', "column 24: unknown member"),
                (b'{"key":"a","value":1}', "column 20: not a string"),
                (b'{"key":5,"value":"1"}', "column 8: not a string"),
                (b'{"key":"a","value_base64":"A"}', "column 27: invalid base64"),
                (b'{"key":"a","value_base64":5}', "column 27: not a string")):
            for before in (0, 3):
                stdin = b'{"key":"a","value":"1"}\n' * before + line + b"\n"
                self.fails(["build", "m", "--json-lines"],
                           f"line {before + 1}, {problem}", stdin=stdin)
        for line, name in ((b"{}", "key"), (b'{"value":"1"}', "key"), (b'{"key":"a"}', "value"),
                           (b'{"key":"a","key_base64":"","value":"1"}', "key"),
                           (b'{"key":"a","value":"1","value_base64":""}', "value")):
            self.fails(["build", "m", "--json-lines"],
                       f'line 1: give either "{name}" or "{name}_base64"', stdin=line)
        for value, problem in ((b'"7"', WHOLE), (b"16", WIDE),
                               (b"-1", "a string or a whole number is expected")):
            self.fails(["build", "m", "--json-lines", "--raw", "4"],
                       f"line 1, column 20: {problem}", stdin=b'{"key":"a","value":' + value + b"}")
        long_value = json.dumps({"key": "a", "value": "\u00e9" * 32768}).encode()
        self.fails(["build", "m", "--json-lines"],
                   "line 1, column 23: the value is longer than 65535 bytes", stdin=long_value)
        self.assert_files()

    def test_long_values(self):
        longest = "\u00e9" * 32767 + "x"
        for escaped in (True, False):
            line = json.dumps({"key": "a", "value": longest}, ensure_ascii=escaped).encode()
            self.build("m", line, "--json-lines", "--force")
            self.expect(["get", "m", "a"], 0, longest.encode() + b"\n")

    def test_many(self):
        """The JSON output of a map builds the same map."""
        self.build("m", numbered(0, 100000), "--error", "1e-6")
        done = self.call("get", "m", "--json", stdin=keys(0, 100000))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(lines[77], {"key": "key77", "answer": "present", "value": "value77"})
        again = done.stdout.replace(b'"answer":"present",', b"")
        self.build("n", again, "--json-lines", "--error", "1e-6")
        self.assertEqual(self.content("n"), self.content("m"))


class Planning(MapCase):
    def capacity(self, *options, pairs=b""):
        self.expect(["build", "m", "--force", *options], stdin=pairs)
        return self.info("m")["capacity"]

    def test_capacity(self):
        self.assertEqual(self.capacity(), 1000)
        self.assertEqual(self.capacity(pairs=numbered(0, 5000)), 5000)
        self.assertEqual(self.capacity("--capacity", "77", pairs=numbered(0, 5000)), 77)
        many = numbered(0, 300000)
        self.write("pairs", many)
        with open(self.path("pairs"), "rb") as file:
            self.assertEqual(self.capacity(pairs=file), 300000)
        lines = many[:4 << 20].count(b"\n")
        for engine, factor in (("compact", 16), ("kbf", 4)):
            planned = self.capacity("--engine", engine, pairs=many)
            # At least 4 MiB were read in advance, and less than 256 KiB more.
            self.assertGreaterEqual(planned, lines * factor)
            self.assertLessEqual(planned, many[:(4 << 20) + (256 << 10)].count(b"\n") * factor)
            self.assertEqual(planned % factor, 0)

    def test_capacity_of_files(self):
        self.write("one", numbered(0, 4000))
        self.write("two", numbered(4000, 9000) + b"last\tvalue")
        self.assertEqual(self.capacity("one", "two"), 9001)
        self.assertEqual(self.capacity("-", "one", pairs=numbered(9000, 9500)), 4500)
        # A pipe that is not the first input cannot be counted.
        self.assertEqual(self.capacity("one", "-", pairs=numbered(9000, 9500)), 4000)

    def test_files(self):
        self.write("one", b"a\t1\nb\t2\n")
        self.write("empty", b"")
        self.write("two", b"b\t3\nc\t4")
        for engine in ENGINES:
            for inputs, stdin in ((["one", "empty", "two"], b""), (["one", "-"], b"b\t3\nc\t4\n"),
                                  (["-", "two"], b"a\t1\n"), (["-"], b"a\t1\nb\t3\nc\t4\n")):
                self.expect(["build", "m", *inputs, "--force", "--engine", engine], 0, stdin=stdin)
                self.expect(["get", "m", "a", "b", "c"], 0, b"a\t1\nb\t3\nc\t4\n")
        self.fails(["build", "m", "--force", "-0", "zeros"], "zeros: No such file or directory")
        self.fails(["build", "m", "--force", "."], ".: Is a directory")

    def test_places_in_files(self):
        """Messages name the file and the line in it."""
        self.write("good", numbered(0, 10))
        self.write("bad", b"a\t1\nb\n")
        self.fails(["build", "m", "good", "bad"],
                   "bad: line 2: there is no tab between key and value")
        self.write("json", b'{"key":"a","value":"1"}\n{"key":"a"}\n')
        done = self.call("build", "m", "json", "--json-lines")
        self.assertEqual(done.returncode, 3)
        self.assertIn(b'json: line 2: ', done.stderr)
        self.write("more", numbered(4, 20))
        fixed = ["--fixed", "--capacity", "18", "--seed", "7"]
        self.fails(["build", "m", "more", "good", *fixed],
                   "good: line 3: the map has a fixed capacity of 18 keys and is full")
        self.assertFalse(os.path.exists(self.path("m")))

    def test_fifo(self):
        """A FIFO is read when its writer comes."""
        os.mkfifo(self.path("fifo"))
        build = self.start("build", "m", "fifo")
        time.sleep(0.2)
        with open(self.path("fifo"), "wb") as fifo:
            fifo.write(b"a\t1\n")
        self.assertEqual(build.wait(), 0)
        self.expect(["get", "m", "a"], 0, b"1\n")

    def test_dash(self):
        """Without keys, and for "-", they are on standard input; after "--" it is a key."""
        self.build("m", b"a\t1\n-\tdash\n")
        self.expect(["put", "m", "-"], 0, stdin=b"b\t2\n")
        self.expect(["put", "m", "-d", ":", "-"], 0, stdin=b"c:3\n")
        self.expect(["get", "m", "-"], 0, b"a\t1\nc\t3\n", stdin=b"a\nc\n")
        self.expect(["get", "m", "--", "-"], 0, b"dash\n")
        self.expect(["get", "m", "--", "a", "-"], 0, b"a\t1\n-\tdash\n")
        self.expect(["del", "m", "-"], 0, stdin=b"a\nb\n")
        self.expect(["put", "m", "-", "new"], 0)
        self.expect(["get", "m", "a", "b", "--", "-"], 1, b"-\tnew\n")
        self.expect(["del", "m", "--", "-"], 0)
        for command in ("get", "del"):
            self.expect_misuse([command, "m", "a", "-"],
                               '"-" cannot be combined with keys; after "--" it is a key')
        self.expect_misuse(["put", "m", "a"], "the value is missing")
        self.expect_misuse(["put", "m", "--", "-"], "the value is missing")

    def test_seed(self):
        for engine in ENGINES:
            for name in ("one", "two"):
                self.build(name, numbered(0, 500), "--engine", engine, "--force")
            self.assertEqual(self.content("one"), self.content("two"))
        self.expect(["build", "random1"], 0)
        self.expect(["build", "random2"], 0)
        self.assertNotEqual(self.info("random1")["seed"], self.info("random2")["seed"])

    def test_like(self):
        for engine in ENGINES:
            self.build("m", numbered(0, 500), "--engine", engine, "--capacity", "700", "--error", "1%",
                       "--force")
            self.expect(["build", "n", "--like", "m", "--force"], 0, stdin=b"a\tvalue1\n")
            one, two = self.info("m"), self.info("n")
            for name in ("engine", "seed", "capacity", "error", "value_bits"):
                self.assertEqual(one[name], two[name])
            self.assertEqual(two["items"], 1)
            self.expect(["get", "n", "a"], 0, b"value1\n")


class Addresses(MapCase):
    def test_misuse(self):
        url = "redis://127.0.0.1:1/m"
        for command in (["merge", url, "f"], ["merge", "f", url], ["compress", url]):
            self.expect_misuse(command, 'this command is for files; "map save" and "map restore" '
                                        "copy a map from and to servers")
        for command in ("get", "put", "del", "info", "build"):
            words = [command, url] + (["k", "v"] if command == "put" else [])
            self.expect_misuse([*words, "--max-memory", "1MB"], "--max-memory is for maps in files")
        for option in (["--like", "f"], ["--layout", "tuned"], ["--fixed"]):
            self.expect_misuse(["build", url, *option], f"{option[0]} is for maps in files")
        self.expect_misuse(["put", url, "k", "v", "--new"], "--new is for maps in files")
        for command in (["ls", "f"], ["drop", "f"], ["save", "f", "g"], ["restore", "f", "g"]):
            self.expect_misuse(command, f'"{command[-1 if command[0] == "restore" else 1]}" is not '
                               "an address: redis://HOST:PORT" +
                               ("" if command[0] == "ls" else "/NAME"))
        self.assert_files()

    def test_refused(self):
        for address, problem in (
                ("redis://", "missing host"), ("redis://h:0/m", "the port is not a number "
                                               "from 1 to 65535"),
                ("rediss://h/m", "rediss:// (TLS) is not supported"),
                ("redis://me@h/m", "a user without a password")):
            done = self.call("get", address, "k")
            self.assertEqual((done.returncode, done.stderr.splitlines()[0]),
                             (2, f"bloomery: the address: {problem}".encode()))
        self.fails(["get", "redis://127.0.0.1:1/m", "k"], "127.0.0.1:1: Connection refused")


main()
