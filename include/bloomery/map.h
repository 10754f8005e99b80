/*
 * Map: what is the value of this key?
 *
 * A map keeps a value for each key in a few bytes a key, whatever the length of the keys, which it
 * does not keep. Values are byte strings of which many keys share a few (thousands of values under
 * millions of keys), or small integers.
 *
 * It can be wrong in three ways, which are always reported apart:
 *   false positive  a value for a key that is not there
 *   false negative  "absent" or "unsure" for a key that is there
 *   incorrect       another value than the key's
 * `error` bounds the first as a share of the absent keys asked for, and the sum of the other two as
 * a share of the present ones.
 *
 * Engines: compact (the default) keeps a fingerprint and a value code for each key. It errs only
 * between two keys that have the same fingerprint: the later one takes over the value, and deleting
 * either deletes both. It never answers BRY_UNSURE. (Each deletion of another key is a further
 * small chance to lose one's own entry, so where many times the capacity are deleted while a key
 * stays, that adds up: by error / capacity each.) kbf is the key-value Bloom filter: some keys
 * cannot be told from their neighbours and are answered with BRY_UNSURE, and a change of such a key
 * is refused; in exchange two maps can be merged, and a part taken out again by
 * bry_map_del_pair(), without looking anything up. It takes about seven times the memory.
 *
 * kbf drifts where keys come and go. A key that it is unsure of cannot be deleted and stays as a
 * ghost. The share of deletions that leave one is estimated.false_negative, which starts at or
 * below the error and rises with the number of ghosts. Planned for 20,000 keys at an error of
 * 0.001, it counts 1 % too many after 20 turnovers of all keys, 9 % after 120, 40 % after 400; a
 * fixed map of 24,000 then refuses many new keys as unsure or full. stats.ghosts tells how many
 * there are, and bry_map_rebuild() removes them. Callers who know the value can use
 * bry_map_del_pair(), which leaves none.
 *
 * At capacity: a map grows unless it is created `fixed`. Growing, it adds tables that are planned
 * at a falling share of the error, so that the promise holds for any number of keys; stats show
 * what that costs. compact grows to 2^40 keys, or to about error · 2^56 where that is less, because
 * fingerprints have at most 62 bits. A fixed map refuses further keys with BRY_E_FULL.
 */
#ifndef BLOOMERY_MAP_H
#define BLOOMERY_MAP_H

#include <bloomery/base.h>
#include <bloomery/hash.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bry_map bry_map;

/* ---- values -------------------------------------------------------------------------------- */

/* The longest value, in bytes. */
#define BRY_MAP_VALUE_MAX 65535u

/* The most distinct byte strings, and the widest integers. Engine kbf takes fewer of both. */
#define BRY_MAP_VALUES_MAX UINT32_MAX
#define BRY_MAP_KBF_VALUES_MAX 16383u
#define BRY_MAP_VALUE_BITS_MAX 32u
#define BRY_MAP_KBF_VALUE_BITS_MAX 13u

/* The smallest error that can be asked for. */
#define BRY_MAP_ERROR_MIN 1e-9

/*
 * A value, given or received. In a map of byte strings bytes and len count, and the empty string is
 * a value like any other (bytes may then be NULL); in a map of integers, number. What a map hands
 * out points into the map: it is good until the next call that changes or destroys the map, and is
 * not NUL-terminated. Copy what you keep. For the same reason a value that is given to a call that
 * changes a map must not point into that map.
 */
typedef struct bry_map_value {
    const void *bytes; /* of a byte string; NULL for an integer */
    size_t len; /* how many, at most BRY_MAP_VALUE_MAX */
    uint64_t number; /* the integer, in a map that was created with value_bits */
} bry_map_value;

static inline bry_map_value bry_map_value_bytes(const void *bytes, size_t len)
{
    bry_map_value value = {bytes, len, 0};
    return value;
}

static inline bry_map_value bry_map_value_number(uint64_t number)
{
    bry_map_value value = {NULL, 0, number};
    return value;
}

/* ---- making one ---------------------------------------------------------------------------- */

