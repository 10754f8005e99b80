/*
 * The records of a counter's log (doc/format.md, kind CLOG).
 *
 *   record = type u32, operations u32, time u64, repeats u64, body
 *
 * time and repeats are the table's when the record was written: repeats themselves are not logged.
 */
#ifndef BRY_COUNTER_RECORD_H
#define BRY_COUNTER_RECORD_H

#include "counter/counter_object.h"
#include "frame/frame_header.h"

#define BRY__COUNTER_BASE BRY__FOUR('B', 'A', 'S', 'E') /* the first record, and no other */
#define BRY__COUNTER_OPS BRY__FOUR('O', 'P', 'S', ' ') /* operations that were applied */
#define BRY__COUNTER_DEL BRY__FOUR('D', 'E', 'L', ' ') /* a counter: its name */
#define BRY__COUNTER_TIME BRY__FOUR('T', 'I', 'M', 'E') /* time and repeats alone */
#define BRY__COUNTER_CLR BRY__FOUR('C', 'L', 'R', ' ') /* deletes everything except the time */

enum {
    BRY__COUNTER_HEAD = BRY_COUNTERS_BATCH_HEAD,
    BRY__COUNTER_OP = BRY_COUNTERS_BATCH_OP, /* id u64 u64, delta i64, length u16; then the name */
    BRY__COUNTER_BASE_SIZE = BRY__COUNTER_HEAD + 56,
};

/* The contents of BASE: whose log this is, where it begins, and the table's options. */
typedef struct bry__counter_base {
    bry__counter_place place;
    bry_counters_options options; /* engine, window, capacity, error and seed */
} bry__counter_base;

/* Each fills `to` and returns the number of bytes. The table is in its state after the change. */
size_t bry__counter_record_base(const bry_counters *counters, const bry__counter_place *place,
                                unsigned char *to);
size_t bry__counter_record_plain(const bry_counters *counters, uint32_t type, const void *name,
                                 size_t len, unsigned char *to);
/* The operations with was[i] BRY_ABSENT. */
size_t bry__counter_record_ops(const bry_counters *counters, const bry_counters_op *ops,
                               size_t op_size, const uint8_t *was, size_t n, unsigned char *to);

/* Reads BASE; returns what is wrong with it, or NULL. */
const char *bry__counter_record_read_base(const unsigned char *record, size_t len,
                                          bry__counter_base *base);

/*
 * Replays any other record. BRY_E_BADDATA and *problem: it cannot have happened. BRY_E_NOMEM. The
 * table is unusable after a failure.
 */
bry_status bry__counter_redo(bry_counters *counters, const unsigned char *record, size_t len,
                             const char **problem);

#endif
