/* The files that `bloomery seen` reads, one after the other; "-" is standard input. */
#ifndef BLOOMERY_CLI_SEEN_INPUTS_H
#define BLOOMERY_CLI_SEEN_INPUTS_H

#include "cli/core/input/lines.h"

typedef struct seen_inputs {
    char **paths; /* 0: standard input */
    size_t count, next;
    uint64_t bytes; /* of all; 0: unknown */
    uint64_t lines; /* estimate plus a quarter; 0: unknown */
} seen_inputs;

/* Examines all files before the first is read. CLI_GO_ON, or an exit code after a message. */
int seen_inputs_look(seen_inputs *inputs, char **paths, size_t count);

/* Closes the current input and opens the next one in `lines`. *more is false after the last.
 * CLI_GO_ON, or an exit code after a message. */
int seen_inputs_next(seen_inputs *inputs, cli_lines *lines, bool *more);

#endif
