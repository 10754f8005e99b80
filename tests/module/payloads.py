"""Payloads of DUMP and RESTORE, parsed and built again with valid checksums; append-only files."""

import struct

import xxhash

FOOTER = 10  # of a dump: two bytes version, eight bytes checksum

# ---- the structure of a dump ---------------------------------------------------------------------

POLYNOMIAL = 0x95AC9329AC4BC9B5  # Jones's, reflected
TABLE = []
for _byte in range(256):
    for _ in range(8):
        _byte = _byte >> 1 ^ (POLYNOMIAL if _byte & 1 else 0)
    TABLE.append(_byte)


def crc64(data):
    crc = 0
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def sealed(body):
    """A dump's body and version with the checksum that the server expects."""
    return body + struct.pack("<Q", crc64(body))


def length_at(dump, at):
    """Reads a length in the server's encoding, or None if it is not one; and the position after
    it."""
    first = dump[at]
    if first >> 6 == 0:
        return first & 63, at + 1
    if first >> 6 == 1:
        return (first & 63) << 8 | dump[at + 1], at + 2
    if first == 0x80:
        return struct.unpack_from(">I", dump, at + 1)[0], at + 5
    if first == 0x81:
        return struct.unpack_from(">Q", dump, at + 1)[0], at + 9
    return None, at + 1


def contents(dump):
    """The concatenated strings of a module's value; None if the server encoded one as a number."""
    _, at = length_at(dump, 1)  # the module's id
    found = b""
    while True:
        opcode, at = length_at(dump, at)
        if opcode == 0:
            return found
        size, at = length_at(dump, at)
        if size is None:
            return None
        if opcode == 5:
            found += dump[at:at + size]
            at += size


def payload_of(dump, strings):
    """A dump of the same type with other contents."""
    _, at = length_at(dump, 1)
    out = dump[:at] + b"\x02\x01"  # the object is complete
    for start in range(0, max(1, len(strings)), 65536):
        piece = strings[start:start + 65536]
        out += b"\x02\x01\x05\x80" + struct.pack(">I", len(piece)) + piece
    return sealed(out + b"\x02\x00\x00" + dump[-FOOTER:-8])


# ---- the append-only file -----------------------------------------------------------------------

def commands_of(log):
    """The commands of an append-only file, each a list of words."""
    at = 0
    while at < len(log):
        end = log.index(b"\r\n", at)
        words, at, count = [], end + 2, int(log[at + 1:end])
        for _ in range(count):
            end = log.index(b"\r\n", at)
            size = int(log[at + 1:end])
            words.append(log[end + 2:end + 2 + size])
            at = end + 2 + size + 2
        yield words


# ---- our part of it (doc/format.md) -------------------------------------------------------------

MAGIC = b"\x8bBRY\r\n\x1a\n"
HEADER = 64


def resealed(contents_, change):
    """Applies `change` to the payloads of frames and makes all checksums valid again."""
    start = contents_.find(MAGIC)
    if start < 0:
        return contents_
    at, frames = start + HEADER, []
    while not frames or frames[-1][0] != b"END ":
        if at + 24 > len(contents_):
            return contents_  # of an unfinished object
        kind, size = struct.unpack_from("<4sI", contents_, at)
        frames.append((kind, contents_[at + 16:at + 16 + size]))
        at += 24 + size
    frames = change(frames[:-1])
    end = struct.pack("<QQ", len(frames), sum(len(payload) for _, payload in frames))
    header = contents_[start:start + 56]
    chain = xxhash.xxh3_64_intdigest(header)
    out = contents_[:start] + header + struct.pack("<Q", chain)
    for kind, payload in [*frames, (b"END ", end)]:
        head = struct.pack("<4sI", kind, len(payload))
        check = xxhash.xxh3_64_intdigest(head, seed=chain)
        chain = xxhash.xxh3_64_intdigest(payload, seed=check)
        out += head + struct.pack("<Q", check) + payload + struct.pack("<Q", chain)
    return out + resealed(contents_[at:], lambda others: others)


def with_false_length(contents_, source):
    """The same with one frame that says another length, with a valid checksum of that."""
    lies = []

    def choose(frames):
        lies.append((source.randrange(len(frames)), source.choice((0, 1, 7, 1 << 20, (1 << 32) - 1))))
        return frames
    resealed(contents_, choose)
    number, length = lies[0]
    at = contents_.find(MAGIC) + HEADER
    chain = contents_[at - 8:at]
    for _ in range(number):
        size, = struct.unpack_from("<I", contents_, at + 4)
        chain = contents_[at + 16 + size:at + 24 + size]
        at += 24 + size
    head = contents_[at:at + 4] + struct.pack("<I", length)
    check = xxhash.xxh3_64_intdigest(head, seed=struct.unpack("<Q", chain)[0])
    return contents_[:at] + head + struct.pack("<Q", check) + contents_[at + 16:]


# ---- chunks of BF.SCANDUMP (module/bf/bf_dump.c) -------------------------------------------------

CHUNK_HEAD = 40


def _hash(data, seed=0):
    return xxhash.xxh3_128_intdigest(data, seed=seed) & (1 << 64) - 1


def chunk_of(payload, magic=b"BRYCHUNK"):
    """The iterator and the single chunk of a filter with this payload."""
    state = 0
    for start in range(0, len(payload) // 4096 * 4096, 4096):
        state = _hash(payload[start:start + 4096], state)
    state = _hash(payload[len(payload) // 4096 * 4096:], state)
    head = magic + struct.pack("<QQQ", 0, len(payload), state)
    check = _hash(payload, _hash(head))
    return (state & 0xffffffff) << 20 | 1, head + struct.pack("<Q", check) + payload
