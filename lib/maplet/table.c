/*
 * Segments under linear hashing.
 *
 * With S segments, L = floor(log2 S) and p = S - 2^L, fingerprint f belongs to segment
 *
 *      i = f mod 2^L,   or, where i < p,   i = f mod 2^(L+1)
 *
 * and is stored there as u = f >> L (or L+1): i and u give the whole fingerprint. When there are
 * too many entries, segment p is split in two by one more bit of the fingerprint: half of its
 * entries go to the new segment S. The order is kept, so a split is one walk. When there are too
 * few entries, the last segment is folded back. So the table grows and shrinks by one small
 * segment at a time, memory follows the entries closely, and no operation moves more than a few
 * segments.
 *
 *   S = 5:   segment   0     1     2     3     4           L = 2, p = 1
 *            f mod 4         1     2     3
 *            f mod 8   0                       4
 *
 * The records of the segments are in the directory (table_directory.c).
 *
 * A segment holds the BRY__CROWD smallest values of a fingerprint, the overflow list the others.
 * So a look-up reads the overflow only if the segment has a full crowd or is marked as spilled. A
 * segment spills if the hashes are so uneven that it reaches BRY__SEGMENT_MAX entries.
 */
#include "maplet/table.h"

#include "common/attributes.h"
#include "maplet/table_arena.h"

#include <assert.h>

/* Entries per segment. More would need fewer bits, but an insertion would move more of them. */
#define TARGET 384u
#define MIN_U_MOST 511u /* a segment is not split if its largest u would be less */

static void table_set_segments(bry__table *table, uint64_t segments)
{
    assert(segments >= 1);
    table->segments = segments;
    table->level = (uint8_t)(63 - __builtin_clzll(segments));
}

/* Number of entries in segments. */
static uint64_t table_in_segments(const bry__table *table)
{
    return table->n - bry__overflow_count(&table->overflow);
}

uint64_t bry__table_segment_of(const bry__table *table, uint64_t fingerprint)
{
    return bry__table_spot(table, fingerprint).i;
}

uint64_t bry__table_segments_for(uint64_t range, uint64_t n)
{
    uint64_t segments = n > TARGET ? (n + TARGET - 1) / TARGET : 1, most = 1;
    while (most < segments && (range - 1) / most / 2 >= MIN_U_MOST)
        most *= 2;
    return segments < most ? segments : most;
}

uint64_t bry__table_u_limit(const bry__table *table, uint64_t i)
{
    return (table->range - 1 - i) >> bry__table_level(table, i);
}

/* ---- whole tables ---------------------------------------------------------------------------- */

bool bry__table_open(bry__table *table, uint64_t range, unsigned value_bits, uint64_t segments)
{
    *table = (bry__table){.range = range, .value_bits = (uint8_t)value_bits};
    if (segments < 1 || segments > range)
        return false;
    table_set_segments(table, segments);
    return bry__table_u_of(table, bry__table_split(table) > 0) >= MIN_U_MOST;
}

bry_status bry__table_init(bry__table *table, uint64_t range, unsigned value_bits,
                           const bry_allocator *allocator)
{
    bry__table made;
    bry__table_open(&made, range, value_bits, 1);
    bry_status status = bry__table_reach(&made, 0, allocator);
    if (status == BRY_OK)
        *table = made;
    else
        bry__table_free(&made, allocator);
    return status;
}

uint64_t bry__table_plan_bytes(uint64_t range, unsigned value_bits, uint64_t n)
{
    bry__table grown = {.range = range};
    table_set_segments(&grown, n > TARGET ? (n + TARGET - 1) / TARGET : 1);
    double whole = (double)((uint64_t)1 << grown.level), split = (double)bry__table_split(&grown);
    double unsplit_bytes =
        bry__segment_plan_bytes((double)n / whole, bry__table_u_of(&grown, 0), value_bits);
    double split_bytes =
        bry__segment_plan_bytes((double)n / whole / 2, bry__table_u_of(&grown, 1), value_bits);
    double blocks = (whole - split) * unsplit_bytes + 2 * split * split_bytes;
    return bry__table_directory_bytes(grown.segments) + bry__arena_plan(blocks, grown.segments);
}

