/*
 * Kills a live writer many times, at random moments.
 *
 *     counter_kill KILLS [SEED]      in the current directory
 *
 * The writer applies operation after operation to a table in a directory of real files and
 * acknowledges each through a pipe once the call has returned. This process, the client, kills it
 * with SIGKILL, reads what was acknowledged, starts another and has it go on with the first
 * operation that was not: so whatever was on its way is retried. At the end every operation must be
 * in the counters once.
 */
#include <bloomery/counters.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/generator.h"

enum { COUNTERS = 37, BATCH = 24, SYNC_EVERY = 16, IN_FLIGHT = 64 };

static void stop(const char *what)
{
    fprintf(stderr, "counter_kill: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---- the operations ------------------------------------------------------------------------ */

static int64_t delta_of(uint64_t i)
{
    return (int64_t)(i * i % 1000) - 300;
}

static bry_counters_op op_of(const bry_counters *counters, uint64_t i, char name[16])
{
    int len = snprintf(name, 16, "counter %u", (unsigned)(i % COUNTERS));
    return (bry_counters_op){
        .id = bry_hash_key(bry_counters_seed(counters), &i, sizeof i),
        .name = name,
        .name_len = (size_t)len,
        .delta = delta_of(i),
    };
}

static uint64_t time_of(uint64_t i)
{
    return 1000 + i / 8;
}

/* ---- the writer ---------------------------------------------------------------------------- */

static bry_counters *reach(const char *dir, bool asked)
{
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    options.window = 100000000;
    options.capacity = 20000;
    options.sync = asked ? BRY_COUNTERS_SYNC_ASKED : BRY_COUNTERS_SYNC_ALWAYS;
    options.log_bytes = 6000; /* a snapshot every hundred operations */
    bry_counters *counters;
    bry_load load = BRY_LOAD;
    bry_status status = bry_counters_open(dir, &options, &load, &counters);
    if (status != BRY_OK) {
        fprintf(stderr, "counter_kill: open: %s, %s\n", bry_status_text(status),
                load.problem ? load.problem : strerror(errno));
        exit(1);
    }
    return counters;
}

static void must(bry_status status)
{
    if (status != BRY_OK)
        stop(bry_status_text(status));
}

/* All operations before this one must count. */
static void acknowledge(int pipe, uint64_t end)
{
    if (write(pipe, &end, sizeof end) != sizeof end)
        stop("pipe");
}

/* How it writes: 0 one by one, 1 in batches, 2 with one sync for many. */
static void write_on(const char *dir, uint64_t i, uint64_t end, unsigned way, int pipe)
{
    bry_counters *counters = reach(dir, way == 2);
    char names[BATCH][16];
    bry_counters_op ops[BATCH];
    while (i < end) {
        uint64_t n = way == 1 ? 1 + i % BATCH : 1;
        for (uint64_t k = 0; k < n; k++)
            ops[k] = op_of(counters, i + k, names[k]);
        must(bry_counters_apply_n(counters, ops, n, time_of(i)));
        i += n;
        if (way != 2) {
            acknowledge(pipe, i);
        } else if (i % SYNC_EVERY == 0) {
            must(bry_counters_sync(counters));
            acknowledge(pipe, i);
        }
    }
    must(bry_counters_sync(counters));
    acknowledge(pipe, i);
    bry_counters_destroy(counters);
}

/* ---- the client ---------------------------------------------------------------------------- */

/* Starts a writer at operation `from`; returns its process. */
static pid_t start(const char *dir, uint64_t from, uint64_t end, unsigned way, int *acks)
{
    int ends[2];
    if (pipe(ends) != 0)
        stop("pipe");
    pid_t writer = fork();
    if (writer < 0)
        stop("fork");
    if (writer == 0) {
        close(ends[0]);
        write_on(dir, from, end, way, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    *acks = ends[0];
    return writer;
}

/* Waits for a number of acknowledgements, or for the end of them all. */
static void listen_for(int acks, uint64_t wanted, uint64_t *acknowledged)
{
    for (uint64_t end; wanted > 0; wanted--) {
        ssize_t got = read(acks, &end, sizeof end);
        if (got != sizeof end)
            return;
        *acknowledged = end;
    }
}

static uint64_t verify(const char *dir, uint64_t operations)
{
    int64_t expected[COUNTERS] = {0};
    for (uint64_t i = 0; i < operations; i++)
        expected[i % COUNTERS] += delta_of(i);
    bry_counters *counters = reach(dir, false);
    uint64_t wrong = 0;
    for (unsigned k = 0; k < COUNTERS; k++) {
        char name[16];
        int64_t value = 0;
        int len = snprintf(name, sizeof name, "counter %u", k);
        bry_counters_get(counters, name, (size_t)len, &value);
        if (value != expected[k]) {
            fprintf(stderr, "%s is %" PRId64 ", not %" PRId64 "\n", name, value, expected[k]);
            wrong++;
        }
    }
    bry_counters_stats stats = {0};
    bry_counters_get_stats(counters, &stats);
    printf("%" PRIu64 " operations, %" PRIu64 " applied, %" PRIu64 " repeats\n", operations,
           stats.applied, stats.repeats);
    wrong += stats.applied != operations;
    bry_counters_destroy(counters);
    return wrong;
}

static void remove_dir(const char *dir)
{
    static const char *const names[] = {"lock",    "log",      "log.new",
                                        "log.tmp", "snapshot", "snapshot.tmp"};
    char path[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    if (rmdir(dir) != 0)
        stop("the directory has files that nobody knows of");
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        fputs("usage: counter_kill KILLS [SEED]\n", stderr);
        return 2;
    }
    uint64_t kills = strtoull(argv[1], NULL, 10);
    generator from = {argc == 3 ? strtoull(argv[2], NULL, 10) : 1};
    char dir[] = "counter-kill-XXXXXX";
    if (!mkdtemp(dir))
        stop("mkdtemp");
    uint64_t acknowledged = 0;
    int acks;
    for (uint64_t k = 0; k < kills; k++) {
        pid_t writer = start(dir, acknowledged, UINT64_MAX, k % 3, &acks);
        listen_for(acks, 1 + generator_below(&from, 60), &acknowledged);
        usleep((useconds_t)generator_below(&from, 1500)); /* at a random point */
        kill(writer, SIGKILL);
        listen_for(acks, UINT64_MAX, &acknowledged); /* the remaining acknowledgements */
        close(acks);
        int result;
        if (waitpid(writer, &result, 0) != writer)
            stop("waitpid");
        if (!WIFSIGNALED(result)) {
            fputs("counter_kill: the writer ended by itself\n", stderr);
            return 1;
        }
    }
    /* The operations in progress of the last one are retried. */
    uint64_t end = acknowledged + IN_FLIGHT;
    pid_t writer = start(dir, acknowledged, end, 0, &acks);
    listen_for(acks, UINT64_MAX, &acknowledged);
    close(acks);
    int result;
    if (waitpid(writer, &result, 0) != writer || result != 0 || acknowledged != end)
        stop("the last writer");
    uint64_t wrong = verify(dir, end);
    remove_dir(dir);
    return wrong ? 1 : 0;
}
