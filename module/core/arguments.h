/*
 * The options of a command, which follow its fixed arguments in any order, each at most once. A
 * table says where each value goes and which values are allowed. All options are read before
 * anything is done, so that a command with an invalid one changes nothing; the error names the
 * option.
 */
#ifndef BLOOMERY_MODULE_ARGUMENTS_H
#define BLOOMERY_MODULE_ARGUMENTS_H

#include "module/core/server_api.h"

#include <bloomery/job.h>

typedef enum option_kind {
    OPTION_FLAG, /* a word without a value, such as NOGROW: sets a uint32_t to 1 */
    OPTION_COUNT, /* a count from `least` to `most`: uint64_t */
    OPTION_PLAIN, /* a number from `least` to `most`, digits only: uint64_t */
    OPTION_MOMENT, /* a point in time in milliseconds, digits only: uint64_t */
    OPTION_BYTES, /* a size in bytes from `least` to `most`: uint64_t */
    OPTION_SPAN, /* a duration from `least` to `most`, in milliseconds: uint64_t */
    OPTION_SHARE, /* a fraction from `least_share` to `most_share`: double */
    OPTION_ENGINE, /* "auto", or an engine of `job`: bry_engine */
    OPTION_STRING, /* any string, such as the name of a key: server_string * */
} option_kind;

typedef struct command_option {
    const char *name; /* in upper case; matched in any case */
    option_kind kind;
    void *into; /* set if the option is given */
    uint64_t least, most;
    double least_share, most_share;
    bry_job job;
    bool given; /* set by options_read() */
} command_option;

/* The options of a command that creates: it is read by them, and replicated. */
#define OPTIONS_MOST 10u
typedef struct option_list {
    size_t count;
    command_option rows[OPTIONS_MOST];
} option_list;

/* ---- rows of such a table ------------------------------------------------------------------ */

static inline command_option option_flag(const char *name, uint32_t *into)
{
    return (command_option){.name = name, .kind = OPTION_FLAG, .into = into};
}

static inline command_option option_string(const char *name, server_string **into)
{
    return (command_option){.name = name, .kind = OPTION_STRING, .into = into};
}

static inline command_option option_engine(bry_job job, bry_engine *into)
{
    return (command_option){.name = "ENGINE", .kind = OPTION_ENGINE, .into = into, .job = job};
}

/* A number of this kind, from 1 to `most`. */
static inline command_option option_whole(const char *name, option_kind kind, uint64_t most,
                                          uint64_t *into)
{
    return (command_option){.name = name, .kind = kind, .into = into, .least = 1, .most = most};
}

static inline command_option option_count(const char *name, uint64_t most, uint64_t *into)
{
    return option_whole(name, OPTION_COUNT, most, into);
}

/* Options that have the same name and range in all commands. */

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
 * For a command KEY … [LIKE OTHER] that is registered with getkeys-api: true if the server only
 * asks for the positions of the keys, which are then reported. Redis 7.0 uses this answer for
 * cluster routing and COMMAND GETKEYS and ignores the key specs, which say the same.
 */
bool report_like_keys(server_context *context, server_string **argv, int argc);

/* ---- reading ------------------------------------------------------------------------------- */

/* Reads argv[from…] up to the end. False after an error reply. */
bool options_read(server_context *context, server_string **argv, int argc, int from,
                  command_option *options, size_t count);

/* Reads argv[from…] up to the word `stop` (FIELDS, ITEMS), after which everything is data. Stores
 * the position of the first data; there is at least one. False after an error reply. */
bool options_read_until(server_context *context, server_string **argv, int argc, int from,
                        command_option *options, size_t count, const char *stop, int *first);

/* Replicates a creation with all its parameters: the command, the key's name, and each option whose
 * value is not 0. Strings (LIKE) are left out. */
void options_replicate(server_context *context, const char *command, server_string *name,
                       const option_list *list);

/* Number of options that were given. */
size_t options_given(const command_option *options, size_t count);

/* True if the argument is this word, in any case. */
bool is_word(const server_string *argument, const char *word);

/* Reads a number, digits only, at a fixed position; errors call it `name`. False after an error
 * reply. */
bool read_plain(server_context *context, const server_string *argument, const char *name,
                uint64_t least, uint64_t most, uint64_t *number);

#endif
