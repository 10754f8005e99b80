/*
 * Numbers as people type them to this server: exact, and with the units that its configuration
 * file knows, in whatever case; but those of time are in small letters, for M is a million.
 *
 *   count   5000   1e6   64k   10m   2^20      k m g: powers of 1000
 *   bytes   64mb   256m  1gb   4096            kb mb gb: powers of 1024; k m g and b as well
 *   span    60000  100ms 60s   5min  1h  7d    in milliseconds, also without a unit
 *   share   0.001  0.1%  1e-3                  above 0 and below 1
 *   plain   1041                               digits alone: what programs make up, such as seeds
 *   moment  1700000000000                      the same, milliseconds since an epoch
 *
 * (The program's numbers are a different language: there, MB is a million, and a time needs its
 * unit.)
 *
 * Each function stores the number and returns NULL, or stores nothing and returns what is wrong, as
 * the rest of a sentence that begins with the text. Any bytes may be given.
 */
#ifndef BLOOMERY_MODULE_TYPED_NUMBERS_H
#define BLOOMERY_MODULE_TYPED_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

const char *typed_count(const char *text, size_t len, uint64_t *count);
const char *typed_bytes(const char *text, size_t len, uint64_t *bytes);
const char *typed_span(const char *text, size_t len, uint64_t *milliseconds);
const char *typed_plain(const char *text, size_t len, uint64_t *number);
const char *typed_moment(const char *text, size_t len, uint64_t *milliseconds);
const char *typed_share(const char *text, size_t len, double *share);

#endif
