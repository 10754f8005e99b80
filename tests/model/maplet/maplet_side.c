#include "model/maplet/maplet_side.h"

#include "kernel/kernel.h"
#include "support/table_entries.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void side_turn_to_maplet(bry__isa isa)
{
    bry__kernel_force(isa);
}

void side_turn_to_copy(bry__isa isa)
{
    for (unsigned next = 1; next < BRY__ISA_COUNT; next++)
        if (bry__kernel_force((bry__isa)((isa + next) % BRY__ISA_COUNT)))
            return;
}

size_t side_list(const bry__maplet *maplet, unsigned table, twin_entry **entries)
{
    size_t n = 0, most = (size_t)maplet->table[table].n;
    *entries = calloc(most + 1, sizeof **entries);
    if (!*entries)
        abort();
    bry__table_cursor cursor = {0};
    uint64_t fingerprint;
    uint32_t value;
    while (bry__table_next(&maplet->table[table], &cursor, &fingerprint, &value)) {
        if (n == most)
            return most + 1; /* more than it says */
        (*entries)[n++] = (twin_entry){fingerprint, value};
    }
    qsort(*entries, n, sizeof **entries, twin_order);
    return n;
}

void side_check_numbers(const maplet_side *side, model_reader *reader)
{
    const bry__maplet *maplet = &side->maplet;
    const maplet_twin *twin = &side->twin;
    model_expect(reader, side_tables(maplet) == twin->tables);
    if (reader->failed)
        return;
    for (unsigned i = 0; i < maplet->tables; i++) {
        model_expect(reader, maplet->table[i].n == twin->table[i]->n);
        model_expect(reader, maplet->table[i].range == twin->table[i]->range);
        model_expect(reader, maplet->table[i].value_bits == twin->options.value_bits);
        model_expect(reader, maplet->table[i].max_step <= TABLE_LARGEST_STEP);
    }
    model_expect(reader, bry__maplet_count(maplet) == maplet_twin_count(twin));
    double error = maplet_twin_error(twin);
    model_expect(reader, fabs(bry__maplet_error_now(maplet) - error) <= 1e-12 * error);
}

static void check_entries(const maplet_side *side, unsigned table, model_reader *reader)
{
    twin_entry *real, *twin;
    size_t n = side_list(&side->maplet, table, &real);
    model_expect(reader, n == maplet_twin_list(&side->twin, table, &twin));
    for (size_t i = 0; i < n && !reader->failed; i++)
        if (twin_order(&real[i], &twin[i]) != 0)
            model_fail(reader, "table %u, entry %zu: (%jx, %x) is not (%jx, %x)", table, i,
                       (uintmax_t)real[i].fingerprint, (unsigned)real[i].value,
                       (uintmax_t)twin[i].fingerprint, (unsigned)twin[i].value);
    free(real);
    free(twin);
}

void side_check_all(maplet_side *side, model_reader *reader)
{
    side->unchecked = 0;
    for (unsigned i = 0; i < side->maplet.tables && !reader->failed; i++) {
        const char *problem = table_problem(&side->maplet.table[i]);
        if (problem)
            model_fail(reader, "table %u: %s", i, problem);
        check_entries(side, i, reader);
    }
    if (!side->copied || reader->failed)
        return;
    bry_buffer saved = BRY_BUFFER, copy = BRY_BUFFER;
    side_save(&side->maplet, &saved, reader);
    side_save(&side->copy, &copy, reader);
    model_expect(reader, saved.len == copy.len && memcmp(saved.bytes, copy.bytes, saved.len) == 0);
    bry_buffer_free(&saved);
    bry_buffer_free(&copy);
}

void side_save(const bry__maplet *maplet, bry_buffer *buffer, model_reader *reader)
{
    bry_sink sink = bry_buffer_sink(buffer);
    model_expect(reader, bry__maplet_save(maplet, &sink) == BRY_OK);
}

bry_status side_load(bry__maplet *maplet, const bry_buffer *buffer, const bry_allocator *allocator,
                     model_reader *reader)
{
    bry_view view = {buffer->bytes, buffer->len, 0};
    bry_source source = bry_view_source(&view);
    bry_load load = BRY_LOAD;
    load.allocator = allocator;
    bry_status status = bry__maplet_load(maplet, &source, &load);
    if (status == BRY_OK)
        model_expect(reader, view.at == buffer->len);
    else if (status != BRY_E_NOMEM)
        model_fail(reader, "load: %s", load.problem ? load.problem : "no problem");
    return status;
}

void side_drop_copy(maplet_side *side)
{
    if (side->copied)
        bry__maplet_free(&side->copy);
    side->copied = false;
}
