/*
 * A filter as frames (doc/format.md, kind FLTR): its numbers, then every piece of the table that
 * has a bit set, in order.
 */
#include "common/checked.h"
#include "common/endian.h"
#include "common/sizing.h"
#include "filter/filter_object.h"
#include "frame/frame.h"
#include "frame/object_file.h"
#include "kernel/kernel.h"

#define KIND BRY__FOUR('F', 'L', 'T', 'R')
#define KIND_VERSION 1
#define NUMBERS BRY__FOUR('N', 'U', 'M', 'S')
#define PIECE BRY__FOUR('P', 'I', 'E', 'C')

/* The frame NUMS. */
enum {
    AT_ENGINE = 0, /* u32 */
    AT_HASHES = 4, /* u32 */
    AT_BLOCKS = 8, /* u64 */
    AT_CAPACITY = 16, /* u64 */
    AT_ITEMS = 24, /* u64 */
    AT_ERROR = 32, /* double */
    AT_PIECES = 40, /* u64, how many PIEC frames follow */
    NUMBERS_SIZE = 48
};

static bool has_bits(const bry__pieces *table, size_t i)
{
    return table->piece[i] &&
           bry__kernels()->popcount(table->piece[i], bry__piece_size(table, i)) > 0;
}

bry_status bry_filter_save(const bry_filter *filter, const bry_sink *sink)
{
    const bry__blocked *bloom = &filter->bloom;
    uint64_t pieces = 0;
    for (size_t i = 0; i < bloom->table.count; i++)
        pieces += has_bits(&bloom->table, i);

    unsigned char numbers[NUMBERS_SIZE];
    bry__store32(numbers + AT_ENGINE, BRY_ENGINE_BLOOM);
    bry__store32(numbers + AT_HASHES, bloom->hashes);
    bry__store64(numbers + AT_BLOCKS, bloom->blocks);
    bry__store64(numbers + AT_CAPACITY, filter->capacity);
    bry__store64(numbers + AT_ITEMS, filter->items);
    bry__store_double(numbers + AT_ERROR, filter->error);
    bry__store64(numbers + AT_PIECES, pieces);

    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, sink, KIND, KIND_VERSION, filter->seed);
    bry__frame_writer_write(&writer, NUMBERS, numbers, sizeof numbers);
    for (size_t i = 0; i < bloom->table.count; i++) {
        if (!has_bits(&bloom->table, i))
            continue;
        unsigned char index[8];
        bry__store64(index, i);
        size_t size = bry__piece_size(&bloom->table, i);
        bry__frame_writer_open(&writer, PIECE, sizeof index + size);
        bry__frame_writer_put(&writer, index, sizeof index);
        bry__frame_writer_put(&writer, bloom->table.piece[i], size);
    }
    return bry__frame_writer_end(&writer);
}

/* The numbers as a filter without a table yet; says what is wrong with them, or NULL. */
static const char *read_numbers(const unsigned char *numbers, uint64_t seed, bry_filter *filter)
{
    *filter = (bry_filter){
        .seed = seed,
        .capacity = bry__load64(numbers + AT_CAPACITY),
        .items = bry__load64(numbers + AT_ITEMS),
        .error = bry__load_double(numbers + AT_ERROR),
        .bloom = {.blocks = bry__load64(numbers + AT_BLOCKS),
                  .hashes = bry__load32(numbers + AT_HASHES)},
    };
    if (bry__load32(numbers + AT_ENGINE) != BRY_ENGINE_BLOOM)
        return "the engine is not one that filters have";
    if (seed == 0)
        return "the seed is 0";
    if (filter->bloom.hashes < 1 || filter->bloom.hashes > BRY__BLOCKED_MAX_HASHES)
        return "the number of hashes is out of range";
    if (filter->bloom.blocks < 1 || filter->bloom.blocks > BRY__FILTER_MAX_BLOCKS)
        return "the number of blocks is out of range";
    if (filter->capacity < 1 || filter->capacity > BRY__FILTER_MAX_CAPACITY)
        return "the capacity is out of range";
    if (filter->items > filter->capacity)
        return "more items than the capacity";
    if (!(filter->error >= BRY__FILTER_MIN_ERROR && filter->error <= BRY__FILTER_MAX_ERROR))
        return "the error is out of range";
    return NULL;
}

