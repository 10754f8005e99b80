/* The work of a map candidate, written once and compiled for each of them. */
#ifndef BLOOMERY_BENCH_MAP_PHASES_H
#define BLOOMERY_BENCH_MAP_PHASES_H

#include "bench/cases/map/map_candidates.h"

#include <string.h>

#define MAP_INLINE static inline __attribute__((always_inline))

/* Values are numbers here. UINT32_MAX: the bytes are not a known value. */
typedef struct map_calls {
    bool (*insert)(const map_work *work, void *state, bry_hash hash, uint32_t number);
    bry_answer (*update)(const map_work *work, void *state, bry_hash hash, uint32_t number);
    bry_answer (*del)(const map_work *work, void *state, bry_hash hash);
    bry_answer (*get)(const map_work *work, const void *state, bry_hash hash, uint32_t *number);
    /* to work->answers and work->numbers */
    void (*get_n)(const map_work *work, const void *state, const bry_hash *hashes, size_t n);
    void (*measure)(const map_work *work, const void *state, map_record *record);
} map_calls;

MAP_INLINE void map_count(map_tally *tally, bry_answer answer, bool right)
{
    tally->right += answer == BRY_PRESENT && right;
    tally->wrong += answer == BRY_PRESENT && !right;
    tally->absent += answer == BRY_ABSENT;
    tally->unsure += answer == BRY_UNSURE;
}

/* numbers NULL: all keys are absent. */
MAP_INLINE map_tally map_look(const map_work *work, const void *state, map_calls calls,
                              const bry_hash *keys, const uint32_t *numbers, uint64_t count,
                              bench_watch *watch)
{
    map_tally tally = {0};
    bench_start(watch);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t number = UINT32_MAX;
        bry_answer answer = calls.get(work, state, keys[i], &number);
        map_count(&tally, answer, numbers && number == numbers[i]);
    }
    bench_stop(watch);
    return tally;
}

MAP_INLINE map_tally map_look_n(const map_work *work, const void *state, map_calls calls,
                                const bry_hash *keys, const uint32_t *numbers, bench_watch *watch)
{
    map_tally tally = {0};
    uint64_t count = work->data->count;
    bench_start(watch);
    for (uint64_t done = 0; done < count; done += work->batch) {
        size_t here = count - done < work->batch ? (size_t)(count - done) : work->batch;
        calls.get_n(work, state, keys + done, here);
        for (size_t i = 0; i < here; i++)
            map_count(&tally, (bry_answer)work->answers[i],
                      numbers && work->numbers[i] == numbers[done + i]);
    }
    bench_stop(watch);
    return tally;
}

MAP_INLINE bool map_fill(const map_work *work, void *state, map_calls calls, bench_watch *watch,
                         map_record *now)
{
    const map_data *data = work->data;
    bool good = true;
    bench_start(watch);
    for (uint64_t i = 0; i < data->count; i++)
        good &= calls.insert(work, state, data->added[i], data->added_value[i]);
    bench_stop(watch);
    now->filled = true;
    calls.measure(work, state, now);
    return good;
}

/* Unsure keys, and those reported absent, keep their value. */
MAP_INLINE void map_change(const map_work *work, void *state, map_calls calls, bench_watch *watch,
                           map_record *now)
{
    const map_data *data = work->data;
    bench_start(watch);
    for (uint64_t i = 0; i < data->count; i++)
        map_count(&now->said[MAP_UPDATE],
                  calls.update(work, state, data->hits[i], data->new_value[i]), true);
    bench_stop(watch);
    bench_watch unused = {0};
    now->updated = map_look(work, state, calls, data->hits, data->new_value, data->count, &unused);
}

MAP_INLINE void map_take_out(const map_work *work, void *state, map_calls calls, bench_watch *watch,
                             map_record *now)
{
    const map_data *data = work->data;
    bench_start(watch);
    for (uint64_t i = 0; i < data->churn; i++)
        map_count(&now->said[MAP_DELETE], calls.del(work, state, data->hits[i]), true);
    bench_stop(watch);
    bench_watch unused = {0};
    now->gone = map_look(work, state, calls, data->hits, NULL, data->churn, &unused);
    now->kept = map_look(work, state, calls, data->hits + data->churn,
                         data->new_value + data->churn, data->count - data->churn, &unused);
}

/* All rounds must count the same. */
MAP_INLINE bool map_same(map_tally *seen, const map_tally *now)
{
    static const map_tally nothing;
    if (memcmp(seen, &nothing, sizeof nothing) == 0)
        *seen = *now;
    return memcmp(seen, now, sizeof *now) == 0;
}

MAP_INLINE bool map_run(const map_work *work, void *state, map_calls calls, unsigned phase,
                        bench_watch *watch, uint64_t *found)
{
    const map_data *data = work->data;
    map_record now = {0}, *seen = work->record;
    bool good = true;
    switch (phase) {
    case MAP_INSERT:
        good = map_fill(work, state, calls, watch, &now);
        if (!seen->filled) {
            seen->filled = true;
            seen->bytes = now.bytes;
            seen->bytes_main = now.bytes_main;
            seen->cells = now.cells;
            seen->estimated = now.estimated;
        }
        return good && seen->bytes == now.bytes && seen->bytes_main == now.bytes_main;
    case MAP_HIT:
        now.said[phase] =
            map_look(work, state, calls, data->hits, data->hit_value, data->count, watch);
        break;
    case MAP_MISS:
        now.said[phase] = map_look(work, state, calls, data->misses, NULL, data->count, watch);
        break;
    case MAP_HIT_BATCH:
        now.said[phase] = map_look_n(work, state, calls, data->hits, data->hit_value, watch);
        break;
    case MAP_MISS_BATCH:
        now.said[phase] = map_look_n(work, state, calls, data->misses, NULL, watch);
        break;
    case MAP_UPDATE:
        map_change(work, state, calls, watch, &now);
        good = map_same(&seen->updated, &now.updated);
        break;
    default:
        map_take_out(work, state, calls, watch, &now);
        good = map_same(&seen->gone, &now.gone) && map_same(&seen->kept, &now.kept);
        break;
    }
    *found = now.said[phase].right;
    return good && map_same(&seen->said[phase], &now.said[phase]);
}

#endif
