/*
 * The value of one member of a JSON object on a line, as it is written there: a string with its
 * quotes and escapes, a number, an object. Other members are skipped. The line is read only up to
 * that member, and only its structure is checked.
 */
#ifndef BLOOMERY_CLI_JSON_FIND_H
#define BLOOMERY_CLI_JSON_FIND_H

#include "cli/core/input/lines.h"

/* NULL, or what is wrong with the line; *column is the byte, from 1, or 0 for the whole line. A
 * name that is written with escapes is not found. */
const char *cli_json_find(cli_text line, const char *name, cli_text *value, size_t *column);

#endif
