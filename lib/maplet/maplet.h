/*
 * The maplet: an approximate map from the hash of a key to values of a few bits. The engine
 * `compact` of every structure is built on it.
 *
 * It stores a fingerprint of each key and is exact on fingerprints: it is wrong only for keys that
 * share a fingerprint. A key that was never added finds a value with a probability of at most
 * `error`. With the same probability a present key finds another key's value beside or instead of
 * its own.
 *
 * Up to `capacity` entries are in one table. If growth is allowed, entries beyond that go to more
 * tables, each much larger than the one before and with longer fingerprints, so that the sum of
 * all errors is at most `error` (maplet_plan.h). A look-up asks all tables. Fingerprints of later
 * tables are those of earlier ones with more bits, so tables can be folded back into the first one
 * after deletions.
 */
#ifndef BRY_MAPLET_MAPLET_H
#define BRY_MAPLET_MAPLET_H

#include "maplet/maplet_plan.h"
#include "maplet/table.h"

#include <bloomery/hash.h>

typedef struct bry__maplet_options {
    uint64_t capacity; /* entries, 1 to 2^40 */
    double error; /* 1e-12 to 0.5 */
    unsigned value_bits; /* 0 to 32 */
    unsigned fixed; /* BRY__GROWING, BRY__FIXED or BRY__ANY_LOAD */
} bry__maplet_options;

typedef struct bry__maplet {
    bry_allocator allocator;
    bry__chain chain; /* plan of the tables; has the options, except value_bits */
    uint8_t value_bits;
    uint8_t tables; /* number of open tables; 0 until there is an entry */
    uint8_t room; /* of the array `table` */
    bry__table *table; /* moves when a table is opened or closed */
    struct bry__values *values; /* counts entries by value, if not NULL (maplet_values.h); then only
                                   the functions that say so may change entries */
} bry__maplet;

/* The options that make a maplet like this one. */
bry__maplet_options bry__maplet_like(const bry__maplet *maplet);

/* Plans the tables for these options; false if they are out of range. */
bool bry__maplet_plan(const bry__maplet_options *options, bry__chain *chain);

/* Range of the fingerprints of the first table for these options; 0 if they are out of range. */
uint64_t bry__maplet_range(const bry__maplet_options *options);

/* Number of entries at which growth ends; 0 if the options are out of range. */
uint64_t bry__maplet_most(const bry__maplet_options *options);

/* Estimated bytes of a maplet of n entries (at most the capacity), accurate to about 2 %. */
uint64_t bry__maplet_plan_bytes(const bry__maplet_options *options, uint64_t n);
/* The same for n entries in table i. */
uint64_t bry__maplet_plan_table(const bry__chain *chain, unsigned value_bits, unsigned i,
                                uint64_t n);

/* Size of the smallest block for entries: a single entry may take this much more than planned. */
uint64_t bry__maplet_bytes_step(void);

/* Makes a maplet without entries. It takes no memory: the first table is opened with the first
 * entry. False: the options are out of range. */
bool bry__maplet_init(bry__maplet *maplet, const bry__maplet_options *options,
                      const bry_allocator *allocator);
/* Frees everything; the maplet has no entries then. */
void bry__maplet_free(bry__maplet *maplet);
bry_status bry__maplet_clone(const bry__maplet *maplet, bry__maplet *copy,
                             const bry_allocator *allocator);

/* Removes all entries. Needs no memory. */
void bry__maplet_clear(bry__maplet *maplet);

uint64_t bry__maplet_count(const bry__maplet *maplet);
/* Number of tables up to the last one with entries that are not dead; at least one. */
unsigned bry__maplet_live_tables(const bry__maplet *maplet);
/* Entries of each table, for the functions of maplet_plan.h. */
void bry__maplet_counts(const bry__maplet *maplet, uint64_t n[BRY__MAPLET_TABLES]);
/* Number of entries that the open tables are planned for; at least those of the first one. */
double bry__maplet_planned(const bry__maplet *maplet);
uint64_t bry__maplet_bytes(const bry__maplet *maplet);

/* The error for an absent key with the present entries, and whether they keep the promised error
 * (bry__chain_keeps()). */
