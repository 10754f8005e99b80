#include <errno.h>
#include <xxhash.h>

#include "common/endian.h"
#include "common/struct_size.h"
#include "frame/frame.h"

bool bry__load_valid(const bry_load *load)
{
    return !load || bry__elements_readable(load, load->struct_size, 1, sizeof *load);
}

bry_status bry__load_fail(bry_load *load, bry_status status, uint64_t offset, const char *problem)
{
    if (load && bry__load_valid(load)) {
        load->offset = offset;
        load->problem = problem;
    }
    return status;
}

static bry_status fail_at(bry__frame_reader *reader, bry_status status, uint64_t offset,
                          const char *problem)
{
    if (reader->status == BRY_OK)
        reader->status = bry__load_fail(reader->load, status, offset, problem);
    return reader->status;
}

bry_status bry__frame_reader_fail(bry__frame_reader *reader, bry_status status, const char *problem)
{
    return fail_at(reader, status, reader->offset, problem);
}

/* Exactly len bytes of the source, however it portions them. */
static bry_status take(bry__frame_reader *reader, void *to, size_t len, const char *if_short)
{
    unsigned char *next = to;
    while (len) {
        size_t got = 0;
        bry_status status = reader->source.read(reader->source.opaque, next, len, &got);
        if (status != BRY_OK)
            return bry__frame_reader_fail(reader, status, "the source could not be read");
        if (got == 0)
            return bry__frame_reader_fail(reader, BRY_E_BADDATA, if_short);
        if (got > len) {
            errno = EIO;
            return bry__frame_reader_fail(reader, BRY_E_IO, "the source gave more than was asked");
        }
        next += got;
        len -= got;
        reader->offset += got;
    }
    return BRY_OK;
}

/* Where the note goes, or NULL. */
static bry_buffer *note_of(const bry_load *load)
{
    return load ? load->note : NULL;
}

bry_status bry__frame_reader_open(bry__frame_reader *reader, const bry_source *source,
                                  bry_load *load, uint32_t kind, uint16_t newest_kind_version)
{
    *reader = (bry__frame_reader){.source = *source, .load = load};
    if (!bry__load_valid(load))
        return bry__frame_reader_fail(reader, BRY_E_RANGE, "");
    if (note_of(load))
        load->note->len = 0;
    reader->state = XXH3_createState();
    if (!reader->state)
        return bry__frame_reader_fail(reader, BRY_E_NOMEM, "out of memory");
    unsigned char bytes[BRY__HEADER_BYTES];
    if (take(reader, bytes, sizeof bytes, "the data ends inside the header") != BRY_OK)
        return reader->status;
    bry__header_wants wants = {BRY_VERSION_RELEASE, kind, newest_kind_version};
    const char *problem;
    uint64_t at;
    bry_status status =
        bry__header_decode(bytes, &wants, &reader->header, &reader->chain, &problem, &at);
    return status == BRY_OK ? BRY_OK : fail_at(reader, status, at, problem);
}

static bry_status close_frame(bry__frame_reader *reader)
{
    unsigned char sum[8];
    if (take(reader, sum, sizeof sum, "the data ends inside a frame") != BRY_OK)
        return reader->status;
    reader->chain = XXH3_64bits_digest(reader->state);
    if (reader->chain != bry__load64(sum))
        return fail_at(reader, BRY_E_BADDATA, reader->frame_at, "a frame is damaged");
    return BRY_OK;
}

static bry_status check_end(bry__frame_reader *reader, uint32_t length)
{
    uint64_t frames = reader->frames - 1, bytes = reader->bytes - length;
    unsigned char counts[16];
    if (length != sizeof counts)
        return fail_at(reader, BRY_E_BADDATA, reader->frame_at, "the end has a wrong length");
    if (bry__frame_reader_read(reader, counts, sizeof counts) != BRY_OK)
        return reader->status;
    if (bry__load64(counts) != frames || bry__load64(counts + 8) != bytes)
        return fail_at(reader, BRY_E_BADDATA, reader->frame_at, "the end counts other frames");
    reader->ended = true;
    return BRY_OK;
}

/* The head of a frame, and the whole of it where it has no payload or is the end. */
static bry_status open_frame(bry__frame_reader *reader, bry__frame *frame)
{
    unsigned char head[16];
    reader->frame_at = reader->offset;
    if (take(reader, head, sizeof head, "the data ends early, before its end frame") != BRY_OK)
        return reader->status;
    bry__frame found = {bry__load32(head), bry__load32(head + 4)};
    reader->chain = XXH3_64bits_withSeed(head, 8, reader->chain);
    if (reader->chain != bry__load64(head + 8))
        return fail_at(reader, BRY_E_BADDATA, reader->frame_at,
                       "a frame's head is damaged or out of its place");
    if (found.length > BRY__FRAME_MAX)
        return fail_at(reader, BRY_E_BADDATA, reader->frame_at, "a frame is longer than it may be");
    XXH3_64bits_reset_withSeed(reader->state, reader->chain);
    reader->frames++;
    reader->bytes += found.length;
    reader->left = found.length;
    if (found.type == BRY__FRAME_END) {
        if (check_end(reader, found.length) != BRY_OK)
            return reader->status;
    } else if (found.length == 0 && close_frame(reader) != BRY_OK) {
        return reader->status;
    }
    *frame = found;
    return BRY_OK;
}

