/*
 * Programs that were compiled with other headers than the library: each public struct from a caller
 * whose version has fewer or more fields.
 */
#include "support/cmocka_all.h"
#include "support/job_calls.h"
#include "support/like.h"

#include <string.h>

#define GUARD 0xa5
enum { MORE = 24, ROOM = 1024 }; /* bytes that a later version may add; the largest struct */

/* One object of each job, with something in it. */
typedef struct objects {
    bry_filter *filter;
    bry_map *map;
    bry_window *window;
    bry_counters *counters;
    bry_index *index;
} objects;

static objects all;

static int make_objects(void **state)
{
    (void)state;
    bry_hash hash = {1, 2};
    uint32_t went;
    assert_int_equal(bry_filter_create(NULL, &all.filter), BRY_OK);
    assert_int_equal(bry_filter_add(all.filter, hash, NULL), BRY_OK);
    assert_int_equal(bry_map_create(NULL, &all.map), BRY_OK);
    assert_int_equal(bry_map_set(all.map, hash, bry_map_value_bytes("x", 1), NULL), BRY_OK);
    assert_int_equal(bry_window_create(NULL, &all.window), BRY_OK);
    assert_int_equal(bry_window_add(all.window, hash, 100000, NULL), BRY_OK);
    assert_int_equal(bry_counters_create(NULL, &all.counters), BRY_OK);
    assert_int_equal(bry_counters_apply(all.counters, hash, "a", 1, 5, 1000, NULL, NULL), BRY_OK);
    assert_int_equal(bry_index_create(NULL, &all.index), BRY_OK);
    assert_int_equal(bry_index_add(all.index, hash, BRY_INDEX_NEWEST, &went, NULL), BRY_OK);
    assert_int_equal(went, 0);
    return 0;
}

static int destroy_objects(void **state)
{
    (void)state;
    bry_filter_destroy(all.filter);
    bry_map_destroy(all.map);
    bry_window_destroy(all.window);
    bry_counters_destroy(all.counters);
    bry_index_destroy(all.index);
    return 0;
}

/* ---- structs that the library fills ------------------------------------------------------------
 */

/* X(type, whether it begins with struct_size, function, its arguments before the struct …); omitted
 * fields of structs that begin with struct_size must be 0. */
#define STRUCTS(X)                                                                                 \
    X(bry_filter_shape, false, bry_filter_plan, NULL)                                              \
    X(bry_filter_stats, false, bry_filter_get_stats, all.filter)                                   \
    X(bry_filter_options, true, bry_filter_options_like, all.filter)                               \
    X(bry_map_shape, false, bry_map_plan, NULL)                                                    \
    X(bry_map_stats, false, bry_map_get_stats, all.map)                                            \
    X(bry_map_options, true, bry_map_options_like, all.map)                                        \
    X(bry_window_shape, false, bry_window_plan, NULL)                                              \
    X(bry_window_stats, false, bry_window_get_stats, all.window)                                   \
    X(bry_window_options, true, bry_window_options_like, all.window)                               \
    X(bry_counters_shape, false, bry_counters_plan, NULL)                                          \
    X(bry_counters_stats, false, bry_counters_get_stats, all.counters)                             \
    X(bry_counters_options, true, bry_counters_options_like, all.counters)                         \
    X(bry_index_shape, false, bry_index_plan, NULL)                                                \
    X(bry_index_stats, false, bry_index_get_stats, all.index)                                      \
    X(bry_index_options, true, bry_index_options_like, all.index)                                  \
    X(bry_index_unit_info, false, bry_index_get_unit_info, all.index, 0)

#define FILL(type, options, function, ...)                                                         \
    static bry_status fill_##type(void *to, size_t size)                                           \
    {                                                                                              \
        return function##_sized(__VA_ARGS__, to, size);                                            \
    }
STRUCTS(FILL)

static const struct {
    bry_status (*fill)(void *to, size_t size);
    size_t size;
    bool options;
} filled[] = {
#define FILLED_ROW(type, options, function, ...) {fill_##type, sizeof(type), options},
    STRUCTS(FILLED_ROW)};
enum { FILLED = sizeof filled / sizeof *filled };

typedef union any_struct {
    size_t struct_size;
    unsigned char bytes[ROOM];
} any_struct;

static bry_status fill(size_t i, size_t size, any_struct *to)
{
    memset(to->bytes, GUARD, sizeof to->bytes);
    return filled[i].fill(to, size);
}

/* The same fields, up to `size`, except struct_size. */
static void assert_same(size_t i, const any_struct *one, const any_struct *other, size_t size)
{
    size_t from = filled[i].options ? sizeof size : 0;
    assert_memory_equal(one->bytes + from, other->bytes + from, size - from);
}

