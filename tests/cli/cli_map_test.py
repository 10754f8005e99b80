"""bloomery map: the effect and the output of each command."""

import json
import os
import resource
import signal
import time

from cli_runner import SAMPLE, load, main, note_of
from payloads import resealed
from map_runner import ENGINES, WHOLE, WIDE, MapCase, keys, numbered

UNSURE = "the stored value is ambiguous, so nothing was changed"
NO_FILE = b'bloomery: none.map: No such file or directory\n'


class Misuse(MapCase):
    def test_misuse(self):
        for command in ("build", "get", "put", "del", "info", "compress"):
            self.expect_misuse([command], "missing file name")
        for command in ("info", "compress"):
            self.expect_misuse([command, "f", "g"], 'unexpected argument "g"')
        for arguments, problem in (
                (["put", "f", "k"], "the value is missing"),
                (["put", "f", "k", "v", "w"], 'unexpected argument "w"'),
                (["put", "f", "k", "v", "-0"],
                 "--json-lines, --delimiter and -0 are for pairs on standard input"),
                (["merge"], "at least two files are required"),
                (["merge", "f"], "at least two files are required"),
                (["merge", "f", "g", "--force"], "--force requires --output"),
                (["get", "f", "--max-memory", "0"], '--max-memory: "0" is not above 0'),
                *(([*command, "--wait", "1"], "--wait is for maps on servers")
                  for command in (["put", "f", "k", "v"], ["del", "f", "k"], ["build", "f"])),
                *((["build", "f", *option], f"{option[0]} is for maps on servers")
                  for option in (["--slabs", "5"], ["--keyed"], ["--resume", "g"])),
                (["get", "f", "-0=yes"], "-0 takes no value"),
                (["get", "f", "-0x"], 'unknown option "-0x"'),
                (["get", "f", "--0"], 'unknown option "--0"')):
            self.expect_misuse(arguments, problem)
        self.assert_files()

    def test_misuse_of_build(self):
        kbf = ("kbf takes capacity 1 to 2^40, error 1e-9 to 0.5, values 1 to 16383 or raw 1 to 13"
               "; some combinations are not possible")
        compact = ("compact takes capacity 1 to 2^40, error 1e-9 to 0.5, values 1 to 2^32 - 1"
                   "; some combinations are not possible")
        for options, problem in (
                (["--engine", "bloom"], '--engine: "bloom" is not one of auto, compact and kbf'),
                (["--layout", "x", "--engine", "kbf"], '--layout: "x" is neither tuned nor paper'),
                (["--layout", "tuned"], "--layout is for engine kbf"),
                (["--raw", "33"], "--raw: values have at most 32 bits"),
                (["--raw", "5", "--values", "9"], "--values cannot be combined with --raw"),
                (["--fixed"], "--fixed requires --capacity"),
                (["--engine", "kbf", "--raw", "14"], kbf), (["--engine", "kbf", "--values", "16384"], kbf),
                (["--engine", "kbf", "--error", "0.6"], kbf), (["--capacity", "2T"], compact),
                (["--error", "1e-10"], compact),
                *((["--like", "g", *option], f"{option[0]} cannot be combined with --like") for option in (
                    ["--error", "1%"], ["--capacity", "5"], ["--values", "5"], ["--engine", "kbf"],
                    ["--layout", "tuned"], ["--raw", "5"], ["--seed", "5"], ["--fixed"]))):
            self.expect_misuse(["build", "f", *options], problem)
        self.assert_files()


