#include "apps/flows/flow_options.h"

#include "cli/core/args.h"
#include "cli/core/limits.h"
#include "cli/core/output/output.h"

#define COMPACT_FLOWS UINT64_C(1000000)
#define KBF_FLOWS UINT64_C(100000)
#define MOST_SUSPECTS UINT64_C(1000000)
#define MOST_TOP UINT64_C(1000)
#define LEAST_IDLE 24u /* ms: at least one for each tick (flow_clock.h) */

typedef struct flow_words {
    const char *engine, *key;
} flow_words;

static int check_flow_words(const flow_words *said, flow_options *asked)
{
    static const char *const keys[3] = {"conversation", "pair", "5tuple"};
    int engine = said->engine ? cli_choose("engine", said->engine, flow_engine_names) : 0;
    int key = engine >= 0 && said->key ? cli_choose("key", said->key, keys) : 0;
    if (engine < 0 || key < 0)
        return CLI_USAGE;
    asked->engine = (flow_engine_kind)engine;
    asked->key = (flow_key_kind)key;
    return CLI_GO_ON;
}

static int check_flow_times(flow_options *asked)
{
    if (asked->idle < LEAST_IDLE || asked->idle > BRY_SPAN_MAX / 1000)
        return cli_misuse("--idle takes times from 24ms to 50000d");
    if (asked->linger == 0)
        asked->linger = asked->idle < 20000 ? asked->idle / 2 : 10000;
    if (asked->linger < 2 || asked->linger > asked->idle / 2)
        return cli_misuse("--linger takes times from 2ms to half of --idle");
    return CLI_GO_ON;
}

static int check_flow_options(flow_options *asked)
{
    int code = check_flow_times(asked);
    if (code != CLI_GO_ON)
        return code;
    if (asked->json && asked->csv)
        return cli_misuse("--json cannot be combined with --csv");
    if (asked->interface && asked->files > 0)
        return cli_misuse("--interface cannot be combined with files");
    if (!asked->interface && (asked->duration || asked->interval))
        return cli_misuse("--%s requires --interface", asked->duration ? "duration" : "interval");
    if (asked->check && asked->engine == FLOW_EXACT)
        return cli_misuse("--check compares with engine exact; choose another --engine");
    if (asked->suspects > MOST_SUSPECTS)
        return cli_misuse("--suspects takes at most %llu", (unsigned long long)MOST_SUSPECTS);
    if (asked->top > MOST_TOP)
        return cli_misuse("--top takes at most %llu", (unsigned long long)MOST_TOP);
    if (asked->error < BRY_MAP_ERROR_MIN || asked->error > BRY_ERROR_MAX)
        return cli_misuse("--error takes " CLI_ERRORS(BRY_MAP_ERROR_MIN));
    if (asked->flows == 0)
        asked->flows = asked->engine == FLOW_KBF ? KBF_FLOWS : COMPACT_FLOWS;
    if (asked->interval == 0)
        asked->interval = 1000;
    return CLI_GO_ON;
}

static const char about_text[] =
    "Reads captures (pcap, pcapng) or an interface, and follows the state of each TCP flow\n"
    "in a few bytes: how many there are and how they ended, SYN floods, port scans,\n"
    "reflections and reset storms, and who takes part in them. Flows are stored\n"
    "approximately: a flow is mistaken for another with a probability of at most P.";
static const char more_text[] =
    "Without FILE, and for -, reads standard input. A conversation has both directions\n"
    "and the ports; a pair is a source and a destination address; a 5tuple is one\n"
    "direction, with ports. Expressions for --filter are those of tcpdump. Thresholds\n"
    "are for one address: SYNs less completed handshakes per second, SYN-ACKs unasked and\n"
    "RSTs per second, and ports probed in vain per minute.\n"
    "When the memory is full, new flows are not stored until others expire; their packets\n"
    "are counted. If alerts go to standard output, the summary goes to standard error.\n"
    "Exit codes: 0 done, 3 failure, such as a capture that ends in the middle of a packet:\n"
    "the summary then covers what was read.";
