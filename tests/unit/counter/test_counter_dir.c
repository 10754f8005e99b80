/* A table of counters in a directory: reopening, refusals, and failures of every file system
 * operation. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counter/counter_object.h"
#include "support/counter_helpers.h"
#include "support/failing_allocator.h"
#include "support/like.h"
#include "support/recording_io.h"

static bry_counters_options small(void)
{
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    options.seed = 1;
    options.window = 1000;
    return options;
}

static bry_counters *reach(recording_io *fs, const bry_counters_options *options)
{
    bry_counters *counters = NULL;
    bry_load load = BRY_LOAD;
    assert_int_equal(bry__counter_open(&fs->io, "table", options, &load, &counters), BRY_OK);
    assert_null(load.problem);
    return counters;
}

static bry_status refuse(recording_io *fs, const bry_counters_options *options, bry_load *load)
{
    bry_counters *counters = NULL;
    size_t before = recording_open_files(fs);
    bry_status status = bry__counter_open(&fs->io, "table", options, load, &counters);
    assert_true(status != BRY_OK && counters == NULL);
    assert_int_equal(recording_open_files(fs), before);
    return status;
}

/* Applies operation i to both; sometimes not an increment. */
static void work(bry_counters *c, uint64_t i)
{
    char name[16];
    snprintf(name, sizeof name, "n%u", (unsigned)(i * 7 % 31));
    assert_int_equal(counter_try(c, i, name, (int64_t)i - 20, 100 + i * 3), BRY_OK);
    if (i % 5 == 0)
        counter_try(c, i / 2, "retry", 1, 101 + i * 3);
    if (i % 11 == 10)
        assert_int_equal(bry_counters_del(c, name, strlen(name), NULL), BRY_OK);
    if (i % 13 == 12)
        assert_int_equal(bry_counters_advance(c, 102 + i * 3), BRY_OK);
    if (i % 97 == 96)
        assert_int_equal(bry_counters_clear(c), BRY_OK);
    if (i % 6 == 4) {
        bry_counters_op ops[12];
        for (uint64_t k = 0; k < 12; k++)
            ops[k] = (bry_counters_op){
                .id = counter_id(100000 + i * 10 + k), .name = "batch", .name_len = 5, .delta = 2};
        assert_int_equal(bry_counters_apply_n(c, ops, 12, 100 + i * 3), BRY_OK);
    }
}

TEST(one_at_a_time)
{
    recording_io fs;
    recording_init(&fs);
    bry_counters *c = reach(&fs, NULL);
    bry_load load = BRY_LOAD;
    errno = 0;
    assert_int_equal(refuse(&fs, NULL, &load), BRY_E_IO);
    assert_int_equal(errno, EBUSY);
    assert_non_null(load.problem);
    assert_int_equal(bry_counters_snapshot(c), BRY_OK); /* a new log is locked as the old one was */
    assert_int_equal(refuse(&fs, NULL, NULL), BRY_E_IO);
    assert_int_equal(errno, EBUSY);
    bry_counters_destroy(c);
    c = reach(&fs, NULL);
    bry_counters_destroy(c);
    recording_free(&fs);
}

