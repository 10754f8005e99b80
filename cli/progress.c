#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

cli_progress cli_progress_start(void)
{
    cli_progress progress = {.on = isatty(STDERR_FILENO) == 1};
    if (progress.on)
        progress.started_at = progress.shown_at = now();
    return progress;
}

void cli_progress_add(cli_progress *progress, uint64_t keys)
{
    progress->done += keys;
    if (!progress->on)
        return;
    uint64_t at = now();
    if (at - progress->shown_at < 500)
        return;
    double seconds = (double)(at - progress->started_at) / 1000;
    /* The cursor goes back, so that whatever is said next takes the line's place. */
    fprintf(stderr, "%llu keys, %.0f keys/s\033[K\r", (unsigned long long)progress->done,
            (double)progress->done / seconds);
    fflush(stderr);
    progress->shown_at = at;
    progress->shown = true;
}

void cli_progress_end(cli_progress *progress)
{
    if (progress->shown)
        fputs("\033[K", stderr);
    progress->shown = false;
}
