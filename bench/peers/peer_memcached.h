/*
 * A private memcached: started on a free port of 127.0.0.1 for the duration of a measurement, used
 * over one connection with the text protocol, and stopped by its process id. It ends with this
 * process, however that ends.
 */
#ifndef BLOOMERY_BENCH_PEER_MEMCACHED_H
#define BLOOMERY_BENCH_PEER_MEMCACHED_H

#include "bench/harness/kbf_workload.h"

#include <bloomery/base.h>

typedef struct memcached memcached;

bool memcached_installed(void);

/* NULL, with a message on stderr, if it does not start. */
memcached *memcached_start(uint64_t megabytes);
void memcached_stop(memcached *server);

/* False if the connection failed or the answer is invalid. Without `wait` the server does not
 * reply, and commands are sent in larger blocks. */
bool memcached_set(memcached *server, const kbf_text *key, const kbf_text *value, bool wait);
/* Sends the buffered commands, and waits until the server has processed them. */
bool memcached_settle(memcached *server);
bool memcached_delete(memcached *server, const kbf_text *key, bry_answer *was);

/* Looks up n keys, at most this many, in one command. Values are valid until the next call. */
#define MEMCACHED_MOST_KEYS 256u
bool memcached_get(memcached *server, const kbf_text *const *keys, size_t n, kbf_text *values,
                   uint8_t *answers);

/* A statistic of the server; false if there is none of that name. */
bool memcached_stat(memcached *server, const char *name, char *value, size_t size);
bool memcached_stat_count(memcached *server, const char *name, uint64_t *count);

/* Resident memory of the server; 0: unknown. */
uint64_t memcached_resident(const memcached *server);

#endif
