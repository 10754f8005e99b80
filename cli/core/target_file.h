/* The file that a command writes: whether it may be, and the moment at which it is replaced. */
#ifndef BLOOMERY_CLI_TARGET_FILE_H
#define BLOOMERY_CLI_TARGET_FILE_H

#include "cli/core/file_lock.h"

#include <bloomery/base.h>

/* Whether a file may be written there, as far as that can be told before: said before an input is
 * read that may be long. The file is locked (file_lock.h) until the program ends. CLI_GO_ON, or an exit
 * code after a message. */
int cli_target_check(const char *path, bool replace, cli_lock_how how);

/* How an object is saved: by the calls of its job. */
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
 * Replaces the file by the object and its note; "-" is standard output. A file that is not there
 * yet must not have been made by others meanwhile where `taken` is not NULL: that is then the
 * message. Signals that end the program wait meanwhile, so that no temporary file stays behind, and
 * are ignored once the file is there: who is told that the program was interrupted can rely on the
 * old file. Returns CLI_YES, or an exit code after a message.
 */
int cli_target_save(const char *path, const char *taken, const cli_saver *saver, const void *object,
                    const bry_buffer *note);

/* What is said of a file that is not to be replaced. */
#define CLI_EXISTS "it exists; --force replaces it"

#endif
