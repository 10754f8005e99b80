/*
 * Programs that read lines and drop repeats, run as a user would run them, on the same file. The
 * lines are generated here such that the correct answer is known without a table.
 */
#ifndef BLOOMERY_BENCH_LINE_PROGRAMS_H
#define BLOOMERY_BENCH_LINE_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether line i repeats an earlier line, which is not itself a repeat. */
static inline bool line_is_repeat(uint64_t i)
{
    return i % 20 == 19;
}

enum { LINE_BYTES = 17 }; /* 16 hexadecimal digits and a newline */
void line_write(uint64_t i, char to[LINE_BYTES + 1]);

/* An open, unnamed temporary file with this many lines; -1 with errno. */
int line_file(uint64_t lines);

typedef struct line_run {
    bool there; /* false: there is no such program */
    bool done; /* it ended with exit code 0 */
    double seconds, processor;
    uint64_t peak_bytes;
} line_run;

/* Reads a program's output while it runs. */
typedef void line_reader(void *context, int fd);

/* Runs the program on the file; without a reader its output is discarded. */
line_run line_program_run(const char *const *arguments, int file, line_reader *reader,
                          void *context);

/* Checks the output line by line. */
typedef struct line_check {
    uint64_t lines; /* of the input; set before */
    bool in_order; /* the output has the order of the input; else only lines are counted */
    uint64_t printed, missing; /* first occurrences that are missing */
    bool wrong; /* an unexpected line, or one in the wrong place */
} line_check;
line_reader line_check_read;

#endif
