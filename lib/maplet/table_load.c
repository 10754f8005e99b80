/*
 * Loads the entries of a table that table_save.c wrote. Segments are taken as they are, after a
 * check of everything that later calls rely on. Only crowds, and entries beyond what a segment
 * holds in memory, are inserted one by one.
 */
#include "maplet/table_save.h"

#include "common/endian.h"
#include "maplet/table_arena.h"

#include <string.h>

const char *bry__table_reader_begin(bry__table_reader *loading, uint64_t range, unsigned value_bits)
{
    *loading->table = (bry__table){.range = range};
    if (loading->crowded > loading->n || loading->n > (uint64_t)1 << 48 ||
        !bry__table_open(loading->table, range, value_bits,
                         bry__table_segments_for(range, loading->n - loading->crowded)))
        return "the number of entries is out of range";
    return NULL;
}

/* Reads the next frame into the buffer. */
static bry_status table_load_frame(const bry__table_reader *loading, uint32_t type,
                                   const char *missing, size_t *size)
{
    *size = 0;
    bry_status status =
        bry__frame_reader_expect(loading->reader, type, missing, 1, loading->room, size);
    return status == BRY_OK ? bry__frame_reader_read(loading->reader, loading->buffer, *size)
                            : status;
}

/* ---- entries ------------------------------------------------------------------------------- */

static const char *table_load_visit(const bry__table_reader *loading, uint32_t value)
{
    const bry__entry_visit *by = loading->visit;
    return by && by->value ? by->value(by->context, loading->number, value) : NULL;
}

/* Checks order, range and crowds of a record's entries; continues from the record before. */
static const char *table_load_check_entries(bry__table_reader *loading, const bry__segment *segment)
{
    uint64_t u_most = bry__table_u_most(loading->table, loading->segment);
    uint64_t u_limit = bry__table_u_limit(loading->table, loading->segment);
    unsigned most = loading->visit && loading->visit->single ? 1 : BRY__CROWD;
    bool first = !loading->more;
    bry__segment_cursor cursor = {0};
    bry__entry last = loading->last, entry;
    unsigned same = loading->twins;
    const char *problem = NULL;
    for (; !problem && bry__segment_next(segment, u_most, &cursor, &entry); first = false) {
        if (!first && (entry.u < last.u || (entry.u == last.u && entry.value < last.value)))
            return "a segment's entries are out of order";
        same = first || entry.u != last.u ? 1 : same + 1;
        if (same > most)
            return "a fingerprint has too many entries";
        last = entry;
        problem = table_load_visit(loading, entry.value);
    }
    if (last.u > u_limit && segment->n)
        return "a fingerprint is out of range";
    loading->last = last;
    loading->twins = same;
    return problem;
}

static bry_status table_load_overflow(bry__table_reader *loading, uint64_t fingerprint,
                                      uint32_t value)
{
    bry__overflow *overflow = &loading->table->overflow;
    uint64_t before = bry__overflow_bytes(overflow);
    if (bry__overflow_insert(overflow, fingerprint, value, loading->allocator) != BRY_OK)
        return bry__frame_reader_no_memory(loading->reader);
    loading->table->n++;
    return bry__frame_reader_claim(loading->reader, bry__overflow_bytes(overflow) - before);
}

/* Moves entries beyond what a segment can hold in memory to the overflow. */
static bry_status table_load_spill(bry__table_reader *loading, const bry__segment *segment)
{
    uint64_t i = loading->segment;
    unsigned level = bry__table_level(loading->table, i);
    bry__segment_cursor cursor = {0};
    bry__entry entry;
    bry_status status = BRY_OK;
    while (status == BRY_OK &&
           bry__segment_next(segment, bry__table_u_most(loading->table, i), &cursor, &entry))
        status = table_load_overflow(loading, entry.u << level | i, entry.value);
    bry__table_segment(loading->table, i)->spilled = 1;
    return status;
}

/* ---- segments ------------------------------------------------------------------------------ */

/* Makes a segment from the block of a record, in a buffer. */
static bry__segment table_load_segment(const bry__table *table, const unsigned char *block,
                                       unsigned n, const bry__segment_layout *layout,
                                       unsigned char *buffer)
{
    bry__segment made = {.n = (uint16_t)n,
                         .steps = (uint16_t)layout->steps,
                         .remainder_bits = (uint8_t)layout->remainder_bits,
                         .value_bits = (uint8_t)table->value_bits};
    if (n == 0)
        return made;
    size_t size = bry__segment_block(layout->steps);
    made.bytes = buffer;
    memcpy(buffer, block, layout->front);
    memset(buffer + layout->front, 0, size - layout->front - layout->slots);
    memcpy(buffer + size - layout->slots, block + layout->front, layout->slots);
    return made;
}

/* The first record of a segment becomes the segment; the others go to the overflow. */
static bry_status table_load_take_segment(bry__table_reader *loading, const bry__segment *made)
{
    bry__table *table = loading->table;
    uint64_t i = loading->segment;
    const char *problem = bry__segment_check_layout(made, bry__table_u_most(table, i));
    if (!problem)
        problem = table_load_check_entries(loading, made);
    if (problem)
        return bry__frame_reader_bad(loading->reader, problem);
    if (loading->more)
        return table_load_spill(loading, made);
    bry_status status =
        bry__frame_reader_claim(loading->reader, made->n ? bry__arena_cost(table, made->steps) : 0);
    if (status != BRY_OK)
        return status;
    if (bry__segment_clone(made, bry__table_u_most(table, i), bry__table_segment(table, i),
                           &(bry__home){loading->allocator, table, i}) != BRY_OK)
        return bry__frame_reader_no_memory(loading->reader);
    table->n += made->n;
    return BRY_OK;
}

