/*
 * The summary as JSON and as CSV, from one walk: an object becomes a part of the name, so that
 * {"states":{"closed":3}} is the line states.closed,3.
 */
#include "apps/flows/flow_report.h"

#include "apps/flows/flow_text.h"
#include "cli/core/json/json_write.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 4 };

typedef struct report_sink {
    cli_json json;
    FILE *csv; /* NULL: JSON */
    char path[128]; /* of CSV: what is open, each with a dot */
    size_t lens[DEEPEST], depth;
    unsigned elements; /* of the open array */
} report_sink;

static void open_part(report_sink *sink, const char *key, char bracket)
{
    if (!sink->csv) {
        cli_json_open(&sink->json, key, bracket);
        return;
    }
    char number[16];
    size_t len = strlen(sink->path);
    if (!key && sink->depth > 0) { /* an element of an array */
        snprintf(number, sizeof number, "%u", ++sink->elements);
        key = number;
    } else if (bracket == '[') {
        sink->elements = 0;
    }
    sink->lens[sink->depth++] = len;
    if (key)
        snprintf(sink->path + len, sizeof sink->path - len, "%s.", key);
}

static void close_part(report_sink *sink, char bracket)
{
    if (!sink->csv)
        cli_json_close(&sink->json, bracket);
    else
        sink->path[sink->lens[--sink->depth]] = '\0';
}

static void put_count(report_sink *sink, const char *key, uint64_t count)
{
    if (sink->csv)
        fprintf(sink->csv, "%s%s,%llu\n", sink->path, key, (unsigned long long)count);
    else
        cli_json_count(&sink->json, key, count);
}

static void put_number(report_sink *sink, const char *key, double number)
{
    if (sink->csv)
        fprintf(sink->csv, "%s%s,%.6g\n", sink->path, key, number);
    else
        cli_json_number(&sink->json, key, number);
}

/* Texts are names and addresses, without commas and quotes. */
static void put_text(report_sink *sink, const char *key, const char *text)
{
    if (sink->csv)
        fprintf(sink->csv, "%s%s,%s\n", sink->path, key, text ? text : "");
    else
        cli_json_text(&sink->json, key, text);
}

/* ---- the parts of the report ----------------------------------------------------------------- */

static void put_packets(report_sink *sink, const flow_run *run)
{
    const flow_capture_counts *seen = &run->capture->counts;
    const flow_counts *counts = flow_tracker_counts(run->tracker);
    put_count(sink, "packets", seen->packets);
    put_count(sink, "bytes", seen->bytes);
    put_count(sink, "tcp_packets", seen->parsed[FLOW_TCP]);
    open_part(sink, "skipped", '{');
    for (unsigned i = FLOW_TCP + 1; i < FLOW_PARSED_KINDS; i++)
        put_count(sink, flow_parsed_labels[i].name, seen->parsed[i]);
    close_part(sink, '}');
    put_count(sink, "files", seen->files);
    put_text(sink, "first", counts->packets ? flow_time_text(counts->first).text : NULL);
    put_text(sink, "last", counts->packets ? flow_time_text(counts->last).text : NULL);
    put_count(sink, "late_packets", counts->late);
    put_count(sink, "jumps_back", counts->jumps_back);
    if (seen->has_drops) {
        put_count(sink, "dropped", seen->dropped);
        put_count(sink, "dropped_by_interface", seen->dropped_by_interface);
    }
}

static void put_flows(report_sink *sink, const flow_counts *counts)
{
    put_count(sink, "flows", counts->flows);
    open_part(sink, "states", '{');
    for (unsigned i = FLOW_SYN_SEEN; i < FLOW_STATES; i++)
        if (i != FLOW_CLOSING_BACK)
            put_count(sink, flow_state_labels[i].name, flow_counts_state(counts, i));
    close_part(sink, '}');
    open_part(sink, "notes", '{');
    for (unsigned i = FLOW_FINE + 1; i < FLOW_NOTES; i++)
        put_count(sink, flow_note_labels[i].name, counts->notes[i]);
    close_part(sink, '}');
}

