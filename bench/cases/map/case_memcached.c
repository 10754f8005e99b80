/*
 * An in-process map compared with memcached behind a socket, in wall-clock time, because a client waits
 * for a server.
 */
#include "bench/cases/bench_cases.h"
#include "bench/cases/map/map_candidates.h"
#include "bench/cases/map/store_work.h"

#include "bench/harness/bench_fail.h"
#include "bench/peers/peer_memcached.h"

#include <math.h>

#define MOST_ASKED 10000u /* each is a round trip */
#define SPARE_MEGABYTES 256u

enum { REMOTE_ROWS = 3 }; /* memcached, kbf, compact */

enum remote_phase {
    REMOTE_FILL, /* all pairs, REMOTE_BATCH per request */
    REMOTE_HIT, /* from here on: `asked` keys, one by one … */
    REMOTE_MISS,
    REMOTE_HIT_BATCH, /* … or REMOTE_BATCH per request */
    REMOTE_MISS_BATCH,
    REMOTE_UPDATE,
    REMOTE_DELETE,
    REMOTE_PHASES
};
#define REMOTE_BATCH MAP_STORE_MOST_KEYS

typedef struct remote_record {
    map_store_size size; /* when filled */
    uint64_t wrong[REMOTE_PHASES]; /* wrong answers; deletions of absent keys */
} remote_record;

typedef struct remote_work {
    const kbf_workload *load;
    map_store_options options;
    remote_record *record;
} remote_work;

typedef struct remote_report {
    bench_settings settings;
    char version[32];
    kbf_workload_facts facts;
    uint64_t asked; /* keys of each phase but the first */
    struct {
        const char *name;
        double bytes_per_pair; /* by their own count */
        double resident_per_pair; /* growth of the server's memory; only memcached */
        double wrong; /* share of present keys answered with a wrong value or none */
        double false_positive;
        bench_time time[REMOTE_PHASES];
    } row[REMOTE_ROWS];
} remote_report;

static void start_wall_watch(bench_watch *watch)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    watch->started = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void stop_wall_watch(bench_watch *watch)
{
    uint64_t before = watch->started;
    start_wall_watch(watch);
    watch->spent += watch->started - before;
}

static bool run_store_phase(const map_store *store, const remote_work *with, void *state,
                            unsigned phase, bench_watch *watch, uint64_t *found)
{
    bool one = phase != REMOTE_FILL && phase != REMOTE_HIT_BATCH && phase != REMOTE_MISS_BATCH;
    const store_work work = {store, state, with->load, one ? 1 : REMOTE_BATCH};
    bool good;
    start_wall_watch(watch);
    switch (phase) {
    case REMOTE_FILL:
        good = store_fill(&work);
        break;
    case REMOTE_UPDATE:
        good = store_update(&work);
        break;
    case REMOTE_DELETE:
        good = store_delete(&work, found);
        break;
    default:
        good = store_look_up(&work, phase == REMOTE_HIT || phase == REMOTE_HIT_BATCH, found);
        break;
    }
    stop_wall_watch(watch);
    with->record->wrong[phase] = *found;
    return good && (phase != REMOTE_FILL || store->size(state, &with->record->size));
}

/* A candidate: a map in this process, or memcached behind a socket. */
#define STORE_CANDIDATE(kind, title, of_store)                                                     \
    static void *kind##_make(const void *work)                                                     \
    {                                                                                              \
        return (of_store).open(&((const remote_work *)work)->options);                             \
    }                                                                                              \
    static bool kind##_run(const void *work, void *state, unsigned phase, bench_watch *watch,      \
                           uint64_t *found)                                                        \
    {                                                                                              \
        return run_store_phase(&(of_store), work, state, phase, watch, found);                     \
    }                                                                                              \
    static void kind##_drop(void *state)                                                           \
    {                                                                                              \
        (of_store).close(state);                                                                   \
    }                                                                                              \
    static const bench_candidate candidate_##kind = {title, kind##_make, kind##_drop, kind##_run,  \
                                                     0};
STORE_CANDIDATE(memcached, "memcached", memcached_store)
STORE_CANDIDATE(local_map, "map", local_map_store)

static bool ask_version(remote_report *report)
{
    local_server *server = memcached_start(SPARE_MEGABYTES, false);
    if (!server)
        return false;
    bool good = memcached_stat(server, "version", report->version, sizeof report->version);
    local_server_stop(server);
    return good;
}

/* Checks that the wrong answers of a phase are within the error, and that memcached gives none.
 * Refused updates appear as wrong answers later. */
static bool check_remote_record(const remote_report *report, const char *name,
                                const remote_record *record, double error)
{
    double most = (double)report->asked * error;
    if (error > 0)
        most += 5 * sqrt(2 * most) + 2;
    for (unsigned phase = 0; phase < REMOTE_PHASES; phase++)
        if ((double)record->wrong[phase] > most)
            return bench_fail("%s: %llu wrong answers of %llu in phase %u", name,
                              (unsigned long long)record->wrong[phase],
                              (unsigned long long)report->asked, phase);
    return true;
}

