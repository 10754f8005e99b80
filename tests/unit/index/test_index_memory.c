/*
 * The index's memory: plan, stats and allocator agree to the byte, and when any one allocation of
 * any operation fails, the index is as it was. On every engine.
 */
#include "index/index_keep.h"
#include "support/index_helpers.h"
#include "support/recording_io.h"

enum { ELEMENTS = 900, BATCH = 250 };

static bry_index_options small(bry_engine engine, failing_allocator *memory)
{
    return (bry_index_options){.struct_size = sizeof(bry_index_options),
                               .engine = engine,
                               .units = 4,
                               .unit_capacity = 90, /* so that it has grown */
                               .error = 1e-9,
                               .seed = 1,
                               .allocator = &memory->allocator};
}

static void test_plan_is_what_create_allocates(void **state)
{
    (void)state;
    static const uint32_t units[] = {1, 64, 5000};
    static const uint64_t capacities[] = {1, 1000, 65536};
    static const double errors[] = {0.1, 1e-3, 1e-6};
    for (int e = 0; e < INDEX_ENGINES; e++)
        for (int i = 0; i < 27; i++) {
            failing_allocator memory;
            failing_allocator_init(&memory);
            bry_index_options options = small(index_engines[e], &memory);
            options.units = units[i % 3];
            options.unit_capacity = capacities[i / 3 % 3];
            options.error = errors[i / 9];
            bry_index_shape shape = BRY_INDEX_SHAPE;
            bry_index *index = NULL;
            assert_int_equal(bry_index_plan(&options, &shape), BRY_OK);
            assert_int_equal(memory.calls, 0);
            assert_int_equal(bry_index_create(&options, &index), BRY_OK);
            assert_int_equal(memory.now, shape.bytes_empty);
            assert_int_equal(stats_of(index).bytes, memory.now);
            assert_true(shape.error <= options.error);
            bry_index_destroy(index);
            assert_int_equal(memory.now, 0);
        }
}

/* With all units full: what plan foretells, give or take an eighth. */
static void test_plan_at_capacity(void **state)
{
    (void)state;
    for (int e = 0; e < INDEX_ENGINES; e++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_index_options options = small(index_engines[e], &memory);
        options.units = 20;
        options.unit_capacity = 4000;
        options.error = 1e-3;
        bry_index_shape shape = BRY_INDEX_SHAPE;
        assert_int_equal(bry_index_plan(&options, &shape), BRY_OK);
        bry_index *index = make(options);
        add_many(index, 0, 80000, BRY_INDEX_NEWEST);
        assert_int_equal(stats_of(index).bytes, memory.now);
        assert_true(memory.now < shape.bytes * 9 / 8 && memory.now > shape.bytes * 7 / 8);
        bry_index_destroy(index);
    }
}

/* The bounds that index.h states for plans, when no work is waiting. */
static void test_plan_is_as_good_as_stated(void **state)
{
    (void)state;
    static const struct {
        uint64_t capacity;
        double within;
    } sizes[] = {{1, 1.0 / 3}, {10, 1.0 / 3}, {100, 0.08}, {1000, 0.04}, {20000, 0.04}};
    static const uint32_t units[] = {1, 5, 20, 64, 100};
    for (int e = 0; e < INDEX_ENGINES; e++)
        for (size_t s = 0; s < 5; s++)
            for (size_t u = 0; u < 5; u++) {
                bry_index_options options = {.struct_size = sizeof options,
                                             .engine = index_engines[e],
                                             .units = units[u],
                                             .unit_capacity = sizes[s].capacity,
                                             .error = 1e-3,
                                             .seed = 1};
                if (options.units * options.unit_capacity > 150000)
                    continue;
                bry_index_shape shape = BRY_INDEX_SHAPE;
                assert_int_equal(bry_index_plan(&options, &shape), BRY_OK);
                bry_index *index = NULL;
                assert_int_equal(bry_index_create(&options, &index), BRY_OK);
                add_many(index, 0, options.units * options.unit_capacity, BRY_INDEX_NEWEST);
                uint64_t left = 1;
                while (left > 0)
                    assert_int_equal(bry_index_step(index, NULL, 1 << 20, &left), BRY_OK);
                double ratio = (double)stats_of(index).bytes / (double)shape.bytes;
                assert_true(ratio > 1 - sizes[s].within && ratio < 1 + sizes[s].within);
                bry_index_destroy(index);
            }
}

/* ---- failing allocations ------------------------------------------------------------------- */

