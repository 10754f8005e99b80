/*
 * A hash table of names that is never rebuilt: linear hashing. With 2^L + s buckets, s < 2^L, a
 * name is in the bucket that the low L bits of its hash say; or, where these are below s, the low
 * L + 1 bits. Growing is splitting bucket s in two, the second half at the end of the row;
 * shrinking is the reverse. A name more or less splits or joins at most a few buckets of about four
 * names each, so no operation ever stalls. The row of buckets is cut into pieces for the same
 * reason.
 *
 * Among a million names following a pointer is a cache miss, so there are only two: to the
 * bucket, which is one cache line, and to the name. Eight more bits of each hash, the tags,
 * are in the line and select the name to compare: one of 255 other names is compared unnecessarily.
 *
 *   directory ─► piece: 128 lines    line of 64 bytes:  7 tags │ count │ 7 names ─► value, length,
 *             ─► piece …                                                            bytes
 *
 * A bucket with more than seven names continues in another line, which the seventh pointer points
 * to. Splitting a bucket never needs a line that is not there: what m names need, one line or
 * ceil((m - 1) / 6), grows by at most one when they are cut in two, and the new bucket brings one.
 * Joining may need one; without memory the row keeps its length.
 *
 * Listing uses the bits of the hash in reverse order, lowest bit first. In this order a bucket of
 * depth d (L or L + 1) is an interval of 2^(64 - d) places, splitting halves the interval, joining
 * unites two that are neighbours. A cursor is a place: everything before it was listed. That stays
 * true however the buckets change, so a name that is there throughout is always listed.
 *
 *   L = 2, s = 1     bucket 0    4    2         1         3
 *   places           ├────┼────┼─────────┼─────────┼─────────┤
 *                    0   2^61 2^62      2^63               2^64
 *
 * A listing may stop between any two names, so no two names may share a place. The place is
 * therefore made of 48 bits of the hash and of a 16-bit number, the tie, that distinguishes names
 * whose 48 bits agree, and that never changes.
 */
#include "counter/counter_names.h"

#include "common/allocator.h"
#include "common/attributes.h"
#include "common/endian.h"
#include "common/struct_size.h"

#include <assert.h>
#include <string.h>

enum {
    PIECE = 128, /* buckets: 8 KB, and a directory that a cache holds for millions of names */
    LEAST = 2, /* buckets in use, and in the first piece, which grows … */
    FEW = 4, /* … by one up to this many, and then doubles until it has PIECE */
    ROOM = 1, /* of a new directory */
    SLOTS = 7, /* of a line; if another line follows, the last one points to it */
    HASH_BITS = 48,
    GROW_ABOVE = 4, /* names per bucket, on average; the row shrinks below one */
};
#define HASH_MASK (((uint64_t)1 << HASH_BITS) - 1)
#define TIES ((uint32_t)1 << 16)

typedef struct bry__counter_line {
    uint8_t tag[SLOTS]; /* 0: no name */
    uint8_t state; /* number of names, from the first slot on, and the flag FURTHER */
    union {
        bry__counter_name *name;
        struct bry__counter_line *line;
    } slot[SLOTS];
} line;

enum { FURTHER = SLOTS + 1 };

static uint64_t names_hash_of(const bry__counter_names *names, const void *bytes, size_t len)
{
    return bry_hash_key(names->seed, bytes, len).lo & HASH_MASK;
}

static uint64_t hash_of_name(const bry__counter_names *names, const bry__counter_name *name)
{
    return names_hash_of(names, name->bytes, name->len);
}

bry__counter_key bry__counter_names_key(const bry__counter_names *names, const void *bytes,
                                        size_t len)
{
    return (bry__counter_key){bytes, len, names_hash_of(names, bytes, len)};
}

/* The highest of the 48 bits, which choose no bucket; names that share a place share them. */
static uint8_t names_tag_of(uint64_t hash)
{
    uint8_t tag = (uint8_t)(hash >> (HASH_BITS - 8));
    return tag ? tag : UINT8_MAX;
}

/* ---- lines --------------------------------------------------------------------------------- */

static unsigned names_count_in(const line *at)
{
    return at->state & (FURTHER - 1u);
}

static line *names_next_line(const line *at)
{
    return at->state & FURTHER ? at->slot[SLOTS - 1].line : NULL;
}

