#include "apps/dedup/base/record.h"

#include "apps/dedup/base/disk.h"
#include "text/number_parse.h"

#include <bloomery/hash.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char checksum_name[] = "checksum ";
enum { CHECKSUM_LINE = sizeof checksum_name - 1 + 16 + 1 };

void dedup_record_begin(dedup_record *record, const char *what)
{
    *record = (dedup_record){BRY_BUFFER};
    dedup_record_add(record, "bloomery", "dedup %s %d", what, DEDUP_FORMAT);
}

void dedup_record_add(dedup_record *record, const char *name, const char *format, ...)
{
    char line[1024];
    va_list list;
    int used = snprintf(line, sizeof line - 1, "%s ", name);
    va_start(list, format);
    used += vsnprintf(line + used, sizeof line - (size_t)used - 1, format, list);
    va_end(list);
    if ((size_t)used > sizeof line - 1) /* cannot happen: names of archives are short */
        used = sizeof line - 1;
    line[used] = '\n';
    dedup_append(&record->bytes, line, (size_t)used + 1);
}

static uint64_t checksum_of(const unsigned char *bytes, size_t len)
{
    return bry_hash_key(0, bytes, len).lo;
}

dedup_status dedup_record_end(dedup_record *record)
{
    char line[CHECKSUM_LINE + 1];
    snprintf(line, sizeof line, "%s%016llx\n", checksum_name,
             (unsigned long long)checksum_of(record->bytes.bytes, record->bytes.len));
    return dedup_append(&record->bytes, line, CHECKSUM_LINE);
}

static bool checksum_is_right(const bry_buffer *bytes)
{
    char line[CHECKSUM_LINE + 1];
    if (bytes->len < CHECKSUM_LINE || memchr(bytes->bytes, 0, bytes->len))
        return false;
    size_t body = bytes->len - CHECKSUM_LINE;
    snprintf(line, sizeof line, "%s%016llx\n", checksum_name,
             (unsigned long long)checksum_of(bytes->bytes, body));
    return memcmp(line, bytes->bytes + body, CHECKSUM_LINE) == 0;
}

/* The first line, before the checksum: a file of another format may have another one. */
static dedup_status check_first_line(const bry_buffer *bytes, const char *path, const char *what)
{
    char first[64];
    int len = snprintf(first, sizeof first, "bloomery dedup %s ", what);
    if (bytes->len <= (size_t)len || memcmp(bytes->bytes, first, (size_t)len) != 0)
        return dedup_problem(DEDUP_DAMAGED, "%s: damaged, or not a file of a repository", path);
    char digits[16] = "";
    for (size_t i = 0; i + 1 < sizeof digits && (size_t)len + i < bytes->len; i++)
        digits[i] = (char)bytes->bytes[(size_t)len + i];
    char *end;
    unsigned long format = strtoul(digits, &end, 10);
    if (end == digits || *end != '\n')
        return dedup_problem(DEDUP_DAMAGED, "%s: damaged", path);
    if (format != DEDUP_FORMAT)
        return dedup_problem(DEDUP_VERSION, "%s: has format %lu, but this build reads format %d",
                             path, format, DEDUP_FORMAT);
    return DEDUP_OK;
}

dedup_status dedup_record_read(dedup_record *record, int dir, const char *path, const char *what)
{
    *record = (dedup_record){BRY_BUFFER};
    dedup_status status = dedup_read_whole(dir, path, DEDUP_RECORD_MAX, &record->bytes);
    if (status == DEDUP_OK)
        status = check_first_line(&record->bytes, path, what);
    if (status == DEDUP_OK && !checksum_is_right(&record->bytes))
        status = dedup_problem(DEDUP_DAMAGED, "%s: damaged", path);
    if (status == DEDUP_OK)
        for (size_t i = 0; i < record->bytes.len; i++)
            if (record->bytes.bytes[i] == '\n')
                record->bytes.bytes[i] = 0;
    if (status != DEDUP_OK)
        dedup_record_free(record);
    return status;
}

const char *dedup_record_get(const dedup_record *record, const char *name)
{
    const char *at = (const char *)record->bytes.bytes, *end = at + record->bytes.len;
    size_t len = strlen(name);
    for (; at < end; at += strlen(at) + 1)
        if (strncmp(at, name, len) == 0 && at[len] == ' ')
            return at + len + 1;
    return NULL;
}

bool dedup_record_number(const dedup_record *record, const char *name, uint64_t *number)
{
    const char *text = dedup_record_get(record, name);
    return text && text_parse_plain(text, strlen(text), number) == NULL;
}

void dedup_record_free(dedup_record *record)
{
    bry_buffer_free(&record->bytes);
}
