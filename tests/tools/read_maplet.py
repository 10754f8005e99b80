#!/usr/bin/python3
"""A second reader of maplets, written from doc/format.md and doc/design-maplet.md alone.

usage: read_maplet.py FILE KEYS CROWD

Decodes every entry of a golden maplet bit by bit, puts its fingerprint together again, and compares
with what the file must hold: keys 0 to KEYS - 1 as four bytes each, key i with value i mod 128, and
key 0 with the values 1 to CROWD too. Exit status 0: all as it must be; 1: not; 2: usage.
"""
import math
import struct
import sys

import xxhash

SEED = 0x0123456789ABCDEF
HEADER, FRAME_HEAD, SUM = 64, 16, 8


def frames(data):
    at = HEADER
    while True:
        kind, length = struct.unpack_from("<4sI", data, at)
        if kind == b"END ":
            return
        yield kind, data[at + FRAME_HEAD:at + FRAME_HEAD + length]
        at += FRAME_HEAD + length + SUM


def bits(block, at, count):
    return int.from_bytes(block, "little") >> at & ((1 << count) - 1)


def entries_of(block, n, remainder_bits, value_bits, u_most):
    """The (u, value) pairs of one block."""
    quotients = (u_most >> remainder_bits) + 1
    place, index = 16 * ((quotients - 1) >> 7), 0
    width = remainder_bits + value_bits
    for quotient in range(quotients):
        while bits(block, place, 1):
            slot = 8 * len(block) - (index + 1) * width
            remainder = bits(block, slot, remainder_bits)
            value = bits(block, slot + remainder_bits, value_bits)
            yield quotient << remainder_bits | remainder, value
            place, index = place + 1, index + 1
        place += 1
    if index != n:
        raise ValueError(f"{index} entries in the runs, {n} stated")


def chain(capacity, error, fixed):
    """Capacity and range of each table."""
    first = max(math.ceil(capacity / (error if fixed else 0.75 * error)), 1 << 12)
    for table, extra in enumerate((0, 4, 4, 4, 4, 6, 7, 7, 8, 8, 8)):
        yield capacity << 4 * table, first << 4 * table + extra


def read_table(payloads, ranges):
    kind, numbers = next(payloads)
    if kind != b"TABL":
        raise ValueError("a table is missing")
    n, segments, overflow = struct.unpack_from("<QQQ", numbers)
    level = segments.bit_length() - 1
    split = segments - (1 << level)
    found, segment = [], 0
    while segment < segments:
        kind, payload = next(payloads)
        at = 0
        while at < len(payload):
            count, steps, remainder_bits, value_bits = struct.unpack_from("<HHBB", payload, at)
            at += 8
            if count:
                size = 16 * steps + 8
                deep = level + (segment < split or segment >= 1 << level)
                for u, value in entries_of(payload[at:at + size], count, remainder_bits,
                                           value_bits, (ranges - 1) >> deep):
                    found.append((u << deep | segment, value))
                at += size
            segment += 1
    while overflow:
        kind, payload = next(payloads)
        found += [struct.unpack_from("<QI", payload, at) for at in range(0, len(payload), 12)]
        overflow -= len(payload) // 12
    if len(found) != n:
        raise ValueError(f"{len(found)} entries found, {n} stated")
    return found


def main(arguments):
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[0], "rb") as file:
        payloads = frames(file.read())
    keys, crowd = int(arguments[1]), int(arguments[2])
    kind, options = next(payloads)
    capacity, error, _, fixed, tables = struct.unpack("<QdIIQ", options)
    pairs = [(0, value) for value in range(1, crowd + 1)] + [(i, i % 128) for i in range(keys)]
    for table, (room, span) in zip(range(tables), chain(capacity, error, fixed)):
        mine, pairs = pairs[:room], pairs[room:]
        expected = []
        for key, value in mine:
            digest = xxhash.xxh3_128_intdigest(struct.pack("<I", key), seed=SEED)
            expected.append(((digest >> 64) * span >> 64, value))
        found = read_table(payloads, span)
        if sorted(found) != sorted(expected):
            print(f"table {table}: {len(found)} entries, not those that were put in")
            return 1
        print(f"table {table}: {len(found)} entries, all as they were put in")
    if pairs or next(payloads, None) is not None:
        print("entries or frames are left over")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
