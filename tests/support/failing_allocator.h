/*
 * An allocator that counts its blocks, fails a chosen call, and aborts if a block is freed twice,
 * with another size, or was not allocated here.
 *
 *     failing_allocator memory;
 *     failing_allocator_init(&memory);
 *     for (memory.fail_at = 1;; memory.fail_at++) {
 *         failing_allocator_restart(&memory);
 *         status = thing_create(&(thing_options){.allocator = &memory.allocator}, &thing);
 *         if (status == BRY_OK)
 *             break;                              every call has failed once
 *         … status is BRY_E_NOMEM, memory.now is 0 …
 *     }
 */
#ifndef BRY_TESTS_FAILING_ALLOCATOR_H
#define BRY_TESTS_FAILING_ALLOCATOR_H

#include <bloomery/base.h>

typedef struct failing_allocator {
    bry_allocator allocator; /* for the object; points back here, so do not copy */
    uint64_t fail_at; /* this call fails, counted from 1 since the restart; 0: none */
    bool keep_failing; /* and all later ones */
    uint64_t limit; /* calls that would exceed it fail; 0: no limit */
    uint64_t over_limit; /* calls that failed because of it */
    uint64_t calls; /* since the restart, including failed ones */
    uint64_t now, peak; /* bytes allocated */
    uint64_t blocks; /* allocated now */
} failing_allocator;

void failing_allocator_init(failing_allocator *memory);

/* Resets the number of calls to 0, and the peak to what is allocated now. */
void failing_allocator_restart(failing_allocator *memory);

#endif
