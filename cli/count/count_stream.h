/* The table of counters in the directory of `bloomery count`, and lines into it. */
#ifndef BLOOMERY_CLI_COUNT_STREAM_H
#define BLOOMERY_CLI_COUNT_STREAM_H

#include "cli/core/input/fields.h"
#include "cli/core/input/inputs.h"
#include "cli/core/memory_limit.h"

#include <bloomery/counters.h>

/* Where a line has its parts. */
typedef struct count_fields {
    cli_fields id; /* one or several; also has the delimiter */
    uint16_t name, amount; /* amount 0: every line adds 1 */
    bool amount_required; /* else a line without it adds 1 */
    char end; /* of a line */
} count_fields;

typedef struct count_options {
    bry_counters_options table; /* fields that are 0 were not given */
    const char *dir;
    size_t files; /* words after the directory */
    count_fields fields;
    bool totals; /* reads no input */
    bool quiet; /* prints no totals */
    bool json;
    bool stats;
} count_options;

typedef struct count_table {
    const char *dir;
    cli_memory memory;
    bry_counters *counters;
} count_table;

/* Opens or creates the table; with --totals it must exist. It must match the options. CLI_GO_ON, or
 * an exit code after a message. `table` must not move afterwards. */
int count_table_open(count_table *table, const count_options *asked);

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
