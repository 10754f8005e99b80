/* Messages about a server that `bloomery serve` has started: how to use it, or why it failed. */
#ifndef BLOOMERY_CLI_SERVE_REPORT_H
#define BLOOMERY_CLI_SERVE_REPORT_H

#include "cli/serve/serve_child.h"
#include "cli/serve/serve_settings.h"

/* The server answers. `log` is "" if it has no log file. */
void serve_say_ready(const serve_child *child, const serve_settings *settings, const char *dir,
                     const char *log);

/* The server ended before it answered; `logged` is the size its log had before. Returns an exit
 * code. */
int serve_report_no_start(const serve_child *child, const char *server, const char *log,
                          long logged);

/* The server has ended. Returns an exit code. */
int serve_report_end(const serve_child *child);

#endif
