/*
 * A hash table of names that is never rebuilt: linear hashing. With 2^L + s buckets, s < 2^L, a
 * name is in the bucket that the low L bits of its hash say; or, where these are below s, the low
 * L + 1 bits. Growing is splitting bucket s in two, the second half at the end of the row;
 * shrinking is the reverse. A name more or less splits or joins at most a few buckets of about four
 * names each, so no operation ever stalls. The row of buckets is cut into pieces for the same
 * reason.
 *
 * Among a million names each step along pointers is a wait for memory, so there are but two: to the
 * bucket, which is a line of the cache, and to the name. Eight more bits of each hash, the tags,
 * stand in the line and tell which name to look at: of 255 others one is looked at in vain.
 *
 *   directory ─► piece: 64 lines     line of 64 bytes:  7 tags │ count │ 7 names ─► value, length,
 *             ─► piece …                                                            bytes
 *
 * A bucket with more than seven names goes on in a line of its own, which the seventh pointer leads
 * to. Splitting a bucket never needs a line that is not there: what m names need, one line or
 * ceil((m - 1) / 6), grows by at most one when they are cut in two, and the new bucket brings one.
 * Joining may need one; without memory the row stays as long as it is.
 *
 * Listing goes by the bits of the hash in reverse order, lowest bit first. Seen so, a bucket of
 * depth d (L or L + 1) is an interval of 2^(64 - d) places, splitting halves the interval, joining
 * unites two that are neighbours. A cursor is a place: everything before it was listed. That stays
 * true however the buckets change, so what is there throughout is listed.
 *
 *   L = 2, s = 1     bucket 0    4    2         1         3
 *   places           ├────┼────┼─────────┼─────────┼─────────┤
 *                    0   2^61 2^62      2^63               2^64
 *
 * A listing may have to stop between any two names, so no two names may share a place. The place is
 * therefore taken from 48 bits of the hash and from a number of 16 bits, the tie, that tells those
 * apart whose 48 bits agree, and that a name keeps for life.
 */
#include "window/counter_names.h"

#include "common/allocator.h"
#include "common/attributes.h"
#include "common/endian.h"
#include "common/struct_size.h"

#include <assert.h>
#include <string.h>

enum {
    PIECE = 64, /* buckets */
    LEAST = 16, /* buckets in use */
    ROOM = 8, /* of a new directory */
    SLOTS = 7, /* of a line; where another line follows the last leads there */
    HASH_BITS = 48,
};
#define HASH_MASK (((uint64_t)1 << HASH_BITS) - 1)
#define TIES ((uint32_t)1 << 16)

/* The row grows at so many names a bucket on average, and shrinks at one. */
enum { GROW_ABOVE = 4 };

typedef struct bry__counter_line {
    uint8_t tag[SLOTS]; /* 0: no name */
    uint8_t state; /* how many names, from the first slot on; and FURTHER */
    union {
        bry__counter_name *name;
        struct bry__counter_line *line;
    } slot[SLOTS];
} line;

enum { FURTHER = SLOTS + 1 };

static uint64_t hash_of(const bry__counter_names *names, const void *bytes, size_t len)
{
    return bry_hash_key(names->seed, bytes, len).lo & HASH_MASK;
}

static uint64_t hash_of_name(const bry__counter_names *names, const bry__counter_name *name)
{
    return hash_of(names, name->bytes, name->len);
}

bry__counter_key bry__counter_names_key(const bry__counter_names *names, const void *bytes,
                                        size_t len)
{
    return (bry__counter_key){bytes, len, hash_of(names, bytes, len)};
}

/* The uppermost of the 48 bits: they do not choose a bucket, and names that share a place share
 * them. */
static uint8_t tag_of(uint64_t hash)
{
    uint8_t tag = (uint8_t)(hash >> (HASH_BITS - 8));
    return tag ? tag : UINT8_MAX;
}

/* ---- lines --------------------------------------------------------------------------------- */

static unsigned count_in(const line *at)
{
    return at->state & (FURTHER - 1u);
}

static line *after(const line *at)
{
    return at->state & FURTHER ? at->slot[SLOTS - 1].line : NULL;
}

#define EACH_BYTE UINT64_C(0x0101010101010101)

/* The slots whose tag is this one, each as the highest bit of its byte; now and then one more that
 * lies behind such a one. */
