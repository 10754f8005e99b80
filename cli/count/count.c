/* bloomery count: adds up numbers by name, each of them once. */
#include "cli/core/args.h"
#include "cli/core/command.h"
#include "cli/core/engine_option.h"
#include "cli/core/json/json_write.h"
#include "cli/core/output/output.h"
#include "cli/core/stop_signals.h"
#include "cli/count/count_stream.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char command[] = "count";

/* ---- options ------------------------------------------------------------------------------- */

/* Options as typed; NULL: not given. */
typedef struct count_words {
    const char *id, *name, *amount, *delimiter, *engine;
    bool ones;
} count_words;

static int read_count_fields(const count_words *said, count_fields *fields)
{
    fields->id.delimiter = said->delimiter ? *said->delimiter : '\t';
    int code = cli_fields_read(&fields->id, command, "id", said->id ? said->id : "1");
    fields->name = 2;
    if (code == CLI_GO_ON && said->name)
        code = cli_field_read(&fields->name, command, "counter", said->name);
    fields->amount = said->ones ? 0 : 3;
    if (code == CLI_GO_ON && said->amount)
        code = cli_field_read(&fields->amount, command, "amount", said->amount);
    fields->amount_required = said->amount != NULL;
    return code;
}

static int check_count_options(const count_words *said, count_options *asked)
{
    int code = cli_engine_read(command, BRY_JOB_COUNTERS, said->engine, &asked->table.engine);
    if (code != CLI_GO_ON)
        return code;
    if (said->ones && said->amount)
        return cli_misuse(command, "--ones cannot be combined with --amount");
    if (asked->quiet && asked->totals)
        return cli_misuse(command, "-q cannot be combined with --totals");
    if (asked->totals && asked->files)
        return cli_misuse(command, "--totals reads no files");
    return read_count_fields(said, &asked->fields);
}

static const char about_text[] =
    "Adds up numbers by name, each of them once. Reads lines \"id name amount\", separated by\n"
    "tabs; an id that was counted for a name before adds nothing. The totals are in DIR, which\n"
    "is created if it does not exist, and ids and totals are stored together: after a crash,\n"
    "run the same command with the same input again, and what was counted counts once.\n"
    "Prints \"name total\" for all names, sorted by name.";
static const char more_text[] =
    "Without FILE, and for -, reads standard input. Fields are counted from 1. An amount is a\n"
    "whole number, which may be negative. Equal ids of different names are different. An id is\n"
    "taken for another one with a probability of at most P, and then a line is not counted.\n"
    "A line that cannot be counted ends the command; the lines before it are counted. What was\n"
    "read is on disk whenever the command waits for input, at least once a second, and when it\n"
    "ends. For an existing DIR, engine, error, capacity, window and seed must be those that it\n"
    "was created with, or be omitted. A DIR that another process is using is refused.\n"
    "Exit codes: 0 done, 3 failure. A signal ends the input; what was read is counted.";
static const char examples_text[] =
    "  bloomery count sales till7.tsv till8.tsv\n"
    "  bloomery count sales --totals\n"
    "  tail -f log | bloomery count hits -d ' ' --id 1 --counter 4 --ones";

/* Reads the arguments and moves the words to the front of argv, the directory first. CLI_GO_ON, or
 * an exit code after a message. */
static int count_options_read(count_options *asked, int argc, char **argv)
{
    *asked = (count_options){.table = BRY_COUNTERS_OPTIONS};
    bry_counters_options *table = &asked->table;
    count_words said = {0};
    bool nul = false;
    cli_option options[] = {
        {"id", CLI_TEXT, "FIELD", "the field of the id, or fields such as 1,3 (default 1)",
         &said.id},
        {"counter", CLI_TEXT, "FIELD", "the field of the name (default 2)", &said.name},
        {"amount", CLI_TEXT, "FIELD", "the field of the amount (default 3; without it: 1)",
         &said.amount},
        {"ones", CLI_FLAG, NULL, "lines have no amounts: each adds 1", &said.ones},
        {"d", CLI_BYTE, "C", "the byte between fields (default: \\t, a tab)", &said.delimiter},
        {"delimiter", CLI_BYTE, "C", "the same", &said.delimiter},
        {"0", CLI_FLAG, NULL, "lines end with a NUL instead of a newline", &nul},
        {"totals", CLI_FLAG, NULL, "read nothing, and print the totals", &asked->totals},
        {"q", CLI_FLAG, NULL, "print nothing but errors", &asked->quiet},
        {"json", CLI_FLAG, NULL, "print totals, and --stats, as JSON", &asked->json},
        {"stats", CLI_FLAG, NULL, "print counts, error and memory on standard error at the end",
         &asked->stats},
        {"window", CLI_SPAN, "T", "how long an id is remembered (default: for ever)",
         &table->window},
        {"error", CLI_SHARE, "P", "permitted share of new ids that are not counted (default 1e-9)",
         &table->error},
        {"capacity", CLI_COUNT, "N", "new ids in a window to plan for (default 16M, fbf 1M)",
         &table->capacity},
        {"engine", CLI_TEXT, "E", cli_engine_help(BRY_JOB_COUNTERS), &said.engine},
        {"max-memory", CLI_BYTES, "B", "memory for the table (default 3/4 of the machine's)",
         &table->max_bytes},
        {"log-size", CLI_BYTES, "B", "write a snapshot when the log has grown by B (default 64MiB)",
         &table->log_bytes},
        {"seed", CLI_PLAIN, "S", "seed for hashing ids (default: random)", &table->seed},
    };
    const cli_syntax syntax = {
        .command = command,
        .usage = "DIR [FILE...] [options]",
        .about = about_text,
        CLI_OPTIONS(options),
        .most_words = (size_t)-1,
        .least_words = 1,
        .missing = "missing directory",
        .more = more_text,
        .examples = examples_text,
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code != CLI_GO_ON)
        return code;
    asked->dir = argv[0];
    asked->files = words - 1;
    asked->fields.end = nul ? '\0' : '\n';
    return check_count_options(&said, asked);
}

