#include "index_paths.h"

#include "args.h"
#include "lines.h"
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int out_of_memory(void)
{
    return cli_fail(BRY_E_NOMEM, "%s", bry_status_text(BRY_E_NOMEM));
}

static bool keep(cli_paths *paths, char *path)
{
    if (paths->count == paths->capacity) {
        size_t capacity = paths->capacity ? paths->capacity * 2 : 64;
        char **grown = realloc(paths->path, capacity * sizeof *grown);
        if (!grown)
            return false;
        paths->path = grown;
        paths->capacity = capacity;
    }
    paths->path[paths->count++] = path;
    return true;
}

static int read_list(cli_paths *paths, const char *list, int fd)
{
    cli_lines lines = CLI_LINES(fd, '\0');
    cli_text line;
    int code = CLI_GO_ON;
    while (code == CLI_GO_ON) {
        bry_status status = cli_lines_next(&lines, &line);
        if (status != BRY_OK) {
            code = cli_fail(status, "%s: %s", cli_quote(list).text,
                            status == BRY_E_IO ? strerror(errno) : bry_status_text(status));
        } else if (!line.bytes) {
            break;
        } else if (line.len == 0) {
            code = cli_fail(BRY_E_BADDATA, "%s: name %llu is empty", cli_quote(list).text,
                            (unsigned long long)lines.number);
        } else {
            char *path = strndup(line.bytes, line.len);
            if (!path || !keep(paths, path)) {
                free(path);
                code = out_of_memory();
            }
        }
    }
    cli_lines_free(&lines);
    return code;
}

int cli_paths_read(cli_paths *paths, const char *command, const char *list, char **words,
                   size_t count)
{
    *paths = (cli_paths){0};
    if (count == 0 && !list)
        return cli_misuse(command, "the name of a file is needed");
    if (list) { /* what it names comes first, so that the rest is known not to be its own */
        int fd = strcmp(list, "-") == 0 ? STDIN_FILENO : open(list, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return cli_fail(BRY_E_IO, "%s: %s", cli_quote(list).text, strerror(errno));
        int code = read_list(paths, list, fd);
        paths->owned = paths->count;
        if (fd != STDIN_FILENO)
            close(fd);
        if (code != CLI_GO_ON)
            return code;
    }
    for (size_t i = 0; i < count; i++) {
        if (!*words[i])
            return cli_misuse(command, "a file has no name");
        if (!keep(paths, words[i]))
            return out_of_memory();
    }
    return CLI_GO_ON;
}

void cli_paths_free(cli_paths *paths)
{
    for (size_t i = 0; i < paths->owned; i++)
        free(paths->path[i]);
    free(paths->path);
    *paths = (cli_paths){0};
}
