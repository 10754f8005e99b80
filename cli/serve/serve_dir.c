/*
 * The lock. Two servers on one directory would write the same log, and each would destroy what the
 * other has acknowledged. A file in the directory has two bytes to lock: byte 0 for this program,
 * byte 1 for its server, each locked by the process itself. Such locks belong to a process and
 * survive execv(); the kernel frees them when the process ends, in whatever way, and reports who
 * holds them. So a server keeps its directory even if this program is killed, a dead process blocks
 * nobody, and neither do the children that a server forks for snapshots, because they do not
 * inherit the lock. Only the holder of byte 0 may start a server.
 *
 * A process that closes any descriptor of the file loses its locks on it. So there is one
 * descriptor, which stays open across execv() and is never closed.
 *
 * The file also contains the port, for messages. It is never removed: another process could have
 * opened it already and would then lock a file without a name.
 */
#include "cli/serve/serve_dir.h"

#include "cli/core/args.h"
#include "cli/core/output/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_NAME ".bloomery-serve.lock"

enum { OF_PROGRAM, OF_SERVER };

int serve_prepare_dir(const char *named, cli_path *found)
{
    struct stat about;
    cli_quotation name = cli_name(named);
    if (mkdir(named, 0700) != 0 && errno != EEXIST)
        return cli_fail("--dir: %s: %s", name.text, strerror(errno));
    if (!realpath(named, found->text) || stat(found->text, &about) != 0)
        return cli_fail("--dir: %s: %s", name.text, strerror(errno));
    if (!S_ISDIR(about.st_mode))
        return cli_fail("--dir: %s: %s", name.text, strerror(ENOTDIR));
    if (access(found->text, R_OK | W_OK | X_OK) != 0)
        return cli_fail("--dir: %s: %s", name.text, strerror(errno));
    return CLI_GO_ON;
}

/* ---- the lock ------------------------------------------------------------------------------ */

static int lock_byte(int lock, int byte, int command, struct flock *about)
{
    *about = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(lock, command, about);
}

/* If the lock does not report a process, the holder is in another container or on another
 * machine. */
static int say_taken(const cli_path *dir, int lock, const char *who, const struct flock *about)
{
    char port[8] = "", process[32] = "", place[32] = "";
    ssize_t len = pread(lock, port, sizeof port - 1, 0);
    if (len > 0 && strspn(port, "0123456789") > 0)
        snprintf(place, sizeof place, ", on port %.*s", (int)strspn(port, "0123456789"), port);
    if (about->l_pid > 0)
        snprintf(process, sizeof process, ", process %ld", (long)about->l_pid);
    return cli_fail("%s: in use by %s%s%s; a second server would destroy data that the first "
                    "has acknowledged",
                    cli_name(dir->text).text, who, process, place);
}

/* Descriptors below 3 would become the server's standard streams. */
static int open_lock(const cli_path *dir)
{
    cli_path path;
    int code = serve_join(dir, LOCK_NAME, &path);
    if (code != CLI_GO_ON)
        return -1;
    int low = open(path.text, O_RDWR | O_CREAT, 0600);
    if (low > STDERR_FILENO)
        return low;
    int lock = low < 0 ? -1 : fcntl(low, F_DUPFD, STDERR_FILENO + 1);
    int problem = errno;
    if (low >= 0)
        close(low);
    if (lock < 0)
        cli_fail("%s: %s", cli_name(path.text).text, strerror(problem));
    return lock;
}

int serve_take_dir(const cli_path *dir, uint16_t port, int *lock)
{
    struct flock about;
    char line[8];
    if ((*lock = open_lock(dir)) < 0)
        return CLI_FAILED;
    while (lock_byte(*lock, OF_PROGRAM, F_SETLK, &about) != 0) {
        if (errno != EAGAIN && errno != EACCES)
            return cli_fail("%s: cannot lock: %s", cli_name(dir->text).text, strerror(errno));
        if (lock_byte(*lock, OF_PROGRAM, F_GETLK, &about) == 0 && about.l_type != F_UNLCK)
            return say_taken(dir, *lock, "another bloomery serve", &about);
    }
    if (lock_byte(*lock, OF_SERVER, F_GETLK, &about) == 0 && about.l_type != F_UNLCK)
        return say_taken(dir, *lock, "a server", &about);
    int len = snprintf(line, sizeof line, "%u\n", port);
    bool told = ftruncate(*lock, 0) == 0 && pwrite(*lock, line, (size_t)len, 0) == len;
    (void)told; /* on a full disk the port is missing */
    return CLI_GO_ON;
}

bool serve_dir_hand_on(int lock)
{
    struct flock about;
    return lock_byte(lock, OF_SERVER, F_SETLK, &about) == 0;
}

/* ---- what it holds ------------------------------------------------------------------------- */

/* A server with a log reads only the log of the configured name, one without a log only the
 * snapshot of the configured name. Beside other data either would start empty, and later overwrite
 * that data. */
