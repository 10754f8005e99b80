"""Servers with the module, and a client that speaks their protocol, for the other files here.

Every test program is called as

    PROGRAM SERVER MODULE [PRELOAD]

SERVER is redis-server or valkey-server, by name or path; MODULE is bloomery.so; PRELOAD is the
sanitizer's library if the module needs one. If there is no such server, the program says so, with
the reason of scripts/servers, and exits with 77, which ctest counts as skipped.
"""

import contextlib
import ctypes
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

SERVER = shutil.which(sys.argv[1]) if len(sys.argv) > 2 else None
MODULE = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
PRELOAD = sys.argv[3] if len(sys.argv) > 3 else None
# A module that cannot read what ours writes; it is built into the same directory.
OLDER_MODULE = os.path.join(os.path.dirname(MODULE), "bloomery-older.so") if MODULE else None

# A server allocates whatever size a damaged payload names, and can handle failure.
ASAN_OPTIONS = "detect_leaks=0:allocator_may_return_null=1"

SKIPPED = 77
PATIENCE = 60  # seconds; reached only by what hangs


class Error(Exception):
    """An error reply; returned inside a list, raised if it is the whole reply."""

    def __eq__(self, other):
        return isinstance(other, Error) and str(self) == str(other)

    __hash__ = Exception.__hash__

    @property
    def word(self):
        return str(self).split(" ")[0]


def encode(arguments):
    words = [word.encode() if isinstance(word, str) else
             repr(word).encode() if isinstance(word, (int, float)) else word
             for word in arguments]
    return b"*%d\r\n" % len(words) + b"".join(
        [b"$%d\r\n%b\r\n" % (len(word), word) for word in words])


class Client:
    """RESP2, or RESP3 after hello3(). Replies: bytes, int, float, bool, None, list, dict, Error."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.file = self.socket.makefile("rb")

    def close(self):
        self.file.close()
        self.socket.close()

    def _read(self):
        line = self.file.readline()
        if line[-2:] != b"\r\n":
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b":":  # the most frequent first: tests spend much of their time here
            return int(rest)
        if kind == b"$" or kind == b"=":
            size = int(rest)
            return None if size < 0 else self.file.read(size + 2)[:-2]
        if kind in b"*~>":
            count, read = int(rest), self._read
            return None if count < 0 else [read() for _ in range(count)]
        if kind == b"+":
            return rest
        if kind == b"-":
            return Error(rest.decode("utf-8", "replace"))
        if kind == b",":
            return float(rest)
        if kind == b"#":
            return rest == b"t"
        if kind == b"_":
            return None
        if kind == b"%":
            return {self._read(): self._read() for _ in range(int(rest))}
        raise ValueError(f"a reply of no known kind: {kind + rest}")

    def ask(self, *arguments):
        """Sends a command; returns the reply, also if it is an error."""
        self.socket.sendall(encode(arguments))
        return self._read()

    def __call__(self, *arguments):
        """Sends a command; returns the reply, or raises an error."""
        reply = self.ask(*arguments)
        if isinstance(reply, Error):
            raise reply
        return reply

    def pipeline(self, commands):
        """Sends many commands at once; returns their replies."""
        encoded = [encode(command) for command in commands]
        self.socket.sendall(b"".join(encoded))
        read = self._read
        return [read() for _ in encoded]

    def hello3(self):
        return self("HELLO", 3)

    def info(self, section):
        """One section of INFO, with numbers as numbers."""
        fields = {}
        for line in self("INFO", section).decode().splitlines():
            name, colon, value = line.partition(":")
            if colon:
                fields[name] = int(value) if value.isdigit() else value
        return fields


def version_of(client):
    """The server's name and version, such as ("valkey", (9, 1))."""
    about = client.info("server")  # Valkey also has redis_version, of the Redis it is compatible with
    name = "valkey" if "valkey_version" in about else "redis"
    return name, tuple(map(int, about[f"{name}_version"].split(".")[:2]))


def pairs(reply):
    """A map from RESP2's flat list."""
    return reply if isinstance(reply, dict) else dict(zip(reply[::2], reply[1::2]))


