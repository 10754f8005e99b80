/*
 * The engine compact: a maplet that holds a fingerprint and a code for each key.
 *
 * A maplet can hold several values per fingerprint; a map holds one. If two keys have the same
 * fingerprint, the later one replaces the earlier one. Nothing else can go wrong: an absent key
 * has the fingerprint of a present one with probability n / range, which is at most the error. A
 * present key shares its fingerprint with the same probability; one of the two then gets the
 * other's value.
 *
 * Codes take as many bits as the largest one needs. The maplet widens its segments one by one, so
 * that a new value never rewrites ten million keys at once.
 */
#include "frame/frame.h"
#include "map/map_engine.h"
#include "maplet/maplet.h"

#include <string.h>

#define SMALL_BATCH 64u

/* A maplet with at most one value per fingerprint in each table. */
typedef struct compact_map {
    bry__maplet maplet;
    bry__map_carried *carried; /* reports codes gained and lost; may be NULL */
    void *context;
} compact_map;

static unsigned compact_map_bits_for(uint64_t codes)
{
    unsigned bits = codes > 1 ? 64 - (unsigned)__builtin_clzll(codes - 1) : 0;
    return bits < BRY_MAP_VALUE_BITS_MAX ? bits : BRY_MAP_VALUE_BITS_MAX;
}

/* Makes room for codes below `codes` (at most 2^32). */
static void compact_map_widen(compact_map *map, uint64_t codes)
{
    if (codes > (uint64_t)1 << map->maplet.value_bits)
        bry__maplet_widen(&map->maplet, compact_map_bits_for(codes));
}

/* ---- making -------------------------------------------------------------------------------- */

static bry__maplet_options compact_map_maplet_options(const bry_map_options *options,
                                                      unsigned value_bits)
{
    return (bry__maplet_options){.capacity = options->capacity,
                                 .error = options->error,
                                 .value_bits = value_bits,
                                 .fixed = options->fixed};
}

static bry_status compact_map_plan(const bry_map_options *options, bry_map_shape *shape)
{
    if (options->value_bits > BRY_MAP_VALUE_BITS_MAX || options->values > BRY_MAP_VALUES_MAX)
        return BRY_E_RANGE;
    unsigned bits =
        options->value_bits ? options->value_bits : compact_map_bits_for(options->values);
    bry__maplet_options maplet = compact_map_maplet_options(options, bits);
    uint64_t range = bry__maplet_range(&maplet);
    if (range == 0)
        return BRY_E_RANGE;
    double shared = (double)options->capacity / (double)range;
    *shape = (bry_map_shape){
        .engine = BRY_ENGINE_COMPACT,
        .capacity = options->capacity,
        .values = options->value_bits ? 0 : options->values,
        .value_bits = bits,
        .compact.fingerprint_bits = 64 - (unsigned)__builtin_clzll(range - 1),
        .errors = {.false_positive = shared, .incorrect = shared / 2},
        .bytes = sizeof(compact_map) + bry__maplet_plan_bytes(&maplet, options->capacity),
        .bytes_empty = sizeof(compact_map),
        .grows_to = bry__maplet_most(&maplet),
    };
    return BRY_OK;
}

static bry_status compact_map_create(const bry_map_options *options, const bry_allocator *allocator,
                                     void **self)
{
    compact_map *map = bry__alloc(allocator, sizeof *map);
    if (!map)
        return BRY_E_NOMEM;
    bry__maplet_options maplet = compact_map_maplet_options(options, options->value_bits);
    bry__maplet_init(&map->maplet, &maplet, allocator); /* planned: it is in range */
    *self = map;
    return BRY_OK;
}

static void compact_map_destroy(void *self)
{
    compact_map *map = self;
    bry_allocator allocator = map->maplet.allocator;
    bry__maplet_free(&map->maplet);
    bry__free(&allocator, map, sizeof *map);
}

