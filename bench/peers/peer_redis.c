#include "bench/peers/peer_redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool redis_installed(void)
{
    return local_installed("redis-server");
}

static void close_context(void *context)
{
    redisFree(context);
}

static bool ask_redis_pid(local_server *server, uint64_t *pid)
{
    server->peer = redisConnectFd(server->connection);
    server->close_peer = close_context;
    return server->peer && redis_info_count(server, "server", "process_id", pid);
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

redisContext *redis_context(const local_server *server)
{
    return server->peer;
}

bool redis_info_count(const local_server *server, const char *section, const char *name,
                      uint64_t *count)
{
    char line[64];
    redisReply *reply = redisCommand(redis_context(server), "INFO %s", section);
    snprintf(line, sizeof line, "\n%s:", name);
    const char *at = reply && reply->type == REDIS_REPLY_STRING ? strstr(reply->str, line) : NULL;
    if (at)
        *count = strtoull(at + strlen(line), NULL, 10);
    freeReplyObject(reply);
    return at != NULL;
}
