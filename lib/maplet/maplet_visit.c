/*
 * A walk that survives changes needs an order of the entries that changes do not disturb. Segments
 * split and fold, so their numbers cannot be used. But segment i of level L has exactly the
 * fingerprints whose last L bits are i. In the order of *reversed* fingerprints, last bit first,
 * it is one interval, and a split cuts the interval in two.
 *
 *     S = 5     segment        0     4        2           1           3
 *               last bits    000   100       10          01          11
 *               reversed    [000   001   01     10          11        …)
 *
 * So the place in a table is a number such that every reversed fingerprint below it has been
 * visited, whatever the segments are now. A step can end between any two entries. The maplet does
 * not store the place, so what is saved does not depend on it.
 *
 * Tables are visited from the newest to the oldest. Folding moves entries only to older tables, so
 * none is missed.
 */
#include "maplet/maplet.h"

#include <stdlib.h>

/* A cursor is the number of the table plus 1, and the place in it: the upper bits of a reversed
 * fingerprint. Fingerprints have at most 62 bits, so few entries share a place, and only if the
 * range is above 2^59. */
enum { PLACE_BITS = 59 };
#define PLACES ((uint64_t)1 << PLACE_BITS)

typedef struct found {
    uint64_t reversed;
    uint32_t value;
} found;

typedef struct visit {
    bry__maplet *maplet;
    const bry__visitor *visitor;
    uint64_t left; /* of the budget */
    found *buffer;
    uint64_t room;
} visit;

