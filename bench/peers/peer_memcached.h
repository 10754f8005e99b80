/*
 * A memcached of our own: started on a free port of 127.0.0.1 for the time of a measurement, spoken
 * to in its text protocol over one connection, stopped by its process number. It goes with this
 * process, however that ends.
 */
#ifndef BLOOMERY_BENCH_PEER_MEMCACHED_H
#define BLOOMERY_BENCH_PEER_MEMCACHED_H

#include "bench/harness/kbf_workload.h"

#include <bloomery/base.h>

typedef struct memcached memcached;

bool memcached_installed(void);

/* NULL, with a message on stderr, when it does not start. */
memcached *memcached_start(uint64_t megabytes);
void memcached_stop(memcached *server);

/* False when the connection failed or the server answered something else than it should. Without
 * `wait` there is no answer, and nothing is sent before enough has come together. */
bool memcached_set(memcached *server, const kbf_text *key, const kbf_text *value, bool wait);
/* Sends what has come together, and waits until the server is through with it. */
bool memcached_settle(memcached *server);
bool memcached_delete(memcached *server, const kbf_text *key, bry_answer *was);

/* n keys, at most so many, in one command. Values are good until the next call. */
#define MEMCACHED_MOST_KEYS 256u
bool memcached_get(memcached *server, const kbf_text *const *keys, size_t n, kbf_text *values,
                   uint8_t *answers);

/* A line of its statistics; false when there is none of that name. */
bool memcached_stat(memcached *server, const char *name, char *value, size_t size);
bool memcached_stat_count(memcached *server, const char *name, uint64_t *count);

/* Bytes of its memory that are resident; 0 when the system does not tell. */
uint64_t memcached_resident(const memcached *server);

#endif
