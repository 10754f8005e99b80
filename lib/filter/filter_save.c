/* A filter as frames (doc/format.md, kind FLTR): its numbers, then the engine's frames. */
#include "filter/filter_engine.h"

#include "common/endian.h"
#include "frame/frame.h"
#include "frame/job_row.h"

#define KIND BRY__FOUR('F', 'L', 'T', 'R')
#define KIND_VERSION 1
#define NUMBERS BRY__FOUR('N', 'U', 'M', 'S')

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

bry_status bry_filter_save(const bry_filter *filter, const bry_sink *sink, const bry_save *save)
{
    bry__filter_numbers own;
    unsigned char numbers[NUMBERS_SIZE];
    filter->engine->numbers(filter, &own);
    bry__store32(numbers + AT_ENGINE, filter->engine->engine);
    bry__store32(numbers + AT_HASHES, own.hashes);
    bry__store64(numbers + AT_BLOCKS, own.blocks);
    bry__store64(numbers + AT_CAPACITY, own.capacity);
    bry__store64(numbers + AT_ITEMS, own.items);
    bry__store_double(numbers + AT_ERROR, own.error);
    bry__store64(numbers + AT_PIECES, own.pieces);

    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, sink, save, KIND, KIND_VERSION, filter->seed);
    bry__frame_writer_write(&writer, NUMBERS, numbers, sizeof numbers);
    filter->engine->write(filter, &writer);
    return bry__frame_writer_end(&writer);
}

/* Reads the numbers; returns what is wrong with them, or NULL. */
static const char *read_numbers(const unsigned char *numbers, uint64_t seed,
                                bry__filter_numbers *own)
{
    uint32_t engine = bry__load32(numbers + AT_ENGINE);
    *own = (bry__filter_numbers){
        .capacity = bry__load64(numbers + AT_CAPACITY),
        .items = bry__load64(numbers + AT_ITEMS),
        .error = bry__load_double(numbers + AT_ERROR),
        .hashes = bry__load32(numbers + AT_HASHES),
        .blocks = bry__load64(numbers + AT_BLOCKS),
        .pieces = bry__load64(numbers + AT_PIECES),
    };
    if (!bry__engine_find(bry__filter_engines, engine))
        return "unknown engine";
    if (seed == 0)
        return "the seed is 0";
    if (own->capacity < 1 || own->capacity > BRY_CAPACITY_MAX)
        return "the capacity is out of range";
    if (!(own->error >= BRY_FILTER_ERROR_MIN && own->error <= BRY_ERROR_MAX))
        return "the error is out of range";
    return NULL;
}

static bry_status read_filter(bry__frame_reader *reader, const bry_allocator *allocator,
                              bry_filter **filter)
{
    unsigned char numbers[NUMBERS_SIZE];
    bry_status status = bry__frame_reader_read_frame(reader, NUMBERS, numbers, sizeof numbers);
    if (status != BRY_OK)
        return status;
    bry__filter_numbers own;
    const char *problem = read_numbers(numbers, reader->header.seed, &own);
    if (problem)
        return bry__frame_reader_fail(reader, BRY_E_BADDATA, problem);
    const bry__filter_engine *engine =
        bry__engine_find(bry__filter_engines, bry__load32(numbers + AT_ENGINE));
    status = bry__frame_reader_claim(reader, engine->size);
    if (status != BRY_OK)
        return status;
    bry_filter *made = bry__filter_new(engine, reader->header.seed, allocator);
    if (!made)
        return bry__frame_reader_fail(reader, BRY_E_NOMEM, "not enough memory for the filter");
    status = engine->read(made, &own, reader);
    if (status == BRY_OK)
        *filter = made;
    else
        bry__free(allocator, made, engine->size);
    return status;
}

bry_status bry_filter_load(const bry_source *source, bry_load *load, bry_filter **filter)
{
    bry__frame_reader reader;
    bry_status status = bry__frame_reader_open(&reader, source, load, KIND, KIND_VERSION);
    if (status == BRY_OK)
        status = read_filter(&reader, &reader.allocator, filter);
    bry__frame_reader_close(&reader);
    return status;
}

/* ---- the job's row ------------------------------------------------------------------------- */

BRY__JOB_MERGE(filter)
BRY__JOB(filter, "filter", bry__filter_engines, filter_any_merge)
