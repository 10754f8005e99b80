/*
 * A chain of tables that is one table for almost everybody.
 *
 *   table i:   capacity · 2^i entries,  range · 4^i fingerprints  →  error of a full one:
 *              capacity · 2^i / (range · 4^i)  =  (capacity / range) / 2^i
 *
 * With range = 2 · capacity / error these sum to less than the error, however many there are. A
 * fixed maplet has one table with range = capacity / error: a bit less an entry.
 */
#include "maplet/maplet.h"

#include "hash/derive.h"

#include <math.h>

#define MAX_CAPACITY ((uint64_t)1 << 40)

static uint64_t range_of(const bry__maplet *maplet, unsigned i)
{
    return maplet->range << (2 * i);
}

static uint64_t fingerprint_of(const bry__maplet *maplet, unsigned i, bry_hash hash)
{
    return bry__fingerprint(hash, range_of(maplet, i));
}

static bool is_wide(const bry__maplet *maplet, uint32_t value)
{
    return (uint64_t)value >> maplet->options.value_bits != 0;
}

uint64_t bry__maplet_range(const bry__maplet_options *options)
{
    if (options->capacity < 1 || options->capacity > MAX_CAPACITY ||
        !(options->error >= 1e-12 && options->error <= 0.5) || options->value_bits > 32)
        return 0;
    double range = ceil((double)options->capacity / options->error * (options->fixed ? 1 : 2));
    if (range > (double)BRY__TABLE_MAX_RANGE)
        return 0;
    return range < (double)BRY__TABLE_MIN_RANGE ? BRY__TABLE_MIN_RANGE : (uint64_t)range;
}

static bry__table *new_table(uint64_t range, unsigned value_bits, const bry_allocator *allocator)
{
    bry__table *table = bry__alloc(allocator, sizeof *table);
    if (table && bry__table_init(table, range, value_bits, allocator) != BRY_OK) {
        bry__free(allocator, table, sizeof *table);
        table = NULL;
    }
    return table;
}

static void free_table(bry__table *table, const bry_allocator *allocator)
{
    bry__table_free(table, allocator);
    bry__free(allocator, table, sizeof *table);
}

uint64_t bry__maplet_bytes_empty(void)
{
    return sizeof(bry__table) + bry__table_bytes_empty();
}

uint64_t bry__maplet_plan_bytes(const bry__maplet_options *options, uint64_t n)
{
    return sizeof(bry__table) +
           bry__table_plan_bytes(bry__maplet_range(options), options->value_bits, n);
}

bry_status bry__maplet_init(bry__maplet *maplet, const bry__maplet_options *options,
                            const bry_allocator *allocator)
{
    uint64_t range = bry__maplet_range(options);
    if (range == 0)
        return BRY_E_RANGE;
    bry__table *first = new_table(range, options->value_bits, allocator);
    if (!first)
        return BRY_E_NOMEM;
    *maplet = (bry__maplet){.allocator = *allocator,
                            .options = *options,
                            .range = range,
                            .tables = 1,
                            .table = {first}};
    return BRY_OK;
}

void bry__maplet_free(bry__maplet *maplet)
{
    while (maplet->tables > 0)
        free_table(maplet->table[--maplet->tables], &maplet->allocator);
}

bry_status bry__maplet_clone(const bry__maplet *maplet, bry__maplet *copy)
{
    bry__maplet made = *maplet;
    for (made.tables = 0; made.tables < maplet->tables; made.tables++) {
        bry__table *table = bry__alloc(&made.allocator, sizeof *table);
        if (!table || bry__table_clone(maplet->table[made.tables], table, &made.allocator)) {
            bry__free(&made.allocator, table, sizeof *table);
            bry__maplet_free(&made);
            return BRY_E_NOMEM;
        }
        made.table[made.tables] = table;
    }
    *copy = made;
    return BRY_OK;
}

bry_status bry__maplet_clear(bry__maplet *maplet)
{
    bry__maplet fresh;
    bry_status status = bry__maplet_init(&fresh, &maplet->options, &maplet->allocator);
    if (status != BRY_OK)
        return status;
    bry__maplet_free(maplet);
    *maplet = fresh;
    return BRY_OK;
}

uint64_t bry__maplet_count(const bry__maplet *maplet)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < maplet->tables; i++)
        n += maplet->table[i]->n;
    return n;
}

uint64_t bry__maplet_bytes(const bry__maplet *maplet)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < maplet->tables; i++)
        bytes += sizeof(bry__table) + bry__table_bytes(maplet->table[i]);
    return bytes;
}

double bry__maplet_error_now(const bry__maplet *maplet)
{
    double error = 0;
    for (unsigned i = 0; i < maplet->tables; i++)
        error += (double)maplet->table[i]->n / (double)maplet->table[i]->range;
    return error;
}

/* ---- asking -------------------------------------------------------------------------------- */

bry_answer bry__maplet_get(const bry__maplet *maplet, bry_hash hash, uint32_t *value)
{
    for (unsigned i = maplet->tables; --i > 0;)
        if (bry__table_get(maplet->table[i], fingerprint_of(maplet, i, hash), value))
            return BRY_PRESENT;
    return bry__table_get(maplet->table[0], fingerprint_of(maplet, 0, hash), value) ? BRY_PRESENT
                                                                                    : BRY_ABSENT;
}