/* How the cells of engine kbf are dimensioned. */
typedef enum bry_map_layout {
    BRY_MAP_TUNED = 0, /* fewest cells that keep all three errors within the one asked for */
    BRY_MAP_PAPER = 1, /* the papers': a Bloom filter's size for that rate of false positives */
} bry_map_layout;

/* Options of engine kbf. */
typedef struct bry_map_kbf {
    bry_map_layout layout; /* 0: tuned */
    /* the exact shape, as options_like() copies it; 0 in both: planned from capacity and error */
    uint32_t hashes; /* cells a key, 1 to 32 */
    uint64_t cells; /* a multiple of hashes; at most 16,384 for each key of the capacity, and 65,536
                       more */
} bry_map_kbf;

typedef struct bry_map_options {
    size_t struct_size;
    bry_engine engine; /* auto (= compact), compact or kbf */
    bool fixed; /* false: grows past its capacity; true: BRY_E_FULL there */
    uint64_t capacity; /* keys to plan for, 1 to BRY_CAPACITY_MAX; 0: 1000 */
    double error; /* see above, BRY_MAP_ERROR_MIN to BRY_ERROR_MAX; 0: 0.001 */
    uint32_t value_bits; /* 0: values are byte strings; else integers of so many bits: compact 1 to
                            BRY_MAP_VALUE_BITS_MAX, kbf 1 to BRY_MAP_KBF_VALUE_BITS_MAX */
    uint64_t values; /* distinct byte strings to plan for; 0: 1000. compact: a hint, up to
                        BRY_MAP_VALUES_MAX may come; kbf: 1 to BRY_MAP_KBF_VALUES_MAX, a limit,
                        rounded up to the next 2^t - 1 (at least 255) */
    uint64_t seed; /* for hashing keys; 0: a random one is drawn at creation */
    const bry_allocator *allocator; /* NULL: malloc and free */
    bry_map_kbf kbf; /* of engine kbf alone */
} bry_map_options;

#define BRY_MAP_OPTIONS                                                                            \
    {                                                                                              \
        sizeof(bry_map_options), BRY_ENGINE_AUTO, false, 0, 0, 0, 0, 0, NULL,                      \
        {                                                                                          \
            BRY_MAP_TUNED, 0, 0                                                                    \
        }                                                                                          \
    }

/* The three ways of being wrong, as shares. */
typedef struct bry_map_errors {
    double false_positive; /* of absent keys asked for */
    double false_negative; /* of present keys asked for: absent or unsure */
    double incorrect; /* of present keys asked for */
} bry_map_errors;

/* What an object with these options costs and promises. Begin with BRY_MAP_SHAPE. */
typedef struct bry_map_shape {
    size_t struct_size;
    bry_engine engine; /* never auto */
    uint64_t capacity; /* keys it is planned for */
    uint64_t values; /* kbf: the most distinct values; compact: those planned for */
    uint32_t value_bits; /* of a stored code */
    uint64_t cells; /* kbf: cells; compact: entries at capacity, without gaps */
    uint32_t hashes; /* kbf: cells a key; compact: 0 */
    uint32_t fingerprint_bits; /* compact; kbf: 0 */
    bry_map_errors errors; /* expected at capacity */
    uint64_t bytes; /* at capacity, without the bytes of the values themselves */
    uint64_t bytes_empty; /* allocated by create */
} bry_map_shape;

#define BRY_MAP_SHAPE                                                                              \
    {                                                                                              \
        sizeof(bry_map_shape), BRY_ENGINE_AUTO, 0, 0, 0, 0, 0, 0, {0, 0, 0}, 0, 0                  \
    }

/*
 * Fills *shape without allocating anything.
 * BRY_E_RANGE: an option is out of its range, or this error cannot be had at this capacity.
 * BRY_E_UNSUPPORTED: maps do not have that engine, or that engine does not have that option.
 */
BRY_API bry_status bry_map_plan(const bry_map_options *options, bry_map_shape *shape);

/* Makes an empty map. As bry_map_plan(), and BRY_E_NOMEM; BRY_E_IO when the system has no random
 * seed to give. */
