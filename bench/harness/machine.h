/* On what it was measured: a figure without its machine means nothing. */
#ifndef BLOOMERY_BENCH_MACHINE_H
#define BLOOMERY_BENCH_MACHINE_H

#include "cli/core/json/json_write.h"

typedef struct bench_machine {
    char cpu[128]; /* the model as the system names it */
    long cores; /* this process may use */
    const char *isa; /* of the bit kernels */
    const char *compiler, *build;
} bench_machine;

bench_machine bench_machine_here(void);
void bench_machine_json(cli_json *json, const bench_machine *machine);
/* One line without its end: "AMD EPYC, 2 cores, avx512; gcc 12.2.0, Release". */
void bench_machine_line(FILE *out, const bench_machine *machine);

#endif
