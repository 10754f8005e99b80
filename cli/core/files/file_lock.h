/*
 * Locks of files that a command is going to replace. Without them, two concurrent changes start
 * from the same file, and the one that is saved first is lost.
 *
 * The lock is on the file itself (flock(2)), so nothing is left behind however a process ends. A
 * process that gets the lock checks whether the name still refers to the locked file, because the
 * process before it has probably replaced the file; then it locks the new one. Reading takes no
 * lock, because files are replaced as a whole.
 */
#ifndef BLOOMERY_CLI_FILE_LOCK_H
#define BLOOMERY_CLI_FILE_LOCK_H

typedef enum cli_lock_mode {
    CLI_LOCK_WAIT, /* until it is free; after a second, print for which process */
    CLI_LOCK_REFUSE, /* fail if another process has locked the file */
} cli_lock_mode;

/* Locks the file for this process, until it ends. A file that does not exist, and "-", need no
 * lock. A process locks one file; calling this again finds the lock held, or a file created
 * meanwhile. CLI_GO_ON, or an exit code after a message. */
int cli_lock(const char *path, cli_lock_mode how);

/* Locks the directory of the file, while a name is checked and created. Returns a descriptor to
 * close, or -1 if directories cannot be locked. */
int cli_lock_dir(const char *path);

#endif
