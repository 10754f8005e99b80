#include "cli/seen/seen_report.h"

#include "cli/core/json/json_write.h"
#include "text/number_format.h"

#include <inttypes.h>
#include <stdio.h>

/* A window's count also includes the time before its first line. */
static uint64_t time_covered(const bry_window_stats *stats, uint64_t since)
{
    uint64_t lasted = since < stats->time ? stats->time - since : 0;
    return lasted < stats->covered ? lasted : stats->covered;
}

void seen_report_json(const seen_kept_state *kept, const seen_tally *tally)
{
    bry_window_stats s = {0};
    bry_window_get_stats(kept->window, &s);
    cli_json json = CLI_JSON_TO(stderr);
    cli_json_open(&json, NULL, '{');
    cli_json_count(&json, "lines", tally->lines);
    cli_json_count(&json, "passed", tally->written);
    cli_json_count(&json, "dropped", tally->lines - tally->written);
    cli_json_count(&json, "first", tally->first);
    cli_json_count(&json, "repeats", tally->repeats);
    cli_json_count(&json, "bad", tally->bad);
    cli_json_count(&json, "late", tally->late);
    cli_json_count(&json, "unremembered", tally->unremembered);
    cli_json_text(&json, "engine", bry_engine_name(s.engine));
    if (s.window == SEEN_FOREVER)
        cli_json_text(&json, "window_ms", NULL);
    else
        cli_json_count(&json, "window_ms", s.window);
    cli_json_count(&json, "covered_ms", time_covered(&s, kept->since));
    cli_json_count(&json, "time_ms", s.time);
    cli_json_count(&json, "remembered", s.items);
    cli_json_count(&json, "generations", s.generations);
    cli_json_number(&json, "promised_error", s.promised_error);
    cli_json_number(&json, "estimated_error", s.estimated_error);
    cli_json_number(&json, "expected_false_drops", tally->false_drops);
    cli_json_bool(&json, "at_limit", s.at_limit);
    cli_json_count(&json, "bytes", s.bytes);
    cli_json_close(&json, '}');
}

void seen_report_text(const seen_kept_state *kept, const seen_tally *tally)
{
    bry_window_stats s = {0};
    bry_window_get_stats(kept->window, &s);
    fprintf(stderr,
            "lines       %" PRIu64 ": %" PRIu64 " passed, %" PRIu64 " dropped\n"
            "            %" PRIu64 " new, %" PRIu64 " repeats",
            tally->lines, tally->written, tally->lines - tally->written, tally->first,
            tally->repeats);
    if (tally->bad)
        fprintf(stderr, ", %" PRIu64 " bad", tally->bad);
    if (tally->late)
        fprintf(stderr, "; %" PRIu64 " late", tally->late);
    if (tally->unremembered)
        fprintf(stderr, "; %" PRIu64 " not remembered: out of memory", tally->unremembered);
    fprintf(stderr, "\nwindow      %s, ", bry_engine_name(s.engine));
    if (s.window == SEEN_FOREVER)
        fputs("forever", stderr);
    else
        fprintf(stderr, "%" PRIu64 " %s", text_span_of(s.window).number,
                text_span_of(s.window).unit);
    fprintf(stderr, ": %" PRIu64 " remembered in %u generation%s\n", s.items, s.generations,
            s.generations == 1 ? "" : "s");
    fprintf(stderr,
            "error       %g promised, %.3g estimated; %.3g new lines expected to be dropped\n",
            s.promised_error, s.estimated_error, tally->false_drops);
    fprintf(stderr, "bytes       %" PRIu64 "%s\n", s.bytes,
            s.at_limit ? ", at the memory limit" : "");
}
