#include <errno.h>
#include <xxhash.h>

#include "common/allocator.h"
#include "common/endian.h"
#include "common/struct_size.h"
#include "frame/frame.h"

/* Whether the caller's load has a size that some version of it has, and sets no field that this
 * version does not know. NULL is valid. */
static bool frame_load_valid(const bry_load *load)
{
    return !load || bry__elements_usable(load, load->struct_size, 1, BRY__END_OF(bry_load, problem),
                                         sizeof *load);
}

/* The buffer for the note, or NULL. */
static bry_buffer *frame_note_buffer(const bry_load *load)
{
    return load ? load->note : NULL;
}

bry_status bry__load_begin(bry_load *load)
{
    if (!frame_load_valid(load))
        return BRY_E_RANGE;
    if (frame_note_buffer(load))
        load->note->len = 0;
    return bry__load_fail(load, BRY_OK, 0, NULL);
}

bry_status bry__load_fail(bry_load *load, bry_status status, uint64_t offset, const char *problem)
{
    if (load && frame_load_valid(load)) {
        load->offset = offset;
        load->problem = problem;
    }
    return status;
}

static bry_status frame_fail_at(bry__frame_reader *reader, bry_status status, uint64_t offset,
                                const char *problem)
{
    if (reader->status == BRY_OK)
        reader->status = bry__load_fail(reader->load, status, offset, problem);
    return reader->status;
}

bry_status bry__frame_reader_fail(bry__frame_reader *reader, bry_status status, const char *problem)
{
    return frame_fail_at(reader, status, reader->offset, problem);
}

/* Reads exactly len bytes, in as many reads as the source needs. if_short: what is wrong if there are
 * fewer; NULL: they are the header. */
static bry_status frame_take(bry__frame_reader *reader, void *to, size_t len, const char *if_short)
{
    unsigned char *next = to;
    while (len) {
        size_t got = 0;
        bry_status status = reader->source.read(reader->source.opaque, next, len, &got);
        if (status != BRY_OK)
            return bry__frame_reader_fail(reader, status, "the source could not be read");
        if (got == 0)
            return bry__frame_reader_fail(
                reader, BRY_E_BADDATA, if_short ? if_short : bry__header_short(to, reader->offset));
        if (got > len) {
            errno = EIO;
            return bry__frame_reader_fail(reader, BRY_E_IO,
                                          "the source returned more bytes than requested");
        }
        next += got;
        len -= got;
        reader->offset += got;
    }
    return BRY_OK;
}

bry_status bry__frame_reader_open(bry__frame_reader *reader, const bry_source *source,
                                  bry_load *load, uint32_t kind, uint16_t newest_kind_version)
{
    *reader = (bry__frame_reader){.source = *source, .load = load};
    if (bry__load_begin(load) != BRY_OK)
        return bry__frame_reader_fail(reader, BRY_E_RANGE, "");
    reader->allocator = bry__allocator_or_default(load ? load->allocator : NULL);
    reader->state = XXH3_createState();
    if (!reader->state)
        return bry__frame_reader_fail(reader, BRY_E_NOMEM, "out of memory");
    unsigned char bytes[BRY__HEADER_BYTES];
    if (frame_take(reader, bytes, sizeof bytes, NULL) != BRY_OK)
        return reader->status;
    bry__header_wants wants = {kind, newest_kind_version};
    const char *problem;
    uint64_t at;
    bry_status status =
        bry__header_decode(bytes, &wants, &reader->header, &reader->chain, &problem, &at);
    return status == BRY_OK ? BRY_OK : frame_fail_at(reader, status, at, problem);
}

static bry_status frame_read_close(bry__frame_reader *reader)
{
    unsigned char sum[8];
    if (frame_take(reader, sum, sizeof sum, "the data ends inside a frame") != BRY_OK)
        return reader->status;
    reader->chain = XXH3_64bits_digest(reader->state);
    if (reader->chain != bry__load64(sum))
        return frame_fail_at(reader, BRY_E_BADDATA, reader->frame_at, "a frame is damaged");
    return BRY_OK;
}

