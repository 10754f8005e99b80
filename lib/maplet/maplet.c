/* A maplet: the tables of a chain (maplet_plan.c), as many as its entries need. */
#include "hash/derive.h"
#include "maplet/maplet_values.h"

#include <string.h>

static uint64_t fingerprint_of(const bry__maplet *maplet, unsigned i, bry_hash hash)
{
    return bry__fingerprint(hash, maplet->table[i].range);
}

static bool is_wide(const bry__maplet *maplet, uint32_t value)
{
    return (uint64_t)value >> maplet->value_bits != 0;
}

bry__maplet_options bry__maplet_like(const bry__maplet *maplet)
{
    return (bry__maplet_options){.capacity = maplet->chain.first_capacity,
                                 .error = maplet->chain.error,
                                 .value_bits = maplet->value_bits,
                                 .fixed = maplet->chain.fixed};
}

bool bry__maplet_plan(const bry__maplet_options *options, bry__chain *chain)
{
    return options->capacity >= 1 && options->capacity <= BRY__CHAIN_MOST &&
           options->error >= 1e-12 && options->error <= BRY_ERROR_MAX &&
           options->value_bits <= 32 && options->fixed <= BRY__ANY_LOAD &&
           bry__chain_plan(chain, options->capacity, options->error, options->fixed);
}

uint64_t bry__maplet_range(const bry__maplet_options *options)
{
    bry__chain chain;
    return bry__maplet_plan(options, &chain) ? chain.range : 0;
}

uint64_t bry__maplet_most(const bry__maplet_options *options)
{
    bry__chain chain;
    return bry__maplet_plan(options, &chain) ? chain.most : 0;
}

uint64_t bry__maplet_bytes_step(void)
{
    return bry__segment_block(1);
}

uint64_t bry__maplet_plan_bytes(const bry__maplet_options *options, uint64_t n)
{
    return sizeof(bry__table) +
           bry__table_plan_bytes(bry__maplet_range(options), options->value_bits, n);
}

uint64_t bry__maplet_plan_table(const bry__chain *chain, unsigned value_bits, unsigned i,
                                uint64_t n)
{
    return sizeof(bry__table) + bry__table_plan_bytes(bry__chain_range(chain, i), value_bits, n);
}

bool bry__maplet_init(bry__maplet *maplet, const bry__maplet_options *options,
                      const bry_allocator *allocator)
{
    bry__maplet made = {.allocator = *allocator, .value_bits = (uint8_t)options->value_bits};
    if (!bry__maplet_plan(options, &made.chain))
        return false;
    *maplet = made;
    return true;
}

/* Moves the tables to an array of another size. BRY_E_NOMEM: nothing has changed. */
static bry_status maplet_resize(bry__maplet *maplet, unsigned room)
{
    bry__table *table = NULL;
    if (room > 0) {
        table = bry__alloc(&maplet->allocator, room * sizeof *table);
        if (!table)
            return BRY_E_NOMEM;
        if (maplet->tables > 0)
            memcpy(table, maplet->table, maplet->tables * sizeof *table);
    }
    bry__free(&maplet->allocator, maplet->table, maplet->room * sizeof *table);
    maplet->table = table;
    maplet->room = (uint8_t)room;
    return BRY_OK;
}

static void maplet_drop_tables(bry__maplet *maplet)
{
    while (maplet->tables > 0)
        bry__table_free(&maplet->table[--maplet->tables], &maplet->allocator);
    (void)maplet_resize(maplet, 0);
}

void bry__maplet_free(bry__maplet *maplet)
{
    bry__values_free(maplet);
    maplet_drop_tables(maplet);
}

bry_status bry__maplet_clone(const bry__maplet *maplet, bry__maplet *copy,
                             const bry_allocator *allocator)
{
    bry__maplet made = *maplet;
    made.allocator = *allocator;
    made.table = NULL;
    made.tables = made.room = 0;
    bry_status status = bry__values_clone(maplet, &made);
    if (status == BRY_OK)
        status = maplet_resize(&made, maplet->tables);
    for (; made.tables < maplet->tables && status == BRY_OK; made.tables += status == BRY_OK)
        status = bry__table_clone(&maplet->table[made.tables], &made.table[made.tables],
                                  &made.allocator);
    if (status == BRY_OK)
        *copy = made;
    else
        bry__maplet_free(&made);
    return status;
}

