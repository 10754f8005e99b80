/* Indexes of both engines, as kinds (object_kind.h). */
#include "conformance/object_kind.h"

#include "support/index_helpers.h"
#include "support/like.h"

enum { ASKED = 1100, ROOM = 40, BATCH = 250 };

/* ---- grown indexes -------------------------------------------------------------------------- */

/* The variant of dba: twice the width of a group, plus one for segmented units. */
static bry_status create(const object_kind *kind, const bry_allocator *allocator, void **object)
{
    bry_index_options options = BRY_INDEX_OPTIONS;
    options.engine = kind->engine;
    options.units = 6;
    options.unit_capacity = kind->size;
    options.error = kind->size < 50 ? 0.01 : 1e-9;
    options.dba.group = kind->variant / 2;
    options.dba.segmented = kind->variant % 2;
    options.seed = 1;
    options.allocator = allocator;
    bry_index *made = NULL;
    bry_status status = bry_index_create(&options, &made);
    *object = made;
    return status;
}

/* Everything that a file can contain: growth, an element in many units, dropped units that are not
 * swept yet, a sealed unit, stale elements. */
static void fill(const object_kind *kind, void *object)
{
    (void)kind;
    add_many(object, 0, 300, BRY_INDEX_NEWEST);
    for (uint32_t i = 0; i < 15; i++) {
        uint32_t unit = open_unit(object, 50 + i);
        add_many(object, 1000, 1, unit);
        add_many(object, 10 * i, 30, unit);
    }
    for (uint32_t i = 0; i < 12; i += 3)
        assert_int_equal(bry_index_drop(object, i), BRY_OK);
    assert_int_equal(bry_index_seal(object, 12), BRY_OK);
    assert_int_equal(bry_index_step(object, NULL, 1, NULL), BRY_OK);
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(bry_index_del(object, key(10 * 8 + i), 13, NULL), BRY_OK);
}

/* Unit u has elements 1000 · u to 1000 · u + 11. */
static bry_status supply(void *opaque, uint32_t unit, uint64_t tag, uint64_t from, bry_hash *hashes,
                         size_t room, size_t *got)
{
    (void)opaque;
    (void)tag;
    for (*got = 0; *got < room && from + *got < 12; ++*got)
        hashes[*got] = key(1000 * (uint64_t)unit + from + *got);
    return BRY_OK;
}

/* dba while it grows: units of two levels, one of them dropped, and columns to clear. */
static void fill_in_part(const object_kind *kind, void *object)
{
    (void)kind;
    uint64_t left;
    bry_index_supplier supplier = {supply, NULL};
    for (uint64_t u = 0; u < 16; u++)
        add_many(object, 1000 * u, 12, open_unit(object, 0));
    assert_int_equal(bry_index_step(object, &supplier, 100, &left), BRY_OK);
    assert_int_equal(bry_index_drop(object, 15), BRY_OK);
}

static void use(void *object, bry_buffer *answers)
{
    uint32_t unit = UINT32_MAX;
    for (uint64_t i = 0; i < 200; i++) {
        bry_answer was = BRY_UNSURE;
        uint32_t went = UINT32_MAX;
        if (i % 50 == 0)
            note_number(answers, (uint64_t)bry_index_open(object, i, &unit));
        note_number(answers,
                    (uint64_t)bry_index_add(object, key(400 + i), BRY_INDEX_NEWEST, &went, &was));
        note_number(answers, went);
        note_number(answers, was);
        was = BRY_UNSURE;
        note_number(answers, (uint64_t)bry_index_del(object, key(399 + i), unit, &was));
        note_number(answers, was);
        note_number(answers, bry_index_has(object, key(3 * i)));
    }
    uint64_t left = 1;
    for (int i = 0; i < 1000 && left > 0; i++)
        if (bry_index_step(object, NULL, 1000, &left) != BRY_OK)
            break;
    note_number(answers, left);
}

/* ---- looks ---------------------------------------------------------------------------------- */

static void look_units(const void *object, bry_buffer *answers)
{
    uint32_t units[ROOM];
    size_t n = bry_index_units(object, units, ROOM);
    note_number(answers, n);
    for (size_t i = 0; i < n && i < ROOM; i++) {
        bry_index_unit_info info = {0};
        note_number(answers, units[i]);
        note_number(answers, (uint64_t)bry_index_get_unit_info(object, units[i], &info));
        note_number(answers, info.tag);
        note_number(answers, info.sealed);
        note_number(answers, info.capacity);
        note_number(answers, info.elements);
        note_number(answers, info.dba.stale);
    }
    bry_index_stats stats = {0};
    bry_index_get_stats(object, &stats);
    note_number(answers, stats.units);
    note_number(answers, stats.elements);
}

static void look_options(const void *object, bry_buffer *answers)
{
    bry_index_options options = index_like(object);
    note_bytes(answers, &options, sizeof options);
}

static void look_one_by_one(const void *object, bry_buffer *answers)
{
    for (uint64_t i = 0; i < ASKED; i++) {
        uint32_t units[ROOM];
        size_t n = bry_index_locate(object, key(i), units, ROOM);
        note_number(answers, n);
        note_bytes(answers, units, (n < ROOM ? n : ROOM) * sizeof *units);
        note_number(answers, bry_index_has(object, key(i)));
    }
}

static void look_in_a_batch(const void *object, bry_buffer *answers)
{
    enum { EACH = 8 };
    bry_hash hashes[ASKED];
    uint8_t has[ASKED];
    size_t total[ASKED];
    uint32_t units[ASKED * EACH];
    for (uint64_t i = 0; i < ASKED; i++)
        hashes[i] = key(i);
    memset(units, 0xee, sizeof units);
    bry_index_has_n(object, hashes, ASKED, has);
    bry_index_locate_n(object, hashes, ASKED, units, EACH, total);
    note_bytes(answers, has, sizeof has);
    note_bytes(answers, total, sizeof total);
    note_bytes(answers, units, sizeof units);
}

