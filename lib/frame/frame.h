/*
 * Frames: the container of every object that outlives its process.
 *
 *   stream = header (64 bytes), frames, end frame
 *   frame  = type u32, length u32, check u64, payload (length bytes), sum u64
 *
 * check is the checksum of type and length seeded with the sum before it (the header's, for the
 * first frame); sum is the checksum of the payload seeded with check. So every checksum stands for
 * all that came before: a frame cannot be dropped, doubled, moved or taken from another file
 * without its successor noticing, and a damaged length is noticed before a byte is read on its
 * account. The end frame carries the count of frames and of payload bytes; without it a stream is
 * cut short.
 *
 * The sum stands behind the payload, so both sides pass over the payload once, while it is warm.
 */
#ifndef BRY_FRAME_FRAME_H
#define BRY_FRAME_FRAME_H

#include "frame/frame_header.h"

#define BRY__FRAME_MAX ((uint32_t)1 << 24) /* bytes of payload */
#define BRY__FRAME_END BRY__FOUR('E', 'N', 'D', ' ')
#define BRY__FRAME_OVERHEAD 24u

/* The caller's note (bry_save): frames of this type before all others, each but the last full. */
#define BRY__FRAME_NOTE BRY__FOUR('N', 'O', 'T', 'E')
#define BRY__NOTE_FULL ((uint32_t)1 << 16)

struct XXH3_state_s;

/* ---- writing ------------------------------------------------------------------------------- */

/*
 * The first failure sticks: every later call returns it and writes nothing. So a save may call on
 * without looking and return what bry__frame_writer_end() says.
 */
typedef struct bry__frame_writer {
    bry_sink sink;
    struct XXH3_state_s *state;
    uint64_t chain; /* the last sum or check written */
    uint64_t frames, bytes; /* so far; bytes of payload */
    uint32_t left; /* payload bytes that the open frame still lacks */
    bry_status status;
} bry__frame_writer;

/*
 * Writes the header and the note of `given`, which may be NULL. RANGE, TOOLONG: it is wrong, and
 * nothing was written. Whatever it returns, bry__frame_writer_end() must follow.
 */
bry_status bry__frame_writer_begin(bry__frame_writer *writer, const bry_sink *sink,
                                   const bry_save *given, uint32_t kind, uint16_t kind_version,
                                   uint64_t seed);

/*
 * Opens a frame of exactly `length` bytes, which any number of bry__frame_writer_put() then
 * deliver; the last byte closes it. BRY_E_RANGE: too long, or the calls do not match up.
 */
bry_status bry__frame_writer_open(bry__frame_writer *writer, uint32_t type, size_t length);
bry_status bry__frame_writer_put(bry__frame_writer *writer, const void *bytes, size_t len);

/* A frame from one block. */
bry_status bry__frame_writer_write(bry__frame_writer *writer, uint32_t type, const void *bytes,
                                   size_t length);

/* Writes the end frame, frees what the writer holds, returns the first failure of all. */
bry_status bry__frame_writer_end(bry__frame_writer *writer);

/* ---- reading ------------------------------------------------------------------------------- */

/*
 * The first failure sticks here too, and is told in load->problem and load->offset. Not one byte
 * beyond the end frame is taken from the source. The reader allocates nothing on account of what it
 * reads; whoever does so on account of a payload asks bry__frame_reader_claim() first.
 */
typedef struct bry__frame_reader {
    bry_source source;
    bry_load *load; /* may be NULL */
    struct XXH3_state_s *state;
    bry__header header;
    uint64_t chain;
    uint64_t offset; /* bytes taken from the source */
    uint64_t frame_at; /* where the open frame begins */
    uint64_t frames, bytes;
    uint64_t claimed;
    uint32_t left; /* payload bytes of the open frame not read yet */
    bool ended; /* the end frame was read and is right */
    bry_status status;
} bry__frame_reader;

typedef struct bry__frame {
    uint32_t type; /* BRY__FRAME_END after the last one */
    uint32_t length;
} bry__frame;

/*
 * Reads the header of a stream that must be of that kind, in version 1 to newest_kind_version of
 * its layout; reader->header tells the rest. Whatever it returns, bry__frame_reader_close() must
 * follow.
 */
bry_status bry__frame_reader_open(bry__frame_reader *reader, const bry_source *source,
                                  bry_load *load, uint32_t kind, uint16_t newest_kind_version);

/*
 * The next frame; the note's frames, which come first, go to load->note and are not handed out.
 * BRY_E_BADDATA also when the frame before was not read to its end.
 */
bry_status bry__frame_reader_next(bry__frame_reader *reader, bry__frame *frame);

/*
 * The next len bytes of the open frame's payload, straight into the caller's memory. They are
 * proven only when the frame's last byte is read, which checks the sum: do not act on any before
 * that. BRY_E_BADDATA: the frame has fewer bytes.
 */
bry_status bry__frame_reader_read(bry__frame_reader *reader, void *to, size_t len);

/* The next frame whole: it must have that type and exactly that length. */
bry_status bry__frame_reader_read_frame(bry__frame_reader *reader, uint32_t type, void *to,
                                        size_t length);

/* The next frame must be the end. */
bry_status bry__frame_reader_end(bry__frame_reader *reader);

/* Announces `bytes` more of memory for the object. BRY_E_LIMIT: past load->max_bytes in sum. */
bry_status bry__frame_reader_claim(bry__frame_reader *reader, uint64_t bytes);

/*
 * For the object's own checks: notes a failure at the place reached so far, and returns it. problem
 * is a constant text.
 */
bry_status bry__frame_reader_fail(bry__frame_reader *reader, bry_status status,
                                  const char *problem);

/* Frees what the reader holds; its status stays. */
void bry__frame_reader_close(bry__frame_reader *reader);

/* Whether the caller's load has a size that a version of it may have, and asks for nothing that
 * this one does not know. NULL is valid. Where it is not, the load is BRY_E_RANGE. */
bool bry__load_valid(const bry_load *load);

/* Fills load's problem and offset, where there is a valid load, and returns status. */
bry_status bry__load_fail(bry_load *load, bry_status status, uint64_t offset, const char *problem);

#endif
