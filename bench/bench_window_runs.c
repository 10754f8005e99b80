/* Runs the cases of windows and writes their reports. */
#include "bench/bench_runs.h"
#include "cli/core/output/output.h"

window_settings bench_window_settings(const bench_settings *settings, const window_settings *window)
{
    window_settings all = *window;
    all.error = settings->error;
    all.batch = settings->batch;
    all.rounds = settings->rounds;
    return all;
}

int bench_run_window(const bench_request *asked)
{
    window_report report;
    window_settings settings = bench_window_settings(&asked->settings, &asked->window);
    if (!bench_window(&settings, &report))
        return CLI_FAILED;
    if (!asked->as_json) {
        bench_open_text(asked);
        return bench_printed(bench_window_text(stdout, &report));
    }
    cli_json json = CLI_JSON_TO(stdout);
    bench_open_json(&json, asked, "window");
    bench_window_json(&json, &report);
    cli_json_close(&json, '}');
    return CLI_YES;
}

int bench_run_windows(const bench_request *asked)
{
    windows_report report;
    window_settings settings = bench_window_settings(&asked->settings, &asked->window);
    if (!bench_windows(&settings, &report))
        return CLI_FAILED;
    if (!asked->as_json) {
        bench_open_text(asked);
        return bench_printed(bench_windows_text(stdout, &report));
    }
    cli_json json = CLI_JSON_TO(stdout);
    bench_open_json(&json, asked, "windows");
    bench_windows_json(&json, &report);
    cli_json_close(&json, '}');
    return CLI_YES;
}

int bench_run_seen(const bench_request *asked)
{
    seen_report report;
    const seen_settings settings = {asked->settings.items, asked->settings.error,
                                    asked->settings.rounds};
    if (!bench_seen(&settings, &report))
        return CLI_FAILED;
    if (!asked->as_json) {
        bench_open_text(asked);
        return bench_printed(bench_seen_text(stdout, &report));
    }
    cli_json json = CLI_JSON_TO(stdout);
    bench_open_json(&json, asked, "seen");
    bench_seen_json(&json, &report);
    cli_json_close(&json, '}');
    return CLI_YES;
}
