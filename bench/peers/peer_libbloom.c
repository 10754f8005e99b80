/* Jyri J. Virkki's libbloom, as Debian ships it: a standard Bloom filter with MurmurHash2
 * inside. */
#include "bench/peers/peer_libbloom.h"

#ifndef BENCH_HAVE_LIBBLOOM

const filter_candidate *filter_libbloom(void)
{
    return NULL;
}

const char *filter_libbloom_version(void)
{
    return NULL;
}

#else

#include <bloom.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

static bool libbloom_init(const filter_work *work, struct bloom *bloom)
{
    return work->keys.count <= INT_MAX &&
           bloom_init(bloom, (int)work->keys.count, work->error) == 0;
}

static void *libbloom_make(const void *work)
{
    struct bloom *bloom = malloc(sizeof *bloom);
    if (bloom && !libbloom_init(work, bloom)) {
        free(bloom);
        return NULL;
    }
    return bloom;
}

static void libbloom_drop(void *state)
{
    bloom_free(state);
    free(state);
}

static bool libbloom_run(const void *opaque, void *state, unsigned phase, bench_watch *watch,
                         uint64_t *found)
{
    const filter_work *work = opaque;
    const unsigned char *keys = phase == PHASE_ADD   ? work->keys.added
                                : phase == PHASE_HIT ? work->keys.hits
                                                     : work->keys.misses;
    uint64_t there = 0;
    bool good = true;
    bench_start(watch);
    if (phase == PHASE_ADD) {
        for (uint64_t i = 0; i < work->keys.count; i++)
            good &= bloom_add(state, keys + i * BENCH_KEY_BYTES, BENCH_KEY_BYTES) >= 0;
    } else {
        for (uint64_t i = 0; i < work->keys.count; i++)
            there += bloom_check(state, keys + i * BENCH_KEY_BYTES, BENCH_KEY_BYTES) == 1;
    }
    bench_stop(watch);
    *found = there;
    return good;
}

static bool libbloom_facts(const filter_work *work, filter_facts *facts)
{
    struct bloom bloom;
    /* Its sizes are ints, and it requires at least 1000 keys. */
    double bits = (double)work->keys.count * -log(work->error) / (M_LN2 * M_LN2);
    if (bits > INT_MAX || !libbloom_init(work, &bloom))
        return false;
    *facts = (filter_facts){
        .bytes = (uint64_t)bloom.bytes,
        .bits_per_item = (double)bloom.bits / (double)work->keys.count,
        .predicted_error = NAN,
    };
    bloom_free(&bloom);
    return true;
}

const filter_candidate *filter_libbloom(void)
{
    static const filter_candidate libbloom = {
        .candidate = {"libbloom", libbloom_make, libbloom_drop, libbloom_run, BENCH_NO_READY},
        .id = "libbloom",
        .peer = true,
        .facts = libbloom_facts,
    };
    return &libbloom;
}

const char *filter_libbloom_version(void)
{
    return bloom_version();
}

#endif
