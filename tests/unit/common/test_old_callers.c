/*
 * Programs that were compiled with other headers than the library: each public struct from a caller
 * whose version has fewer or more fields.
 */
#include "support/cmocka_all.h"
#include "support/job_calls.h"
#include "support/like.h"

#include <string.h>

/* A new field must not be in former padding, which callers do not clear. */
#define ENDS_WITH(type, field)                                                                     \
    _Static_assert(offsetof(type, field) + sizeof(((type *)0)->field) == sizeof(type),             \
                   #type " has padding at its end")
ENDS_WITH(bry_save, note_len);
ENDS_WITH(bry_load, problem);
ENDS_WITH(bry_filter_options, bloom);
ENDS_WITH(bry_filter_shape, grows_to);
ENDS_WITH(bry_filter_stats, bytes);
ENDS_WITH(bry_map_options, kbf);
ENDS_WITH(bry_map_shape, grows_to);
ENDS_WITH(bry_map_stats, bytes_dictionary);
ENDS_WITH(bry_window_options, fbf);
ENDS_WITH(bry_window_shape, grows_to);
ENDS_WITH(bry_window_generation, fill);
ENDS_WITH(bry_window_stats, bytes);
ENDS_WITH(bry_counter_options, log_bytes);
ENDS_WITH(bry_counter_shape, grows_to);
ENDS_WITH(bry_counter_op, value);
ENDS_WITH(bry_counter_entry, value);
ENDS_WITH(bry_counter_stats, unsynced);
ENDS_WITH(bry_index_options, dba);
ENDS_WITH(bry_index_shape, grows_to);
ENDS_WITH(bry_index_unit, error);
ENDS_WITH(bry_index_stats, dropped);

#define GUARD 0xa5
enum { MORE = 24, ROOM = 1024 }; /* bytes that a later version may add; the largest struct */

/* One object of each job, with something in it. */
typedef struct objects {
    bry_filter *filter;
    bry_map *map;
    bry_window *window;
    bry_counter *counters;
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
    assert_int_equal(bry_counter_create(NULL, &all.counters), BRY_OK);
    assert_int_equal(bry_counter_apply(all.counters, hash, "a", 1, 5, 1000, NULL, NULL), BRY_OK);
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
    bry_counter_destroy(all.counters);
    bry_index_destroy(all.index);
    return 0;
}

/* ---- structs that the library fills ------------------------------------------------------------
 */

#define FILL(name, call)                                                                           \
    static bry_status name(void *to)                                                               \
    {                                                                                              \
        return call;                                                                               \
    }
FILL(filter_shape, bry_filter_plan(NULL, to))
FILL(filter_stats, bry_filter_get_stats(all.filter, to))
FILL(filter_options, bry_filter_options_like(all.filter, to))
FILL(map_shape, bry_map_plan(NULL, to))
FILL(map_stats, bry_map_get_stats(all.map, to))
FILL(map_options, bry_map_options_like(all.map, to))
FILL(window_shape, bry_window_plan(NULL, to))
FILL(window_stats, bry_window_get_stats(all.window, to))
FILL(window_options, bry_window_options_like(all.window, to))
FILL(counter_shape, bry_counter_plan(NULL, to))
FILL(counter_stats, bry_counter_get_stats(all.counters, to))
FILL(counter_options, bry_counter_options_like(all.counters, to))
FILL(index_shape, bry_index_plan(NULL, to))
FILL(index_stats, bry_index_get_stats(all.index, to))
FILL(index_options, bry_index_options_like(all.index, to))
FILL(index_unit, bry_index_get_unit(all.index, 0, to))

static const struct {
    bry_status (*fill)(void *to);
    size_t size;
    bool options; /* omitted fields must be 0 */
} filled[] = {
    {filter_shape, sizeof(bry_filter_shape), false},
    {filter_stats, sizeof(bry_filter_stats), false},
    {filter_options, sizeof(bry_filter_options), true},
    {map_shape, sizeof(bry_map_shape), false},
    {map_stats, sizeof(bry_map_stats), false},
    {map_options, sizeof(bry_map_options), true},
    {window_shape, sizeof(bry_window_shape), false},
    {window_stats, sizeof(bry_window_stats), false},
    {window_options, sizeof(bry_window_options), true},
    {counter_shape, sizeof(bry_counter_shape), false},
    {counter_stats, sizeof(bry_counter_stats), false},
    {counter_options, sizeof(bry_counter_options), true},
    {index_shape, sizeof(bry_index_shape), false},
    {index_stats, sizeof(bry_index_stats), false},
    {index_options, sizeof(bry_index_options), true},
    {index_unit, sizeof(bry_index_unit), false},
};
enum { FILLED = sizeof filled / sizeof *filled };

typedef union any_struct {
    size_t struct_size;
    unsigned char bytes[ROOM];
} any_struct;

static bry_status fill(size_t i, size_t size, any_struct *to)
{
    memset(to->bytes, GUARD, sizeof to->bytes);
    to->struct_size = size;
    return filled[i].fill(to);
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
            assert_int_equal(old.struct_size, size);
            if (lost)
                assert_all(&old, sizeof size, ROOM, GUARD);
            else
                assert_memory_equal(old.bytes + sizeof size, whole.bytes + sizeof size,
                                    size - sizeof size);
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
        assert_int_equal(later.struct_size, more);
        assert_memory_equal(later.bytes + sizeof size, whole.bytes + sizeof size,
                            size - sizeof size);
        assert_all(&later, size, more, 0);
        assert_all(&later, more, ROOM, GUARD);
    }
}

