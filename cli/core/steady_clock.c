#include "cli/core/steady_clock.h"

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

uint64_t cli_clock_ms(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

void cli_sleep_ms(uint64_t ms)
{
    struct timespec span = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    nanosleep(&span, NULL);
}

cli_clock cli_clock_start(void)
{
    return (cli_clock){read_clock(CLOCK_REALTIME), cli_clock_ms()};
}

uint64_t cli_clock_now(const cli_clock *clock)
{
    return clock->start + (cli_clock_ms() - clock->steady_start);
}
