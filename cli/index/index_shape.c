#include "cli/index/index_shape.h"

#include "cli/core/limits.h"

#define LEAST_UNITS 8u
#define LEAST_CAPACITY 64u

static int check_shape_elements(cli_index_shape *asked)
{
    cli_elements *elements = &asked->elements;
    if (asked->strings && (asked->whole || asked->words || asked->key))
        return cli_misuse("-0 cannot be combined with --%s", asked->whole   ? "whole"
                                                             : asked->words ? "words"
                                                                            : "key");
    if (asked->whole + asked->words + (asked->key != NULL) > 1)
        return cli_misuse("only one of --key, --words and --whole can be given");
    if (asked->delimiter && !asked->key)
        return cli_misuse("--delimiter requires --key");
    elements->kind = asked->whole     ? CLI_ELEMENT_WHOLE
                     : asked->words   ? CLI_ELEMENT_WORDS
                     : asked->key     ? CLI_ELEMENT_FIELDS
                     : asked->strings ? CLI_ELEMENT_STRINGS
                                      : CLI_ELEMENT_LINES;
    if (!asked->key)
        return CLI_GO_ON;
    elements->fields.delimiter = asked->delimiter ? *asked->delimiter : '\t';
    return cli_fields_read(&elements->fields, "key", asked->key);
}

static int check_shape(cli_index_shape *asked)
{
    bry_index_options *options = &asked->options;
    int code = cli_engine_read(BRY_JOB_INDEX, asked->engine, &options->engine);
    if (code != CLI_GO_ON)
        return code;
    if (options->engine != BRY_ENGINE_DBA && (asked->group || options->dba.segmented))
        return cli_misuse("--%s is for engine dba", asked->group ? "group" : "segmented");
    if (asked->group &&
        (asked->group > BRY_INDEX_DBA_GROUP_MAX || asked->group & (asked->group - 1) ||
         asked->group == 2 || asked->group == 4))
        return cli_misuse("--group: %llu is not one of 1, 8, 16, 32, 64, 128, 256 and 512",
                          (unsigned long long)asked->group);
    if (asked->units > BRY_INDEX_UNITS_MAX)
        return cli_misuse("--units: an index has at most " CLI_UNITS_MOST);
    if (options->fixed && !asked->units)
        return cli_misuse("--fixed requires --units");
    options->dba.group = (uint32_t)asked->group;
    options->units = (uint32_t)asked->units;
    if (asked->whole && !options->unit_capacity)
        options->unit_capacity = 1;
    code = check_shape_elements(asked);
    if (code != CLI_GO_ON)
        return code;
    bry_index_shape shape = {0};
    if (bry_index_plan(options, &shape) != BRY_OK)
        return cli_misuse("an index takes units 1 to " CLI_UNITS_MOST
                          ", unit-capacity 1 to " CLI_CAPACITY_MOST
                          ", error " CLI_ERRORS(BRY_INDEX_ERROR_MIN) CLI_COMBINATIONS);
    return CLI_GO_ON;
}

int cli_index_shape_read(cli_index_shape *asked, const cli_syntax *syntax)
{
    if (!asked->like)
        return check_shape(asked);
    for (int i = 0; i < CLI_INDEX_SHAPING; i++)
        if (syntax->given[i])
            return cli_misuse("%s%s cannot be combined with --like",
                              syntax->options[i].name[1] ? "--" : "-", syntax->options[i].name);
    return cli_index_like(asked->like, asked->max_bytes, &asked->options, &asked->elements);
}

/* The number of units if files are cut into units of `capacity` elements. */
static uint64_t units_for(const uint64_t *counts, size_t n, uint64_t capacity)
{
    uint64_t units = 0;
    for (size_t i = 0; i < n; i++)
        units += counts[i] ? (counts[i] - 1) / capacity + 1 : 1;
    return units;
}

static uint32_t with_spare(uint64_t units)
{
    uint64_t all = units + units / 4;
    return (uint32_t)(all < LEAST_UNITS           ? LEAST_UNITS
                      : all > BRY_INDEX_UNITS_MAX ? BRY_INDEX_UNITS_MAX
                                                  : all);
}

void cli_index_shape_fit(cli_index_shape *asked, const uint64_t *counts, size_t n)
{
    bry_index_options *options = &asked->options;
    if (options->unit_capacity) {
        if (!options->units)
            options->units = with_spare(units_for(counts, n, options->unit_capacity));
        return;
    }
    uint64_t most = LEAST_CAPACITY;
    for (size_t i = 0; i < n; i++)
        most = counts[i] > most ? counts[i] : most;
    bry_index_options tried = *options;
    uint64_t best = UINT64_MAX;
    /* The pieces of a file have many words in common, so files are not cut by words. */
    uint64_t least = asked->elements.kind == CLI_ELEMENT_WORDS ? most : LEAST_CAPACITY;
    for (uint64_t capacity = most; capacity >= least; capacity -= capacity / 2) {
        uint64_t units = units_for(counts, n, capacity);
        tried.units = asked->units ? (uint32_t)asked->units : with_spare(units);
        tried.unit_capacity = capacity;
        bry_index_shape shape = {0};
        /* More units are more work, so they must save enough memory. */
        if (bry_index_plan(&tried, &shape) == BRY_OK && shape.bytes < best / 20 * 19 &&
            (units <= tried.units || best == UINT64_MAX)) {
            best = shape.bytes;
            *options = tried;
        }
    }
    if (best == UINT64_MAX) { /* create reports the error */
        options->unit_capacity = most;
        options->units = tried.units;
    }
}
