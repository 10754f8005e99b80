/*
 * The 64 bytes at the start of every stream and every log, whatever their kind and version.
 * doc/format.md draws them.
 */
#ifndef BRY_FRAME_FRAME_HEADER_H
#define BRY_FRAME_FRAME_HEADER_H

#include <bloomery/base.h>

#define BRY__HEADER_BYTES 64u

/* Four characters as a number that reads as those characters in a file. */
#define BRY__FOUR(a, b, c, d)                                                                      \
    ((uint32_t)(unsigned char)(a) | (uint32_t)(unsigned char)(b) << 8 |                            \
     (uint32_t)(unsigned char)(c) << 16 | (uint32_t)(unsigned char)(d) << 24)

/* The revision of the containers, stream and log. */
#define BRY__FORMAT_REVISION 1u

typedef struct bry__header {
    uint16_t format; /* BRY__FORMAT_REVISION */
    uint16_t hash_scheme;
    uint32_t kind; /* what the payload is, BRY__FOUR */
    uint16_t kind_version;
    uint64_t seed;
} bry__header;

/* What a reader accepts. */
typedef struct bry__header_wants {
    uint32_t kind;
    uint16_t newest_kind_version; /* 1 to this one */
} bry__header_wants;

/* Stores the header and returns its checksum, which seeds all checksums after it. */
uint64_t bry__header_encode(const bry__header *header, unsigned char bytes[BRY__HEADER_BYTES]);

/*
 * Checks and decodes. The checksum is checked first, so damage is always BRY_E_BADDATA, and
 * BRY_E_VERSION always concerns intact data. On failure *problem and *at say what is wrong and
 * where; the other out-pointers are set only on success.
 */
bry_status bry__header_decode(const unsigned char bytes[BRY__HEADER_BYTES],
                              const bry__header_wants *wants, bry__header *header,
                              uint64_t *checksum, const char **problem, uint64_t *at);

/* What is wrong with data of `len` bytes, fewer than a header has. */
const char *bry__header_short(const unsigned char *bytes, size_t len);

#endif
