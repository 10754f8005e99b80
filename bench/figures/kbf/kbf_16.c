/* kBF, figure 16: memory for the pairs that fit into a Memcached of a given size. */
#include "bench/figures/figure.h"

#include "bench/cases/map/store_work.h"
#include "bench/harness/bench_fail.h"
#include "bench/peers/peer_memcached.h"
#include "bench/peers/peer_redis.h"

#include <stdio.h>

enum { VALUES = 3000, LEAST_PAIR = 170, USUAL_PAIR = 330 };

typedef struct sized_store {
    const char *series;
    const map_store *store;
    bry_engine engine;
    bry_map_layout layout;
    double error;
} sized_store;

static const sized_store stores[] = {
    {"kBF with p = 0.001", &local_map_store, BRY_ENGINE_KBF, BRY_MAP_PAPER, 1e-3},
    {"kBF with p = 0.000001", &local_map_store, BRY_ENGINE_KBF, BRY_MAP_PAPER, 1e-6},
    {"compact with an error of 0.001 (ours)", &local_map_store, BRY_ENGINE_COMPACT, BRY_MAP_TUNED,
     1e-3},
    {"Redis strings", &redis_string_store, BRY_ENGINE_AUTO, BRY_MAP_TUNED, 0},
};
enum { STORES = sizeof stores / sizeof stores[0] };

/* Sets pairs until one is refused, and returns how many are stored; 0 on failure. */
static uint64_t fill_memcached(const kbf_workload *load, uint64_t megabytes)
{
    const kbf_text *keys[MAP_STORE_MOST_KEYS], *values[MAP_STORE_MOST_KEYS];
    local_server *server = memcached_start(megabytes, true);
    uint64_t all = 0;
    size_t stored = MAP_STORE_MOST_KEYS;
    while (server && stored == MAP_STORE_MOST_KEYS && all + stored <= load->pairs) {
        for (size_t i = 0; i < MAP_STORE_MOST_KEYS; i++) {
            keys[i] = &load->key[all + i];
            values[i] = kbf_first_value(load, all + i);
        }
        if (!memcached_set(server, keys, values, MAP_STORE_MOST_KEYS, &stored)) {
            all = 0;
            break;
        }
        all += stored;
    }
    if (server)
        local_server_stop(server);
    return stored < MAP_STORE_MOST_KEYS ? all : 0;
}

static bool measure_store(const figure_run *run, const sized_store *one, const kbf_workload *load,
                          double megabytes)
{
    map_store_options options = {.map = BRY_MAP_OPTIONS};
    options.map.engine = one->engine;
    options.map.capacity = load->pairs;
    options.map.values = VALUES;
    options.map.error = one->error;
    options.map.fixed = true;
    options.map.seed = run->seed;
    options.map.kbf.layout = one->layout;
    void *state = one->store->open(&options);
    const store_work work = {one->store, state, load, MAP_STORE_MOST_KEYS};
    map_store_size size;
    bool good = state && store_fill(&work) && one->store->size(state, &size);
    if (state)
        one->store->close(state);
    if (!good)
        return bench_fail("kbf-16: %s has failed", one->series);
    figure_point(run, "memory", one->series, megabytes, (double)size.bytes / 0x1p20);
    figure_point(run, "pair", one->series, megabytes, (double)size.bytes / (double)load->pairs);
    return true;
}

/* The tests start no servers, and take the usual number of pairs. */
static bool measure_limit(const figure_run *run, uint64_t megabytes)
{
    const bool servers = run->scale != FIGURE_SMALL, memcached = servers && memcached_installed();
    const uint64_t bytes = megabytes << 20;
    kbf_workload load;
    if (!kbf_workload_make(&load, bytes / (memcached ? LEAST_PAIR : USUAL_PAIR), 1, VALUES))
        return bench_fail("the pairs do not fit in memory");
    uint64_t all = load.pairs;
    bool good = true;
    if (memcached) {
        load.pairs = fill_memcached(&load, megabytes);
        good = load.pairs > 0;
        if (good) {
            figure_point(run, "memory", "Memcached", (double)megabytes, (double)megabytes);
            figure_point(run, "pair", "Memcached", (double)megabytes,
                         (double)bytes / (double)load.pairs);
        } else {
            cli_fail("kbf-16: memcached has failed");
        }
    }
    for (unsigned i = 0; i < STORES && good; i++)
        if (stores[i].store == &local_map_store || (servers && redis_installed()))
            good = measure_store(run, &stores[i], &load, (double)megabytes);
    load.pairs = all;
    kbf_workload_free(&load);
    return good;
}

static bool measure_memory_at_limits(const figure_run *run)
{
    const uint64_t least = FIGURE_SIZE(run, 4u, 64u, 64u), most = FIGURE_SIZE(run, 8u, 256u, 1024u);
    bool good = true;
    if (run->scale != FIGURE_SMALL && run->number == 0 && !memcached_installed())
        fputs("kbf-16: memcached is not installed (Debian: memcached): left out\n", stderr);
    for (uint64_t megabytes = least; megabytes <= most && good; megabytes *= 2)
        good = measure_limit(run, megabytes);
    return good;
}

FIGURE(kbf_16, "kbf-16", "Memory of kBF and of Memcached", {2, 1, 1}, measure_memory_at_limits);
