/*
 * Taking back insertions for lack of memory, so that a table is saved as if they had never been.
 *
 * Removing the entries is not enough: segments have been split, widened and given more room, and
 * keep that for a while. So the segments that insertions will change are copied before: those that
 * the fingerprints lead to, and those whose turn it is to be split. After a failure the entries are
 * taken out, which puts the overflow right, and the copies put back.
 */
#include "maplet/table.h"

#include <string.h>

static uint64_t bitmap_words(const bry__table *table)
{
    return (table->segments + 63) / 64;
}

/* A bit for each segment that will change. */
static void note_changes(const bry__table *table, const uint64_t *fingerprints, uint64_t n,
                         uint64_t *bits)
{
    uint64_t splits = bry__table_most_splits(table, n);
    uint64_t unsplit = ((uint64_t)1 << table->level) - table->split;
    if (splits > unsplit) { /* the next round of splits begins again with the first */
        memset(bits, 0xff, bitmap_words(table) * sizeof *bits);
        return;
    }
    for (uint64_t i = table->split; i < table->split + splits; i++)
        bits[i / 64] |= (uint64_t)1 << i % 64;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t segment = bry__table_segment_of(table, fingerprints[i]);
        bits[segment / 64] |= (uint64_t)1 << segment % 64;
    }
}

static bry_status keep_segments(bry__table_mark *mark, const bry__table *table,
                                const uint64_t *bits, const bry_allocator *allocator)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < table->segments; i++)
        count += bits[i / 64] >> i % 64 & 1;
    mark->which = bry__alloc(allocator, count * sizeof *mark->which);
    mark->kept = bry__alloc(allocator, count * sizeof *mark->kept);
    mark->n = count; /* segments that are all zeros have nothing to free */
    if (!mark->which || !mark->kept)
        return BRY_E_NOMEM;
    uint64_t at = 0;
    for (uint64_t i = 0; i < table->segments; i++) {
        if (!(bits[i / 64] >> i % 64 & 1))
            continue;
        mark->which[at] = i;
        if (bry__segment_clone(bry__table_segment(table, i), &mark->kept[at++], allocator) !=
            BRY_OK)
            return BRY_E_NOMEM;
    }
    return BRY_OK;
}

bry_status bry__table_mark_make(bry__table_mark *mark, const bry__table *table,
                                const uint64_t *fingerprints, uint64_t n,
                                const bry_allocator *allocator)
{
    size_t size = (size_t)bitmap_words(table) * sizeof(uint64_t);
    uint64_t *bits = bry__alloc(allocator, size);
    if (!bits)
        return BRY_E_NOMEM;
    note_changes(table, fingerprints, n, bits);
    bry__table_mark made = {.before = *table};
    bry_status status = keep_segments(&made, table, bits, allocator);
    bry__free(allocator, bits, size);
    if (status == BRY_OK)
        *mark = made;
    else
        bry__table_mark_free(&made, allocator);
    return status;
}

void bry__table_mark_return(bry__table_mark *mark, bry__table *table, const uint64_t *fingerprints,
                            uint64_t n, uint32_t value, const bry_allocator *allocator)
{
    while (n-- > 0)
        bry__table_take(table, fingerprints[n], value, allocator);
    for (uint64_t i = mark->before.segments; i < table->segments; i++) {
        bry__segment_free(bry__table_segment(table, i), allocator);
        *bry__table_segment(table, i) = (bry__segment){0};
    }
    for (uint64_t i = 0; i < mark->n; i++) {
        bry__segment *segment = bry__table_segment(table, mark->which[i]);
        bry__segment_free(segment, allocator);
        *segment = mark->kept[i];
        mark->kept[i] = (bry__segment){0};
    }
    bry__table after = mark->before;
    after.group = table->group;
    after.groups = table->groups;
    after.group_room = table->group_room;
    after.overflow = table->overflow;
    *table = after;
    bry__table_trim(table, allocator);
    bry__table_mark_free(mark, allocator);
}

void bry__table_mark_free(bry__table_mark *mark, const bry_allocator *allocator)
{
    for (uint64_t i = 0; mark->kept && i < mark->n; i++)
        bry__segment_free(&mark->kept[i], allocator);
    bry__free(allocator, mark->kept, mark->n * sizeof *mark->kept);
    bry__free(allocator, mark->which, mark->n * sizeof *mark->which);
    *mark = (bry__table_mark){0};
}
