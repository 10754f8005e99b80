/*
 * bloomery map: maps in files and on servers. Each subcommand loads a file, does one thing, and
 * replaces the file if that changed the map; or it asks the servers.
 */
#include "cli/map/map_command.h"

static const cli_command commands[] = {
    {"build", "creates a map from pairs", .run = cli_map_build},
    {"get", "prints the values of keys", .run = cli_map_get},
    {"put", "sets the values of keys", .run = cli_map_put_command},
    {"del", "deletes keys", .run = cli_map_del},
    {"info", "prints size, load and errors", .run = cli_map_info},
    {"merge", "adds other maps to a map", .run = cli_map_merge},
    {"compress", "makes a map as small as possible", .run = cli_map_compress},
    {"ls", "lists the maps on servers", .run = cli_map_ls},
    {"drop", "deletes a map from servers", .run = cli_map_drop},
    {"save", "copies a map from servers to a directory", .run = cli_map_save_command},
    {"restore", "copies a map from a directory to servers", .run = cli_map_restore},
};

const cli_group cli_map_group = {
    .usage = "COMMAND MAP [options]",
    .about =
        "Maps in files or on servers: a value for each key, in a few bytes per key. A map does\n"
        "not store the keys, so it cannot list them. Its answers are wrong at the error rate\n"
        "that it was built with.",
    CLI_COMMANDS(commands),
    .more =
        "\"bloomery help map COMMAND\" lists the options of a command. MAP is a file, which is\n"
        "replaced as a whole and is unchanged after a failure; or\n"
        "redis://[USER[:PASSWORD]@]HOST[:PORT]/NAME, a map on a server or on a cluster that\n"
        "loads the module. User and password may also be in the environment, as BLOOMERY_USER\n"
        "and BLOOMERY_PASSWORD.",
    .examples = "  bloomery map build paths.map paths.tsv --error 1e-4\n"
                "  bloomery map get paths.map /usr/bin/awk\n"
                "  bloomery map put paths.map /usr/bin/new package\n"
                "  bloomery map get redis://127.0.0.1:7000/routes 10.0.0.1",
};
