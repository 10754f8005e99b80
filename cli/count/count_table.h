/* The table of counters in the directory of `bloomery count`. */
#ifndef BLOOMERY_CLI_COUNT_TABLE_H
#define BLOOMERY_CLI_COUNT_TABLE_H

#include "cli/core/memory_limit.h"
#include "cli/count/count_options.h"

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

/* Prints the totals, sorted by name. CLI_YES, or an exit code after a message. */
int count_totals_print(const count_table *table, const count_options *asked);

#endif