/* Makes room in the directory for the next segment. */
static bry_status table_load_reach(const bry__table_reader *loading)
{
    bry__table *table = loading->table;
    uint64_t before = bry__table_bytes(table);
    if (bry__table_reach(table, loading->segment, loading->allocator) != BRY_OK)
        return bry__frame_reader_no_memory(loading->reader);
    return bry__frame_reader_claim(loading->reader, bry__table_bytes(table) - before);
}

/* Reads the record at the beginning of `left` bytes; *used is its size. */
static bry_status table_load_record(bry__table_reader *loading, const unsigned char *record,
                                    size_t left, size_t *used)
{
    bry__table *table = loading->table;
    uint64_t i = loading->segment;
    if (left < BRY__RECORD_SIZE)
        return bry__frame_reader_bad(loading->reader, "a segment's record is truncated");
    unsigned n = bry__load16(record + BRY__AT_ENTRIES), more = bry__load16(record + BRY__AT_MORE);
    if (n > BRY__SEGMENT_MAX || more > 1 || (more && n < BRY__SEGMENT_MAX) ||
        (loading->more && n == 0))
        return bry__frame_reader_bad(loading->reader, "a segment's record is invalid");
    bry__segment_layout layout =
        bry__segment_layout_of(n, bry__table_u_most(table, i), table->value_bits);
    if (left - BRY__RECORD_SIZE < layout.front + layout.slots)
        return bry__frame_reader_bad(loading->reader, "a segment's record is truncated");
    bry_status status = table_load_reach(loading);
    if (status != BRY_OK)
        return status;
    bry__segment made = table_load_segment(table, record + BRY__RECORD_SIZE, n, &layout,
                                           loading->buffer + loading->room);
    status = table_load_take_segment(loading, &made);
    loading->more = more;
    loading->segment += !more;
    *used = BRY__RECORD_SIZE + layout.front + layout.slots;
    return status;
}

bry_status bry__table_load_segments(bry__table_reader *loading, uint64_t to)
{
    bry_status status = BRY_OK;
    while (loading->segment < to && status == BRY_OK) {
        size_t size;
        status = table_load_frame(loading, BRY__SEGMENTS, "segments are missing", &size);
        for (size_t at = 0, used = 0; at < size && status == BRY_OK; at += used) {
            if (loading->segment == to)
                return bry__frame_reader_bad(loading->reader, "more segments than the table has");
            status = table_load_record(loading, loading->buffer + at, size - at, &used);
        }
    }
    return status;
}

/* ---- crowds -------------------------------------------------------------------------------- */

/* Checks that the segment has a full crowd of smaller values of the fingerprint. */
static const char *table_load_check_crowd(const bry__table_reader *loading, uint64_t fingerprint,
                                          uint32_t value)
{
    uint32_t least[BRY__CROWD];
    uint64_t count = bry__table_get_from(loading->table, fingerprint, 0, least, BRY__CROWD);
    if (count < BRY__CROWD || least[BRY__CROWD - 1] > value)
        return "a crowd of a fingerprint that does not need one";
    return NULL;
}

static bry_status table_load_crowd(bry__table_reader *loading, const unsigned char *record)
{
    const bry__table *table = loading->table;
    uint64_t fingerprint = bry__load64(record);
    uint32_t value = bry__load32(record + 8);
    bool again = loading->more && fingerprint == loading->last.u;
    if (fingerprint >= table->range || (uint64_t)value >> table->value_bits ||
        (loading->visit && loading->visit->single))
        return bry__frame_reader_bad(loading->reader, "an entry of a crowd is out of range");
    if (loading->more && (fingerprint < loading->last.u || (again && value < loading->last.value)))
        return bry__frame_reader_bad(loading->reader, "crowds are out of order");
    const char *problem = again ? NULL : table_load_check_crowd(loading, fingerprint, value);
    if (!problem)
        problem = table_load_visit(loading, value);
    loading->more = true;
    loading->last = (bry__entry){fingerprint, value};
    return problem ? bry__frame_reader_bad(loading->reader, problem)
                   : table_load_overflow(loading, fingerprint, value);
}

bry_status bry__table_load_crowds(bry__table_reader *loading)
{
    uint64_t left = loading->crowded;
    bry_status status = BRY_OK;
    loading->more = false;
    while (left > 0 && status == BRY_OK) {
        size_t size;
        status = table_load_frame(loading, BRY__CROWDS, "crowds are missing", &size);
        if (status != BRY_OK)
            return status;
        if (size % BRY__CROWD_ENTRY != 0 || size / BRY__CROWD_ENTRY > left)
            return bry__frame_reader_bad(loading->reader, "a frame of crowds has the wrong length");
        left -= size / BRY__CROWD_ENTRY;
        for (size_t at = 0; at < size && status == BRY_OK; at += BRY__CROWD_ENTRY)
            status = table_load_crowd(loading, loading->buffer + at);
    }
    loading->more = false;
    return status;
}

const char *bry__table_reader_problem(const bry__table_reader *loading)
{
    if (loading->segment != loading->table->segments || loading->table->n != loading->n)
        return "the number of entries does not match the entries";
    return NULL;
}
