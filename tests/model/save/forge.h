/*
 * Forged streams: frames with changed contents and correct checksums, so that a load has to check
 * the contents. Works on any stream of doc/format.md, and on the window in a table of counters.
 */
#ifndef BRY_TESTS_FORGE_H
#define BRY_TESTS_FORGE_H

#include "support/generator.h"

#include <bloomery/base.h>

/* Appends a changed stream to `out`; false if the bytes are not a complete stream. */
bool forge_stream(const unsigned char *bytes, size_t len, generator *numbers, bry_buffer *out);

#endif