/* Grown, with units that are sealed, dropped and full, and elements in many units. */
static bry_index *busy(bry_index_options options)
{
    bry_index *index = make(options);
    add_many(index, 0, 800, BRY_INDEX_NEWEST);
    for (uint32_t i = 0; i < 14; i++) {
        uint32_t unit = open_unit(index, i);
        add(index, 5, unit);
        add_many(index, 40 * (uint64_t)i, 20, unit);
    }
    assert_int_equal(bry_index_drop(index, 2), BRY_OK);
    assert_int_equal(bry_index_seal(index, 12), BRY_OK);
    return index;
}

typedef struct operands {
    bry_hash hashes[BATCH];
    bry_buffer shipped, saved; /* a unit of another index, and a whole one */
    recording_io disk; /* with the whole one in a folder */
    bry_index *made;
    bry_allocator *allocator;
} operands;

typedef bry_status operation(bry_index *index, operands *with);

static bry_status do_open(bry_index *index, operands *with)
{
    uint32_t unit;
    (void)with;
    bry_status status = BRY_OK;
    for (int i = 0; i < 8 && status == BRY_OK; i++) /* until a table has to grow */
        status = bry_index_open(index, 0, &unit);
    return status;
}

static bry_status do_add(bry_index *index, operands *with)
{
    (void)with;
    bry_status status = BRY_OK;
    for (uint64_t i = 0; i < 60 && status == BRY_OK; i++)
        status = bry_index_add(index, element(5000 + i), BRY_INDEX_NEWEST, NULL, NULL);
    return status;
}

static bry_status do_add_n(bry_index *index, operands *with)
{
    return bry_index_add_n(index, with->hashes, BATCH, BRY_INDEX_NEWEST, NULL, NULL);
}

static bry_status do_add_n_named(bry_index *index, operands *with)
{
    return bry_index_add_n(index, with->hashes, 65, 15, NULL, NULL);
}

static bry_status do_merge_units(bry_index *index, operands *with)
{
    (void)with;
    return bry_index_merge_units(index, 13, 14);
}

static bry_status do_clone(bry_index *index, operands *with)
{
    return bry_index_clone(index, NULL, &with->made);
}

static bry_status do_install(bry_index *index, operands *with)
{
    bry_view view = {with->shipped.bytes, with->shipped.len, 0};
    bry_source source = bry_view_source(&view);
    uint32_t unit;
    return bry_index_install_unit(index, &source, NULL, &unit);
}

static bry_status do_load(bry_index *index, operands *with)
{
    (void)index;
    bry_view view = {with->saved.bytes, with->saved.len, 0};
    bry_source source = bry_view_source(&view);
    bry_load load = BRY_LOAD;
    load.allocator = with->allocator;
    return bry_index_load(&source, &load, &with->made);
}

static bry_status do_load_folder(bry_index *index, operands *with)
{
    (void)index;
    bry_load load = BRY_LOAD;
    load.allocator = with->allocator;
    return bry__index_load_folder(&with->disk.io, "f", &load, &with->made);
}

static bry_status do_step(bry_index *index, operands *with)
{
    (void)with;
    return bry_index_step(index, NULL, 1000000, NULL);
}

static const struct {
    operation *run;
    bool many; /* several calls: those before the one that failed have done their part */
} operations[] = {
    {do_open, true},         {do_add, true},    {do_add_n, false},   {do_add_n_named, false},
    {do_merge_units, false}, {do_clone, false}, {do_install, false}, {do_load, false},
    {do_load_folder, false}, {do_step, true},
};

static bry_buffer ship(bry_engine engine, failing_allocator *memory)
{
    bry_index *apart = make(small(engine, memory));
    add_many(apart, 2000, 80, open_unit(apart, 9));
    bry_buffer bytes = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&bytes);
    assert_int_equal(bry_index_save_unit(apart, 0, &sink, NULL), BRY_OK);
    bry_index_destroy(apart);
    return bytes;
}

/* To the byte: replicas do not hear of what one server had no memory for. */
static void assert_same_bytes(const bry_index *index, const bry_buffer *bytes)
{
    bry_buffer now = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&now);
    assert_int_equal(bry_index_save(index, &sink, NULL), BRY_OK);
    assert_int_equal(now.len, bytes->len);
    assert_memory_equal(now.bytes, bytes->bytes, now.len);
    bry_buffer_free(&now);
}

