/* The table of the commands COUNTER.*: what the server registers, and COMMAND DOCS and
 * doc/commands/ show. */
#include "module/core/command_table_parts.h"
#include "module/counter/counter_type.h"

#define TABLE KEY_CALLED("table", 0, NULL, 0, "Key of the table.")
#define A_COUNTER "Name of a counter."
static server_command_arg operation[] = {
    ARG("counter", SERVER_ARG_STRING, NULL, 0,
        "Name of a counter, at most 65,535 bytes. A new counter starts at 0."),
    ARG("delta", SERVER_ARG_INTEGER, NULL, 0,
        "Number to add, a signed 64-bit integer; OVERFLOW if the sum does not fit."),
    ARG("id", SERVER_ARG_STRING, NULL, 0,
        "Id of this operation on this counter: any bytes, chosen by the client and sent again with "
        "each retry."),
    {0},
};
#define SENT                                                                                       \
    OPTION("sent", SERVER_ARG_INTEGER, "SENT",                                                     \
           "When the client created the operation, in milliseconds since 1970; the same in each "  \
           "retry. If that is longer ago than WINDOW less SKEW, an operation that is not known "   \
           "is refused with EXPIRED, because it may have been applied and forgotten. More than "   \
           "SKEW in the future it is refused with SKEW. Default: operations are never too late.")

static server_command_arg engines[ENGINES_ROOM] = {
    WORD("auto", "auto", 0, "Engine compact."),
};

static server_command_arg create_args[] = {
    KEY_CALLED("table", 0, NULL, 0, NEW("table")),
    ARG("window", SERVER_ARG_INTEGER, "WINDOW", 0,
        A_WINDOW("Minimum time for which a retry is recognised (longer than any client keeps "
                 "retrying)")),
    ERROR_SHARE("Probability that an increment is taken for a repeat and lost",
                BRY_COUNTERS_ERROR_MIN, " Default: 1e-9."),
    MAXMEM("table"),
    CAPACITY("Number of operations per window to plan for (not a limit)",
             PRESET("counter-capacity", "1,000,000") " A very small ERROR may lower it."),
    CHOICE("engine", "ENGINE", engines, "Data structure for the ids. Default: auto."),
    OPTION("skew", SERVER_ARG_INTEGER, "SKEW",
           "How far a client's clock may differ from the server's, for SENT: a time, at most "
           "WINDOW. Default: 1s, or a quarter of a shorter WINDOW."),
    SEED,
    {0},
};
static server_command_arg incrby_args[] = {
    TABLE,
    ARG_OF("operation", SERVER_ARG_BLOCK, NULL, SERVER_ARG_MULTIPLE, operation, NULL),
    SENT,
    {0},
};
static server_command_arg counters_args[] = {
    TABLE, ARG("counter", SERVER_ARG_STRING, NULL, SERVER_ARG_MULTIPLE, A_COUNTER), {0}};
static server_command_arg scan_args[] = {
    TABLE,
    ARG("cursor", SERVER_ARG_INTEGER, NULL, 0,
        "0 to start, then the cursor from the last reply; a plain whole number."),
    OPTION("count", SERVER_ARG_INTEGER, "COUNT",
           "Maximum number of counters per reply, a count from 1 to 1,000,000; more than 8,192 is "
           "the same as 8,192. Default: 10."),
    {0},
};
static server_command_arg table_args[] = {TABLE, {0}};

static server_key_spec change_keys[] = {
    KEY_AT(1, SERVER_SPEC_RW | SERVER_SPEC_ACCESS | SERVER_SPEC_UPDATE), {0}};

