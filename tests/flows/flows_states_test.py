"""States and notes of flows; what a flow is; expiry; engines; memory."""

from captures import (
    ACK, CLIENT, FIN, PSH, RST, SERVER, SYN, URG, Packet, Talk, ethernet, in_order, ipv4, pcap, tcp)
from flows_runner import FlowsCase, main, run

SECOND = 1000000


class States(FlowsCase):
    def test_a_life(self):
        """The state after each packet of an ordinary connection."""
        talk = Talk().open().send(">", ACK | PSH, b"x").send("<", ACK).close()
        for count, state in enumerate(("syn_seen", "syn_ack_seen", "established", "established",
                                       "established", "closing", "closed", "closed"), 1):
            self.assertEqual(self.states(pcap(talk.packets[:count])), ({state: 1}, {}), count)

    def test_transitions(self):
        for steps, state, notes in (
                ([(">", SYN), (">", SYN)], "syn_seen", {}),
                ([(">", SYN), ("<", SYN)], "syn_ack_seen", {}),
                ([(">", SYN), (">", ACK)], "established", {}),
                ([(">", SYN), ("<", ACK)], "syn_seen", {}),
                ([(">", SYN), ("<", RST | ACK)], "reset", {}),
                ([(">", SYN), ("<", SYN | ACK), (">", RST)], "reset", {}),
                ([(">", SYN), ("<", SYN | ACK), ("<", FIN | ACK), (">", FIN | ACK)], "closed", {}),
                ([(">", SYN), ("<", SYN | ACK), ("<", FIN | ACK), ("<", FIN | ACK)], "closing", {}),
                ([(">", ACK)], "midstream", {"ack_without_syn": 1}),
                ([("<", ACK), (">", ACK)], "midstream", {"ack_without_syn": 1}),
                ([(">", ACK), ("<", FIN | ACK), (">", FIN | ACK)], "closed",
                 {"ack_without_syn": 1}),
                ([(">", FIN | ACK)], "closing", {"ack_without_syn": 1}),
                ([(">", RST)], "reset", {"rst_without_flow": 1}),
                ([("<", SYN | ACK)], "unasked_syn_ack", {"syn_ack_without_syn": 1}),
                ([("<", SYN | ACK)] * 3, "unasked_syn_ack", {"syn_ack_without_syn": 3}),
                ([("<", SYN | ACK), (">", RST)], "reset", {"syn_ack_without_syn": 1}),
                ([("<", SYN | ACK), (">", SYN), (">", ACK)], "established",
                 {"syn_ack_without_syn": 1}),
                ([(">", 0)], "probed", {"null_scan": 1}),
                ([(">", FIN)], "probed", {"fin_scan": 1}),
                ([(">", FIN | PSH | URG)], "probed", {"xmas_scan": 1}),
                ([(">", SYN | FIN)], "probed", {"syn_fin": 1}),
                ([(">", SYN | RST)], "probed", {"syn_fin": 1}),
                ([(">", FIN), ("<", RST | ACK)], "reset", {"fin_scan": 1}),
                ([(">", SYN), (">", FIN | PSH | URG)], "syn_seen", {"xmas_scan": 1})):
            talk = Talk()
            for side, flags in steps:
                talk.send(side, flags)
            with self.subTest(steps=steps):
                self.assertEqual(self.states(pcap(talk.packets)), ({state: 1}, notes))

    def test_data(self):
        talk = Talk().send(">", ACK | PSH, b"data")
        self.assertEqual(self.states(pcap(talk.packets)), ({"midstream": 1},
                                                           {"data_without_syn": 1}))

    def test_again(self):
        """A SYN after the end is a new flow."""
        talk = Talk().open().close().open()
        self.assertEqual(self.states(pcap(talk.packets)), ({"closed": 1, "established": 1}, {}))
        talk = Talk().send(">", SYN).send("<", RST | ACK).send(">", SYN)
        self.assertEqual(self.states(pcap(talk.packets)), ({"reset": 1, "syn_seen": 1}, {}))