TEST(keeps_its_shape)
{
    for (int snapshot = 0; snapshot < 2; snapshot++) {
        recording_io fs;
        recording_init(&fs);
        bry_counters_options options = small();
        options.capacity = 500;
        options.error = 1e-6;
        bry_counters *c = reach(&fs, &options);
        counter_applied(c, 1, "a", 1, 10, 1);
        if (snapshot)
            assert_int_equal(bry_counters_snapshot(c), BRY_OK);
        bry_counters_destroy(c);
#define MISMATCH(field, value)                                                                     \
    do {                                                                                           \
        bry_counters_options other = BRY_COUNTERS_OPTIONS;                                         \
        other.field = (value);                                                                     \
        bry_load load = BRY_LOAD;                                                                  \
        assert_int_equal(refuse(&fs, &other, &load), BRY_E_MISMATCH);                              \
        assert_non_null(load.problem);                                                             \
    } while (0)
        MISMATCH(engine, BRY_ENGINE_FBF);
        MISMATCH(window, 60000);
        MISMATCH(capacity, 1000);
        MISMATCH(error, 1e-9);
        MISMATCH(seed, 2);
#undef MISMATCH
        bry_counters_options bad = BRY_COUNTERS_OPTIONS;
        bad.error = 0.7;
        assert_int_equal(refuse(&fs, &bad, NULL), BRY_E_RANGE);
        c = reach(&fs, &options);
        bry_counters_destroy(c);
        bry_counters_options later = BRY_COUNTERS_OPTIONS; /* the rest is allocated again */
        later.max_bytes = 123456;
        later.max_skew = 7;
        c = reach(&fs, &later);
        bry_counters_options has = counters_like(c);
        assert_int_equal(has.capacity, 500);
        assert_int_equal(has.window, 1000);
        assert_true(has.error == 1e-6);
        assert_int_equal(has.seed, 1);
        assert_int_equal(has.max_skew, 7);
        assert_int_equal(counter_stats(c).max_bytes, 123456);
        assert_int_equal(counter_try(c, 2, "a", 1, 18), BRY_E_SKEW);
        counter_applied(c, 2, "a", 1, 17, 2);
        bry_counters_destroy(c);
        recording_free(&fs);
    }
}

TEST(asked_syncs)
{
    recording_io fs;
    recording_init(&fs);
    bry_counters_options options = small();
    options.sync = BRY_COUNTERS_SYNC_ASKED;
    bry_counters *c = reach(&fs, &options);
    uint64_t calls = fs.calls;
    counter_applied(c, 1, "a", 1, 10, 1);
    assert_int_equal(fs.calls, calls + 1); /* a write, and no sync */
    bry_counters_op ops[3] = {{.id = counter_id(2), .name = "a", .name_len = 1, .delta = 1},
                              {.id = counter_id(3), .name = "a", .name_len = 1, .delta = 1},
                              {.id = counter_id(2), .name = "a", .name_len = 1, .delta = 1}};
    assert_int_equal(bry_counters_apply_n(c, ops, 3, 10), BRY_OK);
    assert_int_equal(counter_stats(c).unsynced, 3);
    assert_true(counter_stats(c).log_bytes > 100);
    assert_int_equal(bry_counters_sync(c), BRY_OK);
    assert_int_equal(counter_stats(c).unsynced, 0);
    calls = fs.calls;
    assert_int_equal(bry_counters_sync(c), BRY_OK); /* nothing to do */
    assert_int_equal(fs.calls, calls);
    counter_repeat(c, 1, "a", 1, 10, 3);
    assert_int_equal(fs.calls, calls); /* a repeat needs no sync */
    bry_counters_destroy(c);

    options.sync = BRY_COUNTERS_SYNC_ALWAYS;
    c = reach(&fs, &options);
    assert_int_equal(counter_stats(c).repeats, 2);
    calls = fs.calls;
    assert_int_equal(bry_counters_apply_n(c, ops, 1, 10), BRY_OK); /* a repeat */
    assert_int_equal(fs.calls, calls);
    for (int i = 0; i < 3; i++)
        ops[i].id = counter_id(50 + (uint64_t)i);
    assert_int_equal(bry_counters_apply_n(c, ops, 3, 10), BRY_OK);
    assert_int_equal(fs.calls, calls + 2); /* one write and one sync for all three */
    assert_int_equal(counter_stats(c).unsynced, 0);
    bry_counters_destroy(c);
    recording_free(&fs);
}

/* ---- what cannot be read -------------------------------------------------------------------- */

/* A directory with a snapshot and a log after it, as bytes to make damaged directories from. */
typedef struct saved_dir {
    recording_io fs;
    recorded_file log, snapshot; /* in fs, which is not changed */
} saved_dir;

static void saved_dir_init(saved_dir *saved, const bry_counters_options *options)
{
    recording_init(&saved->fs);
    bry_counters *c = reach(&saved->fs, options);
    for (uint64_t i = 0; i < 20; i++)
        work(c, i);
    assert_int_equal(bry_counters_snapshot(c), BRY_OK);
    for (uint64_t i = 20; i < 30; i++)
        work(c, i);
    bry_counters_destroy(c);
    saved->log = *recording_get(&saved->fs, "table/log");
    saved->snapshot = *recording_get(&saved->fs, "table/snapshot");
}