void bry__maplet_clear(bry__maplet *maplet)
{
    bry__values_clear(maplet);
    maplet_drop_tables(maplet);
}

void bry__maplet_trim(bry__maplet *maplet)
{
    for (unsigned i = 0; i < maplet->tables; i++)
        while (bry__table_shrink(&maplet->table[i], &maplet->allocator))
            ;
}

uint64_t bry__maplet_count(const bry__maplet *maplet)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < maplet->tables; i++)
        n += bry__maplet_live(maplet, i);
    return n;
}

void bry__maplet_counts(const bry__maplet *maplet, uint64_t n[BRY__MAPLET_TABLES])
{
    for (unsigned i = 0; i < BRY__MAPLET_TABLES; i++)
        n[i] = i < maplet->tables ? bry__maplet_live(maplet, i) : 0;
}

double bry__maplet_planned(const bry__maplet *maplet)
{
    double planned = (double)bry__chain_capacity(&maplet->chain, 0);
    for (unsigned i = 1; i < maplet->tables; i++)
        planned += (double)bry__chain_capacity(&maplet->chain, i);
    return planned;
}

uint64_t bry__maplet_bytes(const bry__maplet *maplet)
{
    uint64_t bytes = bry__values_bytes(maplet) + maplet->room * sizeof *maplet->table;
    for (unsigned i = 0; i < maplet->tables; i++)
        bytes += bry__table_bytes(&maplet->table[i]);
    return bytes;
}

double bry__maplet_error_now(const bry__maplet *maplet)
{
    uint64_t n[BRY__MAPLET_TABLES];
    bry__maplet_counts(maplet, n);
    return bry__chain_error(&maplet->chain, n);
}

bool bry__maplet_keeps(const bry__maplet *maplet)
{
    uint64_t n[BRY__MAPLET_TABLES];
    bry__maplet_counts(maplet, n);
    return bry__chain_keeps(&maplet->chain, n);
}

/* ---- asking -------------------------------------------------------------------------------- */

/* bry__maplet_get() in several tables, or none. */
static __attribute__((noinline)) bry_answer get_from_any(const bry__maplet *maplet, bry_hash hash,
                                                         uint32_t *value)
{
    unsigned i = maplet->tables;
    if (i > 1) { /* most keys are in one of the last two, or in none: prefetch both */
        bry__table_prefetch(&maplet->table[i - 1], fingerprint_of(maplet, i - 1, hash));
        bry__table_prefetch(&maplet->table[i - 2], fingerprint_of(maplet, i - 2, hash));
    }
    bool found = false;
    while (i-- > 0 && !found)
        found = bry__table_get(&maplet->table[i], fingerprint_of(maplet, i, hash), value);
    return found ? BRY_PRESENT : BRY_ABSENT;
}

bry_answer bry__maplet_get(const bry__maplet *maplet, bry_hash hash, uint32_t *value)
{
    if (maplet->tables != 1)
        return get_from_any(maplet, hash, value);
    /* Most have one table: only calls in the last place, so that no register has to be saved. */
    return bry__table_get(maplet->table, fingerprint_of(maplet, 0, hash), value) ? BRY_PRESENT
                                                                                 : BRY_ABSENT;
}

uint64_t bry__maplet_get_all(const bry__maplet *maplet, bry_hash hash, uint32_t *values,
                             uint64_t room)
{
    uint64_t total = 0;
    for (unsigned i = maplet->tables; i-- > 0;) {
        uint64_t left = total < room ? room - total : 0;
        total += bry__table_get_all(&maplet->table[i], fingerprint_of(maplet, i, hash),
                                    left ? values + total : NULL, left);
    }
    return total;
}

/* ---- changing ------------------------------------------------------------------------------ */

/* Where a key is, for changes. */
typedef struct key_place {
    unsigned table; /* the newest that has the key; maplet->tables: none has it */
    bry__table_place at; /* there, or else in the newest table */
    uint32_t value;
} key_place;

