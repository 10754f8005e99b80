#include "apps/flows/flow_alerts.h"

#include "apps/flows/flow_text.h"

#include <errno.h>

enum { ANOMALIES_PER_SECOND = 100 };

/* Names and addresses contain nothing that JSON would have to escape. */
static void begin_alert_line(FILE *out, const char *type, const flow_sighting *seen,
                             const char *reason)
{
    const flow_packet *packet = seen->packet;
    flow_text source = flow_address_text(packet->source, packet->is_ipv6);
    flow_text target = flow_address_text(packet->target, packet->is_ipv6);
    fprintf(out,
            "{\"timestamp\":\"%s\",\"event_type\":\"%s\",\"src_ip\":\"%s\",\"src_port\":%u,"
            "\"dest_ip\":\"%s\",\"dest_port\":%u,\"proto\":\"TCP\",\"state\":\"%s\","
            "\"reason\":\"%s\"",
            flow_time_text(packet->time).text, type, source.text, packet->source_port, target.text,
            packet->target_port, flow_state_labels[seen->after].name, reason);
}

/* The stream is line-buffered, so that this writes. */
static void end_alert_line(flow_alerts *alerts)
{
    if (fputs("}\n", alerts->out) < 0)
        alerts->problem = errno;
    alerts->written++;
}

void flow_alerts_detected(flow_alerts *alerts, const flow_detection *detected)
{
    if (!alerts->out)
        return;
    const flow_suspect *suspect = detected->suspect;
    begin_alert_line(alerts->out, "alert", detected->seen, flow_attack_names[detected->attack]);
    fprintf(alerts->out, ",\"%s\":\"%s\",\"count\":%llu,\"seconds\":%u",
            detected->attack == FLOW_PORT_SCAN ? "source" : "target",
            flow_address_text(suspect->address, suspect->is_ipv6).text,
            (unsigned long long)detected->count, flow_attack_seconds(detected->attack));
    end_alert_line(alerts);
}

void flow_alerts_seen(flow_alerts *alerts, const flow_sighting *seen)
{
    if (!alerts->out || seen->note == FLOW_FINE)
        return;
    uint64_t second = seen->now / 1000000;
    if (alerts->anomalies[seen->note].second != second) {
        alerts->anomalies[seen->note].second = second;
        alerts->anomalies[seen->note].count = 0;
    }
    if (alerts->anomalies[seen->note].count >= ANOMALIES_PER_SECOND) {
        alerts->suppressed++;
        return;
    }
    alerts->anomalies[seen->note].count++;
    begin_alert_line(alerts->out, "anomaly", seen, flow_note_labels[seen->note].name);
    end_alert_line(alerts);
}