/* ---- splitting and folding ----------------------------------------------------------------- */

void bry__table_count_step(bry__table *table, uint64_t moved)
{
    if (moved > table->max_step)
        table->max_step = (uint16_t)(moved < UINT16_MAX ? moved : UINT16_MAX);
}

/* If bry__table_reclaim() has passed segment i, it must return to it. */
static void table_sweep_again(bry__table *table, uint64_t i)
{
    if (i < table->sweep)
        table->sweep = i;
}

/* Splits the next segment. BRY_E_NOMEM: nothing has changed. */
static bry_status table_split(bry__table *table, uint64_t *moved, const bry_allocator *allocator)
{
    uint64_t low = bry__table_split(table), high = table->segments;
    bry_status status = bry__table_reach(table, high, allocator);
    if (status != BRY_OK)
        return status;
    bry__segment *source = bry__table_segment(table, low), *made = bry__table_segment(table, high);
    bry__home home[2] = {{allocator, table, low}, {allocator, table, high}};
    unsigned before = source->n;
    status = bry__segment_split(source, bry__table_u_of(table, 0), made, table->value_bits, home);
    if (status != BRY_OK) {
        bry__table_trim(table, allocator);
        return status;
    }
    made->spilled = source->spilled;
    *moved += before;
    table_set_segments(table, high + 1);
    return BRY_OK;
}

/* Folds the last segment back into the one it was split from. Nothing changes on failure. */
static bry_status table_fold(bry__table *table, const bry_allocator *allocator)
{
    uint64_t high = table->segments - 1;
    bry__table after = *table;
    table_set_segments(&after, high);
    uint64_t low = bry__table_split(&after);
    bry__segment *a = bry__table_segment(table, low), *b = bry__table_segment(table, high);
    unsigned n = (unsigned)a->n + b->n;
    if (n > BRY__SEGMENT_MAX)
        return BRY_E_FULL;
    bry_status status = bry__segment_join(a, b, bry__table_u_of(&after, 0), table->value_bits,
                                          &(bry__home){allocator, table, low});
    if (status != BRY_OK)
        return status;
    a->spilled |= b->spilled;
    bry__block_free(&(bry__home){allocator, table, high}, b);
    *b = (bry__segment){0};
    if (table->sweep <= high)
        table_sweep_again(table, low);
    table_set_segments(table, high);
    bry__table_trim(table, allocator);
    bry__table_count_step(table, n);
    return BRY_OK;
}

/* After an insertion, one split is enough; a second one catches up if memory was short before.
 * Being short of memory now is not an error: segments are a little fuller meanwhile. */
static uint64_t table_grow(bry__table *table, const bry_allocator *allocator)
{
    uint64_t moved = 0;
    for (unsigned i = 0; i < 2; i++) {
        if (table_in_segments(table) <= TARGET * table->segments ||
            bry__table_u_of(table, 1) < MIN_U_MOST ||
            table_split(table, &moved, allocator) != BRY_OK)
            break;
    }
    return moved;
}

bool bry__table_shrink(bry__table *table, const bry_allocator *allocator)
{
    bool folded = table->segments > 1 &&
                  table_in_segments(table) < TARGET * 3 / 4 * (table->segments - 1) &&
                  table_fold(table, allocator) == BRY_OK;
    bool compacted = bry__arena_compact(table, allocator);
    return folded || compacted;
}

uint64_t bry__table_excess(const bry__table *table)
{
    uint64_t needed = bry__table_segments_for(table->range, table_in_segments(table));
    return table->segments > needed ? table->segments - needed : 0;
}

bool bry__table_settle(bry__table *table, const bry_allocator *allocator)
{
    return bry__table_excess(table) > 0 && table_fold(table, allocator) == BRY_OK;
}

/* ---- looking up ---------------------------------------------------------------------------- */

