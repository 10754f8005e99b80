/*
 * Engine dba under long random programs: growth, error control, deletion, refresh, dropping,
 * merging of units and groups, copies, saves and imported units, in any order, with steps of any
 * size in between. Every element that was added and not deleted is always among the candidates. The
 * argument is the number of operations for each kind of index.
 */
#include "frame/frame.h"
#include "index/dba/dba_index.h"
#include "index/index_object.h"
#include "kernel/kernel.h"
#include "support/cmocka_all.h"
#include "support/generator.h"
#include "support/job_calls.h"
#include "support/like.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t operations = 3000;

enum { MAX_UNITS = 400, UNIVERSE = 5000 };

/* The exact contents of a unit. Deleted elements keep their place until a rebuild begins, so that
 * the order of supplied elements does not change during a rebuild. */
typedef struct twin_unit {
    uint32_t number;
    bry_hash *element;
    bool *gone;
    size_t n, room;
    size_t known; /* when its rebuild began: later elements are not supplied */
} twin_unit;

typedef struct twin {
    bry_index *index;
    twin_unit unit[MAX_UNITS];
    size_t units;
    generator numbers;
    bool fails; /* the supplier sometimes does */
} twin;

static bry_hash element(uint64_t i)
{
    return bry_hash_key(7, &i, sizeof i);
}

static twin_unit *unit_of(twin *pair, uint32_t number)
{
    for (size_t i = 0; i < pair->units; i++)
        if (pair->unit[i].number == number)
            return &pair->unit[i];
    return NULL;
}

static void remember(twin_unit *unit, bry_hash hash)
{
    if (unit->n == unit->room) {
        unit->room = unit->room ? 2 * unit->room : 32;
        unit->element = realloc(unit->element, unit->room * sizeof *unit->element);
        unit->gone = realloc(unit->gone, unit->room * sizeof *unit->gone);
        assert_true(unit->element && unit->gone);
    }
    unit->element[unit->n] = hash;
    unit->gone[unit->n++] = false;
}

static void forget_unit(twin *pair, twin_unit *unit)
{
    free(unit->element);
    free(unit->gone);
    *unit = pair->unit[--pair->units];
}

static bool same(bry_hash a, bry_hash b)
{
    return a.lo == b.lo && a.hi == b.hi;
}

static bool holds(const twin_unit *unit, bry_hash hash)
{
    for (size_t i = 0; i < unit->n; i++)
        if (!unit->gone[i] && same(unit->element[i], hash))
            return true;
    return false;
}

static bry_status supply(void *opaque, uint32_t number, uint64_t tag, uint64_t from,
                         bry_hash *hashes, size_t room, size_t *got)
{
    twin *pair = opaque;
    twin_unit *unit = unit_of(pair, number);
    assert_non_null(unit);
    assert_int_equal(tag, 3 * (uint64_t)number);
    if (pair->fails && generator_below(&pair->numbers, 10) == 0)
        return BRY_E_STOPPED;
    if (from == 0) {
        size_t kept = 0;
        for (size_t i = 0; i < unit->n; i++)
            if (!unit->gone[i])
                unit->element[kept++] = unit->element[i];
        unit->n = kept;
        for (size_t i = 0; i < kept; i++)
            unit->gone[i] = false;
        unit->known = kept;
    }
    size_t most = 1 + generator_below(&pair->numbers, room);
    for (*got = 0; *got < most && from + *got < unit->known; ++*got)
        hashes[*got] = unit->element[from + *got];
    return BRY_OK;
}

/* ---- checks -------------------------------------------------------------------------------- */

static bool located(const bry_index *index, bry_hash hash, uint32_t number)
{
    uint32_t found[MAX_UNITS];
    size_t total = bry_index_locate(index, hash, found, MAX_UNITS);
    assert_true(total <= MAX_UNITS);
    for (size_t i = 0; i < total; i++)
        if (found[i] == number)
            return true;
    return false;
}

static void check_unit(const twin *pair, const twin_unit *unit)
{
    for (size_t i = 0; i < unit->n; i++) {
        if (unit->gone[i])
            continue;
        if (bry_index_has(pair->index, unit->element[i]) != BRY_PRESENT ||
            !located(pair->index, unit->element[i], unit->number))
            fail_msg("unit %u denies element %zu of %zu", unit->number, i, unit->n);
    }
    bry_index_unit_info info = {0};
    assert_int_equal(bry_index_get_unit_info(pair->index, unit->number, &info), BRY_OK);
    assert_true(info.dba.stale <= info.elements);
}

