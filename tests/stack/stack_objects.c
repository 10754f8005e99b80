#include "stack/stack_objects.h"

#include "filter/filter_object.h"
#include "hash/derive.h"
#include "map/map_object.h"
#include "maplet/maplet.h"
#include "support/cmocka_all.h"
#include "support/dir_helpers.h"
#include "support/generator.h"
#include "support/job_calls.h"

#include <bloomery.h>
#include <stdlib.h>
#include <string.h>

/* Enough for areas (maplet/arena/), in batches and one by one. */
enum { MANY = 60000, BATCH = 20000, SINGLY = 3000, FEW = 300 };

static bry_hash hashes[MANY];
static uint8_t answers[MANY];

#define OK(call) assert_int_equal((call), BRY_OK)

static void make_hashes(uint64_t seed)
{
    generator numbers = {seed};
    for (size_t i = 0; i < MANY; i++)
        hashes[i] = generator_hash(&numbers);
}

/* Hashes whose fingerprints end with many zeros; the last FEW are equal. */
static void make_uneven(uint64_t range)
{
    unsigned bits = 0;
    while (range >> (bits + 1) >= MANY)
        bits++;
    for (uint64_t i = 0; i < MANY; i++) {
        uint64_t fingerprint = (i < MANY - FEW ? i : MANY - FEW) << bits;
        uint64_t hi = (uint64_t)((long double)fingerprint / (long double)range * 0x1p64L);
        while (bry__fingerprint((bry_hash){0, hi}, range) < fingerprint)
            hi++;
        hashes[i] = (bry_hash){i, hi};
        assert_true(bry__fingerprint(hashes[i], range) == fingerprint);
    }
}

