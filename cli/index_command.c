/*
 * bloomery index: indexes of files. Each subcommand loads an index, does one thing, and where that
 * changed the index replaces its file whole.
 */
#include "index_command.h"

#include "output.h"

#include <stdio.h>
#include <string.h>

static const cli_command commands[] = {
    {"build", "makes an index of files", cli_index_build},
    {"locate", "prints the files that may hold a line", cli_index_locate},
    {"add", "adds files, or reads them again", cli_index_add},
    {"refresh", "reads files again that have changed", cli_index_refresh},
    {"rm", "takes files out, or lines of a file", cli_index_rm},
    {"unit", "makes the units of a file apart", cli_index_unit},
    {"install", "adds units made apart", cli_index_install},
    {"info", "tells size, files and errors", cli_index_info},
    {"check", "compares the index with its files", cli_index_check},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int help(void)
{
    puts("Usage: bloomery index COMMAND INDEX [options]\n"
         "\n"
         "Indexes of files: which of these files may hold this line? The lines themselves\n"
         "are not kept, a few bytes are for each; it never misses a file that holds the\n"
         "line, and names one that does not at the rate it was made for.\n"
         "\n"
         "Commands:");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-7s  %s\n", commands[i].name, commands[i].summary);
    puts("\n"
         "\"bloomery index COMMAND --help\" tells the options of each. An index is one file,\n"
         "which is replaced whole or, after any failure, left as it was.");
    return CLI_YES;
}

int cli_index(int argc, char **argv)
{
    if (argc < 1)
        return cli_misuse("index", "no command is given");
    const char *name = argv[0];
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0) {
        if (argc > 1)
            return cli_misuse("index", "%s is one argument too many", cli_quote(argv[1]).text);
        return help();
    }
    return cli_misuse("index", "there is no %s %s", name[0] == '-' ? "option" : "command",
                      cli_quote(name).text);
}
