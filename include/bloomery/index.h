/*
 * Index: which of these subsets may hold this?
 *
 * An index covers a set that is cut into subsets (files, containers, storage nodes). For each it
 * keeps a *unit*. Asked for an element, it names the units that may hold it; the caller confirms in
 * the subsets themselves, in the order given. An element that was added is always among the
 * candidates (no false negatives; for compact, see bry_index_del()). For an element that was not,
 * the probability that there is any candidate is at most `error`, as long as there are no more
 * units, and no fuller ones, than planned for.
 *
 * Units: one is opened, takes elements, is sealed (by hand or when full) and may be dropped whole.
 * Each has a number, which the index gives, and a tag of 64 bits, which is the caller's and means
 * nothing to the index: several units may share one. Numbers count up from 0; those of dropped
 * units come back only when BRY_INDEX_UNITS_MAX have been used up.
 *
 * At capacity: a full unit takes no more (BRY_E_FULL when named, a new unit when not). More units
 * than `units` are accepted unless the index is `fixed`, but each adds to the error. Engine dba
 * keeps its error by rebuilding units, for which it needs their elements again: the caller supplies
 * them, see bry_index_step(). Until that is done stats say by how much the error will pass the
 * target. compact holds its promise by itself: elements past the plan go to further tables with a
 * falling share of the error. (It costs a growable index 0.4 bits per element from the beginning;
 * a fixed one does without.) But units that were installed past the plan use the error of those
 * tables up (bry_index_install_unit()): where nothing of it is left compact takes no more elements,
 * BRY_E_FULL also in a unit that has room, until units are dropped.
 *
 * Engines: compact (the default) keeps the fingerprint of each element and the number of its unit;
 * it deletes single elements and needs no supplier. dba is an array of Bloom filters stored bit by
 * bit side by side, so that one load asks up to 512 units; these are built, kept and shipped one by
 * one.
 */
#ifndef BLOOMERY_INDEX_H
#define BLOOMERY_INDEX_H

#include <bloomery/base.h>
#include <bloomery/hash.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bry_index bry_index;

/* How many units there may be at a time, and how many numbers they have. */
#define BRY_INDEX_UNITS_MAX ((uint32_t)1 << 20)

/* The smallest error that can be asked for. */
#define BRY_INDEX_ERROR_MIN 1e-9

/* The most units that engine dba keeps side by side. */
#define BRY_INDEX_DBA_GROUP_MAX 512u

/* In place of a unit's number: the newest one that takes elements, or a new one if there is none.
 */
#define BRY_INDEX_NEWEST UINT32_MAX

/* How engine dba keeps its error when there are more units than planned for. */
typedef enum bry_index_control {
    BRY_INDEX_TIGHTER = 0, /* method B: units rebuilt with a smaller error, so more of them fit */
    BRY_INDEX_LARGER = 1, /* method A: units rebuilt with more capacity and opened again */
    BRY_INDEX_UNCONTROLLED = 2, /* the error rises with the number of units */
} bry_index_control;

/* Options of engine dba. */
typedef struct bry_index_dba {
    bry_index_control control; /* 0: tighter */
    uint32_t factor; /* by which a rebuild raises capacity (A) or the number of units (B), 2 to 16;
                        0: 2 */
    uint32_t group; /* units side by side: 1, 8, 16, 32, 64, 128, 256, 512; 0: follows their number
                     */
    /* the exact shape, as options_like() copies it; 0 in both: planned from the others */
    uint32_t hashes; /* bits an element, 1 to 64 */
    uint64_t unit_bits; /* of one unit's filter */
    bool segmented; /* one segment of the filter for each hash: BRY_INDEX_TIGHTER then only adds
                       segments instead of rebuilding */
} bry_index_dba;

typedef struct bry_index_options {
    size_t struct_size;
    bry_engine engine; /* auto (= compact), compact or dba */
    bool fixed; /* true: BRY_E_FULL past `units` */
    uint32_t units; /* to plan for, 1 to BRY_INDEX_UNITS_MAX; 0: 64 */
    uint64_t unit_capacity; /* elements in each, 1 to BRY_CAPACITY_MAX; 0: 65,536. compact: all
                               units together may be planned for BRY_CAPACITY_MAX */
    double error; /* chance of any candidate for an absent element, BRY_INDEX_ERROR_MIN to
                     BRY_ERROR_MAX; 0: 0.001 */
    double stale; /* share of stale elements at which a unit wants to be refreshed; 0: 0.25 */
    uint64_t seed; /* for hashing elements; 0: a random one is drawn at creation */
    const bry_allocator *allocator; /* NULL: malloc and free */
    bry_index_dba dba; /* of engine dba alone */
} bry_index_options;

