/*
 * Lines of an input of any length, with any bytes: read in large pieces and returned in place. A
 * line ends with a newline or, if `end` is set to it, with a NUL; the last one need not. The line
 * is everything before that mark, including a carriage return.
 */
#ifndef BLOOMERY_CLI_LINES_H
#define BLOOMERY_CLI_LINES_H

#include "cli/core/output/output.h"
#include "cli/core/output/progress.h"

#include <bloomery/base.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest line: an input without any line ends must not take all memory. */
#define CLI_LINE_MAX ((size_t)16 << 20)

typedef struct cli_text {
    char *bytes;
    size_t len;
} cli_text;

typedef struct cli_lines {
    int fd;
    char end;
    const char *name; /* of the file, for messages; NULL: standard input */
    uint64_t number; /* of the last line returned, from 1 */
    char *buffer;
    size_t at; /* Where the next line begins in the buffer. */
    size_t held; /* Bytes in the buffer. */
    size_t capacity; /* Bytes that fit into the buffer. */
    bool ended; /* nothing is left to read */
    /* Called before each read, which may block; false ends the input and discards an incomplete
     * line. NULL: always read. */
    bool (*may_read)(void *context);
    void *context;
    cli_progress *progress; /* updated when data is read; may be NULL */
} cli_lines;

#define CLI_LINES(descriptor, mark)                                                                \
    {                                                                                              \
        .fd = (descriptor), .end = (mark)                                                          \
    }

/*
 * The next line, or *line->bytes NULL at the end. The line stays where it is, and may be written
 * to, until a call that reads. BRY_E_IO with errno; BRY_E_TOOLONG: longer than CLI_LINE_MAX;
 * BRY_E_NOMEM.
 */
bry_status cli_lines_next(cli_lines *lines, cli_text *line);

/* Whether the next line is in memory already, so that the next call does not read. */
bool cli_lines_ready(const cli_lines *lines);

/*
 * The number of lines to come, before the first is read. For a file, and for input that ends within
 * the first megabytes, they are counted: *exact. Of a longer pipe only those megabytes are counted;
 * they stay in memory until they are read. BRY_E_IO, BRY_E_NOMEM.
 */
bry_status cli_lines_count(cli_lines *lines, uint64_t *count, bool *exact);

/* As cli_quote(). */
cli_quotation cli_quote_text(cli_text text);

/* The position of a line, for a message: "line 5" or "name: line 5". */
typedef struct cli_place {
    char text[1100];
} cli_place;
cli_place cli_lines_place(const cli_lines *lines, uint64_t number);

void cli_lines_free(cli_lines *lines);

/* Reports the error of cli_lines_next() for the line after the last one. */
int cli_lines_failed(const cli_lines *lines, bry_status status);

/*
 * Standard input, or words, as keys in batches: `answer` answers the first n of `keys`, which has
 * room for `most`. Of lines it gets those that are in memory, and standard output is flushed before
 * more is read, so that a program can send a key and wait for the answer. CLI_GO_ON, or an exit code
 * after a message.
 */
typedef struct cli_key_batches {
    cli_text *keys;
    size_t most;
    int (*answer)(void *context, size_t n);
    bool (*accept)(void *context, cli_text *key); /* false: an invalid file name; NULL: all are */
    void *context;
} cli_key_batches;
int cli_answer_lines(const cli_key_batches *batches, char end);
int cli_answer_words(const cli_key_batches *batches, char **words, size_t count);

/* Calls `take` for each line of standard input, until it returns another code than CLI_GO_ON. */
int cli_take_lines(char end, int (*take)(void *context, cli_text line, const cli_lines *lines),
                   void *context);

#endif
