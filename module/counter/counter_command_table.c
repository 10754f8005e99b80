/* The commands COUNTER.* as data: what the server registers, and COMMAND DOCS and the manual show.
 */
#include "module/core/command_table_parts.h"
#include "module/counter/counter_type.h"

#define TABLE KEY_CALLED("table", 0, NULL, 0, "Key of the table.")
#define A_COUNTER "Name of a counter."
#define OPERATION                                                                                  \
    ARG("counter", SERVER_ARG_STRING, NULL, 0,                                                     \
        "Name of a counter, at most 65,535 bytes; one that is not there begins at 0."),            \
        ARG("delta", SERVER_ARG_INTEGER, NULL, 0,                                                  \
            "What to add, a plain whole number of 64 bits, negative or not; RANGE where the sum "  \
            "has more."),                                                                          \
        ARG("id", SERVER_ARG_STRING, NULL, 0,                                                      \
            "Name of the operation on this counter, any bytes, made up once by the client and "    \
            "sent again with each retry.")

static server_command_arg operation[] = {OPERATION, {0}};

static server_command_arg create_args[] = {
    KEY_CALLED("table", 0, NULL, 0, NEW("table")),
    ARG("window", SERVER_ARG_INTEGER, "WINDOW", 0,
        A_WINDOW("How long a retry is recognised at least, longer than any client retries")),
    ERROR_SHARE("Chance that an increment is taken for a repeat and lost", BRY_COUNTER_ERROR_MIN,
                " Left out: 1e-9."),
    MAXMEM("table"),
    CAPACITY("Operations within one window to plan for, not a limit",
             PRESET("counter-capacity", "1,000,000") " It may be less at a very small ERROR."),
    SEED,
    {0},
};
static server_command_arg incrby_args[] = {TABLE, OPERATION, {0}};
static server_command_arg mincrby_args[] = {
    TABLE,
    ARG_OF("operation", SERVER_ARG_BLOCK, NULL, SERVER_ARG_MULTIPLE, operation, NULL),
    {0},
};
static server_command_arg get_args[] = {
    TABLE, ARG("counter", SERVER_ARG_STRING, NULL, 0, A_COUNTER), {0}};
static server_command_arg counters_args[] = {
    TABLE, ARG("counter", SERVER_ARG_STRING, NULL, SERVER_ARG_MULTIPLE, A_COUNTER), {0}};
static server_command_arg scan_args[] = {
    TABLE,
    ARG("cursor", SERVER_ARG_INTEGER, NULL, 0,
        "0 to begin with, then the cursor of the last reply, a plain whole number."),
    OPTION("count", SERVER_ARG_INTEGER, "COUNT",
           "The most counters in one reply, a count from 1 to 1,000,000; above 8,192 it is "
           "8,192. Left out: 10."),
    {0},
};
static server_command_arg table_args[] = {TABLE, {0}};

static server_key_spec create_keys[] = {KEY_AT(1, CREATES), {0}};
static server_key_spec change_keys[] = {
    KEY_AT(1, SERVER_SPEC_RW | SERVER_SPEC_ACCESS | SERVER_SPEC_UPDATE), {0}};
static server_key_spec del_keys[] = {KEY_AT(1, DELETES), {0}};
static server_key_spec read_keys[] = {KEY_AT(1, READS), {0}};
static server_key_spec look_keys[] = {KEY_AT(1, SERVER_SPEC_RO), {0}};
static server_key_spec told_keys[] = {KEY_AT(1, CHANGES), {0}};

