/*
 * A line on stderr that shows the progress of a long job: only on a terminal, twice a second. If
 * the size of the input is known, it has the percentage and the time left.
 */
#ifndef BLOOMERY_CLI_PROGRESS_H
#define BLOOMERY_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cli_progress {
    bool on; /* Progress is shown at all. */
    /* Prints on stderr what was done; NULL: "N keys, N keys/s". */
    void (*describe)(const struct cli_progress *progress, double seconds);
    uint64_t done; /* Keys done, or whatever describe() counts. */
    uint64_t read; /* Bytes read. */
    uint64_t total; /* Bytes of the whole input; 0: not known. */
    uint64_t started_at; /* When the job began, in ms. */
    uint64_t shown_at; /* When the line was last shown, in ms. */
    bool shown; /* A line is displayed. */
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
