/* Properties of all entries of a table of a maplet, for tests and models. */
#ifndef BRY_TESTS_TABLE_ENTRIES_H
#define BRY_TESTS_TABLE_ENTRIES_H

#include "maplet/table_arena.h"
#include "support/generator.h"

/* No single operation may move more entries than this. */
enum { TABLE_LARGEST_STEP = 8192 };

/* Neighbouring chunks are joined when they fill half a chunk, otherwise memory would not be freed. */
static inline const char *overflow_problem(const bry__overflow *overflow)
{
    const bry__chunk_list *list = overflow->list;
    for (size_t i = 0; list && i < list->chunks; i++)
        if (list->chunk[i]->n == 0 || list->chunk[i]->n > BRY__CHUNK_MAX ||
            (i > 0 && list->chunk[i - 1]->n + list->chunk[i]->n <= BRY__CHUNK_MAX / 2))
            return "a chunk of the overflow is too small or too large";
    return NULL;
}

/* The invariant that a table violates, or NULL. */
static inline const char *table_problem(const bry__table *table)
{
    uint64_t n = bry__overflow_count(&table->overflow);
    for (uint64_t i = 0; i < table->segments; i++) {
        const bry__segment *segment = bry__table_segment(table, i);
        const char *problem =
            bry__segment_check(segment, bry__table_u_most(table, i), bry__table_u_limit(table, i));
        if (problem)
            return problem;
        n += segment->n;
    }
    if (n != table->n)
        return "the table does not count its entries";
    if (table->max_step > TABLE_LARGEST_STEP)
        return "a step moved too many entries";
    const char *problem = bry__table_check_overflow(table);
    if (!problem)
        problem = overflow_problem(&table->overflow);
    return problem ? problem : bry__arena_check(table);
}

/* A checksum over some entries: the sum of these. */
static inline uint64_t entry_sum(uint64_t fingerprint, uint32_t value)
{
    generator mixed = {fingerprint * 31 + value};
    return generator_next(&mixed);
}

static inline uint64_t table_sum(const bry__table *table)
{
    bry__table_cursor cursor = {0};
    uint64_t fingerprint, sum = 0;
    uint32_t value;
    while (bry__table_next(table, &cursor, &fingerprint, &value))
        sum += entry_sum(fingerprint, value);
    return sum;
}

#endif