class Get(MapCase):
    PAIRS = b"a\t1\nb\t\n\tempty key\nc d\tx\ty\n"

    def test_forms(self):
        for engine in ENGINES:
            self.build(engine, self.PAIRS, "--engine", engine)
            self.expect(["get", engine, "a"], 0, b"1\n")
            self.expect(["get", engine, "b"], 0, b"\n")
            self.expect(["get", engine, ""], 0, b"empty key\n")
            self.expect(["get", engine, "z"], 1)
            self.expect(["get", engine, "a", "-0"], 0, b"1\0")
            self.expect(["get", engine, "a", "b", "z", "c d"], 1, b"a\t1\nb\t\nc d\tx\ty\n")
            self.expect(["get", engine, "b", "a"], 0, b"b\t\na\t1\n")
            self.expect(["get", "--all", engine, "z", "a"], 1, b"absent\tz\npresent\ta\t1\n")
            self.expect(["get", engine, "--all", "b"], 0, b"present\tb\t\n")
            self.expect(["get", engine, "--json", "z", "a"], 1,
                        b'{"key":"z","answer":"absent"}\n'
                        b'{"key":"a","answer":"present","value":"1"}\n')
            self.expect(["get", engine, "--", "--all"], 1)

    def test_keys_on_standard_input(self):
        for engine in ENGINES:
            self.build(engine, self.PAIRS, "--engine", engine)
            self.expect(["get", engine], 0, b"")
            self.expect(["get", engine], 0, b"a\t1\n", stdin=b"a")
            self.expect(["get", engine], 1, b"a\t1\nb\t\n", stdin=b"a\nz\nb\n")
            self.expect(["get", engine], 0, b"\tempty key\nc d\tx\ty\n", stdin=b"\nc d\n")
            self.expect(["get", engine], 1, stdin=b"a\r\n")
            self.expect(["get", engine, "-0", "--all"], 1, b"present\ta\t1\0absent\tb\n\0",
                        stdin=b"a\0b\n\0")
            self.expect(["get", engine, "--json"], 1,
                        b'{"key":"\\u0009\\u0022"}\n'.replace(b'"}', b'","answer":"absent"}')
                        .replace(b"\\u0022", b'\\"'), stdin=b'\t"')

    def test_bytes_that_are_not_text(self):
        value = bytes(range(256)).replace(b"\n", b"")
        self.build("m", b"\xff\xfe\t" + value + b"\nk\t\xc3\xa9\n")
        self.expect(["get", "m", b"\xff\xfe"], 0, value + b"\n")
        done = self.call("get", "m", "--json", b"\xff\xfe", "k", b"\xff")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(lines[0]["key_base64"], "//4=")
        self.assertEqual(list(lines[0]), ["key_base64", "answer", "value_base64"])
        self.assertEqual(lines[1], {"key": "k", "answer": "present", "value": "\u00e9"})
        self.assertEqual(lines[2], {"key_base64": "/w==", "answer": "absent"})
        # the JSON output can be read again
        again = b"".join(json.dumps({name: member for name, member in line.items()
                                     if name != "answer"}).encode() + b"\n" for line in lines[:2])
        self.build("n", again, "--json-lines")
        self.expect(["get", "n", b"\xff\xfe"], 0, value + b"\n")

    def test_unsure(self):
        self.build("m", b"a\t1\nb\t2\n", "--engine", "kbf")
        self.make_unsure("m", "a")
        one = b"bloomery: the map is unsure about 1 of 1 keys\n"
        three = b"bloomery: the map is unsure about 1 of 3 keys\n"
        self.expect(["get", "m", "a"], 4, err=one)
        self.expect(["get", "m", "a", "b", "z"], 4, b"b\t2\n", three)
        self.expect(["get", "m"], 4, b"b\t2\n", three, stdin=b"z\nb\na\n")
        self.expect(["get", "m", "--all", "a", "b", "z"], 4,
                    b"unsure\ta\npresent\tb\t2\nabsent\tz\n", three)
        self.expect(["get", "m", "--json", "a"], 4, b'{"key":"a","answer":"unsure"}\n', one)

    def test_answers_come_as_keys_do(self):
        self.build("m", b"a\t1\nb\t2\n")
        asked = self.start("get", "m")
        for key, line in ((b"a\n", b"a\t1\n"), (b"b\n", b"b\t2\n"), (b"a\n", b"a\t1\n")):
            self.say(asked, key)
            self.assertEqual(asked.stdout.readline(), line)
        asked.stdin.close()
        self.assertEqual(asked.wait(), 0)


