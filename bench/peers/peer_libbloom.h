/* libbloom's filter as a candidate, and its version; NULL: not built in. */
#ifndef BLOOMERY_BENCH_PEER_LIBBLOOM_H
#define BLOOMERY_BENCH_PEER_LIBBLOOM_H

#include "bench/harness/filter_work.h"

const filter_candidate *filter_libbloom(void);
const char *filter_libbloom_version(void);

#endif