#define EACH_BYTE UINT64_C(0x0101010101010101)

/* The slots with this tag, each as the highest bit of its byte; occasionally with a false one after
 * a true one. */
static uint64_t slots_tagged(const line *at, uint8_t tag)
{
    uint64_t differs = bry__load64(at->tag) ^ tag * EACH_BYTE;
    return (differs - EACH_BYTE) & ~differs & (EACH_BYTE << 7 & UINT64_MAX >> 8);
}

static unsigned first_slot(uint64_t slots)
{
    return (unsigned)__builtin_ctzll(slots) / 8;
}

static void names_put_name(line *at, bry__counter_name *name, uint8_t tag)
{
    unsigned i = names_count_in(at);
    at->tag[i] = tag;
    at->slot[i].name = name;
    at->state++;
}

/* Lines that n names take. */
static uint64_t names_lines_for(uint64_t n)
{
    return n <= SLOTS ? 1 : (n + SLOTS - 3) / (SLOTS - 1);
}

/* A list of free lines, linked by their first slot. */
static void names_push_line(line **spare, line *gone)
{
    gone->slot[0].line = *spare;
    *spare = gone;
}

static line *names_pop_line(line **spare)
{
    line *taken = *spare;
    assert(taken);
    *spare = taken->slot[0].line;
    memset(taken, 0, sizeof *taken);
    return taken;
}

/* Appends a name to a bucket, whose last line is *at; takes a further line from *spare. */
static void write_name(line **at, line **spare, bry__counter_name *name, uint8_t tag)
{
    line *full = *at;
    if (names_count_in(full) == SLOTS) { /* the last name gives way to a pointer */
        *at = names_pop_line(spare);
        names_put_name(*at, full->slot[SLOTS - 1].name, full->tag[SLOTS - 1]);
        full->tag[SLOTS - 1] = 0;
        full->slot[SLOTS - 1].line = *at;
        full->state = FURTHER | (SLOTS - 1);
    }
    names_put_name(*at, name, tag);
}

/* ---- buckets ------------------------------------------------------------------------------- */

static unsigned names_level_of(const bry__counter_names *names)
{
    return 63u - (unsigned)__builtin_clzll(names->buckets);
}

/* The bucket of a hash, and the number of bits of the hash that chose it. */
static uint64_t names_bucket_of(const bry__counter_names *names, uint64_t hash, unsigned *depth)
{
    unsigned level = names_level_of(names);
    uint64_t low = (uint64_t)1 << level, bucket = hash & (low - 1);
    *depth = level;
    if (bucket < names->buckets - low) {
        bucket = hash & (low * 2 - 1);
        *depth = level + 1;
    }
    return bucket;
}

static line *names_line_at(const bry__counter_names *names, uint64_t bucket)
{
    return &names->piece[bucket / PIECE][bucket % PIECE];
}

static line *names_line_of(const bry__counter_names *names, uint64_t hash)
{
    unsigned depth;
    return names_line_at(names, names_bucket_of(names, hash, &depth));
}

static line *names_last_of(line *at)
{
    while (at->state & FURTHER)
        at = names_next_line(at);
    return at;
}

static uint64_t names_count_of(const line *at)
{
    uint64_t count = names_count_in(at);
    while ((at = names_next_line(at)) != NULL)
        count += names_count_in(at);
    return count;
}

/* BRY_E_NOMEM: the lines made so far stay in *spare. */
static bry_status make_lines(bry__counter_names *names, uint64_t n, line **spare)
{
    for (; n > 0; n--) {
        line *made = bry__alloc(names->allocator, sizeof *made);
        if (!made)
            return BRY_E_NOMEM;
        names_push_line(spare, made);
    }
    return BRY_OK;
}

static void free_lines(bry__counter_names *names, line *spare)
{
    while (spare) {
        line *gone = spare;
        spare = gone->slot[0].line;
        bry__free(names->allocator, gone, sizeof *gone);
    }
}

/* Empties a bucket whose names have been moved. */
static void clear_bucket(bry__counter_names *names, line *first)
{
    line *spare = NULL;
    for (line *at = names_next_line(first), *next; at; at = next) {
        next = names_next_line(at);
        names_push_line(&spare, at);
    }
    free_lines(names, spare);
    memset(first, 0, sizeof *first);
}

/* ---- the row ------------------------------------------------------------------------------- */

