#include "apps/flows/flow_tracker.h"

#include <stdlib.h>
#include <string.h>

/* Packets of a round: as many as a fast link carries in a tenth of a second, so that a handshake is
 * often one change. */
enum { FLOW_ROUND = 8192, PLACES = 2 * FLOW_ROUND };
_Static_assert((PLACES & (PLACES - 1)) == 0, "a mask is used");

typedef struct waiting_packet {
    flow_packet packet;
    uint64_t now; /* by the clock */
    uint8_t event;
    bool swapped;
    uint16_t flow; /* number in the round */
} waiting_packet;

/* An engine, and what it knows of the flows of a round. The twin is a second one. */
typedef struct flow_table {
    flow_engine *engine;
    flow_counts counts;
    bool full; /* a flow did not fit since the last tick */
    uint32_t values[FLOW_ROUND], stored[FLOW_ROUND]; /* now, and in the engine */
    bry_answer answers[FLOW_ROUND];
    bry_hash changed[FLOW_ROUND];
    uint32_t changes[FLOW_ROUND];
} flow_table;

struct flow_tracker {
    flow_machine machine;
    flow_clock clock;
    flow_key_kind key;
    uint64_t seed;
    flow_watch *watch;
    void *context;
    size_t waiting, flows; /* packets of the round, and their flows */
    flow_errors errors;
    bool has_twin;
    flow_table table, twin;
    waiting_packet packets[FLOW_ROUND];
    bry_hash packet_hashes[FLOW_ROUND];
    bry_hash hashes[FLOW_ROUND]; /* of the flows */
    uint16_t places[PLACES]; /* hash → flow + 1; 0: empty */
};

/* ---- one packet ------------------------------------------------------------------------------ */

/* The tick that a value has after a step: only a change of state, or a refresh, sets it. */
static uint32_t next_value(const flow_clock *clock, uint32_t value, bool known,
                           const flow_step *step, bool second)
{
    bool ended = flow_state_ended(step->next);
    if (known && !step->begins && flow_value_state(value) == step->next &&
        (ended || flow_value_age(clock, value) < clock->refresh_age))
        return value;
    return flow_value_make(step->next, second, ended ? clock->linger_tick : clock->idle_tick);
}

static void count_step(flow_counts *counts, unsigned before, const flow_step *step)
{
    counts->notes[step->note]++;
    if (step->begins)
        counts->flows++;
    else if (before == step->next)
        return;
    else
        counts->states[before]--;
    counts->states[step->next]++;
}

static bool worth_watching(unsigned event, unsigned before, const flow_step *step)
{
    return step->note || step->begins || event == FLOW_ON_SYN || event == FLOW_ON_RST ||
           (step->next == FLOW_ESTABLISHED && before != FLOW_ESTABLISHED);
}

/* Processes one packet of the round with a table; the twin is not watched. */
static void step_packet(flow_tracker *tracker, flow_table *table, const waiting_packet *waiting,
                        bool watched)
{
    uint32_t *value = &table->values[waiting->flow];
    bry_answer *answer = &table->answers[waiting->flow];
    if (*answer == BRY_UNSURE) {
        table->counts.unsure++;
        return;
    }
    bool known = *answer == BRY_PRESENT;
    unsigned before = known ? flow_value_state(*value) : FLOW_NEW;
    bool second = known && *value & FLOW_VALUE_SECOND;
    flow_side side = known && second != waiting->swapped ? FLOW_RESPONDER : FLOW_INITIATOR;
    flow_step step = tracker->machine.steps[before][waiting->event][side];
    bool lost = !known && table->full;
    if (lost) {
        /* It may belong to a flow that did not fit, so that only a SYN shows what it is. */
        table->counts.untracked++;
        if (waiting->event != FLOW_ON_SYN)
            return;
    } else {
        if (step.begins)
            second = waiting->swapped != step.turns;
        *value = next_value(&tracker->clock, *value, known, &step, second);
        *answer = BRY_PRESENT;
        count_step(&table->counts, before, &step);
    }
    if (!watched || !tracker->watch || !worth_watching(waiting->event, before, &step))
        return;
    const flow_sighting seen = {&waiting->packet,
                                waiting->event,
                                before,
                                step.next,
                                step.turns ? FLOW_RESPONDER : side,
                                step.note,
                                step.begins,
                                waiting->now};
    tracker->watch(tracker->context, &seen);
}