static void assert_all(const any_struct *one, size_t from, size_t to, unsigned char byte)
{
    for (; from < to; from++)
        assert_int_equal(one->bytes[from], byte);
}

static bool ends_in_zeros(const any_struct *one, size_t from, size_t to)
{
    for (; from < to; from++)
        if (one->bytes[from])
            return false;
    return true;
}

TEST(test_filled_for_an_old_caller)
{
    for (size_t i = 0; i < FILLED; i++) {
        any_struct whole, old;
        assert_int_equal(fill(i, filled[i].size, &whole), BRY_OK);
        assert_all(&whole, filled[i].size, ROOM, GUARD);
        for (size_t size = sizeof(size_t); size < filled[i].size; size += sizeof(size_t)) {
            bool lost = fill(i, size, &old) == BRY_E_RANGE;
            assert_true(!lost || filled[i].options);
            assert_true(lost || !filled[i].options || ends_in_zeros(&whole, size, filled[i].size));
            assert_true(lost || !filled[i].options || old.struct_size == size);
            if (lost)
                assert_all(&old, 0, ROOM, GUARD);
            else
                assert_same(i, &old, &whole, size);
            assert_all(&old, size, ROOM, GUARD);
        }
    }
}

TEST(test_filled_for_a_new_caller)
{
    for (size_t i = 0; i < FILLED; i++) {
        any_struct whole, later;
        size_t size = filled[i].size, more = size + MORE;
        assert_int_equal(fill(i, size, &whole), BRY_OK);
        assert_int_equal(fill(i, more, &later), BRY_OK);
        assert_true(!filled[i].options || later.struct_size == more);
        assert_same(i, &later, &whole, size);
        assert_all(&later, size, more, 0);
        assert_all(&later, more, ROOM, GUARD);
    }
}

TEST(test_sizes_that_no_struct_has)
{
    static const size_t wrong[] = {0, 4, 20, SIZE_MAX, (size_t)1 << 32};
    for (size_t i = 0; i < FILLED; i++)
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            any_struct one;
            assert_int_equal(fill(i, wrong[k], &one), BRY_E_RANGE);
            assert_all(&one, 0, ROOM, GUARD);
        }
}

/* What a struct contained does not matter, also if it looks like a size. */
TEST(test_not_initialized)
{
#define NOT_INITIALIZED(type, options, function, ...)                                              \
    {                                                                                              \
        union {                                                                                    \
            type filled;                                                                           \
            any_struct any;                                                                        \
        } one;                                                                                     \
        memset(one.any.bytes, GUARD, sizeof one.any.bytes);                                        \
        one.any.struct_size = ROOM;                                                                \
        assert_int_equal(function(__VA_ARGS__, &one.filled), BRY_OK);                              \
        assert_all(&one.any, sizeof(type), ROOM, GUARD);                                           \
    }
    STRUCTS(NOT_INITIALIZED)
}

/* ---- structs that the library reads ------------------------------------------------------------
 */

/* NOLINTBEGIN(bugprone-macro-parentheses): an initializer */
#define PLAN(job, initializer)                                                                     \
    static bry_status job##_with(size_t size, unsigned char last)                                  \
    {                                                                                              \
        struct {                                                                                   \
            bry_##job##_options options;                                                           \
            unsigned char more[MORE];                                                              \
        } given = {.options = initializer};                                                        \
        bry_##job##_shape shape;                                                                   \
        given.more[MORE - 1] = last;                                                               \
        for (size_t i = size; size > 0 && i < sizeof given.options; i++) /* not its own */         \
            ((unsigned char *)&given.options)[i] = GUARD;                                          \
        given.options.struct_size = size == 0 ? sizeof given : size;                               \
        return bry_##job##_plan(&given.options, &shape);                                           \
    }
/* NOLINTEND(bugprone-macro-parentheses) */
PLAN(filter, BRY_FILTER_OPTIONS)
PLAN(map, BRY_MAP_OPTIONS)
PLAN(window, BRY_WINDOW_OPTIONS)
PLAN(counters, BRY_COUNTERS_OPTIONS)
PLAN(index, BRY_INDEX_OPTIONS)

TEST(test_options)
{
    bry_status (*const plans[])(size_t, unsigned char) = {filter_with, map_with, window_with,
                                                          counters_with, index_with};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        assert_int_equal(plans[i](0, 0), BRY_OK); /* an option that is not used */
        assert_int_equal(plans[i](0, 1), BRY_E_RANGE); /* one that is */
        assert_int_equal(plans[i](sizeof(size_t), 0), BRY_OK);
        assert_int_equal(plans[i](sizeof(size_t) - 1, 0), BRY_E_RANGE);
        assert_int_equal(plans[i](sizeof(size_t) + 4, 0), BRY_E_RANGE);
        assert_int_equal(plans[i](SIZE_MAX, 0), BRY_E_RANGE);
    }
}

