#!/usr/bin/python3
"""A second reader of compact windows, written from doc/format.md alone.

usage: read_window.py FILE

Decodes every entry of the golden window, puts its fingerprint and generation together again, and
compares with what the file must hold: keys 0 to 299 as four bytes each, key i added at
7777 + 10 · i ms, of which those count that are remembered at the last one's time. Exit status 0: all
as it must be; 1: not; 2: usage.
"""
import math
import struct
import sys

import xxhash
from read_maplet import SEED, entries_of, frames

KEYS, START, STEP = 300, 7777, 10


def groups(payloads, n, span, value_bits):
    """The (fingerprint, number) pairs of one level."""
    k = 0
    while n >> k > 512 and span >> (k + 1) >= 1 << 10:
        k += 1
    found, group = [], 0
    while group < 1 << k:
        kind, payload = next(payloads)
        if kind != b"GRPS":
            raise ValueError("groups are missing")
        at = 0
        while at < len(payload):
            count, steps, remainder_bits, more = struct.unpack_from("<HHBB", payload, at)
            at += 8
            if count:
                size = 16 * steps + 8
                found += [(u << k | group, number) for u, number in
                          entries_of(payload[at:at + size], count, remainder_bits, value_bits,
                                     (span - 1) >> k)]
                at += size
            group += not more
    if len(found) != n:
        raise ValueError(f"{len(found)} entries found, {n} stated")
    return found


def expected(window, length, now, levels, spans):
    """For each level the (fingerprint, generation) pairs of keys that went there and are still
    remembered, found by doing all again."""
    room = [capacity for capacity, _ in spans]
    kept = [[] for _ in range(levels)]
    for key in range(KEYS):
        at = START + STEP * key
        kept = [[e for e in level if (e[1] + 1) * length + window > at] for level in kept]
        digest = xxhash.xxh3_128_intdigest(struct.pack("<I", key), seed=SEED)
        level = next(i for i in range(levels) if len(kept[i]) < room[i])
        kept[level].append(((digest >> 64) * spans[level][1] >> 64, at // length))
    assert at == now
    return kept


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[0], "rb") as file:
        payloads = frames(file.read())
    kind, numbers = next(payloads)
    _, _, _, generations, window, capacity, error = struct.unpack_from("<IIIIQQd", numbers)
    now, = struct.unpack_from("<Q", numbers, 72)
    length = -(-window // generations)
    value_bits = math.ceil(math.log2(-(-window // length) + 1 + 2))
    first = capacity + -(-capacity * length // window)
    kind, counts = next(payloads)
    levels, *counts = struct.unpack("<17Q", counts)
    spans = [(first << i,
              max(math.ceil((first << i) / (error * (0.25 / 2 ** i if i else 0.75))), 1 << 12))
             for i in range(levels)]
    for i, wanted in enumerate(expected(window, length, now, levels, spans)):
        found = groups(payloads, counts[i], spans[i][1], value_bits)
        wanted = [(fingerprint, generation % 2 ** value_bits) for fingerprint, generation in wanted]
        if sorted(found) != sorted(wanted):
            print(f"level {i}: {len(found)} entries, not those that were put in")
            return 1
        print(f"level {i}: {len(found)} entries, all as they were put in")
    if any(counts[levels:]) or next(payloads, None) is not None:
        print("entries or frames are left over")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
