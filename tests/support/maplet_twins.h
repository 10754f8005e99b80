#ifndef BRY_TESTS_MAPLET_TWINS_H
#define BRY_TESTS_MAPLET_TWINS_H

#include "maplet/maplet.h"

/* Whether a fingerprint has two entries in one table. */
static inline bool maplet_has_twins(const bry__maplet *maplet)
{
    bry__maplet_cursor cursor = {0};
    uint64_t fingerprint, last = 0;
    uint32_t value;
    unsigned table = maplet->tables;
    while (bry__maplet_next(maplet, &cursor, &fingerprint, &value)) {
        const bry__table *in = &maplet->table[cursor.table];
        if ((table == cursor.table && fingerprint == last) ||
            (bry__overflow_count(&in->overflow) > 0 &&
             bry__table_get_all(in, fingerprint, NULL, 0) > 1))
            return true;
        table = cursor.table;
        last = fingerprint;
    }
    return false;
}

#endif
