/*
 * Map: what is the value of this key?
 *
 * A map stores a value for each key, in a few bytes per key. It does not store the keys, so their
 * length does not matter. Values are either byte strings, if many keys share few of them (thousands
 * of values for millions of keys), or small integers.
 *
 * Entries of a map of byte strings contain a *code*, a small number, which stands for one of the
 * distinct values. A map of integers stores the integers themselves.
 *
 * A map can be wrong in three ways, which are always reported separately:
 *   false positive  a value for a key that is not there
 *   false negative  "absent" or "unsure" for a key that is there
 *   incorrect       the value of another key for a key that is there
 * `error` bounds the first as a share of the absent keys that are looked up, and the sum of the
 * other two as a share of the present ones.
 *
 * Engines:
 *   compact  (the default) a fingerprint and a value code for each key. It errs only if two keys
 *            have the same fingerprint: the value set last applies to both, and deleting either
 *            deletes both. It never answers BRY_UNSURE. (Every deletion of another key has a small
 *            chance, error / capacity, of deleting an entry that is still wanted. This adds up for
 *            a key that stays while many times the capacity are deleted.)
 *   kbf      the key-value Bloom filter. Some keys cannot be distinguished from their neighbours:
 *            they get the answer BRY_UNSURE, and changes of them are refused. In exchange, two maps
 *            can be merged, and a part removed again with bry_map_del_pair(), without any look-up.
 *            It takes about seven times the memory.
 *
 * kbf degrades when keys come and go. A key that it is unsure of cannot be deleted and stays as a
 * ghost. The share of deletions that leave a ghost is estimated.false_negative, which starts at or
 * below the error and rises with the number of ghosts. A map planned for 20,000 keys at an error of
 * 0.001 counts 1 % too many after 20 turnovers of all keys, 9 % after 120, 40 % after 400; a fixed
 * map of 24,000 then refuses many new keys as unsure or full. stats.kbf.ghosts is their number,
 * and bry_map_rebuild() removes them. bry_map_del_pair(), for callers who know the value, leaves
 * none.
 *
 * At capacity: a map grows unless it is created `fixed`. It then adds tables that are planned for a
 * decreasing share of the error, so that the promised error holds for any number of keys; stats
 * show the cost. compact grows to 2^40 keys or, because fingerprints have at most 62 bits, to fewer
 * if the error is small: to `grows_to` of the plan, error · 2^54 or more. A fixed map refuses
 * further keys with BRY_E_FULL.
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

/* The largest number of distinct byte strings, and the widest integers; both less for kbf. */
#define BRY_MAP_VALUES_MAX UINT32_MAX
#define BRY_MAP_KBF_VALUES_MAX 16383u
#define BRY_MAP_VALUE_BITS_MAX 32u
#define BRY_MAP_KBF_VALUE_BITS_MAX 13u

/* The smallest error. */
#define BRY_MAP_ERROR_MIN 1e-9

/*
 * A value, passed in or returned. A map of byte strings uses bytes and len; the empty string is a
 * value like any other (bytes may then be NULL). A map of integers uses number. The bytes that a
 * map returns are inside the map: they are valid until the next call that changes or destroys it,
 * and are not NUL-terminated. Copy them if you need them longer. For the same reason, a value that
 * is passed to a call that changes a map must not point into that map.
 */
typedef struct bry_map_value {
    const void *bytes; /* of a byte string; NULL for an integer */
    size_t len; /* in bytes, at most BRY_MAP_VALUE_MAX */
    uint64_t number; /* the integer, in a map that was created with value_bits */
} bry_map_value;

/* A byte string as a value. */
static inline bry_map_value bry_map_value_bytes(const void *bytes, size_t len)
{
    bry_map_value value = {bytes, len, 0};
    return value;
}

/* An integer as a value. */
static inline bry_map_value bry_map_value_number(uint64_t number)
{
    bry_map_value value = {NULL, 0, number};
    return value;
}

/* ---- creating ------------------------------------------------------------------------------ */

/* How many cells engine kbf has. */
typedef uint32_t bry_map_layout;
enum {
    BRY_MAP_TUNED = 0, /* the fewest cells that keep all three errors within `error` */
    BRY_MAP_PAPER = 1, /* as in the papers: the size of a Bloom filter with that error */
};

