/* Internals of engine dba, shared by the files dba_*.c; dba_index.c explains it. */
#ifndef BRY_INDEX_DBA_INDEX_H
#define BRY_INDEX_DBA_INDEX_H

#include "index/dba/dba_group.h"
#include "index/index_engine.h"

#define BRY__DBA_LEVELS 64u

/* Error control raises the level: units created from then on have another shape, and those of
 * earlier levels are rebuilt until the promise holds again. */
typedef struct bry__dba_level {
    bry__dba_shape shape;
    double unit_error; /* of a full unit */
    uint32_t planned; /* number of units that keep the promise if all have this level */
    uint32_t units; /* units of this level */
} bry__dba_level;

/* Where a unit is stored. */
typedef struct bry__dba_place {
    bry__dba_group *group; /* NULL: the slot has no unit */
    uint32_t column;
    uint32_t listed; /* its index in the list of slots in use */
    uint64_t stamp[2]; /* of its last change, see bry__index_part */
    uint64_t set; /* bits that are set in it */
    double none; /* log(1 - error), its part of the sum over all units */
} bry__dba_place;

/* The sum of log(1 - error) over all units, in two doubles so that adding and subtracting again
 * leaves no residue. Units with error 1 are counted separately. */
typedef struct bry__dba_sum {
    double high, low;
    uint32_t certain;
} bry__dba_sum;

/* The unit that was counted last: its logarithm is computed when another one changes or when
 * statistics are needed, so that consecutive additions do not compute any. */
typedef struct bry__dba_recent {
    bool waits; /* there is one, and the sum has its previous value */
    uint32_t slot;
    uint64_t elements;
} bry__dba_recent;

/* A unit under construction from supplied elements: rebuilt in another column, or with segments
 * that are added to its group. */
typedef struct bry__dba_rebuild {
    enum { BRY__DBA_NO_REBUILD, BRY__DBA_REBUILD, BRY__DBA_EXTEND } kind;
    uint32_t slot;
    bry__dba_group *group; /* the destination */
    uint32_t column;
    uint64_t from; /* number of elements supplied so far */
    uint64_t elements; /* in the new column: supplied or added meanwhile */
    uint64_t set; /* bits in the new column */
    uint64_t stale; /* of the unit, when it began */
} bry__dba_rebuild;

/* Groups that are being merged into a wider one. */
typedef struct bry__dba_merge {
    bry__dba_group *into; /* NULL: none */
    bry__dba_group *from[8];
    unsigned n;
} bry__dba_merge;

/* Columns of a group that are being cleared. */
typedef struct bry__dba_clear {
    bry__dba_group *group; /* NULL: none */
    unsigned char keep[BRY__DBA_MASK];
    uint32_t table;
    uint64_t row;
} bry__dba_clear;

/* A unit that is being copied to another column. */
typedef struct bry__dba_move {
    bry__dba_group *group; /* the destination; NULL: none */
    uint32_t column, slot;
    uint32_t table;
    uint64_t row;
} bry__dba_move;

typedef struct bry__dba {
    bry_allocator allocator; /* that of `memory` */
    bry__memory memory; /* all but this struct */
    bry_index_options options; /* without the allocator */
    uint32_t levels;
    bry__dba_level level[BRY__DBA_LEVELS];
    bry__dba_group **group; /* in the order they were made */
    uint32_t groups, group_room;
    uint32_t units;
    bry__records places; /* a bry__dba_place for each slot */
    uint32_t room; /* of the following two */
    uint32_t *list; /* slots in use, unordered */
    uint64_t *taken; /* a bit for each slot in use */
    /* Work in progress; look-ups use the old state until it is done. */
    bry__dba_rebuild rebuild;
    bry__dba_group *emptying; /* the group whose units are being rebuilt */
    bry__dba_merge merge;
    bry__dba_clear clear;
    bry__dba_move move;
    uint64_t rebuilds;
    uint64_t set; /* bits of all units */
    bry__dba_sum none;
    bry__dba_recent recent;
    uint64_t instance, clock; /* for stamps */
} bry__dba;

