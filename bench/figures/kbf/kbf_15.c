/* kBF, figure 15: time of insertions, queries and deletions in kBF, in Memcached, and in servers
 * that are reached over the same transport. */
#include "bench/figures/figure.h"

#include "bench/cases/map/store_work.h"
#include "bench/harness/bench_fail.h"
#include "bench/harness/measure.h"
#include "bench/peers/peer_memcached.h"
#include "bench/peers/peer_redis.h"
#include "cli/core/files/program_files.h"
#include "cli/core/steady_clock.h"

#include <stdio.h>
#include <time.h>

enum { VALUES = 3000, SIZES = 3, FEW = 1000, SPARE_MEGABYTES = 256, PAIR_MEGABYTES = 1000 };
#define ERROR 1e-3 /* of kBF and compact */

typedef struct timed_store {
    const char *series;
    const map_store *store;
    bry_engine engine;
    bry_map_layout layout;
} timed_store;

static const timed_store stores[] = {
    {"Memcached", &memcached_store, BRY_ENGINE_AUTO, BRY_MAP_TUNED},
    {"Redis strings", &redis_string_store, BRY_ENGINE_AUTO, BRY_MAP_TUNED},
    {"kBF in our server (ours)", &redis_map_store, BRY_ENGINE_KBF, BRY_MAP_TUNED},
    {"compact in our server (ours)", &redis_map_store, BRY_ENGINE_COMPACT, BRY_MAP_TUNED},
    {"kBF in the process", &local_map_store, BRY_ENGINE_KBF, BRY_MAP_PAPER},
    {"compact in the process (ours)", &local_map_store, BRY_ENGINE_COMPACT, BRY_MAP_TUNED},
};
enum { STORES = sizeof stores / sizeof stores[0] };

/* Which stores there are here, and what they need. */
typedef struct places {
    bool memcached, redis, module;
    cli_path module_path;
} places;

/* The tests do not start servers: what this measures is times. */
static places find_places(const figure_run *run)
{
    places found = {.memcached = false};
    if (run->scale == FIGURE_SMALL)
        return found;
    found.memcached = memcached_installed();
    found.redis = redis_installed();
    found.module = found.redis && cli_find_beside("bloomery.so", &found.module_path);
    if (!found.memcached && run->number == 0)
        fputs("kbf-15: memcached is not installed (Debian: memcached): left out\n", stderr);
    if (!found.redis && run->number == 0)
        fputs("kbf-15: redis-server is not installed (Debian: redis-server): left out\n", stderr);
    else if (!found.module && run->number == 0)
        fputs("kbf-15: bloomery.so is not beside this program: our server is left out\n", stderr);
    return found;
}

static bool is_there(const places *found, const map_store *store)
{
    return store == &local_map_store || (store == &memcached_store && found->memcached) ||
           (store == &redis_string_store && found->redis) ||
           (store == &redis_map_store && found->module);
}

/* ---- time ---------------------------------------------------------------------------------- */

/* Processor time of client and server. Both never work at the same time, so on an idle machine this
 * is what passes, but for the time in which messages travel. */
static double both_processor_seconds(const store_work *work)
{
    return cli_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) +
           (double)work->store->processor_time(work->state) / 1e9;
}

/* ---- the phases ---------------------------------------------------------------------------- */

enum phase { INSERT, UPDATE, QUERY, DELETE, PHASES };
static const char *const phase_names[PHASES] = {"insert", "update", "query", "delete"};

static bool run_phase(const store_work *work, unsigned phase)
{
    uint64_t wrong = 0;
    bool good = phase == INSERT   ? store_fill(work)
                : phase == UPDATE ? store_update(work)
                : phase == QUERY  ? store_look_up(work, true, &wrong)
                                  : store_delete(work, &wrong);
    if (good && (double)wrong > 10 * ERROR * (double)work->load->asked + 5)
        return bench_fail("kbf-15: %llu wrong answers to %llu times %s", (unsigned long long)wrong,
                          (unsigned long long)work->load->asked, phase_names[phase]);
    return good;
}

/* Insertions, queries and deletions with as many keys per request as there can be. */
static bool time_store(const figure_run *run, const char *series, const store_work *work)
{
    static const enum phase phases[] = {INSERT, QUERY, DELETE};
    for (unsigned i = 0; i < sizeof phases / sizeof phases[0]; i++) {
        double begin = both_processor_seconds(work);
        if (!run_phase(work, phases[i]))
            return false;
        figure_point(run, phase_names[phases[i]], series, (double)work->load->pairs,
                     both_processor_seconds(work) - begin);
    }
    return true;
}

/* One key per request: how long a client waits, in the middle of FEW requests. */
static bool time_requests(const figure_run *run, const char *series, const store_work *work)
{
    static const enum phase phases[] = {QUERY, UPDATE, DELETE};
    double waited[FEW];
    if (!run_phase(work, INSERT))
        return false;
    for (unsigned i = 0; i < sizeof phases / sizeof phases[0]; i++) {
        for (unsigned request = 0; request < FEW; request++) {
            kbf_workload one = *work->load;
            one.asked = 1;
            one.place += request;
            const store_work single = {work->store, work->state, &one, 1};
            double begin = cli_clock_seconds(CLOCK_MONOTONIC);
            if (!run_phase(&single, phases[i]))
                return false;
            waited[request] = cli_clock_seconds(CLOCK_MONOTONIC) - begin;
        }
        figure_bar(run, "single", series, phase_names[phases[i]], bench_median(waited, FEW) * 1e6);
    }
    return true;
}

/* ---- the figure ---------------------------------------------------------------------------- */

static bool time_all_stores(const figure_run *run, const places *found, const kbf_workload *load,
                            bool last)
{
    for (unsigned i = 0; i < STORES; i++) {
        /* Each repetition begins with another store. */
        const timed_store *one = &stores[(i + run->number) % STORES];
        if (!is_there(found, one->store))
            continue;
        map_store_options options = {
            .map = BRY_MAP_OPTIONS,
            .megabytes = SPARE_MEGABYTES + load->pairs / PAIR_MEGABYTES,
            .module = found->module_path.text,
        };
        options.map.engine = one->engine;
        options.map.capacity = load->pairs;
        options.map.values = VALUES;
        options.map.error = ERROR;
        options.map.fixed = true;
        options.map.seed = run->seed;
        options.map.kbf.layout = one->layout;
        void *state = one->store->open(&options);
        const store_work work = {one->store, state, load, MAP_STORE_MOST_KEYS};
        bool good = state && time_store(run, one->series, &work) &&
                    (!last || time_requests(run, one->series, &work));
        if (state)
            one->store->close(state);
        if (!good)
            return bench_fail("kbf-15: %s has failed", one->series);
    }
    return true;
}

static bool measure_times(const figure_run *run)
{
    const uint64_t most = FIGURE_SIZE(run, 4000u, 100000u, 4000000u);
    const places found = find_places(run);
    bool good = true;
    for (unsigned i = 1; i <= SIZES && good; i++) {
        kbf_workload load;
        uint64_t pairs = most >> (SIZES - i);
        if (!kbf_workload_make(&load, pairs, pairs, VALUES))
            return bench_fail("%llu pairs do not fit in memory", (unsigned long long)pairs);
        good = time_all_stores(run, &found, &load, i == SIZES);
        kbf_workload_free(&load);
    }
    return good;
}

FIGURE(kbf_15, "kbf-15", "Time of kBF and of Memcached", {1, 3, 3}, measure_times);
