/* Maplets with one entry per fingerprint in each table, and values that can die
 * (maplet_single.h). */
#include "maplet/maplet_single.h"

#include <string.h>

static uint64_t single_fingerprint(const bry__maplet *maplet, unsigned i, bry_hash hash)
{
    return bry__fingerprint(hash, maplet->table[i].range);
}

void bry__single_get_n(const bry__maplet *maplet, unsigned i, const bry_hash *hashes, size_t n,
                       uint32_t *values, uint8_t *found)
{
    uint64_t fingerprints[BRY__SINGLE_BATCH];
    uint64_t range = maplet->table[i].range;
    memset(found, 0, n);
    for (size_t j = 0; j < n; j++)
        fingerprints[j] = bry__fingerprint(hashes[j], range);
    bry__table_get_n(&maplet->table[i], fingerprints, n, values, found);
}

bry_status bry__single_begin(bry__maplet *maplet, bool whole)
{
    bry_status status = bry__values_begin(maplet);
    if (status != BRY_OK)
        return status;
    maplet->values->name_bits = maplet->value_bits;
    return whole || maplet->value_bits > BRY__FEW_BITS
               ? bry__values_reserve(maplet, (uint32_t)1 << maplet->value_bits)
               : BRY_OK;
}

/* ---- one key ------------------------------------------------------------------------------- */

/* bry__single_put() at a place in an open table; the value there is `before`, if it was found. */
static bry_status single_put_at(bry__maplet *maplet, unsigned i, const bry__table_place *at,
                                bool found, uint32_t before, uint32_t value, bry__single_step *step)
{
    bry__table *table = &maplet->table[i];
    bry__values *values = maplet->values;
    if (found && before == value)
        return BRY_OK;
    bry_status status = found ? bry__table_replace_at(table, at, before, value, &maplet->allocator)
                              : bry__table_add_at(table, at, value, &maplet->allocator);
    if (status != BRY_OK)
        return status;
    bool live = found && values->name[before - values->first] != BRY__NO_NAME;
    *step = (bry__single_step){!found ? BRY__PUT_NEW
                               : live ? BRY__PUT_OVER_LIVE
                                      : BRY__PUT_OVER_DEAD,
                               i, before};
    values->count[i][value - values->first]++;
    if (found)
        bry__values_note_gone(maplet, i, before);
    return BRY_OK;
}

bry_status bry__single_put(bry__maplet *maplet, unsigned i, bry_hash hash, uint32_t value,
                           bool maybe, bry__single_step *step)
{
    unsigned tables = maplet->tables;
    bry_status status = BRY_OK;
    step->did = BRY__PUT_NOTHING;
    while (maplet->tables <= i && status == BRY_OK)
        status = bry__maplet_open_table(maplet);
    if (status == BRY_OK) {
        uint32_t before = value;
        bry__table_place at;
        bool found = bry__table_find(&maplet->table[i], single_fingerprint(maplet, i, hash), true,
                                     &at, &before) &&
                     maybe;
        status = single_put_at(maplet, i, &at, found, before, value, step);
    }
    while (status != BRY_OK && maplet->tables > tables)
        bry__maplet_close_table(maplet);
    return status;
}

bry_status bry__single_put_new(bry__maplet *maplet, unsigned i, bry_hash hash, uint32_t value,
                               bool *live, bry__single_step *step)
{
    uint32_t before = value;
    bry__table_place at;
    bool found =
        bry__table_find(&maplet->table[i], single_fingerprint(maplet, i, hash), true, &at, &before);
    step->did = BRY__PUT_NOTHING;
    *live = found && bry__values_is_live(maplet, before);
    return *live ? BRY_OK : single_put_at(maplet, i, &at, found, before, value, step);
}

void bry__single_take_back(bry__maplet *maplet, bry_hash hash, uint32_t value,
                           const bry__single_step *step)
{
    if (step->did == BRY__PUT_NOTHING)
        return;
    bry__table *table = &maplet->table[step->table];
    bry__values *values = maplet->values;
    uint64_t fingerprint = bry__fingerprint(hash, table->range);
    uint64_t *count = values->count[step->table];
    count[value - values->first]--;
    if (step->did == BRY__PUT_NEW) {
        bry__table_del(table, fingerprint, value, &maplet->allocator);
        return;
    }
    /* The value was in this place before, so this does not fail. */
    (void)bry__table_replace(table, fingerprint, value, step->before, &maplet->allocator);
    count[step->before - values->first]++;
    if (step->did == BRY__PUT_OVER_DEAD)
        table->dead++;
}

