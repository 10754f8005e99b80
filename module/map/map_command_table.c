/* The table of the commands MAP.*: what the server registers, and COMMAND DOCS and doc/commands/
 * show. */
#include "module/core/command_table_parts.h"
#include "module/map/map_type.h"

#define MAP KEY_OF("map")
#define A_FIELD "Name of a field: any bytes; only a hash of them is stored."
#define FIELDS ARG("field", SERVER_ARG_STRING, NULL, SERVER_ARG_MULTIPLE, A_FIELD)

static server_command_arg pair[] = {
    ARG("field", SERVER_ARG_STRING, NULL, 0, A_FIELD),
    ARG("value", SERVER_ARG_STRING, NULL, 0,
        "Its value, at most 65,535 bytes. In a map created with RAW, a plain whole number."),
    {0},
};
static server_command_arg engines[ENGINES_ROOM] = {
    WORD("auto", "auto", 0, "Engine compact."),
};
static server_command_arg kinds_of_values[] = {
    ARG("values", SERVER_ARG_INTEGER, "VALUES", 0,
        "Number of different values to plan for, a count from 1 to " VALUES_MOST
        ". Default: 1000. Engine compact accepts more. Engine kbf accepts at most " KBF_VALUES_MOST
        ", rounded up to 255, 511, 1023 and so on, and refuses further values with FULL."),
    ARG("bits", SERVER_ARG_INTEGER, "RAW", 0,
        "Values are unsigned integers of this many bits, 1 to " VALUE_BITS_MOST
        ", or 1 to " KBF_VALUE_BITS_MOST " with engine kbf. Default: values are byte strings."),
    {0},
};

/* Options of the commands that create. */
#define MAP_CAPACITY_OPTION CAPACITY("Number of fields to plan for", PRESET("map-capacity", "1000"))
#define MAP_ERROR_OPTION                                                                           \
    ERROR_SHARE("Probability that a field that is not in the map returns a value, "                \
                "and that a field that is in it does not return its own value",                    \
                BRY_MAP_ERROR_MIN, PRESET("map-error", "0.001"))
#define MAP_ENGINE_OPTION                                                                          \
    CHOICE("engine", "ENGINE", engines, "Data structure to use." PRESET("map-engine", "auto"))
#define MAP_VALUES_OPTION CHOICE("kind-of-values", NULL, kinds_of_values, NULL)
#define MAP_NOGROW_OPTION                                                                          \
    WORD("nogrow", "NOGROW", SERVER_ARG_OPTIONAL,                                                  \
         "New fields beyond CAPACITY are refused with FULL. Default: the map "                     \
         "grows and stays within its ERROR.")

static server_command_arg create_args[] = {
    NEW_KEY("map"),    MAP_CAPACITY_OPTION,
    MAP_ERROR_OPTION,  MAP_ENGINE_OPTION,
    MAP_VALUES_OPTION, ORIGIN("Such maps can be merged. Excludes all other arguments."),
    MAP_NOGROW_OPTION, {0},
};
static server_command_arg insert_args[] = {
    MAP,
    MAP_CAPACITY_OPTION,
    MAP_ERROR_OPTION,
    MAP_ENGINE_OPTION,
    MAP_VALUES_OPTION,
    SEED,
    MAP_NOGROW_OPTION,
    WORD("xx", "XX", SERVER_ARG_OPTIONAL,
         "Sets only fields that exist, and never creates the map: without a map, all answers are "
         "0."),
    WORD("nocreate", "NOCREATE", SERVER_ARG_OPTIONAL,
         "If the map does not exist, returns an error and does not create it."),
    WORD("fields", "FIELDS", 0, "The fields follow."),
    ARG_OF("data", SERVER_ARG_BLOCK, NULL, SERVER_ARG_MULTIPLE, pair, NULL),
    {0},
};
static server_command_arg pairs_args[] = {
    MAP, ARG_OF("data", SERVER_ARG_BLOCK, NULL, SERVER_ARG_MULTIPLE, pair, NULL), {0}};
static server_command_arg fields_args[] = {MAP, FIELDS, {0}};
static server_command_arg remove_args[] = {
    MAP,
    WORD("dropempty", "DROPEMPTY", SERVER_ARG_OPTIONAL,
         "Deletes the key if the map is then empty. Default: the empty map stays."),
    WORD("fields", "FIELDS", 0, "The fields follow."),
    FIELDS,
    {0},
};
static server_command_arg key_args[] = {MAP, {0}};
static server_command_arg merge_args[] = {
    KEY_CALLED("destination", 0, NULL, 0, "Key of the map that receives the fields."),
    SOURCES,
    {0}};

