/* The index's internals, shared by index.c and index_add.c (operations), index_units.c (the tables
 * of units) and the files that save it. */
#ifndef BRY_INDEX_INDEX_OBJECT_H
#define BRY_INDEX_INDEX_OBJECT_H

#include "common/allocator.h"
#include "index/index_engine.h"

#define BRY__INDEX_NO_SLOT UINT32_MAX
/* The largest possible order of opening. No index gets there, but a file may contain it. */
#define BRY__INDEX_MAX_ORDER (UINT64_MAX - 1)

/*
 * Number → slot, in pages that exist while one of their numbers is in use: an index that has opened
 * a million units and kept sixty costs little more than one that opened sixty.
 */
#define BRY__NUMBERS_SHIFT 6u
#define BRY__NUMBERS_PAGE (1u << BRY__NUMBERS_SHIFT)
typedef struct bry__numbers_page {
    uint32_t slot[BRY__NUMBERS_PAGE]; /* BRY__INDEX_NO_SLOT: none */
} bry__numbers_page;
typedef struct bry__numbers {
    bry__numbers_page **page;
    uint32_t room; /* pages that fit the directory */
    uint32_t pages; /* number of pages that exist */
} bry__numbers;

/* The default of bry_index_dba.stale, and what is saved for the other engines. */
#define BRY__INDEX_STALE 0.25

/* The options of creation as an index keeps them: with defaults, without what has no meaning
 * later. */
typedef struct bry__index_kept {
    bry_engine engine;
    uint32_t fixed, units;
    uint32_t group, hashes, factor, segmented; /* of dba */
    bry_index_control control;
    uint64_t unit_capacity, unit_bits, seed;
    double error, stale;
} bry__index_kept;

struct bry_index {
    bry_allocator allocator;
    bry__index_kept options;
    const bry__index_engine *engine;
    void *elements; /* the engine's instance */
    bry__index_slots slots;
    bry__numbers numbers;
    uint64_t last_order; /* of the unit opened last, even if dropped */
    uint32_t next_number; /* where the search for a free number starts */
    uint32_t newest; /* slot of the newest unit that is not sealed, or NO_SLOT; */
    bool newest_known; /* false: `newest` must be searched for */
};

/* ---- index_options.c ----------------------------------------------------------------------- */

/* Reads the options, fills in their defaults, chooses the engine and plans; the shape's bytes are
 * those of the whole index. Returns what bry_index_plan() returns. */
bry_status bry__index_read_options(const bry_index_options *given, bry_index_options *options,
                                   const bry__index_engine **engine, bry_index_shape *shape);

bry__index_kept bry__index_keep(const bry_index_options *options);
bry_index_options bry__index_kept_options(const bry__index_kept *kept);

/* Options that create an index like this one. */
bry_index_options bry__index_like(const bry_index *other);

/* ---- index.c ------------------------------------------------------------------------------- */

/* The record of a unit and its slot; or NULL, and BRY__INDEX_NO_SLOT. */
bry__index_slot *bry__index_record(const bry_index *index, uint32_t unit, uint32_t *slot);

/* As bry_index_open(), by slot. */
bry_status bry__index_open_unit(bry_index *index, uint64_t tag, uint32_t *slot);
/* Undoes the opening of the unit opened last, which is empty. */
void bry__index_unopen_unit(bry_index *index, uint32_t slot);
void bry__index_seal(bry_index *index, uint32_t slot);

/* ---- index_units.c ------------------------------------------------------------------------- */

/* The slot of a unit, or BRY__INDEX_NO_SLOT. */
uint32_t bry__index_slot_of(const bry_index *index, uint32_t number);

/* The slot of the newest unit that is not sealed, or BRY__INDEX_NO_SLOT. */
uint32_t bry__index_newest(bry_index *index);

/* The number of the next unit. */
uint32_t bry__index_free_number(const bry_index *index);

/* The number of units that may still be opened. */
uint32_t bry__index_units_left(const bry_index *index);

/* Reserves memory for the next unit, and releases it. BRY_E_NOMEM. */
bry_status bry__index_reserve(bry_index *index);
void bry__index_unreserve(bry_index *index);

/* Records a unit that the engine has opened in `slot` as the newest one; ignores record->order and
 * number. BRY_E_NOMEM: the caller drops the engine's unit. */
bry_status bry__index_enter(bry_index *index, uint32_t slot, const bry__index_slot *record);

/* The opposite: clears the unit's record. */
void bry__index_leave(bry_index *index, uint32_t slot);

/* The bytes by which a unit of that slot and number makes the tables grow, both in range. */
uint64_t bry__index_growth(const bry_index *index, uint32_t slot, uint32_t number);

/* For loading: stores a record with its order and number. BRY_E_RANGE: slot or number is already in
 * use, or invalid. BRY_E_NOMEM. */
bry_status bry__index_restore(bry_index *index, uint32_t slot, const bry__index_slot *record);

/* Adds to the count of a unit, and informs the engine. */
void bry__index_count(bry_index *index, uint32_t slot, uint64_t more);

/* Removes all units; numbering starts at 0 again. */
void bry__index_forget_units(bry_index *index);

bry_status bry__index_clone_units(const bry_index *index, bry_index *copy);
uint64_t bry__index_unit_bytes(const bry_index *index);

/* Sorts newest first and replaces slots by numbers; returns the number of candidates. */
size_t bry__index_found_end(bry__index_found *found);

#endif
