/* Tables of counters with both engines of the window, as kinds (object_kind.h). */
#include "conformance/object_kind.h"

#include "support/like.h"

#include <stdio.h>

enum { WINDOW = 1000, NOW = 5000, ASKED = 700, NAMES = 601, NAME_ROOM = 16, BATCH = 60 };

static size_t name_of(uint64_t i, char name[NAME_ROOM])
{
    return (size_t)snprintf(name, NAME_ROOM, "%ju", (uintmax_t)i);
}

static bry_status create(const object_kind *kind, const bry_allocator *allocator, void **object)
{
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    options.engine = kind->engine;
    options.window = WINDOW;
    options.capacity = kind->size;
    options.error = 1e-6;
    options.seed = 1;
    options.allocator = allocator;
    bry_counters *made = NULL;
    bry_status status = bry_counters_create(&options, &made);
    *object = made;
    return status;
}

static bry_status apply(bry_counters *counters, uint64_t id, uint64_t name, int64_t delta,
                        uint64_t now, bry_buffer *answers)
{
    char text[NAME_ROOM];
    size_t len = name_of(name, text);
    bry_counters_outcome outcome = (bry_counters_outcome)7;
    int64_t value = 77;
    bry_status status =
        bry_counters_apply(counters, key(id), text, len, delta, now, &outcome, &value);
    if (answers) {
        note_number(answers, (uint64_t)status);
        note_number(answers, outcome);
        note_number(answers, (uint64_t)value);
    }
    return status;
}

/* Beyond the capacity, with repeats, expired ids and many counters. */
static void work(bry_counters *counters, uint64_t from, uint64_t to, bry_buffer *answers)
{
    for (uint64_t i = from; i < to; i++) {
        uint64_t now = bry_counters_time(counters) + (i % 4 == 0), name = i * 7 % NAMES;
        apply(counters, i, name, (int64_t)(i * i), now, answers);
        if (i % 9 == 0)
            apply(counters, i / 2, name, 1, now, answers);
    }
}

static void fill(const object_kind *kind, void *object)
{
    assert_int_equal(bry_counters_advance(object, NOW), BRY_OK);
    work(object, 0, 5 * kind->size, NULL);
    bry_counters_stats stats = {0};
    bry_counters_get_stats(object, &stats);
    assert_true(stats.applied >= 5 * kind->size - kind->size / 10);
    assert_true(stats.repeats > 0 || kind->size < 10);
}

static void use(void *object, bry_buffer *answers)
{
    work(object, 100000, 100300, answers);
    char name[NAME_ROOM];
    for (uint64_t i = 0; i < 20; i++) {
        bry_answer was = BRY_UNSURE;
        size_t len = name_of(i, name);
        note_number(answers, (uint64_t)bry_counters_del(object, name, len, &was));
        note_number(answers, was);
    }
}

/* ---- looks --------------------------------------------------------------------------------- */

static void look_stats(const void *object, bry_buffer *answers)
{
    bry_counters_stats stats = {0};
    bry_counters_get_stats(object, &stats);
    note_number(answers, stats.time);
    note_number(answers, stats.window);
    note_number(answers, stats.ids);
    note_number(answers, stats.applied);
    note_number(answers, stats.repeats);
    note_number(answers, stats.counters);
    note_number(answers, stats.seed);
    note_real(answers, stats.estimated_error);
    note_number(answers, bry_counters_time(object));
    note_number(answers, bry_counters_seed(object));
}

static void look_options(const void *object, bry_buffer *answers)
{
    bry_counters_options options = counters_like(object);
    note_bytes(answers, &options, sizeof options);
}

static void look_one_by_one(const void *object, bry_buffer *answers)
{
    char name[NAME_ROOM];
    for (uint64_t i = 0; i < ASKED; i++) {
        int64_t value = -1;
        size_t len = name_of(i, name);
        note_number(answers, bry_counters_get(object, name, len, &value));
        note_number(answers, (uint64_t)value);
    }
}

static void look_in_a_batch(const void *object, bry_buffer *answers)
{
    char text[ASKED][NAME_ROOM];
    const void *names[ASKED];
    size_t lens[ASKED];
    int64_t values[ASKED] = {0}; /* those of absent counters stay 0 */
    uint8_t found[ASKED];
    for (uint64_t i = 0; i < ASKED; i++) {
        names[i] = text[i];
        lens[i] = name_of(i, text[i]);
    }
    bry_counters_get_n(object, names, lens, ASKED, values, found);
    note_bytes(answers, found, sizeof found);
    note_bytes(answers, values, sizeof values);
}

