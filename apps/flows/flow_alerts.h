/*
 * Alerts as lines of JSON, one object each, with the names that Suricata's eve.json uses where it
 * has them:
 *
 *   {"timestamp":"…","event_type":"alert","src_ip":"…","src_port":1,"dest_ip":"…","dest_port":2,
 *    "proto":"TCP","state":"syn_seen","reason":"syn_flood","target":"…","count":100,"seconds":1}
 *   {"timestamp":"…","event_type":"anomaly", … ,"state":"midstream","reason":"data_without_syn"}
 *
 * An alert is a detection; an anomaly is a packet with a note. At most 100 anomalies of a kind are
 * written per second of the capture, so that an attack does not fill the disk; the others are
 * counted.
 */
#ifndef BLOOMERY_APPS_FLOW_ALERTS_H
#define BLOOMERY_APPS_FLOW_ALERTS_H

#include "apps/flows/flow_detect.h"

#include <stdio.h>

typedef struct flow_alerts {
    FILE *out; /* line-buffered, for whoever follows it; NULL: nothing is written */
    uint64_t written; /* Lines written. */
    uint64_t suppressed; /* Lines not written, because there were too many. */
    int problem; /* errno of a write that failed */
    struct {
        uint64_t second;
        unsigned count;
    } anomalies[FLOW_NOTES]; /* lines of this second */
} flow_alerts;

void flow_alerts_detected(flow_alerts *alerts, const flow_detection *detected);
void flow_alerts_seen(flow_alerts *alerts, const flow_sighting *seen); /* if it has a note */

#endif
