/*
 * A file with the operations that a program has begun, so that the next start repeats those that
 * were not finished. A line of JSON for each beginning, synced before the operation is sent, and
 * one for each end:
 *
 *   {"id": "…-1", "sent": 1700000000000, "pairs": [["746561", 3]]}      names in hex
 *   {"done": "…-1"}
 *
 * The Python client writes the same. The end is not synced: an operation that is repeated once more
 * is recognised. The file is locked while it is open.
 */
#ifndef BLOOMERY_CLUSTER_COUNTER_OUTBOX_H
#define BLOOMERY_CLUSTER_COUNTER_OUTBOX_H

#include <bloomery_cluster_counters.h>

typedef struct bryc__begun {
    bryc_operation operation;
    bryc_increment *increments;
    size_t n;
} bryc__begun;

typedef struct bryc__outbox {
    int file; /* -1: none */
    bryc__begun *begun; /* operations that are not finished */
    size_t count, capacity;
} bryc__outbox;

/* NULL, or what is wrong; *status says of which kind. */
const char *bryc__outbox_open(bryc__outbox *outbox, const char *path, bry_status *status);
void bryc__outbox_close(bryc__outbox *outbox);

/* Before an operation is sent. BRY_E_IO with errno, BRY_E_NOMEM. */
bry_status bryc__outbox_begin(bryc__outbox *outbox, const bryc_operation *operation,
                              const bryc_increment *increments, size_t n);
/* After it is counted or refused. */
void bryc__outbox_end(bryc__outbox *outbox, const bryc_operation *operation);

/* Parses a line without its end. False if it is damaged or memory runs out. *done: it is an end. */
bool bryc__outbox_parse(const char *line, bryc__begun *begun, bool *done);
void bryc__begun_free(bryc__begun *begun);

#endif
