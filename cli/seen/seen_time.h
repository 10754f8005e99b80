/*
 * Times of a stream, in milliseconds since 1970: a clock for lines as they come, and the texts in
 * which lines tell their own time.
 *
 *   1763208000   1763208000.25   1.763208e9          a number, in the unit that is said with it
 *   2026-11-15T12:00:00Z   2026-11-15 12:00:00.250+01:00   ISO 8601; without a zone it is UTC
 */
#ifndef BLOOMERY_CLI_SEEN_TIME_H
#define BLOOMERY_CLI_SEEN_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum seen_unit { SEEN_S, SEEN_MS, SEEN_US, SEEN_NS } seen_unit;

/* "s", "ms", "us" or "ns"; false for any other word. */
bool seen_unit_parse(const char *word, seen_unit *unit);

/* Stores the time, what is finer than a millisecond cut off, and returns NULL; or stores nothing
 * and returns what is wrong, as the rest of a sentence that begins with the text. */
const char *seen_time_parse(const char *text, size_t len, seen_unit unit, uint64_t *ms);

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