/* The payload of one of the note's frames. No byte of it stays unless the frame is intact. */
static bry_status take_note_frame(bry__frame_reader *reader, bry_buffer *note)
{
    unsigned char bytes[4096];
    size_t before = note ? note->len : 0;
    while (reader->left && reader->status == BRY_OK) {
        size_t len = reader->left < sizeof bytes ? reader->left : sizeof bytes;
        if (bry__frame_reader_read(reader, bytes, len) != BRY_OK || !note)
            continue;
        bry_sink sink = bry_buffer_sink(note);
        if (sink.write(sink.opaque, bytes, len) != BRY_OK)
            bry__frame_reader_fail(reader, BRY_E_NOMEM, "no memory for the note");
    }
    if (note && reader->status != BRY_OK)
        note->len = before;
    return reader->status;
}

/* Takes the note, whose first frame is open, and opens the frame behind it. */
static bry_status take_note(bry__frame_reader *reader, bry__frame *frame)
{
    bry_buffer *note = note_of(reader->load);
    size_t max = note && reader->load->note_max ? reader->load->note_max : BRY_NOTE_MAX;
    uint64_t len = 0;
    bool full = true; /* the frame before */
    while (frame->type == BRY__FRAME_NOTE) {
        if (!full || frame->length == 0 || frame->length > BRY__NOTE_FULL)
            return fail_at(reader, BRY_E_BADDATA, reader->frame_at,
                           "the note is cut into frames of wrong lengths");
        full = frame->length == BRY__NOTE_FULL;
        len += frame->length;
        if (len > BRY_NOTE_MAX)
            return fail_at(reader, BRY_E_BADDATA, reader->frame_at,
                           "the note is longer than it may be");
        if (len > max)
            return fail_at(reader, BRY_E_LIMIT, reader->frame_at,
                           "the note is longer than the ceiling");
        if (take_note_frame(reader, note) != BRY_OK || open_frame(reader, frame) != BRY_OK)
            return reader->status;
    }
    return BRY_OK;
}

bry_status bry__frame_reader_next(bry__frame_reader *reader, bry__frame *frame)
{
    bry__frame found = {0, 0};
    bool first = reader->frames == 0;
    if (reader->status != BRY_OK)
        return reader->status;
    if (reader->left)
        return bry__frame_reader_fail(reader, BRY_E_BADDATA, "a frame is longer than it may be");
    if (reader->ended)
        return bry__frame_reader_fail(reader, BRY_E_BADDATA, "a frame is missing");
    if (open_frame(reader, &found) != BRY_OK)
        return reader->status;
    if (found.type == BRY__FRAME_NOTE && !first)
        return fail_at(reader, BRY_E_BADDATA, reader->frame_at,
                       "a note stands behind what it belongs before");
    if (found.type == BRY__FRAME_NOTE && take_note(reader, &found) != BRY_OK)
        return reader->status;
    *frame = found;
    return BRY_OK;
}

bry_status bry__frame_reader_read(bry__frame_reader *reader, void *to, size_t len)
{
    if (reader->status != BRY_OK || len == 0)
        return reader->status;
    if (len > reader->left)
        return bry__frame_reader_fail(reader, BRY_E_BADDATA, "a frame is shorter than it must be");
    if (take(reader, to, len, "the data ends inside a frame") != BRY_OK)
        return reader->status;
    XXH3_64bits_update(reader->state, to, len);
    reader->left -= (uint32_t)len;
    return reader->left ? BRY_OK : close_frame(reader);
}

bry_status bry__frame_reader_read_frame(bry__frame_reader *reader, uint32_t type, void *to,
                                        size_t length)
{
    bry__frame frame = {0, 0};
    if (bry__frame_reader_next(reader, &frame) != BRY_OK)
        return reader->status;
    if (frame.type != type)
        return fail_at(reader, BRY_E_BADDATA, reader->frame_at,
                       frame.type == BRY__FRAME_END ? "a frame is missing"
                                                    : "a frame has the wrong type for its place");
    if (frame.length != length)
        return fail_at(reader, BRY_E_BADDATA, reader->frame_at, "a frame has a wrong length");
    return bry__frame_reader_read(reader, to, length);
}

bry_status bry__frame_reader_end(bry__frame_reader *reader)
{
    if (reader->status != BRY_OK || reader->ended)
        return reader->status;
    bry__frame frame = {0, 0};
    if (bry__frame_reader_next(reader, &frame) == BRY_OK && !reader->ended)
        return fail_at(reader, BRY_E_BADDATA, reader->frame_at, "a frame stands past the last");
    return reader->status;
}

bry_status bry__frame_reader_claim(bry__frame_reader *reader, uint64_t bytes)
{
    if (reader->status != BRY_OK)
        return reader->status;
    uint64_t ceiling = reader->load ? reader->load->max_bytes : 0;
    if (__builtin_add_overflow(reader->claimed, bytes, &reader->claimed) ||
        (ceiling && reader->claimed > ceiling))
        return bry__frame_reader_fail(reader, BRY_E_LIMIT, "the object is larger than the ceiling");
    return BRY_OK;
}

void bry__frame_reader_close(bry__frame_reader *reader)
{
    XXH3_freeState(reader->state);
    reader->state = NULL;
}