def _die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server with the module, in a temporary directory."""

    def __init__(self, **settings):
        self.directory = tempfile.TemporaryDirectory(prefix="bloomery-module-")
        self.path = pathlib.Path(self.directory.name)
        self.settings = {"bind": "127.0.0.1", "save": "", "enable-debug-command": "yes",
                         "enable-module-command": "yes", "repl-diskless-sync-delay": "0",
                         "daemonize": "no", "dir": str(self.path), "loadmodule": MODULE}
        self.settings.update({name.replace("_", "-"): value for name, value in settings.items()})
        self.address_space = None  # in bytes, if limited
        self.process = None
        self.client = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        self.directory.cleanup()

    @property
    def log(self):
        return (self.path / "log").read_text(errors="replace")

    def start(self):
        """Starts it; tries other ports if another process took the first one."""
        for _ in range(5):
            self.port = free_port()
            if self._try_start():
                return
        raise RuntimeError(f"the server does not start:\n{self.log[-4000:]}")

    def refuses(self):
        """Tries to start it; returns its exit code, or None if it starts."""
        self.stop()
        self.port = free_port()
        return None if self._try_start() else self.process.returncode

    def write_base(self, data, kind="aof"):
        """Gives it an append-only file, or with kind "rdb" one that is a snapshot; returns its
        path."""
        self.settings["appendonly"] = "yes"
        directory = self.path / "appendonlydir"
        directory.mkdir(exist_ok=True)
        base = directory / f"appendonly.aof.1.base.{kind}"
        base.write_bytes(data)
        (directory / "appendonly.aof.manifest").write_text(f"file {base.name} seq 1 type b\n")
        return base

    def write_log(self, *commands):
        """Gives it an append-only file of these commands; returns its path."""
        return self.write_base(b"".join(map(encode, commands)))

    def replay(self, *commands):
        """Appends commands to its append-only file and starts it again; returns the file's path."""
        self.stop()
        log = sorted((self.path / "appendonlydir").glob("*.incr.aof"))[-1]
        with log.open("ab") as end:
            end.write(b"".join(map(encode, commands)))
        self.start()
        return log

    def configure(self, *lines):
        """Gives it a configuration file, which loads all modules if it loads one; returns itself."""
        text = "".join(f"{line}\n" for line in lines)
        (self.path / "more.conf").write_text(text)
        self.settings["include"] = str(self.path / "more.conf")
        if "loadmodule " in text:
            del self.settings["loadmodule"]
        return self

    def _try_start(self):
        self._launch()
        return self._answers()

    def _launch(self):
        arguments = [SERVER, "--port", str(self.port), "--logfile", str(self.path / "log")]
        for name, value in self.settings.items():
            arguments += [f"--{name}", value]
        environment = dict(os.environ)
        if PRELOAD:
            environment |= {"LD_PRELOAD": PRELOAD, "ASAN_OPTIONS": ASAN_OPTIONS}
        with (self.path / "stderr").open("ab") as errors:
            self.process = subprocess.Popen(
                arguments, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=errors, preexec_fn=self._prepare)

    def _prepare(self):
        """In the new process."""
        _die_with_parent()
        if self.address_space:
            resource.setrlimit(resource.RLIMIT_AS, (self.address_space, self.address_space))

    def _answers(self):
        """Waits until it answers. False if it has ended instead."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            try:
                self.client = Client(self.port)
                if self.client.ask("PING") == b"PONG" and self._is_ours():
                    return True
                self.client.close()
            except (OSError, ConnectionError):
                pass
            time.sleep(0.02)
        self.stop()
        return False

    def _is_ours(self):
        """False if another server has taken the port meanwhile; ours then exits."""
        return self.client.info("server")["process_id"] == self.process.pid

    def stop(self, kill=False):
        """Stops it by its process id; returns its exit code."""
        if self.client:
            self.client.close()
            self.client = None
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode if self.process else None

    def restart(self, **options):
        self.stop(**options)
        self.start()

    def complaints(self):
        """Reports of a sanitizer, or the server's own crash report."""
        said = (self.path / "stderr").read_text(errors="replace").splitlines(keepends=True)
        said = "".join(line for line in said if "AddressSanitizer failed to allocate" not in line)
        crash = "BUG REPORT START" in self.log or "ASSERTION FAILED" in self.log
        return said + (self.log[-6000:] if crash else "")


