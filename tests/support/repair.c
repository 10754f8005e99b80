#include "support/repair.h"

#include <string.h>
#include <xxhash.h>

#include "common/endian.h"
#include "frame/frame.h"
#include "frame/log.h"
#include "hash/derive.h"

void repair_header(unsigned char *bytes, size_t len, uint32_t kind)
{
    if (len < BRY__HEADER_BYTES)
        return;
    bry__header header = {BRY__FORMAT_REVISION, BRY__HASH_SCHEME, kind, 1, bry__load64(bytes + 24)};
    bry__header_encode(&header, bytes);
}

static uint64_t header_sum(unsigned char *bytes)
{
    uint64_t sum = XXH3_64bits(bytes, 56);
    bry__store64(bytes + 56, sum);
    return sum;
}

void repair_stream(unsigned char *bytes, size_t len)
{
    if (len < BRY__HEADER_BYTES)
        return;
    uint64_t chain = header_sum(bytes);
    for (size_t at = BRY__HEADER_BYTES; len - at >= BRY__FRAME_OVERHEAD;) {
        size_t length = bry__load32(bytes + at + 4);
        chain = XXH3_64bits_withSeed(bytes + at, 8, chain);
        bry__store64(bytes + at + 8, chain);
        if (length > len - at - BRY__FRAME_OVERHEAD)
            return;
        chain = XXH3_64bits_withSeed(bytes + at + 16, length, chain);
        bry__store64(bytes + at + 16 + length, chain);
        at += BRY__FRAME_OVERHEAD + length;
    }
}

void repair_log(unsigned char *bytes, size_t len, size_t spare)
{
    if (len < BRY__HEADER_BYTES)
        return;
    uint64_t sum = header_sum(bytes);
    size_t at = BRY__HEADER_BYTES;
    for (size_t i = 0; len - at >= BRY__RECORD_HEAD; i++) {
        uint32_t length = bry__load32(bytes + at);
        uint64_t size = bry__record_bytes(length);
        if (i != spare) {
            uint32_t unsynced = bry__load32(bytes + at + 4);
            bry__store32(bytes + at + 4, unsynced % (uint32_t)((at - BRY__HEADER_BYTES) / 8 + 1));
            uint64_t check = XXH3_64bits_withSeed(bytes + at, 8, sum + at);
            bry__store64(bytes + at + 8, check);
            if (size <= len - at)
                bry__store64(bytes + at + 16,
                             XXH3_64bits_withSeed(bytes + at + BRY__RECORD_HEAD,
                                                  (size_t)size - BRY__RECORD_HEAD, check));
        }
        /* A length that points out of the log: continues at the next possible record header. */
        at += size <= len - at ? (size_t)size : BRY__RECORD_HEAD;
    }
}
