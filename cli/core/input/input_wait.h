/*
 * Waiting for input that signals end: SIGINT, SIGTERM and SIGHUP, unless they are ignored. The
 * command checks before it waits; none can arrive unnoticed between check and wait. A second signal
 * ends the program.
 */
#ifndef BLOOMERY_CLI_INPUT_WAIT_H
#define BLOOMERY_CLI_INPUT_WAIT_H

#include <signal.h>
#include <stdbool.h>

enum { CLI_END_SIGNALS = 3 };

/* The handlers before. */
typedef struct cli_wait {
    struct sigaction before[CLI_END_SIGNALS];
} cli_wait;

/* From now on the signals end the input. */
void cli_wait_begin(cli_wait *wait);

/* Restores the handlers. Returns the signal that ended the input, or 0. */
int cli_wait_end(const cli_wait *wait);

/* True after a signal. */
bool cli_wait_is_over(void);

/* Whether a read returns at once. */
bool cli_wait_is_readable(int fd);

/* Waits until a read returns at once. False: a signal came, before or meanwhile. */
bool cli_wait_for(int fd);

#endif