static void check_batches(twin *pair)
{
    enum { N = 150, ROOM = 3 };
    bry_hash hashes[N];
    uint8_t answers[N];
    uint32_t found[N * ROOM], one[ROOM];
    size_t totals[N];
    for (size_t i = 0; i < N; i++)
        hashes[i] = element(generator_below(&pair->numbers, 2 * UNIVERSE));
    bry_index_has_n(pair->index, hashes, N, answers);
    bry_index_locate_n(pair->index, hashes, N, found, ROOM, totals);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(answers[i], bry_index_has(pair->index, hashes[i]));
        size_t total = bry_index_locate(pair->index, hashes[i], one, ROOM);
        assert_int_equal(totals[i], total);
        assert_int_equal(answers[i] == BRY_PRESENT, total > 0);
        assert_memory_equal(one, found + i * ROOM, (total < ROOM ? total : ROOM) * sizeof *one);
    }
}

static void check_all(twin *pair)
{
    for (size_t i = 0; i < pair->units; i++)
        check_unit(pair, &pair->unit[i]);
    check_batches(pair);
    assert_int_equal(bry_index_units(pair->index, NULL, 0), pair->units);
}

/* ---- operations ---------------------------------------------------------------------------- */

static twin_unit *any_unit(twin *pair)
{
    return pair->units ? &pair->unit[generator_below(&pair->numbers, pair->units)] : NULL;
}

/* Random choice rarely hits units that are being worked on. */
static twin_unit *busy_unit(twin *pair)
{
    const bry__dba *dba = pair->index->elements;
    uint32_t slot = dba->rebuild.kind != BRY__DBA_NO_REBUILD ? dba->rebuild.slot
                    : dba->move.group                        ? dba->move.slot
                                                             : UINT32_MAX;
    if (slot >= dba->room || !bry__dba_place_of(dba, slot)->group ||
        generator_below(&pair->numbers, 2))
        return any_unit(pair);
    const bry__dba_group *group = bry__dba_place_of(dba, slot)->group;
    uint32_t near = group->slot[generator_below(&pair->numbers, group->width)];
    if (near < BRY__DBA_BUILDING && generator_below(&pair->numbers, 2))
        slot = near;
    return unit_of(pair, bry__slot(&pair->index->slots, slot)->number);
}

static twin_unit *enter(twin *pair, uint32_t number)
{
    assert_true(pair->units < MAX_UNITS);
    twin_unit *unit = &pair->unit[pair->units++];
    *unit = (twin_unit){.number = number};
    assert_int_equal(bry_index_set_tag(pair->index, number, 3 * (uint64_t)number), BRY_OK);
    return unit;
}

static void op_open(twin *pair)
{
    uint32_t number;
    if (pair->units > MAX_UNITS / 2)
        return;
    assert_int_equal(bry_index_open(pair->index, 0, &number), BRY_OK);
    assert_null(unit_of(pair, number));
    enter(pair, number);
}

static void note(twin *pair, uint32_t number, bry_hash hash)
{
    twin_unit *unit = unit_of(pair, number);
    if (!unit)
        unit = enter(pair, number);
    if (!holds(unit, hash))
        remember(unit, hash);
}

static void op_add(twin *pair)
{
    bry_hash hash = element(generator_below(&pair->numbers, UNIVERSE));
    twin_unit *unit = generator_below(&pair->numbers, 2) ? busy_unit(pair) : NULL;
    uint32_t went = 99;
    bry_answer was = BRY_UNSURE;
    if (!unit && pair->units > MAX_UNITS / 2)
        return;
    bry_status status =
        bry_index_add(pair->index, hash, unit ? unit->number : BRY_INDEX_NEWEST, &went, &was);
    if (status != BRY_OK) {
        assert_true(unit && (status == BRY_E_FULL || status == BRY_E_SEALED));
        return;
    }
    if (unit)
        assert_int_equal(went, unit->number);
    unit = unit_of(pair, went);
    if (unit && holds(unit, hash))
        assert_int_equal(was, BRY_PRESENT);
    note(pair, went, hash);
}

