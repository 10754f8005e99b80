#include "apps/flows/flow_clock.h"

enum { IDLE_TICKS = 24, REFRESH = 4, LINGER_TICKS = 2 };

void flow_clock_init(flow_clock *clock, uint64_t idle, uint64_t linger, bool turns)
{
    uint64_t often = linger * 2 < idle / 3 ? linger * 2 : idle / 3;
    *clock = (flow_clock){
        .sweep_unit = often * 1000,
        .idle = idle * 1000,
        .idle_unit = turns ? idle * 1000 : idle * 1000 / IDLE_TICKS,
        .linger_unit = linger * 1000 / LINGER_TICKS,
        .refresh_age = turns ? 1 : REFRESH,
        .idle_age = turns ? 1 : IDLE_TICKS + REFRESH - 1,
        .linger_age = LINGER_TICKS,
    };
}

static void set_due(flow_clock *clock)
{
    uint64_t idle = clock->idle_start + clock->idle_unit;
    uint64_t linger = clock->linger_start + clock->linger_unit;
    clock->due = idle < linger ? idle : linger;
}

bool flow_clock_advance(flow_clock *clock, uint64_t time)
{
    if (!clock->started) {
        clock->started = true;
        clock->now = clock->latest = time;
        clock->idle_start = clock->linger_start = clock->sweep_start = time;
        set_due(clock);
        return false;
    }
    if (time < clock->latest) {
        if (clock->latest - time > clock->idle) {
            clock->jumps_back++;
            clock->latest = time;
        } else {
            clock->late++;
        }
        return false;
    }
    clock->now += time - clock->latest;
    clock->latest = time;
    return clock->now >= clock->due;
}

/* The number of units that have passed, but no more than make every flow too old. */
static unsigned count_ticks(uint64_t now, uint64_t unit, unsigned age, uint64_t *start)
{
    uint64_t passed = (now - *start) / unit;
    *start += passed * unit;
    return passed > age ? age + 1 : (unsigned)passed;
}

void flow_clock_tick(flow_clock *clock)
{
    clock->idle_tick +=
        count_ticks(clock->now, clock->idle_unit, clock->idle_age, &clock->idle_start);
    clock->linger_tick +=
        count_ticks(clock->now, clock->linger_unit, clock->linger_age, &clock->linger_start);
    clock->sweeps = clock->now - clock->sweep_start >= clock->sweep_unit;
    if (clock->sweeps)
        clock->sweep_start = clock->now;
    set_due(clock);
}
