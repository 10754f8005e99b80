/* Base64 (RFC 4648, with padding): how JSON carries bytes that are not text. */
#ifndef BLOOMERY_CLI_BASE64_H
#define BLOOMERY_CLI_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

void cli_base64_write(FILE *out, const void *bytes, size_t len);

/* Decodes in place and changes *len. False, and text is in disorder, when it is none: strictly the
 * alphabet, all of the padding, no bits that mean nothing. */
bool cli_base64_read(char *text, size_t *len);

#endif
