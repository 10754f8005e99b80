#include "module/map/map_request.h"

#include "module/core/replies.h"
#include "text/number_format.h"

#include <inttypes.h>
#include <stdio.h>

/* The shape of engine kbf is not among them: it is planned from these parameters, on every node
 * alike. */
static option_list map_request_list(map_request *request, bool insert)
{
    bry_map_options *map = &request->options;
    return (option_list){
        .rows =
            {
                [MAP_CAPACITY] = option_capacity(&map->capacity),
                [MAP_ERROR] = option_error(BRY_MAP_ERROR_MIN, &map->error),
                [MAP_ENGINE] = option_engine(BRY_JOB_MAP, &map->engine),
                [MAP_VALUES] = option_count("VALUES", BRY_MAP_VALUES_MAX, &map->values),
                [MAP_RAW] = option_count("RAW", BRY_MAP_VALUE_BITS_MAX, &request->raw),
                [MAP_SEED] = option_seed(&map->seed),
                [MAP_NOGROW] = option_flag("NOGROW", &map->fixed),
                [MAP_LIKE_OR_NOCREATE] = insert ? option_flag("NOCREATE", &request->no_create)
                                                : option_string("LIKE", &request->like),
                [MAP_XX] = option_flag("XX", &request->existing_only),
            },
        .count = MAP_OPTION_COUNT};
}

bool map_request_read(server_context *context, server_string **argv, int argc, map_request *request,
                      int *first)
{
    *request = (map_request){.options = map_options_default()};
    option_list options = map_request_list(request, first != NULL);
    if (first ? !options_read_until(context, argv, argc, 2, options.rows, options.count, "FIELDS",
                                    first)
              : !options_read(context, argv, argc, 2, options.rows, MAP_XX))
        return false;
    if (request->like && options_given(options.rows, options.count) > 1)
        return reply_false(context, "ERR", "LIKE cannot be combined with other arguments");
    if (request->options.values && request->raw)
        return reply_false(context, "ERR", "VALUES and RAW cannot be combined");
    request->options.value_bits = (uint32_t)request->raw;
    for (int i = 0; i < MAP_OPTION_COUNT; i++)
        request->given[i] = options.rows[i].given;
    return true;
}

void map_replicate_creation(server_context *context, server_string *name,
                            const bry_map_options *options)
{
    map_request request = {.options = *options, .raw = options->value_bits};
    if (request.raw)
        request.options.values = 0;
    option_list list = map_request_list(&request, false);
    options_replicate(context, "MAP.CREATE", name, &list);
}

held_object *map_request_make(server_context *context, map_request *request)
{
    bry_map_options *options = &request->options;
    bry_map_shape shape = {0};
    held_object *made = NULL;
    bry_status status = bry_map_plan(options, &shape);
    if (status == BRY_E_RANGE)
        reply_error(
            context, "RANGE",
            "ERROR is too small for this CAPACITY, or VALUES or RAW exceeds the limit of engine %s",
            bry_engine_name(options->engine));
    else if (status == BRY_OK && !object_may_grow(context, NULL, shape.bytes))
        reply_error(context, "RANGE",
                    "CAPACITY and ERROR need %" PRIu64 " bytes, more than bloomery.max-key-bytes",
                    shape.bytes);
    else if (status != BRY_OK || (status = map_create(options, &made)) != BRY_OK)
        reply_status(context, status);
    return made;
}

/* ---- comparing ----------------------------------------------------------------------------- */

static bool map_refuse_option(server_context *context, const char *name, const char *theirs,
                              const char *given)
{
    return reply_false(context, "MISMATCH", "the map has %s %s, not %s", name, theirs, given);
}

static bool map_number_fits(server_context *context, const char *name, uint64_t theirs,
                            uint64_t given)
{
    char text[2][24];
    if (theirs == given)
        return true;
    snprintf(text[0], sizeof text[0], "%" PRIu64, theirs);
    snprintf(text[1], sizeof text[1], "%" PRIu64, given);
    return map_refuse_option(context, name, text[0], text[1]);
}

static bool map_error_fits(server_context *context, double theirs, double given)
{
    char text[2][TEXT_NUMBER_SIZE];
    if (theirs == given)
        return true;
    return map_refuse_option(context, "ERROR", text_number(theirs, text[0]),
                             text_number(given, text[1]));
}

/* VALUES or RAW. */
static bool map_values_fit(server_context *context, const map_request *request,
                           const bry_map_options *theirs)
{
    if (request->given[MAP_RAW] && theirs->value_bits == 0)
        return reply_false(context, "MISMATCH", "the map was created with VALUES, not with RAW");
    if (request->given[MAP_RAW])
        return map_number_fits(context, "RAW", theirs->value_bits, request->options.value_bits);
    if (!request->given[MAP_VALUES])
        return true;
    if (theirs->value_bits != 0)
        return reply_false(context, "MISMATCH", "the map was created with RAW %u, not with VALUES",
                           theirs->value_bits);
    return map_number_fits(context, "VALUES", theirs->values, request->options.values);
}

/* The seed is a secret that only MAP.INFO shows: see SECURITY.md. */
static bool map_seed_fits(server_context *context, uint64_t theirs, uint64_t given)
{
    return theirs == given || reply_false(context, "MISMATCH", "the map has another SEED");
}

bool map_request_fits(server_context *context, const map_request *request, const bry_map *map)
{
    const bry_map_options *ours = &request->options;
    bry_map_options theirs = BRY_MAP_OPTIONS;
    bry_map_options_like(map, &theirs);
    if (request->given[MAP_ENGINE] && ours->engine != BRY_ENGINE_AUTO &&
        ours->engine != theirs.engine)
        return map_refuse_option(context, "ENGINE", bry_engine_name(theirs.engine),
                                 bry_engine_name(ours->engine));
    if (request->given[MAP_CAPACITY] && theirs.engine != BRY_ENGINE_KBF &&
        !map_number_fits(context, "CAPACITY", theirs.capacity, ours->capacity))
        return false;
    if (request->given[MAP_NOGROW] && !theirs.fixed)
        return reply_false(context, "MISMATCH", "the map was created without NOGROW");
    return (!request->given[MAP_ERROR] || map_error_fits(context, theirs.error, ours->error)) &&
           map_values_fit(context, request, &theirs) &&
           (!request->given[MAP_SEED] || map_seed_fits(context, theirs.seed, ours->seed));
}