BRY_API bry_status bry_map_create(const bry_map_options *options, bry_map **map);

/*
 * Options that make a map with the engine, seed and shape of `other`, and the default allocator.
 * They hold wherever they are used, also after `other` is gone. For kbf maps of byte strings that
 * shall be merged one day, bry_map_create_like() is the one to use.
 */
BRY_API bry_status bry_map_options_like(const bry_map *other, bry_map_options *options);

/*
 * An empty map with the engine, seed and shape of `other` and, with kbf, *the codes of its values*.
 * Its memory comes from `allocator`; NULL: from where the other's does. BRY_E_NOMEM.
 */
BRY_API bry_status bry_map_create_like(const bry_map *other, const bry_allocator *allocator,
                                       bry_map **map);

BRY_API void bry_map_destroy(bry_map *map);

/* A second map with the same contents. Its memory comes from `allocator`; NULL: from where the
 * first one's does. BRY_E_NOMEM. */
BRY_API bry_status bry_map_clone(const bry_map *map, const bry_allocator *allocator,
                                 bry_map **copy);

/* Forgets every key, every value and what was refused; keeps seed and shape, gives the memory back.
 */
BRY_API void bry_map_clear(bry_map *map);

/* The seed to hash keys with. */
BRY_API uint64_t bry_map_seed(const bry_map *map);

/* The hash that this map knows a key by: bry_hash_key() with its seed. */
BRY_API bry_hash bry_map_hash(const bry_map *map, const void *key, size_t len);

/* ---- asking -------------------------------------------------------------------------------- */

/*
 * BRY_PRESENT and the value in *value; BRY_ABSENT; or, engine kbf alone, BRY_UNSURE: some value or
 * none, the cells do not tell. Only BRY_PRESENT writes *value; value may be NULL.
 */
BRY_API bry_answer bry_map_get(const bry_map *map, bry_hash hash, bry_map_value *value);

/*
 * answers[i] = bry_map_get(map, hashes[i], &values[i]), memory latency hidden. answers holds n
 * bytes, values n values or is NULL.
 */
BRY_API void bry_map_get_n(const bry_map *map, const bry_hash *hashes, size_t n,
                           bry_map_value *values, bry_answer *answers);

/* ---- changing ------------------------------------------------------------------------------ */

/*
 * Every call of this section may return
 *   BRY_E_TOOLONG the value is longer than BRY_MAP_VALUE_MAX
 *   BRY_E_RANGE   the number is wider than value_bits
 *   BRY_E_FULL    a fixed map holds its capacity and the key is new; or no code is left for a new
 *                 value (stats.values_left is 0 then); or merges have filled a growing map with
 *                 as many keys as its error allows, so that it cannot grow any more (kbf: with 24
 *                 tables, which keys alone need 400,000 times its capacity for)
 *   BRY_E_UNSURE  kbf: the key's present value cannot be told, so it cannot be replaced or deleted
 *                 without damage to its neighbours; stats count these
 *   BRY_E_NOMEM
 * and *was, where `was` is not NULL, tells what the map answered before: BRY_PRESENT or BRY_ABSENT.
 * A value's bytes are copied.
 */

/* Sets the key's value, whether it had one or not. */
BRY_API bry_status bry_map_set(bry_map *map, bry_hash hash, bry_map_value value, bry_answer *was);

/* Sets the key's value if it has one; else *was is BRY_ABSENT and nothing changes. Never FULL for
 * want of capacity. */
BRY_API bry_status bry_map_update(bry_map *map, bry_hash hash, bry_map_value value,
                                  bry_answer *was);

/*
 * Adds a key that you know is not there. kbf does not look first, so it is faster than
 * bry_map_set() and never BRY_E_UNSURE; but inserting a key that is there makes that key
 * undecodable. compact does the same as bry_map_set().
 */
BRY_API bry_status bry_map_add(bry_map *map, bry_hash hash, bry_map_value value);

/* Deletes the key. *was BRY_ABSENT: it was not there, nothing changes. Not TOOLONG, RANGE, FULL or
 * NOMEM. */
