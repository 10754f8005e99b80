/*
 * bloomery bench: which case, with which settings, written how. The cases are case_*.c, what is
 * compared are *_candidates.c and peer_*.c, and how it is measured is measure.h.
 */
#include "bench/bench_cases.h"
#include "bench/machine.h"
#include "bench/readme_block.h"
#include "cli/args.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "filter/filter_object.h"
#include "kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_ITEMS 1000u /* with fewer, no error can be measured */
#define MOST_ITEMS ((uint64_t)1 << 32)
#define MOST_VALUE_BITS 32u
#define MAPLET_ERROR 0.001 /* where nothing else is asked for, as the next */
#define MAPLET_VALUE_BITS 12u

/* What was asked for. */
typedef struct request {
    bench_settings settings;
    bool as_json;
    const char *markdown; /* the file whose block is regenerated, or NULL */
    bench_machine machine;
} request;

static int out_of_memory(void)
{
    return cli_fail(BRY_E_NOMEM, "%s", bry_status_text(BRY_E_NOMEM));
}

static void open_object(cli_json *json, const request *asked, const char *name)
{
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "bench", name);
    bench_machine_json(json, &asked->machine);
}

static void open_text(const request *asked)
{
    bench_machine_line(stdout, &asked->machine);
    fputs("\n\n", stdout);
}

static int run_hash(const request *asked)
{
    hash_report report;
    if (!bench_hash(&asked->settings, &report))
        return CLI_FAILED;
    if (!asked->as_json) {
        open_text(asked);
        return bench_hash_text(stdout, &report) ? CLI_YES : out_of_memory();
    }
    cli_json json = CLI_JSON_TO(stdout);
    open_object(&json, asked, "hash");
    bench_hash_json(&json, &report);
    cli_json_close(&json, '}');
    return CLI_YES;
}

static int run_filters_case(const request *asked, bool compare)
{
    filter_report report;
    if (!bench_filters(&asked->settings, compare, &report))
        return CLI_FAILED;
    if (!asked->as_json) {
        open_text(asked);
        return bench_filters_text(stdout, &report) ? CLI_YES : out_of_memory();
    }
    cli_json json = CLI_JSON_TO(stdout);
    open_object(&json, asked, compare ? "filters" : "filter");
    if (compare)
        bench_filters_json(&json, &report);
    else
        bench_filter_json(&json, &report);
    cli_json_close(&json, '}');
    return CLI_YES;
}

static int run_filter(const request *asked)
{
    return run_filters_case(asked, false);
}

static int run_filters(const request *asked)
{
    return run_filters_case(asked, true);
}

static int run_maplet(const request *asked)
{
    maplet_report report;
    if (!bench_maplet(&asked->settings, &report))
        return CLI_FAILED;
    if (!asked->as_json) {
        open_text(asked);
        return bench_maplet_text(stdout, &report) ? CLI_YES : out_of_memory();
    }
    cli_json json = CLI_JSON_TO(stdout);
    open_object(&json, asked, "maplet");
    bench_maplet_json(&json, &report);
    cli_json_close(&json, '}');
    return CLI_YES;
}

/* Beside everything else, a small one: it is about error and size as much as about time. */
static bench_settings maplet_among_all(const request *asked)
{
    bench_settings settings = asked->settings;
    settings.items = settings.items < 2000000 ? settings.items : 2000000;
    settings.error = MAPLET_ERROR;
    settings.value_bits = MAPLET_VALUE_BITS;
    settings.compare = true;
    return settings;
}

/* The block of the README: the machine, then the tables. */
static int regenerate(const request *asked, const filter_report *filters,
                      const maplet_report *maplet)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return out_of_memory();
    fputs("Measured by `make bench` on: ", out);
    bench_machine_line(out, &asked->machine);
    fputs(".\n\n", out);
    bool good = bench_filters_markdown(out, filters);
    fputc('\n', out);
    good = bench_maplet_markdown(out, maplet) && good;
    good = fclose(out) == 0 && good;
    int code = !good                                        ? out_of_memory()
               : bench_block_replace(asked->markdown, text) ? CLI_YES
                                                            : CLI_FAILED;
    free(text);
    return code;
}

