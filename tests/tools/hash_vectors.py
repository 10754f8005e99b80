"""Writes the test vectors of hash scheme 1, from an independent implementation.

hash_vectors.py              prints the vectors
hash_vectors.py --check FILE compares FILE with them; exits with 1 where they differ

XXH3-128 is python3-xxhash's; everything derived from it is computed here with Python's integers.
Files written by Bloomery depend on every number: a difference means a new scheme, never new vectors.
"""

import sys

import xxhash

MASK = (1 << 64) - 1

HEADER = """\
# Hash scheme 1. One vector a line, fields separated by tabs; halves of the hash in hexadecimal.
#   seed       64 bits, hexadecimal
#   key        hexadecimal, two digits a byte; - when empty
#   lo, hi     the hash
#   block      hi scaled to 19372 blocks
#   positions  21 positions in a 512-bit block, from lo
#   print      fingerprint: hi scaled to 1000003
#   standard   8 positions in a standard filter of 9585059 bits
"""
BLOCKS, PRINTS, BITS = 19372, 1000003, 9585059


def mix(x):
    for _ in range(2):
        x ^= x >> 32
        x = x * 0xD6E8FEB86659FD93 & MASK
    return x ^ x >> 32


def scale(x, size):
    return x * size >> 64


def block_positions(lo, count):
    positions = []
    for word_number in range((count + 6) // 7):
        word = mix((lo + word_number * 0x9E3779B97F4A7C15) & MASK) if word_number else lo
        positions += [word >> 9 * i & 511 for i in range(7)]
    return positions[:count]


def standard_positions(lo, hi, count):
    return [scale(mix((lo + i * hi) & MASK), BITS) for i in range(count)]


def vector(seed, key):
    digest = xxhash.xxh3_128_intdigest(key, seed)
    lo, hi = digest & MASK, digest >> 64
    fields = [
        f"{seed:016x}", key.hex() or "-", f"{lo:016x}", f"{hi:016x}", str(scale(hi, BLOCKS)),
        ",".join(map(str, block_positions(lo, 21))), str(scale(hi, PRINTS)),
        ",".join(map(str, standard_positions(lo, hi, 8))),
    ]
    return "\t".join(fields)


def keys():
    """Every length at which XXH3 changes its algorithm, with zeros and text."""
    yield b""
    yield b"\0"
    yield b"\0" * 16
    yield b"bloomery"
    yield "Rennofen für Luppen".encode()
    for length in (1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 32, 63, 64, 65, 127, 128, 129, 239, 240, 241,
                   255, 256, 257, 512, 1000):
        yield bytes((i * 167 + length * 31 + 11) & 255 for i in range(length))


def vectors():
    lines = [HEADER.rstrip("\n")]
    for seed in (0, 1, 0x123456789ABCDEF0, MASK):
        lines += [vector(seed, key) for key in keys()]
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1:2] == ["--check"] and len(sys.argv) == 3:
        with open(sys.argv[2], encoding="utf-8") as file:
            if file.read() != vectors():
                print(f"{sys.argv[2]} is not what this program computes", file=sys.stderr)
                return 1
        return 0
    if len(sys.argv) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    sys.stdout.write(vectors())
    return 0


if __name__ == "__main__":
    sys.exit(main())
