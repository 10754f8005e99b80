/* What all jobs have in common: sizes in constant time, calls with keys instead of hashes, and
 * batches. */
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/job_calls.h"
#include "support/key_by_number.h"

#include <string.h>

enum { KEYS = 3000, NOW = 1000 };

/* ---- keys ----------------------------------------------------------------------------------- */

/* Adds key i by its bytes. Returns whether it was new. */
static bool filter_add(void *self, uint64_t i)
{
    bry_answer was;
    bry_status status = bry_filter_add_key(self, &i, sizeof i, &was);
    return status == BRY_OK && was == BRY_ABSENT;
}

static bool map_add(void *self, uint64_t i)
{
    bry_answer was;
    char value[8];
    memset(value, (int)(i % 50), sizeof value);
    bry_status status = bry_map_set_key(self, &i, sizeof i, bry_map_value_bytes(value, 8), &was);
    return status == BRY_OK && was == BRY_ABSENT;
}

static bool window_add(void *self, uint64_t i)
{
    bry_answer was;
    bry_status status = bry_window_add_key(self, &i, sizeof i, NOW + i, &was);
    return status == BRY_OK && was == BRY_ABSENT;
}

static bool counters_add(void *self, uint64_t i)
{
    bry_counters_outcome outcome;
    bry_status status =
        bry_counters_apply_key(self, &i, sizeof i, &i, sizeof i, 1, NOW, &outcome, NULL);
    return status == BRY_OK && outcome == BRY_COUNTERS_APPLIED;
}

static bool index_add(void *self, uint64_t i)
{
    bry_answer was;
    bry_status status = bry_index_add_key(self, &i, sizeof i, BRY_INDEX_NEWEST, NULL, &was);
    return status == BRY_OK && was == BRY_ABSENT;
}

/* Whether key i is present, by its hash and by its bytes. */
static bool filter_has(const void *self, uint64_t i)
{
    bry_answer answer = bry_filter_has(self, key(i));
    assert_int_equal(bry_filter_has_key(self, &i, sizeof i), answer);
    return answer == BRY_PRESENT;
}

static bool map_has(const void *self, uint64_t i)
{
    bry_map_value a, b;
    bry_answer answer = bry_map_get(self, key(i), &a);
    assert_int_equal(bry_map_get_key(self, &i, sizeof i, &b), answer);
    if (answer == BRY_PRESENT)
        assert_true(a.bytes == b.bytes && a.len == 8);
    return answer == BRY_PRESENT;
}

static bool window_has(const void *self, uint64_t i)
{
    bry_answer answer = bry_window_has(self, key(i), NOW);
    assert_int_equal(bry_window_has_key(self, &i, sizeof i, NOW), answer);
    return answer == BRY_PRESENT;
}

static bool counters_has(const void *self, uint64_t i)
{
    bry_answer answer = bry_counters_has(self, key(i), NOW);
    assert_int_equal(bry_counters_has_key(self, &i, sizeof i, NOW), answer);
    return answer == BRY_PRESENT && bry_counters_get(self, &i, sizeof i, NULL) == BRY_PRESENT;
}

static bool index_has(const void *self, uint64_t i)
{
    uint32_t a[4], b[4];
    size_t n = bry_index_locate(self, key(i), a, 4);
    assert_int_equal(bry_index_locate_key(self, &i, sizeof i, b, 4), n);
    assert_int_equal(bry_index_has_key(self, &i, sizeof i), n ? BRY_PRESENT : BRY_ABSENT);
    assert_memory_equal(a, b, (n < 4 ? n : 4) * sizeof *a);
    return n > 0;
}

static const struct {
    bool (*add)(void *self, uint64_t i);
    bool (*has)(const void *self, uint64_t i);
} keys_of[] = {
    [BRY_JOB_FILTER] = {filter_add, filter_has}, [BRY_JOB_MAP] = {map_add, map_has},
    [BRY_JOB_WINDOW] = {window_add, window_has}, [BRY_JOB_COUNTERS] = {counters_add, counters_has},
    [BRY_JOB_INDEX] = {index_add, index_has},
};

static void *made(bry_job job, bry_engine engine, const bry_allocator *allocator)
{
    void *object = NULL;
    assert_int_equal(job_create(job, engine, allocator, &object), BRY_OK);
    return object;
}

/* ---- tests --------------------------------------------------------------------------------- */