static bry_status resize_directory(bry__counter_names *names, size_t room)
{
    line **piece = bry__alloc(names->allocator, room * sizeof *piece);
    if (!piece)
        return BRY_E_NOMEM;
    memcpy(piece, names->piece, names->pieces * sizeof *piece);
    bry__free(names->allocator, names->piece, names->room * sizeof *piece);
    names->piece = piece;
    names->room = room;
    return BRY_OK;
}

static bry_status names_add_piece(bry__counter_names *names)
{
    if (names->pieces == names->room) {
        bry_status status = resize_directory(names, names->room * 2);
        if (status != BRY_OK)
            return status;
    }
    line *piece = bry__alloc(names->allocator, PIECE * sizeof *piece);
    if (!piece)
        return BRY_E_NOMEM;
    names->piece[names->pieces++] = piece;
    return BRY_OK;
}

/* The first piece with room for this many buckets; the common ones are copied. */
static bry_status resize_first_piece(bry__counter_names *names, unsigned room)
{
    line *piece = bry__alloc(names->allocator, room * sizeof *piece);
    if (!piece)
        return BRY_E_NOMEM;
    unsigned common = names->first_room < room ? names->first_room : room;
    if (common > 0)
        memcpy(piece, names->piece[0], common * sizeof *piece);
    bry__free(names->allocator, names->piece[0], names->first_room * sizeof *piece);
    names->piece[0] = piece;
    names->pieces = 1;
    names->first_room = room;
    return BRY_OK;
}

/* Makes room for one more bucket. */
static bry_status add_bucket(bry__counter_names *names)
{
    if (names->buckets == names->first_room && names->first_room < PIECE)
        return resize_first_piece(names, names->first_room < FEW ? names->first_room + 1
                                                                 : names->first_room * 2);
    return names->buckets / PIECE == names->pieces ? names_add_piece(names) : BRY_OK;
}

static void drop_piece(bry__counter_names *names)
{
    line *piece = names->piece[--names->pieces];
    bry__free(names->allocator, piece, PIECE * sizeof *piece);
    if (names->pieces <= names->room / 2)
        resize_directory(names, names->room / 2); /* without memory it keeps its size */
}

/* Prefetches all names of a line. */
BRY__PREFETCHING void fetch_names(const line *at)
{
    for (unsigned i = 0; i < names_count_in(at); i++)
        __builtin_prefetch(at->slot[i].name);
}

/* Splits one bucket. Without memory for a further piece buckets become fuller instead. */
static void names_grow(bry__counter_names *names)
{
    if (add_bucket(names) != BRY_OK)
        return;
    uint64_t bit = (uint64_t)1 << names_level_of(names);
    line *first = names_line_at(names, names->buckets - bit);
    line *half[2] = {first, names_line_at(names, names->buckets)}, *spare = NULL;
    line from = *first;
    memset(first, 0, sizeof *first);
    for (bool more = true; more;) {
        line *next = names_next_line(&from);
        fetch_names(&from);
        for (unsigned i = 0; i < names_count_in(&from); i++) {
            bry__counter_name *name = from.slot[i].name;
            bool upper = hash_of_name(names, name) & bit;
            write_name(&half[upper], &spare, name, from.tag[i]);
        }
        more = next != NULL;
        if (more) {
            from = *next;
            names_push_line(&spare, next);
        }
    }
    free_lines(names, spare);
    names->buckets++;
}

/* Joins the last bucket to the one that it was split from, unless there is no memory for it. */
static void names_shrink(bry__counter_names *names)
{
    uint64_t bucket = names->buckets - 1, level = 63u - (unsigned)__builtin_clzll(bucket);
    line *last = names_line_at(names, bucket),
         *into = names_line_at(names, bucket - ((uint64_t)1 << level));
    uint64_t there = names_count_of(into), more = names_count_of(last);
    line *spare = NULL;
    if (make_lines(names, names_lines_for(there + more) - names_lines_for(there), &spare) !=
        BRY_OK) {
        free_lines(names, spare);
        return;
    }
    line *end = names_last_of(into);
    const line *from = last;
    do {
        for (unsigned i = 0; i < names_count_in(from); i++)
            write_name(&end, &spare, from->slot[i].name, from->tag[i]);
        from = names_next_line(from);
    } while (from);
    clear_bucket(names, last);
    names->buckets = bucket;
    if (bucket >= PIECE && bucket % PIECE == 0)
        drop_piece(names);
    else if (bucket <= FEW ? bucket < names->first_room : bucket <= names->first_room / 2)
        resize_first_piece(names, bucket <= FEW ? (unsigned)bucket : names->first_room / 2);
}

