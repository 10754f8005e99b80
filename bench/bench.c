/*
 * bloomery bench: which case, with which settings, written how. The cases are case_*.c, what is
 * compared are *_candidates.c and peer_*.c, and how it is measured is measure.h.
 */
#include "bench/bench_runs.h"
#include "cli/core/args.h"
#include "cli/core/command.h"
#include "cli/core/numbers.h"
#include "cli/core/output.h"
#include "filter/filter_object.h"
#include "kernel/kernel.h"

#include <string.h>

#define LEAST_ITEMS 1000u /* with fewer, no error can be measured */
#define MOST_ITEMS ((uint64_t)1 << 32)

/* Options, by their place in the table below. */
enum {
    ENGINE,
    ITEMS,
    VALUE_BITS,
    ERROR,
    GROW,
    BATCH,
    ROUNDS,
    COMPARE,
    SHAPE,
    DECODE,
    ENCODER,
    UNMASKED,
    VALUES,
    RAW,
    SKEW,
    TOP,
    SIZE,
    UNITS,
    UNIT_CAPACITY,
    GROUP,
    SEGMENTED,
    ELEMENTS,
    GENERATIONS,
    MODE,
    ISA,
    MARKDOWN,
    JSON,
    OPTIONS
};
#define USES(option) (UINT64_C(1) << (option))
#define FOR_ALL (USES(ROUNDS) | USES(ISA) | USES(JSON))
#define FOR_FILTERS (FOR_ALL | USES(ITEMS) | USES(ERROR) | USES(BATCH))

#define FOR_MAPS (FOR_FILTERS | USES(VALUES))
#define FOR_MAP                                                                                    \
    (FOR_MAPS | USES(ENGINE) | USES(SHAPE) | USES(DECODE) | USES(ENCODER) | USES(UNMASKED) |       \
     USES(RAW) | USES(SKEW) | USES(TOP) | USES(SIZE) | USES(GROW))

#define FOR_INDEXES                                                                                \
    (FOR_ALL | USES(ERROR) | USES(BATCH) | USES(UNITS) | USES(UNIT_CAPACITY) | USES(GROW))
#define FOR_INDEX (FOR_INDEXES | USES(ENGINE) | USES(GROUP) | USES(SEGMENTED))

#define FOR_WINDOWS (FOR_ALL | USES(ERROR) | USES(BATCH) | USES(ELEMENTS) | USES(GENERATIONS))
#define FOR_WINDOW (FOR_WINDOWS | USES(ENGINE) | USES(MODE))

static const struct bench_case {
    const char *name;
    int (*run)(const bench_request *asked);
    uint64_t uses;
    uint64_t items; /* where none are asked for, as the next */
    double error;
} cases[] = {
    {"hash", bench_run_hash, FOR_ALL, 10000000, 0.01},
    {"filter", bench_run_filter, FOR_FILTERS | USES(ENGINE), 10000000, 0.01},
    {"filters", bench_run_filters, FOR_FILTERS, 10000000, 0.01},
    {"maplet", bench_run_maplet, FOR_FILTERS | USES(VALUE_BITS) | USES(GROW) | USES(COMPARE),
     10000000, MAPLET_ERROR},
    {"map", bench_run_map, FOR_MAP, 1000000, MAP_ERROR},
    {"maps", bench_run_maps, FOR_MAPS, 10000000, MAP_ERROR},
    {"memcached", bench_run_memcached, FOR_MAPS & ~USES(BATCH), 1000000, MAP_ERROR},
    {"index", bench_run_index, FOR_INDEX, 10000000, INDEX_ERROR},
    {"indexes", bench_run_indexes, FOR_INDEXES, 10000000, INDEXES_ERROR},
    {"window", bench_run_window, FOR_WINDOW, 10000000, WINDOW_ERROR},
    {"windows", bench_run_windows, FOR_WINDOWS, 10000000, WINDOW_ERROR},
    {"seen", bench_run_seen, FOR_ALL | USES(ITEMS) | USES(ERROR), 10000000, SEEN_ERROR},
    {"all", bench_run_all, FOR_FILTERS | USES(MARKDOWN), 10000000, 0.01},
};

static const struct bench_case *find_case(const char *name)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(name, cases[i].name) == 0)
            return &cases[i];
    return NULL;
}