const module_command map_commands[] = {
    COMMAND("MAP.CREATE", map_command_create, "write deny-oom getkeys-api", -2, KEYS_OF_CREATE,
            create_args, "O(1)", .summary = "Creates an empty map.",
            .example = "MAP.CREATE routes CAPACITY 1e6 ERROR 0.1%"),
    COMMAND("MAP.SET", map_command_set, "write deny-oom fast", -4, ONE_KEY(CHANGES), pairs_args,
            "O(n), n fields",
            .summary = "Sets the values of fields. Returns 1 for each new field, 0 for the others. "
                       "Creates the map with the configured defaults if it does not exist. "
                       "MAP.INSERT is the same with options.",
            .example = "MAP.SET routes 10.0.0.1 rack1 10.0.0.2 rack2"),
    COMMAND("MAP.INSERT", map_command_insert, "write deny-oom fast", -3, ONE_KEY(CHANGES),
            insert_args, "O(n), n fields",
            .summary =
                "MAP.SET with options: sets the values of fields, and creates the map with these "
                "options if it does not exist. Returns 1 for each new field, 0 for the others; "
                "with XX 1 for each field that was set. If the map exists and an option that is "
                "given differs from the map's, returns MISMATCH and changes nothing. (Not compared "
                "are ENGINE auto, and CAPACITY with engine kbf, where MAP.COMPRESS changes it.)",
            .example =
                "MAP.INSERT routes CAPACITY 1e6 ERROR 0.1% FIELDS 10.0.0.1 rack1 10.0.0.2 rack2\n"
                "MAP.INSERT routes XX FIELDS 10.0.0.1 rack7 10.9.9.9 rack7"),
    COMMAND("MAP.GET", map_command_get, "readonly fast", -3, ONE_KEY(READS), fields_args,
            "O(n), n fields",
            .summary = "Returns the values of fields, null for fields that are absent.",
            .example = "MAP.SET routes 10.0.0.1 rack1\nMAP.GET routes 10.0.0.1 10.9.9.9"),
    COMMAND("MAP.DEL", map_command_del, "write fast", -3, ONE_KEY(DELETES), fields_args,
            "O(n), n fields",
            .summary = "Deletes fields. Returns 1 for each field that existed. MAP.REMOVE is the "
                       "same with options.",
            .example = "MAP.SET routes 10.0.0.1 rack1\nMAP.DEL routes 10.0.0.1 10.9.9.9"),
    COMMAND("MAP.REMOVE", map_command_remove, "write fast", -3, ONE_KEY(DELETES), remove_args,
            "O(n), n fields",
            .summary =
                "MAP.DEL with options: deletes fields. Returns 1 for each field that existed.",
            .example = "MAP.SET routes 10.0.0.1 rack1\n"
                       "MAP.REMOVE routes DROPEMPTY FIELDS 10.0.0.1 10.9.9.9"),
    COMMAND("MAP.EXISTS", map_command_exists, "readonly fast", -3, ONE_KEY(LOOKS), fields_args,
            "O(n), n fields", .summary = "Returns 1 for each field that exists, 0 for the others.",
            .example = "MAP.SET routes 10.0.0.1 rack1\nMAP.EXISTS routes 10.0.0.1 10.9.9.9"),
    COMMAND("MAP.MERGE", map_command_merge, "write deny-oom", -3, KEYS_OF_MERGE, merge_args,
            "O(n), n fields of all maps",
            .summary = "Adds all fields of other maps, which must have been created LIKE this one. "
                       "Returns the number of fields in the destination. A source that does not "
                       "exist counts as empty. If the destination does not exist, it becomes a "
                       "copy of the first source that exists.",
            .example = "MAP.SET north a 1\nMAP.CREATE south LIKE north\nMAP.SET south b 2\n"
                       "MAP.MERGE north south"),
    COMMAND("MAP.COMPRESS", map_command_compress, "write", 2, ONE_KEY(CHANGES), key_args,
            "O(n), n fields",
            .summary =
                "Shrinks a map to what its fields need and drops values that no field has; engine "
                "kbf can drop values only if the map is empty. Returns the number of bytes freed.",
            .example = "MAP.SET routes 10.0.0.1 rack1\nMAP.COMPRESS routes"),
    COMMAND("MAP.INFO", map_command_info, "readonly", 2, ONE_KEY(LOOKS), key_args, "O(1)",
            .summary = "Returns the parameters of a map, what it holds, and its promised and "
                       "estimated errors.",
            .fields =
                "engine: compact or kbf\n"
                "items: fields in the map, as counted by changes\n"
                "capacity: number of fields it is planned for\n"
                "grows: 1 if it accepts more than that, 0 with NOGROW\n"
                "promised_error: the ERROR of the options\n"
                "seed: of the hash function\n"
                "value_bits: bits of a value with RAW, else 0\n"
                "values: different values that it holds, with VALUES\n"
                "values_left: codes left for new values, with VALUES\n"
                "tables: 1 unless it has grown\n"
                "load: fields divided by the capacity of all tables\n"
                "planned_false_positive, planned_false_negative, planned_incorrect: probability, "
                "when it is full as planned, that an absent field returns a value, that a present "
                "one is reported as absent, and that a present one returns another value\n"
                "estimated_false_positive, estimated_false_negative, estimated_incorrect: the "
                "same, computed from what it holds now\n"
                "refused_unsure, refused_full: changes refused with UNSURE, FULL\n"
                "ghosts: engine kbf: fields that could not be deleted, because the map was unsure "
                "of them\n"
                "queries: fields asked for or changed on this node since the key was loaded\n"
                "bytes: memory of the key\n"
                "bytes_keys, bytes_values: parts of it: fields, and different values",
            .example = "MAP.CREATE routes CAPACITY 1e6 SEED 7\nMAP.INFO routes"),
    COMMAND_RESTORE("BLOOMERY.MAP.LOAD"),
    {0},
};
