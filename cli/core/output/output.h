/* Error messages, and the check that everything was written to stdout. */
#ifndef BLOOMERY_CLI_OUTPUT_H
#define BLOOMERY_CLI_OUTPUT_H

#include "cli/core/exit_codes.h"

#include <bloomery/base.h>
#include <stdio.h>

/* "bloomery" or "bloomery-bench": each program defines it beside its main(). */
extern const char cli_program[];

/* The compiler that made this program, such as "gcc 12.2.0". */
const char *cli_compiler(void);

/* Escape sequences for a terminal; "" if `out` is not a terminal, if NO_COLOR is set
 * (no-color.org), or if TERM is "dumb". */
typedef struct cli_colours {
    const char *strong; /* For headings. */
    const char *bad; /* For what is wrong. */
    const char *off; /* Ends both. */
} cli_colours;
cli_colours cli_colours_of(FILE *out);

/*
 * Messages. What is wrong comes after where it is: "PROGRAM: FILE: No such file or directory". Names
 * of files, archives, maps and servers are printed with cli_name(), refused words of the user, such
 * as the value of an option, with cli_quote().
 */

/* Prints "PROGRAM: text" on stderr and returns CLI_FAILED. */
__attribute__((format(printf, 1, 2))) int cli_fail(const char *format, ...);

/* The same with the text "out of memory". */
int cli_no_memory(void);

/* The same for invalid arguments, with a hint to the help; returns CLI_USAGE. */
__attribute__((format(printf, 1, 2))) int cli_misuse(const char *format, ...);

/* The subcommand that runs, such as " map build"; "": none. cli_enter() appends a word to it; NULL
 * empties it. */
const char *cli_command_words(void);
void cli_enter(const char *word);

/* The same for a note, which is not a failure. */
__attribute__((format(printf, 1, 2))) void cli_note(const char *format, ...);

/* A word or a name as it is printed in a message. */
typedef struct cli_quotation {
    char text[1024];
} cli_quotation;

/* In quotes; quotes and backslashes are escaped, and so are bytes that are not printable. Truncated
 * to one line. */
cli_quotation cli_quote(const char *word);

/* As it is, without quotes; "-" is "standard input". A name that could be misread is quoted: one
 * that is empty, ends in a colon, or has a blank, a quote, a backslash or a byte that is not
 * printable. Truncated to about 1000 bytes. */
cli_quotation cli_name(const char *name);

/* 12345678 as 12,345,678. */
typedef struct cli_count_text {
    char text[40];
} cli_count_text;
cli_count_text cli_say_count(uint64_t count);

/* Flushes stdout. Returns `code`, or reports the failed write and returns CLI_FAILED; if nobody reads
 * stdout any more, ends the program by SIGPIPE. */
int cli_finish(int code);

/* The main() of a program: runs it with its words, or prints its name, version, instruction set and
 * compiler for --version. */
int cli_main(int argc, char **argv, int (*run)(int argc, char **argv));

#endif
