#include "kernel/bits.h"
#include "kernel/block.h"
#include "kernel/kernel.h"

#include <immintrin.h>

/* The block fits one register, so seven positions are looked up by one permutation of its words. */
static void block_test(const unsigned char *const *blocks, const uint64_t *halves, size_t n,
                       unsigned k, uint8_t *answers)
{
    const __m512i shifts = _mm512_setr_epi64(0, 9, 18, 27, 36, 45, 54, 0);
    const __m512i low9 = _mm512_set1_epi64(511), low6 = _mm512_set1_epi64(63);
    const __m512i one = _mm512_set1_epi64(1);
    for (size_t i = 0; i < n; i++) {
        __m512i block = _mm512_load_si512(blocks[i]);
        __mmask8 missing = 0;
        for (unsigned done = 0; done < k && !missing; done += BRY__PER_WORD) {
            unsigned here = k - done < BRY__PER_WORD ? k - done : BRY__PER_WORD;
            __m512i word = _mm512_set1_epi64((long long)bry__word(halves[i], done / BRY__PER_WORD));
            __m512i at = _mm512_and_si512(_mm512_srlv_epi64(word, shifts), low9);
            __m512i picked = _mm512_permutexvar_epi64(_mm512_srli_epi64(at, 6), block);
            __m512i bit = _mm512_srlv_epi64(picked, _mm512_and_si512(at, low6));
            missing = _mm512_mask_testn_epi64_mask((__mmask8)((1u << here) - 1), bit, one);
        }
        answers[i] = !missing;
    }
}

static uint64_t popcount(const unsigned char *bytes, size_t len)
{
    __m512i sum = _mm512_setzero_si512();
    for (size_t i = 0; i < len; i += 64)
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_loadu_si512(bytes + i)));
    return (uint64_t)_mm512_reduce_add_epi64(sum);
}

static uint64_t popcount_or(const unsigned char *a, const unsigned char *b, size_t len)
{
    __m512i sum = _mm512_setzero_si512();
    for (size_t i = 0; i < len; i += 64) {
        __m512i both = _mm512_or_si512(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i));
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(both));
    }
    return (uint64_t)_mm512_reduce_add_epi64(sum);
}

static void or_into(unsigned char *into, const unsigned char *from, size_t len)
{
    for (size_t i = 0; i < len; i += 64)
        _mm512_storeu_si512(
            into + i, _mm512_or_si512(_mm512_loadu_si512(into + i), _mm512_loadu_si512(from + i)));
}

/* 512 bits from any bit: every lane is finished from the word eight bytes on. */
static inline __m512i bits512(const unsigned char *bytes, uint64_t at)
{
    const unsigned char *p = bytes + (at >> 3);
    __m512i shift = _mm512_set1_epi64((long long)(at & 7));
    __m512i back = _mm512_sub_epi64(_mm512_set1_epi64(64), shift);
    return _mm512_or_si512(_mm512_srlv_epi64(_mm512_loadu_si512(p), shift),
                           _mm512_sllv_epi64(_mm512_loadu_si512(p + 8), back));
}

static void bits_down(unsigned char *bytes, uint64_t from, uint64_t to, uint64_t by)
{
    unsigned head = (unsigned)(by - from) & 7;
    if (to - from >= 1024) {
        if (head)
            bry__bits_down_words(bytes, from, from + head, by);
        for (from += head; to - from >= 512 + 72; from += 512)
            _mm512_storeu_si512(bytes + ((from - by) >> 3), bits512(bytes, from));
    }
    bry__bits_down_words(bytes, from, to, by);
}

static void bits_up(unsigned char *bytes, uint64_t from, uint64_t to, uint64_t by)
{
    unsigned tail = (unsigned)(to + by) & 7;
    if (to - from >= 1024) {
        if (tail)
            bry__bits_up_words(bytes, to - tail, to, by);
        /* A step reads up to 72 bits past its own, so the last ones are left to the words. */
        to -= tail;
        bry__bits_up_words(bytes, to - 64, to, by);
        for (to -= 64; to - from >= 512; to -= 512)
            _mm512_storeu_si512(bytes + ((to - 512 + by) >> 3), bits512(bytes, to - 512));
    }
    bry__bits_up_words(bytes, from, to, by);
}

const bry__kernel bry__kernel_avx512 = {
    .isa = BRY__ISA_AVX512,
    .block_test = block_test,
    .popcount = popcount,
    .popcount_or = popcount_or,
    .or_into = or_into,
    .bits_down = bits_down,
    .bits_up = bits_up,
    .run_after = bry__run_after_words, /* with BMI2 */
};
