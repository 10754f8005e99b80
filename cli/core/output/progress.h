/*
 * A line on stderr that shows the progress of a long job: only on a terminal, twice a second. If
 * the size of the input is known, it has the percentage and the time left.
 */
#ifndef BLOOMERY_CLI_PROGRESS_H
#define BLOOMERY_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cli_progress {
    bool on;
    void (*describe)(const struct cli_progress *progress,
                     double seconds); /* prints what was done on
                                                    stderr; NULL: "N keys, N keys/s" */
    uint64_t done; /* keys, or what describe() makes of it */
    uint64_t read, total; /* bytes; total 0: not known */
    uint64_t started_at, shown_at; /* in milliseconds */
    bool shown; /* a line is displayed */
} cli_progress;

/* `prints`: the command writes lines meanwhile. If both go to a terminal they would mix, so there
 * is no progress then. */
cli_progress cli_progress_start(uint64_t total, bool prints);
void cli_progress_add(cli_progress *progress, uint64_t keys);
void cli_progress_read(cli_progress *progress, uint64_t bytes);
void cli_progress_end(cli_progress *progress); /* removes the line */

/* Bytes from a regular file's current offset to its end; 0 for anything else. */
uint64_t cli_bytes_left(int fd);

#endif