/* ---- making -------------------------------------------------------------------------------- */

uint64_t bry__counter_names_bytes_empty(void)
{
    return ROOM * sizeof(line *) + LEAST * sizeof(line);
}

static size_t names_size_of(size_t len)
{
    return offsetof(bry__counter_name, bytes) + len;
}

uint64_t bry__counter_names_bytes_each(size_t len)
{
    return names_size_of(len) + sizeof(line) / GROW_ABOVE;
}

bry_status bry__counter_names_init(bry__counter_names *names, uint64_t seed,
                                   const bry_allocator *allocator)
{
    bry__counter_names made = {
        .allocator = allocator, .seed = seed, .buckets = LEAST, .room = ROOM};
    made.piece = bry__alloc(allocator, ROOM * sizeof *made.piece);
    if (!made.piece)
        return BRY_E_NOMEM;
    if (resize_first_piece(&made, LEAST) != BRY_OK) {
        bry__free(allocator, made.piece, ROOM * sizeof *made.piece);
        return BRY_E_NOMEM;
    }
    *names = made;
    return BRY_OK;
}

void bry__counter_names_clear(bry__counter_names *names)
{
    for (uint64_t bucket = 0; bucket < names->buckets; bucket++) {
        line *first = names_line_at(names, bucket);
        const line *at = first;
        do {
            for (unsigned i = 0; i < names_count_in(at); i++)
                bry__free(names->allocator, at->slot[i].name, names_size_of(at->slot[i].name->len));
            at = names_next_line(at);
        } while (at);
        clear_bucket(names, first);
    }
    while (names->pieces > 1)
        drop_piece(names);
    names->buckets = LEAST;
    names->count = 0;
    if (names->first_room > LEAST)
        resize_first_piece(names, LEAST); /* without memory it keeps its size */
}

void bry__counter_names_free(bry__counter_names *names)
{
    if (!names->piece)
        return;
    bry__counter_names_clear(names);
    bry__free(names->allocator, names->piece[0], names->first_room * sizeof **names->piece);
    bry__free(names->allocator, names->piece, names->room * sizeof *names->piece);
    *names = (bry__counter_names){0};
}

/* ---- copies -------------------------------------------------------------------------------- */

/* The copy's line `to` is empty. If memory runs out, what was copied so far is consistent. */
static bry_status names_copy_line(bry__counter_names *copy, line *to, const line *from)
{
    for (unsigned i = 0; i < names_count_in(from); i++) {
        size_t size = names_size_of(from->slot[i].name->len);
        bry__counter_name *name = bry__alloc_buffer(copy->allocator, size);
        if (!name)
            return BRY_E_NOMEM;
        memcpy(name, from->slot[i].name, size);
        names_put_name(to, name, from->tag[i]);
    }
    return BRY_OK;
}

static bry_status copy_bucket(bry__counter_names *copy, line *to, const line *from)
{
    bry_status status = names_copy_line(copy, to, from);
    while (status == BRY_OK && (from = names_next_line(from)) != NULL) {
        line *further = bry__alloc(copy->allocator, sizeof *further);
        if (!further)
            return BRY_E_NOMEM;
        to->slot[SLOTS - 1].line = further;
        to->state |= FURTHER;
        to = further;
        status = names_copy_line(copy, to, from);
    }
    return status;
}

bry_status bry__counter_names_clone(const bry__counter_names *names, bry__counter_names *copy,
                                    const bry_allocator *allocator)
{
    bry__counter_names made;
    bry_status status = bry__counter_names_init(&made, names->seed, allocator);
    if (status != BRY_OK)
        return status;
    if (names->room > made.room)
        status = resize_directory(&made, names->room);
    if (status == BRY_OK && names->first_room > made.first_room)
        status = resize_first_piece(&made, names->first_room);
    while (status == BRY_OK && made.pieces < names->pieces)
        status = names_add_piece(&made);
    if (status == BRY_OK) {
        made.buckets = names->buckets;
        made.count = names->count;
    }
    for (uint64_t bucket = 0; bucket < names->buckets && status == BRY_OK; bucket++)
        status = copy_bucket(&made, names_line_at(&made, bucket), names_line_at(names, bucket));
    if (status == BRY_OK)
        *copy = made;
    else
        bry__counter_names_free(&made);
    return status;
}

