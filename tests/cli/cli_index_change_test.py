"""bloomery index: files added, removed, refreshed and imported; damage; killed programs."""

import hashlib
import os
import random
import resource
import signal
import struct
import time
import unittest

from cli_runner import SAMPLE, SANITIZED, main, note_of
from payloads import resealed
from index_runner import ENGINES, EXACT, IndexCase, numbered, words

AT = rb"damaged at byte \d+: "


class Change(IndexCase):
    def build(self, name, *options):
        self.expect(["build", name, *self.model, "--seed", "3", *EXACT, *options], 0)

    def test_misuse(self):
        for command in ("add", "del"):
            self.expect_misuse([command], "missing index name")
            self.expect_misuse([command, "x"], "missing file name")
        self.fails(["add", "none", "a"], "none: No such file or directory")
        for given in (["f"], ["k", "--from", "f"]):
            self.expect_misuse(["del", "x", *given, "-0"], "-0 is for keys on standard input")

    def test_nothing_changes_after_a_failure(self):
        self.put("a", numbered(0, 300))
        self.build("x")
        before = self.content("x")
        self.put("b", numbered(0, 5))
        for arguments in (["add", "x", "b", "none"], ["import", "x", "b"],
                          ["add", "x", "b", "--max-memory", "1k"]):
            self.assertEqual(self.call(*arguments).returncode, 3, arguments)
            self.assertEqual(self.content("x"), before)
        self.expect(["del", "x", "none"], 1, err=b'bloomery: none: not in the index\n')
        self.assertEqual(self.content("x"), before)
        self.assert_files("a", "b", "x")

    def test_past_the_plan(self):
        """Engine dba reads its files again when there are more units than it was planned for."""
        for options in (["--engine", "compact"], ["--engine", "dba"],
                        ["--engine", "dba", "--segmented"], ["--engine", "dba", "--group", "8"]):
            with self.subTest(options=options):
                self.model = {}
                for i in range(4):
                    self.put(f"f{i}", numbered(150 * i, 150 * i + 200))
                self.expect(["build", "x", *self.model, "--units", "4", "--unit-capacity", "100",
                             "--error", "1e-6", "--seed", "3", "--force", *options], 0)
                for i in range(4, 12):
                    self.put(f"f{i}", numbered(150 * i, 150 * i + 200))
                    self.expect(["add", "x", f"f{i}"], 0)
                info = self.json("info", "x", "--json")
                self.assertGreaterEqual(info["units"], 23)
                self.assertEqual(info["rebuilds"] > 0, "dba" in options)
                self.assertLessEqual(info["full_error"], 1.000001e-6)
                self.assertEqual(info["waiting_for_files"], 0)
                self.assert_located("x", self.all_keys())
                self.expect(["check", "x"], 0)

    def test_past_the_plan_without_the_files(self):
        for i in range(4):
            self.put(f"f{i}", numbered(100 * i, 100 * i + 100))
        self.expect(["build", "x", *self.model, "--units", "4", "--unit-capacity", "110",
                     "--engine", "dba", "--error", "1e-6", "--seed", "3"], 0)
        for i in range(4):
            self.write(f"f{i}", [b"nothing of what it was"])
        self.put("g", numbered(900, 990))
        done = self.call("add", "x", "g")
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        self.assertRegex(done.stderr.decode(),
                         r'^bloomery: f\d: changed since it was read, so the index was not '
                         r'rebuilt; its error is \S+ instead of the promised 1e-06\n$')
        self.assertGreater(self.json("info", "x", "--json")["waiting_for_files"], 0)
        self.assert_located("x", self.all_keys())  # the index has the old contents
        self.expect(["refresh", "x"], 0)
        self.model = {"g": self.model["g"],
                      **{f"f{i}": {b"nothing of what it was"} for i in range(4)}}
        self.assert_located("x", self.all_keys() + numbered(0, 400))
        info = self.json("info", "x", "--json")
        self.assertEqual(info["waiting_for_files"], 0)
        self.assertLessEqual(info["full_error"], 1.000001e-6)

    def test_fixed(self):
        for i in range(3):
            self.put(f"f{i}", numbered(100 * i, 100 * i + 100))
        for engine in ENGINES:
            self.build(engine, "--engine", engine, "--units", "3", "--unit-capacity", "110",
                       "--fixed")
            self.write("g", numbered(0, 9))
            self.fails(["add", engine, "g"], "g: the index is fixed at 3 units and is full")
            self.expect(["del", engine, "f1"], 0)
            self.expect(["add", engine, "g"], 0)
            self.expect(["locate", engine, "line 3"], 0, b"g\nf0\n")

    def test_rm(self):
        for engine in ENGINES:
            self.model = {}
            for i in range(6):
                self.put(f"f{i}", numbered(50 * i, 50 * i + 100))
            self.build(engine, "--engine", engine, "--unit-capacity", "64")
            self.expect(["del", engine, "f1", "f4", "f1"], 1,
                        err=b'bloomery: f1: not in the index\n')
            gone = [self.model.pop("f1"), self.model.pop("f4")]
            keys = sorted(set().union(*gone)) + self.all_keys()
            self.assert_located(engine, keys)
            self.expect(["del", engine, "f0", "f2", "f3", "f5"], 0)
            self.model = {}
            self.assert_located(engine, keys)
            info = self.json("info", engine, "--json")
            self.assertEqual((info["files"], info["units"], info["elements"]), (0, 0, 0))
            self.put("f1", numbered(0, 5))
            self.expect(["add", engine, "f1"], 0)
            self.assert_located(engine, keys)

    def test_rm_lines(self):
        self.put("a", numbered(0, 300))
        self.put("b", numbered(0, 300))
        self.build("compact", "--unit-capacity", "64")
        self.expect(["del", "compact", "--from", "a", "line 5", "line 250"], 0)
        self.expect(["del", "compact", "--from", "a", "line 5", "line 6"], 1)
        self.expect(["del", "compact", "--from", "a"], 0, stdin=b"line 7\nline 8")
        self.expect(["del", "compact", "--from", "a", "-0"], 1, stdin=b"line 9\0none\0")
        self.model["a"] -= {b"line %d" % i for i in (5, 250, 6, 7, 8, 9)}
        self.assert_located("compact", self.all_keys())
        self.expect(["check", "compact"], 1, b"stale\ta\n")
        # Lines that the file still contains return when it is read again.
        self.expect(["refresh", "compact"], 0)
        self.expect(["check", "compact"], 0)
        before = self.content("compact")
        self.expect(["refresh", "compact"], 0)
        self.assertEqual(self.content("compact"), before)
        self.expect(["del", "compact", "--from", "c", "line 5"], 1,
                    err=b'bloomery: c: not in the index\n')
        # dba finds them until the file is read again.
        self.model["a"] = set(numbered(0, 300))
        self.build("dba", "--engine", "dba", "--unit-capacity", "1000")
        self.expect(["del", "dba", "--from", "a", "line 5"], 0)
        self.assertEqual(self.json("info", "dba", "--json")["stale"], 1)
        self.assert_located("dba", self.all_keys())
        self.put("a", numbered(6, 300))
        self.model = {"b": self.model["b"], "a": self.model["a"]}
        self.expect(["refresh", "dba"], 0)
        self.assertEqual(self.json("info", "dba", "--json")["stale"], 0)
        self.assert_located("dba", self.all_keys())

    def test_refresh(self):
        for engine in ENGINES:
            self.model = {}
            for name in "abcd":
                self.put(name, numbered(0, 50) + [b"%b in a line" % name.encode()])
            self.build(engine, "--engine", engine)
            before = self.content(engine)
            self.expect(["refresh", engine], 0)
            self.assertEqual(self.content(engine), before)
            self.put("b", numbered(500, 600))
            os.unlink(self.path("c"))
            self.model.pop("c")
            self.expect(["refresh", engine], 0, err=b'bloomery: c: missing; removed from the index\n')
            self.assert_located(engine, self.all_keys() + [b"b in a line", b"c in a line"])
            # Changed with the same size and time: only --all finds that.
            facts = os.stat(self.path("a"))
            self.put("a", numbered(10, 50) + numbered(90, 99) + [b"1234567"] + [b"a in a line"])
            os.truncate(self.path("a"), facts.st_size)
            os.utime(self.path("a"), ns=(facts.st_atime_ns, facts.st_mtime_ns))
            before = self.content(engine)
            self.expect(["refresh", engine], 0)
            self.assertEqual(self.content(engine), before)
            self.expect(["refresh", engine, "--all"], 0)
            self.expect(["check", engine], 0)
            os.rename(self.path("d"), self.path("e"))
            os.mkdir(self.path("d"))
            self.fails(["refresh", engine], "d: Is a directory")
            self.expect(["refresh", engine, "--skip"], 0, err=b'bloomery: d: Is a directory\n')
            self.expect(["locate", engine, "d in a line"], 0, b"d\n")
            os.rmdir(self.path("d"))

    def test_rm_lines_does_not_undo_itself(self):
        """dba reads units again when a quarter is stale, but not in the command that deletes."""
        for i in range(3):
            self.put(f"f{i}", numbered(100 * i, 100 * i + 100))
        self.build("x", "--engine", "dba")
        self.expect(["del", "x", "--from", "f1"], 0, stdin=b"\n".join(numbered(100, 160)))
        info = self.json("info", "x", "--json")
        self.assertEqual((info["stale"], info["rebuilds"]), (60, 0))
        # refresh reads it again, even if the file is unchanged.
        self.expect(["refresh", "x"], 0)
        self.assertEqual(self.json("info", "x", "--json")["stale"], 0)
        self.expect(["check", "x"], 0)
        self.expect(["del", "x", "--from", "f1", "line 100"], 0)
        self.assertEqual(self.json("info", "x", "--json")["stale"], 1)
        self.expect(["refresh", "x"], 0)
        self.assertEqual(self.json("info", "x", "--json")["stale"], 0)

    def test_stale_is_not_the_error(self):
        """A file that cannot be read again is reported only if the error suffers."""
        for i in range(3):
            self.put(f"f{i}", numbered(100 * i, 100 * i + 100))
        self.build("x", "--engine", "dba")
        self.expect(["del", "x", "--from", "f1"], 0, stdin=b"\n".join(numbered(100, 160)))
        self.write("f1", numbered(160, 200))
        self.put("g", numbered(900, 950))
        self.expect(["add", "x", "g"], 0)
        info = self.json("info", "x", "--json")
        self.assertEqual(info["stale"], 60)
        self.assertLessEqual(info["full_error"], info["promised_error"])

    @unittest.skipIf(SANITIZED, "a million units, and one path through the program")
    def test_all_units_are_used_up(self):
        self.write("a", [b"%d" % i for i in range(2**20 + 1)])
        self.expect(["build", "x", "a", "--units", "1048576", "--unit-capacity", "1", *EXACT], 3,
                    err=b'bloomery: a: the index has 2^20 units and cannot have more; '
                        b'build one with more --unit-capacity\n')
        self.assert_files("a")

    def test_random_programs(self):
        for engine in ENGINES:
            dice = random.Random(engine)
            self.model = {}
            self.put("first", numbered(0, 90))
            # compact accepts imported units up to the plan
            self.build(engine, "--engine", engine, "--unit-capacity", "80", "--units",
                       "9" if engine == "dba" else "150")
            for step in range(40):
                name = f"f{dice.randrange(12)}"
                what = dice.choice(["add", "add", "del", "change", "import"])
                lines = (numbered(dice.randrange(500), dice.randrange(500, 800))
                         if dice.random() < 0.5 else words(dice.random(), dice.randrange(200)))
                if what == "add":
                    self.put(name, lines)
                    self.expect(["add", engine, name, name], 0)
                elif what == "import":
                    self.put(name, lines)
                    units = self.call("unit", name, "--like", engine).stdout
                    self.expect(["import", engine, "-"], 0, stdin=units)
                elif what == "del" and name in self.model:
                    self.model.pop(name)
                    self.expect(["del", engine, name], 0)
                elif what == "change" and name in self.model:
                    listed = self.json("info", engine, "--json", "--files")["list"]
                    if any(one["name"] == name and not one["imported"] for one in listed):
                        self.put(name, lines)
                        self.expect(["refresh", engine], 0)
                if step % 8 == 7:
                    self.assert_located(engine, self.all_keys(50))
            self.assert_located(engine, self.all_keys(), "--confirm")
            self.assertEqual(self.call("check", engine).returncode, 0)


