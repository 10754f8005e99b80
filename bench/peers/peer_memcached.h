/* A private memcached, used with the text protocol. */
#ifndef BLOOMERY_BENCH_PEER_MEMCACHED_H
#define BLOOMERY_BENCH_PEER_MEMCACHED_H

#include "bench/harness/kbf_workload.h"
#include "bench/peers/local_server.h"

#include <bloomery/base.h>

bool memcached_installed(void);

/* With one thread, and a limit of its memory. When that is reached, it forgets pairs, or if
 * `refuses` refuses more. */
local_server *memcached_start(uint64_t megabytes, bool refuses);

/* n keys in one request. get has a command for several keys; the others send
 * several commands together and then read all replies. */
/* *stored: how many pairs were not refused for want of memory. */
bool memcached_set(local_server *server, const kbf_text *const *keys, const kbf_text *const *values,
                   size_t n, size_t *stored);
/* Values are valid until the next call. */
bool memcached_get(local_server *server, const kbf_text *const *keys, size_t n, kbf_text *values,
                   uint8_t *answers);
bool memcached_delete(local_server *server, const kbf_text *const *keys, size_t n,
                      uint8_t *answers);

/* A statistic of the server; false if there is none of that name. */
bool memcached_stat(local_server *server, const char *name, char *value, size_t size);
bool memcached_stat_count(local_server *server, const char *name, uint64_t *count);

#endif
