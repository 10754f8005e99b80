/*
 * A table of counters, in memory or in a directory, with an exact twin. An applied id must be
 * remembered for the window and forgotten after `longest`; in between the twin accepts either
 * answer. The error is so small that no id is taken for another.
 */
#include <stdlib.h>
#include <string.h>

#include "counter/counter_object.h"
#include "model/model_steps.h"
#include "support/recording_io.h"

enum {
    IDS = 256,
    NAMES = 24,
    BATCH = 20,
    UNTOUCHED = 77,
    FILES_KEPT = 3, /* lock, log, snapshot */
    FILES_MOST = 100 /* of RECORDED_FILES */
};

static struct {
    uint64_t operations, repeats, full, reopened;
} counted;

typedef struct pair {
    failing_allocator memory;
    recording_io fs;
    bool in_dir, asked;
    bry_counters_options options;
    uint64_t longest;
    bry_counters *counters;
    /* the twin */
    struct {
        bool known;
        uint64_t added;
    } id[IDS];
    struct {
        bool there;
        int64_t value;
    } name[NAMES];
    uint64_t time, applied, repeats;
    uint64_t logged_time; /* written to disk */
} pair;

/* ---- what a program names ------------------------------------------------------------------- */

static bry_hash id_of(unsigned number)
{
    unsigned char byte = (unsigned char)number;
    return bry_hash_key(3, &byte, 1);
}

/* Names of all lengths from 0 on, with a common prefix. */
static const char *name_of(unsigned number, size_t *len)
{
    *len = number % NAMES;
    return "abcdefghijklmnopqrstuvwx";
}

static int64_t delta_of(unsigned byte)
{
    static const int64_t edges[] = {INT64_MAX, INT64_MIN, INT64_MAX / 2, INT64_MIN / 2, 0};
    return byte >= 240 ? edges[byte % 5] : (int64_t)byte - 100;
}

/* Mostly a little later, sometimes earlier, equal, or far ahead. */
static uint64_t read_time(const pair *both, model_reader *reader)
{
    unsigned byte = model_byte(reader);
    uint64_t base = both->time ? both->time : 100000;
    if (byte < 100)
        return base + byte % 4;
    if (byte < 200)
        return base + (byte - 100) * both->options.window / 400;
    if (byte < 230)
        return base - (byte - 200) * 3;
    return byte < 250 ? base + both->options.window + byte : base + both->longest * (byte - 247);
}

/* ---- making --------------------------------------------------------------------------------- */

static bry_status reach(pair *both)
{
    bry_counters_options options = both->options;
    options.allocator = &both->memory.allocator;
    return both->in_dir ? bry__counter_open(&both->fs.io, "t", &options, NULL, &both->counters)
                        : bry_counters_create(&options, &both->counters);
}

static void *create(model_reader *reader)
{
    static const uint64_t windows[] = {50, 1000, 7}, capacities[] = {100, 10, 1};
    static const uint64_t log_bytes[] = {600, 4000, 0, 1};
    pair *both = calloc(1, sizeof *both);
    if (!both) {
        model_fail(reader, "no memory for the test itself");
        return NULL;
    }
    failing_allocator_init(&both->memory);
    recording_init(&both->fs);
    unsigned kind = model_byte(reader), sizes = model_byte(reader);
    both->options = (bry_counters_options)BRY_COUNTERS_OPTIONS;
    both->options.engine = kind & 1 ? BRY_ENGINE_FBF : BRY_ENGINE_COMPACT;
    both->in_dir = kind & 2;
    both->asked = kind & 4;
    both->options.sync = both->asked ? BRY_COUNTERS_SYNC_ASKED : BRY_COUNTERS_SYNC_ALWAYS;
    both->options.max_skew = kind & 8 ? 200 : 0;
    both->options.window = windows[sizes % 3];
    both->options.capacity = capacities[sizes / 3 % 3];
    both->options.log_bytes = log_bytes[sizes / 9 % 4];
    both->options.error = 1e-12;
    both->options.seed = 3;
    bry_counters_shape shape = {0};
    model_expect(reader, bry_counters_plan(&both->options, &shape) == BRY_OK);
    both->longest = shape.longest;
    if (kind & 16)
        both->options.max_bytes = shape.bytes_least + (uint64_t)sizes * 16;
    model_expect(reader, reach(both) == BRY_OK);
    model_say(reader, "create %s%s%s, window %ju, capacity %ju, limit %ju, skew %ju",
              bry_engine_name(both->options.engine), both->in_dir ? ", directory" : "",
              both->asked ? ", asked" : "", (uintmax_t)both->options.window,
              (uintmax_t)both->options.capacity, (uintmax_t)both->options.max_bytes,
              (uintmax_t)both->options.max_skew);
    return both;
}

