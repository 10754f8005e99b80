/*
 * Long options described as data: the same rows parse the arguments and print the help.
 *
 *   --name value   --name=value   --flag   -h, --help   -- (the rest are words)
 *
 * A name of one letter takes one dash, and its value may follow it directly: -d value, -dvalue.
 */
#ifndef BLOOMERY_CLI_ARGS_H
#define BLOOMERY_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum cli_kind {
    CLI_FLAG, /* value points to a bool */
    CLI_COUNT, /* a uint64_t above 0 (text/number_parse.h) */
    CLI_PLAIN, /* the same, digits only: numbers that are not amounts */
    CLI_BYTES, /* a uint64_t above 0 */
    CLI_SPAN, /* a uint64_t above 0, in milliseconds */
    CLI_SHARE, /* a double above 0 and below 1 */
    CLI_BYTE, /* a const char *, of one byte; \t is a tab */
    CLI_TEXT, /* a const char *, not empty */
    CLI_LIST, /* a cli_list: the option may be repeated */
    CLI_ABSENT, /* known, but not used in this build: refused, and omitted from the help */
} cli_kind;

enum { CLI_LIST_MOST = 256 };

typedef struct cli_list {
    const char *text[CLI_LIST_MOST];
    size_t count;
} cli_list;

typedef struct cli_option {
    const char *name; /* without the dashes */
    cli_kind kind;
    const char *placeholder; /* what the help shows for the value */
    const char *help; /* one line */
    void *value; /* where it is stored; unchanged if the option is not given */
} cli_option;

typedef struct cli_syntax {
    const char *usage; /* the rest of the usage line */
    const char *about; /* a paragraph, with its line breaks */
    cli_option *options;
    size_t option_count;
    const char *more; /* printed after the options; may be NULL */
    const char *examples; /* printed last: command lines, each indented by two spaces */
    size_t most_words; /* most arguments that are not options */
    size_t least_words; /* fewest of them */
    const char *missing; /* message if there are fewer */
    bool *given; /* for each option, set if it is given; may be NULL */
    size_t *plain_words; /* gets the number of words before "--"; may be NULL */
} cli_syntax;

/* The table of options, in the initialiser of a syntax. */
#define CLI_OPTIONS(rows) .options = (rows), .option_count = sizeof(rows) / sizeof(rows)[0]

/* Moves the words to the front of argv, stores their number and returns CLI_GO_ON; or prints the
 * help or an error and returns the exit code. */
#define CLI_GO_ON (-1)
int cli_read_args(const cli_syntax *syntax, int argc, char **argv, size_t *words);

/* The number of the word among those that this option takes; -1 after a message. */
int cli_choose(const char *option, const char *word, const char *const choices[3]);

#endif
