#include "model/filter/filter_twin.h"
#include "common/endian.h"
#include "support/generator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool filter_twin_make(filter_twin *twin, const bry_filter_shape *shape, uint64_t seed)
{
    bool compact = shape->engine == BRY_ENGINE_COMPACT;
    *twin = (filter_twin){
        .compact = compact,
        .seed = seed,
        .capacity = shape->grows_to == shape->capacity ? shape->capacity : UINT64_MAX,
        .blocks = compact ? TWIN_CLASSES / 512 : shape->bits / 512,
        .hashes = compact ? 1 : shape->bloom.hashes,
    };
    twin->bits = calloc(1, (size_t)twin->blocks * 64);
    return twin->bits != NULL;
}

void filter_twin_free(filter_twin *twin)
{
    free(twin->bits);
    twin->bits = NULL;
}

void filter_twin_clear(filter_twin *twin)
{
    memset(twin->bits, 0, (size_t)twin->blocks * 64);
    twin->items = 0;
}

bry_hash filter_twin_class_key(unsigned number)
{
    uint64_t class = number / 3 % TWIN_CLASSES;
    generator low = {number}, high = {class};
    return (bry_hash){generator_next(&low), class << 55 | generator_next(&high) >> 9};
}

/* Seven positions of nine bits from the lower half itself, then from words derived from it. */
static uint64_t bit_of(const filter_twin *twin, bry_hash hash, unsigned i)
{
    __extension__ typedef unsigned __int128 wide;
    if (twin->compact)
        return hash.hi >> 55;
    uint64_t block = (uint64_t)((wide)hash.hi * twin->blocks >> 64);
    uint64_t word = hash.lo;
    if (i >= 7) {
        word += UINT64_C(0x9e3779b97f4a7c15) * (i / 7);
        word = (word ^ word >> 32) * UINT64_C(0xd6e8feb86659fd93);
        word = (word ^ word >> 32) * UINT64_C(0xd6e8feb86659fd93);
        word ^= word >> 32;
    }
    return block * 512 + (word >> 9 * (i % 7)) % 512;
}

bool filter_twin_has(const filter_twin *twin, bry_hash hash)
{
    for (unsigned i = 0; i < twin->hashes; i++) {
        uint64_t bit = bit_of(twin, hash, i);
        if ((twin->bits[bit / 8] & 1 << bit % 8) == 0)
            return false;
    }
    return true;
}

bry_status filter_twin_add(filter_twin *twin, bry_hash hash, uint8_t *was)
{
    bool had = filter_twin_has(twin, hash);
    if (!had) {
        if (twin->items == twin->capacity)
            return BRY_E_FULL;
        for (unsigned i = 0; i < twin->hashes; i++) {
            uint64_t bit = bit_of(twin, hash, i);
            twin->bits[bit / 8] |= (unsigned char)(1 << bit % 8);
        }
        twin->items++;
    }
    *was = had;
    return BRY_OK;
}

bry_status filter_twin_add_n(filter_twin *twin, const bry_hash *hashes, size_t n, uint8_t *was)
{
    uint64_t absent = 0;
    for (size_t i = 0; i < n; i++)
        absent += !filter_twin_has(twin, hashes[i]);
    if (absent > twin->capacity - twin->items)
        return BRY_E_FULL;
    for (size_t i = 0; i < n; i++)
        filter_twin_add(twin, hashes[i], &was[i]);
    return BRY_OK;
}

void filter_twin_del(filter_twin *twin, bry_hash hash)
{
    uint64_t bit = bit_of(twin, hash, 0);
    twin->items -= filter_twin_has(twin, hash);
    twin->bits[bit / 8] &= (unsigned char)~(1 << bit % 8);
}

static uint64_t count_bits(const unsigned char *a, const unsigned char *b, uint64_t blocks)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < blocks * 64; i += 8) {
        uint64_t in_a, in_b;
        memcpy(&in_a, a + i, 8);
        memcpy(&in_b, b + i, 8);
        for (uint64_t both = in_a | in_b; both; both &= both - 1)
            count++;
    }
    return count;
}

uint64_t filter_twin_count(const filter_twin *twin)
{
    return count_bits(twin->bits, twin->bits, twin->blocks);
}

static uint64_t clip(double value, uint64_t least, uint64_t most)
{
    if (!(value > (double)least)) /* or not a number, in a full filter */
        return least;
    return value >= (double)most ? most : (uint64_t)value;
}

void filter_twin_merged_items(const filter_twin *a, const filter_twin *b, uint64_t *low,
                              uint64_t *high)
{
    uint64_t sum = a->items + b->items, most = a->items > b->items ? a->items : b->items;
    uint64_t together = count_bits(a->bits, b->bits, a->blocks);
    *low = *high = a->compact ? together : most;
    if (a->compact || together == filter_twin_count(a) || together == filter_twin_count(b))
        return;
    /* No key sets more than k bits. */
    uint64_t needed = (together + a->hashes - 1) / a->hashes;
    most = needed > most ? needed : most;
    /* A key leaves a given bit clear with probability 1 - (1 - (511/512)^k)/blocks. */
    double fill = (double)together / (double)(a->blocks * 512);
    double leaves = 1 - (1 - pow(511.0 / 512, a->hashes)) / (double)a->blocks;
    double estimate = fill < 1 ? log(1 - fill) / log(leaves) : INFINITY;
    double slack = 1e-6 * estimate + 1e-6;
    *low = clip(round(estimate - slack), most, sum);
    *high = clip(round(estimate + slack), most, sum);
    if (fill == 1)
        *low = *high = sum;
}

void filter_twin_unite(filter_twin *into, const filter_twin *from)
{
    for (uint64_t i = 0; i < into->blocks * 64; i += 8)
        bry__store64(into->bits + i, bry__load64(into->bits + i) | bry__load64(from->bits + i));
}

double filter_twin_error(const filter_twin *twin)
{
    double sum = 0;
    for (uint64_t block = 0; block < twin->blocks; block++) {
        const unsigned char *bits = twin->bits + block * 64;
        uint64_t set = count_bits(bits, bits, 1);
        sum += set ? pow((double)set / 512, twin->hashes) : 0;
    }
    return sum / (double)twin->blocks;
}
