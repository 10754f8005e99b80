#include "bench/cases/bench_cases.h"

#include "cli/core/args.h"
#include "cli/core/output/output.h"

#include <string.h>

static const char *const modes[] = {
    [WINDOW_MODE_IMPROVED] = "improved",
    [WINDOW_MODE_PAPER] = "paper",
    [WINDOW_MODE_SIMPLE] = "simple",
};
enum { MODES = sizeof modes / sizeof modes[0] };

const char *window_mode_name(bry_engine engine, window_mode mode)
{
    return engine == BRY_ENGINE_FBF ? modes[mode] : NULL;
}

int window_settings_read(const char *engine, const char *mode, window_settings *settings)
{
    settings->mode = WINDOW_MODE_IMPROVED;
    settings->engine = BRY_ENGINE_AUTO;
    int code = bench_engine_read(engine, BRY_JOB_WINDOW, "windows", &settings->engine);
    if (code != CLI_GO_ON)
        return code;
    if (!mode)
        return CLI_GO_ON;
    if (settings->engine != BRY_ENGINE_FBF)
        return cli_misuse("--mode: engine compact does not have it");
    for (int i = 0; i < MODES; i++)
        if (strcmp(mode, modes[i]) == 0) {
            settings->mode = (window_mode)i;
            return CLI_GO_ON;
        }
    return cli_misuse("--mode: there is no mode %s", cli_quote(mode).text);
}
