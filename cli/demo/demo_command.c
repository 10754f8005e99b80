/* bloomery demo: the group of its commands. */
#include "cli/demo/demo_command.h"

#include "cli/core/command.h"

static const cli_command commands[] = {
    {"once", "counters on a cluster whose servers fail: plain ones, and ours", demo_once},
};

static const cli_group group = {
    .name = "demo",
    .usage = "demo COMMAND [options]",
    .about = "Demonstrations. Each starts the servers it needs, and ends them.",
    .commands = commands,
    .count = sizeof commands / sizeof commands[0],
    .options = "  -h, --help     this text, or that of the command",
    .examples = "  bloomery demo once",
};

int cli_demo(int argc, char **argv)
{
    return cli_run_group(&group, argc, argv);
}
