/* The engine kbf through its table of functions, as the map calls it. */
#include "frame/frame.h"
#include "map/kbf_map.h"

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"
#include "support/repair.h"

#include <stdlib.h>
#include <string.h>

static const bry__map_engine *engine = &bry__kbf_map_engine;

enum { CODES = 1000 };

static bry_hash key(uint64_t i)
{
    return bry_hash_key(1, &i, sizeof i);
}

static uint32_t code_of(uint64_t i)
{
    return (uint32_t)(i * 7 % CODES);
}

static bry_map_options options_of(uint64_t capacity, double error, bool fixed)
{
    return (bry_map_options){
        .struct_size = sizeof(bry_map_options),
        .engine = BRY_ENGINE_KBF,
        .capacity = capacity,
        .error = error,
        .fixed = fixed,
        .values = CODES,
        .seed = 1,
        .decode = 4,
    };
}

static bry__kbf_map *make(bry_map_options options)
{
    bry_allocator allocator = bry__allocator_or_default(options.allocator);
    void *map = NULL;
    assert_int_equal(engine->create(&options, &allocator, &map), BRY_OK);
    return map;
}

static bry_map_stats stats_of(const void *map)
{
    bry_map_stats stats = {0};
    engine->stats(map, CODES, &stats);
    return stats;
}

static void insert(void *map, uint64_t from, uint64_t n)
{
    for (uint64_t i = from; i < from + n; i++) {
        bry_hash hash = key(i);
        uint32_t code = code_of(i);
        assert_int_equal(engine->insert_n(map, &hash, &code, 1), BRY_OK);
    }
}

/* What there is, bit for bit: the map as frames. */
static bry_buffer image_of(const void *map)
{
    bry_buffer image = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&image);
    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, &sink, BRY__FOUR('T', 'E', 'S', 'T'), 1, 1);
    engine->write(map, &writer);
    assert_int_equal(bry__frame_writer_end(&writer), BRY_OK);
    return image;
}

static bool same_image(const void *map, const bry_buffer *image)
{
    bry_buffer now = image_of(map);
    bool same = now.len == image->len && memcmp(now.bytes, image->bytes, now.len) == 0;
    bry_buffer_free(&now);
    return same;
}

static bry_status load(const bry_map_options *options, const bry_buffer *image, bry_load *how,
                       void **map)
{
    bry_view view = {image->bytes, image->len, 0};
    bry_source source = bry_view_source(&view);
    bry_allocator allocator = bry__allocator_or_default(how ? how->allocator : NULL);
    bry__frame_reader reader;
    void *read = NULL;
    bry_status status =
        bry__frame_reader_open(&reader, &source, how, BRY__FOUR('T', 'E', 'S', 'T'), 1);
    if (status == BRY_OK)
        status = engine->read(options, CODES, &reader, &allocator, &read);
    if (status == BRY_OK)
        status = bry__frame_reader_end(&reader);
    bry__frame_reader_close(&reader);
    if (status == BRY_OK)
        *map = read;
    else if (read)
        engine->destroy(read);
    return status;
}

/* ---- making -------------------------------------------------------------------------------- */

static void test_plan_is_what_create_does(void **state)
{
    (void)state;
    for (int fixed = 0; fixed <= 1; fixed++)
        for (double error = 0.1; error > 1e-8; error /= 7)
            for (uint64_t capacity = 1; capacity < 1000000; capacity = capacity * 13 + 1) {
                failing_allocator memory;
                failing_allocator_init(&memory);
                bry_map_options options = options_of(capacity, error, fixed);
                options.allocator = &memory.allocator;
                bry_map_shape shape;
                assert_int_equal(engine->plan(&options, &shape), BRY_OK);
                assert_int_equal(shape.values, 1023);
                assert_int_equal(shape.value_bits, 10);
                assert_int_equal(shape.cells % shape.hashes, 0);
                double sum = shape.errors.false_negative + shape.errors.false_positive;
                assert_true(sum <= (fixed ? error : error / 2));
                bry__kbf_map *map = make(options);
                assert_int_equal(memory.now, shape.bytes_empty);
                assert_int_equal(map->table[0].hashes * map->table[0].segment, shape.cells);
                bry_map_stats stats = stats_of(map);
                assert_int_equal(stats.bytes_main, shape.bytes_empty);
                assert_int_equal(stats.cells[0], shape.cells);
                if (capacity < 100000) {
                    insert(map, 0, capacity);
                    stats = stats_of(map);
                    assert_int_equal(stats.tables, 1);
                    assert_int_equal(stats.bytes_main, memory.now);
                    assert_true(memory.now <= shape.bytes);
                    assert_true(stats.load == 1);
                }
                engine->destroy(map);
                assert_int_equal(memory.now, 0);
            }
}

