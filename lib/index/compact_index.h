/* The engine compact's inside, shared by compact_index.c (operations), compact_sweep.c (what
 * dropped units leave), compact_keep.c and compact_unit.c (frames). */
#ifndef BRY_INDEX_COMPACT_INDEX_H
#define BRY_INDEX_COMPACT_INDEX_H

#include "index/index_engine.h"
#include "maplet/maplet_old_save.h"

typedef enum bry__slot_state {
    BRY__SLOT_FREE = 0, /* no entry carries it */
    BRY__SLOT_LIVE = 1,
    BRY__SLOT_DEAD = 2, /* dropped, entries may still carry it */
    BRY__SLOT_SWEPT = 3, /* the same, since before the sweep under way began */
} bry__slot_state;

#define BRY__CHANGES_A_SWEEP 32u /* a segment is swept with every so many */

typedef struct bry__compact_index {
    bry__maplet maplet; /* fingerprint → slot */
    uint64_t unit_capacity;
    uint8_t *state; /* of each slot */
    uint32_t room; /* slots from here on are free */
    uint32_t lowest; /* none below this one is free */
    uint32_t live, dead; /* how many are; dead: swept ones too */
    uint64_t dead_entries;
    uint32_t swept; /* of the dead ones, those of state SWEPT: a sweep that frees them is under way,
                       unless there are none */
    uint32_t since_sweep; /* changes, below BRY__CHANGES_A_SWEEP; 0 where nothing is dead */
    /* while parts are read */
    bry__maplet_old_reading *reading;
} bry__compact_index;

/* ---- compact_index.c ----------------------------------------------------------------------- */

/* The maplet that these options ask for; value bits are added as slots come. */
bry__maplet_options bry__compact_index_maplet(const bry_index_options *options);

/* An instance without entries or slots around a maplet, which it takes over. NULL: no memory. */
bry__compact_index *bry__compact_index_make(uint64_t unit_capacity, const bry__maplet *maplet);
void bry__compact_index_destroy(void *self);

/* Makes room for the state of a slot, and how much there is then. BRY_E_NOMEM. */
uint32_t bry__compact_index_room(const bry__compact_index *index, uint32_t slot);
bry_status bry__compact_index_reach(bry__compact_index *index, uint32_t slot);

bry_status bry__compact_index_open(void *self, uint32_t *slot, uint64_t *capacity);
void bry__compact_index_drop(void *self, uint32_t slot, uint64_t elements);

/* ---- compact_sweep.c ----------------------------------------------------------------------- */

/* About `budget` entries' worth of sweeping, where there are dead slots. BRY_E_NOMEM: nothing is
 * lost. */
bry_status bry__compact_index_sweep(bry__compact_index *index, uint64_t budget);

/* Adds an entry, and sweeps a little along. Where only dead entries are in its way, they go.
 * BRY_E_FULL, BRY_E_NOMEM. */
bry_status bry__compact_index_add(bry__compact_index *index, bry_hash hash, uint32_t slot);

/* Entries that are to be looked at or moved still. */
uint64_t bry__compact_index_waiting(const bry__compact_index *index);
bry_status bry__compact_index_step(void *self, bry__index_slots *slots,
                                   const bry_index_supplier *supplier, uint64_t budget,
                                   uint64_t *left);

/* ---- compact_keep.c ------------------------------------------------------------------------ */

unsigned bry__compact_index_layout(const void *self);
void bry__compact_index_write(const void *self, struct bry__frame_writer *writer);
bry_status bry__compact_index_read(const bry_index_options *options, const bry__index_slots *slots,
                                   struct bry__frame_reader *reader, const bry_allocator *allocator,
                                   void **self);
uint64_t bry__compact_index_parts(const void *self);
void bry__compact_index_part(const void *self, uint64_t place, bry__index_part *part);
void bry__compact_index_write_head(const void *self, struct bry__frame_writer *writer);
void bry__compact_index_write_part(const void *self, uint64_t place,
                                   struct bry__frame_writer *writer);
bry_status bry__compact_index_read_head(const bry_index_options *options,
                                        const bry__index_slots *slots,
                                        struct bry__frame_reader *reader,
                                        const bry_allocator *allocator, void **self);
bry_status bry__compact_index_read_part(void *self, const bry__index_part *part,
                                        struct bry__frame_reader *reader);
bry_status bry__compact_index_read_done(void *self, const bry__index_slots *slots,
                                        const char **problem);

/* ---- compact_unit.c ------------------------------------------------------------------------ */

void bry__compact_index_write_unit(const void *self, uint32_t slot,
                                   struct bry__frame_writer *writer);
bry_status bry__compact_index_install(void *self, const bry__index_slot *record,
                                      struct bry__frame_reader *reader, uint32_t *slot);

#endif
