"""Files of the program: standard streams instead of files, special files, and concurrent
changes."""

import fcntl
import os
import pty
import subprocess
import termios
import time
import unittest

from cli_runner import CommandCase, main


class FilesCase(CommandCase):
    def make_some(self):
        self.write("lines", b"a\nb\n")
        self.output("map", "build", "m", "--seed", "7", stdin=b"a\t1\n")
        self.output("index", "build", "i", "lines", "--seed", "7")
        self.output("seen", "--state", "s", stdin=b"a\n")


class Streams(FilesCase):
    def test_map(self):
        self.make_some()
        built = self.output("map", "build", "-", "--seed", "7", stdin=b"a\t1\n")
        self.assertEqual(built, self.content("m"))
        self.assertEqual(self.output("map", "get", "-", "a", stdin=built), b"1\n")
        self.output("map", "put", "m", "b", "2")
        changed = self.output("map", "put", "-", "b", "2", stdin=built)
        self.assertEqual(changed, self.content("m"))
        less = self.output("map", "del", "-", "b", stdin=changed)
        self.output("map", "get", "-", "b", stdin=less, code=1)
        self.write("n", built)
        merged = self.output("map", "merge", "n", "-", "--output", "-", stdin=changed)
        self.assertEqual(self.output("map", "get", "-", "a", "b", stdin=merged),
                         b"a\t1\nb\t2\n")
        self.output("map", "compress", "-", stdin=changed)
        self.output("map", "build", "like", "--like", "m", stdin=b"c\t1\n")

    def test_index(self):
        self.make_some()
        built = self.output("index", "build", "-", "lines", "--seed", "7")
        self.assertEqual(built, self.content("i"))
        self.assertEqual(self.output("index", "locate", "-", "b", stdin=built), b"lines\n")
        self.write("more", b"c\n")
        changed = self.output("index", "add", "-", "more", stdin=built)
        self.assertEqual(self.output("index", "locate", "-", "c", stdin=changed), b"more\n")
        self.output("index", "del", "-", "more", stdin=changed)
        units = self.output("index", "unit", "-", "--like", "i", "--name", "shipped",
                            stdin=b"d\ne")
        self.output("index", "import", "i", "-", stdin=units)
        self.assertEqual(self.output("index", "locate", "i", "e"), b"shipped\n")

    def test_one_stream_is_not_two(self):
        self.make_some()
        for arguments, what in ((["map", "get", "-"], "keys"), (["map", "put", "-"], "pairs"),
                                (["map", "del", "-"], "keys"), (["index", "locate", "-"], "keys"),
                                (["index", "del", "-", "--from", "lines"], "keys"),
                                (["map", "get", "-", "-"], "keys"), (["map", "put", "-", "-"], "pairs"),
                                (["index", "locate", "-", "-"], "keys")):
            self.output(*arguments, code=2, err=(
                f'bloomery: standard input cannot be both "-" and the {what}\n'
                f'Try "bloomery {" ".join(arguments[:2])} --help".\n').encode())
        self.output("index", "build", "x", "-", code=3, err=(
            b'bloomery: standard input: cannot be read again; "index unit -" makes units '
            b'of it\n'))
        self.output("index", "unit", "-", "--like", "i", code=2, err=(
            b'bloomery: missing --name: "-" has no name\nTry "bloomery index unit --help".\n'))

    def test_not_for_a_terminal(self):
        inner, outer = pty.openpty()
        process = self.start("map", "build", "-", stdout=outer)
        out, err = process.communicate(b"a\t1\n")
        self.assertEqual((process.returncode, err),
                         (3, b"bloomery: standard output is a terminal: redirect it to a file or "
                             b"a pipe\n"))
        os.close(inner)
        os.close(outer)


class Access(FilesCase):
    @unittest.skipIf(os.getuid(), "only root gives files away")
    def test_a_replaced_file_keeps_its_owner(self):
        self.make_some()
        for name, arguments in (("m", ["map", "put", "m", "b", "2"]),
                                ("i", ["index", "add", "i", "lines"]),
                                ("s", ["seen", "--state", "s"])):
            os.chown(self.path(name), 65534, 65533)
            os.chmod(self.path(name), 0o640)
            self.output(*arguments, stdin=b"")
            facts = os.stat(self.path(name))
            self.assertEqual((name, facts.st_uid, facts.st_gid, facts.st_mode & 0o777),
                             (name, 65534, 65533, 0o640))


class NoFiles(FilesCase):
    def test_pipes_devices_and_directories_are_refused(self):
        """The program must not wait for any of them."""
        self.make_some()
        os.mkfifo(self.path("pipe"))
        os.mkdir(self.path("directory"))
        for name, problem in (("pipe", "not a regular file"),
                              ("/dev/zero", "not a regular file"),
                              ("directory", "Is a directory")):
            for arguments in (["map", "get", name, "a"], ["map", "put", name, "a", "1"],
                              ["map", "del", name, "a"], ["map", "info", name],
                              ["map", "merge", "m", name], ["map", "merge", name, "m"],
                              ["map", "compress", name], ["map", "build", "x", "--like", name],
                              ["map", "build", name, "--force"],
                              ["index", "locate", name, "a"], ["index", "add", name, "lines"],
                              ["index", "del", name, "lines"], ["index", "refresh", name],
                              ["index", "info", name], ["index", "check", name],
                              ["index", "import", "i", name], ["index", "import", name, "i"],
                              ["index", "unit", "lines", "--like", name],
                              ["index", "build", name, "lines", "--force"],
                              ["seen", "--state", name]):
                self.output(*arguments, code=3,
                            err=f'bloomery: {name}: {problem}\n'.encode())