static void test_options_out_of_range(void **state)
{
    (void)state;
    bry_map_shape shape;
    bry_map_options options = options_of(1000, 0.01, false);
    options.values = 16384;
    assert_int_equal(engine->plan(&options, &shape), BRY_E_RANGE);
    options.values = 16383;
    assert_int_equal(engine->plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.values, 16383);
    options.values = 0;
    options.value_bits = 14;
    assert_int_equal(engine->plan(&options, &shape), BRY_E_RANGE);
    options.value_bits = 13;
    assert_int_equal(engine->plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.values, 8192);
    assert_int_equal(shape.value_bits, 14);
    options.cells = 1001;
    options.hashes = 7;
    assert_int_equal(engine->plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.cells, 1001);
    options.hashes = 5;
    assert_int_equal(engine->plan(&options, &shape), BRY_E_RANGE);
    options.hashes = 33;
    options.cells = 3300;
    assert_int_equal(engine->plan(&options, &shape), BRY_E_RANGE);
    options.hashes = 1;
    options.cells = UINT64_MAX;
    assert_int_equal(engine->plan(&options, &shape), BRY_E_RANGE);
}

/* k = round(log2 1/p), m = n·ln(1/p)/ln²2, up to what rounding to foldable segments adds. */
static void test_shapes(void **state)
{
    (void)state;
    bry_map_options options = options_of(1000000, 1e-3, true);
    bry_map_shape shape;
    options.layout = BRY_MAP_PAPER;
    assert_int_equal(engine->plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.hashes, 10);
    assert_true(shape.cells >= 14377588 && shape.cells < 14377588 * 1.002);
    options.layout = BRY_MAP_TUNED;
    for (int fixed = 0; fixed <= 1; fixed++) /* where it may grow: half of the error each */
        for (options.values = 1; options.values < 16384; options.values *= 2) {
            options.fixed = fixed;
            options.error = 1e-3;
            assert_int_equal(engine->plan(&options, &shape), BRY_OK);
            assert_true(shape.cells * 4 <= 25 * options.capacity);
            options.error = 1e-5;
            assert_int_equal(engine->plan(&options, &shape), BRY_OK);
            assert_true(shape.cells * 4 <= 40 * options.capacity);
        }
}

/* ---- growing and shrinking ----------------------------------------------------------------- */

enum { MANY = 60000 };

typedef struct many {
    bry_hash hashes[MANY];
    uint32_t codes[MANY], got[MANY];
    uint8_t was[MANY], answers[MANY];
} many;

static many *make_many(void)
{
    many *all = calloc(1, sizeof *all);
    assert_non_null(all);
    for (uint64_t i = 0; i < MANY; i++) {
        all->hashes[i] = key(i);
        all->codes[i] = code_of(i);
    }
    return all;
}

