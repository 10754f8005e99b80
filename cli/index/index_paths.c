#include "cli/index/index_paths.h"

#include "cli/core/args.h"
#include "cli/core/array.h"
#include "cli/core/files/saved_file.h"
#include "cli/core/input/lines.h"
#include "cli/core/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int paths_out_of_memory(void)
{
    return cli_no_memory();
}

static bool keep_path(cli_paths *paths, char *path)
{
    if (!cli_array_reserve(&paths->path, &paths->capacity, paths->count + 1, sizeof *paths->path))
        return false;
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
            code = cli_fail("%s: %s", cli_name(list).text,
                            status == BRY_E_IO ? strerror(errno) : bry_status_text(status));
        } else if (!line.bytes) {
            break;
        } else if (line.len == 0) {
            code = cli_fail("%s: file name %llu is empty", cli_name(list).text,
                            (unsigned long long)lines.number);
        } else {
            char *path = strndup(line.bytes, line.len);
            if (!path || !keep_path(paths, path)) {
                free(path);
                code = paths_out_of_memory();
            }
        }
    }
    cli_lines_free(&lines);
    return code;
}

static int keep_copy(cli_paths *paths, const char *path)
{
    char *copy = strdup(path);
    if (copy && keep_path(paths, copy))
        return CLI_GO_ON;
    free(copy);
    return paths_out_of_memory();
}

/* ---- directories ----------------------------------------------------------------------------- */

static int compare_path_names(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* One entry of a directory, or an argument. */
static int visit_entry(cli_paths *paths, const cli_path_options *how, const FTSENT *entry,
                       const struct stat *except)
{
    switch (entry->fts_info) {
    case FTS_F:
        if (entry->fts_statp->st_ino == except->st_ino &&
            entry->fts_statp->st_dev == except->st_dev)
            return CLI_GO_ON; /* the index itself */
        return keep_copy(paths, entry->fts_path);
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS: {
        int code = cli_fail("%s: %s", cli_name(entry->fts_path).text, strerror(entry->fts_errno));
        return how->skip ? CLI_GO_ON : code;
    }
    default: /* directories are searched; links in them, pipes and devices are skipped */
        return CLI_GO_ON;
    }
}

static int walk_dir(cli_paths *paths, const cli_path_options *how, char *word)
{
    char *roots[] = {word, NULL};
    struct stat except = {0};
    if (stat(how->except, &except) != 0)
        except = (struct stat){0};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, compare_path_names);
    if (!tree)
        return paths_out_of_memory();
    int code = CLI_GO_ON;
    for (FTSENT *entry; code == CLI_GO_ON && (entry = fts_read(tree));)
        code = visit_entry(paths, how, entry, &except);
    fts_close(tree);
    return code;
}

static int keep_word(cli_paths *paths, const cli_path_options *how, char *word)
{
    struct stat facts;
    if (!*word)
        return cli_misuse("empty file name");
    bool dir = how->recursive && stat(word, &facts) == 0 && S_ISDIR(facts.st_mode);
    return dir ? walk_dir(paths, how, word) : keep_copy(paths, word);
}

/* ---- all of them --------------------------------------------------------------------------- */

static int keep_list(cli_paths *paths, const char *list)
{
    int fd = cli_is_stream(list) ? STDIN_FILENO : open(list, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cli_fail("%s: %s", cli_name(list).text, strerror(errno));
    int code = read_list(paths, list, fd);
    if (fd != STDIN_FILENO)
        close(fd);
    return code;
}

int cli_paths_read(cli_paths *paths, const cli_path_options *how, char **words, size_t count)
{
    *paths = (cli_paths){0};
    if (count == 0 && !how->list)
        return cli_misuse("missing file name");
    int code = how->list ? keep_list(paths, how->list) : CLI_GO_ON;
    for (size_t i = 0; i < count && code == CLI_GO_ON; i++)
        code = keep_word(paths, how, words[i]);
    if (code == CLI_GO_ON && count > 0 && paths->count == 0)
        code = cli_fail("no files in these directories");
    return code;
}

void cli_paths_free(cli_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->path[i]);
    free(paths->path);
    *paths = (cli_paths){0};
}