static void saved_dir_copy(const saved_dir *saved, recording_io *to)
{
    recording_init(to);
    recording_put(to, "table/log", saved->log.bytes, saved->log.len);
    recording_put(to, "table/snapshot", saved->snapshot.bytes, saved->snapshot.len);
}

static void assert_bad_dir(recording_io *fs, const char *problem)
{
    bry_load load = BRY_LOAD;
    assert_int_equal(refuse(fs, NULL, &load), BRY_E_BADDATA);
    assert_string_equal(load.problem, problem);
}

TEST(log_or_snapshot_missing)
{
    bry_counters_options options = small();
    saved_dir saved;
    saved_dir_init(&saved, &options);
    recording_io bare;
    recording_init(&bare);
    recording_put(&bare, "table/snapshot", saved.snapshot.bytes, saved.snapshot.len);
    assert_bad_dir(&bare, "the log is missing");
    recording_free(&bare);

    recording_init(&bare);
    recording_put(&bare, "table/log", saved.log.bytes, saved.log.len);
    assert_bad_dir(&bare, "the snapshot is missing");
    recording_free(&bare);

    saved_dir_copy(&saved, &bare);
    bry_counters_destroy(reach(&bare, NULL));
    recording_free(&bare);
    recording_free(&saved.fs);
}

/* Log or snapshot come from another table of the same shape, or the snapshot is a saved table. */
TEST(log_or_snapshot_of_another_table)
{
    bry_counters_options options = small();
    saved_dir saved;
    saved_dir_init(&saved, &options);
    recording_io younger, mixed;
    recording_init(&younger);
    bry_counters *c = reach(&younger, &options);
    assert_int_equal(bry_counters_snapshot(c), BRY_OK);
    bry_counters_destroy(c);
    static const char *const names[] = {"table/log", "table/snapshot"};
    for (int i = 0; i < 2; i++) {
        const recorded_file *file = recording_get(&younger, names[i]);
        saved_dir_copy(&saved, &mixed);
        recording_put(&mixed, names[i], file->bytes, file->len);
        assert_bad_dir(&mixed, "snapshot and log belong to different tables");
        recording_free(&mixed);
    }
    recording_free(&younger);

    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    assert_int_equal(bry_counters_create(&options, &c), BRY_OK);
    assert_int_equal(bry_counters_save(c, &sink, NULL), BRY_OK);
    bry_counters_destroy(c);
    saved_dir_copy(&saved, &mixed);
    recording_put(&mixed, "table/snapshot", buffer.bytes, buffer.len);
    assert_bad_dir(&mixed, "the snapshot does not belong to a table");
    bry_buffer_free(&buffer);
    recording_free(&mixed);
    recording_free(&saved.fs);
}

TEST(limits)
{
    for (int snapshot = 0; snapshot < 2; snapshot++) {
        recording_io fs;
        recording_init(&fs);
        bry_counters_options options = small();
        options.sync = BRY_COUNTERS_SYNC_ASKED;
        bry_counters *c = reach(&fs, &options);
        for (uint64_t i = 0; i < 5000; i++) {
            char name[40];
            snprintf(name, sizeof name, "a rather long name %ju", (uintmax_t)i);
            assert_int_equal(counter_try(c, i, name, 1, 5), BRY_OK);
        }
        if (snapshot)
            assert_int_equal(bry_counters_snapshot(c), BRY_OK);
        bry_counters_destroy(c);
        bry_load load = BRY_LOAD;
        load.max_bytes = 100000;
        assert_int_equal(refuse(&fs, &options, &load), BRY_E_LIMIT);
        assert_non_null(load.problem);
        load.max_bytes = 1000000;
        assert_int_equal(bry__counter_open(&fs.io, "table", &options, &load, &c), BRY_OK);
        bry_counters_destroy(c);
        /* A table that exceeds max_bytes opens, but cannot grow. */
        options.max_bytes = 50000;
        c = reach(&fs, &options);
        assert_true(counter_stats(c).bytes > 50000);
        bry_status status = BRY_OK;
        for (uint64_t i = 6000; i < 6100 && status == BRY_OK; i++)
            status = counter_try(c, i, "a rather long name 7", 1, 5);
        assert_int_equal(status, BRY_E_FULL);
        counter_repeat(c, 4999, "a rather long name 4999", 1, 5, 1);
        bry_counters_destroy(c);
        recording_free(&fs);
    }
}