BRY_API bry_status bry_map_del(bry_map *map, bry_hash hash, bry_answer *was);

/*
 * Takes out a pair that you know is there: the exact opposite of bry_map_add(), never
 * BRY_E_UNSURE. *was is BRY_ABSENT, and nothing changes, where the map can see that it does not
 * hold this pair: compact by the value under the fingerprint; kbf by a cell that is empty or
 * contradicts, which does not catch every mistake. Not TOOLONG, RANGE, FULL or NOMEM.
 */
BRY_API bry_status bry_map_del_pair(bry_map *map, bry_hash hash, bry_map_value value,
                                    bry_answer *was);

/*
 * n keys at once, all or none. One departure from n single calls: a key that kbf is unsure of does
 * not fail the batch when there is a `was` to say so: was[i] is BRY_UNSURE, that key stays as it
 * is, and the others are done. With `was` NULL the whole batch is BRY_E_UNSURE. was holds n bytes.
 * A batch of more than 64 keys needs some bytes a key while it runs: with kbf bry_map_del_n() may
 * therefore return BRY_E_NOMEM. Stats count a batch that is refused as one.
 */
BRY_API bry_status bry_map_set_n(bry_map *map, const bry_hash *hashes, const bry_map_value *values,
                                 size_t n, bry_answer *was);
BRY_API bry_status bry_map_add_n(bry_map *map, const bry_hash *hashes, const bry_map_value *values,
                                 size_t n);
BRY_API bry_status bry_map_del_n(bry_map *map, const bry_hash *hashes, size_t n, bry_answer *was);

/* The keys that have a value get another, the others stay absent: was[i] as bry_map_update() says.
 */
BRY_API bry_status bry_map_update_n(bry_map *map, const bry_hash *hashes,
                                    const bry_map_value *values, size_t n, bry_answer *was);

/* ---- by the key ---------------------------------------------------------------------------- */

/* As the calls of the same name, with bry_map_hash(map, key, len) in place of the hash. */
BRY_API bry_answer bry_map_get_key(const bry_map *map, const void *key, size_t len,
                                   bry_map_value *value);
BRY_API bry_status bry_map_set_key(bry_map *map, const void *key, size_t len, bry_map_value value,
                                   bry_answer *was);
BRY_API bry_status bry_map_update_key(bry_map *map, const void *key, size_t len,
                                      bry_map_value value, bry_answer *was);
BRY_API bry_status bry_map_del_key(bry_map *map, const void *key, size_t len, bry_answer *was);

/* ---- sweeping ------------------------------------------------------------------------------ */

/* What becomes of an entry that a sweep looks at. */
typedef enum bry_map_verdict {
    BRY_MAP_KEEP = 0,
    BRY_MAP_CHANGE = 1, /* it gets the value in *changed */
    BRY_MAP_DEL = 2,
} bry_map_verdict;

/*
 * Decides about an entry by its value, which is good during the call. For BRY_MAP_CHANGE judge sets
 * *changed, whose bytes must not lie in the map and are copied before the next call. It must not
 * call into the map. There is no key to decide by: a map does not have them.
 */
typedef struct bry_map_judge {
    bry_map_verdict (*judge)(void *opaque, bry_map_value value,
                             bry_map_value *changed); /* see above */
    void *opaque; /* the caller's */
} bry_map_judge;

