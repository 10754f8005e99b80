/* A filter as frames (doc/format.md, kind FLTR): its numbers, then the engine's frames. */
#include "filter/filter_engine.h"

#include "frame/frame_numbers.h"
#include "frame/job_row.h"

#define NUMBERS BRY__FOUR('N', 'U', 'M', 'S')

#define ROW(field) BRY__NUMBER(bry__filter_numbers, field)
static const bry__number filter_rows[] = {
    ROW(engine), ROW(hashes), ROW(blocks), ROW(capacity),
    ROW(items),  ROW(error),  ROW(pieces), BRY__NUMBERS_END,
};

static void filter_write(const bry_filter *filter, bry__frame_writer *writer)
{
    bry__filter_numbers numbers;
    filter->engine->numbers(filter, &numbers);
    numbers.engine = filter->engine->engine;
    bry__frame_write_numbers(writer, NUMBERS, filter_rows, &numbers);
    filter->engine->write(filter, writer);
}

/* Returns what is wrong with the numbers, or NULL. */
static const char *filter_save_check(const bry__filter_numbers *numbers, uint64_t seed)
{
    if (!bry__engine_find(bry__filter_engines, numbers->engine))
        return "unknown engine";
    if (seed == 0)
        return "the seed is 0";
    if (numbers->capacity < 1 || numbers->capacity > BRY_CAPACITY_MAX)
        return "the capacity is out of range";
    if (!(numbers->error >= BRY_FILTER_ERROR_MIN && numbers->error <= BRY_ERROR_MAX))
        return "the error is out of range";
    return NULL;
}

static bry_status filter_read(bry__frame_reader *reader, bry_filter **filter)
{
    bry__filter_numbers numbers;
    bry_status status = bry__frame_read_numbers(reader, NUMBERS, filter_rows, &numbers);
    if (status != BRY_OK)
        return status;
    const char *problem = filter_save_check(&numbers, reader->header.seed);
    if (problem)
        return bry__frame_reader_bad(reader, problem);
    const bry__filter_engine *engine = bry__engine_find(bry__filter_engines, numbers.engine);
    status = bry__frame_reader_claim(reader, engine->size);
    if (status != BRY_OK)
        return status;
    bry_filter *made = bry__filter_new(engine, reader->header.seed, &reader->allocator);
    if (!made)
        return bry__frame_reader_no_memory(reader);
    status = engine->read(made, &numbers, reader);
    if (status == BRY_OK)
        *filter = made;
    else
        bry__free(&reader->allocator, made, engine->size);
    return status;
}

BRY__JOB_STREAM(filter, BRY__FOUR('F', 'L', 'T', 'R'))

/* ---- the job's row ------------------------------------------------------------------------- */

BRY__JOB_MERGE(filter)
BRY__JOB(filter, "filter", bry__filter_engines, filter_any_merge)
