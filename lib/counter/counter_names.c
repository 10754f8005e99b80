/*
 * A hash table of names that is never rebuilt: linear hashing. With 2^L + s buckets, s < 2^L, a
 * name is in the bucket that the low L bits of its hash say; or, where these are below s, the low
 * L + 1 bits. Growing is splitting bucket s in two, the second half at the end of the row;
 * shrinking is the reverse. A name more or less splits or joins at most a few buckets of about four
 * names each, so no operation ever stalls. The row of buckets is cut into pieces for the same
 * reason.
 *
 * Among a million names following a pointer is a cache miss. So a bucket is one block that contains
 * its names and values, and only the row comes before it, with eight bytes per bucket.
 *
 *   directory ─► piece: 1024 buckets ─► block: used, room │ value, hash, length, bytes │ value, …
 *             ─► piece …
 *
 * A name's place is its hash with the bits in reverse order, lowest bit first. In this order a
 * bucket of depth d (L or L + 1) is an interval of 2^(64 - d) places, splitting halves the
 * interval, joining unites two that are neighbours. A block is sorted by places, so splitting cuts
 * it in two, and joining appends one to the other. The cursor of a listing is a place: everything
 * before it was listed. That stays true however the buckets change, so a name that is there
 * throughout is always listed.
 *
 *   L = 2, s = 1     bucket 0    4    2         1         3
 *   places           ├────┼────┼─────────┼─────────┼─────────┤
 *                    0   2^61 2^62      2^63               2^64
 *
 * A listing may stop between any two names, so no two names may share a place. The place is
 * therefore made of 48 bits of the hash and of a number, the tie, that distinguishes names whose 48
 * bits agree, and that never changes.
 */
#include "counter/counter_names.h"

#include "common/allocator.h"
#include "common/attributes.h"
#include "common/struct_size.h"

#include <assert.h>
#include <string.h>

enum {
    PIECE = 1024, /* buckets: 8 KB, and a directory that a cache holds for millions of names */
    LEAST = 2, /* buckets in use, and in the first piece, which grows … */
    FEW = 4, /* … by one up to this many, and then doubles until it has PIECE */
    ROOM = 1, /* of a new directory */
    GROW_ABOVE = 4, /* names per bucket, on average; the row shrinks below one */
    LARGE = 8192, /* bytes of a block; a larger one is copied only to save half of it */
};
#define HASH_MASK (((uint64_t)1 << BRY__COUNTER_HASH_BITS) - 1)
#define TIES ((uint32_t)1 << BRY__COUNTER_TIE_BITS)

/* The names of a bucket, in the order of their places. An empty bucket has no block. */
typedef struct bry__counter_block {
    uint32_t used, room; /* bytes of names */
    unsigned char names[];
} block;

bry__counter_key bry__counter_names_key(const bry__counter_names *names, const void *bytes,
                                        size_t len)
{
    return (bry__counter_key){bytes, len, bry_hash_key(names->seed, bytes, len).lo & HASH_MASK};
}

