/*
 * The generated part of a file: everything between the lines
 *   <!-- bench:begin -->   and   <!-- bench:end -->
 * The rest of the file does not change.
 */
#ifndef BLOOMERY_BENCH_RESULT_BLOCK_H
#define BLOOMERY_BENCH_RESULT_BLOCK_H

#include <stdbool.h>

/* These return false after a message. The file is replaced atomically. */
bool bench_block_check(const char *path);
bool bench_block_replace(const char *path, const char *text);

#endif
