#include "bench/peers/peer_memcached.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the process --------------------------------------------------------------------------- */

bool memcached_installed(void)
{
    return local_installed("memcached");
}

static bool ask_memcached_pid(local_server *server, uint64_t *pid)
{
    return memcached_stat_count(server, "pid", pid);
}

local_server *memcached_start(uint64_t megabytes, bool refuses)
{
    char memory[24];
    snprintf(memory, sizeof memory, "%llu", (unsigned long long)megabytes);
    const char *const arguments[] = {
        "-l", "127.0.0.1",           "-U", "0", "-m", memory, "-t", "1", "-c",
        "16", refuses ? "-M" : NULL, NULL};
    const local_program program = {"memcached", arguments, "-p", true, ask_memcached_pid};
    return local_server_start(&program);
}

/* ---- commands ------------------------------------------------------------------------------ */

bool memcached_set(local_server *server, const kbf_text *const *keys, const kbf_text *const *values,
                   size_t n, size_t *stored)
{
    bool good = true;
    for (size_t i = 0; i < n && good; i++) {
        char rest[32];
        snprintf(rest, sizeof rest, " 0 0 %zu\r\n", values[i]->len);
        good = local_add_text(server, "set ") && local_add(server, keys[i]->bytes, keys[i]->len) &&
               local_add_text(server, rest) &&
               local_add(server, values[i]->bytes, values[i]->len) &&
               local_add_text(server, "\r\n");
    }
    good = good && local_send(server);
    *stored = 0;
    for (size_t i = 0, start, len; i < n && good; i++) {
        good = local_read_line(server, &start, &len);
        if (good && local_line_is(server, start, len, "STORED"))
            ++*stored;
        else
            good = good &&
                   local_line_is(server, start, len, "SERVER_ERROR out of memory storing object");
    }
    return good;
}

bool memcached_delete(local_server *server, const kbf_text *const *keys, size_t n, uint8_t *answers)
{
    bool good = true;
    for (size_t i = 0; i < n && good; i++)
        good = local_add_text(server, "delete ") &&
               local_add(server, keys[i]->bytes, keys[i]->len) && local_add_text(server, "\r\n");
    good = good && local_send(server);
    for (size_t i = 0, start, len; i < n && good; i++) {
        good = local_read_line(server, &start, &len);
        if (!good)
            break;
        answers[i] = local_line_is(server, start, len, "DELETED") ? BRY_PRESENT : BRY_ABSENT;
        good = answers[i] == BRY_PRESENT || local_line_is(server, start, len, "NOT_FOUND");
    }
    return good;
}

/* "VALUE key 0 bytes", all flags being 0: the value's length if it is this key's line. */
static bool value_line(const local_server *server, size_t start, size_t len, const kbf_text *key,
                       size_t *value_len)
{
    const char *line = server->in + start, *end = line + len;
    if (len < 6 + key->len + 4 || memcmp(line, "VALUE ", 6) != 0 ||
        memcmp(line + 6, key->bytes, key->len) != 0 || memcmp(line + 6 + key->len, " 0 ", 3) != 0)
        return false;
    size_t number = 0;
    for (const char *digit = line + 6 + key->len + 3; digit < end; digit++) {
        if (*digit < '0' || *digit > '9' || number > KBF_VALUE_MOST)
            return false;
        number = number * 10 + (size_t)(*digit - '0');
    }
    *value_len = number;
    return true;
}

bool memcached_get(local_server *server, const kbf_text *const *keys, size_t n, kbf_text *values,
                   uint8_t *answers)
{
    bool good = n <= MEMCACHED_MOST_KEYS && local_add_text(server, "get");
    for (size_t i = 0; i < n && good; i++)
        good = local_add(server, " ", 1) && local_add(server, keys[i]->bytes, keys[i]->len);
    if (!good || !local_add_text(server, "\r\n") || !local_send(server))
        return false;
    /* Present keys are returned in the order of the request. The buffer may move while the answer
     * arrives, so offsets are stored until the end. */
    size_t starts[MEMCACHED_MOST_KEYS], start, len, value_len = 0, asked = 0;
    for (;;) {
        if (!local_read_line(server, &start, &len))
            return false;
        bool end = local_line_is(server, start, len, "END");
        while (asked < n && (end || !value_line(server, start, len, keys[asked], &value_len)))
            answers[asked++] = BRY_ABSENT;
        if (end)
            break;
        if (asked == n || !local_read_block(server, value_len, &starts[asked]))
            return false;
        answers[asked] = BRY_PRESENT;
        values[asked++].len = value_len;
    }
    for (size_t i = 0; i < n; i++)
        if (answers[i] == BRY_PRESENT)
            values[i].bytes = server->in + starts[i];
    return true;
}

bool memcached_stat(local_server *server, const char *name, char *value, size_t size)
{
    size_t start, len, name_len = strlen(name);
    bool found = false;
    if (!local_add_text(server, "stats\r\n") || !local_send(server))
        return false;
    while (local_read_line(server, &start, &len)) {
        if (local_line_is(server, start, len, "END"))
            return found;
        const char *line = server->in + start;
        if (len > 6 + name_len && memcmp(line, "STAT ", 5) == 0 &&
            memcmp(line + 5, name, name_len) == 0 && line[5 + name_len] == ' ') {
            snprintf(value, size, "%.*s", (int)(len - 6 - name_len), line + 6 + name_len);
            found = true;
        }
    }
    return false;
}

bool memcached_stat_count(local_server *server, const char *name, uint64_t *count)
{
    char text[32], *end;
    if (!memcached_stat(server, name, text, sizeof text))
        return false;
    errno = 0;
    *count = strtoull(text, &end, 10);
    return errno == 0 && end != text && *end == '\0';
}
