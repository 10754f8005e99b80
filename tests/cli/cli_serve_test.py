"""`bloomery serve`: what it starts, how it ends, and its error messages.

cli_serve_test.py PROGRAM MODULE [PRELOAD]. PRELOAD is the sanitizer's library if the module needs
one. Exits with 77 (skipped) if no server is installed.
"""

import os
import pathlib
import pty
import re
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, MODULE = (os.path.abspath(path) for path in sys.argv[1:3])
ENVIRONMENT = dict(os.environ)
if len(sys.argv) > 3:
    # The server is not built with the sanitizer that the module is built with.
    ENVIRONMENT |= {"LD_PRELOAD": sys.argv[3], "ASAN_OPTIONS": "detect_leaks=0"}
SERVERS = [name for name in ("redis-server", "valkey-server") if shutil.which(name)]
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "run-server"
PATIENCE = 60  # seconds; only reached if something hangs


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def ask(port, *words):
    """The reply as bytes of the protocol; these tests need only its beginning."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as line:
        line.sendall(b"*%d\r\n" % len(words) + b"".join(
            b"$%d\r\n%s\r\n" % (len(word.encode()), word.encode()) for word in words))
        line.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: line.recv(65536), b"")).decode()


class Serve(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name).resolve()

    def serve(self, *arguments, **options):
        """Runs a command that ends by itself."""
        return subprocess.run([PROGRAM, "serve", *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, cwd=self.directory,
                              **{"env": ENVIRONMENT, **options})

    def fails(self, arguments, message, code=3, **options):
        with self.subTest(arguments=arguments):
            done = self.serve(*arguments, **options)
            out = done.stdout.replace("The server is loading its data ...\n", "")
            self.assertEqual((done.returncode, out), (code, ""), done.stderr)
            self.assertRegex(done.stderr, message)
            self.assertEqual(done.stderr.splitlines()[0][:10], "bloomery: ")

    def start(self, *arguments, **options):
        """A running server and its port; its greeting is in self.banner. Tries another port if the
        first was taken."""
        for _ in range(5):
            port = free_port()
            process = subprocess.Popen(
                [PROGRAM, "serve", "--port", str(port), *arguments], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.directory,
                env=ENVIRONMENT, **options)
            self.addCleanup(self.reap, process)
            self.banner = ""
            for line in process.stdout:
                self.banner += line
                if line.startswith("Ctrl-C"):
                    return process, port
            said = process.stderr.read()
            if "in use" not in said:
                break
        self.fail(f"no server: {self.banner}{said}")

    def reap(self, process):
        if process.poll() is None:
            process.terminate()
        process.communicate()

    def end(self, process, number=signal.SIGTERM):
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, out, err), (0, "The server has shut down cleanly.\n", ""))


class Runs(Serve):
    def test_each_server_begins_says_so_and_ends(self):
        for server in SERVERS:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                with self.subTest(server=server, signal=number):
                    process, port = self.start("--server", server, "--dir", server)
                    self.assertRegex(self.banner, rf"(?m)^Bloomery .* listens on 127.0.0.1:{port} with "
                                                  rf"{server} \d+\.\d+\.\d+\.$")
                    self.assertIn(f"redis-cli -p {port}\n", self.banner)
                    self.assertIn(f"  data    {self.directory / server}\n", self.banner)
                    self.end(process, number)
                    with self.assertRaises(ConnectionRefusedError):
                        ask(port, "PING")
                    self.assertIn("bye bye", (self.directory / server / "bloomery.log").read_text())

    def test_nobody_reads_its_output(self):
        process, port = self.start()
        process.stdout.close()
        self.assertEqual(ask(port, "PING"), "+PONG\r\n")
        process.terminate()
        self.assertEqual((process.wait(PATIENCE), process.stderr.read()), (-signal.SIGPIPE, ""))

    def test_the_commands_to_type_are_true(self):
        _, port = self.start()
        typed = re.findall(r"^  ([A-Z][A-Z.]+ .*)$", self.banner, flags=re.M)
        for family in ("MAP.", "WINDOW.", "COUNTER.", "INFO"):
            self.assertIn(family, "".join(typed))
        for line in typed:
            reply = ask(port, *line.split())
            self.assertNotRegex(reply, r"(?m)^-", line)

    def test_defaults_are_durable_and_local(self):
        _, port = self.start()
        for name, value in {"appendonly": "yes", "appendfsync": "always", "save": "",
                            "maxmemory-policy": "noeviction", "enable-debug-command": "no",
                            "enable-module-command": "no", "bind": "127.0.0.1",
                            "dir": str(self.directory / "bloomery-data")}.items():
            self.assertEqual(ask(port, "CONFIG", "GET", name).split("\r\n")[4], value, name)
        most = int(ask(port, "CONFIG", "GET", "maxmemory").split("\r\n")[4])
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        self.assertAlmostEqual(most / machine, 0.75, places=3)
        self.assertEqual(stat.S_IMODE((self.directory / "bloomery-data").stat().st_mode), 0o700)

    def test_options_reach_the_server(self):
        _, port = self.start("--appendonly", "everysec", "--max-memory", "64MiB", "--log", "said")
        for name, value in {"appendfsync": "everysec", "maxmemory": str(64 << 20)}.items():
            self.assertEqual(ask(port, "CONFIG", "GET", name).split("\r\n")[4], value, name)
        self.assertIn("  memory  at most 64.0 MiB; then changes that need more are refused\n",
                      self.banner)
        self.assertIn("lose the last two", self.banner)
        self.assertIn("Ready to accept", (self.directory / "said").read_text())

    def test_acknowledged_changes_survive_any_end(self):
        for kill in (False, True):
            process, port = self.start()
            self.assertEqual(ask(port, "MAP.SET", "m", f"field {kill}", "v"), "*1\r\n:1\r\n")
            if kill:
                pid = int(re.search(r"process_id:(\d+)", ask(port, "INFO", "server")).group(1))
                os.kill(pid, signal.SIGKILL)
                _, err = process.communicate(timeout=PATIENCE)
                self.assertEqual((process.returncode, err), (
                    3, "bloomery: the server was ended by signal 9 (Killed)\n"))
            else:
                self.end(process)
        _, port = self.start()
        self.assertEqual(ask(port, "MAP.EXISTS", "m", "field False", "field True", "x"),
                         "*3\r\n:1\r\n:1\r\n:0\r\n")

    def test_a_client_may_end_it(self):
        process, port = self.start("--appendonly", "no")
        ask(port, "MAP.SET", "m", "a", "b")
        ask(port, "SHUTDOWN", "SAVE")
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, out, err), (0, "The server has shut down cleanly.\n", ""))
        self.assertTrue((self.directory / "bloomery-data" / "dump.rdb").exists())

    def test_the_server_does_not_outlive_us(self):
        process, port = self.start()
        pid = int(re.search(r"process_id:(\d+)", ask(port, "INFO", "server")).group(1))
        process.kill()
        process.wait()
        log = self.directory / "bloomery-data" / "bloomery.log"
        end = time.monotonic() + PATIENCE
        while "bye bye" not in log.read_text():
            if time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)  # it holds our pipes, and we would wait
                self.fail("it still serves")
            time.sleep(0.05)

    def test_one_ctrl_c_for_the_whole_group_is_one_for_the_server(self):
        process, _ = self.start(start_new_session=True)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, out, err), (0, "The server has shut down cleanly.\n", ""))

    def test_settings_of_a_file(self):
        (self.directory / "more.conf").write_text(
            "requirepass secret\nappendfsync everysec\nport 1\nbind 0.0.0.0\ndaemonize yes\n"
            "maxmemory 70mb\nmaxclients 77\n")
        process, port = self.start("--config", "more.conf", "--max-memory", "90MiB")
        self.assertTrue(ask(port, "PING").startswith("-NOAUTH"))
        url = f"redis-cli -p {port} --no-auth-warning -a secret CONFIG GET"
        for name, value in {"appendfsync": "everysec", "maxmemory": str(90 << 20),
                            "maxclients": "77", "bind": "127.0.0.1"}.items():
            got = subprocess.run([*url.split(), name], capture_output=True, text=True, check=True)
            self.assertEqual(got.stdout.split(), [name, value])
        self.assertIn("log synced every second", self.banner)
        self.assertIn("at most 90.0 MiB", self.banner)
        self.end(process)

    def test_what_is_said_is_what_the_settings_come_to(self):
        for number, (lines, words) in enumerate((
                ("appendonly no\n",
                 ["neither log nor snapshots: all data is lost when the server ends"]),
                ('appendonly no\nsave 60 1\nmaxmemory 0\nmaxmemory-policy allkeys-lru\n',
                 ["snapshots only, no log", "memory  no limit"]),
                ("appendfsync no\nmaxmemory 70MB\nMaxMemory-Policy 'allkeys-lru'\n",
                 ["log synced by the system", "at most 70.0 MiB; then keys are evicted, by "
                  "allkeys-lru"]),
                ("appendonly no\n  APPENDONLY \"yes\"\n# appendonly no\nmaxmemory 3g\n",
                 ["log synced before each answer", "at most 2.8 GiB; then changes that need"]))):
            with self.subTest(lines=lines):
                (self.directory / "more.conf").write_text(lines)
                process, _ = self.start("--config", "more.conf", "--dir", f"d{number}")
                for word in words:
                    self.assertIn(word, self.banner)
                self.end(process)

    def test_settings_of_the_module_in_a_file(self):
        (lines,) = re.findall(r"(?m)^```text\n((?:bloomery\..*\n)+)```$", Page.PAGE)
        self.assertIn("bloomery.max-key-bytes 512mb\n", lines)
        (self.directory / "more.conf").write_text(lines)
        _, port = self.start("--config", "more.conf")
        for name, value in map(str.split, lines.splitlines()):
            self.assertEqual(ask(port, "CONFIG", "GET", name).split("\r\n")[4],
                             value.replace("512mb", str(512 << 20)), name)
        self.assertIn("running without a config file", ask(port, "CONFIG", "REWRITE"))

    def test_a_user_who_may_ask_little(self):
        (self.directory / "more.conf").write_text("user default on nopass ~* -@all +ping +quit\n")
        process, port = self.start("--config", "more.conf")
        self.assertEqual(ask(port, "PING"), "+PONG\r\n")
        self.end(process)

    def test_sizes_are_those_of_the_server(self):
        process, port = self.start()
        for text in ("64MB", "64mb", "1G", "1GB", "512M", "5k", "5Kb", "77777", "77777b"):
            words = shlex.split(self.serve("--dry-run", "--max-memory", text).stdout)
            said = words[words.index("--maxmemory") + 1]
            self.assertEqual(ask(port, "CONFIG", "SET", "maxmemory", text), "+OK\r\n", text)
            self.assertEqual(ask(port, "CONFIG", "GET", "maxmemory").split("\r\n")[4], said, text)
        for text, size in {"64MiB": 64 << 20, "1.5gb": 3 << 29, "2^30": 1 << 30,
                           "1e9": 10 ** 9}.items():
            words = shlex.split(self.serve("--dry-run", "--max-memory", text).stdout)
            self.assertEqual(words[words.index("--maxmemory") + 1], str(size), text)
        self.fails(["--max-memory", "512m"], "512m.* means minutes: write mb", code=2)

    def test_its_log_on_standard_output(self):
        process, _ = self.start("--log", "-")
        process.terminate()
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, err), (0, ""))
        self.assertIn("Ready to accept connections", self.banner + out)
        self.assertFalse((self.directory / "bloomery-data" / "bloomery.log").exists())


class OneAtATime(Serve):
    """Two servers on one directory would destroy each other's data."""

    def server_of(self, port):
        return int(re.search(r"process_id:(\d+)", ask(port, "INFO", "server")).group(1))

    def refused(self, who, port, *arguments):
        self.fails(["--port", str(free_port()), *arguments],
                   rf'^bloomery: {self.directory}/bloomery-data: in use by {who}, on '
                   rf"port {port}; ")

    def test_a_second_one_is_refused_and_the_first_goes_on(self):
        process, port = self.start()
        (self.directory / "link").symlink_to("bloomery-data")
        self.refused(f"another bloomery serve, process {process.pid}", port)
        self.refused(f"another bloomery serve, process {process.pid}", port, "--dir", "link")
        self.assertEqual(ask(port, "MAP.SET", "m", "a", "b"), "*1\r\n:1\r\n")
        self.end(process)
        _, port = self.start()
        self.assertEqual(ask(port, "MAP.GET", "m", "a"), "*1\r\n$1\r\nb\r\n")

    def test_a_server_without_its_starter_keeps_its_directory(self):
        process, port = self.start()
        server = self.server_of(port)
        os.kill(server, signal.SIGSTOP)  # so that it does not end with its parent
        try:
            process.kill()
            process.wait()
            self.refused(f"a server, process {server}", port)
        finally:
            os.kill(server, signal.SIGCONT)
        end = time.monotonic() + PATIENCE
        log = self.directory / "bloomery-data" / "bloomery.log"
        while "bye bye" not in log.read_text():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        process.communicate(timeout=PATIENCE)  # the server had our pipes, and is gone now
        self.end(self.start()[0])

    def test_what_the_dead_have_left_bars_nobody(self):
        process, port = self.start()
        os.kill(self.server_of(port), signal.SIGKILL)
        process.communicate(timeout=PATIENCE)
        lock = self.directory / "bloomery-data" / ".bloomery-serve.lock"
        self.assertEqual(lock.read_text(), f"{port}\n")
        self.end(self.start()[0])

    def test_of_many_at_once_one_gets_it(self):
        ports = [free_port() for _ in range(6)]
        all_of_them = [subprocess.Popen(
            [PROGRAM, "serve", "--port", str(port)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.directory,
            env=ENVIRONMENT) for port in ports]
        for process in all_of_them:
            self.addCleanup(self.reap, process)
        first = [process.stdout.readline() for process in all_of_them]
        (winner,) = [process for process, line in zip(all_of_them, first) if line]
        for process in all_of_them:
            if process is not winner:
                _, err = process.communicate(timeout=PATIENCE)
                self.assertEqual(process.returncode, 3, err)
                self.assertIn(": in use by", err)
        winner.terminate()
        winner.communicate(timeout=PATIENCE)
        self.assertEqual(winner.returncode, 0)


class Refuses(Serve):
    def test_misuse(self):
        for arguments, problem in (
                (["--port", "0"], '--port: "0" is not above 0'),
                (["--port", "65536"], "--port: 65536 is not a port from 1 to 65535"),
                (["--port", "10m"], '--port: "10m" is not a whole number, digits only'),
                (["--appendonly", "yes"], '--appendonly: "yes" is not always, everysec or no'),
                (["--max-memory", "-1"], '--max-memory: "-1" is below zero'),
                (["--max-memory", "0"], '--max-memory: "0" is not above 0'),
                (["--max-memory", "64bm"], '--max-memory: "64bm" is not a size such as 4096, 64mb'),
                (["here"], 'unexpected argument "here"'),
                (["--frob"], 'unknown option "--frob"')):
            self.fails(arguments, "^bloomery: " + re.escape(problem), code=2)

    def test_a_busy_port(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            self.fails(["--port", str(port)], rf"^bloomery: 127.0.0.1:{port}: in use, "
                                              "perhaps by another server; choose a port with --port\n$")
        self.assertFalse((self.directory / "bloomery-data").exists())

    def test_no_server(self):
        (self.directory / "file").write_text("no program")
        self.fails(["--server", "./file"], r'--server: \./file: not an executable file')
        self.fails(["--server", "no-such-server"], '--server: no-such-server: not found in PATH')
        self.fails(["--server", "/none/redis-server"], "not an executable file")

    def test_no_module(self):
        (self.directory / "plain.so").write_text("x")
        self.fails(["--module", "none.so"], '--module: none.so: No such file or directory')
        self.fails(["--module", "."], r'--module: \.: not a regular file')
        self.fails(["--module", "plain.so"], r"plain.so: not executable, as servers require")

    def test_a_module_that_is_none(self):
        (self.directory / "bad.so").write_text("x")
        (self.directory / "bad.so").chmod(0o755)
        self.fails(["--module", "bad.so", "--port", str(free_port())],
                   r"^bloomery: the server did not start \(exit code \d+\); it printed:\n"
                   r"(  .*\n)*  .*bad\.so.*\n")

    def test_a_program_beside_no_module(self):
        shutil.copy(PROGRAM, self.directory / "alone")
        done = subprocess.run([self.directory / "alone", "serve", "--dry-run"], capture_output=True,
                              text=True, env=ENVIRONMENT, check=False)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("bloomery.so: not found beside this program", done.stderr)

    def test_a_directory_that_cannot_be(self):
        (self.directory / "file").write_text("x")
        port = ["--port", str(free_port())]
        self.fails(["--dir", "file", *port], '--dir: file: Not a directory')
        self.fails(["--dir", "none/below", *port], '--dir: none/below: No such file or directory')
        self.fails(["--dir", "/proc/none", *port], '--dir: /proc/none: ')
        if os.getuid() != 0:
            (self.directory / "closed").mkdir(mode=0o500)
            self.fails(["--dir", "closed", *port], '--dir: closed: Permission denied')

    def test_data_that_would_be_passed_over(self):
        port = ["--port", str(free_port())]
        (self.directory / "snapshot").mkdir()
        (self.directory / "snapshot" / "dump.rdb").write_bytes(b"")
        (self.directory / "log" / "appendonlydir").mkdir(parents=True)
        (self.directory / "log" / "appendonlydir" / "appendonly.aof.manifest").write_bytes(b"")
        (self.directory / "old").mkdir()
        (self.directory / "old" / "appendonly.aof").write_bytes(b"")
        self.fails(["--dir", "snapshot", *port], "has a snapshot and no log")
        self.fails(["--dir", "log", "--appendonly", "no", *port], "has a log, which")
        self.fails(["--dir", "old", "--appendonly", "no", *port], "has a log, which")

    def test_data_that_a_file_would_pass_over(self):
        process, port = self.start("--dir", "log")
        self.assertEqual(ask(port, "MAP.SET", "m", "a", "b"), "*1\r\n:1\r\n")
        self.end(process)
        (self.directory / "today.conf").write_text("dbfilename of-today\n")
        process, port = self.start("--dir", "snapshot", "--appendonly", "no",
                                   "--config", "today.conf")
        self.assertEqual(ask(port, "MAP.SET", "m", "a", "b"), "*1\r\n:1\r\n")
        self.end(process)
        (self.directory / "no.conf").write_text("appendonly no\n")
        (self.directory / "no-2.conf").write_text("appendonly no\n")
        for directory, lines, message in (
                ("log", "appendonly no", "has a log, which a server with appendonly no"),
                ("log", "appendonly yes\nAppendOnly \"n\\x6f\"", "has a log, which a server with"),
                ("log", "include no.conf", "has a log, which a server with appendonly no"),
                ("log", f"include '{self.directory}/n*-2.conf'", "has a log, which a server with"),
                ("log", "appenddirname other",
                 'this server would not read the log appendonlydir: .*other/appendonly.aof'),
                ("log", "appendfilename 'x.aof'",
                 'this server would not read the log appendonlydir: .*appendonlydir/x.aof'),
                ("snapshot", "", "has a snapshot and no log"),
                ("snapshot", "appendonly no",
                 'this server would not read the snapshot of-today: dbfilename is dump.rdb'),
                ("snapshot", "appendonly no\ndbfilename x.rdb", "dbfilename is x.rdb")):
            with self.subTest(lines=lines):
                (self.directory / "more.conf").write_text(lines + "\n")
                self.fails(["--dir", directory, "--config", "more.conf", "--port", str(free_port())],
                           message)
        for directory, lines in (("log", "appendonly no\nappendonly yes"),
                                 ("log", "include none*.conf"),
                                 ("snapshot", "appendonly no\ndbfilename of-today")):
            with self.subTest(lines=lines):
                (self.directory / "more.conf").write_text(lines + "\n")
                process, port = self.start("--dir", directory, "--config", "more.conf")
                self.assertEqual(ask(port, "MAP.GET", "m", "a"), "*1\r\n$1\r\nb\r\n")
                self.end(process)

    def test_files_that_cannot_be_followed(self):
        port = ["--port", str(free_port())]
        (self.directory / "more.conf").write_text(f"include {self.directory}/more.conf\n")
        self.fails(["--config", "more.conf", *port], 'more.conf: line 1: include: too many files')
        (self.directory / "more.conf").write_text("dir /\ninclude other.conf\n")
        self.fails(["--config", "more.conf", *port],
                   'line 2: include: other.conf must be an absolute path')

    def test_the_module_a_second_time(self):
        (self.directory / "linked.so").symlink_to(os.path.realpath(MODULE))
        for path in (MODULE, "linked.so", "/none/bloomery.so"):
            (self.directory / "more.conf").write_text(f"# first\nloadmodule {path} bf no\n")
            self.fails(["--config", "more.conf", "--port", str(free_port())],
                       'more.conf: line 2: bloomery serve loads the module itself')

    def test_damaged_data(self):
        process, port = self.start()
        ask(port, "MAP.SET", "m", "a", "b")
        self.end(process)
        (base,) = (self.directory / "bloomery-data" / "appendonlydir").glob("*.base.*")
        base.write_bytes(b"not a snapshot at all, nor a log")
        self.fails(["--port", str(free_port())],
                   r"^bloomery: the server did not start \(exit code \d+\); it printed:\n  .")

    def test_settings_that_the_server_refuses(self):
        (self.directory / "bad.conf").write_text("no-such-setting 1\n")
        self.fails(["--config", "bad.conf", "--port", str(free_port())],
                   r"^bloomery: the server did not start \(exit code 1\); it printed:\n(  .*\n)*"
                   r"  .*no-such-setting 1")

    def test_a_log_that_cannot_be(self):
        self.fails(["--log", "/none/log", "--port", str(free_port())],
                   r"did not start \(exit code 1\); it printed:\n(  .*\n)*  Can't open the log file")

    def test_a_server_that_says_nothing(self):
        self.fails(["--server", "/bin/true", "--port", str(free_port())],
                   r'did not start \(exit code 0\) and printed nothing: is /bin/true a Redis or')
        self.fails(["--server", "/bin/false", "--log", "-", "--port", str(free_port())],
                   r"did not start \(exit code 1\); its output, if any, is above\n$")
        (self.directory / "killed").write_text("#!/bin/sh\necho last words\nkill -9 $$\n")
        (self.directory / "killed").chmod(0o755)
        self.fails(["--server", "./killed", "--port", str(free_port())],
                   r"did not start \(signal 9 \(Killed\)\); it printed:\n  last words\n$")

    def test_started_by_one_that_ignores_the_ends_of_children(self):
        done = self.serve("--server", "/bin/true", "--port", str(free_port()),
                          preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(done.returncode, 3)


class Tells(Serve):
    def test_help(self):
        for word in ("-h", "--help"):
            done = self.serve("--port", "1", word)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(done.stdout.startswith("Usage: bloomery serve [options]\n"))

    def test_dry_run(self):
        directory = "it's a directory"
        done = self.serve("--dry-run", "--server", "/bin/true", "--dir", directory, "--port", "7000")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        words = shlex.split(done.stdout)
        self.assertEqual(words[0], "/bin/true")
        options = dict(zip(words[1::2], words[2::2]))
        self.assertEqual(options["--dir"], str(self.directory / directory))
        self.assertEqual(options["--logfile"], str(self.directory / directory / "bloomery.log"))
        self.assertEqual(options["--loadmodule"], os.path.realpath(MODULE))
        self.assertEqual(options["--port"], "7000")
        self.assertEqual(list(self.directory.iterdir()), [])


class Page(Serve):
    """The statements of doc/server.md."""

    PAGE = (SCRIPT.parents[1] / "doc" / "server.md").read_text()

    def block(self, language):
        found = re.findall(rf"^```{language}\n(.*?)^```$", self.PAGE, flags=re.M | re.S)
        self.assertTrue(found)
        return found

    def test_every_setting_and_no_other(self):
        _, port = self.start()
        there = set(re.findall(r"bloomery\.[a-z-]+", ask(port, "CONFIG", "GET", "bloomery.*")))
        named = set(re.findall(r"`(bloomery\.[a-z-]+)`", self.PAGE)) - {"bloomery.so", "bloomery.service"}
        self.assertEqual(there, named)
        rows = re.findall(r"(?m)^\| `(bloomery\.[^|]*)` \| ([^|]*) \| ([^|]*) \|", self.PAGE)
        self.assertEqual(there, {name for name, _, _ in rows})
        for name, preset, limits in rows:
            self.assertEqual(ask(port, "CONFIG", "GET", name).split("\r\n")[4], preset, name)
            self.check_limits(port, name, limits)

    def check_limits(self, port, name, limits):
        def takes(value):
            return ask(port, "CONFIG", "SET", name, str(value)) == "+OK\r\n"
        if name in ("bloomery.bf", "bloomery.damaged-keys"):  # read at start only
            self.assertFalse(any(map(takes, limits.split(", "))), name)
        elif " to " not in limits:
            for choice in limits.split(", "):
                self.assertTrue(takes(choice), (name, choice))
            self.assertFalse(takes("other"), name)
        elif name.endswith(("-error", "-error-rate")):
            least, most = map(float, limits.split(" to "))
            shares = (least, most, f"{most * 100}%", least / 2, most + 0.1)
            self.assertEqual([takes(share) for share in shares], [True, True, True, False, False],
                             name)
        else:
            for written, meant in (("kb", "<<10"), ("gb", "<<30"), ("^", "**")):
                limits = limits.replace(written, meant)
            least, most = map(eval, limits.split(" to "))
            self.assertEqual([takes(n) for n in (least, most, least - 1, most + 1)],
                             [True, True, False, False], name)
            self.assertEqual(takes("100k"), name.endswith("-bytes"), name)
            self.assertFalse(takes("1e6") or takes("2^17"), name)

    def test_every_field_of_info(self):
        _, port = self.start()
        for field in re.findall(r"(?m)^bloomery(_\w+):", ask(port, "INFO", "bloomery")):
            plain = re.sub("^_(map|window|counter|filter|index|once)", "", field)
            self.assertRegex(self.PAGE, rf"`(bloomery)?(_once)?{plain}`")

    def test_users(self):
        _, port = self.start()
        for line in self.block("acl"):
            self.assertEqual(ask(port, *line.split()), "+OK\r\n", line)

        def refused(user, *words):
            return ask(port, "ACL", "DRYRUN", user, *words).startswith("$")
        self.assertFalse(refused("till", "COUNTER.INCRBY", "sales", "tea", "1", "id"))
        self.assertTrue(refused("till", "COUNTER.INCRBY", "other", "tea", "1", "id"))
        self.assertTrue(refused("till", "COUNTER.DEL", "sales", "tea"))
        self.assertFalse(refused("report", "COUNTER.GET", "any", "tea"))
        self.assertFalse(refused("report", "WINDOW.EXISTS", "any", "x"))
        self.assertTrue(refused("report", "MAP.SET", "any", "a", "b"))
        self.assertFalse(refused("maps", "MAP.MERGE", "team1:a", "team1:b"))
        self.assertTrue(refused("maps", "MAP.MERGE", "team1:a", "team2:b"))
        self.assertTrue(refused("maps", "MAP.CREATE", "team1:a", "LIKE", "team2:b"))

    def test_the_sample_configuration_shows_defaults(self):
        sample = (SCRIPT.parents[1] / "service" / "bloomery.conf").read_text()
        _, port = self.start()
        lines = re.findall(r"(?m)^#([a-z.-]+) (\S+)$", sample)
        self.assertGreater(len(lines), 5)
        for name, value in lines:
            preset = ask(port, "CONFIG", "GET", name)
            self.assertEqual(ask(port, "CONFIG", "SET", name, value), "+OK\r\n", name)
            self.assertEqual(ask(port, "CONFIG", "GET", name), preset, name)

    def test_from_a_snapshot_to_a_log(self):
        process, port = self.start("--appendonly", "no")
        ask(port, "MAP.SET", "m", "a", "b")
        self.end(process)
        self.fails(["--port", str(free_port())], "has a snapshot and no log")
        process, port = self.start("--appendonly", "no")
        self.assertEqual(ask(port, "CONFIG", "SET", "appendonly", "yes"), "+OK\r\n")
        end = time.monotonic() + PATIENCE
        while not re.search("aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0",
                            ask(port, "INFO", "persistence")):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        self.end(process)
        _, port = self.start()
        self.assertEqual(ask(port, "MAP.GET", "m", "a"), "*1\r\n$1\r\nb\r\n")


@unittest.skipUnless(shutil.which("redis-cli"), "there is no redis-cli")
class MakeRun(Serve):
    """scripts/run-server, which `make run` calls."""

    def environment(self, **more):
        return {**ENVIRONMENT, "TMPDIR": str(self.directory), **more}

    def check_tour(self, text):
        self.assertRegex(text, r"^Bloomery .* listens on 127\.0\.0\.1:")
        self.assertRegex(text, r"\(\d+ files of this system loaded: \d+ bytes\)")
        self.assertRegex(text, r'> MAP\.GET owners .*\r?\n1\) "[^"]+"\r?\n2\) \(nil\)')
        self.assertRegex(text, r"1\) \(integer\) 1\r?\n> WINDOW.ADD .*\r?\n1\) \(integer\) 0")
        plain = text.replace("\r\n", "\n")
        for shown in ("> COUNTER.GET sales shop-1\n1) (integer) 250\n",
                      "-250\n1) (integer) 1\n2) (integer) -250\n> ONCE paid order-17 HINCRBY balance "
                      "ann -250\n1) (integer) 0\n2) (nil)\n> HGET balance ann\n\"-250\"\n",
                      "> INDEX.LOCATE shards ann ben dan\n1) 1) (integer) 1\n2) 1) (integer) 2\n"
                      "   2) (integer) 1\n3) (empty array)\n",
                      "> BF.MEXISTS names ann ben\n1) (integer) 1\n2) (integer) 0\n"):
            self.assertIn(shown, plain)
        self.assertTrue(text.rstrip().endswith("The server has shut down cleanly."), text)
        self.assertEqual(list(self.directory.iterdir()), [])
        port = int(re.match(r".*127\.0\.0\.1:(\d+)", text).group(1))
        with self.assertRaises(ConnectionRefusedError):
            ask(port, "PING")

    def test_it_ends_by_itself_without_a_terminal(self):
        done = subprocess.run([SCRIPT, PROGRAM], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=PATIENCE, env=self.environment())
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.check_tour(done.stdout)

    def test_it_serves_at_a_terminal_until_ctrl_c(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(SCRIPT, [str(SCRIPT), PROGRAM], self.environment())
        said, typed = b"", False
        while True:
            try:
                got = os.read(terminal, 65536)
            except OSError:  # how a terminal reports that it was closed
                break
            said += got
            if b"until Ctrl-C" in said and said.endswith(b"\n") and not typed:
                typed = True
                port = int(said.split()[-1])
                self.assertEqual(ask(port, "COUNTER.GET", "sales", "shop-1"), "*1\r\n:250\r\n")
                os.write(terminal, b"\x03")
        self.assertEqual(os.waitpid(pid, 0)[1], 0, said)
        os.close(terminal)
        self.check_tour(said.decode())

    def test_a_port_that_was_asked_for(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = str(other.getsockname()[1])
            done = subprocess.run([SCRIPT, PROGRAM], stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=PATIENCE, env=self.environment(PORT=port))
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertIn(f"127.0.0.1:{port}: in use", done.stderr)
        self.assertEqual(list(self.directory.iterdir()), [])


if __name__ == "__main__":
    if not SERVERS:
        print("skipped: neither redis-server nor valkey-server is installed")
        sys.exit(77)
    # Even if the caller ignores these signals: the tests send them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    unittest.main(argv=sys.argv[:1])
