/*
 * bloomery map: maps in files. Each subcommand loads a file, does one thing, and replaces the file
 * if that changed the map.
 */
#include "cli/map/map_command.h"

static const cli_command commands[] = {
    {"build", "creates a map from pairs on standard input", cli_map_build},
    {"get", "prints the values of keys", cli_map_get},
    {"put", "sets the values of keys", cli_map_put_command},
    {"del", "deletes keys", cli_map_del},
    {"info", "prints size, load and errors", cli_map_info},
    {"merge", "adds other maps to a map", cli_map_merge},
    {"compress", "makes a map as small as possible", cli_map_compress},
};

static const cli_group group = {
    .name = "map",
    .usage = "map COMMAND FILE [options]",
    .about = "Maps in files: a value for each key, in a few bytes per key. A map does not store\n"
             "the keys, so it cannot list them. Its answers are wrong at the error rate that it\n"
             "was built with.",
    .commands = commands,
    .count = sizeof commands / sizeof commands[0],
    .options = "  -h, --help  this text, or that of the command",
    .more =
        "\"bloomery help map COMMAND\" lists the options of a command. Files are replaced as a\n"
        "whole; after a failure they are unchanged.",
    .examples = "  bloomery map build paths.map --error 1e-4 < paths.tsv\n"
                "  bloomery map get paths.map /usr/bin/awk\n"
                "  bloomery map put paths.map /usr/bin/new package",
};

int cli_map(int argc, char **argv)
{
    return cli_run_group(&group, argc, argv);
}
