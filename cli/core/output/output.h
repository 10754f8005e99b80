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
    const char *strong, *bad, *off;
} cli_colours;
cli_colours cli_colours_of(FILE *out);

/* Prints "PROGRAM: WORD: text" on stderr and returns CLI_FAILED. */
__attribute__((format(printf, 2, 3))) int cli_fail(bry_status status, const char *format, ...);

/* The same for invalid arguments, with the word USAGE and a hint to the help; returns CLI_USAGE.
 * `command` is the subcommand's name, or NULL for the program's own arguments. */
__attribute__((format(printf, 2, 3))) int cli_misuse(const char *command, const char *format, ...);

/* Prints "PROGRAM: text" on stderr: a note, not a failure. */
__attribute__((format(printf, 1, 2))) void cli_note(const char *format, ...);

/* A word of the user for a message: quoted, truncated if long, with control characters escaped. */
typedef struct cli_quoted {
    char text[96];
} cli_quoted;
cli_quoted cli_quote(const char *word);

/* Prints name, version, instruction set and compiler: `--version`. Returns an exit code. */
int cli_print_version(void);

/* Flushes stdout. Returns `code`, or reports the failed write and returns CLI_FAILED. */
int cli_finish(int code);

#endif
