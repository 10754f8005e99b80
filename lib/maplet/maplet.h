/*
 * The maplet: an approximate map from a key's hash to values of a few bits. It stands under the
 * engine `compact` of every job.
 *
 * It keeps a fingerprint of each key, and on fingerprints it is exact: it errs only for a key whose
 * fingerprint another key has too. A key that was never put in finds something with a probability
 * of at most `error`, and so does a key in it find another's value beside or instead of its own.
 *
 * Up to `capacity` entries live in one table. Where growth is allowed, entries beyond go to further
 * tables, each much larger than the one before, with longer fingerprints, so that the
 * errors of all of them sum up to no more than the error (maplet_plan.h); a look-up asks all of
 * them. Fingerprints of later tables are the earlier ones' with more bits, so tables can be folded
 * back into the first when entries have gone.
 */
#ifndef BRY_MAPLET_MAPLET_H
#define BRY_MAPLET_MAPLET_H

#include "maplet/maplet_plan.h"
#include "maplet/table.h"

#include <bloomery/hash.h>

/* What happens past the capacity. */
enum {
    BRY__GROWING = 0, /* further tables are opened */
    BRY__FIXED = 1, /* BRY_E_FULL */
    BRY__ANY_LOAD = 2, /* the one table takes them, and the error follows */
};

typedef struct bry__maplet_options {
    uint64_t capacity; /* entries, 1 to 2^40 */
    double error; /* 1e-12 to 0.5 */
    unsigned value_bits; /* 0 to 32 */
    unsigned fixed; /* BRY__GROWING, BRY__FIXED or BRY__ANY_LOAD */
} bry__maplet_options;

typedef struct bry__maplet {
    bry_allocator allocator;
    bry__maplet_options options;
    bry__chain chain; /* what the options make of the tables */
    unsigned tables; /* that there are; 0 in a shell */
    bry__table *table[BRY__MAPLET_TABLES];
    struct bry__values *values; /* entries counted by value, where the owner wants that
                                   (maplet_values.h); then only what is said there changes them */
} bry__maplet;

/* What these options make of the tables; false when they are out of range. */
bool bry__maplet_plan(const bry__maplet_options *options, bry__chain *chain);

/* The first table's range of fingerprints for these options; 0 when they are out of range. */
uint64_t bry__maplet_range(const bry__maplet_options *options);

/* What a maplet of n entries, at most the capacity, takes; an estimate, good to about 2 %. */
uint64_t bry__maplet_plan_bytes(const bry__maplet_options *options, uint64_t n);
/* The same for n entries in table i. */
uint64_t bry__maplet_plan_table(const bry__chain *chain, unsigned value_bits, unsigned i,
                                uint64_t n);

/* Bytes of a maplet without entries, exactly; the struct itself not counted. */
uint64_t bry__maplet_bytes_empty(void);
/* The least block of memory that entries are in: a single one may take more than planned by it. */
uint64_t bry__maplet_bytes_step(void);

/* BRY_E_RANGE, BRY_E_NOMEM. */
bry_status bry__maplet_init(bry__maplet *maplet, const bry__maplet_options *options,
                            const bry_allocator *allocator);
/* A maplet without tables, which takes no memory: for owners that open the first one when the first
 * entry comes. Only what says so here or in maplet_single.h may be called before. False: the
 * options are out of range. */
bool bry__maplet_shell(bry__maplet *maplet, const bry__maplet_options *options,
                       const bry_allocator *allocator);
/* Leaves a shell. */
void bry__maplet_free(bry__maplet *maplet);
bry_status bry__maplet_clone(const bry__maplet *maplet, bry__maplet *copy,
                             const bry_allocator *allocator);

/* Removes all entries. Needs no memory. */
void bry__maplet_clear(bry__maplet *maplet);

/* These take shells, too. */
uint64_t bry__maplet_count(const bry__maplet *maplet);
/* Entries of each table, for the functions of maplet_plan.h. */
void bry__maplet_counts(const bry__maplet *maplet, uint64_t n[BRY__MAPLET_TABLES]);
/* Entries that the tables there are now are planned for. */
double bry__maplet_planned(const bry__maplet *maplet);
uint64_t bry__maplet_bytes(const bry__maplet *maplet);

/* The error that the entries there are now give to an absent key, and whether they keep the promise
 * (bry__chain_keeps()). */
double bry__maplet_error_now(const bry__maplet *maplet);
bool bry__maplet_keeps(const bry__maplet *maplet);
/* The table that a new entry goes to (bry__chain_place()). */
unsigned bry__maplet_place(const bry__maplet *maplet);

/* ---- one key ------------------------------------------------------------------------------- */

/* The smallest value found in the newest table that has the key. */
bry_answer bry__maplet_get(const bry__maplet *maplet, bry_hash hash, uint32_t *value);

/* Every value; at most `room` are stored, how many there are is returned. Newest table first,
 * smallest value first in a table. */
uint64_t bry__maplet_get_all(const bry__maplet *maplet, bry_hash hash, uint32_t *values,
                             uint64_t room);

