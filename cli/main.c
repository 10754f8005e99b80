/*
 * bloomery(1): a table of subcommands. Each has a file of its own, sees the library through its
 * public headers only, and brings the options it takes as data.
 */
#include "cli/core/command.h"
#include "cli/core/output/output.h"

#include <bloomery/base.h>
#include <string.h>

const char cli_program[] = "bloomery";

static int run_command(int argc, char **argv);

/* "help map build" is "map build --help". */
static int help_of_command(int argc, char **argv)
{
    enum { MOST = 2 };
    static char option[] = "--help";
    char *words[MOST + 1];
    cli_enter(NULL); /* not "help" */
    if (argc > MOST)
        return cli_misuse("unexpected argument %s", cli_quote(argv[MOST]).text);
    if (argc > 0 && strcmp(argv[0], "help") == 0)
        argc = 0; /* the help of "help" is that of the program */
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0)
            argc = i;
        else if (argv[i][0] == '-')
            return cli_misuse("unknown command %s", cli_quote(argv[i]).text);
        words[i] = argv[i];
    }
    words[argc] = option;
    return run_command(argc + 1, words);
}

static const cli_command commands[] = {
    {"plan", "computes memory and error before anything is created", .run = cli_plan},
    {"map", "approximate maps in files and on servers: build, look up, change",
     .group = &cli_map_group},
    {"seen", "drops lines of a stream that were seen before", .run = cli_seen},
    {"count", "adds up numbers by name, each of them once", .run = cli_count},
    {"index", "indexes of files: which of them may contain this line", .group = &cli_index_group},
    {"flows", "states of TCP flows in a capture or on an interface, and attacks", .run = cli_flows},
    {"dedup", "a deduplicating store for backups", .run = cli_dedup},
    {"serve", "starts a Redis or Valkey server with the module, on this machine", .run = cli_serve},
    {"cluster", "clusters of servers: starts one here, shows and balances any",
#ifdef BLOOMERY_CLUSTER
     .group = &cli_cluster_group},
#else
     .run = cli_cluster},
#endif
    {"demo", "demonstrations on servers that are started for them", .run = cli_demo},
    {"help", "prints the help of a command, such as \"help map build\"", .run = help_of_command},
};

static const cli_group program = {
    .usage = "COMMAND [options]",
    .about =
        "Approximate storage: sets and maps in a few bytes per key, with an error that you choose.",
    CLI_COMMANDS(commands),
    .is_program = true,
    .more = "Exit codes: 0 yes or done, 1 no or absent, 2 wrong usage, 3 failure, 4 unsure.",
    .examples = "  bloomery plan --capacity 10M --error 0.1%\n"
                "  tail -f log | bloomery seen --window 10m\n"
                "  bloomery help index build",
};

static int run_command(int argc, char **argv)
{
    if (argc > 0 && strcmp(argv[0], "bench") == 0)
        return cli_misuse("unknown command \"bench\": run the program bloomery-bench");
    return cli_run_group(&program, argc, argv);
}

int main(int argc, char **argv)
{
    return cli_main(argc, argv, run_command);
}
