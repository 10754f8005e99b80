/*
 * Programs that read lines and leave out those that came before, run as a user would run them: on
 * the same file of lines, which are made here and whose right answer is known without a table.
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

/* An open temporary file of so many lines, without a name; -1 with errno. */
int line_file(uint64_t lines);

typedef struct line_run {
    bool there; /* else: there is no such program */
    bool done; /* it ended with exit code 0 */
    double seconds, processor;
    uint64_t peak_bytes;
} line_run;

/* How a program's output is looked at, while it runs. */
typedef void line_reader(void *context, int fd);

/* Runs the program on the file, its output thrown away, or read where there is a reader. */
line_run line_program_run(const char *const *arguments, int file, line_reader *reader,
                          void *context);

/* What was printed, line by line. */
typedef struct line_check {
    uint64_t lines; /* of the input; set before */
    bool in_order; /* lines come in the order of the input, else only their number is looked at */
    uint64_t printed, missing; /* first occurrences that were left out */
    bool wrong; /* something else is there, or in another place */
} line_check;
line_reader line_check_read;

#endif
