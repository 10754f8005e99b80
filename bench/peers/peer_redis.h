/* A private redis-server, with a module or without one, used with the protocol RESP2. */
#ifndef BLOOMERY_BENCH_PEER_REDIS_H
#define BLOOMERY_BENCH_PEER_REDIS_H

#include "bench/harness/kbf_workload.h"
#include "bench/peers/local_server.h"

bool redis_installed(void);

/* Saves nothing. Without a module if that is NULL. */
local_server *redis_start(const char *module);

/* A command: how many words it has, then each of them; then local_send(). */
bool redis_begin(local_server *server, size_t words);
bool redis_add(local_server *server, const kbf_text *word);
bool redis_add_text(local_server *server, const char *word);

/* The next part of the reply. The elements of an array are the parts that follow it. */
typedef struct redis_part {
    char kind; /* '+' text, '-' error, ':' number, '$' bytes, '*' array */
    int64_t number; /* an integer, or the length of bytes or of an array; -1: null */
    size_t start, len; /* of bytes, in the server's buffer, or the line of text or of an error */
} redis_part;
bool redis_read(local_server *server, redis_part *part);

/* Sends a command of several words that returns OK. */
bool redis_expect_ok(local_server *server, const char *const *words, size_t n);
/* A number of INFO. */
bool redis_info_count(local_server *server, const char *section, const char *name, uint64_t *count);

#endif
