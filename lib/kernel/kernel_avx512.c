#include "kernel/bits.h"
#include "kernel/block.h"
#include "kernel/kernel.h"
#include "kernel/rows.h"

#include <immintrin.h>

/* Mask of the lanes whose position is clear, for the first `here` positions of a word. The block
 * fits one register, so one permutation of its words looks them all up. */
static inline __mmask8 avx512_clear_lanes(__m512i block, uint64_t word, unsigned here)
{
    const __m512i shifts = _mm512_setr_epi64(0, 9, 18, 27, 36, 45, 54, 0);
    __m512i at = _mm512_srlv_epi64(_mm512_set1_epi64((long long)word), shifts);
    /* Permutation and shift use only the low 3 and 6 bits of their operand. */
    __m512i picked = _mm512_permutexvar_epi64(_mm512_srli_epi64(at, 6), block);
    __m512i bit = _mm512_rorv_epi64(picked, at);
    return _mm512_mask_testn_epi64_mask((__mmask8)((1u << here) - 1), bit, _mm512_set1_epi64(1));
}

static inline bool avx512_block_has_inline(__m512i block, uint64_t half, unsigned k)
{
    if (k <= BRY__PER_WORD)
        return !avx512_clear_lanes(block, half, k);
    __mmask8 clear = 0;
    for (unsigned done = 0; done < k && !clear; done += BRY__PER_WORD)
        clear = avx512_clear_lanes(block, bry__word(half, done / BRY__PER_WORD),
                                   k - done < BRY__PER_WORD ? k - done : BRY__PER_WORD);
    return !clear;
}

static bool avx512_block_has(const unsigned char *block, uint64_t half, unsigned k)
{
    return avx512_block_has_inline(_mm512_load_si512(block), half, k);
}

/* Each of eight steps aligns every position with another word of the block: the lanes where it is
 * the position's own word take its bit. */
static inline __m512i avx512_with_bits(__m512i block, uint64_t word, unsigned here)
{
    const __m512i shifts = _mm512_setr_epi64(0, 9, 18, 27, 36, 45, 54, 0);
    const __m512i own = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    __m512i at = _mm512_srlv_epi64(_mm512_set1_epi64((long long)word), shifts);
    __m512i bit = _mm512_maskz_rolv_epi64((__mmask8)((1u << here) - 1), _mm512_set1_epi64(1), at);
    __m512i in = _mm512_and_si512(_mm512_srli_epi64(at, 6), _mm512_set1_epi64(7));
#define TURN(by)                                                                                   \
    block =                                                                                        \
        _mm512_mask_or_epi64(block, _mm512_cmpeq_epi64_mask(_mm512_alignr_epi64(in, in, by), own), \
                             block, _mm512_alignr_epi64(bit, bit, by))
    TURN(0);
    TURN(1);
    TURN(2);
    TURN(3);
    TURN(4);
    TURN(5);
    TURN(6);
    TURN(7);
#undef TURN
    return block;
}

static bool avx512_block_add(unsigned char *bytes, uint64_t half, unsigned k)
{
    __m512i block = _mm512_load_si512(bytes);
    if (avx512_block_has_inline(block, half, k))
        return false;
    for (unsigned done = 0; done < k; done += BRY__PER_WORD)
        block = avx512_with_bits(block, bry__word(half, done / BRY__PER_WORD),
                                 k - done < BRY__PER_WORD ? k - done : BRY__PER_WORD);
    _mm512_store_si512(bytes, block);
    return true;
}

static void avx512_block_test(const unsigned char *const *blocks, const uint64_t *halves, size_t n,
                              unsigned k, uint8_t *answers)
{
    for (size_t i = 0; i < n; i++)
        answers[i] = avx512_block_has_inline(_mm512_load_si512(blocks[i]), halves[i], k);
}

