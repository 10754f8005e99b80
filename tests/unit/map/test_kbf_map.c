/* The engine kbf through its table of functions, as the map calls it. */
#include "support/kbf_helpers.h"

#include <math.h>

/* ---- making -------------------------------------------------------------------------------- */

TEST(test_plan_is_what_create_does)
{
    for (int fixed = 0; fixed <= 1; fixed++)
        for (int digits = 1; digits <= 8; digits++)
            for (uint64_t capacity = 1; capacity < 1000000; capacity = capacity * 13 + 1) {
                double error = pow(10, -digits);
                failing_allocator memory;
                failing_allocator_init(&memory);
                bry_map_options options = options_of(capacity, error, fixed);
                options.allocator = &memory.allocator;
                bry_map_shape shape = {0};
                assert_int_equal(engine->plan(&options, &shape), BRY_OK);
                assert_int_equal(shape.values, 1023);
                assert_int_equal(shape.value_bits, 10);
                assert_int_equal(shape.kbf.cells % shape.kbf.hashes, 0);
                double sum = shape.errors.false_negative + shape.errors.false_positive;
                assert_true(sum <= (fixed ? error : error / 2));
                bry__kbf_map *map = make(options);
                assert_int_equal(memory.now, shape.bytes_empty);
                assert_int_equal(map->table[0].hashes * map->table[0].segment, shape.kbf.cells);
                bry_map_stats stats = stats_of(map);
                assert_int_equal(stats.bytes_keys, shape.bytes_empty);
                assert_int_equal(stats.kbf.cells[0], shape.kbf.cells);
                if (capacity < 100000) {
                    insert(map, 0, capacity);
                    stats = stats_of(map);
                    assert_int_equal(stats.tables, 1);
                    assert_int_equal(stats.bytes_keys, memory.now);
                    assert_true(memory.now <= shape.bytes);
                    assert_true(stats.load == 1);
                }
                engine->destroy(map);
                assert_int_equal(memory.now, 0);
            }
}

TEST(test_options_out_of_range)
{
    bry_map_shape shape = {0};
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
    options.kbf.cells = 1001;
    options.kbf.hashes = 7;
    assert_int_equal(engine->plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.kbf.cells, 1001);
    options.kbf.hashes = 5;
    assert_int_equal(engine->plan(&options, &shape), BRY_E_RANGE);
    options.kbf.hashes = 33;
    options.kbf.cells = 3300;
    assert_int_equal(engine->plan(&options, &shape), BRY_E_RANGE);
    options.kbf.hashes = 1;
    options.kbf.cells = UINT64_MAX;
    assert_int_equal(engine->plan(&options, &shape), BRY_E_RANGE);
}

/* k = round(log2 1/p), m = n·ln(1/p)/ln²2, up to what rounding to foldable segments adds. */
TEST(test_shapes)
{
    bry_map_options options = options_of(1000000, 1e-3, true);
    bry_map_shape shape = {0};
    options.kbf.layout = BRY_MAP_PAPER;
    assert_int_equal(engine->plan(&options, &shape), BRY_OK);
    assert_int_equal(shape.kbf.hashes, 10);
    assert_true(shape.kbf.cells >= 14377588 && shape.kbf.cells < 14377588 * 1.002);
    options.kbf.layout = BRY_MAP_TUNED;
    static const struct {
        double error;
        unsigned most; /* bytes a key */
    } bars[] = {{1e-3, 25}, {1e-5, 40}};
    for (int i = 0; i < 4; i++)
        for (options.values = 1; options.values < 16384; options.values *= 2) {
            options.fixed = i % 2;
            options.error = bars[i / 2].error;
            assert_int_equal(engine->plan(&options, &shape), BRY_OK);
            assert_true(shape.kbf.cells * 4 <= bars[i / 2].most * options.capacity);
            /* If it may grow: half of the error; else with a small margin. */
            double sum = shape.errors.false_negative + shape.errors.false_positive;
            double most = options.error * (options.fixed ? 0.9 : 0.5);
            assert_true(sum <= most && sum > 0.95 * most);
        }
}

/* ---- growing and shrinking ----------------------------------------------------------------- */

enum { MANY = 60000 };

