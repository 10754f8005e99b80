/*
 * Whole tables at once: a copy, two tables made one, or a table and many sorted items. No entry is
 * added by itself: for each segment of the new table its entries are read in order from the sources
 * and appended, which takes about 15 ns per entry where an insertion takes 300.
 *
 * With at least as many segments as either source, a segment of the new table takes its entries
 * from exactly one segment of a source: the one that the low bits of its number lead to. Of that
 * segment it takes the entries whose next bits are those of its number, in their order.
 *
 * Sources with an overflow (rare: hashes that are not uniform, or crowds) are put together entry by
 * entry instead.
 */
#include "hash/derive.h"
#include "maplet/items.h"
#include "maplet/table.h"

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

/* ---- sources ------------------------------------------------------------------------------- */

/* The entries of a source that belong to one segment of the new table. */
typedef struct stream {
    const bry__entry *at, *end; /* those behind `entry` */
    bry__adapt *adapt;
    void *context;
    unsigned level; /* of the new segment, and its number: they make up the fingerprint */
    uint64_t number;
    bool more; /* `entry` is the next one */
    bry__entry entry;
} stream;

static inline void step(stream *from)
{
    from->more = false;
    while (from->at < from->end && !from->more) {
        from->entry = *from->at++;
        from->more =
            !from->adapt || from->adapt(from->context, from->entry.u << from->level | from->number,
                                        &from->entry.value);
    }
}

static size_t left_in(const stream *from)
{
    return (size_t)(from->end - from->at) + from->more;
}

/* Keeps the entries whose last bits of u are these, and drops the bits; without a branch, which
 * could not be predicted. How many are kept. */
static size_t pick_bits(bry__entry *entries, size_t n, unsigned shift, uint64_t bits)
{
    uint64_t mask = ((uint64_t)1 << shift) - 1;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bry__entry entry = entries[i];
        entries[kept] = (bry__entry){entry.u >> shift, entry.value};
        kept += (entry.u & mask) == bits;
    }
    return kept;
}

/* The entries of a source that segment i of the new table gets; how many. */
static size_t read_segment(const bry__table *source, const bry__table *made, uint64_t i,
                           bry__entry *room)
{
    uint64_t number = bry__table_segment_of(source, i); /* i is a fingerprint that leads there */
    const bry__segment *segment = bry__table_segment(source, number);
    unsigned level = bry__table_level(source, number), to = bry__table_level(made, i);
    bry__segment_read(segment, bry__table_u_most(source, number), room);
    return to > level ? pick_bits(room, segment->n, to - level, i >> level) : segment->n;
}

/* Gives entries other values, without those that are not kept. How many are kept. */
static size_t map_values(bry__entry *entries, size_t n, const uint32_t *value)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        entries[kept] = (bry__entry){entries[i].u, value[entries[i].value]};
        kept += entries[kept].value != BRY__NOT_KEPT;
    }
    return kept;
}

/* `room` takes the entries of a segment; `of` is 0 for a, 1 for b in the calls. */
static stream open_stream(const bry__table *source, const bry__table *made, uint64_t i,
                          const bry__unite_calls *calls, unsigned of, bry__entry *room)
{
    size_t n = read_segment(source, made, i, room);
    if (calls->value[of])
        n = map_values(room, n, calls->value[of]);
    stream from = {.at = room,
                   .end = room + n,
                   .adapt = calls->value[of] ? NULL : calls->adapt[of],
                   .context = calls->context,
                   .level = bry__table_level(made, i),
                   .number = i};
    step(&from);
    return from;
}

/* ---- one segment --------------------------------------------------------------------------- */

/* A table in the making, and the entries of the segment that is next. */
typedef struct build {
    bry__table *made;
    const bry_allocator *allocator;
    bry__entry *entry;
    size_t n, room;
    bry__entry *read; /* two times BRY__SEGMENT_MAX: for what is read of the sources */
} build;

#define READ_BYTES (2 * (size_t)BRY__SEGMENT_MAX * sizeof(bry__entry))

