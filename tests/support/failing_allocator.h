/*
 * An allocator that counts what it gave out, fails the call it is told to fail, and stops the
 * program when a block comes back with another size than it was asked for, twice, or from
 * elsewhere.
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
    bry_allocator allocator; /* give this to the object; it points back here, so do not copy */
    uint64_t fail_at; /* this call fails, counted from 1 since the restart; 0: none does */
    bool keep_failing; /* and so do all after it */
    uint64_t limit; /* a call that would make `now` pass this fails; 0: none does */
    uint64_t over_limit; /* calls that failed for that */
    uint64_t calls; /* since the restart, the failed ones included */
    uint64_t now, peak; /* bytes given out */
    uint64_t blocks; /* given out now */
} failing_allocator;

void failing_allocator_init(failing_allocator *memory);

/* Counts calls from 0 and the peak from what is given out now. */
void failing_allocator_restart(failing_allocator *memory);

#endif
