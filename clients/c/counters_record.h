/*
 * The record of a table of counters: one line of text under the key {NAME}:counters.
 *
 *   bloomery-counters 1 parts=48 epoch=0123456789abcdef window=600000 skew=1000 error=1e-09
 *   engine=compact capacity=1000000 seed=7 hot=616c6c,746561
 */
#ifndef BLOOMERY_CLUSTER_COUNTERS_RECORD_H
#define BLOOMERY_CLUSTER_COUNTERS_RECORD_H

#include <bloomery_cluster_counters.h>

typedef struct bryc__counter_record {
    uint64_t parts;
    char epoch[17];
    uint64_t window, skew; /* ms */
    double error;
    char error_text[32];
    bry_engine engine;
    uint64_t capacity, seed;
    bryc_key *hot; /* in the order of their text */
    size_t hot_count;
    char *text;
} bryc__counter_record;

/* NULL, or what is wrong; then nothing is allocated. */
const char *bryc__counter_record_plan(const bryc_counters_options *options, uint32_t primaries,
                                      bryc__counter_record *record);
const char *bryc__counter_record_read(const char *text, bryc__counter_record *record);
void bryc__counter_record_free(bryc__counter_record *record);

/* Compares the options that are given. NULL, or the name of the one that differs. */
const char *bryc__counter_record_differs(const bryc__counter_record *record,
                                         const bryc__counter_record *planned,
                                         const bryc_counters_options *options);

bool bryc__counter_is_hot(const bryc__counter_record *record, bryc_key name);

#endif