class Keys(FlowsCase):
    def test_kinds(self):
        content = pcap(in_order(Talk().open().close(), Talk(sport=40001, time=100).open().close()))
        self.assertEqual(self.states(content), ({"closed": 2}, {}))
        self.assertEqual(self.states(content, "--key", "conversation"), ({"closed": 2}, {}))
        self.assertEqual(self.states(content, "--key", "5tuple"), ({"closed": 4}, {}))
        self.assertEqual(self.states(content, "--key", "pair"), ({"closed": 2}, {}))

    def test_families(self):
        """The same bytes as IPv4 ports and IPv6 addresses are different flows."""
        content = pcap(in_order(Talk().open(), Talk("2001:db8::1", "2001:db8::2").open()))
        self.assertEqual(self.states(content), ({"established": 2}, {}))

    def test_either_end_may_be_smaller(self):
        for client, server in ((CLIENT, SERVER), (SERVER, CLIENT), ("2001:db8::9", "2001:db8::1")):
            content = pcap(Talk(client, server).open().close().packets)
            self.assertEqual(self.states(content), ({"closed": 1}, {}))
        content = pcap(Talk("192.0.2.1", "192.0.2.1", 80, 40000).open().close().packets)
        self.assertEqual(self.states(content), ({"closed": 1}, {}))


class Expiry(FlowsCase):
    def live(self, gap, *arguments, talk=None):
        """Flows that are left after a gap, when one other packet has come."""
        talk = talk or Talk().open()
        other = Talk(sport=1, time=talk.time + gap).send(">", SYN)
        found = self.summary(pcap(talk.packets + other.packets), *arguments)
        return found["live_flows"] - 1

    def test_idle(self):
        for engine in ("compact", "exact"):
            self.assertEqual(self.live(119 * SECOND, "--engine", engine), 1)
            self.assertEqual(self.live(141 * SECOND, "--engine", engine), 0)
            self.assertEqual(self.live(9 * SECOND, "--engine", engine, "--idle", "10s"), 1)
            self.assertEqual(self.live(12 * SECOND, "--engine", engine, "--idle", "10s"), 0)
        self.assertEqual(self.live(119 * SECOND, "--engine", "kbf"), 1)
        self.assertEqual(self.live(241 * SECOND, "--engine", "kbf"), 0)

    def test_a_very_long_gap(self):
        for gap in (1, 10, 1000, 30000):
            for engine in ("compact", "exact", "kbf"):
                self.assertEqual(self.live(gap * 86400 * SECOND, "--engine", engine), 0)

    def test_kept_by_packets(self):
        talk = Talk().open()
        for _ in range(100):
            talk.send(">", ACK, after=17 * SECOND)
        for engine in ("compact", "exact", "kbf"):
            found = self.summary(pcap(talk.packets), "--engine", engine)
            self.assertEqual((found["flows"], found["live_flows"],
                              found["states"]["established"]), (1, 1, 1), engine)

    def test_linger(self):
        """The last ACK is no new flow; after lingering, it would be."""
        closed = Talk().open().send(">", FIN | ACK).send("<", FIN | ACK)
        for engine in ("compact", "exact", "kbf"):
            self.assertEqual(self.live(9 * SECOND, "--engine", engine, talk=closed), 1)
            self.assertEqual(self.live(16 * SECOND, "--engine", engine, talk=closed), 0)
            for gap, notes in ((9, {}), (16, {"ack_without_syn": 1})):
                talk = Talk().open().send(">", FIN | ACK).send("<", FIN | ACK)
                talk.time += gap * SECOND
                talk.send(">", ACK)
                self.assertEqual(self.states(pcap(talk.packets), "--engine", engine)[1], notes)

    def test_open_again_while_lingering(self):
        """The flow that follows is not deleted with the one before."""
        for engine in ("compact", "exact", "kbf"):
            talk = Talk().open().close()
            talk.time += 4 * SECOND
            talk.open()
            talk.time += 40 * SECOND
            talk.send(">", ACK | PSH, b"x")
            self.assertEqual(self.states(pcap(talk.packets), "--engine", engine),
                             ({"closed": 1, "established": 1}, {}))