/* ---- dba_index.c --------------------------------------------------------------------------- */

bry_status bry__dba_make(const bry_index_options *options, const bry_allocator *allocator,
                         bry__dba **self);
void bry__dba_destroy(void *self);
/* What is allocated when `slots` slots are needed, in bytes; and the initial number of groups. */
uint64_t bry__dba_slot_cost(uint32_t slots);
#define BRY__DBA_FIRST_GROUPS 8u
/* Makes room for slots below `slots` and for one more group. NOMEM. */
bry_status bry__dba_room(bry__dba *self, uint32_t slots);
/* A new, empty group. NULL: out of memory. */
bry__dba_group *bry__dba_add_group(bry__dba *self, uint32_t level, uint32_t width);
/* Whether units of that level may use free columns of the group. */
bool bry__dba_takes_units(const bry__dba *self, const bry__dba_group *group, uint32_t level);
/* A free column of that level in an existing group, or else in a new one. NOMEM. */
bry_status bry__dba_find_column(bry__dba *self, uint32_t level, bry__dba_group **group,
                                uint32_t *column);
/* Puts a unit into a free slot, for which there is room. */
void bry__dba_seat(bry__dba *self, uint32_t slot, bry__dba_group *group, uint32_t column);
void bry__dba_touch(bry__dba *self, uint32_t slot);
static inline bry__dba_place *bry__dba_place_of(const bry__dba *self, uint32_t slot)
{
    return bry__record_at(&self->places, slot, sizeof(bry__dba_place));
}
/* Counts bits that were set in a unit. */
static inline void bry__dba_more_set(bry__dba *self, uint32_t slot, uint64_t bits)
{
    bry__dba_place_of(self, slot)->set += bits;
    self->set += bits;
}
/* Removes a group without units from the list and frees it. */
void bry__dba_group_done(bry__dba *self, bry__dba_group *group);
/* The lowest free slot; the number does not matter. */
uint32_t bry__dba_next_slot(const void *self, uint32_t number);

/* ---- dba_level.c --------------------------------------------------------------------------- */

/* The first level, from the options. BRY_E_RANGE: they are not valid. */
bry_status bry__dba_first_level(const bry_index_options *options, bry__dba_level *level);
/* The level of a unit opened now: the last one, or levels and *raised. */
uint32_t bry__dba_open_level(const bry__dba *self, bry__dba_level *raised);
/* Whether there can be a next level, and which. planned: for how many units. */
bool bry__dba_raise(const bry__dba *self, uint32_t planned, bool larger, bry__dba_level *raised);
/* Whether a level that was read is the one that follows from the options, or one that follows the
 * current last level. Ignores unit_error. */
bool bry__dba_is_first_level(const bry__dba *self, const bry__dba_level *stored);
bool bry__dba_is_next_level(const bry__dba *self, const bry__dba_level *stored);
/* The width of a new group when there are `units` units; narrower groups are merged to it. */
uint32_t bry__dba_width(const bry_index_options *options, uint32_t units);
uint32_t bry__dba_width_wanted(const bry_index_options *options, uint32_t units);
/* log(1 - error) of all units when they are full, and of the promise. */
double bry__dba_full_log(const bry__dba *self);
bool bry__dba_over(const bry__dba *self);
/* Method A: whether all planned units exist and have room for no more than half a unit. */
bool bry__dba_cramped(const bry__dba *self, const bry__index_slots *slots);
/* Whether enough of its elements are stale to make it want a refresh. */
bool bry__dba_stale(const bry__dba *self, const bry__index_slot *unit);

bry_status bry__dba_plan(const bry_index_options *options, bry_index_shape *shape);
/* Adds the error of a unit with this many elements to the sum, and removes it again. */
void bry__dba_counted(void *self, uint32_t slot, uint64_t elements);
void bry__dba_uncount(bry__dba *self, uint32_t slot);

