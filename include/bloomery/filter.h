/*
 * Filter: is it in the set?
 *
 * A filter remembers which keys were added, in a few bits a key. It never denies a key that was
 * added (no false negatives). For a key that was not added it answers "present" with a probability
 * of at most the error it was created with, as long as no more than its capacity were added.
 *
 * Engines: bloom (the default) is a Bloom filter whose bits for one key all lie in one cache line:
 * one memory access a look-up. It cannot delete and does not grow: past its capacity a new key is
 * refused with BRY_E_FULL, because accepting it would break the promise. compact keeps a
 * fingerprint of each key: it deletes, counts, and grows past its capacity, the promise kept,
 * unless it is `fixed`; and its memory follows the keys that are there.
 */
#ifndef BLOOMERY_FILTER_H
#define BLOOMERY_FILTER_H

#include <bloomery/base.h>
#include <bloomery/hash.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bry_filter bry_filter;

/* The smallest error that can be asked for. */
#define BRY_FILTER_ERROR_MIN 1e-9

/* Options of engine bloom: the exact shape, as bry_filter_options_like() copies it. 0 in both:
 * planned from capacity and error. */
typedef struct bry_filter_bloom {
    uint64_t bits; /* a multiple of 512, at most 8192 for each key of the capacity and 1 MiB more */
    uint32_t hashes; /* bits set for one key, 1 to 21 */
} bry_filter_bloom;

typedef struct bry_filter_options {
    size_t struct_size;
    bry_engine engine; /* auto (= bloom), bloom or compact */
    bool fixed; /* compact: BRY_E_FULL past the capacity instead of growing, for 0.4 bits less.
                   bloom is fixed in any case */
    uint64_t capacity; /* keys to plan for, 1 to BRY_CAPACITY_MAX; 0: 1000 */
    double error; /* false positives at capacity, BRY_FILTER_ERROR_MIN to BRY_ERROR_MAX; 0: 0.01 */
    uint64_t seed; /* for hashing keys; 0: a random one is drawn at creation */
    const bry_allocator *allocator; /* NULL: malloc and free */
    bry_filter_bloom bloom; /* of engine bloom alone */
} bry_filter_options;

#define BRY_FILTER_OPTIONS                                                                         \
    {                                                                                              \
        sizeof(bry_filter_options), BRY_ENGINE_AUTO, false, 0, 0, 0, NULL,                         \
        {                                                                                          \
            0, 0                                                                                   \
        }                                                                                          \
    }

/* What an object with these options costs and promises. Begin with BRY_FILTER_SHAPE. */
typedef struct bry_filter_shape {
    size_t struct_size;
    bry_engine engine; /* never auto */
    uint32_t hashes; /* bits set for one key; compact: 0 */
    uint32_t fingerprint_bits; /* compact; bloom: 0 */
    uint64_t capacity; /* keys it is planned for */
    uint64_t bits; /* of the table; compact: with `capacity` keys */
    double error; /* expected at capacity; at most the one asked for, unless an exact shape was
                     given */
    uint64_t bytes; /* allocated once every piece of the table is in use; compact: with `capacity`
                       keys, give or take 2 % */
    uint64_t bytes_empty; /* allocated by create; pieces are added when a key first reaches them */
} bry_filter_shape;

#define BRY_FILTER_SHAPE                                                                           \
    {                                                                                              \
        sizeof(bry_filter_shape), BRY_ENGINE_AUTO, 0, 0, 0, 0, 0, 0, 0                             \
    }

/*
 * Fills *shape without allocating anything.
 * BRY_E_RANGE: an option is out of its range. BRY_E_UNSUPPORTED: filters do not have that engine,
 * or that engine does not have that option.
 */
BRY_API bry_status bry_filter_plan(const bry_filter_options *options, bry_filter_shape *shape);

/* Makes an empty filter. As bry_filter_plan(), and BRY_E_NOMEM; BRY_E_IO when the system has no
 * random seed to give. */
BRY_API bry_status bry_filter_create(const bry_filter_options *options, bry_filter **filter);

/*
 * Options that make a filter which can be merged with `other`: same engine, seed and shape; the
 * allocator is the default one. They hold wherever they are used, also after `other` is gone.
 */
BRY_API bry_status bry_filter_options_like(const bry_filter *other, bry_filter_options *options);

BRY_API void bry_filter_destroy(bry_filter *filter);

/* A second filter with the same contents. Its memory comes from `allocator`; NULL: from where the
 * first one's does. BRY_E_NOMEM. */
BRY_API bry_status bry_filter_clone(const bry_filter *filter, const bry_allocator *allocator,
                                    bry_filter **copy);

/* Forgets every key, keeps seed and shape, gives the table's memory back. */
BRY_API void bry_filter_clear(bry_filter *filter);

/* The seed to hash keys with. */
BRY_API uint64_t bry_filter_seed(const bry_filter *filter);

/* The hash that this filter knows a key by: bry_hash_key() with its seed. */
BRY_API bry_hash bry_filter_hash(const bry_filter *filter, const void *key, size_t len);

/*
 * Adds a key. *was says BRY_PRESENT when the filter answered so already (it was added before, or is
 * a false positive: either way nothing changes), BRY_ABSENT when it is new; was may be NULL.
 * BRY_E_FULL: it is new and the filter is fixed and holds its capacity, or could not keep its
 * promise (compact, where merging has filled it beyond). BRY_E_NOMEM.
 */
