/*
 * `bloomery flows` against a loop over libpcap that only counts packets. The capture is written, and
 * read, in parts, so that it takes little room and stays in the page cache; the trackers go on from
 * part to part, as with files in a row.
 */
#include "bench/cases/flows/flows_cases.h"

#include "apps/flows/flow_capture.h"
#include "apps/flows/flow_detect.h"
#include "bench/harness/bench_fail.h"
#include "bench/harness/flow_traffic.h"
#include "bench/harness/measure.h"
#include "bench/harness/temporary_file.h"
#include "cli/core/args.h"
#include "common/allocator.h"

#include <errno.h>
#include <math.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PART UINT64_C(1000000)

enum { PLANNED = 1000000, SUSPECTS = 1024, IDLE_MS = 120000, LINGER_MS = 10000, SEED = 19 };

static const double planned_error = 0.001;

enum flows_program {
    FLOWS_BARE,
    FLOWS_WITH_COMPACT,
    FLOWS_WITH_KBF,
    FLOWS_WITH_EXACT,
    FLOWS_PROGRAMS
};
enum flows_capture { FLOWS_WHOLE, FLOWS_HEADS, FLOWS_CAPTURES };

typedef struct flows_speed_report {
    uint64_t packets, connections;
    double seconds[FLOWS_CAPTURES][FLOWS_PROGRAMS]; /* of processor time, for all packets */
    uint64_t bytes[FLOWS_CAPTURES]; /* of the captures */
    struct {
        uint64_t flows, live, table_bytes; /* begun; at most at a time, and their memory */
    } facts[FLOWS_PROGRAMS];
} flows_speed_report;

/* `bloomery flows` with an engine, on a capture. */
typedef struct flows_runner {
    bool used;
    flow_detector detector;
    flow_capture capture;
    double seconds;
} flows_runner;

typedef struct speed_run {
    bry_allocator allocator;
    flow_traffic *traffic;
    FILE *files[FLOWS_CAPTURES];
    char paths[FLOWS_CAPTURES][32];
    flows_runner runners[FLOWS_CAPTURES][FLOWS_PROGRAMS];
    uint64_t bare_packets;
} speed_run;

static volatile sig_atomic_t never;

static void see_flow_packet(void *detector, const flow_sighting *seen)
{
    flow_detector_see(detector, seen);
}

/* Only compact reads the heads too. */
static bool runner_is_used(unsigned capture, unsigned program)
{
    return capture == FLOWS_WHOLE || program <= FLOWS_WITH_COMPACT;
}

static bool make_runner(speed_run *run, unsigned capture, unsigned program)
{
    static const flow_engine_kind kinds[FLOWS_PROGRAMS] = {[FLOWS_WITH_COMPACT] = FLOW_COMPACT,
                                                           [FLOWS_WITH_KBF] = FLOW_KBF,
                                                           [FLOWS_WITH_EXACT] = FLOW_EXACT};
    flows_runner *runner = &run->runners[capture][program];
    runner->used = runner_is_used(capture, program);
    if (program == FLOWS_BARE || !runner->used)
        return true;
    const flow_tracker_options options = {
        .engine = {kinds[program], PLANNED, planned_error, SEED, &run->allocator},
        .idle = IDLE_MS,
        .linger = LINGER_MS,
        .watch = see_flow_packet,
        .context = &runner->detector,
    };
    runner->capture.stop = &never;
    return flow_detector_init(&runner->detector, SUSPECTS, SEED, &run->allocator) == BRY_OK &&
           flow_tracker_create(&options, &runner->capture.tracker) == BRY_OK;
}

static void count_packet(u_char *packets, const struct pcap_pkthdr *header, const u_char *bytes)
{
    (void)header;
    (void)bytes;
    ++*(uint64_t *)(void *)packets;
}

static bool read_bare(speed_run *run, const char *path)
{
    char problem[PCAP_ERRBUF_SIZE];
    pcap_t *pcap = pcap_open_offline(path, problem);
    if (!pcap)
        return bench_fail("flows: %s", problem);
    bool good = pcap_loop(pcap, -1, count_packet, (u_char *)(void *)&run->bare_packets) == 0;
    pcap_close(pcap);
    return good;
}

static bool run_on_part(speed_run *run, unsigned capture, unsigned program)
{
    flows_runner *runner = &run->runners[capture][program];
    const char *path = run->paths[capture];
    bench_watch watch = {0};
    bench_start(&watch);
    bool good = program == FLOWS_BARE ? read_bare(run, path)
                                      : flow_capture_file(&runner->capture, path) == CLI_GO_ON;
    bench_stop(&watch);
    runner->seconds += (double)watch.spent / 1e9;
    return good;
}

static bool write_part(speed_run *run, uint64_t packets)
{
    for (unsigned i = 0; i < FLOWS_CAPTURES; i++) {
        rewind(run->files[i]);
        if (ftruncate(fileno(run->files[i]), 0) != 0)
            return false;
    }
    return flow_traffic_write(run->traffic, packets, run->files[FLOWS_WHOLE],
                              run->files[FLOWS_HEADS]);
}

/* Each part begins with another program. */
static bool measure_part(speed_run *run, unsigned part)
{
    for (unsigned capture = 0; capture < FLOWS_CAPTURES; capture++)
        for (unsigned i = 0; i < FLOWS_PROGRAMS; i++) {
            unsigned program = (i + part) % FLOWS_PROGRAMS;
            if (run->runners[capture][program].used && !run_on_part(run, capture, program))
                return false;
        }
    return true;
}

