/*
 * Saves and loads the engine compact, whole or in parts. The frames are those of the maplet, with
 * slots as values and without the entries of dropped units. The bytes depend only on the units,
 * their slots and the entries of each table: equal indexes give equal bytes.
 */
#include "index/compact/compact_index.h"

#include "frame/frame.h"

/* ---- writing ------------------------------------------------------------------------------- */

void bry__compact_index_write(const void *self, bry__frame_writer *writer)
{
    bry__maplet_write(&((const bry__compact_index *)self)->maplet, writer);
}

bry_status bry__compact_index_begin_parts(const void *self, void **saving)
{
    bry__maplet_writer *begun;
    bry_status status =
        bry__maplet_writer_begin(&((const bry__compact_index *)self)->maplet, &begun);
    if (status == BRY_OK)
        *saving = begun;
    return status;
}

void bry__compact_index_end_parts(void *saving)
{
    bry__maplet_writer_end(saving);
}

uint64_t bry__compact_index_parts(const void *self, void *saving)
{
    (void)self;
    return bry__maplet_save_parts(saving);
}

bry_status bry__compact_index_part(const void *self, void *saving, uint64_t place,
                                   bry__index_part *part)
{
    (void)self;
    part->id = bry__maplet_part_id(saving, place);
    return bry__maplet_part_stamp(saving, place, part->stamp);
}

void bry__compact_index_write_head(const void *self, void *saving, bry__frame_writer *writer)
{
    (void)self;
    bry__maplet_save_head(saving, writer);
}

void bry__compact_index_write_part(const void *self, void *saving, uint64_t place,
                                   bry__frame_writer *writer)
{
    (void)self;
    bry__maplet_save_part(saving, place, writer);
}

/* ---- reading ------------------------------------------------------------------------------- */

static const char *compact_index_count_entry(void *context, unsigned table, uint32_t value)
{
    (void)table;
    return bry__values_count_loaded(context, value) ? NULL : "an entry has no unit";
}

/* An index that has its units but not yet the maplet. NULL: failed, with reader->status. */
static bry__compact_index *compact_index_read_shell(const bry_index_options *options,
                                                    const bry__index_slots *slots,
                                                    bry__frame_reader *reader,
                                                    const bry_allocator *allocator)
{
    bry__maplet none = {.allocator = *allocator, .tables = 0};
    bry__compact_index *made = NULL;
    if (bry__frame_reader_claim(reader, sizeof *made + bry__values_plan_bytes(0, 1)) != BRY_OK)
        return NULL;
    made = bry__compact_index_make(options->unit_capacity, &none);
    if (!made) {
        bry__frame_reader_no_memory(reader);
        return NULL;
    }
    bry_status status = bry__values_begin(&made->maplet);
    for (uint32_t i = 0; i < bry__slots_room(slots) && status == BRY_OK; i++) {
        if (bry__slot(slots, i)->order == 0)
            continue;
        if (i >= BRY_INDEX_UNITS_MAX) {
            bry__frame_reader_bad(reader, "a unit's slot is out of range");
            break;
        }
        if (bry__frame_reader_claim(reader, bry__compact_index_use_bytes(made, i, i)) != BRY_OK)
            break;
        status = bry__compact_index_use(made, i, i);
    }
    if (status == BRY_OK)
        status = bry__values_open_table(&made->maplet, 0);
    if (status == BRY_E_NOMEM)
        bry__frame_reader_no_memory(reader);
    if (reader->status == BRY_OK)
        return made;
    bry__compact_index_destroy(made);
    return NULL;
}

static bry__entry_visit compact_index_visit(bry__compact_index *index)
{
    return (bry__entry_visit){.value = compact_index_count_entry,
                              .context = &index->maplet,
                              .table_bytes = bry__values_table_bytes(&index->maplet)};
}

/* True if the maplet has the options that the index and its units need. */
static bool compact_index_matches(const bry__compact_index *index, bry__maplet_options options,
                                  const bry_index_options *given)
{
    bry__maplet_options wanted = bry__compact_index_maplet(given);
    return options.capacity == wanted.capacity && options.error == wanted.error &&
           options.fixed == wanted.fixed &&
           options.value_bits == bry__values_name_bits(&index->maplet);
}

static const char wrong_maplet[] = "the maplet does not match the index";

/* Takes ownership of a maplet that was read. Checks that every unit has as many entries as its
 * record says. */
static bry_status compact_index_take_maplet(bry__compact_index *index, bry__maplet *read,
                                            const bry__index_slots *slots, const char **problem)
{
    bry_status status = bry__values_adopt(&index->maplet, read);
    *problem = status == BRY_OK ? NULL : "not enough memory for the units";
    for (uint32_t i = 0; i < bry__slots_room(slots) && !*problem; i++)
        if (bry__slot(slots, i)->order != 0 &&
            bry__values_entries(&index->maplet, index->value[i]) != bry__slot(slots, i)->elements)
            *problem = "a unit has the wrong number of elements";
    if (status == BRY_OK && *problem)
        status = BRY_E_BADDATA;
    return status;
}

bry_status bry__compact_index_read(const bry_index_options *options, const bry__index_slots *slots,
                                   bry__frame_reader *reader, const bry_allocator *allocator,
                                   void **self)
{
    bry__compact_index *index = compact_index_read_shell(options, slots, reader, allocator);
    if (!index)
        return reader->status;
    bry__maplet maplet;
    bry__entry_visit visit = compact_index_visit(index);
    bry_status status = bry__maplet_read(&maplet, reader, allocator, &visit);
    if (status == BRY_OK) {
        const char *problem = wrong_maplet;
        status = BRY_E_BADDATA;
        if (compact_index_matches(index, bry__maplet_like(&maplet), options))
            status = compact_index_take_maplet(index, &maplet, slots, &problem);
        else
            bry__maplet_free(&maplet);
        if (problem)
            bry__frame_reader_fail(reader, status, problem);
    }
    if (status == BRY_OK)
        *self = index;
    else
        bry__compact_index_destroy(index);
    return status;
}

bry_status bry__compact_index_read_head(const bry_index_options *options,
                                        const bry__index_slots *slots, bry__frame_reader *reader,
                                        const bry_allocator *allocator, void **self)
{
    bry__compact_index *index = compact_index_read_shell(options, slots, reader, allocator);
    if (!index)
        return reader->status;
    bry__entry_visit visit = compact_index_visit(index);
    bry_status status = bry__maplet_reader_begin(&index->reading, reader, allocator, &visit);
    if (status == BRY_OK &&
        !compact_index_matches(index, bry__maplet_reader_options(index->reading), options))
        status = bry__frame_reader_bad(reader, wrong_maplet);
    if (status == BRY_OK)
        *self = index;
    else
        bry__compact_index_destroy(index);
    return status;
}

bry_status bry__compact_index_read_part(void *self, const bry__index_part *part,
                                        bry__frame_reader *reader)
{
    bry__compact_index *index = self;
    return bry__maplet_read_part(index->reading, part->id, reader);
}

bry_status bry__compact_index_read_done(void *self, const bry__index_slots *slots,
                                        const char **problem)
{
    bry__compact_index *index = self;
    bry__maplet_reader *reading = index->reading;
    bry__maplet maplet;
    index->reading = NULL;
    *problem = bry__maplet_reader_end(reading, &maplet);
    return *problem ? BRY_E_BADDATA : compact_index_take_maplet(index, &maplet, slots, problem);
}
