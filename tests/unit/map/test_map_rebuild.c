/* Keys that are added and deleted: what kbf leaves behind, its statistics, and rebuilding a map. */
#include "support/job_calls.h"
#include "support/map_helpers.h"

#include <stdlib.h>

enum { MOST_LIVE = 20000 };
static uint64_t live = 2000; /* keys at a time; the long run has the most */

static bry_map *make_map(bry_engine engine, uint32_t value_bits, failing_allocator *memory)
{
    failing_allocator_init(memory);
    return make((bry_map_options){.engine = engine,
                                  .capacity = live,
                                  .error = 0.01,
                                  .value_bits = value_bits,
                                  .allocator = &memory->allocator});
}

static bry_map_value value_of(uint64_t i, uint32_t value_bits)
{
    return value_bits ? bry_map_value_number(i % 200) : numbered(i % 200);
}

/* Replaces all keys in turn, from round `from` to round `to`. The live keys are the last ones, from
 * the number returned on; `stored` of them are in the map. */
static uint64_t churn(bry_map *map, uint32_t value_bits, uint64_t from, uint64_t to,
                      uint64_t *stored)
{
    static bool is_there[MOST_LIVE];
    uint64_t n = from ? (from + 1) * live : 0;
    if (n == 0)
        *stored = 0;
    for (; n < (to + 1) * live; n++) {
        if (n >= live) {
            bry_status status = bry_map_del(map, key(n - live), NULL);
            assert_true(status == BRY_OK || status == BRY_E_UNSURE);
            *stored -= is_there[n % live];
        }
        bry_status status = bry_map_set(map, key(n), value_of(n, value_bits), NULL);
        assert_true(status == BRY_OK || status == BRY_E_UNSURE || status == BRY_E_FULL);
        is_there[n % live] = status == BRY_OK;
        *stored += status == BRY_OK;
    }
    return n - live;
}

/* ---- the supplier ---- */

typedef struct pairs {
    uint64_t first, n;
    uint32_t value_bits;
    uint64_t fail_at; /* fails at this pair; 0: never */
    size_t too_many;
    char text[64][32];
} pairs;

static bry_status supply(void *opaque, uint64_t from, bry_hash *hashes, bry_map_value *values,
                         size_t room, size_t *got)
{
    pairs *all = opaque;
    for (*got = 0; *got < room && from + *got < all->n; ++*got) {
        uint64_t i = all->first + from + *got;
        if (all->fail_at && from + *got == all->fail_at)
            return BRY_E_IO;
        hashes[*got] = key(i);
        bry_map_value value = value_of(i, all->value_bits);
        if (!all->value_bits)
            value.bytes = memcpy(all->text[*got], value.bytes, value.len);
        values[*got] = value;
    }
    *got += all->too_many;
    return BRY_OK;
}

static uint64_t count_readable(const bry_map *map, const pairs *all)
{
    uint64_t right = 0;
    for (uint64_t i = all->first; i < all->first + all->n; i++)
        right += has(map, key(i), value_of(i, all->value_bits));
    return right;
}

/* ---- tests ---- */

static void assert_loads(const bry_map *map)
{
    bry_map *loaded = job_reloaded(BRY_JOB_MAP, map);
    assert_int_equal(stats_of(loaded).items, stats_of(map).items);
    assert_int_equal(stats_of(loaded).kbf.ghosts, stats_of(map).kbf.ghosts);
    bry_map_destroy(loaded);
}

