/* The exit codes of `bloomery`. Scripts rely on them, so they never change. */
#ifndef BLOOMERY_CLI_EXIT_CODES_H
#define BLOOMERY_CLI_EXIT_CODES_H

typedef enum cli_exit {
    CLI_YES = 0, /* yes, present, or done */
    CLI_NO = 1, /* no, absent */
    CLI_USAGE = 2, /* invalid arguments; nothing was done */
    CLI_FAILED = 3, /* failure */
    CLI_UNSURE = 4, /* the structure cannot decide */
} cli_exit;

#endif