#define BRY_INDEX_OPTIONS                                                                          \
    {                                                                                              \
        sizeof(bry_index_options), BRY_ENGINE_AUTO, false, 0, 0, 0, 0, 0, NULL,                    \
        {                                                                                          \
            BRY_INDEX_TIGHTER, 0, 0, 0, 0, false                                                   \
        }                                                                                          \
    }

/* What an object with these options costs and promises. Begin with BRY_INDEX_SHAPE. */
typedef struct bry_index_shape {
    size_t struct_size;
    bry_engine engine; /* never auto */
    uint32_t units; /* that it is planned for */
    uint64_t unit_capacity; /* elements in each of them */
    uint32_t group; /* dba: with `units` units; compact: 0 */
    uint64_t unit_bits; /* dba: of one unit's filter; compact: 0 */
    uint32_t hashes; /* dba: bits an element in it; compact: 0 */
    uint32_t fingerprint_bits; /* compact; dba: 0 */
    double unit_error; /* of one unit */
    double error; /* expected with all units full */
    uint64_t bytes; /* with all units full and no work waiting; an estimate: give or take 4 % for
                       units of 1000 elements or more, 8 % for 100 or more, a third for fewer.
                       While work waits for bry_index_step() dba may take a seventh more, and with
                       units of less than 1000 elements three quarters */
    uint64_t bytes_empty; /* allocated by create */
} bry_index_shape;

#define BRY_INDEX_SHAPE                                                                            \
    {                                                                                              \
        sizeof(bry_index_shape), BRY_ENGINE_AUTO, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                     \
    }

/*
 * Fills *shape without allocating anything.
 * BRY_E_RANGE: an option is out of its range. BRY_E_UNSUPPORTED: indexes do not have that engine,
 * or that engine does not have that option.
 */
BRY_API bry_status bry_index_plan(const bry_index_options *options, bry_index_shape *shape);

/* Makes an index without units. As bry_index_plan(), and BRY_E_NOMEM; BRY_E_IO when the system has
 * no random seed to give. */
BRY_API bry_status bry_index_create(const bry_index_options *options, bry_index **index);

/*
 * Options that make an index whose units can be installed in `other`: same engine, seed and shape
 * (for dba, the shape that its new units have now); the allocator is the default one. They hold
 * wherever they are used, also after `other` is gone.
 */
BRY_API bry_status bry_index_options_like(const bry_index *other, bry_index_options *options);

BRY_API void bry_index_destroy(bry_index *index);

/* A second index with the same contents. Its memory comes from `allocator`; NULL: from where the
 * first one's does. BRY_E_NOMEM. */
BRY_API bry_status bry_index_clone(const bry_index *index, const bry_allocator *allocator,
                                   bry_index **copy);

/* Drops every unit and begins numbering at 0 again; keeps seed and shape. */
BRY_API void bry_index_clear(bry_index *index);

/* The seed to hash elements with. */
BRY_API uint64_t bry_index_seed(const bry_index *index);

/* The hash that this index knows an element by: bry_hash_key() with its seed. */
BRY_API bry_hash bry_index_hash(const bry_index *index, const void *key, size_t len);

/* ---- units --------------------------------------------------------------------------------- */

/*
 * Opens a unit, which is the newest then; units opened before stay open for adds that name them.
 * *unit is its number. BRY_E_FULL: BRY_INDEX_UNITS_MAX units, or `units` of a fixed index.
 * BRY_E_NOMEM.
 */
BRY_API bry_status bry_index_open(bry_index *index, uint64_t tag, uint32_t *unit);

/*
 * Takes back the opening of the unit that was opened last, which has no elements: the next one gets
 * its number and its place in the order. Not every byte is as before: unit numbers that are stored
 * keep the width that this unit made them need. BRY_E_NOUNIT. BRY_E_RANGE: another was opened
 * after it, or it has elements.
 */
BRY_API bry_status bry_index_unopen(bry_index *index, uint32_t unit);

/* A sealed unit takes no more elements; sealing it again is BRY_OK. BRY_E_NOUNIT: no such unit. */
BRY_API bry_status bry_index_seal(bry_index *index, uint32_t unit);

