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
    MAP_OTHER, /* LIKE or NOCREATE */
    MAP_OPTION_COUNT
};

typedef struct map_request {
    bry_map_options options; /* those given, and the defaults for the others */
    bool given[MAP_OPTION_COUNT];
    server_string *like; /* of MAP.CREATE */
    uint32_t no_create; /* of MAP.INSERT */
} map_request;

/* Reads the options from argv[2] on: of MAP.CREATE, up to the end; or of MAP.INSERT, up to the word
 * `stop`, whose position is stored in *end. False after an error reply. */
bool map_request_read(server_context *context, server_string **argv, int argc, const char *stop,
                      map_request *request, int *end);

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
