"""The messages and exit codes of the failures that people meet and scripts handle."""

import os
import re
import socket
import struct
import subprocess
import threading

import xxhash

from cli_runner import PROGRAM, SAMPLE, CommandCase, main

NOBODY = 65534


class MessageCase(CommandCase):
    def make_each(self):
        """A map m, an index i of the file lines, a state s."""
        self.write("lines", b"a\nb\n")
        self.output("map", "build", "m", stdin=b"a\t1\nb\t2\n")
        self.output("index", "build", "i", "lines")
        self.output("seen", "--state", "s", stdin=b"a\n")

    def readers(self, name):
        return (["map", "get", name, "a"], ["map", "info", name], ["index", "locate", name, "a"],
                ["index", "check", name])


class Files(MessageCase):
    def test_missing(self):
        for name, shown in (("none.map", "none.map"), ("no/where", "no/where"), ("-x", "-x"),
                            ("two words", '"two words"')):
            for command in self.readers(name):
                words = [*command[:2], "--", *command[2:]] if name[0] == "-" else command
                self.fails(words, f"{shown}: No such file or directory")
        self.fails(["seen", "none"], "none: No such file or directory")
        self.fails(["index", "build", "i", "none"], "none: No such file or directory")
        self.fails(["flows", "none"], "none: No such file or directory")
        self.assertEqual(os.listdir(self.directory), [])

    def test_not_ours(self):
        self.write("text", b"some text, longer than the header of a file, which has 64 bytes\n")
        self.write("short", b"hello\n")
        self.write("empty", b"")
        self.output("map", "build", "m", stdin=b"a\t1\n")
        for length in (7, 8, 63):
            self.write(f"cut{length}", self.content("m")[:length])
        for name, problem in (("text", "not Bloomery data"), ("short", "not Bloomery data"),
                              ("empty", "the data ends inside the header"),
                              ("cut7", "the data ends inside the header"),
                              ("cut8", "the data ends inside the header"),
                              ("cut63", "the data ends inside the header")):
            for command in self.readers(name):
                self.fails(command, f"{name}: {problem}")
        self.fails(["seen", "--state", "short"], "short: not Bloomery data", stdin=b"")

    def test_of_another_kind(self):
        self.make_each()
        self.fails(["map", "get", "s", "a"], "s: another kind of object, not a map")
        self.fails(["index", "locate", "m", "a"], "m: another kind of object, not an index")
        self.fails(["seen", "--state", "m"], "m: another kind of object, not a window")

    def test_damaged(self):
        self.make_each()
        for name, command in (("m", ["map", "get"]), ("i", ["index", "locate"])):
            content = self.content(name)
            self.write("x", content[:64] + bytes([content[64] ^ 1]) + content[65:])
            self.fails([*command, "x", "a"],
                       "x: damaged at byte 64: a frame's head is damaged or out of place")
            self.write("x", content[:80] + bytes([content[80] ^ 1]) + content[81:])
            self.fails([*command, "x", "a"], "x: damaged at byte 64: a frame is damaged")
            self.write("x", content + b"more")
            self.fails([*command, "x", "a"], f"x: damaged at byte {len(content)}: trailing data")
            self.fails([*command, "-", "a"],
                       f"standard input: damaged at byte {len(content)}: trailing data",
                       stdin=content + b"more")

    def test_damaged_anywhere(self):
        """The library's tests damage every byte."""
        self.make_each()
        self.output("index", "build", "dba", "lines", "--engine", "dba")
        self.output("map", "build", "kbf", "--engine", "kbf", stdin=b"a\t1\n")
        for name, command in (("m", ["map", "get", "x", "a"]), ("kbf", ["map", "get", "x", "a"]),
                              ("i", ["index", "locate", "x", "a"]), ("s", ["seen", "--state", "x"]),
                              ("dba", ["index", "locate", "x", "a"])):
            content = self.content(name)
            places = (0, 12, 13, 14, 15, 16, 24, 39, 40, 47, 48, 63, 64, 80, len(content) // 2, -1)
            for at in places[::SAMPLE]:
                for damaged in (content[:at], content[:at] + bytes([content[at] ^ 1]) + content[at:][1:]):
                    self.write("x", damaged)
                    self.expect_damaged(command, "x")
                    self.assertEqual(self.content("x"), damaged)

    def test_of_another_version(self):
        self.make_each()
        for name, command in (("m", ["map", "get", "x", "a"]), ("i", ["index", "locate", "x", "a"]),
                              ("s", ["seen", "--state", "x"])):
            content = bytearray(self.content(name))
            content[8] += 1
            content[56:64] = struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(content[:56])))
            self.write("x", bytes(content))
            self.fails(command, "x: unsupported format revision")

    def test_a_full_disk(self):
        self.make_each()
        with open("/dev/full", "wb") as full:
            for arguments in (["--help"], ["--version"], ["plan", "--help"], ["map", "--help"],
                              ["plan", "--capacity", "1k", "--error", "1%"],
                              ["plan", "--capacity", "1k", "--error", "1%", "--json"],
                              ["map", "build", "-"], ["map", "info", "m"], ["map", "info", "m", "--json"],
                              ["map", "get", "m", "a"], ["map", "get", "m"], ["map", "get", "m", "--json"],
                              ["seen"], ["index", "locate", "i", "a"]):
                lines = b"a\n" * 20000 if arguments[:2] == ["map", "get"] else b"a\t1\n"
                self.fails(arguments,
                           "standard output: No space left on device", out=None, stdin=lines,
                           capture_output=False, stdout=full, stderr=subprocess.PIPE)

    def test_closed_streams(self):
        self.make_each()
        for command, stream in (("--help >&-", "output"), ("map get m a >&-", "output"),
                                ("map build new <&-", "input"), ("map get m <&-", "input"),
                                ("map put m <&-", "input"), ("map del m <&-", "input"),
                                ("seen <&-", "input")):
            done = subprocess.run(["sh", "-c", f'exec "$0" {command}', PROGRAM], cwd=self.directory,
                                  capture_output=True)
            self.assertEqual((done.returncode, done.stdout, done.stderr.decode()), (
                3, b"", f"bloomery: standard {stream}: Bad file descriptor\n"))
        self.assert_files("i", "lines", "m", "s")

    def test_permission(self):
        self.make_each()
        os.chmod(self.path("m"), 0)
        os.chmod(self.directory, 0o555)
        self.addCleanup(os.chmod, self.directory, 0o755)
        user = {} if os.geteuid() else {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        try:
            self.call("--version", **user)
        except PermissionError:
            self.skipTest("another user cannot run the program")
        self.fails(["map", "get", "m", "a"], "m: Permission denied", **user)
        self.fails(["map", "build", "new"], "new: Permission denied", **user)
        self.fails(["seen", "--state", "s"], "s: Permission denied", **user)


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
        done = self.call("map", "ls", "redis://127.0.0.1:1")
        if b"BLOOMERY_CLUSTER" in done.stderr:
            self.skipTest("a build without clusters")

    def test_unreachable(self):
        for command in (["map", "get", "redis://127.0.0.1:1/m", "a"],
                        ["map", "ls", "redis://127.0.0.1:1"],
                        ["cluster", "status", "redis://127.0.0.1:1"]):
            self.fails(command, "127.0.0.1:1: Connection refused")

    def test_of_another_type(self):
        place = self.serve(reply_to)
        self.fails(["map", "get", f"redis://{place}/m", "a"], "map m: not found")
        self.fails(["map", "get", f"redis://{place}/text", "a"],
                   "map text: the key is not the record of a map (if damaged, DEL {text}:map "
                   "removes it)")
        self.fails(["map", "build", f"redis://{place}/m"],
                   "SET: ERR unknown command 'SET'", stdin=b"a\tb\n")
        self.fails(["cluster", "status", f"redis://{place}"],
                   f"redis://{place}: a single server, not a node of a cluster")

    def test_no_redis(self):
        place = self.serve(lambda words: b"HTTP/1.1 400 Bad Request\r\n\r\n")
        done = self.call("map", "get", f"redis://{place}/m", "a")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr.decode(), f"^bloomery: {re.escape(place)}: Protocol error")


main()