static const char examples_text[] =
    "  bloomery flows attack.pcap\n"
    "  bloomery flows --key pair --json monday.pcapng tuesday.pcapng\n"
    "  tcpdump -i eth0 -w - | bloomery flows --alerts alerts.json\n"
    "  bloomery flows --interface eth0 --filter 'tcp port 443'";

int flow_options_read(flow_options *asked, int argc, char **argv)
{
    static const flow_thresholds thresholds = FLOW_THRESHOLDS;
    *asked = (flow_options){
        .error = 0.001, .idle = 120000, .suspects = 1024, .top = 5, .thresholds = thresholds};
    flow_words said = {0};
    uint64_t *least = asked->thresholds.per_interval;
    cli_option options[] = {
        {"key", CLI_TEXT, "K", "what a flow is: conversation (default), pair or 5tuple", &said.key},
        {"engine", CLI_TEXT, "E", "compact (default), kbf or exact", &said.engine},
        {"error", CLI_SHARE, "P", "permitted error of the engine (default 0.001)", &asked->error},
        {"capacity", CLI_COUNT, "N", "flows at a time to plan for (default 1M; kbf 100k)",
         &asked->flows},
        {"idle", CLI_SPAN, "T", "a flow without packets expires after T (default 120s)",
         &asked->idle},
        {"linger", CLI_SPAN, "T", "a flow that has ended is kept for T (default 10s)",
         &asked->linger},
        {"filter", CLI_TEXT, "EXPR", "only packets that match, such as 'port 80'", &asked->filter},
        {"interface", CLI_TEXT, "NAME", "capture from this interface until Ctrl-C",
         &asked->interface},
        {"duration", CLI_SPAN, "T", "with --interface: stop after T", &asked->duration},
        {"interval", CLI_SPAN, "T", "with --interface: print the state every T (default 1s)",
         &asked->interval},
        {"packets", CLI_COUNT, "N", "stop after N packets", &asked->packets},
        {"alerts", CLI_TEXT, "FILE", "append alerts to FILE while reading, as lines of JSON",
         &asked->alerts},
        {"json", CLI_FLAG, NULL, "the summary as JSON", &asked->json},
        {"csv", CLI_FLAG, NULL, "the summary as lines of name,value", &asked->csv},
        {"check", CLI_FLAG, NULL, "compare each look-up with an exact table, and report errors",
         &asked->check},
        {"syn-flood", CLI_COUNT, "N", "threshold per second (default 100)", &least[FLOW_SYN_FLOOD]},
        {"reflection", CLI_COUNT, "N", "threshold per second (default 100)",
         &least[FLOW_REFLECTION]},
        {"reset-storm", CLI_COUNT, "N", "threshold per second (default 100)",
         &least[FLOW_RESET_STORM]},
        {"port-scan", CLI_COUNT, "N", "threshold per minute (default 100, at most 2000)",
         &least[FLOW_PORT_SCAN]},
        {"suspects", CLI_COUNT, "N", "addresses to remember as targets, and as sources (1024)",
         &asked->suspects},
        {"top", CLI_COUNT, "N", "list the N most suspicious of each (default 5)", &asked->top},
        {"max-memory", CLI_BYTES, "B", "memory for all tables (default 3/4 of the machine's)",
         &asked->max_memory},
        {"seed", CLI_PLAIN, "S", "seed for hashing flows (default: random)", &asked->seed},
    };
    const cli_syntax syntax = {
        .usage = "[FILE...] [options]",
        .about = about_text,
        CLI_OPTIONS(options),
        .most_words = (size_t)-1,
        .more = more_text,
        .examples = examples_text,
    };
    int code = cli_read_args(&syntax, argc, argv, &asked->files);
    if (code == CLI_GO_ON && least[FLOW_PORT_SCAN] > 2000)
        code = cli_misuse("--port-scan takes at most 2000");
    if (code == CLI_GO_ON)
        code = check_flow_words(&said, asked);
    return code == CLI_GO_ON ? check_flow_options(asked) : code;
}
