#include <xxhash.h>

#include "common/endian.h"
#include "common/struct_size.h"
#include "frame/frame.h"
#include "hash/derive.h"

static bry_status frame_emit(bry__frame_writer *writer, const void *bytes, size_t len)
{
    if (writer->status == BRY_OK && len)
        writer->status = writer->sink.write(writer->sink.opaque, bytes, len);
    return writer->status;
}

static bry_status frame_write_close(bry__frame_writer *writer)
{
    unsigned char sum[8];
    writer->chain = XXH3_64bits_digest(writer->state);
    bry__store64(sum, writer->chain);
    return frame_emit(writer, sum, sizeof sum);
}

static bry_status frame_read_save(const bry_save *given, bry_save *save)
{
    *save = (bry_save)BRY_SAVE;
    bry_status status = given ? bry__struct_read(save, sizeof *save, given) : BRY_OK;
    return status == BRY_OK && save->note_len > BRY_NOTE_MAX ? BRY_E_TOOLONG : status;
}

bry_status bry__save_check(const bry_save *given)
{
    bry_save save;
    return frame_read_save(given, &save);
}

static bry_status frame_write_note(bry__frame_writer *writer, const bry_save *save)
{
    const unsigned char *note = save->note;
    for (size_t at = 0; at < save->note_len && writer->status == BRY_OK; at += BRY__NOTE_FULL) {
        size_t left = save->note_len - at;
        bry__frame_writer_write(writer, BRY__FRAME_NOTE, note + at,
                                left < BRY__NOTE_FULL ? left : BRY__NOTE_FULL);
    }
    return writer->status;
}

bry_status bry__frame_writer_begin(bry__frame_writer *writer, const bry_sink *sink,
                                   const bry_save *given, uint32_t kind, uint16_t kind_version,
                                   uint64_t seed)
{
    bry_save save;
    *writer = (bry__frame_writer){.sink = *sink};
    writer->status = frame_read_save(given, &save);
    if (writer->status != BRY_OK)
        return writer->status;
    writer->state = XXH3_createState();
    if (!writer->state)
        return writer->status = BRY_E_NOMEM;
    bry__header header = {
        .format = BRY__FORMAT_REVISION,
        .hash_scheme = BRY__HASH_SCHEME,
        .kind = kind,
        .kind_version = kind_version,
        .seed = seed,
    };
    unsigned char bytes[BRY__HEADER_BYTES];
    writer->chain = bry__header_encode(&header, bytes);
    frame_emit(writer, bytes, sizeof bytes);
    return frame_write_note(writer, &save);
}

bry_status bry__frame_writer_open(bry__frame_writer *writer, uint32_t type, size_t length)
{
    if (writer->status != BRY_OK)
        return writer->status;
    if (writer->left || length > BRY__FRAME_MAX)
        return writer->status = BRY_E_RANGE;
    unsigned char head[16];
    bry__store32(head, type);
    bry__store32(head + 4, (uint32_t)length);
    writer->chain = XXH3_64bits_withSeed(head, 8, writer->chain);
    bry__store64(head + 8, writer->chain);
    if (frame_emit(writer, head, sizeof head) != BRY_OK)
        return writer->status;
    XXH3_64bits_reset_withSeed(writer->state, writer->chain);
    writer->frames++;
    writer->bytes += length;
    writer->left = (uint32_t)length;
    return length ? BRY_OK : frame_write_close(writer);
}

bry_status bry__frame_writer_put(bry__frame_writer *writer, const void *bytes, size_t len)
{
    if (writer->status != BRY_OK || len == 0)
        return writer->status;
    if (len > writer->left)
        return writer->status = BRY_E_RANGE;
    XXH3_64bits_update(writer->state, bytes, len);
    if (frame_emit(writer, bytes, len) != BRY_OK)
        return writer->status;
    writer->left -= (uint32_t)len;
    return writer->left ? BRY_OK : frame_write_close(writer);
}

bry_status bry__frame_writer_write(bry__frame_writer *writer, uint32_t type, const void *bytes,
                                   size_t length)
{
    bry__frame_writer_open(writer, type, length);
    return bry__frame_writer_put(writer, bytes, length);
}

bry_status bry__frame_writer_end(bry__frame_writer *writer)
{
    unsigned char counts[16];
    bry__store64(counts, writer->frames);
    bry__store64(counts + 8, writer->bytes);
    bry__frame_writer_write(writer, BRY__FRAME_END, counts, sizeof counts);
    XXH3_freeState(writer->state);
    writer->state = NULL;
    return writer->status;
}
