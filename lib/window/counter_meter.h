/*
 * An allocator that counts what passes through it, and, where told to, gives nothing that would
 * lead beyond a ceiling. A table of counters hands it to its window and its names: so window and
 * names share one ceiling, and how much is left is known at any time without asking either.
 *
 * Saving and copying a const table take memory for a while too, and may do so in several threads at
 * once; so the count is atomic. A ceiling is set during changes only, which are alone.
 */
#ifndef BRY_WINDOW_COUNTER_METER_H
#define BRY_WINDOW_COUNTER_METER_H

#include <bloomery/base.h>
#include <stdatomic.h>

typedef struct bry__counter_meter {
    bry_allocator allocator; /* give this away; it points back here, so do not copy */
    bry_allocator under;
    _Atomic uint64_t bytes; /* given out now */
    uint64_t ceiling; /* 0: none */
    bool denied; /* the ceiling refused something; whoever cares clears it before */
} bry__counter_meter;

void bry__counter_meter_init(bry__counter_meter *meter, const bry_allocator *under);

#endif
