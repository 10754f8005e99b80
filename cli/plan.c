/*
 * bloomery plan: bytes and errors by job and engine, from the same functions that creation uses, so
 * that what it prints is what will be allocated.
 *
 * A job that the library learns adds a row to `jobs`.
 */
#include "args.h"
#include "command.h"
#include "json.h"
#include "output.h"
#include "text_table.h"

#include <bloomery/counter.h>
#include <bloomery/filter.h>
#include <bloomery/index.h>
#include <bloomery/map.h>
#include <bloomery/window.h>
#include <math.h>
#include <string.h>

typedef struct inputs {
    uint64_t items;
    uint64_t values; /* 0: the default */
    uint64_t subsets; /* of an index */
    uint64_t window; /* ms; of a window and a counter, whose items are those within it */
    double error;
} inputs;

typedef struct costs {
    uint64_t bytes, bytes_empty;
    uint64_t hashes;
    double bits_per_item;
    double error; /* expected */
    bool is_map; /* and then: */
    bry_map_errors errors;
    uint64_t values;
    uint32_t value_bits;
    uint64_t subsets; /* of an index, else 0; and then: */
    uint32_t group;
    uint64_t window; /* ms, of a window or a counter, else 0; and then: */
    uint64_t longest; /* ms after which an element is surely forgotten */
    uint32_t generations; /* of a window, else 0 */
    uint64_t bytes_per_counter; /* of a counter, else 0 */
} costs;

typedef struct job job;
typedef bry_status planner(const job *of, const inputs *in, costs *out);

struct job {
    const char *name;
    bry_engine engine;
    const char *layout; /* where the engine has more than one, else NULL; of a window its mode */
    planner *plan;
    const char *limits; /* for the message when the inputs are out of range */
};

static bry_status plan_filter(const job *of, const inputs *in, costs *out)
{
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.engine = of->engine;
    options.capacity = in->items;
    options.error = in->error;
    bry_filter_shape shape;
    bry_status status = bry_filter_plan(&options, &shape);
    if (status == BRY_OK)
        *out = (costs){
            .bytes = shape.bytes,
            .bytes_empty = shape.bytes_empty,
            .hashes = shape.hashes,
            .bits_per_item = (double)shape.bytes * 8 / (double)in->items,
            .error = shape.error,
        };
    return status;
}

static bry_status plan_map(const job *of, const inputs *in, costs *out)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    options.engine = of->engine;
    options.capacity = in->items;
    options.values = in->values;
    options.error = in->error;
    if (of->layout)
        options.layout = strcmp(of->layout, "paper") == 0 ? BRY_MAP_PAPER : BRY_MAP_TUNED;
    bry_map_shape shape;
    bry_status status = bry_map_plan(&options, &shape);
    if (status == BRY_OK)
        *out = (costs){
            .bytes = shape.bytes,
            .bytes_empty = shape.bytes_empty,
            .hashes = shape.hashes,
            .bits_per_item = (double)shape.bytes * 8 / (double)in->items,
            /* what the error asked for bounds: the first, and the sum of the others */
            .error = fmax(shape.errors.false_positive,
                          shape.errors.false_negative + shape.errors.incorrect),
            .is_map = true,
            .errors = shape.errors,
            .values = shape.values,
            .value_bits = shape.value_bits,
        };
    return status;
}

/* The items in so many subsets of equal size. */
static bry_status plan_index(const job *of, const inputs *in, costs *out)
{
    bry_index_options options = BRY_INDEX_OPTIONS;
    if (in->items > (uint64_t)1 << 40 || in->subsets > UINT32_MAX)
        return BRY_E_RANGE;
    options.engine = of->engine;
    options.units = (uint32_t)in->subsets;
    options.unit_capacity = (in->items - 1) / in->subsets + 1;
    options.error = in->error;
    bry_index_shape shape;
    bry_status status = bry_index_plan(&options, &shape);
    if (status == BRY_OK)
        *out = (costs){
            .bytes = shape.bytes,
            .bytes_empty = shape.bytes_empty,
            .hashes = shape.hashes,
            .bits_per_item = (double)shape.bytes * 8 / (double)in->items,
            .error = shape.error,
            .subsets = in->subsets,
            .group = shape.group,
        };
    return status;
}

