#include "cli/core/command.h"

#include "cli/core/output/output.h"
#include "cli/core/suggest.h"

#include <stdio.h>
#include <string.h>

void cli_print_examples(const char *examples)
{
    cli_colours use = cli_colours_of(stdout);
    printf("\n%sExamples:%s\n%s\n", use.strong, use.off, examples);
}

static int print_group_help(const cli_group *group)
{
    cli_colours use = cli_colours_of(stdout);
    int width = 0;
    for (size_t i = 0; i < group->count; i++)
        if ((int)strlen(group->commands[i].name) > width)
            width = (int)strlen(group->commands[i].name);
    printf("%sUsage:%s %s%s %s\n\n%s\n\n%sCommands:%s\n", use.strong, use.off, cli_program,
           cli_command_words(), group->usage, group->about, use.strong, use.off);
    for (size_t i = 0; i < group->count; i++)
        printf("  %-*s  %s\n", width, group->commands[i].name, group->commands[i].summary);
    printf("\n%sOptions:%s\n", use.strong, use.off);
    printf("  -h, --help  %sthis text, or that of the command\n", group->is_program ? "   " : "");
    if (group->is_program)
        puts("  -V, --version  version, instruction set of the bit kernels, compiler");
    if (group->more)
        printf("\n%s\n", group->more);
    cli_print_examples(group->examples);
    return CLI_YES;
}

static const cli_command *find_command(const cli_group *group, const char *name)
{
    for (size_t i = 0; i < group->count; i++)
        if (strcmp(name, group->commands[i].name) == 0)
            return &group->commands[i];
    return NULL;
}

static int refuse_word(const cli_group *group, const char *word)
{
    cli_guess guess = CLI_GUESS(word, strlen(word));
    if (word[0] == '-') {
        cli_guess_try(&guess, "--help");
        if (group->is_program)
            cli_guess_try(&guess, "--version");
    }
    for (size_t i = 0; i < group->count; i++)
        cli_guess_try(&guess, group->commands[i].name);
    char before[32] = ""; /* "balance" is "cluster balance" */
    for (size_t i = 0; i < group->count; i++) {
        const cli_group *in = group->commands[i].group;
        for (size_t j = 0; in && j < in->count; j++)
            if (cli_guess_try(&guess, in->commands[j].name))
                snprintf(before, sizeof before, "%s ", group->commands[i].name);
    }
    return cli_misuse("unknown %s %s%s", word[0] == '-' ? "option" : "command",
                      cli_quote(word).text, cli_suggest(&guess, before).text);
}

int cli_run_group(const cli_group *group, int argc, char **argv)
{
    if (argc < 1)
        return cli_misuse("missing command");
    const cli_command *command = find_command(group, argv[0]);
    if (command) {
        cli_enter(command->name);
        return command->group ? cli_run_group(command->group, argc - 1, argv + 1)
                              : command->run(argc - 1, argv + 1);
    }
    if (strcmp(argv[0], "-h") != 0 && strcmp(argv[0], "--help") != 0)
        return refuse_word(group, argv[0]);
    if (argc > 1)
        return cli_misuse("unexpected argument %s", cli_quote(argv[1]).text);
    return print_group_help(group);
}