/* Options of engine kbf. */
typedef struct bry_map_kbf {
    bry_map_layout layout; /* 0: tuned */
    /* the exact shape, as options_like() copies it; both 0: planned from capacity and error */
    uint32_t hashes; /* cells per key, 1 to 32 */
    uint64_t cells; /* a multiple of hashes; at most 16,384 per key of the capacity plus 65,536 */
    uint32_t reserved[8]; /* 0 */
} bry_map_kbf;

typedef struct bry_map_options {
    size_t struct_size;
    bry_engine engine; /* auto (= compact), compact or kbf */
    uint32_t fixed; /* 0: grows past its capacity; 1: BRY_E_FULL there */
    uint64_t capacity; /* keys to plan for, 1 to BRY_CAPACITY_MAX; 0: 1000. kbf: BRY_E_RANGE if its
                          cells would take more than 128 GB */
    double error; /* see above, BRY_MAP_ERROR_MIN to BRY_ERROR_MAX; 0: 0.001 */
    uint32_t value_bits; /* 0: values are byte strings; else the width of integers, from 1 to
                            BRY_MAP_VALUE_BITS_MAX, or with kbf BRY_MAP_KBF_VALUE_BITS_MAX */
    uint32_t reserved; /* 0 */
    uint64_t values; /* distinct byte strings to plan for; 0: 1000. compact: a hint; up to
                        BRY_MAP_VALUES_MAX are accepted. kbf: a limit, 1 to BRY_MAP_KBF_VALUES_MAX,
                        rounded up to the next 2^t - 1 (at least 255) */
    uint64_t seed; /* for hashing keys; 0: random */
    const bry_allocator *allocator; /* NULL: malloc() and free() */
    bry_map_kbf kbf; /* engine kbf only */
} bry_map_options;

