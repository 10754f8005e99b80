"""The commands from the outside: messages, exit codes, JSON, locks, the file cache, gc and prune."""

import fcntl
import os
import pty
import resource
import shutil
import subprocess
import sys
import time

from dedup_runner import PROGRAM, ROOT, SANITIZED, DedupCase, generate, main, run

CLOCK = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None


def bytes_below(directory):
    return sum(path.lstat().st_size for path in directory.rglob("*") if path.is_file())


class Commands(DedupCase):
    def test_usage(self):
        self.init()
        for arguments, message in (
                ((), "missing command"),
                (("frobnicate",), "unknown command"),
                (("init",), "missing repository"),
                (("init", "x", "--chunk", "5KB"), "5120 bytes are not 4KB, 16KB or 64KB"),
                (("init", "x", "--chunk", "4K"), "4000 bytes are not 4KB, 16KB or 64KB"),
                (("init", "x", "--hash", "md5"), "is not sha256 or sha1"),
                (("init", "x", "--compress", "zstd:20"), "is not none, zstd"),
                (("init", "x", "--compress", "gzip"), "is not none, zstd"),
                (("init", "x", "--engine", "bloom"), "is not compact or dba"),
                (("put", self.repo), "missing repository, archive name or path"),
                (("put", self.repo, "a/b", "."), "must not contain a slash"),
                (("put", self.repo, ".x", "."), "must not begin with a dot"),
                (("put", self.repo, "x" * 201, "."), "must have 1 to 200 bytes"),
                (("put", self.repo, "a\nb", "."), "control character"),
                (("put", self.repo, "a", "-", "."), "must be the only path"),
                (("put", self.repo, "a", ".", "--timestamp", "noon"), "--timestamp"),
                (("prune", self.repo), "missing --keep- option"),
                (("get", self.repo), "missing repository or archive name"),
                (("gc", self.repo, "--stale", "2"), "--stale")):
            self.fails(2, message, *arguments)
        self.assertEqual(self.json("ls", self.repo), {"archives": []})

    def says(self, code, message, *arguments, **options):
        """Exactly this, and nothing on standard output."""
        done = run(*arguments, **{"cwd": self.directory, **options})
        self.assertEqual((done.returncode, done.stdout, done.stderr.decode()),
                         (code, b"", "".join(f"bloomery: {line}\n" for line in message)))

    def test_messages(self):
        """The failures that people meet and scripts handle."""
        self.says(3, ["none: No such file or directory"], "ls", "none")
        self.write("a", b"hello")
        self.says(3, ['tree: not a repository; "dedup init" creates one'], "put", "tree", "x",
                  "tree")
        self.says(3, ["tree: Directory not empty"], "init", "tree")
        self.init()
        self.says(3, ["repo: is a repository already"], "init", "repo")
        self.says(3, ["none: No such file or directory"], "put", "repo", "one", "none")
        self.put("one")
        self.says(3, ["archive one: name in use"], "put", "repo", "one", "tree")
        for name, shown in (("two", "two"), ("two words", '"two words"')):
            for command in (["ls", "repo", name], ["rm", "repo", name], ["get", "repo", name]):
                self.says(1, [f"archive {shown}: not found"], *command)
        self.says(1, ["tree/none: not in the archive"], "get", "repo", "one", "tree/none", "-C",
                  "out", "-q")
        self.run_ok("get", self.repo, "one", "-C", self.directory / "out", "-q")
        self.says(3, ["tree/a: exists already; --force replaces it", "1 entry was not restored"],
                  "get", "repo", "one", "-C", "out")
        self.says(3, ["repo: is the repository"], "get", "repo", "one", "-C", "repo")
        with open("/dev/full", "wb") as full:
            done = run("get", self.repo, "one", "tree/a", stdout=full, stderr=subprocess.PIPE,
                       capture_output=False)
            self.assertEqual((done.returncode, done.stderr),
                             (3, b"bloomery: standard output: No space left on device\n"))
        config = (self.repo / "config").read_bytes()
        (self.repo / "config").write_bytes(config.replace(b" 1\n", b" 2\n", 1))
        self.says(3, ["config: has format 2, but this build reads format 1"], "ls", "repo")
        for damaged in (config[:-1], config.replace(b"4096", b"4097")):
            (self.repo / "config").write_bytes(damaged)
            self.says(3, ["config: damaged"], "ls", "repo")

    def test_unreadable(self):
        if os.geteuid() == 0:
            self.skipTest("root reads everything")
        self.write("a", b"hello")
        self.write("b", b"there")
        self.init()
        (self.tree / "a").chmod(0)
        self.says(3, ["tree/a: Permission denied",
                      "archive one stored without 1 entry that cannot be read"],
                  "put", "repo", "one", "tree", "-q")
        self.assertEqual((self.get("one") / "tree/b").read_bytes(), b"there")
        self.repo.chmod(0)
        self.addCleanup(self.repo.chmod, 0o700)
        self.says(3, ["repo: Permission denied"], "ls", "repo")

    def test_archives(self):
        self.write("a", b"hello")
        os.symlink("a", self.tree / "l")
        self.init()
        for name in ("one", "two words", "ünïcode", "x" * 200):
            self.put(name)
        listed = self.json("ls", self.repo)["archives"]
        self.assertEqual([a["name"] for a in listed], ["one", "two words", "ünïcode", "x" * 200])
        self.assertEqual({a["entries"] for a in listed}, {3})
        text = self.run_ok("ls", self.repo, "one").decode()
        self.assertEqual([line.split(":", 2)[2][3:] for line in text.splitlines()],
                         ["tree", "tree/a", "tree/l -> a"])
        self.fails(1, "archive three: not found", "rm", self.repo, "one", "three")
        self.assertEqual(self.run_ok("rm", self.repo, "one", "two words"), b"2 archives removed\n")
        self.assertEqual(len(self.json("ls", self.repo)["archives"]), 2)
        self.assert_restores("ünïcode")

    def test_prune(self):
        self.write("a", b"hello")
        self.init()
        environment = {**os.environ, "TZ": "UTC"}
        times = ["2026-10-01T12:00:00Z", "2026-10-31T12:00:00Z", "2026-11-09T10:00:00Z",
                 "2026-11-15T09:00:00Z", "2026-11-15T18:00:00Z", "2026-11-16T08:00:00Z",
                 "2026-11-16T09:00:00Z"]
        for i, moment in enumerate(times):
            self.put(f"a{i}", "tree", "--timestamp", moment, env=environment)

        def kept(*options):
            return self.json("prune", self.repo, "--dry-run", *options, env=environment)["kept"]
        self.assertEqual(kept("--keep-last", 2), ["a5", "a6"])
        self.assertEqual(kept("--keep-daily", 2), ["a4", "a6"])
        self.assertEqual(kept("--keep-daily", 100), ["a0", "a1", "a2", "a4", "a6"])
        self.assertEqual(kept("--keep-weekly", 3), ["a1", "a4", "a6"])
        self.assertEqual(kept("--keep-monthly", 2), ["a1", "a6"])
        self.assertEqual(kept("--keep-last", 1, "--keep-daily", 1), ["a4", "a6"])
        self.assertEqual(len(self.json("ls", self.repo)["archives"]), 7)
        self.run_ok("prune", self.repo, "--keep-daily", "2", env=environment)
        self.assertEqual([a["name"] for a in self.json("ls", self.repo)["archives"]], ["a4", "a6"])

    def test_gc(self):
        for engine in ("compact", "dba"):
            with self.subTest(engine=engine):
                self.init("--engine", engine, "--compress", "none")
                self.write("keep", generate(1, 6_000_000))
                self.write("go", generate(2, 9_000_000))
                self.put("both")
                (self.tree / "go").unlink()
                self.put("one")
                before = bytes_below(self.repo / "containers")
                self.assertEqual(self.json("gc", self.repo)["stale_chunks"], 0)
                self.run_ok("rm", self.repo, "both", "-q")
                self.assertEqual(self.json("gc", self.repo, "--dry-run")["moved_chunks"], 0)
                self.assertEqual(bytes_below(self.repo / "containers"), before)
                done = self.json("gc", self.repo)
                self.assertGreater(done["removed_containers"], 1)
                self.assertLess(bytes_below(self.repo / "containers"), before - 7_000_000)
                self.check()
                self.assert_restores("one")
                # The index still knows what was moved, and the file cache what is gone.
                self.assertEqual(self.put("again", "tree", "--no-cache")["new_bytes"], 0)
                self.write("go", generate(2, 9_000_000))
                self.assertGreater(self.put("more")["new_bytes"], 8_000_000)
                self.assert_restores("more")
                self.check()
                self.run_ok("rm", self.repo, "one", "again", "more", "-q")
                self.run_ok("gc", self.repo, "-q")
                self.assertEqual(bytes_below(self.repo / "containers"), 0)
                self.check()
                self.put("last")
                # A number is not used again.
                self.assertGreater(min(os.listdir(self.repo / "containers")), "0000000000000006")
                self.assert_restores("last")
                shutil.rmtree(self.repo)

    def test_file_cache(self):
        self.init()
        self.write("a", generate(1, 100_000))
        self.write("b", generate(2, 100_000))
        time.sleep(0.3)
        self.assertEqual(self.put("one")["unchanged_files"], 0)
        second = self.put("two")
        self.assertEqual((second["unchanged_files"], second["new_chunks"]), (2, 0))
        self.assertEqual(self.put("none", "tree", "--no-cache")["unchanged_files"], 0)
        before = os.stat(self.tree / "a")
        self.write("a", generate(3, 100_000))
        os.utime(self.tree / "a", ns=(before.st_atime_ns, before.st_mtime_ns))
        changed = self.put("three")  # only the change time tells
        self.assertEqual(changed["unchanged_files"], 1)
        self.assert_restores("three")
        cache = self.repo / "cache/files"
        content = cache.read_bytes()
        cache.write_bytes(content[:len(content) // 2])
        self.assertEqual(self.put("four")["unchanged_files"], 0)
        self.assert_restores("four")

    def test_second_put_writes_little(self):
        for i in range(40):
            self.write(f"{i}", generate(i, 200_000))
        self.init("--compress", "none")
        time.sleep(0.3)
        self.put("one")
        before = {path: path.stat().st_mtime_ns for path in self.repo.rglob("*")}
        self.put("two")
        written = sum(path.stat().st_size for path in self.repo.rglob("*")
                      if path.is_file() and path.suffix != ".mdb"
                      and before.get(path) != path.stat().st_mtime_ns)
        self.assertLess(written, 0.01 * 8_000_000)

    def test_stats(self):
        for engine in ("compact", "dba"):
            self.init("--engine", engine)
            self.write("a", generate(1, 3_000_000))
            self.put("one")
            self.put("two", "tree", "--no-cache")
            stats = self.json("stats", self.repo)
            self.assertEqual(stats["archives"], 2)
            self.assertEqual(stats["logical_bytes"], 6_000_000)
            self.assertEqual(stats["data_bytes"], 3_000_000)
            self.assertEqual(stats["index"]["engine"], engine)
            puts = stats["puts"]
            self.assertEqual(puts["new_chunks"], stats["chunks"])
            self.assertEqual(puts["decided_in_memory"] + puts["false_alarms"], puts["new_chunks"])
            self.assertEqual(puts["cache_hits"] + puts["read_ahead"] + puts["disk_lookups"]
                             - puts["false_alarms"], puts["duplicates"])
            self.assertEqual((puts["read_ahead"], puts["disk_lookups"]), (1, 0))
            self.assertIn(b"deduplication     1.99 : 1", self.run_ok("stats", self.repo))
            shutil.rmtree(self.repo)

    def test_locks(self):
        """A second writer waits, a reader does not; gc waits for readers."""
        self.write("a", b"hello")
        self.init()
        self.put("one")
        with open(self.repo / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            writer = subprocess.Popen([PROGRAM, "dedup", "put", self.repo, "two", "tree", "-q"],
                                      cwd=self.directory, stderr=subprocess.PIPE)
            self.assertIn(b"waiting for another process", writer.stderr.readline())
            self.assert_restores("one")
            self.assertIsNone(writer.poll())
            fcntl.flock(lock, fcntl.LOCK_UN)
            self.assertEqual(writer.wait(), 0)
            writer.stderr.close()
        self.run_ok("rm", self.repo, "one", "two", "-q")
        with open(self.repo / "readers") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            gc = subprocess.Popen([PROGRAM, "dedup", "gc", self.repo, "-q"],
                                  stderr=subprocess.PIPE)
            self.assertIn(b"waiting for processes that read", gc.stderr.readline())
            self.assertGreater(len(os.listdir(self.repo / "containers")), 0)
            fcntl.flock(lock, fcntl.LOCK_UN)
            self.assertEqual(gc.wait(), 0)
            gc.stderr.close()
        self.assertEqual(os.listdir(self.repo / "containers"), [])

    def test_reader_during_rm_and_gc(self):
        """A get that has begun restores an archive that is removed meanwhile."""
        self.init("--compress", "none")
        self.write("a", generate(1, 30_000_000))
        self.put("one")
        reader = subprocess.Popen([PROGRAM, "dedup", "get", self.repo, "one", "tree/a"],
                                  stdout=subprocess.PIPE)
        first = reader.stdout.read(100_000)  # the pipe is full, and the reader in the middle
        self.run_ok("rm", self.repo, "one", "-q")
        gc = subprocess.Popen([PROGRAM, "dedup", "gc", self.repo, "-q"], stderr=subprocess.PIPE)
        self.assertIn(b"waiting for processes", gc.stderr.readline())
        self.assertEqual(first + reader.stdout.read(), generate(1, 30_000_000))
        self.assertEqual(reader.wait(), 0)
        self.assertEqual(gc.wait(), 0)
        for pipe in (reader.stdout, gc.stderr):
            pipe.close()
        self.assertEqual(os.listdir(self.repo / "containers"), [])

    def test_check_during_gc(self):
        """A check that comes while gc waits for a reader: gc is first, and both end."""
        self.write("a", b"hello")
        self.init()
        self.put("one")
        self.run_ok("rm", self.repo, "one", "-q")
        with open(self.repo / "readers") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            gc = subprocess.Popen([PROGRAM, "dedup", "gc", self.repo, "-q"],
                                  stderr=subprocess.PIPE)
            self.addCleanup(gc.kill)
            self.assertIn(b"waiting for processes that read", gc.stderr.readline())
            check = subprocess.Popen([PROGRAM, "dedup", "check", self.repo, "-q"],
                                     stderr=subprocess.PIPE)
            self.addCleanup(check.kill)
            self.assertIn(b"waiting for a process that writes", check.stderr.readline())
        for process in (gc, check):
            self.assertEqual(process.wait(timeout=60), 0)
            process.stderr.close()
        self.assertEqual(os.listdir(self.repo / "containers"), [])

    def test_directories_that_can_be_made_again(self):
        """A copy may lack empty directories."""
        self.write("a", b"hello")
        self.init()
        for directory in ("cache", "units", "index"):
            shutil.rmtree(self.repo / directory)
        self.put("one")
        self.assert_restores("one")
        self.check()

    def test_killed_put(self):
        """A put that dies holds no lock and leaves what was there."""
        self.init("--compress", "none")
        self.write("a", generate(1, 3_000_000))
        self.put("one")
        writer = subprocess.Popen([PROGRAM, "dedup", "put", self.repo, "two", "-", "-q"],
                                  stdin=subprocess.PIPE)
        writer.stdin.write(generate(2, 20_000_000))
        writer.stdin.flush()
        writer.kill()
        writer.wait()
        writer.stdin.close()
        self.assertTrue(any(name.endswith(".new") for name in os.listdir(self.repo / "containers")))
        self.check()
        self.put("three")
        self.assertFalse(any(name.endswith(".new") for name in os.listdir(self.repo / "containers")))
        self.assert_restores("one")
        self.check()

    def test_file_size_limit(self):
        """A write that fails is an error, and the repository stays as it was."""
        self.init("--compress", "none")
        self.write("a", generate(1, 500_000))
        self.put("one")
        self.write("b", generate(2, 6_000_000))
        for limit in (70_000, 1_000_000, 4_100_000):
            done = run("put", self.repo, "two", "tree", cwd=self.directory, preexec_fn=lambda:
                       resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
            self.assertEqual(done.returncode, 3, done)
            self.assertIn(b"File too large", done.stderr)
            self.assertNotIn("two", [a["name"] for a in self.json("ls", self.repo)["archives"]])
        (self.tree / "b").rename(self.directory / "b")
        self.assert_restores("one")
        (self.directory / "b").rename(self.tree / "b")
        self.put("two")
        self.assert_restores("two")
        self.check()

    def test_full_disk(self):
        if not ROOT or SANITIZED:
            self.skipTest("mounts a small file system")
        disk = self.directory / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "none", disk],
                          capture_output=True).returncode != 0:
            self.skipTest("cannot mount")
        self.addCleanup(subprocess.run, ["umount", "-l", disk])
        self.repo = disk / "repo"
        self.init("--compress", "none")
        self.write("a", generate(1, 3_000_000))
        self.put("one")
        self.write("b", generate(2, 20_000_000))
        done = self.fails(3, "No space left on device", "put", self.repo, "two", "tree",
                          cwd=self.directory)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.check()
        (self.tree / "b").unlink()
        self.assert_restores("one")
        self.write("c", generate(3, 3_000_000))
        self.put("three")
        self.assert_restores("three")
        # rm and gc make room again
        self.run_ok("rm", self.repo, "one", "three", "-q")
        self.run_ok("gc", self.repo, "-q")
        self.write("c", generate(4, 6_000_000))
        self.put("four")
        self.assert_restores("four")
        self.check()

    def test_without_permission_to_write(self):
        """A user who may only read the repository restores from it, and checks it."""
        if not ROOT:
            self.skipTest("only root becomes another user")
        self.write("a", b"hello")
        self.init()
        self.put("one")
        os.chmod(self.directory, 0o755)
        subprocess.run(["chmod", "-R", "a+rX", self.repo], check=True)
        other = {"user": 65534, "group": 65534, "extra_groups": []}
        try:
            run("ls", self.repo, **other)
        except PermissionError:
            self.skipTest("another user may not run the program")
        self.assertEqual(self.run_ok("get", self.repo, "one", "tree/a", **other), b"hello")
        self.run_ok("check", self.repo, "--deep", **other)
        self.run_ok("stats", self.repo, **other)
        os.chmod(self.tree / "a", 0o6755)
        self.put("rights")
        subprocess.run(["chmod", "-R", "a+rX", self.repo], check=True)
        into = self.directory / "into"
        into.mkdir()
        os.chown(into, 65534, 65534)
        self.run_ok("get", self.repo, "rights", "-C", into, "-q", **other)
        self.assertEqual(os.stat(into / "tree/a").st_mode & 0o7777, 0o755)
        self.fails(3, "Permission denied", "put", self.repo, "two", "tree", cwd=self.directory, **other)
        self.fails(3, "Permission denied", "rm", self.repo, "one", **other)
        self.check()

    def test_reader_during_put(self):
        """While a put is in the middle, the other archives are there and the new one is not."""
        self.init("--compress", "none")
        self.write("a", generate(1, 1_000_000))
        self.put("one")
        writer = subprocess.Popen([PROGRAM, "dedup", "put", self.repo, "two", "-", "-q"],
                                  stdin=subprocess.PIPE)
        content = generate(2, 12_000_000)
        writer.stdin.write(content)
        writer.stdin.flush()
        for _ in range(3):
            self.assert_restores("one")
            self.assertEqual(len(self.json("ls", self.repo)["archives"]), 1)
            self.assertEqual(self.json("stats", self.repo)["archives"], 1)
        writer.stdin.close()
        self.assertEqual(writer.wait(), 0)
        self.assertEqual(self.run_ok("get", self.repo, "two"), content)
        self.check()

    def on_terminal(self, *arguments, **options):
        inner, outer = pty.openpty()
        writer = subprocess.Popen([PROGRAM, "dedup", *map(str, arguments)], cwd=self.directory,
                                  stdout=subprocess.DEVNULL, stderr=outer, **options)
        os.close(outer)
        text = b""
        try:
            while piece := os.read(inner, 65536):
                text += piece
        except OSError:  # the end of a terminal
            pass
        os.close(inner)
        self.assertEqual(writer.wait(), 0, text)
        return text.decode()

    def test_progress(self):
        """On a terminal: rate, ratio and, unless it is standard input, the time left."""
        if not CLOCK:
            self.skipTest("a sanitizer's library must be loaded first")
        self.init("--compress", "none")
        self.write("a", generate(1, 9_000_000))
        environment = {**os.environ, "LD_PRELOAD": CLOCK}  # time passes quickly
        rate = r"iB, \S+ [KM]iB/s, (\d+\.\d : 1|nothing new)"
        for name in ("new", "again"):
            text = self.on_terminal("put", self.repo, name, "tree", "--no-cache", env=environment)
            self.assertRegex(text, rate + r", \d+%, \d+:\d\d left")
        with open(self.tree / "a", "rb") as source:
            text = self.on_terminal("put", self.repo, "input", "-", stdin=source, env=environment)
        self.assertRegex(text, rate)
        self.assertNotIn("left", text)
        self.assertEqual(self.on_terminal("put", self.repo, "quiet", "tree", "-q", env=environment),
                         "")


main()