class Change(MapCase):
    def test_put_and_del(self):
        for engine in ENGINES:
            self.build(engine, b"a\t1\nb\t2\n", "--engine", engine)
            self.expect(["put", engine, "a", "one"], 0)
            self.expect(["put", engine, "c", ""], 0)
            self.expect(["put", engine, "", "nobody"], 0)
            self.expect(["get", engine, "a", "b", "c", ""], 0, b"a\tone\nb\t2\nc\t\n\tnobody\n")
            self.expect(["put", engine], 0, stdin=b"d\t4\na\tuno\n")
            self.expect(["put", engine], 0, stdin=b"")
            self.expect(["put", engine, "--json-lines"], 0,
                        stdin=b'{"value":"5","key":"e"}\n{"key":"f\\n","value":""}')
            self.expect(["put", engine, "-0"], 0, stdin=b"g\n\tx\n\0")
            self.expect(["get", engine, "d", "a", "e", "f\n", "g\n"], 0,
                        b"d\t4\na\tuno\ne\t5\nf\n\t\ng\n\tx\n\n")
            self.assertEqual(self.info(engine)["items"], 8)
            self.expect(["del", engine, "d", ""], 0)
            self.expect(["del", engine, "d", "e"], 1)
            self.expect(["get", engine, "d", "e", ""], 1)
            before = self.content(engine)
            self.expect(["del", engine, "d"], 1)
            self.assertEqual(self.content(engine), before)
            self.expect(["del", engine], 0)
            self.expect(["del", engine], 0, stdin=b"a\nb")
            self.expect(["del", engine, "-0"], 1, stdin=b"f\n\0g\n\0x")
            self.assertEqual(self.info(engine)["items"], 1)
            self.expect(["get", engine, "c"], 0, b"\n")
        self.assert_files(*ENGINES)

    def test_unsure_changes_nothing(self):
        self.build("m", b"a\t1\nb\t2\n", "--engine", "kbf")
        self.make_unsure("m", "a")
        before = self.content("m")
        message = f'bloomery: "a": {UNSURE}\n'.encode()
        second = f"bloomery: line 2: {UNSURE}\n".encode()
        self.expect(["put", "m", "a", "5"], 4, err=message)
        self.expect(["put", "m"], 4, err=second, stdin=b"c\t5\na\t5\nd\t5\n")
        self.expect(["del", "m", "b", "a"], 4, err=message)
        self.expect(["del", "m"], 4, err=second, stdin=b"b\na\n")
        self.assertEqual(self.content("m"), before)
        self.assert_files("m")

    def test_full_changes_nothing(self):
        for engine in ENGINES:
            self.build(engine, b"a\t1\nb\t2\n", "--fixed", "--capacity", "2", "--engine", engine)
            before = self.content(engine)
            full = "the map has a fixed capacity of 2 keys and is full\n"
            self.expect(["put", engine, "c", "1"], 3,
                        err=f'bloomery: "c": {full}'.encode())
            self.expect(["put", engine], 3, err=f"bloomery: line 2: {full}".encode(),
                        stdin=b"a\t3\nc\t1\n")
            self.assertEqual(self.content(engine), before)
            self.expect(["put", engine, "a", "2"], 0)
            self.expect(["get", engine, "a"], 0, b"2\n")

    def test_no_code_is_left(self):
        self.fails(["build", "m", "--engine", "kbf", "--values", "255"],
                   "line 256: the map has 255 values and cannot have more", stdin=numbered(0, 300))
        self.assert_files()
        self.build("m", numbered(0, 255), "--engine", "kbf", "--values", "200")
        before = self.content("m")
        self.fails(["put", "m", "key1", "one more"],
                   '"key1": the map has 255 values and cannot have more')
        self.assertEqual(self.content("m"), before)
        self.expect(["put", "m", "key1", "value7"], 0)

    def test_many(self):
        for engine in ENGINES:
            self.build(engine, numbered(0, 50000), "--engine", engine, "--error", "1e-6", "--capacity",
                       "150k")
            self.expect(["put", engine], 0, stdin=numbered(50000, 100000))
            self.expect(["put", engine, "--new"], 0, stdin=numbered(100000, 150000))
            self.expect(["get", engine], 0, numbered(0, 150000), stdin=keys(0, 150000))
            self.expect(["del", engine], 0, stdin=keys(0, 150000))
            self.assertEqual(self.info(engine)["items"], 0)
            self.expect(["get", engine, "--all"], 1, keys(0, 1000).replace(b"key", b"absent\tkey"),
                        stdin=keys(0, 1000))

    def test_integers(self):
        for engine in ENGINES:
            self.build(engine, b"a\t0\nb\t255\nc\t007\n", "--raw", "8", "--engine", engine)
            self.expect(["put", engine, "d", "9"], 0)
            self.expect(["put", engine, "--json-lines"], 0, stdin=b'{"key":"e","value":10}')
            self.expect(["get", engine, "a", "b", "c", "d", "e"], 0,
                        b"a\t0\nb\t255\nc\t7\nd\t9\ne\t10\n")
            self.expect(["get", engine, "b"], 0, b"255\n")
            self.expect(["get", engine, "b", "--json"], 0,
                        b'{"key":"b","answer":"present","value":255}\n')
            before = self.content(engine)
            for text in ("", "x", "-1", "+1", "1.0", " 1", "1 ", "0x1", "1e1"):
                self.expect_misuse(["put", engine, "--", "a", text], f'"{text}": {WHOLE}')
            for text in ("256", "18446744073709551616", "9" * 50):
                self.expect_misuse(["put", engine, "a", text], f'"{text}": {WIDE}')
            self.assertEqual(self.content(engine), before)
            self.assertEqual((self.info(engine)["value_bits"], self.info(engine)["values"]), (8, 0))