static uint64_t avx512_popcount(const unsigned char *bytes, size_t len)
{
    __m512i sum = _mm512_setzero_si512();
    for (size_t i = 0; i < len; i += 64)
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_loadu_si512(bytes + i)));
    return (uint64_t)_mm512_reduce_add_epi64(sum);
}

static uint64_t avx512_popcount_or(const unsigned char *a, const unsigned char *b, size_t len)
{
    __m512i sum = _mm512_setzero_si512();
    for (size_t i = 0; i < len; i += 64) {
        __m512i both = _mm512_or_si512(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i));
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(both));
    }
    return (uint64_t)_mm512_reduce_add_epi64(sum);
}

static void avx512_or_into(unsigned char *into, const unsigned char *from, size_t len)
{
    for (size_t i = 0; i < len; i += 64)
        _mm512_storeu_si512(
            into + i, _mm512_or_si512(_mm512_loadu_si512(into + i), _mm512_loadu_si512(from + i)));
}

/* 512 bits from bit `shift` of two strings, the second of which begins a byte later: each lane of
 * the first is completed from the second. */
static inline __m512i avx512_join(__m512i low, __m512i high, __m128i shift, __m128i back)
{
    return _mm512_or_si512(_mm512_srl_epi64(low, shift), _mm512_sll_epi64(high, back));
}

static inline __m512i avx512_bits_below(const unsigned char *from, __m128i shift, __m128i back)
{
    return avx512_join(_mm512_loadu_si512(from), _mm512_loadu_si512(from + 1), shift, back);
}

/* A move of less than 64 bytes. */
static inline void avx512_move_some(unsigned char *to, const unsigned char *from, size_t n,
                                    __m128i shift, __m128i back)
{
    __mmask64 these = ((__mmask64)1 << n) - 1;
    _mm512_mask_storeu_epi8(to, these,
                            avx512_join(_mm512_maskz_loadu_epi8(these, from),
                                        _mm512_maskz_loadu_epi8(these, from + 1), shift, back));
}

/* The last step overlaps the one before it, which must not write what it reads: it reads first. */
static void avx512_bits_down(unsigned char *bytes, size_t first, size_t end, unsigned by)
{
    const unsigned char *from = bytes + (by >> 3);
    __m128i shift = _mm_cvtsi32_si128((int)(by & 7)), back = _mm_cvtsi32_si128(8 - (int)(by & 7));
    if (end - first < 64) {
        avx512_move_some(bytes + first, from + first, end - first, shift, back);
        return;
    }
    __m512i last = avx512_bits_below(from + end - 64, shift, back);
    for (; first + 64 < end; first += 64)
        _mm512_storeu_si512(bytes + first, avx512_bits_below(from + first, shift, back));
    _mm512_storeu_si512(bytes + end - 64, last);
}

static void avx512_bits_up(unsigned char *bytes, size_t first, size_t end, unsigned by)
{
    const unsigned char *from = bytes - ((by + 7) >> 3);
    __m128i shift = _mm_cvtsi32_si128((int)(-by & 7));
    __m128i back = _mm_cvtsi32_si128(8 - (int)(-by & 7));
    if (end - first < 64) {
        avx512_move_some(bytes + first, from + first, end - first, shift, back);
        return;
    }
    __m512i last = avx512_bits_below(from + first, shift, back);
    for (; first + 64 < end; end -= 64)
        _mm512_storeu_si512(bytes + end - 64, avx512_bits_below(from + end - 64, shift, back));
    _mm512_storeu_si512(bytes + first, last);
}

static bool rows_and_16(unsigned char *mask, const unsigned char *const *rows, size_t n)
{
    __m128i left = _mm_loadu_si128((const __m128i *)(const void *)mask);
    bool any = _mm_test_epi64_mask(left, left) != 0;
    for (size_t i = 0; i < n && any; i++) {
        left = _mm_and_si128(left, _mm_loadu_si128((const __m128i *)(const void *)rows[i]));
        any = _mm_test_epi64_mask(left, left) != 0;
    }
    _mm_storeu_si128((__m128i *)(void *)mask, left);
    return any;
}

