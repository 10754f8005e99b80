/*
 * Merges maps, folds a map into fewer cells, and merges tables within a map. Each of these adds one
 * table to another with as many cells or 2^j times fewer (bry__kbf_merge).
 */
#include "map/kbf/kbf_map.h"

#include <math.h>

/* ---- settle -------------------------------------------------------------------------------- */

/* Cells of the largest table that a deletion may merge into another: some milliseconds. Larger ones
 * wait for bry_map_compress(). */
#define MOST_MERGED ((uint64_t)1 << 20)

static bool kbf_small_enough_to_merge(const bry__kbf *kbf)
{
    return kbf->segment <= MOST_MERGED / kbf->hashes;
}

/* Two tables are nearly empty if together they fill at most half of the smaller one; the margin
 * keeps a map at the boundary from growing and shrinking repeatedly. */
static bool nearly_empty(const bry__kbf *small, const bry__kbf *large)
{
    return small->items + large->items <= small->capacity / 2;
}

/* The first table always stays: it is the map's shape, for merges and for maps made like it.
 * (Compressing may have made another one as small.) */
static bool settle_pair(bry__kbf_map *map)
{
    for (unsigned i = 0; i < map->tables; i++)
        for (unsigned j = 1; j < map->tables; j++) {
            bry__kbf *small = &map->table[i], *large = &map->table[j];
            int shift = bry__kbf_map_shift(large, small);
            if (i == j || !nearly_empty(small, large) ||
                (large->items > 0 && (shift < 0 || !kbf_small_enough_to_merge(large))))
                continue;
            if (large->items > 0 &&
                bry__kbf_merge(small, large, (unsigned)shift, &map->allocator) != BRY_OK)
                continue;
            bry__kbf_map_drop(map, j);
            return true;
        }
    return false;
}

static void drop_superfluous(bry__kbf_map *map)
{
    unsigned i;
    while ((i = bry__kbf_map_superfluous(map)) > 0)
        bry__kbf_map_drop(map, i);
}

void bry__kbf_map_settle(bry__kbf_map *map)
{
    for (unsigned i = 0; i < map->tables; i++)
        if (map->table[i].items == 0 && !bry__kbf_is_zero(&map->table[i]))
            bry__kbf_clear(&map->table[i], &map->allocator);
    drop_superfluous(map);
    while (map->tables > 1 && settle_pair(map))
        drop_superfluous(map);
}

/* ---- merge ---------------------------------------------------------------------------------- */

static bool same_shape(const bry__kbf_map *a, const bry__kbf_map *b)
{
    return a->fixed == b->fixed && a->gf.bits == b->gf.bits &&
           a->table[0].hashes == b->table[0].hashes && a->table[0].segment == b->table[0].segment;
}

/* The table of `map` that can take `from` cell by cell, where `items` is what each table will hold;
 * or the number of tables if none has room. */
static unsigned kbf_merge_partner(const bry__kbf_map *map, const bry__kbf *from,
                                  const uint64_t *items)
{
    for (unsigned i = 0; i < map->tables; i++)
        if (map->table[i].segment == from->segment && items[i] <= map->table[i].capacity &&
            from->items <= map->table[i].capacity - items[i])
            return i;
    return map->tables;
}

/* A copy of `from` for `map`, planned for at least the error that `map` plans for. */
static bry_status kbf_merge_copy_table(const bry__kbf_map *map, const bry__kbf *from,
                                       bry__kbf *copy)
{
    bry__kbf like = *from;
    like.gf = &map->gf;
    like.error = fmax(from->error, map->least_error);
    bry_status status = bry__kbf_init(copy, &like, &map->allocator);
    if (status != BRY_OK)
        return status;
    status = bry__kbf_merge(copy, from, 0, &map->allocator);
    if (status != BRY_OK)
        bry__kbf_free(copy, &map->allocator);
    return status;
}

