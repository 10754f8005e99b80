/*
 * Points in time as written in logs and by people, in milliseconds since 1970.
 *
 *   1763208000   1763208000.25   1.763208e9          a number, in a unit that the caller knows
 *   2026-11-15T12:00:00Z   2026-11-15 12:00:00.250+01:00   ISO 8601; without a zone it is UTC
 */
#ifndef BLOOMERY_TEXT_TIME_PARSE_H
#define BLOOMERY_TEXT_TIME_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum text_time_unit { TEXT_S, TEXT_MS, TEXT_US, TEXT_NS } text_time_unit;

/* "s", "ms", "us" or "ns"; false for any other word. */
bool text_parse_time_unit(const char *word, text_time_unit *unit);

/* Stores the time, truncated to milliseconds, and returns NULL; or stores nothing and returns the
 * error, as the rest of a sentence that begins with the text. */
const char *text_parse_time(const char *text, size_t len, text_time_unit unit, uint64_t *ms);

#endif
