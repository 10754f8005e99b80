/* One maplet of the model: the object, its twin and its copy, and their comparison. */
#ifndef BRY_TESTS_MAPLET_SIDE_H
#define BRY_TESTS_MAPLET_SIDE_H

#include "common/cpu.h"
#include "model/maplet/maplet_calls.h"
#include "model/model.h"

typedef struct maplet_side {
    bry__maplet maplet;
    maplet_twin twin;
    bry__maplet copy; /* gets the same operations with another instruction set */
    bool copied;
    uint64_t unchecked; /* operations since all entries were compared */
} maplet_side;

/* The next call is for the maplet, or for its copy: chooses the instruction set. */
void side_turn_to_maplet(bry__isa isa);
void side_turn_to_copy(bry__isa isa);

/* Open tables; a maplet opens the first one with its first entry, the twin at once. */
static inline unsigned side_tables(const bry__maplet *maplet)
{
    return maplet->tables ? maplet->tables : 1;
}

/* The entries of one table of a maplet, sorted, in *entries, which the caller frees. */
size_t side_list(const bry__maplet *maplet, unsigned table, twin_entry **entries);

/* Counts, bounds and the error. */
void side_check_numbers(const maplet_side *side, model_reader *reader);

/* All entries, all invariants, and the copy's bytes. */
void side_check_all(maplet_side *side, model_reader *reader);

/* Saves to memory; the caller frees the buffer. */
void side_save(const bry__maplet *maplet, bry_buffer *buffer, model_reader *reader);
bry_status side_load(bry__maplet *maplet, const bry_buffer *buffer, const bry_allocator *allocator,
                     model_reader *reader);

void side_drop_copy(maplet_side *side);

#endif
