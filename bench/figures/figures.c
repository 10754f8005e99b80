/* bloomery-figures(1): measures the figures of the papers and writes a table for each. */
#include "bench/figures/figure.h"

#include "bench/harness/bench_fail.h"
#include "bench/harness/machine.h"
#include "cli/core/args.h"
#include "cli/core/steady_clock.h"
#include "cli/core/stop_signals.h"

#include <bloomery/base.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char cli_program[] = "bloomery-figures";

static const char *const scale_names[FIGURE_SCALES] = {"small", "reduced", "full"};

static figure *all; /* by name */

void figure_register(figure *one)
{
    figure **at = &all;
    while (*at && strcmp((*at)->name, one->name) < 0)
        at = &(*at)->next;
    one->next = *at;
    *at = one;
}

static void print_point(const figure_run *run, const char *panel, const char *series, double y)
{
    fprintf(run->out, ",%u,%.9g,%s,%s\n", run->number, y, panel, series);
}

void figure_point(const figure_run *run, const char *panel, const char *series, double x, double y)
{
    fprintf(run->out, "%.9g", x);
    print_point(run, panel, series, y);
}

void figure_bar(const figure_run *run, const char *panel, const char *series, const char *x,
                double y)
{
    fputs(x, run->out);
    print_point(run, panel, series, y);
}

typedef struct figure_order {
    figure_scale scale;
    uint64_t repetitions; /* at most */
    const char *dir;
} figure_order;

/* Writes the table beside its place, and moves it there when it is whole. */
static bool write_points(const figure *what, const figure_order *order, const char *path)
{
    char part[4096];
    int len = snprintf(part, sizeof part, "%s.part", path);
    FILE *out = len < (int)sizeof part ? fopen(part, "w") : NULL;
    if (!out)
        return bench_fail("%s: %s", path, strerror(errno));
    fputs("x,repetition,y,panel,series\n", out);
    bool done = true;
    unsigned repetitions = what->repetitions[order->scale];
    for (unsigned i = 0; done && i < repetitions && i < order->repetitions; i++) {
        const figure_run run = {order->scale, repetitions, i, 0x9e3779b97f4a7c15u * (i + 1), out};
        done = what->measure(&run);
    }
    bool failed = ferror(out) != 0;
    failed |= fclose(out) != 0;
    if (done && (failed || rename(part, path) != 0)) {
        cli_fail("%s: %s", path, strerror(errno));
        done = false;
    }
    if (!done)
        unlink(part);
    return done;
}

static bool measure_figure(const figure *what, const figure_order *order)
{
    char path[4000];
    int len = snprintf(path, sizeof path, "%s/%s.csv", order->dir, what->name);
    if (len >= (int)sizeof path)
        return bench_fail("the name of the directory is too long");
    double begin = cli_clock_seconds(CLOCK_MONOTONIC);
    if (!write_points(what, order, path))
        return false;
    double seconds = cli_clock_seconds(CLOCK_MONOTONIC) - begin;
    printf("%-10s %6.1f s  %s\n", what->name, seconds, what->title);
    fflush(stdout);
    return true;
}

static const figure *find_figure(const char *name)
{
    const figure *at = all;
    while (at && strcmp(at->name, name) != 0)
        at = at->next;
    return at;
}

static int measure_figures(char **names, size_t count, const figure_order *order)
{
    for (size_t i = 0; i < count; i++)
        if (!find_figure(names[i]))
            return cli_misuse("there is no figure %s; --list prints them",
                              cli_quote(names[i]).text);
    if (mkdir(order->dir, 0777) != 0 && errno != EEXIST)
        return cli_fail("%s: %s", cli_name(order->dir).text, strerror(errno));
    for (size_t i = 0; i < count; i++)
        if (!measure_figure(find_figure(names[i]), order))
            return CLI_FAILED;
    for (const figure *at = all; count == 0 && at; at = at->next)
        if (!measure_figure(at, order))
            return CLI_FAILED;
    return CLI_YES;
}

static int list_figures(void)
{
    for (const figure *at = all; at; at = at->next)
        printf("%-10s %s\n", at->name, at->title);
    return CLI_YES;
}

static int print_machine(void)
{
    cli_json json = CLI_JSON_TO(stdout);
    cli_json_open(&json, NULL, '{');
    bench_machine_json(&json);
    cli_json_close(&json, '}');
    return CLI_YES;
}

static int run_program(int argc, char **argv)
{
    bool list = false, machine = false;
    const char *scale_name = "reduced";
    figure_order order = {FIGURE_SMALL, UINT64_MAX, "build/figures"};
    cli_option options[] = {
        {"scale", CLI_TEXT, "S", "small, reduced (default) or full, the sizes of the papers",
         &scale_name},
        {"output", CLI_TEXT, "DIR", "the directory of the tables (default build/figures)",
         &order.dir},
        {"repetitions", CLI_COUNT, "N", "most repetitions of a figure (default: all)",
         &order.repetitions},
        {"list", CLI_FLAG, NULL, "print the names of the figures", &list},
        {"machine", CLI_FLAG, NULL, "print the machine and the compiler, as JSON", &machine},
    };
    const cli_syntax syntax = {
        .usage = "[FIGURE…] [options]",
        .about = "Measures figures of the papers, all by default, and writes a table for each:\n"
                 "DIR/FIGURE.csv.",
        CLI_OPTIONS(options),
        .examples = "  bloomery-figures --list\n"
                    "  bloomery-figures kbf-02 --scale small --output /tmp/figures",
        .most_words = 100,
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code != CLI_GO_ON)
        return code;
    while (order.scale < FIGURE_SCALES && strcmp(scale_names[order.scale], scale_name) != 0)
        order.scale++;
    if (order.scale == FIGURE_SCALES)
        return cli_misuse("%s is no scale: small, reduced or full", cli_quote(scale_name).text);
    if (machine)
        return print_machine();
    return list ? list_figures() : measure_figures(argv, words, &order);
}

int main(int argc, char **argv)
{
    return cli_main(argc, argv, run_program);
}
