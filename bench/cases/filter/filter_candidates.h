/*
 * Filters as candidates: the library's engines through their public functions, the standard
 * one, and libbloom where it is built in. All get the same keys as bytes in memory and hash them
 * inside the measured time; the "ready" phases leave the hashing out.
 */
#ifndef BLOOMERY_BENCH_FILTER_CANDIDATES_H
#define BLOOMERY_BENCH_FILTER_CANDIDATES_H

#include "bench/harness/filter_work.h"

#define BENCH_SEED UINT64_C(0x626c6f6f6d657279)

/* Keys that are hashed at once before a stretch of "ready" look-ups: whole batches, and enough of
 * them that reading the clock does not count. */
size_t bench_chunk(size_t batch);

extern const filter_candidate filter_blocked, filter_blocked_batch;
extern const filter_candidate filter_compact, filter_compact_batch;
extern const filter_candidate filter_standard, filter_standard_batch;

#endif
