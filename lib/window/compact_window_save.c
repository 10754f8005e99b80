/*
 * A compact window as frames: how many entries each level remembers, then these entries.
 *
 * Frames hold what is remembered and nothing of how it is stored, so that equal windows have equal
 * bytes, however far reclaiming has come and however the tables have grown. Of a level's n entries
 * those whose fingerprints end in the same k bits are together, in the order of the rest; k is such
 * that there are 256 to 512 of them on average. They are coded as a segment of a table is
 * (maplet/segment.c), or as several where there are very many.
 */
#include "common/endian.h"
#include "frame/frame.h"
#include "window/compact_levels.h"
#include "window/window_engine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS BRY__FOUR('L', 'E', 'V', 'S')
#define GROUPS BRY__FOUR('G', 'R', 'P', 'S')

/* The frame LEVS: u64 how many levels, then u64 for each that there can be: its entries. */
#define LEVELS_SIZE (8 + 8 * BRY__WINDOW_LEVELS)

enum { /* a record of the frame GRPS, followed by the block */
       AT_ENTRIES = 0, /* u16 */
       AT_STEPS = 2, /* u16: the block has 16 · steps + 8 bytes, or none without entries */
       AT_REMAINDER_BITS = 4, /* u8 */
       AT_MORE = 5, /* u8: 1 when the next record has entries of the same group, else 0 */
       RECORD_SIZE = 8
};

/* A frame takes records until it passes this size; so no frame passes it by more than a record. */
#define GROUPS_SIZE ((size_t)1 << 18)
#define BLOCK_MAX ((size_t)BRY__SEGMENT_MAX * 16)
#define BUFFER_SIZE (GROUPS_SIZE + RECORD_SIZE + BLOCK_MAX)

/* k, for n entries of a range. */
static unsigned group_bits(uint64_t n, uint64_t range)
{
    unsigned bits = 0;
    while (n >> bits > 512 && range >> (bits + 1) >= BRY__TABLE_MIN_RANGE / 4)
        bits++;
    return bits;
}

/* ---- writing ------------------------------------------------------------------------------- */

/* An entry of a table's overflow, and the group that it belongs to. */
typedef struct stray {
    uint64_t group;
    bry__entry entry;
} stray;

/* One of the tables that a level's entries are in: the window's own, and its past's. */
typedef struct part {
    const bry__compact_window *set;
    const bry__table *table;
} part;

typedef struct saving {
    const bry__compact_window *window;
    part parts[2];
    unsigned part_count;
    uint64_t range;
    bry__frame_writer *writer;
    unsigned bits; /* k */
    bry__entry *entry; /* of the group in hand */
    size_t n, room;
    stray *strays; /* in order; those before next_stray are written */
    size_t stray_count, stray_room, next_stray;
    unsigned char *buffer; /* of BUFFER_SIZE */
    size_t filled;
} saving;

static int compare_entries(const void *a, const void *b)
{
    const bry__entry *x = a, *y = b;
    return (x->u > y->u) - (x->u < y->u);
}

static int compare_strays(const void *a, const void *b)
{
    const stray *x = a, *y = b;
    int by_group = (x->group > y->group) - (x->group < y->group);
    return by_group ? by_group : compare_entries(&x->entry, &y->entry);
}

static bry_status push(saving *to, bry__entry entry)
{
    const bry_allocator *allocator = &to->window->allocator;
    if (to->n == to->room) {
        size_t room = to->room ? to->room * 2 : 1024;
        bry__entry *grown = bry__alloc(allocator, room * sizeof *grown);
        if (!grown)
            return BRY_E_NOMEM;
        if (to->n)
            memcpy(grown, to->entry, to->n * sizeof *grown);
        bry__free(allocator, to->entry, to->room * sizeof *grown);
        to->entry = grown;
        to->room = room;
    }
    to->entry[to->n++] = entry;
    return BRY_OK;
}

