/* The table of the commands ONCE and ONCE.*: what the server registers, and COMMAND DOCS and
 * doc/commands/ show. */
#include "module/core/command_table_parts.h"
#include "module/once/once_run.h"

#define GUARD KEY_CALLED("guard", 0, NULL, 0, "Key of the guard; NOGUARD if it does not exist.")

static server_command_arg once_args[] = {
    GUARD,
    ARG("id", SERVER_ARG_STRING, NULL, 0,
        "Id of the operation: any bytes, chosen by the client and sent again with each retry."),
    ARG("command", SERVER_ARG_STRING, NULL, 0,
        "A write command with at least one key. In a cluster, its keys must be in the slot of the "
        "guard."),
    ARG("argument", SERVER_ARG_STRING, NULL, SERVER_ARG_OPTIONAL | SERVER_ARG_MULTIPLE,
        "Arguments of the command."),
    {0},
};
static server_command_arg create_args[] = {
    KEY_CALLED("guard", 0, NULL, 0, NEW("guard")),
    ARG("window", SERVER_ARG_INTEGER, "WINDOW", 0,
        A_WINDOW(
            "Minimum time for which ids are remembered (longer than any client keeps retrying)")),
    CAPACITY("Number of ids per window to plan for (not a limit)",
             PRESET("once-capacity", "1,000,000")),
    ERROR_SHARE("Probability that a new id is taken for a repeat and its command not run",
                BRY_WINDOW_ERROR_MIN, PRESET("once-error", "1e-9")),
    MAXMEM("guard"),
    SEED,
    {0},
};
static server_command_arg guard_args[] = {GUARD, {0}};

/* Incomplete: the server asks for the keys of the command that ONCE runs (getkeys-api). */
static server_key_spec once_keys[] = {
    KEY_AT(1, SERVER_SPEC_RW | SERVER_SPEC_ACCESS | SERVER_SPEC_UPDATE | SERVER_SPEC_INCOMPLETE),
    {0}};

const module_command once_commands[] = {
    COMMAND(
        "ONCE.CREATE", once_command_create, "write deny-oom", -2, ONE_KEY(CREATES), create_args,
        "O(1)",
        .summary =
            "Creates a guard, which is a window with engine compact that uses the server's clock. "
            "WINDOW is how long ids are remembered; make it longer than any client keeps retrying. "
            "ERROR is the probability that a new id is taken for a repeat, 1e-9 by default.",
        .example = "ONCE.CREATE paid WINDOW 24h MAXMEM 64MB"),
    COMMAND("ONCE", once_command, "write deny-oom getkeys-api", -4, once_keys, once_args,
            "O(1) plus the command",
            .summary =
                "Runs a write command at most once per id within the window of the guard: no read, "
                "script or transaction, and none that may block. Returns 1 and the command's reply "
                "if it was run, or 0 and null if the id was seen before (replies are not stored). "
                "If the command returns an error, ONCE returns it and does not remember the id; "
                "any other reply, null included, counts as run.",
            .example = "ONCE.CREATE paid WINDOW 24h\nONCE paid order-7 HINCRBY balance ann -250\n"
                       "ONCE paid order-7 HINCRBY balance ann -250\nHGET balance ann\n"
                       "ONCE paid order-8 XADD orders * customer ann"),
    COMMAND_INTERNAL(ONCE_APPLY, once_command_apply, "write", -4, ONE_KEY(CHANGES),
                     "runs a command and remembers its id", "O(1) plus the command"),
    COMMAND_INTERNAL(ONCE_DONE, once_command_done, "write fast", -4, ONE_KEY(CHANGES),
                     "remembers the id of a command that ONCE has run", "O(1)"),
    COMMAND("ONCE.INFO", once_command_info, "readonly", 2, ONE_KEY(LOOKS), guard_args, "O(1)",
            .summary =
                "Returns how many commands a guard let through, how many repeats it stopped and "
                "how many writes are expected to be lost, followed by the fields of WINDOW.INFO.",
            .fields =
                "applied: commands that were run\n"
                "repeats: commands that were not run, because their id was remembered\n"
                "expected_lost: expected number of commands that were taken for repeats by error\n"
                "WINDOW.INFO: the fields of the guard as a window",
            .example = "ONCE.CREATE paid WINDOW 24h SEED 7\nONCE paid order-7 INCR sold\n"
                       "ONCE paid order-7 INCR sold\nONCE.INFO paid"),
    {0},
};
