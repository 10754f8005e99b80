#include "index/index_parts.h"

#include "frame/frame_numbers.h"

#include <string.h>

#define LIST BRY__FOUR('L', 'I', 'S', 'T')

static const bry__number list_rows[] = {
    BRY__NUMBER(bry__parts_list, generation),
    BRY__NUMBER(bry__parts_list, count),
    BRY__NUMBERS_END,
};

/* A record of the frame PART; a part's file begins with its own, sum 0. */
static const bry__number part_rows[] = {
    BRY__NUMBER(bry__kept_part, part.id),       BRY__NUMBER(bry__kept_part, part.stamp[0]),
    BRY__NUMBER(bry__kept_part, part.stamp[1]), BRY__NUMBER(bry__kept_part, written),
    BRY__NUMBER(bry__kept_part, sum),           BRY__NUMBERS_END,
};

enum { PARTS_A_FRAME = 1024 };

bry_status bry__parts_init(bry__parts_list *list, uint64_t room)
{
    list->allocator = bry__allocator_or_default(NULL);
    list->count = 0;
    list->room = (size_t)room;
    list->part = room <= SIZE_MAX / sizeof *list->part
                     ? bry__alloc(&list->allocator, (size_t)room * sizeof *list->part)
                     : NULL;
    return list->part ? BRY_OK : BRY_E_NOMEM;
}

void bry__parts_free(bry__parts_list *list)
{
    if (list->part)
        bry__free(&list->allocator, list->part, list->room * sizeof *list->part);
    list->part = NULL;
}

const bry__kept_part *bry__parts_find(const bry__parts_list *list, uint64_t id)
{
    uint64_t low = 0, high = list->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (list->part[middle].part.id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->count && list->part[low].part.id == id ? &list->part[low] : NULL;
}

void bry__part_store(unsigned char to[BRY__PART_RECORD], const bry__kept_part *part)
{
    bry__numbers_store(to, part_rows, part);
}

void bry__parts_write(const bry__parts_list *list, bry__frame_writer *writer)
{
    bry__frame_write_numbers(writer, LIST, list_rows, list);
    for (uint64_t i = 0; i < list->count; i++) {
        if (i % PARTS_A_FRAME == 0) {
            uint64_t here = list->count - i < PARTS_A_FRAME ? list->count - i : PARTS_A_FRAME;
            bry__frame_writer_open(writer, BRY__PART_FRAME, (size_t)here * BRY__PART_RECORD);
        }
        unsigned char bytes[BRY__PART_RECORD];
        bry__part_store(bytes, &list->part[i]);
        bry__frame_writer_put(writer, bytes, sizeof bytes);
    }
}

/* The records of one frame. */
static bry_status index_parts_read_records(bry__frame_reader *reader, bry__parts_list *list,
                                           size_t length)
{
    for (size_t at = 0; at < length; at += BRY__PART_RECORD) {
        unsigned char bytes[BRY__PART_RECORD];
        bry_status status = bry__frame_reader_read(reader, bytes, sizeof bytes);
        if (status != BRY_OK)
            return status;
        bry__kept_part part;
        bry__numbers_load(bytes, part_rows, &part);
        if (part.written > list->generation ||
            (list->count > 0 && part.part.id <= list->part[list->count - 1].part.id))
            return bry__frame_reader_bad(reader, "the list of parts is out of order");
        list->part[list->count++] = part;
    }
    return BRY_OK;
}

/* Memory grows with what was read, so that a false count costs nothing. */
static bry_status index_parts_list_grow(bry__parts_list *list, size_t more)
{
    if (list->count + more <= list->room)
        return BRY_OK;
    bry__parts_list larger = *list;
    if (bry__parts_init(&larger, list->count + more + list->count / 2) != BRY_OK)
        return BRY_E_NOMEM;
    larger.count = list->count;
    if (list->count)
        memcpy(larger.part, list->part, (size_t)list->count * sizeof *list->part);
    bry__parts_free(list);
    *list = larger;
    return BRY_OK;
}

bry_status bry__parts_read(bry__frame_reader *reader, bry__parts_list *list)
{
    bry__parts_list head;
    bry_status status = bry__frame_read_numbers(reader, LIST, list_rows, &head);
    if (status != BRY_OK)
        return status;
    list->generation = head.generation;
    if (list->generation == UINT64_MAX)
        return bry__frame_reader_bad(reader, "the generation is out of range");
    while (list->count < head.count && status == BRY_OK) {
        uint64_t left = head.count - list->count;
        size_t length = 0;
        status = bry__frame_reader_expect(
            reader, BRY__PART_FRAME, "parts are missing", BRY__PART_RECORD,
            (left < PARTS_A_FRAME ? left : PARTS_A_FRAME) * BRY__PART_RECORD, &length);
        if (length % BRY__PART_RECORD != 0)
            status = bry__frame_reader_bad(reader, "a frame has the wrong length");
        if (status == BRY_OK && index_parts_list_grow(list, length / BRY__PART_RECORD) != BRY_OK)
            status = bry__frame_reader_no_memory(reader);
        if (status == BRY_OK)
            status = index_parts_read_records(reader, list, length);
    }
    return status;
}

static bool index_parts_is_sorted(const bry__parts_list *list)
{
    for (uint64_t i = 1; i < list->count; i++)
        if (list->part[i].part.id < list->part[i - 1].part.id)
            return false;
    return true;
}

/* A heap sort, since there may be a million parts; but nearly always they are sorted already. */
void bry__parts_sort(bry__parts_list *list)
{
    bry__kept_part *part = list->part;
    if (index_parts_is_sorted(list))
        return;
    for (uint64_t n = list->count, start = n / 2; n > 1;) {
        if (start > 0) {
            start--;
        } else {
            bry__kept_part largest = part[0];
            part[0] = part[--n];
            part[n] = largest;
        }
        for (uint64_t i = start, child; (child = 2 * i + 1) < n; i = child) {
            if (child + 1 < n && part[child].part.id < part[child + 1].part.id)
                child++;
            if (part[i].part.id >= part[child].part.id)
                break;
            bry__kept_part moved = part[i];
            part[i] = part[child];
            part[child] = moved;
        }
    }
}
