/* bloomery plan: bytes and errors by job and engine, before anything is created. */
#include "cli/core/args.h"
#include "cli/core/command.h"
#include "cli/core/json/json_write.h"
#include "cli/core/limits.h"
#include "cli/core/output/output.h"
#include "cli/core/output/text_table.h"
#include "cli/plan_cluster.h"
#include "cli/plan_jobs.h"
#include "text/number_format.h"

#include <string.h>

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
        return cli_misuse("plan", "--engine: there is no engine %s", cli_quote(name).text);
    bool any = false, any_job = false;
    for (size_t i = 0; i < plan_job_count; i++) {
        bool of_job = !job || strcmp(job, plan_jobs[i].name) == 0;
        any_job |= of_job;
        wanted[i] = of_job && (engine == BRY_ENGINE_AUTO || engine == plan_jobs[i].engine);
        any |= wanted[i];
    }
    if (!any_job)
        return cli_misuse("plan", "--job: %s is not one of filter, map, window, counter and index",
                          cli_quote(job).text);
    return any ? CLI_GO_ON : cli_misuse("plan", "--engine: job %s has no engine %s", job, name);
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
                           : cli_misuse("plan", "%s %s takes %s", refused->name,
                                        bry_engine_name(refused->engine), refused->limits);
}

/* The number of keys within a window. */
static int items_of_rate(uint64_t rate, plan_inputs *in)
{
    uint64_t product;
    if (__builtin_mul_overflow(rate, in->window, &product))
        return cli_misuse("plan", "--rate: too many keys within --window");
    in->items = product / 1000 + (product % 1000 != 0);
    return CLI_GO_ON;
}

/* Computes the items from the rate, and checks that nothing is missing. */
static int check_plan_inputs(uint64_t rate, plan_inputs *in)
{
    if (rate && in->items)
        return cli_misuse("plan", "--rate cannot be combined with --capacity");
    int code = rate ? items_of_rate(rate, in) : CLI_GO_ON;
    if (code == CLI_GO_ON && !in->items)
        code = cli_misuse("plan", "missing --capacity");
    if (code == CLI_GO_ON && !(in->error > 0))
        code = cli_misuse("plan", "missing --error");
    if (code == CLI_GO_ON && in->raw > BRY_MAP_VALUE_BITS_MAX)
        code = cli_misuse("plan", "--raw: values have 1 to %u bits", BRY_MAP_VALUE_BITS_MAX);
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
            "plan", cluster ? "--%s cannot be combined with --cluster" : "--%s needs --cluster",
            name);
    if (first_given(syntax, values) && first_given(syntax, raw))
        return cli_misuse("plan", "--values cannot be combined with --raw");
    return CLI_GO_ON;
}

static const char *plan_engine_help(void)
{
    static char text[160];
    int len = snprintf(text, sizeof text, "only this engine: ");
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
        .command = "plan",
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
