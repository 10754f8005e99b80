/*
 * Operations on many keys. table.c does the work, in passes over a few dozen keys: prefetch the
 * records of the directory, then the runs, then the entries; then answer. Each pass finds in the
 * cache what the one before has prefetched. If there are so many keys that rewriting the newest
 * table is faster, they are sorted and merged into it instead (table_build.c).
 */
#include "hash/derive.h"
#include "maplet/maplet_values.h"

#include <string.h>

#define BATCH BRY__TABLE_BATCH
#define ROUND BRY__TABLE_ROUND

static void maplet_fingerprints(const bry__table *table, const bry_hash *hashes, size_t n,
                                uint64_t *fingerprints)
{
    for (size_t i = 0; i < n; i++)
        fingerprints[i] = bry__fingerprint(hashes[i], table->range);
}

void bry__maplet_prefetch_n(const bry__maplet *maplet, const bry_hash *hashes, size_t n,
                            bool moving)
{
    uint64_t fingerprints[BATCH];
    for (unsigned t = maplet->tables; t-- > 0;) {
        maplet_fingerprints(&maplet->table[t], hashes, n, fingerprints);
        bry__table_prefetch_n(&maplet->table[t], fingerprints, n,
                              moving && t + 1 == maplet->tables);
    }
}

/* Looks up those of up to BATCH keys that have not been found yet. */
static void maplet_get_older(const bry__table *table, const bry_hash *hashes, size_t n,
                             uint32_t *values, uint8_t *answers)
{
    uint64_t fingerprints[BATCH];
    uint32_t found[BATCH];
    uint8_t which[BATCH], here[BATCH];
    size_t asked = 0;
    for (size_t i = 0; i < n; i++) {
        which[asked] = (uint8_t)i;
        fingerprints[asked] = bry__fingerprint(hashes[i], table->range);
        asked += answers[i] == BRY_ABSENT;
    }
    memset(here, BRY_ABSENT, asked);
    bry__table_get_n(table, fingerprints, asked, found, here);
    for (size_t j = 0; j < asked; j++)
        if (here[j] == BRY_PRESENT) {
            answers[which[j]] = BRY_PRESENT;
            values[which[j]] = found[j];
        }
}

void bry__maplet_get_n(const bry__maplet *maplet, const bry_hash *hashes, size_t n,
                       uint32_t *values, uint8_t *answers)
{
    uint64_t fingerprints[BATCH];
    unsigned newest = maplet->tables - 1;
    if (maplet->tables == 0) {
        memset(answers, BRY_ABSENT, n);
        return;
    }
    for (size_t done = 0; done < n; done += BATCH) {
        size_t here = n - done < BATCH ? n - done : BATCH;
        memset(answers + done, BRY_ABSENT, here);
        maplet_fingerprints(&maplet->table[newest], hashes + done, here, fingerprints);
        bry__table_get_n(&maplet->table[newest], fingerprints, here, values + done, answers + done);
        for (unsigned t = newest; t-- > 0;)
            maplet_get_older(&maplet->table[t], hashes + done, here, values + done, answers + done);
    }
}

void bry__maplet_has_n(const bry__maplet *maplet, const bry_hash *hashes, size_t n,
                       uint8_t *answers)
{
    uint32_t values[BATCH];
    for (size_t done = 0; done < n; done += BATCH)
        bry__maplet_get_n(maplet, hashes + done, n - done < BATCH ? n - done : BATCH, values,
                          answers + done);
}

/* ---- upserting ----------------------------------------------------------------------------- */

/* A batch is sorted if it has at least this many keys, and at least one key per 24 entries, since
 * all entries are rewritten. */
#define SORTED_LEAST 128u
#define SORTED_SHARE 24u
#define SORTED_MOST ((size_t)1 << 26) /* 1 GiB of items */

/* A batch, with what is needed to undo it. */
typedef struct upsert_batch {
    const bry_hash *hashes;
    const uint32_t *values; /* NULL: all 0 */
    uint32_t *old; /* NULL: values have 0 bits */
    uint8_t *was; /* BRY_UNSURE: not done */
} upsert_batch;

static uint32_t upsert_batch_value(const upsert_batch *batch, size_t i)
{
    return batch->values ? batch->values[i] : 0;
}

static bry_status maplet_upsert_one(bry__maplet *maplet, const upsert_batch *batch, size_t i)
{
    bry_answer was;
    bry_status status =
        bry__maplet_upsert_fetched(maplet, batch->hashes[i], upsert_batch_value(batch, i), &was,
                                   batch->old ? &batch->old[i] : NULL);
    if (status == BRY_OK)
        batch->was[i] = (uint8_t)was;
    return status;
}