uint64_t bry__maplet_get_all(const bry__maplet *maplet, bry_hash hash, uint32_t *values,
                             uint64_t room)
{
    uint64_t total = 0;
    for (unsigned i = maplet->tables; i-- > 0;) {
        uint64_t left = total < room ? room - total : 0;
        total += bry__table_get_all(maplet->table[i], fingerprint_of(maplet, i, hash),
                                    left ? values + total : NULL, left);
    }
    return total;
}

/* ---- changing ------------------------------------------------------------------------------ */

bry_status bry__maplet_open_table(bry__maplet *maplet)
{
    unsigned i = maplet->tables;
    if (maplet->options.fixed || i == BRY__MAPLET_TABLES ||
        maplet->range > BRY__TABLE_MAX_RANGE >> (2 * i))
        return BRY_E_FULL;
    bry__table *table =
        new_table(range_of(maplet, i), maplet->options.value_bits, &maplet->allocator);
    if (!table)
        return BRY_E_NOMEM;
    maplet->table[maplet->tables++] = table;
    return BRY_OK;
}

void bry__maplet_close_table(bry__maplet *maplet)
{
    free_table(maplet->table[--maplet->tables], &maplet->allocator);
}

/* Whether the error asked for allows one more entry in table i. It always does, unless a merge has
 * filled a table beyond its plan. */
static bool keeps_promise(const bry__maplet *maplet, unsigned i)
{
    bool as_planned = true;
    for (unsigned j = 0; j < maplet->tables; j++)
        as_planned = as_planned && maplet->table[j]->n <= maplet->options.capacity << j;
    if (as_planned)
        return true;
    double error = 0;
    for (unsigned j = 0; j < maplet->tables; j++)
        error += (double)(maplet->table[j]->n + (i == j)) / (double)maplet->table[j]->range;
    if (i == maplet->tables)
        error += 1 / (double)range_of(maplet, i);
    return error <= maplet->options.error;
}

bry_status bry__maplet_add(bry__maplet *maplet, bry_hash hash, uint32_t value)
{
    if (is_wide(maplet, value))
        return BRY_E_RANGE;
    unsigned i = 0; /* the first table with room */
    while (i < maplet->tables && maplet->table[i]->n >= maplet->options.capacity << i)
        i++;
    if (!keeps_promise(maplet, i))
        return BRY_E_FULL;
    bool opened = i == maplet->tables;
    bry_status status = opened ? bry__maplet_open_table(maplet) : BRY_OK;
    if (status != BRY_OK)
        return status;
    status = bry__table_add(maplet->table[i], fingerprint_of(maplet, i, hash), value,
                            &maplet->allocator);
    if (status != BRY_OK && opened)
        bry__maplet_close_table(maplet);
    return status;
}

bry_status bry__maplet_upsert(bry__maplet *maplet, bry_hash hash, uint32_t value, bry_answer *was,
                              uint32_t *old)
{
    if (is_wide(maplet, value))
        return BRY_E_RANGE;
    for (unsigned i = maplet->tables; i-- > 0;) {
        bry__table *table = maplet->table[i];
        uint64_t fingerprint = fingerprint_of(maplet, i, hash);
        uint32_t before;
        if (!bry__table_get(table, fingerprint, &before))
            continue;
        bry_status status = BRY_OK;
        if (before != value)
            status = bry__table_replace(table, fingerprint, before, value, &maplet->allocator);
        if (status == BRY_OK && was)
            *was = BRY_PRESENT;
        if (status == BRY_OK && old)
            *old = before;
        return status;
    }
    bry_status status = bry__maplet_add(maplet, hash, value);
    if (status == BRY_OK && was)
        *was = BRY_ABSENT;
    return status;
}

uint64_t bry__maplet_del(bry__maplet *maplet, bry_hash hash)
{
    uint64_t removed = 0;
    for (unsigned i = 0; i < maplet->tables; i++) {
        uint64_t fingerprint = fingerprint_of(maplet, i, hash);
        uint32_t value;
        while (bry__table_get(maplet->table[i], fingerprint, &value)) {
            bry__table_del(maplet->table[i], fingerprint, value, &maplet->allocator);
            removed++;
        }
    }
    return removed;
}

bry_answer bry__maplet_del_value(bry__maplet *maplet, bry_hash hash, uint32_t value)
{
    for (unsigned i = maplet->tables; i-- > 0;)
        if (bry__table_del(maplet->table[i], fingerprint_of(maplet, i, hash), value,
                           &maplet->allocator))
            return BRY_PRESENT;
    return BRY_ABSENT;
}

bry_status bry__maplet_replace(bry__maplet *maplet, bry_hash hash, uint32_t from, uint32_t to,
                               bry_answer *was)
{
    if (is_wide(maplet, to))
        return BRY_E_RANGE;
    for (unsigned i = maplet->tables; i-- > 0;) {
        uint64_t fingerprint = fingerprint_of(maplet, i, hash);
        if (!bry__table_has_entry(maplet->table[i], fingerprint, from))
            continue;
        bry_status status =
            bry__table_replace(maplet->table[i], fingerprint, from, to, &maplet->allocator);
        if (status == BRY_OK)
            *was = BRY_PRESENT;
        return status;
    }
    *was = BRY_ABSENT;
    return BRY_OK;
}
