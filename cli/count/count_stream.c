/*
 * The stream of `bloomery count`.
 *
 *   read a large piece ─► lines in place ─► ids, names, amounts ─► one apply_n per batch: a record
 *                                                                  of the table's log
 *
 * The log is synced before the program waits for input, at least once a second, and at the end. So
 * a producer that waits before it goes on, and one that waits until the program has ended, can both
 * forget the lines that it has read. A process that dies loses no batch that it applied; a machine
 * that dies may lose what was not synced. In both cases the same input again counts what is missing.
 */
#include "cli/count/count_stream.h"

#include "cli/core/args.h"
#include "cli/core/input/input_wait.h"
#include "cli/core/output/output.h"
#include "cli/core/steady_clock.h"
#include "text/number_parse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

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

int count_stream(count_table *table, const count_fields *fields, cli_inputs *inputs,
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
