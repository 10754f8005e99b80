"""`make bench` with tiny sizes: the tables of README.md and doc/benchmarks.md are rewritten together,
with all rows, or not at all. Usage: bench_tables_test.py ROOT BUILD"""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
sys.path.insert(0, str(ROOT / "bench/tables"))

import blocks  # noqa: E402
import table  # noqa: E402

JOBS = ["map", "window", "counter", "index", "filter", "flows", "dedup"]
PROGRAMS = ["bloomery", "bloomery-bench", "bloomery-dedup", "bloomery-flows", "bloomery.so"]
PAGES = ["README.md", "benchmarks.md"]


def rows_of(text):
    """The cells of the first table of a text, without the rule."""
    lines = [line for line in text.split("\n\n", maxsplit=1)[0].splitlines() if line[0] == "|"]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[:1] + lines[2:]]


class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.directory = pathlib.Path(cls.temporary.name)
        cls.build = cls.directory / "build"
        cls.build.mkdir()
        for name in PROGRAMS:
            (cls.build / name).hardlink_to(BUILD / name) if cls.same_disk() else \
                shutil.copy2(BUILD / name, cls.build / name)
        data = random.Random(1).randbytes(60000)
        for name, files in (("1", ("a",)), ("2", ("a", "b"))):
            package = cls.directory / "trees" / name / "package"
            package.mkdir(parents=True)
            for number, file in enumerate(files):
                (package / file).write_bytes(data[number:])
        cls.fresh_pages()
        cls.first = cls.bench()

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def same_disk(cls):
        return BUILD.stat().st_dev == cls.directory.stat().st_dev

    @classmethod
    def fresh_pages(cls):
        for name in PAGES:
            (cls.directory / name).write_text(f"# {name}\n\n{blocks.BEGIN}old\n{blocks.END}\n\nafter\n",
                                              encoding="utf-8")
        (cls.directory / "README.md").chmod(0o640)

    @classmethod
    def bench(cls, *options, path=None):
        environment = dict(os.environ, PATH=path or os.environ["PATH"], TMPDIR=str(cls.directory))
        return subprocess.run(
            [sys.executable, "-B", ROOT / "scripts/bench", cls.build, "--small",
             "--trees", cls.directory / "trees", "--readme", cls.directory / "README.md",
             "--page", cls.directory / "benchmarks.md", "--json", cls.directory / "made/bench.json",
             *options], capture_output=True, text=True, check=False, env=environment)

    def block(self, name):
        text = (self.directory / name).read_text(encoding="utf-8")
        before, after = text.split(blocks.BEGIN)[0], text.split(blocks.END)[1]
        self.assertEqual((before, after), (f"# {name}\n\n", "\n\nafter\n"))
        return text.split(blocks.BEGIN)[1].split(blocks.END)[0]

    def programs(self, **scripts):
        """A PATH with these programs alone."""
        directory = pathlib.Path(tempfile.mkdtemp(dir=self.directory))
        for name, text in scripts.items():
            (directory / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
            (directory / name).chmod(0o755)
        return str(directory)

    def again(self, *steps, path):
        """A run that measures only these steps."""
        for step in steps:
            (self.build / "bench" / f"{step}.json").unlink(missing_ok=True)
        return self.bench("--resume", path=path)

    def check_summary(self, text):
        rows = rows_of(text)
        self.assertEqual([row[0].split("**")[1] for row in rows[1:]], JOBS)
        for row in rows[1:]:
            self.assertEqual(len(row), len(rows[0]), row)
            self.assertNotIn("", row)
        return rows

    def test_a_rewritten_together(self):
        self.assertEqual(self.first.returncode, 0, self.first.stderr)
        readme, page = map(self.block, PAGES)
        rows = self.check_summary(readme)
        data = json.loads((self.directory / "made/bench.json").read_text(encoding="utf-8"))
        self.assertEqual([data["tables"][0]["columns"], *data["tables"][0]["rows"]], rows)
        self.assertIn(f"on: {data['machine']['cpu']}, ", readme)
        self.assertIn(f"on: {data['machine']['cpu']}, ", page)
        for made in data["tables"][1:]:
            self.assertIn(f"## {made['title']}\n\n" + table.Table(**made).markdown(), page)
        for name, peer in (("filters", "bloom,"), ("maplet", "exact hash table"),
                           ("indexes", "exact hash table"), ("windows", "exact")):
            made = next(one for one in data["tables"] if one["name"] == name)
            self.assertTrue(any(row[0].startswith(peer) for row in made["rows"]), name)
        self.assertEqual((self.directory / "README.md").stat().st_mode & 0o777, 0o640)
        self.assertEqual([path.name for path in self.directory.glob(".*")], [])
        self.assertIn("/10] ", self.first.stderr)

    def test_b_peers_that_are_missing(self):
        done = self.again("memcached", "dedup", "server", path=self.programs())
        self.assertEqual(done.returncode, 0, done.stderr)
        readme, page = map(self.block, PAGES)
        rows = self.check_summary(readme)
        self.assertIn("borg: not measured", rows[-1])
        self.assertIn("Not measured: memcached, because memcached is not installed", page)
        self.assertIn("Not measured: dedup, because borg is not installed", page)

    def test_c_a_peer_that_fails(self):
        self.fresh_pages()
        before = [(self.directory / name).read_bytes() for name in PAGES]
        made = (self.directory / "made/bench.json").read_bytes()
        done = self.again("memcached", "dedup", path=self.programs(borg="echo broken >&2; exit 2"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("bench: backups beside borg: ended with code 1: failed: borg init", done.stderr)
        self.assertIn("benchmarks.md are unchanged", done.stderr)
        done = self.again("memcached", path=self.programs(memcached="exit 1"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("bench: maps beside memcached: ended with code 3: bloomery-bench: ", done.stderr)
        self.assertEqual(before, [(self.directory / name).read_bytes() for name in PAGES])
        self.assertEqual(made, (self.directory / "made/bench.json").read_bytes())

    def test_d_a_page_without_markers(self):
        for text in ("", blocks.BEGIN, f"{blocks.END}\n{blocks.BEGIN}", 2 * f"{blocks.BEGIN}{blocks.END}\n"):
            (self.directory / "benchmarks.md").write_text(text, encoding="utf-8")
            done = self.bench()  # says so before anything is measured
            self.assertEqual(done.returncode, 1)
            self.assertIn("does not have the lines", done.stderr)
            self.assertNotIn("/10]", done.stderr)
            self.assertEqual((self.directory / "benchmarks.md").read_text(encoding="utf-8"), text)


@unittest.skipUnless(shutil.which("redis-server"), "there is no redis-server")
class Servers(unittest.TestCase):
    def test_a_server_does_not_outlive_the_benchmark(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        for number in (signal.SIGTERM, signal.SIGKILL):
            with subprocess.Popen([sys.executable, "-B", ROOT / "scripts/bench-server",
                                   BUILD / "bloomery.so", "--capacity", "1000000", "--only", "map"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  env=dict(os.environ, TMPDIR=directory.name)) as bench:
                children = pathlib.Path(f"/proc/{bench.pid}/task/{bench.pid}/children")
                self.wait_until(lambda: children.read_text(encoding="ascii"))
                server = pathlib.Path("/proc", children.read_text(encoding="ascii").strip(), "exe")
                self.wait_until(lambda: "redis" in os.readlink(server))
                bench.send_signal(number)
            self.wait_until(lambda: not server.exists())

    def wait_until(self, holds):
        end = time.monotonic() + 60
        while not holds() and time.monotonic() < end:
            time.sleep(0.02)
        self.assertTrue(holds())


class Blocks(unittest.TestCase):
    def test_a_failed_write_leaves_all_pages(self):
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            page, link = directory / "page.md", directory / "link.md"
            page.write_text(f"{blocks.BEGIN}old\n{blocks.END}", encoding="utf-8")
            link.symlink_to(page)
            with self.assertRaises(blocks.PageError):
                blocks.replace({page: "new"}, {directory / "nowhere/data.json": "{}"})
            self.assertEqual(page.read_text(encoding="utf-8"), f"{blocks.BEGIN}old\n{blocks.END}")
            self.assertEqual(sorted(os.listdir(directory)), ["link.md", "page.md"])
            blocks.replace({link: "new"}, {directory / "data.json": "{}"})
            self.assertEqual(page.read_text(encoding="utf-8"), f"{blocks.BEGIN}new\n{blocks.END}")
            self.assertTrue(link.is_symlink())
            self.assertEqual((directory / "data.json").read_text(encoding="utf-8"), "{}")

    def test_cells(self):
        self.assertEqual([table.number(value) for value in
                          (None, 0, 0.00531, 1.2, 17.84, 1663.9, 1234567.0)],
                         ["–", "0", "0.00531", "1.20", "17.8", "1664", "1,234,567"])
        self.assertEqual([table.share(value) for value in (None, 0, 1, 0.01, 6.1e-5, 1e-6, 2.5e-7)],
                         ["–", "0", "100 %", "1 %", "0.0061 %", "10⁻⁶", "2.5·10⁻⁷"])
        with self.assertRaises(ValueError):
            table.Table("t", "T", ["a", "b"], [["1"]])


unittest.main(argv=sys.argv[:1])