bool bry__single_del(bry__maplet *maplet, bry_hash hash)
{
    bool any = false;
    for (unsigned i = 0; i < maplet->tables; i++) {
        uint32_t value;
        bry__table_place at;
        if (!bry__table_find(&maplet->table[i], single_fingerprint(maplet, i, hash), true, &at,
                             &value) ||
            !bry__values_is_live(maplet, value))
            continue;
        bry__table_del_at(&maplet->table[i], &at, value, &maplet->allocator);
        bry__values_note(maplet, i, value, false);
        any = true;
    }
    return any;
}

bry_status bry__single_reclaim_all(bry__maplet *maplet)
{
    bry_status status = BRY_OK;
    while (status == BRY_OK && bry__values_dead(maplet) > 0)
        status = bry__values_reclaim(maplet, UINT64_MAX);
    return status;
}

/* ---- whole maplets ------------------------------------------------------------------------- */

typedef struct unite_state {
    bry__pick *pick;
    void *context;
    uint64_t *count; /* of the current table */
} unite_state;

/* Asks pick(), and does not count the other entry. */
static bool single_pick(void *context, uint32_t a, uint32_t b)
{
    const unite_state *unite = context;
    bool other = unite->pick(unite->context, a, b);
    unite->count[other ? a : b]--;
    return other;
}

/* True if no entry of the table changes its value or is left out. */
static bool single_is_plain(const bry__single_source *source, unsigned i)
{
    const bry__values *values = source->maplet->values;
    for (uint32_t value = values->first; value < values->room; value++)
        if (values->count[i][value - values->first] > 0 && source->value[value] != value)
            return false;
    return true;
}

/* Counts the entries taken from a source; returns its table, or an empty one. */
static const bry__table *single_take_source(const bry__single_source *source, unsigned i,
                                            const bry__table *empty, uint64_t *count,
                                            const uint32_t **value)
{
    *value = NULL;
    if (i >= source->maplet->tables)
        return empty;
    const bry__values *values = source->maplet->values;
    for (uint32_t v = values->first; v < values->room; v++)
        if (source->value[v] != BRY__NOT_KEPT)
            count[source->value[v]] += values->count[i][v - values->first];
    if (!single_is_plain(source, i))
        *value = source->value;
    return &source->maplet->table[i];
}

/* Replaces the empty table i by the entries of both. */
static bry_status single_unite_table(bry__maplet *made, unsigned i, const bry__single_source *a,
                                     const bry__single_source *b, unite_state *unite)
{
    bry__table empty = made->table[i], united;
    bry__unite_calls calls = {.pick = single_pick, .context = unite};
    unite->count = made->values->count[i];
    const bry__table *in_a = single_take_source(a, i, &empty, unite->count, &calls.value[0]);
    const bry__table *in_b = single_take_source(b, i, &empty, unite->count, &calls.value[1]);
    bry_status status =
        bry__table_unite(&united, in_a, in_b, BRY__MERGE_PICK, &calls, &made->allocator);
    if (status != BRY_OK)
        return status;
    united.value_bits = made->value_bits;
    united.dead = 0;
    made->table[i] = united;
    bry__table_free(&empty, &made->allocator);
    return BRY_OK;
}

/* Begins to use the new values of a source. */
static bry_status single_use_values(bry__maplet *made, const bry__single_source *source)
{
    bry_status status = BRY_OK;
    const bry__values *values = source->maplet->values;
    for (uint32_t v = values ? values->first : 0; values && v < values->room && status == BRY_OK;
         v++)
        if (source->value[v] != BRY__NOT_KEPT)
            status = bry__values_use(made, source->value[v], source->value[v]);
    return status;
}

bry_status bry__single_unite(bry__maplet *made, const bry__single_source *a,
                             const bry__single_source *b, unsigned value_bits, bry__pick *pick,
                             void *context)
{
    const bry__maplet *like = a->maplet;
    unsigned tables = like->tables > b->maplet->tables ? like->tables : b->maplet->tables;
    bry__maplet both;
    bry__maplet_options options = bry__maplet_like(like);
    options.value_bits = value_bits;
    bry__maplet_init(&both, &options, &like->allocator);
    bry_status status = bry__single_begin(&both, true);
    if (status == BRY_OK)
        status = single_use_values(&both, a);
    if (status == BRY_OK)
        status = single_use_values(&both, b);
    unite_state unite = {.pick = pick, .context = context};
    for (unsigned i = 0; i < tables && status == BRY_OK; i++) {
        status = bry__maplet_open_table(&both);
        if (status == BRY_OK)
            status = single_unite_table(&both, i, a, b, &unite);
    }
    if (status == BRY_OK)
        *made = both;
    else
        bry__maplet_free(&both);
    return status;
}
