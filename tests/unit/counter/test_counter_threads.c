/*
 * Operations on a const table of counters may run at the same time as each other, with both engines
 * of the window. A thread sanitizer watches (ctest label thread); without one the answers are
 * compared all the same.
 */
#include <stdio.h>

#include "support/counter_helpers.h"
#include "support/crew.h"
#include "support/like.h"

enum { OPERATIONS = 1500, NAMES = 60, ASKED = NAMES + 20, NAME_ROOM = 16, NOW = 9000, ROUNDS = 6 };

typedef struct shared {
    crew crew;
    const bry_counter *counters;
    char names[ASKED][NAME_ROOM]; /* the table has the first NAMES */
    int64_t values[ASKED];
    uint8_t applied[OPERATIONS]; /* remembered at NOW */
    bry_counter_stats stats;
    bry_buffer saved;
} shared;

static bool saves_as(const bry_counter *counters, const bry_buffer *saved)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    bool same = bry_counter_save(counters, &sink, NULL) == BRY_OK && buffer.len == saved->len &&
                memcmp(buffer.bytes, saved->bytes, buffer.len) == 0;
    bry_buffer_free(&buffer);
    return same;
}

static unsigned get_one_by_one(const shared *all)
{
    unsigned wrong = 0;
    for (int i = 0; i < ASKED; i++) {
        int64_t value = -1;
        bry_answer answer =
            bry_counter_get(all->counters, all->names[i], strlen(all->names[i]), &value);
        wrong += answer != (i < NAMES ? BRY_PRESENT : BRY_ABSENT) || value != all->values[i];
    }
    return wrong;
}

static unsigned get_in_a_batch(const shared *all)
{
    const void *names[ASKED];
    size_t lens[ASKED];
    int64_t values[ASKED];
    uint8_t answers[ASKED];
    unsigned wrong = 0;
    for (int i = 0; i < ASKED; i++) {
        names[i] = all->names[i];
        lens[i] = strlen(all->names[i]);
    }
    bry_counter_get_n(all->counters, names, lens, ASKED, values, answers);
    for (int i = 0; i < ASKED; i++)
        wrong +=
            answers[i] != (i < NAMES ? BRY_PRESENT : BRY_ABSENT) || values[i] != all->values[i];
    return wrong;
}

static unsigned ask_for_ids(const shared *all)
{
    unsigned wrong = 0;
    for (uint64_t i = 0; i < OPERATIONS; i++)
        wrong += bry_counter_has(all->counters, counter_id(i), NOW) != all->applied[i];
    return wrong;
}

static unsigned list(const shared *all)
{
    uint64_t cursor = 0;
    unsigned listed = 0;
    int64_t sum = 0, wanted = 0;
    do {
        bry_counter_entry entries[7];
        size_t n = bry_counter_scan(all->counters, &cursor, entries, sizeof *entries, 7);
        for (size_t i = 0; i < n; i++)
            sum += entries[i].value;
        listed += (unsigned)n;
    } while (cursor != 0);
    for (int i = 0; i < NAMES; i++)
        wanted += all->values[i];
    return listed != NAMES || sum != wanted;
}

static unsigned look(const shared *all)
{
    bry_counter_stats stats = counter_stats(all->counters);
    bry_counter_options like = counter_like(all->counters);
    return (stats.applied != all->stats.applied) + (stats.ids != all->stats.ids) +
           (stats.estimated_error != all->stats.estimated_error) +
           (stats.bytes_window != all->stats.bytes_window) + (like.window != all->stats.window) +
           (bry_counter_time(all->counters) != all->stats.time) +
           (bry_counter_seed(all->counters) != all->stats.seed);
}

static unsigned copy(const shared *all)
{
    bry_counter *made = NULL;
    bool same =
        bry_counter_clone(all->counters, NULL, &made) == BRY_OK && saves_as(made, &all->saved);
    bry_counter_destroy(made);
    return !same;
}

static unsigned save(const shared *all)
{
    return !saves_as(all->counters, &all->saved);
}

/* Thread 0 does one operation while thread 1 does the next, and so on around. */
static void *ask_everything(void *opaque)
{
    static unsigned (*const asks[])(const shared *) = {
        get_one_by_one, get_in_a_batch, ask_for_ids, list, look, copy, save};
    enum { ASKS = sizeof asks / sizeof *asks };
    shared *all = opaque;
    unsigned number = crew_meet(&all->crew), wrong = 0;
    for (unsigned round = 0; round < ROUNDS * ASKS; round++)
        wrong += asks[(number + round) % ASKS](all);
    atomic_fetch_add(&all->crew.wrong, wrong);
    return NULL;
}

static void const_operations(void **state)
{
    (void)state;
    static const bry_engine engines[] = {BRY_ENGINE_COMPACT, BRY_ENGINE_FBF};
    static shared all;
    for (int e = 0; e < 2; e++) {
        memset(&all, 0, sizeof all);
        bry_counter_options options = BRY_COUNTER_OPTIONS;
        options.engine = engines[e];
        options.seed = 1;
        options.window = 1000;
        options.capacity = 500;
        bry_counter *counters;
        assert_int_equal(bry_counter_create(&options, &counters), BRY_OK);
        for (int i = 0; i < ASKED; i++)
            snprintf(all.names[i], NAME_ROOM, "counter %d", i);
        for (uint64_t i = 0; i < OPERATIONS; i++) { /* a third of the ids has expired */
            assert_int_equal(counter_try(counters, i, all.names[i % NAMES], (int64_t)i - 700,
                                         NOW - OPERATIONS + i),
                             BRY_OK);
            all.values[i % NAMES] += (int64_t)i - 700;
        }
        unsigned remembered = 0;
        for (uint64_t i = 0; i < OPERATIONS; i++) {
            all.applied[i] = (uint8_t)bry_counter_has(counters, counter_id(i), NOW);
            remembered += all.applied[i] == BRY_PRESENT;
        }
        assert_true(remembered >= 1000 && remembered < OPERATIONS);
        all.counters = counters;
        all.stats = counter_stats(counters);
        bry_sink sink = bry_buffer_sink(&all.saved);
        assert_int_equal(bry_counter_save(counters, &sink, NULL), BRY_OK);
        crew_run(&all.crew, ask_everything, &all);
        /* Saving takes memory for a while, and gives it back. */
        assert_int_equal(counter_stats(counters).bytes, all.stats.bytes);
        bry_buffer_free(&all.saved);
        bry_counter_destroy(counters);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(const_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
