/*
 * Programs that read lines and drop repeats, run as a user would run them, on the same file. The
 * lines are generated here such that the correct answer is known without a table.
 */
#ifndef BLOOMERY_BENCH_LINE_PROGRAMS_H
#define BLOOMERY_BENCH_LINE_PROGRAMS_H

#include "bench/peers/program_run.h"

/* Whether line i repeats an earlier line, which is not itself a repeat. */
static inline bool line_is_repeat(uint64_t i)
{
    return i % 20 == 19;
}

enum { LINE_BYTES = 17 }; /* 16 hexadecimal digits and a newline */
void line_write(uint64_t i, char to[LINE_BYTES + 1]);

/* An open, unnamed temporary file with this many lines; -1 with errno. */
int line_file(uint64_t lines);

/* Checks the output line by line. */
typedef struct line_check {
    uint64_t lines; /* of the input; set before */
    bool in_order; /* the output has the order of the input; else only lines are counted */
    uint64_t printed, missing; /* first occurrences that are missing */
    bool wrong; /* an unexpected line, or one in the wrong place */
} line_check;
program_reader line_check_read;

#endif
