/*
 * Builds whole tables: a copy, or a table with many sorted items added; table_unite.c merges two
 * tables. Entries are not inserted one by one: for each segment of the new table, its entries are
 * read in order from the sources and appended, which takes about 15 ns per entry; an insertion
 * takes 300.
 *
 * If the new table has at least as many segments as a source, each of its segments gets its entries
 * from exactly one segment of the source: the one given by the low bits of its number. It gets
 * those entries whose next bits are the next bits of its number, in order.
 */
#include "maplet/table_build.h"

#include "hash/derive.h"
#include "maplet/items.h"
#include "maplet/table_arena.h"

/* ---- copies --------------------------------------------------------------------------------- */

bry_status bry__table_clone(const bry__table *table, bry__table *copy,
                            const bry_allocator *allocator)
{
    bry__table made = *table;
    made.group = NULL;
    made.groups = made.group_room = 0;
    made.overflow = (bry__overflow){0};
    made.arena = NULL;
    made.block_bytes = 0;
    bry_status status = bry__arena_begin_like(&made, table, allocator);
    for (uint64_t i = 0; i < table->segments && status == BRY_OK; i++) {
        status = bry__table_reach(&made, i, allocator);
        if (status == BRY_OK)
            status =
                bry__segment_clone(bry__table_segment(table, i), bry__table_u_most(table, i),
                                   bry__table_segment(&made, i), &(bry__home){allocator, &made, i});
    }
    if (status == BRY_OK)
        status = bry__overflow_clone(&table->overflow, &made.overflow, allocator);
    if (status == BRY_OK)
        *copy = made;
    else
        bry__table_free(&made, allocator);
    return status;
}

/* ---- building ------------------------------------------------------------------------------- */

size_t bry__pick_bits(const bry__entry *from, size_t n, unsigned shift, uint64_t bits,
                      bry__entry *to)
{
    uint64_t mask = ((uint64_t)1 << shift) - 1;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) { /* no branch: it would be mispredicted */
        bry__entry entry = from[i];
        to[kept] = (bry__entry){entry.u >> shift, entry.value};
        kept += (entry.u & mask) == bits;
    }
    return kept;
}

/* One of the two, without a branch, which would be mispredicted. */
static inline bry__entry pick_entry(const bry__entry *a, const bry__entry *b, bool second)
{
    uint64_t mask = -(uint64_t)second;
    return (bry__entry){a->u ^ ((a->u ^ b->u) & mask),
                        a->value ^ ((a->value ^ b->value) & (uint32_t)mask)};
}

void bry__merge_entries(bry__entry *a, size_t n_a, bry__entry *b, size_t n_b, bry__entry *to)
{
    bry__entry *a_last = a + n_a - 1, *b_last = b + n_b - 1, *last = to + n_a + n_b - 1;
    a[-1].u = b[-1].u = UINT64_MAX; /* as a signed number below all others */
    a[n_a].u = b[n_b].u = INT64_MAX; /* above all others */
    /* From both ends at once: the two are independent. */
    for (size_t left = (n_a + n_b) / 2; left > 0; left--) {
        bool second = (int64_t)b->u < (int64_t)a->u;
        *to++ = pick_entry(a, b, second);
        a += !second;
        b += second;
        second = (int64_t)b_last->u > (int64_t)a_last->u;
        *last-- = pick_entry(a_last, b_last, second);
        a_last -= !second;
        b_last -= second;
    }
    if ((n_a + n_b) % 2)
        *to = a <= a_last ? *a : *b;
}

bry_status bry__build_reserve(bry__build *build, size_t n)
{
    if (n <= build->room)
        return BRY_OK;
    size_t room = n > BRY__SEGMENT_MAX ? 2 * n : BRY__SEGMENT_MAX;
    bry__entry *larger = bry__alloc_buffer(build->allocator, room * sizeof *larger);
    if (!larger)
        return BRY_E_NOMEM;
    bry__free(build->allocator, build->entries, build->room * sizeof *larger);
    build->entries = larger;
    build->room = room;
    return BRY_OK;
}

/* Moves entries that do not fit in a segment to the overflow: all but the smallest values of a
 * crowd, and everything after BRY__SEGMENT_MAX entries. */
static bry_status move_to_overflow(bry__build *build, uint64_t i, bool *spilled)
{
    size_t kept = 0, crowd = 0;
    unsigned level = bry__table_level(build->made, i);
    for (size_t at = 0; at < build->n; at++) {
        crowd = at > 0 && build->entries[at].u == build->entries[at - 1].u ? crowd + 1 : 1;
        if (crowd <= BRY__CROWD && kept < BRY__SEGMENT_MAX) {
            build->entries[kept++] = build->entries[at];
            continue;
        }
        *spilled = *spilled || crowd <= BRY__CROWD;
        bry_status status =
            bry__overflow_insert(&build->made->overflow, build->entries[at].u << level | i,
                                 build->entries[at].value, build->allocator);
        if (status != BRY_OK)
            return status;
        build->made->n++;
    }
    build->n = kept;
    return BRY_OK;
}

