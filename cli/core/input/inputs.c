#include "cli/core/input/inputs.h"

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
    return cli_fail("%s: %s", cli_name(path).text, strerror(problem));
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
static int look_at_input(cli_inputs *inputs, const char *path, double *density, bool *known)
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

int cli_inputs_look(cli_inputs *inputs, char **paths, size_t count)
{
    static char stream[] = "-";
    static char *stream_alone[] = {stream};
    *inputs = (cli_inputs){.paths = count ? paths : stream_alone, .count = count ? count : 1};
    double density = 0;
    bool known = true;
    for (size_t i = 0; i < inputs->count; i++) {
        int code = look_at_input(inputs, inputs->paths[i], &density, &known);
        if (code != CLI_GO_ON)
            return code;
    }
    if (!known)
        inputs->bytes = 0;
    inputs->lines = (uint64_t)((double)inputs->bytes * density * 1.25);
    return CLI_GO_ON;
}

/* If may_read() waits for input, this does not wait for the writer of a FIFO, so that signals
 * interrupt the waiting. */
static int open_input(const char *path, const cli_lines *lines)
{
    int wait = lines->may_read ? O_NONBLOCK : 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | wait);
    int flags = fd < 0 ? 0 : fcntl(fd, F_GETFL);
    if (fd >= 0)
        fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    return fd;
}

int cli_inputs_next(cli_inputs *inputs, cli_lines *lines, bool *more)
{
    if (inputs->next > 0) {
        inputs->done += lines->number;
        lines->number = 0;
        if (lines->fd != STDIN_FILENO)
            close(lines->fd);
        lines->fd = STDIN_FILENO; /* closed once, even if this is called again at the end */
    }
    *more = inputs->next < inputs->count;
    if (!*more)
        return CLI_GO_ON;
    const char *path = inputs->paths[inputs->next++];
    int fd = cli_is_stream(path) ? STDIN_FILENO : open_input(path, lines);
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

int cli_inputs_line(cli_inputs *inputs, cli_lines *lines, cli_text *line)
{
    bool more = true;
    int code = inputs->next ? CLI_GO_ON : cli_inputs_next(inputs, lines, &more);
    *line = (cli_text){NULL, 0};
    while (code == CLI_GO_ON && more) {
        bry_status status = cli_lines_next(lines, line);
        if (status != BRY_OK)
            return cli_lines_failed(lines, status);
        if (line->bytes)
            break;
        code = cli_inputs_next(inputs, lines, &more);
    }
    return code;
}

/* Counts the lines of an input that is not the current one; 0 if it is not a regular file. */
static int count_further_input(const char *path, char end, uint64_t *count)
{
    struct stat facts;
    bool exact;
    *count = 0;
    if (cli_is_stream(path) || stat(path, &facts) < 0 || !S_ISREG(facts.st_mode))
        return CLI_GO_ON;
    cli_lines lines = CLI_LINES(open(path, O_RDONLY | O_CLOEXEC), end);
    lines.name = path;
    if (lines.fd < 0)
        return fail_input(path, errno);
    bry_status status = cli_lines_count(&lines, count, &exact);
    int code = status == BRY_OK ? CLI_GO_ON : cli_lines_failed(&lines, status);
    close(lines.fd);
    return code;
}

int cli_inputs_count(cli_inputs *inputs, cli_lines *lines, unsigned factor, uint64_t *count)
{
    bool more, exact;
    int code = cli_inputs_next(inputs, lines, &more);
    if (code != CLI_GO_ON)
        return code;
    bry_status status = cli_lines_count(lines, count, &exact);
    if (status != BRY_OK)
        return cli_lines_failed(lines, status);
    if (!exact)
        *count *= factor;
    for (size_t i = 1; i < inputs->count && code == CLI_GO_ON; i++) {
        uint64_t further;
        code = count_further_input(inputs->paths[i], lines->end, &further);
        *count += further;
    }
    return code;
}
