/* Internals of the engine compact, shared by compact_index.c (operations), compact_index_save.c and
 * compact_index_unit.c (frames). */
#ifndef BRY_INDEX_COMPACT_INDEX_H
#define BRY_INDEX_COMPACT_INDEX_H

#include "index/index_engine.h"
#include "maplet/maplet_values.h"

typedef struct bry__compact_index {
    bry__maplet maplet; /* fingerprint → value; a value is named for the unit's slot */
    uint64_t unit_capacity;
    uint32_t *value; /* of each slot; BRY__NO_NAME: no unit */
    uint32_t room; /* number of slots allocated */
    uint32_t units; /* slots with a unit */
    bry__maplet_reader *reading; /* only while parts are read */
} bry__compact_index;

/* ---- compact_index.c ------------------------------------------------------------------------- */

/* Options of the maplet for these options. Value bits are added as units are opened. */
bry__maplet_options bry__compact_index_maplet(const bry_index_options *options);

/* An index without units that takes ownership of the maplet. NULL: out of memory. */
bry__compact_index *bry__compact_index_make(uint64_t unit_capacity, const bry__maplet *maplet);
void bry__compact_index_destroy(void *self);

/* Gives the slot a free value; the second function returns the bytes that this allocates.
 * BRY_E_NOMEM. */
bry_status bry__compact_index_use(bry__compact_index *index, uint32_t slot, uint32_t value);
uint64_t bry__compact_index_use_bytes(const bry__compact_index *index, uint32_t slot,
                                      uint32_t value);

bry_status bry__compact_index_open(void *self, uint32_t number, uint32_t *slot, uint64_t *capacity);
void bry__compact_index_drop(void *self, uint32_t slot, uint64_t elements);

/* ---- compact_index_save.c -------------------------------------------------------------------- */

void bry__compact_index_write(const void *self, struct bry__frame_writer *writer);
bry_status bry__compact_index_read(const bry_index_options *options, const bry__index_slots *slots,
                                   struct bry__frame_reader *reader, const bry_allocator *allocator,
                                   void **self);
bry_status bry__compact_index_begin_parts(const void *self, void **saving);
void bry__compact_index_end_parts(void *saving);
uint64_t bry__compact_index_parts(const void *self, void *saving);
bry_status bry__compact_index_part(const void *self, void *saving, uint64_t place,
                                   bry__index_part *part);
void bry__compact_index_write_head(const void *self, void *saving,
                                   struct bry__frame_writer *writer);
void bry__compact_index_write_part(const void *self, void *saving, uint64_t place,
                                   struct bry__frame_writer *writer);
bry_status bry__compact_index_read_head(const bry_index_options *options,
                                        const bry__index_slots *slots,
                                        struct bry__frame_reader *reader,
                                        const bry_allocator *allocator, void **self);
bry_status bry__compact_index_read_part(void *self, const bry__index_part *part,
                                        struct bry__frame_reader *reader);
bry_status bry__compact_index_read_done(void *self, const bry__index_slots *slots,
                                        const char **problem);

/* ---- compact_index_unit.c -------------------------------------------------------------------- */

void bry__compact_index_write_unit(const void *self, uint32_t slot,
                                   struct bry__frame_writer *writer);
bry_status bry__compact_index_import(void *self, uint32_t number, const bry__index_slot *record,
                                     struct bry__frame_reader *reader, uint32_t *slot);

#endif
