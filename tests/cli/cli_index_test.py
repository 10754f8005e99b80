"""bloomery index: results compared with an exact twin; all subcommands; files of all kinds."""

import math
import os
import stat

from cli_runner import load, main
from index_runner import ENGINES, EXACT, IndexCase, numbered, words


class Build(IndexCase):
    def make_files(self, end=b"\n"):
        self.put("a", numbered(0, 400), end=end)
        self.put("b", numbered(300, 500), end=end)
        self.put("empty", [], end=end)
        self.put("odd", words(1, 700), end=end)
        self.put("long", numbered(1000, 3500), end=end)
        self.put("one", [b"line 0"], end=end)

    def test_every_shape_locates_the_same(self):
        self.make_files()
        for options in (
                [], ["--engine", "auto"], ["--engine", "compact"], ["--engine", "dba"],
                ["--unit-capacity", "100"], ["--units", "8"], ["--units", "3"],
                ["--units", "6", "--unit-capacity", "10k", "--fixed"],
                *(["--engine", "dba", "--group", str(g), "--unit-capacity", "90"]
                  for g in (1, 8, 64, 512)),
                ["--engine", "dba", "--segmented"],
                ["--engine", "dba", "--segmented", "--unit-capacity", "64", "--units", "5"]):
            with self.subTest(options=options):
                self.expect(["build", "x", *self.model, *EXACT, *options, "--force"], 0)
                self.assert_located("x", self.all_keys())
                self.assert_located("x", self.all_keys(), "--confirm")
                self.expect(["check", "x"], 0)

    def test_what_is_built_is_read(self):
        """Also if many lines are false positives before they are added."""
        for i in range(40):
            self.put(f"f{i}", [b"file%d-%d" % (i, j) for j in range(60)])
        for seed in "123":
            self.expect(["build", "x", *self.model, "--engine", "dba", "--segmented", "--error", "0.5",
                         "--units", "1", "--unit-capacity", "60", "--seed", seed, "--force"], 0)
            self.assertEqual(self.json("info", "x", "--json")["files"], 40)
            self.expect(["check", "x"], 0)

    def test_strings(self):
        self.make_files(end=b"\0")
        self.put("lines", [b"two\nlines", b"", b"\n"], end=b"\0")
        for engine in ENGINES:
            self.expect(["build", engine, *self.model, "-0", "--engine", engine, *EXACT], 0)
            self.assert_located(engine, self.all_keys())
            self.assert_located(engine, self.all_keys(), "--confirm")
            self.expect(["check", engine], 0)
            self.assertEqual(self.json("info", engine, "--json")["element"], "strings")

    def test_lines_of_all_kinds(self):
        self.write("f", [])
        with open(self.path("f"), "wb") as file:
            file.write(b"\r\nx\r\n\n\0\n\xff\xfe\nlast")
        lines = [b"\r", b"x\r", b"", b"\xff\xfe", b"last"]
        for engine in ENGINES:
            self.expect(["build", engine, "f", "--engine", engine, *EXACT], 0)
            for line in lines:
                self.expect(["locate", engine, line], 0, b"f\n")
                self.expect(["locate", engine, line, "--confirm"], 0, b"f\n")
            self.expect(["locate", engine], 0, b"\0\tf\n", stdin=b"\0\n")
            for line in (b"x", b"las", b"\xff"):
                self.expect(["locate", engine, line], 1)

    def test_seeds(self):
        self.make_files()
        self.expect(["build", "x", "a", "b", "--seed", "5"], 0)
        self.expect(["build", "y", "a", "b", "--seed", "5"], 0)
        self.expect(["build", "z", "a", "b"], 0)
        self.assertEqual(self.content("x"), self.content("y"))
        self.assertNotEqual(self.content("x"), self.content("z"))
        self.assertEqual(self.json("info", "x", "--json")["seed"], "5")

    def test_like(self):
        self.make_files()
        for engine in ENGINES:
            self.expect(["build", "x", "a", "-0", "--engine", engine, "--seed", "9", "--units", "20",
                         "--unit-capacity", "77", "--error", "1%", "--force"], 0)
            self.expect(["build", "y", "b", "odd", "--like", "x", "--force"], 0)
            x, y = self.json("info", "x", "--json"), self.json("info", "y", "--json")
            for name in ("engine", "element", "planned_units", "unit_capacity", "error", "seed"):
                self.assertEqual(x[name], y[name], name)
        for option in (["-0"], ["--whole"], ["--seed", "4"], ["--error", "1%"], ["--fixed"],
                       ["--units", "5"], ["--unit-capacity", "5"], ["--engine", "dba"],
                       ["--group", "8"], ["--segmented"]):
            self.expect_misuse(["build", "z", "a", "--like", "x", *option],
                               f"{option[0]} cannot be combined with --like")
        self.fails(["build", "z", "a", "--like", "nothing"], "nothing: No such file or directory")

    def test_target(self):
        self.make_files()
        self.expect(["build", "x", "a"], 0)
        before = self.content("x")
        self.fails(["build", "x", "b"], "x: exists already; --force replaces it")
        self.assertEqual(self.content("x"), before)
        os.chmod(self.path("x"), 0o640)
        os.symlink("x", self.path("link"))
        self.expect(["build", "link", "b", "--force"], 0)
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertEqual(os.stat(self.path("x")).st_mode & 0o777, 0o640)
        self.expect(["locate", "x", "line 450"], 0, b"b\n")
        os.mkdir(self.path("directory"))
        self.fails(["build", "directory", "b", "--force"], "directory: Is a directory")
        self.fails(["build", "nowhere/x", "b"], "nowhere/x: No such file or directory")

    def test_names_from_a_list(self):
        self.make_files()
        self.write("list", ["a\nb".encode(), b"a", b"b"], end=b"\0")
        self.put("a\nb", [b"between"])
        exact = [*EXACT, "--unit-capacity", "1000"]
        self.expect(["build", "x", "odd", "--files0-from", "list", *exact], 0)
        self.expect(["build", "y", "--files0-from", "-", *exact], 0, stdin=b"a\nb\0a\0b\0odd")
        for name in ("x", "y"):
            self.expect(["locate", name, "between", "-0"], 0, b"a\nb\0")
            self.expect(["info", name, "--files", "-0"], 0,
                        b"1\ta\nb\0" b"400\ta\0" b"200\tb\0" +
                        b"%d\todd\0" % len(self.model["odd"]))
        self.fails(["build", "z", "--files0-from", "-"],
                   "standard input: file name 2 is empty", stdin=b"a\0\0b\0")
        self.fails(["build", "z", "--files0-from", "none"], "none: No such file or directory")
        self.assertFalse(os.path.exists(self.path("z")))

    def test_what_is_no_file(self):
        self.put("a", numbered(0, 9))
        os.mkdir(self.path("directory"))
        os.mkfifo(self.path("pipe"))
        os.symlink("nowhere", self.path("dangling"))
        self.write("secret", [b"x"])
        os.chmod(self.path("secret"), 0)
        bad = [("directory", "Is a directory"), ("pipe", "not a regular file"),
               ("dangling", "No such file or directory"), ("none", "No such file or directory"),
               ("/dev/null", "not a regular file")]
        if os.getuid() != 0:
            bad.append(("secret", "Permission denied"))
        everything = b""
        for name, problem in bad:
            message = f'bloomery: {name}: {problem}\n'.encode()
            everything += message
            self.expect(["build", "x", "a", name], 3, err=message)
            self.expect(["build", "x", name, "a", "--unit-capacity", "9", "--units", "9"], 3,
                        err=message)
        self.assertFalse(os.path.exists(self.path("x")))
        self.expect(["build", "x", "a", *(name for name, _ in bad), "--skip"], 0, err=everything)
        self.expect(["info", "x", "--files"], 0, b"9\ta\n")
        self.fails(["add", "x", "directory"], "directory: Is a directory")
        self.expect(["add", "x", "directory", "--skip"], 0,
                    err=b'bloomery: directory: Is a directory\n')
        self.expect_misuse(["build", "y", ""], "empty file name")

    def test_a_line_too_long(self):
        self.put("a", numbered(0, 9))
        self.write("huge", [b"x", b"y" * (17 << 20)])
        message = b'bloomery: huge: line 2: longer than 16777216 bytes\n'
        self.expect(["build", "x", "a", "huge"], 3, err=message)
        self.expect(["build", "x", "a", "huge", "--skip", *EXACT], 0, err=message)
        self.expect(["locate", "x", "x", "line 3"], 1, b"line 3\ta\n")
        # Its old contents stay if it cannot be read again.
        self.put("a", numbered(0, 9))
        os.rename(self.path("huge"), self.path("a"))
        message = message.replace(b"huge", b"a")
        self.expect(["add", "x", "a", "--skip"], 0, err=message)
        self.expect(["locate", "x", "line 3"], 0, b"a\n")
        self.expect(["build", "w", "a", "--whole"], 0)
        self.expect(["locate", "w", "a", "--confirm"], 0, b"a\n")

    def test_memory(self):
        self.put("a", numbered(0, 20000))
        for engine in ENGINES:
            done = self.call("build", "x", "a", "--engine", engine, "--max-memory", "10k")
            self.assertEqual((done.returncode, done.stdout), (3, b""))
            self.assertRegex(done.stderr, rb"^bloomery: .*: the index needs more memory "
                                          rb"than --max-memory allows \(10000 bytes\)\n$")
            self.assertFalse(os.path.exists(self.path("x")))
        self.expect(["build", "x", "a"], 0)
        for command in (["locate", "x", "a"], ["info", "x"], ["check", "x"], ["add", "x", "a"],
                        ["del", "x", "a"], ["refresh", "x"]):
            self.fails([*command, "--max-memory", "10k"],
                       "x: the index needs more memory than --max-memory allows (10000 bytes)")

    def test_errors_are_as_promised(self):
        self.put("a", numbered(0, 3000))
        self.put("b", numbered(3000, 7000))
        strangers = [b"stranger %d" % i for i in range(20000)]
        for engine in ENGINES:
            self.expect(["build", engine, "a", "b", "--engine", engine, "--seed", "3", "--error",
                         "5%", "--units", "2", "--unit-capacity", "4000"], 0)
            done = self.call("locate", engine, stdin=b"\n".join(strangers))
            self.assertEqual(done.returncode, 1)
            found = len({line.split(b"\t")[0] for line in done.stdout.splitlines()})
            promised = 0.05
            self.assertLessEqual(found, 20000 * promised +
                                 5 * math.sqrt(20000 * promised * (1 - promised)))
            estimated = self.json("info", engine, "--json")["estimated_error"]
            sigma = math.sqrt(20000 * estimated)
            self.assertLessEqual(abs(found - 20000 * estimated), 6 * sigma)
            done = self.call("locate", engine, "--confirm", stdin=b"\n".join(strangers))
            self.assertEqual((done.returncode, done.stdout, done.stderr), (1, b"", b""))

    def test_misuse(self):
        for arguments, problem in (
                ([], "missing index name"),
                (["x"], "missing file name"),
                (["x", "f", "--engine", "kbf"], '--engine: "kbf" is not one of auto, compact and dba'),
                (["x", "f", "--engine", "?"], '--engine: "?" is not one of auto, compact and dba'),
                (["x", "f", "--group", "8"], "--group is for engine dba"),
                (["x", "f", "--segmented"], "--segmented is for engine dba"),
                *((["x", "f", "--engine", "dba", "--group", str(g)],
                   f"--group: {g} is not one of 1, 8, 16, 32, 64, 128, 256 and 512")
                  for g in (2, 4, 9, 1024, 2**33)),
                (["x", "f", "--units", "2^21"], "--units: an index has at most 2^20"),
                (["x", "f", "-0", "--whole"], "-0 cannot be combined with --whole"),
                (["x", "f", "--fixed"], "--fixed requires --units"),
                (["x", "f", "--error", "0.6"], "an index takes units 1 to 2^20, unit-capacity 1 to "
                                               "2^40, error 1e-9 to 0.5; some combinations "
                                               "are not possible"),
                (["x", "f", "--confirm"], 'unknown option "--confirm"')):
            self.expect_misuse(["build", *arguments], problem)


