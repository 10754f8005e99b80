/*
 * An allocator that counts the bytes it has given out and, if there is a limit, refuses to exceed
 * it. A table of counters passes it to its window and its names: so window and names share one
 * limit, and the remaining bytes are known at any time.
 *
 * Saving and copying a const table also allocate temporarily, possibly in several threads at once;
 * so the count is atomic. A limit is set only during changes, which have the table for
 * themselves.
 */
#ifndef BRY_COUNTER_METER_H
#define BRY_COUNTER_METER_H

#include <bloomery/base.h>
#include <stdatomic.h>

typedef struct bry__counter_meter {
    bry_allocator allocator; /* pass this on; it points back here, so do not copy */
    bry_allocator under;
    _Atomic uint64_t bytes; /* allocated now */
    uint64_t limit; /* 0: none */
    bool denied; /* the limit refused something; the user clears it before */
} bry__counter_meter;

void bry__counter_meter_init(bry__counter_meter *meter, const bry_allocator *under);

#endif
