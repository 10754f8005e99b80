/*
 * The codes of many values, in rounds of a few dozen.
 *
 *   recent   the code that a value with the same bits had last. It is tried first, because often a
 *            few values are repeated: this needs no hash
 *   met      the codes of all values of the batch so far, by their hashes
 *   secondary  the codes of all values before the batch
 *
 * The values of a round are looked up together, so that their cache misses overlap: in these three,
 * in the list of entries, in the bytes. What they propose counts if the bytes are the value's. What
 * none of them knows is new. It gets a code at once, but the secondary gets all new values of the
 * batch at the end, sorted: this takes a fifth of the time of single additions. (With kbf each
 * value is added by itself.)
 */
#include "common/endian.h"
#include "map/dictionary.h"

#include <string.h>

enum { ROUND = 64, RECENT_MOST = 16, FEW = 64 };
#define MANY ((size_t)1 << 20) /* values that are looked up before the secondary is updated */
#define NONE UINT32_MAX /* no code */

/* A code, and some bits of its value. */
typedef struct noted_code {
    uint32_t bits, code;
} noted_code;

typedef struct intern_batch {
    bry__dictionary *dictionary;
    noted_code *recent, *met; /* tables of 2^recent_bits and 2^met_bits places */
    unsigned recent_bits, met_bits;
    bry_hash *new_hash; /* of new values that are not in the secondary yet */
    uint32_t *new_code;
    size_t news; /* number of new values */
    size_t looked, most; /* values that were looked up, and for how many there is room */
    uint64_t spare; /* bytes that may be allocated for the time being */
    bool appends; /* new values get codes behind all others, even if some are free */
    bry_hash *memory; /* of all but `recent`, if they are large */
    size_t size, recent_size; /* allocated */
} intern_batch;

typedef struct intern_round {
    bool known[ROUND];
    uint64_t bits[ROUND]; /* of each value, for `recent` */
    size_t asked; /* values that are looked up; below, which these are and what was found */
    uint8_t which[ROUND];
    bry_hash hashes[ROUND];
    uint32_t found[ROUND];
    uint8_t answers[ROUND];
} intern_round;

static bool is_value(const bry__dictionary *dictionary, uint32_t code, const bry_map_value *value)
{
    return bry__dictionary_is(dictionary, code, value->bytes, value->len);
}

/* ---- recent values ------------------------------------------------------------------------- */

static uint64_t recent_bits_of(const bry_map_value *value)
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
    ends *= UINT64_C(0x9e3779b97f4a7c15);
    return ends ^ ends >> 32;
}

static noted_code *recent_place(const intern_batch *batch, uint64_t bits)
{
    return &batch->recent[bits >> 32 >> (32 - batch->recent_bits)];
}

/* Tries the recent codes; the others are asked for. */
static void try_recent(const intern_batch *batch, const bry_map_value *values, size_t n,
                       uint32_t *codes, intern_round *r)
{
    r->asked = 0;
    for (size_t i = 0; i < n; i++) {
        r->bits[i] = recent_bits_of(&values[i]);
        const noted_code *recent = recent_place(batch, r->bits[i]);
        codes[i] = recent->code;
        r->known[i] = recent->bits == (uint32_t)r->bits[i] &&
                      is_value(batch->dictionary, recent->code, &values[i]);
        if (!r->known[i])
            r->which[r->asked++] = (uint8_t)i;
    }
}

/* ---- values of the batch ------------------------------------------------------------------- */

static size_t met_place(const intern_batch *batch, bry_hash hash)
{
    return (size_t)(hash.lo >> (64 - batch->met_bits));
}

/* The first place with these bits, or the empty one where they would go. */
static noted_code *met_find(const intern_batch *batch, size_t place, uint32_t bits)
{
    size_t last = ((size_t)1 << batch->met_bits) - 1;
    while (batch->met[place].code != NONE && batch->met[place].bits != bits)
        place = (place + 1) & last;
    return &batch->met[place];
}

static void met_add(const intern_batch *batch, bry_hash hash, uint32_t code)
{
    noted_code *place = met_find(batch, met_place(batch, hash), (uint32_t)hash.hi);
    if (place->code == NONE) /* else the one with the same bits stays */
        *place = (noted_code){(uint32_t)hash.hi, code};
}

/* ---- looking up ---------------------------------------------------------------------------- */

