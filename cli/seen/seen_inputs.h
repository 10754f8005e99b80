/* The files that `bloomery seen` reads, one after the other; "-" is standard input. */
#ifndef BLOOMERY_CLI_SEEN_INPUTS_H
#define BLOOMERY_CLI_SEEN_INPUTS_H

#include "cli/core/input/lines.h"

typedef struct seen_inputs {
    char **paths; /* none: standard input */
    size_t count, next;
    uint64_t bytes; /* of all; 0: not known */
    uint64_t lines; /* about so many, and a quarter more; 0: not known */
} seen_inputs;

/* Looks at all of them before the first is read. CLI_GO_ON, or an exit code after a message. */
int seen_inputs_look(seen_inputs *inputs, char **paths, size_t count);

/* Gives `lines` the next one to read; the one before is closed. *more is false after the last.
 * CLI_GO_ON, or an exit code after a message. */
int seen_inputs_next(seen_inputs *inputs, cli_lines *lines, bool *more);

#endif
