/*
 * What stands behind the fixed arguments of a command: options in any order, each at most once, as
 * a table that says where each goes and what it may be. All are read before anything is done, so a
 * command with one that is wrong changes nothing; the error names the argument.
 */
#ifndef BLOOMERY_MODULE_ARGUMENTS_H
#define BLOOMERY_MODULE_ARGUMENTS_H

#include "server_api.h"

typedef enum option_kind {
    OPTION_FLAG, /* bool: NOGROW */
    OPTION_COUNT, /* uint64_t from least to most */
    OPTION_BYTES, /* the same, as a size */
    OPTION_SPAN, /* the same, as a time */
    OPTION_SHARE, /* double from least_share to most_share */
    OPTION_WORD, /* int: the place in words of the word that follows */
    OPTION_STRING, /* server_string *: a key, a name */
} option_kind;

typedef struct command_option {
    const char *name; /* in capitals; any case is read */
    option_kind kind;
    void *into; /* set when it is given, else left alone */
    uint64_t least, most;
    double least_share, most_share;
    const char *const *words; /* ends with NULL */
    bool given; /* set by options_read() */
} command_option;

/*
 * Reads argv[from…] until the end, or until the word `stop` where that is not NULL; *end is then
 * where that word stands, or argc. False when something was wrong and the client has been told.
 */
bool options_read(server_context *context, server_string **argv, int argc, int from,
                  command_option *options, size_t count, const char *stop, int *end);

/* Whether the argument is this word, in any case. */
bool is_word(const server_string *argument, const char *word);

/* One number that stands at a fixed place and is called `name` there. False as above. */
bool read_count(server_context *context, const server_string *argument, const char *name,
                uint64_t least, uint64_t most, uint64_t *count);
bool read_share(server_context *context, const server_string *argument, const char *name,
                double least, double most, double *share);
bool read_span(server_context *context, const server_string *argument, const char *name,
               uint64_t least, uint64_t most, uint64_t *milliseconds);

/* A whole number of the protocol, no unit, no sign but a minus: deltas, raw values. */
bool read_integer(server_context *context, const server_string *argument, const char *name,
                  long long least, long long most, long long *integer);

#endif