static void test_growth_keeps_the_promise(void **state)
{
    (void)state;
    many *all = make_many();
    bry__kbf_map *map = make(options_of(1000, 0.01, false));
    for (size_t done = 0; done < MANY; done += 3000)
        assert_int_equal(engine->insert_n(map, all->hashes + done, all->codes + done, 3000),
                         BRY_OK);
    assert_int_equal(engine->items(map), MANY);
    bry_map_stats stats = stats_of(map);
    assert_true(stats.tables >= 6 && stats.tables <= 8);
    assert_true(stats.estimated.false_negative + stats.estimated.false_positive <= 0.01);
    assert_true(stats.estimated.false_negative > 0.0001);
    for (unsigned i = 1; i < map->tables; i++) {
        assert_int_equal(map->table[i].segment, 2 * map->table[i - 1].segment);
        assert_true(map->table[i].error == map->table[i - 1].error / 2);
        assert_true(map->table[i].capacity > 1.8 * (double)map->table[i - 1].capacity);
    }

    /* Look-ups: right or unsure, singly and in batches. */
    uint64_t unsure = 0, invented = 0;
    engine->get_n(map, all->hashes, MANY, CODES, all->got, all->answers);
    for (uint64_t i = 0; i < MANY; i++) {
        uint32_t code = CODES;
        assert_int_equal(engine->get(map, all->hashes[i], CODES, &code), all->answers[i]);
        assert_int_not_equal(all->answers[i], BRY_ABSENT);
        if (all->answers[i] == BRY_PRESENT) {
            assert_int_equal(code, all->codes[i]);
            assert_int_equal(all->got[i], all->codes[i]);
        }
        unsure += all->answers[i] == BRY_UNSURE;
        invented += engine->get(map, key(MANY + i), CODES, &code) == BRY_PRESENT;
    }
    assert_true(unsure < MANY * 0.01);
    assert_true(invented < MANY * 0.01);

    /* Taking everything out: the tables become one again, and that one all zero. */
    for (uint64_t i = 0; i < MANY; i++)
        assert_int_equal(engine->remove(map, all->hashes[i], all->codes[i], CODES), BRY_PRESENT);
    assert_int_equal(engine->items(map), 0);
    assert_int_equal(map->tables, 1);
    uint64_t used[CODES / 64 + 1] = {0};
    assert_true(engine->used(map, CODES, used));
    stats = stats_of(map);
    assert_int_equal(stats.cells[0], map->table[0].hashes * map->table[0].segment);
    free(all);
    engine->destroy(map);
}

/*
 * Setting looks first, and so meets false positives: such a key changes a code that is not its own,
 * and its neighbours pay. All of that together stays within the promise.
 */
static void test_setting_keeps_the_promise(void **state)
{
    (void)state;
    many *all = make_many();
    bry__kbf_map *map = make(options_of(1000, 0.01, false));
    for (size_t done = 0; done < MANY; done += 3000)
        assert_int_equal(
            engine->set_n(map, all->hashes + done, all->codes + done, 3000, CODES, all->was + done),
            BRY_OK);
    uint64_t stored = 0, wrong = 0;
    engine->get_n(map, all->hashes, MANY, CODES, all->got, all->answers);
    for (uint64_t i = 0; i < MANY; i++) {
        stored += all->was[i] == BRY_ABSENT;
        wrong += all->answers[i] != BRY_PRESENT || all->got[i] != all->codes[i];
    }
    assert_int_equal(engine->items(map), stored);
    assert_true(stored < MANY && stored > MANY * 0.99);
    assert_true(wrong < MANY * 0.01);
    free(all);
    engine->destroy(map);
}

static void test_deletes_compact(void **state)
{
    (void)state;
    bry__kbf_map *map = make(options_of(1000, 0.001, false));
    insert(map, 0, 3000);
    unsigned before = map->tables, most = before, after_half = 0;
    assert_true(before >= 2);
    for (uint64_t i = 0; i < 2950; i++) {
        bry_hash hash = key(i);
        uint8_t was;
        assert_int_equal(engine->del_n(map, &hash, 1, CODES, &was), BRY_OK);
        assert_true(was == BRY_PRESENT || was == BRY_UNSURE);
        assert_true(map->tables <= most);
        most = map->tables;
        if (i == 1500)
            after_half = map->tables;
    }
    assert_true(after_half <= before);
    assert_int_equal(map->tables, 1);
    for (uint64_t i = 2950; i < 3000; i++) {
        uint32_t code = CODES;
        assert_int_equal(engine->get(map, key(i), CODES, &code), BRY_PRESENT);
        assert_int_equal(code, code_of(i));
    }
    engine->destroy(map);
}