/*
 * Drops a unit: from now on it is no candidate, and its elements count for nothing. Memory that it
 * shares with others comes back in later additions and steps; what the index answers, takes and is
 * saved as does not depend on when. BRY_E_NOUNIT: no such unit.
 */
BRY_API bry_status bry_index_drop(bry_index *index, uint32_t unit);

/* BRY_E_NOUNIT: no such unit. */
BRY_API bry_status bry_index_set_tag(bry_index *index, uint32_t unit, uint64_t tag);
BRY_API bry_status bry_index_get_tag(const bry_index *index, uint32_t unit, uint64_t *tag);

/*
 * Puts the elements of `from` into `into` and drops `from`; sealed or not. BRY_E_NOUNIT: no such
 * unit. BRY_E_RANGE: they are one and the same. BRY_E_FULL: together, an element of both counted
 * twice, they are more than the capacity of `into`. BRY_E_MISMATCH: dba, one of them has been
 * rebuilt in another shape. BRY_E_NOMEM.
 */
BRY_API bry_status bry_index_merge_units(bry_index *index, uint32_t into, uint32_t from);

/* What is known of a unit. Begin with BRY_INDEX_UNIT. */
typedef struct bry_index_unit {
    size_t struct_size;
    uint32_t unit; /* its number */
    bool sealed; /* takes no more elements */
    bool wants_refresh; /* its stale share is at the threshold, or error control wants it rebuilt */
    uint64_t tag; /* the caller's */
    uint64_t capacity; /* elements that it takes */
    uint64_t elements; /* in it, stale ones included */
    uint64_t stale; /* dba: deleted, but still candidates; compact: 0 */
    double error; /* that it is a candidate for an absent element, estimated */
} bry_index_unit;

#define BRY_INDEX_UNIT                                                                             \
    {                                                                                              \
        sizeof(bry_index_unit), 0, false, false, 0, 0, 0, 0, 0                                     \
    }

/* BRY_E_NOUNIT: no such unit. */
BRY_API bry_status bry_index_get_unit(const bry_index *index, uint32_t unit, bry_index_unit *info);

/* Stores up to `room` numbers of units, newest first, and returns how many units there are. */
BRY_API size_t bry_index_units(const bry_index *index, uint32_t *units, size_t room);

/* ---- elements ------------------------------------------------------------------------------ */

/*
 * Adds an element to a unit, or to BRY_INDEX_NEWEST: the newest unit that takes elements, and when
 * there is none or it is full, that one is sealed and a new one opened with tag 0
 * (BRY_INDEX_LARGER: not before all that are open are full, from the newest to the oldest). *went
 * is the number of the unit, *was BRY_PRESENT when that unit answered for the element already (then
 * nothing changes, and it does not matter whether the unit is full); both may be NULL.
 * BRY_E_NOUNIT: no such unit. BRY_E_SEALED. BRY_E_FULL: the named unit is full; or, for NEWEST,
 * as bry_index_open(); or, of compact, units installed past the plan have used the error up.
 * BRY_E_NOMEM.
 */
BRY_API bry_status bry_index_add(bry_index *index, bry_hash hash, uint32_t unit, uint32_t *went,
                                 bry_answer *was);

/*
 * Adds n elements, all or none. went[i], where `went` is not NULL, is the unit of element i: they
 * may go to several when `unit` is BRY_INDEX_NEWEST. was[i], where `was` is not NULL, is what
 * bry_index_add() would say at that point. BRY_E_FULL is judged by n.
 */
BRY_API bry_status bry_index_add_n(bry_index *index, const bry_hash *hashes, size_t n,
                                   uint32_t unit, uint32_t *went, bry_answer *was);

/*
 * Deletes an element that was added to that unit. *was BRY_ABSENT: the unit does not hold it,
 * nothing changes. compact takes it out at once; an element of the same unit with the same
 * fingerprint goes with it (a share of at most `error` by `units` of the deletions). dba counts it
 * as stale: it stays a candidate until the unit is refreshed from its live elements
 * (bry_index_step()). Delete only what you know is there: dba cannot tell a false positive, and
 * would count it. BRY_E_NOUNIT: no such unit. BRY_E_NOMEM.
 */
BRY_API bry_status bry_index_del(bry_index *index, bry_hash hash, uint32_t unit, bry_answer *was);

/* Deletes n elements from one unit, as n calls of bry_index_del(); was may be NULL. */
BRY_API bry_status bry_index_del_n(bry_index *index, const bry_hash *hashes, size_t n,
                                   uint32_t unit, bry_answer *was);

