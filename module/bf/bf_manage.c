/* BF.RESERVE, CARD, INFO, DEBUG, MERGE: whole filters. */
#include "module/bf/bf_type.h"

#include "module/core/arguments.h"
#include "module/core/replies.h"
#include "text/number_format.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- BF.RESERVE ---------------------------------------------------------------------------- */

#define RESERVE_MOST 7 /* maximum number of words, without SEED */

/* BF.RESERVE searches for its options and ignores other words, as clients of RedisBloom expect.
 * Returns the position of a word after the fixed arguments, or 0. */
static int bf_find_word(server_string **argv, int argc, const char *word)
{
    for (int at = 4; at < argc; at++)
        if (is_word(argv[at], word))
            return at;
    return 0;
}

/* NULL, or what is wrong. */
static const char *bf_read_expansion(server_string **argv, int argc, uint64_t *expansion)
{
    long long number;
    bool fixed = bf_find_word(argv, argc, "NONSCALING") != 0;
    int at = bf_find_word(argv, argc, "EXPANSION");
    if (fixed)
        *expansion = 0;
    if (at == 0)
        return NULL;
    if (at + 1 == argc)
        return "ERR no expansion";
    if (api.StringToLongLong(argv[at + 1], &number) != SERVER_OK ||
        number > (long long)BF_MOST_EXPANSION)
        return fixed ? "Nonscaling filters cannot expand" : "ERR bad expansion";
    if (fixed && number != 0)
        return "Nonscaling filters cannot expand";
    if (number < 0)
        return "ERR expansion should be greater or equal to 1";
    *expansion = (uint64_t)number;
    return NULL;
}

static const char *bf_read_plan(server_string **argv, bf_parameters *parameters)
{
    long long capacity;
    double error;
    if (api.StringToDouble(argv[2], &error) != SERVER_OK)
        return "ERR bad error rate";
    if (!(error > 0 && error < 1))
        return "ERR (0 < error rate range < 1) ";
    if (api.StringToLongLong(argv[3], &capacity) != SERVER_OK ||
        capacity > (long long)BRY_CAPACITY_MAX)
        return "ERR bad capacity";
    if (capacity <= 0)
        return "ERR (capacity should be larger than 0)";
    parameters->error = error;
    parameters->capacity = (uint64_t)capacity;
    return NULL;
}

/* False after an error reply. */
static bool bf_read_reserve(server_context *context, server_string **argv, int argc,
                            bf_parameters *parameters)
{
    int seed = bf_find_word(argv, argc, "SEED");
    *parameters = bf_default_parameters();
    if (argc > (seed ? RESERVE_MOST + 2 : RESERVE_MOST) || seed + 1 == argc) {
        api.WrongArity(context);
        return false;
    }
    const char *problem = bf_read_plan(argv, parameters);
    if (!problem)
        problem = bf_read_expansion(argv, argc, &parameters->expansion);
    if (problem)
        reply_error_text(context, problem);
    return !problem &&
           (!seed || read_plain(context, argv[seed + 1], "SEED", 1, UINT64_MAX, &parameters->seed));
}

int bf_command_reserve(server_context *context, server_string **argv, int argc)
{
    bf_parameters parameters;
    opened_key target;
    if (argc < 4)
        return api.WrongArity(context);
    if (!bf_read_reserve(context, argv, argc, &parameters) ||
        !object_open(context, &filter_family, argv[1], SERVER_READ | SERVER_WRITE, &target))
        return SERVER_OK;
    if (target.object) {
        reply_error_text(context, "ERR item exists");
    } else {
        held_object *made = bf_create(context, &parameters);
        if (made) {
            object_put(&target, made);
            bf_replicate_creation(context, argv[1], &parameters);
            object_changed(context, argv[1], "bf.reserve", false);
            reply_ok(context);
        }
    }
    return object_close(&target);
}

/* ---- BF.CARD, BF.INFO ---------------------------------------------------------------------- */

int bf_command_card(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    if (argc != 2)
        return api.WrongArity(context);
    if (!object_open(context, &filter_family, argv[1], SERVER_READ, &opened))
        return SERVER_OK;
    uint64_t items = opened.object ? opened.object->items : 0;
    object_close(&opened);
    return api.ReplyWithLongLong(context, (long long)items);
}

/* A chain of filters with this EXPANSION, long enough for the items. */
typedef struct filter_chain {
    uint64_t capacity, filters;
} filter_chain;

static filter_chain bf_chain_of(const bf_parameters *made, uint64_t items)
{
    filter_chain chain = {made->capacity, 1};
    uint64_t next = made->capacity;
    if (made->expansion == 1 && items > chain.capacity) {
        chain.filters = (items - 1) / made->capacity + 1;
        chain.capacity = chain.filters * made->capacity;
        return chain;
    }
    /* at most expansion times the items, which are below 2^40 */
    while (made->expansion > 1 && items > chain.capacity) {
        next = next > INT64_MAX / made->expansion ? INT64_MAX : next * made->expansion;
        chain.capacity = next > INT64_MAX - chain.capacity ? INT64_MAX : chain.capacity + next;
        chain.filters++;
    }
    return chain;
}

