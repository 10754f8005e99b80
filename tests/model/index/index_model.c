/*
 * An index compared with an exact twin; the same programs for all engines. Engine compact must
 * agree with the twin, in which elements with the same fingerprint are one, in every answer. Other
 * engines must return every unit that contains an element, and no others except those it was
 * deleted from: their error is so small that no false positive is expected.
 */
#include "model/index/index_model_pair.h"
#include "model/model_objects.h"
#include "support/like.h"

#include "index/index_save.h"
#include "support/index_parts_count.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 8 };

static uint64_t operations_done;

/* ---- making ---- */

/* Of engine dba. */
static void read_dba(model_reader *reader, bry_index_options *options)
{
    static const uint32_t groups[] = {0, 0, 0, 1, 8, 16, 64, 512};
    static const double errors[] = {1e-9, 1e-9, 0.02, 0.5};
    unsigned kind = model_byte(reader), rates = model_byte(reader);
    options->dba.group = groups[kind % 8];
    options->dba.segmented = kind / 8 % 2;
    options->dba.factor = kind / 16 % 2 ? 3 : 0;
    options->dba.control = (bry_index_control)(kind / 32 % 3);
    options->dba.stale = rates % 2 ? 0.05 : 0.5;
    options->error = errors[rates / 2 % 4];
}

static index_pair *make_pair(model_reader *reader)
{
    static const uint64_t capacities[] = {1, 3, 20, 60, 200};
    static const double errors[] = {0.5, 0.01, 1e-3, 1e-6, 1e-9};
    index_pair *both = calloc(1, sizeof *both);
    if (!both) {
        model_fail(reader, "no memory for the test itself");
        return NULL;
    }
    failing_allocator_init(&both->memory);
    recording_init(&both->disk);
    unsigned kind = model_byte(reader);
    bry_index_options *options = &both->options;
    *options = (bry_index_options)BRY_INDEX_OPTIONS;
    options->engine = both->engine = kind % 4 >= 2 ? BRY_ENGINE_DBA : BRY_ENGINE_COMPACT;
    bry_index_shape shape = {0};
    if (bry_index_plan(options, &shape) == BRY_E_UNSUPPORTED)
        options->engine = both->engine = BRY_ENGINE_COMPACT; /* not in this library */
    both->exact = both->engine == BRY_ENGINE_COMPACT;
    both->twin.share = both->exact && kind / 4 % 2 ? 3 : 1;
    options->fixed = kind / 8 % 2;
    options->units = 1 + kind / 16 % 8;
    options->unit_capacity = capacities[model_below(reader, 5)];
    if (both->exact)
        options->error = errors[model_below(reader, 5)];
    else
        read_dba(reader, options);
    both->errs = !both->exact && options->error > 1e-9;
    options->seed = 7;
    model_expect(reader, bry_index_plan(options, &shape) == BRY_OK);
    options->allocator = &both->memory.allocator;
    model_expect(reader, bry_index_create(options, &both->index) == BRY_OK);
    options->allocator = NULL;
    model_say(reader, "create %s%s, %u units of %ju, error %g, share %u",
              bry_engine_name(both->engine), options->fixed ? ", fixed" : "", options->units,
              (uintmax_t)options->unit_capacity, options->error, both->twin.share);
    model_expect(reader, both->memory.now == shape.bytes_empty);
    both->is_watched = both->exact && kind >= 128;
    return both;
}

static void *create(model_reader *reader)
{
    size_t begin = reader->at;
    index_pair *both = make_pair(reader);
    if (both && both->is_watched) {
        FILE *listener = reader->listener;
        reader->at = begin;
        reader->listener = NULL;
        both->unsaved = make_pair(reader);
        if (both->unsaved)
            both->unsaved->is_unsaved = true;
        reader->listener = listener;
    }
    return both;
}

static void destroy(void *state, model_reader *reader)
{
    index_pair *both = state;
    if (!both)
        return;
    if (both->unsaved)
        destroy(both->unsaved, reader);
    bry_index_destroy(both->index);
    model_expect(reader, both->memory.now == 0 && both->memory.blocks == 0);
    model_expect(reader, recording_open_files(&both->disk) == 0);
    recording_free(&both->disk);
    free(both);
}

/* ---- units ---- */

