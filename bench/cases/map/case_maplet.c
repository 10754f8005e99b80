/*
 * First, in one pass, the figures that do not depend on time: shared fingerprints, size, entries
 * moved, growth. Then the rounds.
 */
#include "bench/cases/bench_cases.h"
#include "bench/cases/map/maplet_candidates.h"

#include "bench/harness/bench_fail.h"
#include "hash/derive.h"

#include <math.h>
#include <stdlib.h>

#define CHURN 20u /* one in this many keys is deleted and added again */

typedef struct maplet_report {
    bench_settings settings;
    uint64_t bytes; /* with all entries, like the following */
    double bits_per_entry;
    double load; /* share of the allocated bits that hold entries; the rest is directory or free */
    double predicted_error;
    double false_positive; /* measured: share of absent keys that are found */
    double collided; /* measured: share of entries whose fingerprint belongs to several keys */
    unsigned max_step; /* most entries moved by one insertion */
    double bits_per_entry_mean, bits_per_entry_max; /* while growing from half to all */
    double relative_max; /* most bytes meanwhile, relative to a table made for them */
    bench_time time[MAPLET_PHASES];
    uint64_t exact_bytes; /* 0: not compared */
    bench_time exact_time[MAPLET_PHASES];
} maplet_report;

static bool maplet_out_of_memory(const bench_settings *settings)
{
    return bench_fail("%llu entries do not fit in memory", (unsigned long long)settings->items);
}

/* ---- keys and fingerprints ----------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorted fingerprints of the keys, or NULL. */
static uint64_t *sorted_fingerprints(const bry_hash *keys, uint64_t count, uint64_t range)
{
    uint64_t *sorted = malloc((size_t)count * sizeof *sorted);
    if (!sorted)
        return NULL;
    for (uint64_t i = 0; i < count; i++)
        sorted[i] = bry__fingerprint(keys[i], range);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_places);
    return sorted;
}

/* The number of entries with a fingerprint of the keys that will be deleted. */
static bool count_removed(maplet_work *work)
{
    uint64_t *leaving = sorted_fingerprints(work->hits, work->churn, work->range);
    if (!leaving)
        return false;
    for (uint64_t i = 0; i < work->churn; i++)
        if (i == 0 || leaving[i] != leaving[i - 1])
            work->removed += maplet_sharers(work, leaving[i]);
    free(leaving);
    return true;
}

static bool prepare_maplet_work(const bench_settings *settings, maplet_work *work,
                                maplet_notes *notes)
{
    uint64_t count = settings->items;
    *work = (maplet_work){
        .options = {count, settings->error, settings->value_bits, !settings->grow},
        .count = count,
        .churn = count / CHURN,
        .batch = settings->batch,
        .notes = notes,
    };
    work->range = bry__maplet_range(&work->options);
    if (work->range == 0)
        return bench_fail("no maplet can be made at this size and error");
    if (!bench_keys_make(&work->keys, count))
        return maplet_out_of_memory(settings);
    work->added = (const bry_hash *)(const void *)work->keys.added;
    work->hits = (const bry_hash *)(const void *)work->keys.hits;
    work->misses = (const bry_hash *)(const void *)work->keys.misses;
    work->values = malloc(settings->batch * sizeof *work->values);
    work->answers = malloc(settings->batch);
    work->fingerprints = sorted_fingerprints(work->added, count, work->range);
    /* Many times the expected number; more would be a failure anyway. */
    double room = fmin((double)count, 8 * (double)count * settings->error + 1000);
    *notes = (maplet_notes){.room = (uint64_t)room};
    notes->place = malloc((size_t)notes->room * sizeof *notes->place);
    if (!work->values || !work->answers || !work->fingerprints || !notes->place ||
        !count_removed(work))
        return maplet_out_of_memory(settings);
    return true;
}

static void free_maplet_work(maplet_work *work)
{
    bench_keys_free(&work->keys);
    free(work->fingerprints);
    free(work->values);
    free(work->answers);
}

