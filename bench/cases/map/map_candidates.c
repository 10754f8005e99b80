#include "bench/cases/map/map_phases.h"

#include <math.h>
#include <stdlib.h>

#define CHURN 20u /* one in this many keys is deleted */

/* ---- pairs --------------------------------------------------------------------------------- */

static bool allocate_map_data(map_data *data, uint32_t values)
{
    data->added_value = malloc(data->count * sizeof *data->added_value);
    data->hit_value = malloc(data->count * sizeof *data->hit_value);
    data->new_value = malloc(data->count * sizeof *data->new_value);
    data->bytes = malloc(values * sizeof *data->bytes);
    return data->added_value && data->hit_value && data->new_value && data->bytes;
}

bool map_data_make(map_data *data, uint64_t count, uint32_t values, double skew, double top)
{
    *data = (map_data){.count = count, .churn = count / CHURN};
    if (!allocate_map_data(data, values) || !value_mix_make(&data->mix, values, skew, top) ||
        !bench_keys_make(&data->keys, count)) {
        map_data_free(data);
        return false;
    }
    data->added = (const bry_hash *)(const void *)data->keys.added;
    data->hits = (const bry_hash *)(const void *)data->keys.hits;
    data->misses = (const bry_hash *)(const void *)data->keys.misses;
    /* The values depend only on the keys, not on their order, and in a way that no engine
     * exploits. */
    for (uint64_t i = 0; i < count; i++) {
        uint64_t added = data->added[i].lo ^ data->added[i].hi;
        uint64_t hit = data->hits[i].lo ^ data->hits[i].hi;
        data->added_value[i] = value_mix_draw(&data->mix, bench_random(added));
        data->hit_value[i] = value_mix_draw(&data->mix, bench_random(hit));
        data->new_value[i] = value_mix_draw(&data->mix, bench_random(~hit));
    }
    for (uint32_t i = 0; i < values; i++) {
        data->bytes[i][0] = i;
        data->bytes[i][1] = bench_random(i);
    }
    return true;
}

void map_data_free(map_data *data)
{
    bench_keys_free(&data->keys);
    value_mix_free(&data->mix);
    free(data->added_value);
    free(data->hit_value);
    free(data->new_value);
    free(data->bytes);
    *data = (map_data){0};
}

/* ---- options ------------------------------------------------------------------------------- */

static uint32_t bits_for(uint64_t values)
{
    uint32_t bits = 1;
    while (values > (uint64_t)1 << bits)
        bits++;
    return bits;
}

bry_status map_options_for(const map_settings *settings, uint64_t items, double error, bool grow,
                           bry_map_options *options, bry_map_shape *shape)
{
    bool kbf = settings->engine == BRY_ENGINE_KBF;
    *options = (bry_map_options){
        .struct_size = sizeof *options,
        .engine = settings->engine,
        .fixed = !grow,
        .capacity = items,
        .error = error,
        .value_bits = settings->raw ? bits_for(settings->values) : 0,
        .values = settings->values,
        .seed = MAP_SEED,
        .kbf.layout = kbf ? settings->layout : BRY_MAP_TUNED,
    };
    *shape = (bry_map_shape){0};
    bry_status status = bry_map_plan(options, shape);
    if (status == BRY_OK && settings->size != 1) {
        double segment = ceil((double)shape->kbf.cells / shape->kbf.hashes * settings->size);
        options->kbf.cells = (uint64_t)fmax(segment, 1) * shape->kbf.hashes;
        options->kbf.hashes = shape->kbf.hashes;
        status = bry_map_plan(options, shape);
    }
    if (status == BRY_OK && map_settings_papers(settings))
        shape->errors = map_paper_errors(settings, items, shape);
    return status;
}

bool map_work_make(map_work *work, const map_data *data, const map_settings *settings,
                   const bry_map_options *options, size_t batch, map_record *record)
{
    *record = (map_record){0};
    *work = (map_work){
        .data = data,
        .options = *options,
        .settings = *settings,
        .batch = batch,
        .answers_value = malloc(batch * sizeof *work->answers_value),
        .numbers = malloc(batch * sizeof *work->numbers),
        .answers = malloc(batch),
        .record = record,
    };
    return work->answers_value && work->numbers && work->answers;
}

void map_work_free(map_work *work)
{
    free(work->answers_value);
    free(work->numbers);
    free(work->answers);
    *work = (map_work){0};
}

/* ---- the library's map --------------------------------------------------------------------- */

static void *map_make(const void *work)
{
    bry_map *map = NULL;
    return bry_map_create(&((const map_work *)work)->options, &map) == BRY_OK ? map : NULL;
}

static void map_drop(void *state)
{
    bry_map_destroy(state);
}

MAP_INLINE bry_map_value value_of(const map_work *work, uint32_t number)
{
    return work->settings.raw ? bry_map_value_number(number)
                              : bry_map_value_bytes(work->data->bytes[number], MAP_VALUE_BYTES);
}

/* Reads the bytes, as a user of the value would. */
MAP_INLINE uint32_t number_of(const map_work *work, const bry_map_value *value)
{
    uint64_t words[MAP_VALUE_BYTES / 8];
    if (work->settings.raw)
        return (uint32_t)value->number;
    if (value->len != MAP_VALUE_BYTES)
        return UINT32_MAX;
    memcpy(words, value->bytes, MAP_VALUE_BYTES);
    return words[1] == bench_random(words[0]) ? (uint32_t)words[0] : UINT32_MAX;
}

static bool library_map_insert(const map_work *work, void *state, bry_hash hash, uint32_t number)
{
    return bry_map_add(state, hash, value_of(work, number)) == BRY_OK;
}

static bry_answer library_map_update(const map_work *work, void *state, bry_hash hash,
                                     uint32_t number)
{
    bry_answer was = BRY_ABSENT;
    return bry_map_update(state, hash, value_of(work, number), &was) == BRY_OK ? was : BRY_UNSURE;
}

static bry_answer library_map_del(const map_work *work, void *state, bry_hash hash)
{
    (void)work;
    bry_answer was = BRY_ABSENT;
    return bry_map_del(state, hash, &was) == BRY_OK ? was : BRY_UNSURE;
}

static bry_answer library_map_get(const map_work *work, const void *state, bry_hash hash,
                                  uint32_t *number)
{
    bry_map_value value;
    bry_answer answer = bry_map_get(state, hash, &value);
    if (answer == BRY_PRESENT)
        *number = number_of(work, &value);
    return answer;
}

static void library_map_get_n(const map_work *work, const void *state, const bry_hash *hashes,
                              size_t n)
{
    bry_map_get_n(state, hashes, n, work->answers_value, work->answers);
    for (size_t i = 0; i < n; i++)
        work->numbers[i] =
            work->answers[i] == BRY_PRESENT ? number_of(work, &work->answers_value[i]) : UINT32_MAX;
}

static void library_map_measure(const map_work *work, const void *state, map_record *record)
{
    (void)work;
    bry_map_stats stats = {0};
    bry_map_get_stats(state, &stats);
    record->bytes = stats.bytes;
    record->bytes_main = stats.bytes_keys;
    record->estimated = stats.estimated;
    for (int i = 0; i < 8; i++)
        record->cells += stats.kbf.cells[i];
}

static bool library_map_run(const void *work, void *state, unsigned phase, bench_watch *watch,
                            uint64_t *found)
{
    static const map_calls calls = {library_map_insert, library_map_update, library_map_del,
                                    library_map_get,    library_map_get_n,  library_map_measure};
    return map_run(work, state, calls, phase, watch, found);
}

const bench_candidate candidate_map = {"map", map_make, map_drop, library_map_run, 0};