static bry_status frame_check_end(bry__frame_reader *reader, uint32_t length)
{
    uint64_t frames = reader->frames - 1, bytes = reader->bytes - length;
    unsigned char counts[16];
    if (length != sizeof counts)
        return frame_fail_at(reader, BRY_E_BADDATA, reader->frame_at,
                             "the end frame has the wrong length");
    if (bry__frame_reader_read(reader, counts, sizeof counts) != BRY_OK)
        return reader->status;
    if (bry__load64(counts) != frames || bry__load64(counts + 8) != bytes)
        return frame_fail_at(reader, BRY_E_BADDATA, reader->frame_at,
                             "the end frame's counts do not match");
    reader->ended = true;
    return BRY_OK;
}

/* Reads the head of a frame, and all of a frame that has no payload or is the end. */
static bry_status frame_read_open(bry__frame_reader *reader, bry__frame *frame)
{
    unsigned char head[16];
    reader->frame_at = reader->offset;
    if (frame_take(reader, head, sizeof head, "the data ends before the end frame") != BRY_OK)
        return reader->status;
    bry__frame found = {bry__load32(head), bry__load32(head + 4)};
    reader->chain = XXH3_64bits_withSeed(head, 8, reader->chain);
    if (reader->chain != bry__load64(head + 8))
        return frame_fail_at(reader, BRY_E_BADDATA, reader->frame_at,
                             "a frame's head is damaged or out of place");
    if (found.length > BRY__FRAME_MAX)
        return frame_fail_at(reader, BRY_E_BADDATA, reader->frame_at, "a frame is too long");
    XXH3_64bits_reset_withSeed(reader->state, reader->chain);
    reader->frames++;
    reader->bytes += found.length;
    reader->left = found.length;
    if (found.type == BRY__FRAME_END) {
        if (frame_check_end(reader, found.length) != BRY_OK)
            return reader->status;
    } else if (found.length == 0 && frame_read_close(reader) != BRY_OK) {
        return reader->status;
    }
    *frame = found;
    return BRY_OK;
}

/* Appends the payload of a note frame to the note, or nothing if the frame is damaged. */
static bry_status frame_read_note_part(bry__frame_reader *reader, bry_buffer *note)
{
    unsigned char bytes[4096];
    size_t before = note ? note->len : 0;
    while (reader->left && reader->status == BRY_OK) {
        size_t len = reader->left < sizeof bytes ? reader->left : sizeof bytes;
        if (bry__frame_reader_read(reader, bytes, len) != BRY_OK || !note)
            continue;
        bry_sink sink = bry_buffer_sink(note);
        if (sink.write(sink.opaque, bytes, len) != BRY_OK)
            bry__frame_reader_fail(reader, BRY_E_NOMEM, "not enough memory for the note");
    }
    if (note && reader->status != BRY_OK)
        note->len = before;
    return reader->status;
}

