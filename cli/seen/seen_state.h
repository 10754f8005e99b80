/*
 * The state of `bloomery seen`: a window, whose note says what its lines and times were. The
 * window alone knows neither: keys of another field, or the clock instead of times in the lines,
 * would be taken without a word and drop lines that are new.
 */
#ifndef BLOOMERY_CLI_SEEN_STATE_H
#define BLOOMERY_CLI_SEEN_STATE_H

#include "cli/seen/seen_window.h"

/* Loads the state at request's path, which must be what the request asks for. CLI_GO_ON, or an exit
 * code after a message. */
int seen_state_load(const seen_request *asked, const cli_memory *memory, seen_kept *kept);

/* Replaces it. CLI_YES, or an exit code after a message. */
int seen_state_save(const seen_request *asked, const seen_kept *kept);

#endif
