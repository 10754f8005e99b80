#include "bench/bench_options.h"

#include "cli/core/args.h"
#include "cli/core/output/output.h"
#include "cli/core/suggest.h"

#include <string.h>

#define FOR_ALL (BENCH_USES(BENCH_ROUNDS) | BENCH_USES(BENCH_ISA) | BENCH_USES(BENCH_JSON))
#define FOR_FILTERS                                                                                \
    (FOR_ALL | BENCH_USES(BENCH_CAPACITY) | BENCH_USES(BENCH_ERROR) | BENCH_USES(BENCH_BATCH))

#define FOR_MAPS (FOR_FILTERS | BENCH_USES(BENCH_VALUES))
#define FOR_MAP                                                                                    \
    (FOR_MAPS | BENCH_USES(BENCH_ENGINE) | BENCH_USES(BENCH_LAYOUT) | BENCH_USES(BENCH_DECODE) |   \
     BENCH_USES(BENCH_ENCODER) | BENCH_USES(BENCH_UNMASKED) | BENCH_USES(BENCH_INTEGERS) |         \
     BENCH_USES(BENCH_ZIPF) | BENCH_USES(BENCH_TOP_SHARE) | BENCH_USES(BENCH_SIZE) |               \
     BENCH_USES(BENCH_GROW))

#define FOR_INDEXES                                                                                \
    (FOR_ALL | BENCH_USES(BENCH_ERROR) | BENCH_USES(BENCH_BATCH) | BENCH_USES(BENCH_UNITS) |       \
     BENCH_USES(BENCH_UNIT_CAPACITY) | BENCH_USES(BENCH_GROW))
#define FOR_INDEX                                                                                  \
    (FOR_INDEXES | BENCH_USES(BENCH_ENGINE) | BENCH_USES(BENCH_GROUP) | BENCH_USES(BENCH_SEGMENTED))

#define FOR_WINDOWS                                                                                \
    (FOR_ALL | BENCH_USES(BENCH_ERROR) | BENCH_USES(BENCH_BATCH) | BENCH_USES(BENCH_CAPACITY) |    \
     BENCH_USES(BENCH_GENERATIONS))
#define FOR_WINDOW (FOR_WINDOWS | BENCH_USES(BENCH_ENGINE) | BENCH_USES(BENCH_MODE))

static const bench_case cases[] = {
    {"hash", bench_hash, FOR_ALL, 10000000, 0.01},
    {"filter", bench_filter, FOR_FILTERS | BENCH_USES(BENCH_ENGINE), 10000000, 0.01},
    {"filters", bench_filters, FOR_FILTERS, 10000000, 0.01},
    {"maplet", bench_maplet,
     FOR_FILTERS | BENCH_USES(BENCH_RAW) | BENCH_USES(BENCH_GROW) | BENCH_USES(BENCH_COMPARE),
     10000000, 0.001},
    {"map", bench_map, FOR_MAP, 1000000, 0.001},
    {"maps", bench_maps, FOR_MAPS, 10000000, 0.001},
    {"memcached", bench_remote, FOR_MAPS & ~BENCH_USES(BENCH_BATCH), 1000000, 0.001},
    {"index", bench_index, FOR_INDEX, 10000000, 0.001},
    {"indexes", bench_indexes, FOR_INDEXES, 10000000, 0x1p-14},
    {"window", bench_window, FOR_WINDOW, 1000000, 0.001},
    {"windows", bench_windows, FOR_WINDOWS, 1000000, 0.001},
    {"seen", bench_seen, FOR_ALL | BENCH_USES(BENCH_CAPACITY) | BENCH_USES(BENCH_ERROR), 10000000,
     1e-6},
    {"flows", bench_flows,
     BENCH_USES(BENCH_ISA) | BENCH_USES(BENCH_JSON) | BENCH_USES(BENCH_PACKETS), 10000000, 0.001},
};

static const bench_case *find_case(const char *name)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(name, cases[i].name) == 0)
            return &cases[i];
    return NULL;
}

