/* A private redis-server, with a module or without one, used with hiredis. */
#ifndef BLOOMERY_BENCH_PEER_REDIS_H
#define BLOOMERY_BENCH_PEER_REDIS_H

#include "bench/peers/local_server.h"

#include <hiredis/hiredis.h>

bool redis_installed(void);

/* Saves nothing. Without a module if that is NULL. */
local_server *redis_start(const char *module);

/* The connection, and a number of INFO. */
redisContext *redis_context(const local_server *server);
bool redis_info_count(const local_server *server, const char *section, const char *name,
                      uint64_t *count);

#endif
