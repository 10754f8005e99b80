/* Tables of counters with both engines, as jobs (saved_job.h). */
#include "model/save/saved_job.h"
#include "support/like.h"

#include "counter/counter_object.h"

#include <bloomery/counters.h>

#include <string.h>

static void *create(model_reader *reader, const bry_allocator *allocator, bry_engine engine)
{
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    bry_counters_shape shape = {0};
    options.engine = engine;
    options.window = read_scaled(reader, 1, (uint64_t)1 << 52);
    options.capacity = read_scaled(reader, 1, (uint64_t)1 << 40);
    options.error = read_rate(reader, 1e-12, 0.5);
    if (read_chance(reader, 3))
        options.max_skew = read_scaled(reader, 1, UINT64_MAX);
    options.seed = 1 + model_byte(reader);
    bry_status planned = bry_counters_plan(&options, &shape);
    if (planned == BRY_OK && read_chance(reader, 3)) {
        options.max_bytes = shape.bytes_empty + read_scaled(reader, 0, 1 << 16);
        planned = bry_counters_plan(&options, &shape);
    }
    model_say(reader, "create %s, window %ju, capacity %ju, error %g, limit %ju, skew %ju: %s",
              bry_engine_name(engine), (uintmax_t)options.window, (uintmax_t)options.capacity,
              options.error, (uintmax_t)options.max_bytes, (uintmax_t)options.max_skew,
              bry_status_word(planned));
    if (planned == BRY_OK && !plan_fits(reader, shape.bytes, shape.bytes_empty))
        return NULL;
    options.allocator = allocator;
    bry_counters *counters = NULL;
    bry_status made = bry_counters_create(&options, &counters);
    return check_planned(reader, BRY_JOB_COUNTERS, planned, shape.bytes_empty, made, counters);
}

static uint64_t read_time(model_reader *reader, const bry_counters *counters)
{
    uint64_t time = bry_counters_time(counters), length = counters_like(counters).window;
    unsigned kind = model_byte(reader), steps = kind % 16;
    uint64_t now = time + (kind < 230 ? length / 16 * steps + steps / 4 : 0);
    if (kind >= 244)
        now = read_scaled(reader, 0, UINT64_MAX);
    model_say(reader, "  at %ju", (uintmax_t)now);
    return now;
}

enum { NAMES = 24, LONGEST = 63 };

/* Names of up to 20 bytes, and sometimes one of the maximum length. */
static size_t name_of(unsigned number, char *name)
{
    memset(name, 'a' + (int)(number % 16), 20);
    return number == LONGEST ? BRY_COUNTERS_NAME_MAX : number % 20;
}

/* The limit applies to allocated memory, and a loaded table may have less. */
static void note_applied(answer_notes *notes, const bry_counters *counters, bry_status status)
{
    bry_counters_stats stats = {0};
    bry_counters_get_stats(counters, &stats);
    note_status(notes, "apply", status);
    notes->parted |= status == BRY_E_FULL && stats.max_bytes;
}

static void apply(bry_counters *counters, model_reader *reader, const bry_hash *ids, size_t n,
                  bool at_once, answer_notes *notes)
{
    static char names[MOST_BATCH][20];
    static const char longest[BRY_COUNTERS_NAME_MAX];
    bry_counters_op ops[MOST_BATCH];
    unsigned name = model_byte(reader), delta = model_byte(reader);
    uint64_t now = read_time(reader, counters);
    for (size_t i = 0; i < n; i++) {
        unsigned number =
            delta == 7 && i == 0 ? LONGEST : (name + (unsigned)i * (delta % 3)) % NAMES;
        size_t len = name_of(number, names[i]);
        int64_t by = delta % 32 == 31 ? INT64_MAX : delta % 32 == 30 ? INT64_MIN : (int)delta - 100;
        ops[i] = (bry_counters_op){
            ids[i], len > 20 ? longest : names[i], len, by, BRY_COUNTERS_REPEAT, 0, 0};
        if (!at_once)
            note_applied(notes, counters,
                         bry_counters_apply(counters, ids[i], ops[i].name, len, by, now,
                                            &ops[i].outcome, &ops[i].value));
    }
    if (at_once)
        note_applied(notes, counters, bry_counters_apply_n(counters, ops, n, now));
    for (size_t i = 0; i < n; i++) {
        note_number(notes, "outcome", ops[i].outcome);
        note_number(notes, "value", (uint64_t)ops[i].value);
    }
}

static void use(void *object, model_reader *reader, answer_notes *notes)
{
    bry_counters *counters = object;
    bry_hash ids[MOST_BATCH];
    char name[20];
    unsigned kind = model_below(reader, 16);
    model_say(reader, "%s",
              kind < 5    ? "apply"
              : kind < 11 ? "apply_n"
              : kind < 13 ? "delete"
              : kind < 15 ? "advance"
                          : "clear");
    if (kind < 11) {
        size_t n = read_batch(reader, ids);
        apply(counters, reader, ids, n, kind >= 5, notes);
    } else if (kind < 13) {
        bry_answer was = BRY_UNSURE;
        size_t len = name_of(model_below(reader, NAMES), name);
        note_status(notes, "delete", bry_counters_del(counters, name, len, &was));
        note_number(notes, "was", was);
    } else if (kind < 15) {
        note_status(notes, "advance", bry_counters_advance(counters, read_time(reader, counters)));
    } else if (read_chance(reader, 4)) {
        note_status(notes, "clear", bry_counters_clear(counters));
    }
}

static void look(const void *object, answer_notes *notes)
{
    bry_counters_stats stats = {0};
    bry_counters_get_stats(object, &stats);
    note_number(notes, "engine", stats.engine);
    note_number(notes, "seed", stats.seed);
    note_number(notes, "time", stats.time);
    note_number(notes, "window", stats.window);
    note_number(notes, "covered", stats.covered);
    note_number(notes, "counters", stats.counters);
    note_number(notes, "ids", stats.ids);
    note_number(notes, "applied", stats.applied);
    note_number(notes, "repeats", stats.repeats);
    note_real(notes, "expected_lost", stats.expected_lost);
    note_number(notes, "refused_full", stats.refused_full);
    note_number(notes, "refused_overflow", stats.refused_overflow);
    note_number(notes, "refused_skew", stats.refused_skew);
    note_real(notes, "promised_error", stats.promised_error);
    note_real(notes, "estimated_error", stats.estimated_error);
    note_number(notes, "max_bytes", stats.max_bytes);
    char name[20];
    for (unsigned i = 0; i < NAMES; i++) {
        int64_t value = 0;
        size_t len = name_of(i, name);
        note_number(notes, "get", bry_counters_get(object, name, len, &value));
        note_number(notes, "value", (uint64_t)value);
    }
    for (unsigned i = 0; i < 128; i++)
        note_number(
            notes, "has",
            bry_counters_has(object, key_number(i), stats.time + i % 4 * (stats.window / 3)));
}

SAVED_LIKE(bry_counters, object->options)

const saved_calls saved_counters = {create, use, look, like, NULL};
