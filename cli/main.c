/*
 * bloomery(1): a table of subcommands. Each has a file of its own, sees the library through its
 * public headers only, and brings the options it takes as data.
 */
#include "command.h"
#include "output.h"

#include <bloomery/base.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const cli_command commands[] = {
    {"plan", "what a job costs and how often it errs, before it is created", cli_plan},
    {"map", "approximate maps in files: build, ask, change, join", cli_map},
    {"seen", "drops lines of a stream that were seen within a window", cli_seen},
    {"index", "indexes of files: which of them may hold this line", cli_index},
    {"serve", "a Redis or Valkey server with the module, on this machine", cli_serve},
    {"bench", "measures speed, size and error on this machine", cli_bench},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int help(void)
{
    puts("Usage: bloomery COMMAND [options]\n"
         "\n"
         "Approximate storage: sets and maps in a few bytes a key, with an error you choose.\n"
         "\n"
         "Commands:");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-7s  %s\n", commands[i].name, commands[i].summary);
    puts("\n"
         "Options:\n"
         "  -h, --help  this text; after a command, the command's\n"
         "  --version   version, instruction set of the bit kernels, compiler\n"
         "\n"
         "Exit codes: 0 yes or done, 1 no or absent, 2 wrong usage, 3 failure, 4 unsure.");
    return CLI_YES;
}

static int version(void)
{
    printf("bloomery %s (%s, %s)\n", bry_version(), bry_isa(), cli_compiler());
    return CLI_YES;
}

static int run(int argc, char **argv)
{
    if (argc < 2)
        return cli_misuse(NULL, "no command is given");
    const char *name = argv[1];
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc - 2, argv + 2);
    bool asks_help = strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0;
    if (asks_help || strcmp(name, "--version") == 0) {
        if (argc > 2)
            return cli_misuse(NULL, "%s is one argument too many", cli_quote(argv[2]).text);
        return asks_help ? help() : version();
    }
    return cli_misuse(NULL, "there is no %s %s", name[0] == '-' ? "option" : "command",
                      cli_quote(name).text);
}

int main(int argc, char **argv)
{
    /* A reader that went away is a failed write like any other: reported, and exit code 3. */
    signal(SIGPIPE, SIG_IGN);
    return cli_finish(run(argc, argv));
}
