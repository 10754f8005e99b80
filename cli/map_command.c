/*
 * bloomery map: maps in files. Each subcommand loads a file, does one thing, and where that changed
 * the map replaces the file whole.
 */
#include "map_command.h"

#include "output.h"

#include <stdio.h>
#include <string.h>

static const cli_command commands[] = {
    {"build", "makes a map from pairs on standard input", cli_map_build},
    {"get", "prints the values of keys", cli_map_get},
    {"put", "sets the values of keys", cli_map_put_command},
    {"del", "deletes keys", cli_map_del},
    {"info", "tells size, load and errors", cli_map_info},
    {"join", "adds other maps to one", cli_map_join},
    {"compress", "makes a map as small as its keys allow", cli_map_compress},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int help(void)
{
    puts("Usage: bloomery map COMMAND FILE [options]\n"
         "\n"
         "Maps in files: a value for each key in a few bytes a key. The keys themselves\n"
         "are not kept, so a map cannot list them, and errs at the rate it was made for.\n"
         "\n"
         "Commands:");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-8s  %s\n", commands[i].name, commands[i].summary);
    puts("\n"
         "\"bloomery map COMMAND --help\" tells the options of each. A file is replaced whole\n"
         "or, after any failure, left as it was.");
    return CLI_YES;
}

int cli_map(int argc, char **argv)
{
    if (argc < 1)
        return cli_misuse("map", "no command is given");
    const char *name = argv[0];
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0) {
        if (argc > 1)
            return cli_misuse("map", "%s is one argument too many", cli_quote(argv[1]).text);
        return help();
    }
    return cli_misuse("map", "there is no %s %s", name[0] == '-' ? "option" : "command",
                      cli_quote(name).text);
}
