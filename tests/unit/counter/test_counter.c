/* The table of counters in memory: every call, with both engines. */
#include <math.h>
#include <stdio.h>

#include "support/counter_helpers.h"
#include "support/failing_allocator.h"
#include "support/job_calls.h"
#include "support/like.h"

static const bry_engine engines[] = {BRY_ENGINE_COMPACT, BRY_ENGINE_FBF};
enum { ENGINES = sizeof engines / sizeof *engines };

static bry_counters_options options_for(bry_engine engine)
{
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    options.engine = engine;
    options.seed = 1;
    options.window = 1000;
    return options;
}

static bry_counters *make(const bry_counters_options *options)
{
    bry_counters *counters;
    assert_int_equal(bry_counters_create(options, &counters), BRY_OK);
    return counters;
}

/* ---- making --------------------------------------------------------------------------------- */

TEST(plans)
{
    bry_counters_shape shape = {0};
    assert_int_equal(bry_counters_plan(NULL, &shape), BRY_OK);
    assert_int_equal(shape.engine, BRY_ENGINE_COMPACT);
    assert_int_equal(shape.window, 60000);
    assert_int_equal(shape.capacity, 1000);
    assert_true(shape.error > 0 && shape.error <= 1e-9);
    assert_true(shape.longest > 60000 && shape.longest <= 70000);
    assert_true(shape.bytes > 2000 && shape.bytes < 40000);
    assert_true(shape.bytes_per_counter >= 16 + 8 + 8 && shape.bytes_per_counter <= 64);

    for (int i = 0; i < ENGINES; i++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry_counters_options options = options_for(engines[i]);
        options.allocator = &memory.allocator;
        assert_int_equal(bry_counters_plan(&options, &shape), BRY_OK);
        bry_counters *counters = make(&options);
        assert_int_equal(memory.now, shape.bytes_empty);
        assert_int_equal(counter_stats(counters).bytes, shape.bytes_empty);
        bry_counters_destroy(counters);
        options.capacity = 1; /* smaller than the rest of the table */
        options.error = 0.5;
        assert_int_equal(bry_counters_plan(&options, &shape), BRY_OK);
        assert_true(shape.bytes >= shape.bytes_empty);
        assert_int_equal(memory.blocks, 0);
    }
    bry_counters_destroy(NULL);
}

TEST(ranges)
{
    bry_counters_shape shape = {0};
    bry_counters *counters;
#define REFUSED(field, bad, status)                                                                \
    do {                                                                                           \
        bry_counters_options options = BRY_COUNTERS_OPTIONS;                                       \
        options.field = (bad);                                                                     \
        assert_int_equal(bry_counters_plan(&options, &shape), (status));                           \
        assert_int_equal(bry_counters_create(&options, &counters), (status));                      \
    } while (0)
    REFUSED(engine, BRY_ENGINE_KBF, BRY_E_UNSUPPORTED);
    REFUSED(engine, (bry_engine)99, BRY_E_RANGE);
    REFUSED(window, (UINT64_C(1) << 52) + 1, BRY_E_RANGE);
    REFUSED(capacity, (UINT64_C(1) << 40) + 1, BRY_E_RANGE);
    REFUSED(error, 1e-13, BRY_E_RANGE);
    REFUSED(error, 0.6, BRY_E_RANGE);
    REFUSED(error, -1, BRY_E_RANGE);
    REFUSED(sync, (bry_counters_sync_policy)2, BRY_E_RANGE);
    REFUSED(max_bytes, 100, BRY_E_RANGE);
#undef REFUSED
    /* A limit of exactly the needed memory is enough. */
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    assert_int_equal(bry_counters_plan(&options, &shape), BRY_OK);
    options.max_bytes = shape.bytes_least;
    assert_int_equal(bry_counters_plan(&options, &shape), BRY_OK);
    options.max_bytes--;
    assert_int_equal(bry_counters_plan(&options, &shape), BRY_E_RANGE);
}

/* With the smallest limit, an operation can be applied. */
TEST(least_limit)
{
    static const uint64_t capacities[] = {1, 1000, 1000000, 100000000};
    for (int e = 0; e < ENGINES; e++)
        for (int i = 0; i < 4; i++) {
            bry_counters_options options = options_for(engines[e]);
            options.capacity = capacities[i];
            bry_counters_shape shape = {0};
            assert_int_equal(bry_counters_plan(&options, &shape), BRY_OK);
            options.max_bytes = shape.bytes_least;
            bry_counters *c = make(&options);
            assert_int_equal(bry_counters_apply(c, bry_hash_key(1, "a", 1), "sixteen bytes ..", 16,
                                                1, 5, NULL, NULL),
                             BRY_OK);
            bry_counters_destroy(c);
        }
}