/* True if the overflow may have entries of a fingerprint with `count` entries in the segment. */
static bool table_may_overflow(const bry__table *table, const bry__segment *segment, unsigned count)
{
    return bry__overflow_count(&table->overflow) > 0 && (count >= BRY__CROWD || segment->spilled);
}

/* The smallest value of a fingerprint whose segment has spilled; if `found`, *value is the smallest
 * in the segment. */
static BRY__COLD bool table_get_beyond(const bry__table *table, uint64_t fingerprint, bool found,
                                       uint32_t *value)
{
    bry__overflow_place place = bry__overflow_find(&table->overflow, fingerprint, 0);
    uint64_t f;
    uint32_t v;
    if (!bry__overflow_next(&table->overflow, &place, &f, &v) || f != fingerprint)
        return found;
    if (!found || v < *value)
        *value = v;
    return true;
}

/* bry__table_get() for a segment that has spilled. */
static BRY__COLD bool table_get_spilled(const bry__table *table, uint64_t fingerprint, bry__spot at,
                                        uint32_t *value)
{
    bool found = bry__segment_get(bry__table_segment(table, at.i), at.u_most, at.u, value);
    return table_get_beyond(table, fingerprint, found, value);
}

bool bry__table_get(const bry__table *table, uint64_t fingerprint, uint32_t *value)
{
    bry__spot at = bry__table_spot(table, fingerprint);
    const bry__segment *segment = bry__table_segment(table, at.i);
    if (segment->spilled && bry__overflow_count(&table->overflow) > 0)
        return table_get_spilled(table, fingerprint, at, value);
    return bry__segment_get(segment, at.u_most, at.u, value);
}

/* Finds the segment of each fingerprint and prefetches its record. */
static void table_query_n(const bry__table *table, const uint64_t *fingerprints, size_t n,
                          bry__query *queries)
{
    for (size_t i = 0; i < n; i++) {
        bry__spot at = bry__table_spot(table, fingerprints[i]);
        queries[i] = (bry__query){bry__table_segment(table, at.i), at.u_most, at.u};
        __builtin_prefetch(queries[i].segment);
    }
}

void bry__table_get_n(const bry__table *table, const uint64_t *fingerprints, size_t n,
                      uint32_t *values, uint8_t *answers)
{
    bry__query queries[BRY__TABLE_BATCH];
    if (n == 0)
        return;
    table_query_n(table, fingerprints, n, queries);
    if (bry__overflow_count(&table->overflow) == 0) {
        bry__segment_get_n(queries, n, values, answers);
        return;
    }
    bry__segment_prefetch_n(queries, n);
    for (size_t i = 0; i < n; i++)
        if (!answers[i])
            answers[i] = bry__table_get(table, fingerprints[i], &values[i]);
}

void bry__table_fetch_record(const bry__table *table, uint64_t fingerprint)
{
    __builtin_prefetch(bry__table_segment(table, bry__table_segment_of(table, fingerprint)));
    BRY__PREFETCHES();
}

void bry__table_prefetch(const bry__table *table, uint64_t fingerprint)
{
    bry__spot at = bry__table_spot(table, fingerprint);
    bry__segment_prefetch(bry__table_segment(table, at.i), at.u_most, at.u);
}

void bry__table_prefetch_n(const bry__table *table, const uint64_t *fingerprints, size_t n,
                           bool moving)
{
    bry__query queries[BRY__TABLE_BATCH];
    if (n == 0)
        return;
    table_query_n(table, fingerprints, n, queries);
    if (!moving)
        bry__segment_prefetch_n(queries, n);
    else
        for (size_t i = 0; i < n; i++)
            bry__segment_prefetch_change(queries[i].segment, queries[i].u_most, queries[i].u);
}

/* Finds (fingerprint, value) in the overflow; false if it is not there. */
static bool table_find_overflow(const bry__table *table, uint64_t fingerprint, uint32_t value,
                                bry__overflow_place *place)
{
    *place = bry__overflow_find(&table->overflow, fingerprint, value);
    bry__overflow_place next = *place;
    uint64_t f;
    uint32_t v;
    return bry__overflow_next(&table->overflow, &next, &f, &v) && f == fingerprint && v == value;
}