/* ---- failures ------------------------------------------------------------------------------- */

/*
 * Each operation of the file system fails once, or that and all after it. Acknowledged operations
 * are in the table after reopening; the others are retried, and then each counts once.
 *
 * Step i is one operation if i is even; if it is odd, a batch of MOST_OPS, the last of which adds
 * to the counter "fresh".
 */
enum { STEPS = 12, MOST_OPS = 9 };

static size_t ops_of(uint64_t step, bry_counters_op ops[MOST_OPS])
{
    for (uint64_t k = 0; k < MOST_OPS; k++)
        ops[k] = (bry_counters_op){.id = counter_id(k == 0 ? step : 1000 * k + step),
                                   .name = k == 8 ? "fresh" : "sum",
                                   .name_len = k == 8 ? 5 : 3,
                                   .delta = 1};
    return step % 2 ? MOST_OPS : 1;
}

/* Applies a step. If that fails, the table looks unchanged. */
static bry_status apply_step(bry_counters *c, uint64_t step, bry_counters_sync_policy sync)
{
    bry_counters_op ops[MOST_OPS];
    size_t n = ops_of(step, ops);
    uint64_t now = 10 + step;
    assert_int_equal(bry_counters_has(c, ops[0].id, 10), BRY_ABSENT);
    int64_t value = counter_value(c, "sum");
    bool was_there = counter_is_there(c, "fresh");
    bry_status status = bry_counters_apply_n(c, ops, n, now);
    if (status == BRY_OK && sync == BRY_COUNTERS_SYNC_ASKED) {
        status = bry_counters_sync(c);
    } else if (status != BRY_OK) {
        assert_int_equal(counter_value(c, "sum"), value);
        assert_int_equal(counter_is_there(c, "fresh"), was_there);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(bry_counters_has(c, ops[k].id, now), BRY_ABSENT);
    }
    assert_true(status == BRY_OK || status == BRY_E_IO);
    /* EIO if a snapshot failed after the step before and broke the table. */
    assert_true(status == BRY_OK || errno == ENOSPC || errno == EIO);
    return status;
}

/* A broken table accepts no change, but can be queried. */
static void assert_broken(bry_counters *c)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    bry_counters *copy;
    assert_int_equal(counter_try(c, 1000, "sum", 1, 5), BRY_E_IO);
    assert_int_equal(errno, EIO);
    assert_int_equal(bry_counters_del(c, "sum", 3, NULL), BRY_E_IO);
    assert_int_equal(bry_counters_advance(c, 5000), BRY_E_IO);
    assert_int_equal(bry_counters_clear(c), BRY_E_IO);
    assert_int_equal(bry_counters_sync(c), BRY_E_IO);
    assert_int_equal(bry_counters_snapshot(c), BRY_E_IO);
    assert_int_equal(bry_counters_save(c, &sink, NULL), BRY_E_IO);
    assert_int_equal(bry_counters_clone(c, NULL, &copy), BRY_E_IO);
    assert_int_equal(bry_counters_has(c, counter_id(1000), 10), BRY_PRESENT);
    bry_buffer_free(&buffer);
}

/* Opens the directory again and retries all steps: each of them counts once. */
static void retry_steps(recording_io *fs, const bry_counters_options *options,
                        uint64_t acknowledged)
{
    bry_counters *c = reach(fs, options);
    for (uint64_t step = 0; step < STEPS; step++) {
        bry_counters_op ops[MOST_OPS];
        size_t n = ops_of(step, ops);
        if (step < acknowledged)
            assert_int_equal(bry_counters_has(c, ops[0].id, 30), BRY_PRESENT);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(bry_counters_apply_n(c, &ops[k], 1, 30), BRY_OK);
    }
    assert_int_equal(counter_value(c, "sum"), 1 + STEPS / 2 * (1 + 8));
    assert_int_equal(counter_value(c, "fresh"), STEPS / 2);
    assert_true(recording_names(fs) <= 4); /* lock, log, snapshot, and one temporary file */
    bry_counters_destroy(c);
}

