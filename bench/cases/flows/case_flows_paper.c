/* The comparison of the kBF papers: approximate state machines with kBF and sBF, and with compact. */
#include "bench/cases/flows/flows_cases.h"

#include "bench/harness/bench_fail.h"
#include "bench/harness/flow_states.h"
#include "papers/greedy.h"
#include "papers/paper_kbf.h"
#include "papers/sbf.h"

#include <math.h>

enum { STATE_BITS = 4, SEED = 19, LIVE_SHARE = 9 };
#define PAIRS_ERROR 1e-4 /* of the published encoder's filters */

/* One of the structures, with the calls that the stream needs. */
typedef struct state_table {
    bry_map *map; /* NULL: one of the papers' structures */
    bry__sbf sbf;
    bry__greedy codes;
    bry__paper_kbf published;
    bool is_published;
    bry_allocator allocator;
} state_table;

/* An update that kBF refuses is an error of the look-ups that follow. */
static bool put_state(state_table *table, bry_hash hash, uint8_t state, bool first)
{
    if (table->map && first)
        return bry_map_add(table->map, hash, bry_map_value_number(state)) == BRY_OK;
    if (table->map) {
        bry_status status = bry_map_update(table->map, hash, bry_map_value_number(state), NULL);
        return status == BRY_OK || status == BRY_E_UNSURE;
    }
    if (!table->is_published)
        (first ? bry__sbf_insert : bry__sbf_update)(&table->sbf, hash, state);
    else if (first)
        bry__paper_kbf_insert(&table->published, hash, state);
    else
        bry__paper_kbf_update(&table->published, hash, BRY__PAPER_TRIPLES, FLOW_STATES, state);
    return true;
}

static void delete_state(state_table *table, bry_hash hash)
{
    if (table->map)
        (void)bry_map_del(table->map, hash, NULL);
    else if (table->is_published)
        bry__paper_kbf_delete(&table->published, hash, BRY__PAPER_TRIPLES, FLOW_STATES);
    else
        bry__sbf_delete(&table->sbf, hash);
}

static bry_answer get_state(const state_table *table, bry_hash hash, uint8_t *state)
{
    bry_map_value value;
    bry_answer answer;
    if (table->map) {
        answer = bry_map_get(table->map, hash, &value);
        if (answer == BRY_PRESENT)
            *state = (uint8_t)value.number;
    } else if (table->is_published) {
        uint32_t code;
        answer =
            bry__paper_kbf_get(&table->published, hash, BRY__PAPER_TRIPLES, FLOW_STATES, &code);
        if (answer == BRY_PRESENT)
            *state = (uint8_t)code;
    } else {
        answer = bry__sbf_get(&table->sbf, hash, state);
    }
    return answer;
}

static void ask_state(const state_table *table, bry_hash hash, uint8_t expected, flows_trial *trial)
{
    uint8_t state = 0;
    bry_answer answer = get_state(table, hash, &state);
    bool found = answer == BRY_PRESENT;
    if (expected == 0) {
        trial->absent++;
        trial->false_positive += found;
    } else {
        trial->present++;
        trial->false_negative += !found;
        trial->incorrect += found && state != expected;
    }
}

/* The next step of a flow: 0 begins it, FLOW_STEPS ends it. */
static bool step_flow(state_table *table, uint64_t flow, unsigned step, flows_trial *trial)
{
    bry_hash hash = flow_hash(flow);
    uint8_t old = step == 0 ? 0 : flow_state_at(flow, step - 1);
    ask_state(table, hash, old, trial);
    if (step == FLOW_STEPS) {
        delete_state(table, hash);
        return true;
    }
    uint8_t state = flow_state_at(flow, step);
    return state == old || put_state(table, hash, state, step == 0);
}

/* With each flow that begins, one takes each later step; `live` flows later it ends. */
static bool replay_stream(state_table *table, const flows_stream *stream, flows_trial *trial)
{
    for (uint64_t now = 0; now < stream->flows; now++)
        for (unsigned step = 0; step <= FLOW_STEPS; step++) {
            uint64_t ago = stream->live * step / FLOW_STEPS;
            if (now >= ago && !step_flow(table, stream->first + now - ago, step, trial))
                return false;
        }
    return true;
}