static int run_all(const request *asked)
{
    hash_report hashes;
    filter_report filters;
    maplet_report maplet;
    const bench_settings small = maplet_among_all(asked);
    /* Found out before the minutes of measuring, not after. */
    if (asked->markdown && !bench_block_check(asked->markdown))
        return CLI_FAILED;
    if (!bench_hash(&asked->settings, &hashes) ||
        !bench_filters(&asked->settings, true, &filters) || !bench_maplet(&small, &maplet))
        return CLI_FAILED;
    if (asked->as_json) {
        cli_json json = CLI_JSON_TO(stdout);
        open_object(&json, asked, "all");
        cli_json_open(&json, "hash", '{');
        bench_hash_json(&json, &hashes);
        cli_json_close(&json, '}');
        cli_json_open(&json, "filter", '{');
        bench_filters_json(&json, &filters);
        cli_json_close(&json, '}');
        cli_json_open(&json, "maplet", '{');
        bench_maplet_json(&json, &maplet);
        cli_json_close(&json, '}');
        cli_json_close(&json, '}');
    } else {
        open_text(asked);
        bool printed = bench_hash_text(stdout, &hashes);
        fputc('\n', stdout);
        printed = bench_filters_text(stdout, &filters) && printed;
        fputc('\n', stdout);
        if (!bench_maplet_text(stdout, &maplet) || !printed)
            return out_of_memory();
    }
    return asked->markdown ? regenerate(asked, &filters, &maplet) : CLI_YES;
}

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
    ISA,
    MARKDOWN,
    JSON,
    OPTIONS
};
#define USES(option) (1u << (option))
#define FOR_ALL (USES(ROUNDS) | USES(ISA) | USES(JSON))
#define FOR_FILTERS (FOR_ALL | USES(ITEMS) | USES(ERROR) | USES(BATCH))