void bry__dba_unit_info(const void *self, const bry__index_slots *slots, uint32_t slot,
                        bry_index_unit_info *info);
void bry__dba_stats(const void *self, const bry__index_slots *slots, bry_index_stats *stats);

/* ---- dba_ask.c ----------------------------------------------------------------------------- */

bry_answer bry__dba_has(const void *self, bry_hash hash);
void bry__dba_has_n(const void *self, const bry_hash *hashes, size_t n, uint8_t *answers);
void bry__dba_locate(const void *self, bry_hash hash, bry__index_found *found);
void bry__dba_locate_n(const void *self, const bry_hash *hashes, size_t n, bry__index_found *found);

/* ---- dba_cleanup.c: what needs no elements --------------------------------------------------- */

/* Continues work for a budget of about `budget` elements; *used is what it cost, 0: nothing to do.
 * NOMEM. */
bry_status bry__dba_tidy(bry__dba *self, uint64_t budget, uint64_t *used);
uint64_t bry__dba_tidy_waiting(const bry__dba *self);
/* Abandons a column that is being built; clean: nothing was set in it. */
void bry__dba_leave_column(bry__dba *self, bry__dba_group *group, uint32_t column, bool clean);
/* Moves a unit to a column that is being built, and frees its old one. */
void bry__dba_resettle(bry__dba *self, uint32_t slot, bry__dba_group *group, uint32_t column);

/* ---- dba_rebuild.c: what needs elements, and all work together ---------------------------- */

bry_status bry__dba_step(void *self, bry__index_slots *slots, const bry_index_supplier *supplier,
                         uint64_t budget, uint64_t *left);
/* The pending work, in elements; *supplied of it needs a supplier. */
uint64_t bry__dba_waiting(const bry__dba *self, const bry__index_slots *slots, uint64_t *supplied);
/* Abandons work that a change of a unit or of its group invalidates; it starts again later. */
void bry__dba_forget_unit(bry__dba *self, uint32_t slot);
void bry__dba_forget_group(bry__dba *self, const bry__dba_group *group);
void bry__dba_forget_all(bry__dba *self);

/* ---- dba_columns.c ------------------------------------------------------------------------- */

#define BRY__DBA_TILE_UNITS 64u /* units that are transposed together */

/* Writes the columns of n units of one shape as frames. */
void bry__dba_columns_write(const bry__dba_place *const *places, unsigned n,
                            struct bry__frame_writer *writer);
/* Reads them into clear columns; set[i] is the number of bits then set at place i. */
bry_status bry__dba_columns_read(const bry__dba_place *const *places, unsigned n,
                                 struct bry__frame_reader *reader, uint64_t *set);

/* ---- dba_save.c ---------------------------------------------------------------------------- */

void bry__dba_write(const void *self, struct bry__frame_writer *writer);
bry_status bry__dba_read(const bry_index_options *options, const bry__index_slots *slots,
                         struct bry__frame_reader *reader, const bry_allocator *allocator,
                         void **self);
uint64_t bry__dba_parts(const void *self, void *saving);
bry_status bry__dba_part(const void *self, void *saving, uint64_t place, bry__index_part *part);
void bry__dba_write_head(const void *self, void *saving, struct bry__frame_writer *writer);
void bry__dba_write_part(const void *self, void *saving, uint64_t place,
                         struct bry__frame_writer *writer);
bry_status bry__dba_read_head(const bry_index_options *options, const bry__index_slots *slots,
                              struct bry__frame_reader *reader, const bry_allocator *allocator,
                              void **self);
bry_status bry__dba_read_part(void *self, const bry__index_part *part,
                              struct bry__frame_reader *reader);
bry_status bry__dba_read_done(void *self, const bry__index_slots *slots, const char **problem);
void bry__dba_write_unit(const void *self, uint32_t slot, struct bry__frame_writer *writer);
bry_status bry__dba_import(void *self, uint32_t number, const bry__index_slot *record,
                           struct bry__frame_reader *reader, uint32_t *slot);

#endif
