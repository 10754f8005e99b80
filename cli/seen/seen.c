/* bloomery seen: drops lines that were seen within the last T. */
#include "cli/core/args.h"
#include "cli/core/command.h"
#include "cli/core/engine_option.h"
#include "cli/core/json/json_write.h"
#include "cli/core/output/output.h"
#include "cli/core/stop_signals.h"
#include "cli/seen/seen_state.h"
#include "cli/seen/seen_stream.h"
#include "text/number_format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- options ------------------------------------------------------------------------------- */

typedef struct seen_options {
    seen_request window;
    seen_line_options how;
    bool count; /* --count */
    bool stats; /* --stats */
    bool json; /* --json */
    size_t files; /* their names, at the front of argv */
} seen_options;

/* Options as typed; NULL: not given. */
typedef struct words {
    const char *key, *time, *delimiter, *unit, *engine, *bad, *full;
} words;

static int check_engine(const words *said, seen_options *asked)
{
    static const char *const fulls[] = {"fail", "pass", "err"};
    bry_window_options *window = &asked->window.window;
    int code = cli_engine_read(BRY_JOB_WINDOW, said->engine, &window->engine);
    if (code != CLI_GO_ON)
        return code;
    int full = said->full ? cli_choose("on-full", said->full, fulls) : 0;
    if (full < 0)
        return CLI_USAGE;
    bool err = full == 2;
    asked->how.pass_full = full == 1;
    asked->window.bends = full != 0;
    if (err && !window->max_bytes)
        return cli_misuse("--on-full err requires --max-memory");
    if (err && window->engine != BRY_ENGINE_AUTO && window->engine != BRY_ENGINE_FBF)
        return cli_misuse("--on-full err is for engine fbf");
    if (err)
        window->engine = BRY_ENGINE_FBF;
    window->refuse = window->max_bytes && !err;
    return CLI_GO_ON;
}

static int check_seen_options(const words *said, seen_options *asked)
{
    static const char *const bads[] = {
        [SEEN_BAD_FAIL] = "fail", [SEEN_BAD_PASS] = "pass", [SEEN_BAD_DROP] = "drop"};
    const bry_window_options *window = &asked->window.window;
    if (said->time && !window->window)
        return cli_misuse("--time requires --window");
    if (window->refresh && !window->window)
        return cli_misuse("--refresh requires --window");
    if (asked->how.skew && !said->time)
        return cli_misuse("--skew requires --time");
    if (said->unit && !said->time)
        return cli_misuse("--time-unit requires --time");
    if (asked->json && !asked->stats)
        return cli_misuse("--json requires --stats");
    int bad = said->bad ? cli_choose("on-bad", said->bad, bads) : 0;
    if (bad < 0)
        return CLI_USAGE;
    asked->how.bad = (seen_bad_policy)bad;
    int code = check_engine(said, asked);
    return code != CLI_GO_ON ? code
                             : seen_fields_read(&asked->how.fields, said->key, said->time,
                                                said->delimiter, said->unit);
}

static const char about_text[] =
    "Prints the lines of files, or of standard input, that occur for the first time, and\n"
    "drops those that were seen before within the window: \"sort -u\" for a stream, in\n"
    "order, immediately, and in a few bytes per line. A new line is dropped by mistake\n"
    "with a probability of at most P; a repeat within the window is always dropped.";
static const char more_text[] =
    "Without FILE, and for -, reads standard input. Fields are counted from 1, or are\n"
    "the names of members; several, separated by commas, are one key. A time is a number\n"
    "or a date such as 2026-11-15T12:00:00Z; a line with a time before the latest counts\n"
    "as if it had the latest. \"pass\" prints lines as if they were new; \"err\" lets the\n"
    "error exceed P. Without --capacity, engine compact is planned for 16M lines, or for\n"
    "as many as the files may have, and fbf for 1M; beyond that a window grows.\n"
    "A state that another run is using is refused.\n"
    "Exit codes: 0 done, 3 failure. A signal ends the run after saving the state.";
static const char examples_text[] = "  tail -f log | bloomery seen --window 10m -d ' ' --key 4\n"
                                    "  bloomery seen --state lists.seen today.txt";