/* The items within one window. */
static bry_status plan_window(const job *of, const inputs *in, costs *out)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.engine = of->engine;
    if (of->layout)
        options.mode = strcmp(of->layout, "paper") == 0 ? BRY_WINDOW_PAPER : BRY_WINDOW_IMPROVED;
    options.window = in->window;
    options.capacity = in->items;
    options.error = in->error;
    bry_window_shape shape;
    bry_status status = bry_window_plan(&options, &shape);
    if (status == BRY_OK)
        *out = (costs){
            .bytes = shape.bytes,
            .bytes_empty = shape.bytes_empty,
            .hashes = shape.hashes,
            .bits_per_item = (double)shape.bytes * 8 / (double)in->items,
            .error = shape.error,
            .window = shape.window,
            .longest = shape.longest,
            .generations = shape.generations,
        };
    return status;
}

/* The operations within one window, and none of the counters. */
static bry_status plan_counter(const job *of, const inputs *in, costs *out)
{
    bry_counter_options options = BRY_COUNTER_OPTIONS;
    options.engine = of->engine;
    options.window = in->window;
    options.capacity = in->items;
    options.error = in->error;
    bry_counter_shape shape;
    bry_status status = bry_counter_plan(&options, &shape);
    if (status == BRY_OK)
        *out = (costs){
            .bytes = shape.bytes,
            .bytes_empty = shape.bytes_empty,
            .bits_per_item = (double)shape.bytes * 8 / (double)in->items,
            .error = shape.error,
            .window = shape.window,
            .longest = shape.longest,
            .bytes_per_counter = shape.bytes_per_counter,
        };
    return status;
}

#define WINDOW_LIMITS "items 1 to 2^40, error 1e-12 to 0.5, windows up to 2^52 ms"
#define INDEX_LIMITS "items 1 to 2^40, error 1e-9 to 0.5, subsets 1 to 2^20"

static const job jobs[] = {
    {"filter", BRY_ENGINE_BLOOM, NULL, plan_filter, "items 1 to 2^40, error 1e-9 to 0.5"},
    {"filter", BRY_ENGINE_COMPACT, NULL, plan_filter, "items 1 to 2^40, error 1e-9 to 0.5"},
    {"map", BRY_ENGINE_COMPACT, NULL, plan_map,
     "items 1 to 2^40, error 1e-9 to 0.5, values 1 to 2^32 - 1"},
    {"map", BRY_ENGINE_KBF, "tuned", plan_map,
     "items 1 to 2^40, error 1e-9 to 0.5, values 1 to 16383"},
    {"map", BRY_ENGINE_KBF, "paper", plan_map,
     "items 1 to 2^40, error 1e-9 to 0.5, values 1 to 16383"},
    {"window", BRY_ENGINE_COMPACT, NULL, plan_window, WINDOW_LIMITS},
    {"window", BRY_ENGINE_FBF, "improved", plan_window, WINDOW_LIMITS},
    {"window", BRY_ENGINE_FBF, "paper", plan_window, WINDOW_LIMITS},
    {"counter", BRY_ENGINE_COMPACT, NULL, plan_counter, WINDOW_LIMITS},
    {"counter", BRY_ENGINE_FBF, NULL, plan_counter, WINDOW_LIMITS},
    {"index", BRY_ENGINE_COMPACT, NULL, plan_index, INDEX_LIMITS},
    {"index", BRY_ENGINE_DBA, NULL, plan_index, INDEX_LIMITS},
};
enum { JOBS = sizeof jobs / sizeof jobs[0] };

/* What a standard Bloom filter takes by the textbook: m = n·ln(1/p)/ln²2 bits, k = log2(1/p). The
 * measure that readers know; nothing here creates one. */
static costs standard_bloom(const inputs *in)
{
    double n = (double)in->items;
    double bits = ceil(n * -log(in->error) / (M_LN2 * M_LN2));
    double hashes = fmax(1, round(-log2(in->error)));
    return (costs){
        .bytes = (uint64_t)ceil(bits / 8),
        .hashes = (uint64_t)hashes,
        .bits_per_item = bits / n,
        .error = pow(-expm1(-hashes * n / bits), hashes),
    };
}

