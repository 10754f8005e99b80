#include "cli/seen/seen_inputs.h"

#include "cli/core/args.h"
#include "cli/core/files/saved_file.h"
#include "cli/core/output/output.h"
#include "cli/core/output/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOOK = 64 * 1024 };

static int fail_input(const char *path, int problem)
{
    return cli_fail(BRY_E_IO, "%s: %s", cli_quote(path).text, strerror(problem));
}

/* Estimates the number of lines from the length of the first ones; 0: unknown. */
static double lines_per_byte(int fd)
{
    char *look = malloc(LOOK);
    off_t at = lseek(fd, 0, SEEK_CUR);
    ssize_t got = look && at >= 0 ? pread(fd, look, LOOK, at) : 0;
    uint64_t lines = 0;
    for (ssize_t i = 0; i < got; i++)
        lines += look[i] == '\n' || look[i] == '\0';
    free(look);
    return got > 0 ? (double)lines / (double)got : 0;
}

/* A pipe cannot be opened twice, so only regular files are examined. */
static int look_at(seen_inputs *inputs, const char *path, double *density, bool *known)
{
    struct stat facts;
    int fd = STDIN_FILENO;
    if (!cli_is_stream(path)) {
        if (stat(path, &facts) != 0)
            return fail_input(path, errno);
        if (S_ISDIR(facts.st_mode))
            return fail_input(path, EISDIR);
        if (access(path, R_OK) != 0)
            return fail_input(path, errno);
        *known = *known && S_ISREG(facts.st_mode);
        if (!S_ISREG(facts.st_mode))
            return CLI_GO_ON;
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return fail_input(path, errno);
    }
    uint64_t bytes = cli_bytes_left(fd);
    inputs->bytes += bytes;
    *known = *known && (bytes > 0 || fd != STDIN_FILENO);
    if (bytes && *density == 0)
        *density = lines_per_byte(fd);
    if (fd != STDIN_FILENO)
        close(fd);
    return CLI_GO_ON;
}

int seen_inputs_look(seen_inputs *inputs, char **paths, size_t count)
{
    static char stream[] = "-";
    static char *stream_alone[] = {stream};
    *inputs = (seen_inputs){.paths = count ? paths : stream_alone, .count = count ? count : 1};
    double density = 0;
    bool known = true;
    for (size_t i = 0; i < inputs->count; i++) {
        int code = look_at(inputs, inputs->paths[i], &density, &known);
        if (code != CLI_GO_ON)
            return code;
    }
    if (!known)
        inputs->bytes = 0;
    inputs->lines = (uint64_t)((double)inputs->bytes * density * 1.25);
    return CLI_GO_ON;
}

/* Does not wait for the writer of a FIFO: the reads wait, and signals interrupt them. */
static int open_input(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int flags = fd < 0 ? 0 : fcntl(fd, F_GETFL);
    if (fd >= 0)
        fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    return fd;
}

int seen_inputs_next(seen_inputs *inputs, cli_lines *lines, bool *more)
{
    if (inputs->next > 0 && lines->fd != STDIN_FILENO)
        close(lines->fd);
    *more = inputs->next < inputs->count;
    if (!*more)
        return CLI_GO_ON;
    const char *path = inputs->paths[inputs->next++];
    int fd = cli_is_stream(path) ? STDIN_FILENO : open_input(path);
    if (fd < 0) {
        inputs->next = 0; /* nothing to close */
        return fail_input(path, errno);
    }
    lines->fd = fd;
    lines->name = cli_is_stream(path) ? NULL : path;
    lines->number = 0;
    lines->at = lines->held = 0;
    lines->ended = false;
    return CLI_GO_ON;
}
