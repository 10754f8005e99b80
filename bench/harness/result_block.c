#include "bench/harness/result_block.h"

#include "cli/core/output/output.h"
#include "frame/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char begin_mark[] = "<!-- bench:begin -->\n";
static const char end_mark[] = "<!-- bench:end -->";

/* The file as a string to free, or NULL after a message. A file that contains a NUL is refused,
 * because it would be truncated. */
static char *read_page(const char *path)
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

/* Finds the begin and end of the block's content. */
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
    char *text = read_page(path);
    bool good = text && find_block(path, text, &inside, &end);
    free(text);
    return good;
}

typedef struct parts {
    const char *head, *middle, *tail;
    size_t head_len;
} parts;

static bry_status write_parts(void *context, const bry_sink *sink)
{
    const parts *of = context;
    bry_status status = sink->write(sink->opaque, of->head, of->head_len);
    if (status == BRY_OK)
        status = sink->write(sink->opaque, of->middle, strlen(of->middle));
    return status == BRY_OK ? sink->write(sink->opaque, of->tail, strlen(of->tail)) : status;
}

bool bench_block_replace(const char *path, const char *text)
{
    const char *inside, *end;
    char *old = read_page(path);
    bool good = old && find_block(path, old, &inside, &end);
    if (good) {
        parts all = {old, text, end, (size_t)(inside - old)};
        good = bry__file_save(bry__io_posix(), path, write_parts, &all) == BRY_OK;
        if (!good)
            cli_fail(BRY_E_IO, "%s: %s", path, strerror(errno));
    }
    free(old);
    return good;
}
