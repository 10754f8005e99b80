#include "bench/cases/map/memcached_candidates.h"

#include "bench/cases/map/store_work.h"

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

/* ---- memcached ----------------------------------------------------------------------------- */

static void *remote_make(const void *work)
{
    return memcached_store.open(&((const remote_work *)work)->options);
}

static bool remote_run(const void *work, void *state, unsigned phase, bench_watch *watch,
                       uint64_t *found)
{
    return run_store_phase(&memcached_store, work, state, phase, watch, found);
}

static void remote_drop(void *state)
{
    memcached_store.close(state);
}

const bench_candidate candidate_memcached = {"memcached", remote_make, remote_drop, remote_run, 0};

/* ---- a map in the process ------------------------------------------------------------------ */

static void *local_make(const void *work)
{
    return local_map_store.open(&((const remote_work *)work)->options);
}

static bool local_run(const void *work, void *state, unsigned phase, bench_watch *watch,
                      uint64_t *found)
{
    return run_store_phase(&local_map_store, work, state, phase, watch, found);
}

static void local_drop(void *state)
{
    local_map_store.close(state);
}

const bench_candidate candidate_local_map = {"map", local_make, local_drop, local_run, 0};
