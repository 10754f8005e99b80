"""Writes packets and captures, for the tests of `bloomery flows`: what tcpdump would write."""

import ipaddress
import struct

FIN, SYN, RST, PSH, ACK, URG = (1 << i for i in range(6))
ETHERNET, RAW, NULL, LOOP, COOKED, COOKED2, IPV4, IPV6 = 1, 101, 0, 108, 113, 276, 228, 229

CLIENT, SERVER = "192.0.2.1", "198.51.100.2"


def tcp(flags, sport=40000, dport=80, data=b"", offset=5):
    header = struct.pack(">HHIIBBHHH", sport, dport, 1, 2, offset << 4, flags, 1024, 0, 0)
    return header + bytes(max(0, offset * 4 - 20)) + data


def ipv4(payload, source=CLIENT, target=SERVER, protocol=6, fragment=0, options=b"", total=None):
    size = 20 + len(options)
    return struct.pack(">BBHHHBBH4s4s", 0x40 + size // 4, 0,
                       size + len(payload) if total is None else total, 1, fragment, 64, protocol,
                       0, ipaddress.ip_address(source).packed,
                       ipaddress.ip_address(target).packed) + options + payload


def ipv6(payload, source="2001:db8::1", target="2001:db8::2", following=6, length=None):
    return struct.pack(">IHBB16s16s", 6 << 28, len(payload) if length is None else length,
                       following, 64, ipaddress.ip_address(source).packed,
                       ipaddress.ip_address(target).packed) + payload


def extension(following, payload, size=8):
    return bytes([following, size // 8 - 1]) + bytes(size - 2) + payload


def ip(payload, source, target):
    return (ipv6 if ":" in source else ipv4)(payload, source, target)


def ethertype(packet):
    return 0x86dd if packet[0] >> 4 == 6 else 0x0800


def ethernet(packet, vlans=(), kind=None):
    tags = b"".join(struct.pack(">HH", tag, 5) for tag in vlans)
    return bytes(12) + tags + struct.pack(">H", kind or ethertype(packet)) + packet


def cooked(packet):
    return bytes(14) + struct.pack(">H", ethertype(packet)) + packet


def cooked2(packet):
    return struct.pack(">H", ethertype(packet)) + bytes(18) + packet


def loopback(packet, order="<", family=None):
    return struct.pack(order + "I", family or (10 if packet[0] >> 4 == 6 else 2)) + packet


class Packet:
    """Bytes, with the time in microseconds, and the length if more was sent than captured."""

    def __init__(self, content, time=0, length=None):
        self.content, self.time = content, time
        self.length = len(content) if length is None else length


def pcap(packets, link=ETHERNET, order="<", nanoseconds=False, snaplen=65535, start=1700000000):
    magic = 0xa1b23c4d if nanoseconds else 0xa1b2c3d4
    written = bytearray()
    written += struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snaplen, link)
    for packet in packets:
        seconds, rest = divmod(packet.time, 1000000)
        written += struct.pack(order + "IIII", start + seconds, rest * (1000 if nanoseconds else 1),
                               len(packet.content), packet.length) + packet.content
    return bytes(written)


def block(kind, body):
    body += bytes(-len(body) % 4)
    size = len(body) + 12
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def pcapng(packets, links=(ETHERNET,), snaplens=None, start=1700000000):
    """packets: (interface, Packet)."""
    written = block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))
    for i, link in enumerate(links):
        written += block(1, struct.pack("<HHI", link, 0, snaplens[i] if snaplens else 65535))
    for interface, packet in packets:
        time = start * 1000000 + packet.time
        written += block(6, struct.pack("<IIIII", interface, time >> 32, time & 0xffffffff,
                                        len(packet.content), packet.length) + packet.content)
    return written


class Talk:
    """The packets between a client and a server, each a millisecond after the one before."""

    def __init__(self, client=CLIENT, server=SERVER, sport=40000, dport=80, time=0):
        self.ends = (client, sport), (server, dport)
        self.time = time
        self.packets = []

    def send(self, side, flags, data=b"", after=1000):
        """side: ">" from the client, "<" from the server."""
        (source, sport), (target, dport) = self.ends if side == ">" else self.ends[::-1]
        self.packets.append(Packet(
            ethernet(ip(tcp(flags, sport, dport, data), source, target)), self.time))
        self.time += after
        return self

    def open(self):
        return self.send(">", SYN).send("<", SYN | ACK).send(">", ACK)

    def close(self):
        return self.send(">", FIN | ACK).send("<", FIN | ACK).send(">", ACK)


def in_order(*talks):
    """The packets of all, by time."""
    return sorted((packet for talk in talks for packet in talk.packets), key=lambda p: p.time)