const module_command counter_commands[] = {
    COMMAND("COUNTER.CREATE", counter_command_create, "write deny-oom", -2, ONE_KEY(CREATES),
            create_args, "O(1)",
            .summary = "Creates an empty table of counters. WINDOW is how long a retry is "
                       "recognised; make it longer than any client keeps retrying. ERROR is the "
                       "probability that an increment is lost, 1e-9 by default.",
            .example = "COUNTER.CREATE sales WINDOW 10m MAXMEM 64MB"),
    COMMAND("COUNTER.INCRBY", counter_command_incrby, "write deny-oom fast", -5, change_keys,
            incrby_args, "O(n), n operations",
            .summary = "Adds delta to each counter, once per id: a retry with the same id is not "
                       "counted again. All increments are applied or none. Returns for each the "
                       "value of the counter, and 1 if it was applied or 0 if it was a repeat.",
            .example = "COUNTER.CREATE sales WINDOW 10m\nCOUNTER.INCRBY sales tea 3 till7:1041\n"
                       "COUNTER.INCRBY sales tea 3 till7:1041 milk 1 till7:1041"),
    COMMAND("COUNTER.GET", counter_command_get, "readonly fast", -3, ONE_KEY(READS), counters_args,
            "O(n), n counters",
            .summary = "Returns the values of counters, null for those that do not exist.",
            .example = "COUNTER.CREATE sales WINDOW 10m\nCOUNTER.INCRBY sales tea 3 till7:1041\n"
                       "COUNTER.GET sales tea milk"),
    COMMAND("COUNTER.SCAN", counter_command_scan, "readonly", -3, ONE_KEY(READS), scan_args,
            "O(n), n counters listed",
            .summary = "Lists counters and their values in portions. Returns the next cursor, 0 at "
                       "the end, and a list of alternating names and values. Every counter that "
                       "exists during the whole scan is listed.",
            .example = "COUNTER.CREATE sales WINDOW 10m\nCOUNTER.INCRBY sales tea 3 till7:1041\n"
                       "COUNTER.SCAN sales 0 COUNT 100"),
    COMMAND("COUNTER.DEL", counter_command_del, "write fast", -3, ONE_KEY(DELETES), counters_args,
            "O(n), n counters",
            .summary = "Deletes counters. Returns 1 for each that existed. Their ids are still "
                       "remembered: a retry of an earlier increment does not bring a counter back.",
            .example = "COUNTER.CREATE sales WINDOW 10m\nCOUNTER.INCRBY sales tea 3 till7:1041\n"
                       "COUNTER.DEL sales tea milk"),
    COMMAND(
        "COUNTER.INFO", counter_command_info, "readonly", 2, ONE_KEY(LOOKS), table_args, "O(1)",
        .summary = "Returns the parameters of a table, what it holds, how many operations were "
                   "applied, repeated, and refused with FULL or OVERFLOW, and how many increments "
                   "are expected to be lost.",
        .fields =
            "engine: compact or fbf, of the window that holds the ids\n"
            "window: time for which an id is remembered, at least\n"
            "skew: SKEW\n"
            "covered: how far back ids are remembered now. Up to one generation more than window, "
            "because ids are forgotten a generation at a time; it does not say for how long the "
            "table has been in use\n"
            "time: time of the table: of its newest change\n"
            "ahead_ms: how far that is ahead of this server's clock\n"
            "capacity: number of operations per window it is planned for\n"
            "seed: of the hash function\n"
            "counters: counters in the table\n"
            "ids: ids remembered\n"
            "applied: operations that were counted\n"
            "repeats: operations that were not, because their id was remembered\n"
            "expected_lost: expected number of operations that were taken for repeats by error\n"
            "refused_full, refused_overflow: commands refused with FULL, OVERFLOW. Those refused "
            "with EXPIRED or SKEW are in no field; INFO bloomery counts them in "
            "bloomery_counter_refused\n"
            "promised_error, estimated_error: the ERROR of the options, and the error computed "
            "from what it holds now\n"
            "maxmem: MAXMEM, 0 without\n"
            "bytes: memory of the key\n"
            "bytes_ids, bytes_counters: parts of it",
        .example = "COUNTER.CREATE sales WINDOW 10m SEED 7\nCOUNTER.INFO sales"),
    COMMAND_INTERNAL("BLOOMERY.COUNTER.APPLY", counter_command_apply, "write fast", -6,
                     ONE_KEY(CHANGES), "what COUNTER.INCRBY did, and when", "O(n), n operations"),
    COMMAND_INTERNAL(COUNTER_EFFECT_SAME, counter_command_same, "write fast", -5, ONE_KEY(CHANGES),
                     "what COUNTER.INCRBY did, at the table's time", "O(n), n operations"),
    COMMAND_INTERNAL("BLOOMERY.COUNTER.TOUCH", counter_command_touch, "write fast", 4,
                     ONE_KEY(CHANGES), "moves the time of a table", "O(1)"),
    COMMAND_RESTORE("BLOOMERY.COUNTER.LOAD"),
    {0},
};
