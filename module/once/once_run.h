/*
 * ONCE: a write command of the server that is carried out at most once for an id.
 *
 * The guard, which knows the ids, is an ordinary window: engine compact, by the server's clock,
 * without REFRESH. ONCE.CREATE makes one with an error that suits writes; any that WINDOW.CREATE
 * made so will do. What an id means is the window's promise: one that was applied is known for
 * WINDOW, and one that is new is taken for a repeat, its write lost, with a probability of at most
 * ERROR.
 *
 * An id is remembered if and only if its command was carried out. Remembering may fail, for want
 * of memory, and a command cannot be taken back; so it goes first, and it is what is taken back
 * when the command answers with an error. That never fails: the window does not move in time
 * between the two, so it takes no memory (bry_window_del()).
 *
 * What is replicated and logged, in one transaction:
 *   applied:  the command's own effect, as the server replicates it (SPOP as SREM, EX as PXAT), and
 *             WINDOW.ADD guard id AT time
 *   repeated: WINDOW.ADVANCE guard AT the time the guard has already, which changes nothing; but a
 *             client that then calls WAIT waits for all that went before, the first try included:
 *             servers have WAIT look at the last thing that a client's own commands replicated
 *   failed:   WINDOW.ADVANCE guard AT time, since the guard's time did move
 * ONCE itself is in no log.
 *
 * Keys. All that the command names are declared as ONCE's own, so that a cluster routes by them and
 * access control asks for them; the command is then called with the rights of the caller.
 */
#ifndef BLOOMERY_MODULE_ONCE_RUN_H
#define BLOOMERY_MODULE_ONCE_RUN_H

#include "module/window/window_type.h"

extern command_family once_family;
extern const module_command once_commands[];
extern const size_t once_command_count;

/* In this process, for INFO. */
typedef struct once_totals {
    uint64_t applied, repeated;
    uint64_t failed; /* commands that answered with an error */
    uint64_t refused; /* those that were not called, for want of room or because ONCE does not */
} once_totals;

extern once_totals once_total;

/* Options of ONCE.CREATE as the settings say. */
bry_window_options once_options_default(void);

/* Whether a window can be a guard: NULL, or why not. */
const char *once_guard_problem(const bry_window_options *options);

/* Counts the window among the guards in INFO, if it is not yet. */
void once_mark_guard(held_object *object);

int once_reply_no_guard(server_context *context);

/* ---- commands that ONCE calls -------------------------------------------------------------- */

/* A command with its arguments, and the key that it must leave alone. */
typedef struct once_request {
    server_string *guard;
    server_string **words;
    int n;
} once_request;

/* Makes what is known of commands follow what modules come and go. */
int once_watch_commands(server_context *context);

/* Whether ONCE may call it. False: the client has been told. */
bool once_may_call(server_context *context, const once_request *request);

/* Declares the keys of a command that stands at `from`, for IsKeysPositionRequest(). */
void once_declare_keys(server_context *context, server_string **words, int n, int from);

server_command_function once_command, once_command_create, once_command_info;

#endif
