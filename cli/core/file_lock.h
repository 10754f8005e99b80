/*
 * Locks of files that a command is going to replace. Without them two changes at the same time
 * start from the same file, and the one that is saved first is lost.
 *
 * The lock is on the file itself (flock(2)), so nothing is left behind however a process ends. Who
 * gets it looks whether the name still leads to the file that it has locked, since the process
 * before it has replaced the file: then the new one is locked. Reading takes no lock, since files
 * are replaced whole.
 */
#ifndef BLOOMERY_CLI_FILE_LOCK_H
#define BLOOMERY_CLI_FILE_LOCK_H

typedef enum cli_lock_how {
    CLI_LOCK_WAIT, /* until it is free; after a second, a note on standard error says for whom */
    CLI_LOCK_REFUSE, /* a file that another process has is a failure */
} cli_lock_how;

/* Locks the file for this process, until it ends. A file that is not there, and "-", need no lock.
 * A process locks one file; to ask again is to find the lock held, or the file there meanwhile.
 * CLI_GO_ON, or an exit code after a message. */
int cli_lock(const char *path, cli_lock_how how);

/* Locks the folder of the file; for the moment in which a name is looked for and taken. Returns a
 * descriptor to close, or -1 where folders cannot be locked. */
int cli_lock_folder(const char *path);

#endif
