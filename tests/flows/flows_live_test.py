"""Capturing from the loopback interface: lines in a pipe, a table on a terminal, Ctrl-C. Skipped if
it is not permitted."""

import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

from flows_runner import PROGRAM, run

MOST_SECONDS = 60  # to wait for what happens at once on an idle machine


class Server:
    """Accepts connections and closes them."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        try:
            while True:
                with self.listener.accept()[0] as connection:
                    while connection.recv(100):
                        pass
        except OSError:
            pass

    def talk(self, count=5):
        for _ in range(count):
            with socket.create_connection(("127.0.0.1", self.port)) as connection:
                connection.sendall(b"x" * 100)
                connection.shutdown(socket.SHUT_WR)
                connection.recv(1)


def start(*arguments, stdout=subprocess.PIPE):
    return subprocess.Popen([PROGRAM, "flows", "--interface", "lo", *arguments], stdout=stdout,
                            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)


class Live(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.listener.close)
        self.filter = ("--filter", f"tcp port {self.server.port}")

    def talk_until(self, process, condition):
        """Talks until the process has seen it: a capture begins some time after the start."""
        end = time.monotonic() + MOST_SECONDS
        while not condition() and process.poll() is None:
            self.assertLess(time.monotonic(), end)
            self.server.talk()
            time.sleep(0.05)

    def test_lines(self):
        process = start("--interval", "100ms", *self.filter)
        lines = []
        reader = threading.Thread(target=lambda: lines.extend(iter(process.stdout.readline, b"")))
        reader.start()
        self.talk_until(process, lambda: any(b"closed" in line for line in lines))
        process.send_signal(signal.SIGINT)
        reader.join()
        self.assertEqual((process.wait(), process.stderr.read()), (0, b""))
        process.stdout.close()
        process.stderr.close()
        text = b"".join(lines).decode()
        self.assertRegex(text, r"(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ [\d.]+ packets/s, [\d,]+ packets, "
                         r"\d+ dropped, \d+ alerts, [\d,]+ live flows.*, closed \d+")
        self.assertRegex(text, r"(?m)^packets     \d[\d,]* in ")
        self.assertRegex(text, r"(?m)^            dropped by the kernel \d+, by the interface \d+$")
        self.assertNotIn("\x1b", text)

    def test_json(self):
        process = start("--json", "--packets", "50", *self.filter)
        self.talk_until(process, lambda: False)
        out, err = process.communicate()
        self.assertEqual((process.returncode, err), (0, b""))
        found = json.loads(out)
        self.assertEqual((found["packets"], found["tcp_packets"]), (50, 50))
        self.assertGreater(found["states"]["closed"], 0)
        self.assertIn("dropped", found)

    def test_duration(self):
        done = run("--interface", "lo", "--duration", "300ms", "--interval", "1m", *self.filter)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertTrue(done.stdout.startswith(b"packets     0\n"), done.stdout)

    def test_table_on_a_terminal(self):
        inner, outer = pty.openpty()
        process = start("--interval", "50ms", *self.filter, stdout=outer)
        os.close(outer)
        written = bytearray()

        def read():
            try:
                while piece := os.read(inner, 65536):
                    written.extend(piece)
            except OSError:  # the end of a terminal
                pass
        reader = threading.Thread(target=read)
        reader.start()
        self.talk_until(process, lambda: b"closed" in written and written.count(b"flows    ") > 2)
        process.send_signal(signal.SIGTERM)
        reader.join()
        self.assertEqual((process.wait(), process.stderr.read()), (0, b""))
        process.stderr.close()
        os.close(inner)
        text = written.decode()
        self.assertRegex(text, r"packets  \d+ per second, [\d,]+ in all, \d+ dropped by the kernel")
        self.assertRegex(text, r"\x1b\[\d+A")  # the next table is written over the last
        # At the end the table is removed, and the summary follows.
        self.assertRegex(re.split(r"\x1b\[\d+A\x1b\[J", text)[-1], r"^packets     \d")

    def test_no_such_interface(self):
        done = run("--interface", "nonesuch0")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (
            3, b"", b'bloomery: nonesuch0: no such interface; "ip link" lists them\n'))


if b"no permission" in run("--interface", "lo", "--duration", "1ms").stderr:
    sys.exit(77)
unittest.main(argv=sys.argv[:1])