static const char cases_text[] =
    "Measures on this machine. Cases:\n"
    "  hash       keys of several lengths: --rounds --isa\n"
    "  filter     one engine: --engine --capacity --error --batch --rounds --isa\n"
    "  filters    both, a standard Bloom filter and libbloom: --capacity --error\n"
    "             --batch --rounds --isa\n"
    "  maplet     the core of engine compact: --capacity --raw --error\n"
    "             --grow --batch --rounds --compare --isa\n"
    "  map        one engine of the map: --engine --capacity --values --integers --zipf "
    "--top-share\n"
    "             --error --grow --batch --rounds --isa, and for engine kbf --layout\n"
    "             --decode --encoder --unmasked --size\n"
    "  maps       all engines of the map, with few values and with many: --capacity\n"
    "             --values --error --batch --rounds --isa\n"
    "  memcached  compared with memcached over loopback: --capacity --values --error\n"
    "             --rounds --isa\n"
    "  index      one engine of the index: --engine --units --unit-capacity --error\n"
    "             --grow --batch --rounds --isa, and for engine dba --group --segmented\n"
    "  indexes    all groups and engines, and errors beyond the planned units:\n"
    "             --units --unit-capacity --error --grow --batch --rounds --isa\n"
    "  window     one engine of the window: --engine --mode --capacity --generations\n"
    "             --error --batch --rounds --isa\n"
    "  windows    all engines and other windows, a burst, and counters\n"
    "             under retries: --capacity --generations --error --batch --rounds --isa\n"
    "  seen       bloomery seen, awk and sort: --capacity --error --rounds\n"
    "  flows      states of flows in sBF, kBF and compact; bloomery flows and a\n"
    "             loop over libpcap; softflowd: --packets --isa";

static const char examples_text[] = "  bloomery-bench maps --capacity 2M\n"
                                    "  bloomery-bench filter --engine compact --capacity 1M --json";
static const char more_text[] =
    "Candidates take turns in each round, with fresh state, on the same keys. Answers\n"
    "are checked while measuring: a wrong one ends the run with exit code 3. --version prints\n"
    "version, instruction set and compiler.";

