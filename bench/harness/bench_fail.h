/* What a measurement that fails returns: false, after a message on stderr. */
#ifndef BLOOMERY_BENCH_FAIL_H
#define BLOOMERY_BENCH_FAIL_H

#include "cli/core/output/output.h"

#define bench_fail(...) (cli_fail(__VA_ARGS__), false)
#define bench_no_memory() (cli_no_memory(), false)

#endif
