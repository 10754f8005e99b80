/*
 * A subcommand of `bloomery`: the program is the table of these in main.c. `run` gets the words
 * after the subcommand's name and returns an exit code (exit_codes.h); main() flushes what it wrote
 * to stdout and turns a failure of that into CLI_FAILED.
 */
#ifndef BLOOMERY_CLI_COMMAND_H
#define BLOOMERY_CLI_COMMAND_H

#include "exit_codes.h"

typedef struct cli_command {
    const char *name;
    const char *summary; /* one line for `bloomery --help` */
    int (*run)(int argc, char **argv);
} cli_command;

int cli_plan(int argc, char **argv);
int cli_map(int argc, char **argv);
int cli_seen(int argc, char **argv);
int cli_index(int argc, char **argv);
int cli_serve(int argc, char **argv);
int cli_bench(int argc, char **argv); /* bench/bench.c */

#endif