static void fill_remote_row(remote_report *report, unsigned i, const bench_result *result,
                            const remote_record *record)
{
    double pairs = (double)report->settings.items, asked = (double)report->asked;
    report->row[i].bytes_per_pair = (double)record->size.bytes / pairs;
    report->row[i].resident_per_pair = i == 0 ? (double)record->size.resident / pairs : NAN;
    report->row[i].wrong = (double)record->wrong[REMOTE_HIT] / asked;
    report->row[i].false_positive = (double)record->wrong[REMOTE_MISS] / asked;
    for (unsigned phase = 0; phase < REMOTE_PHASES; phase++) {
        double scale = phase == REMOTE_FILL ? 1 : pairs / asked;
        report->row[i].time[phase].median = result->time[phase].median * scale;
        report->row[i].time[phase].min = result->time[phase].min * scale;
    }
}

static bool measure_remote(const kbf_workload *load, remote_report *report)
{
    static const char *const names[REMOTE_ROWS] = {"memcached", "kbf", "compact"};
    const bench_settings *settings = &report->settings;
    const bench_candidate candidates[REMOTE_ROWS] = {candidate_memcached, candidate_local_map,
                                                     candidate_local_map};
    remote_record records[REMOTE_ROWS] = {0};
    remote_work works[REMOTE_ROWS] = {0};
    const void *given[REMOTE_ROWS];
    bench_result results[REMOTE_ROWS] = {0};
    double bytes = report->facts.key_bytes + report->facts.value_bytes + 100;
    for (unsigned i = 0; i < REMOTE_ROWS; i++) {
        works[i] = (remote_work){
            .load = load,
            .options.map = BRY_MAP_OPTIONS,
            .options.megabytes =
                (uint64_t)(2 * bytes * (double)load->pairs / 1e6) + SPARE_MEGABYTES,
            .record = &records[i],
        };
        bry_map_options *map = &works[i].options.map;
        map->engine = i == 1 ? BRY_ENGINE_KBF : BRY_ENGINE_COMPACT;
        map->capacity = settings->items;
        map->values = settings->map.values;
        map->error = settings->error;
        map->fixed = true;
        map->seed = MAP_SEED;
        given[i] = &works[i];
    }
    const bench_plan plan = {
        .candidates = candidates,
        .works = given,
        .count = REMOTE_ROWS,
        .phases = REMOTE_PHASES,
        .operations = load->pairs,
        .rounds = settings->rounds,
    };
    bool good = bench_measure(&plan, NULL, results);
    for (unsigned i = 0; i < REMOTE_ROWS && good; i++) {
        report->row[i].name = names[i];
        fill_remote_row(report, i, &results[i], &records[i]);
        good = check_remote_record(report, names[i], &records[i], i == 0 ? 0 : settings->error);
    }
    return good;
}

static const char *const phase_names[REMOTE_PHASES] = {
    [REMOTE_FILL] = "fill",
    [REMOTE_HIT] = "hit",
    [REMOTE_MISS] = "miss",
    [REMOTE_HIT_BATCH] = "hit_batch",
    [REMOTE_MISS_BATCH] = "miss_batch",
    [REMOTE_UPDATE] = "update",
    [REMOTE_DELETE] = "delete",
};

static void remote_json(cli_json *json, const remote_report *report)
{
    cli_json_text(json, "version", report->version);
    cli_json_count(json, "pairs", report->settings.items);
    cli_json_count(json, "asked", report->asked);
    cli_json_count(json, "values", report->settings.map.values);
    cli_json_number(json, "error", report->settings.error);
    cli_json_count(json, "batch", REMOTE_BATCH);
    cli_json_count(json, "rounds", report->settings.rounds);
    cli_json_number(json, "key_bytes", report->facts.key_bytes);
    cli_json_number(json, "value_bytes", report->facts.value_bytes);
    cli_json_open(json, "stores", '[');
    for (unsigned i = 0; i < REMOTE_ROWS; i++) {
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "name", report->row[i].name);
        cli_json_number(json, "bytes_per_pair", report->row[i].bytes_per_pair);
        cli_json_number(json, "resident_per_pair", report->row[i].resident_per_pair);
        cli_json_number(json, "wrong", report->row[i].wrong);
        cli_json_number(json, "false_positive", report->row[i].false_positive);
        for (unsigned phase = 0; phase < REMOTE_PHASES; phase++)
            bench_time_json(json, phase_names[phase], report->row[i].time[phase]);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
    for (unsigned i = 1; i < REMOTE_ROWS; i++) {
        char key[64];
        snprintf(key, sizeof key, "memcached_by_%s", report->row[i].name);
        cli_json_open(json, key, '{'); /* memcached's figure divided by that of row i */
        cli_json_number(json, "bytes",
                        report->row[0].bytes_per_pair / report->row[i].bytes_per_pair);
        for (unsigned phase = 0; phase < REMOTE_PHASES; phase++)
            cli_json_number(json, phase_names[phase],
                            report->row[0].time[phase].median / report->row[i].time[phase].median);
        cli_json_close(json, '}');
    }
}

bool bench_remote(const bench_settings *settings, cli_json *json)
{
    remote_report report = {.settings = *settings};
    if (!memcached_installed())
        return bench_fail("memcached is not installed (Debian: memcached)");
    if (!ask_version(&report))
        return false;
    report.asked = settings->items < MOST_ASKED ? settings->items : MOST_ASKED;
    kbf_workload load;
    if (!kbf_workload_make(&load, settings->items, report.asked, (uint32_t)settings->map.values))
        return bench_fail("%llu pairs do not fit in memory", (unsigned long long)settings->items);
    report.facts = kbf_workload_look(&load);
    bool good = measure_remote(&load, &report);
    kbf_workload_free(&load);
    if (good)
        remote_json(json, &report);
    return good;
}