static bool try_map(const bry_map_options *options, const flows_stream *stream, flows_trial *trial)
{
    state_table table = {0};
    if (bry_map_create(options, &table.map) != BRY_OK)
        return false;
    bool good = replay_stream(&table, stream, trial);
    bry_map_stats stats = {0};
    bry_map_get_stats(table.map, &stats);
    trial->bytes = stats.bytes;
    trial->error = options->error;
    bry_map_destroy(table.map);
    return good;
}

/* With as many cells and hashes as the kBF. */
static bool try_sbf(const bry_map_shape *shape, const flows_stream *stream, double p, bool for_good,
                    flows_trial *trial)
{
    state_table table = {.allocator = bry__allocator_or_default(NULL)};
    if (bry__sbf_init(&table.sbf, shape->kbf.hashes, shape->kbf.cells / shape->kbf.hashes,
                      &table.allocator) != BRY_OK)
        return false;
    trial->error = p;
    trial->bytes = shape->kbf.cells * sizeof(bry__sbf_cell);
    table.sbf.for_good = for_good;
    bool good = replay_stream(&table, stream, trial);
    bry__sbf_free(&table.sbf, &table.allocator);
    return good;
}

/* With as many cells and hashes, too: codes of the papers' search, not masked, and Algorithm 7. */
static bool try_published(const bry_map_shape *shape, const flows_stream *stream, double p,
                          flows_trial *trial)
{
    state_table table = {.is_published = true, .allocator = bry__allocator_or_default(NULL)};
    if (bry__greedy_search(&table.codes, FLOW_STATES, 0, &table.allocator) != BRY_OK)
        return false;
    bool good = bry__greedy_index(&table.codes, PAIRS_ERROR) == BRY_OK;
    if (good) {
        const bry__encoder encoder = bry__greedy_encoder(&table.codes);
        good =
            bry__paper_kbf_init(&table.published, &encoder, shape->kbf.hashes,
                                shape->kbf.cells / shape->kbf.hashes, &table.allocator) == BRY_OK;
    }
    trial->error = p;
    trial->bytes = shape->kbf.cells * sizeof *table.published.cells;
    good = good && replay_stream(&table, stream, trial);
    bry__paper_kbf_free(&table.published, &table.allocator);
    bry__greedy_free(&table.codes);
    return good;
}

static bry_map_options options_for(uint64_t flows, bry_engine engine, double error)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    options.engine = engine;
    options.capacity = flows;
    options.error = error;
    options.value_bits = STATE_BITS;
    options.seed = SEED;
    options.kbf.layout = engine == BRY_ENGINE_KBF ? BRY_MAP_PAPER : BRY_MAP_TUNED;
    return options;
}

/* The smallest error, of p, p / 2, p / 4 and so on, whose plan fits. */
static bry_map_options compact_within(uint64_t flows, double p, uint64_t bytes)
{
    bry_map_options best = options_for(flows, BRY_ENGINE_COMPACT, p), next = best;
    bry_map_shape shape = {0};
    while ((next.error /= 2) >= BRY_MAP_ERROR_MIN && bry_map_plan(&next, &shape) == BRY_OK &&
           shape.bytes + shape.bytes / 50 <= bytes)
        best = next;
    return best;
}

static uint64_t all_errors(const flows_trial *trial)
{
    return trial->false_positive + trial->false_negative + trial->incorrect;
}

/* As a share of the flows that were looked up: of the absent ones, and of the present ones. */
static double error_shares(const flows_trial *trial)
{
    return (double)trial->false_positive / (double)trial->absent +
           (double)(trial->false_negative + trial->incorrect) / (double)trial->present;
}