/* Whether call number `fail_at` was reached, and so failed. */
static bool call_fails(recording_io *fs, uint64_t fail_at, bry_counters_sync_policy sync)
{
    bry_counters_options options = small();
    options.log_bytes = 300; /* some snapshots on the way */
    options.sync = sync;
    bry_counters *c = reach(fs, &options);
    counter_applied(c, 1000, "sum", 1, 5, 1);
    assert_int_equal(bry_counters_sync(c), BRY_OK);
    fs->calls = 0;
    fs->fail_at = fail_at;
    fs->fail_errno = ENOSPC;
    uint64_t acknowledged = 0;
    while (acknowledged < STEPS && apply_step(c, acknowledged, sync) == BRY_OK)
        acknowledged++;
    if (acknowledged < STEPS)
        assert_broken(c);
    bool failed = fs->calls >= fail_at;
    assert_true(failed || acknowledged == STEPS);
    bry_counters_destroy(c);
    assert_int_equal(recording_open_files(fs), 0);
    fs->fail_at = 0;
    retry_steps(fs, &options, acknowledged);
    return failed;
}

static void io_fails(bool keep_failing, bool late, bry_counters_sync_policy sync)
{
    bool failed = true;
    for (uint64_t fail_at = 1; failed; fail_at++) {
        recording_io fs;
        recording_init(&fs);
        fs.fail_late = late;
        fs.keep_failing = keep_failing;
        failed = call_fails(&fs, fail_at, sync);
        recording_free(&fs);
        assert_true(failed || fail_at > 30);
    }
}

TEST(every_call_fails)
{
    for (int way = 0; way < 8; way++)
        io_fails(way & 1, way & 2, way & 4 ? BRY_COUNTERS_SYNC_ASKED : BRY_COUNTERS_SYNC_ALWAYS);
}

/* If the log fails, the values are those before; the time has moved, and ids have expired (base.h).
 */
TEST(time_after_a_failure)
{
    for (int advance = 0; advance < 2; advance++) {
        recording_io fs;
        recording_init(&fs);
        bry_counters_options options = small();
        bry_counters *c = reach(&fs, &options);
        counter_applied(c, 1, "sum", 1, 1000, 1);
        uint64_t later = 1000 + 100 * options.window;
        fs.calls = 0;
        fs.fail_at = 1;
        fs.keep_failing = true;
        fs.fail_errno = ENOSPC;
        assert_int_equal(advance ? bry_counters_advance(c, later)
                                 : counter_try(c, 2, "sum", 1, later),
                         BRY_E_IO);
        assert_int_equal(counter_value(c, "sum"), 1);
        assert_int_equal(bry_counters_time(c), later);
        assert_int_equal(bry_counters_has(c, counter_id(1), later), BRY_ABSENT);
        assert_int_equal(bry_counters_has(c, counter_id(2), later), BRY_ABSENT);
        bry_counters_destroy(c);
        fs.fail_at = 0;
        c = reach(&fs, &options);
        assert_int_equal(bry_counters_time(c), 1000);
        assert_int_equal(bry_counters_has(c, counter_id(1), 1000), BRY_PRESENT);
        bry_counters_destroy(c);
        recording_free(&fs);
    }
}

/* Opening fails at each call, for a new directory and for one with snapshot and log; then it
 * succeeds. */
