#include "bench/peers/peer_redis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the process --------------------------------------------------------------------------- */

bool redis_installed(void)
{
    return local_installed("redis-server");
}

static bool ask_redis_pid(local_server *server, uint64_t *pid)
{
    return redis_info_count(server, "server", "process_id", pid);
}

local_server *redis_start(const char *module)
{
    const char *const arguments[] = {"--bind",
                                     "127.0.0.1",
                                     "--save",
                                     "",
                                     "--appendonly",
                                     "no",
                                     "--protected-mode",
                                     "no",
                                     module ? "--loadmodule" : NULL,
                                     module,
                                     NULL};
    const local_program program = {"redis-server", arguments, "--port", false, ask_redis_pid};
    return local_server_start(&program);
}

/* ---- the protocol -------------------------------------------------------------------------- */

/* "*3\r\n", "$5\r\n". */
static bool add_count(local_server *server, char kind, size_t count)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%c%zu\r\n", kind, count);
    return local_add(server, text, (size_t)len);
}

bool redis_begin(local_server *server, size_t words)
{
    return add_count(server, '*', words);
}

bool redis_add(local_server *server, const kbf_text *word)
{
    return add_count(server, '$', word->len) && local_add(server, word->bytes, word->len) &&
           local_add(server, "\r\n", 2);
}

bool redis_add_text(local_server *server, const char *word)
{
    return redis_add(server, &(kbf_text){word, strlen(word)});
}

bool redis_read(local_server *server, redis_part *part)
{
    if (!local_read_line(server, &part->start, &part->len) || part->len == 0)
        return false;
    const char *line = server->in + part->start;
    part->kind = *line;
    part->number = 0;
    if (part->kind == '+' || part->kind == '-')
        return true;
    char *end;
    errno = 0;
    part->number = strtoll(line + 1, &end, 10); /* \r follows */
    if (!strchr(":$*", part->kind) || errno != 0 || end != line + part->len || end == line + 1)
        return false;
    if (part->kind != '$' || part->number < 0)
        return true;
    part->len = (size_t)part->number;
    return local_read_block(server, part->len, &part->start);
}

bool redis_expect_ok(local_server *server, const char *const *words, size_t n)
{
    redis_part part;
    bool good = redis_begin(server, n);
    for (size_t i = 0; i < n && good; i++)
        good = redis_add_text(server, words[i]);
    return good && local_send(server) && redis_read(server, &part) &&
           local_line_is(server, part.start, part.len, "+OK");
}

bool redis_info_count(local_server *server, const char *section, const char *name, uint64_t *count)
{
    redis_part part;
    if (!redis_begin(server, 2) || !redis_add_text(server, "INFO") ||
        !redis_add_text(server, section) || !local_send(server) || !redis_read(server, &part) ||
        part.kind != '$' || part.number < 0)
        return false;
    size_t name_len = strlen(name);
    const char *line = server->in + part.start, *end = line + part.len;
    while (line < end) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        if ((size_t)(end - line) > name_len && memcmp(line, name, name_len) == 0 &&
            line[name_len] == ':') {
            *count = strtoull(line + name_len + 1, NULL, 10);
            return true;
        }
        line = next ? next + 1 : end;
    }
    return false;
}
