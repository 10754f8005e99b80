/* bloomery-flows, which is `bloomery flows`: the states of TCP flows in captures, or on an
 * interface. */
#include "apps/flows/flow_report.h"
#include "apps/flows/flow_text.h"
#include "cli/core/args.h"
#include "cli/core/command.h"
#include "cli/core/files/saved_file.h"
#include "cli/core/output/output.h"
#include "cli/core/steady_clock.h"
#include "cli/core/stop_signals.h"
#include "text/number_format.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char cli_program[] = "bloomery"; /* messages and help name the command */

/* ---- an interface, watched until a signal, a number of packets or a time ends it -------------- */

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

/* Prints a table that is refreshed if standard output is a terminal, and lines otherwise; nothing
 * with --json, --csv or alerts on standard output. An exit code. */
static int flow_live(const flow_run *run, flow_capture *capture)
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

/* ---- the command ----------------------------------------------------------------------------- */

static volatile sig_atomic_t stopped_by;

static void note_signal(int number)
{
    stopped_by = number;
}

/* Without SA_RESTART: a read that waits for packets ends. */
static void catch_flow_signals(void)
{
    struct sigaction action = {.sa_handler = note_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

/* What the parts of a run share; it must not move. */
typedef struct flows_job {
    flow_options asked;
    cli_memory memory, twin_memory;
    flow_detector detector;
    flow_alerts alerts;
    flow_tracker *tracker;
    flow_capture capture;
} flows_job;

static void see_packet(void *opaque, const flow_sighting *seen)
{
    flows_job *job = opaque;
    flow_alerts_seen(&job->alerts, seen);
    flow_detector_see(&job->detector, seen);
}

static void see_attack(void *alerts, const flow_detection *detected)
{
    flow_alerts_detected(alerts, detected);
}

/* Whether the alerts would be written into one of the captures. */
static bool is_a_capture(const char *path, char **files, size_t count)
{
    struct stat alerts, file;
    if (stat(path, &alerts) != 0 || !S_ISREG(alerts.st_mode))
        return false;
    for (size_t i = 0; i < count; i++) {
        int got = cli_is_stream(files[i]) ? fstat(STDIN_FILENO, &file) : stat(files[i], &file);
        if (got == 0 && file.st_dev == alerts.st_dev && file.st_ino == alerts.st_ino)
            return true;
    }
    return false;
}

static int open_alerts(flows_job *job, char **files)
{
    const char *path = job->asked.alerts;
    if (!path)
        return CLI_GO_ON;
    if (!cli_is_stream(path) && is_a_capture(path, files, job->asked.files))
        return cli_misuse("--alerts: %s is one of the captures", cli_name(path).text);
    job->alerts.out = cli_is_stream(path) ? stdout : fopen(path, "ae");
    if (!job->alerts.out)
        return cli_fail("%s: %s", cli_name(path).text, strerror(errno));
    setvbuf(job->alerts.out, NULL, _IOLBF, BUFSIZ);
    return CLI_GO_ON;
}

static int close_alerts(flows_job *job, int code)
{
    FILE *out = job->alerts.out;
    if (!out || out == stdout)
        return code;
    bool failed = ferror(out);
    int problem = job->alerts.problem;
    errno = 0;
    if (fclose(out) == 0 && !failed)
        return code;
    problem = problem ? problem : errno;
    return cli_fail("%s: %s", cli_name(job->asked.alerts).text,
                    problem ? strerror(problem) : "a write failed");
}

static int setup_failed(const flows_job *job, bry_status status)
{
    const flow_options *asked = &job->asked;
    if (status == BRY_E_RANGE)
        return cli_misuse("an error of %g is not possible with %llu flows: reduce --capacity",
                          asked->error, (unsigned long long)asked->flows);
    if (status == BRY_E_NOMEM && job->memory.refused)
        return cli_fail("the tables need more memory than --max-memory allows (%llu bytes)",
                        (unsigned long long)job->memory.most);
    return cli_fail("%s", bry_status_text(status));
}

static int set_up_job(flows_job *job, char **files)
{
    flow_options *asked = &job->asked;
    if (asked->seed == 0 && getrandom(&asked->seed, sizeof asked->seed, 0) < 0)
        return cli_fail("getrandom: %s", strerror(errno));
    asked->seed += asked->seed == 0;
    cli_memory_init(&job->memory, asked->max_memory);
    cli_memory_init(&job->twin_memory, 0);
    bry_status status =
        flow_detector_init(&job->detector, asked->suspects, asked->seed, &job->memory.allocator);
    job->detector.thresholds = asked->thresholds;
    job->detector.alert = see_attack;
    job->detector.context = &job->alerts;
    const flow_tracker_options options = {
        .engine = {asked->engine, asked->flows, asked->error, asked->seed, &job->memory.allocator},
        .key = asked->key,
        .idle = asked->idle,
        .linger = asked->linger,
        .check = asked->check,
        .twin_allocator = &job->twin_memory.allocator,
        .watch = see_packet,
        .context = job,
    };
    if (status == BRY_OK)
        status = flow_tracker_create(&options, &job->tracker);
    if (status != BRY_OK)
        return setup_failed(job, status);
    job->capture = (flow_capture){.filter = asked->filter,
                                  .most = asked->packets,
                                  .tracker = job->tracker,
                                  .stop = &stopped_by};
    return open_alerts(job, files);
}

/* A file that cannot be read does not keep the others from being read. */
static int read_files(flows_job *job, char **files)
{
    static char stream[] = "-";
    static char *stream_alone[] = {stream};
    size_t count = job->asked.files ? job->asked.files : 1;
    char **paths = job->asked.files ? files : stream_alone;
    int code = CLI_YES;
    for (size_t i = 0; i < count && !stopped_by; i++) {
        if (job->asked.packets && job->capture.counts.packets >= job->asked.packets)
            break;
        int read = flow_capture_file(&job->capture, paths[i]);
        if (read != CLI_GO_ON)
            code = read;
    }
    return code;
}

static int report_flows(const flows_job *job, const flow_run *run)
{
    FILE *out = job->alerts.out == stdout ? stderr : stdout;
    const flow_options *asked = &job->asked;
    bool good = asked->json  ? flow_report_json(out, run)
                : asked->csv ? flow_report_csv(out, run)
                             : flow_report_text(out, run);
    return good ? CLI_GO_ON : cli_no_memory();
}

/* Ctrl-C is how a live capture ends; anything else that a signal stops ends with that signal. */
static int end_by_signal(const flows_job *job, int code)
{
    if (!stopped_by || (job->asked.interface && stopped_by != SIGHUP) || code != CLI_YES)
        return code;
    return (code = cli_finish(code)) == CLI_YES ? cli_end_by(stopped_by) : code;
}

static int run_flows_job(flows_job *job, char **files)
{
    double started = cli_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    flow_run run = {
        &job->asked, job->tracker, &job->detector, &job->alerts, &job->capture, &job->memory, 0};
    int code;
    catch_flow_signals();
    code = job->asked.interface ? flow_live(&run, &job->capture) : read_files(job, files);
    run.seconds = cli_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - started;
    if (job->capture.counts.files > 0 && report_flows(job, &run) != CLI_GO_ON)
        code = CLI_FAILED;
    flow_capture_close(&job->capture);
    return code;
}

static int run_flows(int argc, char **argv)
{
    static flows_job job; /* too large for the stack; callbacks point to its parts */
    int code = flow_options_read(&job.asked, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    code = set_up_job(&job, argv);
    if (code == CLI_GO_ON)
        code = run_flows_job(&job, argv);
    code = close_alerts(&job, code);
    flow_tracker_destroy(job.tracker);
    flow_detector_free(&job.detector);
    return end_by_signal(&job, code);
}

int main(int argc, char **argv)
{
    cli_enter("flows");
    return cli_main(argc, argv, run_flows);
}
