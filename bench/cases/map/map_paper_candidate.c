/* kBF almost as published. It has no batches, and its values are numbers. */
#include "bench/cases/map/map_phases.h"

#include "map/kbf/field.h"
#include "papers/greedy.h"
#include "papers/paper_plan.h"

#include <stdlib.h>

#define INDEX_ERROR 1e-4 /* of the greedy encoder's filters of encodings and pairs */

typedef struct paper_map {
    bry_allocator allocator;
    bry__gf gf;
    bry__greedy greedy;
    bry__paper_kbf kbf;
    bool has_gf, has_greedy, has_kbf;
} paper_map;

static void paper_drop(void *state)
{
    paper_map *map = state;
    if (map->has_kbf)
        bry__paper_kbf_free(&map->kbf, &map->allocator);
    if (map->has_greedy)
        bry__greedy_free(&map->greedy);
    if (map->has_gf)
        bry__gf_free(&map->gf, &map->allocator);
    free(map);
}

static bool make_encoder(paper_map *map, const map_work *work, bry__encoder *encoder)
{
    uint32_t values = work->data->mix.count;
    if (work->settings.greedy) {
        map->has_greedy = bry__greedy_search(&map->greedy, values, 0, &map->allocator) == BRY_OK;
        if (!map->has_greedy)
            return false;
        bool pairs = work->settings.decode > BRY__PAPER_PAIRS;
        bry_status status = pairs ? bry__greedy_index(&map->greedy, INDEX_ERROR)
                                  : bry__greedy_index_singles(&map->greedy, INDEX_ERROR);
        if (status != BRY_OK)
            return false;
        *encoder = bry__greedy_encoder(&map->greedy);
    } else {
        map->has_gf = bry__gf_init(&map->gf, bry__gf_bits_for(values), &map->allocator) == BRY_OK;
        if (!map->has_gf)
            return false;
        *encoder = bry__algebraic_encoder(&map->gf);
    }
    return true;
}

static void *paper_make(const void *opaque)
{
    const map_work *work = opaque;
    bry_map_shape shape = {0};
    bry__encoder encoder;
    paper_map *map = calloc(1, sizeof *map);
    if (!map)
        return NULL;
    map->allocator = bry__allocator_or_default(NULL);
    if (make_encoder(map, work, &encoder) && bry_map_plan(&work->options, &shape) == BRY_OK)
        map->has_kbf =
            bry__paper_kbf_init(&map->kbf, &encoder, shape.kbf.hashes,
                                shape.kbf.cells / shape.kbf.hashes, &map->allocator) == BRY_OK;
    if (map->has_kbf) {
        map->kbf.gf = map->has_gf ? &map->gf : NULL;
        map->kbf.masked = !work->settings.unmasked;
        return map;
    }
    paper_drop(map);
    return NULL;
}

static bool paper_map_insert(const map_work *work, void *state, bry_hash hash, uint32_t number)
{
    (void)work;
    bry__paper_kbf_insert(&((paper_map *)state)->kbf, hash, number);
    return true;
}

MAP_INLINE bry__paper_level level_of(const map_settings *settings)
{
    return settings->decode == 4                 ? BRY__PAPER_CONSISTENT
           : settings->decode == MAP_DECODE_SETS ? BRY__PAPER_SETS
                                                 : (bry__paper_level)settings->decode;
}

static bry_answer paper_map_update(const map_work *work, void *state, bry_hash hash,
                                   uint32_t number)
{
    return bry__paper_kbf_update(&((paper_map *)state)->kbf, hash, level_of(&work->settings),
                                 work->data->mix.count, number);
}

static bry_answer paper_map_del(const map_work *work, void *state, bry_hash hash)
{
    return bry__paper_kbf_delete(&((paper_map *)state)->kbf, hash, level_of(&work->settings),
                                 work->data->mix.count);
}

static bry_answer paper_map_get(const map_work *work, const void *state, bry_hash hash,
                                uint32_t *number)
{
    return bry__paper_kbf_get(&((const paper_map *)state)->kbf, hash, level_of(&work->settings),
                              work->data->mix.count, number);
}

static void paper_map_get_n(const map_work *work, const void *state, const bry_hash *hashes,
                            size_t n)
{
    for (size_t i = 0; i < n; i++)
        work->answers[i] = (uint8_t)paper_map_get(work, state, hashes[i], &work->numbers[i]);
}

static void paper_map_measure(const map_work *work, const void *state, map_record *record)
{
    const paper_map *map = state;
    bry_map_shape shape = {0};
    record->cells = map->kbf.hashes * map->kbf.segment;
    record->bytes_main = record->bytes = record->cells * sizeof(uint32_t);
    if (map->has_greedy)
        record->bytes += map->greedy.count * sizeof *map->greedy.code +
                         (map->greedy.singles.bits + map->greedy.pairs.bits) / 8;
    else
        record->bytes += bry__gf_bytes(map->gf.bits);
    if (bry_map_plan(&work->options, &shape) == BRY_OK)
        record->estimated = map_paper_errors(&work->settings, work->data->count, &shape);
}

bry_map_errors map_paper_errors(const map_settings *settings, uint64_t items,
                                const bry_map_shape *shape)
{
    bry__kbf_shape table = {shape->kbf.hashes, shape->kbf.cells / shape->kbf.hashes};
    uint32_t values = (uint32_t)settings->values;
    const bry__paper_setting setting = {
        .level = level_of(settings),
        .masked = !settings->unmasked,
        .order = ((uint32_t)1 << bry__gf_bits_for(values)) - 1,
        .codes = values,
        .pairs = settings->greedy ? bry__greedy_pair_share(values) : 0.5,
    };
    return bry__paper_errors_at(&setting, &table, (double)items);
}

static bool paper_map_run(const void *work, void *state, unsigned phase, bench_watch *watch,
                          uint64_t *found)
{
    static const map_calls calls = {paper_map_insert, paper_map_update, paper_map_del,
                                    paper_map_get,    paper_map_get_n,  paper_map_measure};
    return map_run(work, state, calls, phase, watch, found);
}

const bench_candidate candidate_paper_map = {"map of the papers", paper_make, paper_drop,
                                             paper_map_run, MAP_NO_BATCH};