/* ---- names --------------------------------------------------------------------------------- */

void bry__counter_names_fetch_bucket(const bry__counter_names *names, uint64_t hash)
{
    const line *at = names_line_of(names, hash);
    __builtin_prefetch(at);
    __builtin_prefetch((const unsigned char *)(at + 1) - 1); /* if lines are not aligned */
    BRY__PREFETCHES();
}

bool bry__counter_names_fetch_name(const bry__counter_names *names, bry__counter_key key)
{
    const line *at = names_line_of(names, key.hash);
    uint64_t slots = slots_tagged(at, names_tag_of(key.hash));
    if (slots)
        __builtin_prefetch(at->slot[first_slot(slots)].name, 1);
    BRY__PREFETCHES();
    return slots || (at->state & FURTHER);
}

bry__counter_name *bry__counter_names_find(const bry__counter_names *names, bry__counter_key key)
{
    uint8_t tag = names_tag_of(key.hash);
    for (const line *at = names_line_of(names, key.hash); at; at = names_next_line(at)) {
        for (uint64_t slots = slots_tagged(at, tag); slots; slots &= slots - 1) {
            unsigned i = first_slot(slots);
            bry__counter_name *name = i < names_count_in(at) ? at->slot[i].name : NULL;
            if (name && name->len == key.len &&
                (key.len == 0 || memcmp(name->bytes, key.bytes, key.len) == 0))
                return name;
        }
    }
    return NULL;
}

bry__counter_name *bry__counter_names_get(const bry__counter_names *names, const void *bytes,
                                          size_t len)
{
    return len <= BRY_COUNTER_NAME_MAX
               ? bry__counter_names_find(names, bry__counter_names_key(names, bytes, len))
               : NULL;
}

static bool tie_is_taken(const bry__counter_names *names, uint64_t hash, uint32_t tie)
{
    for (const line *at = names_line_of(names, hash); at; at = names_next_line(at))
        for (unsigned i = 0; i < names_count_in(at); i++)
            if (at->tag[i] == names_tag_of(hash) && at->slot[i].name->tie == tie &&
                hash_of_name(names, at->slot[i].name) == hash)
                return true;
    return false;
}

bry_status bry__counter_names_add(bry__counter_names *names, bry__counter_key key,
                                  bry__counter_name **added)
{
    assert(key.len <= BRY_COUNTER_NAME_MAX);
    uint32_t tie = 0;
    while (tie < TIES && tie_is_taken(names, key.hash, tie))
        tie++;
    if (tie == TIES)
        return BRY_E_FULL;
    line *end = names_last_of(names_line_of(names, key.hash)), *spare = NULL;
    bry__counter_name *name = bry__alloc(names->allocator, names_size_of(key.len));
    if (!name || (names_count_in(end) == SLOTS && make_lines(names, 1, &spare) != BRY_OK)) {
        bry__free(names->allocator, name, names_size_of(key.len));
        return BRY_E_NOMEM;
    }
    name->len = (uint16_t)key.len;
    name->tie = (uint16_t)tie;
    name->fresh = true;
    if (key.len)
        memcpy(name->bytes, key.bytes, key.len);
    write_name(&end, &spare, name, names_tag_of(key.hash));
    names->count++;
    if (names->count > GROW_ABOVE * names->buckets)
        names_grow(names);
    *added = name;
    return BRY_OK;
}

/* Removes the last name of a bucket; if only one name is left in the last line, it moves to the
 * line before. */
static void names_drop_last(bry__counter_names *names, line *first)
{
    line *before = NULL, *last = first;
    for (; names_next_line(last); last = names_next_line(last))
        before = last;
    unsigned left = names_count_in(last) - 1;
    last->state = (uint8_t)left;
    last->tag[left] = 0;
    last->slot[left].name = NULL;
    if (before && left == 1) {
        before->state = SLOTS - 1;
        names_put_name(before, last->slot[0].name, last->tag[0]);
        bry__free(names->allocator, last, sizeof *last);
    }
}

