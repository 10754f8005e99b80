/*
 * Whole tables at once: a copy, or a table and many sorted items; table_unite.c makes two tables
 * one. No entry is added by itself: for each segment of the new table its entries are read in order
 * from the sources and appended, which takes about 15 ns per entry where an insertion takes 300.
 *
 * With at least as many segments as a source, a segment of the new table takes its entries from
 * exactly one segment of it: the one that the low bits of its number lead to. Of that segment it
 * takes the entries whose next bits are those of its number, in their order.
 */
#include "maplet/table_build.h"

#include "hash/derive.h"
#include "maplet/items.h"

/* ---- copies --------------------------------------------------------------------------------- */

bry_status bry__table_clone(const bry__table *table, bry__table *copy,
                            const bry_allocator *allocator)
{
    bry__table made = *table;
    made.group = NULL;
    made.groups = made.group_room = 0;
    made.overflow = (bry__overflow){0};
    bry_status status = BRY_OK;
    for (uint64_t i = 0; i < table->segments && status == BRY_OK; i++) {
        status = bry__table_reach(&made, i, allocator);
        if (status == BRY_OK)
            status = bry__segment_clone(bry__table_segment(table, i), bry__table_segment(&made, i),
                                        allocator);
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
    for (size_t i = 0; i < n; i++) { /* without a branch, which could not be predicted */
        bry__entry entry = from[i];
        to[kept] = (bry__entry){entry.u >> shift, entry.value};
        kept += (entry.u & mask) == bits;
    }
    return kept;
}

/* One of the two, without a branch, which could not be predicted. */
static inline bry__entry pick_entry(const bry__entry *a, const bry__entry *b, bool second)
{
    uint64_t mask = -(uint64_t)second;
    return (bry__entry){a->u ^ ((a->u ^ b->u) & mask),
                        a->value ^ ((a->value ^ b->value) & (uint32_t)mask)};
}

void bry__merge_entries(bry__entry *a, size_t n_a, bry__entry *b, size_t n_b, bry__entry *to)
{
    bry__entry *a_last = a + n_a - 1, *b_last = b + n_b - 1, *last = to + n_a + n_b - 1;
    a[-1].u = b[-1].u = UINT64_MAX; /* as a signed number below all others … */
    a[n_a].u = b[n_b].u = INT64_MAX; /* … and above */
    /* From both ends at once: neither waits for the other. */
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

bry_status bry__build_reserve(bry__build *to, size_t n)
{
    if (n <= to->room)
        return BRY_OK;
    size_t room = n > BRY__SEGMENT_MAX ? 2 * n : BRY__SEGMENT_MAX;
    bry__entry *larger = bry__alloc_buffer(to->allocator, room * sizeof *larger);
    if (!larger)
        return BRY_E_NOMEM;
    bry__free(to->allocator, to->entry, to->room * sizeof *larger);
    to->entry = larger;
    to->room = room;
    return BRY_OK;
}

/* Moves what a segment may not hold to the overflow: all but the smallest values of a crowd, and
 * what comes after BRY__SEGMENT_MAX entries. */
static bry_status move_beyond(bry__build *to, uint64_t i, bool *spilled)
{
    size_t kept = 0, crowd = 0;
    unsigned level = bry__table_level(to->made, i);
    for (size_t at = 0; at < to->n; at++) {
        crowd = at > 0 && to->entry[at].u == to->entry[at - 1].u ? crowd + 1 : 1;
        if (crowd <= BRY__CROWD && kept < BRY__SEGMENT_MAX) {
            to->entry[kept++] = to->entry[at];
            continue;
        }
        *spilled = *spilled || crowd <= BRY__CROWD;
        bry_status status = bry__overflow_insert(&to->made->overflow, to->entry[at].u << level | i,
                                                 to->entry[at].value, to->allocator);
        if (status != BRY_OK)
            return status;
        to->made->n++;
    }
    to->n = kept;
    return BRY_OK;
}

static bool is_crowded(const bry__build *to)
{
    size_t crowd = 1;
    for (size_t at = 1; at < to->n; at++) {
        crowd = to->entry[at].u == to->entry[at - 1].u ? crowd + 1 : 1;
        if (crowd > BRY__CROWD)
            return true;
    }
    return to->n > BRY__SEGMENT_MAX;
}

bry_status bry__build_segment(bry__build *to, uint64_t i)
{
    bry__table *made = to->made;
    bool spilled = false;
    bry__segment_builder builder;
    bry_status status = is_crowded(to) ? move_beyond(to, i, &spilled) : BRY_OK;
    if (status == BRY_OK)
        status = bry__table_reach(made, i, to->allocator);
    if (status == BRY_OK)
        status = bry__segment_begin(&builder, (unsigned)to->n, bry__table_u_most(made, i),
                                    made->value_bits, to->allocator);
    if (status != BRY_OK)
        return status;
    bry__segment_fill(&builder, to->entry, (unsigned)to->n);
    bry__segment *segment = bry__table_segment(made, i);
    *segment = bry__segment_end(&builder);
    segment->spilled = spilled;
    made->block_bytes += bry__segment_bytes(segment);
    made->n += to->n;
    to->n = 0;
    return BRY_OK;
}

bry_status bry__build_begin(bry__build *to, const bry__table *like, uint64_t n, uint64_t least)
{
    uint64_t segments = bry__table_segments_for(like->range, n);
    to->read = bry__alloc_buffer(to->allocator, BRY__BUILD_READ * sizeof *to->read);
    if (!to->read)
        return BRY_E_NOMEM;
    if (!bry__table_open(to->made, like->range, like->value_bits,
                         segments > least ? segments : least)) {
        bry__free(to->allocator, to->read, BRY__BUILD_READ * sizeof *to->read);
        return BRY_E_NOMEM;
    }
    to->made->dead = like->dead;
    to->made->moved = like->moved;
    to->made->max_step = like->max_step;
    to->made->sweeping = like->sweeping; /* begins anew */
    return BRY_OK;
}

bry_status bry__build_end(bry__build *to, bry_status status)
{
    bry__free(to->allocator, to->entry, to->room * sizeof *to->entry);
    bry__free(to->allocator, to->read, BRY__BUILD_READ * sizeof *to->read);
    if (status != BRY_OK)
        bry__table_free(to->made, to->allocator);
    return status;
}

/* ---- a table and many items ---------------------------------------------------------------- */

static unsigned bit_length(uint64_t x)
{
    return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
}

/* The entries of a source that segment i of the new table gets; how many. */
static size_t read_segment(const bry__table *source, const bry__table *made, uint64_t i,
                           bry__entry *room)
{
    uint64_t number = bry__table_segment_of(source, i); /* i is a fingerprint that leads there */
    const bry__segment *segment = bry__table_segment(source, number);
    unsigned level = bry__table_level(source, number), to = bry__table_level(made, i);
    bry__segment_read(segment, bry__table_u_most(source, number), room);
    return to > level ? bry__pick_bits(room, segment->n, to - level, i >> level, room) : segment->n;
}

static inline void push(bry__build *to, bry__entry entry)
{
    to->entry[to->n++] = entry;
}

/* Items of one fingerprint: the last one's value is what stays. `found`: the table has *value. was
 * says absent of all of them so far. */
static inline const bry__item *take_group(const bry__item *item, const bry__item *end, bool found,
                                          uint32_t *value, uint32_t *old, uint8_t *was)
{
    uint64_t key = item->key;
    for (; item < end && item->key == key; item++) {
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

/* Entries [in, in_end) and items, both in order, become the entries of the next segment. */
static void put_items(bry__build *to, const bry__entry *in, const bry__entry *in_end,
                      const bry__item *item, const bry__item *end, unsigned u_bits, uint32_t *old,
                      uint8_t *was)
{
    uint64_t mask = ((uint64_t)1 << u_bits) - 1;
    while (item < end) {
        bry__entry entry = {item->key & mask, 0};
        while (in < in_end && in->u < entry.u)
            push(to, *in++);
        bool found = in < in_end && in->u == entry.u;
        if (found)
            entry.value = in++->value;
        item = take_group(item, end, found, &entry.value, old, was);
        push(to, entry);
    }
    while (in < in_end)
        push(to, *in++);
}

/* Where an item goes in the new table: its segment, then its u there. */
static uint64_t key_of(const bry__table *made, bry_hash hash, unsigned u_bits)
{
    bry__spot at = bry__table_spot(made, bry__fingerprint(hash, made->range));
    return at.i << u_bits | at.u;
}

/* The items in order, for keys of which was says absent. NULL: no memory. */
static bry__item *sort_items(const bry__table *made, const bry__upserts *many, unsigned u_bits,
                             const bry_allocator *allocator)
{
    bry__item_sort sort;
    bry__items_plan(&sort, many->absent, u_bits + bit_length(made->segments - 1));
    for (size_t i = 0; i < many->n; i++)
        if (many->was[i] == BRY_ABSENT)
            bry__items_count(&sort, key_of(made, many->hashes[i], u_bits));
    size_t spare = bry__items_places(&sort) * sizeof(bry__item);
    bry__item *items = bry__alloc_buffer(allocator, many->absent * sizeof *items);
    bry__item *bucket = bry__alloc_buffer(allocator, spare);
    if (items && bucket) {
        for (size_t i = 0; i < many->n; i++)
            if (many->was[i] == BRY_ABSENT)
                bry__items_put(&sort, items,
                               (bry__item){key_of(made, many->hashes[i], u_bits),
                                           many->values ? many->values[i] : 0, (uint32_t)i});
        bry__items_sort(&sort, items, bucket);
    } else {
        bry__free(allocator, items, many->absent * sizeof *items);
        items = NULL;
    }
    bry__free(allocator, bucket, spare);
    return items;
}

/* Each segment of the new table from those of the old one and the items. */
static bry_status put_all(bry__build *to, const bry__table *table, const bry__upserts *many,
                          const bry__item *item, unsigned u_bits)
{
    const bry__item *last = item + many->absent;
    bry_status status = BRY_OK;
    for (uint64_t i = 0; i < to->made->segments && status == BRY_OK; i++) {
        const bry__item *first = item;
        while (item < last && item->key >> u_bits == i)
            item++;
        size_t in = read_segment(table, to->made, i, to->read);
        status = bry__build_reserve(to, in + (size_t)(item - first));
        if (status != BRY_OK)
            break;
        put_items(to, to->read, to->read + in, first, item, u_bits, many->old, many->was);
        status = bry__build_segment(to, i);
    }
    return status;
}

bry_status bry__table_upsert_sorted(bry__table *made, const bry__table *table,
                                    const bry__upserts *many, const bry_allocator *allocator)
{
    bry__build to = {.made = made, .allocator = allocator};
    bry_status status = bry__build_begin(&to, table, table->n + many->absent, table->segments);
    if (status != BRY_OK)
        return status;
    unsigned u_bits = bit_length(made->u_most[0]);
    bry__item *items = sort_items(made, many, u_bits, allocator);
    status = items ? put_all(&to, table, many, items, u_bits) : BRY_E_NOMEM;
    bry__free(allocator, items, many->absent * sizeof *items);
    return bry__build_end(&to, status);
}

/* As put_items(), but each item is a further entry. */
static void add_items(bry__build *to, const bry__entry *in, const bry__entry *in_end,
                      const bry__item *item, const bry__item *end, unsigned u_bits)
{
    uint64_t mask = ((uint64_t)1 << u_bits) - 1;
    for (; item < end; item++) {
        bry__entry entry = {item->key & mask, item->value};
        while (in < in_end && bry__entry_before(*in, entry))
            push(to, *in++);
        push(to, entry);
    }
    while (in < in_end)
        push(to, *in++);
}

bry_status bry__table_add_sorted(bry__table *made, const bry__table *table, bry__item *items,
                                 bry__item *spare, size_t n, const bry_allocator *allocator)
{
    bry__build to = {.made = made, .allocator = allocator};
    bry_status status = bry__build_begin(&to, table, table->n + n, table->segments);
    if (status != BRY_OK)
        return status;
    unsigned u_bits = bit_length(made->u_most[0]);
    for (size_t i = 0; i < n; i++) {
        bry__spot at = bry__table_spot(made, items[i].key);
        items[i].key = at.i << u_bits | at.u;
    }
    bry__items_arrange(items, spare, n, u_bits + bit_length(made->segments - 1));
    const bry__item *item = spare, *last = spare + n;
    for (uint64_t i = 0; i < made->segments && status == BRY_OK; i++) {
        const bry__item *first = item;
        while (item < last && item->key >> u_bits == i)
            item++;
        size_t in = read_segment(table, made, i, to.read);
        status = bry__build_reserve(&to, in + (size_t)(item - first));
        if (status != BRY_OK)
            break;
        add_items(&to, to.read, to.read + in, first, item, u_bits);
        status = bry__build_segment(&to, i);
    }
    return bry__build_end(&to, status);
}
