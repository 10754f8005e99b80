#include "papers/greedy.h"

#include "common/sizing.h"
#include "hash/derive.h"

#include <math.h>
#include <string.h>

#define MAX_BITS 31u

/* The hash by which numbers go into a Bloom filter. */
static bry_hash greedy_hash_of(uint32_t v)
{
    return (bry_hash){bry__mix64(v + UINT64_C(0x9e3779b97f4a7c15)), bry__mix64(~(uint64_t)v)};
}

/* ---- the search ---------------------------------------------------------------------------- */

/* The numbers and pairs taken so far: a Bloom filter, or one bit per number below `end`. */
typedef struct taken {
    const bry_allocator *allocator;
    bool exact;
    bry__bloom bloom;
    unsigned char *bit;
    uint64_t end;
} taken;

static bool greedy_has(const taken *set, uint32_t v)
{
    if (!set->exact)
        return bry__bloom_has(&set->bloom, greedy_hash_of(v));
    return set->bit[v >> 3] >> (v & 7) & 1;
}

static bry_status greedy_put(taken *set, uint32_t v)
{
    if (!set->exact)
        return bry__bloom_add(&set->bloom, greedy_hash_of(v), set->allocator);
    set->bit[v >> 3] |= (unsigned char)(1u << (v & 7));
    return BRY_OK;
}

/* Makes room for numbers below 2 · end; XORs of numbers below a power of two are below it too. */
static bry_status double_room(taken *set)
{
    unsigned char *more = bry__alloc(set->allocator, (size_t)(set->end / 4));
    if (!more)
        return BRY_E_NOMEM;
    memcpy(more, set->bit, (size_t)(set->end / 8));
    bry__free(set->allocator, set->bit, (size_t)(set->end / 8));
    set->bit = more;
    set->end *= 2;
    return BRY_OK;
}

static bool greedy_collides(const taken *set, const uint32_t *code, uint32_t n, uint32_t v)
{
    if (greedy_has(set, v))
        return true;
    for (uint32_t i = n; i-- > 0;) /* the largest first: they collide sooner */
        if (greedy_has(set, v ^ code[i]))
            return true;
    return false;
}

static bry_status greedy_search(taken *set, uint32_t *code, uint32_t count)
{
    uint32_t v = 1;
    for (uint32_t n = 0; n < count; n++, v++) {
        bry_status status = BRY_OK;
        for (;; v++) {
            if (v >> MAX_BITS)
                status = BRY_E_FULL;
            else if (set->exact && v == set->end)
                status = double_room(set);
            if (status != BRY_OK || !greedy_collides(set, code, n, v))
                break;
        }
        if (status == BRY_OK)
            status = greedy_put(set, v);
        for (uint32_t i = 0; i < n && status == BRY_OK; i++)
            status = greedy_put(set, v ^ code[i]);
        if (status != BRY_OK)
            return status;
        code[n] = v;
    }
    return BRY_OK;
}

bry_status bry__greedy_search(bry__greedy *greedy, uint32_t count, double bits_an_entry,
                              const bry_allocator *allocator)
{
    bry__greedy made = {.allocator = *allocator, .count = count};
    taken set = {.allocator = allocator, .exact = bits_an_entry == 0, .end = 1 << 16};
    double entries = (double)count * (count + 1) / 2;
    made.code = bry__alloc(allocator, count * sizeof *made.code);
    bry_status status = BRY_E_NOMEM;
    if (set.exact) {
        set.bit = bry__alloc(allocator, (size_t)(set.end / 8));
        if (set.bit && made.code)
            status = BRY_OK;
    } else if (made.code) {
        uint64_t bits = (uint64_t)(entries * bits_an_entry) + 1;
        status =
            bry__bloom_init(&set.bloom, bits, bry__bloom_hashes((double)bits, entries), allocator);
    }
    if (status == BRY_OK)
        status = greedy_search(&set, made.code, count);
    if (set.exact)
        bry__free(allocator, set.bit, (size_t)(set.end / 8));
    else if (set.bloom.bits)
        bry__bloom_free(&set.bloom, allocator);
    if (status != BRY_OK) {
        bry__free(allocator, made.code, count * sizeof *made.code);
        return status;
    }
    while (made.code[count - 1] >> made.bits)
        made.bits++;
    made.fit = bry__regression_fit(made.code, count);
    *greedy = made;
    return BRY_OK;
}