static void op_add_n(twin *pair)
{
    bry_hash hashes[60];
    uint32_t went[60];
    size_t n = 1 + generator_below(&pair->numbers, 60);
    if (pair->units > MAX_UNITS / 2)
        return;
    for (size_t i = 0; i < n; i++)
        hashes[i] = element(generator_below(&pair->numbers, UNIVERSE));
    assert_int_equal(bry_index_add_n(pair->index, hashes, n, BRY_INDEX_NEWEST, went, NULL), BRY_OK);
    for (size_t i = 0; i < n; i++)
        note(pair, went[i], hashes[i]);
}

static void op_del(twin *pair)
{
    twin_unit *unit = any_unit(pair);
    if (!unit || unit->n == 0)
        return;
    size_t i = generator_below(&pair->numbers, unit->n);
    if (unit->gone[i])
        return;
    bry_answer was = BRY_ABSENT;
    assert_int_equal(bry_index_del(pair->index, unit->element[i], unit->number, &was), BRY_OK);
    assert_int_equal(was, BRY_PRESENT);
    unit->gone[i] = true;
}

static void op_drop(twin *pair)
{
    twin_unit *unit = any_unit(pair);
    if (!unit)
        return;
    assert_int_equal(bry_index_drop(pair->index, unit->number), BRY_OK);
    assert_int_equal(bry_index_drop(pair->index, unit->number), BRY_E_NOUNIT);
    forget_unit(pair, unit);
}

static void op_merge_units(twin *pair)
{
    twin_unit *into = busy_unit(pair), *from = busy_unit(pair);
    if (!into || into == from)
        return;
    bry_status status = bry_index_merge_units(pair->index, into->number, from->number);
    if (status != BRY_OK) {
        assert_true(status == BRY_E_FULL || status == BRY_E_MISMATCH);
        return;
    }
    for (size_t i = 0; i < from->n; i++)
        if (!from->gone[i] && !holds(into, from->element[i]))
            remember(into, from->element[i]);
    forget_unit(pair, from);
}

static void op_step(twin *pair)
{
    bry_index_supplier supplier = {supply, pair};
    uint64_t left = 99, budget = (uint64_t)1 << generator_below(&pair->numbers, 7);
    if (generator_below(&pair->numbers, 10) == 0)
        budget = 5000;
    pair->fails = generator_below(&pair->numbers, 4) == 0;
    bry_status status = bry_index_step(
        pair->index, generator_below(&pair->numbers, 4) ? &supplier : NULL, budget, &left);
    assert_true(status == BRY_OK || (pair->fails && status == BRY_E_STOPPED));
    pair->fails = false;
}

static void op_seal(twin *pair)
{
    twin_unit *unit = any_unit(pair);
    if (unit && generator_below(&pair->numbers, 4) == 0)
        assert_int_equal(bry_index_seal(pair->index, unit->number), BRY_OK);
}

static bry_buffer saved(const bry_index *index)
{
    return job_saved(BRY_JOB_INDEX, index);
}

static void op_reload(twin *pair)
{
    bry_buffer buffer = saved(pair->index), again;
    bry_view view = {buffer.bytes, buffer.len, 0};
    bry_source source = bry_view_source(&view);
    bry_load load = BRY_LOAD;
    bry_index *loaded = NULL;
    bry_status status = bry_index_load(&source, &load, &loaded);
    if (status != BRY_OK)
        fail_msg("loading: %s", load.problem);
    again = saved(loaded);
    assert_int_equal(again.len, buffer.len);
    assert_memory_equal(again.bytes, buffer.bytes, buffer.len);
    bry_buffer_free(&again);
    bry_buffer_free(&buffer);
    bry_index_destroy(pair->index);
    pair->index = loaded;
}

static void op_clone(twin *pair)
{
    bry_index *copy = NULL;
    assert_int_equal(bry_index_clone(pair->index, NULL, &copy), BRY_OK);
    bry_buffer a = saved(pair->index), b = saved(copy);
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.bytes, b.bytes, a.len);
    bry_buffer_free(&a);
    bry_buffer_free(&b);
    bry_index_destroy(pair->index);
    pair->index = copy;
}

