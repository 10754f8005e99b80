/* Which part of a line is its key, and which tells its time. */
#ifndef BLOOMERY_CLI_SEEN_FIELDS_H
#define BLOOMERY_CLI_SEEN_FIELDS_H

#include "cli/core/input/fields.h"
#include "text/time_parse.h"

enum { SEEN_MOST_NAME = 255 };

typedef struct seen_fields {
    bool json; /* fields are members of an object, */
    const char *key_name; /* of these names, with commas between them; NULL: the whole line */
    const char *time_name; /* NULL: none */
    char names[CLI_MOST_FIELDS][SEEN_MOST_NAME + 1]; /* those of key_name, */
    unsigned name_count;
    cli_fields key; /* else they are counted */
    uint16_t time; /* 0: none */
    uint16_t wanted[CLI_MOST_FIELDS + 1]; /* those of the key and that of the time */
    size_t wanted_count;
    text_time_unit unit;
} seen_fields;

/* What is wrong with a line, and at which of its bytes, from 1; 0: with the line as a whole. */
typedef struct seen_problem {
    size_t column;
    char text[256];
} seen_problem;

/* The words of --key, --time, --delimiter and --time-unit; NULL where one was not given. CLI_GO_ON,
 * or an exit code after a message. */
int seen_fields_read(seen_fields *fields, const char *command, const char *key, const char *time,
                     const char *delimiter, const char *unit);

static inline bool seen_fields_have_time(const seen_fields *fields)
{
    return fields->time || fields->time_name;
}

/* Whether keys are put together from several fields, and so lie in the scratch. */
static inline bool seen_fields_are_several(const seen_fields *fields)
{
    return fields->key.count > 1 || fields->name_count > 1;
}

/* The key, and the time where fields have one. False: the problem says why not. */
bool seen_fields_of(const seen_fields *fields, cli_text line, cli_scratch *scratch, cli_text *key,
                    uint64_t *time, seen_problem *problem);

#endif
