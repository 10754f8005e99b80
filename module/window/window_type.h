/*
 * The family WINDOW: its type, its settings, and what its files share.
 *
 * Time. A window uses the server's clock or, if created with EVENTTIME, the times of its events.
 * max_skew tells which: SKEW is at least 1, and a window that uses the clock has none. The primary
 * reads the clock once per command and replicates and logs that time as AT, which only a server
 * that replays may give to a window that uses the clock. A command that did not move the window's
 * time is replicated verbatim and means that time. So a replica or log makes the same calls of the
 * library with the same arguments, in the same order, and gets the same bytes.
 *
 * Reads use the clock as well (or, with EVENTTIME, the time of the newest event) but do not change
 * the window: items expire only in commands that are replicated. A window to which nobody adds
 * keeps its memory; WINDOW.ADVANCE frees it, and also moves event time past a silence longer than
 * SKEW.
 *
 * Limits. MAXMEM is enforced by the library and depends only on what is remembered.
 * bloomery.max-key-bytes is checked before the library is called, for clients only.
 */
#ifndef BLOOMERY_MODULE_WINDOW_TYPE_H
#define BLOOMERY_MODULE_WINDOW_TYPE_H

#include "module/core/object.h"
#include "module/core/replicate_as.h"

#include <bloomery/window.h>

extern command_family window_family;
extern const module_command window_commands[];

#define WINDOW_MOST_TIME ((uint64_t)INT64_MAX) /* maximum of AT */

/* The options that create a window like this one. */
static inline bry_window_options window_like(const bry_window *window)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    bry_window_options_like(window, &options);
    return options;
}

static inline bry_window *window_of(const held_object *object)
{
    return object->thing;
}

/* What ONCE did with a guard since this server has it; neither saved nor copied. */
typedef struct once_counts {
    uint64_t applied, repeated;
    double expected_lost; /* expected number of new ids that were taken for repeats */
} once_counts;

static inline once_counts *window_once_counts(const held_object *object)
{
    return object_extra(object);
}

static inline bool window_by_events(const bry_window_options *options)
{
    return options->max_skew != 0;
}

/* The options of a new window, from the settings. */
bry_window_options window_options_default(void);

/* Makes an object with a new window. If the options have no seed, one is chosen; *options then
 * describes the window completely. Returns what bry_window_create() returns. */
bry_status window_create(bry_window_options *options, held_object **object);

/* Creates a window in an opened key that does not exist, replicates that and replies, as
 * WINDOW.CREATE does; argv[1] is the name of the key. Options as for window_create(). */
int window_put_new(server_context *context, server_string **argv, opened_key *target,
                   bry_window_options *options);

/* Counts a refusal of n new items and replies with FULL, which names the limit. `what`, `items`:
 * "window" and "items", or "guard" and "ids". */
int window_reply_full(server_context *context, const held_object *object, size_t n,
                      const char *what, const char *items);

/* Sends the fields of WINDOW.INFO. */
void window_reply_pairs(pair_reply *pairs, const held_object *object);

/* The time of a change: `at` or, if it is 0, the server's clock. False after an error reply, if the
 * window does not accept that kind of time. */
bool window_resolve_time(server_context *context, const bry_window_options *options, uint64_t at,
                         uint64_t *now);

/*
 * Updates the numbers of an object after a change; `before` is the window's time before it. The
 * number of items is always exact. Engine fbf needs a step per filter to estimate its error, so
 * that is done once per generation; with engine compact, when the number of items has changed by
 * one in 64.
 */
void window_changed(held_object *object, const bry_window_options *options, uint64_t before);

/* The same for a window that has engine compact. */
void window_changed_compact(held_object *object);

/* Updates the numbers of an object, with the error estimated now. */
void window_refresh_errors(held_object *object);

/* Counts n items that were queried or changed. */
void window_count(held_object *object, size_t n);

/* False if a generation began between the two times. */
bool window_same_generation(const bry_window_options *options, uint64_t a, uint64_t b);

/* Adds the item argv[2] to the window argv[1], for a replayed command at the time that the window
 * has. The command is replicated under another name. */
int window_add_as(server_context *context, server_string **argv, int argc, kept_name *as);

server_command_function window_command_create, window_command_add, window_command_insert,
    window_command_exists, window_command_del, window_command_advance, window_command_merge,
    window_command_info;

#endif