#define INFO_FIELDS 5

static const char *const info_words[INFO_FIELDS] = {"CAPACITY", "SIZE", "FILTERS", "ITEMS",
                                                    "EXPANSION"};
static const char *const info_names[INFO_FIELDS] = {"Capacity", "Size", "Number of filters",
                                                    "Number of items inserted", "Expansion rate"};

static void bf_reply_field(server_context *context, const held_object *object, int field)
{
    bf_parameters made = bf_made(bf_of(object));
    filter_chain chain = bf_chain_of(&made, object->items);
    uint64_t values[INFO_FIELDS] = {chain.capacity, object->account.bytes, chain.filters,
                                    object->items, made.expansion};
    if (info_words[field][0] == 'E' && made.expansion == 0)
        api.ReplyWithNull(context);
    else
        api.ReplyWithLongLong(context, (long long)values[field]);
}

static void bf_reply_pairs(server_context *context, const held_object *object, int from, int to)
{
    api.ReplyWithMap(context, to - from);
    for (int i = from; i < to; i++) {
        api.ReplyWithSimpleString(context, info_names[i]);
        bf_reply_field(context, object, i);
    }
}

/* Sends one field: the value or, in RESP3, a map. */
static void bf_reply_one(server_context *context, const held_object *object, int field)
{
    if (api.GetContextFlags(context) & SERVER_CLIENT_RESP3) {
        bf_reply_pairs(context, object, field, field + 1);
        return;
    }
    api.ReplyWithArray(context, 1);
    bf_reply_field(context, object, field);
}

int bf_command_info(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    int field = 0;
    if (argc < 2 || argc > 3)
        return api.WrongArity(context);
    if (!object_open(context, &filter_family, argv[1], SERVER_READ, &opened))
        return SERVER_OK;
    while (argc == 3 && field < INFO_FIELDS && !is_word(argv[2], info_words[field]))
        field++;
    if (!opened.object)
        reply_error_text(context, "ERR not found");
    else if (field == INFO_FIELDS)
        reply_error_text(context, "Invalid information value");
    else if (argc == 3)
        bf_reply_one(context, opened.object, field);
    else
        bf_reply_pairs(context, opened.object, 0, INFO_FIELDS);
    return object_close(&opened);
}

/* ---- BF.DEBUG ------------------------------------------------------------------------------ */

#define DEBUG_SIZE 200
#define HASH_BITS 64

static int bf_reply_debug_line(server_context *context, const char *line)
{
    return api.ReplyWithStringBuffer(context, line, strlen(line));
}

/* The number of items, then one line for each filter of RedisBloom's chain. Here there is always
 * one table, whatever BF.INFO reports. */
static int bf_reply_debug(server_context *context, const held_object *object)
{
    bf_parameters made = bf_made(bf_of(object));
    char line[DEBUG_SIZE], error[TEXT_NUMBER_SIZE];
    size_t bytes = object->account.bytes;
    api.ReplyWithArray(context, 2);
    snprintf(line, sizeof line, "size:%" PRIu64, object->items);
    bf_reply_debug_line(context, line);
    snprintf(line, sizeof line,
             "bytes:%zu bits:%zu hashes:1 hashwidth:%d capacity:%" PRIu64 " size:%" PRIu64
             " ratio:%s",
             bytes, bytes * CHAR_BIT, HASH_BITS, bf_chain_of(&made, object->items).capacity,
             object->items, text_number(made.error, error));
    return bf_reply_debug_line(context, line);
}

int bf_command_debug(server_context *context, server_string **argv, int argc)
{
    opened_key opened;
    if (argc != 2)
        return api.WrongArity(context);
    if (!object_open(context, &filter_family, argv[1], SERVER_READ, &opened))
        return SERVER_OK;
    if (opened.object)
        bf_reply_debug(context, opened.object);
    else
        reply_error_text(context, "ERR not found");
    return object_close(&opened);
}

/* ---- BF.MERGE ------------------------------------------------------------------------------ */

_Static_assert(BF_LEAST_PLAN == 65536, "the text below must match");

int bf_command_merge(server_context *context, server_string **argv, int argc)
{
    static const merge_method how = {
        .family = &filter_family,
        .event = "bf.merge",
        .effect = BF_EFFECT_MERGE,
        .mismatch = "filters can be merged only if they have the same error_rate and SEED, and all "
                    "or none are NONSCALING; if they are NONSCALING or the capacity is above "
                    "65536, the capacity must be the same too",
        .full =
            "the filters together would exceed error_rate (NONSCALING: the capacity), because a "
            "merge cannot lengthen fingerprints: reserve filters that will be merged with a "
            "capacity for the items of all of them",
    };
    return object_merge(context, argv, argc, &how);
}
