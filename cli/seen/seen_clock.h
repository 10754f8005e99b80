/* The clock of a stream whose lines do not tell their time, in milliseconds since 1970. */
#ifndef BLOOMERY_CLI_SEEN_CLOCK_H
#define BLOOMERY_CLI_SEEN_CLOCK_H

#include <stdint.h>

/*
 * The time of day as it was when the clock was started, and from then on a clock that nobody sets:
 * what a window is promised does not hang on corrections of the time of day.
 */
typedef struct seen_clock {
    uint64_t start, steady_start;
} seen_clock;

seen_clock seen_clock_start(void);
uint64_t seen_clock_now(const seen_clock *clock);

#endif
