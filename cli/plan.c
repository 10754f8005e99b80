/* bloomery plan: bytes and errors by job and engine, before anything is created. */
#include "cli/core/args.h"
#include "cli/core/command.h"
#include "cli/core/json/json_write.h"
#include "cli/core/limits.h"
#include "cli/core/output/output.h"
#include "cli/core/output/text_table.h"
#include "cli/plan_cluster.h"
#include "text/number_format.h"

#include <bloomery/job.h>
#include <bloomery/map.h>
#include <math.h>
#include <string.h>

/* ---- the cost of each job and engine, from the functions that create uses ------------------- */

typedef struct plan_inputs {
    uint64_t items;
    uint64_t values; /* 0: the default */
    uint64_t raw; /* Width of a map's integers in bits; 0 if values are byte strings. */
    uint64_t units; /* of an index */
    uint64_t window; /* ms; of a window and a counter, whose items are those within it */
    double error;
} plan_inputs;

typedef struct plan_costs {
    uint64_t bytes; /* Memory with all items. */
    uint64_t bytes_empty; /* Memory of the empty object. */
    uint64_t hashes; /* Positions per key; 0 if the engine has none. */
    double bits_per_item; /* `bytes` by the number of items, in bits. */
    double error; /* The expected error. */
    bool is_fixed; /* The object does not grow. */
    uint64_t grows_to; /* Items with which a growing object is full; 0: only memory limits it. */
    bool is_map; /* The job is map. */
    bry_map_errors errors; /* The errors of a map. */
    uint64_t values; /* Distinct values of a map. */
    uint32_t value_bits; /* Bits of a stored value of a map. */
    uint64_t units; /* Units of an index; 0 for other jobs. */
    uint32_t group; /* Units of an index that are tested together. */
    uint64_t window; /* Length of a window or of a counter's, in ms; 0 for other jobs. */
    uint64_t longest; /* Time after which an element of a window is certainly forgotten, in ms. */
    uint32_t generations; /* Generations of a window; 0 for other jobs. */
    uint64_t bytes_per_counter; /* Memory of one more counter; 0 for other jobs. */
} plan_costs;

typedef struct plan_job plan_job;
typedef bry_status planner(const plan_job *of, const plan_inputs *in, plan_costs *out);

struct plan_job {
    const char *name;
    bry_engine engine;
    const char *layout; /* if the engine has more than one, else NULL */
    planner *plan;
    const char *limits; /* for the message if the inputs are out of range */
};

enum { PLAN_JOBS_MOST = 64 };

static bry_status plan_filter(const plan_job *of, const plan_inputs *in, plan_costs *out)
{
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.engine = of->engine;
    options.capacity = in->items;
    options.error = in->error;
    bry_filter_shape shape = {0};
    bry_status status = bry_filter_plan(&options, &shape);
    *out = (plan_costs){
        .bytes = shape.bytes,
        .bytes_empty = shape.bytes_empty,
        .is_fixed = of->engine == BRY_ENGINE_BLOOM,
        .grows_to = shape.grows_to,
        .hashes = shape.bloom.hashes,
        .error = shape.error,
    };
    return status;
}

static bry_status plan_map(const plan_job *of, const plan_inputs *in, plan_costs *out)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    options.engine = of->engine;
    options.capacity = in->items;
    options.values = in->values;
    options.value_bits = (uint32_t)in->raw;
    options.error = in->error;
    if (of->layout)
        options.kbf.layout = strcmp(of->layout, "paper") == 0 ? BRY_MAP_PAPER : BRY_MAP_TUNED;
    bry_map_shape shape = {0};
    bry_status status = bry_map_plan(&options, &shape);
    *out = (plan_costs){
        .bytes = shape.bytes,
        .bytes_empty = shape.bytes_empty,
        .grows_to = shape.grows_to,
        .hashes = shape.kbf.hashes,
        /* the requested error bounds the first, and the sum of the others */
        .error =
            fmax(shape.errors.false_positive, shape.errors.false_negative + shape.errors.incorrect),
        .is_map = true,
        .errors = shape.errors,
        .values = shape.values,
        .value_bits = shape.value_bits,
    };
    return status;
}

