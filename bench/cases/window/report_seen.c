/* The report of `bloomery seen`, in two formats. doc/man/bloomery-bench.1 explains the fields. */
#include "bench/cases/window/window_cases.h"
#include "cli/core/output/text_table.h"

#include <math.h>

static double per_line(const seen_report *report, unsigned row)
{
    return (double)report->row[row].peak_bytes / (double)report->settings.lines;
}

static const char *name_of(const seen_report *report, unsigned row, char *room, size_t len)
{
    if (row == SEEN_BLOOMERY)
        return "bloomery seen";
    if (row == SEEN_SORT)
        return "sort -u";
    snprintf(room, len, "awk '!x[$0]++' (%s)", report->awk);
    return room;
}

void bench_seen_json(cli_json *json, const seen_report *report)
{
    static const char *const keys[SEEN_ROWS] = {"bloomery", "awk", "sort"};
    cli_json_count(json, "lines", report->settings.lines);
    cli_json_count(json, "bytes", report->bytes);
    cli_json_count(json, "distinct", report->distinct);
    cli_json_number(json, "error", report->settings.error);
    cli_json_count(json, "rounds", report->settings.rounds);
    cli_json_text(json, "awk_is", report->awk);
    cli_json_count(json, "false_drops", report->false_drops);
    cli_json_number(json, "expected_false_drops", report->expected_drops);
    for (unsigned row = 0; row < SEEN_ROWS; row++) {
        if (!report->row[row].there) {
            cli_json_text(json, keys[row], NULL);
            continue;
        }
        cli_json_open(json, keys[row], '{');
        cli_json_number(json, "seconds", report->row[row].seconds);
        cli_json_number(json, "seconds_min", report->row[row].seconds_min);
        cli_json_number(json, "processor_seconds", report->row[row].processor);
        cli_json_count(json, "peak_bytes", report->row[row].peak_bytes);
        cli_json_number(json, "times_as_long",
                        report->row[row].seconds / report->row[SEEN_BLOOMERY].seconds);
        cli_json_close(json, '}');
    }
}

static bool print_seen_table(FILE *out, const seen_report *report)
{
    static const char *const head[] = {"program",    "seconds",        "processor, s",
                                       "memory, MB", "bytes per line", "× the time"};
    cli_table table = CLI_TABLE("lrrrrr");
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        cli_table_add(&table, "%s", head[i]);
    for (unsigned row = 0; row < SEEN_ROWS; row++) {
        char room[128];
        if (!report->row[row].there)
            continue;
        cli_table_add(&table, "%s", name_of(report, row, room, sizeof room));
        cli_table_add(&table, "%.2f", report->row[row].seconds);
        cli_table_add(&table, "%.2f", report->row[row].processor);
        cli_table_add(&table, "%.0f", (double)report->row[row].peak_bytes / 1e6);
        cli_table_add(&table, "%.1f", per_line(report, row));
        cli_table_add(&table, "%.2f",
                      report->row[row].seconds / report->row[SEEN_BLOOMERY].seconds);
    }
    bool printed = cli_table_print(&table, out);
    cli_table_free(&table);
    return printed;
}

static void say_what(FILE *out, const seen_report *report)
{
    fprintf(out,
            "%llu lines of 16 bytes, 1 in 20 a repeat; error promised %g: %llu of %llu first "
            "lines dropped, at most %.3g expected; wall-clock time, median of %u interleaved "
            "rounds; memory: the peak of each program.\n",
            (unsigned long long)report->settings.lines, report->settings.error,
            (unsigned long long)report->false_drops, (unsigned long long)report->distinct,
            report->expected_drops, report->settings.rounds);
}

bool bench_seen_text(FILE *out, const seen_report *report)
{
    fprintf(out, "seen: lines seen for the first time\n\n");
    bool printed = print_seen_table(out, report);
    fputc('\n', out);
    say_what(out, report);
    return printed;
}