/* Reads the note, whose first frame is open, and opens the frame after it. */
static bry_status frame_read_note(bry__frame_reader *reader, bry__frame *frame)
{
    bry_buffer *note = frame_note_buffer(reader->load);
    size_t max = note && reader->load->note_max ? reader->load->note_max : BRY_NOTE_MAX;
    uint64_t len = 0;
    bool full = true; /* the frame before */
    while (frame->type == BRY__FRAME_NOTE) {
        if (!full || frame->length == 0 || frame->length > BRY__NOTE_FULL)
            return frame_fail_at(reader, BRY_E_BADDATA, reader->frame_at,
                                 "a note frame has the wrong length");
        full = frame->length == BRY__NOTE_FULL;
        len += frame->length;
        if (len > BRY_NOTE_MAX)
            return frame_fail_at(reader, BRY_E_BADDATA, reader->frame_at, "the note is too long");
        if (len > max)
            return frame_fail_at(reader, BRY_E_LIMIT, reader->frame_at,
                                 "the note is longer than the limit");
        if (frame_read_note_part(reader, note) != BRY_OK ||
            frame_read_open(reader, frame) != BRY_OK)
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
        return bry__frame_reader_fail(reader, BRY_E_BADDATA, "a frame is too long");
    if (reader->ended)
        return bry__frame_reader_fail(reader, BRY_E_BADDATA, "a frame is missing");
    if (frame_read_open(reader, &found) != BRY_OK)
        return reader->status;
    if (found.type == BRY__FRAME_NOTE && !first)
        return frame_fail_at(reader, BRY_E_BADDATA, reader->frame_at,
                             "a note frame is out of place");
    if (found.type == BRY__FRAME_NOTE && frame_read_note(reader, &found) != BRY_OK)
        return reader->status;
    *frame = found;
    return BRY_OK;
}

bry_status bry__frame_reader_read(bry__frame_reader *reader, void *to, size_t len)
{
    if (reader->status != BRY_OK || len == 0)
        return reader->status;
    if (len > reader->left)
        return bry__frame_reader_fail(reader, BRY_E_BADDATA, "a frame is too short");
    if (frame_take(reader, to, len, "the data ends inside a frame") != BRY_OK)
        return reader->status;
    XXH3_64bits_update(reader->state, to, len);
    reader->left -= (uint32_t)len;
    return reader->left ? BRY_OK : frame_read_close(reader);
}

bry_status bry__frame_reader_expect(bry__frame_reader *reader, uint32_t type, const char *missing,
                                    size_t least, size_t most, size_t *length)
{
    bry__frame frame = {0, 0};
    if (bry__frame_reader_next(reader, &frame) != BRY_OK)
        return reader->status;
    if (frame.type != type)
        return bry__frame_reader_bad(reader, missing);
    if (frame.length < least || frame.length > most)
        return bry__frame_reader_bad(reader, "a frame has the wrong length");
    *length = frame.length;
    return BRY_OK;
}

bry_status bry__frame_reader_read_frame(bry__frame_reader *reader, uint32_t type, void *to,
                                        size_t length)
{
    bry__frame frame = {0, 0};
    if (bry__frame_reader_next(reader, &frame) != BRY_OK)
        return reader->status;
    if (frame.type != type)
        return frame_fail_at(reader, BRY_E_BADDATA, reader->frame_at,
                             frame.type == BRY__FRAME_END ? "a frame is missing"
                                                          : "unexpected frame type");
    if (frame.length != length)
        return frame_fail_at(reader, BRY_E_BADDATA, reader->frame_at,
                             "a frame has the wrong length");
    return bry__frame_reader_read(reader, to, length);
}

bry_status bry__frame_reader_end(bry__frame_reader *reader)
{
    if (reader->status != BRY_OK || reader->ended)
        return reader->status;
    bry__frame frame = {0, 0};
    if (bry__frame_reader_next(reader, &frame) == BRY_OK && !reader->ended)
        return frame_fail_at(reader, BRY_E_BADDATA, reader->frame_at,
                             "unexpected frame after the last one");
    return reader->status;
}

bry_status bry__frame_reader_claim(bry__frame_reader *reader, uint64_t bytes)
{
    if (reader->status != BRY_OK)
        return reader->status;
    uint64_t limit = reader->load ? reader->load->max_bytes : 0;
    if (__builtin_add_overflow(reader->claimed, bytes, &reader->claimed) ||
        (limit && reader->claimed > limit))
        return bry__frame_reader_fail(reader, BRY_E_LIMIT, "the object is larger than the limit");
    return BRY_OK;
}

void *bry__frame_reader_alloc(bry__frame_reader *reader, const bry_allocator *allocator,
                              size_t size)
{
    if (bry__frame_reader_claim(reader, size) != BRY_OK)
        return NULL;
    void *made = bry__alloc(allocator, size);
    if (!made)
        bry__frame_reader_no_memory(reader);
    return made;
}

void bry__frame_reader_close(bry__frame_reader *reader)
{
    XXH3_freeState(reader->state);
    reader->state = NULL;
}