void bry__counter_names_del(bry__counter_names *names, bry__counter_name *name)
{
    line *first = names_line_of(names, hash_of_name(names, name)), *last = names_last_of(first);
    unsigned end = names_count_in(last) - 1, slot = end;
    line *there = last;
    for (line *at = first; at; at = names_next_line(at))
        for (unsigned i = 0; i < names_count_in(at); i++)
            if (at->slot[i].name == name) {
                there = at;
                slot = i;
            }
    there->tag[slot] = last->tag[end];
    there->slot[slot] = last->slot[end];
    names_drop_last(names, first);
    bry__free(names->allocator, name, names_size_of(name->len));
    names->count--;
    /* Enough for the row to shrink as fast as the names. */
    for (int joined = 0; joined < GROW_ABOVE; joined++)
        if (names->buckets > LEAST && names->count < names->buckets)
            names_shrink(names);
}

/* ---- listing ------------------------------------------------------------------------------- */

static uint64_t names_reversed(uint64_t bits)
{
    bits = (bits >> 1 & UINT64_C(0x5555555555555555)) | (bits & UINT64_C(0x5555555555555555)) << 1;
    bits = (bits >> 2 & UINT64_C(0x3333333333333333)) | (bits & UINT64_C(0x3333333333333333)) << 2;
    bits = (bits >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (bits & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
    return __builtin_bswap64(bits);
}

static uint64_t names_place_of(const bry__counter_names *names, const bry__counter_name *name)
{
    return names_reversed(hash_of_name(names, name) | (uint64_t)name->tie << HASH_BITS);
}

enum { LISTED_AT_ONCE = 4 * SLOTS };

/* Names of one bucket in the order of their places. */
typedef struct listing {
    struct {
        uint64_t place;
        const bry__counter_name *name;
    } of[LISTED_AT_ONCE];
    unsigned n;
    bool more; /* there are more names */
} listing;

/* The first names from a place on. */
static void names_list(const bry__counter_names *names, const line *first, uint64_t from,
                       listing *to)
{
    to->n = 0;
    to->more = false;
    for (const line *at = first; at; at = names_next_line(at)) {
        fetch_names(at);
        for (unsigned i = 0; i < names_count_in(at); i++) {
            uint64_t place = names_place_of(names, at->slot[i].name);
            unsigned k = to->n;
            if (place < from)
                continue;
            if (k == LISTED_AT_ONCE) {
                to->more = true;
                if (place > to->of[--k].place)
                    continue;
            } else {
                to->n++;
            }
            for (; k > 0 && to->of[k - 1].place > place; k--)
                to->of[k] = to->of[k - 1];
            to->of[k].place = place;
            to->of[k].name = at->slot[i].name;
        }
    }
}

/* The bucket of a place; *end is the place after its last, 0 for the last bucket. */
static const line *names_bucket_at(const bry__counter_names *names, uint64_t place, uint64_t *end)
{
    unsigned depth;
    uint64_t bucket = names_bucket_of(names, names_reversed(place), &depth);
    *end = names_reversed(bucket) + ((uint64_t)1 << (64 - depth));
    return names_line_at(names, bucket);
}

size_t bry__counter_names_scan(const bry__counter_names *names, uint64_t *cursor,
                               bry_counter_entry *entries, size_t entry_size, size_t room)
{
    size_t listed = 0;
    uint64_t at = *cursor, end;
    listing found;
    do {
        const line *bucket = names_bucket_at(names, at, &end);
        if (end) { /* or listing would be one cache miss after the other */
            uint64_t after;
            fetch_names(names_bucket_at(names, end, &after));
            __builtin_prefetch(names_bucket_at(names, after, &after));
        }
        do {
            names_list(names, bucket, at, &found);
            for (unsigned i = 0; i < found.n; i++) {
                const bry__counter_name *name = found.of[i].name;
                if (listed == room) {
                    *cursor = found.of[i].place;
                    return listed;
                }
                bry_counter_entry entry = {name->bytes, name->len, name->value};
                bry__element_write(bry__element(entries, entry_size, listed++), entry_size, &entry,
                                   sizeof entry);
                at = found.of[i].place + 1; /* not 0, since more follow */
            }
        } while (found.more);
        at = end;
    } while (end != 0);
    *cursor = 0;
    return listed;
}