/* ---- what does not depend on time ---------------------------------------------------------- */

/* Entries that share their fingerprint with another. */
static uint64_t count_collided(const maplet_work *work)
{
    const uint64_t *f = work->fingerprints;
    uint64_t collided = 0;
    for (uint64_t i = 0; i < work->count; i++)
        collided += (i > 0 && f[i] == f[i - 1]) || (i + 1 < work->count && f[i] == f[i + 1]);
    return collided;
}

/* Bits of segments that hold entries: quotients in unary, remainders and values. */
static double bits_in_use(const bry__maplet *maplet)
{
    double bits = 0;
    for (unsigned t = 0; t < maplet->tables; t++) {
        const bry__table *table = &maplet->table[t];
        for (uint64_t i = 0; i < table->segments; i++) {
            const bry__segment *segment = bry__table_segment(table, i);
            if (segment->n == 0)
                continue;
            uint64_t quotients = (bry__table_u_most(table, i) >> segment->remainder_bits) + 1;
            unsigned slot = (unsigned)segment->remainder_bits + segment->value_bits;
            bits += (double)quotients + segment->n * (1.0 + slot);
        }
    }
    return bits;
}

static bool insert_one(const maplet_work *work, bry__maplet *maplet, uint64_t i)
{
    bry_hash hash = work->added[i];
    return bry__maplet_add(maplet, hash, maplet_first_value(work, hash)) == BRY_OK;
}

static bool insert_range(const maplet_work *work, bry__maplet *maplet, uint64_t from, uint64_t to)
{
    bool good = true;
    for (uint64_t i = from; i < to && good; i++)
        good = insert_one(work, maplet, i);
    return good;
}

/* Bytes of the maplet relative to a fresh one made for its current entries, filled in another
 * order, with fingerprints from the same range. */
static bool compare_with_fresh(const maplet_work *work, const bry__maplet *maplet, double *relative)
{
    uint64_t n = bry__maplet_count(maplet);
    const bry__maplet_options options = {n, (double)n / (double)work->range,
                                         work->options.value_bits, true};
    bry__maplet fresh;
    if (!bry__maplet_init(&fresh, &options, &maplet->allocator))
        return false;
    bool good = true;
    for (uint64_t i = n; i-- > 0 && good;)
        good = insert_one(work, &fresh, i);
    *relative = (double)bry__maplet_bytes(maplet) / (double)bry__maplet_bytes(&fresh);
    bry__maplet_free(&fresh);
    return good;
}

/* Adds all keys and samples the size at several counts. */
static bool watch_growth(const maplet_work *work, bry__maplet *maplet, maplet_report *report)
{
    enum { EARLY = 2, SAMPLES = 32, LEAST = 100000 };
    const uint64_t half = work->count / 2, early[EARLY] = {LEAST, work->count / 4};
    uint64_t done = 0;
    double sum = 0;
    for (unsigned i = 0; i < EARLY + SAMPLES; i++) {
        unsigned sample = i - EARLY;
        uint64_t n = i < EARLY ? early[i] : half + (work->count - half) * sample / (SAMPLES - 1);
        if (i < EARLY && (n <= done || n >= half))
            continue;
        if (!insert_range(work, maplet, done, n))
            return false;
        done = n;
        double bits = 8 * (double)bry__maplet_bytes(maplet) / (double)n, relative;
        if (i >= EARLY) {
            sum += bits;
            report->bits_per_entry_max = fmax(report->bits_per_entry_max, bits);
        }
        /* A fresh one takes time, so it is made only for a few samples. */
        if (n >= LEAST && (i < EARLY || sample % 16 == 0 || n == work->count)) {
            if (!compare_with_fresh(work, maplet, &relative))
                return false;
            report->relative_max = fmax(report->relative_max, relative);
        }
    }
    report->bits_per_entry_mean = sum / SAMPLES;
    return true;
}

