/* What all fuzzers have in common. */
#ifndef BRY_TESTS_FUZZ_INPUT_H
#define BRY_TESTS_FUZZ_INPUT_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

/* A copy of exactly this length, so that a sanitizer detects reads past its end; free() it. */
static inline unsigned char *fuzz_copy(const uint8_t *bytes, size_t len)
{
    unsigned char *copy = malloc(len ? len : 1);
    MUST(copy);
    memcpy(copy, bytes, len);
    return copy;
}

#endif
