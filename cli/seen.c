/* bloomery seen: lines that were not there in the last T. */
#include "args.h"
#include "command.h"
#include "output.h"
#include "seen_report.h"
#include "seen_state.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char command[] = "seen";

/* Options as they were typed; NULL where one was not given. */
typedef struct words {
    const char *key, *time, *delimiter, *unit, *engine, *bad, *full;
} words;

typedef struct request {
    seen_request window;
    seen_how how;
    bool count, stats, json;
} request;

/* The place of a word among three; -1 after a message. */
static int choose(const char *option, const char *word, const char *const choices[3])
{
    for (int i = 0; i < 3; i++)
        if (strcmp(word, choices[i]) == 0)
            return i;
    cli_misuse(command, "--%s: %s is none of %s, %s and %s", option, cli_quote(word).text,
               choices[0], choices[1], choices[2]);
    return -1;
}

static int check_engine(const words *said, request *asked)
{
    static const char *const fulls[] = {"fail", "pass", "err"};
    bry_window_options *window = &asked->window.window;
    if (said->engine &&
        (bry_engine_parse(said->engine, &window->engine) != BRY_OK ||
         (window->engine != BRY_ENGINE_AUTO && window->engine != BRY_ENGINE_COMPACT &&
          window->engine != BRY_ENGINE_FBF)))
        return cli_misuse(command, "--engine: %s is none of auto, compact and fbf",
                          cli_quote(said->engine).text);
    int full = said->full ? choose("on-full", said->full, fulls) : 0;
    if (full < 0)
        return CLI_USAGE;
    bool err = full == 2;
    asked->how.pass_full = full == 1;
    asked->window.bends = full != 0;
    if (err && !window->max_bytes)
        return cli_misuse(command, "--on-full err goes with --max-bytes");
    if (err && window->engine == BRY_ENGINE_COMPACT)
        return cli_misuse(command, "--on-full err is for engine fbf");
    if (err)
        window->engine = BRY_ENGINE_FBF;
    window->refuse = window->max_bytes && !err;
    return CLI_GO_ON;
}

static int check(const words *said, request *asked)
{
    static const char *const bads[] = {
        [SEEN_BAD_FAIL] = "fail", [SEEN_BAD_PASS] = "pass", [SEEN_BAD_DROP] = "drop"};
    const bry_window_options *window = &asked->window.window;
    if (said->time && !window->window)
        return cli_misuse(command, "--time goes with --window");
    if (window->refresh && !window->window)
        return cli_misuse(command, "--refresh goes with --window");
    if (asked->how.skew && !said->time)
        return cli_misuse(command, "--skew goes with --time");
    if (said->unit && !said->time)
        return cli_misuse(command, "--time-unit goes with --time");
    if (asked->json && !asked->stats)
        return cli_misuse(command, "--json goes with --stats");
    int bad = said->bad ? choose("on-bad", said->bad, bads) : 0;
    if (bad < 0)
        return CLI_USAGE;
    asked->how.bad = (seen_bad)bad;
    int code = check_engine(said, asked);
    return code != CLI_GO_ON ? code
                             : seen_fields_read(&asked->how.fields, command, said->key, said->time,
                                                said->delimiter, said->unit);
}

static int end_by(int number)
{
    signal(number, SIG_DFL);
    raise(number);
    return CLI_FAILED;
}

/* Whoever stopped the program is told so, when all is done. */
static int end_as(const seen_tally *tally, int code)
{
    return tally->signal && (code = cli_finish(code)) == CLI_YES ? end_by(tally->signal) : code;
}

static int print_count(seen_tally *tally)
{
    printf("%llu\n", (unsigned long long)tally->written);
    errno = 0;
    if (fflush(stdout) == 0)
        return CLI_YES;
    tally->unread = errno == EPIPE;
    clearerr(stdout); /* it is reported here */
    return tally->unread ? CLI_FAILED : cli_fail(BRY_E_IO, "standard output: %s", strerror(errno));
}

static int report(const request *asked, const seen_kept *kept, const seen_tally *tally, int code)
{
    (asked->json ? seen_report_json : seen_report_text)(kept, tally);
    return ferror(stderr) ? CLI_FAILED : code; /* there is nowhere left to say so */
}

static int run(request *asked)
{
    cli_memory memory;
    seen_kept kept;
    asked->window.fields = &asked->how.fields;
    int code = seen_window_open(&asked->window, command, &memory, &kept);
    if (code != CLI_GO_ON)
        return code;
    seen_tally tally;
    code = seen_stream(kept.window, &memory, &asked->how, &tally);
    if (kept.since == SEEN_NEVER)
        kept.since = tally.since;
    if (code == CLI_GO_ON && asked->window.state)
        code = seen_state_save(&asked->window, &kept);
    if (code == CLI_GO_ON)
        code = CLI_YES;
    if (asked->count && code == CLI_YES)
        code = print_count(&tally);
    if (asked->stats && !tally.unread)
        code = report(asked, &kept, &tally, code);
    bry_window_destroy(kept.window);
    /* As other tools end in a pipeline, and without a word: it is how `| head` says enough. */
    return tally.unread ? end_by(SIGPIPE) : end_as(&tally, code);
}

