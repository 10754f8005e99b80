/*
 * bloomery count: adds up numbers by name, each of them once.
 *
 *   read a large piece ─► lines in place ─► ids, names, amounts ─► one apply_n per batch: a record
 *                                                                  of the table's log
 *
 * The log is synced before the program waits for input, at least once a second, and at the end. So
 * a producer that waits before it goes on, and one that waits until the program has ended, can both
 * forget the lines that it has read. A process that dies loses no batch that it applied; a machine
 * that dies may lose what was not synced. In both cases the same input again counts what is missing.
 */
#include "cli/core/args.h"
#include "cli/core/command.h"
#include "cli/core/engine_option.h"
#include "cli/core/files/saved_file.h"
#include "cli/core/input/fields.h"
#include "cli/core/input/input_wait.h"
#include "cli/core/input/inputs.h"
#include "cli/core/json/json_write.h"
#include "cli/core/limits.h"
#include "cli/core/memory_limit.h"
#include "cli/core/output/output.h"
#include "cli/core/steady_clock.h"
#include "cli/core/stop_signals.h"
#include "text/number_parse.h"

#include <bloomery/counters.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where a line has its parts. */
typedef struct count_fields {
    cli_fields id; /* one or several; also has the delimiter */
    uint16_t name, amount; /* amount 0: every line adds 1 */
    bool amount_required; /* else a line without it adds 1 */
    char end; /* of a line */
} count_fields;

typedef struct count_options {
    bry_counters_options table; /* fields that are 0 were not given */
    const char *dir;
    size_t files; /* words after the directory */
    count_fields fields;
    bool totals; /* reads no input */
    bool quiet; /* prints no totals */
    bool json;
    bool stats;
} count_options;

typedef struct count_table {
    const char *dir;
    cli_memory memory;
    bry_counters *counters;
} count_table;

typedef struct count_tally {
    uint64_t lines; /* that were counted now or before */
    uint64_t applied; /* of these, counted now */
    int signal; /* the one that ended the input, or 0 */
} count_tally;

/* ---- options ------------------------------------------------------------------------------- */

/* Options as typed; NULL: not given. */
typedef struct count_words {
    const char *id, *name, *amount, *delimiter, *engine;
    bool ones;
} count_words;

static int read_count_fields(const count_words *said, count_fields *fields)
{
    fields->id.delimiter = said->delimiter ? *said->delimiter : '\t';
    int code = cli_fields_read(&fields->id, "id", said->id ? said->id : "1");
    fields->name = 2;
    if (code == CLI_GO_ON && said->name)
        code = cli_field_read(&fields->name, "counter", said->name);
    fields->amount = said->ones ? 0 : 3;
    if (code == CLI_GO_ON && said->amount)
        code = cli_field_read(&fields->amount, "amount", said->amount);
    fields->amount_required = said->amount != NULL;
    return code;
}