/* Asks the secondary for those that the batch has not met. */
static void ask_secondary(const bry__dictionary *dictionary, intern_round *r)
{
    bry_hash hashes[ROUND];
    uint32_t found[ROUND];
    uint8_t answers[ROUND], which[ROUND];
    size_t asked = 0;
    for (size_t j = 0; j < r->asked; j++) {
        which[asked] = (uint8_t)j;
        hashes[asked] = r->hashes[j];
        asked += r->answers[j] == BRY_ABSENT;
    }
    if (asked == 0 ||
        (dictionary->engine->add_beside_n && dictionary->engine->items(dictionary->secondary) == 0))
        return;
    dictionary->engine->get_n(dictionary->secondary, hashes, asked, dictionary->codes, found,
                              answers);
    for (size_t j = 0; j < asked; j++) {
        r->answers[which[j]] = answers[j];
        r->found[which[j]] = found[j];
    }
}

static void look_up(const intern_batch *batch, const bry_map_value *values, intern_round *r)
{
    const bry__dictionary *dictionary = batch->dictionary;
    for (size_t j = 0; j < r->asked; j++) {
        const bry_map_value *value = &values[r->which[j]];
        r->hashes[j] = bry_hash_key(dictionary->seed, value->bytes, value->len);
        __builtin_prefetch(&batch->met[met_place(batch, r->hashes[j])]);
    }
    for (size_t j = 0; j < r->asked; j++) {
        bry_hash hash = r->hashes[j];
        r->found[j] = met_find(batch, met_place(batch, hash), (uint32_t)hash.hi)->code;
        r->answers[j] = r->found[j] != NONE ? BRY_PRESENT : BRY_ABSENT;
    }
    ask_secondary(dictionary, r);
    for (size_t j = 0; j < r->asked; j++)
        if (r->answers[j] == BRY_PRESENT && r->found[j] < dictionary->codes)
            __builtin_prefetch(bry__value_entry(&dictionary->entries, r->found[j]));
    for (size_t j = 0; j < r->asked; j++)
        if (r->answers[j] == BRY_PRESENT && bry__dictionary_has(dictionary, r->found[j]))
            __builtin_prefetch(bry__dictionary_value(dictionary, r->found[j]).bytes);
}

static void find_round(const intern_batch *batch, const bry_map_value *values, size_t n,
                       uint32_t *codes, intern_round *r)
{
    try_recent(batch, values, n, codes, r);
    if (r->asked == 0)
        return;
    look_up(batch, values, r);
    for (size_t j = 0; j < r->asked; j++) {
        size_t i = r->which[j];
        r->known[i] =
            r->answers[j] == BRY_PRESENT && is_value(batch->dictionary, r->found[j], &values[i]);
        if (!r->known[i])
            continue;
        codes[i] = r->found[j];
        *recent_place(batch, r->bits[i]) = (noted_code){(uint32_t)r->bits[i], codes[i]};
    }
}

/* ---- new values ---------------------------------------------------------------------------- */

/* Brings the secondary up to date. */
static bry_status flush_new(intern_batch *batch)
{
    bry__dictionary *dictionary = batch->dictionary;
    size_t n = batch->news;
    bry_status status = BRY_OK;
    batch->news = 0;
    if (n > ROUND)
        return dictionary->engine->add_beside_n(dictionary->secondary, batch->new_hash,
                                                batch->new_code, n);
    for (size_t i = 0; i < n && status == BRY_OK; i++)
        status = dictionary->engine->add_beside(dictionary->secondary, batch->new_hash[i],
                                                batch->new_code[i]);
    return status;
}

/* The code of a value that was not found by its proposal, if the engine adds one at a time. */
static bry_status give_singly(const intern_batch *batch, const bry_map_value *value, uint32_t *code)
{
    bry__dictionary *dictionary = batch->dictionary;
    if (!batch->appends)
        return bry__dictionary_intern(dictionary, value->bytes, value->len, code);
    if (bry__dictionary_find(dictionary, value->bytes, value->len, code))
        return BRY_OK;
    *code = (uint32_t)dictionary->codes;
    return bry__dictionary_append(dictionary, value->bytes, value->len);
}

