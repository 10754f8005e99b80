/* The file that a command writes: whether it may be, and the moment at which it is replaced. */
#ifndef BLOOMERY_CLI_TARGET_H
#define BLOOMERY_CLI_TARGET_H

#include <bloomery/base.h>

/* Whether a file may be written there, as far as that can be told before: said before an input is
 * read that may be long. CLI_GO_ON, or an exit code after a message. */
int cli_target_check(const char *path, bool replace);

/* Replaces the file whole or not at all; BRY_E_IO with errno. */
typedef bry_status cli_saver(const void *object, const char *path);

/*
 * Has `save` replace the file. Signals that end the program wait meanwhile, so that no temporary
 * file stays behind, and are ignored once the file is there: who is told that the program was
 * interrupted can rely on the old file. Returns CLI_YES, or an exit code after a message.
 */
int cli_target_save(const char *path, cli_saver *save, const void *object);

#endif
