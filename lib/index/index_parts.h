/* The list of an index's parts, as in a directory's manifest (index_dir.c). */
#ifndef BRY_INDEX_INDEX_PARTS_H
#define BRY_INDEX_INDEX_PARTS_H

#include "frame/frame.h"
#include "index/index_object.h"

#define BRY__PART_FRAME BRY__FOUR('P', 'A', 'R', 'T')
#define BRY__PART_RECORD 40u /* bytes of a part's record in a file */

typedef struct bry__kept_part {
    bry__index_part part;
    uint64_t written; /* the generation in its file name */
    uint64_t sum; /* the last checksum of the file */
} bry__kept_part;

typedef struct bry__parts_list {
    bry_allocator allocator;
    uint64_t generation;
    uint64_t count;
    bry__kept_part *part; /* by rising id */
    size_t room;
} bry__parts_list;

/* An empty list with room for that many parts. Uses malloc: a save does not change the index, so it
 * does not use the index's allocator. BRY_E_NOMEM. */
bry_status bry__parts_init(bry__parts_list *list, uint64_t room);
void bry__parts_free(bry__parts_list *list);

/* The part of that id, or NULL. */
const bry__kept_part *bry__parts_find(const bry__parts_list *list, uint64_t id);

/* Sorts by id: engines list their parts in any order. */
void bry__parts_sort(bry__parts_list *list);

void bry__part_store(unsigned char to[BRY__PART_RECORD], const bry__kept_part *part);
void bry__parts_write(const bry__parts_list *list, bry__frame_writer *writer);
/* Reads into a zeroed list. */
bry_status bry__parts_read(bry__frame_reader *reader, bry__parts_list *list);

#endif
