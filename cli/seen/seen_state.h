/*
 * The state of `bloomery seen`: a window whose note says how keys and times were read from lines.
 * The window does not know; without the note, a run with another key field, or with the clock
 * instead of times in the lines, would be accepted and drop new lines.
 */
#ifndef BLOOMERY_CLI_SEEN_STATE_H
#define BLOOMERY_CLI_SEEN_STATE_H

#include "cli/seen/seen_window.h"

/* Loads the state from the request's path and checks that it matches the request. CLI_GO_ON, or an
 * exit code after a message. */
int seen_state_load(const seen_request *asked, const cli_memory *memory, seen_kept_state *kept);

/* Replaces it. CLI_YES, or an exit code after a message. */
int seen_state_save(const seen_request *asked, const seen_kept_state *kept);

#endif
