/* Shared by the ways of saving an index: options and units as frames (index_save.c). */
#ifndef BRY_INDEX_INDEX_SAVE_H
#define BRY_INDEX_INDEX_SAVE_H

#include "frame/frame.h"
#include "frame/io.h"
#include "index/index_object.h"

/* The frame NUMS: options, and counters of units. */
void bry__index_write_numbers(const bry_index *index, bry__frame_writer *writer);
/* Reads an index that has only its options and counters, without engine instance and units;
 * bry_index_destroy() accepts it. */
bry_status bry__index_read_numbers(bry__frame_reader *reader, bry_index **index, uint64_t *units);

/* The records of all units. */
void bry__index_write_units(const bry_index *index, bry__frame_writer *writer);
bry_status bry__index_read_units(bry__frame_reader *reader, bry_index *index, uint64_t units);

/* As the public functions, with any file operations (index_dir.c). */
bry_status bry__index_save_dir(const bry__io *io, const bry_index *index, const char *path,
                               const bry_save *how);
bry_status bry__index_load_dir(const bry__io *io, const char *path, bry_load *load,
                               bry_index **index);

#endif
