/*
 * The bits of a group, of one segment or of all rows: memory in pieces of at most 4 MiB, allocated
 * at creation and zeroed page by page when a page is first written. A page that was not written
 * reads as zeros. So additions never need memory, and opening the largest group only costs the
 * allocation.
 */
#ifndef BRY_INDEX_DBA_TABLE_H
#define BRY_INDEX_DBA_TABLE_H

#include "common/pieces.h"

#define BRY__DBA_PAGE_SHIFT 12u
#define BRY__DBA_PAGE ((size_t)1 << BRY__DBA_PAGE_SHIFT)

typedef struct bry__dba_table {
    bry__pieces pieces;
    uint64_t *ready; /* one bit per page that has been zeroed */
    uint64_t unready; /* number of pages that have not */
} bry__dba_table;

extern const unsigned char bry__dba_zeros[BRY__DBA_PAGE];

uint64_t bry__dba_table_cost(uint64_t bytes);

/* A table of zeros. BRY_E_NOMEM. */
bry_status bry__dba_table_init(bry__dba_table *table, uint64_t bytes,
                               const bry_allocator *allocator);
void bry__dba_table_free(bry__dba_table *table, const bry_allocator *allocator);

/* Copies another table of that size into a table of zeros. */
void bry__dba_table_copy(bry__dba_table *table, const bry__dba_table *from);

/* Zeroes the page of a byte. */
void bry__dba_table_clear_page(bry__dba_table *table, uint64_t byte);

static inline bool bry__dba_table_has(const bry__dba_table *table, uint64_t byte)
{
    uint64_t page = byte >> BRY__DBA_PAGE_SHIFT;
    return table->unready == 0 || (table->ready[page / 64] >> page % 64 & 1);
}

static inline unsigned char *bry__dba_table_at(const bry__dba_table *table, uint64_t byte)
{
    return table->pieces.piece[byte >> BRY__PIECE_SHIFT] + (byte & (BRY__PIECE_BYTES - 1));
}

/* A pointer to a byte and those after it on its page; for reading, and for writing. */
static inline const unsigned char *bry__dba_table_read(const bry__dba_table *table, uint64_t byte)
{
    return bry__dba_table_has(table, byte) ? bry__dba_table_at(table, byte)
                                           : bry__dba_zeros + (byte & (BRY__DBA_PAGE - 1));
}

static inline unsigned char *bry__dba_table_write(bry__dba_table *table, uint64_t byte)
{
    if (!bry__dba_table_has(table, byte))
        bry__dba_table_clear_page(table, byte);
    return bry__dba_table_at(table, byte);
}

#endif
