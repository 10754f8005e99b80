"""Damage is found, the files that it hits are named, and what can be saved is saved."""

import json
import hashlib
import os
import random
import shutil
import sys

from dedup_runner import DedupCase, generate, main, run, snapshot

FLIPS = int(sys.argv[2])  # bytes that are changed in each file; 0: all


class Damage(DedupCase):
    def small(self, *options):
        """A repository with two archives that share most of their files."""
        self.init(*options)
        self.write("text", b"a line that is compressed\n" * 300)
        self.write("random", generate(1, 20_000))
        self.put("one")
        self.write("more", generate(2, 9_000))
        self.write("many", b"".join(b"%d\n" % i for i in range(3000)))
        self.put("two")
        self.trees = {"one": None, "two": snapshot(self.tree)}

    def flips(self, path, rng):
        content = path.read_bytes()
        places = range(len(content))
        if FLIPS and len(content) > FLIPS:
            places = sorted(rng.sample(places, FLIPS))
        for place in places:
            changed = bytearray(content)
            changed[place] ^= rng.choice((1, 128, 255, rng.randrange(1, 256)))
            path.write_bytes(changed)
            yield place
        path.write_bytes(content)

    def test_every_file(self):
        """A changed byte in any file is found, with exit code 1 or 3."""
        rng = random.Random(1)
        for options in (("--compress", "none"), ("--engine", "dba")):
            self.small(*options)
            files = [path for path in sorted(self.repo.rglob("*")) if path.is_file()
                     and path.suffix != ".mdb" and path.stat().st_size > 0]
            self.assertGreater(len(files), 7)
            for path in files:
                for place in self.flips(path, rng):
                    done = run("check", self.repo, "--deep")
                    self.assertIn(done.returncode, (1, 3), (path, place, done))
                    self.assertNotEqual(done.stderr, b"", (path, place))
            self.check()
            shutil.rmtree(self.repo)
            shutil.rmtree(self.tree)

    def test_exact_index(self):
        """A changed byte in LMDB's file is found, or changes no answer."""
        rng = random.Random(2)
        self.small()
        path = self.repo / "index/data.mdb"
        harmless = 0
        copy = self.directory / "copy"
        for place in self.flips(path, rng):
            done = run("check", self.repo, "--deep")
            self.assertIn(done.returncode, (0, 1, 3), (place, done))
            if done.returncode:
                continue
            harmless += 1
            if FLIPS == 0 and harmless % 20:
                continue
            shutil.copytree(self.repo, copy)
            self.repo, original = copy, self.repo
            self.assert_restores("two")
            self.put("three")
            self.run_ok("rm", self.repo, "one", "-q")
            self.run_ok("gc", self.repo, "--stale", "1%", "-q")
            self.assert_restores("three")
            self.check()
            self.repo = original
            shutil.rmtree(copy)
        self.check()

    def test_truncated(self):
        self.small()
        for path in sorted(self.repo.rglob("*")):
            if not path.is_file() or path.name == "lock.mdb" or path.stat().st_size == 0:
                continue
            content = path.read_bytes()
            for size in (0, len(content) // 2, len(content) - 1):
                path.write_bytes(content[:size])
                done = run("check", self.repo, "--deep")
                self.assertIn(done.returncode, (1, 3), (path, size, done))
            path.unlink()
            if path.parent.name not in ("archives", "cache"):
                self.assertIn(run("check", self.repo, "--deep").returncode, (1, 3), path)
            path.write_bytes(content)
        self.check()

    def damage_chunk(self, content):
        """Changes a byte of stored content."""
        for path in (self.repo / "containers").iterdir():
            stored = bytearray(path.read_bytes())
            at = stored.find(content)
            if at >= 0:
                stored[at] ^= 1
                path.write_bytes(stored)
                return path.name
        self.fail("not found")

    def test_repair(self):
        self.small("--compress", "none")
        random_bytes = (self.tree / "random").read_bytes()
        self.damage_chunk(random_bytes[10_000:10_050])
        self.run_ok("check", self.repo)  # reads no data
        done = run("check", self.repo, "--deep")
        self.assertEqual(done.returncode, 1)
        text = done.stderr.decode()
        for name in ("one", "two"):
            self.assertIn(f'archive {name}: tree/random: damaged', text)
        self.assertEqual(text.count("tree/"), 2)
        # What is damaged is restored as zeros, and said.
        into = self.directory / "zeros"
        done = run("get", self.repo, "two", "-C", into)
        self.assertEqual(done.returncode, 3)
        self.assertIn("are lost and restored as zeros", done.stderr.decode())
        got = (into / "tree/random").read_bytes()
        self.assertEqual(len(got), 20_000)
        self.assertNotEqual(got, random_bytes)
        wrong = [i for i in range(20_000) if got[i] != random_bytes[i]]
        self.assertEqual({got[i] for i in wrong}, {0})
        self.assertEqual((into / "tree/more").read_bytes(), (self.tree / "more").read_bytes())
        self.fails(3, "is damaged", "get", self.repo, "two", "tree/random")
        # The repair saves the other chunks of the container.
        done = run("check", self.repo, "--deep", "--repair", "--json")
        self.assertEqual(done.returncode, 1)
        report = json.loads(done.stdout)
        self.assertEqual((report["repaired"], report["damaged_files"]), (True, 2))
        self.assertGreater(report["saved_chunks"], 3)
        self.assertEqual(os.listdir(self.repo / "damaged"), ["0000000000000001"])
        self.run_ok("get", self.repo, "two", "tree/more", "tree/many", "-C", self.directory / "rest")
        # The same content heals both archives.
        self.put("three", "tree", "--no-cache")
        self.check()
        self.assert_restores("two")

    def test_repair_directory(self):
        """Without its directory, the chunks of a container are found by their lengths."""
        for options in (("--compress", "none"), ("--compress", "zstd:5")):
            for place in (0, 20, 70, 100):
                self.small(*options)
                path = self.repo / "containers/0000000000000001"
                stored = bytearray(path.read_bytes())
                stored[place] ^= 255
                if place < 64:
                    stored[-64 + place] ^= 255
                path.write_bytes(stored)
                self.assertEqual(run("check", self.repo).returncode, 1)
                self.fails(3, "damaged", "put", self.repo, "x", "tree", "--no-cache",
                           cwd=self.directory)
                done = run("check", self.repo, "--repair")
                self.assertEqual(done.returncode, 0, done)
                self.check()
                self.assert_restores("two")
                shutil.rmtree(self.repo)

    def test_interrupted_repair(self):
        """A repair that was killed when it had moved a container is completed by the next one."""
        self.small("--compress", "none")
        (self.repo / "damaged").mkdir()
        (self.repo / "containers/0000000000000001").rename(self.repo / "damaged/0000000000000001")
        self.assertEqual(run("check", self.repo).returncode, 1)
        self.assertEqual(run("check", self.repo, "--repair").returncode, 0)
        self.check()
        self.assert_restores("two")
        self.assertEqual(self.put("three", "tree", "--no-cache")["new_bytes"], 0)

    def test_lost_container(self):
        self.small()
        (self.repo / "containers/0000000000000002").unlink()
        self.fails(1, "lists a container that does not exist", "check", self.repo)
        self.fails(3, "missing; see \"dedup check\"", "put", self.repo, "x", "tree", cwd=self.directory)
        self.assertEqual(run("check", self.repo, "--repair").returncode, 1)
        done = run("check", self.repo)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b'archive two', done.stderr)
        self.assertNotIn(b'archive one', done.stderr)
        self.run_ok("rm", self.repo, "two", "-q")
        self.run_ok("gc", self.repo, "-q")
        self.check()
        self.put("again", "tree", "--no-cache")
        self.assert_restores("again")
        self.check()

    def test_damaged_record(self):
        self.small()
        path = self.repo / "archives/one"
        path.write_bytes(path.read_bytes().replace(b"time", b"tame"))
        self.fails(3, "bloomery: archives/one: damaged\n", "ls", self.repo)
        self.fails(3, "bloomery: archives/one: damaged\n", "gc", self.repo)  # it might remove what the archive needs
        self.assert_restores("two")
        self.assertEqual(run("check", self.repo, "--repair").returncode, 0)
        self.assertEqual(os.listdir(self.repo / "damaged"), ["archive one"])
        self.check()
        self.assert_restores("two")

    def test_damaged_record_with_the_name_of_a_container(self):
        self.small("--compress", "none")
        name = "0000000000000001"
        self.put(name)
        path = self.repo / "archives" / name
        path.write_bytes(path.read_bytes().replace(b"time", b"tame"))
        self.assertEqual(self.damage_chunk((self.tree / "random").read_bytes()[10_000:10_050]), name)
        content = (self.repo / "containers" / name).read_bytes()
        run("check", self.repo, "--deep", "--repair")
        self.assertEqual((self.repo / "damaged" / name).read_bytes(), content)
        self.assertEqual(len(os.listdir(self.repo / "damaged")), 2)

    def test_gc_with_a_wrong_index(self):
        """gc keeps chunks that the exact index has lost."""
        self.init("--compress", "none")
        content = generate(1, 1500)
        self.write("keep", content)
        self.write("other", generate(2, 500_000))
        self.put("both")
        self.put("keep", "tree/keep")
        self.run_ok("rm", self.repo, "both", "-q")
        index = self.repo / "index/data.mdb"
        digest, data = hashlib.sha256(content).digest(), index.read_bytes()
        self.assertIn(digest, data)
        changed = digest[:-1] + bytes([digest[-1] ^ 1])
        index.write_bytes(data.replace(digest, changed))
        done = run("gc", self.repo)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn(b"the exact index lacks", done.stderr)
        self.assertEqual((self.get("keep") / "tree/keep").read_bytes(), content)
        self.check()

    def test_gc_with_two_copies(self):
        """A gc that was killed before it removed a container leaves chunks in two of them."""
        self.init("--compress", "none")
        for name, size in (("a", 2_400_000), ("b", 300_000), ("c", 300_000)):
            self.write(name, generate(name, size))
        self.put("one")
        self.put("two", "tree/b", "tree/c", "--no-cache")
        self.run_ok("rm", self.repo, "one", "-q")
        before = {path: path.read_bytes() for path in (self.repo / "containers").iterdir()}
        self.run_ok("gc", self.repo, "-q")
        for path, content in before.items():  # as if it had been killed
            path.write_bytes(content)
        self.put("three", "tree/a", "tree/b", "--no-cache")
        self.run_ok("rm", self.repo, "two", "-q")
        self.run_ok("gc", self.repo, "-q")
        self.check()
        into = self.get("three")
        for name in ("a", "b"):
            self.assertEqual((into / "tree" / name).read_bytes(), (self.tree / name).read_bytes())

    def test_incomplete_index(self):
        """A rebuild-index that was killed: nothing is lost, and nothing is said to be."""
        self.small()
        other = self.directory / "other"
        self.run_ok("init", other)
        self.run_ok("gc", other, "-q")
        shutil.copy(other / "index/data.mdb", self.repo / "index/data.mdb")
        into = self.directory / "into"
        for arguments in (("get", self.repo, "two", "-C", into), ("ls", self.repo, "two")):
            self.fails(3, "the exact index is incomplete", *arguments)
        done = self.fails(1, "the exact index is incomplete", "check", self.repo)
        self.assertNotIn(b"damaged", done.stderr)
        self.run_ok("gc", self.repo, "-q")  # as any command that writes
        self.assert_restores("two")
        self.check()

    def test_rebuild(self):
        for engine in ("compact", "dba"):
            self.small("--engine", engine)
            shutil.rmtree(self.repo / "index")
            shutil.rmtree(self.repo / "units")
            self.fails(3, "exact index", "get", self.repo, "two", "-C", self.directory / "x")
            self.run_ok("rebuild-index", self.repo)
            self.check()
            self.assert_restores("two")
            self.assertEqual(self.put("three", "tree", "--no-cache")["new_bytes"], 0)
            self.assertEqual(self.json("stats", self.repo)["puts"]["false_alarms"], 0)
            shutil.rmtree(self.repo)
            shutil.rmtree(self.tree)

    def test_garbage_instead_of_lmdb(self):
        """Not even a crash of LMDB is one of the program."""
        self.small()
        path = self.repo / "index/data.mdb"
        content = path.read_bytes()
        rng = random.Random(3)
        for _ in range(20):
            changed = bytearray(content)
            start = rng.randrange(8192, len(content))
            changed[start:start + 2000] = rng.randbytes(len(changed[start:start + 2000]))
            path.write_bytes(changed)
            self.assertIn(run("check", self.repo).returncode, (0, 1, 3))
            self.assertIn(run("get", self.repo, "two", "tree/more").returncode, (0, 3))
        path.write_bytes(content)
        self.check()


main()
