/*
 * Arbitrary packets through the parser of `bloomery flows` and, those that it accepts, through a
 * tracker. The first byte of an input selects link type and key, the second the engine; then come
 * packets:
 *
 *   captured bytes, bytes that were not captured, seconds since the packet before (one byte each),
 *   and the captured bytes
 *
 * The number of flows must be the sum of the states, and the exact twin must agree with an exact
 * engine.
 */
#include "apps/flows/flow_tracker.h"
#include "support/fuzz_input.h"

static const int links[] = {
    FLOW_LINK_ETHERNET, FLOW_LINK_NULL, FLOW_LINK_RAW,  FLOW_LINK_LOOP,
    FLOW_LINK_COOKED,   FLOW_LINK_IPV4, FLOW_LINK_IPV6, FLOW_LINK_COOKED2,
};

static void *take(void *opaque, size_t size)
{
    (void)opaque;
    return malloc(size);
}

static void give_back(void *opaque, void *block, size_t size)
{
    (void)opaque;
    (void)size;
    free(block);
}

static const bry_allocator allocator = {take, give_back, NULL};

static void add_packet(flow_tracker *tracker, int link, const uint8_t *bytes, size_t captured,
                       size_t length, uint64_t time)
{
    uint8_t *copy = fuzz_copy(bytes, captured);
    flow_packet packet;
    memset(&packet, 0xee, sizeof packet);
    flow_packet_kind parsed = flow_packet_parse(link, copy, captured, length, &packet);
    MUST(parsed < FLOW_PARSED_KINDS && parsed != FLOW_OTHER_LINK);
    free(copy);
    if (parsed != FLOW_TCP)
        return;
    MUST(captured >= 40 && packet.flags < 64);
    packet.time = time;
    flow_tracker_add(tracker, &packet);
}

static void check_tracker(flow_tracker *tracker, flow_engine_kind kind)
{
    flow_engine_facts facts;
    flow_errors errors;
    const flow_counts *twin, *counts = flow_tracker_counts(tracker);
    int64_t sum = 0;
    flow_tracker_facts(tracker, &facts);
    MUST(flow_tracker_check(tracker, &errors, &twin));
    for (unsigned i = 0; i < FLOW_STATES; i++)
        sum += counts->states[i];
    MUST(sum >= 0 && (uint64_t)sum == counts->flows && facts.flows <= counts->flows);
    if (kind != FLOW_EXACT)
        return;
    MUST(errors.false_positive + errors.false_negative + errors.incorrect == 0);
    MUST(memcmp(counts->states, twin->states, sizeof counts->states) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    flow_tracker_options options = {
        .engine = {(flow_engine_kind)(data[1] % 3), 100, 0.001, 1, &allocator},
        .key = (flow_key_kind)(data[0] / 8 % 3),
        .idle = 20000,
        .linger = 5000,
        .check = true,
        .twin_allocator = &allocator,
    };
    flow_tracker *tracker;
    MUST(flow_tracker_create(&options, &tracker) == BRY_OK);
    uint64_t time = 0;
    for (size_t at = 2; at + 3 <= size;) {
        size_t captured = data[at], length = captured + data[at + 1];
        time += data[at + 2] == 255 ? 0 - UINT64_C(1000000000) : data[at + 2] * UINT64_C(1000000);
        at += 3;
        if (captured > size - at)
            captured = size - at;
        add_packet(tracker, links[data[0] % 8], data + at, captured, length, time);
        at += captured;
    }
    flow_tracker_flush(tracker);
    check_tracker(tracker, options.engine.kind);
    flow_tracker_destroy(tracker);
    return 0;
}