/* 0 is a valid time: max_skew counts from it, and a retry after it is a repeat. */
TEST(time_zero)
{
    for (int e = 0; e < ENGINES; e++)
        for (int way = 0; way < 2; way++) {
            bry_counters_options options = options_for(engines[e]);
            options.max_skew = 100;
            bry_counters *c = make(&options);
            bry_hash id = bry_hash_key(1, "a", 1);
            int64_t value = 0;
            assert_int_equal(bry_counters_apply(c, id, "n", 1, 1, 0, NULL, &value), BRY_OK);
            if (way) { /* the same after it was saved and loaded */
                bry_counters *loaded = job_reloaded(BRY_JOB_COUNTERS, c);
                bry_counters_destroy(c);
                c = loaded;
            }
            assert_int_equal(bry_counters_apply(c, id, "n", 1, 1, 1000000, NULL, NULL), BRY_E_SKEW);
            bry_counters_outcome outcome = BRY_COUNTERS_APPLIED;
            assert_int_equal(bry_counters_apply(c, id, "n", 1, 1, 100, &outcome, &value), BRY_OK);
            assert_int_equal(outcome, BRY_COUNTERS_REPEAT);
            assert_int_equal(value, 1);
            bry_counters_destroy(c);
            /* Advancing to 0 begins time, too. */
            c = make(&options);
            assert_int_equal(bry_counters_advance(c, 0), BRY_OK);
            assert_int_equal(bry_counters_apply(c, id, "n", 1, 1, 101, NULL, NULL), BRY_E_SKEW);
            bry_counters_destroy(c);
        }
}

/* Two tables without a seed do not share one. */
TEST(seeds)
{
    bry_counters *a = make(NULL), *b = make(NULL);
    assert_true(bry_counters_seed(a) != 0 && bry_counters_seed(a) != bry_counters_seed(b));
    bry_counters_options like = counters_like(a);
    bry_counters *c = make(&like);
    assert_int_equal(bry_counters_seed(c), bry_counters_seed(a));
    assert_int_equal(counter_stats(c).window, 60000);
    assert_true(counter_stats(c).promised_error == 1e-9);
    bry_counters_destroy(a);
    bry_counters_destroy(b);
    bry_counters_destroy(c);
}

/* An id of one counter: the formula is fixed, since saved tables contain such ids. */
TEST(ids_of_one_counter)
{
    bry_counters *c = make(NULL);
    static const char *const names[] = {"", "n", "a longer name of a counter"};
    for (size_t i = 0; i < 3; i++) {
        size_t len = strlen(names[i]);
        bry_hash id = bry_counters_prepare(c, names[i], len, "id", 2);
        bry_hash same = bry_hash_key(bry_hash_key(bry_counters_seed(c), names[i], len).lo, "id", 2);
        assert_true(id.lo == same.lo && id.hi == same.hi);
        bry_counters_outcome outcome;
        assert_int_equal(bry_counters_apply(c, id, names[i], len, 1, 1, &outcome, NULL), BRY_OK);
        assert_int_equal(outcome, BRY_COUNTERS_APPLIED);
    }
    bry_counters_destroy(c);
}

/* ---- counting ------------------------------------------------------------------------------- */

TEST(names)
{
    bry_counters_options options = options_for(BRY_ENGINE_AUTO);
    bry_counters *c = make(&options);
    static char longest[BRY_COUNTERS_NAME_MAX + 1];
    memset(longest, 'x', sizeof longest);
    int64_t value = 3;
    bry_counters_outcome outcome = (bry_counters_outcome)7;
    assert_int_equal(
        bry_counters_apply(c, counter_id(1), longest, sizeof longest, 1, 5, &outcome, &value),
        BRY_E_TOOLONG);
    assert_true(value == 3 && outcome == (bry_counters_outcome)7);
    assert_int_equal(bry_counters_time(c), 0);
    assert_int_equal(bry_counters_get(c, longest, sizeof longest, &value), BRY_ABSENT);
    bry_answer was = BRY_PRESENT;
    assert_int_equal(bry_counters_del(c, longest, sizeof longest, &was), BRY_OK);
    assert_int_equal(was, BRY_ABSENT);
    assert_int_equal(
        bry_counters_apply(c, counter_id(1), longest, sizeof longest - 1, 1, 5, NULL, &value),
        BRY_OK);
    /* Zeros are bytes like others. */
    static const char zeros[2][3] = {{0, 'a', 0}, {0, 'b', 0}};
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(
            bry_counters_apply(c, counter_id(10 + i), zeros[i % 2], 3, i, 5, NULL, &value), BRY_OK);
    const void *asked[] = {zeros[0], zeros[1], longest, "none"};
    size_t lens[] = {3, 3, BRY_COUNTERS_NAME_MAX, 4};
    int64_t values[4] = {0, 0, 0, -1}; /* the last is not written */
    uint8_t answers[4];
    bry_counters_get_n(c, asked, lens, 4, values, answers);
    for (unsigned i = 0; i < 4; i++) {
        static const int64_t want[] = {2, 4, 1, -1};
        assert_int_equal(answers[i], i < 3 ? BRY_PRESENT : BRY_ABSENT);
        assert_int_equal(values[i], want[i]);
    }
    memset(answers, BRY_UNSURE, sizeof answers);
    bry_counters_get_n(c, asked, lens, 4, NULL, answers);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(answers[i], i < 3 ? BRY_PRESENT : BRY_ABSENT);
    bry_counters_destroy(c);
}

