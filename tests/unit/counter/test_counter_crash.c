/*
 * Whatever a crash leaves of a table's directory, opening it gives the table after some number of
 * the steps that were begun, all of the acknowledged ones among them; and when the client then
 * retries what it has no acknowledgement for, and goes on, every step counts once.
 */
#include <stdio.h>
#include <stdlib.h>

#include "counter/counter_object.h"
#include "support/counter_helpers.h"
#include "support/crash_states.h"

enum { STEPS_MAX = 40, NAMES = 3 };
static const char *const names[NAMES] = {"one", "two", "a third one that has a longer name"};

/*
 * A scenario is a string of steps:
 *   a  one increment        b  a batch of three     B  a batch whose record takes three writes
 *   d  deletes a counter    c  clears               t  moves the time
 *   S  snapshot             y  sync
 * What a step does depends only on its position.
 */
typedef struct scenario {
    const char *steps;
    bry_counters_options options;
    size_t count;
    bry_counters *after[STEPS_MAX + 1]; /* so many steps */
} scenario;

static uint64_t time_of(size_t i)
{
    return 1000 + i * 10;
}

static bry_status step(bry_counters *c, char kind, size_t i)
{
    static char longest[1500];
    bry_counters_op ops[3];
    const char *name = names[i % NAMES];
    switch (kind) {
    case 'a':
        return counter_try(c, i, name, (int64_t)i + 1, time_of(i));
    case 'b':
    case 'B':
        for (size_t k = 0; k < 3; k++) {
            ops[k] = (bry_counters_op){.id = counter_id(1000 + i * 3 + k),
                                       .name = names[k],
                                       .name_len = strlen(names[k]),
                                       .delta = 100 + (int64_t)k};
            if (kind == 'B') {
                memset(longest, 'l', sizeof longest);
                ops[k].name = longest;
                ops[k].name_len = sizeof longest - k;
            }
        }
        return bry_counters_apply_n(c, ops, 3, time_of(i));
    case 'd':
        return bry_counters_del(c, name, strlen(name), NULL);
    case 'c':
        return bry_counters_clear(c);
    case 't':
        return bry_counters_advance(c, time_of(i));
    case 'S':
        return bry_counters_snapshot(c);
    default:
        return bry_counters_sync(c);
    }
}

static void scenario_make(scenario *s, const char *steps, bry_counters_sync_policy sync,
                          uint64_t log_bytes)
{
    *s = (scenario){.steps = steps, .options = BRY_COUNTERS_OPTIONS, .count = strlen(steps)};
    assert_true(s->count <= STEPS_MAX);
    s->options.seed = 1;
    s->options.window = 100000;
    s->options.sync = sync;
    s->options.log_bytes = log_bytes;
    for (size_t n = 0; n <= s->count; n++) {
        assert_int_equal(bry_counters_create(&s->options, &s->after[n]), BRY_OK);
        for (size_t i = 0; i < n; i++)
            if (steps[i] != 'S')
                assert_int_equal(step(s->after[n], steps[i], i), BRY_OK);
    }
}

static void scenario_free(scenario *s)
{
    for (size_t n = 0; n <= s->count; n++)
        bry_counters_destroy(s->after[n]);
}

/* Whether counters and ids are the same, to the last. */
static bool equal(const scenario *s, const bry_counters *a, const bry_counters *b)
{
    bry_counters_entry entries[8];
    uint64_t cursor = 0;
    size_t n = bry_counters_scan(a, &cursor, entries, 8);
    assert_true(cursor == 0);
    if (counter_stats(b).counters != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        int64_t value;
        if (bry_counters_get(b, entries[i].name, entries[i].name_len, &value) != BRY_PRESENT ||
            value != entries[i].value)
            return false;
    }
    for (uint64_t i = 0; i < s->count; i++)
        for (uint64_t k = 0; k < 4; k++) {
            bry_hash id = counter_id(k == 3 ? i : 1000 + i * 3 + k);
            if (bry_counters_has(a, id, 0) != bry_counters_has(b, id, 0))
                return false;
        }
    return true;
}

/* ---- one state ----------------------------------------------------------------------------- */

typedef struct crash {
    const scenario *scenario;
    size_t least, most; /* steps, for states without a mark */
    size_t states, inner; /* states of the first crash, and of the second */
    size_t found[STEPS_MAX + 1]; /* how often each number of steps was found */
    int depth; /* crashes in a row */
} crash;

