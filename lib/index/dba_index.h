/* The inside of engine dba, shared by the files dba_*.c; dba_index.c tells what it is. */
#ifndef BRY_INDEX_DBA_INDEX_H
#define BRY_INDEX_DBA_INDEX_H

#include "index/dba_group.h"
#include "index/index_engine.h"

#define BRY__DBA_LEVELS 64u

/* Error control raises the level: units made from then on have another shape, and those of earlier
 * levels are rebuilt until the promise holds again. */
typedef struct bry__dba_level {
    bry__dba_shape shape;
    double unit_error; /* of a full unit */
    uint32_t planned; /* units that keep the promise when all are of this level */
    uint32_t units; /* that are of it */
} bry__dba_level;

/* Where a unit is. */
typedef struct bry__dba_place {
    bry__dba_group *group; /* NULL: no unit has the slot */
    uint32_t column;
    uint32_t listed; /* its place in the list of slots in use */
    uint64_t stamp[2]; /* of its last change, see bry__index_part */
    uint64_t set; /* bits that are set in it */
    double none; /* log(1 - error), as counted in the sum over all units */
} bry__dba_place;

/* The sum of log(1 - error) over all units, in two doubles so that what is added and taken off
 * again leaves nothing behind. Units that err for certain are counted apart. */
typedef struct bry__dba_sum {
    double high, low;
    uint32_t certain;
} bry__dba_sum;

/* The unit that was counted last: its logarithm is taken when another one changes or stats are
 * asked for, so that element after element costs none. */
typedef struct bry__dba_recent {
    bool waits; /* there is one, and the sum has what it was before */
    uint32_t slot;
    uint64_t elements;
} bry__dba_recent;

/* A unit in the making from elements that are supplied: rebuilt in another column, or with segments
 * that are added to its group. */
typedef struct bry__dba_rebuild {
    enum { BRY__DBA_NO_REBUILD, BRY__DBA_REBUILD, BRY__DBA_EXTEND } kind;
    uint32_t slot;
    bry__dba_group *group; /* where it comes to be */
    uint32_t column;
    uint64_t from; /* elements that were supplied */
    uint64_t elements; /* of these, in the new column, and added meanwhile */
    uint64_t set; /* bits in the new column */
    uint64_t stale; /* of the unit, when it began */
} bry__dba_rebuild;

/* Groups of which a wider one is being made. */
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

/* A unit on its way to another column, bit for bit. */
typedef struct bry__dba_move {
    bry__dba_group *group; /* where to; NULL: none */
    uint32_t column, slot;
    uint32_t table;
    uint64_t row;
} bry__dba_move;

