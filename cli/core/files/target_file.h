/* The file that a command writes: checks beforehand, and its replacement. */
#ifndef BLOOMERY_CLI_TARGET_FILE_H
#define BLOOMERY_CLI_TARGET_FILE_H

#include "cli/core/files/file_lock.h"

#include <bloomery/base.h>

/* Checks whether the file can be written, as far as that is known before reading an input that may
 * be long. Locks the file (file_lock.h) until the program ends. CLI_GO_ON, or an exit code after a
 * message. */
int cli_target_check(const char *path, bool replace, cli_lock_mode how);

/* Saves an object by the call of its job. */
typedef struct cli_saver {
    bry_status (*to_sink)(const void *object, const bry_sink *sink, const bry_save *save);
    bry_status (*to_file)(const void *object, const char *path, const bry_save *save);
} cli_saver;

/* Defines `saver` for objects of a job. */
#define CLI_SAVER(job)                                                                             \
    static bry_status save_to_sink(const void *object, const bry_sink *sink, const bry_save *save) \
    {                                                                                              \
        return bry_##job##_save(object, sink, save);                                               \
    }                                                                                              \
    static bry_status save_to_file(const void *object, const char *path, const bry_save *save)     \
    {                                                                                              \
        return bry_##job##_save_file(object, path, save);                                          \
    }                                                                                              \
    static const cli_saver saver = {save_to_sink, save_to_file};

/*
 * Replaces the file by the object and its note; "-" is standard output. If `taken` is not NULL, and
 * another process has created the file meanwhile, that is the error message. Meanwhile, signals
 * that end the program are blocked, so that no temporary file is left; after the file was replaced
 * they are ignored. So if a signal ends the program, the file is the old one. Returns CLI_YES, or
 * an exit code after a message.
 */
int cli_target_save(const char *path, const char *taken, const cli_saver *saver, const void *object,
                    const bry_buffer *note);

/* The message for a file that must not be replaced. */
#define CLI_EXISTS "exists already; --force replaces it"

#endif