static void free_index(bry__greedy *greedy)
{
    if (greedy->singles.bits)
        bry__bloom_free(&greedy->singles, &greedy->allocator);
    if (greedy->pairs.bits)
        bry__bloom_free(&greedy->pairs, &greedy->allocator);
    greedy->singles = greedy->pairs = (bry__bloom){0};
    greedy->indexed = false;
}

void bry__greedy_free(bry__greedy *greedy)
{
    free_index(greedy);
    bry__free(&greedy->allocator, greedy->code, greedy->count * sizeof *greedy->code);
    greedy->code = NULL;
}

/* ---- decoding ------------------------------------------------------------------------------ */

static uint64_t filter_bits(double n, double error)
{
    return (uint64_t)bry__bloom_bits(n < 1 ? 1 : n, error);
}

static double pairs_of(double n)
{
    return n * (n - 1) / 2;
}

uint64_t bry__greedy_index_bytes(uint32_t count, double error, bool pairs)
{
    return (filter_bits(count, error) + (pairs ? filter_bits(pairs_of(count), error) : 0)) / 8;
}

double bry__greedy_pair_share(uint32_t count)
{
    return fmin(0.25, 7 * pow(count, -0.72));
}

static bry_status make_filter(bry__bloom *bloom, double n, double error,
                              const bry_allocator *allocator)
{
    return bry__bloom_init(bloom, filter_bits(n, error), bry__bloom_hashes_for_error(error),
                           allocator);
}

static bry_status index_encodings(bry__greedy *greedy, double error, bool pairs)
{
    const bry_allocator *allocator = &greedy->allocator;
    free_index(greedy);
    bry_status status = make_filter(&greedy->singles, greedy->count, error, allocator);
    if (status == BRY_OK && pairs)
        status = make_filter(&greedy->pairs, pairs_of(greedy->count), error, allocator);
    for (uint32_t i = 0; i < greedy->count && status == BRY_OK; i++) {
        status = bry__bloom_add(&greedy->singles, greedy_hash_of(greedy->code[i]), allocator);
        for (uint32_t j = 0; pairs && j < i && status == BRY_OK; j++)
            status = bry__bloom_add(&greedy->pairs,
                                    greedy_hash_of(greedy->code[i] ^ greedy->code[j]), allocator);
    }
    greedy->indexed = status == BRY_OK;
    if (status != BRY_OK)
        free_index(greedy);
    return status;
}

bry_status bry__greedy_index(bry__greedy *greedy, double error)
{
    return index_encodings(greedy, error, true);
}

bry_status bry__greedy_index_singles(bry__greedy *greedy, double error)
{
    return index_encodings(greedy, error, false);
}

static uint32_t greedy_encode(const void *self, uint32_t index)
{
    return ((const bry__greedy *)self)->code[index];
}

static uint32_t greedy_decode(const void *self, uint32_t v)
{
    const bry__greedy *greedy = self;
    if (greedy->indexed && !bry__bloom_has(&greedy->singles, greedy_hash_of(v)))
        return BRY__ENCODER_NONE; /* as in the papers: far cheaper than the search */
    return bry__regression_find(&greedy->fit, greedy->code, greedy->count, v, NULL);
}

static bool greedy_decode_pair(const void *self, uint32_t v, uint32_t *a, uint32_t *b)
{
    const bry__greedy *greedy = self;
    for (uint32_t i = 0; v != 0 && i < greedy->count; i++) {
        uint32_t j = greedy_decode(self, v ^ greedy->code[i]);
        if (j != BRY__ENCODER_NONE) {
            *a = i;
            *b = j;
            return true;
        }
    }
    return false;
}

static bool greedy_is_pair(const void *self, uint32_t v)
{
    return bry__bloom_has(&((const bry__greedy *)self)->pairs, greedy_hash_of(v));
}

bry__encoder bry__greedy_encoder(const bry__greedy *greedy)
{
    return (bry__encoder){
        .self = greedy,
        .count = greedy->count,
        .bits = greedy->bits,
        .encode = greedy_encode,
        .decode = greedy_decode,
        .decode_pair = greedy_decode_pair,
        .is_pair = greedy_is_pair,
    };
}