static void destroy(void *state, model_reader *reader)
{
    pair *both = state;
    if (!both)
        return;
    both->memory.fail_at = 0;
    bry_counters_destroy(both->counters);
    model_expect(reader, both->memory.blocks == 0);
    model_expect(reader, recording_open_files(&both->fs) == 0);
    recording_free(&both->fs);
    free(both);
}

/* ---- the twin ------------------------------------------------------------------------------- */

typedef enum memory_of { FORGOTTEN, REMEMBERED, EITHER } memory_of;

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static memory_of recall(const pair *both, unsigned id, uint64_t now)
{
    uint64_t at = later(now, both->time);
    if (!both->id[id].known || at - both->id[id].added > both->longest)
        return FORGOTTEN;
    return at - both->id[id].added <= both->options.window ? REMEMBERED : EITHER;
}

static bool too_far(const pair *both, uint64_t now)
{
    return both->options.max_skew && both->time && now > both->time + both->options.max_skew;
}

typedef struct planned {
    unsigned id, name;
    int64_t delta;
} planned;

/* Whether the batch overflows 64 bits if uncertain ids are new, or if they are not. */
static bool overflows(const pair *both, const planned *ops, size_t n, uint64_t now, bool either)
{
    int64_t value[NAMES];
    bool done[IDS] = {false};
    for (unsigned i = 0; i < NAMES; i++)
        value[i] = both->name[i].value;
    for (size_t i = 0; i < n; i++) {
        memory_of recalled = recall(both, ops[i].id, now);
        if (done[ops[i].id] || recalled == REMEMBERED || (recalled == EITHER && !either))
            continue;
        done[ops[i].id] = true;
        if (__builtin_add_overflow(value[ops[i].name], ops[i].delta, &value[ops[i].name]))
            return true;
    }
    return false;
}

static bool any_is_open(const pair *both, const planned *ops, size_t n, uint64_t now)
{
    for (size_t i = 0; i < n; i++)
        if (recall(both, ops[i].id, now) == EITHER)
            return true;
    return false;
}

/* Checks the table's answer to each operation and updates the twin. */
static void follow(pair *both, model_reader *reader, const planned *ops,
                   const bry_counters_op *done, size_t n, uint64_t now)
{
    uint64_t at = later(now, both->time);
    bool in_batch[IDS] = {false}, any = false;
    for (size_t i = 0; i < n; i++) {
        memory_of recalled = in_batch[ops[i].id] ? REMEMBERED : recall(both, ops[i].id, now);
        bool applied = done[i].outcome == BRY_COUNTERS_APPLIED;
        model_expect(reader, recalled == EITHER || applied == (recalled == FORGOTTEN));
        if (applied) {
            both->id[ops[i].id].known = true;
            both->id[ops[i].id].added = at;
            both->name[ops[i].name].there = true;
            bool beyond = __builtin_add_overflow(both->name[ops[i].name].value, ops[i].delta,
                                                 &both->name[ops[i].name].value);
            model_expect(reader, !beyond);
            any = true;
        }
        in_batch[ops[i].id] = true;
        model_expect(reader, done[i].value == both->name[ops[i].name].value);
        both->applied += applied;
        both->repeats += !applied;
        counted.repeats += !applied;
    }
    both->time = at;
    if (any)
        both->logged_time = at;
}

/* ---- operations ----------------------------------------------------------------------------- */

/* Checks whether a failure is justified. Nothing has changed then, except for the time if it is
 * full. */
static void refused(pair *both, model_reader *reader, bry_status status, const planned *ops,
                    size_t n, uint64_t now)
{
    if (status == BRY_E_NOMEM) {
        model_expect(reader, model_has_failed_one(&both->memory));
    } else if (status == BRY_E_FULL) {
        model_expect(reader, both->options.max_bytes != 0);
        /* The time advances, unless there is no memory even for that. */
        if (!model_has_failed_one(&both->memory) || bry_counters_time(both->counters) != both->time)
            both->time = later(both->time, now);
        counted.full++;
    } else {
        model_expect(reader, status == (too_far(both, now) ? BRY_E_SKEW : BRY_E_OVERFLOW));
        model_expect(reader, too_far(both, now) || overflows(both, ops, n, now, true) ||
                                 overflows(both, ops, n, now, false) ||
                                 any_is_open(both, ops, n, now));
    }
}

/* The statistics count each refusal, and nothing else. */
static void refusal_is_told(const pair *both, model_reader *reader, bry_status status,
                            const bry_counters_stats *before)
{
    bry_counters_stats after = {0};
    bry_counters_get_stats(both->counters, &after);
    model_expect(reader, after.refused_full == before->refused_full + (status == BRY_E_FULL));
    model_expect(reader, after.refused_skew == before->refused_skew + (status == BRY_E_SKEW));
    model_expect(reader,
                 after.refused_overflow == before->refused_overflow + (status == BRY_E_OVERFLOW));
}

