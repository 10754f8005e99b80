/*
 * Numbers as people type them. Whole numbers are computed exactly, never through floating point:
 * 1.5k is 1500, and 2^64 is refused instead of becoming something near it.
 *
 *   count   5000   10M   64k   1e6   2^20   16Ki      k M G T: powers of 1000; Ki Mi Gi Ti: of 1024
 *   bytes   64MiB  64MB  4k                           the same, with or without B
 *   span    100ms  60s  5m  1h  7d                    in milliseconds; the unit is required
 *   share   0.001  0.1%  1e-3                         above 0 and below 1
 *
 * Each function stores the number and returns NULL, or stores nothing and returns what is wrong, as
 * the rest of a sentence that begins with the text.
 */
#ifndef BLOOMERY_CLI_NUMBERS_H
#define BLOOMERY_CLI_NUMBERS_H

#include <stdint.h>

const char *cli_parse_count(const char *text, uint64_t *count);
const char *cli_parse_bytes(const char *text, uint64_t *bytes);
const char *cli_parse_span(const char *text, uint64_t *milliseconds);
const char *cli_parse_share(const char *text, double *share);

/* Bytes as people read them, to three digits: "280 B", "11.8 MiB". */
typedef struct cli_size {
    char text[24];
} cli_size;
cli_size cli_say_bytes(uint64_t bytes);

#endif
