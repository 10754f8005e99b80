#!/usr/bin/python3
"""Changes one operator in the library or the module and looks whether a test notices: how strong are the tests?

usage: mutants.py DIR [--seed 1] [--count 24] [--list]

Takes COUNT places at random, the same ones for the same seed and sources. In DIR it keeps a copy of
the tree and builds the tests in it, which takes long once. Each mutant is then built and the plain
tests run: the unit tests first, then the others, until one fails. A mutant that does not compile, or
whose objects are those of the original, does not count, and the next place is taken instead.
Results are kept in DIR/results.json: a run that was interrupted goes on where it was.
Ends with 0 if at least five in six were noticed.
"""

import argparse
import hashlib
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ("lib", "module")
LEFT_OUT = ("kernel_neon",)  # not compiled here
JOBS = "2"
TEST_SECONDS = "200"  # a mutant may hang
SHARE = 5 / 6

# Binary operators have a space on both sides, since clang-format wrote them.
CHANGES = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ",
           " && ": " || ", " || ": " && ", " + ": " - ", " - ": " + ", " << ": " >> ", " >> ": " << ",
           " += ": " -= ", " -= ": " += ", " | ": " & ", " |= ": " &= ", " &= ": " |= ", " % ": " / "}
OPERATOR = re.compile("|".join(re.escape(o) for o in sorted(CHANGES, key=len, reverse=True)))
NEGATION = re.compile(r"(?<=[(& |])!(?=[a-z(])")
SILENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])+\'|^[ \t]*#[^\n]*(?:\\\n[^\n]*)*|'
                    r'\bassert\([^;]*;|_Static_assert\([^;]*;', re.S | re.M)


def places(text):
    """(offset, old, new) of each operator outside of comments, strings, macros and assertions."""
    code = SILENT.sub(lambda match: re.sub(r"[^\n]", "~", match.group()), text)
    for match in OPERATOR.finditer(code):
        yield match.start(), match.group(), CHANGES[match.group()]
    for match in NEGATION.finditer(code):
        yield match.start(), "!", ""


def mutants(seed):
    files = subprocess.run(["git", "ls-files", *SOURCES], cwd=ROOT, check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split()
    found = [(name, *place) for name in sorted(files)
             if name.endswith((".c", ".h")) and not any(part in name for part in LEFT_OUT)
             for place in places((ROOT / name).read_text())]
    random.Random(seed).shuffle(found)
    return found


def run(*arguments, log):
    with open(log, "ab") as file:
        return subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                              check=False).returncode


def copy_tree(to):
    """Copies the files that git tracks; equal ones stay as they are, so that they are not compiled again."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    for name in names:
        source, target = ROOT / name, to / name
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)


class Tree:
    """A copy of the sources with its build."""

    def __init__(self, directory):
        self.source, self.build, self.log = directory / "tree", directory / "build", directory / "log"
        copy_tree(self.source)
        if run("cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", "-DBLOOMERY_TESTS=ON",
               log=self.log) or not self.compile():
            sys.exit(f"mutants.py: the tests cannot be built; see {self.log}")
        self.original = self.fingerprint()

    def compile(self):
        return run("cmake", "--build", self.build, "--parallel", JOBS, log=self.log) == 0

    def fingerprint(self):
        """Of the machine's code in library and module, which nothing else depends on."""
        code = hashlib.sha256()
        for name in ("libbloomery.a", "bloomery.so"):
            code.update((self.build / name).read_bytes())
        return code.digest()

    def failed_test(self):
        """The name of a test that fails, or None."""
        for which in (["-L", "unit", "-LE", "soak"], ["-LE", "soak|unit"]):
            output = subprocess.run(["ctest", "--test-dir", self.build, *which, "--stop-on-failure", "--timeout",
                                     TEST_SECONDS, "--parallel", str(int(JOBS) + 2)], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout.decode()
            failed = re.search(r"Test +#\d+: (\S+) \.*\*\*\*", output)
            if failed:
                return failed.group(1)
        return None

    def judge(self, name, at, old, new):
        """What became of a mutant: the test that noticed it, "survived", "no code" or "same code"."""
        file = self.source / name
        text = file.read_text()
        file.write_text(text[:at] + new + text[at + len(old):])
        try:
            if not self.compile():
                return "no code"
            if self.fingerprint() == self.original:
                return "same code"
            return self.failed_test() or "survived"
        finally:
            file.write_text(text)


def describe(name, at, old, new):
    text = (ROOT / name).read_text()
    line = text.count("\n", 0, at) + 1
    return f'{name}:{line}: "{old.strip()}" becomes "{new.strip()}": {text.splitlines()[line - 1].strip()}'


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--list", action="store_true", help="only print the places, in order")
    given = parser.parse_args()
    chosen = mutants(given.seed)
    if given.list:
        for mutant in chosen[:given.count]:
            print(describe(*mutant))
        return 0
    tree, path = Tree(given.dir.resolve()), given.dir / "results.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    noticed = judged = 0
    for mutant in chosen:
        if judged == given.count:
            break
        what, start = describe(*mutant), time.monotonic()
        if what not in results:
            results[what] = tree.judge(*mutant)
            path.write_text(json.dumps(results, indent=1))
        judged += results[what] not in ("no code", "same code")
        noticed += results[what] not in ("no code", "same code", "survived")
        print(f"{results[what]:24} {time.monotonic() - start:4.0f} s  {what}", flush=True)
    print(f"{noticed} of {judged} mutants were noticed")
    return 0 if noticed >= SHARE * given.count else 1


if __name__ == "__main__":
    sys.exit(main())
