/*
 * Merges two tables into a new one. Every segment of the two is read once, and every new one is
 * written once, which takes about 15 ns per entry of the new table.
 *
 * The new segments are built in an order in which all that get entries from the same old segment
 * are consecutive: for each segment number at the level of the smaller table, those whose numbers
 * end with its bits.
 *
 * If a source has an overflow (rare: hashes that are not uniform, or crowds), the tables are merged
 * entry by entry instead.
 */
#include "maplet/table_build.h"

/* Larger than any u: marks the end of a list of entries, so that merging needs no counters. */
#define END UINT64_MAX

/* ---- sources ------------------------------------------------------------------------------- */

typedef struct source {
    const bry__table *table;
    const uint32_t *value; /* as in the calls; NULL: values do not change */
    bry__adapt *adapt;
    void *context;
    uint64_t number; /* the segment whose entries are in `entries` */
    bry__entry *entries;
    size_t n; /* number of entries; values are those of the new table */
    bry__entry *selected; /* those for one new segment */
} source;

/* UINT64_MAX: no segment is read yet. */
static source unite_open(const bry__table *table, const bry__unite_calls *calls, unsigned side,
                         bry__entry *room)
{
    return (source){.table = table,
                    .value = calls->value[side],
                    .adapt = calls->adapt[side],
                    .context = calls->context,
                    .number = UINT64_MAX,
                    .entries = room,
                    .selected = room + BRY__SEGMENT_MAX + 1};
}

/* Replaces the values of entries and drops those that are not kept; returns their number. */
static size_t unite_map_values(bry__entry *entries, size_t n, const uint32_t *value)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        entries[kept] = (bry__entry){entries[i].u, value[entries[i].value]};
        kept += entries[kept].value != BRY__NOT_KEPT;
    }
    return kept;
}

static void unite_read(source *from, uint64_t number)
{
    const bry__segment *segment = bry__table_segment(from->table, number);
    from->number = number;
    from->n = segment->n;
    bry__segment_read(segment, bry__table_u_most(from->table, number), from->entries);
    if (from->value)
        from->n = unite_map_values(from->entries, from->n, from->value);
}

static size_t unite_adapt(const source *from, bry__entry *entries, size_t n, unsigned level,
                          uint64_t i)
{
    uint64_t fingerprints[BRY__TABLE_BATCH];
    uint32_t values[BRY__TABLE_BATCH];
    bool keep[BRY__TABLE_BATCH];
    size_t kept = 0;
    for (size_t done = 0, count; done < n; done += count) {
        count = n - done < BRY__TABLE_BATCH ? n - done : BRY__TABLE_BATCH;
        for (size_t j = 0; j < count; j++) {
            fingerprints[j] = entries[done + j].u << level | i;
            values[j] = entries[done + j].value;
            keep[j] = true;
        }
        from->adapt(from->context, fingerprints, values, keep, count);
        for (size_t j = 0; j < count; j++) {
            entries[kept] = (bry__entry){entries[done + j].u, values[j]};
            kept += keep[j];
        }
    }
    return kept;
}

/* The entries for segment i of the new table, *n of them, followed by END. */
static bry__entry *unite_select(source *from, const bry__table *made, uint64_t i, size_t *n)
{
    uint64_t number = bry__table_segment_of(from->table, i); /* i as a fingerprint */
    unsigned level = bry__table_level(from->table, number), new_level = bry__table_level(made, i);
    if (number != from->number)
        unite_read(from, number);
    bry__entry *selected = from->entries;
    *n = from->n;
    if (new_level > level) {
        selected = from->selected;
        *n = bry__pick_bits(from->entries, from->n, new_level - level, i >> level, selected);
    }
    if (from->adapt)
        *n = unite_adapt(from, selected, *n, new_level, i);
    selected[*n].u = END;
    return selected;
}

/* ---- segments ------------------------------------------------------------------------------ */

typedef struct unite {
    bry__build build;
    source a, b;
    bry__merge_mode mode;
    const bry__unite_calls *calls;
} unite;

/* Merges all entries with a u that both have. Returns the place for the next entry. */
static bry__entry *unite_equal(const unite *both, const bry__entry **a, const bry__entry **b,
                               bry__entry *to)
{
    uint64_t u = (*a)->u;
    bool take_a = both->mode != BRY__MERGE_REPLACE, take_b = both->mode != BRY__MERGE_KEEP;
    if (both->mode == BRY__MERGE_PICK) {
        take_b = both->calls->pick(both->calls->context, (*a)->value, (*b)->value);
        take_a = !take_b;
    }
    while ((*a)->u == u || (*b)->u == u) {
        bool from_a = bry__entry_before(**a, **b);
        const bry__entry **from = from_a ? a : b;
        if (from_a ? take_a : take_b)
            *to++ = **from;
        ++*from;
    }
    return to;
}

/* Which of the two comes first cannot be predicted, so there is no branch for it. */
static void unite_entries(unite *both, const bry__entry *a, const bry__entry *b)
{
    bry__entry *to = both->build.entries;
    for (;;) {
        while (a->u != b->u) {
            size_t in_b = b->u < a->u;
            const bry__entry *from = in_b ? b : a;
            *to++ = *from;
            b += in_b;
            a += 1 - in_b;
        }
        if (a->u == END)
            break;
        to = unite_equal(both, &a, &b, to);
    }
    both->build.n = (size_t)(to - both->build.entries);
}

static bry_status unite_segment(unite *both, uint64_t i)
{
    size_t in_a, in_b;
    const bry__entry *a = unite_select(&both->a, both->build.made, i, &in_a);
    const bry__entry *b = unite_select(&both->b, both->build.made, i, &in_b);
    bry_status status = bry__build_reserve(&both->build, in_a + in_b);
    if (status != BRY_OK)
        return status;
    unite_entries(both, a, b);
    return bry__build_segment(&both->build, i);
}

