/* What `bench maplet` relies on: the exact table compared with a plain list, and the detection of
 * wrong answers. */
#include "bench/cases/map/maplet_candidates.h"
#include "bench/peers/exact_table.h"
#include "hash/derive.h"
#include "support/cmocka_all.h"

#include <stdlib.h>

/* ---- the exact table ----------------------------------------------------------------------- */

/* Few keys, the smallest and the largest numbers, so that runs of slots wrap around; including
 * 0. */
enum { KEYS = 600 };

static uint64_t key_number(unsigned i)
{
    if (i < 100)
        return i;
    return i < 200 ? UINT64_MAX - i : bench_random(i);
}

TEST(test_exact_table)
{
    bool there[KEYS] = {0};
    uint32_t value[KEYS] = {0};
    exact_table table;
    assert_true(exact_table_init(&table, 1));
    uint64_t before = exact_table_bytes(&table);
    for (unsigned step = 0; step < 60000; step++) {
        uint64_t random = bench_random(1000000 + step);
        unsigned i = (unsigned)(random % KEYS);
        bool was;
        uint32_t held = 0;
        /* Mostly filling, then mostly emptying, in turn. */
        if ((random >> 32) % 4 < (step / 5000 % 2 ? 1 : 3)) {
            assert_true(exact_table_put(&table, key_number(i), (uint32_t)random, &was));
            assert_int_equal(was, there[i]);
            there[i] = true;
            value[i] = (uint32_t)random;
        } else {
            assert_int_equal(exact_table_remove(&table, key_number(i)), there[i]);
            there[i] = false;
        }
        i = (unsigned)(random >> 40) % KEYS;
        assert_int_equal(exact_table_get(&table, key_number(i), &held), there[i]);
        if (there[i])
            assert_int_equal(held, value[i]);
        if (step % 1000 == 0)
            for (i = 0; i < KEYS; i++)
                assert_int_equal(exact_table_get(&table, key_number(i), &held), there[i]);
    }
    assert_true(exact_table_bytes(&table) > before);
    assert_true(table.count * 10 <= table.size * 7);
    exact_table_free(&table);
}

TEST(test_exact_table_has_the_room_it_was_made_for)
{
    for (uint64_t keys = 1; keys < 200; keys++) {
        exact_table table;
        assert_true(exact_table_init(&table, keys));
        uint64_t before = exact_table_bytes(&table);
        for (uint64_t i = 0; i < keys; i++) {
            bool was;
            assert_true(exact_table_put(&table, bench_random(i), 7, &was) && !was);
        }
        assert_int_equal(exact_table_bytes(&table), before);
        exact_table_free(&table);
    }
    exact_table table;
    assert_false(exact_table_init(&table, UINT64_MAX / 16));
}

/* ---- wrong answers ------------------------------------------------------------------------- */

enum { COUNT = 3000, BATCH = 100 };

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

typedef struct fixture {
    maplet_work work;
    maplet_notes notes;
    uint64_t fingerprints[COUNT], place[COUNT];
    uint32_t values[BATCH];
    uint8_t answers[BATCH];
} fixture;

static int set_up(void **state)
{
    fixture *made = calloc(1, sizeof *made);
    assert_non_null(made);
    maplet_work *work = &made->work;
    *work = (maplet_work){
        .options = {COUNT, 0.01, 12, true},
        .count = COUNT,
        .churn = COUNT / 10,
        .fingerprints = made->fingerprints,
        .batch = BATCH,
        .values = made->values,
        .answers = made->answers,
        .notes = &made->notes,
    };
    made->notes = (maplet_notes){.room = COUNT, .place = made->place};
    work->range = bry__maplet_range(&work->options);
    assert_true(bench_keys_make(&work->keys, COUNT));
    work->added = (const bry_hash *)(const void *)work->keys.added;
    work->hits = (const bry_hash *)(const void *)work->keys.hits;
    work->misses = (const bry_hash *)(const void *)work->keys.misses;
    for (unsigned i = 0; i < COUNT; i++)
        made->fingerprints[i] = bry__fingerprint(work->added[i], work->range);
    qsort(made->fingerprints, COUNT, sizeof(uint64_t), compare);
    *state = made;
    return 0;
}

static int tear_down(void **state)
{
    fixture *made = *state;
    bench_keys_free(&made->work.keys);
    free(made);
    return 0;
}

static bool run_phase(const bench_candidate *who, const maplet_work *work, void *table,
                      unsigned phase)
{
    bench_watch watch = {0};
    uint64_t found = 0;
    return who->run(work, table, phase, &watch, &found);
}

