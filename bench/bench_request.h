/* What bloomery-bench is asked to do. */
#ifndef BLOOMERY_BENCH_BENCH_REQUEST_H
#define BLOOMERY_BENCH_BENCH_REQUEST_H

#include "bench/cases/bench_cases.h"
#include "bench/cases/window/window_cases.h"
#include "bench/harness/machine.h"

typedef struct bench_request {
    bench_settings settings;
    window_settings window; /* of windows: engine, mode, elements, generations */
    bool as_json;
    const char *markdown; /* the file whose block is regenerated, or NULL */
    bench_machine machine;
} bench_request;

#endif
