/* The file that a command writes: whether it may be, and the moment at which it is replaced. */
#ifndef BLOOMERY_CLI_TARGET_H
#define BLOOMERY_CLI_TARGET_H

#include "lock.h"
#include "replace_file.h"

/* Whether a file may be written there, as far as that can be told before: said before an input is
 * read that may be long. The file is locked (lock.h) until the program ends. CLI_GO_ON, or an exit
 * code after a message. */
int cli_target_check(const char *path, bool replace, cli_lock_how how);

/*
 * Replaces the file by what `write` sends; "-" is standard output. A file that is not there yet
 * must not have been made by others meanwhile where `taken` is not NULL: that is then the message.
 * Signals that end the program wait meanwhile, so that no temporary
 * file stays behind, and are ignored once the file is there: who is told that the program was
 * interrupted can rely on the old file. Returns CLI_YES, or an exit code after a message.
 */
int cli_target_save(const char *path, const char *taken, cli_writer *write, const void *object);

/* What is said of a file that is not to be replaced. */
#define CLI_EXISTS "it exists; --force replaces it"

#endif
