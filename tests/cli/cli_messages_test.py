"""The messages and exit codes of the failures that people meet and scripts handle."""

import os
import re
import socket
import struct
import subprocess
import threading
import unittest

import xxhash

from cli_runner import PROGRAM, DirectoryCase, main

NOBODY = 65534


class MessageCase(DirectoryCase):
    def bloomery(self, *arguments, stdin=b"", **options):
        return subprocess.run([PROGRAM, *arguments], input=stdin, cwd=self.directory, timeout=300,
                              **{"capture_output": True, **options})

    def make(self, *arguments, **options):
        done = self.bloomery(*arguments, **options)
        self.assertEqual((done.returncode, done.stderr), (0, b""), arguments)

    def fails(self, message, *arguments, code=3, **options):
        """With exactly this message."""
        with self.subTest(arguments=arguments):
            done = self.bloomery(*arguments, **options)
            self.assertEqual((done.returncode, done.stderr.decode()),
                             (code, f"bloomery: {message}\n"))

    def make_each(self):
        """A map m, an index i of the file lines, a state s."""
        self.write("lines", b"a\nb\n")
        self.make("map", "build", "m", stdin=b"a\t1\nb\t2\n")
        self.make("index", "build", "i", "lines")
        self.make("seen", "--state", "s", stdin=b"a\n")

    def readers(self, name):
        return (["map", "get", name, "a"], ["map", "info", name], ["index", "locate", name, "a"],
                ["index", "check", name])


