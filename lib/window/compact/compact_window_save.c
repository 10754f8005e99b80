/*
 * Saves and loads a compact window. The frames are those of its maplet, with names of generations
 * as values. Expired entries are not written, so windows with the same changes have the same
 * bytes, whatever the state of reclaiming.
 */
#include "frame/frame.h"
#include "window/compact/compact_window.h"
#include "window/window_engine.h"

/* ---- writing ------------------------------------------------------------------------------- */

void bry__compact_window_write(const void *self, bry__frame_writer *writer)
{
    const bry__compact_window *window = self;
    bry__maplet empty = {.chain = window->maplet.chain, .value_bits = window->shape.bits};
    bry__maplet_write(bry__maplet_count(&window->maplet) ? &window->maplet : &empty, writer);
}

/* ---- reading ------------------------------------------------------------------------------- */

static const char *compact_window_count_entry(void *context, unsigned table, uint32_t value)
{
    (void)table;
    return bry__values_count_loaded(context, value)
               ? NULL
               : "an entry has a generation that is not remembered";
}

/* Gives every remembered generation its name as the value. */
static bry_status compact_window_use_values(bry__compact_window *window)
{
    bry__maplet *maplet = &window->maplet;
    bry_status status = bry__single_begin(maplet, true);
    uint64_t n = (uint64_t)window->older + 1;
    for (uint64_t i = 0; i < n && status == BRY_OK; i++) {
        uint32_t name = bry__window_name(window, window->newest - i);
        status = bry__values_use(maplet, name, name);
    }
    window->value = bry__window_name(window, window->newest);
    return status == BRY_OK ? bry__values_open_table(maplet, 0) : status;
}

static bool compact_window_matches(const bry__maplet_options *read,
                                   const bry__maplet_options *wanted)
{
    return read->capacity == wanted->capacity && read->error == wanted->error &&
           read->fixed == wanted->fixed && read->value_bits == wanted->value_bits;
}

static bry_status compact_window_read_maplet(bry__compact_window *window, bry__frame_reader *reader)
{
    bry__maplet *maplet = &window->maplet, read;
    bry__maplet_options wanted = bry__maplet_like(maplet), got;
    bry__entry_visit visit = {
        .value = compact_window_count_entry, .context = maplet, .single = true};
    bry_status status = bry__frame_reader_claim(
        reader, bry__values_plan_bytes((uint32_t)1 << window->shape.bits, 1));
    if (status != BRY_OK)
        return status;
    if (compact_window_use_values(window) != BRY_OK)
        return bry__frame_reader_no_memory(reader);
    visit.table_bytes = bry__values_table_bytes(maplet);
    status = bry__maplet_read(&read, reader, &maplet->allocator, &visit);
    if (status != BRY_OK)
        return status;
    if (bry__values_adopt(maplet, &read) != BRY_OK)
        return bry__frame_reader_no_memory(reader);
    got = bry__maplet_like(&read);
    if (!compact_window_matches(&got, &wanted))
        return bry__frame_reader_bad(reader, "the maplet does not match the window");
    if (bry__maplet_count(maplet) == 0) {
        bry__maplet_free(maplet);
        window->value = BRY__NO_NAME;
    }
    return BRY_OK;
}

bry_status bry__compact_window_read(const bry_window_options *options, uint64_t time,
                                    bry__frame_reader *reader, const bry_allocator *allocator,
                                    void **self)
{
    bry_window_options stored = *options;
    stored.start = time;
    void *made = NULL;
    bry_status status = bry__frame_reader_claim(reader, sizeof(bry__compact_window));
    if (status != BRY_OK)
        return status;
    if (bry__compact_window_engine.create(&stored, allocator, &made) != BRY_OK)
        return bry__frame_reader_no_memory(reader);
    status = compact_window_read_maplet(made, reader);
    if (status == BRY_OK)
        *self = made;
    else
        bry__compact_window_engine.destroy(made);
    return status;
}