int cli_seen(int argc, char **argv)
{
    request asked = {.window = {.window = BRY_WINDOW_OPTIONS}};
    bry_window_options *window = &asked.window.window;
    words said = {0};
    bool nul = false;
    cli_option options[] = {
        {"window", CLI_SPAN, "T", "how long a line is remembered (default: to the end)",
         &window->window, 0},
        {"error", CLI_SHARE, "P", "new lines to drop at most (default 1e-6)", &window->error, 0},
        {"key", CLI_TEXT, "FIELD", "lines with the same field are the same (default: all of it)",
         &said.key, 0},
        {"time", CLI_TEXT, "FIELD", "lines tell their time there (default: when they come)",
         &said.time, 0},
        {"time-unit", CLI_TEXT, "U", "of a time that is a number: s (default), ms, us or ns",
         &said.unit, 0},
        {"skew", CLI_SPAN, "T", "a time further ahead of the latest is bad (default: none is)",
         &asked.how.skew, 0},
        {"d", CLI_TEXT, "C", "the byte between fields (default: a tab)", &said.delimiter, 0},
        {"delimiter", CLI_TEXT, "C", "the same", &said.delimiter, 0},
        {"json-lines", CLI_FLAG, NULL, "fields are the members of JSON objects, one a line",
         &asked.how.fields.json, 0},
        {"0", CLI_FLAG, NULL, "lines end with a NUL instead of a newline", &nul, 0},
        {"on-bad", CLI_TEXT, "W", "lines without their fields: fail (default), pass or drop",
         &said.bad, 0},
        {"only-repeats", CLI_FLAG, NULL, "print the lines that were seen before, and no others",
         &asked.how.repeats, 0},
        {"count", CLI_FLAG, NULL, "print how many lines it would be, and none of them",
         &asked.count, 0},
        {"refresh", CLI_FLAG, NULL, "a repeat is remembered anew", &window->refresh, 0},
        {"stats", CLI_FLAG, NULL, "counts, error and memory on standard error at the end",
         &asked.stats, 0},
        {"json", CLI_FLAG, NULL, "those as JSON", &asked.json, 0},
        {"state", CLI_TEXT, "FILE", "remember what earlier runs with this file have seen",
         &asked.window.state, 0},
        {"engine", CLI_TEXT, "E", "compact, fbf, or auto: compact (default)", &said.engine, 0},
        {"capacity", CLI_COUNT, "N", "new lines in a window to plan for (default: see below)",
         &window->capacity, 0},
        {"max-bytes", CLI_BYTES, "B", "memory for the window (default 3/4 of the machine's)",
         &window->max_bytes, 0},
        {"max-memory", CLI_BYTES, "B", "the same", &window->max_bytes, 0},
        {"on-full", CLI_TEXT, "W", "there: fail (default), pass what is new, or err (fbf)",
         &said.full, 0},
        {"seed", CLI_COUNT, "S", "for hashing lines (default: a random one)", &window->seed, 0},
    };
    const cli_syntax syntax = {
        .command = command,
        .usage = "[options] < LINES",
        .about =
            "Prints lines that come for the first time and drops those that were seen within\n"
            "the window before: \"sort -u\" for a stream, in order, at once, and in a few bytes\n"
            "a line. Of the lines that are new it drops one by mistake with a probability of\n"
            "at most P; a repeat within the window always goes.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .examples = "  tail -f log | bloomery seen --window 10m -d ' ' --key 4\n"
                    "  bloomery seen --state lists.seen < today",
        .more = "Fields are counted from 1, or are the names of members. A time is a number or\n"
                "such as 2026-11-15T12:00:00Z; a line that is behind the latest time counts as of\n"
                "then. pass prints what cannot be told as if it were new; err lets the error pass\n"
                "P instead. Without --capacity engine compact is planned for 16M lines, or what a\n"
                "file on standard input may have, and fbf for 1M; past that a window grows.\n"
                "Exit codes: 0 done, 3 failure; a signal ends it, the state saved.",
    };
    size_t count;
    int code = cli_read_args(&syntax, argc, argv, &count);
    if (code == CLI_GO_ON)
        code = check(&said, &asked);
    if (code != CLI_GO_ON)
        return code;
    asked.how.end = nul ? '\0' : '\n';
    asked.how.silent = asked.count;
    return run(&asked);
}