/* A value of the key for which match() is true; newest table first, smallest value first. */
typedef bool bry__match(void *context, uint32_t value);
bry_answer bry__maplet_find(const bry__maplet *maplet, bry_hash hash, bry__match *match,
                            void *context, uint32_t *value);

/*
 * Sets the value that bry__maplet_get() gives; *was says whether there was one, *old which; both
 * may be NULL. BRY_E_RANGE: the value has more than value_bits. BRY_E_FULL: the chain's `most`
 * entries are there, or after merges as many as the error allows. BRY_E_NOMEM.
 */
bry_status bry__maplet_upsert(bry__maplet *maplet, bry_hash hash, uint32_t value, bry_answer *was,
                              uint32_t *old);

/* Adds a value beside those that the key has; equal ones count. Errors as upsert. */
bry_status bry__maplet_add(bry__maplet *maplet, bry_hash hash, uint32_t value);

/* Removes every value of the key; how many. */
uint64_t bry__maplet_del(bry__maplet *maplet, bry_hash hash);

/* Removes the value that bry__maplet_get() gives. Tables that it leaves empty are closed, the
 * newest first. */
bry_answer bry__maplet_take(bry__maplet *maplet, bry_hash hash, uint32_t *value);

/* Removes one such value, from the newest table that has it; BRY_ABSENT when there was none. */
bry_answer bry__maplet_del_value(bry__maplet *maplet, bry_hash hash, uint32_t value);

/* Makes one value `from` of the key into `to`. *was is BRY_ABSENT when there is no `from`, and
 * nothing is done then. BRY_E_RANGE, BRY_E_NOMEM. */
bry_status bry__maplet_replace(bry__maplet *maplet, bry_hash hash, uint32_t from, uint32_t to,
                               bry_answer *was);

/* The newest table's beginning and end, for shrinking and merging; the first one of a shell.
 * BRY_E_FULL: growth is not allowed, or fingerprints would be too long. BRY_E_NOMEM. */
bry_status bry__maplet_open_table(bry__maplet *maplet);
void bry__maplet_close_table(bry__maplet *maplet);

/* ---- many keys (maplet_batch.c): exactly what single calls give, memory latency hidden --------
 */

/* Fetches what operations on these keys are going to read; at most BRY__TABLE_BATCH. */
void bry__maplet_prefetch_n(const bry__maplet *maplet, const bry_hash *hashes, size_t n);
/* values[i] is set where answers[i] is BRY_PRESENT. */
void bry__maplet_get_n(const bry__maplet *maplet, const bry_hash *hashes, size_t n,
                       uint32_t *values, uint8_t *answers);
void bry__maplet_has_n(const bry__maplet *maplet, const bry_hash *hashes, size_t n,
                       uint8_t *answers);
/* `room` values for each key, at values[i · room]; totals[i] as bry__maplet_get_all(). */
void bry__maplet_get_all_n(const bry__maplet *maplet, const bry_hash *hashes, size_t n,
                           uint32_t *values, uint64_t room, uint64_t *totals);
/* As bry__maplet_upsert() for each in turn, all or none; values may be NULL (all 0), old and was
 * too. old[i] is the value before where was[i] is BRY_PRESENT; after a failure it is undefined. */
bry_status bry__maplet_upsert_n(bry__maplet *maplet, const bry_hash *hashes, const uint32_t *values,
                                size_t n, uint32_t *old, uint8_t *was);

/* Whether n more entries are so many that the table had better be written anew with them. */
bool bry__maplet_is_bulk(const bry__table *table, uint64_t n);

/* ---- all entries (maplet_walk.c) ----------------------------------------------------------- */

/* Start from a zeroed cursor; fingerprints are those of the table that `cursor.table` says. */
typedef struct bry__maplet_cursor {
    unsigned table;
    bry__table_cursor in_table;
} bry__maplet_cursor;
bool bry__maplet_next(const bry__maplet *maplet, bry__maplet_cursor *cursor, uint64_t *fingerprint,
                      uint32_t *value);

/* Tells the value of each entry; a fifth of the time that a walk takes. */
void bry__maplet_tell_values(const bry__maplet *maplet, bry__tell_value *tell, void *context);

/*
 * Removes the entries that `drop` says, in steps of about `budget` entries; fingerprints are the
 * first table's. *done as bry__table_sweep() says. BRY_E_NOMEM: nothing lost, call again.
 */
bry_status bry__maplet_sweep(bry__maplet *maplet, bry__drop *drop, void *context, uint64_t budget,
                             bool *done);

/* Every value v becomes map(v). BRY_E_RANGE: one has more than value_bits; BRY_E_NOMEM. In both
 * cases no value has changed. */
bry_status bry__maplet_remap(bry__maplet *maplet, bry__map_value *map, void *context);

/* Allows wider values from now on. Segments follow one by one as they are rewritten. BRY_E_RANGE:
 * narrower, or above 32. */