static void fill_options(bench_given *given, cli_option options[BENCH_OPTIONS])
{
    const cli_option rows[BENCH_OPTIONS] = {
        [BENCH_ENGINE] = {"engine", CLI_TEXT, "E",
                          "filter: bloom, compact; map, index, window: compact or kbf, dba, fbf",
                          &given->words.engine},
        [BENCH_CAPACITY] = {"capacity", CLI_COUNT, "N",
                            "keys to store (default 10M; map, memcached, window, windows 1M)",
                            &given->items},
        [BENCH_PACKETS] = {"packets", CLI_COUNT, "N", "flows: packets (default 10M)",
                           &given->items},
        [BENCH_RAW] = {"raw", CLI_TEXT, "BITS",
                       "maplet: values are integers of BITS bits, 0 to 32 (default 12)",
                       &given->raw},
        [BENCH_ERROR] =
            {"error", CLI_SHARE, "P",
             "error to plan for (default: filters 1%; indexes 2^-14; seen 1e-6; others 0.1%)",
             &given->error},
        [BENCH_GROW] = {"grow", CLI_FLAG, NULL, "maplet, map, index, indexes: growable",
                        &given->grow},
        [BENCH_BATCH] = {"batch", CLI_COUNT, "B", "keys in a batch (default 1024)", &given->batch},
        [BENCH_ROUNDS] = {"rounds", CLI_COUNT, "R",
                          "rounds to measure (default 5), after one to warm up", &given->rounds},
        [BENCH_COMPARE] = {"compare", CLI_FLAG, NULL, "maplet: compare with an exact hash table",
                           &given->compare},
        [BENCH_LAYOUT] = {"layout", CLI_TEXT, "L", "kbf: tuned (default) or paper",
                          &given->words.layout},
        [BENCH_DECODE] = {"decode", CLI_TEXT, "L", "kbf: level 1 to 4 (default 4), or sets",
                          &given->words.decode},
        [BENCH_ENCODER] = {"encoder", CLI_TEXT, "C", "kbf: algebraic (default) or greedy",
                           &given->words.encoder},
        [BENCH_UNMASKED] = {"unmasked", CLI_FLAG, NULL, "kbf: codes as the papers store them",
                            &given->map.unmasked},
        [BENCH_VALUES] = {"values", CLI_COUNT, "V",
                          "map, maps, memcached: distinct values (default 3000)",
                          &given->map.values},
        [BENCH_INTEGERS] = {"integers", CLI_FLAG, NULL,
                            "map: values are integers, not byte strings", &given->map.raw},
        [BENCH_ZIPF] = {"zipf", CLI_TEXT, "Z", "map: values by Zipf's law (default 0: uniform)",
                        &given->words.zipf},
        [BENCH_TOP_SHARE] = {"top-share", CLI_SHARE, "S",
                             "map: the share of keys that have one value", &given->map.top},
        [BENCH_SIZE] = {"size", CLI_TEXT, "F", "kbf: multiply the planned number of cells by F",
                        &given->words.size},
        [BENCH_UNITS] = {"units", CLI_COUNT, "R", "index, indexes: units (default 64, 160)",
                         &given->units},
        [BENCH_UNIT_CAPACITY] = {"unit-capacity", CLI_COUNT, "C",
                                 "index, indexes: elements in each (default 65536)",
                                 &given->unit_capacity},
        [BENCH_GROUP] = {"group", CLI_COUNT, "G",
                         "dba: interleaved units (default: by their number)", &given->group},
        [BENCH_SEGMENTED] = {"segmented", CLI_FLAG, NULL, "dba: a segment for each hash",
                             &given->segmented},
        [BENCH_GENERATIONS] = {"generations", CLI_COUNT, "G",
                               "window, windows: parts (default: compact 13, others 8)",
                               &given->generations},
        [BENCH_MODE] = {"mode", CLI_TEXT, "M", "fbf: improved (default), paper or simple",
                        &given->mode},
        [BENCH_ISA] = {"isa", CLI_TEXT, "I", "scalar, avx2, avx512 or neon instead of the best",
                       &given->isa},
        [BENCH_JSON] = {"json", CLI_FLAG, NULL, "JSON instead of tables", &given->as_json},
    };
    memcpy(options, rows, sizeof rows);
}

/* Finds the case and checks that it uses the given options. */
static int choose_case(const char *name, const cli_syntax *syntax, bench_given *given)
{
    given->chosen = find_case(name);
    if (!given->chosen) {
        cli_guess guess = CLI_GUESS(name, strlen(name));
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            cli_guess_try(&guess, cases[i].name);
        return cli_misuse("there is no case %s%s", cli_quote(name).text,
                          cli_suggest(&guess, "").text);
    }
    for (int i = 0; i < BENCH_OPTIONS; i++)
        if (syntax->given[i] && !(given->chosen->uses & BENCH_USES(i)))
            return cli_misuse("%s does not use --%s", given->chosen->name, syntax->options[i].name);
    return CLI_GO_ON;
}

int bench_options_read(int argc, char **argv, bench_given *given)
{
    *given = (bench_given){
        .batch = 1024,
        .rounds = 5,
        .unit_capacity = 65536,
        .map = {.values = 3000},
    };
    cli_option options[BENCH_OPTIONS];
    bool used[BENCH_OPTIONS] = {false};
    fill_options(given, options);
    const cli_syntax syntax = {
        .usage = "CASE [options]",
        .about = cases_text,
        CLI_OPTIONS(options),
        .given = used,
        .examples = examples_text,
        .more = more_text,
        .most_words = 1,
        .least_words = 1,
        .missing = "missing case: hash, filter, filters, maplet, map, maps, "
                   "memcached, index, indexes, window, windows, seen or flows",
    };
    size_t count;
    int code = cli_read_args(&syntax, argc, argv, &count);
    return code == CLI_GO_ON ? choose_case(argv[0], &syntax, given) : code;
}
