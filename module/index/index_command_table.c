/* The table of the commands INDEX.*: what the server registers, and COMMAND DOCS and doc/commands/
 * show. */
#include "module/core/command_table_parts.h"
#include "module/index/index_type.h"

#define INDEX KEY_OF("index")
#define UNIT                                                                                       \
    ARG("unit", SERVER_ARG_INTEGER, NULL, 0,                                                       \
        "Number of a unit, which you choose: a plain whole number from 0 to 2^63 - 1.")

static server_command_arg engines[ENGINES_ROOM] = {
    WORD("auto", "auto", 0, "Engine compact, or dba if GROUP is given."),
};

static server_command_arg create_args[] = {
    NEW_KEY("index"),
    OPTION("units", SERVER_ARG_INTEGER, "UNITS",
           "Number of units to plan for, a count from 1 to " UNITS_MOST
           "." PRESET("index-units", "64")),
    CAPACITY("Number of items per unit (more are refused with FULL)",
             PRESET("index-capacity", "65,536")),
    ERROR_SHARE("Probability that some unit is reported for an item that is in none",
                BRY_INDEX_ERROR_MIN, PRESET("index-error", "0.001")),
    CHOICE("engine", "ENGINE", engines, "Data structure to use." PRESET("index-engine", "auto")),
    OPTION("group", SERVER_ARG_INTEGER, "GROUP",
           "Engine dba only: number of units that are tested together, 1, 8, 16, 32, 64, 128, 256 "
           "or 512. Default: depends on the number of units."),
    ORIGIN("Units can be moved between such indexes. Excludes all other arguments."),
    WORD(
        "nogrow", "NOGROW", SERVER_ARG_OPTIONAL,
        "Units beyond UNITS are refused with FULL, as always with engine dba; with compact it "
        "saves 0.4 bits per item. Default: compact accepts more units and stays within its ERROR."),
    {0},
};
static server_command_arg unit_items_args[] = {INDEX, UNIT, ITEMS, {0}};
static server_command_arg items_args[] = {INDEX, ITEMS, {0}};
static server_command_arg unit_args[] = {INDEX, UNIT, {0}};
static server_command_arg import_args[] = {
    INDEX,
    UNIT,
    ARG("frame", SERVER_ARG_STRING, NULL, 0,
        "The unit, as returned by INDEX.EXPORT or bry_index_save_unit()."),
    {0},
};
static server_command_arg info_args[] = {
    INDEX,
    OPTION("unit", SERVER_ARG_INTEGER, NULL,
           "Number of a unit, a plain whole number. Default: the whole index."),
    {0},
};