static bool rows_and_32(unsigned char *mask, const unsigned char *const *rows, size_t n)
{
    __m256i left = _mm256_loadu_si256((const __m256i *)(const void *)mask);
    bool any = _mm256_test_epi64_mask(left, left) != 0;
    for (size_t i = 0; i < n && any; i++) {
        left = _mm256_and_si256(left, _mm256_loadu_si256((const __m256i *)(const void *)rows[i]));
        any = _mm256_test_epi64_mask(left, left) != 0;
    }
    _mm256_storeu_si256((__m256i *)(void *)mask, left);
    return any;
}

static bool avx512_rows_and(unsigned char *mask, const unsigned char *const *rows, size_t n,
                            size_t bytes)
{
    if (bytes <= 8)
        return bry__rows_and_word(mask, rows, n, bytes);
    if (bytes < 64)
        return bytes == 16 ? rows_and_16(mask, rows, n) : rows_and_32(mask, rows, n);
    __m512i left = _mm512_loadu_si512(mask);
    bool any = _mm512_test_epi64_mask(left, left) != 0;
    for (size_t i = 0; i < n && any; i++) {
        left = _mm512_and_si512(left, _mm512_loadu_si512(rows[i]));
        any = _mm512_test_epi64_mask(left, left) != 0;
    }
    _mm512_storeu_si512(mask, left);
    return any;
}

/* The run of a quotient, nearly without branches: which word it is in cannot be predicted. The
 * zeros of four words are counted at once; the run is in the first one that has its own 0, unless
 * it begins in an earlier word. */
static inline void avx512_probe_run(bry__probe *probe)
{
    unsigned start = bry__probe_start(probe), zeros = probe->quotient & ((1u << BRY__SAMPLED) - 1);
    size_t byte = start >> 3, left = (probe->end >> 3) - probe->runs - byte;
    const unsigned char *from = probe->bytes + probe->runs + byte;
    /* Zeros of the first byte that are before the start do not count, but do no harm otherwise. */
    zeros += (unsigned)__builtin_popcount(~*from & ((1u << (start & 7)) - 1));
    __mmask32 there = left < 32 ? ((__mmask32)1 << left) - 1 : ~(__mmask32)0;
    __m256i words = _mm256_maskz_loadu_epi8(there, from), none = _mm256_setzero_si256();
    __m256i clear = _mm256_popcnt_epi64(_mm256_xor_si256(words, _mm256_set1_epi64x(-1)));
    __m256i sums = _mm256_add_epi64(clear, _mm256_alignr_epi64(clear, none, 3));
    sums = _mm256_add_epi64(sums, _mm256_alignr_epi64(sums, none, 2)); /* up to each word */
    unsigned word = (unsigned)__builtin_popcount(
        _mm256_cmple_epu64_mask(sums, _mm256_set1_epi64x((long long)zeros)));
    if (word > 3) {
        bry__probe_find_run(probe);
        return;
    }
    unsigned skipped = (unsigned)_mm_cvtsi128_si32(_mm256_castsi256_si128(_mm256_permutexvar_epi64(
        _mm256_set1_epi64x((long long)word), _mm256_sub_epi64(sums, clear))));
    uint64_t gaps = ~bry__load64(from + 8 * (size_t)word);
    unsigned own = bry__select64(gaps, zeros - skipped);
    uint64_t earlier = gaps & bry__low_bits(own);
    if (earlier == 0 && word > 0) {
        bry__probe_find_run(probe);
        return;
    }
    unsigned begin = earlier ? 64 - (unsigned)__builtin_clzll(earlier) : 0;
    probe->length = own - begin;
    probe->index = (start & ~7u) + 64 * word + begin - probe->quotient;
}