static void *filled(const bench_candidate *who, const maplet_work *work)
{
    void *table = who->make(work);
    assert_non_null(table);
    assert_true(run_phase(who, work, table, MAPLET_INSERT));
    return table;
}

TEST_WITH(test_right_answers, set_up, tear_down)
{
    const maplet_work *work = &((fixture *)*state)->work;
    const bench_candidate *both[] = {&candidate_maplet, &candidate_exact};
    for (unsigned i = 0; i < 2; i++) {
        void *table = filled(both[i], work);
        for (unsigned phase = MAPLET_HIT; phase < MAPLET_PHASES; phase++)
            assert_true(run_phase(both[i], work, table, phase));
        both[i]->drop(table);
    }
}

/* A key whose fingerprint this many of the added keys have. */
static bry_hash key_with(const maplet_work *work, const bry_hash *keys, uint64_t sharers)
{
    for (unsigned i = 0; i < COUNT; i++)
        if (maplet_sharers(work, bry__fingerprint(keys[i], work->range)) == sharers)
            return keys[i];
    fail();
    return (bry_hash){0};
}

TEST_WITH(test_wrong_values_are_noticed, set_up, tear_down)
{
    const maplet_work *work = &((fixture *)*state)->work;
    bry__maplet *maplet = filled(&candidate_maplet, work);
    bry_hash alone = key_with(work, work->added, 1), shared = key_with(work, work->added, 2);
    /* If the fingerprint is shared, another value is correct, too. */
    assert_int_equal(
        bry__maplet_upsert(maplet, shared, maplet_first_value(work, shared) ^ 1, NULL, NULL),
        BRY_OK);
    assert_true(run_phase(&candidate_maplet, work, maplet, MAPLET_HIT));
    assert_int_equal(
        bry__maplet_upsert(maplet, alone, maplet_first_value(work, alone) ^ 1, NULL, NULL), BRY_OK);
    assert_false(run_phase(&candidate_maplet, work, maplet, MAPLET_HIT));
    assert_false(run_phase(&candidate_maplet, work, maplet, MAPLET_HIT_BATCH));
    candidate_maplet.drop(maplet);

    exact_table *exact = filled(&candidate_exact, work);
    bool was;
    assert_true(exact_table_put(exact, alone.hi, maplet_first_value(work, alone) ^ 1, &was) && was);
    assert_false(run_phase(&candidate_exact, work, exact, MAPLET_HIT));
    assert_false(run_phase(&candidate_exact, work, exact, MAPLET_HIT_BATCH));
    candidate_exact.drop(exact);
}

TEST_WITH(test_lost_keys_are_noticed, set_up, tear_down)
{
    const maplet_work *work = &((fixture *)*state)->work;
    bry__maplet *maplet = filled(&candidate_maplet, work);
    assert_int_equal(bry__maplet_del(maplet, key_with(work, work->added, 1)), 1);
    assert_false(run_phase(&candidate_maplet, work, maplet, MAPLET_HIT));
    assert_false(run_phase(&candidate_maplet, work, maplet, MAPLET_HIT_BATCH));
    candidate_maplet.drop(maplet);
}

TEST_WITH(test_strangers_are_noticed, set_up, tear_down)
{
    maplet_work *work = &((fixture *)*state)->work;
    work->options.capacity++; /* room for one that the list of fingerprints does not have */
    bry__maplet *maplet = filled(&candidate_maplet, work);
    assert_int_equal(maplet->chain.range, bry__maplet_range(&work->options));
    work->range = maplet->chain.range;
    for (unsigned i = 0; i < COUNT; i++)
        work->fingerprints[i] = bry__fingerprint(work->added[i], work->range);
    qsort(work->fingerprints, COUNT, sizeof(uint64_t), compare);
    assert_true(run_phase(&candidate_maplet, work, maplet, MAPLET_MISS));
    bry_hash stranger = key_with(work, work->misses, 0);
    assert_int_equal(bry__maplet_add(maplet, stranger, 5), BRY_OK);
    assert_false(run_phase(&candidate_maplet, work, maplet, MAPLET_MISS));
    assert_false(run_phase(&candidate_maplet, work, maplet, MAPLET_MISS_BATCH));
    candidate_maplet.drop(maplet);
}

TEST_WITH(test_a_full_table_fails, set_up, tear_down)
{
    const maplet_work *work = &((fixture *)*state)->work;
    void *maplet = filled(&candidate_maplet, work);
    assert_false(run_phase(&candidate_maplet, work, maplet, MAPLET_INSERT)); /* past capacity */
    candidate_maplet.drop(maplet);
    void *exact = filled(&candidate_exact, work);
    assert_false(run_phase(&candidate_exact, work, exact, MAPLET_INSERT)); /* keys twice */
    candidate_exact.drop(exact);
}
