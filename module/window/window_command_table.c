/* The commands WINDOW.* as data: what the server registers, and COMMAND DOCS and the manual show.
 */
#include "module/core/command_table_parts.h"
#include "module/window/window_type.h"

#define WINDOW KEY_OF("window")
#define AT(what)                                                                                   \
    OPTION("milliseconds", SERVER_ARG_INTEGER, "AT",                                               \
           what ": milliseconds, a plain whole number from 1 to 2^63 - 1; windows created "        \
                "with EVENTTIME need it, others refuse it.")
#define EVENT_AT AT("Time of the event")

static server_command_arg engines[] = {
    WORD("auto", "auto", 0, "Engine compact, or fbf where MODE is paper or paper-simple."),
    WORD("compact", "compact", 0,
         "Fingerprint and time of each item: the least memory, and WINDOW.FORGET works."),
    WORD("fbf", "fbf", 0, "A forgetful Bloom filter: a row of Bloom filters, each for a time."),
    {0},
};
static server_command_arg modes[] = {
    WORD("improved", "improved", 0, "Keeps its error under any load; the one for engine compact."),
    WORD("paper", "paper", 0, "Engine fbf as published, with the optimized check."),
    WORD("paper-simple", "paper-simple", 0, "Engine fbf as published, with the simple check."),
    {0},
};
static server_command_arg event_time[] = {
    WORD("eventtime", "EVENTTIME", 0,
         "Time is that of the events, which come with AT. Left out: time is the server's clock."),
    ARG("skew", SERVER_ARG_INTEGER, "SKEW", 0,
        A_WINDOW("How far an event may be ahead of all before it, else it is refused with RANGE")),
    {0},
};

static server_command_arg create_args[] = {
    NEW_KEY("window"),
    OPTION(
        "window", SERVER_ARG_INTEGER, "WINDOW",
        A_WINDOW("How long an item is remembered at least") " It may be left out with LIKE alone."),
    ERROR_SHARE("Chance that an item which is not remembered is answered as seen",
                BRY_WINDOW_ERROR_MIN, PRESET("window-error", "0.001")),
    MAXMEM("window"),
    CHOICE("engine", "ENGINE", engines,
           "What the window is made of." PRESET("window-engine", "auto")),
    CHOICE("mode", "MODE", modes, "How the engine works. Left out: improved."),
    WORD("refresh", "REFRESH", SERVER_ARG_OPTIONAL,
         "Adding what is remembered answers 0 and remembers it anew, from then on. Left out: the "
         "first time counts."),
    ARG_OF("event-time", SERVER_ARG_BLOCK, NULL, SERVER_ARG_OPTIONAL, event_time, NULL),
    CAPACITY("Items within one window to plan for, not a limit", PRESET("window-capacity", "1000")),
    ORIGIN("Windows made so can be merged. No other argument but the same WINDOW goes with it."),
    {0},
};
static server_command_arg item_at_args[] = {WINDOW, ITEM, EVENT_AT, {0}};
static server_command_arg items_at_args[] = {
    WINDOW, EVENT_AT, WORD("items", "ITEMS", 0, "The items follow."), ITEMS, {0}};
static server_command_arg item_args[] = {WINDOW, ITEM, {0}};
static server_command_arg items_args[] = {WINDOW, ITEMS, {0}};
static server_command_arg at_args[] = {
    WINDOW, AT("Time to move to, however far ahead; an earlier one does nothing"), {0}};
static server_command_arg key_args[] = {WINDOW, {0}};
static server_command_arg merge_args[] = {
    KEY_CALLED("destination", 0, NULL, 0, "Key of the window that gets the items; it must exist."),
    SOURCES,
    {0},
};

static server_key_spec create_keys[] = {KEY_AT(1, CREATES), KEY_AFTER("LIKE", 2, READS), {0}};
static server_key_spec change_keys[] = {KEY_AT(1, CHANGES), {0}};
static server_key_spec forget_keys[] = {KEY_AT(1, DELETES), {0}};
static server_key_spec look_keys[] = {KEY_AT(1, SERVER_SPEC_RO), {0}};
static server_key_spec merge_keys[] = {KEY_AT(1, CHANGES), KEYS_FROM(2, READS), {0}};

