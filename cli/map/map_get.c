/* bloomery map get: the values of keys, from the arguments or from standard input. */
#include "cli/core/files/saved_file.h"
#include "cli/core/json/json_write.h"
#include "cli/map/map_command.h"
#include "cli/map/map_target.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Enough for servers, where each batch is a journey. */
#define BATCH 4096u

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

/* The keys of a batch and their answers. */
typedef struct get_batch {
    cli_map_target target;
    const style *how;
    tally count;
    cli_text keys[BATCH];
    bry_map_value values[BATCH];
    bry_answer answers[BATCH];
} get_batch;

/* Looks up the first n keys of the batch. */
static int look_up_keys(void *context, size_t n)
{
    get_batch *self = context;
    if (n == 0)
        return CLI_GO_ON;
    int code = self->target.kind->get(&self->target, self->keys, n, self->values, self->answers);
    for (size_t i = 0; i < n && code == CLI_GO_ON; i++) {
        self->count.absent += self->answers[i] == BRY_ABSENT;
        self->count.unsure += self->answers[i] == BRY_UNSURE;
        print_answer(self->how, self->keys[i], self->answers[i], &self->values[i]);
    }
    self->count.asked += n;
    return code;
}

static int exit_code_of(const tally *count)
{
    if (count->unsure == 0)
        return count->absent ? CLI_NO : CLI_YES;
    cli_fail("the map is unsure about %" PRIu64 " of %" PRIu64 " keys", count->unsure,
             count->asked);
    return CLI_UNSURE;
}

int cli_map_get(int argc, char **argv)
{
    style how = {0};
    bool nul = false;
    uint64_t max_bytes = 0;
    size_t plain_words;
    cli_option options[] = {
        {"all", CLI_FLAG, NULL, "a line for each key: answer, key and, if present, value",
         &how.all},
        {"json", CLI_FLAG, NULL, "a line of JSON for each key", &how.json},
        {"0", CLI_FLAG, NULL, "keys and output lines end with a NUL instead of a newline", &nul},
        CLI_MAP_MAX_MEMORY(&max_bytes),
    };
    const cli_syntax syntax = {
        .usage = "MAP [KEY...] [options]",
        .about =
            "Prints the value of one key, or lines \"key<TAB>value\" for several keys. Without "
            "KEY,\n"
            "and for -, reads keys from standard input, one per line. Absent keys are omitted.",
        CLI_OPTIONS(options),
        .examples = "  bloomery map get paths.map /usr/bin/awk /usr/bin/none\n"
                    "  bloomery map get paths.map - --json < keys\n"
                    "  bloomery map get redis://127.0.0.1:7000/routes 10.0.0.1",
        .more = "--all prints \"present<TAB>key<TAB>value\", \"absent<TAB>key\" or "
                "\"unsure<TAB>key\";\n"
                "--json prints {\"key\":...,\"answer\":...,\"value\":...} for each key, with\n"
                "key_base64 or value_base64 for bytes that are not UTF-8.\n"
                "Exit codes: 0 all present, 1 some absent, 3 failure, 4 some unsure (kbf only).",
        .most_words = (size_t)-1,
        .plain_words = &plain_words,
        CLI_MAP_FIRST_WORD,
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code == CLI_GO_ON)
        code = cli_keys_given(&syntax, argv, &words, "keys");
    if (code != CLI_GO_ON)
        return code;
    get_batch *self = malloc(sizeof *self);
    if (!self)
        return cli_no_memory();
    cli_map_wants wants = {.path = argv[0], .directories = true, .max_bytes = max_bytes};
    code = cli_map_target_open(&wants, &self->target);
    if (code != CLI_GO_ON) {
        free(self);
        return code;
    }
    how.all = how.all || how.json;
    how.value_alone = words == 2 && !how.all;
    how.integers = self->target.value_bits != 0;
    how.end = nul ? '\0' : '\n';
    self->how = &how;
    self->count = (tally){0};
    const cli_key_batches batches = {self->keys, BATCH, look_up_keys, NULL, self};
    code = words > 1 ? cli_answer_words(&batches, argv + 1, words - 1)
                     : cli_answer_lines(&batches, how.end);
    self->target.kind->close(&self->target);
    if (code == CLI_GO_ON)
        code = exit_code_of(&self->count);
    free(self);
    return code;
}
