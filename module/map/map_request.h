/* The options of a map in a command: MAP.CREATE and MAP.INSERT. */
#ifndef BLOOMERY_MODULE_MAP_REQUEST_H
#define BLOOMERY_MODULE_MAP_REQUEST_H

#include "module/core/arguments.h"
#include "module/map/map_type.h"

enum {
    MAP_CAPACITY,
    MAP_ERROR,
    MAP_ENGINE,
    MAP_VALUES,
    MAP_RAW,
    MAP_SEED,
    MAP_NOGROW,
    MAP_LIKE_OR_NOCREATE, /* LIKE of MAP.CREATE, NOCREATE of MAP.INSERT */
    MAP_XX, /* of MAP.INSERT */
    MAP_OPTION_COUNT
};

typedef struct map_request {
    bry_map_options options; /* those given, and the defaults for the others */
    bool given[MAP_OPTION_COUNT];
    uint64_t raw; /* options.value_bits as given */
    server_string *like; /* of MAP.CREATE */
    uint32_t no_create; /* of MAP.INSERT */
    uint32_t existing_only; /* XX of MAP.INSERT */
} map_request;

/* Reads the options of MAP.INSERT, and stores the position of the first field; first: NULL: those
 * of MAP.CREATE. False after an error reply. */
bool map_request_read(server_context *context, server_string **argv, int argc, map_request *request,
                      int *first);

/* Replicates the creation of a map with all its parameters. */
void map_replicate_creation(server_context *context, server_string *name,
                            const bry_map_options *options);

/* Makes a new map, within bloomery.max-key-bytes. request->options then describes it completely.
 * NULL after an error reply. */
held_object *map_request_make(server_context *context, map_request *request);

/*
 * True if the options that were given are those of this map; false after an error reply. ENGINE
 * auto fits every map. The capacity of a kbf map is not compared: MAP.COMPRESS and deletions change
 * it.
 */
bool map_request_fits(server_context *context, const map_request *request, const bry_map *map);

#endif
