/*
 * bloomery index: indexes of files. Each subcommand loads an index, does one thing, and replaces
 * the file if that changed the index.
 */
#include "cli/index/index_command.h"

static const cli_command commands[] = {
    {"build", "creates an index of files", .run = cli_index_build},
    {"locate", "prints the files that may contain a line", .run = cli_index_locate},
    {"add", "adds files, or reads them again", .run = cli_index_add},
    {"refresh", "reads changed files again", .run = cli_index_refresh},
    {"del", "removes files, or lines of a file", .run = cli_index_del},
    {"unit", "creates the units of a file separately", .run = cli_index_unit},
    {"import", "adds units created separately", .run = cli_index_import},
    {"info", "prints size, files and errors", .run = cli_index_info},
    {"check", "compares the index with its files", .run = cli_index_check},
};

const cli_group cli_index_group = {
    .usage = "COMMAND INDEX [options]",
    .about = "Indexes of files: which of these files may contain this line, field or word? An\n"
             "index stores a few bytes for each instead of the text. It always finds a file that\n"
             "contains the line, and reports a wrong one at the error rate it was built with.",
    CLI_COMMANDS(commands),
    .more =
        "\"bloomery help index COMMAND\" lists the options of a command. An index is one file,\n"
        "which is replaced as a whole; after a failure it is unchanged.",
    .examples = "  bloomery index build logs.idx access-*.txt --words\n"
                "  bloomery index locate logs.idx 192.0.2.7 --confirm\n"
                "  bloomery index refresh logs.idx",
};
