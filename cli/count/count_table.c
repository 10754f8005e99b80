#include "cli/count/count_table.h"

#include "cli/core/args.h"
#include "cli/core/files/saved_file.h"
#include "cli/core/limits.h"
#include "cli/core/output/output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* What `bloomery seen` plans for, and why. */
#define COMPACT_IDS UINT64_C(16000000)
#define FBF_IDS UINT64_C(1000000)

/* Whether the directory has a table: its log is the first file that is complete. */
static bool is_table(const char *dir)
{
    char log[PATH_MAX];
    struct stat facts;
    int len = snprintf(log, sizeof log, "%s/log", dir);
    return len > 0 && len < PATH_MAX && stat(log, &facts) == 0;
}

static int check_new_table(bry_counters_options *options)
{
    bry_counters_shape shape = {0};
    if (options->window == 0)
        options->window = BRY_SPAN_MAX;
    if (options->capacity == 0)
        options->capacity = options->engine == BRY_ENGINE_FBF ? FBF_IDS : COMPACT_IDS;
    bry_status status = bry_counters_plan(options, &shape);
    if (status != BRY_E_RANGE)
        return status == BRY_OK ? CLI_GO_ON : cli_fail("%s", bry_status_text(status));
    bry_counters_options without = *options;
    without.max_bytes = 0;
    if (options->max_bytes && bry_counters_plan(&without, &shape) == BRY_OK)
        return cli_misuse("count", "--max-memory: a table takes at least %llu bytes",
                          (unsigned long long)shape.bytes_least);
    return cli_misuse(
        "count", "tables take times up to " CLI_SPAN_MOST ", capacities up to " CLI_CAPACITY_MOST
                 ", errors from " CLI_ERRORS(BRY_COUNTERS_ERROR_MIN) CLI_COMBINATIONS);
}

/* Options that were not given are taken from the table. */
static int check_old_table(const count_table *table, const bry_counters_options *wants)
{
    const char *dir = table->dir;
    bry_counters_options has = BRY_COUNTERS_OPTIONS;
    bry_counters_options_like(table->counters, &has);
    if (wants->window && has.window != wants->window)
        return has.window == BRY_SPAN_MAX ? cli_differs_without(dir, "--window")
                                          : cli_differs_span(dir, "--window", has.window);
    if (wants->engine != BRY_ENGINE_AUTO && has.engine != wants->engine)
        return cli_differs(dir, "--engine", bry_engine_name(has.engine));
    if (wants->error != 0 && has.error != wants->error)
        return cli_differs_share(dir, "--error", has.error);
    if (wants->capacity && has.capacity != wants->capacity)
        return cli_differs_number(dir, "--capacity", has.capacity);
    if (wants->seed && has.seed != wants->seed)
        return cli_differs_number(dir, "--seed", has.seed);
    return CLI_GO_ON;
}

static int report_not_opened(const count_table *table, bry_status status, const bry_load *load)
{
    if (status == BRY_E_IO && errno == EBUSY)
        return cli_fail("%s: another process is using it", cli_name(table->dir).text);
    if (status == BRY_E_RANGE)
        return cli_misuse("count", "--max-memory: a table takes more than that");
    cli_memory limit = table->memory;
    limit.most = load->max_bytes; /* for the message */
    return cli_load_failed(status, load, &limit, table->dir, "table");
}

int count_table_open(count_table *table, const count_options *asked)
{
    *table = (count_table){.dir = asked->dir};
    cli_memory_init(&table->memory, 0);
    bool exists = is_table(asked->dir);
    if (!exists && asked->totals)
        return cli_fail("%s: there is no table of counters", cli_name(asked->dir).text);
    bry_counters_options options = asked->table;
    int code = exists ? CLI_GO_ON : check_new_table(&options);
    if (code != CLI_GO_ON)
        return code;
    if (exists) { /* compared below, to name the option that differs */
        options = (bry_counters_options)BRY_COUNTERS_OPTIONS;
        options.max_bytes = asked->table.max_bytes;
        options.log_bytes = asked->table.log_bytes;
    }
    options.sync = BRY_COUNTERS_SYNC_ASKED;
    options.allocator = &table->memory.allocator;
    bry_load load = cli_memory_load(&table->memory);
    if (options.max_bytes && options.max_bytes < load.max_bytes)
        load.max_bytes = options.max_bytes;
    errno = 0;
    bry_status status = bry_counters_open(asked->dir, &options, &load, &table->counters);
    if (status != BRY_OK)
        return report_not_opened(table, status, &load);
    return check_old_table(table, &asked->table);
}

int count_table_failed(const count_table *table, bry_status status, const char *place)
{
    int problem = errno;
    const char *between = *place ? ": " : "";
    if (status == BRY_E_IO)
        return cli_fail("%s: %s", cli_name(table->dir).text,
                        problem ? strerror(problem) : bry_status_text(status));
    if (status == BRY_E_FULL)
        return cli_fail("%s%sthe table has reached --max-memory", place, between);
    if (status == BRY_E_NOMEM && table->memory.refused)
        return cli_fail("%s%sthe table has reached three quarters of the machine's memory", place,
                        between);
    if (status == BRY_E_OVERFLOW)
        return cli_fail("%s%sthe total does not fit in 64 bits", place, between);
    return cli_fail("%s%s%s", place, between, bry_status_text(status));
}

int count_table_sync(count_table *table)
{
    errno = 0;
    bry_status status = bry_counters_sync(table->counters);
    return status == BRY_OK ? CLI_GO_ON : count_table_failed(table, status, "");
}
