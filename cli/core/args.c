#include "cli/core/args.h"

#include "cli/core/command.h"
#include "cli/core/output/output.h"
#include "cli/core/suggest.h"
#include "text/number_parse.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int print_command_help(const cli_syntax *syntax)
{
    cli_colours use = cli_colours_of(stdout);
    int width = (int)strlen("-h, --help");
    for (size_t i = 0; i < syntax->option_count; i++) {
        const cli_option *option = &syntax->options[i];
        int here = (int)(strlen(option->name) + 3 +
                         (option->placeholder ? strlen(option->placeholder) : 0));
        if (option->kind != CLI_ABSENT && here > width)
            width = here;
    }
    printf("%sUsage:%s %s%s %s\n\n%s\n\n%sOptions:%s\n", use.strong, use.off, cli_program,
           cli_command_words(), syntax->usage, syntax->about, use.strong, use.off);
    for (size_t i = 0; i < syntax->option_count; i++) {
        const cli_option *option = &syntax->options[i];
        if (option->kind == CLI_ABSENT)
            continue;
        int used = printf("  %s%s %s", option->name[1] ? "--" : "-", option->name,
                          option->placeholder ? option->placeholder : "");
        printf("%*s  %s\n", width + 2 - used, "", option->help);
    }
    printf("  %-*s  %s\n", width, "-h, --help", "this text");
    if (syntax->more)
        printf("\n%s\n", syntax->more);
    cli_print_examples(syntax->examples);
    return CLI_YES;
}

static const char *option_dashes(const cli_option *option)
{
    return option->name[1] ? "--" : "-";
}

static cli_option *find_option(const cli_syntax *syntax, const char *name, size_t len)
{
    for (size_t i = 0; i < syntax->option_count; i++)
        if (strlen(syntax->options[i].name) == len &&
            memcmp(syntax->options[i].name, name, len) == 0)
            return &syntax->options[i];
    return NULL;
}

static const char *append_to_list(cli_list *list, const char *text)
{
    if (!*text)
        return "is empty";
    if (list->count == CLI_LIST_MOST)
        return "is given more than 256 times";
    list->text[list->count++] = text;
    return NULL;
}

/* NULL, or why the text is not a valid value of this option. */
static const char *store_option_value(const cli_option *option, const char *text)
{
    const char *problem;
    uint64_t number = 0;
    switch (option->kind) {
    case CLI_COUNT:
        problem = text_parse_count(text, strlen(text), &number);
        break;
    case CLI_PLAIN:
        problem = text_parse_plain(text, strlen(text), &number);
        break;
    case CLI_BYTES:
        problem = text_parse_bytes(text, strlen(text), &number);
        break;
    case CLI_SPAN:
        problem = text_parse_span(text, strlen(text), &number);
        break;
    case CLI_SHARE:
        return text_parse_share(text, strlen(text), option->value);
    case CLI_LIST:
        return append_to_list(option->value, text);
    default:
        if (!*text)
            return "is empty";
        if (option->kind == CLI_BYTE && strcmp(text, "\\t") == 0)
            text = "\t";
        if (option->kind == CLI_BYTE && text[1])
            return "is not one byte";
        *(const char **)option->value = text;
        return NULL;
    }
    if (problem || number == 0)
        return problem ? problem : "is not above 0";
    *(uint64_t *)option->value = number;
    return NULL;
}

static int refuse_option(const cli_syntax *syntax, const char *word)
{
    const char *name = word + (word[1] == '-' ? 2 : 1);
    cli_guess guess = CLI_GUESS(name, strcspn(name, "="));
    for (size_t i = 0; i < syntax->option_count; i++)
        if (syntax->options[i].kind != CLI_ABSENT)
            cli_guess_try(&guess, syntax->options[i].name);
    cli_guess_try(&guess, "help");
    return cli_misuse("unknown option %s%s", cli_quote(word).text, cli_suggest(&guess, "--").text);
}

/* The option that a word names, and the value in the word: NULL if there is none. */
static cli_option *find_option_of(const cli_syntax *syntax, const char *word, const char **value)
{
    bool letter = word[1] != '-';
    const char *name = word + (letter ? 1 : 2);
    size_t len = strcspn(name, "=");
    if (!letter) {
        *value = name[len] ? name + len + 1 : NULL;
        return len > 1 ? find_option(syntax, name, len) : NULL;
    }
    cli_option *option = find_option(syntax, name, 1);
    bool is_long = len > 1 && find_option(syntax, name, len); /* -capacity instead of --capacity */
    bool is_flag_with_more = option && option->kind == CLI_FLAG && len > 1;
    *value = name[1] ? name + 1 : NULL;
    return is_long || is_flag_with_more ? NULL : option;
}

/* Reads the option in argv[*at]; advances *at if the value is the next argument. */
static int read_option(const cli_syntax *syntax, int argc, char **argv, int *at)
{
    const char *value;
    cli_option *option = find_option_of(syntax, argv[*at], &value);
    if (!option)
        return refuse_option(syntax, argv[*at]);
    if (option->kind == CLI_ABSENT)
        return cli_misuse("%s%s: not available in this build", option_dashes(option), option->name);
    if (syntax->given)
        syntax->given[option - syntax->options] = true;
    if (option->kind == CLI_FLAG) {
        if (value)
            return cli_misuse("%s%s takes no value", option_dashes(option), option->name);
        *(bool *)option->value = true;
        return CLI_GO_ON;
    }
    if (!value) {
        if (*at + 1 == argc)
            return cli_misuse("%s%s needs a value", option_dashes(option), option->name);
        value = argv[++*at];
    }
    const char *problem = store_option_value(option, value);
    if (problem)
        return cli_misuse("%s%s: %s %s", option_dashes(option), option->name, cli_quote(value).text,
                          problem);
    return CLI_GO_ON;
}

int cli_read_args(const cli_syntax *syntax, int argc, char **argv, size_t *words)
{
    size_t count = 0;
    bool options_end = false;
    for (int at = 0; at < argc; at++) {
        const char *word = argv[at];
        if (!options_end && strcmp(word, "--") == 0) {
            options_end = true;
            if (syntax->plain_words)
                *syntax->plain_words = count;
        } else if (!options_end && (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0)) {
            return print_command_help(syntax);
        } else if (!options_end && word[0] == '-' && word[1]) {
            int code = read_option(syntax, argc, argv, &at);
            if (code != CLI_GO_ON)
                return code;
        } else if (count == syntax->most_words) {
            return cli_misuse("unexpected argument %s", cli_quote(word).text);
        } else {
            argv[count++] = argv[at];
        }
    }
    if (count < syntax->least_words)
        return cli_misuse("%s", syntax->missing);
    *words = count;
    if (syntax->plain_words && !options_end)
        *syntax->plain_words = count;
    return CLI_GO_ON;
}

int cli_choose(const char *option, const char *word, const char *const choices[3])
{
    for (int i = 0; i < 3; i++)
        if (strcmp(word, choices[i]) == 0)
            return i;
    cli_misuse("--%s: %s is not one of %s, %s and %s", option, cli_quote(word).text, choices[0],
               choices[1], choices[2]);
    return -1;
}
