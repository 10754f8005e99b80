/*
 * Merging two maplets, and folding the tables of one into the first.
 *
 * Neither needs the keys: fingerprints can be recovered, and a fingerprint of a later table is that
 * of an earlier one with more bits. Merged entries keep their table. If the same key is in both
 * maplets, but in tables with different numbers, and look-ups shall find one value:
 *
 *   from's table is newer    its entry hides the other's, which stays where it is. It must not be
 *                            removed, because all that is known of it is a shorter fingerprint, and
 *                            there are more keys with that one.
 *   from's table is older    REPLACE: its entry would be hidden, so the newer one gets its value.
 *                            KEEP: it is hidden, as it should be.
 */
#include "maplet/maplet.h"

typedef struct merge_state {
    const bry__maplet *into, *from;
    const uint32_t *new_value; /* for each value of `from`; NULL: values do not change */
    unsigned table; /* number of the table being made */
    bry__maplet *result; /* has the tables before it */
} merge_state;

/* Looks up entries of the current table in table i before it, except those with found[j] set. */
static void find_shorter(const merge_state *merge, const bry__table *table, unsigned i,
                         const uint64_t *fingerprints, size_t n, uint32_t *values, uint8_t *found)
{
    uint64_t shorter[BRY__TABLE_BATCH];
    for (size_t j = 0; j < n; j++)
        shorter[j] = bry__chain_shorten(&merge->result->chain, fingerprints[j], merge->table, i);
    bry__table_get_n(table, shorter, n, values, found);
}

/* KEEP: drops entries that an earlier table of `into` has with a shorter fingerprint. */
static void drop_known(void *context, const uint64_t *fingerprints, uint32_t *values, bool *keep,
                       size_t n)
{
    const merge_state *merge = context;
    const bry__maplet *into = merge->into;
    uint8_t found[BRY__TABLE_BATCH] = {0};
    uint32_t others[BRY__TABLE_BATCH];
    (void)values;
    for (unsigned i = 0; i < merge->table && i < into->tables; i++)
        find_shorter(merge, &into->table[i], i, fingerprints, n, others, found);
    for (size_t j = 0; j < n; j++)
        keep[j] = !found[j];
}

/* REPLACE: entries of `into` that would hide those in an older table of `from` get their values. */
static void replace_hiding(void *context, const uint64_t *fingerprints, uint32_t *values,
                           bool *keep, size_t n)
{
    const merge_state *merge = context;
    const bry__maplet *from = merge->from;
    uint8_t found[BRY__TABLE_BATCH] = {0};
    uint32_t newer[BRY__TABLE_BATCH];
    (void)keep;
    for (unsigned i = merge->table < from->tables ? merge->table : from->tables; i-- > 0;)
        find_shorter(merge, &from->table[i], i, fingerprints, n, newer, found);
    for (size_t j = 0; j < n; j++)
        if (found[j])
            values[j] = merge->new_value ? merge->new_value[newer[j]] : newer[j];
}

static bry_status merge_table(merge_state *merge, const bry__table *into, const bry__table *from,
                              bry__merge_mode mode)
{
    bry__maplet *result = merge->result;
    bry__unite_calls calls = {
        .value = {NULL, merge->new_value},
        .adapt = {mode == BRY__MERGE_REPLACE && merge->table > 0 ? replace_hiding : NULL,
                  mode == BRY__MERGE_KEEP && merge->table > 0 ? drop_known : NULL},
        .context = merge};
    return bry__table_unite(&result->table[merge->table], into, from, mode, &calls,
                            &result->allocator);
}

/* Whether all entries of `from` fit, if none is dropped. */
static bool fits(const bry__maplet *into, const bry__maplet *from)
{
    uint64_t n[BRY__MAPLET_TABLES], more[BRY__MAPLET_TABLES];
    bry__maplet_counts(into, n);
    bry__maplet_counts(from, more);
    for (unsigned i = 0; i < BRY__MAPLET_TABLES; i++)
        n[i] += more[i];
    return bry__chain_keeps(&into->chain, n);
}