/* The items in `units` units of equal size. */
static bry_status plan_index(const plan_job *of, const plan_inputs *in, plan_costs *out)
{
    bry_index_options options = BRY_INDEX_OPTIONS;
    if (in->items > BRY_CAPACITY_MAX || in->units > BRY_INDEX_UNITS_MAX)
        return BRY_E_RANGE;
    options.engine = of->engine;
    options.units = (uint32_t)in->units;
    options.unit_capacity = (in->items - 1) / in->units + 1;
    options.error = in->error;
    bry_index_shape shape = {0};
    bry_status status = bry_index_plan(&options, &shape);
    *out = (plan_costs){
        .bytes = shape.bytes,
        .bytes_empty = shape.bytes_empty,
        .grows_to = shape.grows_to,
        .hashes = shape.dba.hashes,
        .error = shape.error,
        .units = in->units,
        .group = shape.dba.group,
    };
    return status;
}

/* The items within one window. */
static bry_status plan_window(const plan_job *of, const plan_inputs *in, plan_costs *out)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.engine = of->engine;
    options.window = in->window;
    options.capacity = in->items;
    options.error = in->error;
    bry_window_shape shape = {0};
    bry_status status = bry_window_plan(&options, &shape);
    *out = (plan_costs){
        .bytes = shape.bytes,
        .bytes_empty = shape.bytes_empty,
        .grows_to = shape.grows_to,
        .hashes = shape.fbf.hashes,
        .error = shape.error,
        .window = shape.window,
        .longest = shape.longest,
        .generations = shape.generations,
    };
    return status;
}

/* The operations within one window, without the counters themselves. */
static bry_status plan_counter(const plan_job *of, const plan_inputs *in, plan_costs *out)
{
    bry_counters_options options = BRY_COUNTERS_OPTIONS;
    options.engine = of->engine;
    options.window = in->window;
    options.capacity = in->items;
    options.error = in->error;
    bry_counters_shape shape = {0};
    bry_status status = bry_counters_plan(&options, &shape);
    *out = (plan_costs){
        .bytes = shape.bytes,
        .bytes_empty = shape.bytes_empty,
        .grows_to = shape.grows_to,
        .error = shape.error,
        .window = shape.window,
        .longest = shape.longest,
        .bytes_per_counter = shape.bytes_per_counter,
    };
    return status;
}

#define LIMITS(least_error) "capacity 1 to " CLI_CAPACITY_MOST ", error " CLI_ERRORS(least_error)
#define FILTER_LIMITS LIMITS(BRY_FILTER_ERROR_MIN)
#define MAP_LIMITS LIMITS(BRY_MAP_ERROR_MIN) ", values 1 to "
#define WINDOW_LIMITS LIMITS(BRY_WINDOW_ERROR_MIN) ", windows up to " CLI_SPAN_MOST CLI_COMBINATIONS
#define INDEX_LIMITS LIMITS(BRY_INDEX_ERROR_MIN) ", units 1 to " CLI_UNITS_MOST CLI_COMBINATIONS

#define KBF_LIMITS MAP_LIMITS CLI_KBF_VALUES_MOST CLI_COMBINATIONS

static const struct {
    planner *plan;
    const char *limits;
} planners[] = {
    [BRY_JOB_FILTER] = {plan_filter, FILTER_LIMITS},
    [BRY_JOB_MAP] = {plan_map, MAP_LIMITS CLI_VALUES_MOST CLI_COMBINATIONS},
    [BRY_JOB_WINDOW] = {plan_window, WINDOW_LIMITS},
    [BRY_JOB_COUNTERS] = {plan_counter, WINDOW_LIMITS},
    [BRY_JOB_INDEX] = {plan_index, INDEX_LIMITS},
};