class Whole(MapCase):
    def test_merge(self):
        for engine in ENGINES:
            self.build(engine, numbered(0, 2000, 50), "--engine", engine, "--capacity", "6000",
                       "--error", "1e-6")
            for name, first in (("second", 2000), ("third", 4000)):
                self.expect(["build", name, "--like", engine, "--force"], 0,
                            stdin=numbered(first, first + 2000, 50))
            parts = self.content(engine)
            self.expect(["merge", engine, "second", "third", "--output", "all" + engine], 0)
            self.assertEqual(self.content(engine), parts)
            self.fails(["merge", engine, "second", "third", "--output", "all" + engine],
                       f'all{engine}: exists already; --force replaces it')
            self.expect(["merge", engine, "second", "third", "--output", "all" + engine,
                         "--force"], 0)
            self.expect(["get", "all" + engine], 0, numbered(0, 6000, 50), stdin=keys(0, 6000))
            self.assertEqual(self.info("all" + engine)["items"], 6000)
            self.expect(["merge", engine, "third"], 0)
            self.expect(["get", engine], 0, numbered(4000, 6000, 50), stdin=keys(4000, 6000))

    def test_merge_refused(self):
        mismatch = ('bloomery: {}: engine, seed, shape or values differ; '
                    '"map build --like" makes maps that can be merged\n')
        self.build("m", b"a\t1\n")
        self.expect(["build", "seed", "--seed", "8"], 0)
        self.build("engine", b"a\t1\n", "--engine", "kbf")
        self.build("raw", b"a\t1\n", "--raw", "4")
        self.build("good", b"b\t2\n")
        before = self.content("m")
        for name in ("seed", "engine", "raw"):
            self.expect(["merge", "m", "good", name], 3, err=mismatch.format(name).encode())
        self.expect_misuse(["merge", "m", "./m"], './m is the same file as m')
        os.symlink("good", self.path("link"))
        self.expect_misuse(["merge", "m", "good", "link"], 'link is the same file as good')
        self.expect(["merge", "m", "none.map"], 3, err=NO_FILE)
        self.expect(["merge", "none.map", "m"], 3, err=NO_FILE)
        self.assertEqual(self.content("m"), before)

    def test_merge_of_kbf_with_other_codes(self):
        self.build("m", b"a\t1\nb\t2\n", "--engine", "kbf")
        self.build("n", b"c\t2\nd\t1\n", "--engine", "kbf")
        before = self.content("m")
        done = self.call("merge", "m", "n")
        self.assertEqual((done.returncode, done.stderr[:19]), (3, b"bloomery: n: engine"))
        self.assertEqual(self.content("m"), before)

    def test_compress(self):
        for engine in ENGINES:
            self.build(engine, numbered(0, 20000), "--engine", engine, "--capacity", "20000",
                       "--error", "1e-6")
            full = self.info(engine)
            self.expect(["del", engine], 0, stdin=keys(100, 20000))
            before = self.info(engine)
            self.expect(["compress", engine, "--error", "1%"], 0)
            after = self.info(engine)
            # Deleting may have freed most of it already.
            self.assertLess(after["bytes"], full["bytes"] / 2)
            self.assertLessEqual(after["bytes"], before["bytes"])
            self.assertLess(after["file_bytes"], before["file_bytes"])
            self.assertEqual(after["items"], before["items"])
            done = self.call("get", engine, stdin=keys(0, 100))
            self.assertGreaterEqual(len(done.stdout.splitlines()), 95)
            self.expect(["compress", engine], 0)

    def test_info(self):
        for engine in ENGINES:
            self.build(engine, numbered(0, 1500, 40), "--engine", engine, "--capacity", "1000",
                       "--error", "1%")
            info = self.info(engine)
            names = ["engine", "layout", "items", "capacity", "fixed", "error", "seed", "value_bits",
                     "values", "values_left", "tables", "load", "planned", "estimated",
                     "refused_unsure", "refused_full", "ghosts", "cells", "bytes", "bytes_keys",
                     "bytes_values", "file_bytes"]
            if engine == "compact":
                names = [name for name in names if name not in ("layout", "ghosts", "cells")]
            self.assertEqual(list(info), names)
            self.assertEqual((info["engine"], info["capacity"], info["fixed"], info["error"],
                              info["seed"], info["values"], info["tables"]),
                             (engine, 1000, False, 0.01, "7", 40, 2))
            self.assertEqual(info["file_bytes"], len(self.content(engine)))
            self.assertLess(sum(info[name] for name in names if name.startswith("bytes_")),
                            info["bytes"])
            for kind in ("planned", "estimated"):
                errors = info[kind]
                self.assertEqual(list(errors), ["false_positive", "false_negative", "incorrect"])
                self.assertLessEqual(max(errors["false_positive"],
                                         errors["false_negative"] + errors["incorrect"]), 0.01)
            text = self.call("info", engine).stdout.decode().splitlines()
            found = {line.split("  ")[0]: line[12:] for line in text[:text.index("")]}
            self.assertEqual(found["engine"], "kbf, tuned" if engine == "kbf" else engine)
            self.assertEqual(found["keys"], f'{info["items"]}, planned for 1000')
            self.assertEqual(found["values"], f'40 known, room for {info["values_left"]} more')
            self.assertEqual(found["seed"], "7")
            self.assertEqual(found["error"], "0.01 promised")
            self.assertEqual(found["tables"], f'2, load {info["load"]:.3f}')
            self.assertEqual(
                found["bytes"],
                f'{info["bytes"]}: keys {info["bytes_keys"]}, values {info["bytes_values"]}; '
                f'file {info["file_bytes"]}')
            if engine == "kbf":
                self.assertEqual(found["cells"], "by keys in them: " +
                                 " ".join(str(count) for count in info["cells"]))
            table = [line.split() for line in text[text.index("") + 1:]]
            self.assertEqual(table[0], ["errors", "planned", "estimated"])
            for row, kind in zip(table[1:], ("false_positive", "false_negative", "incorrect")):
                self.assertEqual(row, [*kind.split("_"), f'{info["planned"][kind]:.3g}',
                                       f'{info["estimated"][kind]:.3g}'])

    def test_info_of_a_pipe(self):
        """Its size is unknown."""
        self.build("m", b"a\t1\n")
        done = self.call("info", "-", stdin=self.content("m"))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertRegex(done.stdout, rb"\nbytes +\d+: keys \d+, values \d+\n")
        done = self.call("info", "-", "--json", stdin=self.content("m"))
        self.assertIsNone(load(done.stdout)["file_bytes"])

    def test_info_of_layout_and_fixed(self):
        self.build("m", b"a\t1\n", "--engine", "kbf", "--layout", "paper", "--capacity", "10",
                   "--fixed", "--raw", "3")
        info = self.info("m")
        self.assertEqual((info["layout"], info["fixed"], info["value_bits"]), ("paper", True, 3))
        text = self.call("info", "m").stdout
        self.assertTrue(text.startswith(b"engine      kbf, paper\nkeys        1, planned for 10 at "
                                        b"most\nvalues      integers of 3 bits\n"))