/* Of the states one in this many is checked. Under a sanitizer all of them would take 16 seconds,
 * and
   most take the same path through the code as their neighbours. */
#ifdef __SANITIZE_ADDRESS__
enum { ONE_IN = 5 };
#else
enum { ONE_IN = 1 };
#endif

/* A second crash follows one in this many states; all of them if the program has an argument. */
static size_t second_crashes = 9;

static bry_counters *reach(recording_io *fs, const scenario *s)
{
    bry_counters *c = NULL;
    bry_load load = BRY_LOAD;
    bry_status status = bry__counter_open(&fs->io, "t", &s->options, &load, &c);
    if (status != BRY_OK)
        fail_msg("%s: %s", bry_status_word(status), load.problem ? load.problem : "");
    return c;
}

/* Marks: first, steps that were acknowledged; second, those that were begun. */
static void check_state(void *context, const crash_state *state)
{
    crash *seen = context;
    const scenario *s = seen->scenario;
    size_t least = state->marked ? (size_t)state->first : seen->least;
    size_t most = state->marked ? (size_t)state->second : seen->most;
    if (seen->states++ % ONE_IN != 0)
        return;
    bry_counters *c = reach(state->fs, s);
    /* An upper bound: the last steps may have changed nothing. */
    size_t n = most + 1;
    while (n-- > least && !equal(s, s->after[n], c))
        continue;
    if (n + 1 <= least)
        fail_msg("after %zu operations, %zu to %zu steps of %s: none of these", state->ops, least,
                 most, s->steps);
    seen->found[n]++;

    /* Another crash while the client catches up: after every state, or some. */
    if (seen->depth > 1 && seen->states % second_crashes == 0) {
        crash next = {.scenario = s, .least = least, .most = most, .depth = seen->depth - 1};
        recording_mark(state->fs, least, most);
        for (size_t i = least; i < most; i++)
            assert_int_equal(step(c, s->steps[i], i), BRY_OK);
        assert_int_equal(bry_counters_sync(c), BRY_OK);
        recording_mark(state->fs, most, most);
        bry_counters_destroy(c);
        crash_states(state->fs, check_state, &next);
        seen->inner += next.states;
        c = reach(state->fs, s);
    }
    for (size_t i = least; i < s->count; i++)
        assert_int_equal(step(c, s->steps[i], i), BRY_OK);
    assert_true(equal(s, s->after[s->count], c));
    bry_counters_destroy(c);
    c = reach(state->fs, s);
    assert_true(equal(s, s->after[s->count], c));
    assert_true(recording_names(state->fs) <= 6);
    bry_counters_destroy(c);
}

/* ---- recording ----------------------------------------------------------------------------- */

/* Runs the steps from `from` to `to`, with marks for steps begun and acknowledged. */
static void record(recording_io *fs, const scenario *s, size_t from, size_t to, bool close)
{
    bool asked = s->options.sync == BRY_COUNTERS_SYNC_ASKED;
    size_t acknowledged = from;
    bry_counters *c = reach(fs, s);
    for (size_t i = from; i < to; i++) {
        recording_mark(fs, acknowledged, i + 1);
        assert_int_equal(step(c, s->steps[i], i), BRY_OK);
        if (!asked || s->steps[i] == 'y' || s->steps[i] == 'S')
            acknowledged = i + 1;
        recording_mark(fs, acknowledged, i + 1);
    }
    if (close) {
        bry_counters_destroy(c);
        recording_mark(fs, to, to);
        return;
    }
    /* A kill: files are closed, and nothing more is written. */
    c->broken = true;
    bry_counters_destroy(c);
}

static void explore(const char *steps, bry_counters_sync_policy sync, uint64_t log_bytes,
                    size_t before, int depth, size_t least_states)
{
    scenario s;
    scenario_make(&s, steps, sync, log_bytes);
    recording_io fs;
    recording_init(&fs);
    if (before > 0)
        record(&fs, &s, 0, before, true);
    recording_start(&fs);
    size_t half = before + (s.count - before) / 2;
    record(&fs, &s, before, half, false); /* a kill and a restart in between */
    record(&fs, &s, half, s.count, true);
    crash seen = {.scenario = &s, .least = before, .most = before, .depth = depth};
    crash_states(&fs, check_state, &seen);
    assert_true(seen.states + seen.inner >= least_states / ONE_IN);
    assert_true(seen.found[before] > 0 && seen.found[s.count] > 0);
    recording_free(&fs);
    scenario_free(&s);
}