class Case(unittest.TestCase):
    """Tests on one server for the whole class, emptied before each, which have the settings RESTORED
    before each."""

    maxDiff = None
    SETTINGS = {}
    RESTORED = {"bloomery.max-key-bytes": "256mb", "maxmemory": "0", "notify-keyspace-events": "",
                "rdbcompression": "yes"}

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server(**cls.SETTINGS))

    @classmethod
    def tearDownClass(cls):
        assert cls.server.complaints() == "", cls.server.complaints()

    def setUp(self):
        self.client("FLUSHALL", "SYNC")  # Valkey would free in another thread, and INFO lag behind
        for name, value in self.RESTORED.items():
            self.client.ask("CONFIG", "SET", name, self.SETTINGS.get(name, value))

    @property
    def client(self):
        return self.server.client

    def is_server(self, name, since=(0, 0)):
        """True if the server is "redis" or "valkey" of this version or later."""
        found, version = version_of(self.client)
        return found == name and version >= since

    def refused(self, word, *command, text=""):
        """The command returns an error with this code and does not change the data."""
        before = self.client("DEBUG", "DIGEST")
        reply = self.client.ask(*command)
        self.assertIsInstance(reply, Error, command)
        self.assertEqual(reply.word, word, f"{command}: {reply}")
        self.assertIn(text, str(reply))
        self.assertEqual(self.client("DEBUG", "DIGEST"), before, command)
        return reply

    def refused_each(self, command, key, cases):
        """The same for each of (code, text, arguments …); the key does not exist afterwards."""
        for word, text, *arguments in cases:
            with self.subTest(arguments=arguments):
                self.refused(word, command, key, *arguments, text=text)
                self.assertEqual(self.client("EXISTS", key), 0)

    def connect(self):
        """Another client, until the test ends."""
        client = Client(self.server.port)
        self.addCleanup(client.close)
        return client

    def restarts_as_it_is(self, server=None, **options):
        """A server has the same data after a restart."""
        server = server or self.server
        digest = server.client("DEBUG", "DIGEST")
        server.restart(**options)
        self.assertEqual(server.client("DEBUG", "DIGEST"), digest, server.log[-2000:])

    def save(self):
        """SAVE, after waiting for a background save for a replica."""
        self.wait_until(lambda: self.client.info("persistence")["rdb_bgsave_in_progress"] == 0,
                        "nobody else saves")
        self.client("SAVE")

    def rewrite(self):
        """BGREWRITEAOF, and waits until it is done."""
        self.wait_rewritten(self.server)
        self.client("BGREWRITEAOF")
        self.wait_rewritten(self.server)
        self.assertEqual(self.client.info("persistence")["aof_last_bgrewrite_status"], "ok")

    def wait_rewritten(self, server):
        """A server that rewrites its log, as a new replica does, may ignore SIGTERM."""
        def busy():
            now = server.client.info("persistence")
            return now["aof_rewrite_in_progress"] or now["aof_rewrite_scheduled"]
        self.wait_until(lambda: not busy(), "the log is rewritten")

    def follow(self, replica, source=None):
        """Makes one server the replica of another, by default of this case's."""
        replica.client("REPLICAOF", "127.0.0.1", (source or self.server).port)
        self.wait_linked(replica)

    def wait_linked(self, replica):
        self.wait_until(lambda: replica.client.info("replication")["master_link_status"] == "up",
                        "the replica is connected")

    def caught_up(self, replicas=1):
        self.assertEqual(self.client("WAIT", replicas, PATIENCE * 1000), replicas)

    def same_on(self, *replicas):
        """The replicas have all of the server's data, without errors."""
        self.caught_up(len(replicas))
        for replica in replicas:
            self.assertEqual(replica.client("DEBUG", "DIGEST"), self.client("DEBUG", "DIGEST"))
            self.assertNotIn("sending an error", replica.log)
            self.assertEqual(replica.complaints(), "")

    def until_refused(self, word, command, most=10**6):
        """Sends command(0), command(1), … until one is refused with this code; returns its number
        and the error."""
        for i in range(most):
            reply = self.client.ask(*command(i))
            if isinstance(reply, Error):
                self.assertEqual(reply.word, word, reply)
                return i, str(reply)
        self.fail(f"{most} commands are not refused")

    def each(self, *options):
        """Each option, such as an engine, without the keys of the one before."""
        for option in options:
            self.client("FLUSHALL", "SYNC")
            yield option

    def wait_until(self, condition, what):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end, f"in vain waited until {what}")
            time.sleep(0.02)


def why_no_server():
    given = pathlib.Path(*sys.argv[1:2])
    with contextlib.suppress(OSError):
        return (given.parent / "skipped").read_text().strip()
    return f"there is no {given} here"


def main():
    if not SERVER:
        print(f"skipped: {why_no_server()}")
        sys.exit(SKIPPED)
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    if result.testsRun == len(result.skipped):  # nothing was tested
        sys.exit(SKIPPED)