/* ---- totals and statistics ----------------------------------------------------------------- */

static int compare_entry_names(const void *left, const void *right)
{
    const bry_counters_entry *a = left, *b = right;
    size_t len = a->name_len < b->name_len ? a->name_len : b->name_len;
    int order = len ? memcmp(a->name, b->name, len) : 0;
    return order ? order : (a->name_len > b->name_len) - (a->name_len < b->name_len);
}

static void print_total_lines(const bry_counters_entry *entries, size_t n, char delimiter, char end)
{
    for (size_t i = 0; i < n; i++) {
        fwrite(entries[i].name, 1, entries[i].name_len, stdout);
        printf("%c%" PRId64 "%c", delimiter, entries[i].value, end);
    }
}

static void print_totals_json(const bry_counters_entry *entries, size_t n)
{
    cli_json json = CLI_JSON_TO(stdout);
    cli_json_open(&json, NULL, '{');
    cli_json_open(&json, "totals", '[');
    for (size_t i = 0; i < n; i++) {
        cli_json_open(&json, NULL, '{');
        cli_json_bytes(&json, "name", entries[i].name, entries[i].name_len);
        cli_json_whole(&json, "total", entries[i].value);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    cli_json_close(&json, '}');
}

/* Sorted by name. CLI_YES, or an exit code after a message. */
static int count_totals_print(const count_table *table, const count_options *asked)
{
    size_t room = (size_t)bry_counters_items(table->counters), n = 0;
    bry_counters_entry *entries = malloc((room ? room : 1) * sizeof *entries);
    if (!entries)
        return cli_no_memory();
    uint64_t cursor = 0;
    do
        n += bry_counters_scan(table->counters, &cursor, entries + n, room - n ? room - n : 1);
    while (cursor != 0 && n < room);
    qsort(entries, n, sizeof *entries, compare_entry_names);
    if (asked->json)
        print_totals_json(entries, n);
    else
        print_total_lines(entries, n, asked->fields.id.delimiter, asked->fields.end);
    free(entries);
    return CLI_YES;
}

static void print_count_stats(const count_table *table, const count_tally *tally, bool as_json)
{
    bry_counters_stats s = {0};
    bry_counters_get_stats(table->counters, &s);
    if (!as_json) {
        fprintf(stderr,
                "lines       %" PRIu64 ": %" PRIu64 " counted, %" PRIu64 " counted before\n"
                "table       %s: %" PRIu64 " names, %" PRIu64 " ids remembered\n"
                "error       %g promised, %.3g estimated; %.3g ids expected to be lost\n"
                "bytes       %" PRIu64 "\n",
                tally->lines, tally->applied, tally->lines - tally->applied,
                bry_engine_name(s.engine), s.counters, s.ids, s.promised_error, s.estimated_error,
                s.expected_lost, s.bytes);
        return;
    }
    cli_json json = CLI_JSON_TO(stderr);
    cli_json_open(&json, NULL, '{');
    cli_json_count(&json, "lines", tally->lines);
    cli_json_count(&json, "applied", tally->applied);
    cli_json_count(&json, "repeats", tally->lines - tally->applied);
    cli_json_text(&json, "engine", bry_engine_name(s.engine));
    if (s.window == BRY_SPAN_MAX)
        cli_json_text(&json, "window_ms", NULL);
    else
        cli_json_count(&json, "window_ms", s.window);
    cli_json_count(&json, "counters", s.counters);
    cli_json_count(&json, "remembered", s.ids);
    cli_json_number(&json, "promised_error", s.promised_error);
    cli_json_number(&json, "estimated_error", s.estimated_error);
    cli_json_number(&json, "expected_lost", s.expected_lost);
    cli_json_count(&json, "bytes", s.bytes);
    cli_json_count(&json, "log_bytes", s.log_bytes);
    cli_json_close(&json, '}');
}

static int count_inputs(const count_options *asked, cli_inputs *inputs)
{
    count_table table;
    count_tally tally = {0};
    int code = count_table_open(&table, asked);
    bool opened = code == CLI_GO_ON;
    if (opened && !asked->totals)
        code = count_stream(&table, &asked->fields, inputs, &tally);
    if (code == CLI_GO_ON)
        code = asked->quiet ? CLI_YES : count_totals_print(&table, asked);
    if (opened && asked->stats) {
        print_count_stats(&table, &tally, asked->json);
        code = ferror(stderr) ? CLI_FAILED : code;
    }
    bry_counters_destroy(table.counters);
    if (tally.signal && code == CLI_YES && (code = cli_finish(code)) == CLI_YES)
        return cli_end_by(tally.signal);
    return code;
}

int cli_count(int argc, char **argv)
{
    count_options asked;
    cli_inputs inputs;
    int code = count_options_read(&asked, argc, argv);
    if (code == CLI_GO_ON && !asked.totals)
        code = cli_inputs_look(&inputs, argv + 1, asked.files);
    if (code != CLI_GO_ON)
        return code;
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the file size limit fails like any other */
    return count_inputs(&asked, &inputs);
}