TEST(from_nothing)
{
    explore("aabdaa", BRY_COUNTERS_SYNC_ALWAYS, 0, 0, 1, 500);
}

TEST(log_alone)
{
    explore("aaabadBtacaabdaBa", BRY_COUNTERS_SYNC_ALWAYS, 0, 3, 1, 500);
}

TEST(with_snapshots)
{
    explore("aabSaaBaSSabadaSca", BRY_COUNTERS_SYNC_ALWAYS, 0, 2, 1, 2000);
}

/* Automatic snapshots. */
TEST(snapshots_due)
{
    explore("aabaabadaBtaaab", BRY_COUNTERS_SYNC_ALWAYS, 200, 1, 1, 2000);
    explore("aabaada", BRY_COUNTERS_SYNC_ALWAYS, 1, 1, 1, 2000);
}

/* Acknowledged by syncs only, and retried from the last one. */
TEST(syncs_when_asked)
{
    explore("aabyaabBayaaSaabay", BRY_COUNTERS_SYNC_ASKED, 0, 3, 1, 2000);
    explore("aabyaababayaaSaabay", BRY_COUNTERS_SYNC_ASKED, 250, 3, 1, 2000);
}

TEST(crash_upon_crash)
{
    explore("aab", BRY_COUNTERS_SYNC_ALWAYS, 100, 2, 2, 5000); /* the batch, and a snapshot */
}

/*
 * Operations of the file system that fail, then a crash: the client has an error for one step, a
 * process of its own opens the directory again and retries it.
 */
TEST(crash_after_failures)
{
    for (int late = 0; late < 2; late++) {
        for (uint64_t fail_at = 1;; fail_at++) {
            scenario s;
            scenario_make(&s, "aaba", BRY_COUNTERS_SYNC_ALWAYS, 250);
            recording_io fs;
            recording_init(&fs);
            record(&fs, &s, 0, 2, true);
            recording_start(&fs);
            bry_counters *c = reach(&fs, &s);
            fs.calls = 0;
            fs.fail_at = fail_at;
            fs.fail_late = late;
            for (size_t i = 2; i < s.count; i++) {
                recording_mark(&fs, i, i + 1);
                bry_status status = step(c, s.steps[i], i);
                if (status != BRY_OK) {
                    assert_int_equal(status, BRY_E_IO);
                    bry_counters_destroy(c);
                    c = reach(&fs, &s);
                    assert_int_equal(step(c, s.steps[i], i), BRY_OK);
                }
                recording_mark(&fs, i + 1, i + 1);
            }
            bool done = fs.calls < fail_at;
            fs.fail_at = 0;
            bry_counters_destroy(c);
            recording_mark(&fs, s.count, s.count);
            crash seen = {.scenario = &s, .least = 2, .most = 2, .depth = 1};
            crash_states(&fs, check_state, &seen);
            assert_true(seen.states > 200);
            recording_free(&fs);
            scenario_free(&s);
            if (done) {
                assert_true(fail_at > 15);
                break;
            }
        }
    }
}

/* ---- a table that does less must be caught -------------------------------------------------- */

static void count_bad(void *context, const crash_state *state)
{
    crash *seen = context;
    const scenario *s = seen->scenario;
    size_t n = state->marked ? (size_t)state->first : seen->least;
    size_t most = state->marked ? (size_t)state->second : seen->most;
    bry_counters *c;
    bool good = false;
    if (bry__counter_open(&state->fs->io, "t", &s->options, NULL, &c) == BRY_OK) {
        for (; n <= most && !good; n++)
            good = equal(s, s->after[n], c);
        bry_counters_destroy(c);
    }
    seen->found[good]++;
}

TEST(missing_syncs_are_caught)
{
    for (int way = 0; way < 3; way++) {
        scenario s;
        scenario_make(&s, "aabSaa", BRY_COUNTERS_SYNC_ALWAYS, 0);
        recording_io fs;
        recording_init(&fs);
        record(&fs, &s, 0, 2, true);
        recording_start(&fs);
        if (way == 1)
            fs.io.sync = skip_sync;
        if (way == 2)
            fs.io.sync_dir = skip_dir_sync;
        record(&fs, &s, 2, s.count, true);
        crash seen = {.scenario = &s, .least = 2, .most = 2};
        crash_states(&fs, count_bad, &seen);
        assert_true(seen.found[true] > 50);
        assert_true((seen.found[false] > 0) == (way > 0));
        recording_free(&fs);
        scenario_free(&s);
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        second_crashes = 1;
    return run_all_tests(NULL, NULL);
}
