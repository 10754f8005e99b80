/*
 * Filter: is it in the set?
 *
 * A filter remembers which keys were added, in a few bits per key. It always finds a key that was
 * added (no false negatives). For a key that was not added it answers "present" with a probability
 * of at most the error it was created with.
 *
 * Engines:
 *   compact  (the default) a fingerprint of each key. It can delete and count, and it grows past its
 *            capacity within the promised error unless it is created `fixed`: to 2^40 keys or,
 *            because fingerprints have at most 62 bits, to fewer if the error is small: to
 *            `grows_to` of the plan, error · 2^54 or more. Its memory follows the number of keys.
 *   bloom    (the default for `fixed` filters) a Bloom filter in which all bits of a key are in one
 *            cache line, so a look-up takes one memory access. It cannot delete and does not grow:
 *            once it holds its capacity, a new key is refused with BRY_E_FULL, because accepting it
 *            would break the promised error.
 */
#ifndef BLOOMERY_FILTER_H
#define BLOOMERY_FILTER_H

#include <bloomery/base.h>
#include <bloomery/hash.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bry_filter bry_filter;

/* The smallest error. */
#define BRY_FILTER_ERROR_MIN 1e-9

/* Options of engine bloom: the exact shape, as bry_filter_options_like() copies it. Both 0: planned
 * from capacity and error. */
typedef struct bry_filter_bloom {
    uint64_t bits; /* a multiple of 512, at most 8192 per key of the capacity plus 1 MiB */
    uint32_t hashes; /* bits set per key, 1 to 21 */
    uint32_t reserved[9]; /* 0 */
} bry_filter_bloom;

typedef struct bry_filter_options {
    size_t struct_size;
    bry_engine engine; /* bloom, compact, or auto: compact, and bloom if it is fixed */
    uint32_t fixed; /* 1: BRY_E_FULL past the capacity instead of growing. With compact this saves
                       0.4 bits per key; bloom is always fixed */
    uint64_t capacity; /* keys to plan for, 1 to BRY_CAPACITY_MAX; 0: 1000 */
    double error; /* false positives at capacity, BRY_FILTER_ERROR_MIN to BRY_ERROR_MAX; 0: 0.01 */
    uint64_t seed; /* for hashing keys; 0: random */
    const bry_allocator *allocator; /* NULL: malloc() and free() */
    bry_filter_bloom bloom; /* engine bloom only */
} bry_filter_options;

