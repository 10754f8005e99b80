/*
 * The stream of `bloomery seen`.
 *
 *   read a large piece ─► lines in place ─► keys, hashes ─► one add_n per batch ─► runs of lines
 *                                                                                  that are written
 *
 * Lines are neither copied nor moved until they are written: the output of a batch consists of runs
 * of bytes of the piece that was read. Output is flushed before a read that would block, so that a
 * line never waits for the next one.
 *
 * SIGINT, SIGTERM and SIGHUP end the input; the current batch is finished and the state is saved,
 * so the state contains exactly the lines that were written. The program checks for signals after
 * each batch and before it waits for input; none can arrive unnoticed between check and wait. A
 * second signal ends the program.
 */
#include "cli/seen/seen_stream.h"

#include "cli/core/args.h"
#include "cli/core/input/input_wait.h"
#include "cli/core/output/output.h"
#include "cli/core/steady_clock.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH = 512, ROOM = 256 * 1024 };

/* The error is estimated first after this many lines, then whenever their number has grown by an
 * eighth. */
#define FIRST_LOOK 4096u

/* ---- output -------------------------------------------------------------------------------- */

/* Buffered output of lines. stdio is not used because it loses the errno of a failed write. */
typedef struct seen_output {
    int fd;
    int problem; /* errno of the first failed write, after which nothing is written; else 0 */
    char *buffer;
    size_t held;
} seen_output;

static void write_all_output(seen_output *output, const char *bytes, size_t len)
{
    while (len > 0 && !output->problem) {
        ssize_t done = write(output->fd, bytes, len);
        if (done >= 0) {
            bytes += done;
            len -= (size_t)done;
        } else if (errno == EAGAIN) { /* another process made the pipe non-blocking */
            struct pollfd wait = {.fd = output->fd, .events = POLLOUT};
            poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            output->problem = errno;
        }
    }
}

static void seen_output_flush(seen_output *output)
{
    write_all_output(output, output->buffer, output->held);
    output->held = 0;
}

static void seen_output_add(seen_output *output, const char *bytes, size_t len)
{
    if (len > ROOM - output->held)
        seen_output_flush(output);
    if (len >= ROOM) {
        write_all_output(output, bytes, len);
        return;
    }
    if (len == 0)
        return;
    memcpy(output->buffer + output->held, bytes, len);
    output->held += len;
}

/* ---- the stream ---------------------------------------------------------------------------- */

typedef enum fate { FIRST, REPEAT, PASSED, DROPPED } fate; /* the last two: without the option */

/* Lines, with the keys and times of those that have them. */
typedef struct batch {
    size_t lines, keys;
    uint64_t number; /* of the first line */
    cli_text line[BATCH];
    uint8_t fate[BATCH];
    uint16_t place[BATCH]; /* the line of each key */
    const void *key[BATCH];
    size_t len[BATCH];
    uint64_t time[BATCH];
    bry_hash hash[BATCH]; /* for joined keys: the next one overwrites it */
    uint8_t was[BATCH];
} batch;

typedef struct stream {
    bry_window *window;
    const cli_memory *memory;
    const seen_line_options *how;
    seen_tally *tally;
    cli_inputs *inputs;
    cli_lines lines;
    cli_scratch scratch;
    cli_progress progress;
    seen_output output;
    cli_clock clock;
    bool started; /* `latest` is set */
    uint64_t latest;
    uint64_t next_look; /* in lines; */
    double error; /* the estimate then */
    uint64_t first_then;
    batch now;
} stream;

/* Called before each read: false after a signal, or if the reader of the output is gone. */
static bool may_read(void *context)
{
    stream *s = context;
    if (s->output.held > 0 && !cli_wait_is_readable(s->lines.fd))
        seen_output_flush(&s->output);
    return !s->output.problem && cli_wait_for(s->lines.fd);
}

/* ---- lines into a batch -------------------------------------------------------------------- */

static int bad_line(const stream *s, const seen_problem *problem)
{
    cli_place place = cli_lines_place(&s->lines, s->lines.number);
    if (problem->column)
        return cli_fail("%s, column %zu: %s", place.text, problem->column, problem->text);
    return cli_fail("%s: %s", place.text, problem->text);
}

