/*
 * Fields of a line, counted from 1 and separated by one byte. Several fields make one key: their
 * texts joined with that byte, which no field can contain.
 */
#ifndef BLOOMERY_CLI_FIELDS_H
#define BLOOMERY_CLI_FIELDS_H

#include "cli/core/input/lines.h"

enum { CLI_MOST_FIELDS = 8 };

typedef struct cli_fields {
    char delimiter;
    uint8_t count; /* 0: the whole line */
    uint16_t number[CLI_MOST_FIELDS];
} cli_fields;

/* Reads "3" or "1,3" of an option. CLI_GO_ON, or an exit code after a message. */
int cli_fields_read(cli_fields *fields, const char *option, const char *text);

/* The same for an option that takes a single field. */
int cli_field_read(uint16_t *number, const char *option, const char *text);

/* Writes the fields as an option takes them, such as "1,3". */
typedef struct cli_fields_name {
    char text[CLI_MOST_FIELDS * 6];
} cli_fields_name;
cli_fields_name cli_fields_say(const cli_fields *fields);

/* Finds fields in one pass: parts[i] is field number[i]. Returns 0, or the number of a missing
 * one. */
unsigned cli_fields_find(char delimiter, const uint16_t *number, size_t n, cli_text line,
                         cli_text *parts);

/* Memory for joined fields. */
typedef struct cli_scratch {
    char *bytes;
    size_t capacity;
} cli_scratch;

/* Joins the parts with `between`. A single part stays where it is; several are in the scratch until
 * the next call. False if memory runs out. */
bool cli_join(cli_scratch *scratch, const cli_text *parts, size_t n, char between,
              cli_text *joined);

#endif
