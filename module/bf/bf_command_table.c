/* The table of the commands BF.*: what the server registers, and COMMAND DOCS and doc/commands/
 * show. */
#include "module/bf/bf_type.h"
#include "module/core/command_table_parts.h"

#define FILTER KEY_OF("filter")
/* These commands take plain numbers only, as clients of RedisBloom send them. */
#define A_RATE                                                                                     \
    "Probability that an item that is not in the filter is reported as "                           \
    "present, a plain number from " TEXT(BRY_FILTER_ERROR_MIN) " to less than 1; more than " TEXT( \
        BRY_ERROR_MAX) " counts as " TEXT(BRY_ERROR_MAX) "."
#define PLANNED_ITEMS                                                                              \
    "Number of items to plan for, a plain whole number from 1 to " CAPACITY_MOST "."
#define EXPANSION                                                                                  \
    OPTION("expansion", SERVER_ARG_INTEGER, "EXPANSION",                                           \
           "Growth factor that BF.INFO reports; it has no other effect. A plain "                  \
           "whole number from 1 to 2^32 - 1, or 0 for NONSCALING." PRESET("bf-expansion-factor",   \
                                                                          "2"))
#define NONSCALING                                                                                 \
    WORD("nonscaling", "NONSCALING", SERVER_ARG_OPTIONAL,                                          \
         "New items beyond the capacity are an error. Default: the filter grows and stays within " \
         "its error rate.")

static server_command_arg reserve_args[] = {
    KEY_CALLED("key", 0, NULL, 0, "Key of the new filter. It must not exist yet."),
    ARG("error_rate", SERVER_ARG_DOUBLE, NULL, 0, A_RATE),
    ARG("capacity", SERVER_ARG_INTEGER, NULL, 0, PLANNED_ITEMS),
    EXPANSION,
    NONSCALING,
    SEED,
    {0},
};
static server_command_arg insert_args[] = {
    KEY_CALLED("key", 0, NULL, 0,
               "Key of the filter. The options up to ITEMS apply only if it does not exist."),
    OPTION("capacity", SERVER_ARG_INTEGER, "CAPACITY",
           PLANNED_ITEMS PRESET("bf-initial-size", "100")),
    OPTION("error", SERVER_ARG_DOUBLE, "ERROR", A_RATE PRESET("bf-error-rate", "0.01")),
    EXPANSION,
    WORD("nocreate", "NOCREATE", SERVER_ARG_OPTIONAL,
         "Return an error if the filter does not exist. Default: create it."),
    NONSCALING,
    WORD("items", "ITEMS", 0, "The items follow."),
    ITEMS,
    {0},
};
static server_command_arg info_fields[] = {
    WORD("capacity", "CAPACITY", 0, "Capacity of that chain of filters."),
    WORD("size", "SIZE", 0, "Memory in bytes."),
    WORD("filters", "FILTERS", 0, "Number of filters in that chain."),
    WORD("items", "ITEMS", 0, "Number of items in the filter."),
    WORD("expansion", "EXPANSION", 0, "EXPANSION as it was given, null if NONSCALING."),
    {0},
};
static server_command_arg info_args[] = {
    FILTER,
    CHOICE("field", NULL, info_fields, "The one field to return. Default: all five."),
    {0},
};
static server_command_arg item_args[] = {FILTER, ITEM, {0}};
static server_command_arg items_args[] = {FILTER, ITEMS, {0}};
static server_command_arg key_args[] = {FILTER, {0}};
static server_command_arg merge_args[] = {
    KEY_CALLED("destination", 0, NULL, 0, "Key of the filter that receives the items."),
    SOURCES,
    {0}};
static server_command_arg dump_args[] = {
    FILTER,
    ARG("iterator", SERVER_ARG_INTEGER, NULL, 0,
        "0 to start, then the iterator from the last reply."),
    {0},
};
static server_command_arg load_args[] = {
    KEY_CALLED("key", 0, NULL, 0, "Key of the filter to create or replace."),
    ARG("iterator", SERVER_ARG_INTEGER, NULL, 0, "The iterator that was returned with the chunk."),
    ARG("data", SERVER_ARG_STRING, NULL, 0, "The chunk."),
    {0},
};

