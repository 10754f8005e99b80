/* Counts the bits of a group one by one, to compare with the engine's own counts. */
#ifndef BRY_TESTS_DBA_COUNT_H
#define BRY_TESTS_DBA_COUNT_H

#include "index/dba/dba_index.h"

/* The number of set bits in columns that belong to a unit. */
static inline uint64_t group_set(const bry__dba_group *group)
{
    uint64_t count = 0;
    uint32_t tables = group->shape.segmented ? group->shape.hashes : 1;
    for (uint32_t t = 0; t < tables; t++)
        for (uint64_t row = 0; row < group->shape.range; row++)
            for (uint32_t c = 0; c < group->width; c++) {
                uint64_t bit = (row << group->shift) + c;
                if (group->slot[c] < BRY__DBA_BUILDING)
                    count += *bry__dba_byte(group, t, bit) >> (bit & 7) & 1;
            }
    return count;
}

static inline uint64_t all_set(const bry__dba *dba)
{
    uint64_t count = 0;
    for (uint32_t g = 0; g < dba->groups; g++)
        count += group_set(dba->group[g]);
    return count;
}

#endif
