"""Repositories, trees and their comparison, for the tests of `bloomery dedup`."""

import hashlib
import json
import os
import pathlib
import random
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv[1])
SANITIZED = "BLOOMERY_SANITIZED" in os.environ
ROOT = os.geteuid() == 0


def run(*arguments, **options):
    return subprocess.run([PROGRAM, "dedup", *map(os.fsencode, map(str, arguments))]
                          if not any(isinstance(a, bytes) for a in arguments)
                          else [PROGRAM, "dedup", *map(os.fsencode, arguments)],
                          timeout=300, **{"stdin": subprocess.DEVNULL, "capture_output": True,
                                          **options})


def generate(seed, size):
    return random.Random(seed).randbytes(size)


def attributes(path):
    try:
        return {name: os.getxattr(path, name, follow_symlinks=False)
                for name in os.listxattr(path, follow_symlinks=False)}
    except OSError:
        return {}


def describe(path):
    """Everything about an entry that is restored."""
    facts = os.lstat(path)
    kind = stat.S_IFMT(facts.st_mode)
    entry = {"mode": facts.st_mode, "mtime": facts.st_mtime_ns, "xattrs": attributes(path)}
    if ROOT:
        entry["owner"] = (facts.st_uid, facts.st_gid)
    if kind == stat.S_IFREG:
        with open(path, "rb") as file:
            entry["content"] = hashlib.sha256(file.read()).hexdigest()
        entry["size"] = facts.st_size
    elif kind == stat.S_IFLNK:
        entry["target"] = os.readlink(path)
    elif kind in (stat.S_IFCHR, stat.S_IFBLK):
        entry["device"] = facts.st_rdev
    return entry


def snapshot(directory):
    """All entries below a directory, and which of them are one file."""
    directory = os.fsencode(directory)
    found, links = {}, {}
    for place, directories, files in os.walk(directory):
        for name in directories + files:
            path = os.path.join(place, name)
            key = os.path.relpath(path, directory)
            found[key] = describe(path)
            facts = os.lstat(path)
            if not stat.S_ISDIR(facts.st_mode) and facts.st_nlink > 1:
                links.setdefault(facts.st_ino, []).append(key)
    for names in links.values():
        for name in names:
            found[name]["links"] = sorted(names)
    return found


def memory_directory():
    """A file system in memory, where a sync costs nothing; None if there is not enough of one."""
    try:
        return "/dev/shm" if shutil.disk_usage("/dev/shm").free > 1 << 30 else None
    except OSError:
        return None


class DedupCase(unittest.TestCase):
    maxDiff = None
    in_memory = True

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(
            prefix="dedup-", dir=memory_directory() if self.in_memory else None))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.repo = self.directory / "repo"
        self.tree = self.directory / "tree"
        self.restored = 0

    def run_ok(self, *arguments, **options):
        done = run(*arguments, **options)
        self.assertEqual((done.returncode, done.stderr), (0, b""), (arguments, done))
        return done.stdout

    def fails(self, code, message, *arguments, **options):
        done = run(*arguments, **options)
        self.assertEqual(done.returncode, code, (arguments, done))
        self.assertIn(message, done.stderr.decode(errors="replace"))
        return done

    def json(self, *arguments, **options):
        return json.loads(self.run_ok(*arguments, "--json", **options))

    def init(self, *options):
        self.run_ok("init", self.repo, *options)

    def put(self, name, *paths, **options):
        return self.json("put", self.repo, name, *(paths or ("tree",)),
                         cwd=self.directory, **options)

    def get(self, name, *paths):
        """Restores into a new directory, which it returns."""
        self.restored += 1
        into = self.directory / f"restored{self.restored}"
        self.run_ok("get", self.repo, name, *paths, "-C", into, "-q")
        return into

    def assert_restores(self, name, expected=None):
        """The tree of this snapshot, or the one that is there now."""
        into = self.get(name)
        self.assertEqual(snapshot(into / "tree"), expected or snapshot(self.tree), name)
        shutil.rmtree(into)

    def check(self):
        done = run("check", self.repo, "--deep", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, b""), done.stdout)
        return json.loads(done.stdout)

    def write(self, name, content):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path


def main():
    unittest.main(argv=sys.argv[:1])