static void test_fixed_is_full(void **state)
{
    (void)state;
    bry__kbf_map *map = make(options_of(100, 0.001, true));
    insert(map, 0, 98);
    bry_buffer image = image_of(map);
    bry_hash hashes[4] = {key(98), key(5), key(99), key(100)};
    uint32_t codes[4] = {1, 2, 3, 4};
    uint8_t was[4] = {9, 9, 9, 9};
    assert_int_equal(engine->insert_n(map, hashes, codes, 3), BRY_E_FULL);
    assert_true(same_image(map, &image));
    assert_int_equal(engine->set_n(map, hashes, codes, 4, CODES, was), BRY_E_FULL);
    assert_true(same_image(map, &image)); /* also the change of key 5 is undone */
    for (int i = 0; i < 4; i++)
        assert_int_equal(was[i], 9);
    assert_int_equal(engine->set_n(map, hashes, codes, 3, CODES, was), BRY_OK);
    assert_int_equal(was[0], BRY_ABSENT);
    assert_int_equal(was[1], BRY_PRESENT);
    assert_int_equal(was[2], BRY_ABSENT);
    assert_int_equal(engine->items(map), 100);
    /* Full for new keys; those that are there may change. */
    assert_int_equal(engine->set_n(map, &hashes[3], codes, 1, CODES, was), BRY_E_FULL);
    assert_int_equal(engine->set_n(map, hashes, codes + 1, 1, CODES, was), BRY_OK);
    assert_int_equal(was[0], BRY_PRESENT);
    bry_buffer_free(&image);
    engine->destroy(map);
}

/* ---- unsure -------------------------------------------------------------------------------- */

/* A key inserted twice with different codes cannot be told; nothing touches it any more. */
static void test_unsure_keys_are_left_alone(void **state)
{
    (void)state;
    bry__kbf_map *map = make(options_of(1000, 0.001, false));
    insert(map, 0, 500);
    bry_hash twice[2] = {key(3), key(3)};
    uint32_t codes[2] = {900, 901};
    assert_int_equal(engine->insert_n(map, twice, codes, 1), BRY_OK);
    bry_buffer image = image_of(map);
    uint32_t code = 5;
    bry_answer answer = BRY_PRESENT;
    uint8_t was[3] = {9, 9, 9};
    assert_int_equal(engine->get(map, key(3), CODES, &code), BRY_UNSURE);
    assert_int_equal(engine->update(map, key(3), 1, CODES, &answer), BRY_E_UNSURE);
    assert_int_equal(answer, BRY_PRESENT);
    assert_int_equal(engine->set_n(map, twice, codes, 1, CODES, NULL), BRY_E_UNSURE);
    assert_int_equal(engine->set_n(map, twice, codes, 1, CODES, was), BRY_OK);
    assert_int_equal(was[0], BRY_UNSURE);
    assert_int_equal(engine->del_n(map, twice, 1, CODES, was), BRY_OK);
    assert_int_equal(was[0], BRY_UNSURE);
    bry_hash batch[3] = {key(1), key(3), key(700)};
    uint32_t new_codes[3] = {11, 12, 13};
    assert_int_equal(engine->set_n(map, batch, new_codes, 3, CODES, NULL), BRY_E_UNSURE);
    assert_int_equal(engine->del_n(map, batch, 3, CODES, NULL), BRY_E_UNSURE);
    assert_int_equal(code, 5);
    assert_true(same_image(map, &image)); /* all of the above left every bit as it was */

    assert_int_equal(engine->set_n(map, batch, new_codes, 3, CODES, was), BRY_OK);
    assert_int_equal(was[0], BRY_PRESENT);
    assert_int_equal(was[1], BRY_UNSURE);
    assert_int_equal(was[2], BRY_ABSENT);
    assert_int_equal(engine->get(map, key(700), CODES, &code), BRY_PRESENT);
    assert_int_equal(code, 13);
    /* The pair that is one too many can be taken out, and all is as if it had never been. */
    assert_int_equal(engine->remove(map, key(3), 900, CODES), BRY_PRESENT);
    assert_int_equal(engine->get(map, key(3), CODES, &code), BRY_PRESENT);
    assert_int_equal(code, code_of(3));
    bry_buffer_free(&image);
    engine->destroy(map);
}