#define BRY_MAP_OPTIONS                                                                            \
    {                                                                                              \
        sizeof(bry_map_options), BRY_ENGINE_AUTO, 0, 0, 0, 0, 0, 0, 0, NULL,                       \
        {                                                                                          \
            BRY_MAP_TUNED, 0, 0,                                                                   \
            {                                                                                      \
                0                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* The three errors, as shares. */
typedef struct bry_map_errors {
    double false_positive; /* of absent keys that are looked up */
    double false_negative; /* of present keys that are looked up: absent or unsure */
    double incorrect; /* of present keys that are looked up: another key's value */
} bry_map_errors;

/* The shape of engine kbf. */
typedef struct bry_map_kbf_shape {
    uint64_t cells; /* in the first table */
    uint32_t hashes; /* cells per key */
    uint32_t reserved[5]; /* 0 */
} bry_map_kbf_shape;

/* The memory and errors of a map with given options. */
typedef struct bry_map_shape {
    bry_engine engine; /* never auto */
    uint32_t value_bits; /* width of a stored code or integer */
    uint64_t capacity; /* keys it is planned for */
    uint64_t values; /* kbf: the largest number of distinct values; compact: those planned for;
                        0 for integers */
    bry_map_errors errors; /* expected at capacity */
    uint64_t bytes; /* at capacity, without the bytes of the values themselves */
    uint64_t bytes_empty; /* allocated by create */
    uint64_t grows_to; /* keys at which it is full: the capacity if it is fixed; otherwise
                          BRY_CAPACITY_MAX, or fewer (see "At capacity"). kbf: 0, only memory limits
                          it */
    bry_compact_shape compact; /* engine compact only */
    bry_map_kbf_shape kbf; /* engine kbf only */
} bry_map_shape;

/* bry_map_plan() for a struct of `size` bytes (base.h). */
BRY_API bry_status bry_map_plan_sized(const bry_map_options *options, bry_map_shape *shape,
                                      size_t size);

/*
 * Fills *shape without allocating anything.
 * BRY_E_RANGE: an option is out of range, or the error is too small for the capacity.
 * BRY_E_UNSUPPORTED: maps do not have that engine, or the engine does not have that option.
 */
static inline bry_status bry_map_plan(const bry_map_options *options, bry_map_shape *shape)
{
    return bry_map_plan_sized(options, shape, sizeof *shape);
}

/* Creates an empty map. Errors: those of bry_map_plan(); BRY_E_NOMEM; BRY_E_IO if the system cannot
 * provide a random seed. */
BRY_API bry_status bry_map_create(const bry_map_options *options, bry_map **map);

/* bry_map_options_like() for a struct of `size` bytes (base.h). */
BRY_API bry_status bry_map_options_like_sized(const bry_map *other, bry_map_options *options,
                                              size_t size);

/*
 * Sets options that create a map with the engine, seed and shape of `other` and the default
 * allocator. They stay valid when `other` is destroyed. For kbf maps of byte strings that are to be
 * merged, use bry_map_create_like() instead.
 */
static inline bry_status bry_map_options_like(const bry_map *other, bry_map_options *options)
{
    return bry_map_options_like_sized(other, options, sizeof *options);
}

/*
 * Creates an empty map with the engine, seed and shape of `other` and, with kbf, *the codes of its
 * values*. allocator NULL: the allocator of `other`. BRY_E_NOMEM.
 */
BRY_API bry_status bry_map_create_like(const bry_map *other, const bry_allocator *allocator,
                                       bry_map **map);

/* Frees the map. NULL is allowed. */
BRY_API void bry_map_destroy(bry_map *map);

/* Creates a copy with its own memory. allocator NULL: the allocator of the original.
 * BRY_E_NOMEM. */
BRY_API bry_status bry_map_clone(const bry_map *map, const bry_allocator *allocator,
                                 bry_map **copy);

/* Removes all keys and values and frees their memory ("Clear" in base.h). */
BRY_API void bry_map_clear(bry_map *map);

/* The seed to hash keys with. */
BRY_API uint64_t bry_map_seed(const bry_map *map);

/* The engine; never auto. */
BRY_API bry_engine bry_map_engine(const bry_map *map);

/* The number of keys it was planned for. With kbf, bry_map_compress() may change it. */
BRY_API uint64_t bry_map_capacity(const bry_map *map);

/* The width of integer values; 0 if values are byte strings. */
BRY_API uint32_t bry_map_value_bits(const bry_map *map);

/* The hash of a key for this map: bry_hash_key() with its seed. */
static inline bry_hash bry_map_hash(const bry_map *map, const void *key, size_t len)
{
    return bry_hash_key(bry_map_seed(map), key, len);
}

/* ---- looking up ---------------------------------------------------------------------------- */

/*
 * BRY_PRESENT, with the value in *value; BRY_ABSENT; or, with engine kbf only, BRY_UNSURE: the
 * cells do not determine the value, nor whether there is one. *value is written only with
 * BRY_PRESENT; value may be NULL.
 */
BRY_API bry_answer bry_map_get(const bry_map *map, bry_hash hash, bry_map_value *value);

/* answers[i] = bry_map_get(map, hashes[i], &values[i]), with overlapping memory accesses. answers
 * and values have room for n; values may be NULL. */
BRY_API void bry_map_get_n(const bry_map *map, const bry_hash *hashes, size_t n,
                           bry_map_value *values, bry_answer *answers);

/*
 * bry_map_get_n() for a map of integers: numbers[i] is the value of a key that is present. numbers
 * and answers have room for n; numbers may be NULL. BRY_E_UNSUPPORTED: values are byte strings.
 */
BRY_API bry_status bry_map_get_numbers_n(const bry_map *map, const bry_hash *hashes, size_t n,
                                         uint64_t *numbers, bry_answer *answers);

/* ---- changing ------------------------------------------------------------------------------ */

/*
 * Every call of this section may return
 *   BRY_E_TOOLONG the value is longer than BRY_MAP_VALUE_MAX
 *   BRY_E_RANGE   the number is wider than value_bits; or the value is of the other kind: bytes for
 *                 a map of integers, a number other than 0 for a map of byte strings
 *   BRY_E_FULL    a fixed map holds its capacity and the key is new; or no code is left for a new
 *                 value (stats.values_left is 0 then); or merges have added so many keys to a
 *                 growable map that it cannot grow within its error (kbf: it has 24 tables; without
 *                 merges that takes 400,000 times its capacity)
 *   BRY_E_UNSURE  kbf: the current value of the key is not known, so it cannot be replaced or
 *                 deleted without damage to its neighbours; stats count these
 *   BRY_E_NOMEM
 * *was is what the map answered before the change, BRY_PRESENT or BRY_ABSENT; was may be NULL.
 * The bytes of values are copied.
 */

/* Sets the value of a key, whether it had one or not. */
BRY_API bry_status bry_map_set(bry_map *map, bry_hash hash, bry_map_value value, bry_answer *was);

/* Sets the value of a key if it has one; otherwise *was is BRY_ABSENT and nothing changes. It needs
 * no capacity, so BRY_E_FULL only means that no code is left. */
BRY_API bry_status bry_map_update(bry_map *map, bry_hash hash, bry_map_value value,
                                  bry_answer *was);

/*
 * Adds a key that is known to be absent. kbf skips the look-up: this is faster than bry_map_set()
 * and never returns BRY_E_UNSURE, but adding a key that is present makes it undecodable. With
 * compact it is the same as bry_map_set().
 */
BRY_API bry_status bry_map_add(bry_map *map, bry_hash hash, bry_map_value value);

/* Deletes a key. *was is BRY_ABSENT if it was not there; nothing changes then. Of the errors above
 * only BRY_E_UNSURE occurs. */
BRY_API bry_status bry_map_del(bry_map *map, bry_hash hash, bry_answer *was);

/*
 * Removes a pair that is known to be present: the exact opposite of bry_map_add(). If the map can
 * see that it does not contain the pair, *was is BRY_ABSENT and nothing changes: compact compares
 * the value of the fingerprint; kbf looks for a cell that is empty or contradicts the pair, which
 * does not detect every mistake. None of the errors above occurs.
 */
BRY_API bry_status bry_map_del_pair(bry_map *map, bry_hash hash, bry_map_value value,
                                    bry_answer *was);

/*
 * n keys at once, all or none, with one difference from n single calls: if `was` is not NULL, a key
 * that kbf is unsure of does not fail the batch. was[i] is BRY_UNSURE then, that key is unchanged,
 * and the others are done. If `was` is NULL, the whole batch fails with BRY_E_UNSURE. was has room
 * for n answers. A batch of more than 64 keys needs some bytes per key while it runs, so with kbf
 * bry_map_del_n() may return BRY_E_NOMEM. Stats count a refused batch as one refusal.
 */
BRY_API bry_status bry_map_set_n(bry_map *map, const bry_hash *hashes, const bry_map_value *values,
                                 size_t n, bry_answer *was);
BRY_API bry_status bry_map_add_n(bry_map *map, const bry_hash *hashes, const bry_map_value *values,
                                 size_t n);
BRY_API bry_status bry_map_del_n(bry_map *map, const bry_hash *hashes, size_t n, bry_answer *was);

/* Sets the values of those keys that have one; was[i] as for bry_map_update(). */
BRY_API bry_status bry_map_update_n(bry_map *map, const bry_hash *hashes,
                                    const bry_map_value *values, size_t n, bry_answer *was);

/* ---- with keys instead of hashes ----------------------------------------------------------- */

/* Like the calls above, with a key instead of its hash, bry_map_hash(map, key, len). */
static inline bry_answer bry_map_get_key(const bry_map *map, const void *key, size_t len,
                                         bry_map_value *value)
{
    return bry_map_get(map, bry_map_hash(map, key, len), value);
}

static inline bry_status bry_map_set_key(bry_map *map, const void *key, size_t len,
                                         bry_map_value value, bry_answer *was)
{
    return bry_map_set(map, bry_map_hash(map, key, len), value, was);
}

static inline bry_status bry_map_update_key(bry_map *map, const void *key, size_t len,
                                            bry_map_value value, bry_answer *was)
{
    return bry_map_update(map, bry_map_hash(map, key, len), value, was);
}

static inline bry_status bry_map_del_key(bry_map *map, const void *key, size_t len, bry_answer *was)
{
    return bry_map_del(map, bry_map_hash(map, key, len), was);
}

/* ---- sweeping ------------------------------------------------------------------------------ */

/* What a sweep does with an entry. */
typedef enum bry_map_verdict {
    BRY_MAP_KEEP = 0,
    BRY_MAP_CHANGE = 1, /* set its value to *changed */
    BRY_MAP_DEL = 2,
} bry_map_verdict;

/*
 * Decides about an entry by its value, which is valid during the call. (Keys are not available: a
 * map does not store them.) For BRY_MAP_CHANGE, judge sets *changed; its bytes must not be inside
 * the map, and are copied before the next call. judge must not call functions on the map.
 */
typedef struct bry_map_judge {
    bry_map_verdict (*judge)(void *opaque, bry_map_value value,
                             bry_map_value *changed); /* see above */
    void *opaque; /* passed to judge */
} bry_map_judge;

/*
 * Keeps, changes or deletes each entry by its value, about `budget` entries per call, continuing
 * where the last call stopped. (Entries are stored in segments of about 400, which a call has to
 * read whole: a smaller budget is not faster.) Start with *cursor 0; the sweep is complete when
 * *cursor is 0 again. Between calls the map may be used and changed in any way, and several sweeps
 * may be in progress, because the cursor is the whole state of a sweep. A cursor can also be used
 * with a copy of the map that was cloned or loaded. What is saved depends only on the entries, not
 * on a sweep in progress.
 *
 * An entry that is in the map from the first call to the last is judged exactly once, even if its
 * value changes; if bry_map_compress() moves it, once or twice. An entry that is added or deleted
 * meanwhile may or may not be judged. After a merge a key may have a second, older entry that is
 * hidden by the newer one; it is judged too, after the newer one, and becomes visible if that was
 * deleted.
 *
 * BRY_E_UNSUPPORTED: engine kbf, whose cells do not show which keys are there. BRY_E_RANGE: *cursor
 * is invalid, or judge returned an invalid verdict or a number that is too wide. BRY_E_TOOLONG:
 * judge returned a value that is too long. BRY_E_FULL: no code is left for a new value.
 * BRY_E_NOMEM. Unlike most calls, this one keeps what was done before a failure, and *cursor is at
 * the entry that failed: the next call starts with it.
 *
 * Example: the values in a table of flows are the minute in which each was last seen. This deletes
 * those older than ten minutes, a thousand entries at a time:
 *
 *     static bry_map_verdict expire(void *minute, bry_map_value seen, bry_map_value *changed)
 *     {
 *         (void)changed;
 *         return *(uint16_t *)minute - seen.number > 10 ? BRY_MAP_DEL : BRY_MAP_KEEP;
 *     }
 *
 *     bry_map_judge judge = {expire, &minute};
 *     status = bry_map_sweep(flows, &judge, 1000, &cursor); // from time to time
 */
BRY_API bry_status bry_map_sweep(bry_map *map, const bry_map_judge *judge, uint64_t budget,
                                 uint64_t *cursor);

/* ---- whole maps ---------------------------------------------------------------------------- */

/*
 * Adds all entries of `from` to `into`. If no key is in two of the maps, the order of merges makes
 * no difference. A key that is in both gets the value of `from` with compact; with kbf it becomes
 * undecodable, which kbf cannot detect.
 * BRY_E_RANGE: kbf, both are the same map (compact: nothing changes).
 * BRY_E_MISMATCH: engine, seed, kind of values or shape differ (the shape of compact is capacity,
 * error and fixed); or, kbf, a code stands for different values. Maps of bry_map_create_like()
 * agree on the values known at that time, as long as only one of them gets new ones and none has
 * released its codes by becoming empty (see values_left). Integers always agree.
 * BRY_E_FULL: a fixed map would exceed its capacity; there are not enough codes; or the promised
 * error would be exceeded, because a merge cannot lengthen fingerprints. Plan maps that are to be
 * merged for the keys of all of them.
 * BRY_E_NOMEM: a merge needs up to as much memory again as `into` has.
 */
BRY_API bry_status bry_map_merge(bry_map *into, const bry_map *from);

/*
 * Makes the map as small as its number of keys allows; the keys are not needed for it. max_error
 * bounds the sum of the estimated errors afterwards; 0: the promised error. kbf folds its tables in
 * half as often as possible and merges tables that are nearly empty. compact folds further tables
 * back into the first and releases the codes of values that no key has; kbf can do the latter only
 * if the map is empty. Returns BRY_OK also if there is nothing to gain, or if the errors exceed
 * max_error already; the map is unchanged then. A folded kbf map can only be merged with one that
 * was folded as often (options_like() copies the shape). bry_map_clear() unfolds it.
 * BRY_E_RANGE: max_error is not between 0 and 1. BRY_E_NOMEM.
 */
BRY_API bry_status bry_map_compress(bry_map *map, double max_error);

/*
 * Supplies the pairs of a map. supply stores up to `room` pairs, starting with number `from` in an
 * order that it chooses and does not change during the rebuild, and sets *got; 0 means that there
 * are no more. Each key must occur once; with kbf, a key that occurs twice is undecodable. Values
 * are copied before the next call. A status other than BRY_OK ends the rebuild. supply must not
 * call functions on the map.
 */
typedef struct bry_map_supplier {
    bry_status (*supply)(void *opaque, uint64_t from, bry_hash *hashes, bry_map_value *values,
                         size_t room, size_t *got); /* see above */
    void *opaque; /* passed to supply */
} bry_map_supplier;

/*
 * Rebuilds the map from the pairs that should be in it. Afterwards it contains exactly these, and
 * no ghosts. Engine, seed, shape and the counts of refused changes stay, and with kbf the codes of
 * values, so that it can be merged as before; a shape that was folded is from now on the one that
 * it was created with. It needs memory for both maps meanwhile.
 * BRY_E_TOOLONG, BRY_E_RANGE: a value, as above; BRY_E_RANGE: *got is more than room. BRY_E_FULL:
 * more pairs than a fixed map takes, or more values than there are codes. BRY_E_NOMEM, or what the
 * supplier returned. The map is unchanged in all these cases.
 */
BRY_API bry_status bry_map_rebuild(bry_map *map, const bry_map_supplier *supplier);

/* The state of engine kbf. */
typedef struct bry_map_kbf_stats {
    uint64_t ghosts; /* estimate of the items that should have been deleted: the number of deletions
                        refused as unsure, at most the items. Accurate if each key is deleted once
                        and was present; a repeated deletion counts again */
    uint64_t cells[8]; /* cells by counter; those of [7] are permanently unreadable */
    uint64_t refused_unsure; /* changes refused with BRY_E_UNSURE */
    uint64_t reserved[2]; /* 0 */
} bry_map_kbf_stats;

/* The state of a map. */
typedef struct bry_map_stats {
    bry_engine engine; /* never auto */
    uint32_t tables; /* 1 unless it has grown */
    uint64_t seed; /* for hashing keys */
    uint64_t capacity; /* of the first table; compressing may change it with kbf */
    uint64_t items; /* keys, as counted by changes. After a merge: kbf the sum; compact counts keys
                       that were in both once, except those hidden in other tables */
    double load; /* keys divided by the capacity of all tables */
    uint64_t values; /* distinct values that have a code; integers: 0 */
    uint64_t values_left; /* codes left for new values; integers: 0. A code is released when no key
                             can have it. compact: when the last key that has it is deleted or gets
                             another value. kbf: when the map is empty; with the deletion of the
                             last key if the values take 64 KB or half of the codes, otherwise when
                             the codes have run out */
    double promised_error; /* the error in the options */
    bry_map_errors planned; /* expected at capacity with these options */
    bry_map_errors estimated; /* with what the tables contain now */
    uint64_t refused_full; /* changes refused with BRY_E_FULL */
    uint64_t bytes; /* allocated now */
    uint64_t bytes_keys; /* the part of bytes that the tables of keys take */
    uint64_t bytes_values; /* the part of bytes that distinct byte strings and their codes take */
    bry_map_kbf_stats kbf; /* engine kbf only */
} bry_map_stats;

/* items and bytes of the stats, in constant time. */
BRY_API uint64_t bry_map_items(const bry_map *map);
BRY_API uint64_t bry_map_bytes(const bry_map *map);

/* bry_map_get_stats() for a struct of `size` bytes (base.h). */
BRY_API bry_status bry_map_get_stats_sized(const bry_map *map, bry_map_stats *stats, size_t size);

/* Fills *stats. Does not read the entries, so it is fast for maps of any size. */
static inline bry_status bry_map_get_stats(const bry_map *map, bry_map_stats *stats)
{
    return bry_map_get_stats_sized(map, stats, sizeof *stats);
}

/* ---- saving and loading -------------------------------------------------------------------- */

/* Writes the map as frames (doc/format.md), with the note of `save`, which may be NULL and has the
 * errors (base.h). */
BRY_API bry_status bry_map_save(const bry_map *map, const bry_sink *sink, const bry_save *save);

/*
 * Reads what bry_map_save() wrote, and nothing beyond it. BRY_E_BADDATA, BRY_E_VERSION,
 * BRY_E_LIMIT, BRY_E_NOMEM, or what the source returned; load->problem and load->offset give
 * details. The map has all options that it was created with, except the allocator.
 */
BRY_API bry_status bry_map_load(const bry_source *source, bry_load *load, bry_map **map);

/*
 * The same to and from a file. Saving is atomic: the file has the old or the new contents, even if
 * the machine crashes. Loading refuses bytes after the end. BRY_E_IO with errno set.
 */
BRY_API bry_status bry_map_save_file(const bry_map *map, const char *path, const bry_save *save);
BRY_API bry_status bry_map_load_file(const char *path, bry_load *load, bry_map **map);

#ifdef __cplusplus
}
#endif

#endif