/* Lists what the tables have in their overflow; uniform hashes lead to none. */
static bry_status list_strays(saving *to)
{
    uint64_t mask = ((uint64_t)1 << to->bits) - 1;
    to->stray_count = to->stray_room = to->next_stray = 0;
    for (unsigned i = 0; i < to->part_count; i++)
        to->stray_room += (size_t)to->parts[i].table->overflow.n;
    if (to->stray_room == 0)
        return BRY_OK;
    to->strays = bry__alloc(&to->window->allocator, to->stray_room * sizeof *to->strays);
    if (!to->strays)
        return BRY_E_NOMEM;
    for (unsigned i = 0; i < to->part_count; i++) {
        bry__overflow_place place = {0};
        uint64_t fingerprint;
        uint32_t number;
        while (bry__overflow_next(&to->parts[i].table->overflow, &place, &fingerprint, &number))
            if (bry__window_is_live(to->parts[i].set, number))
                to->strays[to->stray_count++] =
                    (stray){fingerprint & mask, {fingerprint >> to->bits, number}};
    }
    qsort(to->strays, to->stray_count, sizeof *to->strays, compare_strays);
    return BRY_OK;
}

/* Takes the entries of a group that one table has. */
static bry_status gather_part(saving *to, unsigned which, uint64_t group)
{
    const bry__table *table = to->parts[which].table;
    uint64_t mask = ((uint64_t)1 << to->bits) - 1;
    uint64_t step = (uint64_t)1 << (to->bits < table->level ? to->bits : table->level);
    bry_status status = BRY_OK;
    for (uint64_t i = group & (step - 1); i < table->segments; i += step) {
        unsigned level = bry__table_level(table, i);
        bry__segment_cursor cursor = {0};
        bry__entry entry;
        while (status == BRY_OK &&
               bry__segment_next(bry__table_segment(table, i), bry__table_u_most(table, i), &cursor,
                                 &entry)) {
            uint64_t fingerprint = entry.u << level | i;
            if ((fingerprint & mask) == group &&
                bry__window_is_live(to->parts[which].set, entry.value))
                status = push(to, (bry__entry){fingerprint >> to->bits, entry.value});
        }
    }
    return status;
}

/* Takes the entries of a group into hand, in order. */
static bry_status gather(saving *to, uint64_t group)
{
    bry_status status = BRY_OK;
    to->n = 0;
    for (unsigned i = 0; i < to->part_count && status == BRY_OK; i++)
        status = gather_part(to, i, group);
    for (; status == BRY_OK && to->next_stray < to->stray_count &&
           to->strays[to->next_stray].group == group;
         to->next_stray++)
        status = push(to, to->strays[to->next_stray].entry);
    if (to->n)
        qsort(to->entry, to->n, sizeof *to->entry, compare_entries);
    return status;
}

static void flush(saving *to)
{
    if (to->filled > 0)
        bry__frame_writer_write(to->writer, GROUPS, to->buffer, to->filled);
    to->filled = 0;
}

/* Adds entries of the group in hand to the buffer, as one record. */
static bry_status put_record(saving *to, const bry__entry *entry, unsigned n, bool more)
{
    bry__segment_builder builder;
    bry_status status = bry__segment_begin(&builder, n, (to->range - 1) >> to->bits,
                                           to->window->shape.value_bits, &to->window->allocator);
    if (status != BRY_OK)
        return status;
    for (unsigned i = 0; i < n; i++)
        bry__segment_append(&builder, entry[i]);
    bry__segment segment = bry__segment_end(&builder);
    unsigned char *record = to->buffer + to->filled;
    memset(record, 0, RECORD_SIZE);
    bry__store16(record + AT_ENTRIES, segment.n);
    bry__store16(record + AT_STEPS, segment.steps);
    record[AT_REMAINDER_BITS] = segment.remainder_bits;
    record[AT_MORE] = more;
    if (segment.bytes)
        memcpy(record + RECORD_SIZE, segment.bytes, bry__segment_bytes(&segment));
    to->filled += RECORD_SIZE + bry__segment_bytes(&segment);
    bry__segment_free(&segment, &to->window->allocator);
    if (to->filled >= GROUPS_SIZE)
        flush(to);
    return BRY_OK;
}

