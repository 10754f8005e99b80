/* SIGINT and SIGTERM end a command where it can stop without leaving anything half done. */
#ifndef BLOOMERY_CLI_STOP_SIGNALS_H
#define BLOOMERY_CLI_STOP_SIGNALS_H

#include <stdbool.h>

/* From now on these signals are only noted. */
void cli_note_stop_signals(void);

/* True after one of them. */
bool cli_is_stopped(void);

#endif