bry_status bry__maplet_widen(bry__maplet *maplet, unsigned value_bits);
/* Takes that back, no wider value being there. */
void bry__maplet_narrow(bry__maplet *maplet, unsigned value_bits);

/* ---- folding (maplet_fold.c) --------------------------------------------------------------- */

/* Entries of the newest table, where an earlier one has room for all of them; else 0. */
uint64_t bry__maplet_foldable(const bry__maplet *maplet);
/* Moves about `most` of them there, or none: BRY_E_NOMEM. Which ones follows from the entries. */
bry_status bry__maplet_fold(bry__maplet *maplet, uint64_t most);
/* Closes tables without entries behind the others. */
void bry__maplet_close_empty(bry__maplet *maplet);

/* ---- whole maplets (maplet_merge.c) --------------------------------------------------------- */

/*
 * Adds the entries of `from`; both stay apart, and may be one. A fingerprint that both have in
 * tables of the same number is treated as the mode says. Of one that they have in different tables
 * KEEP leaves out the longer one of `from`, and REPLACE gives the value of `from` where it would be
 * hidden. value[v] is what the value v of `from` becomes, which must fit; NULL: all stay as they
 * are. BRY_E_MISMATCH: not of the same capacity, error and fixed. BRY_E_RANGE: without `value`,
 * values of `from` may be wider. BRY_E_FULL: more entries than the error allows, or than the
 * capacity where `into` is fixed. BRY_E_NOMEM. `into` is unchanged in all these cases.
 */
bry_status bry__maplet_merge(bry__maplet *into, const bry__maplet *from, bry__merge_mode mode,
                             const uint32_t *value);

/* Moves all entries into the first table; where a fingerprint then has two, the one that was found
 * stays. For maplets with one value to a fingerprint, and not more entries than the capacity.
 * BRY_E_NOMEM: nothing has changed. */
bry_status bry__maplet_fold_all(bry__maplet *maplet);

/* Gives back all memory that deletions have left. */
void bry__maplet_trim(bry__maplet *maplet);

/* ---- frames (maplet_save.c, doc/format.md) ------------------------------------------------- */

struct bry__frame_writer;
struct bry__frame_reader;

/* The maplet as frames of a stream that the caller has begun; failures stick to the writer. The
 * bytes follow from the options and each table's entries. Where values can die, dead entries are
 * not written, and of the others the names instead of the values. */
void bry__maplet_write(const bry__maplet *maplet, struct bry__frame_writer *writer);

/* Reads what bry__maplet_write() wrote, checked in depth: what a look-up relies on, that every
 * entry is where its fingerprint leads, and all counts. visit may be NULL. Failures are told to the
 * reader. */
bry_status bry__maplet_read(bry__maplet *maplet, struct bry__frame_reader *reader,
                            const bry_allocator *allocator, const bry__entry_visit *visit);

/*
 * The same in a head and parts, for those who keep these apart and write only the parts that have
 * changed. A part is a range of a table's segments, or a table's crowds. The maplet must not change
 * between begin and end. BRY_E_NOMEM.
 */
typedef struct bry__maplet_saving bry__maplet_saving;
bry_status bry__maplet_saving_begin(const bry__maplet *maplet, bry__maplet_saving **saving);
void bry__maplet_saving_end(bry__maplet_saving *saving);
void bry__maplet_save_head(const bry__maplet_saving *saving, struct bry__frame_writer *writer);
/* How many parts there are; the id of one, which rises from part to part and tells it from all
 * others; and a checksum, by which equal parts are known. Failures stick to the writer. */
uint64_t bry__maplet_save_parts(const bry__maplet_saving *saving);
uint64_t bry__maplet_part_id(const bry__maplet_saving *saving, uint64_t part);
bry_status bry__maplet_part_stamp(bry__maplet_saving *saving, uint64_t part, uint64_t stamp[2]);
void bry__maplet_save_part(bry__maplet_saving *saving, uint64_t part,
                           struct bry__frame_writer *writer);

/* Reads the head; then each part in order; the end gives the maplet, or says what is wrong, and the
 * reading is gone. A reading that is not brought to its end is freed. visit must stay until then.
 */
typedef struct bry__maplet_reading bry__maplet_reading;
bry_status bry__maplet_reading_begin(bry__maplet_reading **reading,
                                     struct bry__frame_reader *reader,
                                     const bry_allocator *allocator, const bry__entry_visit *visit);
const bry__maplet_options *bry__maplet_reading_options(const bry__maplet_reading *reading);
bry_status bry__maplet_read_part(bry__maplet_reading *reading, uint64_t id,
                                 struct bry__frame_reader *reader);
const char *bry__maplet_reading_end(bry__maplet_reading *reading, bry__maplet *maplet);
void bry__maplet_reading_free(bry__maplet_reading *reading);

/* A stream of its own, kind MPLT. */
bry_status bry__maplet_save(const bry__maplet *maplet, const bry_sink *sink);
bry_status bry__maplet_load(bry__maplet *maplet, const bry_source *source, bry_load *load);

#endif