/* Options of later versions may be in reserved fields; flags may get other values. */
#define REFUSED(job, initializer, field)                                                           \
    do {                                                                                           \
        bry_##job##_options options = initializer;                                                 \
        bry_##job##_shape shape;                                                                   \
        options.field = 2;                                                                         \
        assert_int_equal(bry_##job##_plan(&options, &shape), BRY_E_RANGE);                         \
    } while (0)

TEST(test_reserved_fields_and_flags)
{
    REFUSED(filter, BRY_FILTER_OPTIONS, fixed);
    REFUSED(filter, BRY_FILTER_OPTIONS, bloom.reserved[0]);
    REFUSED(filter, BRY_FILTER_OPTIONS, bloom.reserved[8]);
    REFUSED(map, BRY_MAP_OPTIONS, fixed);
    REFUSED(map, BRY_MAP_OPTIONS, reserved);
    REFUSED(map, BRY_MAP_OPTIONS, kbf.reserved[0]);
    REFUSED(map, BRY_MAP_OPTIONS, kbf.reserved[7]);
    REFUSED(window, BRY_WINDOW_OPTIONS, refuse);
    REFUSED(window, BRY_WINDOW_OPTIONS, fixed);
    REFUSED(window, BRY_WINDOW_OPTIONS, refresh);
    REFUSED(window, BRY_WINDOW_OPTIONS, reserved);
    REFUSED(window, BRY_WINDOW_OPTIONS, fbf.reserved[0]);
    REFUSED(window, BRY_WINDOW_OPTIONS, fbf.reserved[8]);
    REFUSED(counters, BRY_COUNTERS_OPTIONS, sync);
    REFUSED(index, BRY_INDEX_OPTIONS, fixed);
    REFUSED(index, BRY_INDEX_OPTIONS, reserved);
    REFUSED(index, BRY_INDEX_OPTIONS, dba.reserved[0]);
    REFUSED(index, BRY_INDEX_OPTIONS, dba.reserved[6]);
}

TEST(test_flags_of_an_engine)
{
    bry_map_options map = BRY_MAP_OPTIONS;
    bry_map_shape map_shape;
    map.engine = BRY_ENGINE_KBF;
    map.kbf.layout = (bry_map_layout)2;
    assert_int_equal(bry_map_plan(&map, &map_shape), BRY_E_RANGE);
    bry_index_options index = BRY_INDEX_OPTIONS;
    bry_index_shape index_shape;
    index.engine = BRY_ENGINE_DBA;
    index.dba.segmented = 2;
    assert_int_equal(bry_index_plan(&index, &index_shape), BRY_E_RANGE);
}

TEST(test_loads)
{
    bry_buffer buffer = job_saved(BRY_JOB_FILTER, all.filter);
    struct {
        bry_load load;
        uint64_t more[MORE / 8];
    } given = {BRY_LOAD, {0}};
    static const struct {
        size_t size, more;
        bry_status status;
    } cases[] = {
        {sizeof given, 0, BRY_OK},  {sizeof given, 1, BRY_E_RANGE},
        {0, 0, BRY_E_RANGE},        {offsetof(bry_load, problem), 0, BRY_E_RANGE},
        {SIZE_MAX, 0, BRY_E_RANGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bry_view view = {buffer.bytes, buffer.len, 0};
        bry_source source = bry_view_source(&view);
        bry_filter *loaded = NULL;
        given.load.struct_size = cases[i].size;
        given.more[MORE / 8 - 1] = cases[i].more;
        assert_int_equal(bry_filter_load(&source, &given.load, &loaded), cases[i].status);
        assert_true((loaded != NULL) == (cases[i].status == BRY_OK));
        assert_null(given.load.problem);
        assert_int_equal(bry_index_load_dir("none", &given.load, &(bry_index *){0}),
                         cases[i].status == BRY_OK ? BRY_E_IO : BRY_E_RANGE);
        given.load.problem = NULL;
        bry_filter_destroy(loaded);
    }
    bry_buffer_free(&buffer);
}

/* A bry_load that was not initialized is refused before any of its fields is used. */
TEST(test_loads_not_initialized)
{
    bry_load load;
    void *loaded = NULL;
    uint32_t unit;
    bry_view view = {"", 0, 0};
    bry_source source = bry_view_source(&view);
    for (bry_job job = 0; bry_job_name(job); job++) {
        memset(&load, GUARD, sizeof load);
        assert_int_equal(bry_job_load(job, &source, &load, &loaded), BRY_E_RANGE);
        assert_int_equal(bry_job_load_file(job, "none", &load, &loaded), BRY_E_RANGE);
    }
    assert_int_equal(bry_index_import_unit(all.index, &source, &load, &unit), BRY_E_RANGE);
    assert_int_equal(bry_index_load_dir("none", &load, (bry_index **)&loaded), BRY_E_RANGE);
    assert_int_equal(bry_counters_open("none", NULL, &load, (bry_counters **)&loaded), BRY_E_RANGE);
    assert_null(loaded);
}

/* ---- arrays ------------------------------------------------------------------------------------
 */

TEST(test_generations)
{
    bry_window_generation real[2];
    size_t n = bry_window_generations(all.window, real, 2);
    assert_true(n >= 2);
    struct {
        bry_window_generation generation;
        uint64_t later;
    } longer[3];
    memset(longer, GUARD, sizeof longer);
    assert_int_equal(
        bry_window_generations_sized(all.window, &longer[0].generation, 2, sizeof *longer), n);
    struct {
        uint64_t begin, end;
    } shorter[3];
    memset(shorter, GUARD, sizeof shorter);
    assert_int_equal(bry_window_generations_sized(
                         all.window, (bry_window_generation *)(void *)shorter, 2, sizeof *shorter),
                     n);
    for (size_t i = 0; i < 2; i++) {
        assert_memory_equal(&longer[i].generation, &real[i], sizeof real[i]);
        assert_int_equal(longer[i].later, 0);
        assert_int_equal(shorter[i].begin, real[i].begin);
        assert_int_equal(shorter[i].end, real[i].end);
    }
    assert_int_equal(longer[2].generation.begin, UINT64_C(0xa5a5a5a5a5a5a5a5));
    assert_int_equal(shorter[2].begin, UINT64_C(0xa5a5a5a5a5a5a5a5));
}

TEST(test_sizes_that_no_element_has)
{
    static const size_t wrong[] = {0, 4, 20, SIZE_MAX, (size_t)1 << 32};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bry_window_generation generation[2];
        bry_counters_entry entry[2];
        bry_counters_op op = {.name = "a", .name_len = 1};
        uint64_t cursor = 0;
        assert_int_equal(bry_window_generations_sized(all.window, generation, 2, wrong[i]), 0);
        assert_int_equal(bry_counters_scan_sized(all.counters, &cursor, entry, 2, wrong[i]), 0);
        assert_int_equal(bry_counters_apply_n_sized(all.counters, &op, 1, 1000, wrong[i]),
                         BRY_E_RANGE);
    }
}

TEST(test_entries_and_operations)
{
    struct {
        bry_counters_op op;
        uint64_t later[MORE / 8];
    } ops[2] = {{.op = {.id = bry_hash_key(0, "7", 1), .name = "b", .name_len = 1, .delta = 2}},
                {.op = {.id = bry_hash_key(0, "8", 1), .name = "b", .name_len = 1, .delta = 3}}};
    ops[1].later[MORE / 8 - 1] = 1; /* an option this library does not know */
    assert_int_equal(bry_counters_apply_n_sized(all.counters, &ops[0].op, 2, 2000, sizeof *ops),
                     BRY_E_RANGE);
    assert_int_equal(
        bry_counters_apply_n_sized(all.counters, &ops[0].op, 1, 2000, sizeof(bry_counters_op) - 8),
        BRY_E_RANGE);
    ops[1].later[MORE / 8 - 1] = 0;
    assert_int_equal(bry_counters_apply_n_sized(all.counters, &ops[0].op, 2, 2000, sizeof *ops),
                     BRY_OK);
    assert_int_equal(ops[0].op.value, 2);
    assert_int_equal(ops[1].op.value, 5);
    assert_int_equal(ops[1].op.outcome, BRY_COUNTERS_APPLIED);

    struct {
        bry_counters_entry entry;
        uint64_t later;
    } entries[4];
    uint64_t cursor = 0;
    memset(entries, GUARD, sizeof entries);
    size_t n =
        bry_counters_scan_sized(all.counters, &cursor, &entries[0].entry, 4, sizeof *entries);
    assert_int_equal(n, 2);
    assert_int_equal(cursor, 0);
    assert_int_equal(entries[0].entry.value + entries[1].entry.value, 10);
    assert_int_equal(entries[0].later + entries[1].later, 0);
    assert_int_equal(entries[2].entry.value, (int64_t)UINT64_C(0xa5a5a5a5a5a5a5a5));
}

int main(void)
{
    return run_all_tests(make_objects, destroy_objects);
}
