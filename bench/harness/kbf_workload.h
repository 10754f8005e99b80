/*
 * The workload of the kBF papers: sizes of keys by a generalized extreme value distribution, sizes
 * of values by a table below 15 bytes and by a generalized Pareto distribution from there on, all as
 * found in a large Memcached installation, and 3000 distinct values. Keys and values are printable
 * text, as Memcached requires of keys. Texts of up to 3 bytes are made longer if there are not
 * enough different ones: 16 of 3000 values should be empty, but only one can.
 */
#ifndef BLOOMERY_BENCH_KBF_WORKLOAD_H
#define BLOOMERY_BENCH_KBF_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KBF_KEY_MOST 250u /* limit of Memcached */
#define KBF_VALUE_MOST 65535u /* limit of the library */

typedef struct kbf_text {
    const char *bytes;
    size_t len;
} kbf_text;

typedef struct kbf_workload {
    uint64_t pairs, asked;
    uint32_t values;
    kbf_text *key; /* those of all pairs, then `asked` absent ones */
    kbf_text *value; /* the distinct ones */
    uint64_t *place; /* `asked` different pairs, in random order */
    char *key_bytes, *value_bytes;
} kbf_workload;

typedef struct kbf_workload_facts {
    double key_bytes, value_bytes; /* mean over the pairs */
} kbf_workload_facts;

/* asked is at most pairs, which is at most 2^32. False if memory runs out; then there is nothing to
 * free. */
bool kbf_workload_make(kbf_workload *load, uint64_t pairs, uint64_t asked, uint32_t values);
void kbf_workload_free(kbf_workload *load);
kbf_workload_facts kbf_workload_look(const kbf_workload *load);

/* The first value of a pair, and the one it is updated to. */
const kbf_text *kbf_first_value(const kbf_workload *load, uint64_t pair);
const kbf_text *kbf_later_value(const kbf_workload *load, uint64_t pair);

/* Quantiles of the sizes for u between 0 and 1, before rounding and limits. */
double kbf_key_size(double u);
double kbf_value_size(double u);

#endif
