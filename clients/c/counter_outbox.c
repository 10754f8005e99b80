#include "clients/c/counter_outbox.h"

#include "clients/c/cluster_map.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGE ((off_t)1 << 20)
#define NAME_MOST 65535u

void bryc__begun_free(bryc__begun *begun)
{
    for (size_t i = 0; i < begun->n; i++)
        free((void *)(uintptr_t)begun->increments[i].name.bytes);
    free(begun->increments);
    *begun = (bryc__begun){0};
}

/* Adds an increment, with a copy of its name. */
static bool begun_add(bryc__begun *begun, const void *name, size_t len, int64_t delta)
{
    bryc_increment *grown = realloc(begun->increments, (begun->n + 1) * sizeof *grown);
    if (!grown)
        return false;
    begun->increments = grown;
    char *copy = malloc(len + 1);
    if (!copy)
        return false;
    if (len)
        memcpy(copy, name, len);
    begun->increments[begun->n++] = (bryc_increment){{copy, len}, delta};
    // cppcheck-suppress memleak ; the increment has the copy
    return true;
}

/* ---- lines --------------------------------------------------------------------------------- */

/* Takes a piece of the line, with any spaces before it. */
static bool outbox_take(const char **at, const char *text)
{
    while (**at == ' ')
        (*at)++;
    size_t len = strlen(text);
    if (strncmp(*at, text, len) != 0)
        return false;
    *at += len;
    return true;
}

/* A string without escapes. */
static bool take_string(const char **at, const char **string, size_t *len)
{
    if (!outbox_take(at, "\""))
        return false;
    *string = *at;
    *len = strcspn(*at, "\"\\");
    *at += *len;
    return outbox_take(at, "\"");
}

static bool take_id(const char **at, bryc_operation *operation)
{
    const char *id;
    size_t len;
    if (!take_string(at, &id, &len) || len == 0 || len >= sizeof operation->id)
        return false;
    memcpy(operation->id, id, len);
    operation->id[len] = '\0';
    return true;
}

static bool take_integer(const char **at, long long *number)
{
    char *end;
    while (**at == ' ')
        (*at)++;
    if (**at != '-' && (**at < '0' || **at > '9'))
        return false;
    errno = 0;
    *number = strtoll(*at, &end, 10);
    bool valid = end != *at && errno == 0;
    *at = end;
    return valid;
}

/* ["hex", delta] */
static bool take_pair(const char **at, bryc__begun *begun)
{
    static const char digits[] = "0123456789abcdef";
    const char *hex;
    size_t len;
    long long delta;
    if (!outbox_take(at, "[") || !take_string(at, &hex, &len) || len % 2 != 0 ||
        len / 2 > NAME_MOST || strspn(hex, digits) < len || !outbox_take(at, ",") ||
        !take_integer(at, &delta) || !outbox_take(at, "]"))
        return false;
    char *name = malloc(len / 2 + 1);
    for (size_t i = 0; name && i < len / 2; i++)
        name[i] = (char)((strchr(digits, hex[2 * i]) - digits) << 4 |
                         (strchr(digits, hex[2 * i + 1]) - digits));
    bool added = name && begun_add(begun, name, len / 2, delta);
    free(name);
    return added;
}

static bool take_begin(const char **at, bryc__begun *begun)
{
    long long sent;
    if (!take_id(at, &begun->operation) || !outbox_take(at, ",") || !outbox_take(at, "\"sent\"") ||
        !outbox_take(at, ":") || !take_integer(at, &sent) || sent < 0 || !outbox_take(at, ",") ||
        !outbox_take(at, "\"pairs\"") || !outbox_take(at, ":") || !outbox_take(at, "["))
        return false;
    begun->operation.sent_ms = (uint64_t)sent;
    do
        if (!take_pair(at, begun))
            return false;
    while (outbox_take(at, ","));
    return outbox_take(at, "]");
}

bool bryc__outbox_parse(const char *line, bryc__begun *begun, bool *done)
{
    *begun = (bryc__begun){0};
    if (!outbox_take(&line, "{"))
        return false;
    *done = outbox_take(&line, "\"done\"");
    bool valid = *done || outbox_take(&line, "\"id\"");
    valid = valid && outbox_take(&line, ":") &&
            (*done ? take_id(&line, &begun->operation) : take_begin(&line, begun)) &&
            outbox_take(&line, "}") && outbox_take(&line, "") && *line == '\0';
    if (!valid)
        bryc__begun_free(begun);
    return valid;
}

static bool outbox_put(bryc__bytes *bytes, const char *text, size_t len)
{
    if (!bryc__reserve(bytes, len))
        return false;
    memcpy(bytes->at + bytes->len, text, len);
    bytes->len += len;
    return true;
}

/* Appends the line of a beginning to the bytes. */
static bool put_begin(bryc__bytes *bytes, const bryc_operation *operation,
                      const bryc_increment *increments, size_t n)
{
    char text[160];
    int len = snprintf(text, sizeof text, "{\"id\": \"%s\", \"sent\": %" PRIu64 ", \"pairs\": [",
                       operation->id, operation->sent_ms);
    bool done = outbox_put(bytes, text, (size_t)len);
    for (size_t i = 0; i < n && done; i++) {
        const unsigned char *name = increments[i].name.bytes;
        done = outbox_put(bytes, i ? ", [\"" : "[\"", i ? 4 : 2);
        for (size_t j = 0; j < increments[i].name.len && done; j++) {
            snprintf(text, sizeof text, "%02x", name[j]);
            done = outbox_put(bytes, text, 2);
        }
        len = snprintf(text, sizeof text, "\", %" PRId64 "]", increments[i].delta);
        done = done && outbox_put(bytes, text, (size_t)len);
    }
    return done && outbox_put(bytes, "]}\n", 3);
}