static void test_remove_refuses_what_it_can_see(void **state)
{
    (void)state;
    bry__kbf_map *map = make(options_of(1000, 0.001, false));
    insert(map, 0, 1000);
    bry_buffer image = image_of(map);
    unsigned refused = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        bry_buffer before = image_of(map);
        bry_answer answer = i % 2 ? engine->remove(map, key(2000 + i), 5, CODES)
                                  : engine->remove(map, key(i), (code_of(i) + 1) % CODES, CODES);
        if (answer == BRY_ABSENT)
            assert_true(same_image(map, &before));
        refused += answer == BRY_ABSENT;
        bry_buffer_free(&before);
    }
    assert_true(refused >= 999);
    bry_buffer_free(&image);
    engine->destroy(map);
}

static bool matches(void *context, uint32_t code)
{
    return code == *(uint32_t *)context;
}

static void test_find(void **state)
{
    (void)state;
    bry__kbf_map *map = make(options_of(CODES, 1e-2, true));
    for (uint32_t i = 0; i < CODES; i++)
        assert_int_equal(engine->add(map, key(i), i), BRY_OK);
    unsigned found = 0;
    for (uint32_t i = 0; i < CODES; i++) {
        uint32_t code = CODES, other = i + 1;
        bry_answer answer = engine->find(map, key(i), CODES, matches, &i, &code);
        assert_int_not_equal(answer, BRY_ABSENT);
        if (answer == BRY_PRESENT)
            assert_int_equal(code, i);
        found += answer == BRY_PRESENT;
        /* Where there are candidates that do not match, it is certain. */
        if (answer == BRY_PRESENT)
            assert_int_not_equal(engine->find(map, key(i), CODES, matches, &other, &code),
                                 BRY_PRESENT);
    }
    assert_true(found >= CODES * 99 / 100);
    for (uint32_t i = 0; i < CODES; i++)
        engine->take(map, key(i), i, CODES);
    assert_int_equal(engine->items(map), 0);
    engine->destroy(map);
}

/* ---- whole maps ---------------------------------------------------------------------------- */

static void *clone_of(const void *map)
{
    void *copy = NULL;
    assert_int_equal(engine->clone(map, &copy), BRY_OK);
    bry_buffer image = image_of(map);
    assert_true(same_image(copy, &image));
    bry_buffer_free(&image);
    return copy;
}

static void test_join(void **state)
{
    (void)state;
    bry_map_options options = options_of(3000, 0.001, false);
    void *part[3], *sum[2];
    for (uint64_t i = 0; i < 3; i++) {
        part[i] = make(options);
        insert(part[i], i * 1000, 900);
    }
    for (int i = 0; i < 2; i++)
        sum[i] = clone_of(part[2 * i]);
    assert_int_equal(engine->join(sum[0], part[1], NULL, CODES), BRY_OK);
    assert_int_equal(engine->join(sum[0], part[2], NULL, CODES), BRY_OK);
    assert_int_equal(engine->join(sum[1], part[1], NULL, CODES), BRY_OK);
    assert_int_equal(engine->join(sum[1], part[0], NULL, CODES), BRY_OK);
    bry_buffer image = image_of(sum[0]);
    assert_true(same_image(sum[1], &image));
    assert_int_equal(engine->items(sum[0]), 2700);
    for (uint64_t i = 0; i < 2900; i++) {
        uint32_t code = CODES;
        bry_answer answer = engine->get(sum[0], key(i), CODES, &code);
        if (i % 1000 < 900)
            assert_int_not_equal(answer, BRY_ABSENT);
        if (answer == BRY_PRESENT)
            assert_int_equal(code, code_of(i));
    }
    /* A part can be taken out of the sum again. */
    assert_int_equal(engine->join(sum[1], part[0], (uint32_t[1]){0}, CODES), BRY_E_MISMATCH);
    for (uint64_t i = 0; i < 900; i++)
        assert_int_equal(engine->remove(sum[1], key(i), code_of(i), CODES), BRY_PRESENT);
    void *rest = clone_of(part[2]);
    assert_int_equal(engine->join(rest, part[1], NULL, CODES), BRY_OK);
    if (stats_of(sum[0]).cells[7] == 0) {
        bry_buffer rest_image = image_of(rest);
        assert_true(same_image(sum[1], &rest_image));
        bry_buffer_free(&rest_image);
    }

    /* Beyond the capacity a map that may grow takes a further table. */
    assert_int_equal(engine->join(sum[0], sum[1], NULL, CODES), BRY_OK);
    assert_int_equal(stats_of(sum[0]).tables, 2);
    assert_int_equal(engine->items(sum[0]), 4500);
    bry_buffer_free(&image);
    for (int i = 0; i < 3; i++)
        engine->destroy(part[i]);
    engine->destroy(sum[0]);
    engine->destroy(sum[1]);
    engine->destroy(rest);
}