typedef struct dir_contents {
    const cli_path *dir;
    const serve_settings *settings;
    bool log, snapshot; /* the ones it would read */
    serve_name other_log, other_snapshot; /* "": none */
} dir_contents;

static bool ends_with(const char *name, const char *end)
{
    size_t len = strlen(name), end_len = strlen(end);
    return len > end_len && strcmp(name + len - end_len, end) == 0;
}

/* A log is a directory with a manifest; servers ignore directories without one. */
static void look_into_log_dir(dir_contents *held, const cli_path *path, const char *name)
{
    DIR *parts = opendir(path->text);
    if (!parts)
        return;
    const char *ours = held->settings->log_name.text;
    for (struct dirent *part; (part = readdir(parts));) {
        if (!ends_with(part->d_name, ".manifest") || strncmp(part->d_name, "temp-", 5) == 0)
            continue;
        if (strcmp(name, held->settings->log_dir.text) == 0 &&
            strncmp(part->d_name, ours, strlen(ours)) == 0 &&
            strcmp(part->d_name + strlen(ours), ".manifest") == 0)
            held->log = true;
        else
            snprintf(held->other_log.text, sizeof held->other_log.text, "%s", name);
    }
    closedir(parts);
}

static bool is_snapshot(const cli_path *path, const char *name)
{
    char head[6] = "";
    if (ends_with(name, ".rdb"))
        return true;
    int file = open(path->text, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0)
        return false;
    ssize_t len = read(file, head, sizeof head);
    close(file);
    return len == (ssize_t)sizeof head &&
           (memcmp(head, "REDIS0", 6) == 0 || memcmp(head, "VALKEY", 6) == 0);
}

/* The directory itself contains snapshots, and single-file logs, which older servers wrote and
 * newer ones still read. */
static void look_at_file(dir_contents *held, const cli_path *path, const char *name)
{
    const serve_settings *settings = held->settings;
    if (strcmp(name, settings->log_name.text) == 0)
        held->log = true;
    else if (ends_with(name, ".aof"))
        snprintf(held->other_log.text, sizeof held->other_log.text, "%s", name);
    else if (strcmp(name, settings->snapshot_name.text) == 0)
        held->snapshot = true;
    else if (is_snapshot(path, name))
        snprintf(held->other_snapshot.text, sizeof held->other_snapshot.text, "%s", name);
}

/* Names of incomplete files left by a crash begin with "temp-". */
static int look_for_data(dir_contents *held)
{
    DIR *dir = opendir(held->dir->text);
    if (!dir)
        return cli_fail("--dir: %s: %s", cli_name(held->dir->text).text, strerror(errno));
    int code = CLI_GO_ON;
    for (struct dirent *entry; code == CLI_GO_ON && (entry = readdir(dir));) {
        cli_path path;
        struct stat about;
        if (*entry->d_name == '.' || strncmp(entry->d_name, "temp-", 5) == 0)
            continue;
        code = serve_join(held->dir, entry->d_name, &path);
        if (code != CLI_GO_ON || stat(path.text, &about) != 0)
            continue;
        if (S_ISDIR(about.st_mode))
            look_into_log_dir(held, &path, entry->d_name);
        else if (S_ISREG(about.st_mode))
            look_at_file(held, &path, entry->d_name);
    }
    closedir(dir);
    return code;
}

/* What is wrong with the data for a server with a log, and for one without. */
static int check_with_log(const dir_contents *held, const char *name)
{
    const serve_settings *settings = held->settings;
    if (held->log)
        return CLI_GO_ON;
    if (*held->other_log.text)
        return cli_fail("%s: this server would not read the log %s: appenddirname and "
                        "appendfilename are set to %s/%s",
                        name, cli_name(held->other_log.text).text, settings->log_dir.text,
                        settings->log_name.text);
    if (held->snapshot || *held->other_snapshot.text)
        return cli_fail("%s: has a snapshot and no log, so a server with a log would begin empty; "
                        "start it with --appendonly no, then CONFIG SET appendonly yes",
                        name);
    return CLI_GO_ON;
}

static int check_without_log(const dir_contents *held, const char *name)
{
    if (held->log || *held->other_log.text)
        return cli_fail("%s: has a log, which a server with appendonly no would not read", name);
    if (!held->snapshot && *held->other_snapshot.text)
        return cli_fail("%s: this server would not read the snapshot %s: dbfilename is %s", name,
                        cli_name(held->other_snapshot.text).text,
                        held->settings->snapshot_name.text);
    return CLI_GO_ON;
}

int serve_check_data(const cli_path *dir, const serve_settings *settings)
{
    dir_contents held = {.dir = dir, .settings = settings};
    cli_quotation name = cli_name(dir->text);
    int code = look_for_data(&held);
    if (code != CLI_GO_ON)
        return code;
    return settings->log ? check_with_log(&held, name.text) : check_without_log(&held, name.text);
}
