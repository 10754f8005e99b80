#include "bench/cases/bench_cases.h"

#include "bench/peers/peer_memcached.h"
#include "cli/core/output/output.h"

#include <math.h>
#include <string.h>

#define MOST_ASKED 10000u /* each is a round trip */
#define SPARE_MEGABYTES 256u

static bool pairs_out_of_memory(const bench_settings *settings)
{
    cli_fail("%llu pairs do not fit in memory", (unsigned long long)settings->items);
    return false;
}

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
        if ((double)record->wrong[phase] > most) {
            cli_fail("%s: %llu wrong answers of %llu in phase %u", name,
                     (unsigned long long)record->wrong[phase], (unsigned long long)report->asked,
                     phase);
            return false;
        }
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

bool bench_remote(const bench_settings *settings, remote_report *report)
{
    *report = (remote_report){.settings = *settings, .there = memcached_installed()};
    if (!report->there)
        return true;
    if (!ask_version(report))
        return false;
    report->asked = settings->items < MOST_ASKED ? settings->items : MOST_ASKED;
    kbf_workload load;
    if (!kbf_workload_make(&load, settings->items, report->asked, (uint32_t)settings->map.values))
        return pairs_out_of_memory(settings);
    report->facts = kbf_workload_look(&load);
    bool good = measure_remote(&load, report);
    kbf_workload_free(&load);
    return good;
}