static uint64_t slots_tagged(const line *at, uint8_t tag)
{
    uint64_t differs = bry__load64(at->tag) ^ tag * EACH_BYTE;
    return (differs - EACH_BYTE) & ~differs & (EACH_BYTE << 7 & UINT64_MAX >> 8);
}

static unsigned first_slot(uint64_t slots)
{
    return (unsigned)__builtin_ctzll(slots) / 8;
}

static void put_name(line *at, bry__counter_name *name, uint8_t tag)
{
    unsigned i = count_in(at);
    at->tag[i] = tag;
    at->slot[i].name = name;
    at->state++;
}

/* Lines that so many names take. */
static uint64_t lines_for(uint64_t n)
{
    return n <= SLOTS ? 1 : (n + SLOTS - 3) / (SLOTS - 1);
}

/* Lines without names, each leading to the next by its first slot. */
static void push_line(line **spare, line *gone)
{
    gone->slot[0].line = *spare;
    *spare = gone;
}

static line *pop_line(line **spare)
{
    line *taken = *spare;
    assert(taken);
    *spare = taken->slot[0].line;
    memset(taken, 0, sizeof *taken);
    return taken;
}

/* Puts a name behind the others of a bucket, whose last line is *at; a line more is taken from
 * *spare. */
static void write_name(line **at, line **spare, bry__counter_name *name, uint8_t tag)
{
    line *full = *at;
    if (count_in(full) == SLOTS) { /* the last name makes room for where the next line is */
        *at = pop_line(spare);
        put_name(*at, full->slot[SLOTS - 1].name, full->tag[SLOTS - 1]);
        full->tag[SLOTS - 1] = 0;
        full->slot[SLOTS - 1].line = *at;
        full->state = FURTHER | (SLOTS - 1);
    }
    put_name(*at, name, tag);
}

/* ---- buckets ------------------------------------------------------------------------------- */

static unsigned level_of(const bry__counter_names *names)
{
    return 63u - (unsigned)__builtin_clzll(names->buckets);
}

/* The bucket of a hash, and how many bits of the hash decided. */
static uint64_t bucket_of(const bry__counter_names *names, uint64_t hash, unsigned *depth)
{
    unsigned level = level_of(names);
    uint64_t low = (uint64_t)1 << level, bucket = hash & (low - 1);
    *depth = level;
    if (bucket < names->buckets - low) {
        bucket = hash & (low * 2 - 1);
        *depth = level + 1;
    }
    return bucket;
}

static line *line_at(const bry__counter_names *names, uint64_t bucket)
{
    return &names->piece[bucket / PIECE][bucket % PIECE];
}

static line *line_of(const bry__counter_names *names, uint64_t hash)
{
    unsigned depth;
    return line_at(names, bucket_of(names, hash, &depth));
}

static line *last_of(line *at)
{
    while (at->state & FURTHER)
        at = after(at);
    return at;
}

static uint64_t count_of(const line *at)
{
    uint64_t count = count_in(at);
    while ((at = after(at)) != NULL)
        count += count_in(at);
    return count;
}

/* BRY_E_NOMEM: those that there were stay. */
static bry_status make_lines(bry__counter_names *names, uint64_t n, line **spare)
{
    for (; n > 0; n--) {
        line *made = bry__alloc(&names->allocator, sizeof *made);
        if (!made)
            return BRY_E_NOMEM;
        push_line(spare, made);
    }
    return BRY_OK;
}

static void free_lines(bry__counter_names *names, line *spare)
{
    while (spare) {
        line *gone = spare;
        spare = gone->slot[0].line;
        bry__free(&names->allocator, gone, sizeof *gone);
    }
}

/* Empties a bucket whose names are elsewhere. */
static void clear_bucket(bry__counter_names *names, line *first)
{
    line *spare = NULL;
    for (line *at = after(first), *next; at; at = next) {
        next = after(at);
        push_line(&spare, at);
    }
    free_lines(names, spare);
    memset(first, 0, sizeof *first);
}

/* ---- the row ------------------------------------------------------------------------------- */