const module_command index_commands[] = {
    COMMAND("INDEX.CREATE", index_command_create, "write deny-oom getkeys-api", -2, KEYS_OF_CREATE,
            create_args, "O(1)",
            .summary =
                "Creates an empty index, planned for UNITS units of CAPACITY items each. ERROR is "
                "the probability that some unit is reported for an item that is in none.",
            .example = "INDEX.CREATE where UNITS 16 CAPACITY 10k ERROR 0.1%"),
    COMMAND("INDEX.ADD", index_command_add, "write deny-oom fast", -4, ONE_KEY(CHANGES),
            unit_items_args, "O(n), n items",
            .summary = "Adds items to a unit, all or none; opens the unit if it does not exist. "
                       "Returns 1 for each item that is new in the unit, 0 for those that it "
                       "contained or seemed to contain.",
            .example = "INDEX.CREATE where\nINDEX.ADD where 3 a b\nINDEX.ADD where 3 b c"),
    COMMAND("INDEX.LOCATE", index_command_locate, "readonly", -3, ONE_KEY(READS), items_args,
            "O(n + c log c), n items, c units that hold them, including dropped units that are not "
            "cleared yet; with engine dba also n times the number of units divided by the width of "
            "a group. The reply has no limit: an item in 100,000 units takes 7 ms, and about half "
            "as long for each repetition of it in the same command",
            .summary = "Returns for each item the units that may hold it, the most recently opened "
                       "first. A unit that the item was added to is always among them.",
            .example = "INDEX.CREATE where\nINDEX.ADD where 3 a b\nINDEX.ADD where 8 b\n"
                       "INDEX.LOCATE where a b z"),
    COMMAND("INDEX.EXISTS", index_command_exists, "readonly", -3, ONE_KEY(LOOKS), items_args,
            "O(n), n items, plus dropped units that held them and are not cleared yet; with engine "
            "dba n times the number of units divided by the width of a group: 64 items in 200,000 "
            "units take 3 ms, but a second with GROUP 1",
            .summary = "Returns 1 for each item that any unit may hold, 0 for the others.",
            .example = "INDEX.CREATE where\nINDEX.ADD where 3 a\nINDEX.EXISTS where a z"),
    COMMAND("INDEX.DEL", index_command_del, "write fast", -4, ONE_KEY(DELETES), unit_items_args,
            "O(n), n items",
            .summary = "Deletes items from a unit to which they were added. Returns 1 for each "
                       "that was there. Engine compact only.",
            .example = "INDEX.CREATE where\nINDEX.ADD where 3 a b\nINDEX.DEL where 3 b z"),
    COMMAND("INDEX.SEAL", index_command_seal, "write fast", 3, ONE_KEY(CHANGES), unit_args, "O(1)",
            .summary =
                "Seals a unit: it accepts no more items. Returns 1, or 0 if it was already sealed.",
            .example = "INDEX.CREATE where\nINDEX.ADD where 3 a\nINDEX.SEAL where 3"),
    COMMAND("INDEX.DROP", index_command_drop, "write", 3, ONE_KEY(DELETES), unit_args,
            "O(1): memory is freed in steps, by this and later changes",
            .summary = "Drops a unit with its items. Returns 1, or 0 if it does not exist. The "
                       "number may be used again.",
            .example = "INDEX.CREATE where\nINDEX.ADD where 3 a\nINDEX.DROP where 3\n"
                       "INDEX.LOCATE where a"),
    COMMAND("INDEX.EXPORT", index_command_export, "readonly", 3, ONE_KEY(READS), unit_args,
            "O(n), n items of the whole index, two passes; with engine dba n bytes of the unit",
            .summary =
                "Returns a unit as a frame for INDEX.IMPORT, here or on another server, into an "
                "index with the same parameters and seed; null if the unit does not exist.",
            .example = "INDEX.CREATE where\nINDEX.EXPORT where 3"),
    COMMAND("INDEX.IMPORT", index_command_import, "write deny-oom", 4, ONE_KEY(CHANGES),
            import_args,
            "O(n), n items of the unit; of the whole index if items of dropped units have to be "
            "cleared first",
            .summary = "Adds a unit that was exported by INDEX.EXPORT from an index created LIKE "
                       "this one, or saved by the library's bry_index_save_unit(). Returns its "
                       "number of items. The unit number that it had there does not matter.",
            .example = "INDEX.CREATE where\nINDEX.IMPORT where 3 damaged"),
    COMMAND("INDEX.INFO", index_command_info, "readonly", -2, ONE_KEY(LOOKS), info_args,
            "O(1); with engine dba O(n), n groups of units",
            .summary = "Returns the parameters of an index, what it holds, and its error as "
                       "promised, as estimated, and as expected when all units are full. With a "
                       "unit: its items, capacity, estimated error, and whether it is sealed.",
            .fields =
                "engine: compact or dba\n"
                "units: units that exist\n"
                "planned_units: UNITS of the options\n"
                "promised_units: units that are possible within the promised error\n"
                "grows: 1 if it accepts more than it is planned for\n"
                "capacity: number of items that a unit is planned for\n"
                "items: items in all units\n"
                "deletes: 1 if items can be deleted (engine compact)\n"
                "supplier: what supplies the items for rebuilding units: not needed (engine "
                "compact), or none (engine dba)\n"
                "seed: of the hash function\n"
                "promised_error, estimated_error: the ERROR of the options, and the error computed "
                "from what it holds now\n"
                "full_error: the error when all existing units are full\n"
                "fill: engine dba: fraction of bits that are set; engine compact: entries divided "
                "by the number that the tables are planned for\n"
                "group, groups, widest_group: engine dba: GROUP of the options (0: chosen by the "
                "number of units), how many groups there are, and the units that the widest has "
                "room for\n"
                "dropped_items: engine compact: items of dropped units that still take memory\n"
                "bytes: memory of the key\n"
                "unit, sealed: with a unit: its number, and 1 if it accepts no more items",
            .example = "INDEX.CREATE where SEED 7\nINDEX.ADD where 3 a b\nINDEX.INFO where"),
    COMMAND_INTERNAL(INDEX_EFFECT_DROP, index_command_drop_unfolded, "write", 3, ONE_KEY(DELETES),
                     "drops a unit without folding tables", "O(1)"),
    COMMAND_INTERNAL(INDEX_EFFECT_IMPORT, index_command_import_unfolded, "write", 4,
                     ONE_KEY(CHANGES), "imports a unit without folding tables",
                     "O(n), n items of the unit"),
    COMMAND_RESTORE("BLOOMERY.INDEX.LOAD"),
    {0},
};