static bool check_compact_trials(const flows_trial *trials, double p)
{
    const flows_trial *kbf = &trials[FLOWS_KBF], *tenth = &trials[FLOWS_TENTH],
                      *quarter = &trials[FLOWS_QUARTER];
    if (tenth->bytes * 10 > kbf->bytes || error_shares(tenth) > p)
        cli_fail("flows: p %g: compact has an error of %g in %llu bytes, where kbf has %llu", p,
                 error_shares(tenth), (unsigned long long)tenth->bytes,
                 (unsigned long long)kbf->bytes);
    else if (quarter->bytes * 4 > kbf->bytes || all_errors(quarter) > all_errors(kbf))
        cli_fail("flows: p %g: compact has %llu errors in %llu bytes, kbf %llu in %llu", p,
                 (unsigned long long)all_errors(quarter), (unsigned long long)quarter->bytes,
                 (unsigned long long)all_errors(kbf), (unsigned long long)kbf->bytes);
    else
        return true;
    return false;
}

bool flows_compare(const flows_stream *stream, double p, flows_trial *trials)
{
    const uint64_t most = stream->live + stream->live / 20; /* kBF does not delete all */
    const bry_map_options kbf = options_for(most, BRY_ENGINE_KBF, p);
    bry_map_shape shape = {0};
    bool good = bry_map_plan(&kbf, &shape) == BRY_OK && try_map(&kbf, stream, &trials[FLOWS_KBF]) &&
                try_sbf(&shape, stream, p, true, &trials[FLOWS_SBF]) &&
                try_sbf(&shape, stream, p, false, &trials[FLOWS_SBF_COUNTED]) &&
                try_published(&shape, stream, p, &trials[FLOWS_PUBLISHED]);
    for (unsigned i = FLOWS_TENTH; i <= FLOWS_QUARTER && good; i++) {
        uint64_t bytes = shape.bytes / (i == FLOWS_TENTH ? 10 : 4);
        const bry_map_options compact = compact_within(most, p, bytes);
        good = try_map(&compact, stream, &trials[i]);
    }
    return good ||
           bench_fail("flows: %llu flows do not fit in memory", (unsigned long long)stream->live);
}

flows_stream flows_paper_stream(uint64_t flows, uint64_t first)
{
    return (flows_stream){flows, flows / LIVE_SHARE, first};
}

enum { FLOWS_ERRORS = 5 }; /* 0.1 to 10^-5 */

typedef struct flows_paper_report {
    flows_stream stream;
    struct {
        double p;
        flows_trial trial[FLOWS_STRUCTURES];
    } row[FLOWS_ERRORS];
} flows_paper_report;

static double error_share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

static void paper_json(cli_json *json, const flows_paper_report *paper)
{
    static const char *const keys[FLOWS_STRUCTURES] = {"sbf", "sbf_counted",   "kbf_published",
                                                       "kbf", "compact_tenth", "compact_quarter"};
    cli_json_count(json, "flows", paper->stream.flows);
    cli_json_count(json, "live", paper->stream.live);
    cli_json_open(json, "paper", '[');
    for (unsigned i = 0; i < FLOWS_ERRORS; i++) {
        cli_json_open(json, NULL, '{');
        cli_json_number(json, "p", paper->row[i].p);
        for (unsigned s = 0; s < FLOWS_STRUCTURES; s++) {
            const flows_trial *trial = &paper->row[i].trial[s];
            cli_json_open(json, keys[s], '{');
            cli_json_number(json, "error", trial->error);
            cli_json_count(json, "bytes", trial->bytes);
            cli_json_number(json, "false_positive",
                            error_share(trial->false_positive, trial->absent));
            cli_json_number(json, "false_negative",
                            error_share(trial->false_negative, trial->present));
            cli_json_number(json, "incorrect", error_share(trial->incorrect, trial->present));
            cli_json_close(json, '}');
        }
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

bool bench_flows_paper(uint64_t flows, cli_json *json)
{
    flows_paper_report report = {.stream = flows_paper_stream(flows, 0)};
    for (unsigned i = 0; i < FLOWS_ERRORS; i++) {
        report.row[i].p = pow(10, -1 - (double)i);
        if (!flows_compare(&report.stream, report.row[i].p, report.row[i].trial) ||
            !check_compact_trials(report.row[i].trial, report.row[i].p))
            return false;
    }
    paper_json(json, &report);
    return true;
}
