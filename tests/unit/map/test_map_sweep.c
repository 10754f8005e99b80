/* Sweeps by value visit every entry once, whatever happens to the map meanwhile. */
#include "hash/derive.h"
#include "maplet/maplet.h"
#include "support/job_calls.h"
#include "support/map_helpers.h"

#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 4000, CHURN = 14000 };

static bry_map_options growing(uint64_t capacity)
{
    return (bry_map_options){.engine = BRY_ENGINE_COMPACT,
                             .capacity = capacity,
                             .error = 1e-7,
                             .value_bits = 32,
                             .seed = 1};
}

/* ---- once ---------------------------------------------------------------------------------- */

static uint8_t seen[KEYS + CHURN];

static bry_map_verdict count(void *opaque, bry_map_value value, bry_map_value *changed)
{
    (void)opaque;
    (void)changed;
    seen[value.number]++;
    return BRY_MAP_KEEP;
}

static const bry_map_judge counting = {count, NULL};

static void set_keys(bry_map *map, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        set(map, key(i), bry_map_value_number(i));
}

static void assert_seen(unsigned least, unsigned most)
{
    for (unsigned i = 0; i < KEYS; i++)
        assert_in_range(seen[i], least, most);
    memset(seen, 0, sizeof seen);
}

TEST(test_every_entry_once)
{
    static const uint64_t capacities[] = {10, 3000, KEYS}, budgets[] = {0, 1, 97, 5000, UINT64_MAX};
    for (int c = 0; c < 3; c++) {
        bry_map *map = make(growing(capacities[c]));
        set_keys(map, 0, KEYS);
        bry_buffer before = job_saved(BRY_JOB_MAP, map);
        for (int b = c == 0 ? 0 : 2; b < 5; b++) {
            uint64_t cursor = 0, calls = 0;
            do {
                assert_int_equal(bry_map_sweep(map, &counting, budgets[b], &cursor), BRY_OK);
                calls++;
                if (calls == 3) /* a sweep does not change the saved bytes */
                    job_assert_saved(BRY_JOB_MAP, map, &before);
            } while (cursor);
            assert_seen(1, 1);
            assert_true(budgets[b] < KEYS ? calls >= KEYS / (budgets[b] + 1) : calls == 1);
        }
        bry_buffer_free(&before);
        bry_map_destroy(map);
    }
}

/* Segments split, fold and spill meanwhile; tables open. */
TEST(test_once_while_the_map_changes)
{
    for (unsigned kind = 0; kind < 4; kind++) {
        bry_map *map = make(growing(kind % 2 ? 300 : KEYS));
        set_keys(map, 0, kind < 2 ? KEYS : KEYS + CHURN);
        uint64_t cursor = 0, at = kind < 2 ? KEYS : KEYS + CHURN;
        do {
            assert_int_equal(bry_map_sweep(map, &counting, 100, &cursor), BRY_OK);
            for (int i = 0; i < 800; i++) {
                if (kind < 2 && at < KEYS + CHURN)
                    set_keys(map, at, at + 1), at++;
                else if (kind >= 2 && at > KEYS)
                    assert_int_equal(bry_map_del(map, key(--at), NULL), BRY_OK);
            }
            set(map, key(at % KEYS), bry_map_value_number(at % KEYS)); /* in its place */
        } while (cursor);
        assert_true(kind < 2 ? at > KEYS + CHURN / 3 : at < KEYS + CHURN - CHURN / 3);
        assert_seen(1, 1);
        bry_map_destroy(map);
    }
}

/* The cursor is valid in a clone. */
TEST(test_in_a_copy)
{
    bry_map *map = make(growing(1000)), *copy;
    set_keys(map, 0, KEYS);
    uint64_t cursor = 0;
    assert_int_equal(bry_map_sweep(map, &counting, KEYS / 3, &cursor), BRY_OK);
    assert_int_equal(bry_map_clone(map, NULL, &copy), BRY_OK);
    bry_map_destroy(map);
    assert_int_equal(bry_map_sweep(copy, &counting, KEYS / 3, &cursor), BRY_OK);
    map = job_reloaded(BRY_JOB_MAP, copy);
    bry_map_destroy(copy);
    while (cursor)
        assert_int_equal(bry_map_sweep(map, &counting, 1000, &cursor), BRY_OK);
    assert_seen(1, 1);
    bry_map_destroy(map);
}

/* Folding moves entries to older tables, and closes the newest. */
TEST(test_while_it_is_compressed)
{
    bry_map *map = make(growing(KEYS * 2));
    set_keys(map, KEYS, KEYS + CHURN);
    set_keys(map, 0, KEYS); /* in the second table */
    for (uint64_t i = KEYS; i < KEYS + CHURN; i++)
        assert_int_equal(bry_map_del(map, key(i), NULL), BRY_OK);
    assert_true(stats_of(map).tables > 1);
    uint64_t cursor = 0;
    for (int calls = 0; calls == 0 || cursor; calls++) {
        assert_int_equal(bry_map_sweep(map, &counting, 900, &cursor), BRY_OK);
        if (calls == 3)
            assert_int_equal(bry_map_compress(map, 0), BRY_OK);
    }
    assert_int_equal(stats_of(map).tables, 1);
    assert_seen(1, 2);
    bry_map_destroy(map);
}