bool bry__table_has_entry(const bry__table *table, uint64_t fingerprint, uint32_t value)
{
    bry__spot at = bry__table_spot(table, fingerprint);
    const bry__segment *segment = bry__table_segment(table, at.i);
    bry__place place = bry__segment_find(segment, at.u_most, at.u, value);
    bry__overflow_place beyond;
    return (place.count > 0 && place.value == value) ||
           table_find_overflow(table, fingerprint, value, &beyond);
}

/* Searches the segment of the fingerprint. */
static void table_locate(const bry__table *table, uint64_t fingerprint, bool moving,
                         bry__table_place *at)
{
    bry__spot spot = bry__table_spot(table, fingerprint);
    bry__segment *segment = bry__table_segment(table, spot.i);
    at->fingerprint = fingerprint;
    at->segment = segment;
    at->i = spot.i;
    at->u = spot.u;
    at->u_most = spot.u_most;
    at->first = bry__segment_seek(segment, spot.u_most, spot.u, moving);
}

bool bry__table_find(const bry__table *table, uint64_t fingerprint, bool moving,
                     bry__table_place *place, uint32_t *value)
{
    table_locate(table, fingerprint, moving, place);
    bool found = place->first.count > 0;
    if (found)
        *value = place->first.value;
    if (place->segment->spilled && bry__overflow_count(&table->overflow) > 0)
        found = table_get_beyond(table, fingerprint, found, value);
    return found;
}

/* Lists values from `from` on; stores up to `room` of them and counts up to `most`. */
static uint64_t table_list_values(const bry__table *table, uint64_t fingerprint, uint32_t from,
                                  uint32_t *values, uint64_t room, uint64_t most)
{
    bry__spot at = bry__table_spot(table, fingerprint);
    const bry__segment *segment = bry__table_segment(table, at.i);
    bry__place place = bry__segment_find(segment, at.u_most, at.u, from);
    unsigned count = place.count;
    uint64_t total = 0, f = 0;
    uint32_t v = 0;
    bry__overflow_place beyond = {0};
    bool more = false;
    if (table_may_overflow(table, segment, from == 0 ? count : BRY__CROWD)) {
        beyond = bry__overflow_find(&table->overflow, fingerprint, from);
        more = bry__overflow_next(&table->overflow, &beyond, &f, &v) && f == fingerprint;
    }
    for (unsigned i = 0; (i < count || more) && total < most; total++) {
        uint32_t in_segment = i < count ? bry__segment_value(segment, place.index + i) : 0;
        bool from_segment = i < count && (!more || in_segment <= v);
        if (total < room)
            values[total] = from_segment ? in_segment : v;
        if (from_segment)
            i++;
        else
            more = bry__overflow_next(&table->overflow, &beyond, &f, &v) && f == fingerprint;
    }
    return total;
}

uint64_t bry__table_get_all(const bry__table *table, uint64_t fingerprint, uint32_t *values,
                            uint64_t room)
{
    return table_list_values(table, fingerprint, 0, values, room, UINT64_MAX);
}

uint64_t bry__table_get_from(const bry__table *table, uint64_t fingerprint, uint32_t from,
                             uint32_t *values, uint64_t room)
{
    return table_list_values(table, fingerprint, from, values, room, room + 1);
}

/* ---- changing ------------------------------------------------------------------------------ */

bry__swapped bry__table_swap(bry__table *table, uint64_t fingerprint, uint32_t to, uint32_t *from)
{
    bry__spot at = bry__table_spot(table, fingerprint);
    bry__segment *segment = bry__table_segment(table, at.i);
    return bry__overflow_count(&table->overflow) > 0
               ? BRY__SWAP_HARD
               : bry__segment_swap(segment, at.u_most, at.u, to, from);
}

/* Inserts `value` into the sorted values of a full crowd in place of the largest. */
static void table_replace_largest(bry__segment *segment, unsigned index, uint32_t value)
{
    unsigned i = index + BRY__CROWD - 1;
    for (; i > index; i--) {
        uint32_t before = bry__segment_value(segment, i - 1);
        if (before <= value)
            break;
        bry__segment_set_value(segment, i, before);
    }
    bry__segment_set_value(segment, i, value);
}

