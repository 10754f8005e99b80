/*
 * The family WINDOW: its type, its settings, and what its files share.
 *
 * Time. A window goes by the server's clock, or, created with EVENTTIME, by the times that come
 * with its events; max_skew tells which: SKEW is at least 1, and a window by the clock has none.
 * The clock is read once in a command, by the master, and what is replicated and logged has that
 * time as AT, which only a server that replays may give to a window by the clock; a command that
 * did not move the window's time goes on as it came, and means that time. So a replica or a log
 * calls the library with the same arguments in the same order, and comes to the same bytes.
 *
 * Reads look at the clock as well (or, by event time, at the time of the newest event), but leave a
 * window as it is: only commands that are replicated let it forget. One that nobody adds to keeps
 * its memory; WINDOW.ADVANCE gives it back, and is also how event time gets over a silence longer
 * than SKEW.
 *
 * Ceilings. MAXMEM is the library's, which refuses as a function of what is remembered alone.
 * bloomery.max-key-bytes is looked at before the library is asked, for clients alone.
 */
#ifndef BLOOMERY_MODULE_WINDOW_TYPE_H
#define BLOOMERY_MODULE_WINDOW_TYPE_H

#include "module/core/object.h"

#include <bloomery/window.h>

extern command_family window_family;
extern const module_command window_commands[];
extern const size_t window_command_count;

#define WINDOW_MOST_TIME ((uint64_t)INT64_MAX) /* what AT may be */

/* Options that make one like it. */
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

static inline bool window_by_events(const bry_window_options *options)
{
    return options->max_skew != 0;
}

/* Options as the settings say. */
bry_window_options window_options_default(void);

/*
 * An object with a new window. Options without a seed get one here, so that *options is all there
 * is to know about the window. What bry_window_create() returns.
 */
bry_status window_create(bry_window_options *options, held_object **object);

/* Replicates the creation of a window with all its parameters. */
void window_replicate_creation(server_context *context, server_string *name,
                               const bry_window_options *options);

/*
 * Makes a window under an opened key that is free, replicates that and answers, as WINDOW.CREATE
 * does; argv[1] is the key's name. Options as window_create().
 */
int window_put_new(server_context *context, server_string **argv, opened_key *target,
                   bry_window_options *options);

/* The pairs that INFO tells of a window, for a map of at least so many. */
#define WINDOW_INFO_PAIRS 23
void window_reply_pairs(server_context *context, const held_object *object);

/* The names of the modes, in the library's order; NULL at the end. */
extern const char *const window_mode_words[];

/*
 * The time of a change: `at`, where it is not 0, or else the clock's. False when this window does
 * not take one or the other: the client has been told.
 */
bool window_resolve_time(server_context *context, const bry_window_options *options, uint64_t at,
                         uint64_t *now);

/*
 * Brings the numbers about an object up to date after a change; `before` is the window's time
 * before it. The error of engine fbf, which takes a step per filter, is asked for once a
 * generation.
 */
void window_changed(held_object *object, const bry_window_options *options, uint64_t before);

/* The same, by asking. */
void window_refresh_errors(held_object *object);

/* Counts n items that were asked for or changed. */
void window_count(held_object *object, size_t n);

/* False when a generation began between the two times. */
bool window_same_generation(const bry_window_options *options, uint64_t a, uint64_t b);

server_command_function window_command_create, window_command_add, window_command_madd,
    window_command_exists, window_command_mexists, window_command_forget, window_command_advance,
    window_command_merge, window_command_info, window_command_load;

#endif