/* All jobs with all their engines; returns how many. */
static size_t plan_jobs_list(plan_job jobs[PLAN_JOBS_MOST])
{
    size_t n = 0;
    for (bry_job job = 0; bry_job_name(job); job++)
        for (size_t i = 0; bry_job_engine_at(job, i) != BRY_ENGINE_AUTO; i++) {
            bool kbf = bry_job_engine_at(job, i) == BRY_ENGINE_KBF;
            for (int layout = 0; layout <= kbf && n < PLAN_JOBS_MOST; layout++)
                jobs[n++] = (plan_job){bry_job_name(job), bry_job_engine_at(job, i),
                                       kbf ? layout ? "paper" : "tuned" : NULL, planners[job].plan,
                                       kbf ? KBF_LIMITS : planners[job].limits};
        }
    return n;
}

/* The size of a standard Bloom filter by the textbook: m = n·ln(1/p)/ln²2 bits, k = log2(1/p), as a
 * well-known reference; nothing here creates one. */
static plan_costs plan_standard_bloom(const plan_inputs *in)
{
    double n = (double)in->items;
    double bits = ceil(n * -log(in->error) / (M_LN2 * M_LN2));
    double hashes = fmax(1, round(-log2(in->error)));
    return (plan_costs){
        .bytes = (uint64_t)ceil(bits / 8),
        .hashes = (uint64_t)hashes,
        .bits_per_item = bits / n,
        .error = pow(-expm1(-hashes * n / bits), hashes),
    };
}

/* ---- the command ----------------------------------------------------------------------------- */

/* The server's default for bloomery.max-key-bytes. */
#define SERVER_KEY_BYTES ((uint64_t)256 << 20)

static plan_job plan_jobs[PLAN_JOBS_MOST];
static size_t plan_job_count;