typedef struct bry__dba {
    bry_allocator allocator;
    bry_index_options options; /* without the allocator */
    uint32_t levels;
    bry__dba_level level[BRY__DBA_LEVELS];
    bry__dba_group **group; /* in the order they were made */
    uint32_t groups, group_room;
    uint32_t units;
    uint32_t room; /* of the following three */
    bry__dba_place *place; /* of each slot */
    uint32_t *list; /* slots in use, in no order */
    uint64_t *taken; /* a bit for each slot in use */
    /* Work under way, for all of which what was there before goes on serving. */
    bry__dba_rebuild rebuild;
    bry__dba_group *emptying; /* its units are being rebuilt, one by one */
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
/* How many slots there is room for when `slots` are needed, and what that costs; how many groups
 * there is room for at first, before that doubles. */
uint32_t bry__dba_slot_room(uint32_t slots);
uint64_t bry__dba_slot_cost(uint32_t room);
#define BRY__DBA_FIRST_GROUPS 8u
/* Room for slots below `slots` and for one more group. NOMEM. */
bry_status bry__dba_room(bry__dba *self, uint32_t slots);
/* A new group, empty. NULL: no memory. */
bry__dba_group *bry__dba_add_group(bry__dba *self, uint32_t level, uint32_t width);
/* Whether units of that level may go into free columns of the group. */
bool bry__dba_takes_units(const bry__dba *self, const bry__dba_group *group, uint32_t level);
/* A free column of that level in a group that takes units, or else in a new one. NOMEM. */
bry_status bry__dba_find_column(bry__dba *self, uint32_t level, bry__dba_group **group,
                                uint32_t *column);
/* Puts a unit into a slot without one, for which there is room. */
void bry__dba_seat(bry__dba *self, uint32_t slot, bry__dba_group *group, uint32_t column);
void bry__dba_touch(bry__dba *self, uint32_t slot);
/* Bits that were set in a unit. */
static inline void bry__dba_more_set(bry__dba *self, uint32_t slot, uint64_t bits)
{
    self->place[slot].set += bits;
    self->set += bits;
}
/* Takes a group without units off the list and frees it. */
void bry__dba_group_done(bry__dba *self, bry__dba_group *group);
/* The lowest that is not taken; the number does not matter. */
uint32_t bry__dba_next_slot(const void *self, uint32_t number);

/* ---- dba_level.c --------------------------------------------------------------------------- */

/* The first level, as options tell. BRY_E_RANGE: they tell nothing possible. */
bry_status bry__dba_first_level(const bry_index_options *options, bry__dba_level *level);
/* The level of a unit opened now: the last one, or levels and *raised. */
uint32_t bry__dba_open_level(const bry__dba *self, bry__dba_level *raised);
/* Whether there is to be a next level, and what it is. planned: for how many units. */
bool bry__dba_raise(const bry__dba *self, uint32_t planned, bool larger, bry__dba_level *raised);
/* Whether a level that was read is the one that the options make, or one that follows the last
 * level there is now. unit_error is not looked at. */
bool bry__dba_is_first_level(const bry__dba *self, const bry__dba_level *stored);
bool bry__dba_is_next_level(const bry__dba *self, const bry__dba_level *stored);
/* The width of a group that is made when there are `units` units, and to which groups are
 * merged. */
uint32_t bry__dba_width(const bry_index_options *options, uint32_t units);
uint32_t bry__dba_width_wanted(const bry_index_options *options, uint32_t units);
/* log(1 - error) of all units when they are full, and of the promise. */
double bry__dba_full_log(const bry__dba *self);
bool bry__dba_over(const bry__dba *self);
/* Method A: whether all units that there may be are there, and room for half a unit is left. */
bool bry__dba_cramped(const bry__dba *self, const bry__index_slots *slots);
/* Whether so many of its elements are stale that it wants a refresh. */
bool bry__dba_stale(const bry__dba *self, const bry__index_slot *unit);

bry_status bry__dba_plan(const bry_index_options *options, bry_index_shape *shape);
/* Enters the error of a unit with this many elements into the sum, and takes it out again. */
void bry__dba_counted(void *self, uint32_t slot, uint64_t elements);
void bry__dba_uncount(bry__dba *self, uint32_t slot);

void bry__dba_unit_info(const void *self, const bry__index_slots *slots, uint32_t slot,
                        bry_index_unit *info);
void bry__dba_stats(const void *self, const bry__index_slots *slots, bry_index_stats *stats);

/* ---- dba_ask.c ----------------------------------------------------------------------------- */

bry_answer bry__dba_has(const void *self, bry_hash hash);
void bry__dba_has_n(const void *self, const bry_hash *hashes, size_t n, uint8_t *answers);
void bry__dba_locate(const void *self, bry_hash hash, bry__index_found *found);
void bry__dba_locate_n(const void *self, const bry_hash *hashes, size_t n, bry__index_found *found);

/* ---- dba_work.c: what needs no elements ---------------------------------------------------- */

/* Goes on with it for about `budget` elements' worth; *used is what it came to, 0: there is none
 * to do. NOMEM. */
bry_status bry__dba_tidy(bry__dba *self, uint64_t budget, uint64_t *used);
uint64_t bry__dba_tidy_waiting(const bry__dba *self);
/* Gives up a column that is being built; clean: nothing was set in it. */
void bry__dba_leave_column(bry__dba *self, bry__dba_group *group, uint32_t column, bool clean);
/* Puts a unit into a column that is being built, and leaves the one it had. */
void bry__dba_resettle(bry__dba *self, uint32_t slot, bry__dba_group *group, uint32_t column);

/* ---- dba_rebuild.c: what needs them, and all together -------------------------------------- */

bry_status bry__dba_step(void *self, bry__index_slots *slots, const bry_index_supplier *supplier,
                         uint64_t budget, uint64_t *left);
/* What is waiting, in elements' worth; *supplied of it needs a supplier. */
uint64_t bry__dba_waiting(const bry__dba *self, const bry__index_slots *slots, uint64_t *supplied);
/* Gives up work that the change of a unit or of its group makes void; it begins again later. */
void bry__dba_forget_unit(bry__dba *self, uint32_t slot);
void bry__dba_forget_group(bry__dba *self, const bry__dba_group *group);
void bry__dba_forget_all(bry__dba *self);

/* ---- dba_columns.c ------------------------------------------------------------------------- */

#define BRY__DBA_TILE_UNITS 64u /* units that are turned together */

/* The columns of n units of one shape, as frames. */
void bry__dba_columns_write(const bry__dba_place *const *places, unsigned n,
                            struct bry__frame_writer *writer);
/* Reads them into columns that are clear; set[i] is how many bits place i has then. */
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
bry_status bry__dba_install(void *self, uint32_t number, const bry__index_slot *record,
                            struct bry__frame_reader *reader, uint32_t *slot);

#endif
