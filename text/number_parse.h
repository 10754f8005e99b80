/*
 * Numbers as people type them, for the programs and the server. Whole numbers are computed exactly,
 * never through floating point: 1.5k is 1500, and 2^64 is refused instead of becoming something
 * near it. A unit means one thing everywhere: 5m is five minutes, and an error as a count or size.
 *
 *   count   5000   10M   64k   1e6   2^20   16Ki    k M G T: powers of 1000; Ki Mi Gi Ti: of 1024;
 *                                                   as written here, k in either case
 *   bytes   4096   64MB  64mb  64MiB 1gb   64M      without B as counts; kB MB GB TB and KiB MiB GiB
 *                                                   TiB: powers of 1024, in any case
 *   span    100ms  60s   5m    1h    7d             in milliseconds; m is min; in lower case
 *   share   0.001  0.1%  1e-3                       above 0 and below 1
 *   plain   1041                                    digits only: what programs generate
 *   moment  1700000000000                           the same, milliseconds since an epoch
 *   integer -3                                      digits only, also below zero
 *
 * Each function stores the number and returns NULL, or stores nothing and returns what is wrong, as
 * the rest of a sentence that begins with the text. The text may contain any bytes.
 */
#ifndef BLOOMERY_TEXT_NUMBER_PARSE_H
#define BLOOMERY_TEXT_NUMBER_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

const char *text_parse_count(const char *text, size_t len, uint64_t *count);
const char *text_parse_bytes(const char *text, size_t len, uint64_t *bytes);
const char *text_parse_share(const char *text, size_t len, double *share);
const char *text_parse_plain(const char *text, size_t len, uint64_t *number);
const char *text_parse_moment(const char *text, size_t len, uint64_t *milliseconds);
const char *text_parse_integer(const char *text, size_t len, int64_t *number);

/* A time without a unit is refused, or is in milliseconds. */
const char *text_parse_span(const char *text, size_t len, uint64_t *milliseconds);
const char *text_parse_span_or_ms(const char *text, size_t len, uint64_t *milliseconds);

/* True if what one of these functions returned means a number that is too small or too large. */
bool text_is_out_of_range(const char *problem);

#endif