static int check_count_options(const count_words *said, count_options *asked)
{
    int code = cli_engine_read(BRY_JOB_COUNTERS, said->engine, &asked->table.engine);
    if (code != CLI_GO_ON)
        return code;
    if (said->ones && said->amount)
        return cli_misuse("--ones cannot be combined with --amount");
    if (asked->quiet && asked->totals)
        return cli_misuse("-q cannot be combined with --totals");
    if (asked->totals && asked->files)
        return cli_misuse("--totals reads no files");
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

/* ---- the table ------------------------------------------------------------------------------- */

/* What `bloomery seen` plans for, and why. */
#define COMPACT_IDS UINT64_C(16000000)
#define FBF_IDS UINT64_C(1000000)

/* Whether the directory has a table: its log is the first file that is complete. */
static bool is_table(const char *dir)
{
    char log[PATH_MAX];
    struct stat facts;
    int len = snprintf(log, sizeof log, "%s/log", dir);
    return len > 0 && len < PATH_MAX && stat(log, &facts) == 0;
}

static int check_new_table(bry_counters_options *options)
{
    bry_counters_shape shape = {0};
    if (options->window == 0)
        options->window = BRY_SPAN_MAX;
    if (options->capacity == 0)
        options->capacity = options->engine == BRY_ENGINE_FBF ? FBF_IDS : COMPACT_IDS;
    bry_status status = bry_counters_plan(options, &shape);
    if (status != BRY_E_RANGE)
        return status == BRY_OK ? CLI_GO_ON : cli_fail("%s", bry_status_text(status));
    bry_counters_options without = *options;
    without.max_bytes = 0;
    if (options->max_bytes && bry_counters_plan(&without, &shape) == BRY_OK)
        return cli_misuse("--max-memory: a table takes at least %llu bytes",
                          (unsigned long long)shape.bytes_least);
    return cli_misuse("tables take times up to " CLI_SPAN_MOST
                      ", capacities up to " CLI_CAPACITY_MOST
                      ", errors from " CLI_ERRORS(BRY_COUNTERS_ERROR_MIN) CLI_COMBINATIONS);
}

/* Options that were not given are taken from the table. */
static int check_old_table(const count_table *table, const bry_counters_options *wants)
{
    const char *dir = table->dir;
    bry_counters_options has = BRY_COUNTERS_OPTIONS;
    bry_counters_options_like(table->counters, &has);
    if (wants->window && has.window != wants->window)
        return has.window == BRY_SPAN_MAX ? cli_differs_without(dir, "--window")
                                          : cli_differs_span(dir, "--window", has.window);
    if (wants->engine != BRY_ENGINE_AUTO && has.engine != wants->engine)
        return cli_differs(dir, "--engine", bry_engine_name(has.engine));
    if (wants->error != 0 && has.error != wants->error)
        return cli_differs_share(dir, "--error", has.error);
    if (wants->capacity && has.capacity != wants->capacity)
        return cli_differs_number(dir, "--capacity", has.capacity);
    if (wants->seed && has.seed != wants->seed)
        return cli_differs_number(dir, "--seed", has.seed);
    return CLI_GO_ON;
}

static int report_not_opened(const count_table *table, bry_status status, const bry_load *load)
{
    if (status == BRY_E_IO && errno == EBUSY)
        return cli_fail("%s: another process is using it", cli_name(table->dir).text);
    if (status == BRY_E_RANGE)
        return cli_misuse("--max-memory: a table takes more than that");
    cli_memory limit = table->memory;
    limit.most = load->max_bytes; /* for the message */
    return cli_load_failed(status, load, &limit, table->dir, "table");
}

/* Opens or creates the table; with --totals it must exist. It must match the options. CLI_GO_ON, or
 * an exit code after a message. `table` must not move afterwards. */
static int count_table_open(count_table *table, const count_options *asked)
{
    *table = (count_table){.dir = asked->dir};
    cli_memory_init(&table->memory, 0);
    bool exists = is_table(asked->dir);
    if (!exists && asked->totals)
        return cli_fail("%s: there is no table of counters", cli_name(asked->dir).text);
    bry_counters_options options = asked->table;
    int code = exists ? CLI_GO_ON : check_new_table(&options);
    if (code != CLI_GO_ON)
        return code;
    if (exists) { /* compared below, to name the option that differs */
        options = (bry_counters_options)BRY_COUNTERS_OPTIONS;
        options.max_bytes = asked->table.max_bytes;
        options.log_bytes = asked->table.log_bytes;
    }
    options.sync = BRY_COUNTERS_SYNC_ASKED;
    options.allocator = &table->memory.allocator;
    bry_load load = cli_memory_load(&table->memory);
    if (options.max_bytes && options.max_bytes < load.max_bytes)
        load.max_bytes = options.max_bytes;
    errno = 0;
    bry_status status = bry_counters_open(asked->dir, &options, &load, &table->counters);
    if (status != BRY_OK)
        return report_not_opened(table, status, &load);
    return check_old_table(table, &asked->table);
}

/* Reports that the table could not be changed, errno as the call has left it; `place` is where the
 * line is, or "". Returns an exit code. */
static int count_table_failed(const count_table *table, bry_status status, const char *place)
{
    int problem = errno;
    const char *between = *place ? ": " : "";
    if (status == BRY_E_IO)
        return cli_fail("%s: %s", cli_name(table->dir).text,
                        problem ? strerror(problem) : bry_status_text(status));
    if (status == BRY_E_FULL)
        return cli_fail("%s%sthe table has reached --max-memory", place, between);
    if (status == BRY_E_NOMEM && table->memory.refused)
        return cli_fail("%s%sthe table has reached three quarters of the machine's memory", place,
                        between);
    if (status == BRY_E_OVERFLOW)
        return cli_fail("%s%sthe total does not fit in 64 bits", place, between);
    return cli_fail("%s%s%s", place, between, bry_status_text(status));
}

/* Writes what is not on disk yet. CLI_GO_ON, or an exit code after a message. */
static int count_table_sync(count_table *table)
{
    errno = 0;
    bry_status status = bry_counters_sync(table->counters);
    return status == BRY_OK ? CLI_GO_ON : count_table_failed(table, status, "");
}

/* ---- the stream ------------------------------------------------------------------------------ */

enum { BATCH = 4096, SYNC_EVERY_MS = 1000 };

typedef struct counting {
    count_table *table;
    const count_fields *fields;
    cli_inputs *inputs;
    count_tally *tally;
    cli_lines lines;
    cli_scratch scratch;
    cli_progress progress;
    cli_clock clock;
    uint64_t synced_at;
    int failed; /* the exit code after the table could not be written, or CLI_GO_ON */
    uint64_t first; /* the number of the batch's first line */
    size_t n;
    size_t bytes; /* of the batch, as the library limits it */
    bry_counters_op op[BATCH]; /* the names are in the lines' buffer */
} counting;

/* ---- waiting ------------------------------------------------------------------------------- */

static int count_sync(counting *c)
{
    c->synced_at = cli_clock_now(&c->clock);
    return count_table_sync(c->table);
}

/* Called before each read, when all lines before are applied. */
static bool may_read_more(void *context)
{
    counting *c = context;
    if (!cli_wait_is_readable(c->lines.fd) ||
        cli_clock_now(&c->clock) - c->synced_at >= SYNC_EVERY_MS)
        c->failed = count_sync(c);
    return c->failed == CLI_GO_ON && cli_wait_for(c->lines.fd);
}

/* ---- lines into a batch -------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static int bad_count_line(const counting *c,
                                                                const char *format, ...)
{
    char text[sizeof((cli_quotation *)0)->text + 64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return cli_fail("%s: %s", cli_lines_place(&c->lines, c->lines.number).text, text);
}

/* A whole number, which may be negative. False if it is not one, or does not fit. */
static bool read_amount(cli_text text, int64_t *amount)
{
    bool negative = text.len > 0 && text.bytes[0] == '-';
    uint64_t number = 0, most = (uint64_t)INT64_MAX + negative;
    if (text_parse_plain(text.bytes + negative, text.len - negative, &number) || number > most)
        return false;
    *amount = (int64_t)(negative ? 0 - number : number);
    return true;
}

static int take_count_line(counting *c, cli_text line)
{
    const count_fields *fields = c->fields;
    cli_text id[CLI_MOST_FIELDS], name, amount, key;
    char delimiter = fields->id.delimiter;
    unsigned missing = cli_fields_find(delimiter, fields->id.number, fields->id.count, line, id);
    if (!missing)
        missing = cli_fields_find(delimiter, &fields->name, 1, line, &name);
    bool adds = !missing && fields->amount;
    if (adds && cli_fields_find(delimiter, &fields->amount, 1, line, &amount)) {
        adds = false;
        missing = fields->amount_required ? fields->amount : 0;
    }
    bry_counters_op *op = &c->op[c->n];
    *op = (bry_counters_op){.delta = 1};
    if (missing)
        return bad_count_line(c, "there is no field %u", missing);
    if (adds && !read_amount(amount, &op->delta))
        return bad_count_line(c, "the amount %s is not a whole number of 64 bits",
                              cli_quote_text(amount).text);
    if (name.len > BRY_COUNTERS_NAME_MAX)
        return bad_count_line(c, "the name is longer than %u bytes", BRY_COUNTERS_NAME_MAX);
    if (!cli_join(&c->scratch, id, fields->id.count, delimiter, &key))
        return cli_no_memory();
    op->name = name.bytes;
    op->name_len = name.len;
    op->id = bry_counters_prepare(c->table->counters, name.bytes, name.len, key.bytes, key.len);
    c->bytes += BRY_COUNTERS_BATCH_OP + name.len;
    c->n++;
    return CLI_GO_ON;
}

/* Takes the lines that are in memory: reading more would move them. */
static int fill_count_batch(counting *c)
{
    const size_t most = BRY_COUNTERS_BATCH_MAX - BRY_COUNTERS_BATCH_OP - BRY_COUNTERS_NAME_MAX;
    cli_text line;
    c->n = 0;
    c->bytes = BRY_COUNTERS_BATCH_HEAD;
    c->first = c->lines.number + 1;
    int code = CLI_GO_ON;
    do {
        bry_status status = cli_lines_next(&c->lines, &line);
        if (status != BRY_OK)
            return cli_lines_failed(&c->lines, status);
        if (line.bytes)
            code = take_count_line(c, line);
    } while (line.bytes && code == CLI_GO_ON && c->n < BATCH && c->bytes <= most &&
             cli_lines_ready(&c->lines));
    return code;
}

/* ---- a batch into the table ---------------------------------------------------------------- */

static int apply_count_batch(counting *c)
{
    bry_counters *counters = c->table->counters;
    uint64_t now = cli_clock_now(&c->clock);
    size_t done = c->n;
    errno = 0;
    bry_status status = bry_counters_apply_n(counters, c->op, c->n, now);
    /* A batch that fails changes nothing; then lines are counted one by one, to find the one that
     * fails. */
    if (status != BRY_OK && status != BRY_E_IO) {
        status = BRY_OK;
        for (done = 0; done < c->n && status == BRY_OK; done += status == BRY_OK) {
            errno = 0;
            status = bry_counters_apply_n(counters, &c->op[done], 1, now);
        }
    }
    if (status == BRY_E_IO)
        return c->failed = count_table_failed(c->table, status, "");
    c->tally->lines += done;
    for (size_t i = 0; i < done; i++)
        c->tally->applied += c->op[i].outcome == BRY_COUNTERS_APPLIED;
    return status == BRY_OK ? CLI_GO_ON
                            : count_table_failed(c->table, status,
                                                 cli_lines_place(&c->lines, c->first + done).text);
}

/* Processes one batch, from the next input if the current one has ended. *more: there may be
 * another. */
static int step_counting(counting *c, bool *more)
{
    int code = fill_count_batch(c), applied = apply_count_batch(c);
    cli_progress_add(&c->progress, c->n);
    if (applied != CLI_GO_ON)
        code = applied;
    if (c->failed != CLI_GO_ON)
        code = c->failed;
    *more = code == CLI_GO_ON && !cli_wait_is_over();
    if (*more && c->n == 0)
        code = cli_inputs_next(c->inputs, &c->lines, more);
    return code;
}

/* CLI_GO_ON when the inputs have ended and everything is on disk; or an exit code after a message,
 * and then the lines before the one in the message are counted. The tally is correct in all
 * cases. */
static int count_stream(count_table *table, const count_fields *fields, cli_inputs *inputs,
                        count_tally *tally)
{
    *tally = (count_tally){0};
    counting *c = calloc(1, sizeof *c);
    if (!c)
        return cli_no_memory();
    c->table = table;
    c->fields = fields;
    c->inputs = inputs;
    c->tally = tally;
    c->failed = CLI_GO_ON;
    c->lines = (cli_lines){.fd = STDIN_FILENO,
                           .end = fields->end,
                           .may_read = may_read_more,
                           .context = c,
                           .progress = &c->progress};
    c->progress = cli_progress_start(inputs->bytes, false);
    c->clock = cli_clock_start();
    c->synced_at = cli_clock_now(&c->clock);
    cli_wait wait;
    cli_wait_begin(&wait);
    bool more;
    int code = cli_inputs_next(inputs, &c->lines, &more);
    while (code == CLI_GO_ON && more)
        code = step_counting(c, &more);
    int synced = c->failed == CLI_GO_ON ? count_sync(c) : c->failed;
    cli_progress_end(&c->progress);
    tally->signal = cli_wait_end(&wait);
    cli_lines_free(&c->lines);
    free(c->scratch.bytes);
    free(c);
    return code == CLI_GO_ON ? synced : code;
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
