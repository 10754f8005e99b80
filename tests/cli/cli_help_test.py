"""The help of every command: examples, the manual and the completions know all of its options,
and colours are for terminals."""

import os
import pathlib
import pty
import re
import subprocess

from cli_runner import PROGRAM, Case, main, read_terminal, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECTIONS = {"map": "MAPS", "seen": "STREAMS", "index": "INDEXES", "serve": "SERVER",
            "plan": "DESCRIPTION", "bench": "DESCRIPTION"}


def block(text, title):
    found = re.search(rf"^{title}:\n((?:  .*\n)+)", text, re.M)
    return found[1].splitlines() if found else []


def helps(path=()):
    """Every command with its help."""
    text = run(*path, "--help").stdout
    yield path, text
    for line in block(text, "Commands"):
        if line.split()[0] != "help":
            yield from helps((*path, line.split()[0]))


def options_of(text):
    return [spelling for line in block(text, "Options")
            for spelling in re.match(r"  ((?:-\w, )?--?[\w-]+)", line)[1].split(", ")]


HELPS = dict(helps())


def on_terminal(*arguments, **environment):
    """What the program writes to a terminal, and its exit code."""
    inner, outer = pty.openpty()
    process = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=outer,
                               stderr=outer, env={"TERM": "xterm", **environment})
    os.close(outer)
    written = read_terminal(inner)
    return process.wait(), written.decode().replace("\r\n", "\n")


class Help(Case):
    def test_all_are_there(self):
        self.assertEqual(len(HELPS), 1 + 6 + 7 + 9)

    def test_words(self):
        """A name of the sources is no word of the text."""
        for path, text in HELPS.items():
            names = set(re.findall(r"\w+_\w+", text)) - {"key_base64", "value_base64", "name_base64"}
            self.assertEqual(names, set(), path)

    def test_examples(self):
        for path, text in HELPS.items():
            with self.subTest(path=path):
                lines = text.split("\nExamples:\n")[1].splitlines()
                self.assertTrue(lines)
                for line in lines:
                    found = re.match(r"  (?:.*\| )?bloomery (.*)", line)
                    self.assertTrue(found, line)
                    words = found[1].split()
                    of = next(path for path in (tuple(words[:2]), tuple(words[:1]))
                              if path in HELPS or path[0] == "help")
                    if of[0] == "help":
                        continue
                    for option in re.findall(r"(?<=\s)--?[a-z0][\w-]*", found[1]):
                        self.assertIn(option, options_of(HELPS[of]), line)

    def test_manual(self):
        manual = (ROOT / "doc/bloomery.1").read_text()
        sections = dict(re.findall(r"^\.Sh (.*)\n((?:(?!\.Sh ).*\n)*)", manual, re.M))
        for path, text in HELPS.items():
            section = sections[SECTIONS[path[0]]] if path else sections["DESCRIPTION"]
            flags = set(re.findall(r"\bFl (-?[\w-]+)", section + sections["DESCRIPTION"]))
            for option in options_of(text):
                self.assertIn(option[1:], flags, path)
            if path:
                self.assertRegex(manual, rf"\.(Cm|It Cm|Nm Cm) {' '.join(path)}\b")

    def test_completions(self):
        files = {name: (ROOT / "completions" / name).read_text()
                 for name in ("bloomery.bash", "_bloomery", "bloomery.fish")}
        for path, text in HELPS.items():
            for option in options_of(text):
                fish = ("-l " + option[2:]) if option.startswith("--") else "-s " + option[1:]
                self.assertIn(f" {fish} ", files["bloomery.fish"])
                self.assertRegex(files["_bloomery"], rf"['\s]{option}[\[\s]")
                self.assertRegex(files["bloomery.bash"], rf"[\"\s]{option}[\"\s]")

    def complete(self, *words):
        """What bash offers for the last of the words."""
        script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bloomery; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", script, "bash", ROOT / "completions/bloomery.bash",
                               "bloomery", *words], capture_output=True, text=True, cwd=ROOT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash_completes(self):
        self.assertEqual(self.complete("pl"), ["plan"])
        self.assertEqual(self.complete("help", "map", "b"), ["build"])
        self.assertEqual(self.complete("map", "g"), ["get"])
        self.assertEqual(self.complete("index", "check", "CHANGE"), ["CHANGELOG.md"])
        self.assertEqual(self.complete("map", "build", "x", "--engine", "k"), ["kbf"])
        self.assertEqual(self.complete("map", "build", "x", "--engine", "=", "c"), ["compact"])
        self.assertEqual(self.complete("bench", "memc"), ["memcached"])
        self.assertEqual(self.complete("serve", "--dir", "exam"), ["examples"])
        for path, text in HELPS.items():
            self.assertEqual(self.complete(*path, "-"), options_of(text), path)


class Colours(Case):
    def test_on_a_terminal(self):
        code, text = on_terminal("plan", "--help")
        self.assertEqual(code, 0)
        self.assertIn("\x1b[1mUsage:\x1b[0m bloomery plan", text)
        self.assertEqual(re.sub(r"\x1b\[[0-9;]*m", "", text), run("plan", "--help").stdout)
        code, text = on_terminal("frobnicate")
        self.assertEqual(code, 2)
        self.assertIn("bloomery: \x1b[1;31mUSAGE:\x1b[0m there is no command", text)

    def test_not_wanted(self):
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            for arguments in (["--help"], ["map", "--help"], ["seen", "--help"], ["frobnicate"]):
                self.assertNotIn("\x1b", on_terminal(*arguments, **environment)[1])
        self.assertIn("\x1b", on_terminal("--help", NO_COLOR="")[1])

    def test_not_in_a_pipe(self):
        for path, text in HELPS.items():
            self.assertNotIn("\x1b", text)


main()
