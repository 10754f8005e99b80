#include "bench/cases/map/memcached_candidates.h"

#include "bench/peers/peer_memcached.h"

#include <stdlib.h>
#include <string.h>

/* The operations of both kinds of map; false on failure. */
typedef struct store_calls {
    bool (*fill)(const kbf_workload *load, void *state);
    bool (*set)(void *state, const kbf_text *key, const kbf_text *value);
    bool (*del)(void *state, const kbf_text *key, bry_answer *was);
    bool (*get)(void *state, const kbf_text *const *keys, size_t n, kbf_text *values,
                uint8_t *answers);
    bool (*sizes)(void *state, remote_record *record);
} store_calls;

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

/* ---- the phases ---------------------------------------------------------------------------- */

static bool same_text(const kbf_text *a, const kbf_text *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

/* Looks up present or absent keys, `at_once` of them per call. */
static bool look_up(const kbf_workload *load, void *state, const store_calls *calls, bool there,
                    size_t at_once, bench_watch *watch, uint64_t *wrong)
{
    const kbf_text *keys[REMOTE_BATCH];
    kbf_text values[REMOTE_BATCH];
    uint8_t answers[REMOTE_BATCH];
    start_wall_watch(watch);
    for (uint64_t done = 0; done < load->asked; done += at_once) {
        size_t n = load->asked - done < at_once ? (size_t)(load->asked - done) : at_once;
        for (size_t i = 0; i < n; i++)
            keys[i] = &load->key[there ? load->place[done + i] : load->pairs + done + i];
        if (!calls->get(state, keys, n, values, answers))
            return false;
        for (size_t i = 0; i < n; i++)
            *wrong += there
                          ? answers[i] != BRY_PRESENT ||
                                !same_text(&values[i], kbf_first_value(load, load->place[done + i]))
                          : answers[i] == BRY_PRESENT;
    }
    stop_wall_watch(watch);
    return true;
}

static bool update_all_pairs(const kbf_workload *load, void *state, const store_calls *calls,
                             bench_watch *watch)
{
    bool good = true;
    start_wall_watch(watch);
    for (uint64_t i = 0; i < load->asked && good; i++)
        good = calls->set(state, &load->key[load->place[i]], kbf_later_value(load, load->place[i]));
    stop_wall_watch(watch);
    return good;
}

static bool delete_some(const kbf_workload *load, void *state, const store_calls *calls,
                        bench_watch *watch, uint64_t *wrong)
{
    bool good = true;
    start_wall_watch(watch);
    for (uint64_t i = 0; i < load->asked && good; i++) {
        bry_answer was = BRY_ABSENT;
        good = calls->del(state, &load->key[load->place[i]], &was);
        *wrong += was != BRY_PRESENT;
    }
    stop_wall_watch(watch);
    return good;
}

static bool fill_store(const kbf_workload *load, void *state, const store_calls *calls,
                       bench_watch *watch, remote_record *record)
{
    start_wall_watch(watch);
    bool good = calls->fill(load, state);
    stop_wall_watch(watch);
    return good && calls->sizes(state, record);
}

static bool run_store_phase(const remote_work *work, void *state, const store_calls *calls,
                            unsigned phase, bench_watch *watch, uint64_t *found)
{
    const kbf_workload *load = work->load;
    bool there = phase == REMOTE_HIT || phase == REMOTE_HIT_BATCH, good;
    size_t at_once = phase == REMOTE_HIT || phase == REMOTE_MISS ? 1 : REMOTE_BATCH;
    switch (phase) {
    case REMOTE_FILL:
        good = fill_store(load, state, calls, watch, work->record);
        break;
    case REMOTE_UPDATE:
        good = update_all_pairs(load, state, calls, watch);
        break;
    case REMOTE_DELETE:
        good = delete_some(load, state, calls, watch, found);
        break;
    default:
        good = look_up(load, state, calls, there, at_once, watch, found);
        break;
    }
    work->record->wrong[phase] = *found;
    return good;
}

/* ---- memcached ----------------------------------------------------------------------------- */

typedef struct remote_state {
    memcached *server;
    uint64_t resident_before;
} remote_state;

static void *remote_make(const void *opaque)
{
    const remote_work *work = opaque;
    remote_state *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    state->server = memcached_start(work->megabytes);
    if (!state->server) {
        free(state);
        return NULL;
    }
    state->resident_before = memcached_resident(state->server);
    return state;
}

static void remote_drop(void *opaque)
{
    remote_state *state = opaque;
    memcached_stop(state->server);
    free(state);
}

static bool remote_fill(const kbf_workload *load, void *opaque)
{
    memcached *server = ((remote_state *)opaque)->server;
    bool good = true;
    for (uint64_t i = 0; i < load->pairs && good; i++)
        good = memcached_set(server, &load->key[i], kbf_first_value(load, i), false);
    uint64_t held;
    return good && memcached_settle(server) && memcached_stat_count(server, "curr_items", &held) &&
           held == load->pairs;
}

static bool remote_set(void *opaque, const kbf_text *key, const kbf_text *value)
{
    return memcached_set(((remote_state *)opaque)->server, key, value, true);
}

static bool remote_del(void *opaque, const kbf_text *key, bry_answer *was)
{
    return memcached_delete(((remote_state *)opaque)->server, key, was);
}

static bool remote_get(void *opaque, const kbf_text *const *keys, size_t n, kbf_text *values,
                       uint8_t *answers)
{
    return memcached_get(((remote_state *)opaque)->server, keys, n, values, answers);
}

static bool remote_sizes(void *opaque, remote_record *record)
{
    remote_state *state = opaque;
    uint64_t now = memcached_resident(state->server);
    record->resident = now > state->resident_before ? now - state->resident_before : 0;
    return memcached_stat_count(state->server, "bytes", &record->bytes);
}

static bool remote_run(const void *work, void *state, unsigned phase, bench_watch *watch,
                       uint64_t *found)
{
    static const store_calls calls = {remote_fill, remote_set, remote_del, remote_get,
                                      remote_sizes};
    return run_store_phase(work, state, &calls, phase, watch, found);
}

const bench_candidate candidate_memcached = {"memcached", remote_make, remote_drop, remote_run, 0};

/* ---- a map in the process ------------------------------------------------------------------ */

static void *local_make(const void *work)
{
    bry_map *map = NULL;
    return bry_map_create(&((const remote_work *)work)->options, &map) == BRY_OK ? map : NULL;
}

static void local_drop(void *state)
{
    bry_map_destroy(state);
}

static bry_hash hash_of_text(const bry_map *map, const kbf_text *key)
{
    return bry_hash_key(bry_map_seed(map), key->bytes, key->len);
}

static bool local_fill(const kbf_workload *load, void *state)
{
    bool good = true;
    for (uint64_t i = 0; i < load->pairs && good; i++) {
        const kbf_text *value = kbf_first_value(load, i);
        good = bry_map_add(state, hash_of_text(state, &load->key[i]),
                           bry_map_value_bytes(value->bytes, value->len)) == BRY_OK;
    }
    return good;
}

/* A key that kbf is unsure of keeps its value. */
static bool local_set(void *state, const kbf_text *key, const kbf_text *value)
{
    bry_status status = bry_map_set(state, hash_of_text(state, key),
                                    bry_map_value_bytes(value->bytes, value->len), NULL);
    return status == BRY_OK || status == BRY_E_UNSURE;
}

static bool local_del(void *state, const kbf_text *key, bry_answer *was)
{
    bry_status status = bry_map_del(state, hash_of_text(state, key), was);
    return status == BRY_OK || status == BRY_E_UNSURE;
}

static bool local_get(void *state, const kbf_text *const *keys, size_t n, kbf_text *values,
                      uint8_t *answers)
{
    bry_map_value found[REMOTE_BATCH];
    if (n == 1) {
        answers[0] = (uint8_t)bry_map_get(state, hash_of_text(state, keys[0]), &found[0]);
    } else {
        bry_hash hashes[REMOTE_BATCH] = {0};
        for (size_t i = 0; i < n; i++)
            hashes[i] = hash_of_text(state, keys[i]);
        bry_map_get_n(state, hashes, n, found, answers);
    }
    for (size_t i = 0; i < n; i++)
        if (answers[i] == BRY_PRESENT)
            values[i] = (kbf_text){found[i].bytes, found[i].len};
    return true;
}

static bool local_sizes(void *state, remote_record *record)
{
    bry_map_stats stats = BRY_MAP_STATS;
    bry_map_get_stats(state, &stats);
    record->bytes = stats.bytes;
    return true;
}

static bool local_run(const void *work, void *state, unsigned phase, bench_watch *watch,
                      uint64_t *found)
{
    static const store_calls calls = {local_fill, local_set, local_del, local_get, local_sizes};
    return run_store_phase(work, state, &calls, phase, watch, found);
}

const bench_candidate candidate_local_map = {"map", local_make, local_drop, local_run, 0};