static void test_failing_allocations(void **state)
{
    (void)state;
    static operands with;
    for (int e = 0; e < INDEX_ENGINES; e++) {
        failing_allocator memory, aside;
        failing_allocator_init(&memory);
        failing_allocator_init(&aside);
        bry_index *before = busy(small(index_engines[e], &aside));
        with = (operands){.saved = BRY_BUFFER, .allocator = &memory.allocator};
        with.shipped = ship(index_engines[e], &aside);
        bry_sink sink = bry_buffer_sink(&with.saved);
        assert_int_equal(bry_index_save(before, &sink, NULL), BRY_OK);
        recording_init(&with.disk);
        assert_int_equal(bry__index_save_folder(&with.disk.io, before, "f", NULL), BRY_OK);
        for (uint64_t i = 0; i < BATCH; i++)
            with.hashes[i] = element(3000 + i / 2 * (i % 3)); /* repeats among them */

        uint64_t all = 0;
        for (size_t o = 0; o < sizeof operations / sizeof operations[0]; o++) {
            uint64_t failures = 0;
            for (uint64_t at = 1;; at++) {
                bry_index *index = busy(small(index_engines[e], &memory));
                failing_allocator_restart(&memory);
                memory.fail_at = at;
                with.made = NULL;
                bry_status status = operations[o].run(index, &with);
                bool failed = memory.calls >= at;
                memory.fail_at = 0;
                if (status != BRY_OK) {
                    assert_int_equal(status, BRY_E_NOMEM);
                    assert_null(with.made);
                    failures++;
                    if (!operations[o].many)
                        assert_same_index(before, index, ELEMENTS);
                    if (operations[o].run == do_install)
                        assert_same_bytes(index, &with.saved);
                    /* It goes on as if nothing had been. */
                    assert_int_equal(operations[o].run(index, &with), BRY_OK);
                }
                if (with.made)
                    assert_same_index(before, with.made, ELEMENTS);
                bry_index_destroy(with.made);
                assert_int_equal(stats_of(index).bytes, memory.now);
                for (uint64_t i = 180; i < 800; i += 7) /* unit 2 of 90 each is gone */
                    if (i < 180 || i >= 270)
                        assert_int_equal(bry_index_has(index, element(i)), BRY_PRESENT);
                bry_index_destroy(index);
                assert_int_equal(memory.now, 0);
                if (!failed)
                    break;
            }
            if (operations[o].run != do_step && index_engines[e] == BRY_ENGINE_COMPACT)
                assert_true(failures > 0);
            all += failures;
        }
        assert_true(all > 30);
        bry_index_destroy(before);
        bry_buffer_free(&with.saved);
        bry_buffer_free(&with.shipped);
        recording_free(&with.disk);
        assert_int_equal(aside.now, 0);
    }
}

static void test_create_failing(void **state)
{
    (void)state;
    for (int e = 0; e < INDEX_ENGINES; e++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_index_options options = small(index_engines[e], &memory);
        bry_index *index = NULL;
        for (memory.fail_at = 1;; memory.fail_at++) {
            failing_allocator_restart(&memory);
            bry_status status = bry_index_create(&options, &index);
            if (status == BRY_OK)
                break;
            assert_int_equal(status, BRY_E_NOMEM);
            assert_null(index);
            assert_int_equal(memory.now, 0);
        }
        assert_true(memory.fail_at > 2);
        bry_index_destroy(index);
    }
}

/* Without memory, clearing still leaves no unit; and dropping works as always. */
static void test_clear_and_drop_without_memory(void **state)
{
    (void)state;
    for (int e = 0; e < INDEX_ENGINES; e++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_index *index = busy(small(index_engines[e], &memory));
        failing_allocator_restart(&memory);
        memory.fail_at = 1;
        memory.keep_failing = true;
        uint32_t units[64];
        size_t count = bry_index_units(index, units, 64);
        for (size_t i = 0; i + 3 < count; i++)
            assert_int_equal(bry_index_drop(index, units[i]), BRY_OK);
        assert_int_equal(stats_of(index).units, 3);
        bry_index_clear(index);
        memory.fail_at = 0;
        memory.keep_failing = false;
        assert_int_equal(stats_of(index).units, 0);
        for (uint64_t i = 0; i < ELEMENTS; i++)
            assert_absent(index, i);
        assert_int_equal(open_unit(index, 0), 0);
        add_many(index, 100, 90, 0);
        finish_steps(index);
        for (uint64_t i = 0; i < ELEMENTS; i++)
            if (i >= 100 && i < 190)
                assert_unit(index, i, 0);
            else
                assert_absent(index, i);
        assert_int_equal(stats_of(index).bytes, memory.now);
        bry_index_destroy(index);
        assert_int_equal(memory.now, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_is_what_create_allocates),
        cmocka_unit_test(test_plan_at_capacity),
        cmocka_unit_test(test_plan_is_as_good_as_stated),
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_create_failing),
        cmocka_unit_test(test_clear_and_drop_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
