/* The digest that names a chunk: SHA-256, or SHA-1 with 20 bytes and zeros after them. */
#ifndef BLOOMERY_DEDUP_DIGEST_H
#define BLOOMERY_DEDUP_DIGEST_H

#include "apps/dedup/base/problem.h"

#include <stdbool.h>
#include <stddef.h>

enum { DEDUP_DIGEST_MAX = 32 };

typedef enum dedup_hash { DEDUP_SHA256 = 0, DEDUP_SHA1 = 1 } dedup_hash;

typedef struct dedup_digest {
    unsigned char bytes[DEDUP_DIGEST_MAX];
} dedup_digest;

size_t dedup_digest_len(dedup_hash hash);

typedef struct dedup_hasher {
    void *algorithm; /* The EVP_MD of OpenSSL. */
    void *context; /* The EVP_MD_CTX of OpenSSL. */
} dedup_hasher;

dedup_status dedup_hasher_init(dedup_hasher *hasher, dedup_hash hash);
void dedup_hasher_free(dedup_hasher *hasher);
dedup_status dedup_hasher_run(dedup_hasher *hasher, const void *bytes, size_t len,
                              dedup_digest *digest);

/* As hexadecimal digits; false if the text is not len bytes in them. */
typedef struct dedup_hex {
    char text[2 * DEDUP_DIGEST_MAX + 1];
} dedup_hex;
dedup_hex dedup_hex_of(const void *bytes, size_t len);
bool dedup_hex_read(const char *text, void *bytes, size_t len);

#endif
