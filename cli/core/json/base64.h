/* Base64 (RFC 4648, with padding): how JSON carries bytes that are not text. */
#ifndef BLOOMERY_CLI_BASE64_H
#define BLOOMERY_CLI_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

void cli_base64_write(FILE *out, const void *bytes, size_t len);

/* Decodes in place and changes *len. False, with the text in an undefined state, if it is not valid
 * base64: only the alphabet, full padding, and no unused bits that are set. */
bool cli_base64_read(char *text, size_t *len);

#endif
