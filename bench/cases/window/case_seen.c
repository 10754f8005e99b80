/* `bloomery seen` compared with awk and sort on the same lines, in interleaved rounds. */
#include "bench/cases/window/window_cases.h"

#include "bench/peers/line_programs.h"
#include "cli/core/files/program_files.h"
#include "cli/core/output/output.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The file name of a program in PATH, with links resolved. */
static void find_name(const char *program, char *name, size_t room)
{
    char real[PATH_MAX];
    cli_path path;
    bool known = cli_find_in_path(program, &path) && realpath(path.text, real);
    snprintf(name, room, "%.*s", (int)room - 1, known ? strrchr(real, '/') + 1 : program);
}

typedef struct programs {
    cli_path bloomery;
    char error[32];
    const char *arguments[SEEN_ROWS][6];
} programs;

static bool set_up_programs(programs *all, double error)
{
    if (!program_bloomery("seen", &all->bloomery))
        return false;
    snprintf(all->error, sizeof all->error, "%.17g", error);
    const char *const lines[SEEN_ROWS][6] = {
        [SEEN_BLOOMERY] = {all->bloomery.text, "seen", "--error", all->error, NULL},
        [SEEN_AWK] = {"awk", "!x[$0]++", NULL},
        [SEEN_SORT] = {"sort", "-u", NULL},
    };
    memcpy(all->arguments, lines, sizeof lines);
    setenv("LC_ALL", "C", 1); /* compare bytes, as the others do, which is the fastest for sort */
    return true;
}

/* Runs each program once and checks its output. */
static bool check_all(const programs *all, int file, seen_report *report)
{
    uint64_t lines = report->settings.lines;
    for (unsigned row = 0; row < SEEN_ROWS; row++) {
        line_check check = {.lines = lines, .in_order = row != SEEN_SORT};
        program_usage run = program_run(all->arguments[row], file, line_check_read, &check);
        report->row[row].there = run.there;
        if (!run.there && row != SEEN_BLOOMERY)
            continue;
        if (!run.done || check.wrong) {
            cli_fail("%s: wrong output", all->arguments[row][row == SEEN_BLOOMERY]);
            return false;
        }
        report->row[row].right = row == SEEN_BLOOMERY || check.missing == 0;
        if (row == SEEN_BLOOMERY)
            report->false_drops = check.missing;
    }
    double most = report->settings.error * (double)report->distinct;
    report->expected_drops = most;
    report->row[SEEN_BLOOMERY].right = (double)report->false_drops <= most + 5 * sqrt(most) + 1;
    for (unsigned row = 0; row < SEEN_ROWS; row++)
        if (report->row[row].there && !report->row[row].right) {
            cli_fail("%s dropped lines", all->arguments[row][row == SEEN_BLOOMERY]);
            return false;
        }
    return true;
}

static bool measure_programs(const programs *all, int file, seen_report *report)
{
    unsigned rounds = report->settings.rounds;
    double wall[SEEN_ROWS][BENCH_MOST_ROUNDS], used[SEEN_ROWS][BENCH_MOST_ROUNDS];
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned i = 0; i < SEEN_ROWS; i++) {
            unsigned row = (i + round) % SEEN_ROWS;
            if (!report->row[row].there)
                continue;
            program_usage run = program_run(all->arguments[row], file, NULL, NULL);
            if (!run.done) {
                cli_fail("%s failed", all->arguments[row][row == SEEN_BLOOMERY]);
                return false;
            }
            wall[row][round] = run.seconds;
            used[row][round] = run.processor;
            if (run.peak_bytes > report->row[row].peak_bytes)
                report->row[row].peak_bytes = run.peak_bytes;
        }
    for (unsigned row = 0; row < SEEN_ROWS; row++) {
        if (!report->row[row].there)
            continue;
        report->row[row].seconds = bench_median(wall[row], rounds);
        report->row[row].seconds_min = wall[row][0];
        report->row[row].processor = bench_median(used[row], rounds);
    }
    return true;
}

bool bench_seen(const seen_settings *settings, seen_report *report)
{
    *report = (seen_report){
        .settings = *settings,
        .bytes = settings->lines * LINE_BYTES,
        .distinct = settings->lines - settings->lines / 20,
    };
    find_name("awk", report->awk, sizeof report->awk);
    programs all;
    if (!set_up_programs(&all, settings->error))
        return false;
    int file = line_file(settings->lines);
    if (file < 0) {
        cli_fail("a temporary file: %s", strerror(errno));
        return false;
    }
    bool good = check_all(&all, file, report) && measure_programs(&all, file, report);
    close(file);
    return good;
}
