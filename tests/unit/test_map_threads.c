/*
 * Operations on a const map may run at the same time as each other, with both engines. A thread
 * sanitizer watches (ctest label thread); without one the answers are compared all the same.
 */
#include "support/crew.h"
#include "support/like.h"
#include "support/map_helpers.h"

enum { KEYS = 3000, KNOWN = 2000, VALUES = 40, ROUNDS = 7 };

typedef struct shared {
    crew crew;
    const bry_map *map; /* knows the first KNOWN keys; it has grown */
    bry_hash hashes[KEYS];
    uint8_t answers[KEYS];
    bry_map_value values[KEYS];
    bry_map_stats stats;
    bry_buffer saved;
} shared;

static bool same_value(bry_map_value a, bry_map_value b)
{
    return a.bytes == b.bytes && a.len == b.len && a.number == b.number;
}

static bool saves_as(const bry_map *map, const bry_buffer *saved)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    bool same = bry_map_save(map, &sink, NULL) == BRY_OK && buffer.len == saved->len &&
                memcmp(buffer.bytes, saved->bytes, buffer.len) == 0;
    bry_buffer_free(&buffer);
    return same;
}

static unsigned ask_one_by_one(const shared *all)
{
    unsigned wrong = 0;
    for (int i = 0; i < KEYS; i++) {
        bry_map_value value = {NULL, 0, 0};
        wrong += bry_map_get(all->map, all->hashes[i], &value) != (bry_answer)all->answers[i] ||
                 (all->answers[i] == BRY_PRESENT && !same_value(value, all->values[i]));
    }
    return wrong;
}

static unsigned ask_in_a_batch(const shared *all)
{
    uint8_t answers[KEYS];
    bry_map_value values[KEYS];
    unsigned wrong = 0;
    bry_map_get_n(all->map, all->hashes, KEYS, values, answers);
    for (int i = 0; i < KEYS; i++)
        wrong += answers[i] != all->answers[i] ||
                 (answers[i] == BRY_PRESENT && !same_value(values[i], all->values[i]));
    return wrong;
}

static unsigned ask_stats(const shared *all)
{
    bry_map_stats stats = BRY_MAP_STATS;
    bry_map_get_stats(all->map, &stats);
    return stats.items != all->stats.items || stats.bytes != all->stats.bytes ||
           stats.values != all->stats.values || stats.tables != all->stats.tables ||
           memcmp(stats.cells, all->stats.cells, sizeof stats.cells) != 0;
}

static unsigned clone_it(const shared *all)
{
    bry_map *made = NULL;
    unsigned wrong = bry_map_clone(all->map, NULL, &made) != BRY_OK || !saves_as(made, &all->saved);
    bry_map_destroy(made);
    return wrong;
}

/* As the source of a merge into one that was made like it. */
static unsigned merge_it(const shared *all)
{
    bry_map *made = NULL;
    unsigned wrong = bry_map_create_like(all->map, NULL, &made) != BRY_OK ||
                     bry_map_seed(made) != bry_map_seed(all->map) ||
                     bry_map_merge(made, all->map) != BRY_OK;
    for (int i = 0; i < KNOWN && !wrong; i++)
        wrong = bry_map_get(made, all->hashes[i], NULL) == BRY_ABSENT;
    bry_map_destroy(made);
    return wrong;
}

static unsigned ask_options(const shared *all)
{
    bry_map_options options = map_like(all->map);
    bry_map *made = NULL;
    unsigned wrong = options.engine != all->stats.engine || options.seed != all->stats.seed ||
                     bry_map_create(&options, &made) != BRY_OK;
    bry_map_destroy(made);
    return wrong;
}

/* Thread 0 does one operation while thread 1 does the next, and so on around. */
static void *ask_everything(void *opaque)
{
    shared *all = opaque;
    unsigned number = crew_meet(&all->crew), wrong = 0;
    for (unsigned round = 0; round < ROUNDS; round++)
        switch ((number + round) % ROUNDS) {
        case 0:
            wrong += ask_one_by_one(all);
            break;
        case 1:
            wrong += ask_in_a_batch(all);
            break;
        case 2:
            wrong += ask_stats(all);
            break;
        case 3:
            wrong += clone_it(all);
            break;
        case 4:
            wrong += !saves_as(all->map, &all->saved);
            break;
        case 5:
            wrong += merge_it(all);
            break;
        default:
            wrong += ask_options(all);
        }
    atomic_fetch_add(&all->crew.wrong, wrong);
    return NULL;
}

static void const_operations(bry_engine engine, uint32_t value_bits)
{
    static shared all;
    bry_map *map = make((bry_map_options){.engine = engine,
                                          .capacity = KNOWN / 4,
                                          .error = 0.01,
                                          .value_bits = value_bits,
                                          .values = VALUES});
    for (uint64_t i = 0; i < KEYS; i++) {
        all.hashes[i] = key(i);
        if (i < KNOWN)
            assert_int_equal(
                bry_map_add(map, key(i),
                            value_bits ? bry_map_value_number(i % VALUES) : numbered(i % VALUES)),
                BRY_OK);
    }
    all.map = map;
    bry_map_get_n(map, all.hashes, KEYS, all.values, all.answers);
    all.stats = (bry_map_stats)BRY_MAP_STATS;
    bry_map_get_stats(map, &all.stats);
    assert_true(all.stats.tables > 1);
    all.saved = (bry_buffer)BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&all.saved);
    assert_int_equal(bry_map_save(map, &sink, NULL), BRY_OK);
    crew_run(&all.crew, ask_everything, &all);
    bry_buffer_free(&all.saved);
    bry_map_destroy(map);
}

static void test_compact(void **state)
{
    (void)state;
    const_operations(BRY_ENGINE_COMPACT, 0);
    const_operations(BRY_ENGINE_COMPACT, 6);
}

static void test_kbf(void **state)
{
    (void)state;
    const_operations(BRY_ENGINE_KBF, 0);
    const_operations(BRY_ENGINE_KBF, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compact),
        cmocka_unit_test(test_kbf),
    };
    return cmocka_run_group_tests_name("threads on maps", tests, NULL, NULL);
}
