#include "bench/readme_block.h"

#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char begin_mark[] = "<!-- bench:begin -->\n";
static const char end_mark[] = "<!-- bench:end -->";

/* The whole file as a string to free, or NULL and a message. A NUL inside would cut it short, so
 * such a file is refused. */
static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t len = 0;
    FILE *copy = file ? open_memstream(&text, &len) : NULL;
    bool good = copy != NULL;
    char part[4096];
    size_t got;
    while (good && (got = fread(part, 1, sizeof part, file)) > 0)
        good = fwrite(part, 1, got, copy) == got;
    good = good && !ferror(file);
    int why = errno;
    if (copy)
        good = fclose(copy) == 0 && good;
    if (file)
        fclose(file);
    if (good && strlen(text) == len)
        return text;
    if (good)
        cli_fail(BRY_E_BADDATA, "%s is not a text file", path);
    else
        cli_fail(BRY_E_IO, "%s: %s", path, strerror(why));
    free(text);
    return NULL;
}

/* Where the block's inside begins and ends. */
static bool find_block(const char *path, const char *text, const char **inside, const char **end)
{
    const char *mark = strstr(text, begin_mark);
    *inside = mark ? mark + strlen(begin_mark) : NULL;
    *end = mark ? strstr(*inside, end_mark) : NULL;
    if (*end)
        return true;
    cli_fail(BRY_E_BADDATA, "%s has no lines %.*s and %s", path, (int)sizeof begin_mark - 2,
             begin_mark, end_mark);
    return false;
}

bool bench_block_check(const char *path)
{
    const char *inside, *end;
    char *text = read_whole(path);
    bool good = text && find_block(path, text, &inside, &end);
    free(text);
    return good;
}

/* Writes beside the file, then renames: an interruption leaves the old file. A link is followed. */
static bool write_whole(const char *path, const char *head, size_t head_len, const char *middle,
                        const char *tail)
{
    char *beside, *target = realpath(path, NULL);
    struct stat old;
    if (!target || asprintf(&beside, "%s.new", target) < 0) {
        cli_fail(BRY_E_IO, "%s: %s", path, strerror(errno));
        free(target);
        return false;
    }
    FILE *file = stat(target, &old) == 0 ? fopen(beside, "we") : NULL;
    bool good = file && fchmod(fileno(file), old.st_mode & 07777) == 0 &&
                fwrite(head, 1, head_len, file) == head_len && fputs(middle, file) >= 0 &&
                fputs(tail, file) >= 0 && fflush(file) == 0 && fsync(fileno(file)) == 0;
    int why = errno;
    if (file && fclose(file) != 0 && good) {
        why = errno;
        good = false;
    }
    if (good && rename(beside, target) != 0) {
        why = errno;
        good = false;
    }
    if (!good) {
        cli_fail(BRY_E_IO, "%s: %s", path, strerror(why));
        if (file)
            unlink(beside);
    }
    free(beside);
    free(target);
    return good;
}

bool bench_block_replace(const char *path, const char *text)
{
    const char *inside, *end;
    char *old = read_whole(path);
    bool good = old && find_block(path, old, &inside, &end) &&
                write_whole(path, old, (size_t)(inside - old), text, end);
    free(old);
    return good;
}