static uint64_t reverse_bits(uint64_t x)
{
    x = (x >> 1 & UINT64_C(0x5555555555555555)) | (x & UINT64_C(0x5555555555555555)) << 1;
    x = (x >> 2 & UINT64_C(0x3333333333333333)) | (x & UINT64_C(0x3333333333333333)) << 2;
    x = (x >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (x & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
    return __builtin_bswap64(x);
}

static uint64_t visit_place_of(uint64_t reversed)
{
    return reversed >> (64 - PLACE_BITS);
}

static int compare_found(const void *a, const void *b)
{
    uint64_t x = ((const found *)a)->reversed, y = ((const found *)b)->reversed;
    return (x > y) - (x < y);
}

/*
 * Sorts n entries of a segment, with room for as many after them. Their reversed fingerprints have
 * the first `level` bits in common and are random in the others: by the next bits nearly all are in
 * their place, and an insertion sort does the rest. (Not if many entries have spilled, which may be
 * chosen so that they are not random.)
 */
static void visit_sort(found *entries, uint64_t n, unsigned level)
{
    enum { BUCKET_BITS = 9 };
    uint32_t ends[(1u << BUCKET_BITS) + 1] = {0};
    found *sorted = entries + n;
    if (n > BRY__SEGMENT_MAX) {
        qsort(entries, n, sizeof *entries, compare_found);
        return;
    }
    for (uint64_t e = 0; e < n; e++)
        ends[(entries[e].reversed << level >> (64 - BUCKET_BITS)) + 1]++;
    for (unsigned b = 0; b < 1u << BUCKET_BITS; b++)
        ends[b + 1] += ends[b];
    for (uint64_t e = 0; e < n; e++)
        sorted[ends[entries[e].reversed << level >> (64 - BUCKET_BITS)]++] = entries[e];
    for (uint64_t e = 0; e < n; e++) {
        uint64_t to = e;
        for (; to > 0 && entries[to - 1].reversed > sorted[e].reversed; to--)
            entries[to] = entries[to - 1];
        entries[to] = sorted[e];
    }
}

/* Stores the entries of segment i from this place on in `to`; returns their number. */
static uint64_t visit_gather(const bry__table *table, uint64_t i, uint64_t place, found *to)
{
    const bry__segment *segment = bry__table_segment(table, i);
    unsigned level = bry__table_level(table, i);
    bry__segment_cursor cursor = {0};
    bry__entry entry;
    uint64_t n = 0;
    while (bry__segment_next(segment, bry__table_u_most(table, i), &cursor, &entry)) {
        uint64_t reversed = reverse_bits(entry.u << level | i);
        if (visit_place_of(reversed) < place)
            continue;
        to[n++] = (found){reversed, entry.value};
    }
    bry__overflow_place spilled = {0};
    uint64_t fingerprint;
    uint32_t value;
    while (segment->spilled &&
           bry__overflow_next(&table->overflow, &spilled, &fingerprint, &value)) {
        uint64_t reversed = reverse_bits(fingerprint);
        if (bry__table_segment_of(table, fingerprint) != i || visit_place_of(reversed) < place)
            continue;
        to[n++] = (found){reversed, value};
    }
    return n;
}

/* Makes room for n entries; the contents of the buffer are lost. */
static bool visit_reserve(visit *v, uint64_t n)
{
    const bry_allocator *allocator = &v->maplet->allocator;
    if (v->buffer && n <= v->room)
        return true;
    bry__free(allocator, v->buffer, v->room * sizeof *v->buffer);
    v->room = n < 2UL * BRY__SEGMENT_MAX ? 2UL * BRY__SEGMENT_MAX : n;
    v->buffer = bry__alloc(allocator, v->room * sizeof *v->buffer);
    if (!v->buffer)
        v->room = 0;
    return v->room != 0;
}

static bry_status maplet_visit_entry(const visit *v, bry__table *table, const found *entry)
{
    const bry__visitor *visitor = v->visitor;
    const bry_allocator *allocator = &v->maplet->allocator;
    bry__verdict verdict = BRY__KEEP;
    uint32_t to = entry->value;
    bry_status status = visitor->judge(visitor->context, entry->value, &verdict, &to);
    if (status == BRY_OK && verdict == BRY__CHANGE)
        status =
            bry__table_replace(table, reverse_bits(entry->reversed), entry->value, to, allocator);
    if (status != BRY_OK || verdict == BRY__KEEP)
        return status;
    if (verdict == BRY__DROP)
        bry__table_del(table, reverse_bits(entry->reversed), entry->value, allocator);
    visitor->done(visitor->context, entry->value, verdict, to);
    return BRY_OK;
}

/* Visits the rest of the segment at *place, and moves *place on. */
static bry_status maplet_visit_segment(visit *v, bry__table *table, uint64_t *place)
{
    uint64_t i = bry__table_segment_of(table, reverse_bits(*place << (64 - PLACE_BITS)));
    uint64_t end = visit_place_of(reverse_bits(i)) + (PLACES >> bry__table_level(table, i));
    const bry__segment *segment = bry__table_segment(table, i);
    uint64_t spilled = segment->spilled ? bry__overflow_count(&table->overflow) : 0;
    if (!visit_reserve(v, 2 * (segment->n + spilled)))
        return BRY_E_NOMEM;
    uint64_t n = visit_gather(table, i, *place, v->buffer);
    if (n > 1)
        visit_sort(v->buffer, n, bry__table_level(table, i));
    v->left -= v->left > 0; /* empty segments take time too */
    for (uint64_t e = 0; e < n; e++) {
        uint64_t here = visit_place_of(v->buffer[e].reversed);
        if (here > *place && v->left == 0) {
            *place = here;
            return BRY_OK;
        }
        *place = here;
        bry_status status = maplet_visit_entry(v, table, &v->buffer[e]);
        if (status != BRY_OK)
            return status;
        v->left -= v->left > 0;
    }
    *place = end;
    return BRY_OK;
}

bry_status bry__maplet_visit(bry__maplet *maplet, const bry__visitor *visitor, uint64_t budget,
                             uint64_t *cursor)
{
    visit v = {.maplet = maplet, .visitor = visitor, .left = budget ? budget : 1};
    uint64_t tables = *cursor >> PLACE_BITS, place = *cursor & (PLACES - 1);
    if (tables == 0 && place != 0)
        return BRY_E_RANGE;
    if (tables == 0 || tables > maplet->tables) { /* the beginning, or the table was closed */
        tables = maplet->tables;
        place = 0;
    }
    bry_status status = BRY_OK;
    while (tables > 0 && v.left > 0 && status == BRY_OK) {
        status = maplet_visit_segment(&v, &maplet->table[tables - 1], &place);
        if (place == PLACES) {
            tables--;
            place = 0;
        }
    }
    bry__free(&maplet->allocator, v.buffer, v.room * sizeof *v.buffer);
    *cursor = tables << PLACE_BITS | place;
    return status;
}