static bry_status table_widen_segment(bry__table *table, uint64_t number, bry__segment *segment,
                                      uint64_t u_most, const bry_allocator *allocator)
{
    return bry__segment_rewrite(segment, u_most, NULL, table->value_bits,
                                &(bry__home){allocator, table, number});
}

bry_status bry__table_add_at(bry__table *table, const bry__table_place *at, uint32_t value,
                             const bry_allocator *allocator)
{
    bry__segment *segment = at->segment;
    bry__place place = at->first;
    bry_status status = BRY_OK;
    uint64_t moved = 0;
    if (at->first.count >= BRY__CROWD) {
        if (!bry__segment_fits(segment, value))
            status = table_widen_segment(table, at->i, segment, at->u_most, allocator);
        if (status != BRY_OK)
            return status;
        uint32_t largest = bry__segment_value(segment, place.index + BRY__CROWD - 1);
        status = bry__overflow_insert(&table->overflow, at->fingerprint,
                                      value < largest ? largest : value, allocator);
        if (status == BRY_OK && value < largest)
            table_replace_largest(segment, place.index, value);
    } else if (segment->n >= BRY__SEGMENT_MAX) {
        status = bry__overflow_insert(&table->overflow, at->fingerprint, value, allocator);
        if (status == BRY_OK)
            segment->spilled = 1;
    } else {
        for (unsigned i = 0; i < at->first.count; i++) { /* after the smaller values */
            if (bry__segment_value(segment, place.index) >= value)
                break;
            place.index++;
            place.bit++;
        }
        moved = segment->n - place.index;
        status = bry__segment_insert(segment, at->u_most, place, (bry__entry){at->u, value},
                                     table->value_bits, &(bry__home){allocator, table, at->i});
    }
    if (status != BRY_OK)
        return status;
    table->n++;
    bry__table_count_step(table, moved + table_grow(table, allocator));
    return BRY_OK;
}

bry_status bry__table_add(bry__table *table, uint64_t fingerprint, uint32_t value,
                          const bry_allocator *allocator)
{
    bry__table_place at;
    table_locate(table, fingerprint, true, &at);
    return bry__table_add_at(table, &at, value, allocator);
}

/* Removes the entry at `index` of the segment; the smallest one of its fingerprint in the overflow
 * replaces it. */
static void table_remove_from_segment(bry__table *table, const bry__table_place *at, unsigned index,
                                      const bry_allocator *allocator)
{
    bry__segment *segment = at->segment;
    bry__place place = at->first;
    if (bry__overflow_count(&table->overflow) > 0 && at->first.count >= BRY__CROWD) {
        bry__overflow_place smallest = bry__overflow_find(&table->overflow, at->fingerprint, 0);
        bry__overflow_place next = smallest;
        uint64_t f;
        uint32_t v;
        if (bry__overflow_next(&table->overflow, &next, &f, &v) && f == at->fingerprint &&
            bry__segment_fits(segment, v)) {
            unsigned last = place.index + BRY__CROWD - 1;
            for (unsigned i = index; i < last; i++)
                bry__segment_set_value(segment, i, bry__segment_value(segment, i + 1));
            table_replace_largest(segment, place.index, v);
            bry__overflow_remove(&table->overflow, smallest, allocator);
            table_sweep_again(table, at->i);
            return;
        }
    }
    bry__table_count_step(table, segment->n - index);
    place.bit += index - place.index;
    place.index = index;
    bry__segment_remove(segment, at->u_most, place, at->u, &(bry__home){allocator, table, at->i});
}

static bool table_take_at(bry__table *table, const bry__table_place *at, uint32_t value,
                          const bry_allocator *allocator)
{
    unsigned index = at->first.index, end = index + at->first.count;
    for (uint32_t here = at->first.value; index < end && here != value;)
        here = ++index < end ? bry__segment_value(at->segment, index) : 0;
    if (index < end) {
        table_remove_from_segment(table, at, index, allocator);
    } else {
        bry__overflow_place there;
        if (!table_find_overflow(table, at->fingerprint, value, &there))
            return false;
        bry__overflow_remove(&table->overflow, there, allocator);
    }
    table->n--;
    return true;
}

