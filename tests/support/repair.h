/*
 * Makes the checksums of any bytes right, so that fuzzers get past them and forged files can be
 * made. Meanings are left as they are: only what a checksum would refuse at once is put in order.
 */
#ifndef BRY_TESTS_REPAIR_H
#define BRY_TESTS_REPAIR_H

#include "frame/frame_header.h"

/* Checksum and chain of a stream, as far as its lengths lead. */
void repair_stream(unsigned char *bytes, size_t len);

/*
 * The same for a log; record number `spare` stays as it is (SIZE_MAX: none), so that there is
 * damage in the midst of records that are good.
 */
void repair_log(unsigned char *bytes, size_t len, size_t spare);

/* Magic, revision, hash scheme, kind, and version 1 of it; zeros where they must be. */
void repair_header(unsigned char *bytes, size_t len, uint32_t kind);

#endif
