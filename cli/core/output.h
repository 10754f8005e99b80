/* What people read when something went wrong, and the check that stdout took what it was given. */
#ifndef BLOOMERY_CLI_OUTPUT_H
#define BLOOMERY_CLI_OUTPUT_H

#include "cli/core/exit_codes.h"

#include <bloomery/base.h>
#include <stdio.h>

/* "bloomery" or "bloomery-bench": each program defines it beside its main(). */
extern const char cli_program[];

/* The compiler that made this program, such as "gcc 12.2.0". */
const char *cli_compiler(void);

/* Escape sequences for a terminal; "" where `out` is none, with NO_COLOR in the environment
 * (no-color.org), and where TERM is "dumb". */
typedef struct cli_colours {
    const char *strong, *bad, *off;
} cli_colours;
cli_colours cli_colours_of(FILE *out);

/* Prints "PROGRAM: WORD: text" on stderr and returns CLI_FAILED. */
__attribute__((format(printf, 2, 3))) int cli_fail(bry_status status, const char *format, ...);

/* The same for arguments that make no sense, with the word USAGE and a hint where to read on;
 * returns CLI_USAGE. `command` is the subcommand's name, or NULL for the program's own arguments.
 */
__attribute__((format(printf, 2, 3))) int cli_misuse(const char *command, const char *format, ...);

/* Prints "PROGRAM: text" on stderr: what is worth saying, and no failure. */
__attribute__((format(printf, 1, 2))) void cli_note(const char *format, ...);

/* A word of the user's for a message: quoted, cut when long, with nothing that a terminal obeys. */
typedef struct cli_quoted {
    char text[96];
} cli_quoted;
cli_quoted cli_quote(const char *word);

/* Prints name, version, instruction set and compiler: `--version`. Returns an exit code. */
int cli_print_version(void);

/* Flushes stdout. Returns `code`, or reports the failed write and returns CLI_FAILED. */
int cli_finish(int code);

#endif