class Locate(IndexCase):
    def setUp(self):
        super().setUp()
        self.put("a", [b"x", b"both"])
        self.put("b", [b"both", b"y", b""])
        self.expect(["build", "i", "a", "b", "--seed", "1", *EXACT], 0)

    def test_forms(self):
        self.expect(["locate", "i", "both"], 0, b"b\na\n")
        self.expect(["locate", "i", "-"], 1, b"x\ta\n", stdin=b"x\n-\n")
        self.expect(["locate", "i", "--", "-"], 1)
        self.expect(["locate", "i", "both", "-0"], 0, b"b\0a\0")
        self.expect(["locate", "i", "x", "both", "y"], 0, b"x\ta\nboth\tb\nboth\ta\ny\tb\n")
        self.expect(["locate", "i", "x", "no", "x"], 1, b"x\ta\nx\ta\n")
        self.expect(["locate", "i", "no"], 1)
        self.expect(["locate", "i", ""], 0, b"b\n")
        self.expect(["locate", "i", "--", "-0"], 1)
        self.expect(["locate", "i"], 0, b"")
        self.expect(["locate", "i"], 0, b"x\ta\n\tb\nx\ta\n", stdin=b"x\n\nx")
        self.expect(["locate", "i", "-0", "--confirm"], 1, b"x\ta\0x\ta\0",
                    stdin=b"x\0x\ny\0x")

    def test_json(self):
        done = self.call("locate", "i", "--json", "both", "no", b"\xff")
        self.assertEqual((done.returncode, done.stderr), (1, b""))
        self.assertEqual([load(line) for line in done.stdout.splitlines()], [
            {"key": "both", "files": [{"name": "b"}, {"name": "a"}]},
            {"key": "no", "files": []}, {"key_base64": "/w==", "files": []}])
        one = self.call("locate", "i", "--json", "-0", "--confirm", "x")
        self.assertEqual(one.stdout, b'{"key":"x","files":[{"name":"a"}]}\0')

    def test_more_keys_than_a_batch(self):
        self.put("a", numbered(0, 20000))
        self.expect(["build", "i", "a", "b", "--force", *EXACT], 0)
        self.model = {"a": self.model["a"], "b": self.model["b"]}
        keys = numbered(5000, 15000) + [b"both"] * 300
        self.assert_located("i", keys)
        self.assert_located("i", keys, "--confirm")

    def test_one_line_in_many_files(self):
        names = [f"file {i}" for i in range(300)]
        for name in names:
            self.put(name, [b"everywhere", name.encode()])
        for engine in ENGINES:
            self.expect(["build", engine, *names, "--engine", engine, *EXACT], 0)
            expected = b"".join(name.encode() + b"\n" for name in reversed(names))
            for options in ([], ["--confirm"]):
                self.expect(["locate", engine, "everywhere", *options], 0, expected)
                self.expect(["locate", engine, "file 7", *options], 0, b"file 7\n")
            self.expect(["check", engine], 0)

    def test_confirm_takes_nothing_on_trust(self):
        names = [f"f{i}" for i in range(20)]
        for i, name in enumerate(names):
            self.put(name, numbered(100 * i, 100 * i + 130))
        for engine in ENGINES:
            self.expect(["build", engine, *names, "--engine", engine, "--error", "50%", "--seed",
                         "2", "--unit-capacity", "64", "--units", "60"], 0)
            self.model = {name: self.model[name] for name in names}
            keys = self.all_keys(3000)
            self.assert_located(engine, keys, "--confirm")
            plain = self.call("locate", engine, stdin=b"\n".join(keys)).stdout
            # There was something to confirm.
            true = sum(len(self.files_of(key)) for key in keys)
            self.assertGreater(len(plain.splitlines()), true + 300)

    def test_files_that_changed(self):
        # The line has moved to another piece of the file.
        self.put("a", numbered(0, 500))
        self.expect(["build", "i", "a", "--unit-capacity", "64", "--force", *EXACT], 0)
        self.write("a", numbered(250, 500) + numbered(0, 250))
        self.expect(["locate", "i", "line 3", "line 400", "--confirm"], 0,
                    b"line 3\ta\nline 400\ta\n")
        self.write("a", [b"nothing"])
        self.expect(["locate", "i", "line 3", "--confirm"], 1)
        self.expect(["locate", "i", "line 3"], 0, b"a\n")

    def test_files_that_vanished(self):
        os.unlink(self.path("b"))
        self.expect(["locate", "i", "both"], 0, b"b\na\n")
        self.fails(["locate", "i", "both", "y", "no", "--confirm"],
                   "b: No such file or directory", out=b"both\ta\n")
        os.mkdir(self.path("b"))
        self.fails(["locate", "i", "both", "--confirm"], "b: Is a directory", out=b"a\n")

    def test_names_of_all_kinds(self):
        names = [b"with space", b"new\nline", b"\xff\xfe", b"-0", b"tab\there", b"\xc3\xa9",
                 b'quo"te', b"x" * 255]
        for name in names:
            self.put(os.fsdecode(name), [b"common", b"in " + name.replace(b"\n", b"_")])
        self.expect(["build", "j", *EXACT, "--", *names], 0)
        self.expect(["locate", "j", "-0", "common"], 0, b"".join(n + b"\0" for n in names[::-1]))
        done = self.call("locate", "j", "--json", "common")
        self.assertEqual(done.returncode, 0)
        (answer,) = [load(line) for line in done.stdout.splitlines()]
        self.assertEqual([list(file.values())[0] for file in answer["files"]],
                         ["//4=" if n == b"\xff\xfe" else n.decode() for n in names[::-1]])
        self.assertEqual([list(file)[0] for file in answer["files"]],
                         ["name_base64" if n == b"\xff\xfe" else "name" for n in names[::-1]])
        self.expect(["check", "j"], 0)
        for answer in (self.json("info", "j", "--json", "--files")["list"],
                       self.json("check", "j", "--json", "--all")["files"]):
            self.assertEqual([list(one.items())[0] for one in answer],
                             [("name_base64", "//4=") if n == b"\xff\xfe" else
                              ("name", n.decode()) for n in names])
        self.expect(["del", "j", "--", b"-0", b"\xff\xfe", b"new\nline"], 0)
        self.expect(["locate", "j", "-0", "common", "--confirm"], 0,
                    b"".join(n + b"\0" for n in names[::-1]
                             if n not in (b"-0", b"\xff\xfe", b"new\nline")))
        listed = self.json("info", "j", "--json", "--files")["list"]
        self.assertEqual([one["name"] for one in listed],
                         ["with space", "tab\there", "é", 'quo"te', "x" * 255])

    def test_misuse(self):
        self.expect_misuse(["locate"], "missing index name")
        self.expect_misuse(["locate", "i", "--all"], 'unknown option "--all"')
        self.fails(["locate", "none", "x"], "none: No such file or directory")