/*
 * Keeps, changes or deletes each entry by its value, about `budget` of them in a call, going on
 * where the last call stopped. (Entries are stored some 400 together, which each call has to read:
 * a budget of fewer takes as long.) Begin with *cursor 0; the sweep is complete when *cursor is 0
 * again. Between calls the map may be used and changed in every way, and any number of sweeps may
 * be under way: the cursor is all there is to one. What is saved depends only on what a sweep has
 * done to entries, and a cursor goes on in a copy of the map that was cloned or loaded.
 *
 * An entry that is in the map from the first call to the last is judged exactly once, whatever its
 * value has become meanwhile; one that bry_map_compress() has moved, once or twice. One that comes
 * or goes meanwhile is judged or not. After a merge a key may have a second, older entry that the
 * other hides; it is judged too, after the other, and shows up where that was deleted.
 *
 * BRY_E_UNSUPPORTED: engine kbf, whose cells do not tell which keys are there. BRY_E_RANGE: *cursor
 * is not one of a sweep, or judge gave a verdict or number that does not exist. BRY_E_TOOLONG: it
 * gave a value that is too long. BRY_E_FULL: no code is left for a new value. BRY_E_NOMEM. Other
 * than with most calls, what was done before a failure stays done, and *cursor stands at the entry
 * that it was about: the next call begins with that.
 *
 * A table of flows whose values are the minute that each was last seen in, without those of more
 * than ten minutes ago, a thousand at a time:
 *
 *     static bry_map_verdict expire(void *minute, bry_map_value seen, bry_map_value *changed)
 *     {
 *         (void)changed;
 *         return *(uint16_t *)minute - seen.number > 10 ? BRY_MAP_DEL : BRY_MAP_KEEP;
 *     }
 *
 *     bry_map_judge judge = {expire, &minute};
 *     status = bry_map_sweep(flows, &judge, 1000, &cursor); // now and then
 */
BRY_API bry_status bry_map_sweep(bry_map *map, const bry_map_judge *judge, uint64_t budget,
                                 uint64_t *cursor);

/* ---- whole maps ---------------------------------------------------------------------------- */

/*
 * Adds everything in `from` to `into`. The order of merges makes no difference as long as no key is
 * in two of the maps. A key that is in both gets the value of `from` with compact, and becomes
 * undecodable with kbf, which cannot see that it happens.
 * BRY_E_RANGE: kbf, both are one map (compact: nothing changes). BRY_E_MISMATCH: engine, seed, kind
 * of values or shape differ (for compact the shape is capacity, error and fixed); or, kbf, one code
 * names a different value in each: maps made by bry_map_create_like() agree on all values that were
 * known then, as long as only one of them learns new ones, and none has lost them by becoming empty
 * (see values_left); integers always agree. BRY_E_FULL: a fixed map would pass its capacity; the
 * codes do not suffice; or the keys of both together err more than was promised, since merged keys
 * cannot be given longer fingerprints. BRY_E_NOMEM, needing as much again as `into` has.
 */
BRY_API bry_status bry_map_merge(bry_map *into, const bry_map *from);

/*
 * Makes the map as small as its keys allow; no keys are needed for it. max_error bounds the sum of
 * the estimated errors afterwards; 0: the error promised. kbf folds its tables in half as often as
 * that permits and merges those that are nearly empty; compact folds further tables back into the
 * first, and takes back the codes of values that no key has, which kbf can only where there is no
 * key at all. Nothing to gain is BRY_OK, and so is a map that errs more than max_error already: it
 * stays as it is. A folded kbf map can only be merged with one folded as often (options_like()
 * tells the shape).
 * BRY_E_RANGE: max_error is not between 0 and 1. BRY_E_NOMEM.
 */
BRY_API bry_status bry_map_compress(bry_map *map, double max_error);

/*
 * Supplies the pairs of a map. supply stores up to `room` pairs, beginning with number `from` in
 * an order of its own that does not change during the rebuild, and sets *got, to 0 when there are
 * no more. Each key comes once; with kbf, one that comes twice is undecodable. Values are copied
 * before the next call. A status other than BRY_OK ends the rebuild. It must not call into the map.
 */
typedef struct bry_map_supplier {
    bry_status (*supply)(void *opaque, uint64_t from, bry_hash *hashes, bry_map_value *values,
                         size_t room, size_t *got); /* see above */
    void *opaque; /* the caller's */
} bry_map_supplier;

/*
 * Rebuilds the map from the pairs that should be in it: afterwards it holds these and no others,
 * without ghosts. Engine, seed, shape and what was refused stay; the codes of values stay with kbf,
 * so that it can be merged as before. Until it is done it needs memory for both maps.
 * BRY_E_TOOLONG, BRY_E_RANGE: a value, as above; BRY_E_RANGE: *got is more than room. BRY_E_FULL:
 * more pairs than a fixed map takes, or values than there are codes. BRY_E_NOMEM, or what the
 * supplier returns. The map is unchanged in all these cases.
 */
