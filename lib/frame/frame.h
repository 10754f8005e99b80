/*
 * Frames: the container of every object that outlives its process.
 *
 *   stream = header (64 bytes), frames, end frame
 *   frame  = type u32, length u32, check u64, payload (length bytes), sum u64
 *
 * check is the checksum of type and length seeded with the sum before it (the header's, for the
 * first frame); sum is the checksum of the payload seeded with check. So every checksum covers
 * everything before it: a frame cannot be dropped, duplicated, moved or taken from another file
 * without a mismatch in the next one, and a damaged length is detected before any byte is read
 * because of it. The end frame holds the number of frames and of payload bytes; without it the
 * stream is truncated.
 *
 * The sum follows the payload, so that reader and writer pass over the payload only once.
 */
#ifndef BRY_FRAME_FRAME_H
#define BRY_FRAME_FRAME_H

#include "frame/frame_header.h"

#define BRY__FRAME_MAX ((uint32_t)1 << 24) /* bytes of payload */
#define BRY__FRAME_END BRY__FOUR('E', 'N', 'D', ' ')
#define BRY__FRAME_OVERHEAD 24u

/* The caller's note (bry_save): frames of this type before all others, all full except the last. */
#define BRY__FRAME_NOTE BRY__FOUR('N', 'O', 'T', 'E')
#define BRY__NOTE_FULL ((uint32_t)1 << 16)

struct XXH3_state_s;

/* ---- writing ------------------------------------------------------------------------------- */

/*
 * The first failure sticks: every later call returns it and writes nothing. So a save may ignore
 * the results of single calls and return that of bry__frame_writer_end().
 */
typedef struct bry__frame_writer {
    bry_sink sink;
    struct XXH3_state_s *state;
    uint64_t chain; /* the last sum or check written */
    uint64_t frames, bytes; /* so far; bytes of payload */
    uint32_t left; /* payload bytes that the open frame still needs */
    bry_status status;
} bry__frame_writer;

/* Whether `given` is valid; NULL is. BRY_E_RANGE, BRY_E_TOOLONG. For a save that creates a file or
 * directory before it writes. */
bry_status bry__save_check(const bry_save *given);

/*
 * Writes the header and the note of `given`, which may be NULL. RANGE, TOOLONG: `given` is not
 * valid, and nothing was written. bry__frame_writer_end() must follow in any case.
 */
bry_status bry__frame_writer_begin(bry__frame_writer *writer, const bry_sink *sink,
                                   const bry_save *given, uint32_t kind, uint16_t kind_version,
                                   uint64_t seed);

/*
 * Opens a frame of exactly `length` bytes, which any number of bry__frame_writer_put() calls then
 * write; the last byte closes it. BRY_E_RANGE: too long, or the lengths do not match.
 */
bry_status bry__frame_writer_open(bry__frame_writer *writer, uint32_t type, size_t length);
bry_status bry__frame_writer_put(bry__frame_writer *writer, const void *bytes, size_t len);

/* A frame from one buffer. */
bry_status bry__frame_writer_write(bry__frame_writer *writer, uint32_t type, const void *bytes,
                                   size_t length);

/* Writes the end frame, frees the writer's memory, and returns the first failure, if any. */
bry_status bry__frame_writer_end(bry__frame_writer *writer);

/* ---- reading ------------------------------------------------------------------------------- */

/*
 * The first failure sticks here too, and load->problem and load->offset describe it. No byte beyond
 * the end frame is taken from the source. The reader itself allocates nothing whose size depends on
 * the data; callers that do call bry__frame_reader_claim() first.
 */
typedef struct bry__frame_reader {
    bry_source source;
    bry_load *load; /* may be NULL */
    bry_allocator allocator; /* load's, for the object */
    struct XXH3_state_s *state;
    bry__header header;
    uint64_t chain;
    uint64_t offset; /* bytes taken from the source */
    uint64_t frame_at; /* where the open frame begins */
    uint64_t frames, bytes;
    uint64_t claimed;
    uint32_t left; /* payload bytes of the open frame not read yet */
    bool ended; /* the end frame was read and is correct */
    bry_status status;
} bry__frame_reader;

typedef struct bry__frame {
    uint32_t type; /* BRY__FRAME_END after the last one */
    uint32_t length;
} bry__frame;

/*
 * Reads the header of a stream that must be of that kind, in version 1 to newest_kind_version of
 * its layout, into reader->header. bry__frame_reader_close() must follow in any case.
 */
bry_status bry__frame_reader_open(bry__frame_reader *reader, const bry_source *source,
                                  bry_load *load, uint32_t kind, uint16_t newest_kind_version);

/*
 * The next frame. The note's frames, which come first, go to load->note and are not returned.
 * BRY_E_BADDATA also if the frame before was not read completely.
 */
bry_status bry__frame_reader_next(bry__frame_reader *reader, bry__frame *frame);

/*
 * The next len bytes of the open frame's payload, straight into the caller's memory. They are
 * verified only when the frame's last byte is read, which checks the sum: do not act on them
 * before. BRY_E_BADDATA: the frame has fewer bytes.
 */
bry_status bry__frame_reader_read(bry__frame_reader *reader, void *to, size_t len);

/* Opens the next frame: it must have that type, else it is `missing`, a constant text, and a length
 * from `least` to `most`. */
bry_status bry__frame_reader_expect(bry__frame_reader *reader, uint32_t type, const char *missing,
                                    size_t least, size_t most, size_t *length);

/* The next frame whole: it must have that type and exactly that length. */
bry_status bry__frame_reader_read_frame(bry__frame_reader *reader, uint32_t type, void *to,
                                        size_t length);

/* The next frame must be the end. */
bry_status bry__frame_reader_end(bry__frame_reader *reader);

/* Announces `bytes` more of memory for the object. BRY_E_LIMIT: the sum exceeds load->max_bytes. */
bry_status bry__frame_reader_claim(bry__frame_reader *reader, uint64_t bytes);
/* Claims `size` bytes and allocates them, zeroed. NULL: failed, with reader->status. */
void *bry__frame_reader_alloc(bry__frame_reader *reader, const bry_allocator *allocator,
                              size_t size);

/*
 * For the object's own checks: records a failure at the current offset and returns it. problem is a
 * constant text.
 */
bry_status bry__frame_reader_fail(bry__frame_reader *reader, bry_status status,
                                  const char *problem);

/* The same with BRY_E_BADDATA. */
static inline bry_status bry__frame_reader_bad(bry__frame_reader *reader, const char *problem)
{
    return bry__frame_reader_fail(reader, BRY_E_BADDATA, problem);
}

/* The same with BRY_E_NOMEM. */
static inline bry_status bry__frame_reader_no_memory(bry__frame_reader *reader)
{
    return bry__frame_reader_fail(reader, BRY_E_NOMEM, "not enough memory for the object");
}

/* Frees the reader's memory; its status stays. */
void bry__frame_reader_close(bry__frame_reader *reader);

/* Every load begins with this: resets problem and offset, and empties the note. BRY_E_RANGE: the
 * caller's load has a size that no version of it has, or sets a field that this version does not
 * know; nothing in it was used then. NULL is allowed. */
bry_status bry__load_begin(bry_load *load);

/* Sets load's problem and offset, if load is not NULL and valid, and returns status. */
bry_status bry__load_fail(bry_load *load, bry_status status, uint64_t offset, const char *problem);

#endif
