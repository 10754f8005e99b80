/* The machine: a figure means nothing without it. */
#ifndef BLOOMERY_BENCH_MACHINE_H
#define BLOOMERY_BENCH_MACHINE_H

#include "cli/core/json/json_write.h"

typedef struct bench_machine {
    char cpu[128]; /* the processor model, as the system names it */
    long cores; /* available to this process */
    const char *isa; /* instruction set of the bit kernels */
    const char *compiler, *build;
} bench_machine;

bench_machine bench_machine_here(void);
void bench_machine_json(cli_json *json, const bench_machine *machine);
/* One line without a newline: "AMD EPYC, 2 cores, avx512; gcc 12.2.0, Release". */
void bench_machine_line(FILE *out, const bench_machine *machine);

#endif
