/*
 * Buffered output of lines. stdio is not used because it loses the errno of a failed write.
 */
#ifndef BLOOMERY_CLI_SEEN_OUTPUT_H
#define BLOOMERY_CLI_SEEN_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct seen_output {
    int fd;
    int problem; /* errno of the first failed write, after which nothing is written; else 0 */
    char *buffer;
    size_t held;
} seen_output;

/* False if memory runs out. */
bool seen_output_init(seen_output *output, int fd);
void seen_output_free(seen_output *output);

void seen_output_add(seen_output *output, const char *bytes, size_t len);
void seen_output_flush(seen_output *output);

#endif
