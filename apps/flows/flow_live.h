/* An interface, watched until a signal, a number of packets or a time ends it. */
#ifndef BLOOMERY_APPS_FLOW_LIVE_H
#define BLOOMERY_APPS_FLOW_LIVE_H

#include "apps/flows/flow_report.h"

/* Prints a table that is refreshed if standard output is a terminal, and lines otherwise; nothing
 * with --json, --csv or alerts on standard output. An exit code. */
int flow_live(const flow_run *run, flow_capture *capture);

#endif
