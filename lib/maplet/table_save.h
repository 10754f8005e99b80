/*
 * The entries of a table as frames. The bytes follow from the range, the bits of a value and the
 * entries that are to be kept, and from nothing else: not from the segments there are in memory,
 * nor from what else is in them. doc/format.md describes them.
 *
 * What is written are the segments of a table that has only ever grown (bry__table_segments_for):
 * each with the up to BRY__CROWD smallest values of its fingerprints. A segment in memory that is
 * such a segment already is copied; nearly all are, and the others are built anew. Values beyond
 * those are crowds, and are listed behind all segments.
 */
#ifndef BRY_MAPLET_TABLE_SAVE_H
#define BRY_MAPLET_TABLE_SAVE_H

#include "frame/frame.h"
#include "maplet/table.h"

/* ---- writing (table_save.c) ---------------------------------------------------------------- */

/* A table that entries come from. */
typedef struct bry__table_source {
    const bry__table *table;
    const uint32_t *name; /* written for each value; BRY__NOT_KEPT: its entries are not … */
    bool rising; /* … and the others rise with the values */
    bry__keep_value *keep; /* the same, where there is no such array; NULL in both: all values are
                              written as they are */
    const void *context;
} bry__table_source;

/* Where frames go: to a stream, or only into a checksum of their payloads. */
typedef struct bry__table_output {
    bry__frame_writer *writer; /* NULL: none */
    uint64_t stamp[2];
    unsigned char *buffer; /* the frame in the making */
    size_t filled;
} bry__table_output;
/* BRY_E_NOMEM. */
bry_status bry__table_output_begin(bry__table_output *output);
void bry__table_output_end(bry__table_output *output);

/* An entry that is not in the segment that it will be written in. */
typedef struct bry__table_stray {
    uint64_t fingerprint, segment;
    uint32_t value;
} bry__table_stray;

typedef struct bry__table_saving {
    bry__table_source source[2];
    unsigned sources;
    bry_allocator allocator; /* not the owner's: one that has no memory left can be saved */
    uint64_t n; /* entries that are written … */
    uint64_t crowded; /* … and those of them that are in crowds */
    bry__table shape; /* the table that is written; it has numbers, and no memory */
    bry__table_stray *stray; /* in the order in which they are written */
    size_t strays, stray_room;
    bry__entry *entry, *spare; /* of the segment in hand, and as much room again */
    size_t entries, entry_room;
    uint32_t *value; /* of the fingerprint in hand */
    size_t values, value_room;
} bry__table_saving;

/*
 * Prepares to write what one or two tables of the same range keep, n entries in all; of two, no
 * fingerprint is in both, and none has a crowd. The tables must not change until the end. Values
 * are written with value_bits. BRY_E_NOMEM.
 */
bry_status bry__table_saving_begin(bry__table_saving *saving, const bry__table_source *source,
                                   unsigned sources, uint64_t n, unsigned value_bits);
/* Takes one that is all zeros. */
void bry__table_saving_end(bry__table_saving *saving);

/* Segments from `from` to before `to` of saving->shape, and the crowds. BRY_E_NOMEM; failures of
 * the stream stick to the writer. */
bry_status bry__table_save_segments(bry__table_saving *saving, uint64_t from, uint64_t to,
                                    bry__table_output *output);
bry_status bry__table_save_crowds(bry__table_saving *saving, bry__table_output *output);

/* ---- reading (table_load.c) ---------------------------------------------------------------- */

typedef struct bry__table_loading {
    bry__table *table;
    unsigned number; /* of the table, for the visit */
    uint64_t n, crowded; /* as the numbers say */
    uint64_t segment; /* whose turn it is */
    bool more; /* the record before was not its last … */
    bry__entry last; /* … and ended with this entry … */
    unsigned twins; /* … and so many before it of the same u */
    const bry__entry_visit *visit; /* may be NULL */
    bry__frame_reader *reader;
    const bry_allocator *allocator;
    unsigned char *buffer; /* of BRY__TABLE_BUFFER: one frame, proven before it is looked at */
} bry__table_loading;

#define BRY__TABLE_BUFFER (BRY__TABLE_FRAME + 4 + BRY__SEGMENT_RECORD_MOST)
#define BRY__TABLE_FRAME ((size_t)1 << 18) /* a frame ends when it has reached this size */

/* Begins a table that has no memory yet, from the numbers it was saved with. NULL, or what is wrong
 * with them. */
const char *bry__table_loading_begin(bry__table_loading *loading, uint64_t range,
                                     unsigned value_bits);

/* Reads segments up to `to`; then, when all are there, the crowds. Failures are told to the reader.
 * The table can be freed at any time, and used when bry__table_loading_problem() says NULL. */
bry_status bry__table_load_segments(bry__table_loading *loading, uint64_t to);
bry_status bry__table_load_crowds(bry__table_loading *loading);
const char *bry__table_loading_problem(const bry__table_loading *loading);

#endif