/* ---- a round --------------------------------------------------------------------------------- */

/* The number of this flow in the round. */
static uint16_t flow_of_round(flow_tracker *tracker, bry_hash hash)
{
    size_t place = hash.lo & (PLACES - 1);
    for (; tracker->places[place]; place = (place + 1) & (PLACES - 1)) {
        uint16_t flow = (uint16_t)(tracker->places[place] - 1);
        if (tracker->hashes[flow].lo == hash.lo && tracker->hashes[flow].hi == hash.hi)
            return flow;
    }
    tracker->hashes[tracker->flows] = hash;
    tracker->places[place] = (uint16_t)(tracker->flows + 1);
    return (uint16_t)tracker->flows++;
}

/* First all hashes, so that they are computed side by side. */
static void number_flows(flow_tracker *tracker)
{
    for (size_t i = 0; i < tracker->waiting; i++) {
        waiting_packet *waiting = &tracker->packets[i];
        flow_key key;
        flow_key_of(tracker->key, &waiting->packet, &key);
        waiting->event = (uint8_t)flow_event_of(&tracker->machine, &waiting->packet);
        waiting->swapped = key.swapped;
        tracker->packet_hashes[i] = bry_hash_key(tracker->seed, key.bytes, key.len);
    }
    for (size_t i = 0; i < tracker->waiting; i++)
        tracker->packets[i].flow = flow_of_round(tracker, tracker->packet_hashes[i]);
}

static void find_flows(flow_tracker *tracker, flow_table *table)
{
    const bry_answer absent = BRY_ABSENT;
    size_t n = tracker->flows;
    for (size_t done = 0; done < n; done += FLOW_FOUND)
        table->engine->calls->find(table->engine, &tracker->clock, tracker->hashes + done,
                                   n - done < FLOW_FOUND ? n - done : FLOW_FOUND,
                                   table->values + done, table->answers + done);
    for (size_t i = 0; i < n; i++)
        table->stored[i] = table->answers[i] == absent ? UINT32_MAX : table->values[i];
}

/* One after the other, when the batch does not fit. */
static void store_singly(flow_tracker *tracker, flow_table *table, size_t from, size_t n)
{
    for (size_t i = from; i < from + n; i++)
        if (table->engine->calls->store(table->engine, &tracker->clock, &table->changed[i],
                                        &table->changes[i], 1) != BRY_OK) {
            table->counts.unstored++;
            table->full = true;
        }
}

static void store_flows(flow_tracker *tracker, flow_table *table)
{
    size_t n = 0;
    for (size_t i = 0; i < tracker->flows; i++) {
        if (table->answers[i] != BRY_PRESENT || table->values[i] == table->stored[i])
            continue;
        table->changed[n] = tracker->hashes[i];
        table->changes[n++] = table->values[i];
    }
    for (size_t done = 0; done < n; done += FLOW_STORED) {
        size_t here = n - done < FLOW_STORED ? n - done : FLOW_STORED;
        if (table->engine->calls->store(table->engine, &tracker->clock, table->changed + done,
                                        table->changes + done, here) != BRY_OK)
            store_singly(tracker, table, done, here);
    }
}

static void compare_with_twin(flow_tracker *tracker)
{
    const uint32_t same = FLOW_VALUE_STATE | FLOW_VALUE_SECOND;
    const flow_table *table = &tracker->table, *twin = &tracker->twin;
    flow_errors *errors = &tracker->errors;
    for (size_t i = 0; i < tracker->flows; i++) {
        bool found = table->answers[i] == BRY_PRESENT;
        if (twin->answers[i] != BRY_PRESENT) {
            errors->absent++;
            errors->false_positive += found;
            continue;
        }
        errors->present++;
        errors->false_negative += !found;
        errors->incorrect += found && ((table->values[i] ^ twin->values[i]) & same) != 0;
    }
}

void flow_tracker_flush(flow_tracker *tracker)
{
    if (tracker->waiting == 0)
        return;
    number_flows(tracker);
    find_flows(tracker, &tracker->table);
    if (tracker->has_twin) {
        find_flows(tracker, &tracker->twin);
        compare_with_twin(tracker);
        for (size_t i = 0; i < tracker->waiting; i++)
            step_packet(tracker, &tracker->twin, &tracker->packets[i], false);
        store_flows(tracker, &tracker->twin);
    }
    for (size_t i = 0; i < tracker->waiting; i++)
        step_packet(tracker, &tracker->table, &tracker->packets[i], true);
    store_flows(tracker, &tracker->table);
    tracker->table.counts.packets += tracker->waiting;
    tracker->table.counts.late = tracker->clock.late;
    tracker->table.counts.jumps_back = tracker->clock.jumps_back;
    tracker->waiting = tracker->flows = 0;
    memset(tracker->places, 0, sizeof tracker->places);
}