static bry_status maplet_upsert_singly(bry__maplet *maplet, const upsert_batch *batch, size_t from,
                                       size_t to)
{
    bry_status status = BRY_OK;
    for (size_t i = from; i < to && status == BRY_OK; i++) {
        if ((i - from) % ROUND == 0 && to - from > 1)
            bry__maplet_prefetch_n(maplet, batch->hashes + i, to - i < ROUND ? to - i : ROUND,
                                   true);
        status = maplet_upsert_one(maplet, batch, i);
    }
    return status;
}

/* Undoes the batch, last key first. Needs no memory: an added key is deleted, and a replaced value
 * is put back in place, where it fits because it was there before. */
static void maplet_undo_upserts(bry__maplet *maplet, const upsert_batch *batch, size_t n,
                                unsigned tables)
{
    while (n-- > 0) {
        if (batch->was[n] == BRY_ABSENT)
            bry__maplet_del_value(maplet, batch->hashes[n], upsert_batch_value(batch, n));
        else if (batch->was[n] == BRY_PRESENT && batch->old &&
                 batch->old[n] != upsert_batch_value(batch, n))
            bry__maplet_upsert(maplet, batch->hashes[n], batch->old[n], NULL, NULL);
    }
    while (maplet->tables > tables)
        bry__maplet_close_table(maplet);
}

bool bry__maplet_is_bulk(const bry__table *table, uint64_t n)
{
    return n >= SORTED_LEAST && n <= SORTED_MOST && bry__overflow_count(&table->overflow) == 0 &&
           n >= table->n / SORTED_SHARE;
}

/* How many of the next n keys can be sorted into the newest table; 0: none, or it is not worth it.
 * *room: how many can be added before another table is next. */
static size_t maplet_sortable(const bry__maplet *maplet, size_t n, size_t *room)
{
    uint64_t counts[BRY__MAPLET_TABLES];
    bry__maplet_counts(maplet, counts);
    unsigned i = bry__chain_place(&maplet->chain, counts);
    uint64_t most = bry__chain_room(&maplet->chain, counts);
    if (n > most)
        n = (size_t)most;
    *room = n > 0 ? n : 1;
    if (n > SORTED_MOST)
        n = SORTED_MOST;
    if (n < SORTED_LEAST || i + 1 < maplet->tables || i > maplet->tables ||
        (i < maplet->tables && !bry__maplet_is_bulk(&maplet->table[i], n)))
        return 0;
    return n;
}

/* was[i] is BRY_PRESENT if a table before the newest has the key. */
static void maplet_find_older(const bry__maplet *maplet, const bry_hash *hashes, size_t n,
                              uint8_t *was)
{
    uint64_t fingerprints[BATCH];
    uint32_t values[BATCH];
    memset(was, BRY_ABSENT, n);
    for (size_t done = 0; done < n; done += BATCH) {
        size_t here = n - done < BATCH ? n - done : BATCH;
        for (unsigned t = maplet->tables - 1; t-- > 0;) {
            maplet_fingerprints(&maplet->table[t], hashes + done, here, fingerprints);
            bry__table_get_n(&maplet->table[t], fingerprints, here, values, was + done);
        }
    }
}

/*
 * Upserts keys into the newest table by sorting them. The result is the same as that of single
 * calls: keys with the same fingerprint there also have the same shorter one in older tables. So
 * either all of them are in an older table, and replace the value there, or none is. The former
 * are left to single calls, the latter are merged into the newest table in the order of their
 * fingerprints.
 */
static bry_status maplet_sort_into(bry__maplet *maplet, const upsert_batch *batch, size_t from,
                                   size_t n)
{
    bry__table *table = &maplet->table[maplet->tables - 1], made;
    bry__upserts many = {.hashes = batch->hashes + from,
                         .values = batch->values ? batch->values + from : NULL,
                         .n = n,
                         .old = batch->old ? batch->old + from : NULL,
                         .was = batch->was + from};
    maplet_find_older(maplet, many.hashes, n, many.was);
    for (size_t i = 0; i < n; i++) {
        many.absent += many.was[i] == BRY_ABSENT;
        if (many.was[i] != BRY_ABSENT)
            many.was[i] = BRY_UNSURE;
    }
    bry_status status = bry__table_upsert_sorted(&made, table, &many, &maplet->allocator);
    if (status != BRY_OK) {
        memset(many.was, BRY_UNSURE, n);
        return status;
    }
    bry__table_free(table, &maplet->allocator);
    *table = made;
    for (size_t i = 0; i < n && status == BRY_OK && many.absent < n; i++)
        if (many.was[i] == BRY_UNSURE)
            status = maplet_upsert_one(maplet, batch, from + i);
    return status;
}