double bry__maplet_error_now(const bry__maplet *maplet);
bool bry__maplet_keeps(const bry__maplet *maplet);
/* The table for a new entry (bry__chain_place()). */
unsigned bry__maplet_place(const bry__maplet *maplet);

/* ---- one key --------------------------------------------------------------------------------- */

/* The smallest value in the newest table that has the key. */
bry_answer bry__maplet_get(const bry__maplet *maplet, bry_hash hash, uint32_t *value);

/* Stores the values of a key, at most `room` of them, and returns the number of all. Newest table
 * first, ascending in each table. */
uint64_t bry__maplet_get_all(const bry__maplet *maplet, bry_hash hash, uint32_t *values,
                             uint64_t room);

/*
 * Sets the value that bry__maplet_get() returns. *was: whether there was one; *old: that value;
 * both may be NULL. BRY_E_RANGE: the value has more than value_bits. BRY_E_FULL: there are
 * chain.most entries, or, after merges, as many as the error allows. BRY_E_NOMEM.
 */
bry_status bry__maplet_upsert(bry__maplet *maplet, bry_hash hash, uint32_t value, bry_answer *was,
                              uint32_t *old);

/* The same after bry__maplet_prefetch_n(): does not prefetch again. */
bry_status bry__maplet_upsert_fetched(bry__maplet *maplet, bry_hash hash, uint32_t value,
                                      bry_answer *was, uint32_t *old);

/* Sets the value only if the key has one: *was is BRY_ABSENT if it has none. BRY_E_RANGE;
 * BRY_E_NOMEM, and *was and *old are undefined then. */
bry_status bry__maplet_update(bry__maplet *maplet, bry_hash hash, uint32_t value, bry_answer *was,
                              uint32_t *old);

/* Adds one more value to the key, even an equal one. Errors as for upsert. */
bry_status bry__maplet_add(bry__maplet *maplet, bry_hash hash, uint32_t value);

/* Removes all values of the key and returns their number; take_all tells each, in the order of
 * bry__maplet_get_all(). Closes the newest tables if they are empty. `fetched`: after
 * bry__maplet_prefetch_n(). */
uint64_t bry__maplet_del(bry__maplet *maplet, bry_hash hash);
uint64_t bry__maplet_take_all(bry__maplet *maplet, bry_hash hash, bool fetched,
                              bry__tell_value *taken, void *context);

/* Removes one entry with this value from the newest table that has it; BRY_ABSENT if there was
 * none. */
bry_answer bry__maplet_del_value(bry__maplet *maplet, bry_hash hash, uint32_t value);

/* Replaces one value `from` of the key by `to`. *was is BRY_ABSENT if there is no `from`; nothing
 * changes then. BRY_E_RANGE, BRY_E_NOMEM. */
bry_status bry__maplet_replace(bry__maplet *maplet, bry_hash hash, uint32_t from, uint32_t to,
                               bry_answer *was);

/* Opens one more table; closes the newest one. Both move the array of tables. BRY_E_FULL: growth is
 * not allowed, or fingerprints would be too long. BRY_E_NOMEM. */
bry_status bry__maplet_open_table(bry__maplet *maplet);
void bry__maplet_close_table(bry__maplet *maplet);

/* ---- many keys (maplet_batch.c): same results as single calls -------------------------------- */

/* Prefetches what operations on these keys will read; at most BRY__TABLE_BATCH. `moving`: and what
 * adding or removing them will move in the newest table; at most BRY__TABLE_ROUND. */
void bry__maplet_prefetch_n(const bry__maplet *maplet, const bry_hash *hashes, size_t n,
                            bool moving);
/* values[i] is set where answers[i] is BRY_PRESENT. */
void bry__maplet_get_n(const bry__maplet *maplet, const bry_hash *hashes, size_t n,
                       uint32_t *values, uint8_t *answers);
void bry__maplet_has_n(const bry__maplet *maplet, const bry_hash *hashes, size_t n,
                       uint8_t *answers);
/* bry__maplet_upsert() for each key in order, all or none. values may be NULL (all 0); old and was
 * may be NULL. old[i] is the previous value if was[i] is BRY_PRESENT; undefined after a failure. */