TEST(test_not_initialized)
{
    static const size_t wrong[] = {0, 4, 20, SIZE_MAX, (size_t)1 << 32};
    for (size_t i = 0; i < FILLED; i++)
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            any_struct one;
            assert_int_equal(fill(i, wrong[k], &one), BRY_E_RANGE);
            assert_all(&one, sizeof(size_t), ROOM, GUARD);
        }
}

/* ---- structs that the library reads ------------------------------------------------------------
 */

/* NOLINTBEGIN(bugprone-macro-parentheses): an initializer */
#define PLAN(job, initializer, shape_initializer)                                                  \
    static bry_status job##_with(size_t size, unsigned char last)                                  \
    {                                                                                              \
        struct {                                                                                   \
            bry_##job##_options options;                                                           \
            unsigned char more[MORE];                                                              \
        } given = {.options = initializer};                                                        \
        bry_##job##_shape shape = shape_initializer;                                               \
        given.more[MORE - 1] = last;                                                               \
        given.options.struct_size = size == 0 ? sizeof given : size;                               \
        return bry_##job##_plan(&given.options, &shape);                                           \
    }
/* NOLINTEND(bugprone-macro-parentheses) */
PLAN(filter, BRY_FILTER_OPTIONS, BRY_FILTER_SHAPE)
PLAN(map, BRY_MAP_OPTIONS, BRY_MAP_SHAPE)
PLAN(window, BRY_WINDOW_OPTIONS, BRY_WINDOW_SHAPE)
PLAN(counter, BRY_COUNTER_OPTIONS, BRY_COUNTER_SHAPE)
PLAN(index, BRY_INDEX_OPTIONS, BRY_INDEX_SHAPE)

TEST(test_options)
{
    bry_status (*const plans[])(size_t, unsigned char) = {filter_with, map_with, window_with,
                                                          counter_with, index_with};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        assert_int_equal(plans[i](0, 0), BRY_OK); /* an option that is not used */
        assert_int_equal(plans[i](0, 1), BRY_E_RANGE); /* one that is */
        assert_int_equal(plans[i](sizeof(size_t), 0), BRY_OK);
        assert_int_equal(plans[i](sizeof(size_t) + 4, 0), BRY_E_RANGE);
    }
}

TEST(test_loads)
{
    bry_buffer buffer = job_saved(&filter_calls, all.filter);
    struct {
        bry_load load;
        size_t more;
    } given = {BRY_LOAD, 0};
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
        given.more = cases[i].more;
        assert_int_equal(bry_filter_load(&source, &given.load, &loaded), cases[i].status);
        assert_true((loaded != NULL) == (cases[i].status == BRY_OK));
        assert_null(given.load.problem);
        assert_int_equal(bry_index_load_folder("none", &given.load, &(bry_index *){0}),
                         cases[i].status == BRY_OK ? BRY_E_IO : BRY_E_RANGE);
        given.load.problem = NULL;
        bry_filter_destroy(loaded);
    }
    bry_buffer_free(&buffer);
}

/* ---- arrays ------------------------------------------------------------------------------------
 */

TEST(test_generations)
{
    bry_window_generation real[2];
    size_t n = bry_window_generations(all.window, real, sizeof *real, 2);
    assert_true(n >= 2);
    struct {
        bry_window_generation generation;
        uint64_t later;
    } longer[3];
    memset(longer, GUARD, sizeof longer);
    assert_int_equal(bry_window_generations(all.window, &longer[0].generation, sizeof *longer, 2),
                     n);
    struct {
        uint64_t begin, end;
    } shorter[3];
    memset(shorter, GUARD, sizeof shorter);
    assert_int_equal(bry_window_generations(all.window, (bry_window_generation *)(void *)shorter,
                                            sizeof *shorter, 2),
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

TEST(test_entries_and_operations)
{
    struct {
        bry_counter_op op;
        uint64_t later;
    } ops[2] = {{.op = {.id = bry_hash_key(0, "7", 1), .name = "b", .name_len = 1, .delta = 2}},
                {.op = {.id = bry_hash_key(0, "8", 1), .name = "b", .name_len = 1, .delta = 3}}};
    ops[1].later = 1; /* an option this library does not know */
    assert_int_equal(bry_counter_apply_n(all.counters, &ops[0].op, sizeof *ops, 2, 2000),
                     BRY_E_RANGE);
    assert_int_equal(
        bry_counter_apply_n(all.counters, &ops[0].op, sizeof(bry_counter_op) - 8, 1, 2000),
        BRY_E_RANGE);
    ops[1].later = 0;
    assert_int_equal(bry_counter_apply_n(all.counters, &ops[0].op, sizeof *ops, 2, 2000), BRY_OK);
    assert_int_equal(ops[0].op.value, 2);
    assert_int_equal(ops[1].op.value, 5);
    assert_int_equal(ops[1].op.outcome, BRY_COUNTER_APPLIED);

    struct {
        bry_counter_entry entry;
        uint64_t later;
    } entries[4];
    uint64_t cursor = 0;
    memset(entries, GUARD, sizeof entries);
    size_t n = bry_counter_scan(all.counters, &cursor, &entries[0].entry, sizeof *entries, 4);
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