static bool is_crowded(const bry__build *build)
{
    size_t crowd = 1;
    for (size_t at = 1; at < build->n; at++) {
        crowd = build->entries[at].u == build->entries[at - 1].u ? crowd + 1 : 1;
        if (crowd > BRY__CROWD)
            return true;
    }
    return build->n > BRY__SEGMENT_MAX;
}

bry_status bry__build_segment(bry__build *build, uint64_t i)
{
    bry__table *made = build->made;
    bool spilled = false;
    bry_status status = is_crowded(build) ? move_to_overflow(build, i, &spilled) : BRY_OK;
    if (status == BRY_OK)
        status = bry__table_reach(made, i, build->allocator);
    if (status == BRY_OK)
        status = bry__segment_write(bry__table_segment(made, i), bry__table_u_most(made, i),
                                    build->entries, (unsigned)build->n, made->value_bits,
                                    &(bry__home){build->allocator, made, i});
    if (status != BRY_OK)
        return status;
    bry__table_segment(made, i)->spilled = spilled;
    made->n += build->n;
    build->n = 0;
    return BRY_OK;
}

bry_status bry__build_begin(bry__build *build, const bry__table *like, uint64_t n,
                            uint64_t least_segments)
{
    uint64_t segments = bry__table_segments_for(like->range, n);
    build->source = bry__alloc_buffer(build->allocator, BRY__BUILD_READ * sizeof *build->source);
    if (!build->source)
        return BRY_E_NOMEM;
    if (!bry__table_open(build->made, like->range, like->value_bits,
                         segments > least_segments ? segments : least_segments)) {
        bry__free(build->allocator, build->source, BRY__BUILD_READ * sizeof *build->source);
        return BRY_E_NOMEM;
    }
    build->made->dead = like->dead;
    build->made->max_step = like->max_step;
    return BRY_OK;
}

bry_status bry__build_end(bry__build *build, bry_status status)
{
    bry__free(build->allocator, build->entries, build->room * sizeof *build->entries);
    bry__free(build->allocator, build->source, BRY__BUILD_READ * sizeof *build->source);
    if (status != BRY_OK)
        bry__table_free(build->made, build->allocator);
    return status;
}

/* ---- a table and many items ---------------------------------------------------------------- */

static unsigned bit_length(uint64_t x)
{
    return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
}

/* Reads the entries of a source for segment i of the new table; returns their number. */
static size_t read_segment(const bry__table *source, const bry__table *made, uint64_t i,
                           bry__entry *room)
{
    uint64_t number = bry__table_segment_of(source, i); /* i is a fingerprint that belongs there */
    const bry__segment *segment = bry__table_segment(source, number);
    unsigned level = bry__table_level(source, number), to = bry__table_level(made, i);
    bry__segment_read(segment, bry__table_u_most(source, number), room);
    return to > level ? bry__pick_bits(room, segment->n, to - level, i >> level, room) : segment->n;
}

static inline void push(bry__build *build, bry__entry entry)
{
    build->entries[build->n++] = entry;
}

/* Takes the items of one fingerprint; the value of the last one stays. `found`: the table has
 * *value. Their `was` is BRY_ABSENT so far. */
static inline const bry__item *take_group(const bry__item *item, const bry__item *items_end,
                                          bool found, uint32_t *value, uint32_t *old, uint8_t *was)
{
    uint64_t key = item->key;
    for (; item < items_end && item->key == key; item++) {
        if (found) {
            was[item->order] = BRY_PRESENT;
            if (old)
                old[item->order] = *value;
        }
        *value = item->value;
        found = true;
    }
    return item;
}

/* Merges the existing entries and the items, both sorted, into the entries of the next segment. */
static void put_items(bry__build *build, const bry__entry *existing, const bry__entry *entries_end,
                      const bry__item *item, const bry__item *items_end, unsigned u_bits,
                      uint32_t *old, uint8_t *was)
{
    uint64_t mask = ((uint64_t)1 << u_bits) - 1;
    while (item < items_end) {
        bry__entry entry = {item->key & mask, 0};
        while (existing < entries_end && existing->u < entry.u)
            push(build, *existing++);
        bool found = existing < entries_end && existing->u == entry.u;
        if (found)
            entry.value = existing++->value;
        item = take_group(item, items_end, found, &entry.value, old, was);
        push(build, entry);
    }
    while (existing < entries_end)
        push(build, *existing++);
}

/* The sort key of an item: its segment in the new table, then its u there. */
static uint64_t key_of(const bry__table *made, bry_hash hash, unsigned u_bits)
{
    bry__spot at = bry__table_spot(made, bry__fingerprint(hash, made->range));
    return at.i << u_bits | at.u;
}

