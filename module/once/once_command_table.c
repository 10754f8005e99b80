/* The commands ONCE and ONCE.* as data: what the server registers, and COMMAND DOCS and the manual
 * show. */
#include "module/core/command_table_parts.h"
#include "module/once/once_run.h"

#define GUARD KEY_CALLED("guard", 0, NULL, 0, "Key of the guard; NOGUARD where there is none.")

static server_command_arg once_args[] = {
    GUARD,
    ARG("id", SERVER_ARG_STRING, NULL, 0,
        "Name of what is to be done, any bytes, made up once by the client and sent again with "
        "each retry."),
    ARG("command", SERVER_ARG_STRING, NULL, 0,
        "A command that writes and names a key; in a cluster, keys in the slot of the guard."),
    ARG("argument", SERVER_ARG_STRING, NULL, SERVER_ARG_OPTIONAL | SERVER_ARG_MULTIPLE,
        "Its arguments, as without ONCE."),
    {0},
};
static server_command_arg create_args[] = {
    KEY_CALLED("guard", 0, NULL, 0, NEW("guard")),
    ARG("window", SERVER_ARG_INTEGER, "WINDOW", 0,
        A_WINDOW("How long an id is remembered at least, longer than any client retries")),
    CAPACITY("Ids within one window to plan for, not a limit",
             PRESET("once-capacity", "1,000,000")),
    ERROR_SHARE("Chance that a new id is taken for a repeat and its command not run",
                BRY_WINDOW_ERROR_MIN, PRESET("once-error", "1e-9")),
    MAXMEM("guard"),
    SEED,
    {0},
};
static server_command_arg guard_args[] = {GUARD, {0}};

/* Incomplete, so that the server asks for the keys of the command that ONCE calls. */
static server_key_spec once_keys[] = {
    KEY_AT(1, SERVER_SPEC_RW | SERVER_SPEC_ACCESS | SERVER_SPEC_UPDATE | SERVER_SPEC_INCOMPLETE),
    {0}};
static server_key_spec create_keys[] = {KEY_AT(1, CREATES), {0}};
static server_key_spec look_keys[] = {KEY_AT(1, SERVER_SPEC_RO), {0}};

const module_command once_commands[] = {
    {
        .name = "ONCE.CREATE",
        .run = once_command_create,
        .flags = "write deny-oom",
        .categories = "write bloomery",
        .arity = -4,
        .key_specs = create_keys,
        .args = create_args,
        .summary = "Creates a guard, a window of engine compact by the server's clock. WINDOW: the "
                   "time that ids are remembered, longer than any client retries. ERROR: the "
                   "chance that a new id is taken for a repeat, 1e-9 where it is left out.",
        .complexity = "O(1)",
        .since = SINCE,
        .example = "ONCE.CREATE paid WINDOW 24h MAXMEM 64MB",
    },
    {
        .name = "ONCE",
        .run = once_command,
        .flags = "write deny-oom getkeys-api",
        .categories = "write bloomery",
        .arity = -4,
        .key_specs = once_keys,
        .args = once_args,
        .summary = "Runs a command that writes, at most once for an id within the guard's window. "
                   "Returns 1 and the command's reply when it was applied, 0 alone when the id was "
                   "seen before: replies are not kept. When the command answers with an error, "
                   "ONCE does, and the id is not remembered.",
        .complexity = "O(1) beside the command",
        .since = SINCE,
        .example = "ONCE.CREATE paid WINDOW 24h\n"
                   "ONCE paid order-7 HINCRBY balance ann -250\n"
                   "ONCE paid order-7 HINCRBY balance ann -250\n"
                   "HGET balance ann\n"
                   "ONCE paid order-8 XADD orders * customer ann",
    },
    {
        .name = "ONCE.INFO",
        .run = once_command_info,
        .flags = "readonly",
        .categories = "read bloomery",
        .arity = 2,
        .key_specs = look_keys,
        .args = guard_args,
        .summary = "Tells of a guard how many commands it let through and how many it kept from "
                   "being repeated, how many writes are expected to be lost, and all that "
                   "WINDOW.INFO tells.",
        .complexity = "O(1)",
        .since = SINCE,
        .example = "ONCE.CREATE paid WINDOW 24h SEED 7\nONCE paid order-7 INCR sold\n"
                   "ONCE paid order-7 INCR sold\nONCE.INFO paid",
    },
};
const size_t once_command_count = sizeof once_commands / sizeof once_commands[0];
