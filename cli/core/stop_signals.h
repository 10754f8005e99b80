/*
 * Signals that end a command.
 *
 * SIGPIPE: when the reader of standard output goes away, as in `bloomery ... | head -1`, the program
 * ends by SIGPIPE without a message, like other tools. A write to any other closed pipe or
 * connection fails with EPIPE.
 *
 * A command that must not leave anything half done notes the signals and stops where it can.
 */
#ifndef BLOOMERY_CLI_STOP_SIGNALS_H
#define BLOOMERY_CLI_STOP_SIGNALS_H

#include <stdbool.h>

/* main() calls this first. */
void cli_catch_closed_pipe(void);

/* True if standard output is a pipe that nobody reads any more. */
bool cli_is_pipe_closed(void);

/* From now on a closed pipe is only noted: cli_finish() ends the program by SIGPIPE. */
void cli_note_closed_pipe(void);

/* From now on SIGINT, SIGTERM and a closed pipe are only noted. */
void cli_note_stop_signals(void);

/* True after one of them. */
bool cli_is_stopped(void);

/* Ends the program by this signal, so that its caller sees why. Returns CLI_FAILED if that is not
 * possible. */
int cli_end_by(int number);

#endif
