/* The window of `bloomery seen`: made as asked for, or the one that an earlier run has left. */
#ifndef BLOOMERY_CLI_SEEN_WINDOW_H
#define BLOOMERY_CLI_SEEN_WINDOW_H

#include "cli/core/memory_limit.h"
#include "cli/seen/seen_fields.h"

#include <bloomery/window.h>

/* The longest promise there is: more than any stream lives. */
#define SEEN_FOREVER BRY_SPAN_MAX

typedef struct seen_request {
    bry_window_options window; /* 0 in a field: it was not asked for */
    bool bends; /* at the ceiling it goes on: lines pass, or the error grows */
    const char *state; /* the file, or NULL */
    uint64_t lines; /* that the input may have; 0: not known */
    const seen_fields *fields; /* what lines and times are */
} seen_request;

#define SEEN_NEVER UINT64_MAX

typedef struct seen_kept {
    bry_window *window;
    uint64_t since; /* the time of its first line; SEEN_NEVER: there was none */
    bool fresh; /* there was no state to load */
} seen_kept;

/*
 * Loads the state where there is one, which must be what the request asks for; makes a window
 * otherwise, for as many lines as the input may have. CLI_GO_ON, or an exit code
 * after a message; `memory` is initialised and has to outlive the window.
 */
int seen_window_open(const seen_request *asked, const char *command, cli_memory *memory,
                     seen_kept *kept);

#endif
