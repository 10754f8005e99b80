/*
 * Sends lines through a window in batches, and writes those that are new (or those that were seen
 * before).
 */
#ifndef BLOOMERY_CLI_SEEN_STREAM_H
#define BLOOMERY_CLI_SEEN_STREAM_H

#include "cli/core/input/inputs.h"
#include "cli/core/memory_limit.h"
#include "cli/seen/seen_state.h"

/* What to do with a line whose key or time cannot be read, or whose time is too far ahead. */
typedef enum seen_bad_policy {
    SEEN_BAD_FAIL, /* Ends the command. */
    SEEN_BAD_PASS, /* Writes the line. */
    SEEN_BAD_DROP, /* Drops the line. */
} seen_bad_policy;

typedef struct seen_line_options {
    seen_fields fields;
    char end; /* of a line */
    bool repeats; /* write those instead of first occurrences */
    bool silent; /* write no lines at all */
    bool pass_full; /* lines that memory does not suffice for are passed and not remembered */
    seen_bad_policy bad;
    uint64_t skew; /* how far a line's time may be ahead of the latest, in ms; 0: any */
} seen_line_options;

typedef struct seen_tally {
    uint64_t lines; /* Lines read. */
    uint64_t first; /* Lines that were new. */
    uint64_t repeats; /* Lines that were seen before. */
    uint64_t written; /* Lines written. */
    uint64_t since; /* the time of the first line; SEEN_NEVER: none had one */
    uint64_t late; /* with a time before the latest */
    uint64_t bad;
    uint64_t unremembered; /* first occurrences passed without memory for them */
    double false_drops; /* expected, from the error at each time */
    int signal; /* the one that ended the input, or 0 */
} seen_tally;

/* CLI_GO_ON when the inputs have ended and everything is written; or an exit code after a message,
 * and then everything before the line in the message is written. There is no message if the reader
 * of the output is gone, which the tally says. The tally is correct in all cases. */
int seen_stream(bry_window *window, const cli_memory *memory, const seen_line_options *how,
                cli_inputs *inputs, seen_tally *tally);

#endif
