/*
 * The server's settings that `bloomery serve` needs to know: where its data is, and what the first
 * message says. A configuration file is read as servers read it: line by line, with included files
 * in their place, and the last line for a setting wins.
 */
#ifndef BLOOMERY_CLI_SERVE_SETTINGS_H
#define BLOOMERY_CLI_SERVE_SETTINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct serve_name {
    char text[NAME_MAX + 1];
} serve_name;

typedef struct serve_settings {
    bool log; /* appendonly: changes are logged. */
    bool snapshots; /* save: snapshots are written. */
    serve_name sync; /* appendfsync */
    serve_name log_dir; /* appenddirname */
    serve_name log_name; /* appendfilename */
    serve_name snapshot_name; /* dbfilename */
    serve_name policy; /* maxmemory-policy */
    uint64_t memory; /* maxmemory; 0: no limit */
} serve_settings;

/* The server's defaults, except for the memory limit. */
void serve_settings_init(serve_settings *settings);

/* `when` is the value of --appendonly: always, everysec or no. */
void serve_settings_persist(serve_settings *settings, const char *when);

/* Adds the settings of the file at `path`. Invalid lines are left to the server. CLI_GO_ON; or an
 * exit code after a message, if the file loads the module at `module` again or its includes cannot
 * be followed. */
int serve_settings_read(serve_settings *settings, const char *path, const char *module);

#endif
