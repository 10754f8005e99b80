#include "apps/flows/flow_report.h"

#include "apps/flows/flow_text.h"
#include "cli/core/output/output.h"
#include "text/number_format.h"

#include <stdlib.h>

const flow_label flow_parsed_labels[FLOW_PARSED_KINDS] = {
    [FLOW_TCP] = {"tcp", "TCP"},
    [FLOW_OTHER_LINK] = {"other_link_type", "of other link types"},
    [FLOW_NOT_IP] = {"not_ip", "not IP"},
    [FLOW_NOT_TCP] = {"not_tcp", "not TCP"},
    [FLOW_FRAGMENT] = {"later_fragments", "later fragments"},
    [FLOW_TRUNCATED] = {"truncated", "truncated"},
    [FLOW_MALFORMED] = {"malformed", "malformed"},
};

#define COUNT(number) cli_say_count(number).text

const flow_suspect **flow_report_top(const flow_suspects *suspects, size_t most, size_t *count)
{
    const flow_suspect **top = malloc((most + 1) * sizeof *top);
    if (top)
        *count = flow_suspects_top(suspects, FLOW_LISTED_WEIGHT, top, most);
    return top;
}

/* The title of a line, or spaces: it is printed once. */
static const char *line_title(const char **title)
{
    const char *now = *title;
    *title = "";
    return now;
}

static void print_packets(FILE *out, const flow_run *run)
{
    const flow_capture_counts *seen = &run->capture->counts;
    const flow_counts *counts = flow_tracker_counts(run->tracker);
    fprintf(out, "packets     %s", COUNT(seen->packets));
    if (counts->packets)
        fprintf(out, " in %.3f s, from %s", (double)(counts->last - counts->first) / 1e6,
                flow_time_text(counts->first).text);
    fprintf(out, "\n            %s TCP", COUNT(seen->parsed[FLOW_TCP]));
    for (unsigned i = FLOW_TCP + 1; i < FLOW_PARSED_KINDS; i++)
        if (seen->parsed[i])
            fprintf(out, ", %s %s", COUNT(seen->parsed[i]), flow_parsed_labels[i].title);
    fputc('\n', out);
    if (seen->has_drops)
        fprintf(out, "            dropped by the kernel %s, by the interface %s\n",
                COUNT(seen->dropped), COUNT(seen->dropped_by_interface));
    if (counts->late)
        fprintf(out, "            %s with a time before that of an earlier packet\n",
                COUNT(counts->late));
    if (counts->jumps_back)
        fprintf(out, "            the time jumped back %s time%s\n", COUNT(counts->jumps_back),
                counts->jumps_back == 1 ? "" : "s");
}

static void print_flows(FILE *out, const flow_run *run, const flow_engine_facts *facts)
{
    static const char *const kinds[] = {"conversation", "address pair", "5-tuple"};
    const flow_counts *counts = flow_tracker_counts(run->tracker);
    fprintf(out, "flows       %s %s%s; %s at the end, %s at most\n", COUNT(counts->flows),
            kinds[run->asked->key], counts->flows == 1 ? "" : "s", COUNT(facts->flows),
            COUNT(counts->most_flows));
    const char *title = "states";
    for (unsigned i = FLOW_SYN_SEEN; i < FLOW_STATES; i++) {
        uint64_t count = i == FLOW_CLOSING_BACK ? 0 : flow_counts_state(counts, i);
        if (count)
            fprintf(out, "%-12s%-20s %14s  %5.1f %%\n", line_title(&title),
                    flow_state_labels[i].title, COUNT(count),
                    100 * (double)count / (double)counts->flows);
    }
    title = "notes";
    for (unsigned i = FLOW_FINE + 1; i < FLOW_NOTES; i++)
        if (counts->notes[i])
            fprintf(out, "%-12s%-20s %14s  packets\n", line_title(&title),
                    flow_note_labels[i].title, COUNT(counts->notes[i]));
}

static void print_tally(FILE *out, const flow_suspect *suspect, flow_attack attack)
{
    static const char *const whats[FLOW_ATTACKS] = {"SYNs without a handshake", "SYN-ACKs unasked",
                                                    "RSTs", "probes in vain"};
    const flow_tally *tally = &suspect->tallies[attack];
    if (tally->alerts)
        fprintf(out, "%s: ", flow_attack_titles[attack]);
    fprintf(out, "%s %s, up to %s in %s", COUNT((uint64_t)tally->total), whats[attack],
            COUNT((uint64_t)tally->peak), attack == FLOW_PORT_SCAN ? "a minute" : "a second");
    if (attack == FLOW_PORT_SCAN)
        fprintf(out, ", to about %.0f ports", suspect->most_ports);
    else
        fprintf(out, ", last to port %u", suspect->port);
}