/* Saves, loads and clones an object in every way that all jobs have; destroys it. */
#define FINISH(job)                                                                                \
    static void finish_##job(bry_##job *object)                                                    \
    {                                                                                              \
        char path[] = "/tmp/bloomery-stack-XXXXXX";                                                \
        int fd = mkstemp(path);                                                                    \
        assert_true(fd >= 0);                                                                      \
        close(fd);                                                                                 \
        bry_##job *copy = NULL, *loaded = NULL, *from_file = NULL;                                 \
        OK(bry_##job##_clone(object, NULL, &copy));                                                \
        bry_buffer saved = BRY_BUFFER;                                                             \
        bry_sink sink = bry_buffer_sink(&saved);                                                   \
        OK(bry_##job##_save(copy, &sink, NULL));                                                   \
        assert_true(bry_##job##_items(copy) == bry_##job##_items(object));                         \
        bry_##job##_destroy(copy);                                                                 \
        bry_view view = {saved.bytes, saved.len, 0};                                               \
        bry_source source = bry_view_source(&view);                                                \
        OK(bry_##job##_load(&source, NULL, &loaded));                                              \
        OK(bry_##job##_save_file(loaded, path, NULL));                                             \
        bry_##job##_destroy(loaded);                                                               \
        OK(bry_##job##_load_file(path, NULL, &from_file));                                         \
        assert_true(bry_##job##_bytes(from_file) > 0);                                             \
        bry_##job##_destroy(from_file);                                                            \
        bry_buffer_free(&saved);                                                                   \
        unlink(path);                                                                              \
        bry_##job##_destroy(object);                                                               \
    }

FINISH(filter)
FINISH(map)
FINISH(window)
FINISH(counters)
FINISH(index)

/* ---- filters -------------------------------------------------------------------------------- */

static bry_filter *make_filter(bry_engine engine, double error)
{
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.engine = engine;
    options.capacity = MANY;
    options.error = error;
    options.seed = 1;
    bry_filter *filter = NULL;
    bry_filter_shape shape;
    OK(bry_filter_plan(&options, &shape));
    OK(bry_filter_create(&options, &filter));
    return filter;
}

static void use_filter(bry_engine engine, double error)
{
    make_hashes(1);
    bry_filter *filter = make_filter(engine, error), *other = make_filter(engine, error);
    for (size_t i = 0; i < MANY - SINGLY; i += FEW)
        OK(bry_filter_add_n(filter, hashes + i, FEW, answers));
    for (size_t i = MANY - SINGLY; i < MANY; i++)
        OK(bry_filter_add(filter, hashes[i], NULL));
    OK(bry_filter_add_n(other, hashes, BATCH, NULL));
    OK(bry_filter_merge(other, filter));
    bry_filter_has_n(filter, hashes, MANY, answers);
    assert_true(bry_filter_seed(filter) == 1 && bry_filter_engine(filter) == engine &&
                bry_filter_capacity(filter) == MANY);
    if (engine == BRY_ENGINE_COMPACT) {
        for (size_t i = 0; i < SINGLY; i++)
            OK(bry_filter_del(other, hashes[i], NULL));
        for (size_t i = SINGLY; i < MANY - FEW; i += FEW)
            OK(bry_filter_del_n(other, hashes + i, FEW, answers));
    }
    finish_filter(other);
    bry_filter_clear(filter);
    finish_filter(filter);
}

static void use_uneven_filter(void)
{
    bry_filter *filter = make_filter(BRY_ENGINE_COMPACT, 1e-9);
    make_uneven(filter->compact.chain.range);
    for (size_t i = 0; i < MANY; i += FEW)
        OK(bry_filter_add_n(filter, hashes + i, FEW, NULL));
    for (size_t i = 0; i < MANY - FEW; i += 3)
        OK(bry_filter_del(filter, hashes[i], NULL));
    finish_filter(filter);
}

void use_large_filters(void)
{
    use_filter(BRY_ENGINE_BLOOM, 1e-3);
    use_filter(BRY_ENGINE_COMPACT, 1e-9);
    use_filter(BRY_ENGINE_COMPACT, 1e-2);
    use_filter(BRY_ENGINE_COMPACT, 0.5);
    use_uneven_filter();
}

/* ---- maps ----------------------------------------------------------------------------------- */

static bry_map_value values[MANY];

static bry_map *make_map(bry_engine engine, unsigned value_bits, uint64_t capacity)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    options.engine = engine;
    options.capacity = capacity;
    options.value_bits = value_bits;
    options.values = engine == BRY_ENGINE_KBF ? 200 : 0;
    options.seed = 1;
    bry_map *map = NULL;
    bry_map_shape shape;
    OK(bry_map_plan(&options, &shape));
    OK(bry_map_create(&options, &map));
    return map;
}

/* Numbers, or `different` byte strings. */
static void make_values(unsigned value_bits, size_t different)
{
    static uint64_t bytes[MANY];
    for (size_t i = 0; i < MANY; i++) {
        bytes[i] = i % different;
        values[i] = value_bits
                        ? bry_map_value_number((i * 2654435761u) & ((1ull << value_bits) - 1))
                        : bry_map_value_bytes(&bytes[i], sizeof bytes[i]);
    }
}

static bry_status supply_pairs(void *opaque, uint64_t from, bry_hash *to, bry_map_value *value,
                               size_t room, size_t *got)
{
    (void)opaque;
    for (*got = 0; *got < room && from + *got < BATCH; ++*got) {
        to[*got] = hashes[from + *got];
        value[*got] = values[from + *got];
    }
    return BRY_OK;
}

/* Deletes half of the values, and changes others. */
static bry_map_verdict judge_number(void *opaque, bry_map_value value, bry_map_value *changed)
{
    uint64_t *judged = opaque;
    uint64_t bits = value.number;
    if (value.bytes)
        memcpy(&bits, value.bytes, sizeof bits);
    changed->bytes = value.bytes ? "other" : NULL;
    changed->len = value.bytes ? 5 : 0;
    changed->number = value.bytes ? 0 : 1;
    return ++*judged % 5 == 0 ? BRY_MAP_CHANGE : bits % 2 ? BRY_MAP_DEL : BRY_MAP_KEEP;
}

static void use_compact_map(bry_map *map, bry_map *other)
{
    uint64_t cursor = 0, judged = 0;
    bry_map_judge judge = {judge_number, &judged};
    for (size_t i = 0; i < SINGLY; i++)
        OK(bry_map_del_pair(other, hashes[i], values[i], NULL));
    OK(bry_map_add_n(map, hashes, values, BATCH));
    for (size_t i = BATCH; i < BATCH + FEW; i++)
        OK(bry_map_add(map, hashes[i], values[i]));
    OK(bry_map_del_n(map, hashes, BATCH, answers));
    do
        OK(bry_map_sweep(map, &judge, 1000, &cursor));
    while (cursor != 0);
    for (size_t i = BATCH; i < MANY; i += FEW)
        OK(bry_map_del_n(other, hashes + i, FEW, answers));
}

static void use_map(bry_engine engine, unsigned value_bits, size_t different, uint64_t capacity)
{
    bry_map_supplier supplier = {supply_pairs, NULL};
    make_hashes(2);
    make_values(value_bits, different);
    bry_map *map = make_map(engine, value_bits, capacity), *other = NULL;
    size_t n = engine == BRY_ENGINE_KBF ? BATCH : MANY;
    for (size_t i = 0; i < n - SINGLY; i += FEW)
        OK(bry_map_set_n(map, hashes + i, values + i, FEW, answers));
    OK(bry_map_create_like(map, NULL, &other));
    for (size_t i = n - SINGLY; i < n; i++)
        OK(bry_map_set(map, hashes[i], values[i], NULL));
    for (size_t i = 0; i < FEW; i++)
        OK(bry_map_update(map, hashes[i], values[i + 1], NULL));
    OK(bry_map_update_n(map, hashes, values, n / 2, answers));
    if (engine == BRY_ENGINE_COMPACT)
        OK(bry_map_set_n(other, hashes, values, n / 2, NULL));
    OK(bry_map_merge(other, map));
    static bry_map_value got[MANY];
    bry_map_get_n(map, hashes, n, got, answers);
    static uint64_t numbers[MANY];
    assert_true(bry_map_engine(map) == engine && bry_map_capacity(map) > 0);
    if (bry_map_value_bits(map))
        OK(bry_map_get_numbers_n(map, hashes, n, numbers, answers));
    if (engine == BRY_ENGINE_COMPACT)
        use_compact_map(map, other);
    for (size_t i = n / 2; i < n / 2 + SINGLY; i++)
        OK(bry_map_del(map, hashes[i], NULL));
    OK(bry_map_compress(map, 1));
    OK(bry_map_rebuild(other, &supplier));
    finish_map(other);
    bry_map *copy = NULL;
    OK(bry_map_clone(map, NULL, &copy));
    bry_map_clear(copy);
    bry_map_destroy(copy);
    finish_map(map);
}

static void use_uneven_map(unsigned value_bits, uint64_t capacity)
{
    uint64_t cursor = 0, judged = 0;
    bry_map_judge judge = {judge_number, &judged};
    bry_map *map = make_map(BRY_ENGINE_COMPACT, value_bits, capacity);
    const bry__maplet *maplet = map->keys; /* the first field of the engine */
    make_uneven(maplet->chain.range);
    make_values(value_bits, BATCH);
    for (size_t i = 0; i < BATCH; i += FEW)
        OK(bry_map_set_n(map, hashes + i, values + i, FEW, NULL));
    for (size_t i = MANY - FEW; i < MANY; i++)
        OK(bry_map_add(map, hashes[i], values[i]));
    do
        OK(bry_map_sweep(map, &judge, 1000, &cursor));
    while (cursor != 0);
    for (size_t i = 0; i < BATCH - FEW; i += 3)
        OK(bry_map_del(map, hashes[i], NULL));
    OK(bry_map_compress(map, 0));
    finish_map(map);
}

void use_large_maps(void)
{
    use_map(BRY_ENGINE_COMPACT, 32, 1, MANY);
    use_map(BRY_ENGINE_COMPACT, 4, 1, 1000); /* grows */
    use_map(BRY_ENGINE_COMPACT, 0, 50, MANY);
    use_map(BRY_ENGINE_COMPACT, 0, MANY, MANY);
    use_map(BRY_ENGINE_KBF, 4, 1, MANY);
    use_map(BRY_ENGINE_KBF, 0, 150, MANY);
    use_uneven_map(32, UINT64_C(1) << 32);
    use_uneven_map(0, MANY);
}

/* ---- windows -------------------------------------------------------------------------------- */

static bry_window *make_window(bry_engine engine)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.engine = engine;
    options.window = 1000;
    options.capacity = MANY;
    options.start = 1000;
    options.seed = 1;
    bry_window *window = NULL;
    bry_window_shape shape;
    OK(bry_window_plan(&options, &shape));
    OK(bry_window_create(&options, &window));
    assert_true(bry_window_seed(window) == 1 && bry_window_engine(window) == engine &&
                bry_window_capacity(window) == MANY);
    return window;
}

static void use_window(bry_engine engine)
{
    make_hashes(3);
    bry_window *window = make_window(engine), *other = make_window(engine);
    uint64_t now = 1000;
    for (size_t i = 0; i < MANY - SINGLY; i += FEW, now += 10)
        OK(bry_window_add_n(window, hashes + i, FEW, now, answers));
    for (size_t i = MANY - SINGLY; i < MANY; i++, now++)
        OK(bry_window_add(window, hashes[i], now, NULL));
    OK(bry_window_add_n(window, hashes, BATCH, now, NULL));
    for (size_t i = 0; i < MANY / 2; i += FEW)
        OK(bry_window_add_n(other, hashes + i, FEW, 1000 + i / 30, NULL));
    bry_status merged = bry_window_merge(other, window);
    assert_true(merged == BRY_OK || engine == BRY_ENGINE_FBF); /* generations may differ */
    bry_window_has_n(window, hashes, MANY, now, answers);
    for (size_t i = 0; i < SINGLY; i++)
        (void)bry_window_del(other, hashes[i], now, NULL);
    for (unsigned i = 0; i < FEW; i++)
        OK(bry_window_advance(other, now += 10));
    finish_window(other);
    bry_window *copy = NULL;
    OK(bry_window_clone(window, NULL, &copy));
    bry_window_clear(copy);
    bry_window_destroy(copy);
    finish_window(window);
}

void use_large_windows(void)
{
    use_window(BRY_ENGINE_COMPACT);
    use_window(BRY_ENGINE_FBF);
}

/* ---- counters ------------------------------------------------------------------------------- */

static void apply_some(bry_counters *counters, size_t from, size_t n, uint64_t now)
{
    static bry_counters_op ops[BATCH];
    static uint64_t names[BATCH];
    for (size_t i = 0; i < n; i++) {
        names[i] = i;
        ops[i] = (bry_counters_op){
            .id = hashes[from + i], .name = &names[i], .name_len = sizeof *names, .delta = 1};
    }
    OK(bry_counters_apply_n(counters, ops, n, now));
}

static void use_counters(bry_engine engine, uint64_t log_bytes)
{
    char path[] = "/tmp/bloomery-stack-XXXXXX";
    assert_non_null(mkdtemp(path));
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    options.engine = engine;
    options.sync = BRY_COUNTERS_SYNC_ASKED;
    options.window = 1000;
    options.capacity = MANY;
    options.log_bytes = log_bytes;
    options.seed = 1;
    make_hashes(4);
    bry_counters *counters = NULL, *again = NULL;
    bry_counters_shape shape;
    OK(bry_counters_plan(&options, &shape));
    OK(bry_counters_open(path, &options, NULL, &counters));
    (void)bry_counters_prepare(counters, "name", 4, "id", 2);
    assert_true(bry_counters_engine(counters) == engine && bry_counters_capacity(counters) == MANY);
    uint64_t now = 1000;
    apply_some(counters, 0, BATCH, now);
    OK(bry_counters_snapshot(counters));
    for (size_t i = BATCH; i < MANY - SINGLY; i += FEW, now += 10)
        apply_some(counters, i, FEW, now);
    for (size_t i = MANY - SINGLY; i < MANY; i++)
        OK(bry_counters_apply(counters, hashes[i], "name", 4, 1, now++, NULL, NULL));
    OK(bry_counters_sync(counters));
    bry_counters_destroy(counters);
    OK(bry_counters_open(path, NULL, NULL, &again));
    bry_counters *copy = NULL;
    OK(bry_counters_clone(again, NULL, &copy));
    OK(bry_counters_clear(copy));
    bry_counters_destroy(copy);
    finish_counters(again);
    remove_dir(path);
}

void use_large_counters(void)
{
    use_counters(BRY_ENGINE_COMPACT, 0);
    use_counters(BRY_ENGINE_COMPACT, 10000); /* snapshots by itself */
    use_counters(BRY_ENGINE_FBF, 0);
}

/* ---- indexes -------------------------------------------------------------------------------- */

enum { UNITS = 40, PER_UNIT = MANY / UNITS, ROOM = 8 };

static bry_status supply_unit(void *opaque, uint32_t unit, uint64_t tag, uint64_t from,
                              bry_hash *to, size_t room, size_t *got)
{
    (void)opaque;
    (void)unit;
    for (*got = 0; *got < room && from + *got < PER_UNIT; ++*got)
        to[*got] = hashes[tag * PER_UNIT + from + *got];
    return BRY_OK;
}

static void step_all(bry_index *index)
{
    bry_index_supplier supplier = {supply_unit, NULL};
    uint64_t left = 1;
    for (unsigned i = 0; i < 1000 && left > 0; i++)
        OK(bry_index_step(index, &supplier, 1000, &left));
}

static void move_unit(bry_index *index, uint32_t unit)
{
    bry_buffer saved = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&saved);
    OK(bry_index_save_unit(index, unit, &sink, NULL));
    OK(bry_index_drop(index, unit));
    bry_view view = {saved.bytes, saved.len, 0};
    bry_source source = bry_view_source(&view);
    OK(bry_index_import_unit(index, &source, NULL, &unit));
    bry_buffer_free(&saved);
}

static void use_index(bry_engine engine, uint32_t group, uint32_t planned)
{
    static uint32_t units[MANY][ROOM];
    static size_t totals[MANY];
    char path[] = "/tmp/bloomery-stack-XXXXXX";
    assert_non_null(mkdtemp(path));
    bry_index_options options = BRY_INDEX_OPTIONS;
    options.engine = engine;
    options.units = planned;
    options.unit_capacity = PER_UNIT;
    options.error = 1e-6;
    options.dba.group = group;
    options.seed = 1;
    make_hashes(5);
    bry_index *index = NULL, *loaded = NULL;
    bry_index_shape shape;
    OK(bry_index_plan(&options, &shape));
    OK(bry_index_create(&options, &index));
    uint32_t unit[UNITS];
    uint64_t tag;
    OK(bry_index_open(index, 0, &unit[0]));
    OK(bry_index_set_tag(index, unit[0], 1));
    OK(bry_index_get_tag(index, unit[0], &tag));
    OK(bry_index_undo_open(index, unit[0]));
    assert_true(bry_index_seed(index) == 1 && bry_index_engine(index) == engine &&
                bry_index_unit_capacity(index) == PER_UNIT);
    for (uint32_t u = 0; u < UNITS; u++) {
        OK(bry_index_open(index, u, &unit[u]));
        OK(bry_index_add_n(index, hashes + (size_t)u * PER_UNIT, PER_UNIT - FEW, unit[u], NULL,
                           answers));
        for (size_t i = PER_UNIT - FEW; i < PER_UNIT; i++)
            OK(bry_index_add(index, hashes[u * PER_UNIT + i], unit[u], NULL, NULL));
    }
    bry_index_has_n(index, hashes, MANY, answers);
    bry_index_locate_n(index, hashes, MANY, units[0], ROOM, totals);
    for (size_t i = 0; i < FEW; i++) {
        bry_index_locate(index, hashes[i], units[0], ROOM);
        (void)bry_index_unit_has(index, hashes[i], unit[0]);
    }
    step_all(index);
    OK(bry_index_save_dir(index, path, NULL));
    OK(bry_index_load_dir(path, NULL, &loaded));
    OK(bry_index_save_dir(loaded, path, NULL));
    bry_index *copy = NULL;
    OK(bry_index_clone(loaded, NULL, &copy));
    bry_index_clear(copy);
    bry_index_destroy(copy);
    OK(bry_index_seal(index, unit[0]));
    (void)bry_index_merge_units(index, unit[1], unit[2]);
    if (engine == BRY_ENGINE_COMPACT)
        OK(bry_index_del_n(index, hashes, FEW, unit[0], answers));
    for (size_t i = 0; i < FEW; i++)
        (void)bry_index_del(index, hashes[3 * PER_UNIT + i], unit[3], NULL);
    move_unit(index, unit[10]);
    for (uint32_t u = 11; u < UNITS; u++)
        OK(bry_index_drop(index, unit[u]));
    step_all(index);
    finish_index(index);
    finish_index(loaded);
    remove_dir(path);
}

void use_large_indexes(void)
{
    use_index(BRY_ENGINE_COMPACT, 0, UNITS);
    use_index(BRY_ENGINE_COMPACT, 0, UNITS / 8); /* grows */
    use_index(BRY_ENGINE_DBA, 0, UNITS / 8);
    use_index(BRY_ENGINE_DBA, 512, UNITS);
    use_index(BRY_ENGINE_DBA, 1, UNITS);
}

/* ---- the rest ------------------------------------------------------------------------------- */

void use_small_calls(void)
{
    bry_engine engine;
    assert_non_null(bry_version());
    assert_non_null(bry_status_word(BRY_OK));
    assert_non_null(bry_status_text(BRY_OK));
    assert_non_null(bry_isa());
    OK(bry_engine_parse(bry_engine_name(BRY_ENGINE_KBF), &engine));
    for (bry_job job = 0; bry_job_name(job); job++) {
        void *object = NULL;
        OK(bry_job_engine_parse(job, bry_engine_name(bry_job_engine_at(job, 0)), &engine));
        assert_non_null(bry_job_engine_text(job, engine));
        OK(job_create(job, engine, NULL, &object));
        assert_int_equal(bry_job_engine(job, object), engine);
        assert_int_equal(bry_job_seed(job, object), 1);
        (void)bry_job_merge(job, object, object);
        bry_job_destroy(job, object);
    }
    unsigned char digest[16] = {1};
    (void)bry_hash_digest(digest);
    bry_hash_key_n(1, (const void *const[]){digest}, (const size_t[]){16}, 1, hashes);
}