/* CLI_GO_ON, or the exit code after a message. */
static int force_isa(const char *name)
{
    for (int isa = 0; isa < BRY__ISA_COUNT; isa++) {
        if (strcmp(name, bry__isa_names[isa]) != 0)
            continue;
        if (bry__kernel_force((bry__isa)isa))
            return CLI_GO_ON;
        return cli_fail(BRY_E_UNSUPPORTED, "--isa: this machine does not run %s", name);
    }
    return cli_misuse("bench", "--isa: there is no instruction set %s", cli_quote(name).text);
}

static int read_filter_engine(const char *name, bry_engine *engine)
{
    if (bry_engine_parse(name, engine) != BRY_OK)
        return cli_misuse("bench", "--engine: there is no engine %s", cli_quote(name).text);
    if (*engine != BRY_ENGINE_AUTO && *engine != BRY_ENGINE_BLOOM && *engine != BRY_ENGINE_COMPACT)
        return cli_misuse("bench", "--engine: filters have no engine %s", name);
    return CLI_GO_ON;
}

static int check_range(const char *name, uint64_t value, uint64_t least, uint64_t most)
{
    if (value >= least && value <= most)
        return CLI_GO_ON;
    return cli_misuse("bench", "--%s: %llu is not between %llu and %llu", name,
                      (unsigned long long)value, (unsigned long long)least,
                      (unsigned long long)most);
}

static int check_error(double error)
{
    if (error >= BRY_FILTER_ERROR_MIN && error <= BRY_ERROR_MAX)
        return CLI_GO_ON;
    return cli_misuse("bench", "--error: %g is not between %g and %g", error, BRY_FILTER_ERROR_MIN,
                      BRY_ERROR_MAX);
}

/* Units and their capacity, of which there may be as many elements as items elsewhere. */
static int check_index(uint64_t units, uint64_t capacity)
{
    int code = check_range("units", units, 1, BRY_INDEX_UNITS_MAX);
    if (code == CLI_GO_ON)
        code = check_range("unit-capacity", capacity, 1, MOST_ITEMS);
    unsigned long long elements = units * capacity;
    if (code != CLI_GO_ON || (elements >= LEAST_ITEMS && elements <= MOST_ITEMS))
        return code;
    return cli_misuse("bench", "--units times --unit-capacity: %llu is not between %u and %llu",
                      elements, LEAST_ITEMS, (unsigned long long)MOST_ITEMS);
}

static int read_window(const char *engine, const char *mode, uint64_t generations,
                       window_settings *window)
{
    if (window->elements == 0)
        window->elements = WINDOW_ELEMENTS;
    int code = check_range("elements", window->elements, LEAST_ITEMS, MOST_ITEMS);
    if (code == CLI_GO_ON && generations)
        code = check_range("generations", generations, 1, BRY_WINDOW_GENERATIONS_MAX);
    window->generations = (uint32_t)generations;
    return code == CLI_GO_ON ? window_settings_read(engine, mode, window) : code;
}

/* Here 0 is a number like others, which it is not among CLI_COUNTs. */
static int read_value_bits(const char *text, unsigned *value_bits)
{
    uint64_t bits;
    const char *problem = cli_parse_count(text, &bits);
    if (problem)
        return cli_misuse("bench", "--value-bits: %s %s", cli_quote(text).text, problem);
    int code = check_range("value-bits", bits, 0, BRY_MAP_VALUE_BITS_MAX);
    if (code == CLI_GO_ON)
        *value_bits = (unsigned)bits;
    return code;
}

static const char cases_text[] =
    "Measures on this machine. Cases:\n"
    "  hash       keys of several lengths: --rounds --isa\n"
    "  filter     one engine: --engine --items --error --batch --rounds --isa\n"
    "  filters    both, a standard Bloom filter and libbloom: --items --error\n"
    "             --batch --rounds --isa\n"
    "  maplet     what engine compact is made of: --items --value-bits --error\n"
    "             --grow --batch --rounds --compare --isa\n"
    "  map        one engine of the map: --engine --items --values --raw --skew --top\n"
    "             --error --grow --batch --rounds --isa, and for engine kbf --shape\n"
    "             --decode --encoder --unmasked --size\n"
    "  maps       the engines side by side, and few values against many: --items\n"
    "             --values --error --batch --rounds --isa\n"
    "  memcached  the same beside memcached over loopback: --items --values --error\n"
    "             --rounds --isa\n"
    "  index      one engine of the index: --engine --units --unit-capacity --error\n"
    "             --grow --batch --rounds --isa, and for engine dba --group --segmented\n"
    "  indexes    groups and engines side by side, and errors past the planned units:\n"
    "             --units --unit-capacity --error --grow --batch --rounds --isa\n"
    "  window     one engine of the window: --engine --mode --elements --generations\n"
    "             --error --batch --rounds --isa\n"
    "  windows    the engines, what they are compared with, a burst, and counters\n"
    "             under retries: --elements --generations --error --batch --rounds --isa\n"
    "  seen       bloomery seen beside awk and sort: --items --error --rounds\n"
    "  all        hash and filters; a maplet of at most 2M entries beside an exact\n"
    "             hash table, maps of at most 2M keys, memcached with at most 1M,\n"
    "             indexes, windows of at most 1M elements, and seen";

