/* The clock for streams without times in their lines, in milliseconds since 1970. */
#ifndef BLOOMERY_CLI_STEADY_CLOCK_H
#define BLOOMERY_CLI_STEADY_CLOCK_H

#include <stdint.h>

/*
 * Starts at the time of day and then follows the monotonic clock, so that a correction of the
 * system's time does not change how long a window remembers.
 */
typedef struct cli_clock {
    uint64_t start; /* The time of day at the start, in ms. */
    uint64_t steady_start; /* The clock that is never set back, at the start, in ms. */
} cli_clock;

cli_clock cli_clock_start(void);
uint64_t cli_clock_now(const cli_clock *clock);

#endif