static void test_join_refused(void **state)
{
    (void)state;
    bry__kbf_map *into = make(options_of(1000, 0.001, true)),
                 *other = make(options_of(2000, 0.001, true)),
                 *like = make(options_of(1000, 0.001, true));
    insert(into, 0, 600);
    insert(like, 1000, 401);
    bry_buffer image = image_of(into);
    assert_int_equal(engine->join(into, other, NULL, CODES), BRY_E_MISMATCH);
    assert_int_equal(engine->join(into, like, NULL, CODES), BRY_E_FULL);
    assert_true(same_image(into, &image));
    bry_map_options options = options_of(1000, 0.001, true);
    options.unmasked = true;
    bry__kbf_map *unmasked = make(options);
    assert_int_equal(engine->join(into, unmasked, NULL, CODES), BRY_E_MISMATCH);
    bry_buffer_free(&image);
    engine->destroy(into);
    engine->destroy(other);
    engine->destroy(like);
    engine->destroy(unmasked);
}

static void test_compress(void **state)
{
    (void)state;
    for (int fixed = 0; fixed <= 1; fixed++) {
        bry_map_options options = options_of(40000, 0.001, fixed);
        bry__kbf_map *map = make(options);
        uint64_t segment = map->table[0].segment;
        insert(map, 0, 40000);
        bry_buffer image = image_of(map);
        assert_int_equal(engine->compress(map, 0.001, CODES), BRY_OK);
        assert_true(same_image(map, &image)); /* full: nothing to gain */
        for (uint64_t i = 3000; i < 40000; i++)
            assert_int_equal(engine->remove(map, key(i), code_of(i), CODES), BRY_PRESENT);
        assert_int_equal(engine->compress(map, 0.001, CODES), BRY_OK);
        assert_int_equal(map->table[0].segment, segment / 8);
        bry_map_stats stats = stats_of(map);
        assert_true(stats.estimated.false_negative + stats.estimated.false_positive <= 0.001);
        assert_true(map->table[0].capacity >= 3000 && map->table[0].capacity <= 5250);
        uint64_t unsure = 0;
        for (uint64_t i = 0; i < 3000; i++) {
            uint32_t code;
            bry_answer answer = engine->get(map, key(i), CODES, &code);
            assert_int_not_equal(answer, BRY_ABSENT);
            if (answer == BRY_PRESENT)
                assert_int_equal(code, code_of(i));
            unsure += answer == BRY_UNSURE;
        }
        assert_true(unsure < 10);

        /* Its like has its shape, and can be joined with it. */
        bry_map_options like = options;
        engine->like(map, &like);
        bry__kbf_map *fresh = make(like);
        insert(fresh, 50000, 100);
        assert_int_equal(engine->join(map, fresh, NULL, CODES), BRY_OK);
        bry__kbf_map *unlike = make(options);
        assert_int_equal(engine->join(map, unlike, NULL, CODES), BRY_E_MISMATCH);
        bry_buffer_free(&image);
        engine->destroy(map);
        engine->destroy(fresh);
        engine->destroy(unlike);
    }
}

