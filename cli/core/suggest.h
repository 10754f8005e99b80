/* "did you mean": the known word that is closest to an unknown one. */
#ifndef BLOOMERY_CLI_SUGGEST_H
#define BLOOMERY_CLI_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

/* Initialised with CLI_GUESS; then all known words are tried. */
typedef struct cli_guess {
    const char *word; /* The word that was typed. */
    size_t len; /* Its length in bytes. */
    const char *best; /* The closest known word so far; NULL: none is close enough. */
    size_t distance; /* The edit distance of the best. */
} cli_guess;

#define CLI_GUESS(typed, length)                                                                   \
    {                                                                                              \
        .word = (typed), .len = (length)                                                           \
    }

/* True if this word is the closest so far. Words of one letter are never suggested. If two are equally
 * close, the first one is. */
bool cli_guess_try(cli_guess *guess, const char *known);

/* "; did you mean \"--capacity\"?", with `before` before the word, or "". */
typedef struct cli_suggestion {
    char text[80];
} cli_suggestion;
cli_suggestion cli_suggest(const cli_guess *guess, const char *before);

#endif
