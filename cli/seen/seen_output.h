/*
 * Lines on their way out: gathered, and written when there are many or when someone waits for them.
 * Not through stdout, which forgets why a write failed.
 */
#ifndef BLOOMERY_CLI_SEEN_OUTPUT_H
#define BLOOMERY_CLI_SEEN_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct seen_output {
    int fd;
    int problem; /* errno of the write that failed: nothing more is written; else 0 */
    char *buffer;
    size_t held;
} seen_output;

/* False when memory does not suffice. */
bool seen_output_init(seen_output *output, int fd);
void seen_output_free(seen_output *output);

void seen_output_add(seen_output *output, const char *bytes, size_t len);
void seen_output_flush(seen_output *output);

#endif