/* Merges the tables of both into the empty tables of the result. */
static bry_status merge_tables(merge_state *merge, const bry__maplet *into, bry__merge_mode mode)
{
    bry__maplet *result = merge->result;
    bry_status status = BRY_OK;
    for (; merge->table < result->tables && status == BRY_OK; merge->table++) {
        unsigned i = merge->table;
        bry__table empty = result->table[i];
        status = merge_table(merge, i < into->tables ? &into->table[i] : &empty,
                             i < merge->from->tables ? &merge->from->table[i] : &empty, mode);
        if (status == BRY_OK)
            bry__table_free(&empty, &result->allocator);
        else
            result->table[i] = empty;
    }
    if (status == BRY_OK && !bry__maplet_keeps(result))
        status = BRY_E_FULL;
    return status;
}

/* Whether the result equals `from` in every mode. */
static bool is_copy(const bry__maplet *into, const bry__maplet *from, const uint32_t *value)
{
    return bry__maplet_count(into) == 0 && !into->values && !from->values && !value &&
           into->value_bits == from->value_bits;
}

bry_status bry__maplet_merge(bry__maplet *into, const bry__maplet *from, bry__merge_mode mode,
                             const uint32_t *value)
{
    if (into->chain.first_capacity != from->chain.first_capacity ||
        into->chain.error != from->chain.error || into->chain.fixed != from->chain.fixed)
        return BRY_E_MISMATCH;
    if (!value && from->value_bits > into->value_bits)
        return BRY_E_RANGE;
    if (mode == BRY__MERGE_ALL && !fits(into, from))
        return BRY_E_FULL;
    bry__maplet merged;
    if (is_copy(into, from, value)) {
        bry_status status = bry__maplet_clone(from, &merged, &into->allocator);
        if (status == BRY_OK) {
            bry__maplet_free(into);
            *into = merged;
        }
        return status;
    }
    bry_status status = BRY_OK;
    bry__maplet_options options = bry__maplet_like(into);
    bry__maplet_init(&merged, &options, &into->allocator);
    while (status == BRY_OK && (merged.tables < into->tables || merged.tables < from->tables))
        status = bry__maplet_open_table(&merged);
    merge_state merge = {.into = into, .from = from, .new_value = value, .result = &merged};
    if (status == BRY_OK)
        status = merge_tables(&merge, into, mode);
    if (status != BRY_OK) {
        bry__maplet_free(&merged);
        return status;
    }
    bry__maplet_free(into);
    *into = merged;
    return BRY_OK;
}

/* ---- folding ------------------------------------------------------------------------------- */

/* Makes this the only entry of its fingerprint in the table. */
static bry_status put_single(bry__table *table, uint64_t fingerprint, uint32_t value,
                             const bry_allocator *allocator)
{
    uint32_t before;
    if (!bry__table_get(table, fingerprint, &before))
        return bry__table_add(table, fingerprint, value, allocator);
    if (before == value)
        return BRY_OK;
    return bry__table_replace(table, fingerprint, before, value, allocator);
}

/* Entries of older tables first, so that the value found by look-ups is the one that stays. */
static bry_status fold_into(bry__table *first, const bry__maplet *maplet)
{
    bry__maplet_cursor cursor = {.table = 1};
    uint64_t fingerprint;
    uint32_t value;
    bry_status status = BRY_OK;
    while (status == BRY_OK && bry__maplet_next(maplet, &cursor, &fingerprint, &value))
        status = put_single(first, bry__chain_shorten(&maplet->chain, fingerprint, cursor.table, 0),
                            value, &maplet->allocator);
    return status;
}

bry_status bry__maplet_fold_all(bry__maplet *maplet)
{
    if (maplet->tables <= 1)
        return BRY_OK;
    bry__table first; /* a copy: meanwhile a middle table would expose hidden entries */
    bry_status status = bry__table_clone(&maplet->table[0], &first, &maplet->allocator);
    if (status != BRY_OK)
        return status;
    status = fold_into(&first, maplet);
    if (status != BRY_OK) {
        bry__table_free(&first, &maplet->allocator);
        return status;
    }
    while (maplet->tables > 1)
        bry__maplet_close_table(maplet);
    bry__table_free(&maplet->table[0], &maplet->allocator);
    maplet->table[0] = first;
    return BRY_OK;
}
