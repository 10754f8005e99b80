/*
 * One line of JSON: an object whose members are strings and whole numbers, nothing nested. Read
 * strictly and in place; written on one line.
 */
#ifndef BLOOMERY_CLI_JSON_LINE_H
#define BLOOMERY_CLI_JSON_LINE_H

#include "cli/core/input/lines.h"

#include <stdio.h>

typedef enum cli_json_type {
    CLI_JSON_MISSING,
    CLI_JSON_STRING,
    CLI_JSON_WHOLE,
} cli_json_type;

/* An optional member. The reader sets everything except the name. */
typedef struct cli_json_member {
    const char *name;
    cli_json_type type;
    cli_text text; /* of a string, decoded; in the line, whose bytes were overwritten */
    uint64_t number;
    size_t column; /* where the value begins */
} cli_json_member;

/* NULL, or what is wrong with the line; *column is the byte, from 1. */
const char *cli_json_line_read(cli_text line, cli_json_member *members, size_t count,
                               size_t *column);

/*
 * "name":"…" of any bytes, without comma and braces. Bytes that are not UTF-8 become
 * "name_base64":"…", so that any bytes can be written and read back exactly.
 */
void cli_json_line_member(FILE *out, const char *name, const void *bytes, size_t len);

#endif