static bry_status write_level(saving *to, unsigned level)
{
    to->part_count = 0;
    for (const bry__compact_window *set = to->window; set; set = set->past)
        if (level < set->levels)
            to->parts[to->part_count++] = (part){set, &set->level[level]->table};
    assert(to->part_count > 0); /* the level has something live in it */
    to->range = to->parts[0].table->range;
    to->bits = group_bits(bry__level_live(to->window, level), to->range);
    bry_status status = list_strays(to);
    for (uint64_t group = 0; group < (uint64_t)1 << to->bits && status == BRY_OK; group++) {
        status = gather(to, group);
        size_t done = 0;
        do {
            size_t n = to->n - done < BRY__SEGMENT_MAX ? to->n - done : BRY__SEGMENT_MAX;
            if (status == BRY_OK)
                status = put_record(to, to->entry + done, (unsigned)n, done + n < to->n);
            done += n;
        } while (done < to->n);
    }
    flush(to);
    bry__free(&to->window->allocator, to->strays, to->stray_room * sizeof *to->strays);
    to->strays = NULL;
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
    if (levels == 0)
        return;

    saving to = {.window = window, .writer = writer};
    to.buffer = bry__alloc_buffer(&window->allocator, BUFFER_SIZE);
    bry_status status = to.buffer ? BRY_OK : BRY_E_NOMEM;
    for (unsigned i = 0; i < levels && status == BRY_OK; i++)
        if (bry__level_live(window, i) > 0)
            status = write_level(&to, i);
    bry__free(&window->allocator, to.entry, to.room * sizeof *to.entry);
    bry__free(&window->allocator, to.buffer, BUFFER_SIZE);
    if (writer->status == BRY_OK)
        writer->status = status;
}

/* ---- reading ------------------------------------------------------------------------------- */

typedef struct loading {
    bry__compact_window *window;
    bry__frame_reader *reader;
    bry__window_level *level; /* in hand */
    unsigned bits; /* its k */
    uint64_t n; /* entries that it shall have */
    uint64_t group; /* whose turn it is */
    bool begun; /* the group in hand has entries already; the last one is … */
    uint64_t last; /* … this */
    uint64_t claimed; /* memory of the window, so far */
    unsigned char *buffer; /* of BUFFER_SIZE: one frame, proven before it is looked at */
} loading;

static bry_status bad(const loading *from, const char *problem)
{
    return bry__frame_reader_fail(from->reader, BRY_E_BADDATA, problem);
}

static bry_status no_memory(const loading *from)
{
    return bry__frame_reader_fail(from->reader, BRY_E_NOMEM, "no memory for the entries");
}

static bry_status claim(loading *from)
{
    uint64_t bytes = bry__levels_bytes(from->window), before = from->claimed;
    if (bytes <= before)
        return BRY_OK;
    from->claimed = bytes;
    return bry__frame_reader_claim(from->reader, bytes - before);
}

static bry_status read_entry(loading *from, bry__entry entry)
{
    bry__window_level *level = from->level;
    if (from->begun && entry.u <= from->last)
        return bad(from, "a group's entries are out of order");
    from->begun = true;
    from->last = entry.u;
    if (!bry__window_is_live(from->window, entry.value))
        return bad(from, "an entry of a generation that is not remembered");
    if (bry__table_add(&level->table, entry.u << from->bits | from->group, entry.value,
                       &from->window->allocator) != BRY_OK)
        return no_memory(from);
    level->count[entry.value]++;
    level->live++;
    return BRY_OK;
}