const module_command counter_commands[] = {
    {
        .name = "COUNTER.CREATE",
        .run = counter_command_create,
        .flags = "write deny-oom",
        .categories = "write bloomery",
        .arity = -4,
        .key_specs = create_keys,
        .args = create_args,
        .summary =
            "Creates an empty table of counters. WINDOW: milliseconds for which a retry is "
            "recognised, longer than any client retries. ERROR: the chance that an increment "
            "is lost, 1e-9 where it is left out.",
        .complexity = "O(1)",
        .since = SINCE,
        .example = "COUNTER.CREATE sales WINDOW 10m MAXMEM 64MB",
    },
    {
        .name = "COUNTER.INCRBY",
        .run = counter_command_incrby,
        .flags = "write deny-oom fast",
        .categories = "write fast bloomery",
        .arity = 5,
        .key_specs = change_keys,
        .args = incrby_args,
        .summary = "Adds to a counter, once for each id of that counter however often it is "
                   "retried. Returns the counter's value, and 1 when this call was applied, 0 when "
                   "it was a repeat.",
        .complexity = "O(1)",
        .since = SINCE,
        .example = "COUNTER.CREATE sales WINDOW 10m\nCOUNTER.INCRBY sales tea 3 till7:1041",
    },
    {
        .name = "COUNTER.MINCRBY",
        .run = counter_command_mincrby,
        .flags = "write deny-oom fast",
        .categories = "write fast bloomery",
        .arity = -5,
        .key_specs = change_keys,
        .args = mincrby_args,
        .summary = "COUNTER.INCRBY many times, all or none; returns a value and 1 or 0 for each.",
        .complexity = "O(n), n operations",
        .since = SINCE,
        .example = "COUNTER.CREATE sales WINDOW 10m\n"
                   "COUNTER.MINCRBY sales tea 3 till7:1041 milk 1 till7:1041",
    },
    {
        .name = "COUNTER.GET",
        .run = counter_command_get,
        .flags = "readonly fast",
        .categories = "read fast bloomery",
        .arity = 3,
        .key_specs = read_keys,
        .args = get_args,
        .summary = "Returns the value of a counter, null when there is none of that name.",
        .complexity = "O(1)",
        .since = SINCE,
        .example = "COUNTER.CREATE sales WINDOW 10m\nCOUNTER.INCRBY sales tea 3 till7:1041\n"
                   "COUNTER.GET sales tea",
    },
    {
        .name = "COUNTER.MGET",
        .run = counter_command_mget,
        .flags = "readonly fast",
        .categories = "read fast bloomery",
        .arity = -3,
        .key_specs = read_keys,
        .args = counters_args,
        .summary = "Returns the values of counters, null for those that are not there.",
        .complexity = "O(n), n counters",
        .since = SINCE,
        .example = "COUNTER.CREATE sales WINDOW 10m\nCOUNTER.INCRBY sales tea 3 till7:1041\n"
                   "COUNTER.MGET sales tea milk",
    },
    {
        .name = "COUNTER.SCAN",
        .run = counter_command_scan,
        .flags = "readonly",
        .categories = "read bloomery",
        .arity = -3,
        .key_specs = read_keys,
        .args = scan_args,
        .summary =
            "Lists counters and their values in portions: returns the cursor to go on with, "
            "0 at the end, and names and values in turn. What is there throughout is listed.",
        .complexity = "O(n), n counters listed",
        .since = SINCE,
        .example = "COUNTER.CREATE sales WINDOW 10m\nCOUNTER.INCRBY sales tea 3 till7:1041\n"
                   "COUNTER.SCAN sales 0 COUNT 100",
    },
    {
        .name = "COUNTER.DEL",
        .run = counter_command_del,
        .flags = "write fast",
        .categories = "write fast bloomery",
        .arity = -3,
        .key_specs = del_keys,
        .args = counters_args,
        .summary = "Deletes counters; answers 1 for each that was there. Their ids stay known: a "
                   "retry of an earlier increment does not bring a counter back.",
        .complexity = "O(n), n counters",
        .since = SINCE,
        .example = "COUNTER.CREATE sales WINDOW 10m\nCOUNTER.INCRBY sales tea 3 till7:1041\n"
                   "COUNTER.DEL sales tea milk",
    },
    {
        .name = "COUNTER.INFO",
        .run = counter_command_info,
        .flags = "readonly",
        .categories = "read bloomery",
        .arity = 2,
        .key_specs = look_keys,
        .args = table_args,
        .summary = "Tells what a table is made of and holds, what was applied, repeated and "
                   "refused, and how many increments are to be expected lost.",
        .complexity = "O(n), n ids remembered: reads the window once",
        .since = SINCE,
        .example = "COUNTER.CREATE sales WINDOW 10m SEED 7\nCOUNTER.INFO sales",
    },
    {
        .name = "COUNTER.APPLY",
        .run = counter_command_apply,
        .flags = "write fast",
        .categories = "write fast bloomery",
        .arity = -6,
        .key_specs = told_keys,
        .summary = "What COUNTER.INCRBY did, and when; for replicas and the server's own log.",
        .complexity = "O(n), n operations",
        .since = SINCE,
    },
    {
        .name = "COUNTER.TOUCH",
        .run = counter_command_touch,
        .flags = "write fast",
        .categories = "write fast bloomery",
        .arity = 4,
        .key_specs = told_keys,
        .summary = "Moves a table's time; for replicas and the server's own log.",
        .complexity = "O(1)",
        .since = SINCE,
    },
    COMMAND_RESTORE("COUNTER.LOAD", counter_command_load),
};
const size_t counter_command_count = sizeof counter_commands / sizeof counter_commands[0];