def crowd(count, time=1000):
    """As many flows, with one packet each."""
    return [Packet(ethernet(ipv4(tcp(SYN, 1024 + i % 50000), f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}")),
                   i * time) for i in range(count)]


class Engines(FlowsCase):
    def test_check(self):
        """The twin finds what the engine gets wrong, and the engine keeps its promise."""
        talks = [Talk(f"10.1.{i >> 8}.{i & 255}", time=i * 10000).open().close()
                 for i in range(3000)]
        content = pcap(in_order(*talks))
        for engine in ("compact", "kbf"):
            for error in ("0.2", "0.001"):
                found = self.summary(content, "--check", "--engine", engine, "--error", error,
                                     "--capacity", "3000")
                check = found["check"]
                self.assertEqual((check["flows"], check["states"]["closed"]), (3000, 3000))
                self.assertGreaterEqual(check["absent"], 3000)
                wrong = check["false_negative"] + check["incorrect"]
                self.assertLessEqual(wrong, float(error) * check["present"] + 20)
                self.assertLessEqual(check["false_positive"], 2 * float(error) * check["absent"] + 5)
                if engine == "compact" and error == "0.2":
                    self.assertGreater(wrong + check["false_positive"], 0)

    def test_memory_is_bounded(self):
        content = pcap(crowd(60000, 100))
        for engine in ("compact", "exact", "kbf"):
            found = self.summary(content, "--engine", engine, "--max-memory", "700k",
                                 "--suspects", "64", "--capacity", "2000")
            self.assertLessEqual(found["most_flow_bytes"] - 40000 + found["suspect_bytes"],
                                 found["max_bytes"])
            self.assertGreater(found["live_flows"], 5000, engine)
            if engine != "compact":
                self.assertGreater(found["unstored_flows"], 0)
                self.assertGreater(found["untracked_packets"], 0)

    def test_full_is_not_forever(self):
        """Flows that expire make room, and a full table raises no anomalies."""
        late = [Packet(p.content, p.time + 400 * SECOND) for p in crowd(30000, 100)]
        talk = Talk(time=390 * SECOND).open().packets
        content = pcap(crowd(30000, 100) + talk + late)
        found = self.summary(content, "--engine", "exact", "--max-memory", "1M",
                             "--suspects", "64")
        self.assertGreater(found["unstored_flows"], 0)
        self.assertEqual((found["states"]["established"], sum(found["notes"].values())), (1, 0))

    def test_too_little_memory(self):
        done = run("--max-memory", "100", stdin=pcap([]))
        self.assertEqual((done.returncode, done.stderr), (
            3, b"bloomery: the tables need more memory than --max-memory allows (100 bytes)\n"))

    def test_small_per_flow(self):
        found = self.summary(pcap(crowd(50000, 10)), "--suspects", "64")
        self.assertLess(found["most_flow_bytes"] / found["most_live_flows"], 8)


class Usage(FlowsCase):
    def test_misuse(self):
        for arguments, problem in (
                (["--engine", "x"], '--engine: "x" is not one of compact, kbf and exact'),
                (["--key", "x"], '--key: "x" is not one of conversation, pair and 5tuple'),
                (["--json", "--csv"], "--json cannot be combined with --csv"),
                (["--interface", "lo", "x.pcap"], "--interface cannot be combined with files"),
                (["--duration", "1s"], "--duration requires --interface"),
                (["--interval", "1s"], "--interval requires --interface"),
                (["--check", "--engine", "exact"],
                 "--check compares with engine exact; choose another --engine"),
                (["--idle", "1ms"], "--idle takes times from 24ms to 50000d"),
                (["--linger", "61s"], "--linger takes times from 2ms to half of --idle"),
                (["--port-scan", "2001"], "--port-scan takes at most 2000"),
                (["--suspects", "2M"], "--suspects takes at most 1000000"),
                (["--top", "1001"], "--top takes at most 1000"),
                (["--error", "1e-12"], "--error takes 1e-9 to 0.5"),
                (["--error", "1e-9", "--capacity", "2^40"],
                 "an error of 1e-09 is not possible with 1099511627776 flows: reduce --capacity")):
            done = run(*arguments, stdin=pcap([]))
            with self.subTest(arguments=arguments):
                self.assertEqual((done.returncode, done.stdout, done.stderr.decode()), (
                    2, b"", f'bloomery: {problem}\nTry "bloomery flows --help".\n'))


main()
