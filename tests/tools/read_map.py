#!/usr/bin/python3
"""An independent reader of maps, written from doc/format.md and doc/design-map.md only.

usage: read_map.py FILE KEYS

Reads a golden map, engine compact or kbf, and compares it with the expected contents: keys 0 to
KEYS - 1 as four bytes each, key i with value i mod 7, as a number or as "v0" to "v6". Of compact
every entry is decoded; of kbf every cell is computed again from the keys. Exit status 0: all as it
must be; 1: not; 2: usage.
"""
import struct
import sys

import xxhash

import read_maplet

VALUES = 7
COMPACT, KBF = 2, 3
FIXED, PAPER = 1, 2
WORD = (1 << 64) - 1
POLYNOMIALS = {8: 0x11D, 9: 0x211, 10: 0x409, 11: 0x805, 12: 0x1053, 13: 0x201B, 14: 0x4443}
PIECE = 16 << 10


class Bad(Exception):
    pass


def expect(what, found, wanted):
    if found != wanted:
        raise Bad(f"{what}: {found}, not {wanted}")


def hash_of(seed, key):
    """A key's hash as hi and lo."""
    digest = xxhash.xxh3_128_intdigest(struct.pack("<I", key), seed=seed)
    return digest >> 64, digest & WORD


def read_values(payloads, codes):
    """The values by code."""
    values = []
    while len(values) < codes:
        kind, payload = next(payloads)
        expect("a frame of values", kind, b"VALS")
        at = 0
        while at < len(payload):
            (length,) = struct.unpack_from("<I", payload, at)
            at += 4
            if length == 0xFFFFFFFF:
                values.append(None)
                continue
            values.append(payload[at:at + length])
            at += length
    expect("values", len(values), codes)
    return values


def check_compact(payloads, numbers, seed, pairs):
    capacity, error, value_bits, fixed, counts = read_maplet.read_options(payloads)
    expect("capacity and error", (capacity, error), (numbers["capacity"], numbers["error"]))
    if numbers["value_bits"]:
        expect("value bits", value_bits, numbers["value_bits"])
    chain = read_maplet.chain(capacity, error, fixed)
    for table, ((room, span), (n, crowded)) in enumerate(zip(chain, counts)):
        mine, pairs = pairs[:room], pairs[room:]
        found = read_maplet.read_table(payloads, span, n, crowded, value_bits)
        wanted = [(hash_of(seed, key)[0] * span >> 64, code) for key, code in mine]
        expect(f"entries of table {table}", sorted(found), sorted(wanted))
        print(f"table {table}: {len(found)} entries, all as they were put in")
    expect("keys left over", pairs, [])


class Field:
    """GF(2^t) by its powers of 2."""

    def __init__(self, bits):
        self.bits, self.order, self.power, x = bits, (1 << bits) - 1, [], 1
        for _ in range(self.order):
            self.power.append(x)
            x <<= 1
            if x >> bits:
                x ^= POLYNOMIALS[bits]
        self.log = {x: i for i, x in enumerate(self.power)}

    def times(self, x, power):
        return self.power[(self.log[x] + power) % self.order]

    def encode(self, x):
        return x | self.times(x, 2 * self.log[x]) << self.bits


def mix(x):
    for factor in (0xD6E8FEB86659FD93, 0xD6E8FEB86659FD93, 1):
        x ^= x >> 32
        x = x * factor & WORD
    return x


def filled(field, hashes, segment, seed, pairs):
    """The cells of a table with these pairs."""
    cells = [0] * (hashes * segment)
    for key, code in pairs:
        hi, lo = hash_of(seed, key)
        mask = mix(hi + 0x9E3779B97F4A7C15 & WORD) * field.order >> 64
        encoding = field.encode(field.times(code + 1, mask))
        for i in range(hashes):
            at = i * segment + (mix(lo + i * hi & WORD) * segment >> 64)
            count = min(7, (cells[at] & 7) + 1)
            cells[at] = (cells[at] & ~7 ^ encoding << 3) | count
    return cells


def check_kbf(payloads, numbers, seed, pairs):
    kind, chain = next(payloads)
    expect("the chain's frame", kind, b"KBF ")
    tables, hashes = struct.unpack("<II", chain)
    codes = 1 << numbers["value_bits"] if numbers["value_bits"] else numbers["values"]
    field = Field(next(t for t in range(8, 15) if codes <= (1 << t) - 1))
    for table in range(tables):
        kind, payload = next(payloads)
        expect("a table's frame", kind, b"KTAB")
        segment, capacity, items, error, pieces = struct.unpack("<QQQdQ", payload)
        mine, pairs = pairs[:capacity], pairs[capacity:]
        expect("items", items, len(mine))
        if not 0 <= error <= numbers["error"]:
            raise Bad(f"a table for error {error}")
        image = bytearray(4 * hashes * segment)
        for _ in range(pieces):
            kind, payload = next(payloads)
            expect("a piece's frame", kind, b"PIEC")
            (index,) = struct.unpack_from("<Q", payload)
            image[PIECE * index:PIECE * index + len(payload) - 8] = payload[8:]
        found = list(struct.unpack(f"<{hashes * segment}I", image))
        expect(f"cells of table {table}", found, filled(field, hashes, segment, seed, mine))
        print(f"table {table}: {items} keys in {len(found)} cells, all as they were put in")
    expect("keys left over", pairs, [])


def check(data, keys):
    (seed,) = struct.unpack_from("<Q", data, 24)
    expect("kind and version", struct.unpack_from("<4sH", data, 12), (b"MAP ", 1))
    payloads = read_maplet.frames(data)
    kind, payload = next(payloads)
    expect("the first frame", (kind, len(payload)), (b"NUMS", 80))
    names = ("engine", "flags", "capacity", "error", "values", "value_bits", "hashes", "cells",
             "codes", "ghosts", "refused_unsure", "refused_full")
    numbers = dict(zip(names, struct.unpack("<IIQdQIIQQQQQ", payload)))
    expect("unknown flags", numbers["flags"] & ~(FIXED | PAPER), 0)
    values = read_values(payloads, numbers["codes"])
    if numbers["value_bits"]:
        codes = list(range(VALUES))
    else:
        codes = [values.index(b"v%d" % i) for i in range(VALUES)] if values else []
    pairs = [(key, codes[key % VALUES]) for key in range(keys)]
    {COMPACT: check_compact, KBF: check_kbf}[numbers["engine"]](payloads, numbers, seed, pairs)
    expect("frames left over", next(payloads, None), None)


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[0], "rb") as file:
        data = file.read()
    try:
        check(data, int(arguments[1]))
    except (Bad, ValueError, KeyError, IndexError, StopIteration, struct.error) as problem:
        print(f"BAD: {problem!r}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