#define BRY_FILTER_OPTIONS                                                                         \
    {                                                                                              \
        sizeof(bry_filter_options), BRY_ENGINE_AUTO, 0, 0, 0, 0, NULL,                             \
        {                                                                                          \
            0, 0,                                                                                  \
            {                                                                                      \
                0                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* The shape of engine bloom, in plans and stats. */
typedef struct bry_filter_bloom_shape {
    uint32_t hashes; /* bits set per key */
    uint32_t reserved[7]; /* 0 */
} bry_filter_bloom_shape;

/* The memory and error of a filter with given options. */
typedef struct bry_filter_shape {
    bry_engine engine; /* never auto */
    uint32_t reserved; /* 0 */
    uint64_t capacity; /* keys it is planned for */
    uint64_t bits; /* of the table; compact: with `capacity` keys */
    double error; /* expected at capacity; at most the error in the options, unless they give an
                     exact shape */
    uint64_t bytes; /* allocated when every piece of the table is in use; compact: with `capacity`
                       keys, within 2 % */
    uint64_t bytes_empty; /* allocated by create; pieces follow when a key needs them */
    uint64_t grows_to; /* keys at which it is full: the capacity if it is fixed; otherwise
                          BRY_CAPACITY_MAX, or fewer (see above) */
    bry_compact_shape compact; /* engine compact only */
    bry_filter_bloom_shape bloom; /* engine bloom only */
} bry_filter_shape;

/* bry_filter_plan() for a struct of `size` bytes (base.h). */
BRY_API bry_status bry_filter_plan_sized(const bry_filter_options *options, bry_filter_shape *shape,
                                         size_t size);

/*
 * Fills *shape without allocating anything.
 * BRY_E_RANGE: an option is out of range. BRY_E_UNSUPPORTED: filters do not have that engine, or
 * the engine does not have that option.
 */
static inline bry_status bry_filter_plan(const bry_filter_options *options, bry_filter_shape *shape)
{
    return bry_filter_plan_sized(options, shape, sizeof *shape);
}

/* Creates an empty filter. Errors: those of bry_filter_plan(); BRY_E_NOMEM; BRY_E_IO if the system
 * cannot provide a random seed. */
BRY_API bry_status bry_filter_create(const bry_filter_options *options, bry_filter **filter);

/* bry_filter_options_like() for a struct of `size` bytes (base.h). */
BRY_API bry_status bry_filter_options_like_sized(const bry_filter *other,
                                                 bry_filter_options *options, size_t size);

/*
 * Sets options that create a filter which can be merged with `other`: same engine, seed and shape,
 * default allocator. They stay valid when `other` is destroyed.
 */
static inline bry_status bry_filter_options_like(const bry_filter *other,
                                                 bry_filter_options *options)
{
    return bry_filter_options_like_sized(other, options, sizeof *options);
}

/* Frees the filter. NULL is allowed. */
BRY_API void bry_filter_destroy(bry_filter *filter);

/* Creates a copy with its own memory. allocator NULL: the allocator of the original.
 * BRY_E_NOMEM. */
BRY_API bry_status bry_filter_clone(const bry_filter *filter, const bry_allocator *allocator,
                                    bry_filter **copy);

/* Removes every key and frees the memory of the table ("Clear" in base.h). */
BRY_API void bry_filter_clear(bry_filter *filter);

/* The seed to hash keys with. */
BRY_API uint64_t bry_filter_seed(const bry_filter *filter);

/* The engine; never auto. */
BRY_API bry_engine bry_filter_engine(const bry_filter *filter);

/* The number of keys it was planned for. */
BRY_API uint64_t bry_filter_capacity(const bry_filter *filter);

/* The hash of a key for this filter: bry_hash_key() with its seed. */
static inline bry_hash bry_filter_hash(const bry_filter *filter, const void *key, size_t len)
{
    return bry_hash_key(bry_filter_seed(filter), key, len);
}

/*
 * Adds a key. *was is BRY_ABSENT if the key is new. It is BRY_PRESENT if the filter contained it
 * already or reports a false positive; nothing changes then. was may be NULL.
 * BRY_E_FULL: the key is new, and the filter is fixed and holds its capacity; or, compact, growth
 * has ended (see above), which merges that filled it further may bring forward. BRY_E_NOMEM.
 */
BRY_API bry_status bry_filter_add(bry_filter *filter, bry_hash hash, bry_answer *was);

/*
 * Adds n keys, all or none. was[i] is what bry_filter_add() would return at that point; was may be
 * NULL. BRY_E_FULL as for bry_filter_add(); a fixed filter returns it if the keys that are absent
 * before the call do not all fit, where a key that occurs twice counts twice. BRY_E_NOMEM.
 */
BRY_API bry_status bry_filter_add_n(bry_filter *filter, const bry_hash *hashes, size_t n,
                                    bry_answer *was);

/*
 * Deletes a key that was added. *was is BRY_ABSENT if it was not there; was may be NULL. Another
 * key with the same fingerprint is deleted with it; this happens in a share of at most `error` of
 * the deletions. Delete only keys that were added: deleting a false positive deletes the key that
 * it collides with. BRY_E_UNSUPPORTED: engine bloom.
 */
BRY_API bry_status bry_filter_del(bry_filter *filter, bry_hash hash, bry_answer *was);

/* Deletes n keys, like n calls of bry_filter_del(). BRY_E_UNSUPPORTED: engine bloom. */
BRY_API bry_status bry_filter_del_n(bry_filter *filter, const bry_hash *hashes, size_t n,
                                    bry_answer *was);

/* Whether the filter contains the key: BRY_PRESENT or BRY_ABSENT. */
BRY_API bry_answer bry_filter_has(const bry_filter *filter, bry_hash hash);

/* answers[i] = bry_filter_has(filter, hashes[i]), with overlapping memory accesses. */
BRY_API void bry_filter_has_n(const bry_filter *filter, const bry_hash *hashes, size_t n,
                              bry_answer *answers);

/* The same with a key instead of its hash, bry_filter_hash(filter, key, len). */
static inline bry_status bry_filter_add_key(bry_filter *filter, const void *key, size_t len,
                                            bry_answer *was)
{
    return bry_filter_add(filter, bry_filter_hash(filter, key, len), was);
}

static inline bry_status bry_filter_del_key(bry_filter *filter, const void *key, size_t len,
                                            bry_answer *was)
{
    return bry_filter_del(filter, bry_filter_hash(filter, key, len), was);
}

static inline bry_answer bry_filter_has_key(const bry_filter *filter, const void *key, size_t len)
{
    return bry_filter_has(filter, bry_filter_hash(filter, key, len));
}

/*
 * Adds every key of `from` to `into`. Both must have the same engine, seed and shape
 * (BRY_E_MISMATCH). BRY_E_FULL: together they hold more than the capacity. bloom returns it only if
 * both the sum of the counts and an estimate from the bits say so. compact knows which fingerprints
 * both have; if it may grow, it is full when the promised error would be exceeded, which is at 4/3
 * of the capacity for filters that have not grown, because a merge cannot lengthen fingerprints.
 * Plan filters that are to be merged for the keys of all of them. A filter that has grown can always
 * be merged into an empty one. BRY_E_NOMEM.
 */
BRY_API bry_status bry_filter_merge(bry_filter *into, const bry_filter *from);

/* The state of a filter. */
typedef struct bry_filter_stats {
    bry_engine engine; /* never auto */
    uint32_t tables; /* 1; compact: more after it has grown past its capacity */
    uint64_t seed; /* for hashing keys */
    uint64_t capacity; /* keys it was planned for */
    uint64_t items; /* keys that were new when added; after a merge, an estimate. compact: the
                       number of fingerprints; after a merge of filters that have grown, one may be
                       stored in two lengths and counts twice */
    uint64_t bits; /* of the table; compact: of all tables */
    double fill; /* share of the bits that are set; compact: items divided by the number that the
                    tables are planned for */
    double promised_error; /* the error in the options */
    double estimated_error; /* for an absent key, computed from what is stored now */
    uint64_t bytes; /* allocated now */
    bry_filter_bloom_shape bloom; /* engine bloom only */
} bry_filter_stats;

/* items and bytes of the stats, in constant time. */
BRY_API uint64_t bry_filter_items(const bry_filter *filter);
BRY_API uint64_t bry_filter_bytes(const bry_filter *filter);

/* bry_filter_get_stats() for a struct of `size` bytes (base.h). */
BRY_API bry_status bry_filter_get_stats_sized(const bry_filter *filter, bry_filter_stats *stats,
                                              size_t size);

/* Fills *stats. Reads the whole table once. */
static inline bry_status bry_filter_get_stats(const bry_filter *filter, bry_filter_stats *stats)
{
    return bry_filter_get_stats_sized(filter, stats, sizeof *stats);
}

/* Writes the filter as frames (doc/format.md), with the note of `save`, which may be NULL and has the
 * errors (base.h). */
BRY_API bry_status bry_filter_save(const bry_filter *filter, const bry_sink *sink,
                                   const bry_save *save);

/*
 * Reads what bry_filter_save() wrote, and nothing beyond it. BRY_E_BADDATA, BRY_E_VERSION,
 * BRY_E_LIMIT, BRY_E_NOMEM, or what the source returned; load->problem and load->offset give
 * details.
 */
BRY_API bry_status bry_filter_load(const bry_source *source, bry_load *load, bry_filter **filter);

/*
 * The same to and from a file. Saving is atomic: the file has the old or the new contents, even if
 * the machine crashes. Loading refuses bytes after the end. BRY_E_IO with errno set.
 */
BRY_API bry_status bry_filter_save_file(const bry_filter *filter, const char *path,
                                        const bry_save *save);
BRY_API bry_status bry_filter_load_file(const char *path, bry_load *load, bry_filter **filter);

#ifdef __cplusplus
}
#endif

#endif