static void look_for_ids(const void *object, bry_buffer *answers)
{
    for (uint64_t i = 0; i < 3 * ASKED; i++)
        note_number(answers, bry_counters_has(object, key(i), bry_counters_time(object)));
}

/* The order may differ between two tables with the same counters. */
static void look_at_all(const void *object, bry_buffer *answers)
{
    uint64_t cursor = 0, listed = 0, sum = 0;
    do {
        bry_counters_entry entries[7];
        size_t n = bry_counters_scan(object, &cursor, entries, 7);
        for (size_t i = 0; i < n; i++)
            sum += (uint64_t)entries[i].value;
        listed += n;
    } while (cursor != 0);
    note_number(answers, listed);
    note_number(answers, sum);
}

static object_look *const looks[] = {
    look_stats, look_options, look_one_by_one, look_in_a_batch, look_for_ids, look_at_all, NULL};

/* ---- operations ---------------------------------------------------------------------------- */

static bry_status run_apply(void *object, uint64_t round)
{
    return apply(object, 200000 + round, 1000 + round, 1, bry_counters_time(object) + 1, NULL);
}

static bry_status apply_n(bry_counters *counters, bry_counters_op *ops, size_t n)
{
    return bry_counters_apply_n(counters, ops, n, bry_counters_time(counters) + 1);
}

/* With repeated ids and names. */
static bry_status run_apply_n(void *object, uint64_t round)
{
    bry_counters_op ops[BATCH];
    char text[BATCH][NAME_ROOM];
    for (uint64_t i = 0; i < BATCH; i++) {
        size_t len = name_of(1000 + round * 3 + i % 40, text[i]);
        ops[i] = (bry_counters_op){
            .id = key(300000 + round * 100 + i % 50), .name = text[i], .name_len = len, .delta = 1};
    }
    return apply_n(object, ops, BATCH);
}

/* Sums that do not overflow only in this order, so that a copy of the window is needed. */
static bry_status run_apply_n_at_the_edge(void *object, uint64_t round)
{
    bry_counters_op ops[12];
    for (uint64_t i = 0; i < 12; i++)
        ops[i] = (bry_counters_op){.id = key(400000 + round * 100 + i),
                                   .name = i >= 10 ? "edge and new" : "edge",
                                   .name_len = i >= 10 ? 12 : 4,
                                   .delta = i % 2 ? INT64_MIN + 1 : INT64_MAX};
    return apply_n(object, ops, 12);
}

static bry_status run_repeat(void *object, uint64_t round)
{
    (void)round;
    return apply(object, 1, 1, 1, bry_counters_time(object) + 7, NULL);
}

static bry_status run_advance(void *object, uint64_t round)
{
    (void)round;
    return bry_counters_advance(object, bry_counters_time(object) + 7);
}

static const object_operation compact_operations[] = {
    {.name = "apply", .run = run_apply, .rounds = 300},
    {.name = "apply_n", .run = run_apply_n, .rounds = 20},
    {.name = "apply_n at the edge", .run = run_apply_n_at_the_edge, .rounds = 4},
    {.name = NULL},
};
static const object_operation fbf_operations[] = {
    {.name = "apply", .run = run_apply, .rounds = 300},
    {.name = "apply_n", .run = run_apply_n, .rounds = 20},
    {.name = "apply_n at the edge", .run = run_apply_n_at_the_edge, .rounds = 4},
    {.name = "repeat", .run = run_repeat, .rounds = 200},
    {.name = "advance", .run = run_advance, .rounds = 200},
    {.name = NULL},
};
static const object_operation none[] = {{.name = NULL}};

#define COUNTER .job = BRY_JOB_COUNTERS, .create = create, .fill = fill, .use = use, .looks = looks
#define COMPACT COUNTER, .engine = BRY_ENGINE_COMPACT
#define FBF COUNTER, .engine = BRY_ENGINE_FBF

static const object_kind kinds[] = {
    {COUNTER, .name = "counter, 8", .size = 8, .operations = none},
    {COMPACT, .name = "counter compact, 60", .size = 60, .operations = compact_operations},
    {COUNTER, .name = "counter, 800", .size = 800, .operations = none},
    {FBF, .name = "counter fbf, 60", .size = 60, .operations = fbf_operations},
};
OBJECT_KINDS(counter_objects, "counter", kinds);
