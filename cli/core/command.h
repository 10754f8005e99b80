/*
 * A subcommand of `bloomery`: main.c has the table of them. `run` gets the words after the
 * subcommand's name and returns an exit code (exit_codes.h); main() flushes stdout afterwards and
 * returns CLI_FAILED if that fails.
 */
#ifndef BLOOMERY_CLI_COMMAND_H
#define BLOOMERY_CLI_COMMAND_H

#include "cli/core/exit_codes.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_command {
    const char *name;
    const char *summary; /* one line for `bloomery --help` */
    int (*run)(int argc, char **argv); /* NULL: a group */
    const struct cli_group *group;
} cli_command;

/* Commands under one name, and the help of that name. */
typedef struct cli_group {
    const char *usage; /* the usage line after the names of program and group */
    const char *about; /* a paragraph, with its line breaks */
    const cli_command *commands;
    size_t count;
    bool is_program; /* --version is an option (cli_main()) */
    const char *more; /* may be NULL */
    const char *examples;
} cli_group;

/* The table of commands, in the initialiser of a group. */
#define CLI_COMMANDS(rows) .commands = (rows), .count = sizeof(rows) / sizeof(rows)[0]

/* Runs the command that argv[0] names, or prints the help for -h and --help. */
int cli_run_group(const cli_group *group, int argc, char **argv);

/* Printed at the end of every help text. */
void cli_print_examples(const char *examples);

extern const cli_group cli_map_group, cli_index_group;
#ifdef BLOOMERY_CLUSTER
extern const cli_group cli_cluster_group;
#endif

int cli_plan(int argc, char **argv);
int cli_seen(int argc, char **argv);
int cli_count(int argc, char **argv);
int cli_serve(int argc, char **argv);
int cli_cluster(int argc, char **argv);
int cli_demo(int argc, char **argv);
int cli_dedup(int argc, char **argv); /* starts the program bloomery-dedup */
int cli_flows(int argc, char **argv); /* starts the program bloomery-flows */

#endif
