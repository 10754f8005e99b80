/* Lines into a table of counters, in batches. */
#ifndef BLOOMERY_CLI_COUNT_STREAM_H
#define BLOOMERY_CLI_COUNT_STREAM_H

#include "cli/core/input/inputs.h"
#include "cli/count/count_table.h"

typedef struct count_tally {
    uint64_t lines; /* that were counted now or before */
    uint64_t applied; /* of these, counted now */
    int signal; /* the one that ended the input, or 0 */
} count_tally;

/* CLI_GO_ON when the inputs have ended and everything is on disk; or an exit code after a message,
 * and then the lines before the one in the message are counted. The tally is correct in all
 * cases. */
int count_stream(count_table *table, const count_fields *fields, cli_inputs *inputs,
                 count_tally *tally);

#endif
