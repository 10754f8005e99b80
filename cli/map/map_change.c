/* bloomery map put and map del: change a map. In a file either all changes are made or none. */
#include "cli/core/files/saved_file.h"
#include "cli/map/map_command.h"
#include "cli/map/map_remote.h"

#include <string.h>
#include <unistd.h>

/* ---- put ----------------------------------------------------------------------------------- */

static int put_words(cli_map_target *target, char *key, const char *text)
{
    cli_pair pair = {.key = {key, strlen(key)}};
    const char *problem = cli_pair_value(target->value_bits, text, strlen(text), &pair.value);
    if (problem)
        return cli_misuse("%s: %s", cli_quote(text).text, problem);
    return target->kind->set(target, &pair);
}

static int put_lines(cli_map_target *target, cli_pairs *pairs)
{
    int code = cli_inputs_look(&pairs->inputs, NULL, 0);
    pairs->value_bits = target->value_bits;
    if (code == CLI_GO_ON)
        code = target->kind->set_all(target, pairs);
    cli_lines_free(&pairs->lines);
    return code;
}

static const char put_about_text[] =
    "Sets the value of a key. Without KEY, and for -, sets the pairs on standard input, which\n"
    "are lines \"key<TAB>value\". If one pair is refused, a file is unchanged; on a server the\n"
    "other pairs are set. The exit code is 4 if engine kbf does not know the current value\n"
    "of the key.";
static const char put_more_text[] =
    "With kbf and --new, exit code 4 does not occur; but a key that is in the map\n"
    "nevertheless becomes unsure. With --wait, the exit code is 1 if too few replicas have\n"
    "confirmed in time.";
static const char put_examples_text[] = "  bloomery map put paths.map /usr/bin/new package\n"
                                        "  bloomery map put paths.map - < changes.tsv\n"
                                        "  bloomery map put redis://127.0.0.1:7000/routes "
                                        "10.0.0.1 rack1 --wait 1";

int cli_map_put_command(int argc, char **argv)
{
    bool json = false, nul = false, known_new = false;
    const char *delimiter = NULL;
    cli_pairs pairs = {0};
    uint64_t max_bytes = 0, wait = 0;
    size_t plain_words;
    cli_option options[] = {
        CLI_PAIR_DELIMITERS(&delimiter),
        {"json-lines", CLI_FLAG, NULL, "lines are {\"key\": \"...\", \"value\": \"...\"}", &json},
        {"0", CLI_FLAG, NULL, "lines end with a NUL instead of a newline", &nul},
        {"new", CLI_FLAG, NULL, "none of the keys is in the map: kbf skips the look-up",
         &known_new},
        CLI_MAP_WAIT(&wait),
        CLI_MAP_MAX_MEMORY(&max_bytes),
    };
    const cli_syntax syntax = {
        .usage = "MAP KEY VALUE [options]\n       bloomery map put MAP [-] [options]",
        .about = put_about_text,
        CLI_OPTIONS(options),
        .examples = put_examples_text,
        .more = put_more_text,
        .most_words = 3,
        .plain_words = &plain_words,
        CLI_MAP_FIRST_WORD,
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON && words < 3)
        code = cli_keys_given(&syntax, argv, &words, "pairs");
    if (code == CLI_GO_ON && words == 2)
        code = cli_misuse("the value is missing");
    if (code == CLI_GO_ON && words == 3 && (json || nul || delimiter))
        code = cli_misuse("--json-lines, --delimiter and -0 are for pairs on standard input");
    if (code == CLI_GO_ON)
        code = cli_pair_delimiter(delimiter, json, &pairs.delimiter);
    pairs.lines = (cli_lines)CLI_LINES(STDIN_FILENO, nul ? '\0' : '\n');
    pairs.json = json;
    cli_map_target target;
    cli_map_wants wants = {.path = argv[0],
                           .changes = true,
                           .max_bytes = max_bytes,
                           .known_new = known_new,
                           .wait = wait};
    if (code == CLI_GO_ON)
        code = cli_map_target_open(&wants, &target);
    if (code != CLI_GO_ON)
        return code;
    code = words == 3 ? put_words(&target, argv[1], argv[2]) : put_lines(&target, &pairs);
    if (code == CLI_GO_ON)
        code = target.kind->end(&target);
    target.kind->close(&target);
    return code;
}

/* ---- del ----------------------------------------------------------------------------------- */

static int del_line(void *context, cli_text line, const cli_lines *lines)
{
    cli_map_target *target = context;
    return target->kind->del(target, line, lines);
}

int cli_map_del(int argc, char **argv)
{
    bool nul = false;
    uint64_t max_bytes = 0, wait = 0;
    size_t plain_words;
    cli_option options[] = {
        {"0", CLI_FLAG, NULL, "keys end with a NUL instead of a newline", &nul},
        CLI_MAP_WAIT(&wait),
        CLI_MAP_MAX_MEMORY(&max_bytes),
    };
    const cli_syntax syntax = {
        .usage = "MAP [KEY...] [options]",
        .about = "Deletes keys and replaces MAP. Without KEY, and for -, reads keys from standard "
                 "input,\n"
                 "one per line.\n"
                 "Delete only keys that were stored: deleting a key that the map confuses with\n"
                 "another, which happens at its error rate, deletes the other one.",
        CLI_OPTIONS(options),
        .examples = "  bloomery map del paths.map /usr/bin/old\n"
                    "  bloomery map del paths.map - -0 < keys",
        .more =
            "Exit codes: 0 all were present, 1 some were not, 3 failure, 4 engine kbf does not\n"
            "know the value of one of them. After 3 or 4, a file is unchanged. With --wait, 1 "
            "also\n"
            "if too few replicas have confirmed in time.",
        .most_words = (size_t)-1,
        .plain_words = &plain_words,
        CLI_MAP_FIRST_WORD,
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
        code = cli_keys_given(&syntax, argv, &words, "keys");
    cli_map_target target;
    cli_map_wants wants = {.path = argv[0], .changes = true, .max_bytes = max_bytes, .wait = wait};
    if (code == CLI_GO_ON)
        code = cli_map_target_open(&wants, &target);
    if (code != CLI_GO_ON)
        return code;
    for (size_t i = 1; i < words && code == CLI_GO_ON; i++)
        code = target.kind->del(&target, (cli_text){argv[i], strlen(argv[i])}, NULL);
    if (words == 1)
        code = cli_take_lines(nul ? '\0' : '\n', del_line, &target);
    if (code == CLI_GO_ON)
        code = target.kind->end(&target);
    target.kind->close(&target);
    return code == CLI_YES && target.absent ? CLI_NO : code;
}