/* At any time, items is the number of new keys and bytes is the allocated memory. */
static void count_keys(bry_job job, bry_engine engine)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    void *it = made(job, engine, &memory.allocator);
    assert_int_equal(bry_job_engine(job, it), engine);
    uint64_t added = 0, keys = engine == BRY_ENGINE_BLOOM ? 1000 : KEYS; /* that it takes */
    for (uint64_t i = 0; i < keys; i++) {
        bry_hash hash = bry_hash_key(bry_job_seed(job, it), &i, sizeof i), same = key(i);
        assert_memory_equal(&hash, &same, sizeof hash);
        added += keys_of[job].add(it, i);
        if (i % 97 == 0 || i < 20) {
            assert_int_equal(bry_job_items(job, it), added);
            assert_int_equal(bry_job_bytes(job, it), memory.now);
        }
    }
    assert_true(added >= keys - keys / 50); /* minus false positives */
    uint64_t found = 0, there = 0;
    for (uint64_t i = 0; i < keys; i++) {
        found += keys_of[job].has(it, i);
        there += keys_of[job].has(it, 1000000 + i);
    }
    assert_true(found >= keys - keys / 50);
    assert_true(there <= keys / 20);
    bry_job_destroy(job, it);
    assert_int_equal(memory.blocks, 0);
}

TEST(test_numbers_and_keys)
{
    for (bry_job job = 0; bry_job_name(job); job++)
        for (size_t i = 0; bry_job_engine_at(job, i) != BRY_ENGINE_AUTO; i++)
            count_keys(job, bry_job_engine_at(job, i));
}

/* Each job has a name of its own and two engines, with names and texts of their own. */
TEST(test_rows)
{
    bry_job job = 0;
    for (; bry_job_name(job); job++) {
        bry_engine first = bry_job_engine_at(job, 0), second = bry_job_engine_at(job, 1), read;
        assert_true(first != second && second != BRY_ENGINE_AUTO);
        for (bry_engine engine = BRY_ENGINE_AUTO; bry_engine_name(engine); engine++) {
            bool has = engine == BRY_ENGINE_AUTO || bry_job_engine_text(job, engine);
            read = 99;
            bry_status status = bry_job_engine_parse(job, bry_engine_name(engine), &read);
            assert_int_equal(status, has ? BRY_OK : BRY_E_RANGE);
            assert_int_equal(read, has ? engine : 99);
        }
        assert_int_equal(bry_job_engine_parse(job, "quick", &read), BRY_E_RANGE);
        assert_true(strcmp(bry_job_name(job), bry_job_name(0)) != 0 || job == 0);
    }
    assert_int_equal(job, BRY_JOB_INDEX + 1);
    void *object = NULL;
    assert_int_equal(bry_job_engine_at(job, 0), BRY_ENGINE_AUTO);
    assert_null(bry_job_engine_text(job, BRY_ENGINE_COMPACT));
    assert_int_equal(bry_job_load_file(job, "none", NULL, &object), BRY_E_RANGE);
    assert_int_equal(bry_job_load(job, NULL, NULL, &object), BRY_E_RANGE);
}

/* Merging gives the items of both; jobs that cannot merge say so. */
TEST(test_merging)
{
    for (bry_job job = 0; bry_job_name(job); job++) {
        void *a = made(job, BRY_ENGINE_AUTO, NULL), *b = made(job, BRY_ENGINE_AUTO, NULL);
        assert_true(keys_of[job].add(a, 1) && keys_of[job].add(b, 2));
        bool merges = job != BRY_JOB_COUNTERS && job != BRY_JOB_INDEX;
        assert_int_equal(bry_job_merge(job, a, b), merges ? BRY_OK : BRY_E_UNSUPPORTED);
        assert_int_equal(bry_job_items(job, a), merges ? 2 : 1);
        bry_job_destroy(job, a);
        bry_job_destroy(job, b);
    }
}