static bry_status resize_directory(bry__counter_names *names, size_t room)
{
    line **piece = bry__alloc(&names->allocator, room * sizeof *piece);
    if (!piece)
        return BRY_E_NOMEM;
    memcpy(piece, names->piece, names->pieces * sizeof *piece);
    bry__free(&names->allocator, names->piece, names->room * sizeof *piece);
    names->piece = piece;
    names->room = room;
    return BRY_OK;
}

static bry_status add_piece(bry__counter_names *names)
{
    if (names->pieces == names->room) {
        bry_status status = resize_directory(names, names->room * 2);
        if (status != BRY_OK)
            return status;
    }
    line *piece = bry__alloc(&names->allocator, PIECE * sizeof *piece);
    if (!piece)
        return BRY_E_NOMEM;
    names->piece[names->pieces++] = piece;
    return BRY_OK;
}

static void drop_piece(bry__counter_names *names)
{
    line *piece = names->piece[--names->pieces];
    bry__free(&names->allocator, piece, PIECE * sizeof *piece);
    if (names->room > ROOM && names->pieces < names->room / 4)
        resize_directory(names, names->room / 2); /* without memory it stays as large as it is */
}

/* All names of a line on their way to the cache. */
BRY__PREFETCHING void fetch_names(const line *at)
{
    for (unsigned i = 0; i < count_in(at); i++)
        __builtin_prefetch(at->slot[i].name);
}

/* Splits one bucket. Without memory for a further piece buckets become fuller instead. */
static void grow(bry__counter_names *names)
{
    if (names->buckets / PIECE == names->pieces && add_piece(names) != BRY_OK)
        return;
    uint64_t bit = (uint64_t)1 << level_of(names);
    line *first = line_at(names, names->buckets - bit);
    line *half[2] = {first, line_at(names, names->buckets)}, *spare = NULL;
    line from = *first;
    memset(first, 0, sizeof *first);
    for (bool more = true; more;) {
        line *next = after(&from);
        fetch_names(&from);
        for (unsigned i = 0; i < count_in(&from); i++) {
            bry__counter_name *name = from.slot[i].name;
            bool upper = hash_of_name(names, name) & bit;
            write_name(&half[upper], &spare, name, from.tag[i]);
        }
        more = next != NULL;
        if (more) {
            from = *next;
            push_line(&spare, next);
        }
    }
    free_lines(names, spare);
    names->buckets++;
}

/* Joins the last bucket to the one that it was split from, or leaves it without memory for that. */
static void shrink(bry__counter_names *names)
{
    uint64_t bucket = names->buckets - 1, level = 63u - (unsigned)__builtin_clzll(bucket);
    line *last = line_at(names, bucket), *into = line_at(names, bucket - ((uint64_t)1 << level));
    uint64_t there = count_of(into), more = count_of(last);
    line *spare = NULL;
    if (make_lines(names, lines_for(there + more) - lines_for(there), &spare) != BRY_OK) {
        free_lines(names, spare);
        return;
    }
    line *end = last_of(into);
    const line *from = last;
    do {
        for (unsigned i = 0; i < count_in(from); i++)
            write_name(&end, &spare, from->slot[i].name, from->tag[i]);
        from = after(from);
    } while (from);
    clear_bucket(names, last);
    names->buckets = bucket;
    if (bucket % PIECE == 0)
        drop_piece(names);
}

/* ---- making -------------------------------------------------------------------------------- */

uint64_t bry__counter_names_bytes_empty(void)
{
    return ROOM * sizeof(line *) + PIECE * sizeof(line);
}

static size_t size_of(size_t len)
{
    return offsetof(bry__counter_name, bytes) + len;
}

uint64_t bry__counter_names_bytes_each(size_t len)
{
    return size_of(len) + sizeof(line) / GROW_ABOVE;
}

bry_status bry__counter_names_init(bry__counter_names *names, uint64_t seed,
                                   const bry_allocator *allocator)
{
    bry__counter_names made = {
        .allocator = *allocator, .seed = seed, .buckets = LEAST, .room = ROOM};
    made.piece = bry__alloc(allocator, ROOM * sizeof *made.piece);
    if (!made.piece)
        return BRY_E_NOMEM;
    if (add_piece(&made) != BRY_OK) {
        bry__free(allocator, made.piece, ROOM * sizeof *made.piece);
        return BRY_E_NOMEM;
    }
    *names = made;
    return BRY_OK;
}