/* The sorted items of all keys with `was` BRY_ABSENT. NULL: out of memory. */
static bry__item *sort_items(const bry__table *made, const bry__upserts *upserts, unsigned u_bits,
                             const bry_allocator *allocator)
{
    bry__item_sort *sort =
        bry__items_begin(upserts->absent, u_bits + bit_length(made->segments - 1), allocator);
    if (!sort)
        return NULL;
    for (size_t i = 0; i < upserts->n; i++)
        if (upserts->was[i] == BRY_ABSENT)
            bry__items_count(sort, key_of(made, upserts->hashes[i], u_bits));
    size_t spare = bry__items_places(sort) * sizeof(bry__item);
    bry__item *items = bry__alloc_buffer(allocator, upserts->absent * sizeof *items);
    bry__item *bucket = bry__alloc_buffer(allocator, spare);
    if (items && bucket) {
        for (size_t i = 0; i < upserts->n; i++)
            if (upserts->was[i] == BRY_ABSENT)
                bry__items_put(sort, items,
                               (bry__item){key_of(made, upserts->hashes[i], u_bits),
                                           upserts->values ? upserts->values[i] : 0, (uint32_t)i});
        bry__items_sort(sort, items, bucket);
    } else {
        bry__free(allocator, items, upserts->absent * sizeof *items);
        items = NULL;
    }
    bry__free(allocator, bucket, spare);
    bry__items_end(sort, allocator);
    return items;
}

/* Builds each segment of the new table from the old one and the items. */
static bry_status put_all(bry__build *build, const bry__table *table, const bry__upserts *upserts,
                          const bry__item *item, unsigned u_bits)
{
    const bry__item *last = item + upserts->absent;
    bry_status status = BRY_OK;
    for (uint64_t i = 0; i < build->made->segments && status == BRY_OK; i++) {
        const bry__item *first = item;
        while (item < last && item->key >> u_bits == i)
            item++;
        size_t count = read_segment(table, build->made, i, build->source);
        status = bry__build_reserve(build, count + (size_t)(item - first));
        if (status != BRY_OK)
            break;
        put_items(build, build->source, build->source + count, first, item, u_bits, upserts->old,
                  upserts->was);
        status = bry__build_segment(build, i);
    }
    return status;
}

bry_status bry__table_upsert_sorted(bry__table *made, const bry__table *table,
                                    const bry__upserts *upserts, const bry_allocator *allocator)
{
    bry__build build = {.made = made, .allocator = allocator};
    bry_status status =
        bry__build_begin(&build, table, table->n + upserts->absent, table->segments);
    if (status != BRY_OK)
        return status;
    unsigned u_bits = bit_length(bry__table_u_of(made, 0));
    bry__item *items = sort_items(made, upserts, u_bits, allocator);
    status = items ? put_all(&build, table, upserts, items, u_bits) : BRY_E_NOMEM;
    bry__free(allocator, items, upserts->absent * sizeof *items);
    return bry__build_end(&build, status);
}

/* Like put_items(), but each item is a new entry. */
static void add_items(bry__build *build, const bry__entry *existing, const bry__entry *entries_end,
                      const bry__item *item, const bry__item *items_end, unsigned u_bits)
{
    uint64_t mask = ((uint64_t)1 << u_bits) - 1;
    for (; item < items_end; item++) {
        bry__entry entry = {item->key & mask, item->value};
        while (existing < entries_end && bry__entry_before(*existing, entry))
            push(build, *existing++);
        push(build, entry);
    }
    while (existing < entries_end)
        push(build, *existing++);
}

bry_status bry__table_add_sorted(bry__table *made, const bry__table *table, bry__item *items,
                                 bry__item *spare, size_t n, const bry_allocator *allocator)
{
    bry__build build = {.made = made, .allocator = allocator};
    bry_status status = bry__build_begin(&build, table, table->n + n, table->segments);
    if (status != BRY_OK)
        return status;
    unsigned u_bits = bit_length(bry__table_u_of(made, 0));
    for (size_t i = 0; i < n; i++) {
        bry__spot at = bry__table_spot(made, items[i].key);
        items[i].key = at.i << u_bits | at.u;
    }
    status =
        bry__items_arrange(items, spare, n, u_bits + bit_length(made->segments - 1), allocator);
    const bry__item *item = spare, *last = spare + n;
    for (uint64_t i = 0; i < made->segments && status == BRY_OK; i++) {
        const bry__item *first = item;
        while (item < last && item->key >> u_bits == i)
            item++;
        size_t count = read_segment(table, made, i, build.source);
        status = bry__build_reserve(&build, count + (size_t)(item - first));
        if (status != BRY_OK)
            break;
        add_items(&build, build.source, build.source + count, first, item, u_bits);
        status = bry__build_segment(&build, i);
    }
    return bry__build_end(&build, status);
}
