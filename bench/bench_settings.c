#include "bench/bench_options.h"

#include "bench/harness/filter_work.h"
#include "cli/core/args.h"
#include "cli/core/output/output.h"
#include "kernel/kernel.h"
#include "text/number_parse.h"

#include <bloomery/filter.h>
#include <string.h>

#define LEAST_ITEMS 1000u /* an error cannot be measured with fewer */
#define MOST_ITEMS ((uint64_t)1 << 32)

/* CLI_GO_ON, or the exit code after a message. */
static int force_isa(const char *name)
{
    for (int isa = 0; isa < BRY__ISA_COUNT; isa++) {
        if (strcmp(name, bry__isa_names[isa]) != 0)
            continue;
        if (bry__kernel_force((bry__isa)isa))
            return CLI_GO_ON;
        return cli_fail("--isa: this machine does not run %s", name);
    }
    return cli_misuse("--isa: there is no instruction set %s", cli_quote(name).text);
}

int bench_engine_read(const char *name, bry_job job, const char *objects, bry_engine *engine)
{
    if (name && bry_engine_parse(name, engine) != BRY_OK)
        return cli_misuse("--engine: there is no engine %s", cli_quote(name).text);
    if (name && bry_job_engine_parse(job, name, engine) != BRY_OK)
        return cli_misuse("--engine: %s have no engine %s", objects, name);
    if (*engine == BRY_ENGINE_AUTO)
        *engine = job == BRY_JOB_FILTER ? BRY_ENGINE_BLOOM : BRY_ENGINE_COMPACT;
    return CLI_GO_ON;
}

static int check_range(const char *name, uint64_t value, uint64_t least, uint64_t most)
{
    if (value >= least && value <= most)
        return CLI_GO_ON;
    return cli_misuse("--%s: %llu is not between %llu and %llu", name, (unsigned long long)value,
                      (unsigned long long)least, (unsigned long long)most);
}

static int check_error(double error)
{
    if (error >= BRY_FILTER_ERROR_MIN && error <= BRY_ERROR_MAX)
        return CLI_GO_ON;
    return cli_misuse("--error: %g is not between %g and %g", error, BRY_FILTER_ERROR_MIN,
                      BRY_ERROR_MAX);
}

/* Checks units and capacity: their product has the same limits as the items of other cases. */
static int check_index_elements(uint64_t units, uint64_t capacity)
{
    int code = check_range("units", units, 1, BRY_INDEX_UNITS_MAX);
    if (code == CLI_GO_ON)
        code = check_range("unit-capacity", capacity, 1, MOST_ITEMS);
    unsigned long long elements = units * capacity;
    if (code != CLI_GO_ON || (elements >= LEAST_ITEMS && elements <= MOST_ITEMS))
        return code;
    return cli_misuse("--units times --unit-capacity: %llu is not between %u and %llu", elements,
                      LEAST_ITEMS, (unsigned long long)MOST_ITEMS);
}

static int read_index(const bench_given *given, index_settings *index)
{
    if (!(given->chosen->uses & BENCH_USES(BENCH_UNITS)))
        return CLI_GO_ON;
    bool several = given->chosen->run == bench_indexes;
    uint64_t units = given->units ? given->units : several ? 160 : 64;
    int code = check_index_elements(units, given->unit_capacity);
    if (code != CLI_GO_ON)
        return code;
    index->units = (uint32_t)units;
    index->unit_capacity = given->unit_capacity;
    index->group = given->group > 512 ? 513 : (uint32_t)given->group; /* 513: too large */
    index->segmented = given->segmented;
    return several ? CLI_GO_ON : index_settings_read(given->words.engine, index);
}

static int read_window(const bench_given *given, bench_settings *settings)
{
    if (!(given->chosen->uses & BENCH_USES(BENCH_GENERATIONS)))
        return CLI_GO_ON;
    int code = CLI_GO_ON;
    if (given->generations)
        code = check_range("generations", given->generations, 1, BRY_WINDOW_GENERATIONS_MAX);
    settings->window = (window_settings){
        .elements = settings->items,
        .generations = (uint32_t)given->generations,
        .error = settings->error,
        .batch = settings->batch,
        .rounds = settings->rounds,
    };
    return code == CLI_GO_ON
               ? window_settings_read(given->words.engine, given->mode, &settings->window)
               : code;
}

/* Here 0 is valid, unlike for a CLI_COUNT. */
static int read_raw(const char *text, unsigned *value_bits)
{
    uint64_t bits;
    const char *problem = text_parse_count(text, strlen(text), &bits);
    if (problem)
        return cli_misuse("--raw: %s %s", cli_quote(text).text, problem);
    int code = check_range("raw", bits, 0, BRY_MAP_VALUE_BITS_MAX);
    if (code == CLI_GO_ON)
        *value_bits = (unsigned)bits;
    return code;
}

static int read_map(const bench_given *given, map_settings *map)
{
    *map = given->map;
    if (given->chosen->run == bench_map)
        return map_settings_read(&given->words, map);
    return check_range("values", map->values, 1, BRY_MAP_KBF_VALUES_MAX);
}

/* Options that belong to no job. */
static int read_common(const bench_given *given, bench_settings *settings)
{
    int code = check_error(settings->error);
    if (code == CLI_GO_ON)
        code = check_range(given->chosen->uses & BENCH_USES(BENCH_PACKETS) ? "packets" : "capacity",
                           settings->items, LEAST_ITEMS, MOST_ITEMS);
    if (code == CLI_GO_ON)
        code = check_range("batch", given->batch, 1, BENCH_MOST_BATCH);
    if (code == CLI_GO_ON)
        code = check_range("rounds", given->rounds, 1, BENCH_MOST_ROUNDS);
    settings->batch = (size_t)given->batch;
    settings->rounds = (unsigned)given->rounds;
    return code;
}

int bench_settings_read(const bench_given *given, bench_settings *settings)
{
    const bench_case *chosen = given->chosen;
    *settings = (bench_settings){
        .items = given->items ? given->items : chosen->items,
        .error = given->error > 0 ? given->error : chosen->error,
        .value_bits = 12,
        .grow = given->grow,
        .compare = given->compare,
    };
    int code = CLI_GO_ON;
    if (chosen->run == bench_filter)
        code = bench_engine_read(given->words.engine, BRY_JOB_FILTER, "filters",
                                 &settings->filter_engine);
    if (code == CLI_GO_ON)
        code = read_common(given, settings);
    if (code == CLI_GO_ON && given->raw)
        code = read_raw(given->raw, &settings->value_bits);
    if (code == CLI_GO_ON)
        code = read_map(given, &settings->map);
    if (code == CLI_GO_ON)
        code = read_index(given, &settings->index);
    if (code == CLI_GO_ON)
        code = read_window(given, settings);
    return code == CLI_GO_ON && given->isa ? force_isa(given->isa) : code;
}