/* The bytes that hold four slots: as few as possible, since they may be in two lines. */
#define AVX512_PROBE_READS(probe) ((probe)->bits <= 28 ? 16 : 32)

static void avx512_probe_runs(bry__probe *probes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        avx512_probe_run(&probes[i]);
        /* Without entries the block's beginning, which is in the cache. */
        size_t slots = (bry__probe_end(&probes[i]) >> 3) & -(size_t)(probes[i].length > 0);
        __builtin_prefetch(probes[i].bytes + slots);
        __builtin_prefetch(probes[i].bytes + slots - AVX512_PROBE_READS(&probes[i]) + 1);
    }
}

/* Four slots at once, as avx512_slots_select() takes them; at most 49 bits each. */
static inline bool avx512_probe_slots_four(const bry__probe *probe, uint32_t *value)
{
    const __m256i each = _mm256_setr_epi64x(0, 1, 2, 3);
    const __m256i four = _mm256_set1_epi64x(0x0003000200010000);
    const __m256i spread = _mm256_set_epi64x(0x0908090809080908, 0x0100010001000100,
                                             0x0908090809080908, 0x0100010001000100);
    const __m256i fifteen = _mm256_set1_epi64x(15);
    bool some = probe->length > 0; /* else no memory that may not be in the cache is read */
    const unsigned char *bytes = some ? probe->bytes : bry__no_block;
    uint32_t end = some ? bry__probe_end(probe) : 8 * BRY__NO_BLOCK;
    int first = (int)((end + 15) >> 4) - (AVX512_PROBE_READS(probe) >> 1); /* words of 16 bits */
    __mmask16 there = (__mmask16)(0xffffu << (first < 0 ? -first : 0));
    __m256i words = AVX512_PROBE_READS(probe) == 16
                        ? _mm256_castsi128_si256(
                              _mm_maskz_loadu_epi16((__mmask8)there, bytes + 2 * (ptrdiff_t)first))
                        : _mm256_maskz_loadu_epi16(there, bytes + 2 * (ptrdiff_t)first);
    __m256i at = _mm256_sub_epi64(_mm256_set1_epi64x(end),
                                  _mm256_mul_epu32(each, _mm256_set1_epi64x(probe->bits)));
    __m256i from = _mm256_sub_epi64(_mm256_srli_epi64(_mm256_add_epi64(at, fifteen), 4),
                                    _mm256_set1_epi64x(first + 4));
    __m256i taken =
        _mm256_permutexvar_epi16(_mm256_add_epi16(_mm256_shuffle_epi8(from, spread), four), words);
    __m256i behind = _mm256_and_si256(_mm256_sub_epi64(_mm256_setzero_si256(), at), fifteen);
    __m256i slots = _mm256_srl_epi64(_mm256_sllv_epi64(taken, behind),
                                     _mm_cvtsi32_si128(64 - (int)probe->bits));
    __m256i differs =
        _mm256_sll_epi64(_mm256_xor_si256(slots, _mm256_set1_epi64x((long long)probe->u)),
                         _mm_cvtsi32_si128(64 - (int)probe->low));
    unsigned most = probe->length < 4 ? probe->length : 4;
    __mmask8 same = _mm256_mask_testn_epi64_mask((__mmask8)((1u << most) - 1), differs, differs);
    *value = (uint32_t)((uint64_t)_mm_cvtsi128_si64(
                            _mm256_castsi256_si128(_mm256_maskz_compress_epi64(same, slots))) >>
                        probe->low);
    return same != 0;
}

static void avx512_probe_slots(const bry__probe *probes, size_t n, uint32_t *values,
                               uint8_t *answers)
{
    for (size_t i = 0; i < n; i++) {
        const bry__probe *probe = &probes[i];
        uint32_t value = 0;
        bool wide = probe->bits > 49, found = !wide && avx512_probe_slots_four(probe, &value);
        if (wide || (probe->length > 4 && !found))
            found = bry__probe_pick(probe, wide ? 0 : 4, &value);
        found = found && !answers[i];
        values[i] = found ? value : values[i];
        answers[i] |= found;
    }
}