BRY_API bry_status bry_map_rebuild(bry_map *map, const bry_map_supplier *supplier);

/* Begin with BRY_MAP_STATS. */
typedef struct bry_map_stats {
    size_t struct_size;
    bry_engine engine; /* never auto */
    uint64_t seed; /* for hashing keys */
    uint64_t capacity; /* of the first table; compressing may change kbf's */
    uint64_t items; /* keys, as counted by changes. After a merge: kbf the sum; compact without the
                       keys that were in both, but for those hidden in other tables */
    uint32_t tables; /* 1 until it grew */
    double load; /* keys by capacity of all tables */
    uint64_t values; /* distinct values that have a code; integers: 0 */
    uint64_t values_left; /* codes left for new values; integers: 0. A code comes back when no key
                             can have it: compact when the last key that has it is deleted or gets
                             another value; kbf when the map is empty, at the deletion that makes
                             it so where values have 64 KB or half of the codes, else when codes
                             have run out */
    bry_map_errors promised; /* expected at capacity for the options given */
    bry_map_errors estimated; /* for what the tables hold now */
    uint64_t refused_unsure; /* changes refused with BRY_E_UNSURE */
    uint64_t refused_full; /* changes refused with BRY_E_FULL */
    uint64_t ghosts; /* kbf: about how many of the items are keys that should be gone: deletions
                        refused as unsure, at most the items. Accurate if each key is deleted once
                        and was there; a deletion that is tried again counts again */
    uint64_t cells[8]; /* kbf: cells by counter; [7] is stuck and unreadable for good */
    uint64_t bytes; /* allocated now; of these: */
    uint64_t bytes_main; /* the tables of keys */
    uint64_t bytes_secondary; /* finding a value's code */
    uint64_t bytes_dictionary; /* the values' bytes */
} bry_map_stats;

#define BRY_MAP_STATS                                                                              \
    {                                                                                              \
        sizeof(bry_map_stats), BRY_ENGINE_AUTO, 0, 0, 0, 0, 0, 0, 0, {0, 0, 0}, {0, 0, 0}, 0, 0,   \
            0, {0}, 0, 0, 0, 0                                                                     \
    }

/* As in the stats, in constant time. */
BRY_API uint64_t bry_map_items(const bry_map *map);
BRY_API uint64_t bry_map_bytes(const bry_map *map);

/* Does not read the keys: quick, however many there are. */
BRY_API bry_status bry_map_get_stats(const bry_map *map, bry_map_stats *stats);

/* ---- keeping ------------------------------------------------------------------------------- */

/* Writes the map as frames (doc/format.md), with the note of `save`, which may be NULL. What the
 * sink returns, or BRY_OK; RANGE or TOOLONG for a wrong `save` (base.h). */
BRY_API bry_status bry_map_save(const bry_map *map, const bry_sink *sink, const bry_save *save);

/*
 * Reads what bry_map_save() wrote, and nothing beyond it. BRY_E_BADDATA, BRY_E_VERSION,
 * BRY_E_LIMIT, BRY_E_NOMEM, or what the source returns; load->problem and load->offset say more.
 * The map has all the options it was created with but the allocator.
 */
BRY_API bry_status bry_map_load(const bry_source *source, bry_load *load, bry_map **map);

/*
 * The same to and from a file. Saving replaces the file whole or not at all, also when the machine
 * fails meanwhile; loading refuses bytes after the end. BRY_E_IO with errno set: EISDIR or ENOTSUP
 * where path leads to something else than a file, such as a device.
 */
BRY_API bry_status bry_map_save_file(const bry_map *map, const char *path, const bry_save *save);
BRY_API bry_status bry_map_load_file(const char *path, bry_load *load, bry_map **map);

#ifdef __cplusplus
}
#endif

#endif