static bool put_suspects(report_sink *sink, const char *key, const flow_suspects *suspects,
                         size_t most)
{
    size_t count;
    const flow_suspect **top = flow_report_top(suspects, most, &count);
    if (!top)
        return false;
    open_part(sink, key, '[');
    for (size_t i = 0; i < count; i++) {
        open_part(sink, NULL, '{');
        put_text(sink, "address", flow_address_text(top[i]->address, top[i]->is_ipv6).text);
        put_count(sink, "port", top[i]->port);
        for (unsigned attack = 0; attack < FLOW_ATTACKS; attack++) {
            const flow_tally *tally = &top[i]->tallies[attack];
            if (tally->total <= 0)
                continue;
            open_part(sink, flow_attack_names[attack], '{');
            put_count(sink, "events", (uint64_t)tally->total);
            put_count(sink, "peak", (uint64_t)tally->peak);
            put_count(sink, "peak_seconds", flow_attack_seconds(attack));
            if (attack == FLOW_PORT_SCAN)
                put_number(sink, "ports", top[i]->most_ports);
            put_count(sink, "alerts", tally->alerts);
            close_part(sink, '}');
        }
        close_part(sink, '}');
    }
    close_part(sink, ']');
    free((void *)top);
    return true;
}

static void put_map_errors(report_sink *sink, const char *key, const bry_map_errors *errors)
{
    open_part(sink, key, '{');
    put_number(sink, "false_positive", errors->false_positive);
    put_number(sink, "false_negative", errors->false_negative);
    put_number(sink, "incorrect", errors->incorrect);
    close_part(sink, '}');
}

static void put_engine(report_sink *sink, const flow_run *run)
{
    static const char *const keys[] = {"conversation", "pair", "5tuple"};
    flow_engine_facts facts;
    flow_tracker_facts(run->tracker, &facts);
    const flow_counts *counts = flow_tracker_counts(run->tracker);
    put_text(sink, "engine", flow_engine_names[run->asked->engine]);
    put_text(sink, "key", keys[run->asked->key]);
    put_number(sink, "error", run->asked->engine == FLOW_EXACT ? 0 : run->asked->error);
    put_map_errors(sink, "bound", &facts.bound);
    put_map_errors(sink, "estimated", &facts.estimated);
    put_count(sink, "live_flows", facts.flows);
    put_count(sink, "most_live_flows", counts->most_flows);
    put_count(sink, "flow_bytes", facts.bytes);
    put_count(sink, "most_flow_bytes", counts->most_bytes);
    put_count(sink, "suspect_bytes",
              flow_suspects_bytes(&run->detector->targets) +
                  flow_suspects_bytes(&run->detector->sources));
    put_count(sink, "max_bytes", run->memory->most);
    put_count(sink, "unsure_packets", counts->unsure);
    put_count(sink, "unstored_flows", counts->unstored);
    put_count(sink, "untracked_packets", counts->untracked);
    put_count(sink, "ghosts", facts.ghosts);
}

static void put_check(report_sink *sink, const flow_run *run)
{
    flow_errors errors;
    const flow_counts *exact;
    if (!flow_tracker_check(run->tracker, &errors, &exact))
        return;
    open_part(sink, "check", '{');
    put_count(sink, "absent", errors.absent);
    put_count(sink, "present", errors.present);
    put_count(sink, "false_positive", errors.false_positive);
    put_count(sink, "false_negative", errors.false_negative);
    put_count(sink, "incorrect", errors.incorrect);
    put_flows(sink, exact);
    close_part(sink, '}');
}

static bool put_report(report_sink *sink, const flow_run *run)
{
    const flow_detector *detector = run->detector;
    open_part(sink, NULL, '{');
    put_packets(sink, run);
    put_flows(sink, flow_tracker_counts(run->tracker));
    open_part(sink, "alerts", '{');
    for (unsigned i = 0; i < FLOW_ATTACKS; i++)
        put_count(sink, flow_attack_names[i], detector->alerts[i]);
    close_part(sink, '}');
    put_count(sink, "alert_lines", run->alerts->written);
    put_count(sink, "alert_lines_suppressed", run->alerts->suppressed);
    size_t most = (size_t)run->asked->top;
    bool good = put_suspects(sink, "targets", &detector->targets, most) &&
                put_suspects(sink, "sources", &detector->sources, most);
    put_count(sink, "targets_dropped", detector->targets.dropped);
    put_count(sink, "sources_dropped", detector->sources.dropped);
    put_engine(sink, run);
    put_check(sink, run);
    put_number(sink, "processor_seconds", run->seconds);
    close_part(sink, '}');
    return good;
}

bool flow_report_json(FILE *out, const flow_run *run)
{
    report_sink sink = {.json = CLI_JSON_TO(out)};
    return put_report(&sink, run);
}

bool flow_report_csv(FILE *out, const flow_run *run)
{
    report_sink sink = {.csv = out};
    fputs("name,value\n", out);
    return put_report(&sink, run);
}
