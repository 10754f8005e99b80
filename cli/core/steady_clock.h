/* Clocks: for measuring, and for streams without times in their lines. */
#ifndef BLOOMERY_CLI_STEADY_CLOCK_H
#define BLOOMERY_CLI_STEADY_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline double cli_clock_seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Milliseconds on a clock that is never set back. */
uint64_t cli_clock_ms(void);

/* Waits so many milliseconds, or until a signal. */
void cli_sleep_ms(uint64_t ms);

/*
 * Milliseconds since 1970: starts at the time of day and then follows the monotonic clock, so that a correction of the
 * system's time does not change how long a window remembers.
 */
typedef struct cli_clock {
    uint64_t start; /* The time of day at the start, in ms. */
    uint64_t steady_start; /* The clock that is never set back, at the start, in ms. */
} cli_clock;

cli_clock cli_clock_start(void);
uint64_t cli_clock_now(const cli_clock *clock);

#endif
