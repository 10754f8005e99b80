/* The commands BF.* as data: what the server registers, and COMMAND DOCS and the manual show. */
#include "module/bf/bf_type.h"
#include "module/core/command_table_parts.h"

#define FILTER KEY_OF("filter")
/* Numbers of these commands are plain, as clients of RedisBloom send them. */
#define A_RATE                                                                                     \
    "Chance that an item which is not in the filter is answered as if it were, a plain number "    \
    "from " TEXT(BRY_FILTER_ERROR_MIN) " to below 1; more than " TEXT(                             \
        BRY_ERROR_MAX) " counts as " TEXT(BRY_ERROR_MAX) "."
#define PLANNED_ITEMS "Items to plan for, a plain whole number from 1 to " CAPACITY_MOST "."
#define EXPANSION                                                                                  \
    OPTION("expansion", SERVER_ARG_INTEGER, "EXPANSION",                                           \
           "Factor of the steps in which BF.INFO counts growth, and nothing else: a plain whole "  \
           "number from 1 to 2^32 - 1, or 0 for NONSCALING." PRESET("bf-expansion-factor", "2"))
#define NONSCALING                                                                                 \
    WORD("nonscaling", "NONSCALING", SERVER_ARG_OPTIONAL,                                          \
         "New items past the capacity are an error. Left out: the filter grows, its error kept.")

static server_command_arg reserve_args[] = {
    KEY_CALLED("key", 0, NULL, 0, "Key for the new filter; one that exists is an error."),
    ARG("error_rate", SERVER_ARG_DOUBLE, NULL, 0, A_RATE),
    ARG("capacity", SERVER_ARG_INTEGER, NULL, 0, PLANNED_ITEMS),
    EXPANSION,
    NONSCALING,
    SEED,
    {0},
};
static server_command_arg insert_args[] = {
    KEY_CALLED("key", 0, NULL, 0,
               "Key of the filter; what follows, up to ITEMS, is for one that is not there."),
    OPTION("capacity", SERVER_ARG_INTEGER, "CAPACITY",
           PLANNED_ITEMS PRESET("bf-initial-size", "100")),
    OPTION("error", SERVER_ARG_DOUBLE, "ERROR", A_RATE PRESET("bf-error-rate", "0.01")),
    EXPANSION,
    WORD("nocreate", "NOCREATE", SERVER_ARG_OPTIONAL,
         "A filter that is not there is an error. Left out: it is created."),
    NONSCALING,
    WORD("items", "ITEMS", 0, "The items follow."),
    ITEMS,
    {0},
};
static server_command_arg info_fields[] = {
    WORD("capacity", "CAPACITY", 0, "Items that such a chain of filters would be made for."),
    WORD("size", "SIZE", 0, "Memory in bytes."),
    WORD("filters", "FILTERS", 0, "Filters that such a chain would have."),
    WORD("items", "ITEMS", 0, "Items that are in the filter."),
    WORD("expansion", "EXPANSION", 0, "EXPANSION as it was given, null for NONSCALING."),
    {0},
};
static server_command_arg info_args[] = {
    FILTER,
    CHOICE("field", NULL, info_fields, "The one thing to tell. Left out: all five."),
    {0},
};
static server_command_arg item_args[] = {FILTER, ITEM, {0}};
static server_command_arg items_args[] = {FILTER, ITEMS, {0}};
static server_command_arg key_args[] = {FILTER, {0}};
static server_command_arg merge_args[] = {
    KEY_CALLED("destination", 0, NULL, 0, "Key of the filter that gets the items."), SOURCES, {0}};
static server_command_arg dump_args[] = {
    FILTER,
    ARG("iterator", SERVER_ARG_INTEGER, NULL, 0, "0 to begin with, then that of the last reply."),
    {0},
};
static server_command_arg load_args[] = {
    KEY_CALLED("key", 0, NULL, 0, "Key for the filter, or of one to replace."),
    ARG("iterator", SERVER_ARG_INTEGER, NULL, 0, "The iterator that came with the chunk."),
    ARG("data", SERVER_ARG_STRING, NULL, 0, "The chunk."),
    {0},
};