void index_learn(index_pair *both, model_reader *reader)
{
    index_twin *twin = &both->twin;
    uint32_t units[TWIN_UNITS];
    size_t count = bry_index_units(both->index, units, TWIN_UNITS);
    model_expect(reader, count <= TWIN_UNITS);
    for (size_t i = count; i-- > 0 && !reader->failed;) {
        bry_index_unit_info info = {0};
        model_expect(reader, bry_index_get_unit_info(both->index, units[i], &info) == BRY_OK);
        int place = index_twin_find(twin, units[i]);
        if (place == TWIN_NO_UNIT) {
            model_expect(reader, units[i] == twin->next_number);
            place = index_twin_open(twin, info.tag, info.capacity);
        }
        twin->unit[place].sealed = info.sealed;
        twin->unit[place].capacity = info.capacity;
        twin->unit[place].elements = info.elements;
        twin->unit[place].stale = info.dba.stale;
    }
}

static bool at_limit(const index_pair *both)
{
    return both->options.fixed && (uint32_t)both->twin.count >= both->options.units;
}

static void do_open(index_pair *both, model_reader *reader)
{
    if (both->twin.count == TWIN_UNITS)
        return;
    uint64_t tag = model_byte(reader);
    uint32_t number = 77;
    model_say(reader, "open a unit with tag %ju", (uintmax_t)tag);
    bry_status status = bry_index_open(both->index, tag, &number);
    if (model_out_of_memory(reader, &both->memory, status))
        return;
    if (at_limit(both)) {
        model_expect(reader, status == BRY_E_FULL && number == 77);
        return;
    }
    model_expect(reader, status == BRY_OK && number == both->twin.next_number);
    index_twin_open(&both->twin, tag, both->options.unit_capacity);
    if (!both->exact)
        index_learn(both, reader);
}

static void do_seal(index_pair *both, model_reader *reader)
{
    uint32_t number = index_pick_unit(both, reader);
    int place = index_twin_find(&both->twin, number);
    model_say(reader, "seal unit %u", number);
    model_expect(reader, bry_index_seal(both->index, number) ==
                             (place == TWIN_NO_UNIT ? BRY_E_NOUNIT : BRY_OK));
    if (place != TWIN_NO_UNIT)
        both->twin.unit[place].sealed = true;
}

static void do_drop(index_pair *both, model_reader *reader)
{
    uint32_t number = index_pick_unit(both, reader);
    int place = index_twin_find(&both->twin, number);
    model_say(reader, "drop unit %u", number);
    model_expect(reader, bry_index_drop(both->index, number) ==
                             (place == TWIN_NO_UNIT ? BRY_E_NOUNIT : BRY_OK));
    if (place != TWIN_NO_UNIT)
        index_twin_drop(&both->twin, place);
}

static void do_set_tag(index_pair *both, model_reader *reader)
{
    uint32_t number = index_pick_unit(both, reader);
    uint64_t tag = model_byte(reader);
    int place = index_twin_find(&both->twin, number);
    model_say(reader, "give unit %u the tag %ju", number, (uintmax_t)tag);
    model_expect(reader, bry_index_set_tag(both->index, number, tag) ==
                             (place == TWIN_NO_UNIT ? BRY_E_NOUNIT : BRY_OK));
    if (place != TWIN_NO_UNIT)
        both->twin.unit[place].tag = tag;
}

static void do_merge_units(index_pair *both, model_reader *reader)
{
    index_twin *twin = &both->twin;
    uint32_t into = index_pick_unit(both, reader), from = index_pick_unit(both, reader);
    int to = index_twin_find(twin, into), gone = index_twin_find(twin, from);
    model_say(reader, "merge into unit %u unit %u", into, from);
    bry_status status = bry_index_merge_units(both->index, into, from);
    if (model_out_of_memory(reader, &both->memory, status))
        return;
    if (to == TWIN_NO_UNIT || gone == TWIN_NO_UNIT)
        model_expect(reader, status == BRY_E_NOUNIT);
    else if (to == gone)
        model_expect(reader, status == BRY_E_RANGE);
    else if (twin->unit[to].elements + twin->unit[gone].elements > twin->unit[to].capacity)
        model_expect(reader, status == BRY_E_FULL);
    else if (both->exact || status != BRY_E_MISMATCH) {
        model_expect(reader, status == BRY_OK);
        index_twin_merge_units(twin, to, gone);
    }
}