static void write_row(cli_json *json, const char *key, const job *of, const char *engine,
                      const inputs *in, const costs *cost, bool exists)
{
    cli_json_open(json, key, '{');
    cli_json_text(json, "job", of->name);
    cli_json_text(json, "engine", engine);
    if (of->layout)
        cli_json_text(json, cost->window ? "mode" : "layout", of->layout);
    cli_json_count(json, "items", in->items);
    cli_json_number(json, "error", in->error);
    cli_json_count(json, "bytes", cost->bytes);
    if (exists)
        cli_json_count(json, "bytes_empty", cost->bytes_empty);
    cli_json_number(json, "bits_per_item", cost->bits_per_item);
    cli_json_count(json, "hashes", cost->hashes);
    cli_json_number(json, "expected_error", cost->error);
    if (cost->is_map) {
        cli_json_number(json, "false_positive", cost->errors.false_positive);
        cli_json_number(json, "false_negative", cost->errors.false_negative);
        cli_json_number(json, "incorrect", cost->errors.incorrect);
        cli_json_count(json, "values", cost->values);
        cli_json_count(json, "value_bits", cost->value_bits);
    }
    if (cost->subsets) {
        cli_json_count(json, "subsets", cost->subsets);
        cli_json_count(json, "group", cost->group);
    }
    if (cost->window) {
        cli_json_count(json, "window_ms", cost->window);
        cli_json_count(json, "longest_ms", cost->longest);
    }
    if (cost->generations)
        cli_json_count(json, "generations", cost->generations);
    if (cost->bytes_per_counter)
        cli_json_count(json, "bytes_per_counter", cost->bytes_per_counter);
    cli_json_close(json, '}');
}

static void print_json(const inputs *in, const costs *cost, const bool *wanted)
{
    cli_json json = CLI_JSON_TO(stdout);
    costs standard = standard_bloom(in);
    cli_json_open(&json, NULL, '{');
    cli_json_open(&json, "plans", '[');
    for (int i = 0; i < JOBS; i++)
        if (wanted[i])
            write_row(&json, NULL, &jobs[i], bry_engine_name(jobs[i].engine), in, &cost[i], true);
    cli_json_close(&json, ']');
    write_row(&json, "for_comparison", &jobs[0], "standard Bloom filter (textbook)", in, &standard,
              false);
    cli_json_close(&json, '}');
}

static void fill_row(cli_table *table, const char *job_name, const char *engine, const char *layout,
                     const costs *cost)
{
    cli_table_add(table, "%s", job_name);
    cli_table_add(table, "%s%s%s", engine, layout ? ", " : "", layout ? layout : "");
    cli_table_add(table, "%llu", (unsigned long long)cost->bytes);
    if (cost->bytes_empty)
        cli_table_add(table, "%llu", (unsigned long long)cost->bytes_empty);
    else
        cli_table_add(table, "-");
    cli_table_add(table, "%.2f", cost->bits_per_item);
    if (cost->hashes)
        cli_table_add(table, "%llu", (unsigned long long)cost->hashes);
    else
        cli_table_add(table, "-");
    cli_table_add(table, "%.4g", cost->error);
}

static int print_table(const inputs *in, const costs *cost, const bool *wanted)
{
    static const char *const head[] = {"job",       "engine", "bytes",         "bytes empty",
                                       "bits/item", "hashes", "expected error"};
    cli_table table = CLI_TABLE("llrrrrr");
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        cli_table_add(&table, "%s", head[i]);
    for (int i = 0; i < JOBS; i++)
        if (wanted[i])
            fill_row(&table, jobs[i].name, bry_engine_name(jobs[i].engine), jobs[i].layout,
                     &cost[i]);
    costs standard = standard_bloom(in);
    fill_row(&table, "(for comparison)", "standard Bloom, textbook", NULL, &standard);

    printf("%llu items, error %g\n\n", (unsigned long long)in->items, in->error);
    bool printed = cli_table_print(&table, stdout);
    cli_table_free(&table);
    return printed ? CLI_YES : cli_fail(BRY_E_NOMEM, "%s", bry_status_text(BRY_E_NOMEM));
}