static void do_apply(pair *both, model_reader *reader, size_t n)
{
    planned ops[BATCH];
    bry_counters_op given[BATCH];
    unsigned id = model_byte(reader), name = model_byte(reader), stride = 0;
    if (n > 1)
        stride = model_byte(reader);
    for (size_t i = 0; i < n; i++) {
        size_t len;
        ops[i].id = (id + (unsigned)i * stride) % IDS;
        ops[i].name = (name + (unsigned)i * (stride >> 4)) % NAMES;
        ops[i].delta = delta_of(model_byte(reader));
        const char *bytes = name_of(ops[i].name, &len);
        given[i] =
            (bry_counters_op){id_of(ops[i].id), bytes, len, ops[i].delta, UNTOUCHED, 0, UNTOUCHED};
    }
    uint64_t now = read_time(both, reader);
    model_say(reader, "apply %zu from id %u, name %u, at %ju", n, id, name, (uintmax_t)now);
    bry_status status;
    bry_counters_stats before = {0};
    bry_counters_get_stats(both->counters, &before);
    if (n == 1)
        status = bry_counters_apply(both->counters, given[0].id, given[0].name, given[0].name_len,
                                    given[0].delta, now, &given[0].outcome, &given[0].value);
    else
        status = bry_counters_apply_n(both->counters, given, n, now);
    counted.operations += n;
    model_say(reader, "  %s", bry_status_word(status));
    if (status != BRY_OK) {
        refused(both, reader, status, ops, n, now);
        refusal_is_told(both, reader, status, &before);
        for (size_t i = 0; i < n; i++)
            model_expect(reader, given[i].outcome == UNTOUCHED && given[i].value == UNTOUCHED);
        return;
    }
    model_expect(reader, !too_far(both, now));
    follow(both, reader, ops, given, n, now);
}

static void do_del(pair *both, model_reader *reader)
{
    unsigned name = model_below(reader, NAMES);
    size_t len;
    const char *bytes = name_of(name, &len);
    bry_answer was = BRY_UNSURE;
    model_say(reader, "delete %u", name);
    bry_status status = bry_counters_del(both->counters, bytes, len, &was);
    if (status != BRY_OK) {
        refused(both, reader, status, NULL, 0, 0);
        return;
    }
    model_expect(reader, was == (both->name[name].there ? BRY_PRESENT : BRY_ABSENT));
    if (both->name[name].there)
        both->logged_time = both->time;
    both->name[name].there = false;
    both->name[name].value = 0;
}

static void do_advance(pair *both, model_reader *reader)
{
    uint64_t now = read_time(both, reader);
    model_say(reader, "advance to %ju", (uintmax_t)now);
    bry_status status = bry_counters_advance(both->counters, now);
    if (status != BRY_OK) {
        model_expect(reader, status == BRY_E_NOMEM);
        refused(both, reader, status, NULL, 0, now);
        return;
    }
    if (now > both->time)
        both->logged_time = now;
    both->time = later(both->time, now);
}

static void do_ask(pair *both, model_reader *reader)
{
    uint64_t now = read_time(both, reader);
    model_say(reader, "ask for all ids at %ju", (uintmax_t)now);
    for (unsigned i = 0; i < IDS; i++) {
        bry_answer answer = bry_counters_has(both->counters, id_of(i), now);
        memory_of recalled = recall(both, i, now);
        model_expect(reader,
                     recalled == EITHER || (answer == BRY_PRESENT) == (recalled == REMEMBERED));
    }
}

static void do_clear(pair *both, model_reader *reader)
{
    model_say(reader, "clear");
    bry_status status = bry_counters_clear(both->counters);
    if (status != BRY_OK) {
        refused(both, reader, status, NULL, 0, 0);
        return;
    }
    memset(both->id, 0, sizeof both->id);
    memset(both->name, 0, sizeof both->name);
    both->logged_time = both->time;
    both->applied = both->repeats = 0;
}

/* A copy replaces the table; if the table has a directory, it stays and the copy is destroyed. */
static void do_copy(pair *both, model_reader *reader)
{
    model_say(reader, "clone");
    bry_counters *copy;
    bry_status status = bry_counters_clone(both->counters, NULL, &copy);
    if (status != BRY_OK) {
        model_expect(reader, status == BRY_E_NOMEM);
        refused(both, reader, status, NULL, 0, 0);
        return;
    }
    bry_counters_destroy(both->in_dir ? copy : both->counters);
    if (!both->in_dir)
        both->counters = copy;
}