/* Searches each table once. `moving` as for bry__table_find(), in the newest one. */
static inline void find_key(const bry__maplet *maplet, bry_hash hash, bool moving, key_place *key)
{
    unsigned newest = maplet->tables - 1;
    key->table = maplet->tables;
    if (maplet->tables == 0)
        return;
    if (newest > 0) { /* both records are fetched at the same time */
        bry__table_fetch_record(&maplet->table[newest], fingerprint_of(maplet, newest, hash));
        bry__table_prefetch(&maplet->table[newest - 1], fingerprint_of(maplet, newest - 1, hash));
    }
    bool found = bry__table_find(&maplet->table[newest], fingerprint_of(maplet, newest, hash),
                                 moving, &key->at, &key->value);
    if (found)
        key->table = newest;
    bry__table_place older;
    for (unsigned i = newest; i-- > 0 && !found;)
        if (bry__table_find(&maplet->table[i], fingerprint_of(maplet, i, hash), false, &older,
                            &key->value)) {
            found = true;
            key->table = i;
            key->at = older;
        }
}

bry_status bry__maplet_open_table(bry__maplet *maplet)
{
    unsigned i = maplet->tables;
    bry__table table;
    if (i >= maplet->chain.tables)
        return BRY_E_FULL;
    if (bry__table_init(&table, bry__chain_range(&maplet->chain, i), maplet->value_bits,
                        &maplet->allocator) != BRY_OK)
        return BRY_E_NOMEM;
    bry_status status = bry__values_open_table(maplet, i);
    if (status == BRY_OK && i == maplet->room) {
        status = maplet_resize(maplet, i + 1);
        if (status != BRY_OK)
            bry__values_close_table(maplet, i);
    }
    if (status != BRY_OK) {
        bry__table_free(&table, &maplet->allocator);
        return status;
    }
    maplet->table[maplet->tables++] = table;
    return BRY_OK;
}

void bry__maplet_close_table(bry__maplet *maplet)
{
    bry__table *last = &maplet->table[--maplet->tables];
    bry__values_close_table(maplet, maplet->tables);
    bry__table_free(last, &maplet->allocator);
    (void)maplet_resize(maplet, maplet->tables); /* without memory it keeps its room */
}

unsigned bry__maplet_place(const bry__maplet *maplet)
{
    if (maplet->tables == 1 && bry__maplet_live(maplet, 0) < bry__chain_capacity(&maplet->chain, 0))
        return 0;
    /* Most are as planned, and not full: bry__chain_place() without tables that are not open. */
    unsigned place = maplet->tables;
    bool planned = true;
    uint64_t sum = 0;
    for (unsigned i = maplet->tables; i-- > 0;) {
        uint64_t live = bry__maplet_live(maplet, i);
        uint64_t capacity = bry__chain_capacity(&maplet->chain, i);
        planned = planned && live <= capacity;
        place = live < capacity ? i : place;
        sum += live;
    }
    if (planned && place < maplet->chain.tables && sum < maplet->chain.most)
        return place;
    uint64_t n[BRY__MAPLET_TABLES];
    bry__maplet_counts(maplet, n);
    return bry__chain_place(&maplet->chain, n);
}

/* Adds an entry; `newest` is its place in the newest table, if that is known, or NULL. */
static bry_status add_entry(bry__maplet *maplet, bry_hash hash, uint32_t value,
                            const bry__table_place *newest)
{
    unsigned i = bry__maplet_place(maplet), before = maplet->tables;
    bry_status status = i < maplet->chain.tables ? BRY_OK : BRY_E_FULL;
    while (maplet->tables <= i && status == BRY_OK)
        status = bry__maplet_open_table(maplet);
    if (status == BRY_OK)
        status = newest && i + 1 == before
                     ? bry__table_add_at(&maplet->table[i], newest, value, &maplet->allocator)
                     : bry__table_add(&maplet->table[i], fingerprint_of(maplet, i, hash), value,
                                      &maplet->allocator);
    if (status == BRY_OK)
        bry__values_note(maplet, i, value, true);
    while (status != BRY_OK && maplet->tables > before)
        bry__maplet_close_table(maplet);
    return status;
}

bry_status bry__maplet_add(bry__maplet *maplet, bry_hash hash, uint32_t value)
{
    return is_wide(maplet, value) ? BRY_E_RANGE : add_entry(maplet, hash, value, NULL);
}

