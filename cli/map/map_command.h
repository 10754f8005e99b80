/* The subcommands of `bloomery map`: map_command.c has the table of them. */
#ifndef BLOOMERY_CLI_MAP_COMMAND_H
#define BLOOMERY_CLI_MAP_COMMAND_H

#include "cli/core/command.h"

int cli_map_build(int argc, char **argv);
int cli_map_get(int argc, char **argv);
int cli_map_put_command(int argc, char **argv);
int cli_map_del(int argc, char **argv);
int cli_map_info(int argc, char **argv);
int cli_map_merge(int argc, char **argv);
int cli_map_compress(int argc, char **argv);
int cli_map_drop(int argc, char **argv);
int cli_map_ls(int argc, char **argv);
int cli_map_save_command(int argc, char **argv);
int cli_map_restore(int argc, char **argv);

#endif
