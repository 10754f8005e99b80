#include "cli/core/steady_clock.h"

#include <time.h>

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

cli_clock cli_clock_start(void)
{
    return (cli_clock){read_clock(CLOCK_REALTIME), read_clock(CLOCK_MONOTONIC)};
}

uint64_t cli_clock_now(const cli_clock *clock)
{
    return clock->start + (read_clock(CLOCK_MONOTONIC) - clock->steady_start);
}
