/* bloomery count: adds up numbers by name, each of them once. */
#include "cli/core/args.h"
#include "cli/core/command.h"
#include "cli/core/json/json_write.h"
#include "cli/core/output/output.h"
#include "cli/core/stop_signals.h"
#include "cli/count/count_stream.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

static void print_count_stats(const count_table *table, const count_tally *tally, bool as_json)
{
    bry_counters_stats s = {0};
    bry_counters_get_stats(table->counters, &s);
    if (!as_json) {
        fprintf(stderr,
                "lines       %" PRIu64 ": %" PRIu64 " counted, %" PRIu64 " counted before\n"
                "table       %s: %" PRIu64 " names, %" PRIu64 " ids remembered\n"
                "error       %g promised, %.3g estimated; %.3g ids expected to be lost\n"
                "bytes       %" PRIu64 "\n",
                tally->lines, tally->applied, tally->lines - tally->applied,
                bry_engine_name(s.engine), s.counters, s.ids, s.promised_error, s.estimated_error,
                s.expected_lost, s.bytes);
        return;
    }
    cli_json json = CLI_JSON_TO(stderr);
    cli_json_open(&json, NULL, '{');
    cli_json_count(&json, "lines", tally->lines);
    cli_json_count(&json, "applied", tally->applied);
    cli_json_count(&json, "repeats", tally->lines - tally->applied);
    cli_json_text(&json, "engine", bry_engine_name(s.engine));
    if (s.window == BRY_SPAN_MAX)
        cli_json_text(&json, "window_ms", NULL);
    else
        cli_json_count(&json, "window_ms", s.window);
    cli_json_count(&json, "counters", s.counters);
    cli_json_count(&json, "remembered", s.ids);
    cli_json_number(&json, "promised_error", s.promised_error);
    cli_json_number(&json, "estimated_error", s.estimated_error);
    cli_json_number(&json, "expected_lost", s.expected_lost);
    cli_json_count(&json, "bytes", s.bytes);
    cli_json_count(&json, "log_bytes", s.log_bytes);
    cli_json_close(&json, '}');
}

static int count_inputs(const count_options *asked, cli_inputs *inputs)
{
    count_table table;
    count_tally tally = {0};
    int code = count_table_open(&table, asked);
    bool opened = code == CLI_GO_ON;
    if (opened && !asked->totals)
        code = count_stream(&table, &asked->fields, inputs, &tally);
    if (code == CLI_GO_ON)
        code = asked->quiet ? CLI_YES : count_totals_print(&table, asked);
    if (opened && asked->stats) {
        print_count_stats(&table, &tally, asked->json);
        code = ferror(stderr) ? CLI_FAILED : code;
    }
    bry_counters_destroy(table.counters);
    if (tally.signal && code == CLI_YES && (code = cli_finish(code)) == CLI_YES)
        return cli_end_by(tally.signal);
    return code;
}

int cli_count(int argc, char **argv)
{
    count_options asked;
    cli_inputs inputs;
    int code = count_options_read(&asked, argc, argv);
    if (code == CLI_GO_ON && !asked.totals)
        code = cli_inputs_look(&inputs, argv + 1, asked.files);
    if (code != CLI_GO_ON)
        return code;
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the file size limit fails like any other */
    return count_inputs(&asked, &inputs);
}
