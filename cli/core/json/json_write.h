/*
 * Writes JSON, indented. Numbers are read back exactly; what JSON cannot express (infinity, not a
 * number) becomes null; invalid UTF-8 is replaced by U+FFFD.
 * `key` names the member of an object, and is NULL in an array and at the top.
 */
#ifndef BLOOMERY_CLI_JSON_WRITE_H
#define BLOOMERY_CLI_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cli_json {
    FILE *out;
    unsigned depth;
    bool any; /* the innermost object or array is not empty */
} cli_json;

#define CLI_JSON_TO(file)                                                                          \
    {                                                                                              \
        .out = (file)                                                                              \
    }

void cli_json_open(cli_json *json, const char *key, char bracket); /* '{' or '[' */
void cli_json_close(cli_json *json, char bracket); /* '}' or ']'; the last one ends the line */
void cli_json_text(cli_json *json, const char *key, const char *text); /* NULL: null */
/* Any bytes, preserved exactly: if they are not UTF-8, the member is named <key>_base64. */
void cli_json_bytes(cli_json *json, const char *key, const char *bytes, size_t len);
void cli_json_count(cli_json *json, const char *key, uint64_t count);
void cli_json_whole(cli_json *json, const char *key, int64_t number);
void cli_json_number(cli_json *json, const char *key, double number);
void cli_json_bool(cli_json *json, const char *key, bool value);

/*
 * "name":"…" of any bytes on one line, without comma and braces. Bytes that are not UTF-8 become
 * "name_base64":"…", so that any bytes can be written and read back exactly.
 */
void cli_json_line_member(FILE *out, const char *name, const void *bytes, size_t len);

#endif
