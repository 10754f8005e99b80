/*
 * bloomery index: indexes of files. Each subcommand loads an index, does one thing, and where that
 * changed the index replaces its file whole.
 */
#include "cli/index/index_command.h"

static const cli_command commands[] = {
    {"build", "makes an index of files", cli_index_build},
    {"locate", "prints the files that may hold a line", cli_index_locate},
    {"add", "adds files, or reads them again", cli_index_add},
    {"refresh", "reads files again that have changed", cli_index_refresh},
    {"del", "takes files out, or lines of a file", cli_index_del},
    {"unit", "makes the units of a file apart", cli_index_unit},
    {"install", "adds units made apart", cli_index_install},
    {"info", "tells size, files and errors", cli_index_info},
    {"check", "compares the index with its files", cli_index_check},
};

static const cli_group group = {
    .name = "index",
    .usage = "index COMMAND INDEX [options]",
    .about = "Indexes of files: which of these files may hold this line, field or word? An index\n"
             "keeps a few bytes for each instead of the text. It never misses a file that holds\n"
             "the line, and names one that does not at the error it was made for.",
    .commands = commands,
    .count = sizeof commands / sizeof commands[0],
    .options = "  -h, --help  this text; after a command, the command's",
    .more =
        "\"bloomery help index COMMAND\" tells the options of each. An index is one file, which\n"
        "is replaced whole or, after any failure, left as it was.",
    .examples = "  bloomery index build logs.idx access-*.txt --words\n"
                "  bloomery index locate logs.idx 192.0.2.7 --confirm\n"
                "  bloomery index refresh logs.idx",
};

int cli_index(int argc, char **argv)
{
    return cli_run_group(&group, argc, argv);
}