/* The same; key by key if there is not enough memory. */
static bry_status maplet_upsert_sorted(bry__maplet *maplet, const upsert_batch *batch, size_t from,
                                       size_t n)
{
    uint64_t counts[BRY__MAPLET_TABLES];
    bry__maplet_counts(maplet, counts);
    bry_status status = bry__chain_place(&maplet->chain, counts) < maplet->tables
                            ? BRY_OK
                            : bry__maplet_open_table(maplet);
    if (status == BRY_OK)
        status = maplet_sort_into(maplet, batch, from, n);
    if (status == BRY_E_NOMEM && batch->was[from] == BRY_UNSURE)
        status = maplet_upsert_singly(maplet, batch, from, from + n);
    return status;
}

static bry_status maplet_upsert_all(bry__maplet *maplet, const upsert_batch *batch, size_t n)
{
    unsigned tables = maplet->tables;
    bry_status status = BRY_OK;
    memset(batch->was, BRY_UNSURE, n);
    for (size_t done = 0; done < n && status == BRY_OK;) {
        size_t room = n, here = n < SORTED_LEAST ? 0 : maplet_sortable(maplet, n - done, &room);
        if (here > 0) {
            status = maplet_upsert_sorted(maplet, batch, done, here);
        } else {
            here = room < n - done ? room : n - done;
            status = maplet_upsert_singly(maplet, batch, done, done + here);
        }
        done += here;
    }
    if (status == BRY_OK)
        bry__maplet_close_empty(maplet); /* opened for keys that were all there */
    else
        maplet_undo_upserts(maplet, batch, n, tables);
    return status;
}

static bry_status maplet_upsert_many(bry__maplet *maplet, const bry_hash *hashes,
                                     const uint32_t *values, size_t n, uint32_t *old, uint8_t *was)
{
    uint32_t small_old[BATCH];
    uint8_t small_was[BATCH];
    const bry_allocator *allocator = &maplet->allocator;
    for (size_t i = 0; i < n && values; i++)
        if ((uint64_t)values[i] >> maplet->value_bits)
            return BRY_E_RANGE;
    if (n > SIZE_MAX / sizeof *old)
        return BRY_E_NOMEM;
    upsert_batch batch = {hashes, values, old, small_was};
    bool needs_old = !old && maplet->value_bits > 0, large = n > BATCH;
    if (needs_old)
        batch.old = large ? bry__alloc_buffer(allocator, n * sizeof *old) : small_old;
    if (large)
        batch.was = bry__alloc_buffer(allocator, n);
    bry_status status =
        batch.was && (batch.old || !needs_old) ? maplet_upsert_all(maplet, &batch, n) : BRY_E_NOMEM;
    if (status == BRY_OK && was)
        memcpy(was, batch.was, n);
    if (large && needs_old)
        bry__free(allocator, batch.old, n * sizeof *old);
    if (large)
        bry__free(allocator, batch.was, n);
    return status;
}

bry_status bry__maplet_upsert_n(bry__maplet *maplet, const bry_hash *hashes, const uint32_t *values,
                                size_t n, uint32_t *old, uint8_t *was)
{
    if (n == 0)
        return BRY_OK;
    if (n > 1)
        return maplet_upsert_many(maplet, hashes, values, n, old, was);
    bry_answer answer; /* a single key needs no undo */
    uint32_t before = 0;
    bry_status status = bry__maplet_upsert(maplet, *hashes, values ? *values : 0, &answer, &before);
    if (status == BRY_OK && was)
        *was = (uint8_t)answer;
    if (status == BRY_OK && old)
        *old = before;
    return status;
}

bry_status bry__maplet_update_n(bry__maplet *maplet, const bry_hash *hashes, const uint32_t *values,
                                size_t n, uint32_t *old, uint8_t *was)
{
    bry_status status = BRY_OK;
    bry_answer answer;
    size_t done = 0;
    for (; done < n; done++) {
        if (done % BATCH == 0 && n > 1)
            bry__maplet_prefetch_n(maplet, hashes + done, n - done < BATCH ? n - done : BATCH,
                                   false);
        status = bry__maplet_update(maplet, hashes[done], values[done], &answer, &old[done]);
        if (status != BRY_OK)
            break;
        was[done] = (uint8_t)answer;
    }
    while (status != BRY_OK && done-- > 0) { /* in place, where the old value was: does not fail */
        uint32_t new;
        if (was[done] == BRY_PRESENT)
            (void)bry__maplet_update(maplet, hashes[done], old[done], &answer, &new);
    }
    return status;
}

/* ---- adding -------------------------------------------------------------------------------- */

bry_status bry__maplet_add_items(bry__maplet *maplet, bry__table *table, bry__item *items, size_t n)
{
    bry__table made;
    bry_status status =
        bry__table_add_sorted(&made, table, items, items + n, n, &maplet->allocator);
    if (status != BRY_OK)
        return status;
    bry__table_free(table, &maplet->allocator);
    *table = made;
    return BRY_OK;
}