const module_command bf_commands[] = {
    COMMAND(
        "BF.RESERVE", bf_command_reserve, "write deny-oom fast", -4, ONE_KEY(CREATES), reserve_args,
        "O(1)",
        .summary =
            "Creates an empty filter. It grows beyond its capacity and stays within its error "
            "rate, unless it is NONSCALING. EXPANSION only affects what BF.INFO reports. SEED is "
            "for filters that will be merged, which need the same one; by default it is random.",
        .example = "BF.RESERVE seen 0.001 10000"),
    COMMAND("BF.ADD", bf_command_add, "write deny-oom fast", 3, ONE_KEY(CHANGES), item_args, "O(1)",
            .summary = "Adds an item. Returns 1 if it is new, 0 if it is present or seems to be, "
                       "in which case nothing changes. Creates the filter if it does not exist.",
            .example = "BF.ADD seen a\nBF.ADD seen a"),
    COMMAND("BF.MADD", bf_command_madd, "write deny-oom fast", -3, ONE_KEY(CHANGES), items_args,
            "O(n), n items",
            .summary = "Adds items in order. Returns 1 or 0 for each, like BF.ADD. If a filter "
                       "that does not scale becomes full, the last answer is an error.",
            .example = "BF.MADD seen a b a"),
    COMMAND("BF.INSERT", bf_command_insert, "write deny-oom fast", -4, ONE_KEY(CHANGES),
            insert_args, "O(n), n items",
            .summary = "Adds items like BF.MADD. Creates the filter with the given options if it "
                       "does not exist; with NOCREATE that is an error.",
            .example = "BF.INSERT seen CAPACITY 2 ERROR 1e-6 NONSCALING ITEMS a b\n"
                       "BF.INSERT seen NOCREATE ITEMS b c d"),
    COMMAND("BF.EXISTS", bf_command_exists, "readonly fast", 3, ONE_KEY(LOOKS), item_args, "O(1)",
            .summary = "Returns 1 if an item is in the filter, else 0. 0 is certain, unless items "
                       "were deleted; an item that is not in the filter gets 1 with a probability "
                       "of at most the error rate.",
            .example = "BF.ADD seen a\nBF.EXISTS seen a"),
    COMMAND("BF.MEXISTS", bf_command_mexists, "readonly fast", -3, ONE_KEY(LOOKS), items_args,
            "O(n), n items",
            .summary = "Returns 1 for each item that is in the filter, 0 for the others.",
            .example = "BF.ADD seen a\nBF.MEXISTS seen a b"),
    COMMAND("BF.DEL", bf_command_del, "write fast", -3, ONE_KEY(DELETES), items_args,
            "O(n), n items",
            .summary = "Deletes items. Returns 1 for each that was present. With a probability of "
                       "at most the error rate a deletion also removes another item; so does "
                       "deleting an item that was never added but seems to be present.",
            .example = "BF.MADD seen a b\nBF.DEL seen a c"),
    COMMAND("BF.CARD", bf_command_card, "readonly fast", 2, ONE_KEY(LOOKS), key_args, "O(1)",
            .summary = "Returns the number of items in the filter.",
            .example = "BF.MADD seen a b a\nBF.CARD seen"),
    COMMAND(
        "BF.INFO", bf_command_info, "readonly fast", -2, ONE_KEY(LOOKS), info_args, "O(1)",
        .summary = "Returns information about a filter, or one field of it. Capacity and number of "
                   "filters are those that a chain of filters with this EXPANSION would have; the "
                   "filter itself is one table. Size is its memory in bytes.",
        .fields =
            "Capacity: items that fit into a chain of filters with this EXPANSION before it grows "
            "again\n"
            "Size: memory of the key in bytes\n"
            "Number of filters: how many such a chain would have; the filter itself is one table\n"
            "Number of items inserted: items in the filter\n"
            "Expansion rate: EXPANSION, or nil with NONSCALING",
        .example = "BF.RESERVE seen 0.01 2 EXPANSION 4\nBF.MADD seen a b c\n"
                   "BF.INFO seen FILTERS\nBF.INFO seen"),
    COMMAND("BF.DEBUG", bf_command_debug, "readonly fast", 2, ONE_KEY(LOOKS), key_args, "O(1)",
            .summary = "Returns lines of text: the number of items, then size and parameters of "
                       "the filter's one table.",
            .example = "BF.ADD seen a\nBF.DEBUG seen"),
    COMMAND(
        "BF.MERGE", bf_command_merge, "write deny-oom", -3, KEYS_OF_MERGE, merge_args,
        "O(n), n items of all filters",
        .summary =
            "Adds the items of other filters, which must have the same error_rate and SEED, and "
            "the same capacity if it is above 65536 or they are NONSCALING. Returns the number of "
            "items in the destination. A source that does not exist counts as empty. If the "
            "destination does not exist, it becomes a copy of the first source that exists.",
        .example = "BF.RESERVE north 0.01 1000 SEED 7\nBF.RESERVE south 0.01 1000 SEED 7\n"
                   "BF.MADD north a b\nBF.MADD south b c\nBF.MERGE both north south"),
    COMMAND("BF.SCANDUMP", bf_command_scandump, "readonly", 3, ONE_KEY(READS), dump_args,
            "O(n), n bytes",
            .summary = "Returns the filter in chunks of up to 16 MB, each with the iterator for "
                       "the next one. Start with 0; at the end the iterator is 0 and the chunk "
                       "empty. After a change to the filter, older iterators are refused.",
            .example = "BF.ADD seen a\nBF.SCANDUMP seen 0"),
    COMMAND("BF.LOADCHUNK", bf_command_loadchunk, "write deny-oom", 4, ONE_KEY(REPLACES), load_args,
            "O(n), n bytes",
            .summary = "Restores a filter from the chunks of BF.SCANDUMP, in order, each with its "
                       "iterator. The first chunk replaces an existing filter. Until the last one, "
                       "other commands on the key return an error.",
            .example = "BF.LOADCHUNK seen 1 foreign"),
    {0},
};
