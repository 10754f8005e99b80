#include "common/records.h"

#include <string.h>

uint32_t bry__records_room(uint32_t n)
{
    if (n > BRY__RECORDS_BLOCK)
        return (n + BRY__RECORDS_BLOCK - 1) & ~(BRY__RECORDS_BLOCK - 1);
    uint32_t room = 0;
    while (room < n)
        room += room / 2 + 1;
    return room < BRY__RECORDS_BLOCK ? room : BRY__RECORDS_BLOCK;
}

static uint32_t blocks_of(uint32_t room)
{
    return (room + BRY__RECORDS_BLOCK - 1) >> BRY__RECORDS_SHIFT;
}

static size_t block_bytes(uint32_t room, size_t size)
{
    return (room < BRY__RECORDS_BLOCK ? room : BRY__RECORDS_BLOCK) * size;
}

static size_t directory_bytes(uint32_t room)
{
    return blocks_of(room) * sizeof(unsigned char *);
}

uint64_t bry__records_bytes(uint32_t room, size_t size)
{
    return room * (uint64_t)size + directory_bytes(room);
}

static void free_blocks(unsigned char **block, uint32_t from, uint32_t to, size_t bytes,
                        const bry_allocator *allocator)
{
    for (uint32_t i = from; i < to; i++)
        bry__free(allocator, block[i], bytes);
}

/* Fills the directory of a larger array: whole blocks are kept, the others are new. */
static bry_status make_larger(const bry__records *records, unsigned char **block, uint32_t room,
                              size_t size, const bry_allocator *allocator)
{
    uint32_t kept = records->room < BRY__RECORDS_BLOCK ? 0 : blocks_of(records->room);
    size_t bytes = block_bytes(room, size);
    if (kept)
        memcpy(block, records->block, kept * sizeof *block);
    for (uint32_t i = kept; i < blocks_of(room); i++) {
        block[i] = bry__alloc(allocator, bytes);
        if (!block[i]) {
            free_blocks(block, kept, i, bytes, allocator);
            return BRY_E_NOMEM;
        }
    }
    if (kept == 0 && records->room)
        memcpy(block[0], records->block[0], records->room * size);
    return BRY_OK;
}

bry_status bry__records_reach(bry__records *records, uint32_t n, size_t size,
                              const bry_allocator *allocator)
{
    if (n <= records->room)
        return BRY_OK;
    uint32_t room = bry__records_room(n);
    unsigned char **block = bry__alloc(allocator, directory_bytes(room));
    if (!block)
        return BRY_E_NOMEM;
    bry_status status = make_larger(records, block, room, size, allocator);
    if (status != BRY_OK) {
        bry__free(allocator, block, directory_bytes(room));
        return status;
    }
    if (records->room && records->room < BRY__RECORDS_BLOCK)
        bry__free(allocator, records->block[0], records->room * size);
    bry__free(allocator, records->block, directory_bytes(records->room));
    *records = (bry__records){block, room};
    return BRY_OK;
}

void bry__records_free(bry__records *records, size_t size, const bry_allocator *allocator)
{
    free_blocks(records->block, 0, blocks_of(records->room), block_bytes(records->room, size),
                allocator);
    bry__free(allocator, records->block, directory_bytes(records->room));
    *records = (bry__records){0};
}
