/*
 * Many keys at once. table.c does the work, in passes over a few dozen keys: fetch the directory's
 * records, fetch what tells where entries are, fetch the entries, answer. Each pass finds in the
 * cache what the one before has asked for. Where so many keys come that the newest table may as
 * well be written anew, they are sorted and appended instead (table_build.c).
 */
#include "hash/derive.h"
#include "maplet/maplet.h"

#include <string.h>

#define BATCH BRY__TABLE_BATCH

static void fingerprints_of(const bry__table *table, const bry_hash *hashes, size_t n,
                            uint64_t *fingerprints)
{
    for (size_t i = 0; i < n; i++)
        fingerprints[i] = bry__fingerprint(hashes[i], table->range);
}

/* Fetches what the next up to BATCH keys need. */
static void prefetch(const bry__maplet *maplet, const bry_hash *hashes, size_t n)
{
    uint64_t fingerprints[BATCH];
    for (unsigned t = maplet->tables; t-- > 0;) {
        fingerprints_of(maplet->table[t], hashes, n, fingerprints);
        bry__table_prefetch_n(maplet->table[t], fingerprints, n);
    }
}

void bry__maplet_get_n(const bry__maplet *maplet, const bry_hash *hashes, size_t n,
                       uint32_t *values, uint8_t *answers)
{
    uint64_t fingerprints[BATCH];
    for (size_t done = 0; done < n; done += BATCH) {
        size_t here = n - done < BATCH ? n - done : BATCH;
        memset(answers + done, BRY_ABSENT, here);
        for (unsigned t = maplet->tables; t-- > 0;) {
            fingerprints_of(maplet->table[t], hashes + done, here, fingerprints);
            bry__table_get_n(maplet->table[t], fingerprints, here, values + done, answers + done);
        }
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

void bry__maplet_get_all_n(const bry__maplet *maplet, const bry_hash *hashes, size_t n,
                           uint32_t *values, uint64_t room, uint64_t *totals)
{
    for (size_t done = 0; done < n; done += BATCH) {
        size_t here = n - done < BATCH ? n - done : BATCH;
        prefetch(maplet, hashes + done, here);
        for (size_t i = done; i < done + here; i++)
            totals[i] = bry__maplet_get_all(maplet, hashes[i], values + i * room, room);
    }
}

/* ---- upserting ----------------------------------------------------------------------------- */

/* A batch is sorted if it has at least this many keys, and at least one key per 16 entries, since
 * all entries are rewritten. */
#define SORTED_LEAST 128u
#define SORTED_SHARE 16u
#define SORTED_MOST ((size_t)1 << 26) /* 2 GiB of items */

/* What is needed to take a batch back. */
typedef struct upserting {
    const bry_hash *hashes;
    const uint32_t *values; /* NULL: all 0 */
    uint32_t *old; /* NULL: values have no bits */
    uint8_t *was; /* BRY_UNSURE: not done */
} upserting;

static uint32_t value_of(const upserting *batch, size_t i)
{
    return batch->values ? batch->values[i] : 0;
}

static bry_status upsert_one(bry__maplet *maplet, const upserting *batch, size_t i)
{
    bry_answer was;
    bry_status status = bry__maplet_upsert(maplet, batch->hashes[i], value_of(batch, i), &was,
                                           batch->old ? &batch->old[i] : NULL);
    if (status == BRY_OK)
        batch->was[i] = (uint8_t)was;
    return status;
}

static bry_status upsert_singly(bry__maplet *maplet, const upserting *batch, size_t from, size_t to)
{
    bry_status status = BRY_OK;
    for (size_t i = from; i < to && status == BRY_OK; i++) {
        if ((i - from) % BATCH == 0 && to - from > 1)
            prefetch(maplet, batch->hashes + i, to - i < BATCH ? to - i : BATCH);
        status = upsert_one(maplet, batch, i);
    }
    return status;
}

/* Takes back what was done, last first. Needs no memory: a key that was added is deleted, and a
 * value that was replaced is put back in its place, which is wide enough since it was there. */
static void take_back(bry__maplet *maplet, const upserting *batch, size_t n, unsigned tables)
{
    while (n-- > 0) {
        if (batch->was[n] == BRY_ABSENT)
            bry__maplet_del_value(maplet, batch->hashes[n], value_of(batch, n));
        else if (batch->was[n] == BRY_PRESENT && batch->old && batch->old[n] != value_of(batch, n))
            bry__maplet_upsert(maplet, batch->hashes[n], batch->old[n], NULL, NULL);
    }
    while (maplet->tables > tables)
        bry__maplet_close_table(maplet);
}

bool bry__maplet_is_bulk(const bry__table *table, uint64_t n)
{
    return n >= SORTED_LEAST && n <= SORTED_MOST && table->overflow.n == 0 &&
           n >= table->n / SORTED_SHARE;
}

/* How many of the next n keys can be sorted into one table, the newest; 0: none, or it is not worth
 * it. *room is how many may be added before another table's turn comes. */
static size_t sortable(const bry__maplet *maplet, size_t n, size_t *room)
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
        (i < maplet->tables && !bry__maplet_is_bulk(maplet->table[i], n)))
        return 0;
    return n;
}

/* was[i] = whether a table before the newest has the key. */
static void find_older(const bry__maplet *maplet, const bry_hash *hashes, size_t n, uint8_t *was)
{
    uint64_t fingerprints[BATCH];
    uint32_t values[BATCH];
    memset(was, BRY_ABSENT, n);
    for (size_t done = 0; done < n; done += BATCH) {
        size_t here = n - done < BATCH ? n - done : BATCH;
        for (unsigned t = maplet->tables - 1; t-- > 0;) {
            fingerprints_of(maplet->table[t], hashes + done, here, fingerprints);
            bry__table_get_n(maplet->table[t], fingerprints, here, values, was + done);
        }
    }
}

