"""The help of every command: examples, the manuals and the completions know all of its options,
and colours are for terminals."""

import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import unittest

from cli_runner import PROGRAM, Case, main, read_terminal, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPLETIONS = pathlib.Path(sys.argv[4])
PROGRAMS = {os.path.basename(program): program for program in (PROGRAM, sys.argv[3])}


def block(text, title):
    found = re.search(rf"^{title}:\n((?:  .*\n)+)", text, re.M)
    return found[1].splitlines() if found else []


def helps(path):
    """Every command with its help; the first word is the program."""
    text = subprocess.run([PROGRAMS[path[0]], *path[1:], "--help"], capture_output=True, text=True,
                          check=True).stdout
    yield path, text
    for line in block(text, "Commands"):
        if line.split()[0] != "help":
            yield from helps((*path, line.split()[0]))


def options_of(text):
    return [spelling for line in block(text, "Options")
            for spelling in re.match(r"  ((?:-\w, )?--?[\w-]+)", line)[1].split(", ")]


HELPS = {path: text for name in PROGRAMS for path, text in helps((name,))}


def on_terminal(*arguments, **environment):
    """The program's output on a terminal, and its exit code."""
    inner, outer = pty.openpty()
    process = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=outer,
                               stderr=outer, env={"TERM": "xterm", **environment})
    os.close(outer)
    written = read_terminal(inner)
    return process.wait(), written.decode().replace("\r\n", "\n")


