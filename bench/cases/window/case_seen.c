/* `bloomery seen` compared with awk and sort on the same lines, in interleaved rounds. */
#include "bench/cases/bench_cases.h"

#include "bench/harness/bench_fail.h"
#include "bench/harness/keys.h"
#include "bench/harness/measure.h"
#include "bench/harness/temporary_file.h"
#include "bench/peers/program_run.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum seen_row { SEEN_BLOOMERY, SEEN_AWK, SEEN_SORT, SEEN_ROWS };

typedef struct seen_report {
    uint64_t lines;
    double error;
    unsigned rounds;
    uint64_t bytes, distinct; /* of the input */
    char awk[64]; /* its name */
    uint64_t false_drops; /* of `bloomery seen`, compared with the exact answer */
    double expected_drops; /* at most */
    struct {
        bool there; /* the program was found */
        bool right; /* its output is correct */
        double seconds, seconds_min; /* wall-clock time; the median of the rounds */
        double processor; /* seconds, user and system */
        uint64_t peak_bytes; /* its peak memory */
    } row[SEEN_ROWS];
} seen_report;

/* ---- lines: the correct answer is known without a table -------------------------------------- */

/* Whether line i repeats an earlier line, which is not itself a repeat. */
static bool line_is_repeat(uint64_t i)
{
    return i % 20 == 19;
}

enum { LINE_BYTES = 17 }; /* 16 hexadecimal digits and a newline */

static void line_write(uint64_t i, char to[LINE_BYTES + 1])
{
    static const char digits[] = "0123456789abcdef";
    uint64_t of = i;
    if (line_is_repeat(i)) {
        of = bench_random(i) % i;
        of -= line_is_repeat(of);
    }
    uint64_t number = bench_random(of);
    for (int at = 0; at < LINE_BYTES - 1; at++, number <<= 4)
        to[at] = digits[number >> 60];
    to[LINE_BYTES - 1] = '\n';
    to[LINE_BYTES] = '\0';
}

/* An open, unnamed temporary file with this many lines; -1 with errno. */
static int line_file(uint64_t lines)
{
    int fd = bench_temporary_file();
    if (fd < 0)
        return -1;
    int copy = dup(fd);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "we");
    bool good = file != NULL;
    for (uint64_t i = 0; i < lines && good; i++) {
        char line[LINE_BYTES + 1];
        line_write(i, line);
        good = fwrite(line, 1, LINE_BYTES, file) == LINE_BYTES;
    }
    int why = errno;
    if (file ? fclose(file) != 0 : copy >= 0 && close(copy) != 0) {
        why = good ? errno : why;
        good = false;
    }
    if (good)
        return fd;
    close(fd);
    errno = why;
    return -1;
}

/* Checks the output line by line. */
typedef struct line_check {
    uint64_t lines; /* of the input; set before */
    bool in_order; /* the output has the order of the input; else only lines are counted */
    uint64_t printed, missing; /* first occurrences that are missing */
    bool wrong; /* an unexpected line, or one in the wrong place */
} line_check;

static void line_check_read(void *context, int fd)
{
    line_check *check = context;
    FILE *in = fdopen(dup(fd), "re");
    char line[LINE_BYTES + 2], wanted[LINE_BYTES + 1];
    uint64_t at = 0;
    check->printed = check->missing = 0;
    check->wrong = in == NULL;
    while (in && fgets(line, sizeof line, in)) {
        check->printed++;
        if (!check->in_order)
            continue;
        for (;;) { /* those in between are missing */
            at += line_is_repeat(at);
            if (at >= check->lines) {
                check->wrong = true;
                break;
            }
            line_write(at++, wanted);
            if (strcmp(line, wanted) == 0)
                break;
            check->missing++;
        }
    }
    if (in)
        fclose(in);
    uint64_t first = check->lines - check->lines / 20;
    if (!check->wrong && check->printed > first)
        check->wrong = true;
    check->missing = first - (check->printed < first ? check->printed : first);
}

/* ---- programs -------------------------------------------------------------------------------- */

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
    uint64_t lines = report->lines;
    for (unsigned row = 0; row < SEEN_ROWS; row++) {
        line_check check = {.lines = lines, .in_order = row != SEEN_SORT};
        program_usage run = program_run(all->arguments[row], file, line_check_read, &check);
        report->row[row].there = run.there;
        if (!run.there && row != SEEN_BLOOMERY)
            continue;
        if (!run.done || check.wrong)
            return bench_fail("%s: wrong output", all->arguments[row][row == SEEN_BLOOMERY]);
        report->row[row].right = row == SEEN_BLOOMERY || check.missing == 0;
        if (row == SEEN_BLOOMERY)
            report->false_drops = check.missing;
    }
    double most = report->error * (double)report->distinct;
    report->expected_drops = most;
    report->row[SEEN_BLOOMERY].right = (double)report->false_drops <= most + 5 * sqrt(most) + 1;
    for (unsigned row = 0; row < SEEN_ROWS; row++)
        if (report->row[row].there && !report->row[row].right)
            return bench_fail("%s dropped lines", all->arguments[row][row == SEEN_BLOOMERY]);
    return true;
}

static bool measure_programs(const programs *all, int file, seen_report *report)
{
    unsigned rounds = report->rounds;
    double wall[SEEN_ROWS][BENCH_MOST_ROUNDS], used[SEEN_ROWS][BENCH_MOST_ROUNDS];
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned i = 0; i < SEEN_ROWS; i++) {
            unsigned row = (i + round) % SEEN_ROWS;
            if (!report->row[row].there)
                continue;
            program_usage run = program_run(all->arguments[row], file, NULL, NULL);
            if (!run.done)
                return bench_fail("%s failed", all->arguments[row][row == SEEN_BLOOMERY]);
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

static void seen_json(cli_json *json, const seen_report *report)
{
    static const char *const keys[SEEN_ROWS] = {"bloomery", "awk", "sort"};
    cli_json_count(json, "lines", report->lines);
    cli_json_count(json, "bytes", report->bytes);
    cli_json_count(json, "distinct", report->distinct);
    cli_json_number(json, "error", report->error);
    cli_json_count(json, "rounds", report->rounds);
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

bool bench_seen(const bench_settings *settings, cli_json *json)
{
    seen_report report = {
        .lines = settings->items,
        .error = settings->error,
        .rounds = settings->rounds,
        .bytes = settings->items * LINE_BYTES,
        .distinct = settings->items - settings->items / 20,
    };
    find_name("awk", report.awk, sizeof report.awk);
    programs all;
    if (!set_up_programs(&all, settings->error))
        return false;
    int file = line_file(settings->items);
    if (file < 0)
        return bench_fail("a temporary file: %s", strerror(errno));
    bool good = check_all(&all, file, &report) && measure_programs(&all, file, &report);
    close(file);
    if (good)
        seen_json(json, &report);
    return good;
}