/* ---- the file ------------------------------------------------------------------------------ */

static bool append_bytes(const bryc__outbox *outbox, const char *bytes, size_t len, bool sync)
{
    while (len > 0) {
        ssize_t n = write(outbox->file, bytes, len);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        }
    }
    return !sync || fdatasync(outbox->file) == 0;
}

static bool list_add(bryc__outbox *outbox, bryc__begun begun)
{
    if (outbox->count == outbox->capacity) {
        size_t capacity = outbox->capacity ? 2 * outbox->capacity : 16;
        bryc__begun *grown = realloc(outbox->begun, capacity * sizeof *grown);
        if (!grown)
            return false;
        outbox->begun = grown;
        outbox->capacity = capacity;
    }
    outbox->begun[outbox->count++] = begun;
    return true;
}

/* Removes the operation of this id; the others keep their order. */
static void list_remove(bryc__outbox *outbox, const char *id)
{
    size_t kept = 0;
    for (size_t i = 0; i < outbox->count; i++) {
        if (strcmp(outbox->begun[i].operation.id, id) == 0)
            bryc__begun_free(&outbox->begun[i]);
        else
            outbox->begun[kept++] = outbox->begun[i];
    }
    outbox->count = kept;
}

static const char *read_line_of(bryc__outbox *outbox, const char *line, bry_status *status)
{
    bryc__begun begun;
    bool done;
    *status = BRY_E_BADDATA;
    if (!bryc__outbox_parse(line, &begun, &done))
        return "the outbox is damaged";
    if (done) {
        list_remove(outbox, begun.operation.id);
        return NULL;
    }
    if (list_add(outbox, begun))
        return NULL;
    bryc__begun_free(&begun);
    *status = BRY_E_NOMEM;
    return "out of memory";
}

/* Reads the file, then writes again what is not finished. What follows the last newline is
 * incomplete. */
static const char *read_outbox(bryc__outbox *outbox, bry_status *status)
{
    FILE *file = fdopen(dup(outbox->file), "rb");
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    const char *problem = NULL;
    *status = BRY_E_IO;
    if (!file)
        return "the outbox cannot be read";
    while (!problem && (len = getline(&line, &room, file)) > 0 && line[len - 1] == '\n') {
        line[len - 1] = '\0';
        problem = read_line_of(outbox, line, status);
    }
    free(line);
    fclose(file);
    bryc__bytes bytes = {0};
    bool made = true;
    for (size_t i = 0; i < outbox->count && !problem; i++) {
        const bryc__begun *begun = &outbox->begun[i];
        made = made && put_begin(&bytes, &begun->operation, begun->increments, begun->n);
    }
    if (!problem && (!made || ftruncate(outbox->file, 0) != 0 ||
                     !append_bytes(outbox, bytes.at, bytes.len, true))) {
        *status = BRY_E_IO;
        problem = "the outbox cannot be written";
    }
    free(bytes.at);
    return problem;
}

const char *bryc__outbox_open(bryc__outbox *outbox, const char *path, bry_status *status)
{
    *outbox = (bryc__outbox){.file = -1};
    *status = BRY_E_IO;
    if (!path)
        return NULL;
    outbox->file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (outbox->file < 0)
        return "the outbox cannot be opened";
    const char *problem = flock(outbox->file, LOCK_EX | LOCK_NB) != 0
                              ? "the outbox is in use by another process"
                              : read_outbox(outbox, status);
    if (problem)
        bryc__outbox_close(outbox);
    return problem;
}

void bryc__outbox_close(bryc__outbox *outbox)
{
    for (size_t i = 0; i < outbox->count; i++)
        bryc__begun_free(&outbox->begun[i]);
    free(outbox->begun);
    if (outbox->file >= 0)
        close(outbox->file);
    *outbox = (bryc__outbox){.file = -1};
}

bry_status bryc__outbox_begin(bryc__outbox *outbox, const bryc_operation *operation,
                              const bryc_increment *increments, size_t n)
{
    bryc__begun begun = {.operation = *operation};
    bryc__bytes bytes = {0};
    bool made = true;
    if (outbox->file < 0)
        return BRY_OK;
    for (size_t i = 0; i < n && made; i++)
        made = begun_add(&begun, increments[i].name.bytes, increments[i].name.len,
                         increments[i].delta);
    made = made && put_begin(&bytes, operation, increments, n) && list_add(outbox, begun);
    if (!made)
        bryc__begun_free(&begun);
    bool written = made && append_bytes(outbox, bytes.at, bytes.len, true);
    int problem = errno;
    free(bytes.at);
    if (made && !written)
        list_remove(outbox, operation->id);
    errno = problem;
    return !made ? BRY_E_NOMEM : written ? BRY_OK : BRY_E_IO;
}

void bryc__outbox_end(bryc__outbox *outbox, const bryc_operation *operation)
{
    struct stat facts;
    char line[96];
    if (outbox->file < 0)
        return;
    list_remove(outbox, operation->id);
    int len = snprintf(line, sizeof line, "{\"done\": \"%s\"}\n", operation->id);
    /* If this fails, the operation is repeated once more, and recognised. */
    if (outbox->count == 0 && fstat(outbox->file, &facts) == 0 && facts.st_size > LARGE &&
        ftruncate(outbox->file, 0) == 0)
        return;
    append_bytes(outbox, line, (size_t)len, false);
}