TEST(test_ghosts_and_rebuild)
{
    for (uint32_t bits = 0; bits <= 8; bits += 8) {
        failing_allocator memory;
        bry_map *map = make_map(BRY_ENGINE_KBF, bits, &memory);
        uint64_t stored, first = churn(map, bits, 0, 150, &stored);
        bry_map_stats stats = stats_of(map);
        uint64_t ghosts = stats.items - stored;
        assert_true(ghosts > live / 5); /* it drifts … */
        assert_in_range(stats.kbf.ghosts, ghosts * 85 / 100,
                        ghosts * 115 / 100); /* … and says so */

        assert_loads(map); /* also after saving and loading */

        pairs all = {.first = first, .n = live, .value_bits = bits};
        bry_map_supplier supplier = {supply, &all};
        assert_int_equal(bry_map_rebuild(map, &supplier), BRY_OK);
        bry_map_stats after = stats_of(map);
        assert_int_equal(after.items, live);
        assert_int_equal(after.kbf.ghosts, 0);
        assert_int_equal(after.tables, 1);
        assert_int_equal(after.kbf.refused_unsure, stats.kbf.refused_unsure);
        assert_int_equal(after.values, stats.values);
        assert_true(after.bytes < stats.bytes);
        assert_true(count_readable(map, &all) > live * 99 / 100);
        assert_int_equal(after.bytes, memory.now);
        bry_map_destroy(map);
        assert_int_equal(memory.now, 0);
    }
}

/* The header's statements about a map planned for its live keys at an error of 0.001, and about a
 * fixed one with a fifth more room. */
TEST(test_drift)
{
    static const struct {
        uint64_t turns, least, most; /* excess count, in thousandths of the live keys */
    } at[] = {{20, 5, 20}, {120, 70, 115}, {400, 360, 450}};
    for (int fixed = 0; fixed < 2; fixed++) {
        bry_map *map = make((bry_map_options){.engine = BRY_ENGINE_KBF,
                                              .capacity = fixed ? live * 6 / 5 : live,
                                              .error = 0.001,
                                              .fixed = fixed,
                                              .value_bits = 8});
        uint64_t stored, first = 0;
        for (unsigned i = 0; i < 3; i++) {
            first = churn(map, 8, i ? at[i - 1].turns : 0, at[i].turns, &stored);
            bry_map_stats stats = stats_of(map);
            uint64_t ghosts = stats.items - stored;
            if (!fixed)
                assert_in_range(1000 * ghosts / live, at[i].least, at[i].most);
            assert_in_range(stats.kbf.ghosts, ghosts * 8 / 10, ghosts);
        }
        if (fixed) /* refused live keys */
            assert_in_range(1000 * (live - stored) / live, 200, 400);
        else
            assert_int_equal(stored, live);
        pairs all = {.first = first, .n = live, .value_bits = 8};
        bry_map_supplier supplier = {supply, &all};
        assert_int_equal(bry_map_rebuild(map, &supplier), BRY_OK);
        assert_int_equal(stats_of(map).items, live);
        assert_int_equal(stats_of(map).kbf.ghosts, 0);
        assert_true(count_readable(map, &all) > live * 99 / 100);
        bry_map_destroy(map);
    }
}

/* There are never more ghosts than keys, and they disappear with them. */
TEST(test_ghosts_go)
{
    failing_allocator memory;
    bry_map *map = make_map(BRY_ENGINE_KBF, 8, &memory);
    for (uint64_t i = 0; i < 3; i++)
        for (int twice = 0; twice < 2; twice++)
            assert_int_equal(bry_map_add(map, key(7), bry_map_value_number(5)), BRY_OK);
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(bry_map_del(map, key(7), NULL), BRY_E_UNSURE);
    assert_int_equal(stats_of(map).kbf.ghosts, stats_of(map).items);
    bry_map_clear(map);
    assert_int_equal(stats_of(map).kbf.ghosts, 0);
    bry_map_destroy(map);
}

TEST(test_rebuild_compact)
{
    for (uint32_t bits = 0; bits <= 8; bits += 8) {
        failing_allocator memory;
        bry_map *map = make_map(BRY_ENGINE_COMPACT, bits, &memory);
        uint64_t stored, first = churn(map, bits, 0, 4, &stored);
        set(map, key(1), bits ? bry_map_value_number(250) : text("of no live key"));
        pairs all = {.first = first, .n = live, .value_bits = bits};
        bry_map_supplier supplier = {supply, &all};
        assert_int_equal(bry_map_rebuild(map, &supplier), BRY_OK);
        assert_int_equal(stats_of(map).values, bits ? 0 : 200);
        assert_true(count_readable(map, &all) > live * 98 / 100);
        /* Its values are still removed with their keys. */
        for (uint64_t i = first; i < first + live; i++)
            assert_int_equal(bry_map_del(map, key(i), NULL), BRY_OK);
        assert_int_equal(stats_of(map).items, 0);
        assert_int_equal(stats_of(map).values, 0);
        assert_int_equal(stats_of(map).bytes, memory.now);
        bry_map_destroy(map);
        assert_int_equal(memory.now, 0);
    }
}

