/* Sweeps of the engine compact: each entry is kept, changed or deleted by its value. */
#include "map/compact/compact_map.h"

#include "maplet/maplet_visit.h"

typedef struct compact_sweep {
    bry__compact_map *map;
    bry__map_judged *judged;
    void *context;
} compact_sweep;

static bry_status compact_map_judge(void *context, uint32_t code, bry__verdict *verdict,
                                    uint32_t *to)
{
    const compact_sweep *sweep = context;
    bry_map_verdict found = BRY_MAP_KEEP;
    bry_status status = sweep->judged(sweep->context, code, &found, to);
    if (status == BRY_OK && found == BRY_MAP_CHANGE) {
        bry__compact_map_widen(sweep->map, (uint64_t)*to + 1);
        *verdict = BRY__CHANGE;
    } else if (status == BRY_OK && found == BRY_MAP_DEL) {
        *verdict = BRY__DROP;
    }
    return status;
}

static void compact_map_judged(void *context, uint32_t code, bry__verdict verdict, uint32_t to)
{
    const bry__compact_map *map = ((const compact_sweep *)context)->map;
    if (!map->carried)
        return;
    if (verdict == BRY__CHANGE)
        map->carried(map->context, to, true);
    map->carried(map->context, code, false);
}

bry_status bry__compact_map_sweep(void *self, bry__map_judged *judged, void *context,
                                  uint64_t budget, uint64_t *cursor)
{
    compact_sweep sweep = {self, judged, context};
    bry__visitor visitor = {compact_map_judge, compact_map_judged, &sweep};
    return bry__maplet_visit(&sweep.map->maplet, &visitor, budget, cursor);
}