/*
 * Each table of `from` is added to one of its size that has room; if there is none, a map that may
 * grow takes it as a further table. Everything that can fail comes before the first visible change.
 */
bry_status bry__kbf_map_merge(void *self, const void *other, const uint32_t *recode, uint64_t codes)
{
    (void)codes;
    bry__kbf_map *into = self;
    const bry__kbf_map *from = other;
    if (recode || !same_shape(into, from))
        return BRY_E_MISMATCH;
    unsigned to[BRY__KBF_TABLES], copies = 0, tables = from->tables;
    uint64_t items[BRY__KBF_TABLES] = {0};
    bry__kbf copy[BRY__KBF_TABLES] = {{0}};
    for (unsigned i = 0; i < into->tables; i++)
        items[i] = into->table[i].items;
    bry_status status = BRY_OK;
    for (unsigned i = 0; i < tables && status == BRY_OK; i++) {
        const bry__kbf *table = &from->table[i];
        to[i] = kbf_merge_partner(into, table, items);
        if (to[i] < into->tables) {
            items[to[i]] += table->items;
            status = bry__kbf_reach_for(&into->table[to[i]], table, 0, &into->allocator);
        } else if (into->fixed || into->tables + copies == BRY__KBF_TABLES) {
            status = BRY_E_FULL;
        } else if (table->items > 0) {
            status = kbf_merge_copy_table(into, table, &copy[copies]);
            copies += status == BRY_OK;
        }
    }
    if (status != BRY_OK) {
        while (copies > 0)
            bry__kbf_free(&copy[--copies], &into->allocator);
        return status;
    }
    for (unsigned i = 0; i < tables; i++)
        if (to[i] < into->tables)
            bry__kbf_merge(&into->table[to[i]], &from->table[i], 0, &into->allocator);
    for (unsigned i = 0; i < copies; i++)
        into->table[into->tables++] = copy[i];
    return BRY_OK;
}

/* ---- compress ------------------------------------------------------------------------------ */

static double kbf_merged_error(const bry__kbf_map *map, const bry__kbf *table, uint64_t codes)
{
    bry__kbf_setting setting = map->setting;
    if (codes < setting.codes)
        setting.codes = (uint32_t)codes;
    bry__kbf_errors errors = bry__kbf_errors_now(&setting, table);
    return bry__kbf_error(&errors);
}

/*
 * Folds `count` tables into one with `segment` cells per segment. Its capacity is what the bound
 * allows, and at least what it holds.
 */
static bry_status kbf_fold_tables(const bry__kbf_map *map, const bry__kbf *const *tables,
                                  unsigned count, uint64_t segment, double bound, bry__kbf *folded)
{
    bry__kbf like = *tables[0];
    like.segment = segment;
    bry_status status = bry__kbf_init(folded, &like, &map->allocator);
    if (status != BRY_OK)
        return status;
    for (unsigned i = 0; i < count && status == BRY_OK; i++) {
        int shift = bry__kbf_map_shift(tables[i], &like);
        status = bry__kbf_merge(folded, tables[i], (unsigned)shift, &map->allocator);
    }
    if (status != BRY_OK) {
        bry__kbf_free(folded, &map->allocator);
        return status;
    }
    bry__kbf_shape shape = bry__kbf_shape_of(folded);
    folded->error = fmin(1, fmax(bound, map->least_error));
    folded->capacity = bry__kbf_capacity(&map->setting, &shape, folded->error, BRY_CAPACITY_MAX);
    if (folded->capacity < folded->items)
        folded->capacity = folded->items;
    if (folded->capacity == 0)
        folded->capacity = 1;
    /* Large enough that a map can be created with this shape, however strict the bound is. */
    uint64_t cells = shape.hashes * shape.segment;
    if (!bry__kbf_cells_allowed(cells, folded->capacity))
        folded->capacity = cells / BRY__KBF_CELLS_A_KEY;
    return BRY_OK;
}

