/*
 * Index: which of these subsets may hold this?
 *
 * An index covers a set that is divided into subsets (files, containers, storage nodes). It has a
 * *unit* for each. For an element it returns the units that may contain it, the *candidates*; the
 * caller confirms them in the subsets themselves, in the given order. The unit that an element was
 * added to is always among its candidates (no false negatives; for compact, see bry_index_del()).
 * For an element that was not added, the probability that there is any candidate is at most `error`
 * as long as there are no more units, and no fuller ones, than planned for.
 *
 * Units: a unit is opened, takes elements, is sealed (explicitly or when it is full) and may be
 * dropped as a whole. It has a number, assigned by the index, and a 64-bit tag, assigned by the
 * caller and without meaning to the index; several units may have the same tag. Numbers count up
 * from 0; those of dropped units are reused only when BRY_INDEX_UNITS_MAX have been used.
 *
 * At capacity: a full unit takes no more elements (BRY_E_FULL if the unit is named, otherwise a new
 * unit is opened). More units than `units` are accepted unless the index is `fixed`, but each adds
 * to the error:
 *   dba      restores the error by rebuilding units, for which it needs their elements again; the
 *            caller supplies them, see bry_index_step(). Until that is done, stats show by how much
 *            the error will be exceeded.
 *   compact  keeps the promised error by itself: elements beyond the plan go to further tables with
 *            a decreasing share of the error. (This costs a growable index 0.4 bits per element; a
 *            fixed one saves them.) Units imported beyond the plan use up the error of those
 *            tables (bry_index_import_unit()). If nothing of it is left, compact takes no more
 *            elements, and returns BRY_E_FULL even for a unit that has room, until units are
 *            dropped. So it does at 2^40 elements, or earlier if the error is small, because
 *            fingerprints have at most 62 bits: at `grows_to` of the plan, error · 2^54 or more.
 *
 * Engines:
 *   compact  (the default) the fingerprint of each element and the number of its unit. It can
 *            delete single elements and needs no supplier.
 *   dba      an array of Bloom filters whose bits are interleaved, so that one load tests up to 512
 *            units. Units can be built, stored and shipped separately.
 */
#ifndef BLOOMERY_INDEX_H
#define BLOOMERY_INDEX_H

#include <bloomery/base.h>
#include <bloomery/hash.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bry_index bry_index;

/* The largest number of units at a time, and of unit numbers. */
#define BRY_INDEX_UNITS_MAX ((uint32_t)1 << 20)

/* The smallest error. */
#define BRY_INDEX_ERROR_MIN 1e-9

/* The largest number of units that engine dba interleaves. */
#define BRY_INDEX_DBA_GROUP_MAX 512u

/* Instead of a unit number: the newest unit that takes elements, or a new one if there is none. */
#define BRY_INDEX_NEWEST UINT32_MAX

/* How engine dba keeps its error when there are more units than planned for. */
typedef uint32_t bry_index_control;
enum {
    BRY_INDEX_TIGHTER = 0, /* method B: rebuild units with a smaller error, so that more fit */
    BRY_INDEX_LARGER = 1, /* method A: rebuild units with more capacity, and reopen them */
    BRY_INDEX_UNCONTROLLED = 2, /* not at all: the error rises with the number of units */
};

/* Options of engine dba. */
typedef struct bry_index_dba {
    bry_index_control control; /* 0: tighter */
    uint32_t factor; /* by which a rebuild raises the capacity (A) or the number of units (B), 2 to
                        16; 0: 2 */
    uint32_t group; /* interleaved units: 1, 8, 16, 32, 64, 128, 256 or 512; 0: by their number */
    /* the exact shape, as options_like() copies it; both 0: planned from the other options */
    uint32_t hashes; /* bits per element, 1 to 64 */
    uint64_t unit_bits; /* of the filter of one unit */
    double stale; /* share of stale elements at which a unit is to be refreshed; 0: 0.25 */
    uint32_t segmented; /* 1: one segment of the filter per hash. BRY_INDEX_TIGHTER then adds
                           segments instead of rebuilding */
    uint32_t reserved[7]; /* 0 */
} bry_index_dba;

