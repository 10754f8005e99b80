"""Indexes by fields and by words of lines, of files in directories, and the manual's own example."""

import os
import pathlib
import random
import re
import subprocess

from cli_runner import PROGRAM, main
from index_runner import ENGINES, EXACT, IndexCase

MANUAL = pathlib.Path(__file__).resolve().parents[2] / "doc/man/bloomery-index.1"


def words_of(line):
    """Words as the manual defines them, implemented independently."""
    return [word for run in re.findall(rb"[A-Za-z0-9_\x80-\xff.:@-]+", line)
            if (word := run.strip(b".:@-"))]


def log_lines(seed, count):
    dice = random.Random(seed)
    return [b'192.0.%d.%d - %s [15/Nov/2026:12:%02d:%02d +0000] "GET /%s/%d HTTP/1.1" %d, (%s).'
            % (seed, dice.randrange(256), dice.choice([b"-", b"ann", b"b\xc3\xb6b"]),
               dice.randrange(60), dice.randrange(60), dice.choice([b"a", b"index.html"]),
               dice.randrange(300), dice.choice([200, 404]), dice.choice([b"a@example.org", b"::1", b""]))
            for _ in range(count)]


class Elements(IndexCase):
    def put_logs(self, elements_of):
        """Logs, with their elements in the twin."""
        for number, name in enumerate(["access-1.txt", "access-2.txt", "access-3.txt"], 1):
            lines = log_lines(number, 400) + [b"", b" . - ", b"one"]
            self.write(name, lines)
            self.model[name] = {key for line in lines for key in elements_of(line)}

    def check(self, index, engine, *options):
        names = list(self.model)
        self.expect(["build", index, *names, "--engine", engine, "--seed", "5", *EXACT, *options], 0)
        keys = self.all_keys(0) + [b"stranger", b"192.0.9.9", b"example"]
        self.assert_located(index, keys)
        self.assert_located(index, keys, "--confirm")
        self.assertEqual(self.json("check", index, "--json")["missing"], 0)
        self.expect(["refresh", index], 0)
        self.expect(["refresh", index, "--all"], 0)
        self.assert_located(index, keys)

    def test_words(self):
        self.put_logs(words_of)
        for engine in ENGINES:
            self.check(engine, engine, "--words")
            # Small units: a file is several pieces, which begin within lines.
            self.check(engine + "-small", engine, "--words", "--unit-capacity", "50")
            info = self.json("info", engine + "-small", "--json")
            self.assertEqual(info["element"], "words")
            self.assertGreater(info["units"], 20)
        self.fails(["locate", "compact", "GET /a"],
                   '"GET /a" is not one word, and the elements of this index are words')

    def test_fields(self):
        self.put_logs(lambda line: [line.split(b" ")[0]])
        for engine in ENGINES:
            self.check(engine, engine, "--key", "1", "-d", " ")
        self.assertRegex(self.call("info", "dba").stdout, rb"\nfiles +3, by field 1, in ")
        info = self.json("info", "dba", "--json")
        self.assertEqual((info["element"], info["fields"], info["delimiter"]), ("fields", "1", " "))

    def test_several_fields(self):
        def elements(line):
            parts = line.split(b" ")
            return [parts[8] + b" " + parts[0]] if len(parts) > 8 else []
        self.put_logs(elements)
        for engine in ENGINES:
            self.check(engine, engine, "--key", "9,1", "-d", " ")
            self.check(engine + "-small", engine, "--key", "9,1", "--delimiter", " ",
                       "--unit-capacity", "64")

    def test_changes(self):
        """Elements are added, changed and deleted like lines, and units can be imported."""
        self.put_logs(words_of)
        self.expect(["build", "x", *self.model, "--words", "--seed", "5", *EXACT], 0)
        self.put("more", [b"from 198.51.100.4, and back"])
        self.model["more"] = {b"from", b"198.51.100.4", b"and", b"back"}
        self.expect(["add", "x", "more"], 0)
        self.expect(["del", "x", "--from", "more", "back"], 0)
        self.model["more"].remove(b"back")
        self.assert_located("x", [*self.all_keys(0), b"stranger"])
        units = self.call("unit", "more", "--like", "x", "--name", "far").stdout
        self.expect(["import", "x", "-"], 0, stdin=units)
        self.assertEqual(self.call("locate", "x", "198.51.100.4").stdout, b"far\nmore\n")
        for options in (["--key", "1"], []):
            units = self.call("unit", "more", "--seed", "5", *EXACT, *options).stdout
            done = self.call("import", "x", "-", stdin=units)
            self.assertEqual(done.returncode, 3)
            self.assertTrue(done.stderr.startswith(b'bloomery: standard input: '), done.stderr)

    def test_misuse(self):
        for options, problem in (
                (["--key", "1", "--words"], "only one of --key, --words and --whole can be given"),
                (["--whole", "--words"], "only one of --key, --words and --whole can be given"),
                (["-0", "--words"], "-0 cannot be combined with --words"),
                (["-0", "--key", "1"], "-0 cannot be combined with --key"),
                (["-d", ","], "--delimiter requires --key"),
                (["--key", "0"], '--key: "0" is not a field from 1 to 65535, or several such as 1,3'),
                (["--key", "1", "-d", "ab"], '-d: "ab" is not one byte'),
                (["--key", "1", "--delimiter", "ab"], '--delimiter: "ab" is not one byte'),
                (["--words", "--like", "y"], "--words cannot be combined with --like")):
            self.expect_misuse(["build", "x", "a", *options], problem)


