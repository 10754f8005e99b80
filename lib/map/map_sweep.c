/* A sweep over a map by value: the part that handles values; the engine chooses the next entry. */
#include "map/map_object.h"

typedef struct map_sweep {
    bry_map *map;
    const bry_map_judge *by;
    uint64_t before; /* codes before `code` was assigned */
    uint32_t code; /* the new code of the current entry */
    bool asked; /* whether `code` is waiting for the engine to accept it */
} map_sweep;

static bry_status map_sweep_judge(void *context, uint32_t code, bry_map_verdict *verdict,
                                  uint32_t *to)
{
    map_sweep *sweep = context;
    bry_map *map = sweep->map;
    bry_map_value value = bry__map_value_of(map, code), changed = value;
    sweep->asked = false;
    *verdict = sweep->by->judge(sweep->by->opaque, value, &changed);
    if (*verdict == BRY_MAP_KEEP || *verdict == BRY_MAP_DEL)
        return BRY_OK;
    bry_status status =
        *verdict == BRY_MAP_CHANGE ? bry__map_check_values(map, &changed, 1) : BRY_E_RANGE;
    if (status != BRY_OK)
        return status;
    status = bry__map_give_codes(map, &changed, 1, &sweep->code, &sweep->before);
    if (status != BRY_OK)
        return bry__map_count_refused(map, status);
    *to = sweep->code;
    sweep->asked = *to != code;
    if (!sweep->asked)
        *verdict = BRY_MAP_KEEP;
    return BRY_OK;
}

bry_status bry_map_sweep(bry_map *map, const bry_map_judge *by, uint64_t budget, uint64_t *cursor)
{
    if (!map->engine->sweep)
        return BRY_E_UNSUPPORTED;
    map_sweep sweep = {.map = map, .by = by};
    bry_status status = map->engine->sweep(map->keys, map_sweep_judge, &sweep, budget, cursor);
    if (sweep.asked)
        bry__map_end_change(map, sweep.before, &sweep.code, 1, status);
    return status;
}
