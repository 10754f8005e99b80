/*
 * bloomery-bench(1): measures the library on this machine. bench_options.c reads the command line,
 * cases/ has the cases, peers/ and papers/ have what the library is compared with, and
 * harness/measure.h explains how it is measured.
 */
#include "bench/bench_options.h"
#include "bench/bench_table.h"
#include "bench/harness/machine.h"
#include "cli/core/args.h"
#include "cli/core/output/output.h"

#include <stdlib.h>

const char cli_program[] = "bloomery-bench";

/* The report is complete before it is shown, so a case that fails prints nothing. */
static int run_case(const bench_given *given, const bench_settings *settings)
{
    char *report = NULL;
    size_t len;
    FILE *out = open_memstream(&report, &len);
    if (!out)
        return cli_no_memory();
    cli_json json = CLI_JSON_TO(out);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "bench", given->chosen->name);
    bench_machine_json(&json);
    int code = given->chosen->run(settings, &json) ? CLI_YES : CLI_FAILED;
    cli_json_close(&json, '}');
    if (fclose(out) != 0)
        code = cli_no_memory();
    if (code == CLI_YES && given->as_json)
        fputs(report, stdout);
    else if (code == CLI_YES && !bench_table(report, stdout))
        code = cli_no_memory();
    free(report);
    return code;
}

static int measure_case(int argc, char **argv)
{
    bench_given given;
    bench_settings settings;
    int code = bench_options_read(argc, argv, &given);
    if (code == CLI_GO_ON)
        code = bench_settings_read(&given, &settings);
    return code == CLI_GO_ON ? run_case(&given, &settings) : code;
}

int main(int argc, char **argv)
{
    return cli_main(argc, argv, measure_case);
}
