#include "cli/core/engine_option.h"

#include "cli/core/args.h"
#include "cli/core/output/output.h"

#include <stdio.h>
#include <string.h>

enum { CLI_ENGINE_LIST = 128 };

/* Appends the engines of the job, separated by commas, with `last` before the last one. */
static void list_engines(char list[CLI_ENGINE_LIST], bry_job job, const char *last)
{
    size_t len = strlen(list);
    for (size_t i = 0; bry_job_engine_at(job, i) != BRY_ENGINE_AUTO && len < CLI_ENGINE_LIST; i++) {
        bool ends = bry_job_engine_at(job, i + 1) == BRY_ENGINE_AUTO;
        const char *before = ends ? last : len ? ", " : "";
        len += (size_t)snprintf(list + len, CLI_ENGINE_LIST - len, "%s%s", before,
                                bry_engine_name(bry_job_engine_at(job, i)));
    }
}

const char *cli_engine_help(bry_job job)
{
    static char text[CLI_ENGINE_LIST];
    text[0] = 0;
    list_engines(text, job, ", ");
    size_t len = strlen(text);
    snprintf(text + len, sizeof text - len, ", or auto: compact (default)");
    return text;
}

int cli_engine_read(bry_job job, const char *text, bry_engine *engine)
{
    char list[CLI_ENGINE_LIST] = "auto";
    if (!text || bry_job_engine_parse(job, text, engine) == BRY_OK)
        return CLI_GO_ON;
    list_engines(list, job, " and ");
    return cli_misuse("--engine: %s is not one of %s", cli_quote(text).text, list);
}
