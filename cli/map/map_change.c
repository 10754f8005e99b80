/* bloomery map put and map del: change a map. In a file either all changes are made or none. */
#include "cli/core/files/saved_file.h"
#include "cli/map/map_command.h"
#include "cli/map/map_remote.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Options that are for maps in files only, or on servers only. */
static int check_place(const char *command, const char *path, uint64_t wait, uint64_t max_bytes,
                       bool known_new)
{
    bool remote = cli_map_is_remote(path);
    if (wait && !remote)
        return cli_misuse(command, "--wait is for maps on servers");
    if (remote && (max_bytes || known_new))
        return cli_misuse(command, "--%s is for maps in files", max_bytes ? "max-memory" : "new");
    return CLI_GO_ON;
}

/* ---- put ----------------------------------------------------------------------------------- */

static int put_words(bry_map *map, const cli_memory *memory, cli_map_mode how, const char *key,
                     const char *text)
{
    bry_map_value value;
    uint32_t bits = cli_map_options(map).value_bits;
    const char *problem = cli_pair_value(bits, text, strlen(text), &value);
    if (problem)
        return cli_misuse("map put", "%s: %s", cli_quote(text).text, problem);
    bry_hash hash = bry_hash_key(bry_map_seed(map), key, strlen(key));
    bry_status status = cli_map_put(map, how, hash, value);
    return status == BRY_OK ? CLI_GO_ON : cli_map_refused(status, map, memory, cli_quote(key).text);
}

