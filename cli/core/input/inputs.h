/* Files that are read line by line, one after the other. "-" is standard input, and so is an empty
 * list. */
#ifndef BLOOMERY_CLI_INPUTS_H
#define BLOOMERY_CLI_INPUTS_H

#include "cli/core/input/lines.h"

typedef struct cli_inputs {
    char **paths; /* The names of the inputs. */
    size_t count; /* How many inputs there are. */
    size_t next; /* The input that is opened next. */
    uint64_t done; /* Lines of the inputs that have ended. */
    uint64_t bytes; /* Bytes of all inputs; 0: unknown. */
    uint64_t lines; /* Estimate of the lines of all inputs plus a quarter; 0: unknown. */
} cli_inputs;

/* Examines all files before the first is read. CLI_GO_ON, or an exit code after a message. */
int cli_inputs_look(cli_inputs *inputs, char **paths, size_t count);

/* Closes the current input and opens the next one in `lines`. *more is false after the last.
 * CLI_GO_ON, or an exit code after a message. */
int cli_inputs_next(cli_inputs *inputs, cli_lines *lines, bool *more);

/* The next line of all inputs; line->bytes is NULL after the last. CLI_GO_ON, or an exit code after
 * a message. */
int cli_inputs_line(cli_inputs *inputs, cli_lines *lines, cli_text *line);

/* An estimate of the lines of all inputs, before the first line is read: those of files, and
 * `factor` times what is known of a first input that is a longer pipe (cli_lines_count()). Nothing
 * is known of a pipe that is not the first. CLI_GO_ON, or an exit code after a message. */
int cli_inputs_count(cli_inputs *inputs, cli_lines *lines, unsigned factor, uint64_t *count);

#endif