class Gone(IndexCase):
    """refresh removes missing files if that seems intended."""

    def setUp(self):
        super().setUp()
        for directory in ("one", "two"):
            os.mkdir(self.path(directory))
            for i in range(3):
                self.put(f"{directory}/f{i}", numbered(100 * i, 100 * i + 50))
        self.expect(["build", "x", *self.model, "--seed", "3", *EXACT], 0)
        self.before = self.content("x")

    def move(self, name, to):
        os.rename(self.path(name), self.path(to))

    def assert_refused(self, problem, **options):
        done = self.call("refresh", self.path("x"), **options)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (3, b"", b"bloomery: " + problem + b"\n"))
        self.assertEqual(self.content("x"), self.before)

    def test_some(self):
        os.unlink(self.path("one/f1"))
        self.model.pop("one/f1")
        self.expect(["refresh", "x"], 0,
                    err=b'bloomery: one/f1: missing; removed from the index\n')
        self.assert_located("x", self.all_keys())

    def test_all(self):
        none = b"all files of the index are missing; --drop-gone removes them"
        self.assert_refused(none, cwd=self.path("one"))
        for name in self.model:
            os.unlink(self.path(name))
        self.write("one/other", [])
        self.write("two/other", [])
        self.assert_refused(none)
        self.expect(["refresh", "x", "--drop-gone"], 0, err=b"".join(
            b'bloomery: %b: missing; removed from the index\n' % name.encode()
            for name in self.model))
        self.assertEqual(self.json("info", "x", "--json")["files"], 0)
        self.expect(["refresh", "x"], 0)

    def test_a_directory(self):
        whole = (b'two/f0: missing, and so is everything else in its directory; --drop-gone removes '
                 b'such files')
        self.put("one/f0", numbered(500, 550))
        self.move("two", "three")
        self.assert_refused(whole)
        os.mkdir(self.path("two"))  # as if a disk is not mounted
        self.assert_refused(whole)
        self.expect_misuse(["refresh", "x", "--drop-gone", "--skip"],
                           "--skip and --drop-gone cannot be combined")
        # Skipped files keep their entries; the others are read.
        self.expect(["refresh", "x", "--skip"], 0, err=b"".join(
            b'bloomery: two/f%d: No such file or directory\n' % i for i in range(3)))
        self.assert_located("x", self.all_keys())
        self.expect(["refresh", "x", "--drop-gone"], 0, err=b"".join(
            b'bloomery: two/f%d: missing; removed from the index\n' % i
            for i in range(3)))
        keys = self.all_keys()
        self.model = {name: lines for name, lines in self.model.items() if "one" in name}
        self.assert_located("x", keys)

    def test_nothing_is_built_of_nothing(self):
        self.expect(["build", "x", "none", "--skip", "--force"], 3,
                    err=b'bloomery: none: No such file or directory\n'
                        b'bloomery: all files were skipped; no index was created\n')
        self.write("list", [])
        self.fails(["build", "x", "--files0-from", "list", "--force"], "no files to index")
        self.assertEqual(self.content("x"), self.before)