/* A unit from another index is imported. */
static void op_import(twin *pair)
{
    bry_index_options options = index_like(pair->index);
    bry_index *apart = NULL;
    uint32_t number = 0, here = 99;
    if (pair->units > MAX_UNITS / 2)
        return;
    assert_int_equal(bry_index_create(&options, &apart), BRY_OK);
    assert_int_equal(bry_index_open(apart, 0, &number), BRY_OK);
    size_t n = generator_below(&pair->numbers, options.unit_capacity + 1);
    bry_hash *hashes = calloc(n + 1, sizeof *hashes);
    for (size_t i = 0; i < n; i++)
        hashes[i] = element(generator_below(&pair->numbers, UNIVERSE));
    assert_int_equal(bry_index_add_n(apart, hashes, n, number, NULL, NULL), BRY_OK);
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    assert_int_equal(bry_index_save_unit(apart, number, &sink, NULL), BRY_OK);
    bry_view view = {buffer.bytes, buffer.len, 0};
    bry_source source = bry_view_source(&view);
    bry_load load = BRY_LOAD;
    bry_status status = bry_index_import_unit(pair->index, &source, &load, &here);
    if (status != BRY_OK)
        fail_msg("importing: %s", load.problem);
    assert_null(unit_of(pair, here));
    enter(pair, here);
    for (size_t i = 0; i < n; i++)
        note(pair, here, hashes[i]);
    bry_buffer_free(&buffer);
    free(hashes);
    bry_index_destroy(apart);
}

/* ---- programs ------------------------------------------------------------------------------ */

static void (*const frequent[])(twin *) = {op_add, op_add, op_add,  op_add_n,
                                           op_del, op_del, op_step, op_seal};
static void (*const rare[])(twin *) = {op_open, op_open,  op_open,   op_drop,  op_merge_units,
                                       op_step, op_clone, op_reload, op_import};

static void run(twin *pair, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if (generator_below(&pair->numbers, 10))
            frequent[generator_below(&pair->numbers, sizeof frequent / sizeof *frequent)](pair);
        else
            rare[generator_below(&pair->numbers, sizeof rare / sizeof *rare)](pair);
        if (i % 700 == 699) { /* sometimes nearly everything is deleted */
            while (pair->units > MAX_UNITS / 2)
                op_drop(pair);
            for (size_t left = generator_below(&pair->numbers, 40); i % 1400 == 1399;) {
                if (pair->units <= left)
                    break;
                op_drop(pair);
            }
        }
        const twin_unit *unit = any_unit(pair);
        if (unit && i % 16 == 0)
            check_unit(pair, unit);
        if (i % 500 == 0)
            check_all(pair);
    }
}

/* Does all pending work. */
static void finish(twin *pair)
{
    bry_index_supplier supplier = {supply, pair};
    uint64_t left = 1;
    for (unsigned steps = 0; left > 0; steps++) {
        assert_true(steps < 10000);
        assert_int_equal(bry_index_step(pair->index, &supplier, 5000, &left), BRY_OK);
    }
}

static twin *begin(bry_index_options options, uint64_t seed)
{
    twin *pair = calloc(1, sizeof *pair);
    assert_non_null(pair);
    options.struct_size = sizeof options;
    options.engine = BRY_ENGINE_DBA;
    options.seed = 7;
    assert_int_equal(bry_index_create(&options, &pair->index), BRY_OK);
    pair->numbers.state = seed;
    return pair;
}

static void end(twin *pair)
{
    while (pair->units > 0)
        forget_unit(pair, &pair->unit[0]);
    bry_index_destroy(pair->index);
    free(pair);
}

static void program(bry_index_options options, uint64_t seed)
{
    twin *pair = begin(options, seed);
    bry_index_stats stats = {0};
    run(pair, operations);
    check_all(pair);
    finish(pair);
    check_all(pair);
    bry_index_get_stats(pair->index, &stats);
    assert_int_equal(stats.waiting, 0);
    assert_int_equal(stats.waiting_for_supplier, 0);
    if (options.dba.control != BRY_INDEX_UNCONTROLLED)
        assert_true(stats.full_error <= stats.promised_error * (1 + 1e-6));
    if (options.dba.group == 0 && pair->units >= 8) {
        assert_true(stats.dba.group >= 8);
        assert_true(pair->units <= 64 || (stats.dba.group * 8 >= pair->units));
    }
    /* Without units there is nothing left. */
    while (pair->units > 0)
        op_drop(pair);
    bry_index_get_stats(pair->index, &stats);
    assert_int_equal(stats.dba.groups, 0);
    assert_int_equal(stats.waiting, 0);
    end(pair);
}