class Files(MessageCase):
    def test_missing(self):
        for name, shown in (("none.map", "none.map"), ("no/where", "no/where"), ("-x", "-x"),
                            ("größe", "größe"), ("two words", '"two words"'), ("a:", '"a:"'),
                            ("it's", '''"it's"'''), ("x\n", r'"x\x0a"')):
            for command in self.readers(name):
                words = [*command[:2], "--", *command[2:]] if name[0] == "-" else command
                self.fails(f"{shown}: No such file or directory", *words)
        self.fails("none: No such file or directory", "seen", "none")
        self.fails("none: No such file or directory", "index", "build", "i", "none")
        self.fails("none: No such file or directory", "flows", "none")
        self.assertEqual(os.listdir(self.directory), [])

    def test_not_a_file(self):
        for command in self.readers("."):
            self.fails(".: Is a directory", *command)
        self.fails("/dev/null: not a regular file", "map", "get", "/dev/null", "a")

    def test_not_ours(self):
        self.write("text", b"some text, longer than the header of a file, which has 64 bytes\n")
        self.write("short", b"hello\n")
        self.write("empty", b"")
        self.make("map", "build", "m", stdin=b"a\t1\n")
        for length in (7, 8, 63):
            self.write(f"cut{length}", self.content("m")[:length])
        for name, problem in (("text", "not Bloomery data"), ("short", "not Bloomery data"),
                              ("empty", "the data ends inside the header"),
                              ("cut7", "the data ends inside the header"),
                              ("cut8", "the data ends inside the header"),
                              ("cut63", "the data ends inside the header")):
            for command in self.readers(name):
                self.fails(f"{name}: {problem}", *command)
        self.fails("short: not Bloomery data", "seen", "--state", "short", stdin=b"")

    def test_of_another_kind(self):
        self.make_each()
        self.fails("s: another kind of object, not a map", "map", "get", "s", "a")
        self.fails("m: another kind of object, not an index", "index", "locate", "m", "a")
        self.fails("m: another kind of object, not a window", "seen", "--state", "m")

    def test_damaged(self):
        self.make_each()
        for name, command in (("m", ["map", "get"]), ("i", ["index", "locate"])):
            content = self.content(name)
            self.write("x", content[:64] + bytes([content[64] ^ 1]) + content[65:])
            self.fails("x: damaged at byte 64: a frame's head is damaged or out of place", *command,
                       "x", "a")
            self.write("x", content[:80] + bytes([content[80] ^ 1]) + content[81:])
            self.fails("x: damaged at byte 64: a frame is damaged", *command, "x", "a")
            self.write("x", content + b"more")
            self.fails(f"x: damaged at byte {len(content)}: trailing data", *command, "x", "a")
            self.write("x", content[:-1])
            done = self.bloomery(*command, "x", "a")
            self.assertEqual(done.returncode, 3)
            self.assertRegex(done.stderr, rb"^bloomery: x: damaged at byte \d+: the data ends ")
            self.fails(f"standard input: damaged at byte {len(content)}: trailing data", *command,
                       "-", "a", stdin=content + b"more")

    def test_of_another_version(self):
        self.make_each()
        for name, command in (("m", ["map", "get", "x", "a"]), ("i", ["index", "locate", "x", "a"]),
                              ("s", ["seen", "--state", "x"])):
            content = bytearray(self.content(name))
            content[8] += 1
            content[56:64] = struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(content[:56])))
            self.write("x", bytes(content))
            self.fails("x: unsupported format revision", *command)

    def test_existing(self):
        self.make_each()
        for arguments in (["map", "build", "m"], ["index", "build", "m", "lines"],
                          ["map", "merge", "i", "s", "--output", "m"]):
            self.fails("m: exists already; --force replaces it", *arguments)

    def test_a_full_disk(self):
        self.make_each()
        with open("/dev/full", "wb") as full:
            for arguments in (["map", "build", "-"], ["map", "info", "m"], ["seen"],
                              ["index", "locate", "i", "a"],
                              ["plan", "--capacity", "1k", "--error", "1%"]):
                self.fails("standard output: No space left on device", *arguments, stdin=b"a\t1\n",
                           capture_output=False, stdout=full, stderr=subprocess.PIPE)

    def test_permission(self):
        self.make_each()
        os.chmod(self.path("m"), 0)
        os.chmod(self.directory, 0o555)
        self.addCleanup(os.chmod, self.directory, 0o755)
        user = {} if os.geteuid() else {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        try:
            self.bloomery("--version", **user)
        except PermissionError:
            self.skipTest("another user cannot run the program")
        self.fails("m: Permission denied", "map", "get", "m", "a", **user)
        self.fails("new: Permission denied", "map", "build", "new", **user)
        self.fails("s: Permission denied", "seen", "--state", "s", **user)

    def test_input_lines(self):
        self.write("short", b"a b\nc\n")
        self.fails("line 2: there is no tab between key and value", "map", "build", "m",
                   stdin=b"a\t1\nb\n")
        self.fails("short: line 1: there is no tab between key and value", "map", "build", "m", "short")
        self.fails('"no such": No such file or directory', "map", "build", "m", "no such")
        self.fails("short: line 2: there is no field 2", "seen", "-d", " ", "--key", "2", "short",
                   capture_output=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


class Usage(MessageCase):
    def test_a_hint(self):
        for arguments, message, hint in (
                ([], "missing command", ""), (["map"], "missing command", "map "),
                (["frobnicate"], 'unknown command "frobnicate"', ""),
                (["seen", "--frobnicate"], 'unknown option "--frobnicate"', "seen "),
                (["plan", "--capacity", "10M", "x"], 'unexpected argument "x"', "plan ")):
            self.fails(f'{message}\nTry "bloomery {hint}--help".', *arguments, code=2)


def reply_to(words):
    """A single server without the module."""
    if words[0].upper() == b"CLUSTER":
        return b"-ERR This instance has cluster support disabled\r\n"
    if words[0].upper() == b"GET":
        return b"$-1\r\n" if words[1] != b"{text}:map" else b"$5\r\nhello\r\n"
    return b"-ERR unknown command '" + words[0] + b"'\r\n"


def talk(connection, reply):
    with connection, connection.makefile("rb") as stream:
        while head := stream.readline():
            words = []
            for _ in range(int(head[1:])):
                length = int(stream.readline()[1:])
                words.append(stream.read(length + 2)[:-2])
            connection.sendall(reply(words))


class Servers(MessageCase):
    def serve(self, reply):
        """A server that answers by `reply`; returns its address."""
        listener = socket.create_server(("127.0.0.1", 0))

        def accept():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=talk, args=(connection, reply), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        self.addCleanup(listener.close)
        return f"127.0.0.1:{listener.getsockname()[1]}"

    def setUp(self):
        super().setUp()
        done = self.bloomery("map", "ls", "redis://127.0.0.1:1")
        if b"BLOOMERY_CLUSTER" in done.stderr:
            self.skipTest("a build without clusters")

    def test_unreachable(self):
        for command in (["map", "get", "redis://127.0.0.1:1/m", "a"],
                        ["map", "ls", "redis://127.0.0.1:1"],
                        ["cluster", "status", "redis://127.0.0.1:1"]):
            self.fails("127.0.0.1:1: Connection refused", *command)

    def test_of_another_type(self):
        place = self.serve(reply_to)
        self.fails("map m: not found", "map", "get", f"redis://{place}/m", "a")
        self.fails("map text: the key is not the record of a map (if damaged, DEL {text}:map "
                   "removes it)", "map", "get", f"redis://{place}/text", "a")
        self.fails("SET: ERR unknown command 'SET'", "map", "build", f"redis://{place}/m",
                   stdin=b"a\tb\n")
        self.fails(f"redis://{place}: a single server, not a node of a cluster", "cluster",
                   "status", f"redis://{place}")

    def test_no_redis(self):
        place = self.serve(lambda words: b"HTTP/1.1 400 Bad Request\r\n\r\n")
        done = self.bloomery("map", "get", f"redis://{place}/m", "a")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr.decode(), f"^bloomery: {re.escape(place)}: Protocol error")


main()
