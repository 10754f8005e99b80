/* The machine: a figure means nothing without it. */
#ifndef BLOOMERY_BENCH_MACHINE_H
#define BLOOMERY_BENCH_MACHINE_H

#include "cli/core/json/json_write.h"

/* The member "machine"; after the instruction set is selected. */
void bench_machine_json(cli_json *json);

#endif