/*
 * Upserts keys into the newest table by sorting them. It gives what single calls give: keys with
 * one fingerprint there also agree in the shorter ones of older tables, so that either all of them
 * are known to an older table, and replace the value there, or none is. The former are left to
 * single calls, the others become the newest table's in the order of their fingerprints.
 */
static bry_status sort_into(bry__maplet *maplet, const upserting *batch, size_t from, size_t n,
                            bry__item *items)
{
    bry__table *table = maplet->table[maplet->tables - 1], made;
    const bry_hash *hashes = batch->hashes + from;
    uint8_t *was = batch->was + from;
    size_t fresh = 0;
    find_older(maplet, hashes, n, was);
    for (size_t i = 0; i < n; i++)
        if (was[i] == BRY_ABSENT)
            items[fresh++] = (bry__item){bry__fingerprint(hashes[i], table->range),
                                         value_of(batch, from + i), (uint32_t)i};
        else
            was[i] = BRY_UNSURE;
    bry_status status =
        bry__table_upsert_sorted(&made, table, items, items + n, fresh,
                                 batch->old ? batch->old + from : NULL, was, &maplet->allocator);
    if (status != BRY_OK) {
        memset(was, BRY_UNSURE, n);
        return status;
    }
    bry__table_free(table, &maplet->allocator);
    *table = made;
    for (size_t i = 0; i < n && status == BRY_OK && fresh < n; i++)
        if (was[i] == BRY_UNSURE)
            status = upsert_one(maplet, batch, from + i);
    return status;
}

/* The same; without memory for it, key by key. */
static bry_status upsert_sorted(bry__maplet *maplet, const upserting *batch, size_t from, size_t n)
{
    uint64_t counts[BRY__MAPLET_TABLES];
    bry__maplet_counts(maplet, counts);
    bry_status status = bry__chain_place(&maplet->chain, counts) < maplet->tables
                            ? BRY_OK
                            : bry__maplet_open_table(maplet);
    bry__item *items = bry__alloc_buffer(&maplet->allocator, 2 * n * sizeof *items);
    if (status == BRY_OK)
        status = items ? sort_into(maplet, batch, from, n, items) : BRY_E_NOMEM;
    bry__free(&maplet->allocator, items, 2 * n * sizeof *items);
    if (status == BRY_E_NOMEM && batch->was[from] == BRY_UNSURE)
        status = upsert_singly(maplet, batch, from, from + n);
    return status;
}

static bry_status upsert_all(bry__maplet *maplet, const upserting *batch, size_t n)
{
    unsigned tables = maplet->tables;
    bry_status status = BRY_OK;
    memset(batch->was, BRY_UNSURE, n);
    for (size_t done = 0; done < n && status == BRY_OK;) {
        size_t room = n, here = n < SORTED_LEAST ? 0 : sortable(maplet, n - done, &room);
        if (here > 0) {
            status = upsert_sorted(maplet, batch, done, here);
        } else {
            here = room < n - done ? room : n - done;
            status = upsert_singly(maplet, batch, done, done + here);
        }
        done += here;
    }
    if (status != BRY_OK)
        take_back(maplet, batch, n, tables);
    return status;
}

static bry_status upsert_many(bry__maplet *maplet, const bry_hash *hashes, const uint32_t *values,
                              size_t n, uint32_t *old, uint8_t *was)
{
    uint32_t small_old[BATCH];
    uint8_t small_was[BATCH];
    const bry_allocator *allocator = &maplet->allocator;
    for (size_t i = 0; i < n && values; i++)
        if ((uint64_t)values[i] >> maplet->options.value_bits)
            return BRY_E_RANGE;
    if (n > SIZE_MAX / sizeof(bry__item) / 2)
        return BRY_E_NOMEM;
    upserting batch = {hashes, values, NULL, small_was};
    bool has_old = maplet->options.value_bits > 0;
    if (has_old)
        batch.old = n <= BATCH ? small_old : bry__alloc_buffer(allocator, n * sizeof *old);
    if (n > BATCH)
        batch.was = bry__alloc_buffer(allocator, n);
    bry_status status =
        batch.was && (batch.old || !has_old) ? upsert_all(maplet, &batch, n) : BRY_E_NOMEM;
    if (status == BRY_OK && was)
        memcpy(was, batch.was, n);
    for (size_t i = 0; i < n && status == BRY_OK && old; i++)
        old[i] = has_old && batch.was[i] == BRY_PRESENT ? batch.old[i] : 0;
    if (n > BATCH && has_old)
        bry__free(allocator, batch.old, n * sizeof *old);
    if (n > BATCH)
        bry__free(allocator, batch.was, n);
    return status;
}

bry_status bry__maplet_upsert_n(bry__maplet *maplet, const bry_hash *hashes, const uint32_t *values,
                                size_t n, uint32_t *old, uint8_t *was)
{
    if (n != 1)
        return upsert_many(maplet, hashes, values, n, old, was);
    bry_answer answer; /* one needs no log */
    uint32_t before = 0;
    bry_status status = bry__maplet_upsert(maplet, *hashes, values ? *values : 0, &answer, &before);
    if (status == BRY_OK && was)
        *was = (uint8_t)answer;
    if (status == BRY_OK && old)
        *old = before;
    return status;
}