/* Makes room for n entries of the next segment, of which there are none yet. */
static bry_status reserve(build *to, size_t n)
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

static inline void push(build *to, bry__entry entry)
{
    to->entry[to->n++] = entry;
}

/* Moves what a segment may not hold to the overflow: all but the smallest values of a crowd, and
 * what comes after BRY__SEGMENT_MAX entries. */
static bry_status move_beyond(build *to, uint64_t i, bool *spilled)
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

static bool is_crowded(const build *to)
{
    size_t crowd = 1;
    for (size_t at = 1; at < to->n; at++) {
        crowd = to->entry[at].u == to->entry[at - 1].u ? crowd + 1 : 1;
        if (crowd > BRY__CROWD)
            return true;
    }
    return to->n > BRY__SEGMENT_MAX;
}

/* Segment i, from the entries that were pushed. */
static bry_status put_segment(build *to, uint64_t i)
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

/* An empty table of so many segments, with the source's numbers. False: no memory. */
static bool begin(build *to, const bry__table *like, uint64_t n, uint64_t least)
{
    uint64_t segments = bry__table_segments_for(like->range, n);
    to->read = bry__alloc_buffer(to->allocator, READ_BYTES);
    if (!to->read)
        return false;
    if (!bry__table_open(to->made, like->range, like->value_bits,
                         segments > least ? segments : least)) {
        bry__free(to->allocator, to->read, READ_BYTES);
        return false;
    }
    to->made->dead = like->dead;
    to->made->moved = like->moved;
    to->made->max_step = like->max_step;
    to->made->sweeping = like->sweeping; /* begins anew */
    return true;
}

static bry_status end(build *to, bry_status status)
{
    bry__free(to->allocator, to->entry, to->room * sizeof *to->entry);
    bry__free(to->allocator, to->read, READ_BYTES);
    if (status != BRY_OK)
        bry__table_free(to->made, to->allocator);
    return status;
}

/* ---- two tables ---------------------------------------------------------------------------- */

static bool is_before(bry__entry a, bry__entry b)
{
    return a.u < b.u || (a.u == b.u && a.value <= b.value);
}

/* The next entry; where both have its u, all with that. */
static void unite_next(build *to, stream *a, stream *b, bry__merge_mode mode,
                       const bry__unite_calls *calls)
{
    if (!a->more || !b->more || a->entry.u != b->entry.u) {
        stream *from = !b->more || (a->more && a->entry.u < b->entry.u) ? a : b;
        push(to, from->entry);
        step(from);
        return;
    }
    uint64_t u = a->entry.u;
    bool in_a = true, in_b = true;
    bool take_a = mode != BRY__MERGE_REPLACE, take_b = mode != BRY__MERGE_KEEP;
    if (mode == BRY__MERGE_PICK) {
        take_b = calls->pick(calls->context, a->entry.value, b->entry.value);
        take_a = !take_b;
    }
    while (in_a || in_b) {
        bool from_a = in_a && (!in_b || is_before(a->entry, b->entry));
        stream *from = from_a ? a : b;
        if (from_a ? take_a : take_b)
            push(to, from->entry);
        step(from);
        in_a = a->more && a->entry.u == u;
        in_b = b->more && b->entry.u == u;
    }
}

/* The next entries up to a u that both have, or the end of one source, where nobody is asked about
 * them. Which one is next cannot be predicted, so there is no branch for it. */
static void unite_apart(build *to, stream *a, stream *b)
{
    const bry__entry *x = a->at - 1, *y = b->at - 1; /* those in hand */
    bry__entry *out = to->entry + to->n;
    while (x < a->end && y < b->end && x->u != y->u) {
        ptrdiff_t first = x->u < y->u;
        *out++ = y[(x - y) & -first]; /* both are in to->read */
        x += first;
        y += !first;
    }
    to->n = (size_t)(out - to->entry);
    a->at = x;
    b->at = y;
    step(a);
    step(b);
}

