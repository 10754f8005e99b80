#include "apps/dedup/base/disk.h"

#include "cli/core/output/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Thread_local char problem_text[1024];

void dedup_describe(const char *format, ...)
{
    int kept = errno;
    va_list list;
    va_start(list, format);
    int used = vsnprintf(problem_text, sizeof problem_text, format, list);
    va_end(list);
    size_t len = strlen(format);
    if (len > 2 && strcmp(format + len - 2, ": ") == 0 && used > 0 &&
        (size_t)used < sizeof problem_text)
        snprintf(problem_text + used, sizeof problem_text - (size_t)used, "%s", strerror(kept));
    errno = kept;
}

const char *dedup_problem_text(void)
{
    return problem_text;
}

int dedup_report(bry_status status)
{
    return cli_fail(status, "%s", problem_text);
}

bry_status dedup_write_all(int fd, const void *bytes, size_t len, const char *name)
{
    const char *from = bytes;
    while (len > 0) {
        ssize_t done = write(fd, from, len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return dedup_problem(BRY_E_IO, "%s: ", name);
        from += done;
        len -= (size_t)done;
    }
    return BRY_OK;
}

bry_status dedup_read_at(int fd, void *bytes, size_t len, uint64_t at, const char *name,
                         size_t *got)
{
    char *to = bytes;
    *got = 0;
    while (*got < len) {
        ssize_t done = pread(fd, to + *got, len - *got, (off_t)(at + *got));
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return dedup_problem(BRY_E_IO, "%s: ", name);
        if (done == 0)
            break;
        *got += (size_t)done;
    }
    return BRY_OK;
}

bry_status dedup_sync(int fd, const char *name)
{
    return fsync(fd) == 0 ? BRY_OK : dedup_problem(BRY_E_IO, "%s cannot be synced: ", name);
}

bry_status dedup_sync_at(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return dedup_problem(BRY_E_IO, "%s: ", name);
    bry_status status = dedup_sync(fd, name);
    close(fd);
    return status;
}

static bry_status write_new(int folder, const char *temporary, const void *bytes, size_t len)
{
    int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return dedup_problem(BRY_E_IO, "%s: ", temporary);
    bry_status status = dedup_write_all(fd, bytes, len, temporary);
    if (status == BRY_OK)
        status = dedup_sync(fd, temporary);
    close(fd);
    return status;
}

bry_status dedup_replace(int folder, const char *subfolder, const char *name, const void *bytes,
                         size_t len)
{
    char path[512], temporary[512];
    snprintf(path, sizeof path, "%s/%s", subfolder, name);
    snprintf(temporary, sizeof temporary, "%s/.new", subfolder);
    bry_status status = write_new(folder, temporary, bytes, len);
    if (status == BRY_OK && renameat(folder, temporary, folder, path) != 0)
        status = dedup_problem(BRY_E_IO, "%s: ", path);
    if (status != BRY_OK) {
        unlinkat(folder, temporary, 0);
        return status;
    }
    return dedup_sync_at(folder, subfolder);
}

bry_status dedup_append(bry_buffer *buffer, const void *bytes, size_t len)
{
    bry_sink sink = bry_buffer_sink(buffer);
    return len == 0 || sink.write(sink.opaque, bytes, len) == BRY_OK ? BRY_OK : dedup_no_memory();
}

static bry_status read_rest(int fd, const char *name, size_t most, bry_buffer *into)
{
    char piece[65536];
    size_t got;
    do {
        bry_status status = dedup_read_at(fd, piece, sizeof piece, into->len, name, &got);
        if (status == BRY_OK)
            status = into->len + got > most ? dedup_problem(BRY_E_BADDATA, "%s is too long", name)
                                            : dedup_append(into, piece, got);
        if (status != BRY_OK)
            return status;
    } while (got > 0);
    return BRY_OK;
}

bry_status dedup_read_whole(int folder, const char *name, size_t most, bry_buffer *into)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    into->len = 0;
    if (fd < 0)
        return dedup_problem(errno == ENOENT ? BRY_E_NOUNIT : BRY_E_IO, "%s: ", name);
    bry_status status = read_rest(fd, name, most, into);
    close(fd);
    return status;
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bry_status collect_names(DIR *folder, dedup_names *names)
{
    size_t room = 0;
    struct dirent *entry;
    while ((errno = 0, entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (names->count == room) {
            room = room ? 2 * room : 16;
            char **larger = realloc(names->name, room * sizeof *larger);
            if (!larger)
                return dedup_no_memory();
            names->name = larger;
        }
        names->name[names->count] = strdup(entry->d_name);
        if (!names->name[names->count])
            return dedup_no_memory();
        names->count++;
    }
    return errno == 0 ? BRY_OK : BRY_E_IO;
}

bry_status dedup_names_read(int fd, const char *what, dedup_names *names)
{
    DIR *folder = fdopendir(fd);
    names->name = NULL;
    names->count = 0;
    if (!folder) {
        close(fd);
        return dedup_problem(BRY_E_IO, "%s: ", what);
    }
    bry_status status = collect_names(folder, names);
    if (status == BRY_E_IO)
        status = dedup_problem(status, "%s: ", what);
    closedir(folder);
    if (status != BRY_OK)
        dedup_names_free(names);
    else if (names->count)
        qsort(names->name, names->count, sizeof *names->name, compare_strings);
    return status;
}

void dedup_names_free(dedup_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->name[i]);
    free(names->name);
    names->name = NULL;
    names->count = 0;
}

bry_status dedup_empty_folder(int parent, const char *name)
{
    dedup_names names;
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return errno == ENOENT ? BRY_OK : dedup_problem(BRY_E_IO, "%s: ", name);
    int copy = dup(folder);
    bry_status status =
        copy < 0 ? dedup_problem(BRY_E_IO, "%s: ", name) : dedup_names_read(copy, name, &names);
    if (status == BRY_OK) {
        for (size_t i = 0; status == BRY_OK && i < names.count; i++)
            if (unlinkat(folder, names.name[i], 0) != 0)
                status = dedup_problem(BRY_E_IO, "%s/%s: ", name, names.name[i]);
        dedup_names_free(&names);
    }
    if (status == BRY_OK)
        status = dedup_sync(folder, name);
    close(folder);
    return status;
}
