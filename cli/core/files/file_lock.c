#include "cli/core/files/file_lock.h"

#include "cli/core/args.h"
#include "cli/core/files/saved_file.h"
#include "cli/core/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 50, BETWEEN = 20000000 /* ns */ };

/* The process id in a line such as "1: FLOCK ADVISORY WRITE 4711 fe:00:123456 0 EOF", or 0 if the
 * line is about another file. In the line of a waiting process the second word is "->". */
static long read_holder(char *line, const struct stat *facts)
{
    enum { KIND = 1, PROCESS = 4, INODE = 5, WORDS };
    char *word[WORDS], *rest = NULL;
    for (int i = 0; i < WORDS; i++, line = NULL)
        if (!(word[i] = strtok_r(line, " ", &rest)))
            return 0;
    const char *inode = strrchr(word[INODE], ':');
    return strcmp(word[KIND], "FLOCK") == 0 && inode &&
                   strtoull(inode + 1, NULL, 10) == facts->st_ino
               ? strtol(word[PROCESS], NULL, 10)
               : 0;
}

/* The process that holds the lock, or 0 if that is unknown. */
static long find_holder(const struct stat *facts)
{
    FILE *locks = fopen("/proc/locks", "re");
    char line[256];
    long holder = 0;
    while (locks && !holder && fgets(line, sizeof line, locks))
        holder = read_holder(line, facts);
    if (locks)
        fclose(locks);
    return holder;
}

typedef struct process_name {
    char text[48];
} process_name;

static process_name name_holder(const struct stat *facts)
{
    process_name name = {"another process"};
    long holder = find_holder(facts);
    if (holder > 0)
        snprintf(name.text, sizeof name.text, "process %ld", holder);
    return name;
}

/* Locks the descriptor. CLI_GO_ON, or an exit code after a message. */
static int wait_for_lock(int fd, const char *path, const struct stat *facts, cli_lock_mode how)
{
    const struct timespec pause = {0, BETWEEN};
    cli_quotation name = cli_name(path);
    int tries = how == CLI_LOCK_WAIT ? TRIES : 1;
    bool said = false;
    for (;;) {
        if (flock(fd, said ? LOCK_EX : LOCK_EX | LOCK_NB) == 0)
            return CLI_GO_ON;
        if (errno == EINTR)
            continue;
        if (errno != EWOULDBLOCK)
            return cli_fail("%s: cannot lock: %s", name.text, strerror(errno));
        if (--tries > 0) {
            nanosleep(&pause, NULL);
            continue;
        }
        if (how == CLI_LOCK_REFUSE)
            return cli_fail("%s: in use by %s", name.text, name_holder(facts).text);
        cli_note("waiting for %s, which is changing %s", name_holder(facts).text, name.text);
        said = true;
    }
}

/* If standard input is closed, the lock must not get descriptor 0. */
static int above_streams(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int kept = errno;
    close(fd);
    errno = kept;
    return above;
}

int cli_lock(const char *path, cli_lock_mode how)
{
    static bool held; /* a command replaces one file */
    if (held || cli_is_stream(path))
        return CLI_GO_ON;
    for (;;) {
        struct stat facts, now;
        const char *problem = NULL;
        int fd = above_streams(cli_open_regular(path, &facts, &problem));
        if (fd < 0 && errno == ENOENT)
            return CLI_GO_ON;
        if (fd < 0)
            return cli_fail("%s: %s", cli_name(path).text, problem ? problem : strerror(errno));
        int code = wait_for_lock(fd, path, &facts, how);
        if (code != CLI_GO_ON) {
            close(fd);
            return code;
        }
        held = stat(path, &now) == 0 && now.st_dev == facts.st_dev && now.st_ino == facts.st_ino;
        if (held)
            return CLI_GO_ON; /* the descriptor stays open: it is the lock */
        close(fd);
    }
}

int cli_lock_dir(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(dir);
    if (fd >= 0 && flock(fd, LOCK_EX) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}
