#include "index/dba/dba_table.h"

#include <string.h>

const unsigned char bry__dba_zeros[BRY__DBA_PAGE];

static uint64_t page_count(uint64_t bytes)
{
    return (bytes + BRY__DBA_PAGE - 1) >> BRY__DBA_PAGE_SHIFT;
}

static size_t ready_bytes(uint64_t bytes)
{
    return (size_t)((page_count(bytes) + 63) / 64) * sizeof(uint64_t);
}

uint64_t bry__dba_table_cost(uint64_t bytes)
{
    return bry__pieces_bytes_full(bytes) + ready_bytes(bytes);
}

bry_status bry__dba_table_init(bry__dba_table *table, uint64_t bytes,
                               const bry_allocator *allocator)
{
    bry__dba_table made = {.unready = page_count(bytes)};
    if (bry__pieces_init(&made.pieces, bytes, allocator) != BRY_OK)
        return BRY_E_NOMEM;
    made.ready = bry__alloc(allocator, ready_bytes(bytes));
    bool all = made.ready != NULL;
    for (size_t i = 0; i < made.pieces.count && all; i++)
        all = bry__piece_alloc_uninit(&made.pieces, i, allocator) == BRY_OK;
    if (all)
        *table = made;
    else
        bry__dba_table_free(&made, allocator);
    return all ? BRY_OK : BRY_E_NOMEM;
}

void bry__dba_table_free(bry__dba_table *table, const bry_allocator *allocator)
{
    bry__free(allocator, table->ready, ready_bytes(table->pieces.bytes));
    bry__pieces_free(&table->pieces, allocator);
    *table = (bry__dba_table){0};
}

static size_t dba_table_page_size(const bry__dba_table *table, uint64_t byte)
{
    uint64_t left = table->pieces.bytes - byte;
    return left < BRY__DBA_PAGE ? (size_t)left : BRY__DBA_PAGE;
}

void bry__dba_table_clear_page(bry__dba_table *table, uint64_t byte)
{
    uint64_t page = byte >> BRY__DBA_PAGE_SHIFT;
    byte = page << BRY__DBA_PAGE_SHIFT;
    memset(bry__dba_table_at(table, byte), 0, dba_table_page_size(table, byte));
    table->ready[page / 64] |= (uint64_t)1 << page % 64;
    table->unready--;
}

void bry__dba_table_copy(bry__dba_table *table, const bry__dba_table *from)
{
    for (uint64_t byte = 0; byte < from->pieces.bytes; byte += BRY__DBA_PAGE)
        if (bry__dba_table_has(from, byte))
            memcpy(bry__dba_table_write(table, byte), bry__dba_table_at(from, byte),
                   dba_table_page_size(from, byte));
}
