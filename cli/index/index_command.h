/* The subcommands of `bloomery index`: index_command.c has the table of them. */
#ifndef BLOOMERY_CLI_INDEX_COMMAND_H
#define BLOOMERY_CLI_INDEX_COMMAND_H

#include "cli/core/command.h"

int cli_index_build(int argc, char **argv);
int cli_index_locate(int argc, char **argv);
int cli_index_add(int argc, char **argv);
int cli_index_refresh(int argc, char **argv);
int cli_index_del(int argc, char **argv);
int cli_index_unit(int argc, char **argv);
int cli_index_import(int argc, char **argv);
int cli_index_info(int argc, char **argv);
int cli_index_check(int argc, char **argv);

#endif
