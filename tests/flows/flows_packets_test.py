"""Every link type, IP with all that may be around it, and captures that are damaged."""

import gzip
import struct
import subprocess

from captures import (
    ACK, COOKED, COOKED2, ETHERNET, IPV4, IPV6, LOOP, NULL, PSH, RAW, SYN, Packet, Talk, cooked, cooked2,
    ethernet, extension, ipv4, ipv6, loopback, pcap, pcapng, tcp)
from flows_runner import PROGRAM, FlowsCase, main, run

SEGMENT = tcp(SYN)
V4, V6 = ipv4(SEGMENT), ipv6(SEGMENT)


class Packets(FlowsCase):
    def parsed(self, content, link=ETHERNET, length=None):
        """What becomes of one packet: "tcp", or how it is counted."""
        found = self.summary(pcap([Packet(content, 0, length)], link))
        self.assertEqual(found["packets"], 1)
        kinds = [name for name, count in found["skipped"].items() if count]
        if found["tcp_packets"]:
            self.assertEqual((kinds, found["flows"]), ([], 1))
            return "tcp"
        self.assertEqual((len(kinds), found["flows"]), (1, 0))
        return kinds[0]

    def test_links(self):
        for packet in (V4, V6):
            for link, content in (
                    (ETHERNET, ethernet(packet)), (ETHERNET, ethernet(packet, [0x8100])),
                    (ETHERNET, ethernet(packet, [0x88a8, 0x8100])),
                    (ETHERNET, ethernet(packet, [0x9100, 0x8100, 0x8100])),
                    (RAW, packet), (COOKED, cooked(packet)), (COOKED2, cooked2(packet)),
                    (NULL, loopback(packet)), (NULL, loopback(packet, ">")),
                    (LOOP, loopback(packet, ">"))):
                with self.subTest(link=link, content=content.hex()):
                    self.assertEqual(self.parsed(content, link), "tcp")
        self.assertEqual(self.parsed(V4, IPV4), "tcp")
        self.assertEqual(self.parsed(V6, IPV6), "tcp")
        self.assertEqual(self.parsed(loopback(V6, "<", 30), NULL), "tcp")  # macOS
        self.assertEqual(self.parsed(loopback(V6, "<", 28), NULL), "tcp")  # FreeBSD

    def test_other_link(self):
        done = run("--json", stdin=pcap([Packet(V4), Packet(V4)], 105))
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.decode(), "bloomery: standard input: packets of link type "
                         "IEEE802_11 (105) are skipped\n")
        self.assertIn(b'"other_link_type": 2', done.stdout)

    def test_not_tcp(self):
        self.assertEqual(self.parsed(ethernet(b"\0" * 28, kind=0x0806)), "not_ip")
        self.assertEqual(self.parsed(loopback(V4, "<", 7), NULL), "not_ip")
        self.assertEqual(self.parsed(ethernet(ipv4(bytes(8), protocol=17))), "not_tcp")
        self.assertEqual(self.parsed(ethernet(ipv6(bytes(8), following=17))), "not_tcp")
        self.assertEqual(self.parsed(ethernet(ipv6(b"", following=59))), "not_tcp")

    def test_headers(self):
        self.assertEqual(self.parsed(ethernet(ipv4(SEGMENT, options=bytes(40)))), "tcp")
        self.assertEqual(self.parsed(ethernet(ipv4(tcp(SYN, offset=15)))), "tcp")
        self.assertEqual(self.parsed(ethernet(ipv4(SEGMENT, total=0))), "tcp")  # to be segmented
        self.assertEqual(self.parsed(ethernet(V4) + bytes(20)), "tcp")  # padding
        for kind in (0, 43, 60, 135, 139, 140):
            self.assertEqual(self.parsed(ethernet(ipv6(extension(6, SEGMENT), following=kind))),
                             "tcp", kind)
        chain = extension(43, extension(60, extension(44, extension(6, SEGMENT)), 24), 16)
        self.assertEqual(self.parsed(ethernet(ipv6(chain, following=0))), "tcp")
        authentication = bytes([6, 4]) + bytes(22) + SEGMENT
        self.assertEqual(self.parsed(ethernet(ipv6(authentication, following=51))), "tcp")
        self.assertEqual(self.parsed(ethernet(ipv6(extension(6, SEGMENT), following=0, length=0))),
                         "tcp")  # jumbogram

    def test_fragments(self):
        first, later = 0x2000, 0x2001
        self.assertEqual(self.parsed(ethernet(ipv4(SEGMENT, fragment=first))), "tcp")
        self.assertEqual(self.parsed(ethernet(ipv4(SEGMENT, fragment=later))), "later_fragments")
        for offset, kind in ((1, "tcp"), (8, "later_fragments"), (9, "later_fragments")):
            header = bytes([6, 0]) + struct.pack(">HI", offset, 7)
            self.assertEqual(self.parsed(ethernet(ipv6(header + SEGMENT, following=44))), kind)

    def test_every_truncation(self):
        """Of what was captured, and of what was sent. Nothing is taken that is not whole."""
        for link, whole in ((ETHERNET, ethernet(V4, [0x8100])), (RAW, ipv6(
                extension(6, SEGMENT), following=0)), (COOKED2, cooked2(V4))):
            packets = [Packet(whole[:n], n, len(whole)) for n in range(len(whole))]
            found = self.summary(pcap(packets, link))
            self.assertEqual((found["skipped"]["truncated"], found["tcp_packets"]),
                             (len(whole), 0))
            found = self.summary(pcap([Packet(whole[:n], n) for n in range(len(whole))], link))
            self.assertEqual((found["skipped"]["malformed"], found["tcp_packets"]),
                             (len(whole), 0))

    def test_malformed(self):
        for content in (ipv4(tcp(SYN, offset=4)), b"\x45" + V4[1:2] + b"\0\x10" + V4[4:],
                        b"\x44" + V4[1:], b"\x55" + V4[1:], ipv4(SEGMENT, total=500),
                        ipv6(SEGMENT, length=500), ipv4(SEGMENT, total=30)):
            self.assertEqual(self.parsed(ethernet(content)), "malformed", content.hex())
        # A TCP header that is longer than the packet.
        self.assertEqual(self.parsed(ethernet(ipv4(SEGMENT[:12] + b"\xf0" + SEGMENT[13:]))),
                         "malformed")
        self.assertEqual(self.parsed(ethernet(b"\x70" + V4[1:])), "malformed")