/* ---- batches -------------------------------------------------------------------------------- */

static bry_counters_op op(uint64_t i, const char *name, int64_t delta)
{
    return (bry_counters_op){
        counter_id(i), name, strlen(name), delta, (bry_counters_outcome)7, 0, 77};
}

#define expect_op(op, want_outcome, want_value)                                                    \
    do {                                                                                           \
        assert_int_equal((op).outcome, (want_outcome));                                            \
        assert_true((op).value == (want_value));                                                   \
    } while (0)

/* A large batch equals single calls. */
TEST(batches_are_single_calls)
{
    enum { OPS = 5000 };
    for (int e = 0; e < ENGINES; e++) {
        bry_counters_options options = options_for(engines[e]);
        options.error = 0.1; /* so that false positives occur, also within a batch */
        options.capacity = OPS;
        bry_counters *one = make(&options), *many = make(&options);
        static bry_counters_op ops[OPS];
        static char text[OPS][8];
        uint64_t lost = 0;
        for (int round = 0; round < 3; round++) {
            for (unsigned i = 0; i < OPS; i++) {
                snprintf(text[i], sizeof text[i], "%u", i % 700);
                ops[i] = op((uint64_t)round * 4000 + i, text[i], i);
            }
            assert_int_equal(bry_counters_apply_n(many, ops, OPS, 10), BRY_OK);
            for (unsigned i = 0; i < OPS; i++) {
                counter_expect(one, (uint64_t)round * 4000 + i, text[i], i, 10, ops[i].outcome,
                               ops[i].value);
                lost += ops[i].outcome == BRY_COUNTERS_REPEAT;
            }
        }
        assert_true(lost > 2000 + 50); /* the repeats, and some lost ones */
        /* For a batch, the error after it counts. */
        double risk_one = counter_stats(one).expected_lost;
        double risk_many = counter_stats(many).expected_lost;
        assert_true(risk_one > 0 && risk_many >= risk_one && risk_many < 2 * risk_one);
        bry_counters_destroy(one);
        bry_counters_destroy(many);
    }
}

/* 26 bytes per operation plus names: 16 MiB in total. */
TEST(batches_have_a_largest_size)
{
    enum { OPS = 256 };
    static char name[BRY_COUNTERS_NAME_MAX];
    static bry_counters_op ops[OPS];
    bry_counters_options options = options_for(BRY_ENGINE_AUTO);
    bry_counters *c = make(&options);
    size_t most = (1u << 24) - 24;
    for (unsigned i = 0; i < OPS; i++) {
        ops[i] = (bry_counters_op){.id = counter_id(i), .name = name, .delta = 1};
        ops[i].name_len = i < OPS - 1 ? BRY_COUNTERS_NAME_MAX - 10 : 0;
        most -= 26 + ops[i].name_len;
    }
    assert_true(most < BRY_COUNTERS_NAME_MAX);
    ops[OPS - 1].name_len = most + 1;
    assert_int_equal(bry_counters_apply_n(c, ops, OPS, 5), BRY_E_TOOLONG);
    assert_int_equal(counter_stats(c).ids, 0);
    ops[OPS - 1].name_len = most;
    assert_int_equal(bry_counters_apply_n(c, ops, OPS, 5), BRY_OK);
    assert_int_equal(counter_stats(c).ids, OPS);
    bry_counters_destroy(c);
}

/* ---- the limit ------------------------------------------------------------------------------ */