static inline bry_status upsert(bry__maplet *maplet, bry_hash hash, uint32_t value, bool moving,
                                bry_answer *was, uint32_t *old)
{
    if (is_wide(maplet, value))
        return BRY_E_RANGE;
    key_place key;
    find_key(maplet, hash, moving, &key);
    bool found = key.table < maplet->tables;
    bry_status status = BRY_OK;
    if (!found)
        status = add_entry(maplet, hash, value, &key.at);
    else if (key.value != value)
        status = bry__table_replace_at(&maplet->table[key.table], &key.at, key.value, value,
                                       &maplet->allocator);
    if (status == BRY_OK && was)
        *was = found ? BRY_PRESENT : BRY_ABSENT;
    if (status == BRY_OK && old && found)
        *old = key.value;
    return status;
}

bry_status bry__maplet_upsert(bry__maplet *maplet, bry_hash hash, uint32_t value, bry_answer *was,
                              uint32_t *old)
{
    return upsert(maplet, hash, value, true, was, old);
}

bry_status bry__maplet_upsert_fetched(bry__maplet *maplet, bry_hash hash, uint32_t value,
                                      bry_answer *was, uint32_t *old)
{
    return upsert(maplet, hash, value, false, was, old);
}

bry_status bry__maplet_update(bry__maplet *maplet, bry_hash hash, uint32_t value, bry_answer *was,
                              uint32_t *old)
{
    if (is_wide(maplet, value))
        return BRY_E_RANGE;
    *was = BRY_PRESENT;
    for (unsigned i = maplet->tables; i-- > 0;) {
        bry__table *table = &maplet->table[i];
        uint64_t fingerprint = fingerprint_of(maplet, i, hash);
        bry__table_place at;
        bry__swapped done = bry__table_swap(table, fingerprint, value, old);
        if (done == BRY__SWAP_DONE)
            return BRY_OK;
        if (done == BRY__SWAP_HARD && bry__table_find(table, fingerprint, true, &at, old))
            return bry__table_replace_at(table, &at, *old, value, &maplet->allocator);
    }
    *was = BRY_ABSENT;
    return BRY_OK;
}

uint64_t bry__maplet_take_all(bry__maplet *maplet, bry_hash hash, bool fetched,
                              bry__tell_value *taken, void *context)
{
    uint64_t removed = 0;
    for (unsigned i = maplet->tables; i-- > 0;) {
        bry__table *table = &maplet->table[i];
        bry__table_place at;
        uint32_t value;
        bool more = true;
        while (more &&
               bry__table_find(table, fingerprint_of(maplet, i, hash), !fetched, &at, &value)) {
            more = !bry__table_is_single(table, &at);
            bry__table_del_at(table, &at, value, &maplet->allocator);
            removed++;
            if (taken)
                taken(context, value);
        }
    }
    if (removed > 0)
        bry__maplet_close_empty(maplet);
    return removed;
}

uint64_t bry__maplet_del(bry__maplet *maplet, bry_hash hash)
{
    return bry__maplet_take_all(maplet, hash, false, NULL, NULL);
}

bry_answer bry__maplet_del_value(bry__maplet *maplet, bry_hash hash, uint32_t value)
{
    for (unsigned i = maplet->tables; i-- > 0;)
        if (bry__table_del(&maplet->table[i], fingerprint_of(maplet, i, hash), value,
                           &maplet->allocator)) {
            bry__values_note(maplet, i, value, false);
            return BRY_PRESENT;
        }
    return BRY_ABSENT;
}

bry_status bry__maplet_replace(bry__maplet *maplet, bry_hash hash, uint32_t from, uint32_t to,
                               bry_answer *was)
{
    if (is_wide(maplet, to))
        return BRY_E_RANGE;
    for (unsigned i = maplet->tables; i-- > 0;) {
        uint64_t fingerprint = fingerprint_of(maplet, i, hash);
        if (!bry__table_has_entry(&maplet->table[i], fingerprint, from))
            continue;
        bry_status status =
            bry__table_replace(&maplet->table[i], fingerprint, from, to, &maplet->allocator);
        if (status == BRY_OK)
            *was = BRY_PRESENT;
        return status;
    }
    *was = BRY_ABSENT;
    return BRY_OK;
}