static bool print_suspects(FILE *out, const char *title, const flow_suspects *suspects, size_t most)
{
    cli_colours use = cli_colours_of(out);
    size_t count;
    const flow_suspect **top = flow_report_top(suspects, most, &count);
    if (!top)
        return false;
    for (size_t i = 0; i < count; i++) {
        const flow_suspect *suspect = top[i];
        flow_text name = flow_address_text(suspect->address, suspect->is_ipv6);
        const char *address = name.text;
        for (unsigned attack = 0; attack < FLOW_ATTACKS; attack++) {
            const flow_tally *tally = &suspect->tallies[attack];
            if (tally->total < FLOW_LISTED_WEIGHT)
                continue;
            fprintf(out, "%-12s%s%-15s%s ", line_title(&title), tally->alerts ? use.bad : "",
                    line_title(&address), tally->alerts ? use.off : "");
            print_tally(out, suspect, attack);
            fputc('\n', out);
        }
    }
    free((void *)top);
    return true;
}

static void print_alerts(FILE *out, const flow_run *run)
{
    const char *title = "alerts";
    for (unsigned i = 0; i < FLOW_ATTACKS; i++)
        if (run->detector->alerts[i])
            fprintf(out, "%-12s%-20s %14s\n", line_title(&title), flow_attack_titles[i],
                    COUNT(run->detector->alerts[i]));
    if (run->alerts->suppressed)
        fprintf(out, "            %s lines of alerts, %s more suppressed\n",
                COUNT(run->alerts->written), COUNT(run->alerts->suppressed));
}

static void print_engine(FILE *out, const flow_run *run, const flow_engine_facts *facts)
{
    const flow_counts *counts = flow_tracker_counts(run->tracker);
    const flow_detector *detector = run->detector;
    fprintf(out, "engine      %s", flow_engine_names[run->asked->engine]);
    if (run->asked->engine == FLOW_EXACT)
        fputs(": no error\n", out);
    else
        fprintf(out, ", error at most %g: now %.2g of new flows are mistaken, %.2g of known ones\n",
                run->asked->error, facts->estimated.false_positive,
                facts->estimated.false_negative + facts->estimated.incorrect);
    if (counts->unsure)
        fprintf(out, "            unsure of %s packets, which changed nothing\n",
                COUNT(counts->unsure));
    if (facts->ghosts)
        fprintf(out, "            about %s flows could not be deleted\n", COUNT(facts->ghosts));
    text_size now = text_size_of(facts->bytes), most = text_size_of(counts->most_bytes);
    fprintf(out, "memory      %s for flows, %s at most", now.text, most.text);
    if (counts->most_flows)
        fprintf(out, ": %.1f bytes per live flow",
                (double)counts->most_bytes / (double)counts->most_flows);
    text_size fixed = text_size_of(flow_suspects_bytes(&detector->targets) +
                                   flow_suspects_bytes(&detector->sources));
    fprintf(out, "; %s for suspects", fixed.text);
    if (detector->targets.dropped + detector->sources.dropped)
        fprintf(out, ", which dropped %s targets and %s sources", COUNT(detector->targets.dropped),
                COUNT(detector->sources.dropped));
    fputc('\n', out);
    if (counts->unstored)
        fprintf(out,
                "            full: %s flows were not stored; %s packets of unknown flows were not "
                "tracked\n",
                COUNT(counts->unstored), COUNT(counts->untracked));
    if (run->seconds > 0)
        fprintf(out, "rate        %.2f million packets per second of processor time\n",
                (double)run->capture->counts.packets / run->seconds / 1e6);
}

static void print_check_line(FILE *out, const char *title, const char *name, uint64_t wrong,
                             uint64_t of)
{
    fprintf(out, "%-12s%-20s %14s  of %s, %.2g\n", title, name, COUNT(wrong), COUNT(of),
            of ? (double)wrong / (double)of : 0);
}

static void print_check(FILE *out, const flow_run *run)
{
    flow_errors errors;
    const flow_counts *exact;
    if (!flow_tracker_check(run->tracker, &errors, &exact))
        return;
    print_check_line(out, "check", "false positives", errors.false_positive, errors.absent);
    print_check_line(out, "", "false negatives", errors.false_negative, errors.present);
    print_check_line(out, "", "incorrect", errors.incorrect, errors.present);
    fprintf(out, "            exact: %s flows\n", COUNT(exact->flows));
}

bool flow_report_text(FILE *out, const flow_run *run)
{
    flow_engine_facts facts;
    flow_tracker_facts(run->tracker, &facts);
    size_t most = (size_t)run->asked->top;
    print_packets(out, run);
    print_flows(out, run, &facts);
    print_alerts(out, run);
    bool good = print_suspects(out, "targets", &run->detector->targets, most) &&
                print_suspects(out, "sources", &run->detector->sources, most);
    print_engine(out, run, &facts);
    print_check(out, run);
    return good;
}