static server_key_spec reserve_keys[] = {KEY_AT(1, CREATES), {0}};
static server_key_spec add_keys[] = {KEY_AT(1, CHANGES), {0}};
static server_key_spec delete_keys[] = {KEY_AT(1, DELETES), {0}};
static server_key_spec look_keys[] = {KEY_AT(1, SERVER_SPEC_RO), {0}};
static server_key_spec dump_keys[] = {KEY_AT(1, READS), {0}};
static server_key_spec load_keys[] = {KEY_AT(1, SERVER_SPEC_OW | SERVER_SPEC_UPDATE), {0}};
static server_key_spec merge_keys[] = {KEY_AT(1, CHANGES), KEYS_FROM(2, READS), {0}};

const module_command bf_commands[] = {
    {
        .name = "BF.RESERVE",
        .run = bf_command_reserve,
        .flags = "write deny-oom fast",
        .categories = "write fast bloomery bloom",
        .arity = -4,
        .key_specs = reserve_keys,
        .args = reserve_args,
        .summary = "Creates an empty filter. It grows past its capacity, the error kept, unless it "
                   "is NONSCALING. EXPANSION: the steps in which BF.INFO counts that. SEED: for "
                   "filters that are to be merged, the same for all; without it the seed is "
                   "random.",
        .complexity = "O(1)",
        .since = SINCE,
        .example = "BF.RESERVE seen 0.001 10000",
    },
    {
        .name = "BF.ADD",
        .run = bf_command_add,
        .flags = "write deny-oom fast",
        .categories = "write fast bloomery bloom",
        .arity = 3,
        .key_specs = add_keys,
        .args = item_args,
        .summary = "Adds an item; answers 1 when it is new, 0 when it was there, or seems so: "
                   "nothing changes then. A filter that is not there is created.",
        .complexity = "O(1)",
        .since = SINCE,
        .example = "BF.ADD seen a\nBF.ADD seen a",
    },
    {
        .name = "BF.MADD",
        .run = bf_command_madd,
        .flags = "write deny-oom fast",
        .categories = "write fast bloomery bloom",
        .arity = -3,
        .key_specs = add_keys,
        .args = items_args,
        .summary = "Adds items in order; answers as BF.ADD for each. Where a filter that does not "
                   "scale is full, an error is the last answer.",
        .complexity = "O(n), n items",
        .since = SINCE,
        .example = "BF.MADD seen a b a",
    },
    {
        .name = "BF.INSERT",
        .run = bf_command_insert,
        .flags = "write deny-oom fast",
        .categories = "write fast bloomery bloom",
        .arity = -4,
        .key_specs = add_keys,
        .args = insert_args,
        .summary = "Adds items as BF.MADD; a filter that is not there is created as the arguments "
                   "say, or, with NOCREATE, is an error.",
        .complexity = "O(n), n items",
        .since = SINCE,
        .example = "BF.INSERT seen CAPACITY 2 ERROR 1e-6 NONSCALING ITEMS a b\n"
                   "BF.INSERT seen NOCREATE ITEMS b c d",
    },
    {
        .name = "BF.EXISTS",
        .run = bf_command_exists,
        .flags = "readonly fast",
        .categories = "read fast bloomery bloom",
        .arity = 3,
        .key_specs = look_keys,
        .args = item_args,
        .summary = "Tells whether an item is in the filter: 0 is certain, 1 is wrong with the "
                   "error's probability.",
        .complexity = "O(1)",
        .since = SINCE,
        .example = "BF.ADD seen a\nBF.EXISTS seen a",
    },
    {
        .name = "BF.MEXISTS",
        .run = bf_command_mexists,
        .flags = "readonly fast",
        .categories = "read fast bloomery bloom",
        .arity = -3,
        .key_specs = look_keys,
        .args = items_args,
        .summary = "Tells which items are in the filter.",
        .complexity = "O(n), n items",
        .since = SINCE,
        .example = "BF.ADD seen a\nBF.MEXISTS seen a b",
    },
    {
        .name = "BF.DEL",
        .run = bf_command_del,
        .flags = "write fast",
        .categories = "write fast bloomery bloom",
        .arity = -3,
        .key_specs = delete_keys,
        .args = items_args,
        .summary =
            "Deletes items; answers 1 for each that was there. Of the deletions a share of at "
            "most the error takes another item with it; so does each of an item that was "
            "never added and seems to be there.",
        .complexity = "O(n), n items",
        .since = SINCE,
        .example = "BF.MADD seen a b\nBF.DEL seen a c",
    },
    {
        .name = "BF.CARD",
        .run = bf_command_card,
        .flags = "readonly fast",
        .categories = "read fast bloomery bloom",
        .arity = 2,
        .key_specs = look_keys,
        .args = key_args,
        .summary = "Tells how many items are in the filter.",
        .complexity = "O(1)",
        .since = SINCE,
        .example = "BF.MADD seen a b a\nBF.CARD seen",
    },
    {
        .name = "BF.INFO",
        .run = bf_command_info,
        .flags = "readonly fast",
        .categories = "read fast bloomery bloom",
        .arity = -2,
        .key_specs = look_keys,
        .args = info_args,
        .summary =
            "Tells of a filter, or one field of it. Capacity and number of filters are those "
            "of a chain that expands as reserved and holds the items; the filter itself "
            "needs none. Size is its memory in bytes.",
        .complexity = "O(1)",
        .since = SINCE,
        .example = "BF.RESERVE seen 0.01 2 EXPANSION 4\nBF.MADD seen a b c\nBF.INFO seen FILTERS\n"
                   "BF.INFO seen",
    },
    {
        .name = "BF.DEBUG",
        .run = bf_command_debug,
        .flags = "readonly fast",
        .categories = "read fast bloomery bloom",
        .arity = 2,
        .key_specs = look_keys,
        .args = key_args,
        .summary = "Returns lines for people: the number of items, then size and numbers of the "
                   "filter's one table, however many filters BF.INFO counts.",
        .complexity = "O(1)",
        .since = SINCE,
        .example = "BF.ADD seen a\nBF.DEBUG seen",
    },
    {
        .name = "BF.MERGE",
        .run = bf_command_merge,
        .flags = "write deny-oom",
        .categories = "write bloomery bloom",
        .arity = -3,
        .key_specs = merge_keys,
        .args = merge_args,
        .summary = "Adds the items of other filters, reserved with the same error_rate and SEED, "
                   "and the same capacity where that is above 1048576 or they are NONSCALING; "
                   "returns how many items there are then. A source that is not there counts as "
                   "empty; a destination that is not there becomes a copy of the first that is.",
        .complexity = "O(n), n items of all the filters",
        .since = SINCE,
        .example = "BF.RESERVE north 0.01 1000 SEED 7\nBF.RESERVE south 0.01 1000 SEED 7\n"
                   "BF.MADD north a b\nBF.MADD south b c\nBF.MERGE both north south",
    },
    {
        .name = "BF.SCANDUMP",
        .run = bf_command_scandump,
        .flags = "readonly",
        .categories = "read bloomery bloom",
        .arity = 3,
        .key_specs = dump_keys,
        .args = dump_args,
        .summary =
            "Returns the filter in chunks of up to 16 MB, each with the iterator that asks "
            "for the next; begin with 0, the end is 0 and nothing. An iterator from before a "
            "change is refused.",
        .complexity = "O(n), n bytes",
        .since = SINCE,
        .example = "BF.ADD seen a\nBF.SCANDUMP seen 0",
    },
    {
        .name = "BF.LOADCHUNK",
        .run = bf_command_loadchunk,
        .flags = "write deny-oom",
        .categories = "write bloomery bloom",
        .arity = 4,
        .key_specs = load_keys,
        .args = load_args,
        .summary = "Restores a filter from the chunks of BF.SCANDUMP, each with the iterator that "
                   "came with it, in order; the first replaces a filter that is there. Until the "
                   "last has come, other commands on the key are errors.",
        .complexity = "O(n), n bytes",
        .since = SINCE,
        .example = "BF.LOADCHUNK seen 1 foreign",
    },
};
const size_t bf_command_count = sizeof bf_commands / sizeof bf_commands[0];