/* ---- work that can wait ---- */

/* What a step asks for: the elements of a unit, several at a time. */
typedef struct supplies {
    const index_twin *twin;
    size_t most; /* at a time */
    unsigned left; /* calls until it stops */
} supplies;

static bry_status supply(void *opaque, uint32_t number, uint64_t tag, uint64_t from,
                         bry_hash *hashes, size_t room, size_t *got)
{
    supplies *from_twin = opaque;
    const index_twin *twin = from_twin->twin;
    int place = index_twin_find(twin, number);
    *got = 0;
    if (from_twin->left-- == 0)
        return BRY_E_STOPPED;
    if (place == TWIN_NO_UNIT || twin->unit[place].tag != tag)
        return BRY_E_RANGE; /* which the model does not expect */
    *got = index_twin_supply(twin, place, from, hashes,
                             room < from_twin->most ? room : from_twin->most);
    return BRY_OK;
}

/* Once no work is left. */
static void check_done(const index_pair *both, model_reader *reader, bool supplied)
{
    bry_index_stats stats = {0};
    bry_index_get_stats(both->index, &stats);
    model_expect(reader, stats.waiting == stats.waiting_for_supplier);
    if (!supplied || both->exact)
        return;
    model_expect(reader, stats.waiting == 0);
    model_expect(reader, both->options.dba.control == BRY_INDEX_UNCONTROLLED ||
                             stats.full_error <= stats.promised_error * (1 + 1e-6));
}

static void do_step(index_pair *both, model_reader *reader)
{
    static const uint64_t budgets[] = {1, 10, 300, 100000};
    unsigned kind = model_byte(reader);
    bool supplied = kind / 4 % 2, to_the_end = kind / 8 % 4 == 0;
    uint64_t budget = budgets[kind % 4], left = UINT64_MAX;
    supplies all = {&both->twin, kind / 32 == 1 ? 3 : SIZE_MAX, kind / 32 == 2 ? 1 : UINT_MAX};
    bry_index_supplier supplier = {supply, &all};
    model_say(reader, "step of %ju%s", (uintmax_t)budget, supplied ? " with a supplier" : "");
    bry_status status = bry_index_step(both->index, supplied ? &supplier : NULL, budget, &left);
    for (int i = 0; i < 1000 && left > 0 && to_the_end && status == BRY_OK; i++)
        status = bry_index_step(both->index, supplied ? &supplier : NULL, 5000, &left);
    if (!model_out_of_memory(reader, &both->memory, status)) {
        model_expect(reader, status == BRY_OK || (status == BRY_E_STOPPED && all.left == UINT_MAX));
        model_expect(reader, status != BRY_OK || left != UINT64_MAX);
        model_expect(reader, status != BRY_OK || !to_the_end || left == 0);
        if (status == BRY_OK && to_the_end)
            check_done(both, reader, supplied);
    }
    if (!both->exact)
        index_learn(both, reader);
}

/* ---- whole indexes ---- */

static void do_clone(index_pair *both, model_reader *reader)
{
    if (!both->is_unsaved)
        both->index = model_clone(reader, &both->memory, BRY_JOB_INDEX, both->index);
}

static void do_clear(index_pair *both, model_reader *reader)
{
    if (model_byte(reader) % 4)
        return;
    model_say(reader, "clear");
    bry_index_clear(both->index);
    both->twin.count = 0;
    both->twin.next_number = 0;
    both->crowded = false;
}

static void do_save_and_load(index_pair *both, model_reader *reader)
{
    if (!both->is_unsaved)
        both->index = model_reload(reader, &both->memory, BRY_JOB_INDEX, both->index);
}

/* Saves to the directory, which may contain an earlier state, and perhaps loads it. */
static void do_dir(index_pair *both, model_reader *reader)
{
    unsigned kind = model_byte(reader);
    if (both->is_unsaved)
        return;
    model_say(reader, "save to the directory%s", kind % 2 ? " and load" : "");
    if (both->disk.file_count > RECORDED_FILES - 2 * TWIN_UNITS - 8) {
        recording_free(&both->disk);
        recording_init(&both->disk);
    }
    model_expect(reader, bry__index_save_dir(&both->disk.io, both->index, "f", NULL) == BRY_OK);
    uint64_t parts = index_parts_count(both->index);
    model_expect(reader, recording_names(&both->disk) == parts + 1);
    recording_start(&both->disk); /* the record itself is not compared */
    if (kind % 2 == 0)
        return;
    bry_load load = BRY_LOAD;
    load.allocator = &both->memory.allocator;
    bry_index *loaded = NULL;
    bry_status status = bry__index_load_dir(&both->disk.io, "f", &load, &loaded);
    both->index =
        model_go_on_with(reader, &both->memory, BRY_JOB_INDEX, both->index, status, loaded, &load);
}

