/* The table of the commands WINDOW.*: what the server registers, and COMMAND DOCS and doc/commands/
 * show. */
#include "module/core/command_table_parts.h"
#include "module/window/window_type.h"

#define WINDOW KEY_OF("window")
#define AT(what, otherwise)                                                                        \
    OPTION("milliseconds", SERVER_ARG_INTEGER, "AT",                                               \
           what ", in milliseconds, a plain whole number from 1 to 2^63 - 1. " otherwise)
#define REQUIRED "Required in windows created with EVENTTIME, an error in others."
#define EVENT_AT AT("Time of the event", REQUIRED)

static server_command_arg engines[ENGINES_ROOM] = {
    WORD("auto", "auto", 0, "Engine compact."),
};
static server_command_arg event_time[] = {
    WORD("eventtime", "EVENTTIME", 0,
         "The window uses event time: each event carries its time in AT. Default: the server's "
         "clock."),
    ARG("skew", SERVER_ARG_INTEGER, "SKEW", 0,
        A_WINDOW(
            "How far an event may be ahead of all earlier events before it is refused with SKEW")),
    {0},
};

static server_command_arg create_args[] = {
    NEW_KEY("window"),
    OPTION("window", SERVER_ARG_INTEGER, "WINDOW",
           A_WINDOW("Minimum time for which items are remembered") " Optional only with LIKE."),
    ERROR_SHARE("Probability that an item that was not seen is reported as seen",
                BRY_WINDOW_ERROR_MIN, PRESET("window-error", "0.001")),
    MAXMEM("window"),
    CHOICE("engine", "ENGINE", engines, "Data structure to use." PRESET("window-engine", "auto")),
    WORD("refresh", "REFRESH", SERVER_ARG_OPTIONAL,
         "Adding a remembered item again returns 0 and remembers it from that time on. Default: it "
         "is remembered from the first time it was added."),
    ARG_OF("event-time", SERVER_ARG_BLOCK, NULL, SERVER_ARG_OPTIONAL, event_time, NULL),
    CAPACITY("Number of items per window to plan for (not a limit)",
             PRESET("window-capacity", "1000")),
    ORIGIN("Such windows can be merged. Excludes all other arguments except the same WINDOW."),
    {0},
};
static server_command_arg insert_args[] = {
    WINDOW, EVENT_AT, WORD("items", "ITEMS", 0, "The items follow."), ITEMS, {0}};
static server_command_arg items_args[] = {WINDOW, ITEMS, {0}};
static server_command_arg at_args[] = {
    WINDOW,
    AT("Time to move to, however far ahead (an earlier time has no effect)", REQUIRED),
    {0}};
static server_command_arg key_args[] = {WINDOW, {0}};
static server_command_arg merge_args[] = {
    KEY_CALLED("destination", 0, NULL, 0, "Key of the window that receives the items."),
    SOURCES,
    {0},
};

