/*
 * The map's memory: plan, stats and allocator agree to the byte, and when any one allocation of any
 * operation fails, the map is as it was. On both engines.
 */
#include "maplet/maplet.h"
#include "support/map_helpers.h"

enum { KEYS = 700, VALUES = 64, ROOM = 400 }; /* one value more needs memory */

static bry_map_options small(bry_engine engine, failing_allocator *memory)
{
    return (bry_map_options){.struct_size = sizeof(bry_map_options),
                             .engine = engine,
                             .capacity = 300, /* so that it has grown */
                             .error = 1e-9,
                             .seed = 1,
                             .allocator = &memory->allocator};
}

static void test_plan_is_what_create_allocates(void **state)
{
    (void)state;
    static const uint64_t capacities[] = {1, 10, 1000, 100000, 3000000};
    static const double errors[] = {0.1, 1e-3, 1e-6};
    for (int e = 0; e < 2; e++)
        for (int c = 0; c < 5; c++)
            for (int r = 0; r < 3; r++)
                for (unsigned bits = 0; bits <= 12; bits += 6) {
                    failing_allocator memory;
                    failing_allocator_init(&memory);
                    bry_map_options options = small(map_engines[e], &memory);
                    options.capacity = capacities[c];
                    options.error = errors[r];
                    options.value_bits = bits;
                    bry_map_shape shape = BRY_MAP_SHAPE;
                    bry_map *map = NULL;
                    assert_int_equal(bry_map_plan(&options, &shape), BRY_OK);
                    assert_int_equal(memory.calls, 0);
                    assert_int_equal(bry_map_create(&options, &map), BRY_OK);
                    assert_int_equal(memory.now, shape.bytes_empty);
                    assert_int_equal(stats_of(map).bytes, memory.now);
                    assert_true(shape.errors.false_positive <= options.error);
                    assert_true(shape.errors.false_negative + shape.errors.incorrect <=
                                options.error);
                    bry_map_destroy(map);
                    assert_int_equal(memory.now, 0);
                }
}

/* At capacity, with the values planned for: what plan foretells, give or take an eighth. */
static void test_plan_at_capacity(void **state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_map_options options = small(map_engines[e], &memory);
        options.capacity = 30000;
        options.error = 1e-3;
        options.values = 500;
        bry_map_shape shape = BRY_MAP_SHAPE;
        assert_int_equal(bry_map_plan(&options, &shape), BRY_OK);
        bry_map *map = make(options);
        for (uint64_t i = 0; i < 30000; i++)
            (void)bry_map_set(map, key(i), bry_map_value_bytes(&(uint16_t){(uint16_t)(i % 500)}, 2),
                              NULL);
        bry_map_stats stats = stats_of(map);
        assert_int_equal(stats.bytes, memory.now);
        uint64_t bytes = stats.bytes - 1024; /* the values themselves, in a piece of 1,024 */
        assert_true(bytes < shape.bytes * 9 / 8 && bytes > shape.bytes * 7 / 8);
        bry_map_destroy(map);
    }
}

/* ---- failing allocations ------------------------------------------------------------------- */

/* What a map holds, to compare: the value of every key, and what stats count. */
typedef struct snapshot {
    bry_map_stats stats;
    uint8_t answer[KEYS];
    char value[KEYS][16];
} snapshot;

static void take(const bry_map *map, snapshot *now)
{
    memset(now, 0, sizeof *now);
    now->stats = stats_of(map);
    for (uint64_t i = 0; i < KEYS; i++) {
        bry_map_value value = {NULL, 0, 0};
        now->answer[i] = (uint8_t)bry_map_get(map, key(i), &value);
        if (now->answer[i] == BRY_PRESENT) {
            assert_true(value.len < sizeof now->value[i]);
            memcpy(now->value[i], value.bytes, value.len);
        }
    }
}

static void assert_same(const snapshot *a, const snapshot *b)
{
    assert_memory_equal(a->answer, b->answer, sizeof a->answer);
    assert_memory_equal(a->value, b->value, sizeof a->value);
    assert_int_equal(a->stats.items, b->stats.items);
    assert_int_equal(a->stats.values, b->stats.values);
    assert_int_equal(a->stats.tables, b->stats.tables);
}

typedef struct operands {
    bry_map *other; /* to merge with */
    bry_hash hashes[ROOM];
    bry_map_value values[ROOM];
    char bytes[ROOM][16];
    bry_map *made;
    bry_buffer saved;
} operands;

typedef bry_status operation(bry_map *map, operands *with);

static bry_status do_set(bry_map *map, operands *with)
{
    (void)with;
    return bry_map_set(map, key(KEYS - 1), text("brand new"), NULL);
}

static bry_status do_update(bry_map *map, operands *with)
{
    (void)with;
    return bry_map_update(map, key(5), text("brand new"), NULL);
}

static bry_status do_insert(bry_map *map, operands *with)
{
    (void)with;
    return bry_map_add(map, key(KEYS - 1), text("brand new"));
}

