/*
 * What `bloomery serve` needs to find before it starts anything: a server, the module, a port that
 * is free (and a folder: serve_folder.h). Each function has reported what is wrong when it returns
 * an exit code; CLI_GO_ON (args.h) where all is well.
 */
#ifndef BLOOMERY_CLI_SERVE_PLACES_H
#define BLOOMERY_CLI_SERVE_PLACES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct serve_path {
    char text[PATH_MAX];
} serve_path;

/* The same place by a name that does not depend on the working folder; it need not exist. */
int serve_absolute(const char *option, const char *named, serve_path *found);

int serve_join(const serve_path *folder, const char *name, serve_path *found);

/* redis-server or valkey-server, the first that is in PATH, then in /usr/bin; or `named`, a path or
 * a name to look for in the same places. */
int serve_find_server(const char *named, serve_path *found);

/* bloomery.so next to this program, then where it is installed; or the file `named`. */
int serve_find_module(const char *named, serve_path *found);

/* A file that has to be there. */
int serve_find_file(const char *option, const char *named, serve_path *found);

/* Whether 127.0.0.1 has this port to give. */
int serve_check_port(uint16_t port);

#endif
