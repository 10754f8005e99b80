/* The family MAP: its type, its settings, and what its files share. */
#ifndef BLOOMERY_MODULE_MAP_TYPE_H
#define BLOOMERY_MODULE_MAP_TYPE_H

#include "module/core/object.h"

#include <bloomery/map.h>

extern command_family map_family;
extern const module_command map_commands[];

static inline bry_map *map_of(const held_object *object)
{
    return object->thing;
}

/* Number of fields that commands asked for, set or deleted in this key since it was loaded. Only
 * this node knows it: it is neither replicated nor saved. */
static inline uint64_t *map_queries(const held_object *object)
{
    return object_extra(object);
}

/* The options of a map that is created implicitly, from the settings. */
bry_map_options map_options_default(void);

/* Makes an object with a new map. If the options have no seed, one is chosen; *options then
 * describes the map completely. Returns what bry_map_create() returns. */
bry_status map_create(bry_map_options *options, held_object **out);

server_command_function map_command_create, map_command_set, map_command_insert, map_command_get,
    map_command_del, map_command_remove, map_command_exists, map_command_merge,
    map_command_compress, map_command_info;

#endif
