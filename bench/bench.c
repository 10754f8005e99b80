/*
 * bloomery-bench(1): measures the library on this machine. bench_options.c reads the command line,
 * cases/ has the cases, peers/ and papers/ have what the library is compared with, and
 * harness/measure.h explains how it is measured.
 */
#include "bench/bench_options.h"
#include "cli/core/args.h"
#include "cli/core/output/output.h"
#include "cli/core/stop_signals.h"

#include <string.h>

const char cli_program[] = "bloomery-bench";

static int measure_case(int argc, char **argv)
{
    if (argc == 1 && (strcmp(argv[0], "-V") == 0 || strcmp(argv[0], "--version") == 0))
        return cli_print_version();
    bench_given given;
    bench_request asked;
    int code = bench_options_read(argc, argv, &given);
    if (code == CLI_GO_ON)
        code = bench_request_read(&given, &asked);
    return code == CLI_GO_ON ? given.chosen->run(&asked) : code;
}

int main(int argc, char **argv)
{
    cli_catch_closed_pipe();
    return cli_finish(measure_case(argc - 1, argv + 1));
}
