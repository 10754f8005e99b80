/*
 * Reads a line of JSON: strictly, an object whose members are strings and whole numbers, nothing
 * nested; or one member of any object.
 */
#ifndef BLOOMERY_CLI_JSON_READ_H
#define BLOOMERY_CLI_JSON_READ_H

#include "cli/core/input/lines.h"

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

/* Reads all members, in place. NULL, or what is wrong with the line; *column is the byte, from 1. */
const char *cli_json_line_read(cli_text line, cli_json_member *members, size_t count,
                               size_t *column);

/*
 * The value of one member, as it is written there: a string with its quotes and escapes, a number, an
 * object. Other members are skipped. The line is read only up to that member, and only its structure
 * is checked. NULL, or what is wrong with the line; *column is the byte, from 1, or 0 for the whole
 * line. A name that is written with escapes is not found.
 */
const char *cli_json_find(cli_text line, const char *name, cli_text *value, size_t *column);

#endif