TEST(every_call_of_open_fails)
{
    for (int old = 0; old < 2; old++) {
        for (uint64_t fail_at = 1;; fail_at++) {
            recording_io fs;
            recording_init(&fs);
            bry_counters_options options = small();
            bry_counters *c;
            if (old) {
                c = reach(&fs, &options);
                counter_applied(c, 1, "a", 1, 5, 1);
                assert_int_equal(bry_counters_snapshot(c), BRY_OK);
                counter_applied(c, 2, "a", 1, 5, 2);
                bry_counters_destroy(c);
            }
            fs.calls = 0;
            fs.fail_at = fail_at;
            bry_load load = BRY_LOAD;
            bry_status status = bry__counter_open(&fs.io, "table", &options, &load, &c);
            fs.fail_at = 0;
            if (status != BRY_OK) {
                assert_int_equal(status, BRY_E_IO);
                assert_non_null(load.problem);
                assert_int_equal(recording_open_files(&fs), 0);
                c = reach(&fs, &options);
            }
            if (old)
                assert_int_equal(counter_value(c, "a"), 2);
            counter_applied(c, 3, "a", 1, 5, old ? 3 : 1);
            bry_counters_destroy(c);
            recording_free(&fs);
            if (status == BRY_OK) {
                assert_true(fail_at > (old ? 7 : 10));
                break;
            }
        }
    }
}

/* ---- real files ----------------------------------------------------------------------------- */

TEST(a_real_dir)
{
    char outer[] = "counter-XXXXXX", path[64], file[80];
    assert_non_null(mkdtemp(outer));
    snprintf(path, sizeof path, "%s/table//", outer);
    bry_counters *c, *second;
    bry_load load = BRY_LOAD;
    assert_int_equal(bry_counters_open(path, NULL, &load, &c), BRY_OK);
    uint64_t seed = bry_counters_seed(c);
    counter_applied(c, 1, "a", 1, 5, 1);
    errno = 0;
    assert_int_equal(bry_counters_open(path, NULL, &load, &second), BRY_E_IO);
    assert_int_equal(errno, EBUSY);
    assert_non_null(load.problem);
    assert_int_equal(bry_counters_snapshot(c), BRY_OK);
    counter_applied(c, 2, "a", 1, 5, 2);
    bry_counters_destroy(c);
    assert_int_equal(bry_counters_open(path, NULL, &load, &c), BRY_OK);
    assert_null(load.problem);
    assert_true(bry_counters_seed(c) == seed);
    counter_repeat(c, 2, "a", 1, 5, 2);
    bry_counters_destroy(c);
    /* A snapshot is a table like any that was saved. */
    snprintf(file, sizeof file, "%s/table/snapshot", outer);
    assert_int_equal(bry_counters_load_file(file, &load, &c), BRY_OK);
    assert_int_equal(counter_value(c, "a"), 1);
    assert_int_equal(bry_counters_snapshot(c), BRY_E_UNSUPPORTED);
    bry_counters_destroy(c);
    /* No directory, and none can be made. */
    snprintf(file, sizeof file, "%s/none/table", outer);
    assert_int_equal(bry_counters_open(file, NULL, &load, &c), BRY_E_IO);
    assert_int_equal(errno, ENOENT);
    snprintf(file, sizeof file, "%s/table/log", outer);
    assert_int_equal(bry_counters_open(file, NULL, &load, &c), BRY_E_IO);
    assert_int_equal(errno, ENOTDIR);
    /* Not the root, and paths of which some files would be too long. */
    assert_int_equal(bry_counters_open("", NULL, &load, &c), BRY_E_IO);
    assert_int_equal(errno, ENOENT);
    static char longest[PATH_MAX];
    for (size_t len = PATH_MAX - 20; len < PATH_MAX; len++) {
        for (size_t i = 0; i < len; i++)
            longest[i] = i % 2 ? '/' : 'x';
        errno = 0;
        assert_int_equal(bry_counters_open(longest, NULL, &load, &c), BRY_E_IO);
        assert_int_equal(errno, len % 2 + len > PATH_MAX - 13 ? ENAMETOOLONG : ENOENT);
    }
    static const char *const names[] = {"lock", "log", "snapshot"};
    for (int i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "%s/table/%s", outer, names[i]);
        assert_int_equal(unlink(file), 0);
    }
    snprintf(file, sizeof file, "%s/table", outer);
    assert_int_equal(rmdir(file), 0); /* nothing else was in it */
    assert_int_equal(rmdir(outer), 0);
}
