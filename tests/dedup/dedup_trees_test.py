"""What goes in comes out: names, contents, modes, owners, times, links, holes and attributes."""

import os
import shutil
import socket
import stat
import subprocess

from dedup_runner import PROGRAM, ROOT, DedupCase, generate, main, run, snapshot


class Trees(DedupCase):
    in_memory = False  # a disk has more kinds of attributes

    def awkward(self):
        """A tree with everything that is easily lost."""
        tree = os.fsencode(self.tree)
        os.mkdir(tree)

        def path(name):
            return os.path.join(tree, os.fsencode(name))

        def write(name, content=b"x"):
            with open(path(name), "wb") as file:
                file.write(content)
        for name in (b"plain", b" ", b"-n", b"--", b"new\nline", b"tab\t", b"\xff\xfe\x80", b"*?[a]",
                     b"back\\slash", b"quote\"'", "ünïcödé 漢字".encode(), b"a" * 255, b".hidden",
                     b"...", b"\x01\x7f"):
            write(name, name * 3)
        write("empty", b"")
        write("large", generate(1, 3_000_000))
        write("text", b"the same line over and over\n" * 40_000)
        write("zeros", bytes(1_000_000))
        os.mkdir(path("directory"))
        os.mkdir(path("directory/empty directory"))
        os.symlink("plain", path("link"))
        os.symlink("does not exist", path("dangling"))
        os.symlink(b"\xff" * 200, path("bytes"))
        os.symlink("..", path("directory/up"))
        os.link(path("large"), path("hard"))
        os.link(path("large"), path("directory/hard too"))
        os.link(path("dangling"), path("hard dangling"))
        os.mkfifo(path("pipe"))
        with open(path("sparse"), "wb") as file:
            file.seek(5_000_000)
            file.write(b"middle")
            file.truncate(20_000_000)
        with open(path("hole"), "wb") as file:
            file.truncate(10_000_000)
        deep = path("deep")
        for _ in range(150):
            deep = os.path.join(deep, b"d")
        os.makedirs(deep)
        for mode in (0o000, 0o400, 0o4755, 0o2755, 0o1777, 0o640):
            write(f"mode {mode:o}")
            os.chmod(path(f"mode {mode:o}"), mode if ROOT else mode | 0o400)
            os.mkdir(path(f"directory {mode:o}"))
            os.chmod(path(f"directory {mode:o}"), mode if ROOT else mode | 0o500)
        for name, when in (("old", -86_400 * 10**9 - 123), ("new", 4_102_444_800_123_456_789)):
            write(name)
            os.utime(path(name), ns=(when, when))
        os.utime(path("link"), ns=(5, 5), follow_symlinks=False)
        os.utime(path("directory/empty directory"), ns=(1_000_000_007, 1_000_000_007))
        for name in ("plain", "directory", "empty"):
            try:
                os.setxattr(path(name), "user.bloomery", b"\0any\xffbytes")
                os.setxattr(path(name), "user.empty", b"")
            except OSError:
                pass
        if ROOT:
            os.lchown(path("plain"), 1234, 5678)
            os.lchown(path("link"), 4321, 8765)
            os.chown(path("directory"), 77, 88)
            os.chown(path("mode 4755"), 99, 99)
            os.chmod(path("mode 4755"), 0o4755)
            os.mknod(path("null"), stat.S_IFCHR | 0o666, os.makedev(1, 3))
        return tree

    def test_round_trip(self):
        for options in (("--chunk", "16KiB", "--compress", "none"),
                        ("--engine", "dba", "--hash", "sha1", "--chunk", "64KB", "--compress",
                         "zstd:1")):
            with self.subTest(options=options):
                self.awkward()
                self.init(*options)
                self.put("first")
                self.assert_restores("first")
                self.assertEqual(self.check()["problems"], [])
                again = self.put("second", "tree", "--no-cache")
                self.assertEqual(again["new_chunks"], 0)
                self.assert_restores("second")
                sparse = self.get("first") / "tree/sparse"
                self.assertLess(os.stat(sparse).st_blocks * 512, 10_000_000)
                for name in ("repo", "tree", f"restored{self.restored}"):
                    shutil.rmtree(self.directory / name)

    def test_the_directory_itself(self):
        self.awkward()
        os.chmod(self.tree, 0o711)
        self.init()
        self.run_ok("put", self.repo, "dot", ".", "-q", cwd=self.tree)
        into = self.get("dot")
        self.assertEqual(snapshot(into), snapshot(self.tree))
        self.assertEqual(os.stat(into).st_mode & 0o7777, 0o711)
        self.assertEqual(os.stat(into).st_mtime_ns, os.stat(self.tree).st_mtime_ns)

    def test_paths(self):
        self.write("a/b/c", b"see")
        self.write("d", b"dee")
        self.init()
        self.run_ok("put", self.repo, "absolute", self.tree / "a", "-q")
        self.assertEqual((self.get("absolute") / str(self.tree)[1:] / "a/b/c").read_bytes(), b"see")
        self.put("parts", "./tree//a/", "tree/d")
        into = self.get("parts")
        self.assertEqual((into / "tree/a/b/c").read_bytes(), b"see")
        self.assertEqual((into / "tree/d").read_bytes(), b"dee")
        self.put("twice", "tree/a/b", "tree", "./tree", "tree/d")
        into = self.get("twice")
        self.assertEqual(snapshot(into / "tree"), snapshot(self.tree))
        self.assertEqual(len(self.json("ls", self.repo, "twice")["entries"]), 5)
        self.fails(3, 'must not contain ".."', "put", self.repo, "up", "../tree", cwd=self.tree)
        self.assertEqual([a["name"] for a in self.json("ls", self.repo)["archives"]],
                         ["absolute", "parts", "twice"])

    def test_paths_of_one_name(self):
        """The paths /x and x are different files, of which none may be left out silently."""
        self.write("d", b"dee")
        inside = self.directory / str(self.tree)[1:]
        inside.parent.mkdir(parents=True)
        inside.mkdir()
        (inside / "d").write_bytes(b"other")
        self.init()
        relative = str(self.tree)[1:]
        for paths in ((self.tree, relative), (relative + "/d", self.tree), (".", "/")):
            self.fails(3, "would be stored under the same name", "put", self.repo, "x", *paths,
                       cwd=self.directory)
        self.assertEqual(self.json("ls", self.repo)["archives"], [])
        (self.directory / "tree-").mkdir()
        self.put("many", "tree/d", "tree", "tree-", "tree/d", "tree-")
        self.assertEqual(sorted(entry["path"] for entry in
                                self.json("ls", self.repo, "many")["entries"]),
                         ["tree", "tree-", "tree/d"])

    def test_parts(self):
        self.write("a/one", b"1")
        self.write("a/two", b"2")
        self.write("ab", b"not a")
        os.link(self.tree / "a/one", self.tree / "b")
        self.init()
        self.put("x")
        into = self.get("x", "tree/a")
        self.assertEqual(sorted(os.listdir(into / "tree")), ["a"])
        self.assertEqual(sorted(os.listdir(into / "tree/a")), ["one", "two"])
        self.assertEqual((self.get("x", "tree/b") / "tree/b").read_bytes(), b"1")  # a link
        self.assertEqual(self.run_ok("get", self.repo, "x", "tree/a/two"), b"2")
        self.assertEqual(self.run_ok("get", self.repo, "x", "/tree/b"), b"1")
        self.fails(3, "standard output takes one file, not 2", "get", self.repo, "x", "tree/a")

    def test_existing_files_stay(self):
        self.write("a", b"old")
        self.init()
        self.put("x")
        into = self.get("x")
        (into / "tree/a").write_bytes(b"precious")
        self.fails(3, "exists already", "get", self.repo, "x", "-C", into)
        self.assertEqual((into / "tree/a").read_bytes(), b"precious")
        self.run_ok("get", self.repo, "x", "-C", into, "--force", "-q")
        self.assertEqual((into / "tree/a").read_bytes(), b"old")

    def test_link_to_an_existing_file(self):
        """A hard link is not made to a file that was there before."""
        self.write("a", b"stored")
        os.link(self.tree / "a", self.tree / "b")
        self.init()
        self.put("x")
        into = self.directory / "into"
        (into / "tree").mkdir(parents=True)
        (into / "tree/a").write_bytes(b"precious")
        self.fails(3, "1 entry was not restored", "get", self.repo, "x", "-C", into)
        self.assertEqual((into / "tree/a").read_bytes(), b"precious")
        self.assertEqual((into / "tree/b").read_bytes(), b"stored")

    def test_file_that_grows(self):
        """A file is stored with the size that it had when it was opened."""
        path, size = self.write("a", bytes(40_000_000)), 40_000_000
        self.init()
        put = subprocess.Popen([PROGRAM, "dedup", "put", self.repo, "x", "tree", "-q"],
                               cwd=self.directory, stderr=subprocess.PIPE)
        links = f"/proc/{put.pid}/fd"
        while put.poll() is None:
            try:
                if any(os.readlink(f"{links}/{fd}") == str(path) for fd in os.listdir(links)):
                    break
            except OSError:
                continue
        with open(path, "ab") as file:
            file.write(b"later")
        errors = put.communicate()[1]
        self.assertEqual(put.returncode, 0)
        if b"changed while it was read" not in errors:
            self.skipTest("the file was read too quickly")
        self.assertEqual((self.get("x") / "tree/a").stat().st_size, size)

    def test_no_way_out_through_links(self):
        """A directory of the archive that is a link in the target is not followed."""
        self.write("a/b", b"content")
        self.init()
        self.put("x")
        into, outside = self.directory / "into", self.directory / "outside"
        outside.mkdir()
        (into / "tree").mkdir(parents=True)
        os.symlink(outside, into / "tree/a")
        self.assertEqual(run("get", self.repo, "x", "-C", into).returncode, 3)
        self.assertEqual(os.listdir(outside), [])

    def test_standard_input(self):
        self.init()
        for size in (0, 1, 100_000, 5_000_001):
            content = generate(size, size)
            self.run_ok("put", self.repo, f"n{size}", "-", "-q", stdin=None, input=content)
            self.assertEqual(self.run_ok("get", self.repo, f"n{size}"), content)
            self.assertEqual(self.json("ls", self.repo, f"n{size}")["entries"][0]["size"], size)

    def test_exclude(self):
        for name in ("a.o", "a.c", "sub/b.o", "sub/c", "skip/d"):
            self.write(name, name.encode())
        self.init()
        self.put("x", "tree", "--exclude", "*.o", "--exclude", "tree/skip")
        self.assertEqual(sorted(name.decode() for name in snapshot(self.get("x"))),
                         ["tree", "tree/a.c", "tree/sub", "tree/sub/c"])

    def test_sockets_are_left_out(self):
        self.write("a", b"a")
        self.init()
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.fsencode(self.tree / "socket"))
            self.assertEqual(self.put("x")["entries"], 2)
        self.assertEqual(os.listdir(self.get("x") / "tree"), ["a"])

    def test_repository_is_left_out(self):
        self.init()
        self.write("a", b"a")
        done = run("put", self.repo, "x", ".", cwd=self.directory)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"repo: skipped, because it is the repository", done.stderr)
        self.assertEqual(sorted(os.listdir(self.get("x"))), ["tree"])


main()
