#!/usr/bin/python3
"""An independent reader of Bloomery's streams and logs, written from doc/format.md only.

usage: read_frames.py [--log] FILE...

Checks header, checksums, chain and end of each file and prints its contents. Exit status 0: all are
valid; 1: one is not; 2: usage. A log with a torn tail is valid, and the torn bytes are counted.
"""
import struct
import sys

import xxhash

MAGIC = b"\x8bBRY\r\n\x1a\n"
MAX_PAYLOAD = 1 << 24
FULL_NOTE = 1 << 16  # of a frame NOTE
MAX_NOTE = 1 << 30


class Bad(Exception):
    pass


def xxh3(data, seed=0):
    return xxhash.xxh3_64_intdigest(data, seed=seed)


def text(four):
    return four.decode("latin-1").rstrip()


def read_header(data):
    if len(data) < 64:
        raise Bad("ends inside the header")
    magic, form, scheme, kind, kind_version = struct.unpack_from("<8sHH4sH", data, 0)
    (seed,) = struct.unpack_from("<Q", data, 24)
    (checksum,) = struct.unpack_from("<Q", data, 56)
    if magic != MAGIC:
        raise Bad("not Bloomery's")
    if checksum != xxh3(data[:56]):
        raise Bad("header damaged")
    if form != 1:
        raise Bad(f"revision {form} of the format")
    if any(data[18:24]) or any(data[32:56]):
        raise Bad("reserved bytes are not zero")
    print(f"  kind {text(kind)} version {kind_version}, hash scheme {scheme}, "
          f"seed {seed:#018x}, format {form}")
    return checksum


def check_note(lengths, frames, length):
    """The next frame of the note, which comes before all other frames."""
    if len(lengths) != frames:
        raise Bad("a note behind other frames")
    if any(before != FULL_NOTE for before in lengths) or not 0 < length <= FULL_NOTE:
        raise Bad("a note in frames of wrong lengths")
    if sum(lengths) + length > MAX_NOTE:
        raise Bad("a note that is too long")
    lengths.append(length)


def read_stream(data):
    chain = read_header(data)
    note = []
    at, frames, total = 64, 0, 0
    while True:
        if len(data) - at < 24:
            raise Bad(f"ends early at {at}")
        kind, length, check = struct.unpack_from("<4sIQ", data, at)
        chain = xxh3(data[at:at + 8], chain)
        if chain != check:
            raise Bad(f"frame's head at {at} damaged or out of place")
        if length > MAX_PAYLOAD or len(data) - at < 24 + length:
            raise Bad(f"frame at {at} too long")
        payload = data[at + 16:at + 16 + length]
        chain = xxh3(payload, chain)
        if chain != struct.unpack_from("<Q", data, at + 16 + length)[0]:
            raise Bad(f"frame at {at} damaged")
        at += 24 + length
        if kind == b"END ":
            break
        print(f"  frame {text(kind)}: {length} bytes")
        if kind == b"NOTE":
            check_note(note, frames, length)
        frames += 1
        total += length
    if length != 16 or struct.unpack("<QQ", payload) != (frames, total):
        raise Bad("the end frame's counts do not match")
    if at != len(data):
        raise Bad(f"trailing data at {at}")
    print(f"  {frames} frames, {total} bytes of payload")


def head_at(data, checksum, at):
    """Length and durable offset of the record at `at`, or None."""
    if len(data) - at < 24:
        return None
    length, unsynced, check = struct.unpack_from("<IIQ", data, at)
    if length > MAX_PAYLOAD or unsynced * 8 > at - 64:
        return None
    if check != xxh3(data[at:at + 8], (checksum + at) & (2**64 - 1)):
        return None
    return length, at - unsynced * 8


def read_log(data):
    checksum = read_header(data)
    at, records, seals = 64, 0, 0
    while at < len(data):
        head = head_at(data, checksum, at)
        if head is None:
            break
        end = at + 24 + (head[0] + 7) // 8 * 8
        check, total = struct.unpack_from("<QQ", data, at + 8)
        if end > len(data) or total != xxh3(data[at + 24:end], check):
            break
        if head[0]:
            print(f"  record at {at}: {head[0]} bytes")
        records += head[0] > 0
        seals += head[0] == 0
        at = end
    for later in range(at + 8, len(data), 8):
        head = head_at(data, checksum, later)
        if head and head[1] > at:
            raise Bad(f"record at {at} damaged; the one at {later} says it was on disk")
    print(f"  {records} records, {seals} seals, {len(data) - at} bytes torn")


def main(arguments):
    as_log = "--log" in arguments
    paths = [a for a in arguments if a != "--log"]
    if not paths or any(p.startswith("-") for p in paths):
        print(__doc__, file=sys.stderr)
        return 2
    status = 0
    for path in paths:
        print(f"{path}:")
        try:
            with open(path, "rb") as file:
                data = file.read()
            (read_log if as_log or path.endswith(".log") else read_stream)(data)
        except (Bad, OSError) as problem:
            print(f"  BAD: {problem}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
