/* Runs a program as a user would run it, and measures what it used. */
#ifndef BLOOMERY_BENCH_PROGRAM_RUN_H
#define BLOOMERY_BENCH_PROGRAM_RUN_H

#include "cli/core/files/program_files.h"

#include <stdint.h>

typedef struct program_usage {
    bool there; /* false: there is no such program */
    bool done; /* it ended with exit code 0 */
    double seconds, processor;
    uint64_t peak_bytes;
} program_usage;

/* Reads a program's output while it runs. */
typedef void program_reader(void *context, int fd);

/* Runs the program with the file as its standard input; without a reader its output is
 * discarded. */
program_usage program_run(const char *const *arguments, int file, program_reader *reader,
                          void *context);

/* The program bloomery in the directory of this one. False after a message, which says that `what`
 * needs it. */
bool program_bloomery(const char *what, cli_path *path);

#endif
