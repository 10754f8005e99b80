#!/usr/bin/python3
"""An independent reader of maplets, written from doc/format.md and doc/design-maplet.md only.

usage: read_maplet.py FILE KEYS CROWD

Decodes every entry of a golden maplet bit by bit, reconstructs its fingerprint, and compares with
the expected contents: keys 0 to KEYS - 1 as four bytes each, key i with value i mod 128, and key 0
with the values 1 to CROWD too. Exit status 0: all as it must be; 1: not; 2: usage.
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


def remainder_bits_for(n, u_most):
    """The most that leave at least n quotients, and 64."""
    wanted, count = max(n, 64) - 1, 1
    while u_most >> (count + 1) >= wanted:
        count += 1
    return count


def entries_of(record, n, value_bits, u_most):
    """The (u, value) pairs in the record of one segment, and its length in bytes."""
    if n == 0:
        return [], 0
    remainder_bits = remainder_bits_for(n, u_most)
    quotients, width = (u_most >> remainder_bits) + 1, remainder_bits + value_bits
    samples = (quotients - 1) >> 7
    size = 2 * samples + -(-(quotients + n) // 8) + -(-n * width // 8)
    record, place, found = record[:size], 16 * samples, []
    for quotient in range(quotients):
        if quotient and quotient % 128 == 0 and bits(record, 16 * (quotient // 128 - 1), 16) != len(found):
            raise ValueError("a sample does not agree with the runs")
        while bits(record, place, 1):
            slot = 8 * size - (len(found) + 1) * width
            remainder = bits(record, slot, remainder_bits)
            value = bits(record, slot + remainder_bits, value_bits)
            found.append((quotient << remainder_bits | remainder, value))
            place += 1
        place += 1
    if len(found) != n or found != sorted(found):
        raise ValueError(f"{len(found)} entries in the runs, {n} stated, or out of order")
    return found, size


def chain(capacity, error, fixed):
    """Capacity and range of each table."""
    first = max(math.ceil(capacity / (error if fixed else 0.75 * error)), 1 << 12)
    for table, extra in enumerate((0, 4, 4, 3, 4, 9, 9, 9, 9, 9, 9)):
        growth = 4 * table + 2 if table else 0
        yield capacity << growth, first << growth + extra


def segments_for(n, span):
    """The number of segments for n entries."""
    most = 0
    while (span - 1) >> (most + 1) >= 511:
        most += 1
    return min(max(-(-n // 384), 1), 1 << most)


def read_table(payloads, span, n, crowded, value_bits):
    """The (fingerprint, value) pairs of a table."""
    segments = segments_for(n - crowded, span)
    level = segments.bit_length() - 1
    split = segments - (1 << level)
    found, segment = [], 0
    while segment < segments:
        kind, payload = next(payloads)
        if kind != b"SEGS":
            raise ValueError("segments are missing")
        at = 0
        while at < len(payload):
            count, more = struct.unpack_from("<HH", payload, at)
            deep = level + (segment < split or segment >= 1 << level)
            entries, size = entries_of(payload[at + 4:], count, value_bits, (span - 1) >> deep)
            found += [(u << deep | segment, value) for u, value in entries]
            at += 4 + size
            segment += not more
    while crowded > 0:
        kind, payload = next(payloads)
        if kind != b"CRWD":
            raise ValueError("crowds are missing")
        found += [struct.unpack_from("<QI", payload, at) for at in range(0, len(payload), 12)]
        crowded -= len(payload) // 12
    if len(found) != n or crowded:
        raise ValueError(f"{len(found)} entries found, {n} stated")
    return found


def read_options(payloads):
    """Capacity, error, value bits, fixed, and for each table its entries and those in crowds."""
    kind, options = next(payloads)
    if kind != b"MOPT":
        raise ValueError("the options are missing")
    capacity, error, value_bits, fixed, tables = struct.unpack_from("<QdIIQ", options)
    counts = struct.unpack_from(f"<{2 * tables}Q", options, 32)
    return capacity, error, value_bits, fixed, list(zip(counts[::2], counts[1::2]))


def main(arguments):
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[0], "rb") as file:
        payloads = frames(file.read())
    keys, crowd = int(arguments[1]), int(arguments[2])
    capacity, error, value_bits, fixed, counts = read_options(payloads)
    pairs = [(0, value) for value in range(1, crowd + 1)] + [(i, i % 128) for i in range(keys)]
    plan = chain(capacity, error, fixed)
    for table, ((room, span), (n, crowded)) in enumerate(zip(plan, counts)):
        mine, pairs = pairs[:room], pairs[room:]
        expected = []
        for key, value in mine:
            digest = xxhash.xxh3_128_intdigest(struct.pack("<I", key), seed=SEED)
            expected.append(((digest >> 64) * span >> 64, value))
        found = read_table(payloads, span, n, crowded, value_bits)
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