/* Whether an entry of a (0) or b (1) is taken, and with which value. */
static bool takes(const bry__unite_calls *calls, unsigned of, uint64_t fingerprint, uint32_t *value)
{
    if (calls->value[of]) {
        *value = calls->value[of][*value];
        return *value != BRY__NOT_KEPT;
    }
    return !calls->adapt[of] || calls->adapt[of](calls->context, fingerprint, value);
}

static bry_status add_adapted(bry__table *made, const bry__table *from, const bry__table *hidden_by,
                              const bry__unite_calls *calls, unsigned of,
                              const bry_allocator *allocator)
{
    bry__table_cursor cursor = {0};
    uint64_t fingerprint;
    uint32_t value, other;
    bry_status status = BRY_OK;
    while (status == BRY_OK && bry__table_next(from, &cursor, &fingerprint, &value))
        if (!(hidden_by && bry__table_get(hidden_by, fingerprint, &other)) &&
            takes(calls, of, fingerprint, &value))
            status = bry__table_add(made, fingerprint, value, allocator);
    return status;
}

/* Adds what is picked of b to what was taken of a. */
static bry_status add_picked(bry__table *made, const bry__table *b, const bry__unite_calls *calls,
                             const bry_allocator *allocator)
{
    bry__table_cursor cursor = {0};
    uint64_t fingerprint;
    uint32_t value, before;
    bry_status status = BRY_OK;
    while (status == BRY_OK && bry__table_next(b, &cursor, &fingerprint, &value)) {
        if (!takes(calls, 1, fingerprint, &value))
            continue;
        if (!bry__table_get(made, fingerprint, &before))
            status = bry__table_add(made, fingerprint, value, allocator);
        else if (calls->pick(calls->context, before, value))
            status = bry__table_replace(made, fingerprint, before, value, allocator);
    }
    return status;
}

/* The same entry by entry. */
static bry_status unite_singly(bry__table *made, const bry__table *a, const bry__table *b,
                               bry__merge_mode mode, const bry__unite_calls *calls,
                               const bry_allocator *allocator)
{
    bry_status status = bry__table_init(made, b->range, a->value_bits, allocator);
    if (status != BRY_OK)
        return status;
    made->sweeping = a->sweeping;
    status = add_adapted(made, a, mode == BRY__MERGE_REPLACE ? b : NULL, calls, 0, allocator);
    if (status == BRY_OK && mode == BRY__MERGE_PICK)
        status = add_picked(made, b, calls, allocator);
    else if (status == BRY_OK)
        status = add_adapted(made, b, mode == BRY__MERGE_KEEP ? a : NULL, calls, 1, allocator);
    if (status != BRY_OK)
        bry__table_free(made, allocator);
    return status;
}

/* How many entries the new table will have, about. What both have is estimated from the first
 * entries of b: hashes are uniform. */
static uint64_t expected_entries(const bry__table *a, const bry__table *b, bry__merge_mode mode)
{
    enum { LOOKED_AT = 256 };
    bry__table_cursor cursor = {0};
    uint64_t fingerprint, looked = 0, known = 0;
    uint32_t value;
    while (mode != BRY__MERGE_ALL && a->n > 0 && looked < LOOKED_AT &&
           bry__table_next(b, &cursor, &fingerprint, &value)) {
        looked++;
        known += bry__table_get(a, fingerprint, &value);
    }
    return a->n + (known > 0 ? b->n / looked * (looked - known) : b->n);
}

