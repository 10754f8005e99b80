/* Which slab a key belongs to: CRC-32 of the key, or HMAC-SHA256 with the map's secret. */
#ifndef BLOOMERY_CLUSTER_SLAB_CHOICE_H
#define BLOOMERY_CLUSTER_SLAB_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bryc__choice {
    uint64_t slabs;
    bool keyed;
    uint32_t inner[8], outer[8]; /* states of SHA-256 after the padded keys of HMAC */
    uint32_t table[4][256]; /* of CRC-32 */
} bryc__choice;

/* secret: 16 bytes, or NULL for CRC-32. */
void bryc__choice_init(bryc__choice *choice, uint64_t slabs, const unsigned char *secret);
uint64_t bryc__choose_slab(const bryc__choice *choice, const void *key, size_t len);

/* The CRC-32 of zlib and IEEE 802.3. */
uint32_t bryc__crc32(const bryc__choice *choice, const void *bytes, size_t len);

/* The first eight bytes of the HMAC, as a big-endian number. */
uint64_t bryc__hmac64(const bryc__choice *choice, const void *bytes, size_t len);

#endif