static bry_status compact_map_clone(const void *self, const bry_allocator *allocator, void **copy)
{
    const compact_map *map = self;
    compact_map *made = bry__alloc(allocator, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    bry_status status = bry__maplet_clone(&map->maplet, &made->maplet, allocator);
    if (status != BRY_OK) {
        bry__free(allocator, made, sizeof *made);
        return status;
    }
    *copy = made;
    return BRY_OK;
}

static void compact_map_clear(void *self, uint64_t codes)
{
    bry__maplet *maplet = &((compact_map *)self)->maplet;
    bry__maplet_clear(maplet);
    maplet->value_bits = (uint8_t)compact_map_bits_for(codes);
}

static void compact_map_like(const void *self, bry_map_options *options)
{
    (void)self;
    (void)options; /* capacity and error never change */
}

static uint64_t compact_map_items(const void *self)
{
    return bry__maplet_count(&((const compact_map *)self)->maplet);
}

static uint64_t compact_map_bytes(const void *self)
{
    return sizeof(compact_map) + bry__maplet_bytes(&((const compact_map *)self)->maplet);
}

/* ---- looking up ---------------------------------------------------------------------------- */

static bry_answer compact_map_get(const void *self, bry_hash hash, uint64_t codes, uint32_t *code)
{
    (void)codes;
    return bry__maplet_get(&((const compact_map *)self)->maplet, hash, code);
}

static void compact_map_get_n(const void *self, const bry_hash *hashes, size_t n, uint64_t codes,
                              uint32_t *codes_out, uint8_t *answers)
{
    (void)codes;
    bry__maplet_get_n(&((const compact_map *)self)->maplet, hashes, n, codes_out, answers);
}

static bool compact_map_is_blank(const void *self)
{
    return compact_map_items(self) == 0;
}

/* ---- codes in use -------------------------------------------------------------------------- */

static void compact_map_watch(void *self, bry__map_carried *carried, void *context)
{
    compact_map *map = self;
    map->carried = carried;
    map->context = context;
}

static void compact_map_report(const compact_map *map, uint32_t code, bool got)
{
    if (map->carried)
        map->carried(map->context, code, got);
}

typedef struct report_target {
    const compact_map *map;
} report_target;

static void compact_map_report_got(void *context, uint32_t code)
{
    compact_map_report(((const report_target *)context)->map, code, true);
}

static void compact_map_recount(const void *self)
{
    report_target to = {self};
    bry__maplet_tell_values(&to.map->maplet, compact_map_report_got, &to);
}

/* ---- changing ------------------------------------------------------------------------------ */

/* Reports the code that a key got, and the one it lost if it was there. */
static void compact_map_report_change(const compact_map *map, uint32_t code, bry_answer was,
                                      uint32_t before)
{
    compact_map_report(map, code, true);
    if (was == BRY_PRESENT)
        compact_map_report(map, before, false);
}

/* Reports the codes that the keys gained and lost; absent keys gained one unless `updating`. */
static void compact_map_report_n(const compact_map *map, const uint32_t *codes_in, size_t n,
                                 const uint32_t *old, const uint8_t *was, bool updating)
{
    for (size_t i = 0; i < n; i++)
        if (!updating || was[i] == BRY_PRESENT)
            compact_map_report(map, codes_in[i], true);
    for (size_t i = 0; i < n; i++)
        if (was[i] == BRY_PRESENT)
            compact_map_report(map, old[i], false);
}

/* Sets the keys, or only those that have a code if `updating`, with room for codes below `codes`.
 * On failure the width is as before. */
static bry_status compact_map_change(compact_map *map, const bry_hash *hashes,
                                     const uint32_t *codes_in, size_t n, uint64_t codes,
                                     bool updating, uint32_t *old, uint8_t *was)
{
    bry__maplet *maplet = &map->maplet;
    unsigned bits = maplet->value_bits;
    compact_map_widen(map, codes);
    bry_status status = updating ? bry__maplet_update_n(maplet, hashes, codes_in, n, old, was)
                                 : bry__maplet_upsert_n(maplet, hashes, codes_in, n, old, was);
    if (status == BRY_OK)
        compact_map_report_n(map, codes_in, n, old, was, updating);
    else
        bry__maplet_narrow(maplet, bits);
    return status;
}

static bry_status compact_map_set_one(compact_map *map, bry_hash hash, uint32_t code,
                                      uint64_t codes, uint8_t *was)
{
    unsigned bits = map->maplet.value_bits;
    bry_answer answer;
    uint32_t before;
    compact_map_widen(map, codes);
    bry_status status = bry__maplet_upsert(&map->maplet, hash, code, &answer, &before);
    if (status != BRY_OK) {
        bry__maplet_narrow(&map->maplet, bits);
        return status;
    }
    compact_map_report_change(map, code, answer, before);
    if (was)
        *was = (uint8_t)answer;
    return BRY_OK;
}

static bry_status compact_map_change_n(compact_map *map, const bry_hash *hashes,
                                       const uint32_t *codes_in, size_t n, uint64_t codes,
                                       bool updating, uint8_t *was)
{
    const bry_allocator *allocator = &map->maplet.allocator;
    uint32_t small_old[SMALL_BATCH];
    uint8_t small_was[SMALL_BATCH];
    if (n <= SMALL_BATCH) {
        bry_status status =
            compact_map_change(map, hashes, codes_in, n, codes, updating, small_old, small_was);
        if (status == BRY_OK && was)
            memcpy(was, small_was, n);
        return status;
    }
    if (n > SIZE_MAX / sizeof *small_old)
        return BRY_E_NOMEM;
    uint32_t *old = bry__alloc_buffer(allocator, n * sizeof *old);
    uint8_t *answers = bry__alloc_buffer(allocator, n);
    bry_status status = BRY_E_NOMEM;
    if (old && answers)
        status = compact_map_change(map, hashes, codes_in, n, codes, updating, old, answers);
    if (status == BRY_OK && was)
        memcpy(was, answers, n);
    bry__free(allocator, old, n * sizeof *old);
    bry__free(allocator, answers, n);
    return status;
}

static bry_status compact_map_set_n(void *self, const bry_hash *hashes, const uint32_t *codes_in,
                                    size_t n, uint64_t codes, uint8_t *was)
{
    return n == 1 ? compact_map_set_one(self, *hashes, *codes_in, codes, was)
                  : compact_map_change_n(self, hashes, codes_in, n, codes, false, was);
}

static bry_status compact_map_update_n(void *self, const bry_hash *hashes, const uint32_t *codes_in,
                                       size_t n, uint64_t codes, uint8_t *was)
{
    return compact_map_change_n(self, hashes, codes_in, n, codes, true, was);
}

static void compact_map_report_lost(void *context, uint32_t code)
{
    compact_map_report(context, code, false);
}

/* Deletes every entry of the key: after a merge, an older table may hold one that a newer one
 * hides. */
static bool compact_map_del_all(compact_map *map, bry_hash hash, bool fetched)
{
    return bry__maplet_take_all(&map->maplet, hash, fetched, compact_map_report_lost, map) > 0;
}

static bry_status compact_map_del_n(void *self, const bry_hash *hashes, size_t n, uint64_t codes,
                                    uint8_t *was)
{
    compact_map *map = self;
    (void)codes;
    for (size_t i = 0; i < n; i++) {
        if (i % BRY__TABLE_ROUND == 0 && n > 1)
            bry__maplet_prefetch_n(&map->maplet, hashes + i,
                                   n - i < BRY__TABLE_ROUND ? n - i : BRY__TABLE_ROUND, true);
        bool removed = compact_map_del_all(map, hashes[i], n > 1);
        if (was)
            was[i] = removed ? BRY_PRESENT : BRY_ABSENT;
    }
    return BRY_OK;
}

static bry_status compact_map_update(void *self, bry_hash hash, uint32_t code, uint64_t codes,
                                     bry_answer *was)
{
    compact_map *map = self;
    unsigned bits = map->maplet.value_bits;
    uint32_t before;
    compact_map_widen(map, codes);
    bry_status status = bry__maplet_update(&map->maplet, hash, code, was, &before);
    if (status == BRY_OK && *was == BRY_PRESENT)
        compact_map_report_change(map, code, *was, before);
    else
        bry__maplet_narrow(&map->maplet, bits);
    return status;
}

static bry_answer compact_map_del_pair(void *self, bry_hash hash, uint32_t code, uint64_t codes)
{
    compact_map *map = self;
    uint32_t before;
    (void)codes;
    if (bry__maplet_get(&map->maplet, hash, &before) != BRY_PRESENT || before != code)
        return BRY_ABSENT;
    compact_map_del_all(map, hash, true); /* get has read it */
    return BRY_PRESENT;
}

/* ---- statistics, saving -------------------------------------------------------------------- */

static void compact_map_stats(const void *self, uint64_t codes, bry_map_stats *stats)
{
    const bry__maplet *maplet = &((const compact_map *)self)->maplet;
    (void)codes;
    double shared = bry__maplet_error_now(maplet);
    stats->items = bry__maplet_count(maplet);
    stats->tables = maplet->tables ? maplet->tables : 1;
    stats->load = (double)stats->items / bry__maplet_planned(maplet);
    stats->estimated.false_positive = shared;
    stats->estimated.incorrect = shared / 2;
}

static void compact_map_write(const void *self, struct bry__frame_writer *writer)
{
    bry__maplet_write(&((const compact_map *)self)->maplet, writer);
}

static const char *compact_map_check_code(void *context, unsigned table, uint32_t code)
{
    const uint64_t *codes = context;
    (void)table;
    return code < *codes ? NULL : "a key has a code without a value";
}

/* NULL if the maplet matches the map's options. */
static const char *compact_map_mismatch(const bry__maplet *maplet, const bry_map_options *options)
{
    if (maplet->chain.first_capacity != options->capacity ||
        maplet->chain.error != options->error || maplet->chain.fixed != options->fixed)
        return "the table's options do not match the map";
    if (options->value_bits && maplet->value_bits != options->value_bits)
        return "the width of the codes does not match the map";
    return NULL;
}

static bry_status compact_map_read(const bry_map_options *options, uint64_t codes,
                                   struct bry__frame_reader *reader, const bry_allocator *allocator,
                                   void **self)
{
    compact_map *map = bry__frame_reader_alloc(reader, allocator, sizeof *map);
    if (!map)
        return reader->status;
    bry__entry_visit visit = {.value = compact_map_check_code, .context = &codes, .single = true};
    bry_status status = bry__maplet_read(&map->maplet, reader, allocator, &visit);
    if (status != BRY_OK) {
        bry__free(allocator, map, sizeof *map);
        return status;
    }
    const char *problem = compact_map_mismatch(&map->maplet, options);
    if (problem) {
        compact_map_destroy(map);
        return bry__frame_reader_bad(reader, problem);
    }
    *self = map;
    return BRY_OK;
}

/* ---- merging and folding ------------------------------------------------------------------- */

static bry_status compact_map_merge(void *into, const void *from, const uint32_t *recode,
                                    uint64_t codes)
{
    compact_map *to = into;
    const compact_map *other = from;
    unsigned bits = to->maplet.value_bits;
    compact_map_widen(to, codes);
    bry_status status = bry__maplet_merge(&to->maplet, &other->maplet, BRY__MERGE_REPLACE, recode);
    if (status != BRY_OK)
        bry__maplet_narrow(&to->maplet, bits);
    return status;
}

static bry_status compact_map_compress(void *self, double max_error, uint64_t codes)
{
    bry__maplet *maplet = &((compact_map *)self)->maplet;
    (void)codes;
    uint64_t n = bry__maplet_count(maplet);
    double shared = (double)n / (double)maplet->chain.range; /* if all are in the first table */
    bool fits = n <= maplet->chain.first_capacity && 1.5 * shared <= max_error;
    bry_status status = fits ? bry__maplet_fold_all(maplet) : BRY_OK;
    if (status == BRY_OK)
        bry__maplet_trim(maplet);
    return status;
}

/* ---- sweeping: each entry is kept, changed or deleted by its value -------------------------- */

typedef struct compact_sweep {
    compact_map *map;
    bry__map_judged *judged;
    void *context;
} compact_sweep;

static bry_status compact_map_judge(void *context, uint32_t code, bry__verdict *verdict,
                                    uint32_t *to)
{
    const compact_sweep *sweep = context;
    bry_map_verdict found = BRY_MAP_KEEP;
    bry_status status = sweep->judged(sweep->context, code, &found, to);
    if (status == BRY_OK && found == BRY_MAP_CHANGE) {
        compact_map_widen(sweep->map, (uint64_t)*to + 1);
        *verdict = BRY__CHANGE;
    } else if (status == BRY_OK && found == BRY_MAP_DEL) {
        *verdict = BRY__DROP;
    }
    return status;
}

static void compact_map_judged(void *context, uint32_t code, bry__verdict verdict, uint32_t to)
{
    const compact_map *map = ((const compact_sweep *)context)->map;
    if (!map->carried)
        return;
    if (verdict == BRY__CHANGE)
        map->carried(map->context, to, true);
    map->carried(map->context, code, false);
}

static bry_status compact_map_sweep(void *self, bry__map_judged *judged, void *context,
                                    uint64_t budget, uint64_t *cursor)
{
    compact_sweep sweep = {self, judged, context};
    bry__visitor visitor = {compact_map_judge, compact_map_judged, &sweep};
    return bry__maplet_visit(&sweep.map->maplet, &visitor, budget, cursor);
}

const bry__map_engine bry__compact_map_engine = {
    .engine = BRY_ENGINE_COMPACT,
    .plan = compact_map_plan,
    .create = compact_map_create,
    .destroy = compact_map_destroy,
    .clone = compact_map_clone,
    .clear = compact_map_clear,
    .like = compact_map_like,
    .items = compact_map_items,
    .bytes = compact_map_bytes,
    .get = compact_map_get,
    .get_n = compact_map_get_n,
    .is_blank = compact_map_is_blank,
    .watch = compact_map_watch,
    .recount = compact_map_recount,
    .set_n = compact_map_set_n,
    .del_n = compact_map_del_n,
    .update = compact_map_update,
    .update_n = compact_map_update_n,
    .del_pair = compact_map_del_pair,
    .merge = compact_map_merge,
    .recodes = true,
    .compress = compact_map_compress,
    .sweep = compact_map_sweep,
    .stats = compact_map_stats,
    .write = compact_map_write,
    .read = compact_map_read,
};