typedef struct many {
    bry_hash hashes[MANY];
    uint32_t codes[MANY], got[MANY];
    uint8_t answers[MANY];
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

TEST(test_growth_keeps_the_promise)
{
    many *all = make_many();
    bry__kbf_map *map = make(options_of(1000, 0.01, false));
    for (size_t done = 0; done < MANY; done += 3000)
        assert_int_equal(engine->add_n(map, all->hashes + done, all->codes + done, 3000), BRY_OK);
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

    /* Deleting everything: the tables become one again, which is all zero. */
    for (uint64_t i = 0; i < MANY; i++)
        assert_int_equal(engine->del_pair(map, all->hashes[i], all->codes[i], CODES), BRY_PRESENT);
    assert_int_equal(engine->items(map), 0);
    assert_int_equal(map->tables, 1);
    assert_true(engine->is_blank(map));
    stats = stats_of(map);
    assert_int_equal(stats.kbf.cells[0], map->table[0].hashes * map->table[0].segment);
    free(all);
    engine->destroy(map);
}

/* ---- unsure -------------------------------------------------------------------------------- */

/* A key inserted twice with different codes is unsure, and cannot be changed any more. */
TEST(test_unsure_keys_are_left_alone)
{
    bry__kbf_map *map = make(options_of(1000, 0.001, false));
    insert(map, 0, 500);
    bry_hash twice[2] = {key(3), key(3)};
    uint32_t codes[2] = {900, 901};
    assert_int_equal(engine->add_n(map, twice, codes, 1), BRY_OK);
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
    assert_true(same_image(map, &image)); /* all of the above changed no bit */

    assert_int_equal(engine->set_n(map, batch, new_codes, 3, CODES, was), BRY_OK);
    assert_int_equal(was[0], BRY_PRESENT);
    assert_int_equal(was[1], BRY_UNSURE);
    assert_int_equal(was[2], BRY_ABSENT);
    assert_int_equal(engine->get(map, key(700), CODES, &code), BRY_PRESENT);
    assert_int_equal(code, 13);
    /* The second pair can be removed, which restores the state before it. */
    assert_int_equal(engine->del_pair(map, key(3), 900, CODES), BRY_PRESENT);
    assert_int_equal(engine->get(map, key(3), CODES, &code), BRY_PRESENT);
    assert_int_equal(code, code_of(3));
    bry_buffer_free(&image);
    engine->destroy(map);
}

/* The same if the two are in different tables, also with the same code: look-ups and changes agree
 * that the key is unsure. */
TEST(test_unsure_across_tables)
{
    for (uint32_t differ = 0; differ <= 1; differ++) {
        bry__kbf_map *map = make(options_of(20, 1e-6, false));
        insert(map, 0, 20);
        bry_hash hash = key(3);
        uint32_t code = code_of(3) + differ, got = 5;
        assert_int_equal(engine->add_n(map, &hash, &code, 1), BRY_OK);
        assert_int_equal(map->tables, 2);
        bry_buffer image = image_of(map);
        bry_answer answer = BRY_PRESENT;
        uint8_t was = 9;
        assert_int_equal(engine->get(map, hash, CODES, &got), BRY_UNSURE);
        engine->get_n(map, &hash, 1, CODES, &got, &was);
        assert_int_equal(was, BRY_UNSURE);
        assert_int_equal(engine->update(map, hash, 1, CODES, &answer), BRY_E_UNSURE);
        assert_int_equal(engine->set_n(map, &hash, &code, 1, CODES, &was), BRY_OK);
        assert_int_equal(was, BRY_UNSURE);
        assert_int_equal(engine->del_n(map, &hash, 1, CODES, &was), BRY_OK);
        assert_int_equal(was, BRY_UNSURE);
        assert_true(same_image(map, &image));
        assert_int_equal(engine->del_pair(map, hash, code, CODES), BRY_PRESENT);
        assert_int_equal(engine->get(map, hash, CODES, &got), BRY_PRESENT);
        assert_int_equal(got, code_of(3));
        assert_int_equal(engine->update(map, hash, 1, CODES, &answer), BRY_OK);
        bry_buffer_free(&image);
        engine->destroy(map);
    }
}

TEST(test_remove_refuses_what_it_can_see)
{
    bry__kbf_map *map = make(options_of(1000, 0.001, false));
    insert(map, 0, 1000);
    bry_buffer image = image_of(map);
    unsigned refused = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        bry_buffer before = image_of(map);
        bry_answer answer = i % 2 ? engine->del_pair(map, key(2000 + i), 5, CODES)
                                  : engine->del_pair(map, key(i), (code_of(i) + 1) % CODES, CODES);
        if (answer == BRY_ABSENT)
            assert_true(same_image(map, &before));
        refused += answer == BRY_ABSENT;
        bry_buffer_free(&before);
    }
    assert_true(refused >= 999);
    bry_buffer_free(&image);
    engine->destroy(map);
}

