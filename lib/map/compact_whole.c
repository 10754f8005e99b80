/*
 * Merging two compact maps, and folding one that has shrunk.
 *
 * Neither needs the keys: fingerprints are recoverable, and those of table i are the first table's
 * with more bits. Where the same key is in both maps, but not in tables of the same number:
 *
 *   from's table is newer    its entry hides the other's, which stays where it is. It must not be
 *                            removed, because all that is known of it is a shorter fingerprint, and
 *                            there are more keys with that one.
 *   from's table is older    its entry would be hidden, so the newer one gets its value.
 *
 * Hidden entries are counted as keys until they are deleted or folded.
 */
#include "map/compact_map.h"

static uint32_t recoded(const uint32_t *recode, uint32_t code)
{
    return recode ? recode[code] : code;
}

/* The entry becomes the only one of its fingerprint in the table. */
static bry_status put(bry__table *table, uint64_t fingerprint, uint32_t code,
                      const bry_allocator *allocator)
{
    uint32_t before;
    if (!bry__table_get(table, fingerprint, &before))
        return bry__table_add(table, fingerprint, code, allocator);
    if (before == code)
        return BRY_OK;
    return bry__table_replace(table, fingerprint, before, code, allocator);
}

/* Keys of `into` in tables newer than the one where `from` has them get its value. */
static bry_status take_over(bry__maplet *both, const bry__maplet *into, const bry__maplet *from,
                            const uint32_t *recode)
{
    bry_status status = BRY_OK;
    for (unsigned i = 1; i < into->tables && status == BRY_OK; i++) {
        bry__table_cursor cursor = {0};
        uint64_t fingerprint;
        uint32_t code;
        while (status == BRY_OK && bry__table_next(into->table[i], &cursor, &fingerprint, &code)) {
            for (unsigned t = i < from->tables ? i : from->tables; t-- > 0;) {
                if (!bry__table_get(from->table[t],
                                    bry__chain_shorten(&both->chain, fingerprint, i, t), &code))
                    continue;
                status = put(both->table[i], fingerprint, recoded(recode, code), &both->allocator);
                break;
            }
        }
    }
    return status;
}

static bry_status add_all(bry__maplet *both, const bry__maplet *from, const uint32_t *recode)
{
    bry_status status = BRY_OK;
    while (both->tables < from->tables && status == BRY_OK)
        status = bry__maplet_open_table(both);
    bry__maplet_cursor cursor = {0};
    uint64_t fingerprint;
    uint32_t code;
    while (status == BRY_OK && bry__maplet_next(from, &cursor, &fingerprint, &code))
        status =
            put(both->table[cursor.table], fingerprint, recoded(recode, code), &both->allocator);
    return status;
}

bry_status bry__compact_merge(void *into, const void *from, const uint32_t *recode, uint64_t codes)
{
    bry__compact_map *to = into;
    const bry__maplet *a = &to->maplet, *b = &((const bry__compact_map *)from)->maplet;
    if (a->chain.range[0] != b->chain.range[0] || a->options.capacity != b->options.capacity ||
        a->options.fixed != b->options.fixed)
        return BRY_E_MISMATCH;
    bry__compact_map both;
    bry_status status = bry__maplet_clone(a, &both.maplet, &a->allocator);
    if (status != BRY_OK)
        return status;
    bry__compact_widen(&both, codes);
    status = take_over(&both.maplet, a, b, recode);
    if (status == BRY_OK)
        status = add_all(&both.maplet, b, recode);
    if (status == BRY_OK && !bry__maplet_keeps(&both.maplet))
        status = BRY_E_FULL;
    if (status != BRY_OK) {
        bry__maplet_free(&both.maplet);
        return status;
    }
    bry__maplet_free(&to->maplet);
    to->maplet = both.maplet;
    return BRY_OK;
}

/* ---- compressing --------------------------------------------------------------------------- */

/*
 * Moves all entries to the first table, the older tables' first, so that the value that is found
 * before is the one that stays. On a copy: in the midst of it a middle table could show what the
 * newest has hidden.
 */
static bry_status fold(bry__maplet *maplet)
{
    bry__maplet copy;
    bry_status status = bry__maplet_clone(maplet, &copy, &maplet->allocator);
    if (status != BRY_OK)
        return status;
    for (unsigned i = 1; i < copy.tables && status == BRY_OK; i++) {
        bry__table_cursor cursor = {0};
        uint64_t fingerprint;
        uint32_t code;
        while (status == BRY_OK && bry__table_next(copy.table[i], &cursor, &fingerprint, &code))
            status = put(copy.table[0], bry__chain_shorten(&copy.chain, fingerprint, i, 0), code,
                         &copy.allocator);
    }
    if (status != BRY_OK) {
        bry__maplet_free(&copy);
        return status;
    }
    while (copy.tables > 1)
        bry__maplet_close_table(&copy);
    bry__maplet_free(maplet);
    *maplet = copy;
    return BRY_OK;
}

bry_status bry__compact_compress(void *self, double max_error, uint64_t codes)
{
    bry__maplet *maplet = &((bry__compact_map *)self)->maplet;
    (void)codes;
    uint64_t n = bry__maplet_count(maplet);
    double shared =
        (double)n / (double)maplet->chain.range[0]; /* when all are in the first table */
    bool fits = n <= maplet->options.capacity && 1.5 * shared <= max_error;
    bry_status status = maplet->tables > 1 && fits ? fold(maplet) : BRY_OK;
    for (unsigned i = 0; i < maplet->tables && status == BRY_OK; i++)
        while (bry__table_shrink(maplet->table[i], &maplet->allocator))
            ;
    return status;
}
