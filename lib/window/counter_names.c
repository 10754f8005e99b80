/*
 * A hash table of names that is never rebuilt: linear hashing. With 2^L + s buckets, s < 2^L, a
 * name is in the bucket that the low L bits of its hash say; or, where these are below s, the low
 * L + 1 bits. Growing is splitting bucket s in two, the second half at the end of the row;
 * shrinking is the reverse. A name more or less splits or joins a few buckets of about one name
 * each, so no operation ever stalls. The row of buckets is cut into pieces for the same reason.
 *
 *   directory ─► piece: 512 buckets ─► name ─► name       a name's block: next, value, length,
 * bytes ─► piece …
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

#include <assert.h>
#include <string.h>

enum {
    PIECE = 512, /* buckets */
    LEAST = 16, /* buckets in use */
    ROOM = 8, /* of a new directory */
    HASH_BITS = 48,
};
#define HASH_MASK (((uint64_t)1 << HASH_BITS) - 1)
#define TIES ((uint32_t)1 << 16)

/* The row grows at one name a bucket, and shrinks at one for so many buckets. */
enum { SHRINK_BELOW = 4 };

static uint64_t hash_of(const bry__counter_names *names, const void *bytes, size_t len)
{
    return bry_hash_key(names->seed, bytes, len).lo & HASH_MASK;
}

