#include "frame/frame_header.h"

#include <xxhash.h>

#include "common/endian.h"
#include "common/struct_size.h"
#include "hash/derive.h"

/*
 * A byte that no text starts with, the name, then line ends and an end-of-file character, which
 * text-mode transfers would change: such damage is detected at once.
 */
static const unsigned char magic[8] = {0x8b, 'B', 'R', 'Y', '\r', '\n', 0x1a, '\n'};

enum {
    AT_FORMAT = 8,
    AT_HASH_SCHEME = 10,
    AT_KIND = 12,
    AT_KIND_VERSION = 16,
    AT_RESERVED = 18,
    AT_SEED = 24,
    AT_RESERVED_TOO = 32,
    AT_CHECKSUM = 56,
};

uint64_t bry__header_encode(const bry__header *header, unsigned char bytes[BRY__HEADER_BYTES])
{
    memset(bytes, 0, BRY__HEADER_BYTES);
    memcpy(bytes, magic, sizeof magic);
    bry__store16(bytes + AT_FORMAT, header->format);
    bry__store16(bytes + AT_HASH_SCHEME, header->hash_scheme);
    bry__store32(bytes + AT_KIND, header->kind);
    bry__store16(bytes + AT_KIND_VERSION, header->kind_version);
    bry__store64(bytes + AT_SEED, header->seed);
    uint64_t checksum = XXH3_64bits(bytes, AT_CHECKSUM);
    bry__store64(bytes + AT_CHECKSUM, checksum);
    return checksum;
}

const char *bry__header_short(const unsigned char *bytes, size_t len)
{
    return memcmp(bytes, magic, len < sizeof magic ? len : sizeof magic) == 0
               ? "the data ends inside the header"
               : "not Bloomery data";
}

bry_status bry__header_decode(const unsigned char bytes[BRY__HEADER_BYTES],
                              const bry__header_wants *wants, bry__header *header,
                              uint64_t *checksum, const char **problem, uint64_t *at)
{
#define REFUSE(status, where, text) return *problem = (text), *at = (where), (status)
    if (memcmp(bytes, magic, sizeof magic) != 0)
        REFUSE(BRY_E_BADDATA, 0, "not Bloomery data");
    uint64_t sum = XXH3_64bits(bytes, AT_CHECKSUM);
    if (sum != bry__load64(bytes + AT_CHECKSUM))
        REFUSE(BRY_E_BADDATA, AT_CHECKSUM, "the header is damaged");

    bry__header h = {
        .format = bry__load16(bytes + AT_FORMAT),
        .hash_scheme = bry__load16(bytes + AT_HASH_SCHEME),
        .kind = bry__load32(bytes + AT_KIND),
        .kind_version = bry__load16(bytes + AT_KIND_VERSION),
        .seed = bry__load64(bytes + AT_SEED),
    };
    if (h.format != BRY__FORMAT_REVISION)
        REFUSE(BRY_E_VERSION, AT_FORMAT, "unsupported format revision");
    if (h.hash_scheme != BRY__HASH_SCHEME)
        REFUSE(BRY_E_VERSION, AT_HASH_SCHEME, "unsupported hash scheme");
    if (!bry__all_zero(bytes + AT_RESERVED, AT_SEED - AT_RESERVED))
        REFUSE(BRY_E_BADDATA, AT_RESERVED, "reserved bytes of the header are not zero");
    if (!bry__all_zero(bytes + AT_RESERVED_TOO, AT_CHECKSUM - AT_RESERVED_TOO))
        REFUSE(BRY_E_BADDATA, AT_RESERVED_TOO, "reserved bytes of the header are not zero");
    if (h.kind != wants->kind)
        REFUSE(BRY_E_BADDATA, AT_KIND, "another kind of object");
    if (h.kind_version < 1 || h.kind_version > wants->newest_kind_version)
        REFUSE(BRY_E_VERSION, AT_KIND_VERSION, "unsupported version of the object's layout");
#undef REFUSE
    *header = h;
    *checksum = sum;
    return BRY_OK;
}
