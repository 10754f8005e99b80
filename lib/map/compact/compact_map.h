/* The engine compact's inside, shared by compact_map.c (operations, frames) and compact_map_whole.c
 * (merging and folding). */
#ifndef BRY_MAP_COMPACT_MAP_H
#define BRY_MAP_COMPACT_MAP_H

#include "map/map_engine.h"
#include "maplet/maplet.h"

/* A maplet in which a fingerprint has at most one value in each table. */
typedef struct bry__compact_map {
    bry__maplet maplet;
    bry__map_carried *carried; /* NULL: nobody wants to know */
    void *context;
} bry__compact_map;

/* Allows codes below `codes`, which is at most 2^32. */
void bry__compact_widen(bry__compact_map *map, uint64_t codes);

/* compact_map_whole.c; what map_engine.h says of them. */
bry_status bry__compact_merge(void *into, const void *from, const uint32_t *recode, uint64_t codes);
bry_status bry__compact_compress(void *self, double max_error, uint64_t codes);

/* compact_map_visit.c; the same. */
bry_status bry__compact_sweep(void *self, bry__map_judged *judged, void *context, uint64_t budget,
                              uint64_t *cursor);

#endif