class Files(MapCase):
    """Files that do not exist, are not maps, or cannot be written."""

    def commands(self, name):
        return (["get", name, "a"], ["put", name, "a", "1"], ["del", name, "a"], ["info", name],
                ["info", name, "--json"], ["compress", name], ["merge", name, "good"],
                ["build", "new.map", "--like", name])

    def test_missing(self):
        self.build("good", b"a\t1\n")
        for name, problem in (("none.map", "No such file or directory"), ("good/x", "Not a directory")):
            for arguments in self.commands(name):
                self.fails(arguments, f"{name}: {problem}")
        for arguments in self.commands("")[:-1]:
            self.fails(arguments, '"": No such file or directory')
        self.assert_files("good")

    def test_a_note_of_another_program_is_kept(self):
        note = b"made by hand" * 10000
        pieces = [(b"NOTE", note[at:at + 65536]) for at in range(0, len(note), 65536)]
        for engine in ENGINES:
            self.build("m", numbered(0, 100), "--engine", engine, "--force")
            self.write("m", resealed(self.content("m"), lambda frames: pieces + frames))
            self.expect(["build", "n", "--like", "m", "--force"], 0, stdin=numbered(100, 200))
            self.assertEqual(note_of(self.content("n"))[0], b"")
            for change in (["merge", "m", "n", "--output", "out", "--force"],
                           ["merge", "m", "n"], ["put", "m", "a", "1"], ["del", "m", "a"]):
                self.expect(change, 0)
                name = "out" if "out" in change else "m"
                self.assertEqual(note_of(self.content(name))[0], note, change)

    def test_not_a_map(self):
        self.build("good", b"a\t1\n")
        for content in (b"", b"a\t1\n", b"\0" * 4096, bytes(range(256))):
            self.write("bad", content)
            for arguments in self.commands("bad"):
                self.expect_damaged(arguments, "bad")
            self.assertEqual(self.content("bad"), content)
        self.assert_files("good", "bad")

    def test_limit(self):
        for engine in ENGINES:
            self.build(engine, numbered(0, 20000), "--engine", engine, "--max-memory", "4MiB")
            limit = "the map needs more memory than --max-memory allows (20000 bytes)\n"
            before = self.content(engine)
            for arguments in self.commands(engine)[:-2]:
                self.expect([*arguments, "--max-memory", "20000"], 3,
                            err=f'bloomery: {engine}: {limit}'.encode())
            self.assertEqual(self.content(engine), before)
            done = self.call("build", "new", "--engine", engine, "--max-memory", "100000",
                             stdin=numbered(0, 200000))
            self.assertEqual(done.returncode, 3)
            self.assertRegex(done.stderr, rb"^bloomery: (line \d+: )?the map needs more memory "
                                          rb"than --max-memory allows \(100000 bytes\)\n$")
            # Temporary buffers of a load count, too.
            done = self.call("put", engine, "--max-memory",
                             str(self.info(engine)["bytes"] + 600000), "--new",
                             stdin=numbered(20000, 420000))
            self.assertEqual(done.returncode, 3)
            self.assertRegex(done.stderr, rb"^bloomery: line \d+: the map needs more ")
            self.assertEqual(self.content(engine), before)
        # A plan of kbf that is too large is refused before a line is read.
        self.expect(["build", "new", "--engine", "kbf", "--capacity", "1G", "--max-memory", "1GB"], 3,
                    stdin=b"no pair\n",
                    err=b"bloomery: the map needs more memory than --max-memory allows "
                        b"(1073741824 bytes)\n")
        self.assert_files(*ENGINES)

    def test_target_of_build(self):
        self.write("there", b"precious")
        os.mkdir(self.path("directory"))
        os.symlink("nowhere", self.path("link"))
        for name in ("there", "directory", "link"):
            self.fails(["build", name],
                       f'{name}: exists already; --force replaces it', stdin=b"a\t1\n")
        for name, problem in (("directory", "Is a directory"), ("", "No such file or directory"),
                              ("no/where", "No such file or directory"),
                              ("there/x", "Not a directory"), ("/dev/null", "not a regular file"),
                              ("link", "dangling symbolic link")):
            shown = name or '""'
            self.fails(["build", name, "--force"], f"{shown}: {problem}", stdin=b"a\t1\n")
        self.assertEqual(self.content("there"), b"precious")
        self.fails(["build", "there", "--force"],
                   "line 1: there is no tab between key and value", stdin=b"a")
        self.assertEqual(self.content("there"), b"precious")
        self.expect(["build", "there", "--force"], 0, stdin=b"a\t1\n")
        self.expect(["get", "there", "a"], 0, b"1\n")
        self.assertEqual(os.readlink(self.path("link")), "nowhere")
        # A link is kept, and its target is replaced.
        os.symlink("there", self.path("good"))
        self.expect(["build", "good", "--force"], 0, stdin=b"b\t2\n")
        self.assertEqual(os.readlink(self.path("good")), "there")
        self.expect(["get", "there", "b"], 0, b"2\n")
        self.assert_files("there", "directory", "link", "good")

    def test_no_room(self):
        """A file size limit simulates a full disk."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
        self.build("m", b"a\t1\n")
        before = self.content("m")
        for arguments in (["put", "m"], ["build", "new"]):
            done = self.call(*arguments, stdin=numbered(0, 20000), preexec_fn=limit)
            self.assertEqual((done.returncode, done.stderr), (
                3, f'bloomery: {arguments[1]}: File too large\n'.encode()))
        self.assertEqual(self.content("m"), before)
        self.assert_files("m")


def heed_signals():
    """A program that was started in the background may ignore these signals."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


