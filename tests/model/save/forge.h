/*
 * Forged streams: frames whose contents were changed and whose checksums are right, so that a load
 * has to look at the contents. Works on any stream of doc/format.md, and inside the window that a
 * table of counters holds.
 */
#ifndef BRY_TESTS_FORGE_H
#define BRY_TESTS_FORGE_H

#include "support/generator.h"

#include <bloomery/base.h>

/* Appends a changed stream to `out`; false where the bytes are not a stream, or have no end. */
bool forge_stream(const unsigned char *bytes, size_t len, generator *numbers, bry_buffer *out);

#endif
