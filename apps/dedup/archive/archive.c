#include "apps/dedup/archive/archive.h"

#include "apps/dedup/base/record.h"
#include "cli/core/output/output.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *dedup_name_problem(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > DEDUP_NAME_MAX)
        return "must have 1 to 200 bytes";
    if (name[0] == '.' || name[0] == '-')
        return "must not begin with a dot or a dash";
    for (size_t i = 0; i < len; i++)
        if (name[i] == '/' || (unsigned char)name[i] < ' ' || name[i] == 127)
            return "must not contain a slash or a control character";
    return NULL;
}

static void archive_path(char path[256], const char *name)
{
    snprintf(path, 256, "archives/%s", name);
}

static bool read_archive_members(const dedup_record *record, const dedup_repo *repo,
                                 const char *name, dedup_archive *archive)
{
    const char *stored = dedup_record_get(record, "name");
    const char *root = dedup_record_get(record, "root");
    uint64_t depth;
    memset(&archive->root, 0, sizeof archive->root);
    bool valid = stored && strcmp(stored, name) == 0 && root &&
                 dedup_hex_read(root, archive->root.bytes, dedup_digest_len(repo->config.hash)) &&
                 dedup_record_number(record, "time", &archive->ms) &&
                 dedup_record_number(record, "depth", &depth) && depth < 64 &&
                 dedup_record_number(record, "entries", &archive->entries) &&
                 dedup_record_number(record, "bytes", &archive->bytes) &&
                 dedup_record_number(record, "new", &archive->new_bytes);
    archive->depth = valid ? (unsigned)depth : 0;
    snprintf(archive->name, sizeof archive->name, "%s", name);
    return valid;
}

dedup_status dedup_archive_read(const dedup_repo *repo, const char *name, dedup_archive *archive)
{
    char path[256];
    dedup_record record;
    archive_path(path, name);
    dedup_status status = dedup_record_read(&record, repo->fd, path, "archive");
    if (status == DEDUP_MISSING)
        return dedup_problem(status, "archive %s: not found", cli_name(name).text);
    if (status != DEDUP_OK)
        return status;
    if (!read_archive_members(&record, repo, name, archive))
        status = dedup_problem(DEDUP_DAMAGED, "archive %s: record damaged", cli_name(name).text);
    dedup_record_free(&record);
    return status;
}

dedup_status dedup_archive_write(const dedup_repo *repo, const dedup_archive *archive)
{
    dedup_record record;
    dedup_record_begin(&record, "archive");
    dedup_record_add(&record, "name", "%s", archive->name);
    dedup_record_add(&record, "time", "%llu", (unsigned long long)archive->ms);
    dedup_record_add(&record, "root", "%s",
                     dedup_hex_of(archive->root.bytes, dedup_digest_len(repo->config.hash)).text);
    dedup_record_add(&record, "depth", "%u", archive->depth);
    dedup_record_add(&record, "entries", "%llu", (unsigned long long)archive->entries);
    dedup_record_add(&record, "bytes", "%llu", (unsigned long long)archive->bytes);
    dedup_record_add(&record, "new", "%llu", (unsigned long long)archive->new_bytes);
    dedup_status status = dedup_record_end(&record);
    if (status == DEDUP_OK)
        status = dedup_replace(repo->fd, "archives", archive->name, record.bytes.bytes,
                               record.bytes.len);
    dedup_record_free(&record);
    return status;
}

dedup_status dedup_archive_remove(const dedup_repo *repo, const char *name)
{
    char path[256];
    archive_path(path, name);
    if (unlinkat(repo->fd, path, 0) != 0)
        return dedup_problem(DEDUP_FAILED, "%s: ", path);
    return dedup_sync_at(repo->fd, "archives");
}

static int compare_archives(const void *a, const void *b)
{
    const dedup_archive *x = a, *y = b;
    return x->ms != y->ms ? (x->ms < y->ms ? -1 : 1) : strcmp(x->name, y->name);
}

dedup_status dedup_archive_list(const dedup_repo *repo, dedup_archive **archives, size_t *count,
                                dedup_damaged_record *damaged, void *context)
{
    dedup_names names;
    int dir = openat(repo->fd, "archives", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return dedup_problem(DEDUP_FAILED, "archives: ");
    dedup_status status = dedup_names_read(dir, "archives", &names);
    if (status != DEDUP_OK)
        return status;
    *count = 0;
    *archives = calloc(names.count + 1, sizeof **archives);
    if (!*archives)
        status = dedup_no_memory();
    for (size_t i = 0; status == DEDUP_OK && i < names.count; i++) {
        if (names.name[i][0] == '.')
            continue;
        bool named = !dedup_name_problem(names.name[i]);
        status = named ? dedup_archive_read(repo, names.name[i], &(*archives)[*count])
                       : dedup_problem(DEDUP_DAMAGED, "archives/%s: not a record",
                                       cli_name(names.name[i]).text);
        if (status == DEDUP_OK)
            ++*count;
        else if (status == DEDUP_MISSING) /* removed meanwhile */
            status = DEDUP_OK;
        else if (status == DEDUP_DAMAGED && damaged) {
            damaged(context, names.name[i]);
            status = DEDUP_OK;
        }
    }
    dedup_names_free(&names);
    if (status != DEDUP_OK)
        free(*archives);
    else if (*count)
        qsort(*archives, *count, sizeof **archives, compare_archives);
    return status;
}

dedup_time_text dedup_time_of(int64_t seconds)
{
    dedup_time_text time;
    struct tm parts;
    time_t at = (time_t)seconds;
    if (!localtime_r(&at, &parts) ||
        strftime(time.text, sizeof time.text, "%Y-%m-%d %H:%M:%S", &parts) == 0)
        snprintf(time.text, sizeof time.text, "%lld", (long long)seconds);
    return time;
}