class Captures(FlowsCase):
    TALK = Talk().open().send(">", ACK | PSH, b"hello").close().packets

    def expect_talk(self, content, *arguments):
        self.assertEqual(self.states(content, *arguments), ({"closed": 1}, {}))

    def test_formats(self):
        self.expect_talk(pcap(self.TALK))
        self.expect_talk(pcap(self.TALK, order=">"))
        self.expect_talk(pcap(self.TALK, nanoseconds=True))
        self.expect_talk(pcap(self.TALK, nanoseconds=True, order=">"))
        self.expect_talk(pcap(self.TALK, snaplen=0x7fffffff))
        self.expect_talk(pcapng([(0, packet) for packet in self.TALK]))
        self.expect_talk(pcapng([(i % 2, packet) for i, packet in enumerate(self.TALK)],
                                (ETHERNET, ETHERNET)))

    def test_times(self):
        found = self.summary(pcap(self.TALK, nanoseconds=True))
        self.assertEqual((found["first"], found["last"]), ("2023-11-14T22:13:20.000000Z",
                                                           "2023-11-14T22:13:20.006000Z"))

    def test_several_files(self):
        first = self.write("first.pcap", pcap(self.TALK[:3]))
        second = self.write("second.pcapng", pcapng([(0, packet) for packet in self.TALK[3:]]))
        found = self.summary(b"", first, second)
        self.assertEqual((found["files"], found["packets"], found["states"]["closed"]), (2, 7, 1))
        found = self.summary(pcap(self.TALK[3:]), first, "-")
        self.assertEqual((found["files"], found["flows"], found["states"]["closed"]), (2, 1, 1))

    def test_filter(self):
        other = Talk(sport=40001, dport=443).open().packets
        found = self.summary(pcap(self.TALK + other), "--filter", "port 443")
        self.assertEqual((found["packets"], found["states"]["established"]), (3, 1))
        done = run("--filter", "port port", stdin=pcap(self.TALK))
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, rb"bloomery: --filter: .*syntax error")
        self.assertEqual(done.stdout, b"")  # no summary of nothing

    def test_packets(self):
        path = self.write("x.pcap", pcap(self.TALK))
        self.assertEqual(self.summary(b"", path, path, "--packets", "3")["packets"], 3)

    def test_truncated_file(self):
        content = pcap(self.TALK)
        done = run("--json", stdin=content[:-5])
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr.decode(), r"^bloomery: standard input: truncated dump "
                         r"file; tried to read .*; the packets before were read\n$")
        self.assertIn(b'"packets": 6,', done.stdout)
        other = self.write("other.pcap", pcap(Talk(sport=5).open().packets))
        cut = self.write("cut.pcap", content[:-5])
        done = run("--json", cut, other)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b'"packets": 9,', done.stdout)

    def test_no_capture(self):
        for content in (b"", b"\xd4\xc3\xb2", b"hello, this is not a capture at all"):
            done = run("--json", stdin=content)
            self.assertEqual((done.returncode, done.stdout), (3, b""))
            self.assertTrue(done.stderr.startswith(b"bloomery: standard input: "))
        self.assertIn(b"empty", run(stdin=b"").stderr)
        done = run("/nonexistent/x.pcap")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (
            3, b"", b'bloomery: /nonexistent/x.pcap: No such file or directory\n'))
        done = run(self.directory)
        self.assertEqual((done.returncode, done.stdout), (3, b""))
        self.assertIn(b"Is a directory", done.stderr)
        self.assertEqual(self.summary(pcap([]))["packets"], 0)

    def test_interfaces_that_differ(self):
        done = run("--json", stdin=pcapng([(0, self.TALK[0]), (1, Packet(V4))], (ETHERNET, RAW)))
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"libpcap reads no file whose interfaces have different link types",
                      done.stderr)

    def test_times_that_go_back(self):
        """Late packets are processed; an earlier file does not age anything."""
        late = [Packet(p.content, 6000 - p.time) for p in self.TALK]
        found = self.summary(pcap(late))
        self.assertEqual((found["late_packets"], found["jumps_back"], found["flows"]), (6, 0, 1))
        days = 3 * 86400 * 1000000
        first = self.write("a", pcap([Packet(p.content, p.time + days) for p in self.TALK[:3]]))
        second = self.write("b", pcap(self.TALK[3:]))
        found = self.summary(b"", first, second)
        self.assertEqual((found["late_packets"], found["jumps_back"], found["states"]["closed"]),
                         (0, 1, 1))

    def test_impossible_times(self):
        content = bytearray(pcap(self.TALK))
        content[24:32] = b"\xff" * 8
        found = self.summary(bytes(content))
        self.assertEqual((found["last"], found["jumps_back"], found["packets"]),
                         ("2106-02-07T07:39:49.967295Z", 1, 7))

    def test_compressed(self):
        done = run(stdin=gzip.compress(pcap(self.TALK)))
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"neither pcap nor pcapng", done.stderr)

    def test_alerts_in_a_slow_pipe(self):
        """An anomaly is written while the pipe is open and nothing more comes."""
        talk = Talk().send(">", ACK, after=200000).send(">", ACK)
        with subprocess.Popen([PROGRAM, "flows", "--alerts", "-"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            process.stdin.write(pcap(talk.packets))
            process.stdin.flush()
            self.assertIn(b"ack_without_syn", process.stdout.readline())

    def test_empty_packets(self):
        found = self.summary(pcap([Packet(b"", 0), Packet(b"", 1, 60)]))
        self.assertEqual((found["skipped"]["malformed"], found["skipped"]["truncated"]), (1, 1))


main()
