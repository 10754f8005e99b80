/* The commands MAP.* as data: what the server registers, and COMMAND DOCS and the manual show. */
#include "module/core/command_table_parts.h"
#include "module/map/map_type.h"

#define MAP KEY_OF("map")
#define A_FIELD "Name of a field, any bytes, of which a hash is kept."
#define FIELDS ARG("field", SERVER_ARG_STRING, NULL, SERVER_ARG_MULTIPLE, A_FIELD)

static server_command_arg pair[] = {
    ARG("field", SERVER_ARG_STRING, NULL, 0, A_FIELD),
    ARG("value", SERVER_ARG_STRING, NULL, 0,
        "Its value, at most 65,535 bytes; in a map created with RAW a plain whole number."),
    {0},
};
static server_command_arg engines[] = {
    WORD("auto", "auto", 0, "Engine compact."),
    WORD("compact", "compact", 0,
         "Fingerprints and codes of values: 3 to 5 bytes a field, and never UNSURE."),
    WORD("kbf", "kbf", 0,
         "A key-value Bloom filter: about seven times the memory, and some fields are UNSURE."),
    {0},
};
static server_command_arg kinds_of_values[] = {
    ARG("values", SERVER_ARG_INTEGER, "VALUES", 0,
        "Different values to plan for: a count from 1 to " VALUES_MOST
        ". Left out: 1000. Engine compact "
        "takes more; engine kbf is given at most " KBF_VALUES_MOST
        ", and refuses with FULL what is past the "
        "number, which is rounded up to 255, 511, 1023 and so on."),
    ARG("bits", SERVER_ARG_INTEGER, "RAW", 0,
        "Values are whole numbers of so many bits, 1 to " VALUE_BITS_MOST
        ", in engine kbf 1 to " KBF_VALUE_BITS_MOST ". Left out: "
        "values are strings of bytes."),
    {0},
};

static server_command_arg create_args[] = {
    NEW_KEY("map"),
    CAPACITY("Fields to plan for", PRESET("map-capacity", "1000")),
    ERROR_SHARE("How many of the absent fields asked for get a value at most, and of the present "
                "ones do not get theirs",
                BRY_MAP_ERROR_MIN, PRESET("map-error", "0.001")),
    CHOICE("engine", "ENGINE", engines, "What the map is made of." PRESET("map-engine", "auto")),
    CHOICE("kind-of-values", NULL, kinds_of_values, NULL),
    ORIGIN("Maps made so can be merged. No other argument goes with it."),
    WORD(
        "nogrow", "NOGROW", SERVER_ARG_OPTIONAL,
        "New fields past CAPACITY are refused with FULL. Left out: the map grows, its error kept."),
    {0},
};
static server_command_arg pairs_args[] = {
    MAP, ARG_OF("data", SERVER_ARG_BLOCK, NULL, SERVER_ARG_MULTIPLE, pair, NULL), {0}};
static server_command_arg fields_args[] = {MAP, FIELDS, {0}};
static server_command_arg key_args[] = {MAP, {0}};
static server_command_arg join_args[] = {
    KEY_CALLED("destination", 0, NULL, 0, "Key of the map that gets the fields."), SOURCES, {0}};

static server_key_spec create_keys[] = {KEY_AT(1, CREATES), KEY_AFTER("LIKE", 2, READS), {0}};
static server_key_spec change_keys[] = {KEY_AT(1, CHANGES), {0}};
static server_key_spec del_keys[] = {KEY_AT(1, DELETES), {0}};
static server_key_spec read_keys[] = {KEY_AT(1, READS), {0}};
static server_key_spec look_keys[] = {KEY_AT(1, SERVER_SPEC_RO), {0}};
static server_key_spec join_keys[] = {KEY_AT(1, CHANGES), KEYS_FROM(2, READS), {0}};

