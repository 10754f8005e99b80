#include "frame/frame_pieces.h"

#include "common/endian.h"
#include "common/struct_size.h"

#define PIECE BRY__FOUR('P', 'I', 'E', 'C')
#define INDEX_SIZE sizeof(uint64_t)

enum { CHUNK = 4096 }; /* bytes converted at a time */

static bool pieces_has_any(const bry__pieces *table, size_t i)
{
    const unsigned char *piece = table->piece[i];
    size_t size = piece ? bry__piece_size(table, i) : 0;
    for (size_t at = 0; at < size; at += BRY__LINE)
        if (!bry__all_zero(piece + at, size - at < BRY__LINE ? size - at : BRY__LINE))
            return true;
    return false;
}

uint64_t bry__frame_pieces(const bry__pieces *table)
{
    uint64_t n = 0;
    for (size_t i = 0; i < table->count; i++)
        n += pieces_has_any(table, i);
    return n;
}

/* Words to little-endian, or back. */
static void pieces_convert(unsigned char *to, const unsigned char *from, size_t size)
{
    for (size_t at = 0; at < size; at += sizeof(uint32_t)) {
        uint32_t word = bry__load32(from + at);
        memcpy(to + at, &word, sizeof word);
    }
}

static void pieces_put_words(bry__frame_writer *writer, const unsigned char *piece, size_t size)
{
    unsigned char bytes[CHUNK];
    for (size_t done = 0; done < size; done += CHUNK) {
        size_t here = size - done < CHUNK ? size - done : CHUNK;
        pieces_convert(bytes, piece + done, here);
        bry__frame_writer_put(writer, bytes, here);
    }
}

void bry__frame_write_pieces(bry__frame_writer *writer, const bry__pieces *table, size_t word)
{
    for (size_t i = 0; i < table->count; i++) {
        unsigned char index[INDEX_SIZE];
        size_t size = bry__piece_size(table, i);
        if (!pieces_has_any(table, i))
            continue;
        bry__store64(index, i);
        bry__frame_writer_open(writer, PIECE, sizeof index + size);
        bry__frame_writer_put(writer, index, sizeof index);
        if (word == 1)
            bry__frame_writer_put(writer, table->piece[i], size);
        else
            pieces_put_words(writer, table->piece[i], size);
    }
}

/* *lowest: the smallest number that the piece may have. */
static bry_status pieces_read_one(bry__frame_reader *reader, bry__pieces *table, size_t word,
                                  size_t *lowest, const bry_allocator *allocator)
{
    unsigned char index_bytes[INDEX_SIZE];
    size_t length;
    if (bry__frame_reader_expect(reader, PIECE, "a piece is missing", 0, SIZE_MAX, &length) !=
            BRY_OK ||
        bry__frame_reader_read(reader, index_bytes, sizeof index_bytes) != BRY_OK)
        return reader->status;
    uint64_t index = bry__load64(index_bytes);
    if (index < *lowest || index >= table->count)
        return bry__frame_reader_bad(reader, "a piece is out of place");
    size_t i = (size_t)index, size = bry__piece_size(table, i);
    if (length != sizeof index_bytes + size)
        return bry__frame_reader_bad(reader, "a piece has the wrong size");
    if (bry__frame_reader_claim(reader, bry__lines_cost(size)) != BRY_OK)
        return reader->status;
    if (bry__piece_reach(table, i, allocator) != BRY_OK)
        return bry__frame_reader_no_memory(reader);
    if (bry__frame_reader_read(reader, table->piece[i], size) != BRY_OK)
        return reader->status;
    if (!pieces_has_any(table, i))
        return bry__frame_reader_bad(reader, "a piece is empty");
    if (word != 1)
        pieces_convert(table->piece[i], table->piece[i], size);
    *lowest = i + 1;
    return BRY_OK;
}

bry_status bry__frame_read_pieces(bry__frame_reader *reader, bry__pieces *table, size_t word,
                                  uint64_t n, const bry_allocator *allocator)
{
    bry_status status = BRY_OK;
    size_t lowest = 0;
    for (uint64_t i = 0; i < n && status == BRY_OK; i++)
        status = pieces_read_one(reader, table, word, &lowest, allocator);
    return status;
}
