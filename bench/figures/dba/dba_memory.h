/* The memory of indexes that hold a set of some size, relative to one Bloom filter. */
#ifndef BLOOMERY_BENCH_DBA_MEMORY_H
#define BLOOMERY_BENCH_DBA_MEMORY_H

#include <bloomery/index.h>

typedef struct dba_memory_set {
    bry_engine engine;
    uint32_t units; /* of the largest set */
    uint64_t unit_capacity;
    double error;
    uint64_t first; /* number of the first element */
} dba_memory_set;

/* Bits per element of one Bloom filter with this error, full. */
double dba_one_filter(double error);

/* The formula of the paper: bits of `units` full filters, together with this error, relative to
 * that. */
double dba_memory_ratio(double error, uint32_t units);

/* Makes an index for the largest set, adds `elements` elements to as many units as they take, and
 * measures the memory, in bits. False after a message. */
bool dba_memory_fill(const dba_memory_set *set, uint64_t elements, double *bits);

#endif
