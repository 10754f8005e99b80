/* Which part of a line is its key, and which tells its time. */
#ifndef BLOOMERY_CLI_SEEN_FIELDS_H
#define BLOOMERY_CLI_SEEN_FIELDS_H

#include "lines.h"
#include "seen_time.h"

typedef struct seen_fields {
    bool json; /* fields are members of an object, */
    const char *key_name, *time_name; /* of these names; NULL: the whole line, and none */
    char delimiter; /* else they lie between these, */
    uint64_t key, time; /* counted from 1; 0: the whole line, and none */
    seen_unit unit;
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

/* The key, and the time where fields have one. False: the problem says why not. */
bool seen_fields_of(const seen_fields *fields, cli_text line, cli_text *key, uint64_t *time,
                    seen_problem *problem);

#endif