class Ship(IndexCase):
    def test_units_are_as_if_built_in_place(self):
        for engine in ENGINES:
            self.model = {}
            self.put("a", numbered(0, 300))
            self.put("b", numbered(200, 700))
            self.put("c", words(4, 500))
            shape = ["--engine", engine, "--seed", "6", "--units", "30", "--unit-capacity", "100",
                     *EXACT]
            self.expect(["build", engine, "a", *shape], 0)
            for name, how in (("b", ["--like", engine]), ("c", shape)):
                done = self.call("unit", name, *how)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.store(name + ".unit", done.stdout)
            self.expect(["import", engine, "b.unit", "c.unit"], 0)
            self.assert_located(engine, self.all_keys())
            self.assert_located(engine, self.all_keys(), "--confirm")
            self.expect(["check", engine], 0)
            # Once more, from standard input, under another name.
            self.put("d", numbered(700, 800))
            units = self.call("unit", "d", "--like", engine, "--name", "b").stdout
            self.expect(["import", engine, "-"], 0, stdin=units)
            self.model.pop("b")
            self.model["b"] = self.model.pop("d")
            self.assert_located(engine, self.all_keys() + numbered(200, 700))
            listed = self.json("info", engine, "--json", "--files")["list"]
            self.assertEqual([(one["name"], one["imported"]) for one in listed],
                             [("a", False), ("c", True), ("b", True)])
            # Installed files are not checked on this machine.
            self.expect(["refresh", engine], 0)
            self.assert_located(engine, self.all_keys())

    def test_units_of_other_shapes(self):
        self.put("a", numbered(0, 50))
        shape = ["--seed", "6", "--units", "30", "--unit-capacity", "100", "--error", "1%"]
        self.expect(["build", "x", "a", *shape], 0)
        before = self.content("x")
        for other in (["--seed", "7"], ["--units", "31"], ["--unit-capacity", "99"],
                      ["--error", "2%"], ["--engine", "dba"], ["-0"], ["--whole"]):
            done = self.call("unit", "a", *shape, *other)
            self.assertEqual(done.returncode, 0)
            self.expect(["import", "x", "-"], 3, stdin=done.stdout,
                        err=b'bloomery: standard input: engine, seed, shape or elements differ from '
                            b'the index\'s; "index unit --like" makes units that fit\n')
        self.assertEqual(self.content("x"), before)

    def test_what_is_no_unit(self):
        self.put("a", numbered(0, 50))
        self.expect(["build", "x", "a", "--seed", "5"], 0)
        before = self.content("x")
        units = self.call("unit", "a", "--like", "x").stdout
        self.fails(["import", "x", "a"], "a: not Bloomery data")
        # Units are an index of one file.
        self.store("u", units)
        self.expect(["check", "u"], 0)
        self.expect(["locate", "u", "line 3"], 0, b"a\n")
        self.expect(["import", "x", "-"], 3, stdin=units + b"x",
                    err=b"bloomery: standard input: damaged at byte %d: trailing data\n" %
                        len(units))
        for at in (0, 20, 70, len(units) // 2, len(units) - 1):
            for damaged in (units[:at], units[:at] + bytes([units[at] ^ 4]) + units[at + 1:]):
                self.assertEqual(self.call("import", "x", "-", stdin=damaged).returncode, 3, at)
        self.assertEqual(self.content("x"), before)

    def test_past_the_plan(self):
        """compact refuses units whose fingerprints would be too short, and is unchanged."""
        shape = ["--seed", "6", "--units", "4", "--unit-capacity", "100", "--error", "1e-4"]
        self.put("f0", numbered(0, 100))
        self.expect(["build", "x", "f0", *shape], 0)
        for i in range(1, 12):
            self.put(f"f{i}", numbered(100 * i, 100 * i + 100))
            before = self.content("x")
            done = self.call("import", "x", "-",
                             stdin=self.call("unit", f"f{i}", *shape).stdout)
            if done.returncode != 0:
                break
        self.assertTrue(4 < i <= 8, i)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (
            3, b"", b'bloomery: standard input: units imported beyond the plan have used up the error of '
                    b'the index; build one with more --units\n'))
        self.assertEqual(self.content("x"), before)
        self.model.pop(f"f{i}")
        self.assert_located("x", sorted(set().union(*self.model.values())))

    def test_misuse(self):
        self.put("a", numbered(0, 50))
        self.expect_misuse(["unit"], "missing file name")
        self.expect_misuse(["unit", "a"],
                           "missing --like or --seed: units fit only an index with the same seed")
        self.expect_misuse(["unit", "a", "b"], 'unexpected argument "b"')
        self.expect_misuse(["import", "x"], "missing index or file with units")
        self.fails(["unit", "none", "--seed", "4"], "none: No such file or directory")


