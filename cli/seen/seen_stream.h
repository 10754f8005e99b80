/*
 * Lines through a window: those that come for the first time and those that
 * were seen before, told apart in batches and written as they come.
 */
#ifndef BLOOMERY_CLI_SEEN_STREAM_H
#define BLOOMERY_CLI_SEEN_STREAM_H

#include "cli/core/memory_limit.h"
#include "cli/seen/seen_inputs.h"
#include "cli/seen/seen_window.h"

/* What becomes of a line whose key or time cannot be read, or lies too far ahead. */
typedef enum seen_bad { SEEN_BAD_FAIL, SEEN_BAD_PASS, SEEN_BAD_DROP } seen_bad;

typedef struct seen_how {
    seen_fields fields;
    char end; /* of a line */
    bool repeats; /* write those instead of first occurrences */
    bool silent; /* write no lines at all */
    bool pass_full; /* what there is no memory for passes, unremembered */
    seen_bad bad;
    uint64_t skew; /* ms a line's time may be ahead of the latest; 0: any */
} seen_how;

typedef struct seen_tally {
    uint64_t lines, first, repeats;
    uint64_t written;
    uint64_t since; /* the time of the first line; SEEN_NEVER: none had one */
    uint64_t late; /* had a time before the latest */
    uint64_t bad;
    uint64_t unremembered; /* passed for want of memory; of the first ones */
    double false_drops; /* expected, by the error of each moment */
    int signal; /* that ended the input, or 0 */
    bool unread; /* nobody reads what is written any more */
} seen_tally;

/* CLI_GO_ON when the inputs have ended and all is written; or an exit code after a message, but for
 * a pipe that nobody reads, which the tally tells: what came before the line that the message names
 * is written. The tally is right in either case. */
int seen_stream(bry_window *window, const cli_memory *memory, const seen_how *how,
                seen_inputs *inputs, seen_tally *tally);

#endif
