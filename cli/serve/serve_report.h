/* What people read of a server that `bloomery serve` has started: how to use it, or why not. */
#ifndef BLOOMERY_CLI_SERVE_REPORT_H
#define BLOOMERY_CLI_SERVE_REPORT_H

#include "cli/serve/serve_child.h"
#include "cli/serve/serve_settings.h"

/* It answers. `log` is "" where it has none of its own. */
void serve_say_ready(const serve_child *child, const serve_settings *settings, const char *folder,
                     const char *log);

/* It has ended before it answered; `logged` is where its log ended before. Returns an exit code. */
int serve_report_no_start(const serve_child *child, const char *server, const char *log,
                          long logged);

/* It has ended. Returns an exit code. */
int serve_report_end(const serve_child *child);

#endif
