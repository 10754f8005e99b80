#include "kernel/bits.h"
#include "kernel/block.h"
#include "kernel/kernel.h"
#include "kernel/popcount.h"
#include "kernel/rows.h"

#include <immintrin.h>

/* A lane of ones for each position that is not set, among those selected by `lanes`. */
static inline __m256i avx2_clear_lanes(const unsigned char *block, __m256i word, __m256i shifts,
                                       __m256i lanes)
{
    __m256i at = _mm256_and_si256(_mm256_srlv_epi64(word, shifts), _mm256_set1_epi64x(511));
    __m256i picked =
        _mm256_i64gather_epi64((const long long *)(const void *)block, _mm256_srli_epi64(at, 6), 8);
    __m256i bit = _mm256_srlv_epi64(picked, _mm256_and_si256(at, _mm256_set1_epi64x(63)));
    return _mm256_andnot_si256(bit, lanes);
}

static inline bool avx2_block_has_inline(const unsigned char *block, uint64_t half, unsigned k)
{
    const __m256i low_shifts = _mm256_setr_epi64x(0, 9, 18, 27);
    const __m256i high_shifts = _mm256_setr_epi64x(36, 45, 54, 0);
    bool found = true;
    for (unsigned done = 0; done < k && found; done += BRY__PER_WORD) {
        long long left = k - done < BRY__PER_WORD ? (long long)(k - done) : BRY__PER_WORD;
        __m256i count = _mm256_set1_epi64x(left), one = _mm256_set1_epi64x(1);
        __m256i low =
            _mm256_and_si256(one, _mm256_cmpgt_epi64(count, _mm256_setr_epi64x(0, 1, 2, 3)));
        __m256i high =
            _mm256_and_si256(one, _mm256_cmpgt_epi64(count, _mm256_setr_epi64x(4, 5, 6, 7)));
        __m256i word = _mm256_set1_epi64x((long long)bry__word(half, done / BRY__PER_WORD));
        __m256i clear = _mm256_or_si256(avx2_clear_lanes(block, word, low_shifts, low),
                                        avx2_clear_lanes(block, word, high_shifts, high));
        found = _mm256_testz_si256(clear, clear);
    }
    return found;
}

static bool avx2_block_has(const unsigned char *block, uint64_t half, unsigned k)
{
    return avx2_block_has_inline(block, half, k);
}

static bool avx2_block_add(unsigned char *block, uint64_t half, unsigned k)
{
    bool is_new = !avx2_block_has_inline(block, half, k);
    if (is_new)
        bry__block_set(block, half, k);
    return is_new;
}

static void avx2_block_test(const unsigned char *const *blocks, const uint64_t *halves, size_t n,
                            unsigned k, uint8_t *answers)
{
    for (size_t i = 0; i < n; i++)
        answers[i] = avx2_block_has_inline(blocks[i], halves[i], k);
}

static void avx2_or_into(unsigned char *into, const unsigned char *from, size_t len)
{
    for (size_t i = 0; i < len; i += 32) {
        __m256i both =
            _mm256_or_si256(_mm256_loadu_si256((const __m256i *)(const void *)(into + i)),
                            _mm256_loadu_si256((const __m256i *)(const void *)(from + i)));
        _mm256_storeu_si256((__m256i *)(void *)(into + i), both);
    }
}

/* 256 bits from bit `shift` of `from` on: each lane is completed from the word a byte further on. */
static inline __m256i avx2_bits_below(const unsigned char *from, __m128i shift, __m128i back)
{
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)from);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(from + 1));
    return _mm256_or_si256(_mm256_srl_epi64(low, shift), _mm256_sll_epi64(high, back));
}

/* The last step overlaps the one before it, which must not write what it reads: it reads first. */
static void avx2_bits_down(unsigned char *bytes, size_t first, size_t end, unsigned by)
{
    if (end - first < 32) {
        bry__bits_down_words(bytes, first, end, by);
        return;
    }
    const unsigned char *from = bytes + (by >> 3);
    __m128i shift = _mm_cvtsi32_si128((int)(by & 7)), back = _mm_cvtsi32_si128(8 - (int)(by & 7));
    __m256i last = avx2_bits_below(from + end - 32, shift, back);
    for (; first + 32 < end; first += 32)
        _mm256_storeu_si256((__m256i *)(void *)(bytes + first),
                            avx2_bits_below(from + first, shift, back));
    _mm256_storeu_si256((__m256i *)(void *)(bytes + end - 32), last);
}

static void avx2_bits_up(unsigned char *bytes, size_t first, size_t end, unsigned by)
{
    if (end - first < 32) {
        bry__bits_up_words(bytes, first, end, by);
        return;
    }
    const unsigned char *from = bytes - ((by + 7) >> 3);
    __m128i shift = _mm_cvtsi32_si128((int)(-by & 7));
    __m128i back = _mm_cvtsi32_si128(8 - (int)(-by & 7));
    __m256i last = avx2_bits_below(from + first, shift, back);
    for (; first + 32 < end; end -= 32)
        _mm256_storeu_si256((__m256i *)(void *)(bytes + end - 32),
                            avx2_bits_below(from + end - 32, shift, back));
    _mm256_storeu_si256((__m256i *)(void *)(bytes + first), last);
}

static inline __m256i avx2_half_row(const unsigned char *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

static bool avx2_rows_and(unsigned char *mask, const unsigned char *const *rows, size_t n,
                          size_t bytes)
{
    if (bytes <= 8)
        return bry__rows_and_word(mask, rows, n, bytes);
    if (bytes == 16)
        return bry__rows_and_words(mask, rows, n, 16);
    bool any;
    if (bytes == 32) {
        __m256i left = avx2_half_row(mask);
        any = !_mm256_testz_si256(left, left);
        for (size_t i = 0; i < n && any; i++) {
            left = _mm256_and_si256(left, avx2_half_row(rows[i]));
            any = !_mm256_testz_si256(left, left);
        }
        _mm256_storeu_si256((__m256i *)(void *)mask, left);
        return any;
    }
    __m256i low = avx2_half_row(mask), high = avx2_half_row(mask + 32),
            both = _mm256_or_si256(low, high);
    any = !_mm256_testz_si256(both, both);
    for (size_t i = 0; i < n && any; i++) {
        low = _mm256_and_si256(low, avx2_half_row(rows[i]));
        high = _mm256_and_si256(high, avx2_half_row(rows[i] + 32));
        both = _mm256_or_si256(low, high);
        any = !_mm256_testz_si256(both, both);
    }
    _mm256_storeu_si256((__m256i *)(void *)mask, low);
    _mm256_storeu_si256((__m256i *)(void *)(mask + 32), high);
    return any;
}

const bry__kernel bry__kernel_avx2 = {
    .isa = BRY__ISA_AVX2,
    .block_has = avx2_block_has,
    .block_add = avx2_block_add,
    .block_test = avx2_block_test,
    .popcount = bry__popcount_words,
    .popcount_or = bry__popcount_or_words,
    .or_into = avx2_or_into,
    .bits_down = avx2_bits_down,
    .bits_up = avx2_bits_up,
    .run_after = bry__run_after_words, /* with BMI2 */
    .probe_runs = bry__probe_runs_words,
    .probe_slots = bry__probe_slots_words,
    .slots_select = bry__slots_select_words,
    .slots_copy = bry__slots_copy_words,
    .runs_copy = bry__runs_copy_words,
    .runs_list = bry__runs_list_words,
    .rows_and = avx2_rows_and,
};
