/*
 * Two maps compared with exact twins; the same programs for both engines. No two keys share a
 * fingerprint, so engine compact must be exact. Engine kbf may refuse with UNSURE; another wrong
 * answer, which the map's error allows, is counted and ends the comparison of that program.
 */
#include "model/map/map_model_pair.h"
#include "model/model_objects.h"
#include "support/like.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 48 };

static void *create(model_reader *reader)
{
    static const uint64_t capacities[] = {1, 5, 40, 150, 600, 2000};
    static const double errors[MAP_MODEL_ERRORS] = {0.5, 0.01, 1e-3, 1e-6, 1e-9};
    map_pair *both = calloc(1, sizeof *both);
    if (!both) {
        model_fail(reader, "no memory for the test itself");
        return NULL;
    }
    failing_allocator_init(&both->memory);
    bry_map_options options = BRY_MAP_OPTIONS;
    unsigned kind = model_byte(reader);
    both->kbf = kind % 2;
    both->fixed = kind / 2 % 2;
    both->value_bits = kind / 4 % 4 ? 0 : 1 + kind / 16 % (both->kbf ? 13 : 16);
    both->capacity[0] = both->capacity[1] = capacities[model_below(reader, 6)];
    both->created[0] = both->created[1] = both->capacity[0];
    options.engine = both->kbf ? BRY_ENGINE_KBF : BRY_ENGINE_COMPACT;
    options.fixed = both->fixed;
    options.capacity = both->capacity[0];
    both->error_index = model_below(reader, MAP_MODEL_ERRORS);
    if (both->kbf && errors[both->error_index] > 0.01)
        both->error_index = MAP_MODEL_ERRORS - 1;
    both->error = options.error = errors[both->error_index];
    options.value_bits = both->value_bits;
    options.values = 1 + model_pair(reader) % 300;
    options.seed = 7;
    bry_map_shape shape = {0};
    model_expect(reader, bry_map_plan(&options, &shape) == BRY_OK);
    options.allocator = &both->memory.allocator;
    for (int i = 0; i < 2; i++) {
        model_expect(reader, bry_map_create(&options, &both->map[i]) == BRY_OK);
        map_twin_clear(&both->twin[i]);
    }
    map_counts.programs_kbf += both->kbf;
    model_say(reader, "create %s, capacity %ju%s, error %g, %u value bits",
              both->kbf ? "kbf" : "compact", (uintmax_t)both->capacity[0],
              both->fixed ? ", fixed" : "", options.error, both->value_bits);
    model_expect(reader, both->memory.now == 2 * shape.bytes_empty);
    return both;
}

static void destroy(void *state, model_reader *reader)
{
    map_pair *both = state;
    if (!both)
        return;
    bry_map_destroy(both->map[0]);
    bry_map_destroy(both->map[1]);
    model_expect(reader, both->memory.now == 0 && both->memory.blocks == 0);
    map_counts.programs_wrong += both->wrong;
    map_counts.wrong[both->error_index] += both->wrong;
    free(both);
}

/* ---- whole maps ---- */

static void do_clone(map_pair *both, model_reader *reader)
{
    both->map[0] = model_clone(reader, &both->memory, BRY_JOB_MAP, both->map[0]);
}

static void do_clear(map_pair *both, model_reader *reader)
{
    model_say(reader, "clear");
    bry_map_clear(both->map[0]);
    map_twin_clear(&both->twin[0]);
    both->hidden[0] = false;
    both->capacity[0] = both->created[0];
}

/* Replaces the second map by an empty one of the first one's options. */
static void do_create_like(map_pair *both, model_reader *reader)
{
    model_say(reader, "create the other like this");
    bry_map *made = NULL;
    bry_status status = bry_map_create_like(both->map[0], NULL, &made);
    if (model_out_of_memory(reader, &both->memory, status)) {
        model_expect(reader, made == NULL);
        return;
    }
    model_expect(reader, status == BRY_OK && made);
    bry_map_destroy(both->map[1]);
    both->map[1] = made;
    map_twin_clear(&both->twin[1]);
    both->hidden[1] = false;
    both->capacity[1] = both->created[1] = both->capacity[0];
}

/* kbf merges maps of the same shape whose codes agree. */
static bool may_mismatch(const map_pair *both)
{
    if (!both->kbf)
        return false;
    bry_map_options a = map_like(both->map[0]), b = map_like(both->map[1]);
    if (a.kbf.cells != b.kbf.cells || a.kbf.hashes != b.kbf.hashes)
        return true;
    if (both->value_bits)
        return false;
    const bry__dictionary *x = both->map[0]->dictionary, *y = both->map[1]->dictionary;
    for (uint32_t code = 0; code < x->table.codes && code < y->table.codes; code++) {
        bry_map_value v = bry__dictionary_value(x, code), w = bry__dictionary_value(y, code);
        if (v.len != w.len || memcmp(v.bytes, w.bytes, v.len) != 0)
            return true;
    }
    return false;
}