/* Sets the key and the value in `pair`; NULL: the pairs of the input. */
static int put_in_file(const char *path, uint64_t max_bytes, bool known_new, char **pair,
                       cli_pairs *pairs)
{
    cli_memory memory;
    bry_buffer note = BRY_BUFFER;
    bry_map *map;
    int code = cli_map_open_to_change(path, max_bytes, &memory, &map, &note);
    if (code != CLI_GO_ON)
        return code;
    cli_map_mode how = known_new ? CLI_MAP_NEW : CLI_MAP_SET;
    pairs->value_bits = cli_map_options(map).value_bits;
    code = pair ? put_words(map, &memory, how, pair[0], pair[1])
                : cli_map_put_all(map, &memory, how, pairs);
    cli_lines_free(&pairs->lines);
    if (code == CLI_GO_ON)
        code = cli_map_save(map, path, NULL, &note);
    bry_map_destroy(map);
    bry_buffer_free(&note);
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
    static const char command[] = "map put";
    bool json = false, nul = false, known_new = false;
    const char *delimiter = NULL;
    cli_pairs pairs = {0};
    uint64_t max_bytes = 0, wait = 0;
    size_t plain_words;
    cli_option options[] = {
        CLI_PAIR_DELIMITERS(&delimiter),
        {"json-lines", CLI_FLAG, NULL, "lines are {\"key\": \"...\", \"value\": \"...\"}", &json,
         0},
        {"0", CLI_FLAG, NULL, "lines end with a NUL instead of a newline", &nul, 0},
        {"new", CLI_FLAG, NULL, "none of the keys is in the map: kbf skips the look-up", &known_new,
         0},
        CLI_MAP_WAIT(&wait),
        CLI_MAP_MAX_MEMORY(&max_bytes),
    };
    const cli_syntax syntax = {
        .command = command,
        .usage = "MAP KEY VALUE [options]\n       bloomery map put MAP [-] [options]",
        .about = put_about_text,
        .options = options,
        .option_count = sizeof options / sizeof options[0],
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
        code = cli_misuse(command, "the value is missing");
    if (code == CLI_GO_ON && words == 3 && (json || nul || delimiter))
        code =
            cli_misuse(command, "--json-lines, --delimiter and -0 are for pairs on standard input");
    if (code == CLI_GO_ON)
        code = cli_pair_delimiter(command, delimiter, json, &pairs.delimiter);
    if (code == CLI_GO_ON)
        code = check_place(command, argv[0], wait, max_bytes, known_new);
    pairs.lines = (cli_lines)CLI_LINES(STDIN_FILENO, nul ? '\0' : '\n');
    pairs.json = json;
    if (code == CLI_GO_ON && words == 1)
        code = cli_inputs_look(&pairs.inputs, NULL, 0);
    if (code == CLI_GO_ON && cli_map_is_remote(argv[0])) {
        code = cli_remote_put(argv[0], words == 3 ? argv[1] : NULL, argv[2], &pairs, wait);
        cli_lines_free(&pairs.lines);
        return code;
    }
    if (code == CLI_GO_ON)
        code = put_in_file(argv[0], max_bytes, known_new, words == 3 ? argv + 1 : NULL, &pairs);
    return code;
}

/* ---- del ----------------------------------------------------------------------------------- */

typedef struct tally {
    uint64_t deleted, absent;
} tally;

static bry_status del_key(bry_map *map, const char *key, size_t len, tally *count)
{
    bry_answer was;
    bry_status status = bry_map_del(map, bry_hash_key(bry_map_seed(map), key, len), &was);
    if (status == BRY_OK) {
        count->deleted += was == BRY_PRESENT;
        count->absent += was == BRY_ABSENT;
    }
    return status;
}

static int del_key_lines(bry_map *map, const cli_memory *memory, char end, tally *count)
{
    cli_progress progress = cli_progress_start(cli_bytes_left(STDIN_FILENO), false);
    cli_lines lines = CLI_LINES(STDIN_FILENO, end);
    lines.progress = &progress;
    cli_text line;
    int code = CLI_GO_ON;
    while (code == CLI_GO_ON) {
        bry_status status = cli_lines_next(&lines, &line);
        if (status != BRY_OK) {
            code = cli_lines_failed(&lines, status);
        } else if (!line.bytes) {
            break;
        } else if ((status = del_key(map, line.bytes, line.len, count)) != BRY_OK) {
            char where[40];
            snprintf(where, sizeof where, "line %" PRIu64, lines.number);
            code = cli_map_refused(status, map, memory, where);
        }
        progress.done++;
    }
    cli_progress_end(&progress);
    cli_lines_free(&lines);
    return code;
}

int cli_map_del(int argc, char **argv)
{
    static const char command[] = "map del";
    bool nul = false;
    uint64_t max_bytes = 0, wait = 0;
    size_t plain_words;
    cli_option options[] = {
        {"0", CLI_FLAG, NULL, "keys end with a NUL instead of a newline", &nul, 0},
        CLI_MAP_WAIT(&wait),
        CLI_MAP_MAX_MEMORY(&max_bytes),
    };
    const cli_syntax syntax = {
        .command = command,
        .usage = "MAP [KEY...] [options]",
        .about = "Deletes keys and replaces MAP. Without KEY, and for -, reads keys from standard "
                 "input,\n"
                 "one per line.\n"
                 "Delete only keys that were stored: deleting a key that the map confuses with\n"
                 "another, which happens at its error rate, deletes the other one.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
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
    cli_memory memory;
    bry_buffer note = BRY_BUFFER;
    bry_map *map;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
        code = cli_keys_given(&syntax, argv, &words, "keys");
    if (code == CLI_GO_ON)
        code = check_place(command, argv[0], wait, max_bytes, false);
    if (code == CLI_GO_ON && cli_map_is_remote(argv[0]))
        return cli_remote_del(argv[0], argv + 1, words - 1, nul ? '\0' : '\n', wait);
    if (code == CLI_GO_ON)
        code = cli_map_open_to_change(argv[0], max_bytes, &memory, &map, &note);
    if (code != CLI_GO_ON)
        return code;
    tally count = {0};
    for (size_t i = 1; i < words && code == CLI_GO_ON; i++) {
        bry_status status = del_key(map, argv[i], strlen(argv[i]), &count);
        if (status != BRY_OK)
            code = cli_map_refused(status, map, &memory, cli_quote(argv[i]).text);
    }
    if (words == 1)
        code = del_key_lines(map, &memory, nul ? '\0' : '\n', &count);
    if (code == CLI_GO_ON)
        code = count.deleted ? cli_map_save(map, argv[0], NULL, &note) : CLI_YES;
    bry_map_destroy(map);
    bry_buffer_free(&note);
    return code == CLI_YES && count.absent ? CLI_NO : code;
}