TEST(test_tighter)
{
    for (uint32_t i = 0; i < 8; i++)
        program((bry_index_options){.units = 4 + 4 * i,
                                    .unit_capacity = i % 3 ? 30 : 200,
                                    .error = i < 6 ? 0.02 : 0.5,
                                    .dba.segmented = i % 2,
                                    .dba.group = (const uint32_t[]){0, 0, 1, 16, 64, 512, 0, 8}[i]},
                100 + i);
}

TEST(test_larger)
{
    for (uint32_t i = 0; i < 6; i++)
        program((bry_index_options){.units = 4 + 4 * i,
                                    .unit_capacity = 10,
                                    .error = 0.02,
                                    .dba.segmented = i % 2,
                                    .dba.factor = 3,
                                    .dba.control = BRY_INDEX_LARGER,
                                    .dba.group = (const uint32_t[]){0, 0, 8, 32, 128, 256}[i]},
                200 + i);
}

/* Many small units with few elements: groups become as wide as they get by themselves. */
TEST(test_automatic_widths)
{
    enum { UNITS = 2500 };
    bry_index_options options = {.struct_size = sizeof options,
                                 .engine = BRY_ENGINE_DBA,
                                 .units = UNITS,
                                 .unit_capacity = 100,
                                 .error = 0.01,
                                 .seed = 7};
    bry_index *index = NULL;
    bry_index_stats stats = {0};
    uint64_t left, added = 0;
    uint32_t unit = 0;
    assert_int_equal(bry_index_create(&options, &index), BRY_OK);
    for (uint32_t r = 1; r <= UNITS; r++) {
        assert_int_equal(bry_index_open(index, r, &unit), BRY_OK);
        for (int i = 0; i < 5; i++, added++) {
            assert_int_equal(bry_index_add(index, element(added), unit, NULL, NULL), BRY_OK);
            assert_int_equal(bry_index_step(index, NULL, 20, &left), BRY_OK);
            /* an old unit, while groups are being merged */
            uint64_t old = added * 2654435761u % (added + 1);
            assert_true(bry_index_has(index, element(old)) == BRY_PRESENT);
        }
        if (r % 100 && r > 70)
            continue;
        while (left > 0)
            assert_int_equal(bry_index_step(index, NULL, 1000, &left), BRY_OK);
        bry_index_get_stats(index, &stats);
        assert_int_equal(stats.waiting, 0);
        if (r < 8)
            assert_int_equal(stats.dba.group, 1);
        else if (r <= 32)
            assert_int_equal(stats.dba.group, 8);
        else
            assert_true(8 * stats.dba.group >= r && 4 * stats.dba.group <= r + 31);
        assert_true(stats.dba.groups <= 15);
    }
    for (uint32_t number = 0; number < UNITS; number++)
        for (uint32_t i = 0; i < 5; i++) {
            uint32_t found[64];
            size_t total = bry_index_locate(index, element(5 * number + i), found, 64), at = 0;
            while (at < total && found[at] != number)
                at++;
            assert_true(at < total);
        }
    /* And back: groups disappear with their units. */
    for (uint32_t number = 0; number < UNITS; number++) {
        if (number % 50 == 0)
            continue;
        assert_int_equal(bry_index_drop(index, number), BRY_OK);
        assert_int_equal(bry_index_step(index, NULL, 200, &left), BRY_OK);
    }
    while (left > 0)
        assert_int_equal(bry_index_step(index, NULL, 1000, &left), BRY_OK);
    bry_index_get_stats(index, &stats);
    assert_int_equal(stats.units, UNITS / 50);
    assert_int_equal(stats.dba.group, 8);
    assert_true(stats.dba.groups <= 7);
    for (uint32_t number = 0; number < UNITS; number += 50) {
        uint32_t found[64];
        size_t total = bry_index_locate(index, element(5 * number), found, 64), at = 0;
        while (at < total && found[at] != number)
            at++;
        assert_true(at < total);
    }
    bry_index_destroy(index);
}