static uint64_t hash_of_name(const bry__counter_names *names, const bry__counter_name *name)
{
    return hash_of(names, name->bytes, name->len);
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

static bry__counter_name **chain_at(const bry__counter_names *names, uint64_t bucket)
{
    return &names->piece[bucket / PIECE][bucket % PIECE];
}

static bry__counter_name **chain_of(const bry__counter_names *names, uint64_t hash)
{
    unsigned depth;
    return chain_at(names, bucket_of(names, hash, &depth));
}

static bry_status resize_directory(bry__counter_names *names, size_t room)
{
    bry__counter_name ***piece = bry__alloc(&names->allocator, room * sizeof *piece);
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
    bry__counter_name **piece = bry__alloc(&names->allocator, PIECE * sizeof *piece);
    if (!piece)
        return BRY_E_NOMEM;
    names->piece[names->pieces++] = piece;
    return BRY_OK;
}

static void drop_piece(bry__counter_names *names)
{
    bry__counter_name **piece = names->piece[--names->pieces];
    bry__free(&names->allocator, piece, PIECE * sizeof *piece);
    if (names->room > ROOM && names->pieces < names->room / 4)
        resize_directory(names, names->room / 2); /* without memory it stays as large as it is */
}

/* Splits one bucket. Without memory for a further piece the chains grow longer instead. */
static void grow(bry__counter_names *names)
{
    if (names->buckets / PIECE == names->pieces && add_piece(names) != BRY_OK)
        return;
    unsigned level = level_of(names);
    uint64_t bit = (uint64_t)1 << level;
    bry__counter_name **from = chain_at(names, names->buckets - bit);
    bry__counter_name **to = chain_at(names, names->buckets);
    while (*from) {
        bry__counter_name *name = *from;
        if (hash_of_name(names, name) & bit) {
            *from = name->next;
            name->next = NULL;
            *to = name;
            to = &name->next;
        } else {
            from = &name->next;
        }
    }
    names->buckets++;
}

/* Joins the last bucket to the one that it was split from. */
static void shrink(bry__counter_names *names)
{
    names->buckets--;
    bry__counter_name **last = chain_at(names, names->buckets);
    bry__counter_name **end = chain_at(names, names->buckets - ((uint64_t)1 << level_of(names)));
    while (*end)
        end = &(*end)->next;
    *end = *last;
    *last = NULL;
    if (names->buckets % PIECE == 0)
        drop_piece(names);
}

/* ---- making -------------------------------------------------------------------------------- */

uint64_t bry__counter_names_bytes_empty(void)
{
    return ROOM * sizeof(bry__counter_name **) + PIECE * sizeof(bry__counter_name *);
}

static size_t size_of(size_t len)
{
    return offsetof(bry__counter_name, bytes) + len;
}

uint64_t bry__counter_names_bytes_each(size_t len)
{
    return size_of(len) + sizeof(bry__counter_name *);
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
        bry__counter_name **chain = chain_at(names, bucket);
        while (*chain) {
            bry__counter_name *name = *chain;
            *chain = name->next;
            bry__free(&names->allocator, name, size_of(name->len));
        }
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

/* ---- names --------------------------------------------------------------------------------- */

bry__counter_name *bry__counter_names_find(const bry__counter_names *names, const void *bytes,
                                           size_t len)
{
    bry__counter_name *name = *chain_of(names, hash_of(names, bytes, len));
    while (name && (name->len != len || (len && memcmp(name->bytes, bytes, len) != 0)))
        name = name->next;
    return name;
}

static bool tie_is_taken(const bry__counter_names *names, const bry__counter_name *chain,
                         uint64_t hash, uint32_t tie)
{
    for (; chain; chain = chain->next)
        if (chain->tie == tie && hash_of_name(names, chain) == hash)
            return true;
    return false;
}

bry_status bry__counter_names_add(bry__counter_names *names, const void *bytes, size_t len,
                                  bry__counter_name **added)
{
    assert(len <= BRY_COUNTER_NAME_MAX);
    uint64_t hash = hash_of(names, bytes, len);
    uint32_t tie = 0;
    while (tie < TIES && tie_is_taken(names, *chain_of(names, hash), hash, tie))
        tie++;
    if (tie == TIES)
        return BRY_E_FULL;
    bry__counter_name *name = bry__alloc(&names->allocator, size_of(len));
    if (!name)
        return BRY_E_NOMEM;
    name->len = (uint16_t)len;
    name->tie = (uint16_t)tie;
    name->fresh = true;
    if (len)
        memcpy(name->bytes, bytes, len);
    if (names->count >= names->buckets)
        grow(names);
    bry__counter_name **chain = chain_of(names, hash);
    name->next = *chain;
    *chain = name;
    names->count++;
    *added = name;
    return BRY_OK;
}

void bry__counter_names_remove(bry__counter_names *names, bry__counter_name *name)
{
    bry__counter_name **link = chain_of(names, hash_of_name(names, name));
    while (*link != name)
        link = &(*link)->next;
    *link = name->next;
    bry__free(&names->allocator, name, size_of(name->len));
    names->count--;
    /* As many as it takes for the row to fall as fast as the names. */
    for (int i = 0; i < SHRINK_BELOW; i++)
        if (names->buckets > LEAST && names->count < names->buckets / SHRINK_BELOW)
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

/* The first name of the chain at `from` or behind it. */
static const bry__counter_name *first_from(const bry__counter_names *names,
                                           const bry__counter_name *chain, uint64_t from,
                                           uint64_t *place)
{
    const bry__counter_name *first = NULL;
    for (; chain; chain = chain->next) {
        uint64_t here = place_of(names, chain);
        if (here >= from && (!first || here < *place)) {
            first = chain;
            *place = here;
        }
    }
    return first;
}

size_t bry__counter_names_scan(const bry__counter_names *names, uint64_t *cursor,
                               bry_counter_entry *entries, size_t room)
{
    size_t listed = 0;
    uint64_t at = *cursor, end, place = 0;
    do {
        unsigned depth;
        uint64_t bucket = bucket_of(names, reversed(at), &depth);
        end = reversed(bucket) + ((uint64_t)1 << (64 - depth)); /* 0 behind the last */
        const bry__counter_name *chain = *chain_at(names, bucket), *name;
        while ((name = first_from(names, chain, at, &place)) != NULL) {
            if (listed == room) {
                *cursor = place;
                return listed;
            }
            entries[listed++] = (bry_counter_entry){name->bytes, name->len, name->value};
            at = place + 1;
            if (at == 0)
                break;
        }
        at = end;
    } while (end != 0);
    *cursor = 0;
    return listed;
}
