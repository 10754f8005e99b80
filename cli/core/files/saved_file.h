/*
 * Files that this program saves and loads again: maps, indexes, states, units. "-" is standard
 * input or output. Anything else must be a regular file: the program would wait for a pipe without
 * a writer, and read a device forever.
 */
#ifndef BLOOMERY_CLI_SAVED_FILE_H
#define BLOOMERY_CLI_SAVED_FILE_H

#include <bloomery/base.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

/* Whether the name means standard input or output. */
bool cli_is_stream(const char *path);

/* For a command that reads `what` from standard input: CLI_GO_ON, or CLI_USAGE after a message if
 * `path` is standard input too. */
int cli_check_stream(const char *command, const char *path, const char *what);

/* Opens a regular file for reading and stores its stat if wanted. -1 with errno, or with errno 0
 * and *problem. */
int cli_open_regular(const char *path, struct stat *facts, const char **problem);

/* A file as a source, and how much of it was read. */
typedef struct cli_input {
    FILE *file;
    uint64_t given;
} cli_input;

/* Opens a saved file. False with errno or load->problem, as cli_open_regular(). */
bool cli_input_open(cli_input *input, const char *path, bry_load *load);
bry_source cli_input_source(cli_input *input);
/* Whether nothing follows; else BRY_E_BADDATA. */
bry_status cli_input_end(cli_input *input, bry_load *load);
/* Leaves errno as it is. */
void cli_input_close(cli_input *input);

#endif
