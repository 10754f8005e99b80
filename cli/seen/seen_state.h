/*
 * The window of `bloomery seen`: a new one, or the state of an earlier run. The note of the state
 * says how keys and times were read from lines. The window does not know; without the note, a run
 * with another key field, or with the clock instead of times in the lines, would be accepted and
 * drop new lines.
 */
#ifndef BLOOMERY_CLI_SEEN_STATE_H
#define BLOOMERY_CLI_SEEN_STATE_H

#include "cli/core/memory_limit.h"
#include "cli/seen/seen_fields.h"

#include <bloomery/window.h>

/* The longest possible window: longer than any stream. */
#define SEEN_FOREVER BRY_SPAN_MAX

typedef struct seen_request {
    bry_window_options window; /* fields that are 0 were not given */
    bool bends; /* goes on at the memory limit: lines pass, or the error grows */
    const char *state; /* the file, or NULL */
    uint64_t lines; /* estimate for the input; 0: unknown */
    const seen_fields *fields; /* how keys and times are read */
} seen_request;

#define SEEN_NEVER UINT64_MAX

typedef struct seen_kept_state {
    bry_window *window;
    uint64_t since; /* time of its first line; SEEN_NEVER: none yet */
    bool fresh; /* not loaded from a state */
} seen_kept_state;

/*
 * Loads the state, which must match the request; if there is none, creates a window for the
 * estimated number of lines. CLI_GO_ON, or an exit code after a message. `memory` is initialised
 * and must outlive the window.
 */
int seen_window_open(const seen_request *asked, cli_memory *memory, seen_kept_state *kept);

/* Replaces the state. CLI_YES, or an exit code after a message. */
int seen_state_save(const seen_request *asked, const seen_kept_state *kept);

#endif
