/* Tables of counters with both engines, as saved_job.h wants them. */
#include "model/save/saved_job.h"
#include "support/like.h"

#include "counter/counter_object.h"

#include <bloomery/counter.h>

#include <string.h>

static void *create(model_reader *reader, const bry_allocator *allocator, bry_engine engine)
{
    bry_counter_options options = BRY_COUNTER_OPTIONS;
    bry_counter_shape shape = BRY_COUNTER_SHAPE;
    options.engine = engine;
    options.window = kept_scaled(reader, 1, (uint64_t)1 << 52);
    options.capacity = kept_scaled(reader, 1, (uint64_t)1 << 40);
    options.error = kept_rate(reader, 1e-12, 0.5);
    if (kept_chance(reader, 3))
        options.max_skew = kept_scaled(reader, 1, UINT64_MAX);
    options.seed = 1 + model_byte(reader);
    bry_status planned = bry_counter_plan(&options, &shape);
    if (planned == BRY_OK && kept_chance(reader, 3)) {
        options.max_bytes = shape.bytes_empty + kept_scaled(reader, 0, 1 << 16);
        planned = bry_counter_plan(&options, &shape);
    }
    model_say(reader, "create %s, window %ju, capacity %ju, error %g, ceiling %ju, skew %ju: %s",
              bry_engine_name(engine), (uintmax_t)options.window, (uintmax_t)options.capacity,
              options.error, (uintmax_t)options.max_bytes, (uintmax_t)options.max_skew,
              bry_status_word(planned));
    if (planned == BRY_OK && !kept_fits(reader, shape.bytes, shape.bytes_empty))
        return NULL;
    options.allocator = allocator;
    bry_counter *counters = NULL;
    bry_status made = bry_counter_create(&options, &counters);
    return kept_made(reader, planned, made, counters);
}

static uint64_t read_time(model_reader *reader, const bry_counter *counters)
{
    uint64_t time = bry_counter_time(counters), length = counter_like(counters).window;
    unsigned kind = model_byte(reader), steps = kind % 16;
    uint64_t now = time + (kind < 230 ? length / 16 * steps + steps / 4 : 0);
    if (kind >= 244)
        now = kept_scaled(reader, 0, UINT64_MAX);
    model_say(reader, "  at %ju", (uintmax_t)now);
    return now;
}

enum { NAMES = 24, LONGEST = 63 };

/* Names of up to 20 bytes, and now and then one as long as they may be. */
static size_t name_of(unsigned number, char *name)
{
    memset(name, 'a' + (int)(number % 16), 20);
    return number == LONGEST ? BRY_COUNTER_NAME_MAX : number % 20;
}

/* The ceiling is on memory that is allocated, of which one that was loaded may have less. */
static void note_applied(kept_notes *notes, const bry_counter *counters, bry_status status)
{
    bry_counter_stats stats = BRY_COUNTER_STATS;
    bry_counter_get_stats(counters, &stats);
    kept_status(notes, "apply", status);
    notes->parted |= status == BRY_E_FULL && stats.max_bytes;
}

static void apply(bry_counter *counters, model_reader *reader, const bry_hash *ids, size_t n,
                  bool at_once, kept_notes *notes)
{
    static char names[KEPT_BATCH][20];
    static const char longest[BRY_COUNTER_NAME_MAX];
    bry_counter_op ops[KEPT_BATCH];
    unsigned name = model_byte(reader), delta = model_byte(reader);
    uint64_t now = read_time(reader, counters);
    for (size_t i = 0; i < n; i++) {
        unsigned number =
            delta == 7 && i == 0 ? LONGEST : (name + (unsigned)i * (delta % 3)) % NAMES;
        size_t len = name_of(number, names[i]);
        int64_t by = delta % 32 == 31 ? INT64_MAX : delta % 32 == 30 ? INT64_MIN : (int)delta - 100;
        ops[i] =
            (bry_counter_op){ids[i], len > 20 ? longest : names[i], len, by, BRY_COUNTER_REPEAT, 0};
        if (!at_once)
            note_applied(notes, counters,
                         bry_counter_apply(counters, ids[i], ops[i].name, len, by, now,
                                           &ops[i].outcome, &ops[i].value));
    }
    if (at_once)
        note_applied(notes, counters, bry_counter_apply_n(counters, ops, sizeof *ops, n, now));
    for (size_t i = 0; i < n; i++) {
        kept_number(notes, "outcome", ops[i].outcome);
        kept_number(notes, "value", (uint64_t)ops[i].value);
    }
}

static void use(void *object, model_reader *reader, kept_notes *notes)
{
    bry_counter *counters = object;
    bry_hash ids[KEPT_BATCH];
    char name[20];
    unsigned kind = model_below(reader, 16);
    model_say(reader, "%s",
              kind < 5    ? "apply"
              : kind < 11 ? "apply_n"
              : kind < 13 ? "delete"
              : kind < 15 ? "advance"
                          : "clear");
    if (kind < 11) {
        size_t n = kept_batch(reader, ids);
        apply(counters, reader, ids, n, kind >= 5, notes);
    } else if (kind < 13) {
        bry_answer was = BRY_UNSURE;
        size_t len = name_of(model_below(reader, NAMES), name);
        kept_status(notes, "delete", bry_counter_del(counters, name, len, &was));
        kept_number(notes, "was", was);
    } else if (kind < 15) {
        kept_status(notes, "advance", bry_counter_advance(counters, read_time(reader, counters)));
    } else if (kept_chance(reader, 4)) {
        kept_status(notes, "clear", bry_counter_clear(counters));
    }
}

static void look(const void *object, kept_notes *notes)
{
    bry_counter_stats stats = BRY_COUNTER_STATS;
    bry_counter_get_stats(object, &stats);
    kept_number(notes, "engine", stats.engine);
    kept_number(notes, "seed", stats.seed);
    kept_number(notes, "time", stats.time);
    kept_number(notes, "window", stats.window);
    kept_number(notes, "covered", stats.covered);
    kept_number(notes, "counters", stats.counters);
    kept_number(notes, "ids", stats.ids);
    kept_number(notes, "applied", stats.applied);
    kept_number(notes, "repeats", stats.repeats);
    kept_real(notes, "expected_lost", stats.expected_lost);
    kept_number(notes, "refused_full", stats.refused_full);
    kept_number(notes, "refused_overflow", stats.refused_overflow);
    kept_number(notes, "refused_time", stats.refused_time);
    kept_real(notes, "promised_error", stats.promised_error);
    kept_real(notes, "estimated_error", stats.estimated_error);
    kept_number(notes, "max_bytes", stats.max_bytes);
    char name[20];
    for (unsigned i = 0; i < NAMES; i++) {
        int64_t value;
        size_t len = name_of(i, name);
        kept_number(notes, "get", bry_counter_get(object, name, len, &value));
        kept_number(notes, "value", (uint64_t)value);
    }
    for (unsigned i = 0; i < 128; i++)
        kept_number(notes, "has",
                    bry_counter_has(object, kept_key(i), stats.time + i % 4 * (stats.window / 3)));
}

#define KEPT_OPTIONS(object) (object)->options
KEPT_CALLS(bry_counter)

const kept_job kept_counter_compact = KEPT_JOB("counter-compact", BRY_ENGINE_COMPACT, NULL);
const kept_job kept_counter_fbf = KEPT_JOB("counter-fbf", BRY_ENGINE_FBF, NULL);