class Locks(FilesCase):
    def hold(self, name):
        file = open(self.path(name), "rb")
        self.addCleanup(file.close)
        fcntl.flock(file, fcntl.LOCK_EX)
        return file

    def feed(self, process, lines):
        """Waits until it has read them, and so has checked its file."""
        self.say(process, lines)
        left, end = bytearray(b"\1\0\0\0"), time.monotonic() + 60
        while any(left):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
            fcntl.ioctl(process.stdin, termios.FIONREAD, left)

    def test_no_change_is_lost(self):
        """Many processes at once, each adding its own file or key."""
        self.make_some()
        for i in range(16):
            self.write(f"f{i}", b"line of %d\n" % i)
        for command in (lambda i: ["index", "add", "i", f"f{i}"],
                        lambda i: ["map", "put", "m", f"k{i}", f"v{i}"]):
            running = [self.start(*command(i), stdin=subprocess.DEVNULL) for i in range(16)]
            for process in running:
                out, err = process.communicate(timeout=120)
                self.assertEqual((process.returncode, out, err), (0, b"", b""))
        for i in range(16):
            self.assertEqual(self.output("index", "locate", "i", f"line of {i}"),
                             f"f{i}\n".encode())
            self.assertEqual(self.output("map", "get", "m", f"k{i}"), f"v{i}\n".encode())

    def test_changes_wait_and_say_for_whom(self):
        self.make_some()
        commands = (["index", "add", "i", "lines"], ["index", "refresh", "i"],
                    ["index", "del", "i", "none"], ["index", "build", "i", "lines", "--force"],
                    ["map", "put", "m", "b", "2"], ["map", "del", "m", "b"],
                    ["map", "compress", "m"], ["map", "build", "m", "--force"])
        held = {name: self.hold(name) for name in ("i", "m")}
        running = [self.start(*command, stdin=subprocess.DEVNULL) for command in commands]
        for process, command in zip(running, commands):
            note = process.stderr.readline()  # none of them ends before it
            self.assertRegex(note.decode(), rf'^bloomery: waiting for (process {os.getpid()}|another '
                                            rf'process), which is changing {command[2]}\n$')
            self.assertIsNone(process.poll())
        for file in held.values():
            fcntl.flock(file, fcntl.LOCK_UN)
        for process in running:
            process.communicate(timeout=120)
            self.assertIn(process.returncode, (0, 1))

    def test_reading_does_not_wait(self):
        self.make_some()
        for name in ("i", "m"):
            self.hold(name)
        self.assertEqual(self.output("map", "get", "m", "a"), b"1\n")
        self.assertEqual(self.output("index", "locate", "i", "a"), b"lines\n")
        self.output("map", "merge", "m", "m2", "--output", "x", code=3,
                    err=b'bloomery: m2: No such file or directory\n')

    def test_ctrl_c_ends_the_wait(self):
        self.make_some()
        before = self.content("i")
        self.hold("i")
        process = self.start("index", "add", "i", "lines")
        process.stderr.readline()
        process.terminate()
        process.communicate()
        self.assertEqual(process.returncode, -15)
        self.assertEqual((self.content("i"), sorted(os.listdir(self.directory))),
                         (before, ["i", "lines", "m", "s"]))

    def test_a_state_in_use_is_refused(self):
        self.make_some()
        first = self.start("seen", "--state", "s")
        self.say(first, b"b\n")
        self.assertEqual(first.stdout.readline(), b"b\n")
        done = self.call("seen", "--state", "s", stdin=b"c\n")
        self.assertEqual((done.returncode, done.stdout), (3, b""))
        self.assertRegex(done.stderr.decode(), rf'^bloomery: s: in use by (process {first.pid}'
                                               r'|another process)\n$')
        first.communicate()
        self.assertEqual(self.output("seen", "--state", "s", stdin=b"a\nb\nc\n"), b"c\n")

    def test_two_new_maps(self):
        """Neither finds the file; the first to finish creates it."""
        running = [self.start("map", "build", "new") for _ in range(2)]
        for process, line in zip(running, (b"a\t1\n", b"b\t2\n")):
            process.communicate(line)
            self.assertEqual(process.returncode, 0 if line[:1] == b"a" else 3)
        self.assertEqual(self.output("map", "get", "new", "a"), b"1\n")

    def test_a_file_that_appears(self):
        """A file that did not exist when the build began is locked before it is replaced."""
        process = self.start("map", "build", "new", "--force")
        self.feed(process, b"b\t2\n")  # otherwise it could find and lock the file, and wait for us
        self.output("map", "build", "new", stdin=b"a\t1\n")
        held = self.hold("new")
        process.stdin.close()
        self.assertIn(b"waiting for ", process.stderr.readline())
        self.output("map", "get", "new", "a")
        fcntl.flock(held, fcntl.LOCK_UN)
        self.assertEqual(process.wait(), 0)
        self.assertEqual(self.output("map", "get", "new", "b"), b"2\n")

    def test_two_new_states(self):
        """Neither finds the file; the second to finish must not replace the first one's state."""
        running = [self.start("seen", "--state", "new") for _ in range(2)]
        for process, line in zip(running, (b"a\n", b"b\n")):
            self.say(process, line)
            self.assertEqual(process.stdout.readline(), line)
        running[0].communicate()
        out, err = running[1].communicate()
        self.assertEqual((running[0].returncode, running[1].returncode), (0, 3))
        self.assertEqual(err, b'bloomery: new: another run has created it since; the lines of '
                              b'this run are not in it\n')
        self.assertEqual(self.output("seen", "--state", "new", stdin=b"a\nb\n"), b"b\n")


main()