/* The same by the key: with bry_index_hash(index, key, len) in place of the hash. */
BRY_API bry_status bry_index_add_key(bry_index *index, const void *key, size_t len, uint32_t unit,
                                     uint32_t *went, bry_answer *was);
BRY_API bry_status bry_index_del_key(bry_index *index, const void *key, size_t len, uint32_t unit,
                                     bry_answer *was);

/* ---- asking -------------------------------------------------------------------------------- */

/* BRY_PRESENT: there is at least one candidate. BRY_ABSENT: it is in no unit. */
BRY_API bry_answer bry_index_has(const bry_index *index, bry_hash hash);

/* answers[i] = bry_index_has(index, hashes[i]), memory latency hidden. */
BRY_API void bry_index_has_n(const bry_index *index, const bry_hash *hashes, size_t n,
                             bry_answer *answers);

/* Whether this unit is among the candidates, without looking at the others; BRY_ABSENT also where
 * there is no such unit. */
BRY_API bry_answer bry_index_unit_has(const bry_index *index, bry_hash hash, uint32_t unit);

/*
 * Stores up to `room` candidate units, the one opened last first, and returns how many candidates
 * there are in truth. When that is more than room, ask again with an array that large. units may be
 * NULL when room is 0.
 */
BRY_API size_t bry_index_locate(const bry_index *index, bry_hash hash, uint32_t *units,
                                size_t room);

/*
 * totals[i] = bry_index_locate(index, hashes[i], units + i * room, room): units holds n * room
 * numbers, totals n.
 */
BRY_API void bry_index_locate_n(const bry_index *index, const bry_hash *hashes, size_t n,
                                uint32_t *units, size_t room, size_t *totals);

/* The same by the key. */
BRY_API bry_answer bry_index_has_key(const bry_index *index, const void *key, size_t len);
BRY_API size_t bry_index_locate_key(const bry_index *index, const void *key, size_t len,
                                    uint32_t *units, size_t room);

/* ---- work that can wait -------------------------------------------------------------------- */

/*
 * Gives the elements of a unit back to the index. supply stores up to `room` hashes of live
 * elements of the unit, beginning with number `from` in an order of its own that does not change
 * during a rebuild, and sets *got, to 0 when there are no more. It must give every live element, or
 * the index will deny those left out; one too many costs a false positive. A status other than
 * BRY_OK ends the step. It must not call into the index.
 */
typedef struct bry_index_supplier {
    bry_status (*supply)(void *opaque, uint32_t unit, uint64_t tag, uint64_t from, bry_hash *hashes,
                         size_t room, size_t *got); /* see above */
    void *opaque; /* the caller's */
} bry_index_supplier;

/*
 * Does at most about `budget` elements' worth of the work that is waiting: error control, refresh
 * of stale units, merging of groups, memory of dropped units, and in compact folding of tables that
 * are not needed any more. Answers are the same before, during and after, but for stale elements
 * and false positives: what is being rebuilt serves until its successor is complete. Without a
 * supplier (NULL) it does what needs no elements. *left, where `left` is not NULL, is an estimate
 * of what this call could have gone on with under a larger budget: 0 means that there is no more to
 * do, or nothing without a supplier. The index never does such work by itself: call this from time
 * to time, or when stats show `waiting`. BRY_E_NOMEM, or what the supplier returns: work done so
 * far is kept.
 */
BRY_API bry_status bry_index_step(bry_index *index, const bry_index_supplier *supplier,
                                  uint64_t budget, uint64_t *left);

/* Begin with BRY_INDEX_STATS. */
typedef struct bry_index_stats {
    size_t struct_size;
    bry_engine engine; /* never auto */
    uint64_t seed; /* for hashing elements */
    uint32_t units; /* that exist */
    uint32_t planned_units; /* that keep the promise as things are */
    uint64_t unit_capacity; /* of the next unit */
    uint64_t elements; /* in all units, stale ones included */
    uint64_t stale; /* dba: deleted, but still candidates; compact: 0 */
    uint32_t groups; /* dba: of units side by side; compact: 0 */
    uint32_t group; /* dba: units side by side in the largest group; compact: 0 */
    double fill; /* dba: share of bits set; compact: entries by what its tables are planned for */
    double promised_error; /* what was asked for at creation */
    double estimated_error; /* for what is stored now; dba: 0 if below 1e-20 */
    double full_error; /* when all units that exist are full. Above promised_error: by so much the
                          target will be passed unless units are rebuilt */
    uint64_t waiting; /* work for bry_index_step(), in elements; of this: */
    uint64_t waiting_for_supplier; /* what cannot be done without one */
    uint64_t rebuilds; /* units rebuilt or refreshed so far */
    uint64_t bytes; /* allocated now */
    uint64_t dropped; /* compact: elements of dropped units that still take memory; an index that
                         was saved and loaded has none */
} bry_index_stats;

