/* The statistics that `bloomery seen` prints on standard error at its end. */
#ifndef BLOOMERY_CLI_SEEN_REPORT_H
#define BLOOMERY_CLI_SEEN_REPORT_H

#include "cli/seen/seen_stream.h"

void seen_report_text(const seen_kept_state *kept, const seen_tally *tally);
void seen_report_json(const seen_kept_state *kept, const seen_tally *tally);

#endif
