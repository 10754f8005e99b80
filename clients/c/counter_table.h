/* The inside of a handle to a table of counters. */
#ifndef BLOOMERY_CLUSTER_COUNTER_TABLE_H
#define BLOOMERY_CLUSTER_COUNTER_TABLE_H

#include "clients/c/cluster_map.h"
#include "clients/c/counter_outbox.h"
#include "clients/c/counters_record.h"

struct bryc_counters {
    bryc_client *client;
    char name[BRYC__NAME_MAX + 1];
    bryc__counter_record record;
    bryc__choice choice; /* of the part, by CRC-32 */
    uint32_t wait, wait_ms, retry_ms;
    bryc__outbox outbox;
    pid_t process; /* that drew `random` */
    unsigned char random[16];
    uint64_t number; /* of the last id */
};

/* The key of a part, as snprintf(). */
size_t bryc__part_key(const bryc_counters *table, uint64_t part, char *text, size_t room);

/* The part of a counter: by its {tag}, or by its whole name. */
uint64_t bryc__part_of(const bryc_counters *table, bryc_key name);

#endif