BRY_API bry_status bry_filter_add(bry_filter *filter, bry_hash hash, bry_answer *was);

/*
 * Adds n keys, all or none; was[i], where `was` is not NULL, is what bry_filter_add() would say at
 * that point. BRY_E_FULL as bry_filter_add(); in a fixed filter when those that are absent before
 * the call, repeats counted each time, do not all fit. BRY_E_NOMEM.
 */
BRY_API bry_status bry_filter_add_n(bry_filter *filter, const bry_hash *hashes, size_t n,
                                    bry_answer *was);

/*
 * Deletes a key that was added. *was says BRY_ABSENT when it was not there; was may be NULL. A key
 * that has the same fingerprint goes with it, a share of at most `error` of the deletions; and so
 * does one when a key is deleted that was never added but is a false positive: delete what you know
 * is there. BRY_E_UNSUPPORTED: engine bloom.
 */
BRY_API bry_status bry_filter_del(bry_filter *filter, bry_hash hash, bry_answer *was);

/* Deletes n keys, as n calls of bry_filter_del(); was may be NULL. BRY_E_UNSUPPORTED: engine bloom.
 */
BRY_API bry_status bry_filter_del_n(bry_filter *filter, const bry_hash *hashes, size_t n,
                                    bry_answer *was);

/* BRY_PRESENT or BRY_ABSENT. */
BRY_API bry_answer bry_filter_has(const bry_filter *filter, bry_hash hash);

/* answers[i] = bry_filter_has(filter, hashes[i]), memory latency hidden.
 */
BRY_API void bry_filter_has_n(const bry_filter *filter, const bry_hash *hashes, size_t n,
                              bry_answer *answers);

/* The same by the key: with bry_filter_hash(filter, key, len) in place of the hash. */
BRY_API bry_status bry_filter_add_key(bry_filter *filter, const void *key, size_t len,
                                      bry_answer *was);
BRY_API bry_status bry_filter_del_key(bry_filter *filter, const void *key, size_t len,
                                      bry_answer *was);
BRY_API bry_answer bry_filter_has_key(const bry_filter *filter, const void *key, size_t len);

/*
 * Adds every key of `from` to `into`. Both must have the same engine, seed and shape
 * (BRY_E_MISMATCH). BRY_E_FULL: together they hold more than the capacity; where both sums and an
 * estimate from the bits agree on that. compact knows which fingerprints both have; where it grows,
 * it is full when the error would pass the promise, which for filters that have not grown is at 4/3
 * of the capacity: fingerprints do not become longer. BRY_E_NOMEM.
 */
BRY_API bry_status bry_filter_merge(bry_filter *into, const bry_filter *from);

/* Begin with BRY_FILTER_STATS. */
typedef struct bry_filter_stats {
    size_t struct_size;
    bry_engine engine; /* never auto */
    uint32_t hashes; /* bits set for one key; compact: 0 */
    uint32_t tables; /* 1; compact: more where it has grown past its capacity */
    uint64_t seed; /* for hashing keys */
    uint64_t capacity; /* keys it was planned for */
    uint64_t items; /* keys that were new when added; after a merge, the best estimate. compact:
                       fingerprints that are there; after a merge of filters that have grown, one
                       may be there in two lengths and counts twice */
    uint64_t bits; /* of the table; compact: of all tables */
    double fill; /* share of the bits that are set; compact: items by what its tables are planned
                    for */
    double promised_error; /* what was asked for at creation */
    double estimated_error; /* what the bits that are set now give for a key that is absent */
    uint64_t bytes; /* allocated now */
} bry_filter_stats;

#define BRY_FILTER_STATS                                                                           \
    {                                                                                              \
        sizeof(bry_filter_stats), BRY_ENGINE_AUTO, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                    \
    }

/* As in the stats, in constant time. */
BRY_API uint64_t bry_filter_items(const bry_filter *filter);
BRY_API uint64_t bry_filter_bytes(const bry_filter *filter);

/* Reads the whole table once. */
BRY_API bry_status bry_filter_get_stats(const bry_filter *filter, bry_filter_stats *stats);

/* Writes the filter as frames (doc/format.md), with the note of `save`, which may be NULL. What the
 * sink returns, or BRY_OK; RANGE or TOOLONG for a wrong `save` (base.h). */
BRY_API bry_status bry_filter_save(const bry_filter *filter, const bry_sink *sink,
                                   const bry_save *save);

/*
 * Reads what bry_filter_save() wrote, and nothing beyond it. BRY_E_BADDATA, BRY_E_VERSION,
 * BRY_E_LIMIT, BRY_E_NOMEM, or what the source returns; load->problem and load->offset say more.
 */
BRY_API bry_status bry_filter_load(const bry_source *source, bry_load *load, bry_filter **filter);

/*
 * The same to and from a file. Saving replaces the file whole or not at all, also when the machine
 * fails meanwhile; loading refuses bytes after the end. BRY_E_IO with errno set.
 */
BRY_API bry_status bry_filter_save_file(const bry_filter *filter, const char *path,
                                        const bry_save *save);
BRY_API bry_status bry_filter_load_file(const char *path, bry_load *load, bry_filter **filter);

#ifdef __cplusplus
}
#endif

#endif
