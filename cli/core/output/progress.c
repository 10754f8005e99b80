#include "cli/core/output/progress.h"

#include "cli/core/steady_clock.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

cli_progress cli_progress_start(uint64_t total, bool prints)
{
    cli_progress progress = {.total = total};
    progress.on = isatty(STDERR_FILENO) == 1 && !(prints && isatty(STDOUT_FILENO) == 1);
    if (progress.on)
        progress.started_at = progress.shown_at = cli_clock_ms();
    return progress;
}

/* Assumes that the rest takes the same time per byte. */
static void print_left(const cli_progress *progress, double seconds)
{
    double share = (double)progress->read / (double)progress->total;
    share = share > 1 ? 1 : share; /* a file that grows */
    uint64_t left = (uint64_t)(seconds * (1 - share) / share + 0.5);
    fprintf(stderr, ", %.0f%%, ", share * 100);
    if (left >= 3600)
        fprintf(stderr, "%llu:%02u:%02u left", (unsigned long long)(left / 3600),
                (unsigned)(left / 60 % 60), (unsigned)(left % 60));
    else
        fprintf(stderr, "%u:%02u left", (unsigned)(left / 60), (unsigned)(left % 60));
}

static void show_progress(cli_progress *progress)
{
    uint64_t at = progress->on ? cli_clock_ms() : 0;
    if (!progress->on || at - progress->shown_at < 500)
        return;
    double seconds = (double)(at - progress->started_at) / 1000;
    if (progress->describe)
        progress->describe(progress, seconds);
    else
        fprintf(stderr, "%llu keys, %.0f keys/s", (unsigned long long)progress->done,
                (double)progress->done / seconds);
    if (progress->total && progress->read)
        print_left(progress, seconds);
    /* Moves the cursor back, so that the next output overwrites the line. */
    fputs("\033[K\r", stderr);
    fflush(stderr);
    progress->shown_at = at;
    progress->shown = true;
}

void cli_progress_add(cli_progress *progress, uint64_t keys)
{
    progress->done += keys;
    show_progress(progress);
}

void cli_progress_read(cli_progress *progress, uint64_t bytes)
{
    progress->read += bytes;
    show_progress(progress);
}

void cli_progress_end(cli_progress *progress)
{
    if (progress->shown)
        fputs("\033[K", stderr);
    progress->shown = false;
}

uint64_t cli_bytes_left(int fd)
{
    struct stat facts;
    off_t at = lseek(fd, 0, SEEK_CUR);
    if (at < 0 || fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size <= at)
        return 0;
    return (uint64_t)(facts.st_size - at);
}
