/*
 * The codes of many values, in rounds of a few dozen. For each value the code that one with the
 * same bits of its hash had last is tried first. The others of the round are looked up together, so
 * that their cache misses overlap: in the secondary, in the list of entries, in the bytes. What
 * both propose counts if the bytes are the value's. A value that is still not found, because it is
 * new or shares its fingerprint with another, is interned by itself.
 */
#include "common/endian.h"
#include "map/dictionary.h"

enum { ROUND = 64, RECENT_LEAST = 10, RECENT_MOST = 16 };

/* Codes that values had, by place_of() the value. */
typedef struct recent_codes {
    uint32_t small[1 << RECENT_LEAST], *code;
    unsigned bits;
} recent_codes;

typedef struct batch_round {
    bool known[ROUND];
    size_t asked; /* values that are looked up; below, which these are and what was found */
    uint8_t which[ROUND];
    bry_hash hashes[ROUND];
    uint32_t found[ROUND];
    uint8_t answers[ROUND];
} batch_round;

static bool is_value(const bry__dictionary *dictionary, uint32_t code, const bry_map_value *value)
{
    return bry__dictionary_is(dictionary, code, value->bytes, value->len);
}

/* A place for the value among the recent ones. */
static uint32_t *place_of(recent_codes *recent, const bry_map_value *value)
{
    const unsigned char *bytes = value->bytes;
    size_t len = value->len;
    uint64_t ends = len;
    if (len >= 8)
        ends += bry__load64(bytes) ^ bry__load64(bytes + len - 8) << 1;
    else if (len >= 4)
        ends += (uint64_t)bry__load32(bytes) << 32 | bry__load32(bytes + len - 4);
    else if (len > 0)
        ends += (uint64_t)bytes[0] << 16 | (uint64_t)bytes[len / 2] << 8 | bytes[len - 1];
    return &recent->code[ends * UINT64_C(0x9e3779b97f4a7c15) >> (64 - recent->bits)];
}

/* Tries the recent codes; the others are asked for. */
static void try_recent(const bry__dictionary *dictionary, const bry_map_value *values, size_t n,
                       recent_codes *recent, uint32_t *codes, batch_round *r)
{
    r->asked = 0;
    for (size_t i = 0; i < n; i++) {
        codes[i] = *place_of(recent, &values[i]);
        r->known[i] = is_value(dictionary, codes[i], &values[i]);
        if (!r->known[i])
            r->which[r->asked++] = (uint8_t)i;
    }
    for (size_t j = 0; j < r->asked; j++) {
        const bry_map_value *value = &values[r->which[j]];
        r->hashes[j] = bry_hash_key(dictionary->options.seed, value->bytes, value->len);
    }
}

static void look_up(const bry__dictionary *dictionary, batch_round *r)
{
    dictionary->engine->get_n(dictionary->secondary, r->hashes, r->asked, dictionary->codes,
                              r->found, r->answers);
    for (size_t j = 0; j < r->asked; j++)
        if (r->answers[j] == BRY_PRESENT && r->found[j] < dictionary->codes)
            __builtin_prefetch(bry__value_entry(&dictionary->entries, r->found[j]));
    for (size_t j = 0; j < r->asked; j++)
        if (r->answers[j] == BRY_PRESENT && bry__dictionary_has(dictionary, r->found[j]))
            __builtin_prefetch(bry__dictionary_value(dictionary, r->found[j]).bytes);
}

static void find_round(const bry__dictionary *dictionary, const bry_map_value *values, size_t n,
                       recent_codes *recent, uint32_t *codes, batch_round *r)
{
    try_recent(dictionary, values, n, recent, codes, r);
    if (r->asked == 0)
        return;
    look_up(dictionary, r);
    for (size_t j = 0; j < r->asked; j++) {
        size_t i = r->which[j];
        r->known[i] = r->answers[j] == BRY_PRESENT && is_value(dictionary, r->found[j], &values[i]);
        if (r->known[i])
            *place_of(recent, &values[i]) = codes[i] = r->found[j];
    }
}

/* Gives codes to those that were not found. One that the secondary does not know is new, unless it
 * came in this round before: then it is found as if by itself. (Of kbf only find() is certain.) */
static bry_status give_round(bry__dictionary *dictionary, const bry_map_value *values,
                             recent_codes *recent, uint32_t *codes, batch_round *r)
{
    size_t given = 0; /* hashes of values that got a code: they are moved to the front */
    for (size_t j = 0; j < r->asked; j++) {
        size_t i = r->which[j];
        if (r->known[i])
            continue;
        const bry_map_value *value = &values[i];
        bry_hash hash = r->hashes[j];
        bool is_new = r->answers[j] == BRY_ABSENT && dictionary->engine->recodes;
        for (size_t k = 0; k < given && is_new; k++)
            is_new = r->hashes[k].lo != hash.lo;
        bry_status status =
            is_new ? bry__dictionary_give(dictionary, hash, value->bytes, value->len, &codes[i])
                   : bry__dictionary_intern(dictionary, value->bytes, value->len, &codes[i]);
        if (status != BRY_OK) {
            r->asked = j;
            return status;
        }
        r->hashes[given++] = hash;
        *place_of(recent, value) = codes[i];
    }
    return BRY_OK;
}

bry_status bry__dictionary_intern_n(bry__dictionary *dictionary, const bry_map_value *values,
                                    size_t n, uint32_t *codes, size_t *done)
{
    recent_codes recent = {.bits = RECENT_LEAST};
    while (recent.bits < RECENT_MOST && n >> recent.bits > 1)
        recent.bits++;
    size_t bytes = sizeof *recent.code << recent.bits;
    recent.code = recent.bits > RECENT_LEAST ? bry__alloc(&dictionary->allocator, bytes) : NULL;
    bool large = recent.code;
    if (!large) {
        recent.code = recent.small;
        recent.bits = RECENT_LEAST;
    }
    bry_status status = BRY_OK;
    for (*done = 0; *done < n && status == BRY_OK;) {
        batch_round r;
        size_t here = n - *done < ROUND ? n - *done : ROUND;
        find_round(dictionary, values + *done, here, &recent, codes + *done, &r);
        status = give_round(dictionary, values + *done, &recent, codes + *done, &r);
        *done += status == BRY_OK ? here : r.which[r.asked];
    }
    if (large)
        bry__free(&dictionary->allocator, recent.code, bytes);
    return status;
}