static void write_row(cli_json *json, const char *key, const plan_job *of, const char *engine,
                      const plan_inputs *in, const plan_costs *cost, bool exists)
{
    cli_json_open(json, key, '{');
    cli_json_text(json, "job", of->name);
    cli_json_text(json, "engine", engine);
    if (of->layout)
        cli_json_text(json, "layout", of->layout);
    cli_json_count(json, "capacity", in->items);
    cli_json_number(json, "error", in->error);
    cli_json_count(json, "bytes", cost->bytes);
    if (exists)
        cli_json_count(json, "bytes_empty", cost->bytes_empty);
    cli_json_number(json, "bits_per_item", cost->bits_per_item);
    cli_json_count(json, "hashes", cost->hashes);
    cli_json_number(json, "expected_error", cost->error);
    if (exists)
        cli_json_count(json, "grows_to", cost->grows_to);
    if (cost->is_map) {
        cli_json_number(json, "false_positive", cost->errors.false_positive);
        cli_json_number(json, "false_negative", cost->errors.false_negative);
        cli_json_number(json, "incorrect", cost->errors.incorrect);
        cli_json_count(json, "values", cost->values);
        cli_json_count(json, "value_bits", cost->value_bits);
    }
    if (cost->units) {
        cli_json_count(json, "units", cost->units);
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

static void print_plan_json(const plan_inputs *in, const plan_costs *cost, const bool *wanted)
{
    cli_json json = CLI_JSON_TO(stdout);
    plan_costs standard = plan_standard_bloom(in);
    cli_json_open(&json, NULL, '{');
    cli_json_open(&json, "plans", '[');
    for (size_t i = 0; i < plan_job_count; i++)
        if (wanted[i])
            write_row(&json, NULL, &plan_jobs[i], bry_engine_name(plan_jobs[i].engine), in,
                      &cost[i], true);
    cli_json_close(&json, ']');
    write_row(&json, "for_comparison", &plan_jobs[0], "standard Bloom filter (textbook)", in,
              &standard, false);
    cli_json_count(&json, "server_key_limit", SERVER_KEY_BYTES);
    cli_json_close(&json, '}');
}

/* Whether it exceeds the limit of a server's key. Rows for comparison are not server keys. */
static bool plan_too_large(const plan_costs *cost)
{
    return cost->bytes_empty && cost->bytes > SERVER_KEY_BYTES;
}

/* What ends the growth, and with how many items. */
static void add_end_of_growth(cli_table *table, const plan_costs *cost)
{
    if (!cost->bytes_empty || cost->is_fixed)
        cli_table_add(table, "-");
    else if (cost->grows_to == 0)
        cli_table_add(table, "memory");
    else if (cost->grows_to == BRY_CAPACITY_MAX)
        cli_table_add(table, CLI_CAPACITY_MOST);
    else
        cli_table_add(table, "%.3g", (double)cost->grows_to);
}

static void fill_plan_row(cli_table *table, const char *job_name, const char *engine,
                          const char *layout, const plan_costs *cost, bool starred)
{
    cli_table_add(table, "%s", job_name);
    cli_table_add(table, "%s%s%s", engine, layout ? ", " : "", layout ? layout : "");
    cli_table_add(table, "%s%s", text_size_of(cost->bytes).text,
                  plan_too_large(cost) ? " *"
                  : starred            ? "  "
                                       : "");
    if (cost->bytes_empty)
        cli_table_add(table, "%s", text_size_of(cost->bytes_empty).text);
    else
        cli_table_add(table, "-");
    cli_table_add(table, "%.2f", cost->bits_per_item);
    if (cost->hashes)
        cli_table_add(table, "%llu", (unsigned long long)cost->hashes);
    else
        cli_table_add(table, "-");
    cli_table_add(table, "%.4g", cost->error);
    add_end_of_growth(table, cost);
}

static int print_table(const plan_inputs *in, const plan_costs *cost, const bool *wanted)
{
    static const char *const head[] = {"job",       "engine", "size",           "empty",
                                       "bits/item", "hashes", "expected error", "grows to"};
    cli_table table = CLI_TABLE("llrrrrrr");
    bool starred = false;
    for (size_t i = 0; i < plan_job_count; i++)
        starred |= wanted[i] && plan_too_large(&cost[i]);
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        cli_table_add(&table, "%s", head[i]);
    for (size_t i = 0; i < plan_job_count; i++)
        if (wanted[i])
            fill_plan_row(&table, plan_jobs[i].name, bry_engine_name(plan_jobs[i].engine),
                          plan_jobs[i].layout, &cost[i], starred);
    plan_costs standard = plan_standard_bloom(in);
    fill_plan_row(&table, "(for comparison)", "standard Bloom, textbook", NULL, &standard, starred);

    printf("%llu items, error %g\n\n", (unsigned long long)in->items, in->error);
    bool printed = cli_table_print(&table, stdout);
    cli_table_free(&table);
    if (starred)
        printf("\n* larger than a key of a server may be by default (bloomery.max-key-bytes, %s):\n"
               "  raise that setting, or spread the items over several keys\n",
               text_size_of(SERVER_KEY_BYTES).text);
    return printed ? CLI_YES : cli_no_memory();
}

/* Marks the rows of this job and engine; NULL: all. If no row matches, prints a message and returns
 * the exit code. */
static int pick_plans(const char *job, const char *name, bool *wanted)
{
    bry_engine engine = BRY_ENGINE_AUTO;
    if (name && bry_engine_parse(name, &engine) != BRY_OK)
        return cli_misuse("--engine: there is no engine %s", cli_quote(name).text);
    bool any = false, any_job = false;
    for (size_t i = 0; i < plan_job_count; i++) {
        bool of_job = !job || strcmp(job, plan_jobs[i].name) == 0;
        any_job |= of_job;
        wanted[i] = of_job && (engine == BRY_ENGINE_AUTO || engine == plan_jobs[i].engine);
        any |= wanted[i];
    }
    if (!any_job)
        return cli_misuse("--job: %s is not one of filter, map, window, counter and index",
                          cli_quote(job).text);
    return any ? CLI_GO_ON : cli_misuse("--engine: job %s has no engine %s", job, name);
}

/* Unmarks the rows that are not possible with these inputs; prints a message if none is left. */
static int plan_all(const plan_inputs *in, plan_costs *cost, bool *wanted)
{
    const plan_job *refused = NULL;
    bool any = false;
    for (size_t i = 0; i < plan_job_count; i++) {
        const plan_job *of = &plan_jobs[i];
        bry_status status = wanted[i] ? of->plan(of, in, &cost[i]) : BRY_OK;
        cost[i].bits_per_item = (double)cost[i].bytes * 8 / (double)in->items;
        if (status != BRY_OK && status != BRY_E_RANGE)
            return cli_fail("%s %s: %s", of->name, bry_engine_name(of->engine),
                            bry_status_text(status));
        if (status == BRY_E_RANGE && !refused)
            refused = of;
        wanted[i] = wanted[i] && status == BRY_OK;
        any |= wanted[i];
    }
    return any || !refused ? CLI_GO_ON
                           : cli_misuse("%s %s takes %s", refused->name,
                                        bry_engine_name(refused->engine), refused->limits);
}

/* The number of keys within a window. */
static int items_of_rate(uint64_t rate, plan_inputs *in)
{
    uint64_t product;
    if (__builtin_mul_overflow(rate, in->window, &product))
        return cli_misuse("--rate: too many keys within --window");
    in->items = product / 1000 + (product % 1000 != 0);
    return CLI_GO_ON;
}

/* Computes the items from the rate, and checks that nothing is missing. */
static int check_plan_inputs(uint64_t rate, plan_inputs *in)
{
    if (rate && in->items)
        return cli_misuse("--rate cannot be combined with --capacity");
    int code = rate ? items_of_rate(rate, in) : CLI_GO_ON;
    if (code == CLI_GO_ON && !in->items)
        code = cli_misuse("missing --capacity");
    if (code == CLI_GO_ON && !(in->error > 0))
        code = cli_misuse("missing --error");
    if (code == CLI_GO_ON && in->raw > BRY_MAP_VALUE_BITS_MAX)
        code = cli_misuse("--raw: values have 1 to %u bits", BRY_MAP_VALUE_BITS_MAX);
    return code;
}

static int print_plans(const plan_inputs *in, const char *job, const char *engine, bool as_json)
{
    bool wanted[PLAN_JOBS_MOST] = {0};
    plan_costs cost[PLAN_JOBS_MOST] = {0};
    plan_job_count = plan_jobs_list(plan_jobs);
    int code = pick_plans(job, engine, wanted);
    if (code == CLI_GO_ON)
        code = plan_all(in, cost, wanted);
    if (code != CLI_GO_ON)
        return code;
    if (!as_json)
        return print_table(in, cost, wanted);
    print_plan_json(in, cost, wanted);
    return CLI_YES;
}

static const char about_text[] =
    "Prints the memory and the error of each job and engine, before anything is created.\n"
    "A filter of engine bloom takes exactly these bytes. The others are estimates for\n"
    "growable objects, without the bytes of values and without the counters themselves.\n"
    "Combinations that are not possible are omitted. \"grows to\" is the number of items\n"
    "at which an object is full: 2^40, or fewer if fingerprints would need more than 62\n"
    "bits; \"memory\" is as many as fit in memory.\n"
    "\n"
    "With --cluster: a map that is spread over a cluster, its slabs, nodes and memory, and\n"
    "how long moves take, at 12 ms of processor time per MB.";
static const char more_text[] =
    "Sizes in the table are rounded; --json has exact bytes. An asterisk marks sizes\n"
    "above the default memory limit for a key on a server.";
static const char examples_text[] =
    "  bloomery plan --capacity 10M --error 0.1%\n"
    "  bloomery plan --job index --capacity 2e9 --units 1000 --error 1e-3\n"
    "  bloomery plan --rate 5k --window 10m --error 1e-6 --json\n"
    "  bloomery plan --cluster --capacity 1e12 --error 0.1% --raw 12 --node-memory 64GB";

/* The first of these options that was given, or NULL. */
static const char *first_given(const cli_syntax *syntax, const char *const *names)
{
    for (; *names; names++)
        for (size_t i = 0; i < syntax->option_count; i++)
            if (syntax->given[i] && strcmp(syntax->options[i].name, *names) == 0)
                return *names;
    return NULL;
}

/* Checks which options were given together. */
static int check_plan_mix(const cli_syntax *syntax, bool cluster)
{
    static const char *const without[] = {"units", "window", "rate", "job", NULL};
    static const char *const with[] = {"primaries", "node-memory", "replicas", NULL};
    static const char *const values[] = {"values", NULL}, *const raw[] = {"raw", NULL};
    const char *name = first_given(syntax, cluster ? without : with);
    if (name)
        return cli_misuse(
            cluster ? "--%s cannot be combined with --cluster" : "--%s needs --cluster", name);
    if (first_given(syntax, values) && first_given(syntax, raw))
        return cli_misuse("--values cannot be combined with --raw");
    return CLI_GO_ON;
}

static const char *plan_engine_help(void)
{
    static char text[160];
    int len = snprintf(text, sizeof text, "only ");
    for (bry_engine i = BRY_ENGINE_AUTO + 1; bry_engine_name(i) && len < (int)sizeof text; i++)
        len += snprintf(text + len, sizeof text - (size_t)len, "%s%s", bry_engine_name(i),
                        !bry_engine_name(i + 1)   ? "; auto is all (default)"
                        : !bry_engine_name(i + 2) ? " or "
                                                  : ", ");
    return text;
}

int cli_plan(int argc, char **argv)
{
    plan_inputs in = {.units = 64, .window = 60000};
    uint64_t rate = 0;
    const char *engine = NULL, *job = NULL;
    bool as_json = false, is_cluster = false;
    plan_cluster_inputs cluster = {.memory = (uint64_t)16 << 30};
    cli_option options[] = {
        {"capacity", CLI_COUNT, "N", "keys to plan for, such as 5000, 10M, 1e6 or 2^20", &in.items},
        {"error", CLI_SHARE, "P", "permitted share of wrong answers, such as 0.01, 0.1% or 1e-3",
         &in.error},
        {"values", CLI_COUNT, "V", "map: distinct values (default 1000)", &in.values},
        {"raw", CLI_COUNT, "BITS", "map: values are integers of BITS bits", &in.raw},
        {"units", CLI_COUNT, "R", "index: number of units (default 64)", &in.units},
        {"window", CLI_SPAN, "T", "window, counter: how long they remember (default 60s)",
         &in.window},
        {"rate", CLI_COUNT, "R", "window, counter: new keys per second, instead of --capacity",
         &rate},
        {"job", CLI_TEXT, "J", "only this job: filter, map, window, counter or index", &job},
        {"engine", CLI_TEXT, "E", plan_engine_help(), &engine},
        {"cluster", CLI_FLAG, NULL,
         "a map that is spread over a cluster of servers; with it:", &is_cluster},
        {"primaries", CLI_PLAIN, "N", "primaries (default: as few as have the memory)",
         &cluster.primaries},
        {"node-memory", CLI_BYTES, "B", "memory of a node; maps get 3/4 of it (default 16GB)",
         &cluster.memory},
        {"replicas", CLI_TEXT, "N", "replicas of each primary (default 1)", &cluster.replicas},
        {"json", CLI_FLAG, NULL, "JSON instead of a table", &as_json},
    };
    bool given[sizeof options / sizeof options[0]] = {false};
    const cli_syntax syntax = {
        .usage = "--capacity N --error P [options]",
        .about = about_text,
        CLI_OPTIONS(options),
        .given = given,
        .more = more_text,
        .examples = examples_text,
    };
    size_t words;
    int code = cli_read_args(&syntax, argc, argv, &words);
    if (code != CLI_GO_ON)
        return code;
    code = check_plan_mix(&syntax, is_cluster);
    if (code == CLI_GO_ON)
        code = check_plan_inputs(rate, &in);
    if (code != CLI_GO_ON || !is_cluster)
        return code == CLI_GO_ON ? print_plans(&in, job, engine, as_json) : code;
    cluster.pairs = in.items;
    cluster.error = in.error;
    cluster.values = in.values;
    cluster.raw = in.raw;
    cluster.engine = engine;
    return cli_plan_cluster(&cluster, as_json);
}