static const char examples_text[] = "  bloomery bench all\n"
                                    "  bloomery bench filter --engine compact --items 1M --json";
static const char more_text[] =
    "Candidates take turns in each round, with fresh state, on the same keys. Answers\n"
    "are checked while measuring: a wrong one ends the run with exit code 3.";

int cli_bench(int argc, char **argv)
{
    uint64_t items = 0, batch = 1024, rounds = 5;
    uint64_t units = 0, unit_capacity = INDEX_CAPACITY, group = 0;
    uint64_t generations = 0;
    const char *engine = NULL, *isa = NULL, *value_bits = NULL, *mode = NULL;
    map_words words = {0};
    bench_request asked = {.settings = {.value_bits = MAPLET_VALUE_BITS}};
    map_settings *map = &asked.settings.map;
    map->values = MAP_VALUES;
    index_settings *index = &asked.settings.index;
    cli_option options[OPTIONS] = {
        [ENGINE] = {"engine", CLI_TEXT, "E",
                    "filter: bloom, compact; map, index, window: compact or kbf, dba, fbf", &engine,
                    0},
        [ITEMS] = {"items", CLI_COUNT, "N", "keys (default 10M; of map and memcached 1M)", &items,
                   0},
        [VALUE_BITS] = {"value-bits", CLI_TEXT, "V", "of maplet: 0 to 32 (default 12)", &value_bits,
                        0},
        [ERROR] =
            {"error", CLI_SHARE, "P",
             "error to ask for (default: filters, all 1%; indexes 2^-14; seen 1e-6; others 0.1%)",
             &asked.settings.error, 0},
        [GROW] = {"grow", CLI_FLAG, NULL, "of maplet, map, index, indexes: one that may grow",
                  &asked.settings.grow, 0},
        [BATCH] = {"batch", CLI_COUNT, "B", "keys in a batch (default 1024)", &batch, 0},
        [ROUNDS] = {"rounds", CLI_COUNT, "R", "rounds to measure (default 5), after one to warm up",
                    &rounds, 0},
        [COMPARE] = {"compare", CLI_FLAG, NULL, "of maplet: beside an exact hash table",
                     &asked.settings.compare, 0},
        [SHAPE] = {"shape", CLI_TEXT, "S", "of kbf: tuned (default) or paper", &words.shape, 0},
        [DECODE] = {"decode", CLI_TEXT, "L", "of kbf: level 1 to 4 (default 4)", &words.decode, 0},
        [ENCODER] = {"encoder", CLI_TEXT, "C", "of kbf: algebraic (default) or greedy",
                     &words.encoder, 0},
        [UNMASKED] = {"unmasked", CLI_FLAG, NULL, "of kbf: codes as the papers store them",
                      &map->unmasked, 0},
        [VALUES] = {"values", CLI_COUNT, "V", "of maps: distinct values (default 3000)",
                    &map->values, 0},
        [RAW] = {"raw", CLI_FLAG, NULL, "of map: values are integers, not byte strings", &map->raw,
                 0},
        [SKEW] = {"skew", CLI_TEXT, "Z", "of map: values by Zipf's law (default 0: uniform)",
                  &words.skew, 0},
        [TOP] = {"top", CLI_SHARE, "S", "of map: the share of the keys that one value has",
                 &map->top, 0},
        [SIZE] = {"size", CLI_TEXT, "F", "of kbf: so many times the planned cells", &words.size, 0},
        [UNITS] = {"units", CLI_COUNT, "R", "of indexes: units (default 64; of indexes 160)",
                   &units, 0},
        [UNIT_CAPACITY] = {"unit-capacity", CLI_COUNT, "C",
                           "of indexes: elements in each (default 65536)", &unit_capacity, 0},
        [GROUP] = {"group", CLI_COUNT, "G", "of dba: units side by side (default: by their number)",
                   &group, 0},
        [SEGMENTED] = {"segmented", CLI_FLAG, NULL, "of dba: a segment for each hash",
                       &index->segmented, 0},
        [ELEMENTS] = {"elements", CLI_COUNT, "N", "of windows: new ones in each (default 1M)",
                      &asked.window.elements, 0},
        [GENERATIONS] = {"generations", CLI_COUNT, "G",
                         "of windows: parts (default: compact 13, the others 8)", &generations, 0},
        [MODE] = {"mode", CLI_TEXT, "M", "of window fbf: improved (default), paper or simple",
                  &mode, 0},
        [ISA] = {"isa", CLI_TEXT, "I", "scalar, avx2, avx512 or neon instead of the best", &isa, 0},
        [MARKDOWN] = {"markdown", CLI_TEXT, "FILE",
                      "of all: also rewrite the block of results in this file", &asked.markdown, 0},
        [JSON] = {"json", CLI_FLAG, NULL, "JSON instead of tables", &asked.as_json, 0},
    };
    const cli_syntax syntax = {
        .command = "bench",
        .usage = "CASE [options]",
        .about = cases_text,
        .options = options,
        .option_count = OPTIONS,
        .examples = examples_text,
        .more = more_text,
        .most_words = 1,
    };
    size_t count;
    int code = cli_read_args(&syntax, argc, argv, &count);
    if (code != CLI_GO_ON)
        return code;
    if (count == 0)
        return cli_misuse("bench", "no case is given: hash, filter, filters, maplet, map, maps, "
                                   "memcached, index, indexes, window, windows, seen or all");
    const struct bench_case *chosen = find_case(argv[0]);
    if (!chosen)
        return cli_misuse("bench", "there is no case %s", cli_quote(argv[0]).text);
    for (int i = 0; i < OPTIONS; i++)
        if (options[i].given && !(chosen->uses & USES(i)))
            return cli_misuse("bench", "%s does not use --%s", chosen->name, options[i].name);

    if (!options[ERROR].given)
        asked.settings.error = chosen->error;
    if (!options[ITEMS].given)
        items = chosen->items;
    if (!options[UNITS].given)
        units = chosen->run == bench_run_indexes ? INDEXES_UNITS : INDEX_UNITS;
    words.engine = engine;
    if ((engine && chosen->run == bench_run_filter &&
         (code = read_filter_engine(engine, &asked.settings.filter_engine)) != CLI_GO_ON) ||
        (code = check_error(asked.settings.error)) != CLI_GO_ON ||
        (code = check_range("items", items, LEAST_ITEMS, MOST_ITEMS)) != CLI_GO_ON ||
        (code = check_range("batch", batch, 1, BENCH_MOST_BATCH)) != CLI_GO_ON ||
        (code = check_range("rounds", rounds, 1, BENCH_MOST_ROUNDS)) != CLI_GO_ON ||
        (value_bits &&
         (code = read_value_bits(value_bits, &asked.settings.value_bits)) != CLI_GO_ON) ||
        (chosen->run == bench_run_map && (code = map_settings_read(&words, map)) != CLI_GO_ON) ||
        (options[VALUES].given && chosen->run != bench_run_map &&
         (code = check_range("values", map->values, 1, BRY_MAP_KBF_VALUES_MAX)) != CLI_GO_ON) ||
        (chosen->uses & USES(UNITS) && (code = check_index(units, unit_capacity)) != CLI_GO_ON) ||
        (chosen->uses & USES(ELEMENTS) &&
         (code = read_window(engine, mode, generations, &asked.window)) != CLI_GO_ON) ||
        (isa && (code = force_isa(isa)) != CLI_GO_ON))
        return code;
    index->units = (uint32_t)units;
    index->unit_capacity = unit_capacity;
    index->group = group > 512 ? 513 : (uint32_t)group;
    if (chosen->run == bench_run_index && (code = index_settings_read(engine, index)) != CLI_GO_ON)
        return code;
    asked.settings.items = items;
    asked.settings.batch = (size_t)batch;
    asked.settings.rounds = (unsigned)rounds;
    asked.machine = bench_machine_here();
    return chosen->run(&asked);
}