static bool observe_maplet(const maplet_work *work, maplet_report *report)
{
    bry__maplet *maplet = candidate_maplet.make(work);
    if (!maplet)
        return maplet_out_of_memory(&report->settings);
    double n = (double)work->count;
    report->bits_per_entry_mean = report->bits_per_entry_max = report->relative_max = NAN;
    bool good = report->settings.grow ? watch_growth(work, maplet, report)
                                      : insert_range(work, maplet, 0, work->count);
    if (good) {
        report->bytes = bry__maplet_bytes(maplet);
        report->bits_per_entry = 8 * (double)report->bytes / n;
        report->load = bits_in_use(maplet) / (8 * (double)report->bytes);
        report->predicted_error = bry__maplet_error_now(maplet);
        report->max_step = maplet->table[0].max_step;
        report->collided = (double)count_collided(work) / n;
    }
    candidate_maplet.drop(maplet);
    if (good && report->settings.compare)
        good = (report->exact_bytes = exact_bytes(work)) > 0;
    return good || maplet_out_of_memory(&report->settings);
}

/* ---- the rounds ---------------------------------------------------------------------------- */

/* Two more than the band: even if less than one is expected, a pair may occur. */
static bool check_band(const char *what, double seen, double expected, double sigma)
{
    return fabs(seen - expected) <= 5 * sigma + 2 ||
           bench_fail("maplet: %.0f %s where %.1f are expected", seen, what, expected);
}

static bool check_errors(const maplet_work *work, const maplet_report *report)
{
    double n = (double)work->count;
    /* The probability that one of n keys, or of n - 1 others, has a given fingerprint. */
    double p = -expm1(-n / (double)work->range), sigma = sqrt(n * p * (1 - p));
    /* Entries collide mostly in pairs, so their number varies like twice the number of pairs. */
    return check_band("false positives", report->false_positive * n, n * p, sigma) &&
           check_band("entries with a shared fingerprint", report->collided * n, n * p,
                      sqrt(2) * sigma);
}

static bool check_counts(const maplet_work *work, const bench_candidate *who, const uint64_t *found,
                         uint64_t removed, uint64_t false_positives)
{
    const struct {
        unsigned phase;
        const char *what;
        uint64_t expected;
    } rows[] = {
        {MAPLET_HIT, "keys found", work->count},
        {MAPLET_HIT_BATCH, "keys found in batches", work->count},
        {MAPLET_MISS, "absent keys found", false_positives},
        {MAPLET_MISS_BATCH, "absent keys found in batches", false_positives},
        {MAPLET_DELETE, "entries deleted", removed},
        {MAPLET_UPSERT, "values replaced", work->count},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (found[rows[i].phase] == rows[i].expected)
            continue;
        return bench_fail("%s: %llu %s instead of %llu", who->name,
                          (unsigned long long)found[rows[i].phase], rows[i].what,
                          (unsigned long long)rows[i].expected);
    }
    return true;
}

/* The harness divides by the number of all keys; these phases have fewer operations. */
static void take_maplet_times(const maplet_work *work, const bench_result *result,
                              bench_time *times)
{
    for (unsigned phase = 0; phase < MAPLET_PHASES; phase++) {
        bool some = phase == MAPLET_DELETE || phase == MAPLET_INSERT_FULL;
        double scale = some ? (double)work->count / (double)work->churn : 1;
        times[phase].median = result->time[phase].median * scale;
        times[phase].min = result->time[phase].min * scale;
    }
}

static bool measure_maplets(const maplet_work *work, maplet_report *report)
{
    const bench_candidate candidates[] = {candidate_maplet, candidate_exact};
    const bench_plan plan = {
        .candidates = candidates,
        .count = report->settings.compare ? 2 : 1,
        .phases = MAPLET_PHASES,
        .operations = work->count,
        .rounds = report->settings.rounds,
    };
    bench_result results[2] = {0};
    if (!bench_measure(&plan, work, results))
        return false;
    uint64_t false_positives = results[0].found[MAPLET_MISS];
    report->false_positive = (double)false_positives / (double)work->count;
    take_maplet_times(work, &results[0], report->time);
    if (!check_counts(work, &candidates[0], results[0].found, work->removed, false_positives) ||
        !check_errors(work, report))
        return false;
    if (!report->settings.compare)
        return true;
    take_maplet_times(work, &results[1], report->exact_time);
    return check_counts(work, &candidates[1], results[1].found, work->churn, 0);
}

