#!/usr/bin/python3
"""An independent reader of windows, written from doc/format.md only.

usage: read_window.py FILE

Compares a golden window with its expected contents: keys 0, 1, 2 … as four bytes each, key i added at
7777 + 10 · i ms up to the window's time, of which those count that are remembered then. Of a compact
window every entry is decoded, and its fingerprint and generation are put together again. Of one of
fbf every bit of every filter is compared, and the keys are looked up. Exit status 0: all as it must
be; 1: not; 2: usage.
"""
import math
import struct
import sys

import xxhash
from read_maplet import SEED, chain, frames, read_options, read_table

START, STEP = 7777, 10
M64 = (1 << 64) - 1


def times_until(now):
    """The time of each key."""
    return {key: START + STEP * key for key in range((now - START) // STEP + 1)}


def expected(window, length, now, tables, spans):
    """For each table the (fingerprint, generation) pairs of keys that were added there and are
    still remembered, computed by repeating all additions."""
    room = [capacity for capacity, _ in spans]
    kept = [[] for _ in range(tables)]
    for key, at in times_until(now).items():
        kept = [[e for e in table if (e[1] + 1) * length + window > at] for table in kept]
        table = next(i for i in range(tables) if len(kept[i]) < room[i])
        kept[table].append((hash_of(key)[1] * spans[table][1] >> 64, at // length))
    assert at == now
    return kept


def hash_of(key):
    digest = xxhash.xxh3_128_intdigest(struct.pack("<I", key), seed=SEED)
    return digest & M64, digest >> 64


def check_compact(payloads, numbers):
    generations, _, window, capacity, error = struct.unpack_from("<IIQQd", numbers, 8)
    now, = struct.unpack_from("<Q", numbers, 64)
    length = -(-window // generations)
    value_bits = math.ceil(math.log2(-(-window // length) + 1 + 2))
    first = capacity + -(-capacity * length // window)
    *options, counts = read_options(payloads)
    if options != [first, error, value_bits, 0]:
        return f"a maplet of capacity, error, value bits, fixed {options}"
    spans = list(chain(first, error, False))[:len(counts)]
    for i, wanted in enumerate(expected(window, length, now, len(counts), spans)):
        found = read_table(payloads, spans[i][1], *counts[i], value_bits)
        wanted = [(fingerprint, generation % 2 ** value_bits) for fingerprint, generation in wanted]
        if sorted(found) != sorted(wanted):
            return f"table {i}: {len(found)} entries, not those that were put in"
        print(f"table {i}: {len(found)} entries, all as they were put in")
    return None


def mix(x):
    x &= M64
    x ^= x >> 32
    x = x * 0xD6E8FEB86659FD93 & M64
    x ^= x >> 32
    x = x * 0xD6E8FEB86659FD93 & M64
    return x ^ x >> 32


class Filter:
    """One filter of a row: the frame FFIL and its pieces."""

    def __init__(self, payloads, length):
        kind, numbers = next(payloads)
        if kind != b"FFIL" or len(numbers) != 72:
            raise ValueError("a filter is missing")
        (self.bits, self.hashes, sub, self.start, self.begin, self.end, self.before, self.items,
         self.limit, self.early, pieces) = struct.unpack("<QIIQQQQQQII", numbers)
        self.salt = mix(mix(self.start // length + 0x9E3779B97F4A7C15) + sub)
        self.table = bytearray(-(-self.bits // 512) * 64)
        for _ in range(pieces):
            kind, payload = next(payloads)
            at = int.from_bytes(payload[:8], "little") << 13
            if kind != b"PIEC" or len(payload) - 8 != min(1 << 13, len(self.table) - at):
                raise ValueError("a piece is missing or has the wrong size")
            self.table[at:at + len(payload) - 8] = payload[8:]

    def positions(self, key):
        lo, hi = hash_of(key)
        return {mix(lo + self.salt + i * hi) * self.bits >> 64 for i in range(self.hashes)}

    def has(self, key):
        return all(self.table[p >> 3] >> (p & 7) & 1 for p in self.positions(key))

    def problem(self, times):
        """What is wrong with it, given the time of each key."""
        before = [key for key, at in times.items() if self.start <= at < self.begin]
        items = [key for key, at in times.items() if self.begin <= at < self.end]
        table = bytearray(len(self.table))
        for position in set().union(*map(self.positions, before + items)):
            table[position >> 3] |= 1 << (position & 7)
        if (self.before, self.items) != (len(before), len(items)):
            return f"{self.before} and {self.items} elements, not {len(before)} and {len(items)}"
        return None if table == self.table else "other bits than its elements'"


def check_fbf(payloads, numbers):
    generations, _, window = struct.unpack_from("<IIQ", numbers, 8)
    now, = struct.unpack_from("<Q", numbers, 64)
    kind, row = next(payloads)
    if kind != b"FBF ":
        return "the row is missing"
    count, last, cell_items, _, _ = struct.unpack("<5Q", row)
    length = -(-window // generations)
    filters = [Filter(payloads, length) for _ in range(count)]
    times = times_until(now)
    for i, one in enumerate(filters):
        problem = one.problem(times)
        if problem:
            return f"filter {i}: {problem}"
    for older, newer in zip(filters, filters[1:]):
        if newer.start != older.begin or newer.before != older.items:
            return "neighbouring filters do not match"
    in_cell = sum(one.items for one in filters if now // length * length <= one.begin <= now)
    if last != now or cell_items != in_cell:
        return "the row's numbers are not its filters'"
    lost = [key for key, at in times.items() if at + window >= now and not any(
        older.has(key) and newer.has(key) for older, newer in zip(filters, filters[1:]))]
    if lost:
        return f"keys are not found: {lost}"
    print(f"{count} filters, all bits as they must be")
    return None


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[0], "rb") as file:
        payloads = frames(file.read())
    _, numbers = next(payloads)
    check = {2: check_compact, 4: check_fbf}[int.from_bytes(numbers[:4], "little")]
    problem = check(payloads, numbers)
    if not problem and next(payloads, None) is not None:
        problem = "frames are left over"
    if problem:
        print(problem)
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