/* ---- units on their way ---- */

/* Installs the saved unit, which has the elements of `from`. */
static void import(index_pair *both, model_reader *reader, const bry_buffer *bytes,
                   const index_twin_unit *from)
{
    index_twin *twin = &both->twin;
    bry_view view = {bytes->bytes, bytes->len, 0};
    bry_source source = bry_view_source(&view);
    bry_load load = BRY_LOAD;
    uint32_t number = 77;
    uint64_t planned = (uint64_t)both->options.units * both->options.unit_capacity;
    bool past = index_twin_elements(twin) + from->elements > planned;
    bry_status status = bry_index_import_unit(both->index, &source, &load, &number);
    if (model_out_of_memory(reader, &both->memory, status))
        return;
    if (status == BRY_E_FULL) {
        model_expect(reader, at_limit(both) || (both->exact && (past || both->crowded)));
        return;
    }
    model_expect(reader, status == BRY_OK && number == twin->next_number);
    if (status != BRY_OK)
        return;
    both->crowded = both->crowded || past;
    int place = index_twin_open(twin, from->tag, from->capacity);
    uint32_t own = twin->unit[place].number;
    twin->unit[place] = *from;
    twin->unit[place].number = own;
}

/* Installs a unit of this index again. */
static void do_reimport(index_pair *both, model_reader *reader)
{
    uint32_t number = index_pick_unit(both, reader);
    int place = index_twin_find(&both->twin, number);
    if (both->twin.count == TWIN_UNITS)
        return;
    model_say(reader, "ship unit %u and import it", number);
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    bry_status status = bry_index_save_unit(both->index, number, &sink, NULL);
    model_expect(reader, status == (place == TWIN_NO_UNIT ? BRY_E_NOUNIT : BRY_OK));
    if (status == BRY_OK) {
        index_twin_unit shipped = both->twin.unit[place];
        import(both, reader, &buffer, &shipped);
    }
    bry_buffer_free(&buffer);
}

/* Installs a unit of another index. */
static void do_import(index_pair *both, model_reader *reader)
{
    unsigned n = model_below(reader, 60), at = model_byte(reader);
    if (both->twin.count == TWIN_UNITS)
        return;
    bry_index_options options = index_like(both->index);
    bry_index *apart = NULL;
    uint32_t number;
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    index_twin made = {.share = both->twin.share};
    if (n > options.unit_capacity)
        n = (unsigned)options.unit_capacity;
    model_say(reader, "import a unit of %u elements made apart", n);
    model_expect(reader, bry_index_create(&options, &apart) == BRY_OK);
    model_expect(reader, bry_index_open(apart, 1000 + n, &number) == BRY_OK);
    index_twin_unit *unit = &made.unit[index_twin_open(&made, 1000 + n, options.unit_capacity)];
    for (unsigned i = 0; i < n; i++) {
        unsigned element = (at + i) % TWIN_ELEMENTS;
        unsigned class = index_twin_class(&made, element);
        bry_answer was = BRY_UNSURE, expected = unit->held[class] ? BRY_PRESENT : BRY_ABSENT;
        model_expect(reader, bry_index_add(apart, index_twin_element(&made, element), number, NULL,
                                           &was) == BRY_OK);
        model_expect(reader, was == expected || (both->errs && was == BRY_PRESENT));
        unit->elements += was == BRY_ABSENT;
        index_twin_hold(unit, class);
    }
    model_expect(reader, bry_index_save_unit(apart, number, &sink, NULL) == BRY_OK);
    bry_index_destroy(apart);
    import(both, reader, &buffer, unit);
    bry_buffer_free(&buffer);
}

/* ---- steps and checks ---- */

