/*
 * `bloomery flows` and softflowd on the same capture, in interleaved rounds. With a file, softflowd
 * keeps every flow until the end, and so does `bloomery flows` with these options. That makes the
 * growth of the resident memory per flow comparable. Only TCP is read, because only TCP is tracked
 * by both.
 */
#include "bench/cases/flows/flows_cases.h"

#include "bench/harness/bench_fail.h"
#include "bench/harness/flow_traffic.h"
#include "bench/harness/measure.h"
#include "bench/harness/temporary_file.h"
#include "bench/peers/program_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 3, MOST_PACKETS = 2000000 };

static const double most_error = 0.001; /* the default of bloomery flows */

enum flows_row { FLOWS_BLOOMERY, FLOWS_SOFTFLOWD, FLOWS_ROWS };

typedef struct flows_programs_report {
    uint64_t packets;
    unsigned rounds;
    struct {
        bool there; /* the program was found */
        uint64_t flows;
        double processor; /* seconds; the median of the rounds */
        uint64_t peak_bytes, empty_bytes; /* resident; the latter with a capture of one packet */
    } row[FLOWS_ROWS];
    double error; /* promised by bloomery flows */
    uint64_t absent, false_positive; /* look-ups of new flows, and those that were found */
} flows_programs_report;

typedef struct flow_programs {
    cli_path bloomery;
    const char *arguments[FLOWS_ROWS][12];
} flow_programs;

enum { MOST_MARKS = 3 };

/* The numbers after these marks in the output; each is looked for below the one before. */
typedef struct flow_numbers {
    const char *mark[MOST_MARKS];
    uint64_t number[MOST_MARKS];
    unsigned found;
} flow_numbers;

static void read_flow_numbers(void *context, int fd)
{
    flow_numbers *numbers = context;
    FILE *in = fdopen(dup(fd), "re");
    char line[512];
    while (in && fgets(line, sizeof line, in)) {
        const char *mark = numbers->found < MOST_MARKS ? numbers->mark[numbers->found] : NULL;
        const char *at = mark ? strstr(line, mark) : NULL;
        if (at)
            numbers->number[numbers->found++] = strtoull(at + strlen(mark), NULL, 10);
    }
    if (in)
        fclose(in);
}

static bool set_up_flow_programs(flow_programs *all)
{
    /* Debian installs it where only root looks. */
    const char *softflowd =
        access("/usr/sbin/softflowd", X_OK) == 0 ? "/usr/sbin/softflowd" : "softflowd";
    if (!program_bloomery("flows", &all->bloomery))
        return false;
    /* softflowd says on standard error that it begins and ends. */
    static const char quietly[] = "exec \"$0\" \"$@\" 2>/dev/null";
    const char *const lines[FLOWS_ROWS][12] = {
        [FLOWS_BLOOMERY] = {all->bloomery.text, "flows", "--json", "--idle", "2d", "--linger", "1d",
                            "--filter", "tcp", NULL},
        [FLOWS_SOFTFLOWD] = {"sh", "-c", quietly, softflowd, "-6", "-m", "100000000", "-r",
                             "/dev/stdin", "tcp", NULL},
    };
    memcpy(all->arguments, lines, sizeof lines);
    return true;
}

/* A capture of this many packets; -1 after a message. */
static int make_capture(uint64_t packets)
{
    int fd = bench_temporary_file();
    FILE *out = fd < 0 ? NULL : fdopen(dup(fd), "wb");
    flow_traffic *traffic = out ? flow_traffic_new() : NULL;
    bool good = traffic && flow_traffic_write(traffic, packets, NULL, out);
    if (!good)
        cli_fail("flows: a temporary file: %s", strerror(errno));
    flow_traffic_free(traffic);
    if (out)
        fclose(out);
    if (!good && fd >= 0)
        close(fd);
    return good ? fd : -1;
}

