/*
 * The part of a file that is regenerated: what stands between the lines
 *   <!-- bench:begin -->   and   <!-- bench:end -->
 * Everything else in the file stays, byte for byte.
 */
#ifndef BLOOMERY_BENCH_RESULT_BLOCK_H
#define BLOOMERY_BENCH_RESULT_BLOCK_H

#include <stdbool.h>

/* Each says on stderr what is wrong when it returns false. The file is replaced whole or left. */
bool bench_block_check(const char *path);
bool bench_block_replace(const char *path, const char *text);

#endif
