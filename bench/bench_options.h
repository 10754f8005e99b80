/* The command line of bloomery-bench: its cases and its options, as data. */
#ifndef BLOOMERY_BENCH_BENCH_OPTIONS_H
#define BLOOMERY_BENCH_BENCH_OPTIONS_H

#include "bench/cases/bench_cases.h"

/* Options, by their index in the table. */
enum bench_option {
    BENCH_ENGINE,
    BENCH_CAPACITY,
    BENCH_PACKETS,
    BENCH_RAW,
    BENCH_ERROR,
    BENCH_GROW,
    BENCH_BATCH,
    BENCH_ROUNDS,
    BENCH_COMPARE,
    BENCH_LAYOUT,
    BENCH_DECODE,
    BENCH_ENCODER,
    BENCH_UNMASKED,
    BENCH_VALUES,
    BENCH_INTEGERS,
    BENCH_ZIPF,
    BENCH_TOP_SHARE,
    BENCH_SIZE,
    BENCH_UNITS,
    BENCH_UNIT_CAPACITY,
    BENCH_GROUP,
    BENCH_SEGMENTED,
    BENCH_GENERATIONS,
    BENCH_MODE,
    BENCH_ISA,
    BENCH_JSON,
    BENCH_OPTIONS
};
#define BENCH_USES(option) (UINT64_C(1) << (option))

typedef struct bench_case {
    const char *name;
    bench_run *run;
    uint64_t uses; /* the options it uses, by BENCH_USES() */
    uint64_t items; /* default, like the next */
    double error;
} bench_case;

/* The command line; 0 and NULL: not given, each case has its own default. */
typedef struct bench_given {
    const bench_case *chosen;
    uint64_t items, batch, rounds;
    uint64_t units, unit_capacity, group;
    uint64_t generations;
    double error;
    bool grow, compare, segmented, as_json;
    const char *raw, *mode, *isa;
    map_settings map; /* of these only values, raw, unmasked and top */
    map_words words; /* as typed; `engine` is that of every case */
} bench_given;

/* CLI_GO_ON, or the exit code after the help or a message. */
int bench_options_read(int argc, char **argv, bench_given *given);

/* Checks the options and fills *settings. CLI_GO_ON, or the exit code after a message. */
int bench_settings_read(const bench_given *given, bench_settings *settings); /* bench_settings.c */

#endif