static bry_status do_set_n(bry_map *map, operands *with)
{
    return bry_map_set_n(map, with->hashes, with->values, ROOM, NULL);
}

static bry_status do_add_n(bry_map *map, operands *with)
{
    /* Keys from 500 on are not there. */
    return bry_map_add_n(map, with->hashes + 200, with->values + 200, ROOM - 200);
}

static bry_status do_merge(bry_map *map, operands *with)
{
    return bry_map_merge(map, with->other);
}

static bry_status do_clone(bry_map *map, operands *with)
{
    return bry_map_clone(map, NULL, &with->made);
}

static bry_status do_create_like(bry_map *map, operands *with)
{
    return bry_map_create_like(map, NULL, &with->made);
}

static bry_status do_compress(bry_map *map, operands *with)
{
    (void)with;
    return bry_map_compress(map, 0);
}

static bry_status do_load(bry_map *map, operands *with)
{
    bry_view view = {with->saved.bytes, with->saved.len, 0};
    bry_source source = bry_view_source(&view);
    bry_load load = BRY_LOAD;
    load.allocator = &map->allocator;
    bry_status status = bry_map_load(&source, &load, &with->made);
    if (status != BRY_OK)
        assert_non_null(load.problem);
    return status;
}

/* A map of 500 keys and what operations on it need. */
static bry_map *prepare(bry_engine engine, failing_allocator *memory, operands *with)
{
    bry_map *map = make(small(engine, memory));
    for (uint64_t i = 0; i < 500; i++)
        set(map, key(i), numbered(i % VALUES));
    assert_int_equal(bry_map_create_like(map, NULL, &with->other), BRY_OK);
    for (uint64_t i = 600; i < 640; i++)
        set(with->other, key(i), numbered(i % (VALUES + 20)));
    for (unsigned i = 0; i < ROOM; i++) {
        with->hashes[i] = key(300 + i);
        bry_map_value value = numbered(i % (VALUES + 30));
        memcpy(with->bytes[i], value.bytes, value.len);
        with->values[i] = bry_map_value_bytes(with->bytes[i], value.len);
    }
    bry_sink sink = bry_buffer_sink(&with->saved);
    assert_int_equal(bry_map_save(map, &sink, NULL), BRY_OK);
    return map;
}

static void fail_each_allocation(bry_engine engine, operation *run, bool keep_failing)
{
    static snapshot before, after;
    failing_allocator memory;
    failing_allocator_init(&memory);
    operands with = {.saved = BRY_BUFFER};
    bry_map *map = prepare(engine, &memory, &with);
    take(map, &before);
    uint64_t failed = 0;
    for (uint64_t failing = 1;; failing++) {
        failing_allocator_restart(&memory);
        memory.fail_at = failing;
        memory.keep_failing = keep_failing;
        bry_status status = run(map, &with);
        bool met = memory.calls >= failing;
        memory.fail_at = 0;
        memory.keep_failing = false;
        assert_int_equal(stats_of(map).bytes + stats_of(with.other).bytes +
                             (with.made ? stats_of(with.made).bytes : 0),
                         memory.now);
        if (status == BRY_OK && !met)
            break;
        if (status == BRY_OK) { /* it could do without; begin again */
            bry_map_destroy(with.made);
            bry_map_destroy(with.other);
            bry_map_destroy(map);
            bry_buffer_free(&with.saved);
            with = (operands){.saved = BRY_BUFFER};
            map = prepare(engine, &memory, &with);
            continue;
        }
        assert_int_equal(status, BRY_E_NOMEM);
        assert_null(with.made);
        take(map, &after);
        assert_same(&before, &after);
        failed++;
    }
    assert_true(failed > 0);
    bry_map_destroy(with.made);
    bry_map_destroy(with.other);
    bry_map_destroy(map);
    bry_buffer_free(&with.saved);
    assert_int_equal(memory.now, 0);
    assert_int_equal(memory.blocks, 0);
}

static void test_failing_allocations(void **state)
{
    (void)state;
    static operation *const operations[] = {do_set,   do_update, do_insert,      do_set_n, do_add_n,
                                            do_merge, do_clone,  do_create_like, do_load};
    for (int e = 0; e < 2; e++)
        for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
            fail_each_allocation(map_engines[e], operations[i], false);
            fail_each_allocation(map_engines[e], operations[i], true);
        }
    fail_each_allocation(BRY_ENGINE_KBF, do_compress, false);
}

static void test_failing_create(void **state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_map_options options = small(map_engines[e], &memory);
        bry_map *map = NULL;
        for (uint64_t failing = 1; !map; failing++) {
            failing_allocator_restart(&memory);
            memory.fail_at = failing;
            bry_status status = bry_map_create(&options, &map);
            assert_int_equal(status, map ? BRY_OK : BRY_E_NOMEM);
            if (!map)
                assert_int_equal(memory.now, 0);
        }
        bry_map_destroy(map);
    }
}

