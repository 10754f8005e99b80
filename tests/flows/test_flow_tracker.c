/* The tracker of `bloomery flows`: rounds, the clock, and what happens without memory. */
#include "apps/flows/flow_tracker.h"

#include <string.h>

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"

enum { PACKETS = 20000, IDLE_MS = 30000, LINGER_MS = 4000 };

static flow_tracker_options options_with(failing_allocator *memory, flow_engine_kind kind)
{
    return (flow_tracker_options){
        .engine = {kind, 1000, 1e-9, 5, &memory->allocator},
        .idle = IDLE_MS,
        .linger = LINGER_MS,
        .check = true,
        .twin_allocator = &memory->allocator,
    };
}

/* A random packet of one of a few hundred flows; some seconds may pass, or time goes back. */
static flow_packet random_packet(generator *random_from, uint64_t *time)
{
    static const uint8_t flags[] = {FLOW_SYN,
                                    FLOW_SYN | FLOW_ACK,
                                    FLOW_ACK,
                                    FLOW_ACK | FLOW_PSH,
                                    FLOW_ACK | FLOW_FIN,
                                    FLOW_RST,
                                    0,
                                    FLOW_FIN};
    uint64_t random = generator_next(random_from);
    flow_packet packet = {.is_ipv6 = random & 1, .has_data = random & 2};
    bool back = random & 4;
    packet.flags = flags[(random >> 8) % sizeof flags];
    packet.source[back] = packet.target[!back] = 9;
    packet.source[3] = packet.target[3] = (uint8_t)((random >> 16) % 20);
    packet.source_port = (uint16_t)(back ? 80 : 1000 + (random >> 24) % 10);
    packet.target_port = (uint16_t)(back ? 1000 + (random >> 24) % 10 : 80);
    uint64_t jump = (random >> 32) % 1000;
    *time += jump == 0 ? 20000000 : jump == 1 ? 200000000 : (random >> 42) % 100000;
    packet.time = jump == 2 ? *time - 1000000 : *time;
    if (jump == 3)
        *time -= 100000000;
    return packet;
}

static void expect_equal_counts(const flow_tracker *a, const flow_tracker *b)
{
    const flow_counts *x = flow_tracker_counts(a), *y = flow_tracker_counts(b);
    assert_int_equal(x->packets, y->packets);
    assert_int_equal(x->flows, y->flows);
    assert_memory_equal(x->states, y->states, sizeof x->states);
    assert_memory_equal(x->notes, y->notes, sizeof x->notes);
}

/* A round gives the same as one packet after the other, and every engine the same as exact. */
TEST(test_rounds_change_nothing)
{
    for (int kind = FLOW_COMPACT; kind <= FLOW_EXACT; kind++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        flow_tracker *rounds, *singly;
        const flow_tracker_options options = options_with(&memory, (flow_engine_kind)kind);
        assert_int_equal(flow_tracker_create(&options, &rounds), BRY_OK);
        assert_int_equal(flow_tracker_create(&options, &singly), BRY_OK);
        generator from = {7};
        uint64_t time = UINT64_C(1700000000000000);
        for (int i = 0; i < PACKETS; i++) {
            flow_packet packet = random_packet(&from, &time);
            flow_tracker_add(rounds, &packet);
            flow_tracker_add(singly, &packet);
            flow_tracker_flush(singly);
        }
        flow_tracker_flush(rounds);
        expect_equal_counts(rounds, singly);
        flow_errors errors;
        const flow_counts *twin, *counts = flow_tracker_counts(singly);
        assert_true(flow_tracker_check(singly, &errors, &twin));
        assert_int_equal(errors.false_positive, 0);
        /* kbf may be unsure, with a probability of 1e-9 */
        assert_int_equal(errors.false_negative + errors.incorrect, 0);
        assert_int_equal(errors.absent + errors.present, PACKETS);
        assert_memory_equal(counts->states, twin->states, sizeof twin->states);
        assert_true(counts->late > 0 && counts->jumps_back > 0);
        flow_engine_facts facts;
        flow_tracker_facts(singly, &facts);
        assert_true(facts.flows > 0 && facts.flows <= 400);
        flow_tracker_destroy(rounds);
        flow_tracker_destroy(singly);
        assert_int_equal(memory.now, 0);
    }
}

/* Every allocation fails once, and then all of them: flows may be lost, and are counted. */
TEST(test_without_memory)
{
    for (int kind = FLOW_COMPACT; kind <= FLOW_EXACT; kind++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bool failed = true;
        memory.keep_failing = true;
        for (memory.fail_at = 1; failed && memory.fail_at < 200; memory.fail_at++) {
            flow_tracker *tracker;
            flow_tracker_options options = options_with(&memory, (flow_engine_kind)kind);
            options.check = false;
            failing_allocator_restart(&memory);
            bry_status status = flow_tracker_create(&options, &tracker);
            if (status != BRY_OK) {
                assert_int_equal(status, BRY_E_NOMEM);
                assert_int_equal(memory.now, 0);
                continue;
            }
            generator from = {7};
            uint64_t time = UINT64_C(1700000000000000);
            for (int i = 0; i < 2000; i++) {
                flow_packet packet = random_packet(&from, &time);
                flow_tracker_add(tracker, &packet);
                if (i % 100 == 0)
                    flow_tracker_flush(tracker);
            }
            flow_tracker_flush(tracker);
            const flow_counts *counts = flow_tracker_counts(tracker);
            int64_t sum = 0;
            for (unsigned i = 0; i < FLOW_STATES; i++)
                sum += counts->states[i];
            assert_int_equal(sum, counts->flows);
            assert_int_equal(counts->packets, 2000);
            failed = memory.calls >= memory.fail_at;
            if (!failed)
                assert_int_equal(counts->unstored + counts->untracked, 0);
            flow_tracker_destroy(tracker);
            assert_int_equal(memory.now, 0);
        }
        assert_true(memory.fail_at > 2);
    }
}

/* No gap in time lets an old flow look young, whatever the last 6 bits of a tick are. */
TEST(test_every_gap)
{
    for (uint64_t seconds = 1; seconds < 400; seconds++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        const flow_tracker_options options = options_with(&memory, FLOW_COMPACT);
        flow_tracker *tracker;
        assert_int_equal(flow_tracker_create(&options, &tracker), BRY_OK);
        flow_packet live = {.flags = FLOW_SYN, .source = {1}, .time = 1000000};
        flow_packet ended = {.flags = FLOW_RST, .source = {2}, .time = 1000000};
        flow_packet other = {.flags = FLOW_SYN, .source = {3}, .time = (1 + seconds) * 1000000};
        flow_tracker_add(tracker, &live);
        flow_tracker_add(tracker, &ended);
        flow_tracker_add(tracker, &other);
        flow_tracker_flush(tracker);
        flow_engine_facts facts;
        flow_tracker_facts(tracker, &facts);
        uint64_t least = 1 + (seconds * 1000 < IDLE_MS) + (seconds * 1000 < LINGER_MS);
        uint64_t most = 1 + (seconds * 6000 <= IDLE_MS * 7) + (seconds * 2000 <= LINGER_MS * 3);
        assert_in_range(facts.flows, least, most);
        flow_tracker_destroy(tracker);
        assert_int_equal(memory.now, 0);
    }
}
