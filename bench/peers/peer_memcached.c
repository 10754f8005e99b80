#include "bench/peers/peer_memcached.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER ((size_t)1 << 17) /* bytes collected before they are sent, and received at once */

typedef struct memcached_peer {
    FILE *to, *from;
    char *line; /* of the reply, without \r\n; allocated by getline() */
    size_t len, line_room;
    char *values; /* of the reply */
    size_t used, room;
} memcached_peer;

static void close_memcached(void *opaque)
{
    memcached_peer *peer = opaque;
    if (peer->to)
        fclose(peer->to);
    if (peer->from)
        fclose(peer->from);
    free(peer->line);
    free(peer->values);
    free(peer);
}

static bool open_memcached_peer(local_server *server)
{
    memcached_peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return false;
    server->peer = peer;
    server->close_peer = close_memcached;
    peer->from = fdopen(server->connection, "r");
    peer->to = fdopen(dup(server->connection), "w");
    return peer->from && peer->to && setvbuf(peer->to, NULL, _IOFBF, BUFFER) == 0 &&
           setvbuf(peer->from, NULL, _IOFBF, BUFFER) == 0;
}

static void put_key(memcached_peer *peer, const char *before, const kbf_text *key)
{
    fputs(before, peer->to);
    fwrite(key->bytes, 1, key->len, peer->to);
}

static bool read_line(memcached_peer *peer)
{
    ssize_t len = getline(&peer->line, &peer->line_room, peer->from);
    if (len < 2 || peer->line[len - 2] != '\r')
        return false;
    peer->len = (size_t)len - 2;
    peer->line[peer->len] = '\0';
    return true;
}

static bool line_is(const memcached_peer *peer, const char *text)
{
    return strcmp(peer->line, text) == 0;
}

/* Reads a value and the \r\n behind it. */
static bool read_value(memcached_peer *peer, size_t len)
{
    if (peer->room - peer->used < len + 2) {
        size_t room = 2 * peer->room + len + 2;
        char *more = realloc(peer->values, room);
        if (!more)
            return false;
        peer->values = more;
        peer->room = room;
    }
    char *value = peer->values + peer->used;
    peer->used += len + 2;
    return fread(value, 1, len + 2, peer->from) == len + 2 && memcmp(value + len, "\r\n", 2) == 0;
}

bool memcached_installed(void)
{
    return local_installed("memcached");
}

static bool ask_memcached_pid(local_server *server, uint64_t *pid)
{
    return open_memcached_peer(server) && memcached_stat_count(server, "pid", pid);
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

bool memcached_set(local_server *server, const kbf_text *const *keys, const kbf_text *const *values,
                   size_t n, size_t *stored)
{
    memcached_peer *peer = server->peer;
    for (size_t i = 0; i < n; i++) {
        put_key(peer, "set ", keys[i]);
        fprintf(peer->to, " 0 0 %zu\r\n", values[i]->len);
        fwrite(values[i]->bytes, 1, values[i]->len, peer->to);
        fputs("\r\n", peer->to);
    }
    bool good = fflush(peer->to) == 0;
    *stored = 0;
    for (size_t i = 0; i < n && good; i++) {
        good = read_line(peer);
        if (good && line_is(peer, "STORED"))
            ++*stored;
        else
            good = good && line_is(peer, "SERVER_ERROR out of memory storing object");
    }
    return good;
}

bool memcached_delete(local_server *server, const kbf_text *const *keys, size_t n, uint8_t *answers)
{
    memcached_peer *peer = server->peer;
    for (size_t i = 0; i < n; i++) {
        put_key(peer, "delete ", keys[i]);
        fputs("\r\n", peer->to);
    }
    bool good = fflush(peer->to) == 0;
    for (size_t i = 0; i < n && good; i++) {
        good = read_line(peer);
        if (!good)
            break;
        answers[i] = line_is(peer, "DELETED") ? BRY_PRESENT : BRY_ABSENT;
        good = answers[i] == BRY_PRESENT || line_is(peer, "NOT_FOUND");
    }
    return good;
}

/* "VALUE key 0 bytes", all flags being 0: the value's length if it is this key's line. */
static bool value_line(const memcached_peer *peer, const kbf_text *key, size_t *value_len)
{
    const char *line = peer->line;
    if (peer->len < 6 + key->len + 4 || memcmp(line, "VALUE ", 6) != 0 ||
        memcmp(line + 6, key->bytes, key->len) != 0 || memcmp(line + 6 + key->len, " 0 ", 3) != 0)
        return false;
    size_t number = 0;
    for (const char *digit = line + 6 + key->len + 3; *digit; digit++) {
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
    memcached_peer *peer = server->peer;
    fputs("get", peer->to);
    for (size_t i = 0; i < n; i++)
        put_key(peer, " ", keys[i]);
    fputs("\r\n", peer->to);
    if (fflush(peer->to) != 0)
        return false;
    /* Present keys are returned in the order of the request. */
    size_t len = 0, asked = 0;
    peer->used = 0;
    for (;;) {
        if (!read_line(peer))
            return false;
        bool end = line_is(peer, "END");
        while (asked < n && (end || !value_line(peer, keys[asked], &len)))
            answers[asked++] = BRY_ABSENT;
        if (end)
            break;
        if (asked == n || !read_value(peer, len))
            return false;
        answers[asked] = BRY_PRESENT;
        values[asked++].len = len;
    }
    const char *value = peer->values; /* which no longer moves */
    for (size_t i = 0; i < n; i++)
        if (answers[i] == BRY_PRESENT) {
            values[i].bytes = value;
            value += values[i].len + 2;
        }
    return true;
}

bool memcached_stat(local_server *server, const char *name, char *value, size_t size)
{
    memcached_peer *peer = server->peer;
    size_t name_len = strlen(name);
    bool found = false;
    fputs("stats\r\n", peer->to);
    if (fflush(peer->to) != 0)
        return false;
    while (read_line(peer)) {
        if (line_is(peer, "END"))
            return found;
        const char *line = peer->line;
        if (strncmp(line, "STAT ", 5) == 0 && strncmp(line + 5, name, name_len) == 0 &&
            line[5 + name_len] == ' ') {
            snprintf(value, size, "%s", line + 6 + name_len);
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
