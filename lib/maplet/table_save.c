/* Writes the entries of a table; table_save.h says what the bytes depend on. */
#include "maplet/table_save.h"

#include "common/endian.h"
#include "hash/derive.h"
#include "kernel/bits.h"
#include "maplet/table_build.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- output -------------------------------------------------------------------------------- */

bry_status bry__table_output_begin(bry__table_output *output, size_t room)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    *output = (bry__table_output){.buffer = bry__alloc_buffer(&allocator, room), .room = room};
    return output->buffer ? BRY_OK : BRY_E_NOMEM;
}

void bry__table_output_end(bry__table_output *output)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__free(&allocator, output->buffer, output->room);
    output->buffer = NULL;
}

static void flush(bry__table_output *output, uint32_t type)
{
    if (output->filled == 0)
        return;
    if (output->writer) {
        bry__frame_writer_write(output->writer, type, output->buffer, output->filled);
    } else { /* a chained hash, and a sum */
        bry_hash hash = bry_hash_key(output->stamp[0], output->buffer, output->filled);
        output->stamp[0] = hash.lo;
        output->stamp[1] = bry__mix64(output->stamp[1] + hash.hi);
    }
    output->filled = 0;
}

/* ---- lists --------------------------------------------------------------------------------- */

/* Makes room for one more element of `size` bytes. */
static bry_status more_room(void **list, size_t n, size_t *room, size_t size,
                            const bry_allocator *allocator)
{
    if (n < *room)
        return BRY_OK;
    size_t larger = *room ? *room * 2 : 1024;
    void *grown = bry__alloc_buffer(allocator, larger * size);
    if (!grown)
        return BRY_E_NOMEM;
    if (n)
        memcpy(grown, *list, n * size);
    bry__free(allocator, *list, *room * size);
    *list = grown;
    *room = larger;
    return BRY_OK;
}

static bry_status push_value(bry__table_writer *saving, uint32_t value)
{
    void *list = saving->values;
    bry_status status = more_room(&list, saving->value_count, &saving->value_room, sizeof value,
                                  &saving->allocator);
    saving->values = list;
    if (status == BRY_OK)
        saving->values[saving->value_count++] = value;
    return status;
}

/* Extra entries around lists, and between two of them, which bry__merge_entries() overwrites. */
enum { BEFORE = 1, AROUND = 4 };

static bry__entry *alloc_entries(const bry__table_writer *saving, size_t room)
{
    bry__entry *entries = bry__alloc_buffer(&saving->allocator, (room + AROUND) * sizeof *entries);
    return entries ? entries + BEFORE : NULL;
}

static void free_entries(const bry__table_writer *saving, bry__entry *entries, size_t room)
{
    if (entries)
        bry__free(&saving->allocator, entries - BEFORE, (room + AROUND) * sizeof *entries);
}

/* Makes room for n entries in both lists. */
static bry_status reach_entries(bry__table_writer *saving, size_t n)
{
    if (n <= saving->entry_room)
        return BRY_OK;
    size_t room = saving->entry_room ? saving->entry_room : BRY__SEGMENT_MAX;
    while (room < n)
        room *= 2;
    bry__entry *grown = alloc_entries(saving, room), *spare = alloc_entries(saving, room);
    if (!grown || !spare) {
        free_entries(saving, grown, room);
        free_entries(saving, spare, room);
        return BRY_E_NOMEM;
    }
    if (saving->entry_count)
        memcpy(grown, saving->entries, saving->entry_count * sizeof *grown);
    free_entries(saving, saving->entries, saving->entry_room);
    free_entries(saving, saving->spare, saving->entry_room);
    saving->entries = grown;
    saving->spare = spare;
    saving->entry_room = room;
    return BRY_OK;
}