/* Clearing restores the shape that compressing has folded: also that of a clone, or after loading. */
TEST(test_compressed_and_cleared)
{
    enum { KEYS = 20000 };
    for (int how = 0; how < 3; how++) {
        bry_map_options options = {
            .engine = BRY_ENGINE_KBF, .capacity = KEYS, .value_bits = 8, .fixed = 1, .seed = 3};
        bry_map *map = make(options), *new = make(options), *copy = NULL;
        assert_int_equal(bry_map_compress(map, 0), BRY_OK);
        assert_true(stats_of(map).capacity < KEYS);
        if (how == 1) {
            assert_int_equal(bry_map_clone(map, NULL, &copy), BRY_OK);
        } else if (how == 2) {
            copy = job_reloaded(BRY_JOB_MAP, map);
        }
        if (copy) {
            bry_map_destroy(map);
            map = copy;
        }
        bry_map_clear(map);
        job_assert_alike(BRY_JOB_MAP, map, new);
        for (uint64_t i = 0; i < KEYS; i++)
            assert_int_equal(bry_map_add(map, key(i), bry_map_value_number(1)), BRY_OK);
        assert_int_equal(bry_map_merge(new, map), BRY_OK);
        bry_map_destroy(map);
        bry_map_destroy(new);
    }
}

/* A map that was compressed and rebuilt grows by its new size, and can be saved and loaded. */
TEST(test_compressed_and_rebuilt)
{
    bry_map *map = make((bry_map_options){.engine = BRY_ENGINE_KBF,
                                          .capacity = 100000,
                                          .error = 1e-6,
                                          .value_bits = 8,
                                          .kbf.cells = 6 * 1024,
                                          .kbf.hashes = 6});
    set(map, key(1), bry_map_value_number(1));
    assert_int_equal(bry_map_compress(map, 1e-6), BRY_OK);
    assert_true(stats_of(map).capacity < 100);
    pairs all = {.n = 30000, .value_bits = 8};
    bry_map_supplier supplier = {supply, &all};
    assert_int_equal(bry_map_rebuild(map, &supplier), BRY_OK);
    assert_true(stats_of(map).tables > 5);
    assert_loads(map);
    bry_map_destroy(map);
}

/* A failure leaves the map unchanged. */
TEST(test_failures)
{
    for (int e = 0; e < 2; e++) {
        failing_allocator memory;
        bry_map *map = make_map(map_engines[e], 0, &memory);
        set_many(map, 0, 500, 50);
        bry_buffer before = job_saved(BRY_JOB_MAP, map);
        pairs all = {.first = 1000, .n = 700};
        bry_map_supplier supplier = {supply, &all};
        for (int how = 0; how < 2; how++) {
            all.fail_at = how == 0 ? 650 : 0;
            all.too_many = how == 1 ? 1 : 0;
            assert_int_equal(bry_map_rebuild(map, &supplier), how == 0 ? BRY_E_IO : BRY_E_RANGE);
            job_assert_saved(BRY_JOB_MAP, map, &before);
        }
        all.too_many = 0;
        uint64_t held = memory.now;
        for (uint64_t at = 1;; at++) {
            failing_allocator_restart(&memory);
            memory.fail_at = at;
            bry_status status = bry_map_rebuild(map, &supplier);
            memory.fail_at = 0;
            if (status == BRY_OK)
                break;
            assert_int_equal(status, BRY_E_NOMEM);
            assert_int_equal(memory.now, held);
        }
        assert_int_equal(stats_of(map).items, 700);
        assert_int_equal(stats_of(map).bytes, memory.now);
        bry_buffer_free(&before);
        bry_map_destroy(map);
        assert_int_equal(memory.now, 0);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        live = strtoul(argv[1], NULL, 10);
    if (live > MOST_LIVE)
        return 2;
    return run_all_tests(NULL, NULL);
}
