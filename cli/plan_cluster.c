/*
 * bloomery plan --cluster: nodes, slabs, memory and the time of moves, for a distributed map.
 *
 * The number of slabs is what clients choose when they create a map (doc/cluster.md): slabs of a
 * million pairs and 16 MB at most, 32 per primary at least. What the servers need besides is
 * measured: 200 bytes for the key of a slab, and 8 % for the sizes that the allocator rounds up; for
 * MIGRATE, which copies a slab while both nodes do nothing else, 12 ms of processor time per MB (7
 * on the source, 5 on the target).
 */
#include "cli/plan_cluster.h"
#include "cli/core/args.h"
#include "cli/core/command.h"
#include "cli/core/json/json_write.h"
#include "cli/core/output/output.h"
#include "cli/core/output/text_table.h"
#include "text/number_format.h"
#include "text/number_parse.h"

#include <bloomery/map.h>
#include <math.h>
#include <string.h>

#define SLOTS 16384u
#define SLAB_PAIRS 1000000u
#define SLAB_BYTES 16000000u
#define SLAB_LEAST 64u
#define SLABS_PER_PRIMARY 32u
#define KEY_BYTES 200u
#define ROUNDING 1.08
#define MIGRATE_MS_PER_MB 12.0
#define PRIMARIES_LEAST 3u /* fewer cannot elect a replica */
#define NODES_MOST 1000u /* that the servers' gossip is made for */
#define REPLICAS_MOST 100u

typedef struct plan_cluster {
    bry_map_options slab;
    bry_map_shape shape; /* of a slab with its share of the pairs */
    uint64_t slabs, primaries, replicas;
    uint64_t slab_bytes, slabs_per_primary;
    double slabs_per_slot; /* on average */
    uint64_t bytes; /* of all primaries */
} plan_cluster;

/* The bits of the codes for distinct byte strings, with room for four times as many. */
static uint64_t plan_code_bits(uint64_t values, bool kbf)
{
    uint64_t bits = 8, most = kbf ? 13 : 24;
    while (bits < most && (uint64_t)1 << bits < 4 * values)
        bits++;
    return bits;
}

/* The shape of a map of so many pairs. */
static bry_status plan_slab_shape(const plan_cluster *plan, uint64_t pairs, bry_map_shape *shape)
{
    bry_map_options options = plan->slab;
    options.capacity = pairs < SLAB_LEAST ? SLAB_LEAST : pairs;
    *shape = (bry_map_shape){0};
    return bry_map_plan(&options, shape);
}

/* Like clients: slabs of at most SLAB_PAIRS pairs and SLAB_BYTES; kbf takes about 7 bytes per pair and
 * decimal of the error. */
static uint64_t count_planned_slabs(const bry_map_options *slab, uint64_t pairs)
{
    double most = SLAB_PAIRS;
    if (slab->engine == BRY_ENGINE_KBF)
        most = fmin(most, SLAB_BYTES / (7 * (1 + log10(1 / slab->error))));
    return (uint64_t)ceil((double)pairs / most);
}

/* Computes the plan for a number of primaries, which only increases the number of slabs. */
static bry_status plan_for_primaries(plan_cluster *plan, uint64_t pairs, uint64_t primaries)
{
    if (plan->slabs < SLABS_PER_PRIMARY * primaries)
        plan->slabs = SLABS_PER_PRIMARY * primaries;
    double share = (double)pairs / (double)plan->slabs;
    bry_status status = plan_slab_shape(plan, (uint64_t)ceil(share), &plan->shape);
    plan->slab.capacity = (uint64_t)ceil(share + 4 * sqrt(share));
    if (plan->slab.capacity < SLAB_LEAST)
        plan->slab.capacity = SLAB_LEAST;
    plan->primaries = primaries;
    plan->slab_bytes = (uint64_t)((double)plan->shape.bytes * ROUNDING) + KEY_BYTES;
    plan->slabs_per_primary = (plan->slabs + primaries - 1) / primaries;
    plan->slabs_per_slot = (double)plan->slabs / SLOTS;
    plan->bytes = plan->slabs * plan->slab_bytes;
    return status;
}

