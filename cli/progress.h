/* A line on stderr that tells how far a long job is: on a terminal alone, twice a second. */
#ifndef BLOOMERY_CLI_PROGRESS_H
#define BLOOMERY_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cli_progress {
    bool on;
    uint64_t done;
    uint64_t started_at, shown_at; /* in milliseconds */
    bool shown; /* the line is there */
} cli_progress;

cli_progress cli_progress_start(void);
void cli_progress_add(cli_progress *progress, uint64_t keys);
void cli_progress_end(cli_progress *progress); /* takes the line away */

#endif