/* The same files in a new file system. */
static void renew_files(pair *both)
{
    static const char *const names[] = {"t/lock", "t/log", "t/snapshot"};
    recording_io old = both->fs; /* not used any more: its operations point to both->fs */
    recording_init(&both->fs);
    for (int i = 0; i < 3; i++) {
        const recorded_file *file = recording_get(&old, names[i]);
        if (file)
            recording_put(&both->fs, names[i], file->bytes, file->len);
    }
    recording_free(&old);
}

static void do_reopen(pair *both, model_reader *reader, bool killed)
{
    if (!both->in_dir)
        return;
    model_say(reader, killed ? "kill and open" : "close and open");
    both->memory.fail_at = 0;
    counted.reopened++;
    both->counters->broken |= killed; /* then nothing more is written */
    bry_counters_destroy(both->counters);
    both->counters = NULL;
    model_expect(reader, killed || recording_names(&both->fs) <= FILES_KEPT);
    renew_files(both);
    model_expect(reader, reach(both) == BRY_OK);
    if (!both->counters)
        return;
    uint64_t time = bry_counters_time(both->counters);
    model_expect(reader, time <= both->time && time >= (killed ? both->logged_time : both->time));
    both->time = time;
    bry_counters_stats stats = {0};
    bry_counters_get_stats(both->counters, &stats);
    model_expect(reader,
                 stats.repeats <= both->repeats && (killed || stats.repeats == both->repeats));
    both->repeats = stats.repeats;
}

static void do_keep(pair *both, model_reader *reader, bool snapshot)
{
    model_say(reader, snapshot ? "snapshot" : "sync");
    bry_status status =
        snapshot ? bry_counters_snapshot(both->counters) : bry_counters_sync(both->counters);
    if (snapshot && !both->in_dir)
        model_expect(reader, status == BRY_E_UNSUPPORTED);
    else if (status == BRY_OK)
        both->logged_time = both->time;
    else
        refused(both, reader, status, NULL, 0, 0);
}

static void step(void *state, model_reader *reader)
{
    pair *both = state;
    if (both->fs.file_count > FILES_MOST)
        do_reopen(both, reader, false);
    unsigned kind = model_begin_step(reader, &both->memory, 8);
    if (kind < 16)
        do_apply(both, reader, 1);
    else if (kind < 22)
        do_apply(both, reader, 2 + model_below(reader, BATCH - 1));
    else if (kind < 24)
        do_del(both, reader);
    else if (kind == 24)
        do_advance(both, reader);
    else if (kind < 27)
        do_ask(both, reader);
    else if (kind == 27)
        do_copy(both, reader);
    else if (kind < 30)
        do_reopen(both, reader, kind == 29);
    else if (kind == 30)
        do_keep(both, reader, model_byte(reader) & 1);
    else if (model_byte(reader) < 64) /* and not too often */
        do_clear(both, reader);
    both->memory.fail_at = 0;
}

static void check(void *state, model_reader *reader)
{
    const pair *both = state;
    if (!both->counters)
        return;
    uint64_t there = 0, cursor = 0, listed = 0;
    for (unsigned i = 0; i < NAMES; i++) {
        size_t len;
        int64_t value = both->name[i].there ? 0 : both->name[i].value; /* written if it is there */
        const char *bytes = name_of(i, &len);
        bry_answer answer = bry_counters_get(both->counters, bytes, len, &value);
        model_expect(reader, (answer == BRY_PRESENT) == both->name[i].there);
        model_expect(reader, value == both->name[i].value);
        there += both->name[i].there;
    }
    bry_counters_entry entries[3];
    do
        listed += bry_counters_scan(both->counters, &cursor, entries, 3);
    while (cursor != 0);
    model_expect(reader, listed == there);
    model_expect(reader, bry_counters_time(both->counters) == both->time);
    bry_counters_stats stats = {0};
    bry_counters_get_stats(both->counters, &stats);
    model_expect(reader, stats.applied == both->applied && stats.repeats == both->repeats);
    model_expect(reader, stats.counters == there);
    model_expect(reader, stats.expected_lost <= 1e-12 * (double)stats.applied);
    model_expect(reader, stats.bytes <= both->memory.now);
    model_expect(reader, stats.bytes_window > 0 && stats.bytes_window < stats.bytes);
    model_expect(reader, stats.max_bytes == both->options.max_bytes);
    model_expect(reader, both->in_dir || stats.log_bytes + stats.unsynced == 0);
}

/* Each of these must have occurred often enough. */
static bool report(uint64_t programs, uint64_t wanted)
{
    (void)programs;
    printf("%ju repeats, %ju calls refused as full, %ju times opened again\n",
           (uintmax_t)counted.repeats, (uintmax_t)counted.full, (uintmax_t)counted.reopened);
    return counted.repeats >= wanted / 50 && counted.full > 0 && counted.reopened >= wanted / 500;
}

const model counter_model = {"counter", create, step, check, destroy, &counted.operations, report};