static bool open_capture(speed_run *run, unsigned i)
{
    int fd = bench_temporary_file();
    run->files[i] = fd < 0 ? NULL : fdopen(fd, "w+b");
    snprintf(run->paths[i], sizeof run->paths[i], "/proc/self/fd/%d", fd);
    return run->files[i] != NULL;
}

static bool open_speed_run(speed_run *run)
{
    run->allocator = bry__allocator_or_default(NULL);
    run->traffic = flow_traffic_new();
    bool good = run->traffic != NULL;
    for (unsigned i = 0; i < FLOWS_CAPTURES && good; i++) {
        good = open_capture(run, i);
        for (unsigned program = 0; program < FLOWS_PROGRAMS && good; program++)
            good = make_runner(run, i, program);
    }
    return good;
}

static void close_speed_run(speed_run *run)
{
    for (unsigned i = 0; i < FLOWS_CAPTURES; i++) {
        if (run->files[i])
            fclose(run->files[i]);
        for (unsigned program = 0; program < FLOWS_PROGRAMS; program++) {
            flow_tracker_destroy(run->runners[i][program].capture.tracker);
            flow_detector_free(&run->runners[i][program].detector);
        }
    }
    flow_traffic_free(run->traffic);
    free(run);
}

static void fill_speed_report(speed_run *run, flows_speed_report *report)
{
    report->connections = flow_traffic_connections(run->traffic);
    for (unsigned capture = 0; capture < FLOWS_CAPTURES; capture++)
        for (unsigned program = 0; program < FLOWS_PROGRAMS; program++) {
            const flows_runner *runner = &run->runners[capture][program];
            report->seconds[capture][program] = runner->used ? runner->seconds : NAN;
            if (program == FLOWS_BARE || capture != FLOWS_WHOLE)
                continue;
            flow_engine_facts facts;
            flow_tracker_facts(runner->capture.tracker, &facts);
            const flow_counts *counts = flow_tracker_counts(runner->capture.tracker);
            report->facts[program].flows = counts->flows;
            report->facts[program].live = counts->most_flows;
            report->facts[program].table_bytes = counts->most_bytes;
        }
}

/* The engines count as many flows as the exact one, within their error; every packet was read. */
static bool check_speed(const speed_run *run, const flows_speed_report *report)
{
    uint64_t exact = report->facts[FLOWS_WITH_EXACT].flows;
    bool good = run->bare_packets == FLOWS_CAPTURES * report->packets;
    for (unsigned i = FLOWS_WITH_COMPACT; i < FLOWS_PROGRAMS; i++) {
        double missing = (double)exact - (double)report->facts[i].flows;
        double most = 2 * planned_error * (double)exact;
        good &= fabs(missing) <= most + 5 * sqrt(most) + 2 &&
                run->runners[FLOWS_WHOLE][i].capture.counts.packets == report->packets;
    }
    return good || bench_fail("flows: an engine has counted wrong");
}

static void speed_json(cli_json *json, const flows_speed_report *speed)
{
    static const char *const capture_keys[FLOWS_CAPTURES] = {"whole_packets", "first_128_bytes"};
    static const char *const keys[FLOWS_PROGRAMS] = {"libpcap", "compact", "kbf", "exact"};
    cli_json_count(json, "packets", speed->packets);
    cli_json_count(json, "connections", speed->connections);
    for (unsigned capture = 0; capture < FLOWS_CAPTURES; capture++) {
        const double *seconds = speed->seconds[capture];
        cli_json_open(json, capture_keys[capture], '{');
        cli_json_count(json, "bytes", speed->bytes[capture]);
        for (unsigned i = 0; i < FLOWS_PROGRAMS; i++) {
            if (isnan(seconds[i]))
                continue;
            cli_json_open(json, keys[i], '{');
            cli_json_number(json, "seconds", seconds[i]);
            cli_json_number(json, "relative", seconds[FLOWS_BARE] / seconds[i]);
            if (i != FLOWS_BARE && capture == FLOWS_WHOLE) {
                cli_json_count(json, "flows", speed->facts[i].flows);
                cli_json_count(json, "most_live_flows", speed->facts[i].live);
                cli_json_count(json, "most_flow_bytes", speed->facts[i].table_bytes);
            }
            cli_json_close(json, '}');
        }
        cli_json_close(json, '}');
    }
}

bool bench_flows_speed(uint64_t packets, cli_json *json)
{
    flows_speed_report report = {.packets = packets};
    speed_run *run = calloc(1, sizeof *run);
    if (!run || !open_speed_run(run)) {
        cli_fail("flows: a temporary file, or memory: %s", strerror(errno));
        if (run)
            close_speed_run(run);
        return false;
    }
    bool good = true;
    for (uint64_t done = 0, part = 0; done < packets && good; done += PART, part++) {
        good = write_part(run, packets - done < PART ? packets - done : PART);
        if (!good)
            cli_fail("flows: a temporary file: %s", strerror(errno));
        for (unsigned i = 0; i < FLOWS_CAPTURES && good; i++)
            report.bytes[i] += (uint64_t)ftello(run->files[i]);
        good = good && measure_part(run, (unsigned)part);
    }
    if (good) {
        fill_speed_report(run, &report);
        good = check_speed(run, &report);
        speed_json(json, &report);
    }
    close_speed_run(run);
    return good;
}