/* A batch of deletions equals single deletions. */
TEST(test_deletions)
{
    enum { N = 300 };
    bry_hash hashes[N];
    bry_answer was[N];
    for (uint64_t i = 0; i < N; i++)
        hashes[i] = key(i % 2 ? i : 5000 + i);
    hashes[N - 1] = key(1); /* once more */
    bry_filter *filters[2];
    bry_index *indexes[2];
    for (int k = 0; k < 2; k++) {
        filters[k] = made(BRY_JOB_FILTER, BRY_ENGINE_COMPACT, NULL);
        indexes[k] = made(BRY_JOB_INDEX, BRY_ENGINE_COMPACT, NULL);
        for (uint64_t i = 0; i < KEYS; i++) {
            filter_add(filters[k], i);
            index_add(indexes[k], i);
        }
    }
    assert_int_equal(bry_filter_del_n(filters[0], hashes, N, was), BRY_OK);
    for (size_t i = 0; i < N; i++) {
        bry_answer single;
        assert_int_equal(bry_filter_del(filters[1], hashes[i], &single), BRY_OK);
        assert_int_equal(was[i], single);
    }
    assert_int_equal(was[N - 1], BRY_ABSENT);
    assert_int_equal(bry_filter_items(filters[0]), bry_filter_items(filters[1]));
    assert_int_equal(bry_index_del_n(indexes[0], hashes, N, 0, was), BRY_OK);
    for (size_t i = 0; i < N; i++) {
        bry_answer single;
        assert_int_equal(bry_index_del(indexes[1], hashes[i], 0, &single), BRY_OK);
        assert_int_equal(was[i], single);
    }
    assert_int_equal(bry_index_items(indexes[0]), bry_index_items(indexes[1]));
    assert_int_equal(bry_index_del_n(indexes[0], hashes, N, 9, NULL), BRY_E_NOUNIT);
    bry_filter *bloom = made(BRY_JOB_FILTER, BRY_ENGINE_BLOOM, NULL);
    assert_int_equal(bry_filter_del_n(bloom, hashes, N, NULL), BRY_E_UNSUPPORTED);
    bry_filter_destroy(bloom);
    for (int k = 0; k < 2; k++) {
        bry_filter_destroy(filters[k]);
        bry_index_destroy(indexes[k]);
    }
}

/* A batch of an index reports which elements were present, in one unit and in several. */
TEST(test_additions)
{
    enum { N = 200 };
    bry_hash hashes[N];
    bry_answer was[N];
    for (uint64_t i = 0; i < N; i++)
        hashes[i] = key(i % 150);
    for (int dba = 0; dba < 2; dba++) {
        bry_index *index = made(BRY_JOB_INDEX, dba ? BRY_ENGINE_DBA : BRY_ENGINE_COMPACT, NULL);
        for (uint32_t unit = BRY_INDEX_NEWEST;; unit = 0) {
            assert_int_equal(bry_index_add_n(index, hashes, N, unit, NULL, was), BRY_OK);
            for (size_t i = 0; i < N; i++)
                assert_int_equal(was[i], i >= 150 || unit == 0 ? BRY_PRESENT : BRY_ABSENT);
            if (unit == 0)
                break;
        }
        assert_int_equal(bry_index_items(index), 150);
        bry_index_destroy(index);
    }
}

/* ---- options of another engine -------------------------------------------------------------- */

/* Plans each of the options `its`, an array of that name, with the engine compact. */
/* NOLINTBEGIN(bugprone-macro-parentheses): names */
#define UNSUPPORTED(job, initializer, its)                                                         \
    for (size_t i = 0; i < 2 * (sizeof its / sizeof its[0]); i++) {                                \
        bry_##job##_options options = initializer;                                                 \
        bry_##job##_shape shape = {0};                                                             \
        options.engine = i % 2 ? BRY_ENGINE_AUTO : BRY_ENGINE_COMPACT;                             \
        options.its = its[i / 2];                                                                  \
        assert_int_equal(bry_##job##_plan(&options, &shape), BRY_E_UNSUPPORTED);                   \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

/* Each by itself, also where its own engine would find it out of range. */
TEST(options_of_another_engine_are_unsupported)
{
    const bry_filter_bloom bloom[] = {{.bits = 512}, {.bits = 1}, {.hashes = 3}, {.hashes = 99}};
    const bry_map_kbf kbf[] = {{.layout = BRY_MAP_PAPER},
                               {.layout = (bry_map_layout)7},
                               {.hashes = 3},
                               {.hashes = 99},
                               {.cells = 600},
                               {.cells = UINT64_MAX}};
    const bry_window_fbf fbf[] = {
        {.bits = 4096}, {.bits = UINT64_MAX}, {.hashes = 5}, {.hashes = 99}};
    const bry_index_dba dba[] = {{.control = BRY_INDEX_LARGER},
                                 {.control = (bry_index_control)7},
                                 {.factor = 2},
                                 {.factor = 1},
                                 {.group = 64},
                                 {.group = 3},
                                 {.hashes = 4},
                                 {.hashes = 99},
                                 {.unit_bits = 4096},
                                 {.segmented = 1},
                                 {.segmented = 2}};
    UNSUPPORTED(filter, BRY_FILTER_OPTIONS, bloom);
    UNSUPPORTED(map, BRY_MAP_OPTIONS, kbf);
    UNSUPPORTED(window, BRY_WINDOW_OPTIONS, fbf);
    UNSUPPORTED(index, BRY_INDEX_OPTIONS, dba);
}