/* ---- the report ---------------------------------------------------------------------------- */

static const char *const phase_names[MAPLET_PHASES] = {
    [MAPLET_INSERT] = "insert",
    [MAPLET_HIT] = "hit",
    [MAPLET_MISS] = "miss",
    [MAPLET_HIT_BATCH] = "hit_batch",
    [MAPLET_MISS_BATCH] = "miss_batch",
    [MAPLET_DELETE] = "delete",
    [MAPLET_INSERT_FULL] = "insert_full",
    [MAPLET_UPSERT] = "upsert",
};

/* In the order of importance. */
static const unsigned shown[MAPLET_PHASES] = {
    MAPLET_INSERT, MAPLET_INSERT_FULL, MAPLET_UPSERT,    MAPLET_DELETE,
    MAPLET_HIT,    MAPLET_MISS,        MAPLET_HIT_BATCH, MAPLET_MISS_BATCH,
};

static void maplet_times_json(cli_json *json, const bench_time *times)
{
    for (unsigned i = 0; i < MAPLET_PHASES; i++)
        bench_time_json(json, phase_names[shown[i]], times[shown[i]]);
}

/* The exact table's figure divided by the maplet's: above 1, the maplet is the better one. */
static void maplet_ratios_json(cli_json *json, const maplet_report *report)
{
    cli_json_open(json, "ratios", '{');
    cli_json_number(json, "bytes", (double)report->exact_bytes / (double)report->bytes);
    for (unsigned i = 0; i < MAPLET_PHASES; i++)
        cli_json_number(json, phase_names[shown[i]],
                        report->exact_time[shown[i]].median / report->time[shown[i]].median);
    cli_json_close(json, '}');
}

static void maplet_json(cli_json *json, const maplet_report *report)
{
    const bench_settings *settings = &report->settings;
    cli_json_count(json, "items", settings->items);
    cli_json_count(json, "value_bits", settings->value_bits);
    cli_json_number(json, "error", settings->error);
    cli_json_text(json, "isa", bry_isa());
    cli_json_bool(json, "grow", settings->grow);
    cli_json_count(json, "batch", settings->batch);
    cli_json_count(json, "rounds", settings->rounds);
    cli_json_count(json, "bytes", report->bytes);
    cli_json_number(json, "bits_per_entry", report->bits_per_entry);
    cli_json_number(json, "load", report->load);
    cli_json_number(json, "predicted_error", report->predicted_error);
    cli_json_number(json, "false_positive", report->false_positive);
    cli_json_number(json, "collided", report->collided);
    cli_json_count(json, "max_step", report->max_step);
    if (settings->grow) {
        cli_json_number(json, "bits_per_entry_mean", report->bits_per_entry_mean);
        cli_json_number(json, "bits_per_entry_max", report->bits_per_entry_max);
        cli_json_number(json, "relative_max", report->relative_max);
    }
    maplet_times_json(json, report->time);
    if (!settings->compare)
        return;
    cli_json_open(json, "exact", '{');
    cli_json_number(json, "bytes_per_entry",
                    (double)report->exact_bytes / (double)report->settings.items);
    maplet_times_json(json, report->exact_time);
    cli_json_close(json, '}');
    maplet_ratios_json(json, report);
}

bool bench_maplet(const bench_settings *settings, cli_json *json)
{
    maplet_report report = {.settings = *settings};
    maplet_notes notes = {0};
    maplet_work work;
    bool good = prepare_maplet_work(settings, &work, &notes) && observe_maplet(&work, &report) &&
                measure_maplets(&work, &report);
    free_maplet_work(&work);
    free(notes.place);
    if (good)
        maplet_json(json, &report);
    return good;
}
