/* The table of counters in the directory of `bloomery count`. */
#ifndef BLOOMERY_CLI_COUNT_TABLE_H
#define BLOOMERY_CLI_COUNT_TABLE_H

#include "cli/core/input/fields.h"
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

/* Writes what is not on disk yet. CLI_GO_ON, or an exit code after a message. */
int count_table_sync(count_table *table);

/* Reports that the table could not be changed, errno as the call has left it; `place` is where the
 * line is, or "". Returns an exit code. */
int count_table_failed(const count_table *table, bry_status status, const char *place);

#endif