const module_command window_commands[] = {
    COMMAND("WINDOW.CREATE", window_command_create, "write deny-oom getkeys-api", -2,
            KEYS_OF_CREATE, create_args, "O(1)",
            .summary = "Creates an empty window, which remembers items for the time WINDOW, given "
                       "in milliseconds or with a unit: 60s, 5min, 1h.",
            .example = "WINDOW.CREATE seen WINDOW 60s ERROR 0.1%"),
    COMMAND("WINDOW.ADD", window_command_add, "write deny-oom fast", -3, ONE_KEY(CHANGES),
            items_args, "O(n), n items",
            .summary = "Adds items, all or none. Returns 1 for each new item, 0 for each that was "
                       "seen within the window. WINDOW.INSERT is the same with options, for "
                       "windows created with EVENTTIME.",
            .example = "WINDOW.CREATE seen WINDOW 60s\nWINDOW.ADD seen request-1\n"
                       "WINDOW.ADD seen request-1 request-2"),
    COMMAND("WINDOW.INSERT", window_command_insert, "write deny-oom fast", -3, ONE_KEY(CHANGES),
            insert_args, "O(n), n items",
            .summary = "WINDOW.ADD with options: adds items, all or none, at the time AT. Returns "
                       "1 for each new item, 0 for each that was seen within the window.",
            .example = "WINDOW.CREATE events WINDOW 60s EVENTTIME SKEW 5s\n"
                       "WINDOW.INSERT events AT 1000 ITEMS a b a"),
    COMMAND("WINDOW.EXISTS", window_command_exists, "readonly fast", -3, ONE_KEY(LOOKS), items_args,
            "O(n), n items",
            .summary = "Returns 1 for each item that was seen within the window, 0 for the others. "
                       "The window ends now or, with EVENTTIME, at the newest event.",
            .example = "WINDOW.CREATE seen WINDOW 60s\nWINDOW.ADD seen a\nWINDOW.EXISTS seen a b"),
    COMMAND("WINDOW.DEL", window_command_del, "write fast", -3, ONE_KEY(DELETES), items_args,
            "O(n), n items",
            .summary = "Deletes items before they expire, for example because the work failed "
                       "after they were added. Returns 1 for each that was remembered: now or, "
                       "with EVENTTIME, at the newest event. Engine compact only.",
            .example = "WINDOW.CREATE seen WINDOW 60s\nWINDOW.ADD seen a\nWINDOW.DEL seen a b"),
    COMMAND("WINDOW.ADVANCE", window_command_advance, "write fast", -2, ONE_KEY(CHANGES), at_args,
            "O(1): memory is freed in steps, by this and later changes; with engine fbf O(n), n "
            "bytes that expire",
            .summary = "Moves the time of a window to now or, with EVENTTIME, to AT, and drops "
                       "expired items. Returns the number of items that are still remembered. Not "
                       "needed for a window in use, whose time moves by itself.",
            .example = "WINDOW.CREATE events WINDOW 60s EVENTTIME SKEW 5s\n"
                       "WINDOW.INSERT events AT 1000 ITEMS a\nWINDOW.ADVANCE events AT 9000000"),
    COMMAND("WINDOW.MERGE", window_command_merge, "write deny-oom", -3, KEYS_OF_MERGE, merge_args,
            "O(n), n items of all windows",
            .summary =
                "Adds the items of other windows, which must have been created LIKE this one; they "
                "expire when they would have expired there. Returns the number of items "
                "remembered. A source that does not exist counts as empty. If the destination does "
                "not exist, it becomes a copy of the first source that exists.",
            .example = "WINDOW.CREATE north WINDOW 60s\nWINDOW.CREATE south LIKE north\n"
                       "WINDOW.ADD south a\nWINDOW.MERGE north south"),
    COMMAND(
        "WINDOW.INFO", window_command_info, "readonly", 2, ONE_KEY(LOOKS), key_args,
        "O(1); with engine fbf O(n), n filters",
        .summary = "Returns the parameters of a window, what it holds, and its promised and "
                   "estimated error.",
        .fields =
            "engine: compact or fbf\n"
            "window: time for which items are remembered, at least\n"
            "capacity: number of items per window it is planned for\n"
            "refresh, eventtime: 1 if it was created with REFRESH, EVENTTIME\n"
            "skew: SKEW of EVENTTIME, else 0\n"
            "seed: of the hash function\n"
            "time: time of the window: of its newest change or, with EVENTTIME, its newest event\n"
            "ahead_ms: how far that is ahead of this server's clock\n"
            "covered: how far back items are remembered now. Up to one generation more than "
            "window, because items are forgotten a generation at a time; it does not say for how "
            "long the window has been in use\n"
            "items: items remembered\n"
            "generations: parts of different age that the items are in now\n"
            "ended_early, resizes: engine fbf: generations that ended because they were full, and "
            "how often their number was adapted\n"
            "predicted_error: engine fbf: the error computed from the numbers of items alone\n"
            "promised_error, estimated_error: the ERROR of the options, and the error computed "
            "from what it holds now\n"
            "refused_full, refused_skew: changes refused with FULL, SKEW, since the key was "
            "created or loaded\n"
            "at_limit: 1 if MAXMEM is reached, so that new items are refused\n"
            "maxmem: MAXMEM, 0 without\n"
            "bytes: memory of the key",
        .example = "WINDOW.CREATE seen WINDOW 60s SEED 7\nWINDOW.INFO seen"),
    COMMAND_RESTORE("BLOOMERY.WINDOW.LOAD"),
    {0},
};
