/* The summary of a run, in three formats. */
#ifndef BLOOMERY_APPS_FLOW_REPORT_H
#define BLOOMERY_APPS_FLOW_REPORT_H

#include "apps/flows/flow_alerts.h"
#include "apps/flows/flow_capture.h"
#include "apps/flows/flow_options.h"

/* Everything that a report is made of. */
typedef struct flow_run {
    const flow_options *asked;
    flow_tracker *tracker;
    const flow_detector *detector;
    const flow_alerts *alerts;
    const flow_capture *capture;
    const cli_memory *memory;
    double seconds; /* of processor time */
} flow_run;

/* Addresses are listed from this weight on, or once they have raised an alert. */
enum { FLOW_LISTED_WEIGHT = 10 };

/* The most suspicious addresses; the array is allocated, of asked->top, or NULL. */
const flow_suspect **flow_report_top(const flow_suspects *suspects, size_t most, size_t *count);

/* False if memory ran out. */
bool flow_report_text(FILE *out, const flow_run *run);
bool flow_report_json(FILE *out, const flow_run *run);
bool flow_report_csv(FILE *out, const flow_run *run);

extern const flow_label flow_parsed_labels[FLOW_PARSED_KINDS];

#endif