/* Runs a program; what it used, or `done` is false after a message. */
static program_usage run_flow_program(const flow_programs *all, unsigned row, int file,
                                      uint64_t *flows)
{
    static const char *const marks[FLOWS_ROWS] = {"\"flows\": ", "Flows expired: "};
    flow_numbers numbers = {.mark = {marks[row]}};
    program_usage usage = program_run(all->arguments[row], file, read_flow_numbers, &numbers);
    *flows = numbers.number[0];
    if (usage.there && !usage.done)
        cli_fail("flows: %s failed", row == FLOWS_BLOOMERY ? "bloomery" : "softflowd");
    return usage;
}

static bool run_flow_round(const flow_programs *all, const int files[2], unsigned row,
                           flows_programs_report *report, double *processor)
{
    uint64_t none;
    program_usage empty = run_flow_program(all, row, files[0], &none);
    report->row[row].there = empty.there;
    if (!empty.there && row != FLOWS_BLOOMERY)
        return true;
    program_usage whole = run_flow_program(all, row, files[1], &report->row[row].flows);
    report->row[row].empty_bytes = empty.peak_bytes;
    report->row[row].peak_bytes = whole.peak_bytes;
    *processor = whole.processor;
    return empty.done && whole.done;
}

/* What `bloomery flows` gets wrong, by an exact table beside it. */
static bool check_flows(const flow_programs *all, int file, flows_programs_report *report)
{
    const char *arguments[12];
    memcpy(arguments, all->arguments[FLOWS_BLOOMERY], sizeof arguments);
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++)
        if (!arguments[i]) {
            arguments[i] = "--check";
            break;
        }
    flow_numbers numbers = {.mark = {"\"check\": ", "\"absent\": ", "\"false_positive\": "}};
    program_usage usage = program_run(arguments, file, read_flow_numbers, &numbers);
    report->error = most_error;
    report->absent = numbers.number[1];
    report->false_positive = numbers.number[2];
    return (usage.done && numbers.found == MOST_MARKS) ||
           bench_fail("flows: bloomery flows --check failed");
}

static bool flow_counts_agree(const flows_programs_report *report)
{
    double ours = (double)report->row[FLOWS_BLOOMERY].flows,
           theirs = (double)report->row[FLOWS_SOFTFLOWD].flows, most = most_error * theirs;
    return !report->row[FLOWS_SOFTFLOWD].there ||
           fabs(ours - theirs) <= most + 5 * sqrt(most) + 2 ||
           bench_fail("flows: %.0f flows, but %.0f by softflowd", ours, theirs);
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
                            (double)programs->false_positive / (double)programs->absent);
        }
        cli_json_close(json, '}');
    }
    cli_json_close(json, '}');
}

bool bench_flows_programs(uint64_t packets, cli_json *json)
{
    flows_programs_report report = {
        .packets = packets < MOST_PACKETS ? packets : MOST_PACKETS,
        .rounds = ROUNDS,
    };
    flow_programs all;
    double processor[FLOWS_ROWS][ROUNDS] = {{0}};
    if (!set_up_flow_programs(&all))
        return false;
    int files[2] = {make_capture(1), -1};
    files[1] = files[0] < 0 ? -1 : make_capture(report.packets);
    bool good = files[1] >= 0;
    for (unsigned round = 0; round < ROUNDS && good; round++)
        for (unsigned i = 0; i < FLOWS_ROWS && good; i++) {
            unsigned row = (i + round) % FLOWS_ROWS;
            good = run_flow_round(&all, files, row, &report, &processor[row][round]);
        }
    good = good && check_flows(&all, files[1], &report);
    for (unsigned row = 0; row < FLOWS_ROWS; row++)
        report.row[row].processor = bench_median(processor[row], ROUNDS);
    for (unsigned i = 0; i < 2; i++)
        if (files[i] >= 0)
            close(files[i]);
    if (!good || !flow_counts_agree(&report))
        return false;
    programs_json(json, &report);
    return true;
}