class Help(Case):
    def test_all_are_there(self):
        self.assertEqual(len(HELPS), 1 + 10 + 11 + 9 + 10 + 4 + 1 + 1)
        for path, text in HELPS.items():
            self.assertTrue(text.startswith(f"Usage: {' '.join(path)}"), path)
            most = 93 if path[0] == "bloomery" else 99
            self.assertLessEqual(max(map(len, text.splitlines())), most, path)

    def test_layout(self):
        """Paragraphs in a fixed order; the descriptions of a list begin in one column."""
        titles = ["Usage", "Commands", "Options", "Exit codes", "Examples"]
        for path, text in HELPS.items():
            self.assertNotIn("\n\n\n", text)
            found = re.findall(r"^([A-Z][\w ]+):(?: .*)?$", text, re.M)
            self.assertEqual([title for title in titles if title in found],
                             [title for title in found if title in titles], path)
            for title in ("Commands", "Options"):
                columns = {re.match(r"  \S+(?: \S+)*?  +", line).end() for line in block(text, title)}
                self.assertLessEqual(len(columns), 1, (path, title, columns))

    def test_words(self):
        """Identifiers of the sources do not occur in the help."""
        for path, text in HELPS.items():
            names = set(re.findall(r"\w+_\w+", text)) - {
                "key_base64", "value_base64", "name_base64", "BLOOMERY_USER", "BLOOMERY_PASSWORD"}
            self.assertEqual(names, set(), path)

    def test_examples(self):
        for path, text in HELPS.items():
            with self.subTest(path=path):
                lines = text.split("\nExamples:\n")[1].splitlines()
                self.assertTrue(lines)
                for line in lines:
                    found = re.match(r"  (?:.*\| )?(bloomery[\w-]*) (.*)", line)
                    self.assertTrue(found, line)
                    words = (found[1], *found[2].split())
                    if words[1] == "help":
                        continue
                    of = next(words[:count] for count in (3, 2, 1) if words[:count] in HELPS)
                    for option in re.findall(r"(?<=\s)--?[a-z0][\w-]*", found[2]):
                        self.assertIn(option, options_of(HELPS[of]), line)

    def test_one_word_for_one_thing(self):
        """An option has one kind of value, in all commands; and a thing has one name."""
        values = {}
        for path, text in HELPS.items():
            for line in block(text, "Options"):
                name, value = re.match(r"  (?:-\w, )?(--?[\w-]+)(?: ([A-Z]+))?", line).groups()
                if (path[1:2], name) != (("flows",), "--key"):  # what identifies a flow
                    values.setdefault(name, {}).setdefault(value, path)
        self.assertEqual({name: uses for name, uses in values.items() if len(uses) > 1}, {})
        synonyms = {"--capacity": "items elements flows keys", "--max-memory": "max-bytes maxmemory memory",
                    "--units": "subsets", "--primaries": "nodes", "--raw": "value-bits",
                    "--layout": "shape", "--dir": "directory data", "--engine": "index"}
        for name, others in synonyms.items():
            self.assertIn(name, values)
            for other in others.split():
                self.assertNotIn("--" + other, values)
        for path, text in HELPS.items():
            options = options_of(text)
            self.assertEqual("-d" in options, "--delimiter" in options, path)

    def page(self, path):
        """The page of a command, which describes its subcommands too; and its name."""
        name = "-".join(path[:2])
        return name, (ROOT / f"doc/man/{name}.1").read_text()

    def test_manual(self):
        flags, options = {}, {}
        for path, text in HELPS.items():
            name, manual = self.page(path)
            flags[name] = set(re.findall(r"\bFl (-?[\w-]+)", manual))
            options.setdefault(name, {"-", "-help", "V", "-version"}).update(
                option[1:] for option in options_of(text))
            for option in set(options_of(text)) - {"-h", "--help"}:
                self.assertIn(option[1:], flags[name], path)
            if path[1:]:
                self.assertRegex(manual, rf"\.(Cm|It Cm|Nm bloomery Cm) {' '.join(path[1:])}\b")
        # The pages describe nothing else.
        options["bloomery"] = set().union(*options.values())
        options["bloomery-seen"].add("u")  # of sort(1)
        for name, known in options.items():
            self.assertEqual(flags[name] - known, set(), name)

    def test_pages(self):
        """A page per command, each with the exit codes; bloomery(1) lists them."""
        pages = {"-".join(path[:2]) for path in HELPS}
        self.assertEqual({path.stem for path in (ROOT / "doc/man").iterdir()}, pages)
        listed = re.findall(r"^\.It Xr ([\w-]+) 1$", self.page(["bloomery"])[1], re.M)
        commands = [line.split()[0] for line in block(HELPS["bloomery",], "Commands")]
        self.assertEqual(listed, ["bloomery-" + name for name in commands if name != "help"])
        for name in pages:
            manual = self.page([name])[1]
            title = re.match(r"\.Dd .*\n\.Dt (\S+) 1\n\.Os\n\.Sh NAME\n\.Nm (\S+)\n\.Nd .*\n", manual)
            self.assertEqual(title.groups(), (name.upper(), name))
            sections = re.findall(r"^\.Sh (.*)\n((?:(?!\.Sh ).*\n)*)", manual, re.M)
            expected = ["NAME", "SYNOPSIS", "DESCRIPTION", "ENVIRONMENT", "FILES", "EXIT STATUS",
                        "EXAMPLES", "SEE ALSO"]
            names = [title for title, _ in sections if title in expected]
            self.assertEqual(names, [title for title in expected if title in names])
            status = dict(sections)["EXIT STATUS"]
            self.assertEqual(re.findall(r"^\.It (\d)\n", status, re.M), list("01234"), name)
            self.assertIn("reader of", status)
            for other in re.findall(r"^\.(?:It )?Xr (bloomery[\w-]*) 1", manual, re.M):
                self.assertIn(other, pages)

    @unittest.skipUnless(shutil.which("groff"), "needs groff")
    def test_pages_are_well_formed(self):
        for path in (ROOT / "doc/man").iterdir():
            done = subprocess.run(["groff", "-mdoc", "-ww", "-z", "-Tutf8", path], capture_output=True,
                                  text=True, check=True)
            self.assertEqual(done.stderr, "")

    def test_exit_codes(self):
        """The help names only codes that mean what they mean in all commands."""
        self.assertIn("0 yes or done, 1 no or absent, 2 wrong usage, 3 failure, 4 unsure",
                      HELPS["bloomery",])
        for path in HELPS:
            for arguments in (["--no-such-option"], ["x"] * 300 + ["--no-such-option"]):
                done = subprocess.run([PROGRAMS[path[0]], *path[1:], *arguments], capture_output=True,
                                      text=True, stdin=subprocess.DEVNULL)
                self.assertEqual((done.returncode, done.stdout), (2, ""), path)
                self.assertIn('\nTry "', done.stderr)

    def test_manual_has_the_cases(self):
        manual = (ROOT / "doc/man/bloomery-bench.1").read_text()
        cases = re.findall(r"^  (\w+) ", HELPS["bloomery-bench",].split("\nOptions:")[0], re.M)
        self.assertEqual(len(cases), 13)
        for case in cases:
            self.assertIn(f"\n.It Cm {case}\n", manual)

    def test_completions(self):
        for path, text in HELPS.items():
            bash, zsh, fish = ((COMPLETIONS / name.format(path[0])).read_text()
                               for name in ("{}.bash", "_{}", "{}.fish"))
            for option in options_of(text):
                flag = ("-l " + option[2:]) if option.startswith("--") else "-s " + option[1:]
                self.assertIn(f" {flag} ", fish)
                self.assertRegex(zsh, rf"['\s]{option}[\[\s]")
                self.assertRegex(bash, rf"[\"\s]{option}[\"\s]")

    def complete(self, *words, program="bloomery"):
        """The completions of bash for the last word."""
        script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                  f'_{program.replace("-", "_")}; printf "%s\\n" "${{COMPREPLY[@]}}"')
        done = subprocess.run(["bash", "-c", script, "bash", COMPLETIONS / f"{program}.bash",
                               program, *words], capture_output=True, text=True, cwd=ROOT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash_completes(self):
        self.assertEqual(self.complete("pl"), ["plan"])
        self.assertEqual(self.complete("help", "map", "b"), ["build"])
        self.assertEqual(self.complete("map", "g"), ["get"])
        self.assertEqual(self.complete("index", "check", "CHANGE"), ["CHANGELOG.md"])
        self.assertEqual(self.complete("map", "build", "x", "--engine", "k"), ["kbf"])
        self.assertEqual(self.complete("map", "build", "x", "--engine", "=", "c"), ["compact"])
        self.assertEqual(self.complete("memc", program="bloomery-bench"), ["memcached"])
        self.assertEqual(self.complete("map", "--engine", "k", program="bloomery-bench"), ["kbf"])
        self.assertEqual(self.complete("serve", "--dir", "exam"), ["examples"])
        for path, text in HELPS.items():
            self.assertEqual(self.complete(*path[1:], "-", program=path[0]), options_of(text), path)


class Colours(Case):
    def test_on_a_terminal(self):
        code, text = on_terminal("plan", "--help")
        self.assertEqual(code, 0)
        self.assertIn("\x1b[1mUsage:\x1b[0m bloomery plan", text)
        self.assertEqual(re.sub(r"\x1b\[[0-9;]*m", "", text), run("plan", "--help").stdout)
        code, text = on_terminal("frobnicate")
        self.assertEqual(code, 2)
        self.assertIn("bloomery: unknown command", text)

    def test_not_wanted(self):
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            for arguments in (["--help"], ["map", "--help"], ["seen", "--help"], ["frobnicate"]):
                self.assertNotIn("\x1b", on_terminal(*arguments, **environment)[1])
        self.assertIn("\x1b", on_terminal("--help", NO_COLOR="")[1])

    def test_not_in_a_pipe(self):
        for path, text in HELPS.items():
            self.assertNotIn("\x1b", text)


main()