/* The code of a value that was not found by its proposal. */
static bry_status give_code(intern_batch *batch, const bry_map_value *value, bry_hash hash,
                            bry_answer answer, uint32_t *code)
{
    bry__dictionary *dictionary = batch->dictionary;
    if (!dictionary->engine->add_beside_n)
        return give_singly(batch, value, code);
    *code = met_find(batch, met_place(batch, hash), (uint32_t)hash.hi)->code;
    bool met = *code != NONE;
    if (met && is_value(dictionary, *code, value)) /* it came in this round before */
        return BRY_OK;
    /* Another value has the same bits: only the secondary can tell. */
    bry_status status = met ? flush_new(batch) : BRY_OK;
    if (status != BRY_OK || ((met || answer == BRY_PRESENT) &&
                             bry__dictionary_find(dictionary, value->bytes, value->len, code)))
        return status;
    status = bry__dictionary_give_later(dictionary, value->bytes, value->len, batch->appends, code);
    if (status == BRY_OK) {
        batch->new_hash[batch->news] = hash;
        batch->new_code[batch->news++] = *code;
    }
    return status;
}

/* Gives codes to those that were not found. */
static bry_status give_round(intern_batch *batch, const bry_map_value *values, uint32_t *codes,
                             intern_round *r)
{
    for (size_t j = 0; j < r->asked; j++) {
        size_t i = r->which[j];
        if (!r->known[i]) {
            bry_status status =
                give_code(batch, &values[i], r->hashes[j], (bry_answer)r->answers[j], &codes[i]);
            if (status != BRY_OK) {
                r->asked = j;
                return status;
            }
            *recent_place(batch, r->bits[i]) = (noted_code){(uint32_t)r->bits[i], codes[i]};
        }
        met_add(batch, r->hashes[j], codes[i]);
    }
    return BRY_OK;
}

/* ---- batches ------------------------------------------------------------------------------- */

/* Tables for a few values. */
typedef struct few_values {
    noted_code recent[2 * FEW], met[4 * FEW];
    bry_hash new_hash[FEW];
    uint32_t new_code[FEW];
} few_values;

/* More than n places, at most twice as many. */
static unsigned bits_for(size_t n)
{
    unsigned bits = 1;
    while (n >> bits > 0)
        bits++;
    return bits;
}

/* Forgets what the batch has met, except for what is new. */
static void restart(intern_batch *batch)
{
    memset(batch->met, 0xff, sizeof *batch->met << batch->met_bits); /* NONE everywhere */
    for (size_t i = 0; i < batch->news; i++)
        met_add(batch, batch->new_hash[i], batch->new_code[i]);
    batch->looked = batch->news;
}

static void begin(intern_batch *batch, few_values *few, size_t n)
{
    const bry_allocator *allocator = &batch->dictionary->allocator;
    batch->recent_bits = bits_for(n) < RECENT_MOST ? bits_for(n) : RECENT_MOST;
    batch->recent_size = sizeof *batch->recent << batch->recent_bits;
    batch->recent = n > FEW ? bry__alloc(allocator, batch->recent_size) : NULL;
    if (!batch->recent) {
        batch->recent_bits = bits_for(n < FEW ? n : FEW);
        batch->recent_size = 0;
        batch->recent = memset(few->recent, 0, sizeof *few->recent << batch->recent_bits);
    }
    batch->most = n < FEW ? n : FEW;
    batch->met_bits = bits_for(batch->most) + 1;
    batch->met = few->met;
    batch->new_hash = few->new_hash;
    batch->new_code = few->new_code;
    restart(batch);
}

static void end(intern_batch *batch)
{
    const bry_allocator *allocator = &batch->dictionary->allocator;
    bry__free(allocator, batch->memory, batch->size);
    bry__free(allocator, batch->recent_size ? batch->recent : NULL, batch->recent_size);
}

/* Larger tables, with the new values so far, for n more. False: no memory, or they are as large as
 * they get. */
