#include "clients/c/slab_choice.h"

#include <string.h>

/* ---- CRC-32 -------------------------------------------------------------------------------- */

static void make_crc_tables(uint32_t table[4][256])
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        table[0][i] = crc;
    }
    for (int t = 1; t < 4; t++)
        for (uint32_t i = 0; i < 256; i++)
            table[t][i] = table[t - 1][i] >> 8 ^ table[0][table[t - 1][i] & 255];
}

/* Four bytes at a time. */
uint32_t bryc__crc32(const bryc__choice *choice, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    uint32_t crc = 0xffffffffu;
    for (; len >= 4; len -= 4, at += 4) {
        crc ^= at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        crc = choice->table[3][crc & 255] ^ choice->table[2][crc >> 8 & 255] ^
              choice->table[1][crc >> 16 & 255] ^ choice->table[0][crc >> 24];
    }
    for (; len > 0; len--, at++)
        crc = crc >> 8 ^ choice->table[0][(crc ^ *at) & 255];
    return ~crc;
}

/* ---- SHA-256 (FIPS 180-4) ------------------------------------------------------------------ */

#define BLOCK 64u

static const uint32_t sha_start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static const uint32_t sha_rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate_right(uint32_t word, int by)
{
    return word >> by | word << (32 - by);
}

static void sha_block(uint32_t state[8], const unsigned char *block)
{
    uint32_t w[64], s[8];
    for (size_t i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] +
               (rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t one = s[7] +
                       (rotate_right(s[4], 6) ^ rotate_right(s[4], 11) ^ rotate_right(s[4], 25)) +
                       ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha_rounds[i] + w[i];
        uint32_t two = (rotate_right(s[0], 2) ^ rotate_right(s[0], 13) ^ rotate_right(s[0], 22)) +
                       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += one;
        s[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

/* The rest of a message whose first block is already in the state. */
static void sha_finish(uint32_t state[8], const unsigned char *bytes, size_t len)
{
    uint64_t bits = 8 * ((uint64_t)len + BLOCK);
    unsigned char last[2 * BLOCK] = {0};
    for (; len >= BLOCK; len -= BLOCK, bytes += BLOCK)
        sha_block(state, bytes);
    if (len)
        memcpy(last, bytes, len);
    last[len] = 0x80;
    size_t blocks = len + 9 > BLOCK ? 2 : 1;
    for (int i = 0; i < 8; i++)
        last[blocks * BLOCK - 1 - (size_t)i] = (unsigned char)(bits >> 8 * i);
    for (size_t i = 0; i < blocks; i++)
        sha_block(state, last + i * BLOCK);
}

static void hmac_pad(uint32_t state[8], const unsigned char *secret, size_t len, unsigned char pad)
{
    unsigned char block[BLOCK];
    memset(block, pad, sizeof block);
    for (size_t i = 0; i < len; i++)
        block[i] ^= secret[i];
    memcpy(state, sha_start, sizeof sha_start);
    sha_block(state, block);
}

uint64_t bryc__hmac64(const bryc__choice *choice, const void *bytes, size_t len)
{
    uint32_t state[8];
    unsigned char digest[32];
    memcpy(state, choice->inner, sizeof state);
    sha_finish(state, bytes, len);
    for (int i = 0; i < 32; i++)
        digest[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
    memcpy(state, choice->outer, sizeof state);
    sha_finish(state, digest, sizeof digest);
    return (uint64_t)state[0] << 32 | state[1];
}

/* ---- choosing ------------------------------------------------------------------------------ */

void bryc__choice_init(bryc__choice *choice, uint64_t slabs, const unsigned char *secret)
{
    choice->slabs = slabs;
    choice->keyed = secret != NULL;
    make_crc_tables(choice->table);
    if (secret) {
        hmac_pad(choice->inner, secret, 16, 0x36);
        hmac_pad(choice->outer, secret, 16, 0x5c);
    }
}

uint64_t bryc__choose_slab(const bryc__choice *choice, const void *key, size_t len)
{
    if (choice->keyed)
        return bryc__hmac64(choice, key, len) % choice->slabs;
    return bryc__crc32(choice, key, len) % (uint32_t)choice->slabs;
}