#define BRY_INDEX_STATS                                                                            \
    {                                                                                              \
        sizeof(bry_index_stats), BRY_ENGINE_AUTO, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  \
            0                                                                                      \
    }

/* The elements and bytes of the stats, in constant time; bytes takes a step per group in engine
 * dba.
 */
BRY_API uint64_t bry_index_items(const bry_index *index);
BRY_API uint64_t bry_index_bytes(const bry_index *index);

/* The time it takes grows with the number of groups (dba) or tables (compact), not of elements. */
BRY_API bry_status bry_index_get_stats(const bry_index *index, bry_index_stats *stats);

/* ---- keeping ------------------------------------------------------------------------------- */

/* Writes the index as frames (doc/format.md), with the note of `save`, which may be NULL. What the
 * sink returns, or BRY_OK; RANGE or TOOLONG for a wrong `save` (base.h). */
BRY_API bry_status bry_index_save(const bry_index *index, const bry_sink *sink,
                                  const bry_save *save);

/*
 * Reads what bry_index_save() wrote, and nothing beyond it. BRY_E_BADDATA, BRY_E_VERSION,
 * BRY_E_LIMIT, BRY_E_NOMEM, or what the source returns; load->problem and load->offset say more.
 * The index has all the options it was created with but the allocator.
 */
BRY_API bry_status bry_index_load(const bry_source *source, bry_load *load, bry_index **index);

/*
 * The same to and from a file. Saving replaces the file whole or not at all, also when the machine
 * fails meanwhile; loading refuses bytes after the end. BRY_E_IO with errno set.
 */
BRY_API bry_status bry_index_save_file(const bry_index *index, const char *path,
                                       const bry_save *save);
BRY_API bry_status bry_index_load_file(const char *path, bry_load *load, bry_index **index);

/*
 * The same to and from a folder, where only what changed since the folder was last written is
 * written: a file for each unit (compact: for each part of the table) and one that lists them. It
 * does not matter which object wrote it last: the one that is saved now, or one that it was cloned
 * or loaded from, or that was. The note of `save` is in the file that lists the others. The folder
 * is created where it does not exist, and holds the old index or the new one at every moment. One
 * process may save at a time; loading meanwhile is safe.
 * BRY_E_MISMATCH: an index of another seed or engine is in it. BRY_E_BADDATA, BRY_E_VERSION: its
 * list cannot be read, so nothing is touched. BRY_E_NOMEM. BRY_E_IO with errno set.
 */
BRY_API bry_status bry_index_save_folder(const bry_index *index, const char *path,
                                         const bry_save *save);
BRY_API bry_status bry_index_load_folder(const char *path, bry_load *load, bry_index **index);

/*
 * One unit as frames, tag included, to be installed in another index; load->note of
 * bry_index_install_unit() gets the note of `save`. To build one apart, make an index with
 * bry_index_options_like(), or with the same options and seed, and fill a unit of it.
 * BRY_E_NOUNIT: no such unit. What the sink returns, or BRY_OK.
 */
BRY_API bry_status bry_index_save_unit(const bry_index *index, uint32_t unit, const bry_sink *sink,
                                       const bry_save *save);

/*
 * Adds a unit that bry_index_save_unit() wrote, as the newest; *unit is its number here. load
 * bounds the memory of the unit; its allocator is not used. The unit is read to its end before
 * the index changes, and a call that fails leaves no trace in what is saved. BRY_E_MISMATCH:
 * engine, seed, error or shape differ. BRY_E_FULL, BRY_E_NOMEM as bry_index_open(); BRY_E_BADDATA,
 * BRY_E_VERSION, BRY_E_LIMIT, or what the source returns. BRY_E_FULL too where compact could not
 * keep its promise: a unit brings fingerprints as long as those of the first `units`, which past
 * 4/3 of that number are too short.
 */
BRY_API bry_status bry_index_install_unit(bry_index *index, const bry_source *source,
                                          bry_load *load, uint32_t *unit);

#ifdef __cplusplus
}
#endif

#endif
