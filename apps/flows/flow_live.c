#include "apps/flows/flow_live.h"

#include "apps/flows/flow_text.h"
#include "cli/core/args.h"
#include "cli/core/output/output.h"
#include "cli/core/steady_clock.h"
#include "text/number_format.h"

#include <time.h>
#include <unistd.h>

typedef struct live_view {
    bool quiet, table;
    unsigned height; /* lines of the table that is shown */
    uint64_t started, shown; /* milliseconds */
    uint64_t packets; /* when it was shown last */
} live_view;

/* The packets per second since the last view. */
static double packet_rate(const live_view *view, const flow_capture_counts *counts, uint64_t now)
{
    uint64_t passed = now - view->shown;
    return passed ? (double)(counts->packets - view->packets) * 1000 / (double)passed : 0;
}

static void print_live_states(const flow_counts *counts, const char *between)
{
    for (unsigned i = FLOW_SYN_SEEN; i < FLOW_STATES; i++) {
        uint64_t count = i == FLOW_CLOSING_BACK ? 0 : flow_counts_state(counts, i);
        if (count)
            printf("%s%s %s", between, flow_state_labels[i].title, cli_say_count(count).text);
    }
}

/* One line: time, rate, flows by state, drops, alerts. */
static void print_live_line(const flow_run *run, double rate)
{
    flow_engine_facts facts;
    flow_tracker_facts(run->tracker, &facts);
    const flow_capture_counts *seen = &run->capture->counts;
    uint64_t alerts = 0;
    for (unsigned i = 0; i < FLOW_ATTACKS; i++)
        alerts += run->detector->alerts[i];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    flow_text time = flow_time_text((uint64_t)now.tv_sec * 1000000);
    printf("%.19sZ %.0f packets/s, %s packets, %s dropped, %s alerts, %s live flows", time.text,
           rate, cli_say_count(seen->packets).text,
           cli_say_count(seen->dropped + seen->dropped_by_interface).text,
           cli_say_count(alerts).text, cli_say_count(facts.flows).text);
    print_live_states(flow_tracker_counts(run->tracker), ", ");
    putchar('\n');
    fflush(stdout);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void end_live_row(live_view *view)
{
    fputs("\033[K\n", stdout);
    view->height++;
}

static void print_live_suspects(live_view *view, const char *title, const flow_suspects *suspects)
{
    enum { MOST = 3 };
    const flow_suspect *top[MOST + 1];
    cli_colours use = cli_colours_of(stdout);
    size_t count = flow_suspects_top(suspects, FLOW_LISTED_WEIGHT, top, MOST);
    for (size_t i = 0; i < count; i++) {
        unsigned most = 0;
        for (unsigned attack = 1; attack < FLOW_ATTACKS; attack++)
            if (top[i]->tallies[attack].total > top[i]->tallies[most].total)
                most = attack;
        const flow_tally *tally = &top[i]->tallies[most];
        printf(
            "%-9s%s%-24s%s %s: %s, up to %s in %s", i == 0 ? title : "",
            tally->alerts ? use.bad : "", flow_address_text(top[i]->address, top[i]->is_ipv6).text,
            tally->alerts ? use.off : "", flow_attack_titles[most],
            cli_say_count((uint64_t)tally->total).text, cli_say_count((uint64_t)tally->peak).text,
            most == FLOW_PORT_SCAN ? "a minute" : "a second");
        end_live_row(view);
    }
}

static void clear_live_table(live_view *view)
{
    if (view->height > 0)
        printf("\033[%uA\033[J", view->height);
    view->height = 0;
}

static void print_live_table(live_view *view, const flow_run *run, double rate)
{
    flow_engine_facts facts;
    flow_tracker_facts(run->tracker, &facts);
    const flow_counts *counts = flow_tracker_counts(run->tracker);
    const flow_capture_counts *seen = &run->capture->counts;
    if (view->height > 0)
        printf("\033[%uA", view->height);
    unsigned before = view->height;
    view->height = 0;
    printf("packets  %.0f per second, %s in all, %s dropped by the kernel, %s by the interface",
           rate, cli_say_count(seen->packets).text, cli_say_count(seen->dropped).text,
           cli_say_count(seen->dropped_by_interface).text);
    end_live_row(view);
    printf("flows    %s live in %s, %s in all", cli_say_count(facts.flows).text,
           text_size_of(facts.bytes).text, cli_say_count(counts->flows).text);
    end_live_row(view);
    for (unsigned i = FLOW_SYN_SEEN; i < FLOW_STATES; i++) {
        uint64_t count = i == FLOW_CLOSING_BACK ? 0 : flow_counts_state(counts, i);
        if (count == 0)
            continue;
        printf("         %-16s %12s", flow_state_labels[i].title, cli_say_count(count).text);
        end_live_row(view);
    }
    print_live_suspects(view, "targets", &run->detector->targets);
    print_live_suspects(view, "sources", &run->detector->sources);
    if (view->height < before)
        fputs("\033[J", stdout);
    fflush(stdout);
}

static void show_live(live_view *view, const flow_run *run, flow_capture *capture, uint64_t now)
{
    flow_capture_drops(capture);
    double rate = packet_rate(view, &capture->counts, now);
    if (view->table)
        print_live_table(view, run, rate);
    else
        print_live_line(run, rate);
    view->shown = now;
    view->packets = capture->counts.packets;
}

int flow_live(const flow_run *run, flow_capture *capture)
{
    const flow_options *asked = run->asked;
    int code = flow_capture_open_live(capture, asked->interface);
    if (code != CLI_GO_ON)
        return code;
    live_view view = {.quiet = asked->json || asked->csv || run->alerts->out == stdout,
                      .table = isatty(STDOUT_FILENO) == 1};
    view.started = view.shown = cli_clock_ms();
    bool more = true;
    while (more && code == CLI_GO_ON) {
        code = flow_capture_poll(capture, &more);
        uint64_t now = cli_clock_ms();
        if (!view.quiet && now - view.shown >= asked->interval)
            show_live(&view, run, capture, now);
        if ((asked->duration && now - view.started >= asked->duration) ||
            (asked->packets && capture->counts.packets >= asked->packets))
            more = false;
    }
    if (view.table && !view.quiet)
        clear_live_table(&view);
    flow_capture_drops(capture);
    return code == CLI_GO_ON ? CLI_YES : code;
}
