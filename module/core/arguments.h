/*
 * What stands behind the fixed arguments of a command: options in any order, each at most once, as
 * a table that says where each goes and what it may be. All are read before anything is done, so a
 * command with one that is wrong changes nothing; the error names the argument.
 */
#ifndef BLOOMERY_MODULE_ARGUMENTS_H
#define BLOOMERY_MODULE_ARGUMENTS_H

#include "module/core/server_api.h"

#include <bloomery/base.h>

typedef enum option_kind {
    OPTION_FLAG, /* bool: NOGROW */
    OPTION_COUNT, /* uint64_t from least to most */
    OPTION_PLAIN, /* the same, in digits alone */
    OPTION_MOMENT, /* the same, a time in milliseconds, in digits alone */
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

/* ---- lines of such a table ----------------------------------------------------------------- */

static inline command_option option_flag(const char *name, bool *into)
{
    return (command_option){.name = name, .kind = OPTION_FLAG, .into = into};
}

static inline command_option option_string(const char *name, server_string **into)
{
    return (command_option){.name = name, .kind = OPTION_STRING, .into = into};
}

static inline command_option option_word(const char *name, const char *const *words, int *into)
{
    return (command_option){.name = name, .kind = OPTION_WORD, .into = into, .words = words};
}

/* A number of the kind from 1 to `most`. */
static inline command_option option_whole(const char *name, option_kind kind, uint64_t most,
                                          uint64_t *into)
{
    return (command_option){.name = name, .kind = kind, .into = into, .least = 1, .most = most};
}

static inline command_option option_count(const char *name, uint64_t most, uint64_t *into)
{
    return option_whole(name, OPTION_COUNT, most, into);
}

/* What is called the same, and goes as far, wherever it is asked for. */

static inline command_option option_capacity(uint64_t *into)
{
    return option_count("CAPACITY", BRY_CAPACITY_MAX, into);
}

static inline command_option option_seed(uint64_t *into)
{
    return option_whole("SEED", OPTION_PLAIN, UINT64_MAX, into);
}

static inline command_option option_error(double least, double *into)
{
    return (command_option){.name = "ERROR",
                            .kind = OPTION_SHARE,
                            .into = into,
                            .least_share = least,
                            .most_share = BRY_ERROR_MAX};
}

static inline command_option option_span(const char *name, uint64_t *into)
{
    return option_whole(name, OPTION_SPAN, BRY_SPAN_MAX, into);
}

/* ---- keys ---------------------------------------------------------------------------------- */

/*
 * For a command KEY … [LIKE OTHER] that is registered with getkeys-api: whether the server asks for
 * nothing but the places of its keys, and has now been told. Redis 7.0 routes and answers COMMAND
 * GETKEYS by what it is told here, and knows nothing of the key spec that says the same.
 */
bool report_like_keys(server_context *context, server_string **argv, int argc);

/* ---- reading ------------------------------------------------------------------------------- */

/*
 * Reads argv[from…] until the end, or until the word `stop` where that is not NULL; *end is then
 * where that word stands, or argc. False when something was wrong and the client has been told.
 */
bool options_read(server_context *context, server_string **argv, int argc, int from,
                  command_option *options, size_t count, const char *stop, int *end);

/* How many of them were given. */
size_t options_given(const command_option *options, size_t count);

/* Whether the argument is this word, in any case. */
bool is_word(const server_string *argument, const char *word);

/* One number that stands at a fixed place and is called `name` there. False as above. */
bool read_count(server_context *context, const server_string *argument, const char *name,
                uint64_t least, uint64_t most, uint64_t *count);
bool read_plain(server_context *context, const server_string *argument, const char *name,
                uint64_t least, uint64_t most, uint64_t *number);
bool read_share(server_context *context, const server_string *argument, const char *name,
                double least, double most, double *share);
bool read_span(server_context *context, const server_string *argument, const char *name,
               uint64_t least, uint64_t most, uint64_t *milliseconds);

/* A whole number of the protocol, no unit, no sign but a minus: deltas, raw values. */
bool read_integer(server_context *context, const server_string *argument, const char *name,
                  long long least, long long most, long long *integer);

#endif
