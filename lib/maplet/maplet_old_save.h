/* The encoding that indexes still use. */
#ifndef BRY_MAPLET_MAPLET_OLD_SAVE_H
#define BRY_MAPLET_MAPLET_OLD_SAVE_H

#include "maplet/maplet.h"

struct bry__frame_writer;
struct bry__frame_reader;

/* The maplet as frames of a stream that the caller has begun; failures stick to the writer. */
void bry__maplet_old_write(const bry__maplet *maplet, struct bry__frame_writer *writer);

/* Reads what bry__maplet_old_write() wrote, checked in depth: what a look-up relies on, that every
 * entry is where its fingerprint leads, and all counts. Failures are told to the reader. */
bry_status bry__maplet_old_read(bry__maplet *maplet, struct bry__frame_reader *reader,
                                const bry_allocator *allocator);

/*
 * The same in pieces, for whoever keeps them apart: all numbers, then ranges of segments and the
 * overflow of each table, table by table and from the first segment on. Between read_numbers and
 * read_done the maplet is not whole: it can be freed, and no more.
 */
typedef struct bry__maplet_old_reading {
    unsigned table; /* whose turn it is */
    uint64_t segment; /* the next one; then the overflow's turn comes, where there is one */
    uint64_t n[BRY__MAPLET_TABLES], overflow[BRY__MAPLET_TABLES]; /* as the numbers say */
} bry__maplet_old_reading;

void bry__maplet_old_write_numbers(const bry__maplet *maplet, struct bry__frame_writer *writer);
void bry__maplet_old_write_segments(const bry__maplet *maplet, unsigned table, uint64_t from,
                                    uint64_t to, struct bry__frame_writer *writer);
void bry__maplet_old_write_overflow(const bry__maplet *maplet, unsigned table,
                                    struct bry__frame_writer *writer);
bry_status bry__maplet_old_read_numbers(bry__maplet *maplet, bry__maplet_old_reading *reading,
                                        struct bry__frame_reader *reader,
                                        const bry_allocator *allocator);
/* Segments up to `to`, of the table whose turn it is. */
bry_status bry__maplet_old_read_segments(bry__maplet *maplet, bry__maplet_old_reading *reading,
                                         uint64_t to, struct bry__frame_reader *reader);
bry_status bry__maplet_old_read_overflow(bry__maplet *maplet, bry__maplet_old_reading *reading,
                                         struct bry__frame_reader *reader);
/* Whether all is there; NULL, or what is wrong. */
const char *bry__maplet_old_read_done(const bry__maplet *maplet,
                                      const bry__maplet_old_reading *reading);

#endif
