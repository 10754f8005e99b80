#include "module/map/map_type.h"

#include "module/core/settings.h"

/* ---- settings ------------------------------------------------------------------------------ */

static long long default_capacity = 1000;
static share_setting default_error = {.least = BRY_MAP_ERROR_MIN, .most = BRY_ERROR_MAX};
static int default_engine = BRY_ENGINE_AUTO;

static const module_setting map_settings[] = {
    {"map-capacity", SETTING_COUNT, &default_capacity, .least = 1, .most = BRY_CAPACITY_MAX},
    {"map-error", SETTING_SHARE, &default_error, .preset = "0.001"},
    {"map-engine", SETTING_ENGINE, &default_engine, .job = BRY_JOB_MAP},
    {0},
};

bry_map_options map_options_default(void)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    options.capacity = (uint64_t)default_capacity;
    options.error = default_error.value;
    options.engine = (bry_engine)default_engine;
    return options;
}

/* ---- creating ------------------------------------------------------------------------------ */

bry_status map_create(bry_map_options *options, held_object **out)
{
    held_object *made = object_new(&map_family);
    if (!made)
        return BRY_E_NOMEM;
    bry_allocator allocator = account_allocator(&made->account);
    bry_map_options with_allocator = *options;
    with_allocator.allocator = &allocator;
    bry_map *map;
    bry_status status = bry_map_create(&with_allocator, &map);
    if (status != BRY_OK) {
        object_free(made);
        return status;
    }
    bry_map_options_like(map, options);
    made->thing = map;
    *out = made;
    return BRY_OK;
}

/* ---- the family ---------------------------------------------------------------------------- */

/*
 * An absent field may be reported as present; a present field may return the value of another or,
 * with engine kbf, be reported as absent. Clients ask for both kinds, so the larger probability
 * counts.
 */
static void map_type_errors(const void *thing, double *promised, double *estimated)
{
    bry_map_stats stats = {0};
    bry_map_get_stats(thing, &stats);
    double present = stats.estimated.false_negative + stats.estimated.incorrect;
    bry_map_options options = BRY_MAP_OPTIONS;
    bry_map_options_like(thing, &options);
    *promised = options.error;
    *estimated =
        stats.estimated.false_positive > present ? stats.estimated.false_positive : present;
}

FAMILY_RDB_LOAD(map_family)

command_family map_family = {
    .name = "map",
    .type_name = "bloom-map",
    .encoding = 1,
    .job = BRY_JOB_MAP,
    .restore_command = "BLOOMERY.MAP.LOAD",
    .commands = map_commands,
    .settings = map_settings,
    .rdb_load = map_family_rdb_load,
    .errors = map_type_errors,
    .extra = sizeof(uint64_t), /* map_queries() */
};
