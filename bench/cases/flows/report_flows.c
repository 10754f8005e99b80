/* The report of bloomery-bench flows, in two formats; doc/man/bloomery-bench.1 explains fields. */
#include "bench/cases/flows/flows_cases.h"

#include "cli/core/output/text_table.h"

#include <math.h>

static double error_share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

static const char *const capture_keys[FLOWS_CAPTURES] = {"whole_packets", "first_128_bytes"};

static void paper_json(cli_json *json, const flows_paper_report *paper)
{
    static const char *const keys[FLOWS_STRUCTURES] = {"sbf", "sbf_counted",   "kbf_published",
                                                       "kbf", "compact_tenth", "compact_quarter"};
    cli_json_count(json, "flows", paper->stream.flows);
    cli_json_count(json, "live", paper->stream.live);
    cli_json_open(json, "paper", '[');
    for (unsigned i = 0; i < FLOWS_ERRORS; i++) {
        cli_json_open(json, NULL, '{');
        cli_json_number(json, "p", paper->row[i].p);
        for (unsigned s = 0; s < FLOWS_STRUCTURES; s++) {
            const flows_trial *trial = &paper->row[i].trial[s];
            cli_json_open(json, keys[s], '{');
            cli_json_number(json, "error", trial->error);
            cli_json_count(json, "bytes", trial->bytes);
            cli_json_number(json, "false_positive",
                            error_share(trial->false_positive, trial->absent));
            cli_json_number(json, "false_negative",
                            error_share(trial->false_negative, trial->present));
            cli_json_number(json, "incorrect", error_share(trial->incorrect, trial->present));
            cli_json_close(json, '}');
        }
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void speed_json(cli_json *json, const flows_speed_report *speed)
{
    static const char *const keys[FLOWS_PROGRAMS] = {"libpcap", "compact", "kbf", "exact"};
    cli_json_count(json, "packets", speed->packets);
    cli_json_count(json, "connections", speed->connections);
    for (unsigned capture = 0; capture < FLOWS_CAPTURES; capture++) {
        const double *seconds = speed->seconds[capture];
        cli_json_open(json, capture_keys[capture], '{');
        cli_json_count(json, "bytes", speed->bytes[capture]);
        for (unsigned i = 0; i < FLOWS_PROGRAMS; i++) {
            if (isnan(seconds[i]))
                continue;
            cli_json_open(json, keys[i], '{');
            cli_json_number(json, "seconds", seconds[i]);
            cli_json_number(json, "relative", seconds[FLOWS_BARE] / seconds[i]);
            if (i != FLOWS_BARE && capture == FLOWS_WHOLE) {
                cli_json_count(json, "flows", speed->facts[i].flows);
                cli_json_count(json, "most_live_flows", speed->facts[i].live);
                cli_json_count(json, "most_flow_bytes", speed->facts[i].table_bytes);
            }
            cli_json_close(json, '}');
        }
        cli_json_close(json, '}');
    }
}

static double flow_growth(const flows_programs_report *programs, unsigned row)
{
    return ((double)programs->row[row].peak_bytes - (double)programs->row[row].empty_bytes) /
           (double)programs->row[row].flows;
}

static void programs_json(cli_json *json, const flows_programs_report *programs)
{
    static const char *const keys[FLOWS_ROWS] = {"bloomery", "softflowd"};
    cli_json_open(json, "programs", '{');
    cli_json_count(json, "packets", programs->packets);
    cli_json_count(json, "rounds", programs->rounds);
    for (unsigned row = 0; row < FLOWS_ROWS; row++) {
        if (!programs->row[row].there) {
            cli_json_text(json, keys[row], NULL);
            continue;
        }
        cli_json_open(json, keys[row], '{');
        cli_json_count(json, "flows", programs->row[row].flows);
        cli_json_number(json, "processor_seconds", programs->row[row].processor);
        cli_json_count(json, "peak_bytes", programs->row[row].peak_bytes);
        cli_json_count(json, "empty_bytes", programs->row[row].empty_bytes);
        cli_json_number(json, "bytes_per_flow", flow_growth(programs, row));
        if (row == FLOWS_BLOOMERY) {
            cli_json_number(json, "error", programs->error);
            cli_json_number(json, "false_positive",
                            error_share(programs->false_positive, programs->absent));
        }
        cli_json_close(json, '}');
    }
    cli_json_close(json, '}');
}

void bench_flows_json(cli_json *json, const flows_report *report)
{
    paper_json(json, &report->paper);
    speed_json(json, &report->speed);
    programs_json(json, &report->programs);
}

static void add_heads(cli_table *table, const char *const *heads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cli_table_add(table, "%s", heads[i]);
}

/* A cell, or an empty one. */
static void add_number(cli_table *table, bool shown, unsigned digits, double number)
{
    if (shown)
        cli_table_add(table, "%.*f", (int)digits, number);
    else
        cli_table_add(table, "%s", "");
}

static bool paper_text(FILE *out, const flows_paper_report *paper)
{
    static const char *const heads[] = {
        "p", "structure", "bytes per flow", "false positive", "false negative", "incorrect"};
    cli_table table = CLI_TABLE("rlrrrr");
    add_heads(&table, heads, sizeof heads / sizeof heads[0]);
    for (unsigned i = 0; i < FLOWS_ERRORS; i++)
        for (unsigned s = 0; s < FLOWS_STRUCTURES; s++) {
            const flows_trial *trial = &paper->row[i].trial[s];
            if (s == 0)
                cli_table_add(&table, "%g", paper->row[i].p);
            else
                cli_table_add(&table, "%s", "");
            cli_table_add(&table, "%s", flows_structure_names[s]);
            cli_table_add(&table, "%.1f", (double)trial->bytes / (double)paper->stream.live);
            cli_table_add(&table, "%.2g", error_share(trial->false_positive, trial->absent));
            cli_table_add(&table, "%.2g", error_share(trial->false_negative, trial->present));
            cli_table_add(&table, "%.2g", error_share(trial->incorrect, trial->present));
        }
    bool printed = cli_table_print(&table, out);
    cli_table_free(&table);
    fprintf(
        out,
        "\n%llu flows, %llu at a time, looked up before each change; shares of the flows looked "
        "up. compact has at most a tenth, and a quarter, of kbf's memory.\n",
        (unsigned long long)paper->stream.flows, (unsigned long long)paper->stream.live);
    return printed;
}

static bool speed_text(FILE *out, const flows_speed_report *speed)
{
    static const char *const heads[] = {"program",       "whole packets, s", "relative",
                                        "128 bytes, s",  "relative",         "live flows",
                                        "bytes per flow"};
    cli_table table = CLI_TABLE("lrrrrrr");
    add_heads(&table, heads, sizeof heads / sizeof heads[0]);
    for (unsigned i = 0; i < FLOWS_PROGRAMS; i++) {
        cli_table_add(&table, "%s", flows_program_names[i]);
        for (unsigned capture = 0; capture < FLOWS_CAPTURES; capture++) {
            const double *seconds = speed->seconds[capture];
            add_number(&table, !isnan(seconds[i]), 2, seconds[i]);
            add_number(&table, !isnan(seconds[i]), 2, seconds[FLOWS_BARE] / seconds[i]);
        }
        double live = (double)speed->facts[i].live;
        add_number(&table, i != FLOWS_BARE, 0, live);
        add_number(&table, i != FLOWS_BARE, 1, (double)speed->facts[i].table_bytes / live);
    }
    bool printed = cli_table_print(&table, out);
    cli_table_free(&table);
    fprintf(out,
            "\n%llu packets, %llu connections; processor time, in turns of a million packets; "
            "relative: packets per second, libpcap alone 1.\n",
            (unsigned long long)speed->packets, (unsigned long long)speed->connections);
    return printed;
}

static bool programs_text(FILE *out, const flows_programs_report *programs)
{
    static const char *const heads[] = {"program", "processor, s", "flows", "peak, MB",
                                        "bytes per flow"};
    static const char *const names[FLOWS_ROWS] = {"bloomery flows", "softflowd"};
    cli_table table = CLI_TABLE("lrrrr");
    add_heads(&table, heads, sizeof heads / sizeof heads[0]);
    for (unsigned row = 0; row < FLOWS_ROWS; row++) {
        if (!programs->row[row].there)
            continue;
        cli_table_add(&table, "%s", names[row]);
        cli_table_add(&table, "%.2f", programs->row[row].processor);
        cli_table_add(&table, "%llu", (unsigned long long)programs->row[row].flows);
        cli_table_add(&table, "%.1f", (double)programs->row[row].peak_bytes / 1e6);
        cli_table_add(&table, "%.1f", flow_growth(programs, row));
    }
    bool printed = cli_table_print(&table, out);
    cli_table_free(&table);
    fprintf(out,
            "\n%llu packets; all flows are kept; bytes per flow: growth of the resident memory; "
            "median of %u rounds.%s\n",
            (unsigned long long)programs->packets, programs->rounds,
            programs->row[FLOWS_SOFTFLOWD].there
                ? ""
                : " softflowd is not installed (Debian: softflowd).");
    return printed;
}

bool bench_flows_text(FILE *out, const flows_report *report)
{
    fputs("flows: states of TCP flows, and the papers' comparison\n\n", out);
    bool printed = paper_text(out, &report->paper);
    fputc('\n', out);
    printed = speed_text(out, &report->speed) && printed;
    fputc('\n', out);
    return programs_text(out, &report->programs) && printed;
}