/* Whether every one of the tables can be halved to `segment`. */
static bool kbf_can_fold(const bry__kbf *const *tables, unsigned count, uint64_t segment)
{
    bry__kbf small = {.segment = segment};
    for (unsigned i = 0; i < count; i++)
        if (bry__kbf_map_shift(tables[i], &small) < 0)
            return false;
    return true;
}

/*
 * The smallest table that holds what the given ones hold, with an estimated error of at most
 * `bound`; *found: whether there is one that is smaller than they are. The formulae give a starting
 * point and the folded counters decide.
 */
static bry_status kbf_fold_to_smallest(const bry__kbf_map *map, const bry__kbf *const *tables,
                                       unsigned count, double bound, uint64_t codes,
                                       bry__kbf *folded, bool *found)
{
    uint64_t items = 0, least = tables[0]->segment, cells = 0;
    for (unsigned i = 0; i < count; i++) {
        items += tables[i]->items;
        cells += tables[i]->segment;
        if (tables[i]->segment < least)
            least = tables[i]->segment;
    }
    bry__kbf_setting setting = map->setting;
    if (codes < setting.codes)
        setting.codes = (uint32_t)codes;
    uint64_t segment = least;
    double keys = items > 0 ? (double)items : 1; /* an empty table must still hold one key */
    while (segment % 2 == 0) {
        bry__kbf_shape half = {tables[0]->hashes, segment / 2};
        bry__kbf_errors errors = bry__kbf_errors_at(&setting, &half, keys);
        if (bry__kbf_error(&errors) > bound)
            break;
        segment /= 2;
    }
    *found = false;
    for (; segment <= least && segment < cells; segment *= 2) {
        if (!kbf_can_fold(tables, count, segment))
            continue;
        bry_status status = kbf_fold_tables(map, tables, count, segment, bound, folded);
        if (status != BRY_OK)
            return status;
        if (kbf_merged_error(map, folded, codes) <= bound) {
            *found = true;
            return BRY_OK;
        }
        bry__kbf_free(folded, &map->allocator);
    }
    return BRY_OK;
}

/* One table for all, or each table by itself with a falling share of the bound. */
bry_status bry__kbf_map_compress(void *self, double max_error, uint64_t codes)
{
    bry__kbf_map *map = self;
    /* A map that may grow reserves half for further tables, as when it was created. */
    double bound = map->fixed ? max_error : max_error / 2;
    const bry__kbf *tables[BRY__KBF_TABLES] = {&map->table[0]};
    for (unsigned i = 1; i < map->tables; i++)
        tables[i] = &map->table[i];

    bry__kbf folded[BRY__KBF_TABLES];
    bool found[BRY__KBF_TABLES];
    bry_status status =
        kbf_fold_to_smallest(map, tables, map->tables, bound, codes, &folded[0], &found[0]);
    if (status != BRY_OK)
        return status;
    if (found[0]) {
        while (map->tables > 1)
            bry__kbf_map_drop(map, map->tables - 1);
        bry__kbf_map_fold_first(map, &folded[0]);
        return BRY_OK;
    }
    if (map->tables == 1)
        return BRY_OK;
    unsigned done = 0;
    for (; done < map->tables && status == BRY_OK; done++) {
        bound /= 2;
        found[done] = false;
        status =
            kbf_fold_to_smallest(map, &tables[done], 1, bound, codes, &folded[done], &found[done]);
    }
    for (unsigned i = 0; i < done; i++) {
        if (!found[i])
            continue;
        if (status != BRY_OK) {
            bry__kbf_free(&folded[i], &map->allocator);
        } else if (i == 0) {
            bry__kbf_map_fold_first(map, &folded[0]);
        } else {
            bry__kbf_free(&map->table[i], &map->allocator);
            map->table[i] = folded[i];
        }
    }
    if (status == BRY_OK)
        drop_superfluous(map);
    return status;
}
