#include "frame/frame_numbers.h"

#include "common/endian.h"

#include <assert.h>

/* Bytes in the file. */
static size_t numbers_size(const bry__number *rows)
{
    size_t size = 0;
    for (; rows->size; rows++)
        size += rows->size;
    return size;
}

/* Both directions: swapping bytes twice changes nothing. */
static void numbers_copy(unsigned char *to, const unsigned char *from, size_t size)
{
    if (size == sizeof(uint32_t)) {
        uint32_t number = bry__load32(from);
        memcpy(to, &number, sizeof number);
    } else {
        uint64_t number = bry__load64(from);
        memcpy(to, &number, sizeof number);
    }
}

void bry__numbers_store(unsigned char *to, const bry__number *rows, const void *from)
{
    for (; rows->size; to += rows++->size)
        numbers_copy(to, (const unsigned char *)from + rows->at, rows->size);
}

void bry__numbers_load(const unsigned char *from, const bry__number *rows, void *to)
{
    for (; rows->size; from += rows++->size)
        numbers_copy((unsigned char *)to + rows->at, from, rows->size);
}

void bry__frame_write_numbers(bry__frame_writer *writer, uint32_t type, const bry__number *rows,
                              const void *from)
{
    unsigned char bytes[BRY__NUMBERS_MOST];
    size_t size = numbers_size(rows);
    assert(size <= sizeof bytes);
    bry__numbers_store(bytes, rows, from);
    bry__frame_writer_write(writer, type, bytes, size);
}

bry_status bry__frame_read_numbers(bry__frame_reader *reader, uint32_t type,
                                   const bry__number *rows, void *to)
{
    unsigned char bytes[BRY__NUMBERS_MOST];
    bry_status status = bry__frame_reader_read_frame(reader, type, bytes, numbers_size(rows));
    if (status == BRY_OK)
        bry__numbers_load(bytes, rows, to);
    return status;
}