def parse_names(stream):
    """Reads the names in the note of an index, independently from doc/format.md."""
    assert stream[:4] == b"\x8bBRY" and stream[12:16] == b"INDX"
    content, end = note_of(stream)
    magic, version, elements, delimiter, zero, files, next_tag = struct.unpack_from(
        "<8sIBBHQQ", content)
    assert (magic, version, delimiter, zero) == (b"BRYNAMES", 3, 0, 0)
    assert content[32:48] == bytes(16)
    at, found = 48, []
    for _ in range(files):
        length, changed, name_len, pieces, flags, zero = struct.unpack_from("<QqIIII", content, at)
        assert zero == 0
        at += 32
        name = content[at:at + name_len]
        at += name_len
        parts = [struct.unpack_from("<QQQ", content, at + 24 * i) for i in range(pieces)]
        at += 24 * pieces
        assert all(tag < next_tag for tag, _, _ in parts)
        found.append((name, length, changed, flags, [(begin, end) for _, begin, end in parts]))
    assert at == len(content)
    return elements, found, end


class Bytes(IndexCase):
    def test_names(self):
        self.put("a", numbered(0, 150))
        self.put("b", [])
        self.expect(["build", "x", "a", "b", "--unit-capacity", "64", *EXACT], 0)
        elements, files, _ = parse_names(self.content("x"))
        self.assertEqual(elements, 0)
        facts = [os.stat(self.path(name)) for name in "ab"]
        self.assertEqual([file[:4] for file in files],
                         [(name, f.st_size, f.st_mtime_ns, 0) for name, f in zip([b"a", b"b"], facts)])
        content, cuts = self.content("a"), files[0][4]
        # The pieces are sections of 64 lines.
        self.assertEqual(b"".join(content[begin:to] for begin, to in cuts), content)
        self.assertEqual([content[begin:to].count(b"\n") for begin, to in cuts], [64, 64, 22])
        self.assertEqual(files[1][4], [(0, 0)])

    def test_an_index_is_imported_in_another(self):
        self.put("a", numbered(0, 100))
        self.put("b", numbered(50, 300))
        self.put("c", numbered(200, 400))
        for engine in ENGINES:
            shape = ["--engine", engine, "--seed", "3", "--unit-capacity", "64", "--units", "30",
                     "--force", *EXACT]
            self.expect(["build", "x", "a", "b", *shape], 0)
            self.expect(["build", "y", "b", "c", *shape], 0)
            self.expect(["import", "x", "y"], 0)
            self.assert_located("x", self.all_keys())
            self.expect(["check", "x"], 0)

    def forge(self, change):
        """Writes "z", index "x" with another note and correct checksums; returns the result of
        locate."""
        self.store("z", resealed(self.content("x"), change))
        done = self.call("locate", "z", "line 3")
        self.assertEqual((done.returncode, done.stdout), (3, b""))
        return done.stderr

    def test_forged_names(self):
        self.put("a", numbered(0, 100))
        self.expect(["build", "x", "a", "--seed", "3"], 0)
        note, _ = note_of(self.content("x"))

        def with_note(new):
            return lambda frames: [(b"NOTE", new)] * bool(new) + frames[1:]

        def changed(at, form, *values):
            return with_note(note[:at] + struct.pack(form, *values) +
                             note[at + struct.calcsize(form):])

        for change, problem in (
                (with_note(b""), b"not an index of files\n$"),
                (with_note(note[:47]), b"not an index of files\n$"),
                (with_note(b"another program's"), b"not an index of files\n$"),
                (changed(12, "B", 9), AT + b"unknown kind of elements"),
                (changed(13, "B", 9), AT + b"invalid fields"),
                (changed(14, "B", 9), AT + b"unknown kind of elements"),
                (changed(16, "<Q", 2), AT + b"wrong number of files"),
                (changed(24, "<Q", 0), AT + b"a piece of a file is out of order"),
                (changed(48 + 16, "<I", 2**32 - 1), AT + b"wrong length of the file names"),
                (changed(48 + 20, "<I", 0), AT + b"wrong length of the file names"),
                (changed(48 + 20, "<I", 2**32 - 1), AT + b"wrong length of the file names"),
                (changed(48 + 24, "<I", 2), AT + b"unknown flag of a file"),
                (with_note(note + note[48:]), AT + b"a file name is invalid or occurs twice"),
                (with_note(note[:-1]), AT + b"wrong length of the file names"),
                (with_note(note[:-24] + struct.pack("<QQQ", 0, 7, 3)),
                 AT + b"a piece of a file is out of order")):
            self.assertRegex(self.forge(change), b'^bloomery: z: ' + problem)
        self.assertRegex(self.forge(changed(8, "<I", 4)), b'^bloomery: z: unsupported version')
        # A note beyond the limit takes no memory.
        self.store("z", resealed(self.content("x"), lambda frames: [(b"NOTE", bytes(65536))] * 40 +
                                 frames[1:]))
        self.fails(["info", "z", "--max-memory", "1M"],
                   "z: the index needs more memory than --max-memory allows (1000000 bytes)")

    def test_names_and_units_of_two_indexes(self):
        """Names are checked against the units that follow them."""
        self.put("a", numbered(0, 100))
        self.put("b", numbered(0, 10))
        self.expect(["build", "x", "a", "--seed", "3"], 0)
        self.expect(["build", "y", "a", "b", "--seed", "3"], 0)
        for names, units in (("x", "y"), ("y", "x")):
            note, _ = note_of(self.content(names))
            self.store("z", resealed(self.content(units),
                                     lambda frames, note=note: [(b"NOTE", note), *frames[1:]]))
            done = self.call("locate", "z", "line 3")
            self.assertEqual((done.returncode, done.stdout), (3, b""))
            self.assertRegex(done.stderr, rb'^bloomery: z: damaged: names and units do not agree\n$')