/* Builds all segments whose numbers end with the `level` bits of i. */
static bry_status unite_under(unite *both, uint64_t i, unsigned level)
{
    if (level == bry__table_level(both->build.made, i))
        return unite_segment(both, i);
    bry_status status = unite_under(both, i, level + 1);
    return status == BRY_OK ? unite_under(both, i + ((uint64_t)1 << level), level + 1) : status;
}

static bry_status unite_all(unite *both)
{
    const bry__table *a = both->a.table, *b = both->b.table;
    bry__table *made = both->build.made;
    unsigned level = a->level < b->level ? a->level : b->level;
    bry_status status = BRY_OK;
    for (uint64_t i = 0; i < made->segments && status == BRY_OK; i += BRY__GROUP_SIZE)
        status = bry__table_reach(made, i, both->build.allocator);
    for (uint64_t i = 0; i < (uint64_t)1 << level && status == BRY_OK; i++)
        status = unite_under(both, i, level);
    return status;
}

/* ---- entry by entry ------------------------------------------------------------------------ */

/* Whether an entry of side 0 (a) or 1 (b) is kept, and with which value. */
static bool unite_takes(const bry__unite_calls *calls, unsigned side, uint64_t fingerprint,
                        uint32_t *value)
{
    if (calls->value[side]) {
        *value = calls->value[side][*value];
        if (*value == BRY__NOT_KEPT)
            return false;
    }
    bool keep = true;
    if (calls->adapt[side])
        calls->adapt[side](calls->context, &fingerprint, value, &keep, 1);
    return keep;
}

static bry_status unite_add_adapted(bry__table *made, const bry__table *from,
                                    const bry__table *hidden_by, const bry__unite_calls *calls,
                                    unsigned side, const bry_allocator *allocator)
{
    bry__table_cursor cursor = {0};
    uint64_t fingerprint;
    uint32_t value, other;
    bry_status status = BRY_OK;
    while (status == BRY_OK && bry__table_next(from, &cursor, &fingerprint, &value))
        if (!(hidden_by && bry__table_get(hidden_by, fingerprint, &other)) &&
            unite_takes(calls, side, fingerprint, &value))
            status = bry__table_add(made, fingerprint, value, allocator);
    return status;
}

/* Adds the entries of b that pick() chooses to those of a. */
static bry_status unite_add_picked(bry__table *made, const bry__table *b,
                                   const bry__unite_calls *calls, const bry_allocator *allocator)
{
    bry__table_cursor cursor = {0};
    uint64_t fingerprint;
    uint32_t value, before;
    bry_status status = BRY_OK;
    while (status == BRY_OK && bry__table_next(b, &cursor, &fingerprint, &value)) {
        if (!unite_takes(calls, 1, fingerprint, &value))
            continue;
        if (!bry__table_get(made, fingerprint, &before))
            status = bry__table_add(made, fingerprint, value, allocator);
        else if (calls->pick(calls->context, before, value))
            status = bry__table_replace(made, fingerprint, before, value, allocator);
    }
    return status;
}

/* Merges entry by entry, for tables with an overflow. */
static bry_status unite_singly(bry__table *made, const bry__table *a, const bry__table *b,
                               bry__merge_mode mode, const bry__unite_calls *calls,
                               const bry_allocator *allocator)
{
    bry_status status = bry__table_init(made, b->range, a->value_bits, allocator);
    if (status != BRY_OK)
        return status;
    status = unite_add_adapted(made, a, mode == BRY__MERGE_REPLACE ? b : NULL, calls, 0, allocator);
    if (status == BRY_OK && mode == BRY__MERGE_PICK)
        status = unite_add_picked(made, b, calls, allocator);
    else if (status == BRY_OK)
        status =
            unite_add_adapted(made, b, mode == BRY__MERGE_KEEP ? a : NULL, calls, 1, allocator);
    if (status != BRY_OK)
        bry__table_free(made, allocator);
    return status;
}

/* Estimates the number of entries of the new table. The share that both have is estimated from the
 * first entries of b, because hashes are uniform. */
static uint64_t unite_expected(const bry__table *a, const bry__table *b, bry__merge_mode mode)
{
    enum { SAMPLES = 256 };
    bry__table_cursor cursor = {0};
    uint64_t fingerprint, sampled = 0, known = 0;
    uint32_t value;
    while (mode != BRY__MERGE_ALL && a->n > 0 && sampled < SAMPLES &&
           bry__table_next(b, &cursor, &fingerprint, &value)) {
        sampled++;
        known += bry__table_get(a, fingerprint, &value);
    }
    return a->n + (known > 0 ? b->n / sampled * (sampled - known) : b->n);
}

bry_status bry__table_unite(bry__table *made, const bry__table *a, const bry__table *b,
                            bry__merge_mode mode, const bry__unite_calls *calls,
                            const bry_allocator *allocator)
{
    if (bry__overflow_count(&a->overflow) > 0 || bry__overflow_count(&b->overflow) > 0)
        return unite_singly(made, a, b, mode, calls, allocator);
    unite both = {.build = {.made = made, .allocator = allocator}, .mode = mode, .calls = calls};
    bry_status status = bry__build_begin(&both.build, a, unite_expected(a, b, mode),
                                         a->segments > b->segments ? a->segments : b->segments);
    if (status != BRY_OK)
        return status;
    both.a = unite_open(a, calls, 0, both.build.source);
    both.b = unite_open(b, calls, 1, both.build.source + BRY__BUILD_READ / 2);
    return bry__build_end(&both.build, unite_all(&both));
}