void bry__counter_names_clear(bry__counter_names *names)
{
    for (uint64_t bucket = 0; bucket < names->buckets; bucket++) {
        line *first = line_at(names, bucket);
        const line *at = first;
        do {
            for (unsigned i = 0; i < count_in(at); i++)
                bry__free(&names->allocator, at->slot[i].name, size_of(at->slot[i].name->len));
            at = after(at);
        } while (at);
        clear_bucket(names, first);
    }
    while (names->pieces > 1)
        drop_piece(names);
    names->buckets = LEAST;
    names->count = 0;
}

void bry__counter_names_free(bry__counter_names *names)
{
    if (!names->piece)
        return;
    bry__counter_names_clear(names);
    bry__free(&names->allocator, names->piece[0], PIECE * sizeof **names->piece);
    bry__free(&names->allocator, names->piece, names->room * sizeof *names->piece);
    *names = (bry__counter_names){0};
}

/* ---- copies -------------------------------------------------------------------------------- */

/* The copy's line `to` is empty. What was copied when memory runs out is whole. */
static bry_status copy_line(bry__counter_names *copy, line *to, const line *from)
{
    for (unsigned i = 0; i < count_in(from); i++) {
        size_t size = size_of(from->slot[i].name->len);
        bry__counter_name *name = bry__alloc_buffer(&copy->allocator, size);
        if (!name)
            return BRY_E_NOMEM;
        memcpy(name, from->slot[i].name, size);
        put_name(to, name, from->tag[i]);
    }
    return BRY_OK;
}