/* Reads what is not a number yet, and checks the rest. */
static int read_cluster_inputs(const plan_cluster_inputs *in, plan_cluster *plan)
{
    plan->slab = (bry_map_options)BRY_MAP_OPTIONS;
    plan->slab.engine = BRY_ENGINE_COMPACT;
    if (in->engine && (bry_engine_parse(in->engine, &plan->slab.engine) != BRY_OK ||
                       plan->slab.engine == BRY_ENGINE_AUTO))
        plan->slab.engine = BRY_ENGINE_COMPACT;
    bool kbf = plan->slab.engine == BRY_ENGINE_KBF;
    if (in->engine && strcmp(in->engine, "auto") != 0 && strcmp(in->engine, "compact") != 0 && !kbf)
        return cli_misuse("--engine: with --cluster it is compact or kbf");
    plan->replicas = 1;
    if (in->replicas &&
        (text_parse_plain(in->replicas, strlen(in->replicas), &plan->replicas) != NULL ||
         plan->replicas > REPLICAS_MOST))
        return cli_misuse("--replicas: %s is not a number from 0 to %u",
                          cli_quote(in->replicas).text, REPLICAS_MOST);
    if (in->raw > (kbf ? 13 : 32))
        return cli_misuse("--raw: values have 1 to %d bits", kbf ? 13 : 32);
    if (in->primaries > SLOTS)
        return cli_misuse("--primaries: a cluster has at most %u primaries", SLOTS);
    uint64_t values = in->values ? in->values : 1000;
    if (values > (uint64_t)1 << 24)
        return cli_misuse("--values: at most 2^24 with --cluster");
    plan->slab.error = in->error;
    plan->slab.value_bits = (uint32_t)(in->raw ? in->raw : plan_code_bits(values, kbf));
    if (in->pairs > BRY_CAPACITY_MAX)
        return cli_misuse("--capacity: at most 2^40");
    return CLI_GO_ON;
}

/* The fewest primaries whose memory, three quarters of it, holds the map. */
static int plan_the_cluster(const plan_cluster_inputs *in, plan_cluster *plan)
{
    plan->slabs = count_planned_slabs(&plan->slab, in->pairs);
    bry_status status =
        plan_for_primaries(plan, in->pairs, in->primaries ? in->primaries : PRIMARIES_LEAST);
    for (int i = 0; status == BRY_OK && !in->primaries && i < 10; i++) {
        uint64_t room = in->memory / 4 * 3;
        uint64_t needed = plan->bytes / (room ? room : 1) + 1;
        if (needed > SLOTS)
            return cli_misuse("--node-memory: more than %u primaries would be needed", SLOTS);
        if (needed <= plan->primaries)
            break;
        status = plan_for_primaries(plan, in->pairs, needed);
    }
    if (status == BRY_E_RANGE)
        return cli_misuse("--error: a map takes 1e-9 to 0.5");
    return status == BRY_OK ? CLI_GO_ON : cli_fail("%s", bry_status_text(status));
}

/* Milliseconds that MIGRATE takes for this many bytes. */
static double plan_move_ms(uint64_t bytes)
{
    return (double)bytes / 1e6 * MIGRATE_MS_PER_MB;
}

/* The slabs that an additional primary gets. */
static uint64_t plan_new_share(const plan_cluster *plan)
{
    return plan->slabs / (plan->primaries + 1);
}

static void print_cluster_json(const plan_cluster_inputs *in, const plan_cluster *plan)
{
    cli_json json = CLI_JSON_TO(stdout);
    uint64_t moved = plan_new_share(plan) * plan->slab_bytes;
    cli_json_open(&json, NULL, '{');
    cli_json_count(&json, "capacity", in->pairs);
    cli_json_number(&json, "error", in->error);
    cli_json_text(&json, "engine", bry_engine_name(plan->slab.engine));
    cli_json_text(&json, "values", in->raw ? "raw" : "codes");
    cli_json_count(&json, "value_bits", plan->slab.value_bits);
    cli_json_count(&json, "slabs", plan->slabs);
    cli_json_count(&json, "slab_capacity", plan->slab.capacity);
    cli_json_count(&json, "slab_bytes", plan->slab_bytes);
    cli_json_number(&json, "slabs_per_slot", plan->slabs_per_slot);
    cli_json_count(&json, "primaries", plan->primaries);
    cli_json_count(&json, "replicas", plan->primaries * plan->replicas);
    cli_json_count(&json, "slabs_per_primary", plan->slabs_per_primary);
    cli_json_count(&json, "bytes_per_primary", plan->slabs_per_primary * plan->slab_bytes);
    cli_json_count(&json, "bytes_primaries", plan->bytes);
    cli_json_count(&json, "bytes", plan->bytes * (1 + plan->replicas));
    cli_json_number(&json, "bytes_per_item", (double)plan->bytes / (double)in->pairs);
    cli_json_number(&json, "move_slab_ms", plan_move_ms(plan->slab_bytes));
    cli_json_count(&json, "new_primary_slabs", plan_new_share(plan));
    cli_json_count(&json, "new_primary_bytes", moved);
    cli_json_number(&json, "new_primary_ms", plan_move_ms(moved));
    cli_json_number(&json, "false_positive", plan->shape.errors.false_positive);
    cli_json_number(&json, "false_negative", plan->shape.errors.false_negative);
    cli_json_number(&json, "incorrect", plan->shape.errors.incorrect);
    cli_json_close(&json, '}');
}

