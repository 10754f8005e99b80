/*
 * Corrects the checksums of arbitrary bytes, for fuzzers and forged files. Nothing else is changed.
 */
#ifndef BRY_TESTS_REPAIR_H
#define BRY_TESTS_REPAIR_H

#include "frame/frame_header.h"

/* Repairs the checksums of a stream, as far as its lengths are valid. */
void repair_stream(unsigned char *bytes, size_t len);

/*
 * The same for a log; record number `spare` (SIZE_MAX: none) is not repaired, so that there is
 * damage between valid records.
 */
void repair_log(unsigned char *bytes, size_t len, size_t spare);

/* Repairs the header: magic, revision, hash scheme, kind and version 1, and reserved zeros. */
void repair_header(unsigned char *bytes, size_t len, uint32_t kind);

#endif
