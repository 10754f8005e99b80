#include "cli/count/count_options.h"

#include "cli/core/args.h"
#include "cli/core/engine_option.h"
#include "cli/core/output/output.h"

const char count_command[] = "count";

/* Options as typed; NULL: not given. */
typedef struct count_words {
    const char *id, *name, *amount, *delimiter, *engine;
    bool ones;
} count_words;

/* The number of a single field, or `standard` without the option. */
static int read_one_field(const char *option, const char *text, uint16_t standard, uint16_t *number)
{
    cli_fields one = {.number = {standard}};
    int code = text ? cli_fields_read(&one, count_command, option, text) : CLI_GO_ON;
    if (code == CLI_GO_ON && one.count > 1)
        code = cli_misuse(count_command, "--%s: %s is more than one field", option,
                          cli_quote(text).text);
    *number = one.number[0];
    return code;
}

static int read_count_fields(const count_words *said, count_fields *fields)
{
    fields->id.delimiter = said->delimiter ? *said->delimiter : '\t';
    int code = cli_fields_read(&fields->id, count_command, "id", said->id ? said->id : "1");
    if (code == CLI_GO_ON)
        code = read_one_field("counter", said->name, 2, &fields->name);
    if (code == CLI_GO_ON)
        code = read_one_field("amount", said->amount, said->ones ? 0 : 3, &fields->amount);
    fields->amount_required = said->amount != NULL;
    return code;
}

static int check_count_options(const count_words *said, count_options *asked)
{
    int code = cli_engine_read(count_command, BRY_JOB_COUNTERS, said->engine, &asked->table.engine);
    if (code != CLI_GO_ON)
        return code;
    if (said->ones && said->amount)
        return cli_misuse(count_command, "--ones cannot be combined with --amount");
    if (asked->quiet && asked->totals)
        return cli_misuse(count_command, "-q cannot be combined with --totals");
    if (asked->totals && asked->files)
        return cli_misuse(count_command, "--totals reads no files");
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

int count_options_read(count_options *asked, int argc, char **argv)
{
    *asked = (count_options){.table = BRY_COUNTERS_OPTIONS};
    bry_counters_options *table = &asked->table;
    count_words said = {0};
    bool nul = false;
    cli_option options[] = {
        {"id", CLI_TEXT, "FIELD", "the field of the id, or fields such as 1,3 (default 1)",
         &said.id, 0},
        {"counter", CLI_TEXT, "FIELD", "the field of the name (default 2)", &said.name, 0},
        {"amount", CLI_TEXT, "FIELD", "the field of the amount (default 3; without it: 1)",
         &said.amount, 0},
        {"ones", CLI_FLAG, NULL, "lines have no amounts: each adds 1", &said.ones, 0},
        {"d", CLI_BYTE, "C", "the byte between fields (default: \\t, a tab)", &said.delimiter, 0},
        {"delimiter", CLI_BYTE, "C", "the same", &said.delimiter, 0},
        {"0", CLI_FLAG, NULL, "lines end with a NUL instead of a newline", &nul, 0},
        {"totals", CLI_FLAG, NULL, "read nothing, and print the totals", &asked->totals, 0},
        {"q", CLI_FLAG, NULL, "print nothing but errors", &asked->quiet, 0},
        {"json", CLI_FLAG, NULL, "print totals, and --stats, as JSON", &asked->json, 0},
        {"stats", CLI_FLAG, NULL, "print counts, error and memory on standard error at the end",
         &asked->stats, 0},
        {"window", CLI_SPAN, "T", "how long an id is remembered (default: for ever)",
         &table->window, 0},
        {"error", CLI_SHARE, "P", "permitted share of new ids that are not counted (default 1e-9)",
         &table->error, 0},
        {"capacity", CLI_COUNT, "N", "new ids in a window to plan for (default 16M, fbf 1M)",
         &table->capacity, 0},
        {"engine", CLI_TEXT, "E", cli_engine_help(BRY_JOB_COUNTERS), &said.engine, 0},
        {"max-memory", CLI_BYTES, "B", "memory for the table (default 3/4 of the machine's)",
         &table->max_bytes, 0},
        {"log-size", CLI_BYTES, "B", "write a snapshot when the log has grown by B (default 64MiB)",
         &table->log_bytes, 0},
        {"seed", CLI_PLAIN, "S", "seed for hashing ids (default: random)", &table->seed, 0},
    };
    const cli_syntax syntax = {
        .command = count_command,
        .usage = "DIR [FILE...] [options]",
        .about = about_text,
        .options = options,
        .option_count = sizeof options / sizeof options[0],
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
