#include "bench/harness/keys.h"

#include "hash/derive.h"

#include <stdlib.h>
#include <string.h>

uint64_t bench_random(uint64_t i)
{
    /* Both steps are invertible, so the numbers are distinct. */
    return bry__mix64(i * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0x2545f4914f6cdd1d));
}

/* Key number i: the first half alone is distinct. */
static void write_key(unsigned char *key, uint64_t i)
{
    uint64_t halves[2] = {bench_random(i), bench_random(~i)};
    memcpy(key, halves, BENCH_KEY_BYTES);
}

static void shuffle_keys(unsigned char *keys, uint64_t count)
{
    for (uint64_t i = count; i > 1; i--) {
        unsigned char *a = keys + (i - 1) * BENCH_KEY_BYTES;
        unsigned char *b = keys + bry__scale(bench_random(i), i) * BENCH_KEY_BYTES;
        unsigned char kept[BENCH_KEY_BYTES];
        memcpy(kept, a, BENCH_KEY_BYTES);
        memmove(a, b, BENCH_KEY_BYTES);
        memcpy(b, kept, BENCH_KEY_BYTES);
    }
}

bool bench_keys_make(bench_keys *keys, uint64_t count)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, BENCH_KEY_BYTES, &bytes))
        return false;
    *keys = (bench_keys){count, malloc(bytes), malloc(bytes), malloc(bytes)};
    if (!keys->added || !keys->hits || !keys->misses) {
        bench_keys_free(keys);
        return false;
    }
    for (uint64_t i = 0; i < count; i++) {
        write_key(keys->added + i * BENCH_KEY_BYTES, i);
        write_key(keys->misses + i * BENCH_KEY_BYTES, count + i);
    }
    memcpy(keys->hits, keys->added, bytes);
    shuffle_keys(keys->hits, count);
    return true;
}

void bench_keys_free(bench_keys *keys)
{
    free(keys->added);
    free(keys->hits);
    free(keys->misses);
    *keys = (bench_keys){0};
}
