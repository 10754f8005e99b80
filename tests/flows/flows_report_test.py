"""The summary in its three formats, alerts, attacks, and what a signal does."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import time

from captures import ACK, FIN, PSH, RST, SYN, URG, Packet, Talk, ethernet, in_order, ipv4, pcap, tcp
from flows_runner import PROGRAM, FlowsCase, main, run

SECOND = 1000000


def flood(count, target="203.0.113.9", time=0, gap=1000):
    return [Packet(ethernet(ipv4(tcp(SYN, 1024 + i % 60000, 443), f"10.{i >> 16}.{i >> 8 & 255}."
                                 f"{i & 255}", target)), time + i * gap) for i in range(count)]


def scan(count, source="198.18.0.5", flags=SYN, time=0, gap=1000, target="203.0.113.1"):
    return [Packet(ethernet(ipv4(tcp(flags, 50000, 1 + i), source, target)), time + i * gap)
            for i in range(count)]


GOLDEN = """\
packets     534 in 30.003 s, from 2023-11-14T22:13:20.000000Z
            531 TCP, 1 not IP, 1 not TCP, 1 truncated
flows       523 conversations; 522 at the end, 522 at most
states      SYN seen                        520   99.4 %
            established                       1    0.2 %
            mid-stream                        1    0.2 %
            closed                            1    0.2 %
notes       data without SYN                  1  packets
alerts      SYN flood                         1
            port scan                         1
targets     203.0.113.9     SYN flood: 300 SYNs without a handshake, up to 300 in a second, last to port 443
            203.0.113.1     220 SYNs without a handshake, up to 11 in a second, last to port 220