/* Clearing, deleting and removing never fail, whatever the allocator says. */
static void test_without_memory(void **state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        operands with = {.saved = BRY_BUFFER};
        bry_map *map = prepare(map_engines[e], &memory, &with);
        failing_allocator_restart(&memory);
        memory.fail_at = 1;
        memory.keep_failing = true;
        bry_answer was = BRY_UNSURE;
        for (uint64_t i = 0; i < 100; i++) {
            assert_int_equal(bry_map_del(map, key(i), &was), BRY_OK);
            assert_int_equal(was, BRY_PRESENT);
            assert_int_equal(
                bry_map_del_pair(map, key(100 + i), numbered((100 + i) % VALUES), &was), BRY_OK);
            assert_int_equal(was, BRY_PRESENT);
        }
        assert_int_equal(stats_of(map).items, 300);
        bry_map_clear(map);
        assert_int_equal(stats_of(map).items, 0);
        for (uint64_t i = 0; i < KEYS; i++)
            assert_int_equal(bry_map_get(map, key(i), NULL), BRY_ABSENT);
        memory.fail_at = 0;
        memory.keep_failing = false;
        set(map, key(1), text("again"));
        assert_true(has(map, key(1), text("again")));
        assert_int_equal(stats_of(map).bytes + stats_of(with.other).bytes, memory.now);
        bry_map_destroy(map);
        bry_map_destroy(with.other);
        bry_buffer_free(&with.saved);
        assert_int_equal(memory.now, 0);
    }
}

/*
 * compact, with hashes that all lead to one segment, so that it spills: a batch then works on a
 * copy, and is all or nothing there too.
 */
static void test_batch_on_spilled_segment(void **state)
{
    (void)state;
    enum { N = 2600 };
    static bry_hash hashes[N];
    static bry_map_value values[N];
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry_map *map = make((bry_map_options){.capacity = 1 << 14,
                                          .error = 0.25,
                                          .fixed = true,
                                          .value_bits = 8,
                                          .allocator = &memory.allocator});
    /* A range of 2^16; fingerprints that are multiples of 2^4 are in one segment of up to 16. */
    for (uint64_t i = 0; i < N; i++) {
        hashes[i] = (bry_hash){i, i << 52};
        values[i] = bry_map_value_number(i % 251);
    }
    for (unsigned i = 0; i < N; i++)
        set(map, hashes[i], values[i]);
    assert_true(((const bry__table *)((bry__maplet *)map->keys)->table[0])->overflow.n > 0);
    for (unsigned i = 0; i < N; i++)
        values[i].number ^= 1;
    uint64_t failed = 0;
    for (memory.fail_at = 1;; memory.fail_at += 7) {
        failing_allocator_restart(&memory);
        bry_status status = bry_map_set_n(map, hashes, values, N, NULL);
        if (status == BRY_OK)
            break;
        failed++;
        assert_int_equal(status, BRY_E_NOMEM);
        for (unsigned i = 0; i < N; i++)
            assert_true(has(map, hashes[i], bry_map_value_number(values[i].number ^ 1)));
    }
    assert_true(failed > 0);
    for (unsigned i = 0; i < N; i++)
        assert_true(has(map, hashes[i], values[i]));
    bry_map_destroy(map);
    assert_int_equal(memory.now, 0);
}

/*
 * A map that grows, every key with a value of its own: no single call takes much memory, and so
 * none moves or reads all that is there. Values that are replaced come back all the same.
 */
static void test_growth_in_steps(void **state)
{
    (void)state;
    enum { N = 150000, MOST = 300 << 10 };
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry_map *map =
        make((bry_map_options){.capacity = 1000, .error = 1e-9, .allocator = &memory.allocator});
    for (uint64_t i = 0; i < N; i++) {
        failing_allocator_restart(&memory);
        uint64_t before = memory.now;
        set(map, key(i), numbered(i));
        assert_in_range(memory.peak - before, 0, MOST);
    }
    assert_int_equal(stats_of(map).values, N);
    for (uint64_t i = 0; i < N; i += 2)
        set(map, key(i), numbered(N + i));
    for (uint64_t i = 0; i < N; i += 5)
        assert_int_equal(bry_map_del(map, key(i), NULL), BRY_OK);
    for (uint64_t i = 0; i < 5000; i++)
        set(map, key(2 * N + i), numbered(3 * N + i));
    bry_map_stats stats = stats_of(map);
    assert_in_range(stats.values, 0, stats.items + stats.items / 32);
    for (uint64_t i = 1; i < N; i += 1001)
        if (i % 5 != 0)
            assert_true(has(map, key(i), numbered(i % 2 ? i : N + i)));
    bry_map_destroy(map);
    assert_int_equal(memory.now, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_is_what_create_allocates),
        cmocka_unit_test(test_plan_at_capacity),
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_failing_create),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_batch_on_spilled_segment),
        cmocka_unit_test(test_growth_in_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