static bry_status copy_bucket(bry__counter_names *copy, line *to, const line *from)
{
    bry_status status = copy_line(copy, to, from);
    while (status == BRY_OK && (from = after(from)) != NULL) {
        line *further = bry__alloc(&copy->allocator, sizeof *further);
        if (!further)
            return BRY_E_NOMEM;
        to->slot[SLOTS - 1].line = further;
        to->state |= FURTHER;
        to = further;
        status = copy_line(copy, to, from);
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
    while (status == BRY_OK && made.pieces < names->pieces)
        status = add_piece(&made);
    if (status == BRY_OK) {
        made.buckets = names->buckets;
        made.count = names->count;
    }
    for (uint64_t bucket = 0; bucket < names->buckets && status == BRY_OK; bucket++)
        status = copy_bucket(&made, line_at(&made, bucket), line_at(names, bucket));
    if (status == BRY_OK)
        *copy = made;
    else
        bry__counter_names_free(&made);
    return status;
}

/* ---- names --------------------------------------------------------------------------------- */

void bry__counter_names_fetch_bucket(const bry__counter_names *names, bry__counter_key key)
{
    const line *at = line_of(names, key.hash);
    __builtin_prefetch(at);
    __builtin_prefetch((const unsigned char *)(at + 1) - 1); /* where lines are not aligned */
}

void bry__counter_names_fetch_name(const bry__counter_names *names, bry__counter_key key)
{
    const line *at = line_of(names, key.hash);
    uint64_t slots = slots_tagged(at, tag_of(key.hash));
    if (slots)
        __builtin_prefetch(at->slot[first_slot(slots)].name, 1);
}

bry__counter_name *bry__counter_names_find(const bry__counter_names *names, bry__counter_key key)
{
    uint8_t tag = tag_of(key.hash);
    for (const line *at = line_of(names, key.hash); at; at = after(at)) {
        for (uint64_t slots = slots_tagged(at, tag); slots; slots &= slots - 1) {
            unsigned i = first_slot(slots);
            bry__counter_name *name = i < count_in(at) ? at->slot[i].name : NULL;
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
    for (const line *at = line_of(names, hash); at; at = after(at))
        for (unsigned i = 0; i < count_in(at); i++)
            if (at->tag[i] == tag_of(hash) && at->slot[i].name->tie == tie &&
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
    line *end = last_of(line_of(names, key.hash)), *spare = NULL;
    bry__counter_name *name = bry__alloc(&names->allocator, size_of(key.len));
    if (!name || (count_in(end) == SLOTS && make_lines(names, 1, &spare) != BRY_OK)) {
        bry__free(&names->allocator, name, size_of(key.len));
        return BRY_E_NOMEM;
    }
    name->len = (uint16_t)key.len;
    name->tie = (uint16_t)tie;
    name->fresh = true;
    if (key.len)
        memcpy(name->bytes, key.bytes, key.len);
    write_name(&end, &spare, name, tag_of(key.hash));
    names->count++;
    if (names->count > GROW_ABOVE * names->buckets)
        grow(names);
    *added = name;
    return BRY_OK;
}

/* Takes the last name of a bucket away; the line before the last takes the only one that is left in
 * the last. */
static void drop_last(bry__counter_names *names, line *first)
{
    line *before = NULL, *last = first;
    for (; after(last); last = after(last))
        before = last;
    unsigned left = count_in(last) - 1;
    last->state = (uint8_t)left;
    last->tag[left] = 0;
    last->slot[left].name = NULL;
    if (before && left == 1) {
        before->state = SLOTS - 1;
        put_name(before, last->slot[0].name, last->tag[0]);
        bry__free(&names->allocator, last, sizeof *last);
    }
}

void bry__counter_names_del(bry__counter_names *names, bry__counter_name *name)
{
    line *first = line_of(names, hash_of_name(names, name)), *last = last_of(first);
    unsigned end = count_in(last) - 1, slot = end;
    line *there = last;
    for (line *at = first; at; at = after(at))
        for (unsigned i = 0; i < count_in(at); i++)
            if (at->slot[i].name == name) {
                there = at;
                slot = i;
            }
    there->tag[slot] = last->tag[end];
    there->slot[slot] = last->slot[end];
    drop_last(names, first);
    bry__free(&names->allocator, name, size_of(name->len));
    names->count--;
    /* As many as it takes for the row to fall as fast as the names. */
    for (int joined = 0; joined < GROW_ABOVE; joined++)
        if (names->buckets > LEAST && names->count < names->buckets)
            shrink(names);
}

/* ---- listing ------------------------------------------------------------------------------- */

static uint64_t reversed(uint64_t bits)
{
    bits = (bits >> 1 & UINT64_C(0x5555555555555555)) | (bits & UINT64_C(0x5555555555555555)) << 1;
    bits = (bits >> 2 & UINT64_C(0x3333333333333333)) | (bits & UINT64_C(0x3333333333333333)) << 2;
    bits = (bits >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (bits & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
    return __builtin_bswap64(bits);
}

static uint64_t place_of(const bry__counter_names *names, const bry__counter_name *name)
{
    return reversed(hash_of_name(names, name) | (uint64_t)name->tie << HASH_BITS);
}

enum { LISTED_AT_ONCE = 4 * SLOTS };

/* Names of one bucket in the order of their places. */
typedef struct listing {
    struct {
        uint64_t place;
        const bry__counter_name *name;
    } of[LISTED_AT_ONCE];
    unsigned n;
    bool more; /* there are others behind */
} listing;

/* The first ones from a place on. */
static void list(const bry__counter_names *names, const line *first, uint64_t from, listing *to)
{
    to->n = 0;
    to->more = false;
    for (const line *at = first; at; at = after(at)) {
        fetch_names(at);
        for (unsigned i = 0; i < count_in(at); i++) {
            uint64_t place = place_of(names, at->slot[i].name);
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

size_t bry__counter_names_scan(const bry__counter_names *names, uint64_t *cursor,
                               bry_counter_entry *entries, size_t entry_size, size_t room)
{
    size_t listed = 0;
    uint64_t at = *cursor, end;
    listing found;
    do {
        unsigned depth;
        uint64_t bucket = bucket_of(names, reversed(at), &depth);
        end = reversed(bucket) + ((uint64_t)1 << (64 - depth)); /* 0 behind the last */
        do {
            list(names, line_at(names, bucket), at, &found);
            for (unsigned i = 0; i < found.n; i++) {
                const bry__counter_name *name = found.of[i].name;
                if (listed == room) {
                    *cursor = found.of[i].place;
                    return listed;
                }
                bry_counter_entry entry = {name->bytes, name->len, name->value};
                bry__element_write(bry__element(entries, entry_size, listed++), entry_size, &entry,
                                   sizeof entry);
                at = found.of[i].place + 1; /* where more follow it is not 0 */
            }
        } while (found.more);
        at = end;
    } while (end != 0);
    *cursor = 0;
    return listed;
}
