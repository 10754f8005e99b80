/* bloomery map get: the values of keys, from the arguments or from standard input. */
#include "cli/core/files/saved_file.h"
#include "cli/core/json/json_line.h"
#include "cli/map/map_command.h"
#include "cli/map/map_pairs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char command[] = "map get";

#define BATCH 256u

/* The output format. */
typedef struct style {
    bool json, all;
    bool value_alone;
    bool integers;
    char end;
} style;

typedef struct tally {
    uint64_t asked, absent, unsure;
} tally;

static const char *const words_of_answers[] = {
    [BRY_ABSENT] = "absent", [BRY_PRESENT] = "present", [BRY_UNSURE] = "unsure"};

static void print_value(const style *how, const bry_map_value *value)
{
    if (how->integers)
        printf("%" PRIu64, value->number);
    else if (value->len)
        fwrite(value->bytes, 1, value->len, stdout);
}

static void print_answer_json(const style *how, cli_text key, bry_answer answer,
                              const bry_map_value *value)
{
    putchar('{');
    cli_json_line_member(stdout, "key", key.bytes, key.len);
    printf(",\"answer\":\"%s\"", words_of_answers[answer]);
    if (answer == BRY_PRESENT && how->integers) {
        printf(",\"value\":%" PRIu64, value->number);
    } else if (answer == BRY_PRESENT) {
        putchar(',');
        cli_json_line_member(stdout, "value", value->bytes, value->len);
    }
    printf("}%c", how->end);
}

static void print_answer(const style *how, cli_text key, bry_answer answer,
                         const bry_map_value *value)
{
    if (answer != BRY_PRESENT && !how->all)
        return;
    if (how->json) {
        print_answer_json(how, key, answer, value);
        return;
    }
    if (how->all)
        printf("%s\t", words_of_answers[answer]);
    if (!how->value_alone)
        fwrite(key.bytes, 1, key.len, stdout);
    if (answer == BRY_PRESENT) {
        if (!how->value_alone)
            putchar('\t');
        print_value(how, value);
    }
    putchar(how->end);
}

static void look_up_keys(const bry_map *map, const style *how, const cli_text *keys, size_t n,
                         tally *count)
{
    bry_hash hashes[BATCH] = {{0}}; /* gcc does not see that the first n are initialised */
    bry_map_value values[BATCH];
    uint8_t answers[BATCH];
    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++)
        hashes[i] = bry_hash_key(bry_map_seed(map), keys[i].bytes, keys[i].len);
    bry_map_get_n(map, hashes, n, values, answers);
    for (size_t i = 0; i < n; i++) {
        count->absent += answers[i] == BRY_ABSENT;
        count->unsure += answers[i] == BRY_UNSURE;
        print_answer(how, keys[i], (bry_answer)answers[i], &values[i]);
    }
    count->asked += n;
}

static void look_up_words(const bry_map *map, const style *how, char **words, size_t n,
                          tally *count)
{
    for (size_t i = 0; i < n; i++) {
        cli_text key = {words[i], strlen(words[i])};
        look_up_keys(map, how, &key, 1, count);
    }
}

/* Flushes before waiting for the next key, so that a program can send a key and wait for the
 * answer. */
static int look_up_lines(const bry_map *map, const style *how, tally *count)
{
    cli_progress progress = cli_progress_start(cli_bytes_left(STDIN_FILENO), true);
    cli_lines lines = CLI_LINES(STDIN_FILENO, how->end);
    lines.progress = &progress;
    cli_text keys[BATCH];
    bry_status status = BRY_OK;
    bool more = true;
    while (more && status == BRY_OK && !ferror(stdout)) {
        size_t n = 0;
        do {
            status = cli_lines_next(&lines, &keys[n]);
            more = status == BRY_OK && keys[n].bytes;
            n += more;
        } while (more && n < BATCH && cli_lines_ready(&lines));
        look_up_keys(map, how, keys, n, count);
        cli_progress_add(&progress, n);
        if (!cli_lines_ready(&lines))
            fflush(stdout);
    }
    cli_progress_end(&progress);
    int code = status == BRY_OK ? CLI_GO_ON : cli_lines_failed(&lines, status);
    cli_lines_free(&lines);
    return code;
}

static int exit_code_of(const tally *count)
{
    if (count->unsure == 0)
        return count->absent ? CLI_NO : CLI_YES;
    cli_fail(BRY_E_UNSURE, "the map is unsure about %" PRIu64 " of %" PRIu64 " keys", count->unsure,
             count->asked);
    return CLI_UNSURE;
}

int cli_map_get(int argc, char **argv)
{
    style how = {0};
    bool nul = false;
    uint64_t max_bytes = 0;
    cli_option options[] = {
        {"all", CLI_FLAG, NULL, "a line for each key: answer, key and, if present, value", &how.all,
         0},
        {"json", CLI_FLAG, NULL, "a line of JSON for each key", &how.json, 0},
        {"0", CLI_FLAG, NULL, "keys and output lines end with a NUL instead of a newline", &nul, 0},
        CLI_MAP_MAX_BYTES(&max_bytes),
    };
    const cli_syntax syntax = {
        .command = command,
        .usage = "FILE [KEY...] [options]",
        .about =
            "Prints the value of one key, or lines \"key<TAB>value\" for several keys, or for\n"
            "those on standard input, one per line. Absent keys are omitted.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .examples = "  bloomery map get paths.map /usr/bin/awk /usr/bin/none\n"
                    "  bloomery map get paths.map --json < keys",
        .more = "--all prints \"present<TAB>key<TAB>value\", \"absent<TAB>key\" or "
                "\"unsure<TAB>key\";\n"
                "--json prints {\"key\":...,\"answer\":...,\"value\":...} for each key, with\n"
                "key_base64 or value_base64 for bytes that are not UTF-8.\n"
                "Exit codes: 0 all present, 1 some absent, 3 failure, 4 some unsure (kbf only).",
        .most_words = (size_t)-1,
        CLI_MAP_FIRST_WORD,
    };
    size_t words;
    cli_memory memory;
    bry_map *map;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON && words == 1)
        code = cli_check_stream(command, argv[0], "keys");
    if (code == CLI_GO_ON)
        code = cli_map_open(argv[0], max_bytes, &memory, &map, NULL);
    if (code != CLI_GO_ON)
        return code;
    how.all = how.all || how.json;
    how.value_alone = words == 2 && !how.all;
    how.integers = cli_map_options(map).value_bits != 0;
    how.end = nul ? '\0' : '\n';
    tally count = {0};
    if (words > 1)
        look_up_words(map, &how, argv + 1, words - 1, &count);
    else
        code = look_up_lines(map, &how, &count);
    bry_map_destroy(map);
    return code == CLI_GO_ON ? exit_code_of(&count) : code;
}