bool bry__table_take(bry__table *table, uint64_t fingerprint, uint32_t value,
                     const bry_allocator *allocator)
{
    bry__table_place at;
    table_locate(table, fingerprint, true, &at);
    return table_take_at(table, &at, value, allocator);
}

bool bry__table_del_at(bry__table *table, const bry__table_place *at, uint32_t value,
                       const bry_allocator *allocator)
{
    bool removed = table_take_at(table, at, value, allocator);
    if (removed)
        bry__table_shrink(table, allocator);
    return removed;
}

bool bry__table_del(bry__table *table, uint64_t fingerprint, uint32_t value,
                    const bry_allocator *allocator)
{
    bry__table_place at;
    table_locate(table, fingerprint, true, &at);
    return bry__table_del_at(table, &at, value, allocator);
}

/* bry__table_replace_at() in place, if the segment has spilled and the fingerprint has one entry;
 * else false. */
static bool table_replace_spilled(bry__table *table, const bry__table_place *at, uint32_t to)
{
    if (!table_may_overflow(table, at->segment, at->first.count))
        return false;
    bry__overflow_place first = bry__overflow_find(&table->overflow, at->fingerprint, 0);
    unsigned beyond = 0;
    uint64_t f;
    uint32_t v;
    for (bry__overflow_place next = first;
         beyond < 2 && bry__overflow_next(&table->overflow, &next, &f, &v) && f == at->fingerprint;)
        beyond++;
    if (at->first.count == 1 && beyond == 0 && bry__segment_fits(at->segment, to))
        bry__segment_set_value(at->segment, at->first.index, to);
    else if (at->first.count == 0 && beyond == 1)
        bry__overflow_set(&table->overflow, first, to);
    else
        return false;
    return true;
}

bry_status bry__table_replace_at(bry__table *table, const bry__table_place *at, uint32_t from,
                                 uint32_t to, const bry_allocator *allocator)
{
    if (bry__table_is_single(table, at) && bry__segment_fits(at->segment, to)) {
        bry__segment_set_value(at->segment, at->first.index, to);
        return BRY_OK;
    }
    if (table_replace_spilled(table, at, to))
        return BRY_OK;
    bry_status status = bry__table_add_at(table, at, to, allocator);
    if (status == BRY_OK)
        bry__table_del(table, at->fingerprint, from, allocator);
    return status;
}

bry_status bry__table_replace(bry__table *table, uint64_t fingerprint, uint32_t from, uint32_t to,
                              const bry_allocator *allocator)
{
    bry__table_place at;
    table_locate(table, fingerprint, false, &at);
    return bry__table_replace_at(table, &at, from, to, allocator);
}

/* ---- checking ------------------------------------------------------------------------------ */

const char *bry__table_check_overflow(const bry__table *table)
{
    bry__overflow_place place = {0};
    uint64_t fingerprint, last = 0;
    uint32_t value, last_value = 0;
    while (bry__overflow_next(&table->overflow, &place, &fingerprint, &value)) {
        if (fingerprint >= table->range || (uint64_t)value >> table->value_bits)
            return "an overflow entry is out of range";
        if (fingerprint < last || (fingerprint == last && value < last_value))
            return "the overflow is out of order";
        bry__spot at = bry__table_spot(table, fingerprint);
        const bry__segment *segment = bry__table_segment(table, at.i);
        bry__place first = bry__segment_find(segment, at.u_most, at.u, 0);
        unsigned count = first.count;
        if (!segment->spilled && (count != BRY__CROWD || !bry__segment_fits(segment, value) ||
                                  bry__segment_value(segment, first.index + count - 1) > value))
            return "an overflow entry cannot be found";
        last = fingerprint;
        last_value = value;
    }
    return NULL;
}