static void do_merge(map_pair *both, model_reader *reader)
{
    map_twin *into = &both->twin[0];
    const map_twin *from = &both->twin[1];
    if (both->kbf && map_twin_overlap(into, from))
        return; /* such keys become undecodable */
    model_say(reader, "merge");
    bool mismatch = may_mismatch(both);
    bry_status status = bry_map_merge(both->map[0], both->map[1]);
    if (model_out_of_memory(reader, &both->memory, status))
        return;
    unsigned together = map_twin_union(into, from);
    if (status == BRY_E_FULL) { /* a growing one too: old fingerprints cannot be made longer */
        model_expect(reader, together > both->capacity[0] || both->hidden[0] || both->hidden[1] ||
                                 both->wrong);
        return;
    }
    if (status == BRY_E_MISMATCH) {
        model_expect(reader, mismatch);
        return;
    }
    model_expect(reader, status == BRY_OK && !mismatch);
    model_expect(reader, !both->fixed || together <= both->capacity[0] || both->wrong);
    for (unsigned i = 0; i < TWIN_KEYS; i++)
        if (from->value[i] != TWIN_NONE)
            map_twin_set(into, i, from->value[i]);
    both->hidden[0] = !both->fixed;
}

static void do_compress(map_pair *both, model_reader *reader)
{
    model_say(reader, "compress");
    bry_status status = bry_map_compress(both->map[0], 0);
    if (model_out_of_memory(reader, &both->memory, status))
        return;
    model_expect(reader, status == BRY_OK);
    if (both->kbf)
        both->capacity[0] = map_like(both->map[0]).capacity;
}

static void do_exchange(map_pair *both, model_reader *reader)
{
    model_say(reader, "exchange");
    bry_map *map = both->map[0];
    map_twin twin = both->twin[0];
    bool hidden = both->hidden[0];
    uint64_t capacity = both->capacity[0], created = both->created[0];
    both->map[0] = both->map[1];
    both->twin[0] = both->twin[1];
    both->hidden[0] = both->hidden[1];
    both->map[1] = map;
    both->twin[1] = twin;
    both->hidden[1] = hidden;
    both->capacity[0] = both->capacity[1];
    both->capacity[1] = capacity;
    both->created[0] = both->created[1];
    both->created[1] = created;
}

static void do_save_and_load(map_pair *both, model_reader *reader)
{
    both->map[0] = model_reload(reader, &both->memory, BRY_JOB_MAP, both->map[0]);
}

static const struct {
    map_operation *run;
    unsigned share; /* of MODEL_SHARES */
} operations[] = {
    {map_do_set, 4},      {map_do_sweep, 1},    {map_do_set_n, 4}, {map_do_update, 2},
    {map_do_add, 2},      {map_do_del, 2},      {map_do_add_n, 1}, {map_do_del_n, 3},
    {map_do_del_pair, 2}, {map_do_get_n, 2},    {do_clone, 1},     {do_clear, 1},
    {do_create_like, 1},  {do_merge, 1},        {do_compress, 1},  {do_save_and_load, 1},
    {do_exchange, 2},     {map_do_update_n, 1},
};

static void step(void *state, model_reader *reader)
{
    map_pair *both = state;
    unsigned picked = model_begin_step(reader, &both->memory, 12), which = 0;
    for (; picked >= operations[which].share; which++)
        picked -= operations[which].share;
    operations[which].run(both, reader);
    map_counts.operations++;
    map_counts.operations_kbf += both->kbf;
    both->memory.fail_at = 0;
}

/* ---- what must hold after every operation ---- */

static void check(void *state, model_reader *reader)
{
    map_pair *both = state;
    uint64_t bytes = 0;
    for (unsigned i = 0; i < 2; i++) {
        bry_map_stats stats = {0};
        bry_map_get_stats(both->map[i], &stats);
        bytes += stats.bytes;
        unsigned count = both->twin[i].count, values = map_twin_values(&both->twin[i]);
        if (!both->wrong)
            model_expect(reader, both->hidden[i] ? stats.items >= count : stats.items == count);
        model_expect(reader,
                     both->value_bits ? stats.values == 0 : stats.values >= values || both->wrong);
        model_expect(reader, stats.seed == 7 && stats.capacity == both->capacity[i]);
        model_expect(reader, stats.tables == 1 || !both->fixed);
        model_expect(reader, stats.estimated.false_positive <= both->error || both->kbf);
        /* Compares a few keys every time, all at the end. */
        unsigned n = reader->at >= reader->len ? TWIN_KEYS : WINDOW;
        for (unsigned done = 0; done < n && !reader->failed; done += WINDOW)
            map_compare_keys(both, reader, i, both->window + done, WINDOW);
    }
    both->window = (both->window + WINDOW) % TWIN_KEYS;
    model_expect(reader, bytes == both->memory.now);
}

/* Either engine must have its share of the operations. Wrong answers of kbf must not be more than its
 * error allows, for each error by itself; and at most one answer in a thousand may be unsure. */
static bool report(uint64_t programs, uint64_t wanted)
{
    const map_model_counts *counts = &map_counts;
    uint64_t kbf = counts->operations_kbf, compact = counts->operations - kbf;
    printf("%ju operations with kbf, in %ju programs, %ju of which met a wrong answer; %ju "
           "answers, %ju "
           "unsure\n",
           (uintmax_t)kbf, (uintmax_t)counts->programs_kbf, (uintmax_t)counts->programs_wrong,
           (uintmax_t)counts->compared, (uintmax_t)counts->unsure);
    bool good = counts->unsure * 1000 <= counts->compared &&
                (programs <= 100 || (compact >= wanted / 3 && kbf >= wanted / 3));
    for (int i = 0; i < MAP_MODEL_ERRORS; i++) {
        double most = counts->may_be_wrong[i];
        printf("  error number %d: %ju programs with a wrong answer, %g may have one\n", i,
               (uintmax_t)counts->wrong[i], most);
        good = good && (double)counts->wrong[i] <= most + 5 * sqrt(most) + 1;
    }
    return good;
}

const model map_model = {"map", create, step, check, destroy, &map_counts.operations, report};
