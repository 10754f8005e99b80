/*
 * Detections: what a tracker sees is counted per target and per source, in intervals of time, and
 * raises an alert where a threshold is reached.
 *
 *   SYN flood     SYNs to one target, less the handshakes that were completed, per second
 *   reflection    SYN-ACKs to one target that has sent no SYN, per second
 *   reset storm   RSTs to one target, per second
 *   port scan     probes by one source that no connection came of, to as many different ports, per
 *                 minute: SYNs, and packets with flags that no connection begins with
 *
 * An alert for the same address and attack is repeated after a minute at the earliest.
 */
#ifndef BLOOMERY_APPS_FLOW_DETECT_H
#define BLOOMERY_APPS_FLOW_DETECT_H

#include "apps/flows/flow_suspects.h"
#include "apps/flows/flow_tracker.h"

typedef struct flow_detection {
    flow_attack attack;
    const flow_suspect *suspect; /* the target, or the source of a scan */
    const flow_sighting *seen; /* the packet that reached the threshold */
    uint64_t count; /* in the interval, so far */
} flow_detection;

typedef struct flow_thresholds {
    uint64_t per_interval[FLOW_ATTACKS];
} flow_thresholds;

/* Defaults: 100 per second, and 100 ports per minute. */
#define FLOW_THRESHOLDS                                                                            \
    {                                                                                              \
        {                                                                                          \
            [FLOW_SYN_FLOOD] = 100, [FLOW_REFLECTION] = 100, [FLOW_RESET_STORM] = 100,             \
            [FLOW_PORT_SCAN] = 100                                                                 \
        }                                                                                          \
    }

typedef struct flow_detector {
    flow_thresholds thresholds;
    flow_suspects targets; /* Who is attacked. */
    flow_suspects sources; /* Who attacks. */
    uint64_t alerts[FLOW_ATTACKS];
    void (*alert)(void *context, const flow_detection *detected); /* may be NULL */
    void *context;
} flow_detector;

/* Seconds of the interval in which an attack is counted. */
unsigned flow_attack_seconds(flow_attack attack);

bry_status flow_detector_init(flow_detector *detector, uint64_t addresses, uint64_t seed,
                              const bry_allocator *allocator);
void flow_detector_free(flow_detector *detector);
void flow_detector_see(flow_detector *detector, const flow_sighting *seen);

#endif