/* CLI_GO_ON, or an exit code after printing the help or an error. */
static int seen_options_read(seen_options *asked, int argc, char **argv)
{
    *asked = (seen_options){.window = {.window = BRY_WINDOW_OPTIONS}};
    bry_window_options *window = &asked->window.window;
    words said = {0};
    bool nul = false;
    cli_option options[] = {
        {"window", CLI_SPAN, "T", "how long a line is remembered (default: until the end)",
         &window->window},
        {"error", CLI_SHARE, "P", "permitted share of new lines that are dropped (default 1e-6)",
         &window->error},
        {"key", CLI_TEXT, "FIELD", "compare this field, or fields such as 1,3, not the whole line",
         &said.key},
        {"time", CLI_TEXT, "FIELD", "take the time of a line from this field (default: the clock)",
         &said.time},
        {"time-unit", CLI_TEXT, "U", "unit of times that are numbers: s (default), ms, us or ns",
         &said.unit},
        {"skew", CLI_SPAN, "T", "times further ahead of the latest are invalid (default: no limit)",
         &asked->how.skew},
        {"d", CLI_BYTE, "C", "the byte between fields (default: \\t, a tab)", &said.delimiter},
        {"delimiter", CLI_BYTE, "C", "the same", &said.delimiter},
        {"json-lines", CLI_FLAG, NULL, "fields are the members of JSON objects, one per line",
         &asked->how.fields.json},
        {"0", CLI_FLAG, NULL, "lines end with a NUL instead of a newline", &nul},
        {"on-bad", CLI_TEXT, "W",
         "lines without the field or a valid time: fail (default), pass or drop", &said.bad},
        {"only-repeats", CLI_FLAG, NULL, "print only the lines that were seen before",
         &asked->how.repeats},
        {"count", CLI_FLAG, NULL, "print only the number of lines", &asked->count},
        {"refresh", CLI_FLAG, NULL, "a repeat renews the time of a line", &window->refresh},
        {"stats", CLI_FLAG, NULL, "print counts, error and memory on standard error at the end",
         &asked->stats},
        {"json", CLI_FLAG, NULL, "--stats as JSON", &asked->json},
        {"state", CLI_TEXT, "FILE", "remember what earlier runs with this file have seen",
         &asked->window.state},
        {"engine", CLI_TEXT, "E", cli_engine_help(BRY_JOB_WINDOW), &said.engine},
        {"capacity", CLI_COUNT, "N", "new lines in a window to plan for (default: see below)",
         &window->capacity},
        {"max-memory", CLI_BYTES, "B", "memory for the window (default 3/4 of the machine's)",
         &window->max_bytes},
        {"on-full", CLI_TEXT, "W", "at that limit: fail (default), pass new lines, or err (fbf)",
         &said.full},
        {"seed", CLI_PLAIN, "S", "seed for hashing lines (default: random)", &window->seed},
    };
    const cli_syntax syntax = {
        .usage = "[FILE...] [options]",
        .about = about_text,
        CLI_OPTIONS(options),
        .most_words = (size_t)-1,
        .examples = examples_text,
        .more = more_text,
    };
    int code = cli_read_args(&syntax, argc, argv, &asked->files);
    asked->how.end = nul ? '\0' : '\n';
    asked->how.silent = asked->count;
    return code == CLI_GO_ON ? check_seen_options(&said, asked) : code;
}

/* ---- statistics, on standard error --------------------------------------------------------- */

/* A window's count also includes the time before its first line. */
static uint64_t time_covered(const bry_window_stats *stats, uint64_t since)
{
    uint64_t lasted = since < stats->time ? stats->time - since : 0;
    return lasted < stats->covered ? lasted : stats->covered;
}

static void seen_report_json(const seen_kept_state *kept, const seen_tally *tally)
{
    bry_window_stats s = {0};
    bry_window_get_stats(kept->window, &s);
    cli_json json = CLI_JSON_TO(stderr);
    cli_json_open(&json, NULL, '{');
    cli_json_count(&json, "lines", tally->lines);
    cli_json_count(&json, "passed", tally->written);
    cli_json_count(&json, "dropped", tally->lines - tally->written);
    cli_json_count(&json, "first", tally->first);
    cli_json_count(&json, "repeats", tally->repeats);
    cli_json_count(&json, "bad", tally->bad);
    cli_json_count(&json, "late", tally->late);
    cli_json_count(&json, "unremembered", tally->unremembered);
    cli_json_text(&json, "engine", bry_engine_name(s.engine));
    if (s.window == SEEN_FOREVER)
        cli_json_text(&json, "window_ms", NULL);
    else
        cli_json_count(&json, "window_ms", s.window);
    cli_json_count(&json, "covered_ms", time_covered(&s, kept->since));
    cli_json_count(&json, "time_ms", s.time);
    cli_json_count(&json, "remembered", s.items);
    cli_json_count(&json, "generations", s.generations);
    cli_json_number(&json, "promised_error", s.promised_error);
    cli_json_number(&json, "estimated_error", s.estimated_error);
    cli_json_number(&json, "expected_false_drops", tally->false_drops);
    cli_json_bool(&json, "at_limit", s.at_limit);
    cli_json_count(&json, "bytes", s.bytes);
    cli_json_close(&json, '}');
}

