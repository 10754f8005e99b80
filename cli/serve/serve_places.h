/*
 * What `bloomery serve` needs before it starts anything: a server, the module, a free port (and a
 * directory: serve_dir.h). The functions return CLI_GO_ON (args.h), or an exit code after a
 * message.
 */
#ifndef BLOOMERY_CLI_SERVE_PLACES_H
#define BLOOMERY_CLI_SERVE_PLACES_H

#include "cli/core/files/program_files.h"

#include <stdint.h>

/* The absolute path of a file that need not exist. */
int serve_absolute(const char *option, const char *named, cli_path *found);

int serve_join(const cli_path *dir, const char *name, cli_path *found);

/* redis-server or valkey-server, the first that is in PATH, then in /usr/bin; or `named`, a path or
 * a name to look for in the same places. */
int serve_find_server(const char *named, cli_path *found);

/* bloomery.so next to this program, then where it is installed; or the file `named`. */
int serve_find_module(const char *named, cli_path *found);

/* A file that must exist. */
int serve_find_file(const char *option, const char *named, cli_path *found);

/* Checks that this port of 127.0.0.1 is free. */
int serve_check_port(uint16_t port);

#endif