/* The record at the beginning of `left` bytes; *used of them. */
static bry_status read_record(loading *from, unsigned char *record, size_t left, size_t *used)
{
    const bry__table *table = &from->level->table;
    if (left < RECORD_SIZE)
        return bad(from, "a group's record is cut short");
    bry__segment segment = {
        .n = bry__load16(record + AT_ENTRIES),
        .steps = bry__load16(record + AT_STEPS),
        .remainder_bits = record[AT_REMAINDER_BITS],
        .value_bits = (uint8_t)from->window->shape.value_bits,
    };
    size_t size = segment.n ? bry__segment_block(segment.steps) : 0;
    if (from->group >> from->bits || record[AT_MORE] > 1 || record[6] || record[7] ||
        left - RECORD_SIZE < size || (segment.n == 0 && (segment.steps || record[AT_MORE])))
        return bad(from, "a group's record is wrong");
    segment.bytes = size ? record + RECORD_SIZE : NULL;
    uint64_t u_most = (table->range - 1) >> from->bits;
    const char *problem =
        bry__segment_check(&segment, u_most, (table->range - 1 - from->group) >> from->bits);
    if (problem)
        return bad(from, problem);
    bry_status status = BRY_OK;
    bry__segment_cursor cursor = {0};
    bry__entry entry;
    while (status == BRY_OK && bry__segment_next(&segment, u_most, &cursor, &entry))
        status = read_entry(from, entry);
    if (!record[AT_MORE]) {
        from->group++;
        from->begun = false;
    }
    *used = RECORD_SIZE + size;
    return status;
}

static bry_status read_frame(loading *from, size_t *size)
{
    bry__frame frame;
    bry_status status = bry__frame_reader_next(from->reader, &frame);
    if (status == BRY_OK && frame.type != GROUPS)
        status = bad(from, "entries are missing");
    if (status == BRY_OK && (frame.length == 0 || frame.length > BUFFER_SIZE))
        status = bad(from, "a frame has a size that none of its kind has");
    if (status == BRY_OK)
        status = bry__frame_reader_read(from->reader, from->buffer, frame.length);
    *size = status == BRY_OK ? frame.length : 0;
    return status;
}

static bry_status read_level(loading *from, uint64_t n)
{
    bry__compact_window *window = from->window;
    if (bry__level_open(window) != BRY_OK)
        return no_memory(from);
    from->level = window->level[window->levels - 1];
    from->bits = group_bits(n, from->level->table.range);
    from->n = n;
    from->group = 0;
    from->begun = false;
    bry_status status = claim(from);
    while (status == BRY_OK && n > 0 && !(from->group >> from->bits)) {
        size_t size;
        status = read_frame(from, &size);
        for (size_t at = 0, used = 0; at < size && status == BRY_OK; at += used)
            status = read_record(from, from->buffer + at, size - at, &used);
        if (status == BRY_OK)
            status = claim(from);
    }
    if (status == BRY_OK && from->level->live != n)
        status = bad(from, "the number of entries does not agree with the entries");
    return status;
}

static bry_status read_levels(loading *from, const unsigned char *numbers)
{
    bry__compact_window *window = from->window;
    uint64_t levels = bry__load64(numbers);
    if (levels > BRY__WINDOW_LEVELS ||
        (levels > 0 && bry__load64(numbers + 8 * (size_t)levels) == 0))
        return bad(from, "the number of levels is out of range");
    for (size_t i = (size_t)levels; i < BRY__WINDOW_LEVELS; i++)
        if (bry__load64(numbers + 8 + 8 * i) != 0)
            return bad(from, "entries without a level");
    bry_status status = BRY_OK;
    for (unsigned i = 0; i < levels && status == BRY_OK; i++) {
        uint64_t n = bry__load64(numbers + 8 + 8 * (size_t)i);
        uint64_t range = bry__level_range(&window->shape, i);
        if (n > range || bry__level_capacity(&window->shape, i) == 0)
            return bad(from, "more entries than a level can have");
        status = read_level(from, n);
    }
    if (status == BRY_OK && !window->shape.fixed && !bry__levels_keep_error(window))
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
    from.buffer = bry__alloc_buffer(allocator, BUFFER_SIZE);
    if (from.buffer && bry__compact_window_engine.create(&stored, allocator, &made) == BRY_OK) {
        from.window = made;
        status = read_levels(&from, numbers);
        from.window->least = from.window->oldest;
    } else {
        status = no_memory(&from);
    }
    bry__free(allocator, from.buffer, BUFFER_SIZE);
    if (status == BRY_OK)
        *self = made;
    else if (made)
        bry__compact_window_engine.destroy(made);
    return status;
}