/* Several tables, of which deletes leave little, become one small one. */
static void test_compress_joins_tables(void **state)
{
    (void)state;
    bry__kbf_map *map = make(options_of(5000, 0.01, false));
    insert(map, 0, 30000);
    assert_true(map->tables >= 3);
    for (uint64_t i = 0; i < 26000; i++)
        assert_int_equal(engine->remove(map, key(i), code_of(i), CODES), BRY_PRESENT);
    assert_int_equal(engine->compress(map, 0.01, CODES), BRY_OK);
    assert_int_equal(map->tables, 1);
    for (uint64_t i = 26000; i < 30000; i++) {
        uint32_t code;
        bry_answer answer = engine->get(map, key(i), CODES, &code);
        assert_int_not_equal(answer, BRY_ABSENT);
        if (answer == BRY_PRESENT)
            assert_int_equal(code, code_of(i));
    }
    engine->clear(map);
    assert_int_equal(engine->items(map), 0);
    uint64_t used[CODES / 64 + 1] = {0};
    assert_true(engine->used(map, CODES, used));
    engine->destroy(map);
}

/* ---- memory -------------------------------------------------------------------------------- */

/* Every allocation of every call fails once: the map stays as it was. */
static void test_no_memory(void **state)
{
    (void)state;
    enum { N = 3000 };
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry_map_options options = options_of(2000, 1e-4, false);
    options.allocator = &memory.allocator;
    bry__kbf_map *map = make(options), *other = make(options);
    bry_hash *hashes = malloc(N * sizeof *hashes);
    uint32_t *codes = malloc(N * sizeof *codes);
    for (uint64_t i = 0; i < N; i++) {
        hashes[i] = key(i);
        codes[i] = code_of(i);
    }
    insert(map, 0, 1000);
    insert(other, 10000, 1900);
    bry_buffer image = image_of(map);
    for (int call = 0; call < 6; call++) {
        bry_status status = BRY_E_NOMEM;
        for (uint64_t at = 1; status != BRY_OK; at++) {
            void *copy = NULL, *made = NULL;
            memory.fail_at = 0;
            copy = clone_of(map);
            failing_allocator_restart(&memory);
            memory.fail_at = at;
            uint64_t before = memory.now;
            if (call == 0)
                status = engine->set_n(copy, hashes, codes, N, CODES, NULL);
            else if (call == 1)
                status = engine->insert_n(copy, hashes, codes, N);
            else if (call == 2)
                status = engine->del_n(copy, hashes, 1000, CODES, NULL);
            else if (call == 3)
                status = engine->join(copy, other, NULL, CODES);
            else if (call == 4)
                status = engine->compress(copy, 0.4, CODES);
            else
                status = engine->clone(copy, &made);
            memory.fail_at = 0;
            if (status != BRY_OK) {
                assert_int_equal(status, BRY_E_NOMEM);
                assert_true(same_image(copy, &image));
                if (call != 0 && call != 1) /* these may have reached cells */
                    assert_true(memory.now <= before || call == 3);
            } else {
                assert_true(at > 1);
                if (call < 5)
                    assert_false(same_image(copy, &image));
            }
            engine->destroy(copy);
            if (made)
                engine->destroy(made);
        }
    }
    engine->destroy(map);
    engine->destroy(other);
    assert_int_equal(memory.now, 0);
    bry_buffer_free(&image);
    free(hashes);
    free(codes);
}

/* ---- keeping ------------------------------------------------------------------------------- */

