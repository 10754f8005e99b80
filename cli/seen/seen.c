/* bloomery seen: drops lines that were seen within the last T. */
#include "cli/core/args.h"
#include "cli/core/command.h"
#include "cli/core/output/output.h"
#include "cli/core/stop_signals.h"
#include "cli/seen/seen_options.h"
#include "cli/seen/seen_report.h"
#include "cli/seen/seen_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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
    code = seen_window_open(&asked->window, seen_command, &memory, &kept);
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
