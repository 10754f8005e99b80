#include "apps/dedup/base/disk.h"

#include "cli/core/array.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

dedup_status dedup_write_all(int fd, const void *bytes, size_t len, const char *name)
{
    const char *from = bytes;
    while (len > 0) {
        ssize_t done = write(fd, from, len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return dedup_problem(DEDUP_FAILED, "%s: ", name);
        from += done;
        len -= (size_t)done;
    }
    return DEDUP_OK;
}

dedup_status dedup_read_at(int fd, void *bytes, size_t len, uint64_t at, const char *name,
                           size_t *got)
{
    char *to = bytes;
    *got = 0;
    while (*got < len) {
        ssize_t done = pread(fd, to + *got, len - *got, (off_t)(at + *got));
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return dedup_problem(DEDUP_FAILED, "%s: ", name);
        if (done == 0)
            break;
        *got += (size_t)done;
    }
    return DEDUP_OK;
}

dedup_status dedup_sync(int fd, const char *name)
{
    return fsync(fd) == 0 ? DEDUP_OK : dedup_problem(DEDUP_FAILED, "%s: fsync: ", name);
}

dedup_status dedup_sync_at(int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return dedup_problem(DEDUP_FAILED, "%s: ", name);
    dedup_status status = dedup_sync(fd, name);
    close(fd);
    return status;
}

static dedup_status write_new_file(int dir, const char *temporary, const void *bytes, size_t len)
{
    int fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return dedup_problem(DEDUP_FAILED, "%s: ", temporary);
    dedup_status status = dedup_write_all(fd, bytes, len, temporary);
    if (status == DEDUP_OK)
        status = dedup_sync(fd, temporary);
    close(fd);
    return status;
}

dedup_status dedup_replace(int dir, const char *subdir, const char *name, const void *bytes,
                           size_t len)
{
    char path[512], temporary[512];
    snprintf(path, sizeof path, "%s/%s", subdir, name);
    snprintf(temporary, sizeof temporary, "%s/.new", subdir);
    dedup_status status = write_new_file(dir, temporary, bytes, len);
    if (status == DEDUP_OK && renameat(dir, temporary, dir, path) != 0)
        status = dedup_problem(DEDUP_FAILED, "%s: ", path);
    if (status != DEDUP_OK) {
        unlinkat(dir, temporary, 0);
        return status;
    }
    return dedup_sync_at(dir, subdir);
}

dedup_status dedup_append(bry_buffer *buffer, const void *bytes, size_t len)
{
    bry_sink sink = bry_buffer_sink(buffer);
    return len == 0 || sink.write(sink.opaque, bytes, len) == BRY_OK ? DEDUP_OK : dedup_no_memory();
}

dedup_status dedup_buffer_reserve(bry_buffer *buffer, size_t len)
{
    if (buffer->capacity < len) {
        size_t room = len + len / 4;
        unsigned char *larger = realloc(buffer->bytes, room);
        if (!larger)
            return dedup_no_memory();
        buffer->bytes = larger;
        buffer->capacity = room;
    }
    return DEDUP_OK;
}

dedup_status dedup_make_room(void *list, size_t *room, size_t wanted, size_t each)
{
    return cli_array_reserve(list, room, wanted, each) ? DEDUP_OK : dedup_no_memory();
}

static dedup_status read_rest_of_file(int fd, const char *name, size_t most, bry_buffer *into)
{
    char piece[65536];
    size_t got;
    do {
        dedup_status status = dedup_read_at(fd, piece, sizeof piece, into->len, name, &got);
        if (status == DEDUP_OK)
            status =
                into->len + got > most
                    ? dedup_problem(DEDUP_DAMAGED, "%s: damaged: longer than %zu bytes", name, most)
                    : dedup_append(into, piece, got);
        if (status != DEDUP_OK)
            return status;
    } while (got > 0);
    return DEDUP_OK;
}

dedup_status dedup_read_whole(int dir, const char *name, size_t most, bry_buffer *into)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    into->len = 0;
    if (fd < 0)
        return dedup_problem(errno == ENOENT ? DEDUP_MISSING : DEDUP_FAILED, "%s: ", name);
    dedup_status status = read_rest_of_file(fd, name, most, into);
    close(fd);
    return status;
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static dedup_status collect_names(DIR *dir, dedup_names *names)
{
    size_t room = 0;
    struct dirent *entry;
    while ((errno = 0, entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *name = strdup(entry->d_name);
        if (!name || dedup_make_room(&names->name, &room, names->count + 1, sizeof name)) {
            free(name);
            return dedup_no_memory();
        }
        names->name[names->count++] = name; /* NOLINT(clang-analyzer-core.NullDereference) */
    }
    return errno == 0 ? DEDUP_OK : DEDUP_FAILED;
}

dedup_status dedup_names_read(int fd, const char *what, dedup_names *names)
{
    DIR *dir = fdopendir(fd);
    names->name = NULL;
    names->count = 0;
    if (!dir) {
        close(fd);
        return dedup_problem(DEDUP_FAILED, "%s: ", what);
    }
    dedup_status status = collect_names(dir, names);
    if (status == DEDUP_FAILED)
        status = dedup_problem(status, "%s: ", what);
    closedir(dir);
    if (status != DEDUP_OK)
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

dedup_status dedup_empty_dir(int parent, const char *name)
{
    dedup_names names;
    int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return errno == ENOENT ? DEDUP_OK : dedup_problem(DEDUP_FAILED, "%s: ", name);
    int copy = dup(dir);
    dedup_status status =
        copy < 0 ? dedup_problem(DEDUP_FAILED, "%s: ", name) : dedup_names_read(copy, name, &names);
    if (status == DEDUP_OK) {
        for (size_t i = 0; status == DEDUP_OK && i < names.count; i++)
            if (unlinkat(dir, names.name[i], 0) != 0)
                status = dedup_problem(DEDUP_FAILED, "%s/%s: ", name, names.name[i]);
        dedup_names_free(&names);
    }
    if (status == DEDUP_OK)
        status = dedup_sync(dir, name);
    close(dir);
    return status;
}