/* The time of a line: its own, but not before the latest. */
static bool settle_time(stream *s, uint64_t *time, seen_problem *problem)
{
    if (s->started && *time < s->latest) {
        s->tally->late++;
        *time = s->latest;
    } else if (s->started && s->how->skew && *time - s->latest > s->how->skew) {
        problem->column = 0;
        snprintf(problem->text, sizeof problem->text,
                 "the time is %" PRIu64 " ms ahead of the latest; --skew allows %" PRIu64,
                 *time - s->latest, s->how->skew);
        return false;
    }
    if (s->tally->since == SEEN_NEVER)
        s->tally->since = *time;
    s->started = true;
    s->latest = *time;
    return true;
}

/* CLI_GO_ON; or, after a message, the exit code for when the lines before this one are
 * processed. */
static int take_stream_line(stream *s, cli_text line, uint64_t now)
{
    batch *b = &s->now;
    size_t place = b->lines++, at = b->keys;
    seen_problem problem;
    cli_text key;
    b->line[place] = line;
    b->time[at] = now;
    if (seen_fields_of(&s->how->fields, line, &s->scratch, &key, &b->time[at], &problem) &&
        settle_time(s, &b->time[at], &problem)) {
        b->key[at] = key.bytes;
        b->len[at] = key.len;
        if (seen_fields_are_several(&s->how->fields))
            b->hash[at] = bry_hash_key(bry_window_seed(s->window), key.bytes, key.len);
        b->place[at] = (uint16_t)place;
        b->keys++;
        return CLI_GO_ON;
    }
    s->tally->bad++;
    b->fate[place] = s->how->bad == SEEN_BAD_PASS ? PASSED : DROPPED;
    if (s->how->bad != SEEN_BAD_FAIL)
        return CLI_GO_ON;
    b->lines--;
    return bad_line(s, &problem);
}

/* Takes the lines that are in memory: reading more would move them. */
static int fill_stream_batch(stream *s)
{
    int code = CLI_GO_ON;
    s->now.lines = s->now.keys = 0;
    cli_text line;
    bry_status status = cli_lines_next(&s->lines, &line);
    if (status != BRY_OK)
        return cli_lines_failed(&s->lines, status);
    uint64_t now = cli_clock_now(&s->clock);
    s->now.number = s->lines.number;
    while (line.bytes) {
        code = take_stream_line(s, line, now);
        if (code != CLI_GO_ON || s->now.lines == BATCH || !cli_lines_ready(&s->lines))
            break;
        status = cli_lines_next(&s->lines, &line);
        if (status != BRY_OK)
            return cli_lines_failed(&s->lines, status);
    }
    return code;
}

/* ---- a batch through the window ------------------------------------------------------------ */

static int report_refused(const stream *s, bry_status status, size_t at)
{
    cli_place place = cli_lines_place(&s->lines, s->now.number + s->now.place[at]);
    if (status == BRY_E_NOMEM && s->memory->refused)
        return cli_fail("%s: the window has reached three quarters of the machine's memory",
                        place.text);
    if (status == BRY_E_FULL)
        return cli_fail("%s: the window has reached --max-memory", place.text);
    return cli_fail("%s: %s", place.text, bry_status_text(status));
}

/* Adds the keys from..to, which have the same time. On failure the batch ends there. */
static int add_each_key(stream *s, size_t from, size_t to)
{
    batch *b = &s->now;
    for (size_t i = from; i < to; i++) {
        bry_answer was = BRY_ABSENT;
        bry_status status = bry_window_add(s->window, b->hash[i], b->time[i], &was);
        bool full = status == BRY_E_FULL || (status == BRY_E_NOMEM && s->memory->refused);
        if (status != BRY_OK && !(full && s->how->pass_full)) {
            int code = report_refused(s, status, i);
            b->lines = b->place[i];
            b->keys = i;
            return code;
        }
        s->tally->unremembered += status != BRY_OK;
        b->was[i] = (uint8_t)was;
    }
    return CLI_GO_ON;
}

static int add_stream_batch(stream *s)
{
    batch *b = &s->now;
    int code = CLI_GO_ON;
    if (!seen_fields_are_several(&s->how->fields))
        bry_hash_key_n(bry_window_seed(s->window), b->key, b->len, b->keys, b->hash);
    for (size_t from = 0, to; from < b->keys && code == CLI_GO_ON; from = to) {
        for (to = from + 1; to < b->keys && b->time[to] == b->time[from];)
            to++;
        /* A batch that fails changes nothing; then keys are added one by one, to find the one that
         * fails. */
        if (bry_window_add_n(s->window, b->hash + from, to - from, b->time[from], b->was + from) !=
            BRY_OK)
            code = add_each_key(s, from, to);
    }
    for (size_t i = 0; i < b->keys; i++)
        b->fate[b->place[i]] = b->was[i] == BRY_PRESENT ? REPEAT : FIRST;
    return code;
}