class Whole(IndexCase):
    def test_copies(self):
        self.put("a", numbered(0, 10))
        self.put("b", numbered(0, 11))
        self.put("empty", [])
        self.write("large", [b"x" * (3 << 20)])
        self.write("copy of a", numbered(0, 10))
        self.write("nearly large", [b"x" * (3 << 20) + b"y"])
        for engine in ENGINES:
            self.expect(["build", engine, "a", "b", "empty", "large", "copy of a", "--whole",
                         "--engine", engine, *EXACT], 0)
            for options in ([], ["--confirm"]):
                self.expect(["locate", engine, "a", *options], 0, b"copy of a\na\n")
                self.expect(["locate", engine, "b", *options], 0, b"b\n")
                self.expect(["locate", engine, "empty", *options], 0, b"empty\n")
                self.expect(["locate", engine, "large", *options], 0, b"large\n")
                self.expect(["locate", engine, "nearly large", *options], 1)
                self.expect(["locate", engine, *options], 1, b"b\tb\n", stdin=b"b\nnearly large\n")
            self.fails(["locate", engine, "none", "b"],
                       "none: No such file or directory", out=b"b\tb\n")
            self.expect(["check", engine], 0)
            self.expect_misuse(["del", engine, "--from", "a", "x"],
                               "--from: an index of whole files has one element per file")
        self.write("b", numbered(0, 10))
        self.expect(["locate", "compact", "b", "--confirm"], 0, b"copy of a\na\n")
        self.expect(["check", "compact"], 1, b"stale\tb\n")
        self.expect(["refresh", "compact"], 0)
        self.expect(["locate", "compact", "b", "--confirm"], 0, b"b\ncopy of a\na\n")
        info = self.json("info", "compact", "--json")
        self.assertEqual((info["element"], info["files"], info["units"], info["elements"]),
                         ("whole", 5, 5, 5))

    def test_confirm_compares_bytes(self):
        # At this error nearly everything is a candidate.
        names = [f"f{i}" for i in range(200)]
        for i, name in enumerate(names):
            self.put(name, [b"%d" % (i % 150)])
        self.expect(["build", "w", *names, "--whole", "--engine", "dba", "--error", "50%", "--units",
                     "2"], 0)
        for i in (0, 60, 149):
            same = [f"f{j}" for j in reversed(range(200)) if j % 150 == i]
            self.expect(["locate", "w", f"f{i}", "--confirm"], 0,
                        "".join(name + "\n" for name in same).encode())


