/*
 * An array of records that grows without moving many of them: up to 4,096 are in one block, which
 * grows by half; more are in blocks of 4,096 each. Reaching one more record copies or clears no more
 * than a block, however many there are.
 */
#ifndef BRY_COMMON_RECORDS_H
#define BRY_COMMON_RECORDS_H

#include "common/allocator.h"

#define BRY__RECORDS_SHIFT 12u
#define BRY__RECORDS_BLOCK ((uint32_t)1 << BRY__RECORDS_SHIFT)

typedef struct bry__records {
    unsigned char **block;
    uint32_t room; /* records that are allocated; all zero at first */
} bry__records;

/* i is below room; size is the same in all calls. */
static inline void *bry__record_at(const bry__records *records, uint32_t i, size_t size)
{
    return records->block[i >> BRY__RECORDS_SHIFT] + (size_t)(i & (BRY__RECORDS_BLOCK - 1)) * size;
}

/* The room for n records, and what an array with that room takes. */
uint32_t bry__records_room(uint32_t n);
uint64_t bry__records_bytes(uint32_t room, size_t size);

/* Makes room for n records. BRY_E_NOMEM: nothing has changed. */
bry_status bry__records_reach(bry__records *records, uint32_t n, size_t size,
                              const bry_allocator *allocator);
void bry__records_free(bry__records *records, size_t size, const bry_allocator *allocator);

#endif
