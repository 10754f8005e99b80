/*
 * Filters as candidates: the library's engines through their public functions, the standard one,
 * and libbloom if it is built in. All get the same keys in memory and hash them within the measured
 * time; the "ready" phases use precomputed hashes.
 */
#ifndef BLOOMERY_BENCH_FILTER_CANDIDATES_H
#define BLOOMERY_BENCH_FILTER_CANDIDATES_H

#include "bench/harness/filter_work.h"

#define BENCH_SEED UINT64_C(0x626c6f6f6d657279)

/* Keys hashed in advance for a run of "ready" look-ups: whole batches, and enough of them to make
 * the cost of reading the clock negligible. */
size_t bench_chunk(size_t batch);

extern const filter_candidate filter_blocked, filter_blocked_batch;
extern const filter_candidate filter_compact, filter_compact_batch;
extern const filter_candidate filter_standard, filter_standard_batch;

#endif