static bool enlarge(intern_batch *batch, size_t n)
{
    size_t most = batch->most * 4 < MANY ? batch->most * 4 : MANY;
    if (most > batch->news + n)
        most = batch->news + n;
    if (most <= batch->most)
        return false;
    size_t met = (size_t)2 << bits_for(most);
    size_t size =
        met * sizeof *batch->met + most * (sizeof *batch->new_hash + sizeof *batch->new_code);
    /* Adding them takes about as much again, and the secondary is rewritten. */
    uint64_t taken = 3 * (uint64_t)size + bry__dictionary_bytes_secondary(batch->dictionary);
    bry_hash *hash =
        taken <= batch->spare ? bry__alloc_buffer(&batch->dictionary->allocator, size) : NULL;
    if (!hash)
        return false;
    noted_code *places = (noted_code *)(void *)(hash + most);
    uint32_t *code = (uint32_t *)(void *)(places + met);
    memcpy(hash, batch->new_hash, batch->news * sizeof *hash);
    memcpy(code, batch->new_code, batch->news * sizeof *code);
    bry__free(&batch->dictionary->allocator, batch->memory, batch->size);
    batch->memory = batch->new_hash = hash;
    batch->new_code = code;
    batch->met = places;
    batch->met_bits = bits_for(most) + 1;
    batch->most = most;
    batch->size = size;
    return true;
}

/* The codes of the next values, until as many were looked up as the tables are for. */
static bry_status intern_some(intern_batch *batch, const bry_map_value *values, size_t n,
                              uint32_t *codes, size_t *done)
{
    bry_status status = BRY_OK;
    for (*done = 0; *done < n && batch->looked < batch->most && status == BRY_OK;) {
        intern_round r;
        size_t here = n - *done < ROUND ? n - *done : ROUND;
        if (here > batch->most - batch->looked)
            here = batch->most - batch->looked;
        find_round(batch, values + *done, here, codes + *done, &r);
        status = give_round(batch, values + *done, codes + *done, &r);
        batch->looked += r.asked;
        *done += status == BRY_OK ? here : r.which[r.asked];
    }
    return status;
}

/* The codes of n values, after which there will be `more`. */
static bry_status intern_all(intern_batch *batch, const bry_map_value *values, size_t n,
                             size_t more, uint32_t *codes, size_t *done)
{
    bry_status status = BRY_OK;
    for (*done = 0; *done < n && status == BRY_OK;) {
        size_t got;
        status = intern_some(batch, values + *done, n - *done, codes + *done, &got);
        *done += got;
        if (status != BRY_OK || batch->looked < batch->most)
            continue;
        if (!enlarge(batch, n - *done + more))
            status = flush_new(batch);
        restart(batch);
    }
    return status;
}

bry_status bry__dictionary_intern_n(bry__dictionary *dictionary, const bry_map_value *values,
                                    size_t n, uint32_t *codes, size_t *done)
{
    intern_batch batch = {.dictionary = dictionary, .spare = UINT64_MAX};
    few_values few;
    begin(&batch, &few, n);
    bry_status status = intern_all(&batch, values, n, 0, codes, done);
    if (status == BRY_OK)
        status = flush_new(&batch);
    end(&batch);
    return status;
}

/* ---- appending ----------------------------------------------------------------------------- */

struct bry__value_appender {
    intern_batch batch;
    few_values few;
};

bry__value_appender *bry__dictionary_append_begin(bry__dictionary *dictionary)
{
    bry__value_appender *made = bry__alloc_buffer(&dictionary->allocator, sizeof *made);
    if (made) {
        made->batch = (intern_batch){.dictionary = dictionary, .appends = true};
        begin(&made->batch, &made->few, FEW);
    }
    return made;
}

bry_status bry__dictionary_append_n(bry__value_appender *appending, const bry_map_value *values,
                                    size_t n, size_t more, uint64_t spare)
{
    intern_batch *batch = &appending->batch;
    batch->spare = spare;
    const bry__dictionary *dictionary = batch->dictionary;
    bry_status status = BRY_OK;
    uint32_t codes[ROUND];
    for (size_t done = 0, got; done < n && status == BRY_OK; done += got) {
        size_t here = n - done < ROUND ? n - done : ROUND;
        uint64_t next = dictionary->codes;
        status = intern_all(batch, values + done, here, n - done - here + more, codes, &got);
        for (size_t i = 0; i < got && status == BRY_OK; i++)
            if (codes[i] != next++)
                status = BRY_E_MISMATCH;
    }
    return status;
}

bry_status bry__dictionary_append_end(bry__value_appender *appending, bry_status status)
{
    bry_allocator allocator = appending->batch.dictionary->allocator;
    if (status == BRY_OK)
        status = flush_new(&appending->batch);
    end(&appending->batch);
    bry__free(&allocator, appending, sizeof *appending);
    return status;
}