sources     198.18.0.5      port scan: 220 probes in vain, up to 220 in a minute, to about PORTS ports
engine      exact: no error
memory      24.1 KiB for flows, 24.1 KiB at most: 47.2 bytes per live flow; 544 KiB for suspects
rate        RATE million packets per second of processor time
"""


def sample():
    """A capture with something of everything."""
    packets = in_order(Talk().open().send(">", ACK | PSH, b"x").close(),
                       Talk("2001:db8::7", "2001:db8::8", time=100).open())
    packets += Talk(sport=7, time=20000).send(">", ACK | PSH, b"x").packets
    packets += [Packet(ethernet(bytes(28), kind=0x0806), 21000),
                Packet(ethernet(ipv4(bytes(8), protocol=17)), 22000),
                Packet(ethernet(ipv4(tcp(SYN)))[:40], 23000, 60)]
    packets += flood(300, time=100000, gap=1000)
    return packets + scan(220, time=10 * SECOND, gap=91336)


class Summary(FlowsCase):
    def test_golden(self):
        done = run("--engine", "exact", stdin=pcap(sample()))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        text = re.sub(r"(rate +)[\d.]+", r"\1RATE", done.stdout.decode())
        text = re.sub(r"about \d+ ports", "about PORTS ports", text)
        self.assertEqual(text, GOLDEN)

    def test_json_and_csv(self):
        """They have the same numbers."""
        arguments = ("--check",)
        answer = self.summary(pcap(sample()), *arguments)
        flat = {}

        def walk(value, path):
            items = value.items() if isinstance(value, dict) else \
                ((str(i), one) for i, one in enumerate(value, 1)) if isinstance(value, list) else None
            if items is None:
                flat[".".join(path)] = value
            else:
                for name, one in items:
                    walk(one, (*path, name))
        walk(answer, ())
        done = run("--csv", *arguments, stdin=pcap(sample()))
        rows = list(csv.reader(io.StringIO(done.stdout.decode())))
        self.assertEqual(rows[0], ["name", "value"])
        self.assertEqual([name for name, _ in rows[1:]], list(flat))
        for name, value in rows[1:]:
            if name == "processor_seconds":
                continue
            if isinstance(flat[name], (int, float)):
                self.assertAlmostEqual(float(value), flat[name], delta=abs(flat[name]) * 1e-5,
                                       msg=name)
            else:
                self.assertEqual(value, flat[name], name)
        self.assertEqual((answer["packets"], answer["tcp_packets"], answer["flows"]),
                         (534, 531, 523))

    def test_unsure_and_estimates_are_there(self):
        done = run("--engine", "kbf", "--check", stdin=pcap(sample()))
        self.assertIn(b"engine      kbf, error at most 0.001", done.stdout)
        self.assertIn(b"false negatives", done.stdout)

    def test_top(self):
        content = pcap([p for i in range(20) for p in flood(10 + i, f"203.0.113.{i + 1}", gap=10)])
        for arguments, count in (((), 5), (("--top", "2"), 2), (("--top", "100"), 20)):
            found = self.summary(content, *arguments)["targets"]
            self.assertEqual([one["address"] for one in found],
                             [f"203.0.113.{20 - i}" for i in range(count)])

    def test_suspects_are_bounded(self):
        content = pcap(flood(20000, gap=10))
        found = self.summary(content, "--suspects", "16", "--engine", "exact")
        self.assertEqual(found["targets"][0]["address"], "203.0.113.9")
        self.assertEqual(found["targets"][0]["syn_flood"]["events"], 20000)
        self.assertEqual(found["sources_dropped"], 20000 - 16)
        self.assertLess(found["suspect_bytes"], 16 * 2 * 400)

    def test_heavy_suspects_stay(self):
        """A scan is found among many sources that send one SYN each."""
        packets = sorted(flood(5000, gap=1000) + scan(150, gap=33000), key=lambda p: p.time)
        found = self.summary(pcap(packets), "--suspects", "256")
        self.assertEqual(found["sources"][0]["address"], "198.18.0.5")
        self.assertEqual(found["alerts"]["port_scan"], 1)


class Alerts(FlowsCase):
    def alerts(self, packets, *arguments, fresh=True):
        path = os.path.join(self.directory, "alerts.json")
        if fresh and os.path.exists(path):
            os.remove(path)
        done = run("--alerts", path, *arguments, stdin=pcap(packets))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        with open(path, encoding="ascii") as file:
            return [json.loads(line) for line in file]

    def attacks(self, packets, *arguments):
        return [(one["reason"], one.get("target") or one["source"])
                for one in self.alerts(packets, *arguments) if one["event_type"] == "alert"]

    def test_syn_flood(self):
        self.assertEqual(self.alerts(flood(100)), [{
            "timestamp": "2023-11-14T22:13:20.099000Z", "event_type": "alert",
            "src_ip": "10.0.0.99", "src_port": 1123, "dest_ip": "203.0.113.9", "dest_port": 443,
            "proto": "TCP", "state": "syn_seen", "reason": "syn_flood", "target": "203.0.113.9",
            "count": 100, "seconds": 1}])
        self.assertEqual(self.attacks(flood(99)), [])
        self.assertEqual(self.attacks(flood(20), "--syn-flood", "20"),
                         [("syn_flood", "203.0.113.9")])
        self.assertEqual(self.attacks(flood(2000, gap=11000)), [])  # 91 per second

    def test_handshakes_are_no_flood(self):
        talks = [Talk(f"10.0.{i >> 8}.{i & 255}", time=i * 1000).open().close()
                 for i in range(600)]
        self.assertEqual(self.alerts(in_order(*talks)), [])
        self.assertEqual(self.summary(pcap(in_order(*talks)))["targets"], [])

    def test_repeated_after_a_minute(self):
        for count, alerts in ((7000, 2), (5000, 1)):
            self.assertEqual(len(self.attacks(flood(count, gap=10000), "--syn-flood", "50")),
                             alerts)

    def test_port_scan(self):
        for flags, reason in ((SYN, None), (FIN, "fin_scan"), (0, "null_scan"),
                              (FIN | PSH | URG, "xmas_scan"), (SYN | FIN, "syn_fin")):
            lines = self.alerts(scan(200, flags=flags, gap=10000))
            self.assertIn(("port_scan", "198.18.0.5"),
                          [(one["reason"], one.get("source")) for one in lines])
            self.assertEqual(sum(one["reason"] == reason for one in lines), 200 if reason else 0)
        self.assertEqual(self.attacks(scan(90, gap=10000)), [])
        self.assertEqual(self.attacks(scan(300, gap=1000000)), [])  # 60 per minute
        self.assertEqual(self.attacks(scan(30, gap=10000), "--port-scan", "20"),
                         [("port_scan", "198.18.0.5")])
        # Many SYNs to one port are no scan.
        one_port = [Packet(ethernet(ipv4(tcp(SYN, 1024 + i, 80), "198.18.0.5")), i * 100000)
                    for i in range(500)]
        self.assertEqual(self.attacks(one_port), [])

    def test_reflection(self):
        packets = [Packet(ethernet(ipv4(tcp(SYN | ACK, 443, 1024 + i), f"10.0.0.{i}",
                                        "203.0.113.9")), i * 1000) for i in range(150)]
        lines = self.alerts(packets)
        self.assertEqual([one["reason"] for one in lines].count("syn_ack_without_syn"), 100)
        self.assertEqual([(one["reason"], one["target"]) for one in lines
                          if one["event_type"] == "alert"], [("reflection", "203.0.113.9")])
        found = self.summary(pcap(packets), "--alerts", os.path.join(self.directory, "x"))
        self.assertEqual((found["alert_lines"], found["alert_lines_suppressed"]), (101, 50))

    def test_reset_storm(self):
        packets = [Packet(ethernet(ipv4(tcp(RST, 443, 1024 + i), f"10.0.0.{i}", "203.0.113.9")),
                          i * 1000) for i in range(150)]
        self.assertEqual(self.attacks(packets), [("reset_storm", "203.0.113.9")])

    def test_full_table(self):
        """A flood is found even if there is no room for its flows."""
        found = self.summary(pcap(flood(20000, gap=100)), "--engine", "exact", "--max-memory",
                             "400k", "--suspects", "64")
        self.assertGreater(found["untracked_packets"], 0)
        self.assertEqual(found["alerts"]["syn_flood"], 1)
        self.assertEqual(found["targets"][0]["syn_flood"]["events"], 20000)

    def test_to_standard_output(self):
        done = run("--alerts", "-", stdin=pcap(flood(100)))
        self.assertEqual(json.loads(done.stdout)["reason"], "syn_flood")
        self.assertTrue(done.stderr.startswith(b"packets     100 "))

    def test_appended(self):
        self.assertEqual(len(self.alerts(flood(100))), 1)
        self.assertEqual(len(self.alerts(flood(100), fresh=False)), 2)

    def test_not_into_a_capture(self):
        content = pcap(flood(100))
        path = self.write("x.pcap", content)
        done = run("--alerts", path, os.path.join(self.directory, ".", "x.pcap"))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b'--alerts: /', done.stderr)
        self.assertIn(b"is one of the captures", done.stderr)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), content)

    def test_cannot_be_written(self):
        done = run("--alerts", "/nonexistent/x", stdin=pcap([]))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (
            3, b"", b'bloomery: /nonexistent/x: No such file or directory\n'))
        if os.path.exists("/dev/full"):
            done = run("--alerts", "/dev/full", stdin=pcap(flood(100)))
            self.assertEqual(done.returncode, 3)
            self.assertIn(b'bloomery: /dev/full: No space left on device', done.stderr)


class Signals(FlowsCase):
    def test_interrupted(self):
        """The summary covers what was read, and the caller sees the signal."""
        content = pcap(Talk().open().packets)
        process = subprocess.Popen([PROGRAM, "flows", "--json"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdin.write(content)
        process.stdin.flush()
        while process.poll() is None and not self.waits(process.pid, len(content)):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        self.assertEqual((process.returncode, err), (-signal.SIGINT, b""))
        self.assertEqual(json.loads(out)["states"]["established"], 1)

    def test_interrupted_before_the_writer_comes(self):
        path = self.write("fifo", b"")
        os.unlink(path)
        os.mkfifo(path)
        process = subprocess.Popen([PROGRAM, "flows", path], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        while process.poll() is None and not self.waits(process.pid, 0):
            time.sleep(0.01)
        time.sleep(0.1)  # it may have slept for another reason
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.communicate(), (b"", b""))
        self.assertEqual(process.returncode, -signal.SIGINT)

    @staticmethod
    def waits(pid, read):
        """Whether it has read all there was, and sleeps."""
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat, \
                open(f"/proc/{pid}/io", encoding="ascii") as count:
            state = stat.read().rsplit(")", 1)[1].split()[0]
            return state == "S" and int(count.read().split("rchar: ")[1].split()[0]) > read


main()
