/* Functions that visit all entries of a table: listing, reclaiming, and changing every value. */
#include "maplet/table.h"

static uint64_t table_fingerprint(const bry__table *table, uint64_t segment, uint64_t u)
{
    return u << bry__table_level(table, segment) | segment;
}

bool bry__table_next(const bry__table *table, bry__table_cursor *cursor, uint64_t *fingerprint,
                     uint32_t *value)
{
    for (; cursor->segment < table->segments; cursor->segment++) {
        bry__entry entry;
        if (bry__segment_next(bry__table_segment(table, cursor->segment),
                              bry__table_u_most(table, cursor->segment), &cursor->in_segment,
                              &entry)) {
            *fingerprint = table_fingerprint(table, cursor->segment, entry.u);
            *value = entry.value;
            return true;
        }
        cursor->in_segment = (bry__segment_cursor){0};
    }
    return bry__overflow_next(&table->overflow, &cursor->in_overflow, fingerprint, value);
}

void bry__table_tell_values(const bry__table *table, bry__tell_value *tell, void *context)
{
    uint32_t values[BRY__SEGMENT_MAX];
    for (uint64_t i = 0; i < table->segments; i++) {
        const bry__segment *segment = bry__table_segment(table, i);
        bry__segment_values(segment, values);
        for (unsigned at = 0; at < segment->n; at++)
            tell(context, values[at]);
    }
    bry__overflow_place place = {0};
    uint64_t fingerprint;
    while (bry__overflow_next(&table->overflow, &place, &fingerprint, values))
        tell(context, *values);
}

/* ---- reclaiming ---------------------------------------------------------------------------- */

static bool table_in_overflow(const bry__table *table, uint64_t fingerprint)
{
    bry__overflow_place place = bry__overflow_find(&table->overflow, fingerprint, 0);
    uint64_t f;
    uint32_t v;
    return bry__overflow_next(&table->overflow, &place, &f, &v) && f == fingerprint;
}

typedef struct sweeper {
    const bry__kept_values *names;
    bry__tell_value *gone;
    void *context;
    const bry_allocator *allocator;
} sweeper;

static bool sweeper_drops(const sweeper *by, uint32_t value)
{
    return by->names->name[value] == BRY__NOT_KEPT;
}

/* Drops one entry whose fingerprint has more in the overflow: one of those replaces it, and must be
 * looked at too. False if there is no such entry. */
static bool table_sweep_crowded(bry__table *table, uint64_t i, const sweeper *by, uint64_t *looked)
{
    const bry__segment *segment = bry__table_segment(table, i);
    uint64_t u_most = bry__table_u_most(table, i);
    bry__segment_cursor cursor = {0};
    bry__entry entry;
    while (bry__segment_next(segment, u_most, &cursor, &entry)) {
        uint64_t fingerprint = table_fingerprint(table, i, entry.u);
        ++*looked;
        if (!sweeper_drops(by, entry.value) || !table_in_overflow(table, fingerprint))
            continue;
        bry__table_take(table, fingerprint, entry.value, by->allocator);
        by->gone(by->context, entry.value);
        return true;
    }
    return false;
}

static bry_status table_sweep_segment(bry__table *table, uint64_t i, const sweeper *by)
{
    bry__segment *segment = bry__table_segment(table, i);
    uint64_t u_most = bry__table_u_most(table, i);
    unsigned n = segment->n;
    bry_status status =
        bry__segment_drop_nameless(segment, u_most, by->names, table->value_bits, by->gone,
                                   by->context, &(bry__home){by->allocator, table, i});
    if (status != BRY_OK || segment->n == n)
        return status;
    table->n -= n - segment->n;
    bry__table_count_step(table, segment->n);
    return BRY_OK;
}

/* Continues in the overflow, with the first entry above the last one looked at, so that any number
 * of equal entries is passed at once. True at the end. */
static bool table_sweep_overflow(bry__table *table, const sweeper *by, uint64_t budget)
{
    for (uint64_t looked = 0; looked < budget; looked++) {
        bry__chunk_list *list = table->overflow.list;
        if (!list)
            return true;
        bry__overflow_place place =
            bry__overflow_find(&table->overflow, list->sweep_fingerprint, list->sweep_value);
        bry__overflow_place next = place;
        uint64_t fingerprint;
        uint32_t value;
        if (!bry__overflow_next(&table->overflow, &next, &fingerprint, &value))
            return true;
        if (sweeper_drops(by, value)) {
            bry__overflow_remove(&table->overflow, place, by->allocator);
            table->n--;
            by->gone(by->context, value);
        } else {
            list->sweep_fingerprint = fingerprint + (value == UINT32_MAX);
            list->sweep_value = value + 1;
        }
    }
    return false;
}