static bry_status push_stray(bry__table_writer *saving, uint64_t fingerprint, uint32_t value)
{
    void *list = saving->strays;
    bry_status status = more_room(&list, saving->stray_count, &saving->stray_room,
                                  sizeof *saving->strays, &saving->allocator);
    saving->strays = list;
    if (status == BRY_OK)
        saving->strays[saving->stray_count++] = (bry__table_stray){fingerprint, 0, value};
    return status;
}

static int compare_values(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int compare_strays(const void *a, const void *b)
{
    const bry__table_stray *x = a, *y = b;
    return (x->segment > y->segment) - (x->segment < y->segment);
}

/* ---- the overflow --------------------------------------------------------------- */

/* Whether the entry is saved, and with which value. */
static bool is_kept(const bry__table_source *source, uint32_t *value)
{
    if (!source->names.of.name)
        return true; /* even if the value is BRY__NOT_KEPT */
    *value = source->names.of.name[*value];
    return *value != BRY__NOT_KEPT;
}

/* Lists the kept values of a fingerprint in its segment. */
static bry_status list_inside(bry__table_writer *saving, const bry__table_source *source,
                              uint64_t fingerprint)
{
    const bry__table *table = source->table;
    uint64_t i = bry__table_segment_of(table, fingerprint);
    uint64_t u = fingerprint >> bry__table_level(table, i);
    const bry__segment *segment = bry__table_segment(table, i);
    bry__place place = bry__segment_find(segment, bry__table_u_most(table, i), u, 0);
    unsigned count = place.count;
    bry_status status = BRY_OK;
    saving->value_count = 0;
    for (unsigned j = 0; j < count && status == BRY_OK; j++) {
        uint32_t value = bry__segment_value(segment, place.index + j);
        if (is_kept(source, &value))
            status = push_value(saving, value);
    }
    return status;
}

/* Adds its kept values in the overflow, and moves the place past them. */
static bry_status list_outside(bry__table_writer *saving, const bry__table_source *source,
                               uint64_t fingerprint, bry__overflow_place *place)
{
    bry__overflow_place next = *place;
    uint64_t at;
    uint32_t value;
    bry_status status = BRY_OK;
    while (status == BRY_OK && bry__overflow_next(&source->table->overflow, &next, &at, &value) &&
           at == fingerprint) {
        *place = next;
        if (is_kept(source, &value))
            status = push_value(saving, value);
    }
    return status;
}

static void sort_values(bry__table_writer *saving)
{
    for (size_t i = 1; i < saving->value_count; i++)
        if (saving->values[i - 1] > saving->values[i]) {
            qsort(saving->values, saving->value_count, sizeof *saving->values, compare_values);
            return;
        }
}

/*
 * Lists all kept values of the next fingerprint in the overflow, sorted, in saving->values. If
 * `strays` is set, those of the BRY__CROWD smallest that are not in the segment become strays.
 * False at the end of the overflow.
 */
static bool next_crowd(bry__table_writer *saving, const bry__table_source *source,
                       bry__overflow_place *place, uint64_t *fingerprint, bool strays,
                       bry_status *status)
{
    bry__overflow_place peek = *place;
    uint32_t value, inside[BRY__CROWD];
    if (*status != BRY_OK ||
        !bry__overflow_next(&source->table->overflow, &peek, fingerprint, &value))
        return false;
    *status = list_inside(saving, source, *fingerprint);
    size_t count = saving->value_count, at = 0;
    assert(count <= BRY__CROWD);
    if (count)
        memcpy(inside, saving->values, count * sizeof *inside);
    qsort(inside, count, sizeof *inside, compare_values);
    if (*status == BRY_OK)
        *status = list_outside(saving, source, *fingerprint, place);
    if (*status != BRY_OK)
        return false;
    sort_values(saving); /* nearly always sorted already */
    for (size_t i = 0; strays && i < saving->value_count && i < BRY__CROWD; i++) {
        if (at < count && inside[at] == saving->values[i])
            at++;
        else if (*status == BRY_OK)
            *status = push_stray(saving, *fingerprint, saving->values[i]);
    }
    return *status == BRY_OK;
}

/* Counts the entries in crowds and lists the strays. */
static bry_status survey(bry__table_writer *saving)
{
    bry_status status = BRY_OK;
    bry__overflow_place place = {0};
    uint64_t fingerprint;
    while (next_crowd(saving, &saving->source, &place, &fingerprint, true, &status))
        if (saving->value_count > BRY__CROWD)
            saving->crowded += saving->value_count - BRY__CROWD;
    return status;
}

bry_status bry__table_writer_begin(bry__table_writer *saving, const bry__table_source *source,
                                   uint64_t n, unsigned value_bits)
{
    uint64_t range = source->table->range;
    *saving = (bry__table_writer){
        .source = *source, .allocator = bry__allocator_or_default(NULL), .n = n};
    bry_status status = survey(saving);
    if (status != BRY_OK) {
        bry__table_writer_end(saving);
        return status;
    }
    bry__table_open(&saving->shape, range, value_bits,
                    bry__table_segments_for(range, n - saving->crowded));
    for (size_t i = 0; i < saving->stray_count; i++)
        saving->strays[i].segment =
            bry__table_segment_of(&saving->shape, saving->strays[i].fingerprint);
    if (saving->stray_count)
        qsort(saving->strays, saving->stray_count, sizeof *saving->strays, compare_strays);
    return BRY_OK;
}

void bry__table_writer_end(bry__table_writer *saving)
{
    bry__free(&saving->allocator, saving->strays, saving->stray_room * sizeof *saving->strays);
    free_entries(saving, saving->entries, saving->entry_room);
    free_entries(saving, saving->spare, saving->entry_room);
    bry__free(&saving->allocator, saving->values, saving->value_room * sizeof *saving->values);
    *saving = (bry__table_writer){0};
}

/* ---- segments ------------------------------------------------------------------------------ */

/* The index of the first stray of segment i, or of a later one. */
static size_t first_stray(const bry__table_writer *saving, uint64_t i)
{
    size_t low = 0, high = saving->stray_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (saving->strays[middle].segment < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_strays(const bry__table_writer *saving, uint64_t i)
{
    size_t at = saving->stray_count ? first_stray(saving, i) : 0;
    return at < saving->stray_count && saving->strays[at].segment == i;
}

/* Keeps those of n entries, read from segment j of the source, that belong to segment i of the
 * shape; returns their number. */
static size_t pick_entries(const bry__table_writer *saving, const bry__table_source *source,
                           uint64_t i, uint64_t j, bry__entry *entry, size_t n)
{
    unsigned new_level = bry__table_level(&saving->shape, i);
    unsigned level = bry__table_level(source->table, j);
    unsigned up = level > new_level ? level - new_level : 0,
             down = new_level > level ? new_level - level : 0;
    uint64_t low = up ? j >> new_level : 0, mask = bry__low_bits(down), wanted = i >> level & mask;
    size_t kept = 0;
    for (size_t at = 0; at < n; at++) { /* no branch: it would be mispredicted */
        bry__entry here = entry[at];
        entry[kept] = (bry__entry){here.u >> down << up | low, here.value};
        kept += (here.u & mask) == wanted;
    }
    return kept;
}

/* Merges n sorted entries, which begin two places after the current ones, into these. */
static void merge_entries(bry__table_writer *saving, size_t n)
{
    bry__entry *merged = saving->spare;
    if (n == 0)
        return;
    bry__merge_entries(saving->entries, saving->entry_count,
                       saving->entries + saving->entry_count + 2, n, merged);
    saving->spare = saving->entries;
    saving->entries = merged;
    saving->entry_count += n;
}

/* Adds the entries in segment j of the source that belong to segment i of the shape. */
static bry_status gather_segment(bry__table_writer *saving, const bry__table_source *source,
                                 uint64_t i, uint64_t j)
{
    const bry__table *table = source->table;
    const bry__segment *segment = bry__table_segment(table, j);
    unsigned new_level = bry__table_level(&saving->shape, i), level = bry__table_level(table, j);
    if (segment->n == 0 || (i ^ j) & bry__low_bits(new_level < level ? new_level : level))
        return BRY_OK;
    bry_status status = reach_entries(saving, saving->entry_count + segment->n);
    if (status != BRY_OK)
        return status;
    bool first = saving->entry_count == 0;
    bry__entry *entry = saving->entries + (first ? 0 : saving->entry_count + 2);
    uint64_t u_most = bry__table_u_most(table, j);
    size_t n = segment->n;
    if (source->names.of.name)
        n = bry__segment_read_named(segment, u_most, &source->names.of, entry);
    else
        bry__segment_read(segment, u_most, entry);
    if (new_level != level)
        n = pick_entries(saving, source, i, j, entry, n);
    if (first)
        saving->entry_count = n;
    else
        merge_entries(saving, n);
    return BRY_OK;
}

/* Adds the strays of segment i. */
static bry_status gather_strays(bry__table_writer *saving, uint64_t i)
{
    unsigned new_level = bry__table_level(&saving->shape, i);
    size_t at = first_stray(saving, i), end = at;
    while (end < saving->stray_count && saving->strays[end].segment == i)
        end++;
    bry_status status = reach_entries(saving, saving->entry_count + (end - at));
    for (; at < end && status == BRY_OK; at++)
        saving->entries[saving->entry_count++] =
            (bry__entry){saving->strays[at].fingerprint >> new_level, saving->strays[at].value};
    return status;
}

static bool is_sorted(const bry__entry *entry, size_t n)
{
    bool sorted = true;
    for (size_t i = 1; i < n; i++)
        sorted &= entry[i - 1].u < entry[i].u ||
                  (entry[i - 1].u == entry[i].u && entry[i - 1].value <= entry[i].value);
    return sorted;
}

/* Drops entries that belong to crowds. The entries are sorted. */
static void cap_crowds(bry__table_writer *saving)
{
    bry__entry *entry = saving->entries;
    size_t kept = 0, same = 0;
    for (size_t i = 0; i < saving->entry_count; i++) {
        same = i > 0 && entry[i].u == entry[i - 1].u ? same + 1 : 0;
        if (same < BRY__CROWD)
            entry[kept++] = entry[i];
    }
    saving->entry_count = kept;
}

/* Collects the entries of segment i, sorted, in saving->entries. */
static bry_status gather(bry__table_writer *saving, uint64_t i)
{
    unsigned new_level = bry__table_level(&saving->shape, i);
    bry_status status = BRY_OK;
    saving->entry_count = 0;
    const bry__table *table = saving->source.table;
    uint64_t step = (uint64_t)1 << (new_level < table->level ? new_level : table->level);
    for (uint64_t j = i & (step - 1); j < table->segments && status == BRY_OK; j += step)
        status = gather_segment(saving, &saving->source, i, j);
    bool strays = has_strays(saving, i);
    if (strays && status == BRY_OK)
        status = gather_strays(saving, i);
    /* They are sorted, except for strays and for renamed values of the same fingerprint. */
    bool renamed = saving->source.names.of.name && !saving->source.names.rising;
    if (strays || (renamed && !is_sorted(saving->entries, saving->entry_count)))
        qsort(saving->entries, saving->entry_count, sizeof *saving->entries, bry__entry_compare);
    if (strays)
        cap_crowds(saving);
    return status;
}

/* Completes a record whose front and slots are written, and writes the frame if it is full. */
static void put_record(unsigned n, bool more, const bry__segment_layout *layout,
                       bry__table_output *output)
{
    unsigned char *record = output->buffer + output->filled;
    bry__store16(record + BRY__AT_ENTRIES, (uint16_t)n);
    bry__store16(record + BRY__AT_MORE, more);
    output->filled += BRY__RECORD_SIZE + layout->front + layout->slots;
    if (output->filled >= BRY__TABLE_FRAME)
        flush(output, BRY__SEGMENTS);
}

/* Writes entries as one record. */
static void put_entries(const bry__table_writer *saving, const bry__entry *entry, unsigned n,
                        uint64_t u_most, bool more, bry__table_output *output)
{
    unsigned value_bits = saving->shape.value_bits;
    bry__segment_layout layout = bry__segment_layout_of(n, u_most, value_bits);
    unsigned char *front = output->buffer + output->filled + BRY__RECORD_SIZE;
    if (n)
        bry__segment_encode(entry, n, u_most, value_bits, &layout, front, front + layout.front);
    put_record(n, more, &layout, output);
}

/* Whether the bytes of the segment in memory are those to be saved. */
static bool is_ready(const bry__segment *segment, unsigned value_bits,
                     const bry__segment_layout *layout)
{
    return segment->n == 0 ||
           (segment->remainder_bits == layout->remainder_bits && segment->value_bits == value_bits);
}

/* Writes segment i by copying the segment with the same fingerprints, without decoding it. False:
 * not possible. */
static bool copy_segment(const bry__table_writer *saving, uint64_t i, bry__table_output *output)
{
    const bry__table_source *source = &saving->source;
    const bry__table *table = source->table;
    if (i >= table->segments || has_strays(saving, i) ||
        bry__table_level(table, i) != bry__table_level(&saving->shape, i))
        return false;
    const bry__segment *segment = bry__table_segment(table, i);
    uint64_t u_most = bry__table_u_most(table, i);
    unsigned value_bits = saving->shape.value_bits, n = segment->n;
    bry__segment_layout layout = bry__segment_layout_of(n, u_most, value_bits);
    unsigned char *front = output->buffer + output->filled + BRY__RECORD_SIZE;
    if (source->names.of.name) {
        if (!bry__segment_encode_named(segment, u_most, &source->names, value_bits, front, &n,
                                       &layout))
            return false;
    } else {
        if (!is_ready(segment, value_bits, &layout))
            return false;
        if (n) {
            memcpy(front, segment->bytes, layout.front);
            memcpy(front + layout.front,
                   segment->bytes + bry__segment_bytes(segment) - layout.slots, layout.slots);
        }
    }
    put_record(n, false, &layout, output);
    return true;
}

bry_status bry__table_save_segments(bry__table_writer *saving, uint64_t from, uint64_t to,
                                    bry__table_output *output)
{
    bry_status status = BRY_OK;
    for (uint64_t i = from; i < to && status == BRY_OK; i++) {
        if (copy_segment(saving, i, output))
            continue;
        status = gather(saving, i);
        uint64_t u_most = bry__table_u_most(&saving->shape, i);
        size_t done = 0, left = saving->entry_count;
        do {
            unsigned n = left < BRY__SEGMENT_MAX ? (unsigned)left : BRY__SEGMENT_MAX;
            left -= n;
            if (status == BRY_OK)
                put_entries(saving, n ? saving->entries + done : NULL, n, u_most, left > 0, output);
            done += n;
        } while (left > 0);
    }
    flush(output, BRY__SEGMENTS);
    return status;
}

bry_status bry__table_save_crowds(bry__table_writer *saving, bry__table_output *output)
{
    bry_status status = BRY_OK;
    bry__overflow_place place = {0};
    uint64_t fingerprint;
    while (next_crowd(saving, &saving->source, &place, &fingerprint, false, &status))
        for (size_t j = BRY__CROWD; j < saving->value_count; j++) {
            bry__store64(output->buffer + output->filled, fingerprint);
            bry__store32(output->buffer + output->filled + 8, saving->values[j]);
            output->filled += BRY__CROWD_ENTRY;
            if (output->filled == (size_t)BRY__CROWD_ENTRY * BRY__CROWD_BATCH)
                flush(output, BRY__CROWDS);
        }
    flush(output, BRY__CROWDS);
    return status;
}