static object_look *const looks[] = {look_units, look_options, look_one_by_one, look_in_a_batch,
                                     NULL};

/* ---- operations ----------------------------------------------------------------------------- */

static bry_status run_open(void *object, uint64_t round)
{
    uint32_t unit;
    bry_status status = BRY_OK;
    for (uint64_t i = 0; i < 8 && status == BRY_OK; i++) /* until a table has to grow */
        status = bry_index_open(object, round + i, &unit);
    return status;
}

static bry_status run_add(void *object, uint64_t round)
{
    bry_status status = BRY_OK;
    for (uint64_t i = 0; i < 60 && status == BRY_OK; i++)
        status = bry_index_add(object, key(5000 + round + i), BRY_INDEX_NEWEST, NULL, NULL);
    return status;
}

static bry_status add_batch(bry_index *index, size_t n, uint32_t unit)
{
    bry_hash hashes[BATCH];
    bry_answer was[BATCH];
    for (uint64_t i = 0; i < BATCH; i++)
        hashes[i] = key(3000 + i / 2 * (i % 3)); /* repeats among them */
    was[0] = BRY_UNSURE;
    bry_status status = bry_index_add_n(index, hashes, n, unit, NULL, was);
    assert_int_equal(status == BRY_OK, was[0] != BRY_UNSURE);
    return status;
}

static bry_status run_add_n(void *object, uint64_t round)
{
    (void)round;
    return add_batch(object, BATCH, BRY_INDEX_NEWEST);
}

static bry_status run_add_n_to_unit(void *object, uint64_t round)
{
    (void)round;
    return add_batch(object, 35, 15);
}

static bry_status run_merge_units(void *object, uint64_t round)
{
    (void)round;
    return bry_index_merge_units(object, 13, 14);
}

/* Installs a unit of another index of the same shape. */
static bry_status run_install(void *object, uint64_t round)
{
    (void)round;
    bry_index *apart = NULL;
    bry_index_options options = index_like(object);
    assert_int_equal(bry_index_create(&options, &apart), BRY_OK);
    add_many(apart, 2000, 60, open_unit(apart, 9));
    bry_buffer shipped = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&shipped);
    assert_int_equal(bry_index_save_unit(apart, 0, &sink, NULL), BRY_OK);
    bry_index_destroy(apart);
    bry_view view = {shipped.bytes, shipped.len, 0};
    bry_source source = bry_view_source(&view);
    uint32_t unit = 77;
    bry_status status = bry_index_import_unit(object, &source, NULL, &unit);
    assert_int_equal(status == BRY_OK, unit != 77);
    bry_buffer_free(&shipped);
    return status;
}

static bry_status run_step(void *object, uint64_t round)
{
    (void)round;
    return bry_index_step(object, NULL, 1000000, NULL);
}

static const object_operation compact_operations[] = {
    {.name = "open", .run = run_open, .in_steps = true, .may_need_none = true},
    {.name = "add", .run = run_add, .in_steps = true},
    {.name = "add_n", .run = run_add_n},
    {.name = "add_n to a unit", .run = run_add_n_to_unit},
    {.name = "merge_units", .run = run_merge_units},
    {.name = "install", .run = run_install},
    {.name = "step", .run = run_step, .in_steps = true, .may_need_none = true},
    {.name = NULL},
};
static const object_operation dba_operations[] = {
    {.name = "open", .run = run_open, .in_steps = true, .may_need_none = true},
    {.name = "add", .run = run_add, .in_steps = true, .may_need_none = true},
    {.name = "add_n", .run = run_add_n, .may_need_none = true},
    {.name = "add_n to a unit", .run = run_add_n_to_unit, .may_need_none = true},
    {.name = "merge_units", .run = run_merge_units, .may_need_none = true},
    {.name = "install", .run = run_install},
    {.name = "step", .run = run_step, .in_steps = true, .may_need_none = true},
    {.name = NULL},
};
static const object_operation none[] = {{.name = NULL}};

#define INDEX .job = BRY_JOB_INDEX, .create = create, .use = use, .looks = looks
#define GROWN INDEX, .size = 70, .fill = fill
#define IN_PART                                                                                    \
    INDEX, .engine = BRY_ENGINE_DBA, .size = 20, .fill = fill_in_part, .operations = none,         \
           .exact_limit = true
#define GROUPS(width, segmented) (2 * (width) + (segmented))

static const object_kind kinds[] = {
    {GROWN, .name = "index", .operations = none},
    {GROWN, .name = "index compact", .engine = BRY_ENGINE_COMPACT, .operations = compact_operations,
     .exact_limit = true},
    {GROWN, .name = "index dba", .engine = BRY_ENGINE_DBA, .operations = dba_operations},
    {GROWN, .name = "index dba, groups of 8", .engine = BRY_ENGINE_DBA, .variant = GROUPS(8, 1),
     .operations = dba_operations},
    {IN_PART, .name = "index dba, in part", .variant = GROUPS(0, 0)},
    {IN_PART, .name = "index dba, in part, segmented", .variant = GROUPS(0, 1)},
    {IN_PART, .name = "index dba, in part, groups of 1", .variant = GROUPS(1, 0)},
    {IN_PART, .name = "index dba, in part, groups of 8", .variant = GROUPS(8, 1)},
    {IN_PART, .name = "index dba, in part, groups of 64", .variant = GROUPS(64, 0)},
    {IN_PART, .name = "index dba, in part, groups of 512", .variant = GROUPS(512, 1)},
};
OBJECT_KINDS(index_objects, "index", kinds);
