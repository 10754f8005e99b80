/*
 * A subcommand of `bloomery`: the program is the table of these in main.c. `run` gets the words
 * after the subcommand's name and returns an exit code (exit_codes.h); main() flushes what it wrote
 * to stdout and turns a failure of that into CLI_FAILED.
 */
#ifndef BLOOMERY_CLI_COMMAND_H
#define BLOOMERY_CLI_COMMAND_H

#include "cli/core/exit_codes.h"

#include <stddef.h>

typedef struct cli_command {
    const char *name;
    const char *summary; /* one line for `bloomery --help` */
    int (*run)(int argc, char **argv);
} cli_command;

/* Commands under one name, and the help of that name. */
typedef struct cli_group {
    const char *name; /* NULL: the program itself */
    const char *usage; /* what follows the program in the help's first line */
    const char *about; /* a paragraph, with its line breaks */
    const cli_command *commands;
    size_t count;
    const char *options; /* lines of the help, as the three below */
    const char *more;
    const char *examples;
} cli_group;

/* Runs the command that argv[0] names, or prints the help for -h and --help. */
int cli_run_group(const cli_group *group, int argc, char **argv);

/* The end of every help. */
void cli_print_examples(const char *examples);

int cli_plan(int argc, char **argv);
int cli_map(int argc, char **argv);
int cli_seen(int argc, char **argv);
int cli_index(int argc, char **argv);
int cli_serve(int argc, char **argv);

#endif