TEST(test_uncontrolled)
{
    for (uint32_t i = 0; i < 4; i++)
        program((bry_index_options){.units = 20,
                                    .unit_capacity = 25,
                                    .error = 0.01,
                                    .dba.stale = i % 2 ? 0.05 : 0.5,
                                    .dba.segmented = i % 2,
                                    .dba.control = BRY_INDEX_UNCONTROLLED,
                                    .dba.group = (const uint32_t[]){0, 8, 0, 512}[i]},
                300 + i);
}

/* ---- every width, every instruction set ---------------------------------------------------- */

static const uint32_t widths[] = {1, 8, 16, 32, 64, 128, 256, 512, 0};
enum { WIDTHS = sizeof widths / sizeof *widths };

/* The frames of the engine, without the options, which contain the width. */
static bry_buffer image_of(const bry_index *index)
{
    bry_buffer image = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&image);
    bry__frame_writer writer;
    bry__frame_writer_begin(&writer, &sink, NULL, BRY__FOUR('T', 'E', 'S', 'T'), 1, 1);
    index->engine->write(index->elements, &writer);
    assert_int_equal(bry__frame_writer_end(&writer), BRY_OK);
    return image;
}

/* Everything that does not depend on the progress of work. */
static void run_same(twin *pair)
{
    static void (*const same_for_all[])(twin *) = {op_add,  op_add,  op_add_n, op_add_n,
                                                   op_del,  op_open, op_drop,  op_merge_units,
                                                   op_seal, op_clone};
    for (unsigned i = 0; i < 600; i++) {
        same_for_all[generator_below(&pair->numbers, 10)](pair);
        if (i % 50 == 49)
            finish(pair);
        if (i % 100 == 99)
            op_reload(pair);
    }
}

TEST(test_widths_and_kernels_agree)
{
    enum { ASKED = 10000 };
    bry_buffer first = BRY_BUFFER;
    uint32_t *expected = calloc(ASKED, sizeof *expected);
    bry_index_stats first_stats = {0};
    for (int isa = 0; isa < BRY__ISA_COUNT; isa++) {
        if (!bry__kernel_force((bry__isa)isa))
            continue;
        for (size_t w = 0; w < WIDTHS; w++) {
            twin *pair = begin((bry_index_options){.units = 300,
                                                   .unit_capacity = 40,
                                                   .error = 0.3,
                                                   .dba.segmented = true,
                                                   .dba.control = BRY_INDEX_UNCONTROLLED,
                                                   .dba.group = widths[w]},
                               17);
            run_same(pair);
            check_all(pair);
            bry_buffer image = image_of(pair->index);
            bry_index_stats stats = {0};
            bry_index_get_stats(pair->index, &stats);
            if (!first.bytes) {
                first = image;
                first_stats = stats;
            } else {
                assert_int_equal(image.len, first.len);
                assert_memory_equal(image.bytes, first.bytes, image.len);
                bry_buffer_free(&image);
                assert_true(stats.fill == first_stats.fill);
                assert_true(fabs(stats.estimated_error - first_stats.estimated_error) <=
                            1e-12 * first_stats.estimated_error);
                assert_int_equal(stats.dba.rebuilds, first_stats.dba.rebuilds);
            }
            uint64_t candidates = 0;
            for (uint32_t i = 0; i < ASKED; i++) {
                uint32_t found[8] = {0}, sum = 0;
                size_t total = bry_index_locate(pair->index, element(i), found, 8);
                for (size_t j = 0; j < 8; j++)
                    sum = 31 * sum + found[j];
                sum += (uint32_t)total << 20;
                candidates += total;
                if (isa == 0 && w == 0)
                    expected[i] = sum;
                else
                    assert_int_equal(expected[i], sum);
            }
            assert_true(candidates > ASKED / 10); /* so that the comparison is meaningful */
            end(pair);
        }
    }
    bry_buffer_free(&first);
    free(expected);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        operations = strtoull(argv[1], NULL, 10);
    return run_all_tests(NULL, NULL);
}