/* Expected number of first occurrences that were dropped: those since the last estimate, times the
 * error in between. */
static void estimate_false_drops(stream *s)
{
    bry_window_stats stats = {0};
    bry_window_get_stats(s->window, &stats);
    double error = (s->error + stats.estimated_error) / 2;
    s->tally->false_drops += (double)(s->tally->first - s->first_then) * error / (1 - error);
    s->error = stats.estimated_error;
    s->first_then = s->tally->first;
    s->next_look = s->tally->lines + s->tally->lines / 8 + FIRST_LOOK;
}

/* ---- a batch on its way out ---------------------------------------------------------------- */

static void write_lines_out(stream *s)
{
    const batch *b = &s->now;
    const char *run = s->lines.buffer, *stop = run; /* the output */
    bool ended = true;
    s->tally->lines += b->lines;
    for (size_t i = 0; i < b->lines; i++) {
        bool first = b->fate[i] == FIRST || b->fate[i] == PASSED, repeat = b->fate[i] == REPEAT;
        s->tally->first += first;
        s->tally->repeats += repeat;
        if (!(s->how->repeats ? repeat : first))
            continue;
        s->tally->written++;
        if (s->how->silent)
            continue;
        cli_text line = b->line[i];
        if (stop != line.bytes) {
            seen_output_add(&s->output, run, (size_t)(stop - run));
            run = line.bytes;
        }
        /* only the last line of an input may have no end mark */
        ended = line.bytes + line.len < s->lines.buffer + s->lines.held;
        stop = line.bytes + line.len + ended;
    }
    seen_output_add(&s->output, run, (size_t)(stop - run));
    if (!ended)
        seen_output_add(&s->output, &s->how->end, 1);
}

/* Processes one batch, from the next input if the current one has ended. *more: there may be
 * another. */
static int step_stream(stream *s, bool *more)
{
    int code = fill_stream_batch(s);
    int added = add_stream_batch(s);
    write_lines_out(s);
    cli_progress_add(&s->progress, s->now.lines);
    if (added != CLI_GO_ON)
        code = added;
    if (s->tally->lines >= s->next_look)
        estimate_false_drops(s);
    *more = code == CLI_GO_ON && !s->output.problem && !cli_wait_is_over();
    if (*more && s->now.lines == 0)
        code = cli_inputs_next(s->inputs, &s->lines, more);
    return code;
}

static int run_stream(stream *s)
{
    bool more;
    int code = cli_inputs_next(s->inputs, &s->lines, &more);
    while (code == CLI_GO_ON && more)
        code = step_stream(s, &more);
    estimate_false_drops(s);
    seen_output_flush(&s->output);
    cli_progress_end(&s->progress);
    if (s->output.problem)
        code = cli_fail("standard output: %s", strerror(s->output.problem));
    return code;
}

static void start_stream(stream *s)
{
    bry_window_stats stats = {0};
    bry_window_get_stats(s->window, &stats);
    s->lines = (cli_lines){.fd = STDIN_FILENO,
                           .end = s->how->end,
                           .may_read = may_read,
                           .context = s,
                           .progress = &s->progress};
    s->progress = cli_progress_start(s->inputs->bytes, !s->how->silent);
    s->clock = cli_clock_start();
    s->latest = stats.time;
    s->started = stats.started;
    s->next_look = FIRST_LOOK;
    s->error = stats.estimated_error;
}

int seen_stream(bry_window *window, const cli_memory *memory, const seen_line_options *how,
                cli_inputs *inputs, seen_tally *tally)
{
    *tally = (seen_tally){.since = SEEN_NEVER};
    stream *s = calloc(1, sizeof *s);
    char *buffer = malloc(ROOM);
    if (!s || !buffer) {
        free(s);
        free(buffer);
        return cli_no_memory();
    }
    s->output = (seen_output){.fd = STDOUT_FILENO, .buffer = buffer};
    s->window = window;
    s->memory = memory;
    s->how = how;
    s->tally = tally;
    s->inputs = inputs;
    start_stream(s);
    cli_wait wait;
    cli_wait_begin(&wait);
    int code = run_stream(s);
    tally->signal = cli_wait_end(&wait);
    cli_lines_free(&s->lines);
    free(buffer);
    free(s->scratch.bytes);
    free(s);
    return code;
}