bry_status bry__maplet_upsert_n(bry__maplet *maplet, const bry_hash *hashes, const uint32_t *values,
                                size_t n, uint32_t *old, uint8_t *was);

/* bry__maplet_update() for each key in order, all or none. For maplets with one value per
 * fingerprint. old and was are undefined after a failure. */
bry_status bry__maplet_update_n(bry__maplet *maplet, const bry_hash *hashes, const uint32_t *values,
                                size_t n, uint32_t *old, uint8_t *was);

/* Adds n items, whose keys are fingerprints, to a table of the maplet by rewriting it; see
 * bry__table_add_sorted(). `items` has room for 2n and is overwritten. BRY_E_NOMEM: the table has
 * not changed. */
bry_status bry__maplet_add_items(bry__maplet *maplet, bry__table *table, bry__item *items,
                                 size_t n);

/* True if rewriting the table with n more entries is faster than adding them one by one. */
bool bry__maplet_is_bulk(const bry__table *table, uint64_t n);

/* ---- all entries (maplet_walk.c) ------------------------------------------------------------- */

/* Start with a zeroed cursor; fingerprints are those of table `cursor.table`. */
typedef struct bry__maplet_cursor {
    unsigned table;
    bry__table_cursor in_table;
} bry__maplet_cursor;
bool bry__maplet_next(const bry__maplet *maplet, bry__maplet_cursor *cursor, uint64_t *fingerprint,
                      uint32_t *value);

/* Calls tell() with the value of each entry; takes a fifth of the time of a walk. */
void bry__maplet_tell_values(const bry__maplet *maplet, bry__tell_value *tell, void *context);

/* Replaces every value v by map(v). BRY_E_RANGE: one has more than value_bits. BRY_E_NOMEM. In both
 * cases no value has changed. */
bry_status bry__maplet_remap(bry__maplet *maplet, bry__map_value *map, void *context);

/* Allows wider values from now on. Segments follow one by one as they are rewritten. BRY_E_RANGE:
 * narrower, or above 32. */
bry_status bry__maplet_widen(bry__maplet *maplet, unsigned value_bits);
/* Undoes bry__maplet_widen(), if there are no wider values. */
void bry__maplet_narrow(bry__maplet *maplet, unsigned value_bits);

/* ---- visiting (maplet_visit.c) --------------------------------------------------------------- */

/* Visits every entry once, in steps; the maplet may change in any way between them. maplet_visit.c
 * explains how the order makes that possible. */

typedef enum bry__verdict { BRY__KEEP, BRY__CHANGE, BRY__DROP } bry__verdict;

typedef struct bry__visitor {
    /* Decides about an entry with this value; BRY__CHANGE: its new value is *to, which must fit
     * value_bits. A status other than BRY_OK ends the visit before this entry. */
    bry_status (*judge)(void *context, uint32_t value, bry__verdict *verdict, uint32_t *to);
    /* An entry was changed or dropped. */
    void (*done)(void *context, uint32_t value, bry__verdict verdict, uint32_t to);
    void *context;
} bry__visitor;

/*
 * Looks at about `budget` entries, at least one. *cursor is 0 to begin, and 0 again at the end.
 * BRY_E_RANGE: not a cursor of this function. BRY_E_NOMEM, or what judge() returned: *cursor is
 * before the entry that failed, and earlier changes are kept.
 *
 * An entry that is there from begin to end is visited exactly once, or, if a fold moves it
 * meanwhile, once or twice. For maplets with at most one value per fingerprint in each table.
 */
bry_status bry__maplet_visit(bry__maplet *maplet, const bry__visitor *visitor, uint64_t budget,
                             uint64_t *cursor);

/* ---- folding (maplet_fold.c) ----------------------------------------------------------------- */

/* Number of entries of the newest table if an earlier one has room for all of them; else 0. */
uint64_t bry__maplet_foldable(const bry__maplet *maplet);
/* Moves about `most` of them there, or none: BRY_E_NOMEM. Which ones depends on the entries
 * alone. */
bry_status bry__maplet_fold(bry__maplet *maplet, uint64_t most);
/* Closes the newest tables if they are empty. */
void bry__maplet_close_empty(bry__maplet *maplet);

/* ---- whole maplets (maplet_merge.c) ---------------------------------------------------------- */