/* A time of so many milliseconds, to two or three digits. */
static const char *plan_time(double ms, char out[32])
{
    static const struct {
        double ms;
        const char *unit;
    } units[] = {{86400e3, "days"}, {3600e3, "hours"}, {60e3, "minutes"}, {1e3, "seconds"}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (ms >= 2 * units[i].ms) {
            snprintf(out, 32, "%.3g %s", ms / units[i].ms, units[i].unit);
            return out;
        }
    }
    snprintf(out, 32, ms < 10 ? "%.2g ms" : "%.0f ms", ms);
    return out;
}

static void fill_cluster_table(cli_table *table, const plan_cluster_inputs *in,
                               const plan_cluster *plan)
{
    char time[32];
    uint64_t moved = plan_new_share(plan) * plan->slab_bytes;
    cli_table_add(table, "slabs");
    cli_table_add(table, "%llu, of %s", (unsigned long long)plan->slabs,
                  text_size_of(plan->slab_bytes).text);
    cli_table_add(table, "slabs per slot");
    cli_table_add(table, "%.3g on average, %s", plan->slabs_per_slot,
                  text_size_of((uint64_t)(plan->slabs_per_slot * (double)plan->slab_bytes)).text);
    cli_table_add(table, "primaries");
    cli_table_add(table, "%llu, with %llu slabs, %s", (unsigned long long)plan->primaries,
                  (unsigned long long)plan->slabs_per_primary,
                  text_size_of(plan->slabs_per_primary * plan->slab_bytes).text);
    cli_table_add(table, "replicas");
    cli_table_add(table, "%llu", (unsigned long long)plan->primaries * plan->replicas);
    cli_table_add(table, "memory");
    cli_table_add(table, "%s, with replicas %s", text_size_of(plan->bytes).text,
                  text_size_of(plan->bytes * (1 + plan->replicas)).text);
    cli_table_add(table, "bytes per item");
    cli_table_add(table, "%.2f", (double)plan->bytes / (double)in->pairs);
    cli_table_add(table, "to move a slab");
    cli_table_add(table, "%s", plan_time(plan_move_ms(plan->slab_bytes), time));
    cli_table_add(table, "to fill a new primary");
    cli_table_add(table, "%s: %llu slabs, %s", plan_time(plan_move_ms(moved), time),
                  (unsigned long long)plan_new_share(plan), text_size_of(moved).text);
}

static int print_cluster_table(const plan_cluster_inputs *in, const plan_cluster *plan)
{
    cli_table table = CLI_TABLE("ll");
    fill_cluster_table(&table, in, plan);
    printf("%llu items, error %g, %s of %u bits, engine %s\n\n", (unsigned long long)in->pairs,
           in->error, in->raw ? "integers" : "codes", plan->slab.value_bits,
           bry_engine_name(plan->slab.engine));
    bool printed = cli_table_print(&table, stdout);
    cli_table_free(&table);
    if (plan->primaries * (1 + plan->replicas) > NODES_MOST)
        printf("\nMore than %u nodes are more than clusters are made for: give each more "
               "--node-memory.\n",
               NODES_MOST);
    return printed ? CLI_YES : cli_no_memory();
}

int cli_plan_cluster(const plan_cluster_inputs *in, bool as_json)
{
    plan_cluster plan = {0};
    int code = read_cluster_inputs(in, &plan);
    if (code == CLI_GO_ON)
        code = plan_the_cluster(in, &plan);
    if (code != CLI_GO_ON)
        return code;
    if (!as_json)
        return print_cluster_table(in, &plan);
    print_cluster_json(in, &plan);
    return CLI_YES;
}
