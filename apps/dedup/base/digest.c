#include "apps/dedup/base/digest.h"

#include <openssl/evp.h>
#include <string.h>

size_t dedup_digest_len(dedup_hash hash)
{
    return hash == DEDUP_SHA1 ? 20 : 32;
}

static dedup_status no_digest(void)
{
    return dedup_problem(DEDUP_FAILED, "OpenSSL cannot compute this digest");
}

dedup_status dedup_hasher_init(dedup_hasher *hasher, dedup_hash hash)
{
    hasher->algorithm = EVP_MD_fetch(NULL, hash == DEDUP_SHA1 ? "SHA1" : "SHA256", NULL);
    hasher->context = EVP_MD_CTX_new();
    if (hasher->algorithm && hasher->context)
        return DEDUP_OK;
    dedup_hasher_free(hasher);
    return no_digest();
}

void dedup_hasher_free(dedup_hasher *hasher)
{
    EVP_MD_free(hasher->algorithm);
    EVP_MD_CTX_free(hasher->context);
    hasher->algorithm = hasher->context = NULL;
}

dedup_status dedup_hasher_run(dedup_hasher *hasher, const void *bytes, size_t len,
                              dedup_digest *digest)
{
    memset(digest, 0, sizeof *digest);
    if (EVP_DigestInit_ex2(hasher->context, hasher->algorithm, NULL) != 1 ||
        EVP_DigestUpdate(hasher->context, bytes, len) != 1 ||
        EVP_DigestFinal_ex(hasher->context, digest->bytes, NULL) != 1)
        return no_digest();
    return DEDUP_OK;
}

dedup_hex dedup_hex_of(const void *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *from = bytes;
    dedup_hex hex;
    for (size_t i = 0; i < len; i++) {
        hex.text[2 * i] = digits[from[i] >> 4];
        hex.text[2 * i + 1] = digits[from[i] & 15];
    }
    hex.text[2 * len] = 0;
    return hex;
}

static int digit_of_hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool dedup_hex_read(const char *text, void *bytes, size_t len)
{
    unsigned char *to = bytes;
    if (strlen(text) != 2 * len)
        return false;
    for (size_t i = 0; i < len; i++) {
        int high = digit_of_hex(text[2 * i]), low = digit_of_hex(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        to[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}
