/* What `bloomery` tells the shell. Scripts rely on these, so they never change. */
#ifndef BLOOMERY_CLI_EXIT_CODES_H
#define BLOOMERY_CLI_EXIT_CODES_H

typedef enum cli_exit {
    CLI_YES = 0, /* yes, present, or simply: it worked */
    CLI_NO = 1, /* no, absent */
    CLI_USAGE = 2, /* the arguments make no sense; nothing was done */
    CLI_FAILED = 3, /* it was tried and failed */
    CLI_UNSURE = 4, /* the structure cannot tell */
} cli_exit;

#endif
