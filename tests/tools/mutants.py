#!/usr/bin/python3
"""Changes one operator of the sources and looks whether a test notices: how strong are the tests?

usage: mutants.py DIR [--in lib,module] [--seed 1] [--count 24] [--trees 1] [--list]

Takes COUNT places at random, the same ones for the same seed and sources. In DIR it keeps copies of
the tree and builds the tests in them, which takes long once. There the tests run without a change
first: those that fail are left out. Each mutant is then built and the plain tests run: the unit tests
first, then the others, until one fails twice. A mutant that does not compile, or whose objects are
those of the original, does not count, and the next place is taken instead.
Results are kept in DIR/results.json: a run that was interrupted goes on where it was.
Ends with 0 if at least five in six were noticed.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import queue
import random
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEFT_OUT = ("kernel_neon",)  # not compiled here
BUILT = ("libbloomery.a", "bloomery.so", "bloomery", "bloomery-dedup", "bloomery-flows")
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


def mutants(sources, seed):
    files = subprocess.run(["git", "ls-files", *sources], cwd=ROOT, check=True, text=True,
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

    def __init__(self, directory, jobs):
        self.source, self.build, self.log = directory / "tree", directory / "build", directory / "log"
        self.jobs = jobs
        copy_tree(self.source)
        if run("cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", "-DBLOOMERY_TESTS=ON",
               log=self.log) or not self.compile():
            sys.exit(f"mutants.py: the tests cannot be built; see {self.log}")
        self.original = self.fingerprint()

    def compile(self):
        return run("cmake", "--build", self.build, "--parallel", str(self.jobs), log=self.log) == 0

    def fingerprint(self):
        """Of what is tested, which depends on nothing that changes from build to build."""
        code = hashlib.sha256()
        for name in BUILT:
            code.update((self.build / name).read_bytes())
        return code.digest()

    def failing(self, *which):
        """The names of tests that fail."""
        output = subprocess.run(["ctest", "--test-dir", self.build, *which, "--timeout", TEST_SECONDS,
                                 "--parallel", str(self.jobs + 2)], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout.decode()
        return re.findall(r"Test +#\d+: (\S+) \.*\*\*\*", output)

    def noticed_by(self, left_out):
        """The name of a test that fails, and again when it runs alone, or None."""
        left_out = ["-E", f"^({'|'.join(left_out)})$"]
        for labels in (["-L", "unit", "-LE", "soak"], ["-LE", "soak|unit"]):
            for name in self.failing(*labels, *left_out, "--stop-on-failure"):
                if self.failing("-R", f"^{name}$"):
                    return name
        return None

    def judge(self, left_out, name, at, old, new):
        """What became of a mutant: the test that noticed it, "survived", "no code" or "same code"."""
        file = self.source / name
        text = file.read_text()
        file.write_text(text[:at] + new + text[at + len(old):])
        try:
            if not self.compile():
                return "no code"
            if self.fingerprint() == self.original:
                return "same code"
            return self.noticed_by(left_out) or "survived"
        finally:
            file.write_text(text)


class Run:
    """All mutants of one seed, judged in several trees at a time."""

    def __init__(self, directory, trees):
        self.path, self.free = directory / "results.json", queue.SimpleQueue()
        self.results = json.loads(self.path.read_text()) if self.path.exists() else {}
        jobs = max(2, (os.cpu_count() or 2) // trees)
        with concurrent.futures.ThreadPoolExecutor(trees) as pool:
            built = list(pool.map(lambda i: Tree(directory / str(i), jobs), range(trees)))
        for tree in built:
            self.free.put(tree)
        if "left out" not in self.results:
            self.keep("left out", sorted(built[0].failing("-LE", "soak")))
        print("left out, since they fail without a change:", *self.results["left out"], flush=True)

    def keep(self, what, result):
        self.results[what] = result
        self.path.write_text(json.dumps(self.results, indent=1))

    def judge(self, mutant):
        what, start = describe(*mutant), time.monotonic()
        if what not in self.results:
            tree = self.free.get()
            try:
                self.keep(what, tree.judge(self.results["left out"], *mutant))
            finally:
                self.free.put(tree)
        print(f"{self.results[what]:24} {time.monotonic() - start:4.0f} s  {what}", flush=True)
        return self.results[what]


def describe(name, at, old, new):
    text = (ROOT / name).read_text()
    line = text.count("\n", 0, at) + 1
    return f'{name}:{line}: "{old.strip()}" becomes "{new.strip()}": {text.splitlines()[line - 1].strip()}'


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("--in", dest="sources", default="lib,module", metavar="DIRECTORIES", help="what is changed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--trees", type=int, default=1, help="how many copies work at a time")
    parser.add_argument("--list", action="store_true", help="only print the places, in order")
    given = parser.parse_args()
    chosen = mutants(given.sources.split(","), given.seed)
    if given.list:
        for mutant in chosen[:given.count]:
            print(describe(*mutant))
        return 0
    judging, judged, taken = Run(given.dir.resolve(), given.trees), [], 0
    with concurrent.futures.ThreadPoolExecutor(given.trees) as pool:
        while len(judged) < given.count and taken < len(chosen):
            missing = given.count - len(judged)
            results = pool.map(judging.judge, chosen[taken:taken + missing])
            judged += [result for result in results if result not in ("no code", "same code")]
            taken += missing
    noticed = len(judged) - judged.count("survived")
    print(f"{noticed} of {len(judged)} mutants were noticed")
    return 0 if noticed >= SHARE * given.count else 1


if __name__ == "__main__":
    sys.exit(main())
