/*
 * Time, as flows age by it: that of the packets, which runs forwards only, in ticks.
 *
 * A value of the table has room for the last 6 bits of a tick. Flows that are alive count *idle
 * ticks* since their last packet, flows that have ended *linger ticks* since their end. A flow whose
 * age exceeds the limit has expired: it is treated as if it were not there.
 *
 *   engine           idle tick    refreshed at   expired at    that is, after
 *   compact, exact   idle / 24    age 4          age 28        1 to 1.17 × idle
 *   kbf              idle         age 1          age 2         1 to 2 × idle
 *   all              linger / 2                  age 3         1 to 1.5 × linger
 *
 * The value of a flow is not written for each packet: only if its age is 4 ticks or more.
 *
 * Expired flows are deleted by a sweep of the whole table, every 2 × linger or idle / 3. An age is
 * never above 63 then: 27 at the last sweep, 8 ticks since, and 28 for a gap in time, of which more
 * is not counted.
 */
#ifndef BLOOMERY_APPS_FLOW_CLOCK_H
#define BLOOMERY_APPS_FLOW_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { FLOW_TICK_BITS = 6, FLOW_TICK_MASK = 63 };

typedef struct flow_clock {
    uint64_t now; /* microseconds; starts with the first packet and never goes back */
    uint64_t latest; /* time of the latest packet, as the capture has it */
    uint64_t due; /* the value of `now` at which the next tick begins */
    uint64_t idle_unit; /* Length of a tick of idle flows, in microseconds. */
    uint64_t linger_unit; /* Length of a tick of ended flows, in microseconds. */
    uint64_t idle_start; /* When the current tick of idle flows began, in microseconds. */
    uint64_t linger_start; /* When the current tick of ended flows began, in microseconds. */
    uint64_t idle; /* packets further back in time set the clock back */
    unsigned idle_tick; /* The current tick of idle flows. */
    unsigned linger_tick; /* The current tick of ended flows. */
    unsigned refresh_age; /* From this age on, a packet stores the tick of its flow again. */
    unsigned idle_age; /* An idle flow with a higher age has expired. */
    unsigned linger_age; /* An ended flow with a higher age has expired. */
    uint64_t sweep_unit; /* Time between two sweeps, in microseconds. */
    uint64_t sweep_start; /* When the last sweep began, in microseconds. */
    bool sweeps; /* this tick is one in which tables are swept */
    bool started;
    uint64_t late; /* packets before the latest one */
    uint64_t jumps_back; /* times that the clock was set back */
} flow_clock;

/* Times in milliseconds, at least 1. turns: flows expire by alternating two tables (kbf). */
void flow_clock_init(flow_clock *clock, uint64_t idle, uint64_t linger, bool turns);

/* Takes the time of the next packet. A packet before the latest is late and counts as if it had
 * come now; one that is more than `idle` earlier, as in the file of an earlier day, sets the clock
 * back without changing the age of any flow. True if a tick has begun: call flow_clock_tick(). */
bool flow_clock_advance(flow_clock *clock, uint64_t time);

/* Advances the ticks to `now`. */
void flow_clock_tick(flow_clock *clock);

#endif
