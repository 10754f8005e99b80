#include "cli/core/files/target_file.h"

#include "cli/core/args.h"
#include "cli/core/files/saved_file.h"
#include "cli/core/output/output.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_file(const char *path, bool replace)
{
    cli_quotation name = cli_name(path);
    struct stat facts;
    if (!replace && lstat(path, &facts) == 0)
        return cli_fail("%s: %s", name.text, CLI_EXISTS);
    if (stat(path, &facts) == 0) {
        if (!S_ISREG(facts.st_mode))
            return cli_fail("%s: %s", name.text,
                            S_ISDIR(facts.st_mode) ? strerror(EISDIR) : "not a regular file");
    } else if (errno != ENOENT) {
        return cli_fail("%s: %s", name.text, strerror(errno));
    } else if (lstat(path, &facts) == 0) {
        return cli_fail("%s: dangling symbolic link", name.text);
    }
    const char *slash = strrchr(path, '/');
    char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (!dir)
        return cli_no_memory();
    errno = 0;
    int problem = !*path ? ENOENT : access(dir, W_OK | X_OK) == 0 ? 0 : errno;
    free(dir);
    return problem == 0 ? CLI_GO_ON : cli_fail("%s: %s", name.text, strerror(problem));
}

int cli_target_check(const char *path, bool replace, cli_lock_mode how)
{
    if (cli_is_stream(path))
        return isatty(STDOUT_FILENO) == 1
                   ? cli_fail("standard output is a terminal: redirect it to a file or a pipe")
                   : CLI_GO_ON;
    int code = check_file(path, replace);
    return code == CLI_GO_ON ? cli_lock(path, how) : code;
}

static bry_status write_some(void *file, const void *bytes, size_t len)
{
    return fwrite(bytes, 1, len, file) == len ? BRY_OK : BRY_E_IO;
}

/* main() reports a failure of standard output. */
static int save_to_stdout(bry_job job, const void *object, const bry_save *save)
{
    bry_sink sink = {write_some, stdout};
    bry_status status = bry_job_save(job, object, &sink, save);
    return status == BRY_OK || ferror(stdout) ? CLI_YES : cli_fail("%s", bry_status_text(status));
}

static int replace_target(const char *path, bry_job job, const void *object, const bry_save *save)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    enum { ENDS = sizeof ends / sizeof ends[0] };
    sigset_t wait, before;
    sigemptyset(&wait);
    for (int i = 0; i < ENDS; i++)
        sigaddset(&wait, ends[i]);
    sigprocmask(SIG_BLOCK, &wait, &before);
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the file size limit fails like any other */
    errno = 0;
    bry_status status = bry_job_save_file(job, object, path, save);
    int problem = errno;
    for (int i = 0; i < ENDS && status == BRY_OK; i++)
        signal(ends[i], SIG_IGN);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (status == BRY_OK)
        return CLI_YES;
    bool known = status == BRY_E_IO && problem;
    return cli_fail("%s: %s", cli_name(path).text,
                    known ? strerror(problem) : bry_status_text(status));
}

int cli_target_save(const char *path, const char *taken, bry_job job, const void *object,
                    const bry_buffer *note)
{
    bry_save save = BRY_SAVE;
    save.note = note->bytes;
    save.note_len = note->len;
    struct stat facts;
    if (cli_is_stream(path))
        return save_to_stdout(job, object, &save);
    if (!taken) { /* the file may exist by now, and others may change it */
        int code = cli_lock(path, CLI_LOCK_WAIT);
        return code == CLI_GO_ON ? replace_target(path, job, object, &save) : code;
    }
    int dir = cli_lock_dir(path);
    int code = lstat(path, &facts) == 0 ? cli_fail("%s: %s", cli_name(path).text, taken)
                                        : replace_target(path, job, object, &save);
    if (dir >= 0)
        close(dir);
    return code;
}