class Directories(IndexCase):
    def make(self):
        for directory in ("logs/b/c", "logs/empty", "other"):
            os.makedirs(self.path(directory))
        for name in ("logs/z", "logs/a", "logs/b/x", "logs/b/c/y", "logs/.hidden", "other/o"):
            self.put(name, [b"in " + name.encode()])
        os.symlink("../other", self.path("logs/link"))
        os.symlink("../other/o", self.path("logs/file-link"))
        os.mkfifo(self.path("logs/pipe"))

    def test_all_files(self):
        self.make()
        order = ["logs/.hidden", "logs/a", "logs/b/c/y", "logs/b/x", "logs/z"]
        for word in ("logs", "logs/"):
            self.expect(["build", "x", "-r", word, "--force", *EXACT], 0)
            files = self.call("info", "x", "--files").stdout.decode().splitlines()
            self.assertEqual(files, ["1\t" + name for name in order])
        self.assertEqual(self.call("locate", "x", "in logs/b/c/y").stdout, b"logs/b/c/y\n")
        self.expect(["add", "x", "-r", "other", "logs/a"], 0)
        self.assertEqual(self.json("info", "x", "--json")["files"], 6)
        self.expect(["build", "link", "-r", "logs/link"], 0)  # an argument is followed
        self.assertEqual(self.call("info", "link", "--files").stdout, b"1\tlogs/link/o\n")

    def test_the_index_itself_is_left_out(self):
        self.make()
        self.expect(["build", "other/x", "-r", "other"], 0)
        self.expect(["build", "other/x", "-r", "other", "--force"], 0)
        self.expect(["add", "other/x", "-r", "other"], 0)
        self.assertEqual(self.call("info", "other/x", "--files").stdout, b"1\tother/o\n")

    def test_refused(self):
        self.make()
        self.fails(["build", "x", "logs"], "logs: Is a directory")
        self.fails(["build", "x", "-r", "logs/empty"], "no files in these directories")
        self.fails(["build", "x", "-r", "none"], "none: No such file or directory")
        self.expect(["build", "x", "-r", ""], 2, err=(
            b'bloomery: empty file name\nTry "bloomery index build --help".\n'))


class Manual(IndexCase):
    def example(self, question):
        """The commands below a question in the manual."""
        text = re.search(rf"^{re.escape(question)}\n\.Pp\n((?:\.Dl .*\n)+)", MANUAL.read_text(), re.M)[1]
        return [line[len(".Dl $ "):] for line in text.splitlines()]

    def type(self, command):
        tools = self.path("tools")
        os.makedirs(tools, exist_ok=True)
        if not os.path.lexists(os.path.join(tools, b"bloomery")):
            os.symlink(PROGRAM, os.path.join(tools, b"bloomery"))
        done = subprocess.run(["sh", "-c", command], cwd=self.directory, capture_output=True,
                              env={**os.environ, "PATH": os.fsdecode(tools) + ":" + os.environ["PATH"]})
        self.assertEqual((done.returncode, done.stderr), (0, b""), command)
        return done.stdout

    def test_in_which_of_these_logs_was_this_address(self):
        for number in range(1, 5):
            self.write(f"access-{number}.txt", log_lines(number, 500))
        for name in ("access-1.txt", "access-3.txt"):
            with open(self.path(name), "ab") as file:
                file.write(b'192.0.2.7 - - [15/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200\n')
        holding = sorted(name for name in os.listdir(self.directory)
                         if b"192.0.2.7 " in self.content(name))
        self.assertGreaterEqual(len(holding), 2)
        self.assertLess(len(holding), 4)
        build, locate = self.example("Which of these logs contain this address?")
        self.assertEqual(self.type(build), b"")
        self.assertEqual(sorted(self.type(locate).decode().split()), holding)
        for command in self.example("Another file, read elsewhere and shipped as a unit:"):
            self.type(command)

    def test_the_same_in_a_directory(self):
        os.mkdir(self.path("logs"))
        for number in range(1, 5):
            self.write(f"logs/{number}", log_lines(number + 2, 500) + [b"192.0.2.7 -"] * (number % 2))
        build, locate = self.example(
            "The same for all logs in a directory, by the first field of each line:")
        self.type(build)
        self.assertEqual(sorted(self.type(locate).decode().split()), ["logs/1", "logs/3"])


main()