/* Marks the rows that this engine's name picks; a message and the exit code when there are none. */
static int pick_engine(const char *name, bool *wanted)
{
    bry_engine engine = BRY_ENGINE_AUTO;
    if (name && bry_engine_parse(name, &engine) != BRY_OK)
        return cli_misuse("plan", "--engine: there is no engine %s", cli_quote(name).text);
    bool any = false;
    for (int i = 0; i < JOBS; i++)
        any |= wanted[i] = engine == BRY_ENGINE_AUTO || engine == jobs[i].engine;
    return any ? CLI_GO_ON
               : cli_misuse("plan", "--engine: no job of this build has the engine %s", name);
}

/* Unmarks the rows that cannot be had with these inputs; a message when that is all of them. */
static int plan_all(const inputs *in, costs *cost, bool *wanted)
{
    const job *refused = NULL;
    bool any = false;
    for (int i = 0; i < JOBS; i++) {
        const job *of = &jobs[i];
        bry_status status = wanted[i] ? of->plan(of, in, &cost[i]) : BRY_OK;
        if (status != BRY_OK && status != BRY_E_RANGE)
            return cli_fail(status, "%s %s: %s", of->name, bry_engine_name(of->engine),
                            bry_status_text(status));
        if (status == BRY_E_RANGE && !refused)
            refused = of;
        wanted[i] = wanted[i] && status == BRY_OK;
        any |= wanted[i];
    }
    return any ? CLI_GO_ON
               : cli_misuse("plan", "%s %s takes %s", refused->name,
                            bry_engine_name(refused->engine), refused->limits);
}

/* As many as come within a window. */
static int items_of_rate(uint64_t rate, inputs *in)
{
    uint64_t product;
    if (__builtin_mul_overflow(rate, in->window, &product))
        return cli_misuse("plan", "--rate: so many within --window are too many");
    in->items = product / 1000 + (product % 1000 != 0);
    return CLI_GO_ON;
}

int cli_plan(int argc, char **argv)
{
    inputs in = {.subsets = 64, .window = 60000};
    uint64_t rate = 0;
    const char *engine = NULL;
    bool as_json = false;
    cli_option options[] = {
        {"items", CLI_COUNT, "N", "keys to plan for, such as 5000, 10M, 1e6 or 2^20", &in.items, 0},
        {"error", CLI_SHARE, "P", "wrong answers to allow, such as 0.01, 0.1% or 1e-3", &in.error,
         0},
        {"values", CLI_COUNT, "V", "of map: distinct values (default 1000)", &in.values, 0},
        {"subsets", CLI_COUNT, "R", "of index: subsets that hold the keys (default 64)",
         &in.subsets, 0},
        {"window", CLI_SPAN, "T", "of window and counter: how long they remember (default 60s)",
         &in.window, 0},
        {"rate", CLI_COUNT, "R", "of those: new keys a second, instead of --items in a window",
         &rate, 0},
        {"engine", CLI_TEXT, "E",
         "only this engine: bloom, compact, kbf, fbf or dba; auto is all (default)", &engine, 0},
        {"json", CLI_FLAG, NULL, "JSON instead of a table", &as_json, 0},
    };
    const cli_syntax syntax = {
        .command = "plan",
        .usage = "--items N --error P [options]",
        .about =
            "What each job and engine costs and how often it errs, before anything is created.\n"
            "Creating a filter of engine bloom with the same numbers allocates exactly these\n"
            "bytes; the others are planned to grow, maps without the bytes of the values and\n"
            "counters without the counters. Left out is what cannot be had with these numbers.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .examples = "  bloomery plan --items 10M --error 0.1%\n"
                    "  bloomery plan --rate 5k --window 10m --error 1e-6 --json",
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code != CLI_GO_ON)
        return code;
    if (rate && in.items)
        return cli_misuse("plan", "--rate does not go with --items");
    if (rate) {
        code = items_of_rate(rate, &in);
        if (code != CLI_GO_ON)
            return code;
    }
    for (int i = 0; i < 2; i++)
        if (!options[i].given && !(i == 0 && rate))
            return cli_misuse("plan", "--%s is needed", options[i].name);

    bool wanted[JOBS] = {0};
    code = pick_engine(engine, wanted);
    if (code != CLI_GO_ON)
        return code;
    costs cost[JOBS] = {0};
    code = plan_all(&in, cost, wanted);
    if (code != CLI_GO_ON)
        return code;
    if (!as_json)
        return print_table(&in, cost, wanted);
    print_json(&in, cost, wanted);
    return CLI_YES;
}