TEST(full)
{
    for (int e = 0; e < ENGINES; e++) {
        bry_counters_options options = options_for(engines[e]);
        options.max_bytes = 200000;
        bry_counters *c = make(&options);
        uint64_t i = 0;
        bry_status status;
        while ((status = counter_try(c, i, "a", 1, 1000)) == BRY_OK)
            i++;
        assert_int_equal(status, BRY_E_FULL);
        assert_true(i > 10000 && i < 40000);
        assert_true(counter_stats(c).bytes <= options.max_bytes);
        assert_int_equal(counter_value(c, "a"), (int64_t)i);
        assert_int_equal(bry_counters_has(c, counter_id(i), 1000), BRY_ABSENT);
        assert_int_equal(counter_stats(c).refused_full, 1);
        assert_true(counter_stats(c).estimated_error <= 1e-9);
        /* Repeats are still recognised, but a batch with repeats and a new operation is refused. */
        for (uint64_t k = 0; k < i; k += 97)
            counter_repeat(c, k, "a", 1, 1001, (int64_t)i);
        bry_counters_op ops[] = {op(0, "a", 1), op(i, "a", 1)};
        assert_int_equal(bry_counters_apply_n(c, ops, 2, 1001), BRY_E_FULL);
        /* Refusals advance the time, so that expired ids make room. */
        uint64_t now = 1001, refused = 0;
        while (counter_try(c, i, "a", 1, now) == BRY_E_FULL) {
            assert_int_equal(bry_counters_time(c), now);
            now += 20;
            assert_true(++refused < 200);
        }
        assert_true(refused > 0);
        for (uint64_t k = 0; k < i && now <= 2000; k++) /* ids within the window stay */
            assert_int_equal(bry_counters_has(c, counter_id(k), now), BRY_PRESENT);
        assert_int_equal(counter_stats(c).refused_full, 2 + refused);
        counter_repeat(c, i, "a", 1, now, (int64_t)i + 1);
        bry_counters_destroy(c);
    }
}

TEST(full_of_names)
{
    bry_counters_options options = options_for(BRY_ENGINE_AUTO);
    options.max_bytes = 10000000;
    bry_counters *c = make(&options);
    char name[32768]; /* much more than an id needs */
    unsigned n = 0;
    bry_status status;
    do {
        memset(name, 'n', sizeof name);
        memcpy(name, &n, sizeof n);
        status = bry_counters_apply(c, counter_id(n), name, sizeof name, 1, 10, NULL, NULL);
        n += status == BRY_OK;
    } while (status == BRY_OK);
    assert_int_equal(status, BRY_E_FULL);
    assert_true(n > 200 && n < 500);
    assert_int_equal(counter_stats(c).counters, n);
    assert_int_equal(counter_stats(c).ids, n);
    /* An operation on an existing counter still finds room for its id. */
    n--;
    memcpy(name, &n, sizeof n);
    assert_int_equal(
        bry_counters_apply(c, counter_id(1000000), name, sizeof name, 1, 10, NULL, NULL), BRY_OK);
    /* Deleting a counter makes room for another. */
    for (unsigned k = 0; k < 3; k++) {
        memcpy(name, &k, sizeof k);
        assert_int_equal(bry_counters_del(c, name, sizeof name, NULL), BRY_OK);
    }
    counter_applied(c, 2000000, "another", 1, 10, 1);
    bry_counters_destroy(c);
}

/* ---- whole tables --------------------------------------------------------------------------- */

/* The expected losses are between zero and the promised error. */
TEST(expected_losses)
{
    for (int e = 0; e < ENGINES; e++) {
        bry_counters_options options = options_for(engines[e]);
        options.error = 0.01;
        options.capacity = 20000;
        bry_counters *c = make(&options);
        uint64_t repeats = 0;
        for (uint64_t i = 0; i < 200000; i++) { /* twenty a ms: a window's worth */
            bry_counters_outcome outcome;
            assert_int_equal(
                bry_counters_apply(c, counter_id(i), "a", 1, 1, i / 20, &outcome, NULL), BRY_OK);
            repeats += outcome == BRY_COUNTERS_REPEAT;
        }
        bry_counters_stats stats = counter_stats(c);
        assert_int_equal(stats.repeats, repeats);
        /* All ids are different, so each repeat is a lost increment. 5σ of about 1500. */
        double lost = (double)repeats, spread = 5 * sqrt(stats.expected_lost);
        assert_true(stats.expected_lost <= 0.01 * (double)stats.applied);
        assert_true(stats.expected_lost >= 0.2 * 0.01 * (double)stats.applied);
        assert_true(lost <= stats.expected_lost + spread);
        assert_true(lost >= 0.6 * stats.expected_lost - spread);
        bry_counters_destroy(c);
    }
}
