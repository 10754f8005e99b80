/*
 * Groups of entries with the same last bits of their fingerprints. Linear hashing puts them into
 * the same segments: each group has one or several, if there are enough segments.
 */
#include "maplet/table.h"

static bool groups_include(const bry__groups *groups, uint64_t fingerprint)
{
    uint64_t group = fingerprint & (((uint64_t)1 << groups->bits) - 1);
    return group >= groups->first && group < groups->end;
}

/* True if every segment belongs to one group. */
static bool groups_have_small_segments(const bry__table *table, const bry__groups *groups)
{
    return table->level >= groups->bits;
}

/* The first segment from i on that may have entries in these groups. */
static uint64_t groups_next_segment(const bry__table *table, const bry__groups *groups, uint64_t i)
{
    uint64_t all = (uint64_t)1 << groups->bits, group = i & (all - 1);
    if (!groups_have_small_segments(table, groups) ||
        (group >= groups->first && group < groups->end))
        return i;
    return i - group + groups->first + (group < groups->first ? 0 : all);
}

static bool groups_have_kept(const bry__table *table, const bry__groups *groups, uint64_t i,
                             bry__drop *drop, void *context)
{
    bry__segment_cursor cursor = {0};
    bry__entry entry;
    while (bry__segment_next(bry__table_segment(table, i), bry__table_u_most(table, i), &cursor,
                             &entry)) {
        uint64_t fingerprint = entry.u << bry__table_level(table, i) | i;
        if (groups_include(groups, fingerprint) && !drop(context, fingerprint, entry.value))
            return true;
    }
    return false;
}

uint64_t bry__table_first_group(const bry__table *table, unsigned bits, bry__drop *drop,
                                void *context)
{
    uint64_t all = (uint64_t)1 << bits, first = all, fingerprint;
    uint32_t value;
    bry__overflow_place place = {0};
    while (bry__overflow_next(&table->overflow, &place, &fingerprint, &value))
        if ((fingerprint & (all - 1)) < first && !drop(context, fingerprint, value))
            first = fingerprint & (all - 1);
    for (bry__groups one = {bits, 0, 1}; one.first < first; one.first++, one.end++)
        for (uint64_t i = groups_next_segment(table, &one, 0); i < table->segments;
             i = groups_next_segment(table, &one, i + 1))
            if (groups_have_kept(table, &one, i, drop, context))
                return one.first;
    return first;
}

static void groups_take(bry__table_entry *to, uint64_t *n, uint64_t fingerprint, uint32_t value)
{
    if (to)
        to[*n] = (bry__table_entry){fingerprint, value};
    ++*n;
}

uint64_t bry__table_gather(const bry__table *table, const bry__groups *groups, bry__drop *drop,
                           void *context, bry__table_entry *to)
{
    uint64_t n = 0, fingerprint;
    uint32_t value;
    for (uint64_t i = groups_next_segment(table, groups, 0); i < table->segments;
         i = groups_next_segment(table, groups, i + 1)) {
        const bry__segment *segment = bry__table_segment(table, i);
        bry__segment_cursor cursor = {0};
        bry__entry entry;
        while (bry__segment_next(segment, bry__table_u_most(table, i), &cursor, &entry)) {
            fingerprint = entry.u << bry__table_level(table, i) | i;
            if (groups_include(groups, fingerprint) && !drop(context, fingerprint, entry.value))
                groups_take(to, &n, fingerprint, entry.value);
        }
    }
    bry__overflow_place place = {0};
    while (bry__overflow_next(&table->overflow, &place, &fingerprint, &value))
        if (groups_include(groups, fingerprint) && !drop(context, fingerprint, value))
            groups_take(to, &n, fingerprint, value);
    return n;
}

static void groups_clear_segment(bry__table *table, uint64_t i, bry__gone *gone, void *context,
                                 const bry_allocator *allocator)
{
    bry__segment *segment = bry__table_segment(table, i);
    bry__segment_cursor cursor = {0};
    bry__entry entry;
    while (bry__segment_next(segment, bry__table_u_most(table, i), &cursor, &entry))
        gone(context, entry.u << bry__table_level(table, i) | i, entry.value);
    table->n -= segment->n;
    bry__block_free(&(bry__home){allocator, table, i}, segment);
    *segment = (bry__segment){0};
}

static void groups_clear_overflow(bry__table *table, const bry__groups *groups, bry__gone *gone,
                                  void *context, const bry_allocator *allocator)
{
    uint64_t fingerprint = 0;
    uint32_t value = 0;
    for (;;) {
        bry__overflow_place place = bry__overflow_find(&table->overflow, fingerprint, value);
        bry__overflow_place next = place;
        while (bry__overflow_next(&table->overflow, &next, &fingerprint, &value) &&
               !groups_include(groups, fingerprint))
            place = next;
        bry__overflow_place same = place;
        if (!bry__overflow_next(&table->overflow, &same, &fingerprint, &value))
            return;
        bry__overflow_remove(&table->overflow, place, allocator);
        table->n--;
        gone(context, fingerprint, value);
    }
}

void bry__table_clear_groups(bry__table *table, const bry__groups *groups,
                             const bry__table_entry *entries, uint64_t n, bry__gone *gone,
                             void *context, const bry_allocator *allocator)
{
    if (groups_have_small_segments(table, groups)) {
        groups_clear_overflow(table, groups, gone, context, allocator);
        for (uint64_t i = groups_next_segment(table, groups, 0); i < table->segments;
             i = groups_next_segment(table, groups, i + 1))
            groups_clear_segment(table, i, gone, context, allocator);
    } else {
        for (uint64_t i = 0; i < n; i++) {
            bry__table_take(table, entries[i].fingerprint, entries[i].value, allocator);
            gone(context, entries[i].fingerprint, entries[i].value);
        }
    }
    while (bry__table_shrink(table, allocator))
        ;
}
