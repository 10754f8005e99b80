/*
 * ONCE: runs a write command of the server at most once per id.
 *
 * The guard, which remembers the ids, is an ordinary window: engine compact, server's clock, no
 * REFRESH. ONCE.CREATE makes one with an error rate that suits writes; any such window made by
 * WINDOW.CREATE works too. The window's promise applies: an id that was run is known for WINDOW,
 * and a new id is taken for a repeat, so that its write is lost, with a probability of at most
 * ERROR.
 *
 * An id is remembered if and only if its command was run. Remembering may fail, for lack of memory,
 * and a command cannot be undone. So the id is remembered first, and forgotten again if the command
 * returns an error. Forgetting cannot fail: the window's time does not move in between, so it needs
 * no memory (bry_window_del()).
 *
 * What is replicated and logged:
 *  applied:  BLOOMERY.ONCE.APPLY with the arguments of ONCE, which runs the command and adds the
 *            id, if the guard's time does not move and the server would replicate these words of
 *            the command itself (INCR and some others). Otherwise, in one transaction, the
 *            command's effect, as the server replicates it (SPOP as SREM, EX as PXAT), and the id
 *  the id:   WINDOW.INSERT guard AT time ITEMS id if the guard's time moves, which is at most once
 *            per millisecond; otherwise BLOOMERY.ONCE.DONE with the arguments of ONCE, which is
 *            cheaper, or, if they are long, WINDOW.ADD guard id
 *  repeated: the id, which at most moves the guard's time; so a client that then calls WAIT also
 *            waits for its first try, because WAIT looks at the last thing that the client's own
 *            commands replicated
 *  failed:   WINDOW.ADVANCE guard AT time, since the guard's time did move
 * ONCE itself is never logged.
 *
 * Keys. All keys of the command are declared as keys of ONCE, so that a cluster routes by them and
 * access control checks them; the command then runs with the caller's permissions.
 */
#ifndef BLOOMERY_MODULE_ONCE_RUN_H
#define BLOOMERY_MODULE_ONCE_RUN_H

#include "module/window/window_type.h"

extern command_family once_family;
extern const module_command once_commands[];

/* Totals of this process, for INFO. */
typedef struct once_totals {
    uint64_t applied, repeated;
    uint64_t failed; /* commands that returned an error */
    uint64_t refused; /* commands that were not run: no room, or not allowed in ONCE */
} once_totals;

extern once_totals once_total;

/* The options of ONCE.CREATE, from the settings. */
bry_window_options once_options_default(void);

/* Counts the window, which can be a guard, as one in INFO, if it is not counted yet. */
void once_mark_guard(held_object *object);
bool once_is_marked(const held_object *object);

int once_reply_no_guard(server_context *context);

/* ---- commands that ONCE runs ---------------------------------------------------------------- */

/* A command with its arguments, and the guard, which it must not use as a key. */
typedef struct once_request {
    server_string *guard;
    server_string **words;
    int n;
    bool is_verbatim; /* set by once_may_call(): the server would replicate these words */
} once_request;

/* Drops the cached properties of commands when modules are loaded or unloaded. */
int once_watch_commands(server_context *context);

/* True if ONCE may run the command. False after an error reply. */
bool once_may_call(server_context *context, once_request *request);

/* Declares the keys of the command at position `from`, for IsKeysPositionRequest(). */
void once_declare_keys(server_context *context, server_string **words, int n, int from);

/*
 * Internal commands with the arguments of ONCE, so that they can be replicated without building a
 * new command (replicate_as()). Both happen at the time that the guard already has.
 *  BLOOMERY.ONCE.DONE guard id word …   adds the id, like WINDOW.ADD guard id; ignores the words
 *  BLOOMERY.ONCE.APPLY guard id word …  also runs the command
 */
#define ONCE_DONE "BLOOMERY.ONCE.DONE"
#define ONCE_APPLY "BLOOMERY.ONCE.APPLY"

server_command_function once_command, once_command_apply, once_command_create, once_command_done,
    once_command_info;

#endif
