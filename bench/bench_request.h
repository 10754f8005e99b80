/* The request: what bloomery-bench shall do. */
#ifndef BLOOMERY_BENCH_BENCH_REQUEST_H
#define BLOOMERY_BENCH_BENCH_REQUEST_H

#include "bench/cases/bench_cases.h"
#include "bench/cases/window/window_cases.h"
#include "bench/harness/machine.h"

typedef struct bench_request {
    bench_settings settings;
    window_settings window; /* engine, mode, elements and generations of windows */
    bool as_json;
    bench_machine machine;
} bench_request;

#endif