/* Reads `pieces` pieces into the table. */
static bry_status read_pieces(bry__frame_reader *reader, bry_filter *filter, uint64_t pieces)
{
    bry__pieces *table = &filter->bloom.table;
    size_t lowest = 0; /* that the next index may be */
    for (uint64_t done = 0; done < pieces; done++) {
        bry__frame frame;
        unsigned char index_bytes[8];
        bry_status status = bry__frame_reader_next(reader, &frame);
        if (status == BRY_OK && frame.type != PIECE)
            status = bry__frame_reader_fail(reader, BRY_E_BADDATA, "a piece is missing");
        if (status == BRY_OK)
            status = bry__frame_reader_read(reader, index_bytes, sizeof index_bytes);
        if (status != BRY_OK)
            return status;
        uint64_t index = bry__load64(index_bytes);
        if (index < lowest || index >= table->count)
            return bry__frame_reader_fail(reader, BRY_E_BADDATA, "a piece is out of place");
        size_t i = (size_t)index, size = bry__piece_size(table, i);
        if (frame.length != sizeof index_bytes + size)
            return bry__frame_reader_fail(reader, BRY_E_BADDATA, "a piece has the wrong size");
        status = bry__frame_reader_claim(reader, bry__lines_cost(size));
        if (status == BRY_OK && bry__piece_reach(table, i, &filter->allocator) != BRY_OK)
            status = bry__frame_reader_fail(reader, BRY_E_NOMEM, "no memory for a piece");
        if (status == BRY_OK)
            status = bry__frame_reader_read(reader, table->piece[i], size);
        if (status != BRY_OK)
            return status;
        if (!has_bits(table, i))
            return bry__frame_reader_fail(reader, BRY_E_BADDATA, "a piece without a bit");
        lowest = i + 1;
    }
    return bry__frame_reader_end(reader);
}

static bry_status read_filter(bry__frame_reader *reader, const bry_allocator *allocator,
                              bry_filter **filter)
{
    unsigned char numbers[NUMBERS_SIZE];
    bry_status status = bry__frame_reader_read_frame(reader, NUMBERS, numbers, sizeof numbers);
    if (status != BRY_OK)
        return status;
    bry_filter read;
    const char *problem = read_numbers(numbers, reader->header.seed, &read);
    if (problem)
        return bry__frame_reader_fail(reader, BRY_E_BADDATA, problem);

    uint64_t table = read.bloom.blocks * BRY__BLOCK_BYTES;
    status = bry__frame_reader_claim(reader, sizeof read + bry__pieces_bytes_empty(table));
    if (status != BRY_OK)
        return status;
    bry_filter *made = bry__alloc(allocator, sizeof *made);
    if (!made)
        return bry__frame_reader_fail(reader, BRY_E_NOMEM, "no memory for the filter");
    *made = read;
    made->allocator = *allocator;
    status = bry__blocked_init(&made->bloom, read.bloom.blocks, read.bloom.hashes, allocator);
    if (status != BRY_OK) {
        bry__free(allocator, made, sizeof *made);
        return bry__frame_reader_fail(reader, status, "no memory for the table's directory");
    }
    status = read_pieces(reader, made, bry__load64(numbers + AT_PIECES));
    if (status == BRY_OK) {
        uint64_t bits = bry__blocked_count_bits(&made->bloom), most;
        if (!bry__mul(made->items, made->bloom.hashes, &most) || bits > most ||
            (bits == 0) != (made->items == 0))
            status = bry__frame_reader_fail(reader, BRY_E_BADDATA,
                                            "the bits do not agree with the number of items");
    }
    if (status == BRY_OK)
        *filter = made;
    else
        bry_filter_destroy(made);
    return status;
}

bry_status bry_filter_load(const bry_source *source, bry_load *load, bry_filter **filter)
{
    bry_allocator allocator = bry__allocator_or_default(load ? load->allocator : NULL);
    bry__frame_reader reader;
    bry_status status = bry__frame_reader_open(&reader, source, load, KIND, KIND_VERSION);
    if (status == BRY_OK)
        status = read_filter(&reader, &allocator, filter);
    bry__frame_reader_close(&reader);
    return status;
}

/* ---- files --------------------------------------------------------------------------------- */

BRY__OBJECT_FILE(filter)