static void seen_report_text(const seen_kept_state *kept, const seen_tally *tally)
{
    bry_window_stats s = {0};
    bry_window_get_stats(kept->window, &s);
    fprintf(stderr,
            "lines       %" PRIu64 ": %" PRIu64 " passed, %" PRIu64 " dropped\n"
            "            %" PRIu64 " new, %" PRIu64 " repeats",
            tally->lines, tally->written, tally->lines - tally->written, tally->first,
            tally->repeats);
    if (tally->bad)
        fprintf(stderr, ", %" PRIu64 " bad", tally->bad);
    if (tally->late)
        fprintf(stderr, "; %" PRIu64 " late", tally->late);
    if (tally->unremembered)
        fprintf(stderr, "; %" PRIu64 " not remembered: out of memory", tally->unremembered);
    fprintf(stderr, "\nwindow      %s, ", bry_engine_name(s.engine));
    if (s.window == SEEN_FOREVER)
        fputs("forever", stderr);
    else
        fprintf(stderr, "%" PRIu64 " %s", text_span_of(s.window).number,
                text_span_of(s.window).unit);
    fprintf(stderr, ": %" PRIu64 " remembered in %u generation%s\n", s.items, s.generations,
            s.generations == 1 ? "" : "s");
    fprintf(stderr,
            "error       %g promised, %.3g estimated; %.3g new lines expected to be dropped\n",
            s.promised_error, s.estimated_error, tally->false_drops);
    fprintf(stderr, "bytes       %" PRIu64 "%s\n", s.bytes,
            s.at_limit ? ", at the memory limit" : "");
}

/* ---- the run ------------------------------------------------------------------------------- */

/* Ends with the signal that stopped the program, so that its caller sees it. */
static int end_as(const seen_tally *tally, int code)
{
    return tally->signal && (code = cli_finish(code)) == CLI_YES ? cli_end_by(tally->signal) : code;
}

static int print_count(const seen_tally *tally)
{
    printf("%llu\n", (unsigned long long)tally->written);
    errno = 0;
    if (fflush(stdout) == 0)
        return CLI_YES;
    int code = cli_fail("standard output: %s", strerror(errno));
    clearerr(stdout); /* reported here */
    return code;
}

static int report_seen(const seen_options *asked, const seen_kept_state *kept,
                       const seen_tally *tally, int code)
{
    (asked->json ? seen_report_json : seen_report_text)(kept, tally);
    return ferror(stderr) ? CLI_FAILED : code; /* a failure cannot be reported any more */
}

static int run_seen(seen_options *asked, char **files)
{
    cli_memory memory;
    seen_kept_state kept;
    cli_inputs inputs;
    int code = cli_inputs_look(&inputs, files, asked->files);
    if (code != CLI_GO_ON)
        return code;
    asked->window.fields = &asked->how.fields;
    asked->window.lines = inputs.lines;
    code = seen_window_open(&asked->window, &memory, &kept);
    if (code != CLI_GO_ON)
        return code;
    seen_tally tally;
    code = seen_stream(kept.window, &memory, &asked->how, &inputs, &tally);
    if (kept.since == SEEN_NEVER)
        kept.since = tally.since;
    if (code == CLI_GO_ON && asked->window.state)
        code = seen_state_save(&asked->window, &kept);
    if (code == CLI_GO_ON)
        code = CLI_YES;
    if (asked->count && code == CLI_YES)
        code = print_count(&tally);
    if (asked->stats)
        code = report_seen(asked, &kept, &tally, code);
    bry_window_destroy(kept.window);
    return end_as(&tally, code);
}

int cli_seen(int argc, char **argv)
{
    seen_options asked;
    int code = seen_options_read(&asked, argc, argv);
    return code == CLI_GO_ON ? run_seen(&asked, argv) : code;
}
