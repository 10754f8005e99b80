/*
 * Words of a line: runs of letters, digits, "_" and bytes that are not ASCII, with ".", "-", ":"
 * and "@" between these. So 192.0.2.7, 2001:db8::7, example.org, a@example.org and 12:30:00 are
 * words; a comma, a bracket, a slash and a space end one, and the full stop at the end of a
 * sentence is not a part of it.
 */
#ifndef BLOOMERY_CLI_WORDS_H
#define BLOOMERY_CLI_WORDS_H

#include "cli/core/input/lines.h"

/* Finds the next word in the rest of a line and advances the rest past it. False if there is
 * none. */
bool cli_next_word(cli_text *rest, cli_text *word);

/* Whether the text is one word, and nothing else. */
bool cli_is_word(cli_text text);

#endif