bry_status bry__table_unite(bry__table *made, const bry__table *a, const bry__table *b,
                            bry__merge_mode mode, const bry__unite_calls *calls,
                            const bry_allocator *allocator)
{
    if (a->overflow.n > 0 || b->overflow.n > 0)
        return unite_singly(made, a, b, mode, calls, allocator);
    build to = {.made = made, .allocator = allocator};
    if (!begin(&to, a, expected_entries(a, b, mode),
               a->segments > b->segments ? a->segments : b->segments))
        return BRY_E_NOMEM;
    bry_status status = BRY_OK;
    for (uint64_t i = 0; i < made->segments && status == BRY_OK; i++) {
        stream in_a = open_stream(a, made, i, calls, 0, to.read);
        stream in_b = open_stream(b, made, i, calls, 1, to.read + BRY__SEGMENT_MAX);
        status = reserve(&to, left_in(&in_a) + left_in(&in_b));
        while ((in_a.more || in_b.more) && status == BRY_OK) {
            if (in_a.more && in_b.more && !in_a.adapt && !in_b.adapt)
                unite_apart(&to, &in_a, &in_b);
            if (in_a.more || in_b.more)
                unite_next(&to, &in_a, &in_b, mode, calls);
        }
        if (status == BRY_OK)
            status = put_segment(&to, i);
    }
    return end(&to, status);
}

/* ---- a table and many items ---------------------------------------------------------------- */

static unsigned bit_length(uint64_t x)
{
    return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
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
static void put_items(build *to, const bry__entry *in, const bry__entry *in_end,
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
static bry_status put_all(build *to, const bry__table *table, const bry__upserts *many,
                          const bry__item *item, unsigned u_bits)
{
    const bry__item *last = item + many->absent;
    bry_status status = BRY_OK;
    for (uint64_t i = 0; i < to->made->segments && status == BRY_OK; i++) {
        const bry__item *first = item;
        while (item < last && item->key >> u_bits == i)
            item++;
        size_t in = read_segment(table, to->made, i, to->read);
        status = reserve(to, in + (size_t)(item - first));
        if (status != BRY_OK)
            break;
        put_items(to, to->read, to->read + in, first, item, u_bits, many->old, many->was);
        status = put_segment(to, i);
    }
    return status;
}

bry_status bry__table_upsert_sorted(bry__table *made, const bry__table *table,
                                    const bry__upserts *many, const bry_allocator *allocator)
{
    build to = {.made = made, .allocator = allocator};
    if (!begin(&to, table, table->n + many->absent, table->segments))
        return BRY_E_NOMEM;
    unsigned u_bits = bit_length(made->u_most[0]);
    bry__item *items = sort_items(made, many, u_bits, allocator);
    bry_status status = items ? put_all(&to, table, many, items, u_bits) : BRY_E_NOMEM;
    bry__free(allocator, items, many->absent * sizeof *items);
    return end(&to, status);
}

/* As put_items(), but each item is a further entry. */
static void add_items(build *to, const bry__entry *in, const bry__entry *in_end,
                      const bry__item *item, const bry__item *end, unsigned u_bits)
{
    uint64_t mask = ((uint64_t)1 << u_bits) - 1;
    for (; item < end; item++) {
        bry__entry entry = {item->key & mask, item->value};
        while (in < in_end && is_before(*in, entry))
            push(to, *in++);
        push(to, entry);
    }
    while (in < in_end)
        push(to, *in++);
}

bry_status bry__table_add_sorted(bry__table *made, const bry__table *table, bry__item *items,
                                 bry__item *spare, size_t n, const bry_allocator *allocator)
{
    build to = {.made = made, .allocator = allocator};
    if (!begin(&to, table, table->n + n, table->segments))
        return BRY_E_NOMEM;
    unsigned u_bits = bit_length(made->u_most[0]);
    for (size_t i = 0; i < n; i++) {
        bry__spot at = bry__table_spot(made, items[i].key);
        items[i].key = at.i << u_bits | at.u;
    }
    bry__items_arrange(items, spare, n, u_bits + bit_length(made->segments - 1));
    const bry__item *item = spare, *last = spare + n;
    bry_status status = BRY_OK;
    for (uint64_t i = 0; i < made->segments && status == BRY_OK; i++) {
        const bry__item *first = item;
        while (item < last && item->key >> u_bits == i)
            item++;
        size_t in = read_segment(table, made, i, to.read);
        status = reserve(&to, in + (size_t)(item - first));
        if (status != BRY_OK)
            break;
        add_items(&to, to.read, to.read + in, first, item, u_bits);
        status = put_segment(&to, i);
    }
    return end(&to, status);
}