static const struct bench_case {
    const char *name;
    int (*run)(const request *asked);
    unsigned uses;
} cases[] = {
    {"hash", run_hash, FOR_ALL},
    {"filter", run_filter, FOR_FILTERS | USES(ENGINE)},
    {"filters", run_filters, FOR_FILTERS},
    {"maplet", run_maplet, FOR_FILTERS | USES(VALUE_BITS) | USES(GROW) | USES(COMPARE)},
    {"all", run_all, FOR_FILTERS | USES(MARKDOWN)},
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

static int check_engine(const char *name)
{
    bry_engine engine;
    if (bry_engine_parse(name, &engine) != BRY_OK)
        return cli_misuse("bench", "--engine: there is no engine %s", cli_quote(name).text);
    if (engine != BRY_ENGINE_AUTO && engine != BRY_ENGINE_BLOOM)
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
    if (error >= BRY__FILTER_MIN_ERROR && error <= BRY__FILTER_MAX_ERROR)
        return CLI_GO_ON;
    return cli_misuse("bench", "--error: %g is not between %g and %g", error, BRY__FILTER_MIN_ERROR,
                      BRY__FILTER_MAX_ERROR);
}

/* Here 0 is a number like others, which it is not among CLI_COUNTs. */
static int read_value_bits(const char *text, unsigned *value_bits)
{
    uint64_t bits;
    const char *problem = cli_parse_count(text, &bits);
    if (problem)
        return cli_misuse("bench", "--value-bits: %s %s", cli_quote(text).text, problem);
    int code = check_range("value-bits", bits, 0, MOST_VALUE_BITS);
    if (code == CLI_GO_ON)
        *value_bits = (unsigned)bits;
    return code;
}

int cli_bench(int argc, char **argv)
{
    uint64_t items = 10000000, batch = 1024, rounds = 5;
    const char *engine = "auto", *isa = NULL, *value_bits = NULL;
    request asked = {.settings = {.error = 0.01, .value_bits = MAPLET_VALUE_BITS}};
    cli_option options[OPTIONS] = {
        [ENGINE] = {"engine", CLI_TEXT, "E", "of filter: bloom (default)", &engine, 0},
        [ITEMS] = {"items", CLI_COUNT, "N", "keys (default 10M)", &items, 0},
        [VALUE_BITS] = {"value-bits", CLI_TEXT, "V", "of maplet: 0 to 32 (default 12)", &value_bits,
                        0},
        [ERROR] = {"error", CLI_SHARE, "P", "error to ask for (default 1%; of maplet 0.1%)",
                   &asked.settings.error, 0},
        [GROW] = {"grow", CLI_FLAG, NULL, "of maplet: one that may grow", &asked.settings.grow, 0},
        [BATCH] = {"batch", CLI_COUNT, "B", "keys in a batch (default 1024)", &batch, 0},
        [ROUNDS] = {"rounds", CLI_COUNT, "R", "rounds to measure (default 5), after one to warm up",
                    &rounds, 0},
        [COMPARE] = {"compare", CLI_FLAG, NULL, "of maplet: beside an exact hash table",
                     &asked.settings.compare, 0},
        [ISA] = {"isa", CLI_TEXT, "I", "scalar, avx2, avx512 or neon instead of the best", &isa, 0},
        [MARKDOWN] = {"markdown", CLI_TEXT, "FILE",
                      "of all: also rewrite the block of results in this file", &asked.markdown, 0},
        [JSON] = {"json", CLI_FLAG, NULL, "JSON instead of tables", &asked.as_json, 0},
    };
    const cli_syntax syntax = {
        .command = "bench",
        .usage = "CASE [options]",
        .about = "Measures on this machine. Cases:\n"
                 "  hash     keys of several lengths: --rounds --isa\n"
                 "  filter   one engine: --engine --items --error --batch --rounds --isa\n"
                 "  filters  that, a standard Bloom filter and libbloom: --items --error\n"
                 "           --batch --rounds --isa\n"
                 "  maplet   the compact map: --items --value-bits --error --grow --batch\n"
                 "           --rounds --compare --isa\n"
                 "  all      hash, filters, and a maplet of at most 2M entries with 12-bit values\n"
                 "           beside an exact hash table",
        .options = options,
        .option_count = OPTIONS,
        .more = "Candidates take turns in each round, with fresh state, on the same keys. Answers\n"
                "are checked while measuring: a wrong one ends the run with exit code 3.",
        .most_words = 1,
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code != CLI_GO_ON)
        return code;
    if (words == 0)
        return cli_misuse("bench", "no case is given: hash, filter, filters, maplet or all");
    const struct bench_case *chosen = find_case(argv[0]);
    if (!chosen)
        return cli_misuse("bench", "there is no case %s", cli_quote(argv[0]).text);
    for (int i = 0; i < OPTIONS; i++)
        if (options[i].given && !(chosen->uses & USES(i)))
            return cli_misuse("bench", "%s does not use --%s", chosen->name, options[i].name);

    if (chosen->run == run_maplet && !options[ERROR].given)
        asked.settings.error = MAPLET_ERROR;
    if ((code = check_engine(engine)) != CLI_GO_ON ||
        (code = check_error(asked.settings.error)) != CLI_GO_ON ||
        (code = check_range("items", items, LEAST_ITEMS, MOST_ITEMS)) != CLI_GO_ON ||
        (code = check_range("batch", batch, 1, BENCH_MOST_BATCH)) != CLI_GO_ON ||
        (code = check_range("rounds", rounds, 1, BENCH_MOST_ROUNDS)) != CLI_GO_ON ||
        (value_bits &&
         (code = read_value_bits(value_bits, &asked.settings.value_bits)) != CLI_GO_ON) ||
        (isa && (code = force_isa(isa)) != CLI_GO_ON))
        return code;
    asked.settings.items = items;
    asked.settings.batch = (size_t)batch;
    asked.settings.rounds = (unsigned)rounds;
    asked.machine = bench_machine_here();
    return chosen->run(&asked);
}
