/*
 * Commands that are programs of their own, because of the libraries they need: `bloomery dedup …`
 * becomes bloomery-dedup, as git does it. They have packages of their own too.
 */
#include "cli/core/command.h"
#include "cli/core/files/program_files.h"
#include "cli/core/output/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Becomes the program, which has the same process, signals and exit code. */
static int exec_command_program(const char *name, int argc, char **argv)
{
    cli_path path;
    bool beside = cli_find_beside(name, &path) && cli_is_executable(path.text);
    if (!beside && !cli_find_in_path(name, &path))
        return cli_fail("%s is not installed: install the package %s", name, name);
    char **arguments = calloc((size_t)argc + 2, sizeof *arguments);
    if (!arguments)
        return cli_no_memory();
    arguments[0] = path.text;
    memcpy(arguments + 1, argv, (size_t)argc * sizeof *arguments);
    execv(path.text, arguments);
    free(arguments);
    return cli_fail("%s: %s", cli_name(path.text).text, strerror(errno));
}

int cli_dedup(int argc, char **argv)
{
    return exec_command_program("bloomery-dedup", argc, argv);
}

int cli_flows(int argc, char **argv)
{
    return exec_command_program("bloomery-flows", argc, argv);
}