void bry__table_restart_reclaim(bry__table *table)
{
    table->sweep = 0;
    if (table->overflow.list)
        table->overflow.list->sweep_fingerprint = table->overflow.list->sweep_value = 0;
}

bry_status bry__table_reclaim(bry__table *table, const bry__kept_values *names,
                              bry__tell_value *gone, void *context, uint64_t budget, bool *done,
                              const bry_allocator *allocator)
{
    const sweeper sweeps = {names, gone, context, allocator}, *by = &sweeps;
    uint64_t looked = 0;
    *done = false;
    while (table->sweep < table->segments && looked < budget) {
        uint64_t i = table->sweep;
        looked += bry__table_segment(table, i)->n + 1u;
        while (bry__overflow_count(&table->overflow) > 0 &&
               table_sweep_crowded(table, i, by, &looked))
            if (looked >= budget) /* a crowd may have any size: continue in the next call */
                return BRY_OK;
        bry_status status = table_sweep_segment(table, i, by);
        if (status != BRY_OK)
            return status;
        table->sweep = i + 1;
        bry__table_shrink(table, allocator);
        if (table->sweep <= i && bry__overflow_count(&table->overflow) == 0) {
            /* Entries not seen yet were folded into an earlier segment. Sweep that one again now,
             * or every fold would set the sweep back. */
            looked += bry__table_segment(table, table->sweep)->n + 1u;
            status = table_sweep_segment(table, table->sweep, by);
            if (status != BRY_OK)
                return status;
            table->sweep = i + 1;
        }
    }
    if (table->sweep >= table->segments && looked < budget &&
        table_sweep_overflow(table, by, budget - looked)) {
        bry__table_restart_reclaim(table);
        *done = true;
    }
    return BRY_OK;
}

/* ---- changing values ----------------------------------------------------------------------- */

/* Widens the segments whose new values would not fit; does not change the values. */
static bry_status table_widen_for_remap(bry__table *table, bry__map_value *map, void *context,
                                        const bry_allocator *allocator)
{
    for (uint64_t i = 0; i < table->segments; i++) {
        bry__segment *segment = bry__table_segment(table, i);
        uint64_t u_most = bry__table_u_most(table, i);
        bry__segment_cursor cursor = {0};
        bry__entry entry;
        while (bry__segment_next(segment, u_most, &cursor, &entry)) {
            if (bry__segment_fits(segment, map(context, entry.value)))
                continue;
            bry_status status = bry__segment_rewrite(segment, u_most, NULL, table->value_bits,
                                                     &(bry__home){allocator, table, i});
            if (status != BRY_OK)
                return status;
            break;
        }
    }
    return BRY_OK;
}

static void table_remap_segment(bry__segment *segment, uint64_t u_most, bry__map_value *map,
                                void *context)
{
    bry__segment_cursor cursor = {0};
    bry__entry entry, last = {0};
    unsigned first = 0; /* of the entries with this u; their values stay sorted */
    while (bry__segment_next(segment, u_most, &cursor, &entry)) {
        unsigned i = cursor.index - 1;
        if (entry.u != last.u)
            first = i;
        last = entry;
        uint32_t value = map(context, entry.value);
        for (; i > first; i--) {
            uint32_t before = bry__segment_value(segment, i - 1);
            if (before <= value)
                break;
            bry__segment_set_value(segment, i, before);
        }
        bry__segment_set_value(segment, i, value);
    }
}

/* With an overflow, other values may become the smallest of a fingerprint: adds all entries to a
 * new table. */
static bry_status table_remap_by_rebuilding(bry__table *table, bry__map_value *map, void *context,
                                            const bry_allocator *allocator)
{
    bry__table made;
    bry_status status = bry__table_init(&made, table->range, table->value_bits, allocator);
    if (status != BRY_OK)
        return status;
    bry__table_cursor cursor = {0};
    uint64_t fingerprint;
    uint32_t value;
    while (bry__table_next(table, &cursor, &fingerprint, &value)) {
        status = bry__table_add(&made, fingerprint, map(context, value), allocator);
        if (status != BRY_OK) {
            bry__table_free(&made, allocator);
            return status;
        }
    }
    made.dead = table->dead;
    bry__table_free(table, allocator);
    *table = made;
    return BRY_OK;
}

bry_status bry__table_remap(bry__table *table, bry__map_value *map, void *context,
                            const bry_allocator *allocator)
{
    if (bry__overflow_count(&table->overflow) > 0)
        return table_remap_by_rebuilding(table, map, context, allocator);
    bry_status status = table_widen_for_remap(table, map, context, allocator);
    for (uint64_t i = 0; i < table->segments && status == BRY_OK; i++)
        table_remap_segment(bry__table_segment(table, i), bry__table_u_most(table, i), map,
                            context);
    return status;
}