/*
 * Adds the entries of `from`, which may be `into` itself. The mode decides about a fingerprint
 * that both have in tables of the same number. If they have it in different tables, KEEP leaves
 * out a longer one of `from`, and REPLACE sets the value of `from` where it would be hidden.
 * value[v] is the new value for the value v of `from`, which must fit; NULL: values do not change.
 * BRY_E_MISMATCH: capacity, error or fixed differ. BRY_E_RANGE: without `value`, values of `from`
 * may be wider. BRY_E_FULL: more entries than the error allows, or than the capacity if `into` is
 * fixed. BRY_E_NOMEM. `into` is unchanged in all these cases.
 */
bry_status bry__maplet_merge(bry__maplet *into, const bry__maplet *from, bry__merge_mode mode,
                             const uint32_t *value);

/* Moves all entries into the first table. If a fingerprint then has two, the one that look-ups
 * found is kept. For maplets with one value per fingerprint and not more entries than the
 * capacity. BRY_E_NOMEM: nothing has changed. */
bry_status bry__maplet_fold_all(bry__maplet *maplet);

/* Frees all memory that deletions have left unused. */
void bry__maplet_trim(bry__maplet *maplet);

/* ---- frames (maplet_save.c, doc/format.md) --------------------------------------------------- */

struct bry__frame_writer;
struct bry__frame_reader;

/* Writes the maplet as frames to a stream that the caller has begun; the writer keeps the first
 * error. The bytes depend on the options and the entries of each table alone. If values can die,
 * dead entries are not written, and names are written instead of values. */
void bry__maplet_write(const bry__maplet *maplet, struct bry__frame_writer *writer);

/* Reads what bry__maplet_write() wrote. Checks everything that look-ups rely on, that every
 * entry is where its fingerprint belongs, and all counts. visit may be NULL. The reader keeps
 * the error. */
bry_status bry__maplet_read(bry__maplet *maplet, struct bry__frame_reader *reader,
                            const bry_allocator *allocator, const bry__entry_visit *visit);

/*
 * The same as a head and parts, for callers that store these separately and write only the parts
 * that have changed. A part is a range of segments of a table, or the crowds of a table. The
 * maplet must not change between begin and end. BRY_E_NOMEM.
 */
typedef struct bry__maplet_writer bry__maplet_writer;
bry_status bry__maplet_writer_begin(const bry__maplet *maplet, bry__maplet_writer **saving);
void bry__maplet_writer_end(bry__maplet_writer *saving);
void bry__maplet_save_head(const bry__maplet_writer *saving, struct bry__frame_writer *writer);
/* The number of parts; the id of a part, which is unique and ascends; and a checksum, which is the
 * same for equal parts. The writer keeps the first error. */
uint64_t bry__maplet_save_parts(const bry__maplet_writer *saving);
uint64_t bry__maplet_part_id(const bry__maplet_writer *saving, uint64_t part);
bry_status bry__maplet_part_stamp(bry__maplet_writer *saving, uint64_t part, uint64_t stamp[2]);
void bry__maplet_save_part(bry__maplet_writer *saving, uint64_t part,
                           struct bry__frame_writer *writer);

/* Reads the head, then each part in order. The end returns the maplet or the problem, and frees
 * the reading; bry__maplet_reader_free() frees one that has not ended. */
typedef struct bry__maplet_reader bry__maplet_reader;
bry_status bry__maplet_reader_begin(bry__maplet_reader **reading, struct bry__frame_reader *reader,
                                    const bry_allocator *allocator, const bry__entry_visit *visit);
bry__maplet_options bry__maplet_reader_options(const bry__maplet_reader *reading);
bry_status bry__maplet_read_part(bry__maplet_reader *reading, uint64_t id,
                                 struct bry__frame_reader *reader);
const char *bry__maplet_reader_end(bry__maplet_reader *reading, bry__maplet *maplet);
void bry__maplet_reader_free(bry__maplet_reader *reading);

/* Saves and loads a maplet as a stream of its own, kind MPLT. */
bry_status bry__maplet_save(const bry__maplet *maplet, const bry_sink *sink);
bry_status bry__maplet_load(bry__maplet *maplet, const bry_source *source, bry_load *load);

#endif
