#include "apps/flows/flow_detect.h"

#include <string.h>

enum { SECOND = 1000000, SCAN_SECONDS = 60, QUIET_SECONDS = 60 };

unsigned flow_attack_seconds(flow_attack attack)
{
    return attack == FLOW_PORT_SCAN ? SCAN_SECONDS : 1;
}

bry_status flow_detector_init(flow_detector *detector, uint64_t addresses, uint64_t seed,
                              const bry_allocator *allocator)
{
    static const flow_thresholds thresholds = FLOW_THRESHOLDS;
    *detector = (flow_detector){.thresholds = thresholds};
    bry_status status = flow_suspects_init(&detector->targets, addresses, seed, allocator);
    return status == BRY_OK ? flow_suspects_init(&detector->sources, addresses, seed, allocator)
                            : status;
}

void flow_detector_free(flow_detector *detector)
{
    flow_suspects_free(&detector->targets);
    flow_suspects_free(&detector->sources);
}

/* Begins a new interval if the time has come. All tallies of an address have the same one. */
static void enter_interval(flow_suspect *suspect, uint64_t now, unsigned seconds)
{
    uint64_t interval = now / ((uint64_t)seconds * SECOND);
    if (interval == suspect->interval)
        return;
    suspect->interval = interval;
    for (unsigned i = 0; i < FLOW_ATTACKS; i++)
        suspect->tallies[i].here = 0;
    memset(suspect->ports, 0, sizeof suspect->ports);
}

static void raise_alert(flow_detector *detector, flow_suspect *suspect, flow_attack attack,
                        const flow_sighting *seen)
{
    flow_tally *tally = &suspect->tallies[attack];
    if (tally->alerts > 0 && seen->now - tally->alerted_at < (uint64_t)QUIET_SECONDS * SECOND)
        return;
    tally->alerts++;
    tally->alerted_at = seen->now;
    detector->alerts[attack]++;
    if (detector->alert)
        detector->alert(detector->context,
                        &(flow_detection){attack, suspect, seen, (uint64_t)tally->here});
}

/* One more event of this kind; the caller has entered the interval. */
static void tally_event(flow_detector *detector, flow_suspects *suspects, flow_suspect *suspect,
                        flow_attack attack, const flow_sighting *seen)
{
    flow_tally *tally = &suspect->tallies[attack];
    tally->total++;
    flow_suspects_weigh(suspects, suspect);
    tally->here++;
    if (tally->here > tally->peak)
        tally->peak = tally->here;
    uint64_t least = detector->thresholds.per_interval[attack];
    if (tally->here > 0 && (uint64_t)tally->here >= least &&
        (attack != FLOW_PORT_SCAN || flow_suspect_ports(suspect) * 1.05 >= (double)least))
        raise_alert(detector, suspect, attack, seen);
}

static void see_target(flow_detector *detector, flow_attack attack, const flow_sighting *seen)
{
    const flow_packet *packet = seen->packet;
    flow_suspect *target =
        flow_suspects_find(&detector->targets, packet->target, packet->is_ipv6, true);
    enter_interval(target, seen->now, 1);
    target->port = packet->target_port;
    tally_event(detector, &detector->targets, target, attack, seen);
}

static void see_probe(flow_detector *detector, const flow_sighting *seen)
{
    const flow_packet *packet = seen->packet;
    flow_suspect *source =
        flow_suspects_find(&detector->sources, packet->source, packet->is_ipv6, true);
    enter_interval(source, seen->now, SCAN_SECONDS);
    uint8_t probed[18];
    size_t len = packet->is_ipv6 ? 16 : 4;
    memcpy(probed, packet->target, len);
    memcpy(probed + len, &packet->target_port, 2);
    source->port = packet->target_port;
    flow_suspect_add_port(source, bry_hash_key(detector->sources.seed, probed, len + 2).lo);
    tally_event(detector, &detector->sources, source, FLOW_PORT_SCAN, seen);
    /* Counting bits takes time, so it is done for those only that may be listed. */
    if (source->tallies[FLOW_PORT_SCAN].here >= 8) {
        double ports = flow_suspect_ports(source);
        if (ports > source->most_ports)
            source->most_ports = ports;
    }
}

/* A completed handshake: neither of its ends was attacked with this SYN. */
static void take_back(flow_suspects *suspects, const uint8_t *address, bool is_ipv6,
                      flow_attack attack)
{
    flow_suspect *suspect = flow_suspects_find(suspects, address, is_ipv6, false);
    if (!suspect)
        return;
    suspect->tallies[attack].total--;
    suspect->tallies[attack].here--;
    flow_suspects_weigh(suspects, suspect);
}

static void see_handshake(flow_detector *detector, const flow_sighting *seen)
{
    const flow_packet *packet = seen->packet;
    bool forth = seen->side == FLOW_INITIATOR;
    take_back(&detector->targets, forth ? packet->target : packet->source, packet->is_ipv6,
              FLOW_SYN_FLOOD);
    take_back(&detector->sources, forth ? packet->source : packet->target, packet->is_ipv6,
              FLOW_PORT_SCAN);
}

void flow_detector_see(flow_detector *detector, const flow_sighting *seen)
{
    bool shakes = seen->before == FLOW_SYN_SEEN || seen->before == FLOW_SYN_ACK_SEEN;
    if (seen->after == FLOW_ESTABLISHED && shakes)
        see_handshake(detector, seen);
    if (seen->event == FLOW_ON_SYN) {
        see_target(detector, FLOW_SYN_FLOOD, seen);
        if (seen->begins)
            see_probe(detector, seen);
    } else if (seen->event == FLOW_ON_RST) {
        see_target(detector, FLOW_RESET_STORM, seen);
    } else if (seen->note == FLOW_SYN_ACK_UNASKED) {
        see_target(detector, FLOW_REFLECTION, seen);
    } else if (seen->note >= FLOW_NULL_SCAN) {
        see_probe(detector, seen);
    }
}
