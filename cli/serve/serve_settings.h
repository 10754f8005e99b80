/*
 * What a server's settings come to that `bloomery serve` has to know beforehand: where it looks for
 * its data, and what is said of it at the start. A configuration file is read as servers read it:
 * line by line, files that it includes in their place, and the last one that sets a thing wins.
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
    bool log, snapshots;
    serve_name sync; /* appendfsync */
    serve_name log_folder, log_name; /* appenddirname, appendfilename */
    serve_name snapshot_name; /* dbfilename */
    serve_name policy; /* maxmemory-policy */
    uint64_t memory; /* maxmemory; 0: no limit */
} serve_settings;

/* Those of a server without any, but for memory. */
void serve_settings_init(serve_settings *settings);

/* `when` is always, everysec or no, as --appendonly has it. */
void serve_settings_persist(serve_settings *settings, const char *when);

/* Adds those of the file at `path`. What a server would not understand is left to it. Returns
 * CLI_GO_ON, or has reported what is wrong and returns an exit code: where it loads the module at
 * `module` once more, or includes what cannot be followed. */
int serve_settings_read(serve_settings *settings, const char *path, const char *module);

#endif
