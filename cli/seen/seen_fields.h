/* Which parts of a line are its key and its time. */
#ifndef BLOOMERY_CLI_SEEN_FIELDS_H
#define BLOOMERY_CLI_SEEN_FIELDS_H

#include "cli/core/input/fields.h"
#include "text/time_parse.h"

enum { SEEN_MOST_NAME = 255 };

typedef struct seen_fields {
    bool json; /* fields are members of a JSON object */
    const char *key_name; /* their names, separated by commas; NULL: the whole line */
    const char *time_name; /* NULL: none */
    char names[CLI_MOST_FIELDS][SEEN_MOST_NAME + 1]; /* the names in key_name */
    unsigned name_count;
    cli_fields key; /* fields by number, without JSON */
    uint16_t time; /* 0: none */
    uint16_t wanted[CLI_MOST_FIELDS + 1]; /* of key and time */
    size_t wanted_count;
    text_time_unit unit;
} seen_fields;

/* What is wrong with a line, and the byte, from 1; 0: the whole line. */
typedef struct seen_problem {
    size_t column;
    char text[256];
} seen_problem;

/* Reads --key, --time, --delimiter and --time-unit; NULL: not given. CLI_GO_ON, or an exit code
 * after a message. */
int seen_fields_read(seen_fields *fields, const char *key, const char *time, const char *delimiter,
                     const char *unit);

static inline bool seen_fields_have_time(const seen_fields *fields)
{
    return fields->time || fields->time_name;
}

/* Whether keys are joined from several fields and so are in the scratch buffer. */
static inline bool seen_fields_are_several(const seen_fields *fields)
{
    return fields->key.count > 1 || fields->name_count > 1;
}

/* Finds the key and, if there is a time field, the time. False: *problem says why. */
bool seen_fields_of(const seen_fields *fields, cli_text line, cli_scratch *scratch, cli_text *key,
                    uint64_t *time, seen_problem *problem);

#endif