class Killed(IndexCase):
    """However the program ends, the index is the old or the new one."""

    def setUp(self):
        super().setUp()
        self.put("a", numbered(0, 200))
        self.put("b", numbered(100, 60000))
        self.expect(["build", "x", "a", "--seed", "3", *EXACT], 0)
        self.old = self.content("x")
        self.expect(["build", "new", "a", "b", "--seed", "3", *EXACT], 0)

    def kill(self, arguments, after, how):
        program = self.start(*arguments)
        time.sleep(after)
        program.send_signal(how)
        program.communicate()
        return program.returncode

    def test_killed(self):
        digest = hashlib.sha256(self.old).digest()
        outcomes = set()
        for first, arguments in enumerate((["add", "x", "b"],
                                           ["build", "x", "a", "b", "--force", *EXACT])):
            start = time.monotonic()
            self.call(*arguments)
            whole = time.monotonic() - start
            for i in range(first, 24, 2 * SAMPLE):
                self.store("x", self.old)
                how = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)[i % 3]
                code = self.kill(arguments, whole * i / 20, how)
                same = hashlib.sha256(self.content("x")).digest() == digest
                outcomes.add(same)
                if how != signal.SIGKILL:  # after a reported interruption it is the old one
                    self.assertEqual(code, -how if same else 0)
                    self.assert_files("a", "b", "x", "new")
                # It can be read and is complete in any case.
                self.expect(["check", "x"], 0)
                files = {"a"} if same else {"a", "b"}
                listed = self.json("info", "x", "--json", "--files")["list"]
                self.assertEqual({one["name"] for one in listed}, files)
                for name in os.listdir(self.directory):
                    if name.startswith(".bloomery-"):
                        os.unlink(self.path(name))
        self.assertIn(True, outcomes)

    def test_no_room(self):
        """A file size limit simulates a full disk."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        done = self.call("add", "x", "b", preexec_fn=limit)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (3, b"", b'bloomery: x: File too large\n'))
        self.assertEqual(self.content("x"), self.old)
        self.assert_files("a", "b", "x", "new")


main()