/* Eight slots at a time, which are in 64 bytes. Of these, each lane takes the four words of 16 bits
 * that end with or behind the slot, and shifts the value to their lowest bits. */
static void avx512_slots_select(const unsigned char *bytes, uint64_t end, unsigned n, unsigned bits,
                                unsigned value_bits, const bry__kept_values *values,
                                bry__kept *kept)
{
    const __m512i each = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const __m512i four = _mm512_set1_epi64(0x0003000200010000);
    const __m512i spread = _mm512_set4_epi32(0x09080908, 0x09080908, 0x01000100, 0x01000100);
    const __m512i fifteen = _mm512_set1_epi64(15), few = _mm512_set1_epi64((long long)values->few);
    const __m128i shift = _mm_cvtsi32_si128(64 - (int)value_bits); /* 64 gives 0 */
    const __m512i below = _mm512_mullo_epi64(each, _mm512_set1_epi64((long long)bits));
    for (unsigned i = 0; i < n; i += 8, end -= 8 * (uint64_t)bits) {
        __mmask8 lanes = n - i < 8 ? (__mmask8)((1u << (n - i)) - 1) : (__mmask8)0xff;
        int64_t top = (int64_t)((end + 15) >> 4), first = top - 32; /* words of the 64 bytes */
        __mmask32 there = first < 0 ? ~(__mmask32)0 << (unsigned)-first : ~(__mmask32)0;
        __m512i words = _mm512_maskz_loadu_epi16(there, bytes + 2 * first);
        __m512i at = _mm512_sub_epi64(_mm512_set1_epi64((long long)end), below);
        __m512i from = _mm512_sub_epi64(_mm512_srli_epi64(_mm512_add_epi64(at, fifteen), 4),
                                        _mm512_set1_epi64(first + 4));
        __m512i taken = _mm512_permutexvar_epi16(
            _mm512_add_epi16(_mm512_shuffle_epi8(from, spread), four), words);
        __m512i behind = _mm512_and_si512(_mm512_sub_epi64(_mm512_setzero_si512(), at), fifteen);
        __m512i value = _mm512_srl_epi64(_mm512_sllv_epi64(taken, behind), shift);
        __mmask8 here;
        if (value_bits <= BRY__FEW_BITS) {
            here = _mm512_mask_test_epi64_mask(lanes, _mm512_srlv_epi64(few, value),
                                               _mm512_set1_epi64(1));
        } else {
            __m256i none = _mm256_set1_epi32(-1);
            __m256i named = _mm512_mask_i64gather_epi32(none, lanes, value, values->name, 4);
            here = _mm256_cmpneq_epi32_mask(named, none);
        }
        uint64_t before = i % 64 ? kept->bits[i / 64] : 0;
        kept->bits[i / 64] = before | (uint64_t)here << i % 64;
    }
    bry__kept_count(kept, n);
}

const bry__kernel bry__kernel_avx512 = {
    .isa = BRY__ISA_AVX512,
    .block_has = avx512_block_has,
    .block_add = avx512_block_add,
    .block_test = avx512_block_test,
    .popcount = avx512_popcount,
    .popcount_or = avx512_popcount_or,
    .or_into = avx512_or_into,
    .bits_down = avx512_bits_down,
    .bits_up = avx512_bits_up,
    .run_after = bry__run_after_words, /* with BMI2 */
    .probe_runs = avx512_probe_runs,
    .probe_slots = avx512_probe_slots,
    .slots_select = avx512_slots_select,
    .slots_copy = bry__slots_copy_words,
    .runs_copy = bry__runs_copy_words,
    .runs_list = bry__runs_list_words,
    .rows_and = avx512_rows_and,
};