typedef struct bry_index_options {
    size_t struct_size;
    bry_engine engine; /* auto (= compact), compact or dba */
    uint32_t fixed; /* 1: BRY_E_FULL beyond `units` */
    uint32_t units; /* to plan for, 1 to BRY_INDEX_UNITS_MAX; 0: 64 */
    uint32_t reserved; /* 0 */
    uint64_t unit_capacity; /* elements in each, 1 to BRY_CAPACITY_MAX; 0: 65,536. compact: at most
                               BRY_CAPACITY_MAX in all units together */
    double error; /* probability of any candidate for an absent element, BRY_INDEX_ERROR_MIN to
                     BRY_ERROR_MAX; 0: 0.001 */
    uint64_t seed; /* for hashing elements; 0: random */
    const bry_allocator *allocator; /* NULL: malloc() and free() */
    bry_index_dba dba; /* engine dba only */
} bry_index_options;

#define BRY_INDEX_OPTIONS                                                                          \
    {                                                                                              \
        sizeof(bry_index_options), BRY_ENGINE_AUTO, 0, 0, 0, 0, 0, 0, NULL,                        \
        {                                                                                          \
            BRY_INDEX_TIGHTER, 0, 0, 0, 0, 0, 0,                                                   \
            {                                                                                      \
                0                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* The shape of engine dba. */
typedef struct bry_index_dba_shape {
    uint32_t group; /* interleaved units, with the planned number of units */
    uint32_t hashes; /* bits per element */
    uint64_t unit_bits; /* of the filter of one unit */
    uint32_t reserved[4]; /* 0 */
} bry_index_dba_shape;

/* The memory and error of an index with given options. */
typedef struct bry_index_shape {
    bry_engine engine; /* never auto */
    uint32_t units; /* that it is planned for */
    uint64_t unit_capacity; /* elements in each of them */
    double unit_error; /* of one unit */
    double error; /* expected with all units full */
    uint64_t bytes; /* with all units full and no pending work. An estimate: within 4 % for 20000
                       elements or more in all, 8 % for 5000 or more, a third for fewer. While work
                       is pending for bry_index_step(), dba may take a seventh more, or three
                       quarters more with units of less than 1000 elements */
    uint64_t bytes_empty; /* allocated by create */
    uint64_t grows_to; /* compact: elements at which it is full, in all units: as planned if it is
                          fixed; otherwise BRY_CAPACITY_MAX, or fewer because fingerprints have at
                          most 62 bits. dba: 0, only memory and the number of units limit it */
    bry_compact_shape compact; /* engine compact only */
    bry_index_dba_shape dba; /* engine dba only */
} bry_index_shape;

/* bry_index_plan() for a struct of `size` bytes (base.h). */
BRY_API bry_status bry_index_plan_sized(const bry_index_options *options, bry_index_shape *shape,
                                        size_t size);

/*
 * Fills *shape without allocating anything.
 * BRY_E_RANGE: an option is out of range. BRY_E_UNSUPPORTED: indexes do not have that engine, or
 * the engine does not have that option.
 */
static inline bry_status bry_index_plan(const bry_index_options *options, bry_index_shape *shape)
{
    return bry_index_plan_sized(options, shape, sizeof *shape);
}

/* Creates an index without units. Errors: those of bry_index_plan(); BRY_E_NOMEM; BRY_E_IO if the
 * system cannot provide a random seed. */
BRY_API bry_status bry_index_create(const bry_index_options *options, bry_index **index);

/* bry_index_options_like() for a struct of `size` bytes (base.h). */
BRY_API bry_status bry_index_options_like_sized(const bry_index *other, bry_index_options *options,
                                                size_t size);

/*
 * Sets options that create an index whose units can be imported in `other`: same engine, seed and
 * shape (for dba, the shape that new units have now), default allocator. They stay valid when
 * `other` is destroyed.
 */
static inline bry_status bry_index_options_like(const bry_index *other, bry_index_options *options)
{
    return bry_index_options_like_sized(other, options, sizeof *options);
}

/* Frees the index. NULL is allowed. */
BRY_API void bry_index_destroy(bry_index *index);

/* Creates a copy with its own memory. allocator NULL: the allocator of the original.
 * BRY_E_NOMEM. */
BRY_API bry_status bry_index_clone(const bry_index *index, const bry_allocator *allocator,
                                   bry_index **copy);

/* Drops every unit; numbers start again at 0 ("Clear" in base.h). */
BRY_API void bry_index_clear(bry_index *index);

/* The seed to hash elements with. */
BRY_API uint64_t bry_index_seed(const bry_index *index);

/* The engine; never auto. */
BRY_API bry_engine bry_index_engine(const bry_index *index);

/* The number of elements in each unit that it was planned for. */
BRY_API uint64_t bry_index_unit_capacity(const bry_index *index);

/* The hash of an element for this index: bry_hash_key() with its seed. */
static inline bry_hash bry_index_hash(const bry_index *index, const void *key, size_t len)
{
    return bry_hash_key(bry_index_seed(index), key, len);
}

/* ---- units --------------------------------------------------------------------------------- */

/*
 * Opens a unit, which becomes the newest. Units opened before stay open for adds that name them.
 * *unit is its number. BRY_E_FULL: there are BRY_INDEX_UNITS_MAX units, or a fixed index has
 * `units`. BRY_E_NOMEM.
 */
BRY_API bry_status bry_index_open(bry_index *index, uint64_t tag, uint32_t *unit);

/*
 * Undoes the opening of the unit that was opened last and has no elements: the next unit gets its
 * number and position. Memory may differ from before: stored unit numbers keep the width that this
 * unit required. BRY_E_NOUNIT: no such unit. BRY_E_RANGE: another unit was opened after it, or it
 * has elements.
 */
BRY_API bry_status bry_index_undo_open(bry_index *index, uint32_t unit);

/* Seals a unit: it takes no more elements. Sealing it again is BRY_OK. BRY_E_NOUNIT: no such
 * unit. */
BRY_API bry_status bry_index_seal(bry_index *index, uint32_t unit);

/*
 * Drops a unit: it is no longer a candidate, and its elements no longer count. Memory that it
 * shares with others is freed during later additions and steps; the answers, the capacity and the
 * saved form of the index do not depend on when. BRY_E_NOUNIT: no such unit.
 */
BRY_API bry_status bry_index_drop(bry_index *index, uint32_t unit);

/* Sets or gets the tag of a unit. BRY_E_NOUNIT: no such unit. */
BRY_API bry_status bry_index_set_tag(bry_index *index, uint32_t unit, uint64_t tag);
BRY_API bry_status bry_index_get_tag(const bry_index *index, uint32_t unit, uint64_t *tag);

/*
 * Moves the elements of `from` into `into` and drops `from`. Either may be sealed. BRY_E_NOUNIT: no
 * such unit. BRY_E_RANGE: both are the same unit. BRY_E_FULL: together they have more elements than
 * the capacity of `into`; an element that is in both counts twice. BRY_E_MISMATCH: dba, one of them
 * was rebuilt with another shape. BRY_E_NOMEM.
 */
BRY_API bry_status bry_index_merge_units(bry_index *index, uint32_t into, uint32_t from);

/* A unit of engine dba. */
typedef struct bry_index_dba_unit_info {
    uint64_t stale; /* elements that were deleted, but are still candidates */
    uint64_t reserved[3]; /* 0 */
} bry_index_dba_unit_info;

/* The state of a unit. */
typedef struct bry_index_unit_info {
    uint32_t unit; /* its number */
    uint32_t sealed; /* 1: takes no more elements */
    uint32_t wants_refresh; /* 1: too many elements are stale, or error control will rebuild it */
    uint32_t reserved; /* 0 */
    uint64_t tag; /* assigned by the caller */
    uint64_t capacity; /* elements that it can hold */
    uint64_t elements; /* in it, including stale ones */
    double error; /* estimated probability that it is a candidate for an absent element */
    bry_index_dba_unit_info dba; /* engine dba only */
} bry_index_unit_info;

/* bry_index_get_unit_info() for a struct of `size` bytes (base.h). */
BRY_API bry_status bry_index_get_unit_info_sized(const bry_index *index, uint32_t unit,
                                                 bry_index_unit_info *info, size_t size);

/* Fills *info. BRY_E_NOUNIT: no such unit. */
static inline bry_status bry_index_get_unit_info(const bry_index *index, uint32_t unit,
                                                 bry_index_unit_info *info)
{
    return bry_index_get_unit_info_sized(index, unit, info, sizeof *info);
}

/* Stores up to `room` unit numbers, newest first, and returns how many units there are. */
BRY_API size_t bry_index_units(const bry_index *index, uint32_t *units, size_t room);

/* ---- elements ------------------------------------------------------------------------------ */

/*
 * Adds an element to a unit. With BRY_INDEX_NEWEST it goes to the newest unit that takes elements.
 * If that unit is full, it is sealed and a new one is opened with tag 0; a new one is also opened
 * if there is none. (With BRY_INDEX_LARGER only when all open units are full, from the newest to
 * the oldest.) *went is the number of the unit. *was is BRY_PRESENT if that unit was a candidate
 * for the element already; nothing changes then, even if the unit is full. Both pointers may be
 * NULL. BRY_E_NOUNIT: no such unit. BRY_E_SEALED. BRY_E_FULL: the named unit is full; or, with
 * BRY_INDEX_NEWEST, as for bry_index_open(); or, compact, units imported beyond the plan have used
 * up the error. BRY_E_NOMEM.
 */
BRY_API bry_status bry_index_add(bry_index *index, bry_hash hash, uint32_t unit, uint32_t *went,
                                 bry_answer *was);

/*
 * Adds n elements, all or none. went[i] is the unit of element i; with BRY_INDEX_NEWEST there may
 * be several. was[i] is what bry_index_add() would return at that point. Both pointers may be NULL.
 * Whether there is room (BRY_E_FULL) is decided as if all n elements were new.
 */
BRY_API bry_status bry_index_add_n(bry_index *index, const bry_hash *hashes, size_t n,
                                   uint32_t unit, uint32_t *went, bry_answer *was);

/*
 * Deletes an element that was added to that unit. *was is BRY_ABSENT if the unit does not contain
 * it; nothing changes then. compact removes it immediately; another element of the same unit with
 * the same fingerprint is deleted with it, in a share of at most `error` / `units` of the
 * deletions. dba counts it as stale: the unit stays a candidate for it until the unit is refreshed
 * from its live elements (bry_index_step()). Delete only what was added: dba cannot recognise a
 * false positive, and would count it. BRY_E_NOUNIT: no such unit. BRY_E_NOMEM.
 */
BRY_API bry_status bry_index_del(bry_index *index, bry_hash hash, uint32_t unit, bry_answer *was);

/* Deletes n elements from one unit, like n calls of bry_index_del(); was may be NULL. */
BRY_API bry_status bry_index_del_n(bry_index *index, const bry_hash *hashes, size_t n,
                                   uint32_t unit, bry_answer *was);

/* The same with a key instead of its hash, bry_index_hash(index, key, len). */
static inline bry_status bry_index_add_key(bry_index *index, const void *key, size_t len,
                                           uint32_t unit, uint32_t *went, bry_answer *was)
{
    return bry_index_add(index, bry_index_hash(index, key, len), unit, went, was);
}

static inline bry_status bry_index_del_key(bry_index *index, const void *key, size_t len,
                                           uint32_t unit, bry_answer *was)
{
    return bry_index_del(index, bry_index_hash(index, key, len), unit, was);
}

/* ---- looking up ---------------------------------------------------------------------------- */

/* BRY_PRESENT: there is at least one candidate. BRY_ABSENT: no unit contains it. */
BRY_API bry_answer bry_index_has(const bry_index *index, bry_hash hash);

/* answers[i] = bry_index_has(index, hashes[i]), with overlapping memory accesses. */
BRY_API void bry_index_has_n(const bry_index *index, const bry_hash *hashes, size_t n,
                             bry_answer *answers);

/* Whether this unit is a candidate, without looking at the others; BRY_ABSENT also if there is no
 * such unit. */
BRY_API bry_answer bry_index_unit_has(const bry_index *index, bry_hash hash, uint32_t unit);

/*
 * Stores up to `room` candidates, newest unit first, and returns how many candidates there are. If
 * that is more than room, call again with a larger array. units may be NULL if room is 0.
 */
BRY_API size_t bry_index_locate(const bry_index *index, bry_hash hash, uint32_t *units,
                                size_t room);

/*
 * totals[i] = bry_index_locate(index, hashes[i], units + i * room, room). units has room for
 * n * room numbers, totals for n.
 */
BRY_API void bry_index_locate_n(const bry_index *index, const bry_hash *hashes, size_t n,
                                uint32_t *units, size_t room, size_t *totals);

/* The same with a key instead of its hash. */
static inline bry_answer bry_index_has_key(const bry_index *index, const void *key, size_t len)
{
    return bry_index_has(index, bry_index_hash(index, key, len));
}

static inline size_t bry_index_locate_key(const bry_index *index, const void *key, size_t len,
                                          uint32_t *units, size_t room)
{
    return bry_index_locate(index, bry_index_hash(index, key, len), units, room);
}

/* ---- pending work -------------------------------------------------------------------------- */

/*
 * Supplies the elements of a unit to the index again. supply stores up to `room` hashes of live
 * elements of the unit, starting with number `from` in an order that it chooses and does not change
 * during a rebuild, and sets *got; 0 means that there are no more. It must supply every live
 * element, or the index will no longer find those omitted; one too many is a false positive. A
 * status other than BRY_OK ends the step. supply must not call functions on the index.
 */
typedef struct bry_index_supplier {
    bry_status (*supply)(void *opaque, uint32_t unit, uint64_t tag, uint64_t from, bry_hash *hashes,
                         size_t room, size_t *got); /* see above */
    void *opaque; /* passed to supply */
} bry_index_supplier;

/*
 * Does pending work, at most about `budget` elements' worth: error control, refreshing stale units,
 * merging groups, freeing the memory of dropped units, and, compact, folding tables that are no
 * longer needed. Answers are the same before, during and after it, except for stale elements and
 * false positives, because what is being rebuilt is used until its replacement is complete. Without
 * a supplier (NULL) it does what needs no elements. *left is an estimate of the work that this call
 * could have continued with; 0 means that nothing is left to do, or nothing without a supplier.
 * left may be NULL. The index never does such work by itself: call this from time to time, or when
 * stats show `waiting`. BRY_E_NOMEM, or what the supplier returned; work done so far is kept.
 * For compact without a supplier: of all this, only folding changes what is saved, and how much is
 * folded depends on the budget. Folding is all or nothing: it is not done if the call returns
 * BRY_E_NOMEM.
 */
BRY_API bry_status bry_index_step(bry_index *index, const bry_index_supplier *supplier,
                                  uint64_t budget, uint64_t *left);

/* The state of engine dba. */
typedef struct bry_index_dba_stats {
    uint32_t groups; /* groups of interleaved units */
    uint32_t group; /* interleaved units in the largest group */
    uint64_t rebuilds; /* units rebuilt or refreshed so far */
    uint64_t stale; /* elements that were deleted, but are still candidates */
    uint64_t reserved[1]; /* 0 */
} bry_index_dba_stats;

/* The state of engine compact. */
typedef struct bry_index_compact_stats {
    uint64_t dropped; /* elements of dropped units that still take memory; 0 after save and load */
    uint64_t reserved[3]; /* 0 */
} bry_index_compact_stats;

/* The state of an index. */
typedef struct bry_index_stats {
    bry_engine engine; /* never auto */
    uint32_t units; /* that exist */
    uint64_t seed; /* for hashing elements */
    uint32_t promised_units; /* how many are possible within the promised error */
    uint32_t reserved; /* 0 */
    uint64_t unit_capacity; /* of the next unit */
    uint64_t elements; /* in all units, including stale ones */
    double fill; /* dba: share of bits set; compact: entries divided by the number that the tables
                    are planned for */
    double promised_error; /* the error in the options */
    double estimated_error; /* with what is stored now; dba: 0 if below 1e-20 */
    double full_error; /* when all existing units are full. If above promised_error, that will be
                          exceeded unless units are rebuilt */
    uint64_t waiting; /* pending work for bry_index_step(), in elements */
    uint64_t waiting_for_supplier; /* the part of waiting that cannot be done without a supplier */
    uint64_t bytes; /* allocated now */
    bry_index_compact_stats compact; /* engine compact only */
    bry_index_dba_stats dba; /* engine dba only */
} bry_index_stats;

/* elements and bytes of the stats, in constant time. */
BRY_API uint64_t bry_index_items(const bry_index *index);
BRY_API uint64_t bry_index_bytes(const bry_index *index);

/* bry_index_get_stats() for a struct of `size` bytes (base.h). */
BRY_API bry_status bry_index_get_stats_sized(const bry_index *index, bry_index_stats *stats,
                                             size_t size);

/* Fills *stats, in time proportional to the number of groups (dba) or tables (compact). */
static inline bry_status bry_index_get_stats(const bry_index *index, bry_index_stats *stats)
{
    return bry_index_get_stats_sized(index, stats, sizeof *stats);
}

/* ---- saving and loading -------------------------------------------------------------------- */

/* Writes the index as frames (doc/format.md), with the note of `save`, which may be NULL and has the
 * errors (base.h). */
BRY_API bry_status bry_index_save(const bry_index *index, const bry_sink *sink,
                                  const bry_save *save);

/*
 * Reads what bry_index_save() wrote, and nothing beyond it. BRY_E_BADDATA, BRY_E_VERSION,
 * BRY_E_LIMIT, BRY_E_NOMEM, or what the source returned; load->problem and load->offset give
 * details. The index has all options that it was created with, except the allocator.
 */
BRY_API bry_status bry_index_load(const bry_source *source, bry_load *load, bry_index **index);

/*
 * The same to and from a file. Saving is atomic: the file has the old or the new contents, even if
 * the machine crashes. Loading refuses bytes after the end. BRY_E_IO with errno set.
 */
BRY_API bry_status bry_index_save_file(const bry_index *index, const char *path,
                                       const bry_save *save);
BRY_API bry_status bry_index_load_file(const char *path, bry_load *load, bry_index **index);

/*
 * The same to and from a directory. Saving writes only what has changed since the directory was
 * last written, whichever object wrote it. The directory contains a file for each unit (compact:
 * for each part of the table) and one that lists them and contains the note of `save`. It is
 * created if it does not exist, and contains the old or the new index at any time. Only one process
 * may save at a time; loading meanwhile is safe.
 * BRY_E_MISMATCH: the directory contains an index with another seed or engine. BRY_E_BADDATA,
 * BRY_E_VERSION: its list cannot be read; nothing is changed. BRY_E_NOMEM. BRY_E_IO with errno set.
 */
BRY_API bry_status bry_index_save_dir(const bry_index *index, const char *path,
                                      const bry_save *save);
BRY_API bry_status bry_index_load_dir(const char *path, bry_load *load, bry_index **index);

/*
 * Writes one unit and its tag as frames, to be imported in another index; bry_index_import_unit()
 * stores the note of `save` in load->note. To build a unit separately, create an index with
 * bry_index_options_like(), or with the same options and seed, and fill a unit of it.
 * BRY_E_NOUNIT: no such unit. Otherwise as for bry_index_save().
 */
BRY_API bry_status bry_index_save_unit(const bry_index *index, uint32_t unit, const bry_sink *sink,
                                       const bry_save *save);

/*
 * Adds a unit that bry_index_save_unit() wrote, as the newest; *unit is its number in this index.
 * load->max_bytes limits the memory of the unit; load->allocator is not used. The unit is read to
 * its end before the index changes, and a call that fails leaves the saved form unchanged.
 * BRY_E_MISMATCH: engine, seed, error or shape differ. BRY_E_FULL, BRY_E_NOMEM: as for
 * bry_index_open(); BRY_E_FULL also if compact would exceed its error: the fingerprints of an
 * imported unit are only as long as those of the first `units`, too short beyond 4/3 of that
 * number. BRY_E_BADDATA, BRY_E_VERSION, BRY_E_LIMIT, or what the source returned.
 */
BRY_API bry_status bry_index_import_unit(bry_index *index, const bry_source *source, bry_load *load,
                                         uint32_t *unit);

#ifdef __cplusplus
}
#endif

#endif
