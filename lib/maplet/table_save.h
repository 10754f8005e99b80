/*
 * Saves and loads the entries of a table. The bytes depend on the range, the width of values and
 * the entries to be saved, and on nothing else: not on the segments in memory, nor on other
 * entries in them. doc/format.md describes them.
 *
 * The segments that are written are those of a table that has only ever grown
 * (bry__table_segments_for()), each with up to BRY__CROWD smallest values per fingerprint. Nearly
 * all segments in memory are like that already and are copied; the others are built. Values beyond
 * those are crowds, and are listed after all segments.
 */
#ifndef BRY_MAPLET_TABLE_SAVE_H
#define BRY_MAPLET_TABLE_SAVE_H

#include "frame/frame.h"
#include "maplet/table.h"

/* ---- the frames ------------------------------------------------------------------------------ */

#define BRY__SEGMENTS BRY__FOUR('S', 'E', 'G', 'S')
#define BRY__CROWDS BRY__FOUR('C', 'R', 'W', 'D')

enum { /* a record of the frame SEGS, followed by the block's front and its slots */
       BRY__AT_ENTRIES = 0, /* u16 */
       BRY__AT_MORE = 2, /* u16: 1 if the next record has entries of the same segment, else 0 */
       BRY__RECORD_SIZE = 4
};

enum { /* the frame CRWD: entries of a fingerprint, u64, and a value, u32 */
       BRY__CROWD_ENTRY = 12,
       BRY__CROWD_BATCH = 4096
};

/* ---- writing (table_save.c) ------------------------------------------------------------------ */

/* A table whose entries are saved. */
typedef struct bry__table_source {
    const bry__table *table;
    bry__names names; /* saved instead of values; all zeros: values are saved as they are */
} bry__table_source;

#define BRY__TABLE_FRAME ((size_t)1 << 18) /* a frame ends when it has reached this size */

/* No frame of a table with so many segments and entries is larger. A frame of crowds is smaller than
 * two records. */
static inline size_t bry__table_frame_most(uint64_t segments, uint64_t n)
{
    uint64_t records = segments + n / BRY__SEGMENT_MAX,
             full = BRY__TABLE_FRAME / BRY__SEGMENT_RECORD_MOST;
    return (size_t)(records < full ? records + 1 : full + 1) * BRY__SEGMENT_RECORD_MOST + 4;
}
_Static_assert(BRY__TABLE_FRAME % BRY__SEGMENT_RECORD_MOST == 0 &&
                   (size_t)BRY__CROWD_BATCH * BRY__CROWD_ENTRY < 2 * BRY__SEGMENT_RECORD_MOST,
               "bry__table_frame_most() counts in records");

/* Output of frames: a stream, or only a checksum of their payloads. */
typedef struct bry__table_output {
    bry__frame_writer *writer; /* NULL: only the checksum */
    uint64_t stamp[2];
    unsigned char *buffer; /* of the next frame */
    size_t filled, room;
} bry__table_output;
/* room: the most that bry__table_frame_most() gives for a table. BRY_E_NOMEM. */
bry_status bry__table_output_begin(bry__table_output *output, size_t room);
void bry__table_output_end(bry__table_output *output);

/* An entry that is not in the segment in which it will be saved. */
typedef struct bry__table_stray {
    uint64_t fingerprint, segment;
    uint32_t value;
} bry__table_stray;

typedef struct bry__table_writer {
    bry__table_source source;
    bry_allocator
        allocator; /* not the owner's: an owner whose allocator is exhausted can be saved */
    uint64_t n; /* entries to be saved */
    uint64_t crowded; /* of these, entries in crowds */
    bry__table shape; /* the table that is written: numbers only, no memory */
    bry__table_stray *strays; /* in the order of writing */
    size_t stray_count, stray_room;
    bry__entry *entries, *spare; /* of the current segment, and a list of the same size */
    size_t entry_count, entry_room;
    uint32_t *values; /* of the current fingerprint */
    size_t value_count, value_room;
} bry__table_writer;

/* Prepares to save the n entries of a table that are kept. The table must not change until the end.
 * Values are saved with value_bits. BRY_E_NOMEM. */
bry_status bry__table_writer_begin(bry__table_writer *saving, const bry__table_source *source,
                                   uint64_t n, unsigned value_bits);
/* Accepts one that is all zeros. */
void bry__table_writer_end(bry__table_writer *saving);

/* Write segments `from` to `to` - 1 of saving->shape, and the crowds. BRY_E_NOMEM; the writer keeps
 * errors of the stream. */
bry_status bry__table_save_segments(bry__table_writer *saving, uint64_t from, uint64_t to,
                                    bry__table_output *output);
bry_status bry__table_save_crowds(bry__table_writer *saving, bry__table_output *output);

/* ---- reading (table_load.c) ------------------------------------------------------------------ */

typedef struct bry__table_reader {
    bry__table *table;
    unsigned number; /* of the table, for the visit */
    uint64_t n, crowded; /* entries, and those in crowds, as saved */
    uint64_t segment; /* to be read next */
    bool more; /* the previous record belongs to the same segment */
    bry__entry last; /* last entry of the previous record */
    unsigned twins; /* number of entries with the u of `last` so far */
    const bry__entry_visit *visit; /* may be NULL */
    bry__frame_reader *reader;
    const bry_allocator *allocator;
    unsigned char *buffer; /* one frame, whose checksum is verified first, and after that the block
                              of a segment */
    size_t room; /* for the frame; there are BRY__SEGMENT_RECORD_MOST bytes behind it */
} bry__table_reader;

/* Begins a table, without memory yet, from the numbers it was saved with. NULL, or the problem. */
const char *bry__table_reader_begin(bry__table_reader *loading, uint64_t range,
                                    unsigned value_bits);

/* Read segments up to `to`; then, when all have been read, the crowds. The reader keeps the error.
 * The table can be freed at any time, and used once bry__table_reader_problem() returns NULL. */
bry_status bry__table_load_segments(bry__table_reader *loading, uint64_t to);
bry_status bry__table_load_crowds(bry__table_reader *loading);
const char *bry__table_reader_problem(const bry__table_reader *loading);

#endif
