#include "target.h"

#include "args.h"
#include "output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cli_target_check(const char *path, bool replace)
{
    cli_quoted name = cli_quote(path);
    struct stat facts;
    if (!replace && lstat(path, &facts) == 0)
        return cli_fail(BRY_E_IO, "%s: it exists; --force replaces it", name.text);
    if (stat(path, &facts) == 0) {
        if (!S_ISREG(facts.st_mode))
            return cli_fail(BRY_E_IO, "%s: %s", name.text,
                            S_ISDIR(facts.st_mode) ? strerror(EISDIR) : "it is not a file");
    } else if (errno != ENOENT) {
        return cli_fail(BRY_E_IO, "%s: %s", name.text, strerror(errno));
    } else if (lstat(path, &facts) == 0) {
        return cli_fail(BRY_E_IO, "%s: it is a link that leads nowhere", name.text);
    }
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (!folder)
        return cli_fail(BRY_E_NOMEM, "%s", bry_status_text(BRY_E_NOMEM));
    errno = 0;
    int problem = !*path ? ENOENT : access(folder, W_OK | X_OK) == 0 ? 0 : errno;
    free(folder);
    return problem == 0 ? CLI_GO_ON : cli_fail(BRY_E_IO, "%s: %s", name.text, strerror(problem));
}

int cli_target_save(const char *path, cli_saver *save, const void *object)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    enum { ENDS = sizeof ends / sizeof ends[0] };
    sigset_t wait, before;
    sigemptyset(&wait);
    for (int i = 0; i < ENDS; i++)
        sigaddset(&wait, ends[i]);
    sigprocmask(SIG_BLOCK, &wait, &before);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is a failed write like any other */
    errno = 0;
    bry_status status = save(object, path);
    int problem = errno;
    for (int i = 0; i < ENDS && status == BRY_OK; i++)
        signal(ends[i], SIG_IGN);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (status == BRY_OK)
        return CLI_YES;
    bool known = status == BRY_E_IO && problem;
    return cli_fail(status, "%s: %s", cli_quote(path).text,
                    known ? strerror(problem) : bry_status_text(status));
}