/* So many in one segment that some are in the overflow. */
TEST(test_spilled)
{
    enum { CROWD = 5000 };
    bry_map_options options = growing(100000);
    options.fixed = true;
    bry_map *map = make(options);
    const bry__maplet *maplet = *(bry__maplet *const *)&map->keys;
    uint64_t range = maplet->chain.range;
    for (uint64_t i = 0; i < CROWD; i++) {
        bry_hash hash = {.hi = (uint64_t)((((bry__u128)i << 20) << 64) / range) + 1};
        assert_int_equal(bry__fingerprint(hash, range), i << 20);
        set(map, hash, bry_map_value_number(i));
    }
    assert_true(bry__overflow_count(&maplet->table[0].overflow) > 0);
    uint64_t cursor = 0;
    do
        assert_int_equal(bry_map_sweep(map, &counting, 100, &cursor), BRY_OK);
    while (cursor);
    for (unsigned i = 0; i < CROWD; i++)
        assert_int_equal(seen[i], 1);
    memset(seen, 0, sizeof seen);
    bry_map_destroy(map);
}

/* ---- changing and deleting ----------------------------------------------------------------- */

/* Deletes every third value, and increments every third of the others. */
static bool goes(uint64_t i)
{
    return i % 3 == 0;
}

static uint64_t becomes(uint64_t i)
{
    return i % 3 == 1 ? i + 1000 : i;
}

static bry_map_verdict judge_text(void *opaque, bry_map_value value, bry_map_value *changed)
{
    uint64_t *judged = opaque, i;
    char digits[32];
    ++*judged;
    snprintf(digits, sizeof digits, "%.*s", (int)(value.len - strlen("value ")),
             (const char *)value.bytes + strlen("value "));
    i = strtoull(digits, NULL, 10);
    if (i < 1000 && goes(i))
        return BRY_MAP_DEL;
    if (i >= 1000 || becomes(i) == i)
        return BRY_MAP_KEEP;
    *changed = numbered(becomes(i));
    return BRY_MAP_CHANGE;
}

enum { TEXTS = 3000, VALUES = 126 }; /* new ones need codes of another bit */

static void assert_swept(const bry_map *map)
{
    for (uint64_t i = 0; i < TEXTS; i++) {
        uint64_t value = i % VALUES;
        if (goes(value))
            assert_int_equal(bry_map_get(map, key(i), NULL), BRY_ABSENT);
        else
            assert_true(has(map, key(i), numbered(becomes(value))));
    }
    bry_map_stats stats = stats_of(map);
    assert_int_equal(stats.items, TEXTS / 3 * 2);
    assert_int_equal(stats.values, VALUES / 3 * 2); /* no key has the other values */
}

TEST(test_values)
{
    bry_map *map = make((bry_map_options){.capacity = 500, .error = 1e-9});
    set_many(map, 0, TEXTS, VALUES);
    uint64_t cursor = 0, judged = 0, bytes = stats_of(map).bytes_keys;
    bry_map_judge by = {judge_text, &judged};
    do
        assert_int_equal(bry_map_sweep(map, &by, 100, &cursor), BRY_OK);
    while (cursor);
    assert_int_equal(judged, TEXTS);
    assert_swept(map);
    assert_true(stats_of(map).bytes_keys < bytes);
    /* The counts of keys are right: each value is removed with its last key. */
    for (uint64_t i = 0; i < TEXTS; i++)
        assert_int_equal(bry_map_del(map, key(i), NULL), BRY_OK);
    assert_int_equal(stats_of(map).values, 0);
    bry_map_destroy(map);
}

/* ---- what is refused ----------------------------------------------------------------------- */

static bry_map_verdict wrong(void *opaque, bry_map_value value, bry_map_value *changed)
{
    (void)value;
    *changed = bry_map_value_number(16);
    return *(bry_map_verdict *)opaque;
}

TEST(test_refused)
{
    bry_map *kbf = make((bry_map_options){.engine = BRY_ENGINE_KBF, .value_bits = 4});
    bry_map *map = make((bry_map_options){.value_bits = 4});
    uint64_t cursor = 0;
    assert_int_equal(bry_map_sweep(kbf, &counting, 1, &cursor), BRY_E_UNSUPPORTED);
    bry_map_verdict verdict = BRY_MAP_CHANGE;
    bry_map_judge by = {wrong, &verdict};
    assert_int_equal(bry_map_sweep(map, &by, 1, &cursor), BRY_OK); /* there is nothing to judge */
    assert_int_equal(cursor, 0);
    set(map, key(1), bry_map_value_number(5));
    assert_int_equal(bry_map_sweep(map, &by, 100, &cursor), BRY_E_RANGE); /* 16 has five bits */
    assert_true(cursor != 0);
    verdict = (bry_map_verdict)7;
    assert_int_equal(bry_map_sweep(map, &by, 100, &cursor), BRY_E_RANGE);
    assert_true(has(map, key(1), bry_map_value_number(5)));
    verdict = BRY_MAP_DEL;
    assert_int_equal(bry_map_sweep(map, &by, 100, &cursor), BRY_OK);
    assert_int_equal(cursor, 0);
    assert_int_equal(stats_of(map).items, 0);
    cursor = 1; /* the place in no table */
    assert_int_equal(bry_map_sweep(map, &by, 100, &cursor), BRY_E_RANGE);
    assert_int_equal(cursor, 1);
    cursor = UINT64_MAX; /* could be a table that was removed */
    assert_int_equal(bry_map_sweep(map, &by, 100, &cursor), BRY_OK);
    assert_int_equal(cursor, 0);
    bry_map_destroy(kbf);
    bry_map_destroy(map);
}