/* Whether it saves to the same bytes as the one that was never saved. */
static void compare_unsaved(const index_pair *both, model_reader *reader)
{
    bry_buffer saved = BRY_BUFFER, unsaved = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&saved), second = bry_buffer_sink(&unsaved);
    model_expect(reader, bry_index_save(both->index, &sink, NULL) == BRY_OK);
    model_expect(reader, bry_index_save(both->unsaved->index, &second, NULL) == BRY_OK);
    model_expect(reader,
                 saved.len == unsaved.len && memcmp(saved.bytes, unsaved.bytes, saved.len) == 0);
    bry_buffer_free(&saved);
    bry_buffer_free(&unsaved);
}

static const struct {
    index_operation *run;
    unsigned share; /* of 64 */
} operations[] = {
    {index_do_add, 8},      {index_do_add_newest, 9},
    {index_do_add_n, 9},    {index_do_del, 5},
    {index_do_del_many, 2}, {index_do_add_everywhere, 3},
    {do_open, 5},           {do_seal, 2},
    {do_drop, 5},           {do_set_tag, 1},
    {do_merge_units, 3},    {do_step, 4},
    {do_clone, 1},          {do_clear, 1},
    {do_save_and_load, 2},  {do_dir, 2},
    {do_reimport, 1},       {do_import, 1},
};

static void step(void *state, model_reader *reader)
{
    index_pair *both = state;
    unsigned picked = model_byte(reader), which = 0;
    /* In one of four an allocation fails, if there are that many. The number of allocations depends
     * on memory that is not saved, so not if bytes are compared. */
    bool armed = picked / 64 == 3 && !both->unsaved;
    failing_allocator_restart(&both->memory);
    both->memory.fail_at = armed ? 1 + model_below(reader, 12) : 0;
    if (armed)
        model_say(reader, "allocation %ju is to fail:", (uintmax_t)both->memory.fail_at);
    for (picked %= 64; picked >= operations[which].share; which++)
        picked -= operations[which].share;
    size_t begin = reader->at;
    operations[which].run(both, reader);
    if (both->unsaved && !reader->failed) {
        FILE *listener = reader->listener;
        reader->at = begin;
        reader->listener = NULL;
        operations[which].run(both->unsaved, reader);
        reader->listener = listener;
    }
    both->memory.fail_at = 0;
    operations_done++;
}

static void check_unit(index_pair *both, model_reader *reader, const index_twin_unit *unit)
{
    bry_index_unit_info info = {0};
    model_expect(reader, bry_index_get_unit_info(both->index, unit->number, &info) == BRY_OK);
    model_expect(reader, info.unit == unit->number && info.tag == unit->tag &&
                             info.sealed == unit->sealed && info.capacity == unit->capacity &&
                             info.elements == unit->elements && info.dba.stale == unit->stale);
    model_expect(reader, info.error >= 0 && info.error <= 1);
    model_expect(reader, !both->exact || !info.wants_refresh);
}

static void check(void *state, model_reader *reader)
{
    index_pair *both = state;
    const index_twin *twin = &both->twin;
    bry_index_stats stats = {0};
    bry_index_get_stats(both->index, &stats);
    model_expect(reader, stats.engine == both->engine && stats.seed == 7);
    model_expect(reader, stats.units == (uint32_t)twin->count);
    model_expect(reader, stats.elements == index_twin_elements(twin));
    model_expect(reader, stats.bytes == both->memory.now);
    if (both->exact)
        model_expect(reader, stats.estimated_error <= both->options.error && stats.dba.stale == 0);
    uint32_t units[TWIN_UNITS];
    model_expect(reader, bry_index_units(both->index, units, TWIN_UNITS) == (size_t)twin->count);
    for (int i = 0; i < twin->count; i++)
        model_expect(reader, units[i] == twin->unit[twin->count - 1 - i].number);
    if (twin->count)
        check_unit(both, reader, &twin->unit[reader->step % (unsigned)twin->count]);
    /* Compares a few elements every time, all at the end. */
    unsigned n = reader->at >= reader->len ? TWIN_ELEMENTS : WINDOW;
    for (unsigned done = 0; done < n && !reader->failed; done += WINDOW)
        index_compare(both, reader, both->window + done, WINDOW);
    both->window = (both->window + WINDOW) % TWIN_ELEMENTS;
    if (both->unsaved && (reader->at >= reader->len || reader->step % 8 == 0) && !reader->failed)
        compare_unsaved(both, reader);
}

const model index_model = {"index", create, step, check, destroy, &operations_done, NULL};