static void note_largest(flow_table *table)
{
    flow_engine_facts facts;
    table->engine->calls->facts(table->engine, &facts);
    if (facts.flows > table->counts.most_flows)
        table->counts.most_flows = facts.flows;
    if (facts.bytes > table->counts.most_bytes)
        table->counts.most_bytes = facts.bytes;
}

static void sweep_table(flow_table *table, const flow_clock *clock)
{
    if (table->engine->calls->sweep)
        table->engine->calls->sweep(table->engine, clock);
}

static void tick_table(flow_tracker *tracker, flow_table *table)
{
    note_largest(table);
    if (table->engine->calls->tick)
        table->engine->calls->tick(table->engine, &tracker->clock);
    if (tracker->clock.sweeps)
        sweep_table(table, &tracker->clock);
    table->full = false;
}

flow_packet *flow_tracker_room(flow_tracker *tracker)
{
    return &tracker->packets[tracker->waiting].packet;
}

static void note_time(flow_counts *counts, uint64_t time, bool first)
{
    if (first || time < counts->first)
        counts->first = time;
    if (time > counts->last)
        counts->last = time;
}

void flow_tracker_add(flow_tracker *tracker, const flow_packet *packet)
{
    note_time(&tracker->table.counts, packet->time, !tracker->clock.started);
    if (flow_clock_advance(&tracker->clock, packet->time)) {
        flow_tracker_flush(tracker);
        flow_clock_tick(&tracker->clock);
        tick_table(tracker, &tracker->table);
        if (tracker->has_twin)
            tick_table(tracker, &tracker->twin);
    }
    waiting_packet *waiting = &tracker->packets[tracker->waiting++];
    if (&waiting->packet != packet)
        waiting->packet = *packet;
    waiting->now = tracker->clock.now;
    if (tracker->waiting == FLOW_ROUND)
        flow_tracker_flush(tracker);
}

/* ---- the whole ------------------------------------------------------------------------------- */

bry_status flow_tracker_create(const flow_tracker_options *options, flow_tracker **made)
{
    flow_tracker *tracker = calloc(1, sizeof *tracker);
    if (!tracker)
        return BRY_E_NOMEM;
    tracker->key = options->key;
    tracker->seed = options->engine.seed;
    tracker->watch = options->watch;
    tracker->context = options->context;
    flow_machine_init(&tracker->machine, flow_key_directed(options->key));
    flow_clock_init(&tracker->clock, options->idle, options->linger,
                    options->engine.kind == FLOW_KBF);
    bry_status status = flow_engine_create(&options->engine, &tracker->table.engine);
    if (status == BRY_OK && options->check) {
        flow_engine_options exact = options->engine;
        exact.kind = FLOW_EXACT;
        exact.allocator = options->twin_allocator;
        status = flow_engine_create(&exact, &tracker->twin.engine);
        tracker->has_twin = status == BRY_OK;
    }
    if (status != BRY_OK) {
        flow_tracker_destroy(tracker);
        return status;
    }
    *made = tracker;
    return BRY_OK;
}

void flow_tracker_destroy(flow_tracker *tracker)
{
    if (tracker && tracker->table.engine)
        tracker->table.engine->calls->destroy(tracker->table.engine);
    if (tracker && tracker->twin.engine)
        tracker->twin.engine->calls->destroy(tracker->twin.engine);
    free(tracker);
}

const flow_counts *flow_tracker_counts(const flow_tracker *tracker)
{
    return &tracker->table.counts;
}

void flow_tracker_facts(flow_tracker *tracker, flow_engine_facts *facts)
{
    note_largest(&tracker->table);
    sweep_table(&tracker->table, &tracker->clock);
    tracker->table.engine->calls->facts(tracker->table.engine, facts);
}

bool flow_tracker_check(const flow_tracker *tracker, flow_errors *errors,
                        const flow_counts **counts)
{
    *errors = tracker->errors;
    *counts = &tracker->twin.counts;
    return tracker->has_twin;
}
