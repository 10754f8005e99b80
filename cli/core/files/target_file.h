/* The file that a command writes: checks beforehand, and its replacement. */
#ifndef BLOOMERY_CLI_TARGET_FILE_H
#define BLOOMERY_CLI_TARGET_FILE_H

#include "cli/core/files/file_lock.h"

#include <bloomery/job.h>

/* Checks whether the file can be written, as far as that is known before reading an input that may
 * be long. Locks the file (file_lock.h) until the program ends. CLI_GO_ON, or an exit code after a
 * message. */
int cli_target_check(const char *path, bool replace, cli_lock_mode how);

/*
 * Replaces the file by the object and its note; "-" is standard output. If `taken` is not NULL, and
 * another process has created the file meanwhile, that is the error message. Meanwhile, signals
 * that end the program are blocked, so that no temporary file is left; after the file was replaced
 * they are ignored. So if a signal ends the program, the file is the old one. Returns CLI_YES, or
 * an exit code after a message.
 */
int cli_target_save(const char *path, const char *taken, bry_job job, const void *object,
                    const bry_buffer *note);

/* The message for a file that must not be replaced. */
#define CLI_EXISTS "exists already; --force replaces it"

#endif