const module_command window_commands[] = {
    {
        .name = "WINDOW.CREATE",
        .run = window_command_create,
        .flags = "write deny-oom getkeys-api",
        .categories = "write bloomery",
        .arity = -4,
        .key_specs = create_keys,
        .args = create_args,
        .summary = "Creates an empty window, which remembers items for a time: WINDOW, in "
                   "milliseconds or as 60s, 5min, 1h.",
        .complexity = "O(1)",
        .since = SINCE,
        .example = "WINDOW.CREATE seen WINDOW 60s ERROR 0.1%",
    },
    {
        .name = "WINDOW.ADD",
        .run = window_command_add,
        .flags = "write deny-oom fast",
        .categories = "write fast bloomery",
        .arity = -3,
        .key_specs = change_keys,
        .args = item_at_args,
        .summary = "Adds an item; answers 1 when it is new, 0 when it was seen within the window. "
                   "AT is the time of the event, in windows created with EVENTTIME.",
        .complexity = "O(1)",
        .since = SINCE,
        .example = "WINDOW.CREATE seen WINDOW 60s\nWINDOW.ADD seen request-1\n"
                   "WINDOW.ADD seen request-1",
    },
    {
        .name = "WINDOW.MADD",
        .run = window_command_madd,
        .flags = "write deny-oom fast",
        .categories = "write fast bloomery",
        .arity = -4,
        .key_specs = change_keys,
        .args = items_at_args,
        .summary = "Adds items at one time, all or none; answers 1 for each that is new.",
        .complexity = "O(n), n items",
        .since = SINCE,
        .example = "WINDOW.CREATE seen WINDOW 60s\nWINDOW.MADD seen ITEMS a b a",
    },
    {
        .name = "WINDOW.EXISTS",
        .run = window_command_exists,
        .flags = "readonly fast",
        .categories = "read fast bloomery",
        .arity = 3,
        .key_specs = look_keys,
        .args = item_args,
        .summary = "Tells whether an item was seen within the window that ends now, or, by event "
                   "time, with the newest event.",
        .complexity = "O(1)",
        .since = SINCE,
        .example = "WINDOW.CREATE seen WINDOW 60s\nWINDOW.ADD seen a\nWINDOW.EXISTS seen a",
    },
    {
        .name = "WINDOW.MEXISTS",
        .run = window_command_mexists,
        .flags = "readonly fast",
        .categories = "read fast bloomery",
        .arity = -3,
        .key_specs = look_keys,
        .args = items_args,
        .summary = "Tells which items were seen within the window.",
        .complexity = "O(n), n items",
        .since = SINCE,
        .example = "WINDOW.CREATE seen WINDOW 60s\nWINDOW.ADD seen a\nWINDOW.MEXISTS seen a b",
    },
    {
        .name = "WINDOW.FORGET",
        .run = window_command_forget,
        .flags = "write fast",
        .categories = "write fast bloomery",
        .arity = -3,
        .key_specs = forget_keys,
        .args = item_at_args,
        .summary = "Forgets an item before its time, for work that failed after it was added; "
                   "answers 1 when it was remembered. Engine compact alone.",
        .complexity = "O(1)",
        .since = SINCE,
        .example = "WINDOW.CREATE seen WINDOW 60s\nWINDOW.ADD seen a\nWINDOW.FORGET seen a",
    },
    {
        .name = "WINDOW.ADVANCE",
        .run = window_command_advance,
        .flags = "write fast",
        .categories = "write fast bloomery",
        .arity = -2,
        .key_specs = change_keys,
        .args = at_args,
        .summary = "Moves a window's time to now or, by event time, to AT, however far ahead; "
                   "returns how many items are remembered then. A window in use moves by itself.",
        .complexity = "O(n) at worst, n items forgotten",
        .since = SINCE,
        .example = "WINDOW.CREATE events WINDOW 60s EVENTTIME SKEW 5s\n"
                   "WINDOW.ADD events a AT 1000\nWINDOW.ADVANCE events AT 9000000",
    },
    {
        .name = "WINDOW.MERGE",
        .run = window_command_merge,
        .flags = "write deny-oom",
        .categories = "write bloomery",
        .arity = -3,
        .key_specs = merge_keys,
        .args = merge_args,
        .summary = "Adds what other windows, made LIKE this one, remember, for as long as they "
                   "would have; returns how many items are remembered then. A source that is not "
                   "there counts as empty; a destination that is not there is an error.",
        .complexity = "O(n), n items of all the windows",
        .since = SINCE,
        .example = "WINDOW.CREATE north WINDOW 60s\nWINDOW.CREATE south LIKE north\n"
                   "WINDOW.ADD south a\nWINDOW.MERGE north south",
    },
    {
        .name = "WINDOW.INFO",
        .run = window_command_info,
        .flags = "readonly",
        .categories = "read bloomery",
        .arity = 2,
        .key_specs = look_keys,
        .args = key_args,
        .summary = "Tells what a window is made of, what it remembers, and its error as promised "
                   "and as estimated.",
        .complexity = "O(n), n bytes, in engine fbf; O(1) in engine compact",
        .since = SINCE,
        .example = "WINDOW.CREATE seen WINDOW 60s SEED 7\nWINDOW.INFO seen",
    },
    COMMAND_RESTORE("WINDOW.LOAD", window_command_load),
};
const size_t window_command_count = sizeof window_commands / sizeof window_commands[0];