const module_command map_commands[] = {
    {
        .name = "MAP.CREATE",
        .run = map_command_create,
        .flags = "write deny-oom getkeys-api",
        .categories = "write bloomery",
        .arity = -2,
        .key_specs = create_keys,
        .args = create_args,
        .summary = "Creates an empty map.",
        .complexity = "O(1)",
        .since = SINCE,
        .example = "MAP.CREATE routes CAPACITY 1e6 ERROR 0.1%",
    },
    {
        .name = "MAP.SET",
        .run = map_command_set,
        .flags = "write deny-oom fast",
        .categories = "write fast bloomery",
        .arity = -4,
        .key_specs = change_keys,
        .args = pairs_args,
        .summary = "Sets the values of fields; answers 1 for each that is new. Creates the map "
                   "with the configured defaults when there is none.",
        .complexity = "O(n), n fields",
        .since = SINCE,
        .example = "MAP.SET routes 10.0.0.1 rack1 10.0.0.2 rack2",
    },
    {
        .name = "MAP.GET",
        .run = map_command_get,
        .flags = "readonly fast",
        .categories = "read fast bloomery",
        .arity = -3,
        .key_specs = read_keys,
        .args = fields_args,
        .summary = "Returns the values of fields, null for those that are absent.",
        .complexity = "O(n), n fields",
        .since = SINCE,
        .example = "MAP.SET routes 10.0.0.1 rack1\nMAP.GET routes 10.0.0.1 10.9.9.9",
    },
    {
        .name = "MAP.UPDATE",
        .run = map_command_update,
        .flags = "write deny-oom fast",
        .categories = "write fast bloomery",
        .arity = -4,
        .key_specs = change_keys,
        .args = pairs_args,
        .summary = "Sets the values of fields that are there; answers 1 for each of these.",
        .complexity = "O(n), n fields",
        .since = SINCE,
        .example = "MAP.SET routes 10.0.0.1 rack1\nMAP.UPDATE routes 10.0.0.1 rack7 10.9.9.9 rack7",
    },
    {
        .name = "MAP.DEL",
        .run = map_command_del,
        .flags = "write fast",
        .categories = "write fast bloomery",
        .arity = -3,
        .key_specs = del_keys,
        .args = fields_args,
        .summary = "Deletes fields; answers 1 for each that was there.",
        .complexity = "O(n), n fields",
        .since = SINCE,
        .example = "MAP.SET routes 10.0.0.1 rack1\nMAP.DEL routes 10.0.0.1 10.9.9.9",
    },
    {
        .name = "MAP.EXISTS",
        .run = map_command_exists,
        .flags = "readonly fast",
        .categories = "read fast bloomery",
        .arity = -3,
        .key_specs = look_keys,
        .args = fields_args,
        .summary = "Tells which fields are there.",
        .complexity = "O(n), n fields",
        .since = SINCE,
        .example = "MAP.SET routes 10.0.0.1 rack1\nMAP.EXISTS routes 10.0.0.1 10.9.9.9",
    },
    {
        .name = "MAP.JOIN",
        .run = map_command_join,
        .flags = "write deny-oom",
        .categories = "write bloomery",
        .arity = -3,
        .key_specs = join_keys,
        .args = join_args,
        .summary = "Adds all fields of other maps, made LIKE this one; returns how many fields "
                   "the map has then. A source that is not there counts as empty; a destination "
                   "that is not there becomes a copy of the first that is.",
        .complexity = "O(n), n fields of all the maps",
        .since = SINCE,
        .example = "MAP.SET north a 1\nMAP.CREATE south LIKE north\nMAP.SET south b 2\n"
                   "MAP.JOIN north south",
    },
    {
        .name = "MAP.COMPRESS",
        .run = map_command_compress,
        .flags = "write",
        .categories = "write bloomery",
        .arity = 2,
        .key_specs = change_keys,
        .args = key_args,
        .summary = "Makes a map as small as its fields allow, without the values that no field "
                   "has any more, which engine kbf can tell only where there is no field at all; "
                   "returns the bytes given back.",
        .complexity = "O(n), n fields",
        .since = SINCE,
        .example = "MAP.SET routes 10.0.0.1 rack1\nMAP.COMPRESS routes",
    },
    {
        .name = "MAP.INFO",
        .run = map_command_info,
        .flags = "readonly",
        .categories = "read bloomery",
        .arity = 2,
        .key_specs = look_keys,
        .args = key_args,
        .summary = "Tells what a map is made of, what it holds, and its errors as promised and as "
                   "estimated.",
        .complexity = "O(1)",
        .since = SINCE,
        .example = "MAP.CREATE routes CAPACITY 1e6 SEED 7\nMAP.INFO routes",
    },
    COMMAND_RESTORE("MAP.LOAD", map_command_load),
};
const size_t map_command_count = sizeof map_commands / sizeof map_commands[0];