class Interrupt(MapCase):
    def test_before_the_end(self):
        self.build("m", b"a\t1\n")
        before = self.content("m")
        for number in (signal.SIGINT, signal.SIGTERM):
            for arguments in (["build", "new"], ["build", "m", "--force"], ["put", "m"],
                              ["del", "m"]):
                running = self.start(*arguments, preexec_fn=heed_signals)
                self.say(running, numbered(0, 50000))
                running.send_signal(number)
                self.assertEqual((running.wait(), running.stderr.read()), (-number, b""))
                self.assertEqual(self.content("m"), before)
                self.assert_files("m")

    def test_at_any_time(self):
        """Whenever the signal arrives, the file is the old one, or the new one without a
        message."""
        self.build("m", numbered(0, 100000), "--engine", "kbf")
        old = self.content("m")
        self.expect(["put", "m", "--new"], 0, stdin=numbered(100000, 100100))
        new = self.content("m")
        for step in range(0, 24, SAMPLE):
            self.write("m", old)
            running = self.start("put", "m", "--new", preexec_fn=heed_signals)
            running.stdin.write(numbered(100000, 100100))
            running.stdin.close()
            time.sleep(step / 1000)
            running.send_signal(signal.SIGINT)
            code = running.wait()
            self.assertEqual(running.stderr.read(), b"")
            self.assertIn(code, (0, -signal.SIGINT))
            self.assertTrue(self.content("m") == (new if code == 0 else old), (step, code))
            self.assert_files("m")


main()