class Info(IndexCase):
    def test_json(self):
        self.put("a", numbered(0, 300))
        self.put("b", numbered(0, 100))
        os.mkfifo(self.path("pipe"))
        common = ["engine", "element", "files", "units", "planned_units", "promised_units",
                  "unit_capacity", "fixed", "elements", "stale", "error", "seed"]
        rest = ["fill", "promised_error", "estimated_error", "full_error", "waiting",
                "waiting_for_files", "rebuilds", "bytes", "file_bytes"]
        for engine in ENGINES:
            self.expect(["build", engine, "a", "b", "--engine", engine, "--unit-capacity", "100",
                         "--seed", "7", "--error", "1%"], 0)
            info = self.json("info", engine, "--json", "--files")
            own = ["groups", "group", "segmented"] if engine == "dba" else []
            self.assertEqual(list(info), common + own + rest + ["list"])
            units = 4 if engine == "compact" else info["units"]  # dba's own false positives
            self.assertEqual([info[name] for name in common], [
                engine, "lines", 2, units, 8, info["promised_units"], 100, False, info["elements"],
                0, 0.01, "7"])
            self.assertTrue(390 <= info["elements"] <= 400)
            self.assertEqual(info["file_bytes"], len(self.content(engine)))
            self.assertLessEqual(info["estimated_error"], info["promised_error"])
            self.assertEqual([list(one) for one in info["list"]],
                             [["name", "units", "elements", "stale", "bytes", "imported"]] * 2)
            self.assertEqual([(one["name"], one["bytes"], one["imported"])
                              for one in info["list"]],
                             [("a", len(self.content("a")), False),
                              ("b", len(self.content("b")), False)])
            self.assertEqual(sum(one["elements"] for one in info["list"]), info["elements"])
            self.assertEqual(sum(one["units"] for one in info["list"]), info["units"])

    def test_text(self):
        self.put("a", numbered(0, 300))
        self.expect(["build", "x", "a", "--engine", "dba", "--units", "64", "--unit-capacity",
                     "1000", "--seed", "7", "--error", "1%", "--group", "64"], 0)
        done = self.call("info", "x")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        lines = done.stdout.decode().splitlines()
        self.assertEqual(lines[:4], ["engine      dba, 1 group of at most 64 units",
                                     "files       1, by lines, in 1 unit",
                                     "planned     64 units of 1000 elements",
                                     "elements    300, 0 of them stale"])
        self.assertEqual([line.split()[0] for line in lines[4:]],
                         ["error", "seed", "fill", "waiting", "bytes"])
        self.expect(["info", "x", "--files"], 0, b"300\ta\n")
        self.expect_misuse(["info"], "missing index name")
        self.expect_misuse(["info", "x", "y"], 'unexpected argument "y"')