static uint64_t names_reversed(uint64_t bits)
{
    bits = (bits >> 1 & UINT64_C(0x5555555555555555)) | (bits & UINT64_C(0x5555555555555555)) << 1;
    bits = (bits >> 2 & UINT64_C(0x3333333333333333)) | (bits & UINT64_C(0x3333333333333333)) << 2;
    bits = (bits >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (bits & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
    return __builtin_bswap64(bits);
}

/* Reversed, the 48 bits leave the lowest 16 of the place to the tie. */
static uint64_t names_place(uint64_t hash, uint32_t tie)
{
    return names_reversed(hash) | tie;
}

static uint64_t names_place_of(const bry__counter_name *name)
{
    return names_place(name->hash, name->tie);
}

/* ---- blocks -------------------------------------------------------------------------------- */

/* Bytes that a name takes in a block. */
static size_t names_size_of(size_t len)
{
    const size_t unit = _Alignof(bry__counter_name);
    return (offsetof(bry__counter_name, bytes) + len + unit - 1) / unit * unit;
}

static bry__counter_name *names_name_at(block *in, size_t at)
{
    return (bry__counter_name *)(void *)(in->names + at);
}

static size_t names_used(const block *in)
{
    return in ? in->used : 0;
}

/* The room of a block for this many bytes of names: in steps of a quarter to an eighth, which suit
 * common allocators. SIZE_MAX: too many. */
static size_t names_room_for(size_t used)
{
    const size_t least = 16;
    size_t size = sizeof(block) + used;
    size_t step = ((size_t)1 << (63 - __builtin_clzll((unsigned long long)size - 1))) / 4;
    if (step < least)
        step = least;
    size_t room = (size + step - 1) / step * step - sizeof(block);
    return room <= UINT32_MAX ? room : SIZE_MAX;
}

/* A block with room for this many bytes of names, without names; NULL without memory. */
static block *make_block(const bry__counter_names *names, size_t used)
{
    size_t room = names_room_for(used);
    block *made = room < SIZE_MAX ? bry__alloc_buffer(names->allocator, sizeof *made + room) : NULL;
    if (made)
        *made = (block){.used = 0, .room = (uint32_t)room};
    return made;
}

static void free_block(const bry__counter_names *names, block *gone)
{
    if (gone)
        bry__free(names->allocator, gone, sizeof *gone + gone->room);
}

static void names_append(block *to, const unsigned char *from, size_t size)
{
    memcpy(to->names + to->used, from, size);
    to->used += (uint32_t)size;
}

/* Frees the block of an empty bucket, or makes it as small as a new one if there is memory for a
 * copy: so a short name that a failed call added and deleted again leaves nothing behind. */
static void names_trim(const bry__counter_names *names, block **bucket)
{
    block *old = *bucket;
    if (old->used && names_room_for(old->used) >= old->room)
        return;
    block *made = old->used ? make_block(names, old->used) : NULL;
    if (old->used && !made)
        return;
    if (made)
        names_append(made, old->names, old->used);
    free_block(names, old);
    *bucket = made;
}

/* Makes a gap of `size` bytes at `at` of a bucket. BRY_E_NOMEM. */
static bry_status names_make_gap(const bry__counter_names *names, block **bucket, size_t at,
                                 size_t size)
{
    block *old = *bucket;
    size_t used = names_used(old);
    if (old && size <= old->room - used) {
        memmove(old->names + at + size, old->names + at, used - at);
        old->used += (uint32_t)size;
        return BRY_OK;
    }
    block *made = make_block(names, used + size);
    if (!made)
        return BRY_E_NOMEM;
    if (old) {
        memcpy(made->names, old->names, at);
        memcpy(made->names + at + size, old->names + at, used - at);
    }
    made->used = (uint32_t)(used + size);
    free_block(names, old);
    *bucket = made;
    return BRY_OK;
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

static block **names_bucket_at(const bry__counter_names *names, uint64_t bucket)
{
    return &names->piece[bucket / PIECE][bucket % PIECE];
}

static block **names_bucket_for(const bry__counter_names *names, uint64_t hash)
{
    unsigned depth;
    return names_bucket_at(names, names_bucket_of(names, hash, &depth));
}

/* Nearly all buckets are no longer than five cache lines. NULL is allowed. */
BRY__PREFETCHING void names_fetch_block(const block *wanted)
{
    for (size_t line = 0; wanted && line < 5; line++)
        __builtin_prefetch((const unsigned char *)wanted + line * BRY__LINE);
}

/* ---- the row ------------------------------------------------------------------------------- */

static bry_status resize_directory(bry__counter_names *names, size_t room)
{
    block ***piece = bry__alloc(names->allocator, room * sizeof *piece);
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
    block **piece = bry__alloc(names->allocator, PIECE * sizeof *piece);
    if (!piece)
        return BRY_E_NOMEM;
    if (names->pieces == names->room && resize_directory(names, names->room * 2) != BRY_OK) {
        bry__free(names->allocator, piece, PIECE * sizeof *piece);
        return BRY_E_NOMEM;
    }
    names->piece[names->pieces++] = piece;
    return BRY_OK;
}

/* The first piece with room for this many buckets; the common ones are copied. */
static bry_status resize_first_piece(bry__counter_names *names, unsigned room)
{
    block **piece = bry__alloc(names->allocator, room * sizeof *piece);
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
    block **piece = names->piece[--names->pieces];
    bry__free(names->allocator, piece, PIECE * sizeof *piece);
    if (names->pieces <= names->room / 2)
        resize_directory(names, names->room / 2); /* without memory it keeps its size */
}

/* Splits one bucket. Without memory, buckets become fuller instead. The row grows last, so that it
 * never has room that nothing takes back. */
static void names_grow(bry__counter_names *names)
{
    uint64_t bit = (uint64_t)1 << names_level_of(names), from = names->buckets - bit;
    block *lower = *names_bucket_at(names, from), *upper = NULL;
    size_t used = names_used(lower), cut = 0;
    while (cut < used && !(names_name_at(lower, cut)->hash & bit))
        cut += names_size_of(names_name_at(lower, cut)->len);
    if (cut < used) {
        upper = make_block(names, used - cut);
        if (!upper)
            return;
        names_append(upper, lower->names + cut, used - cut);
    }
    if (add_bucket(names) != BRY_OK) {
        free_block(names, upper);
        return;
    }
    *names_bucket_at(names, names->buckets++) = upper;
    if (upper) {
        lower->used = (uint32_t)cut;
        names_trim(names, names_bucket_at(names, from));
    }
}

/* Appends a bucket to another; afterwards it is empty. BRY_E_NOMEM. */
static bry_status names_join(const bry__counter_names *names, block **into, block **from)
{
    block *lower = *into, *upper = *from;
    if (lower && upper) {
        size_t used = lower->used;
        bry_status status = names_make_gap(names, into, used, upper->used);
        if (status != BRY_OK)
            return status;
        memcpy((*into)->names + used, upper->names, upper->used);
        free_block(names, upper);
    } else if (upper) {
        *into = upper;
    }
    *from = NULL;
    return BRY_OK;
}

/* Joins the last bucket to the one that it was split from, unless there is no memory for it. */
static void names_shrink(bry__counter_names *names)
{
    uint64_t bucket = names->buckets - 1, level = 63u - (unsigned)__builtin_clzll(bucket);
    if (names_join(names, names_bucket_at(names, bucket - ((uint64_t)1 << level)),
                   names_bucket_at(names, bucket)) != BRY_OK)
        return;
    names->buckets = bucket;
    if (bucket >= PIECE && bucket % PIECE == 0)
        drop_piece(names);
    else if (bucket <= FEW ? bucket < names->first_room : bucket <= names->first_room / 2)
        resize_first_piece(names, bucket <= FEW ? (unsigned)bucket : names->first_room / 2);
}

/* ---- making -------------------------------------------------------------------------------- */

uint64_t bry__counter_names_bytes_empty(void)
{
    return ROOM * sizeof(block **) + LEAST * sizeof(block *);
}

uint64_t bry__counter_names_bytes_each(size_t len)
{
    size_t size = GROW_ABOVE * names_size_of(len);
    return (sizeof(block) + names_room_for(size) + sizeof(block *)) / GROW_ABOVE;
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
    for (uint64_t i = 0; i < names->buckets; i++) {
        block **bucket = names_bucket_at(names, i);
        free_block(names, *bucket);
        *bucket = NULL;
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
    for (uint64_t i = 0; i < names->buckets && status == BRY_OK; i++) {
        const block *from = *names_bucket_at(names, i);
        block *to = from ? make_block(&made, from->used) : NULL;
        if (from && !to)
            status = BRY_E_NOMEM;
        else if (from)
            names_append(to, from->names, from->used);
        *names_bucket_at(&made, i) = to;
    }
    if (status == BRY_OK)
        *copy = made;
    else
        bry__counter_names_free(&made);
    return status;
}

/* ---- names --------------------------------------------------------------------------------- */

void bry__counter_names_fetch_bucket(const bry__counter_names *names, uint64_t hash)
{
    __builtin_prefetch(names_bucket_for(names, hash));
    BRY__PREFETCHES();
}

bool bry__counter_names_fetch_name(const bry__counter_names *names, bry__counter_key key)
{
    const block *bucket = *names_bucket_for(names, key.hash);
    names_fetch_block(bucket);
    BRY__PREFETCHES();
    return bucket != NULL;
}

bry__counter_name *bry__counter_names_find(const bry__counter_names *names, bry__counter_key key)
{
    block *bucket = *names_bucket_for(names, key.hash);
    for (size_t at = 0, used = names_used(bucket); at < used;) {
        bry__counter_name *name = names_name_at(bucket, at);
        if (name->hash == key.hash && name->len == key.len &&
            (key.len == 0 || memcmp(name->bytes, key.bytes, key.len) == 0))
            return name;
        at += names_size_of(name->len);
    }
    return NULL;
}

bry__counter_name *bry__counter_names_get(const bry__counter_names *names, const void *bytes,
                                          size_t len)
{
    return len <= BRY_COUNTERS_NAME_MAX
               ? bry__counter_names_find(names, bry__counter_names_key(names, bytes, len))
               : NULL;
}

/* Where a new name with this hash goes, and the lowest tie that is free there. */
static size_t names_new_place(block *bucket, uint64_t hash, uint32_t *tie)
{
    size_t at = 0, used = names_used(bucket);
    *tie = 0;
    while (at < used) {
        const bry__counter_name *name = names_name_at(bucket, at);
        if (name->hash == hash && name->tie == *tie)
            ++*tie;
        else if (names_place_of(name) > names_place(hash, *tie))
            break;
        at += names_size_of(name->len);
    }
    return at;
}

bry_status bry__counter_names_add(bry__counter_names *names, bry__counter_key key,
                                  bry__counter_name **added)
{
    assert(key.len <= BRY_COUNTERS_NAME_MAX);
    block **bucket = names_bucket_for(names, key.hash);
    uint32_t tie;
    size_t at = names_new_place(*bucket, key.hash, &tie), size = names_size_of(key.len);
    if (tie == TIES)
        return BRY_E_FULL;
    if (names_make_gap(names, bucket, at, size) != BRY_OK)
        return BRY_E_NOMEM;
    bry__counter_name *name = names_name_at(*bucket, at);
    *name = (bry__counter_name){.hash = key.hash & HASH_MASK,
                                .tie = tie & (TIES - 1),
                                .fresh = true,
                                .len = (uint16_t)key.len};
    if (key.len)
        memcpy(name->bytes, key.bytes, key.len);
    names->count++;
    if (names->count > GROW_ABOVE * names->buckets) {
        names_grow(names);
        name = bry__counter_names_find(names, key);
    }
    *added = name;
    return BRY_OK;
}

void bry__counter_names_del(bry__counter_names *names, bry__counter_name *name)
{
    block **bucket = names_bucket_for(names, name->hash), *in = *bucket;
    size_t at = (size_t)((unsigned char *)name - in->names), size = names_size_of(name->len);
    memmove(in->names + at, in->names + at + size, in->used - at - size);
    in->used -= (uint32_t)size;
    if (in->room <= LARGE || in->used <= in->room / 2)
        names_trim(names, bucket);
    names->count--;
    /* Enough for the row to shrink as fast as the names. */
    for (int joined = 0; joined < GROW_ABOVE; joined++)
        if (names->buckets > LEAST && names->count < names->buckets)
            names_shrink(names);
}

/* ---- listing ------------------------------------------------------------------------------- */

/* The bucket of a place; *end is the place after its last, 0 for the last bucket. */
static block *names_at_place(const bry__counter_names *names, uint64_t place, uint64_t *end)
{
    unsigned depth;
    uint64_t bucket = names_bucket_of(names, names_reversed(place), &depth);
    *end = names_reversed(bucket) + ((uint64_t)1 << (64 - depth));
    return *names_bucket_at(names, bucket);
}

size_t bry__counter_names_scan(const bry__counter_names *names, uint64_t *cursor,
                               bry_counters_entry *entries, size_t entry_size, size_t room)
{
    size_t listed = 0;
    uint64_t from = *cursor, end;
    do {
        block *bucket = names_at_place(names, from, &end);
        if (end) { /* or listing would be one cache miss after the other */
            uint64_t after;
            names_fetch_block(names_at_place(names, end, &after));
            if (after)
                names_fetch_block(names_at_place(names, after, &after));
        }
        for (size_t at = 0, used = names_used(bucket); at < used;) {
            const bry__counter_name *name = names_name_at(bucket, at);
            uint64_t place = names_place_of(name);
            at += names_size_of(name->len);
            if (place < from)
                continue;
            if (listed == room) {
                *cursor = place;
                return listed;
            }
            bry_counters_entry entry = {name->bytes, name->len, name->value};
            bry__struct_write(bry__element(entries, entry_size, listed++), entry_size, &entry,
                              sizeof entry);
        }
        from = end;
    } while (end != 0);
    *cursor = 0;
    return listed;
}
