/* Internals of the engine compact, shared by compact_map.c (operations, frames),
 * compact_map_merge.c (merging, folding) and compact_map_sweep.c (sweeps). */
#ifndef BRY_MAP_COMPACT_MAP_H
#define BRY_MAP_COMPACT_MAP_H

#include "map/map_engine.h"
#include "maplet/maplet.h"

/* A maplet with at most one value per fingerprint in each table. */
typedef struct bry__compact_map {
    bry__maplet maplet;
    bry__map_carried *carried; /* reports codes gained and lost; may be NULL */
    void *context;
} bry__compact_map;

/* Makes room for codes below `codes` (at most 2^32). */
void bry__compact_map_widen(bry__compact_map *map, uint64_t codes);

/* compact_map_merge.c; described in map_engine.h. */
bry_status bry__compact_map_merge(void *into, const void *from, const uint32_t *recode,
                                  uint64_t codes);
bry_status bry__compact_map_compress(void *self, double max_error, uint64_t codes);

/* compact_map_sweep.c; described in map_engine.h. */
bry_status bry__compact_map_sweep(void *self, bry__map_judged *judged, void *context,
                                  uint64_t budget, uint64_t *cursor);

#endif
