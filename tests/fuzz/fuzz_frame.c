/*
 * Reads frames from arbitrary bytes. The first byte of an input says how to use the rest:
 *
 *   bit 0     correct the checksums first, so that the reader gets further
 *   bit 1     make a header that the reader accepts
 *   bits 2–4  read payloads in portions of 1, 3, 9, 27 … bytes
 *   bit 5     the source gives one byte at a time
 *
 * What the reader accepts, the writer must reproduce to the byte.
 */
#include "common/endian.h"
#include "frame/frame.h"
#include "support/fuzz_input.h"
#include "support/repair.h"

#define KIND BRY__FOUR('G', 'O', 'L', 'D')

typedef struct input {
    const unsigned char *bytes;
    size_t len, at;
    bool slow;
} input;

static bry_status give(void *opaque, void *bytes, size_t len, size_t *got)
{
    input *in = opaque;
    size_t left = in->len - in->at;
    MUST(len > 0);
    *got = len < left ? len : left;
    if (in->slow && *got)
        *got = 1;
    memcpy(bytes, in->bytes + in->at, *got);
    in->at += *got;
    return BRY_OK;
}

/* Reads all frames and writes each again. */
static bry_status copy_frames(bry__frame_reader *reader, bry__frame_writer *writer, size_t portion)
{
    unsigned char block[2187];
    bry__frame frame = {0, 0};
    while (bry__frame_reader_next(reader, &frame) == BRY_OK && frame.type != BRY__FRAME_END) {
        MUST(frame.length <= BRY__FRAME_MAX);
        bry__frame_writer_open(writer, frame.type, frame.length);
        for (size_t left = frame.length; left;) {
            size_t len = portion < left ? portion : left;
            if (bry__frame_reader_read(reader, block, len) != BRY_OK)
                return reader->status;
            bry__frame_writer_put(writer, block, len);
            left -= len;
        }
    }
    return reader->status;
}

/* The note before the first frame, if any: the writer needs it first. */
static bry_buffer note_of(input in)
{
    bry_buffer note = BRY_BUFFER;
    bry_source source = {give, &in};
    bry_load load = BRY_LOAD;
    load.note = &note;
    bry__frame_reader reader;
    bry__frame frame;
    if (bry__frame_reader_open(&reader, &source, &load, KIND, 1) == BRY_OK)
        bry__frame_reader_next(&reader, &frame);
    bry__frame_reader_close(&reader);
    return note;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    unsigned mode = data[0];
    size_t len = size - 1;
    unsigned char *bytes = fuzz_copy(data + 1, len);
    if (mode & 2)
        repair_header(bytes, len, KIND);
    if (mode & 1)
        repair_stream(bytes, len);
    size_t portion = 1;
    for (unsigned i = 0; i < (mode >> 2 & 7); i++)
        portion *= 3;

    input in = {bytes, len, 0, mode & 32};
    bry_buffer note = note_of(in);
    bry_save save = {sizeof save, note.bytes, note.len};
    bry_source source = {give, &in};
    bry_load load = BRY_LOAD;
    bry_buffer again = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&again);
    bry__frame_reader reader;
    bry__frame_writer writer;
    bry_status status = bry__frame_reader_open(&reader, &source, &load, KIND, 1);
    bry__frame_writer_begin(&writer, &sink, &save, KIND, 1, reader.header.seed);
    if (status == BRY_OK)
        status = copy_frames(&reader, &writer, portion);
    bry_status written = bry__frame_writer_end(&writer);
    bry__frame_reader_close(&reader);

    MUST(load.offset <= in.at);
    if (status == BRY_OK) {
        MUST(!load.problem && written == BRY_OK);
        MUST(again.len == in.at && memcmp(again.bytes, bytes, again.len) == 0);
    } else {
        MUST(load.problem);
        MUST(status == BRY_E_BADDATA || status == BRY_E_VERSION);
    }
    bry_buffer_free(&again);
    bry_buffer_free(&note);
    free(bytes);
    return 0;
}