/* ---- whole maps ---------------------------------------------------------------------------- */

TEST(test_compress)
{
    for (int fixed = 0; fixed <= 1; fixed++) {
        bry_map_options options = options_of(40000, 0.001, fixed);
        bry__kbf_map *map = make(options);
        uint64_t segment = map->table[0].segment;
        insert(map, 0, 40000);
        bry_buffer image = image_of(map);
        assert_int_equal(engine->compress(map, 0.001, CODES), BRY_OK);
        assert_true(same_image(map, &image)); /* full: nothing to gain */
        for (uint64_t i = 3000; i < 40000; i++)
            assert_int_equal(engine->del_pair(map, key(i), code_of(i), CODES), BRY_PRESENT);
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

        /* A map of the same options has its shape, and can be merged with it. */
        bry_map_options like = options;
        engine->like(map, &like);
        bry__kbf_map *fresh = make(like);
        insert(fresh, 50000, 100);
        assert_int_equal(engine->merge(map, fresh, NULL, CODES), BRY_OK);
        bry__kbf_map *unlike = make(options);
        assert_int_equal(engine->merge(map, unlike, NULL, CODES), BRY_E_MISMATCH);
        bry_buffer_free(&image);
        engine->destroy(map);
        engine->destroy(fresh);
        engine->destroy(unlike);
    }
}

/* Several tables that are nearly empty after deletions become one small table. */
TEST(test_compress_merges_tables)
{
    bry__kbf_map *map = make(options_of(5000, 0.01, false));
    insert(map, 0, 30000);
    assert_true(map->tables >= 3);
    for (uint64_t i = 0; i < 26000; i++)
        assert_int_equal(engine->del_pair(map, key(i), code_of(i), CODES), BRY_PRESENT);
    assert_int_equal(engine->compress(map, 0.01, CODES), BRY_OK);
    assert_int_equal(map->tables, 1);
    for (uint64_t i = 26000; i < 30000; i++) {
        uint32_t code;
        bry_answer answer = engine->get(map, key(i), CODES, &code);
        assert_int_not_equal(answer, BRY_ABSENT);
        if (answer == BRY_PRESENT)
            assert_int_equal(code, code_of(i));
    }
    engine->clear(map, 0);
    assert_int_equal(engine->items(map), 0);
    assert_true(engine->is_blank(map));
    engine->destroy(map);
}

/* Compressing may make another table as small as the first, with more room. The first one defines
 * the map's shape, and stays when tables are merged after deletions. */
TEST(test_the_first_table_stays)
{
    unsigned met = 0;
    for (uint32_t n = 2; n < 40; n++) {
        bry_map_options options = options_of(1, 0.01, false), before = options, after = options;
        options.values = 200;
        bry__kbf_map *map = make(options);
        for (uint32_t i = 0; i < n; i++) {
            bry_hash hash = key(i);
            assert_int_equal(engine->add_n(map, &hash, &(uint32_t){i % 2}, 1), BRY_OK);
        }
        assert_int_equal(engine->compress(map, 0.01, 2), BRY_OK);
        for (unsigned t = 1; t < map->tables; t++)
            met += map->table[t].segment == map->table[0].segment &&
                   map->table[t].capacity > map->table[0].capacity;
        engine->like(map, &before);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(engine->del_pair(map, key(i), i % 2, 2), BRY_PRESENT);
            engine->like(map, &after);
            assert_int_equal(after.capacity, before.capacity);
            assert_int_equal(after.kbf.cells, before.kbf.cells);
        }
        assert_int_equal(map->tables, 1);
        engine->destroy(map);
    }
    assert_true(met > 0);
}

/* A loaded map may have cells without items, which the next deletion clears. A deletion that finds
 * nothing does not clear them. */
TEST(test_deleting_nothing_changes_nothing)
{
    bry__kbf_map *map = make(options_of(10, 0.01, false));
    insert(map, 0, 40);
    bry__kbf *last = &map->table[map->tables - 1];
    last->items = 0;
    assert_false(bry__kbf_is_zero(last));
    bry_hash absent = key(1000), present = key(0);
    uint8_t was;
    assert_int_equal(engine->del_n(map, &absent, 1, CODES, &was), BRY_OK);
    assert_int_equal(was, BRY_ABSENT);
    assert_false(bry__kbf_is_zero(last));
    assert_int_equal(engine->del_n(map, &present, 1, CODES, &was), BRY_OK);
    assert_int_equal(was, BRY_PRESENT);
    assert_true(bry__kbf_is_zero(last));
    engine->destroy(map);
}