static void test_save_and_load(void **state)
{
    (void)state;
    bry_map_options options = options_of(1000, 0.001, false);
    for (uint64_t n = 0; n <= 6000; n += 1500) {
        bry__kbf_map *map = make(options);
        insert(map, 0, n);
        bry_buffer image = image_of(map);
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_load how = BRY_LOAD;
        how.allocator = &memory.allocator;
        void *read = NULL;
        assert_int_equal(load(&options, &image, &how, &read), BRY_OK);
        assert_true(same_image(read, &image));
        bry_map_stats a = stats_of(map), b = stats_of(read);
        assert_memory_equal(a.cells, b.cells, sizeof a.cells);
        assert_true(a.load == b.load && a.tables == b.tables);
        assert_int_equal(b.bytes_main, memory.now);
        engine->destroy(read);
        /* The ceiling is what it takes, to the byte. */
        how.max_bytes = b.bytes_main;
        assert_int_equal(load(&options, &image, &how, &read), BRY_OK);
        engine->destroy(read);
        how.max_bytes--;
        assert_int_equal(load(&options, &image, &how, &read), BRY_E_LIMIT);
        how.max_bytes = 0;
        bry_status status = BRY_E_NOMEM;
        for (uint64_t at = 1; status != BRY_OK; at++) {
            failing_allocator_restart(&memory);
            memory.fail_at = at;
            status = load(&options, &image, &how, &read);
            assert_true(status == BRY_OK || status == BRY_E_NOMEM);
            if (status != BRY_OK)
                assert_int_equal(memory.now, 0);
        }
        engine->destroy(read);
        bry_buffer_free(&image);
        engine->destroy(map);
    }
}

/* Altered bytes under right checksums: refused, or a map that is sound. */
static void test_forged(void **state)
{
    (void)state;
    bry_map_options options = options_of(30, 0.1, false);
    bry__kbf_map *map = make(options);
    insert(map, 0, 70);
    assert_true(map->tables > 1);
    bry_buffer image = image_of(map);
    unsigned refused = 0, taken = 0;
    for (size_t at = BRY__HEADER_BYTES; at < image.len; at++)
        for (unsigned bit = 0; bit < 8; bit += 3) {
            bry_buffer forged = {malloc(image.len), image.len, image.len};
            memcpy(forged.bytes, image.bytes, image.len);
            forged.bytes[at] ^= (unsigned char)(1u << bit);
            repair_stream(forged.bytes, forged.len);
            bry_load how = BRY_LOAD;
            how.max_bytes = (uint64_t)1 << 20;
            void *read = NULL;
            bry_status status = load(&options, &forged, &how, &read);
            if (status == BRY_OK) {
                for (uint64_t i = 0; i < 100; i++) {
                    bry_hash hash = key(i);
                    uint8_t was;
                    engine->del_n(read, &hash, 1, CODES, &was);
                }
                engine->destroy(read);
                taken++;
            } else {
                assert_true(status == BRY_E_BADDATA || status == BRY_E_LIMIT);
                assert_non_null(how.problem);
                refused++;
            }
            free(forged.bytes);
        }
    assert_true(refused > taken);
    for (size_t len = 0; len < image.len; len += 7) {
        bry_buffer cut = {image.bytes, len, len};
        void *read;
        assert_int_equal(load(&options, &cut, NULL, &read), BRY_E_BADDATA);
    }
    options.fixed = true; /* which never has two tables */
    void *read;
    assert_int_equal(load(&options, &image, NULL, &read), BRY_E_BADDATA);
    options.fixed = false;
    options.values = CODES - 500; /* fewer codes than the keys may carry */
    assert_int_equal(load(&options, &image, NULL, &read), BRY_E_BADDATA);
    bry_buffer_free(&image);
    engine->destroy(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_is_what_create_does),
        cmocka_unit_test(test_options_out_of_range),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_growth_keeps_the_promise),
        cmocka_unit_test(test_setting_keeps_the_promise),
        cmocka_unit_test(test_deletes_compact),
        cmocka_unit_test(test_fixed_is_full),
        cmocka_unit_test(test_unsure_keys_are_left_alone),
        cmocka_unit_test(test_remove_refuses_what_it_can_see),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_join_refused),
        cmocka_unit_test(test_compress),
        cmocka_unit_test(test_compress_joins_tables),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_save_and_load),
        cmocka_unit_test(test_forged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
