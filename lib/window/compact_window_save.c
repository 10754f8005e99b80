/*
 * A compact window as frames: how many entries each level remembers, then these entries as
 * maplet/table_save.h writes those of a table. What is not remembered any more is not written, so
 * windows that were given the same changes have the same bytes, however far reclaiming has come.
 */
#include "common/endian.h"
#include "frame/frame.h"
#include "maplet/table_save.h"
#include "window/compact_levels.h"
#include "window/window_engine.h"

#include <assert.h>

#define LEVELS BRY__FOUR('L', 'E', 'V', 'S')

/* The frame LEVS: u64 how many levels, then u64 for each that there can be: its entries. */
#define LEVELS_SIZE (8 + 8 * BRY__WINDOW_LEVELS)

/* ---- writing ------------------------------------------------------------------------------- */

static uint32_t keep_live(const void *context, uint32_t number)
{
    return bry__window_is_live(context, number) ? number : BRY__NOT_KEPT;
}

/* A level's entries are in the window's own table and in that of its past. */
static bry_status write_level(const bry__compact_window *window, unsigned level,
                              bry__table_output *output)
{
    bry__table_source source[2];
    unsigned sources = 0;
    for (const bry__compact_window *set = window; set; set = set->past) {
        if (level >= set->levels)
            continue;
        const bry__window_level *from = set->level[level];
        source[sources++] =
            (bry__table_source){.table = &from->table,
                                .keep = from->live < from->table.n ? keep_live : NULL,
                                .context = set};
    }
    assert(sources > 0); /* this level or a higher one has something live in it */
    bry__table_saving saving;
    bry_status status = bry__table_saving_begin(
        &saving, source, sources, bry__level_live(window, level), window->shape.value_bits);
    if (status != BRY_OK)
        return status;
    status = bry__table_save_segments(&saving, 0, saving.shape.segments, output);
    bry__table_saving_end(&saving);
    return status;
}

void bry__compact_window_write(const void *self, bry__frame_writer *writer)
{
    const bry__compact_window *window = self;
    unsigned levels = BRY__WINDOW_LEVELS;
    while (levels > 0 && bry__level_live(window, levels - 1) == 0)
        levels--;
    unsigned char numbers[LEVELS_SIZE] = {0};
    bry__store64(numbers, levels);
    for (unsigned i = 0; i < levels; i++)
        bry__store64(numbers + 8 + 8 * (size_t)i, bry__level_live(window, i));
    bry__frame_writer_write(writer, LEVELS, numbers, sizeof numbers);

    bry__table_output output;
    bry_status status = bry__table_output_begin(&output);
    output.writer = writer;
    for (unsigned i = 0; i < levels && status == BRY_OK; i++)
        status = write_level(window, i, &output);
    bry__table_output_end(&output);
    if (writer->status == BRY_OK)
        writer->status = status;
}

/* ---- reading ------------------------------------------------------------------------------- */

typedef struct loading {
    bry__compact_window *window;
    bry__frame_reader *reader;
    uint64_t claimed; /* memory of the window, so far */
    unsigned char *buffer; /* of BRY__TABLE_BUFFER */
} loading;

static bry_status bad(const loading *from, const char *problem)
{
    return bry__frame_reader_fail(from->reader, BRY_E_BADDATA, problem);
}

static bry_status no_memory(const loading *from)
{
    return bry__frame_reader_fail(from->reader, BRY_E_NOMEM, "no memory for the entries");
}

static const char *count_entry(void *context, unsigned level, uint32_t number)
{
    bry__compact_window *window = context;
    if (!bry__window_is_live(window, number))
        return "an entry of a generation that is not remembered";
    window->level[level]->count[number]++;
    window->level[level]->live++;
    return NULL;
}

static bry_status read_level(loading *from, uint64_t n)
{
    bry__compact_window *window = from->window;
    if (bry__level_open(window) != BRY_OK)
        return no_memory(from);
    unsigned number = window->levels - 1;
    bry__table *table = &window->level[number]->table;
    uint64_t range = table->range;
    bry__table_free(table, &window->allocator); /* it is loaded as a whole */
    bry_status status =
        bry__frame_reader_claim(from->reader, bry__levels_bytes(window) - from->claimed);
    if (status != BRY_OK)
        return status;
    bry__entry_visit visit = {.value = count_entry, .context = window, .single = true};
    bry__table_loading level = {.table = table,
                                .number = number,
                                .n = n,
                                .visit = &visit,
                                .reader = from->reader,
                                .allocator = &window->allocator,
                                .buffer = from->buffer};
    const char *problem = bry__table_loading_begin(&level, range, window->shape.value_bits);
    if (problem)
        return bad(from, problem);
    status = bry__table_load_segments(&level, table->segments);
    if (status != BRY_OK)
        return status;
    from->claimed = bry__levels_bytes(window);
    problem = bry__table_loading_problem(&level);
    return problem ? bad(from, problem) : BRY_OK;
}

static bry_status read_levels(loading *from, const unsigned char *numbers)
{
    bry__compact_window *window = from->window;
    uint64_t levels = bry__load64(numbers);
    if (levels > window->shape.chain.tables ||
        (levels > 0 && bry__load64(numbers + 8 * (size_t)levels) == 0))
        return bad(from, "the number of levels is out of range");
    for (size_t i = (size_t)levels; i < BRY__WINDOW_LEVELS; i++)
        if (bry__load64(numbers + 8 + 8 * i) != 0)
            return bad(from, "entries without a level");
    bry_status status = BRY_OK;
    for (unsigned i = 0; i < levels && status == BRY_OK; i++) {
        uint64_t n = bry__load64(numbers + 8 + 8 * (size_t)i);
        if (n > window->shape.chain.range[i])
            return bad(from, "more entries than a level can have");
        status = read_level(from, n);
    }
    if (status == BRY_OK && !bry__levels_keep_error(window))
        status = bad(from, "more entries than the promised error allows");
    return status;
}

bry_status bry__compact_window_read(const bry_window_options *options, uint64_t time,
                                    bry__frame_reader *reader, const bry_allocator *allocator,
                                    void **self)
{
    unsigned char numbers[LEVELS_SIZE];
    bry_status status = bry__frame_reader_read_frame(reader, LEVELS, numbers, sizeof numbers);
    if (status != BRY_OK)
        return status;
    bry_window_options stored = *options;
    stored.start = time;
    void *made = NULL;
    loading from = {.reader = reader, .claimed = sizeof *from.window};
    status = bry__frame_reader_claim(reader, sizeof *from.window);
    if (status != BRY_OK)
        return status;
    from.buffer = bry__alloc_buffer(allocator, BRY__TABLE_BUFFER);
    if (from.buffer && bry__compact_window_engine.create(&stored, allocator, &made) == BRY_OK) {
        from.window = made;
        status = read_levels(&from, numbers);
        from.window->least = from.window->oldest;
    } else {
        status = no_memory(&from);
    }
    bry__free(allocator, from.buffer, BRY__TABLE_BUFFER);
    if (status == BRY_OK)
        *self = made;
    else if (made)
        bry__compact_window_engine.destroy(made);
    return status;
}