class Check(IndexCase):
    def test_states(self):
        self.put("apart", [b"apart"])
        for engine in ENGINES:
            for name in ("same", "grown", "shrunk", "touched", "gone", "directory"):
                self.put(name, numbered(0, 50) + [name.encode()])
            self.expect(["build", "x", "same", "grown", "shrunk", "touched", "gone", "directory",
                         "--engine", engine, "--seed", "3", "--force", *EXACT], 0)
            with open(self.path("u"), "wb") as out:
                self.call("unit", "apart", "--like", "x", "--name", "far/away",
                          stdout=out, capture_output=False)
                out.flush()
            self.expect(["import", "x", "u"], 0)
            self.expect(["check", "x"], 0, b"apart\tfar/away\n")
            self.write("grown", numbered(0, 52))
            self.write("shrunk", numbered(0, 5))
            os.utime(self.path("touched"), ns=(10**18, 10**18))
            for name in ("gone", "directory"):
                os.rename(self.path(name), self.path(name + " kept"))
            os.mkdir(self.path("directory"))
            done = self.call("check", "x")
            self.assertEqual((done.returncode, done.stdout), (
                1, b"stale\tgrown\nchanged\tshrunk\nchanged\ttouched\ngone\tgone\ngone\tdirectory\n"
                   b"apart\tfar/away\n"))
            self.assertEqual(done.stderr, b'bloomery: directory: Is a directory\n')
            done = self.call("check", "x", "--json", "--all")
            answer = load(done.stdout)
            self.assertEqual(list(answer), ["files", "ok", "changed", "stale", "gone", "apart",
                                            "elements", "missing"])
            self.assertEqual([answer[name] for name in list(answer)[1:]],
                             [1, 2, 1, 2, 1, 51 + 52 + 5 + 51, 2])
            self.assertEqual(answer["files"][0], {"name": "same", "state": "ok", "elements": 51,
                                                  "missing": 0})
            self.assertEqual(answer["files"][1], {"name": "grown", "state": "stale",
                                                  "elements": 52, "missing": 2})
            os.rmdir(self.path("directory"))

    def test_an_index_that_is_none(self):
        self.put("a", numbered(0, 50))
        self.fails(["check", "a"], "a: not Bloomery data")
        self.write("nothing", [])
        self.fails(["check", "nothing"], "nothing: the data ends inside the header")
        os.mkdir(self.path("directory"))
        self.fails(["check", "directory"], "directory: Is a directory")


class Modes(IndexCase):
    def test_new_files_have_the_mode_of_the_umask(self):
        self.put("a", numbered(0, 5))
        self.call("build", "x", "a", preexec_fn=lambda: os.umask(0o027))
        self.assertEqual(stat.S_IMODE(os.stat(self.path("x")).st_mode), 0o640)


main()
