"""Random programs of put, rm, gc, check and rebuild against an exact model: a copy of each tree."""

import os
import random
import shutil
import sys

from dedup_runner import DedupCase, generate, main, snapshot

SEEDS, STEPS = int(sys.argv[2]), int(sys.argv[3])


class Model(DedupCase):
    def mutate(self, rng):
        """Changes a few files of the tree, and sometimes directories and links."""
        self.tree.mkdir(exist_ok=True)
        for _ in range(rng.randrange(1, 5)):
            path = self.tree / f"d{rng.randrange(3)}" / f"f{rng.randrange(6)}"
            path.parent.mkdir(exist_ok=True)
            what = rng.randrange(8)
            there = path.is_symlink() or path.exists()
            if what == 0:
                if there:
                    path.unlink()
            elif what == 1:
                if not there:
                    os.symlink(f"f{rng.randrange(6)}", path)
            elif what == 2:
                others = [p for p in self.tree.rglob("f*") if p.is_file() and not p.is_symlink()]
                if others and not there:
                    os.link(rng.choice(others), path)
            elif path.is_symlink():
                path.unlink()
            elif what == 3 and path.is_file():
                with open(path, "r+b") as file:  # in the middle, so that most chunks stay
                    content = file.read()
                    at = rng.randrange(len(content) + 1)
                    file.seek(0)
                    file.write(content[:at] + generate(rng.random(), rng.randrange(50)) + content[at:])
            elif what == 4 and path.is_file():
                with open(path, "ab") as file:
                    file.write(generate(rng.randrange(5), 20_000))
            else:
                path.write_bytes(generate(rng.randrange(40), rng.choice((0, 10, 3000, 70_000))))

    def verify(self, archives, name):
        into = self.get(name)
        self.assertEqual(snapshot(into), archives[name], name)
        shutil.rmtree(into)

    def run_program(self, seed):
        rng = random.Random(seed)
        self.init("--engine", rng.choice(("compact", "dba")), "--compress",
                  rng.choice(("none", "zstd:1")), "--chunk", rng.choice(("4KB", "16KB")),
                  "--hash", rng.choice(("sha256", "sha1")))
        archives, number = {}, 0
        for _ in range(STEPS):
            what = rng.randrange(12)
            if what < 5 or not archives:
                self.mutate(rng)
                number += 1
                options = rng.choice(((), ("--no-cache",)))
                self.run_ok("put", self.repo, f"a{number}", "tree", "-q", *options, cwd=self.directory)
                tree = snapshot(self.directory)
                archives[f"a{number}"] = {key: value for key, value in tree.items()
                                          if key.split(b"/")[0] == b"tree"}
            elif what < 7:
                name = rng.choice(sorted(archives))
                del archives[name]
                self.run_ok("rm", self.repo, name, "-q")
            elif what < 9:
                self.run_ok("gc", self.repo, "-q", "--stale", rng.choice(("1%", "25%", "80%")))
            elif what == 9:
                self.check()
            elif what == 10 and rng.random() < 0.4:
                self.run_ok("rebuild-index", self.repo, "-q")
            else:
                self.verify(archives, rng.choice(sorted(archives)))
        listed = [a["name"] for a in self.json("ls", self.repo)["archives"]]
        self.assertEqual(sorted(listed), sorted(archives))
        self.check()
        for name in archives:
            self.verify(archives, name)
        if archives:
            self.run_ok("rm", self.repo, *archives, "-q")
        self.run_ok("gc", self.repo, "-q")
        self.assertEqual(os.listdir(self.repo / "containers"), [])
        shutil.rmtree(self.repo)
        shutil.rmtree(self.tree, ignore_errors=True)

    def test_programs(self):
        for seed in range(SEEDS):
            with self.subTest(seed=seed):
                self.run_program(seed)


main()
