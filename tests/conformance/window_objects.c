/* Windows of both engines, as object_kind.h wants them. */
#include "conformance/object_kind.h"

#include "support/like.h"
#include "window/window_object.h"

enum { WINDOW = 1000, NOW = 70000, ASKED = 800, BATCH = 400 };
enum { FIXED = 1 }; /* a kind's variant */

static bry_status create(const object_kind *kind, const bry_allocator *allocator, void **object)
{
    bry_window_options options = BRY_WINDOW_OPTIONS;
    options.engine = kind->engine;
    options.fixed = kind->variant == FIXED;
    options.window = WINDOW;
    options.capacity = kind->size;
    options.error = 1e-6;
    options.refresh = true;
    options.max_skew = 200000;
    options.seed = 1;
    options.allocator = allocator;
    bry_window *made = NULL;
    bry_status status = bry_window_create(&options, &made);
    *object = made;
    return status;
}

/* Grown past its capacity, with elements that have expired. */
static void fill(const object_kind *kind, void *object)
{
    uint64_t n = 4 * kind->size;
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(
            bry_window_add(object, key(i), NOW - 2 * WINDOW + i * 2 * WINDOW / n, NULL), BRY_OK);
}

/* Elements from `first` to 600 in as many steps; two of those rows can be merged, with fbf too. */
static void fill_row(bry_window *window, uint64_t first)
{
    for (uint64_t i = first; i < 600; i++)
        assert_int_equal(bry_window_add(window, key(i), NOW - 900 + i * 3 / 2, NULL), BRY_OK);
}

static void fill_long(const object_kind *kind, void *object)
{
    (void)kind;
    fill_row(object, 0);
}

static void fill_short(const object_kind *kind, void *object)
{
    (void)kind;
    fill_row(object, 500);
}

/* It may be a forged one, whose time is any. */
static void use(void *object, bry_buffer *answers)
{
    for (uint64_t i = 0; i < 150; i++) {
        uint64_t now = bry_window_time(object) + (i % 10 == 0 ? WINDOW / 7 : 1);
        bry_answer was = BRY_UNSURE;
        note_number(answers, (uint64_t)bry_window_add(object, key(i * 7 % 190), now, &was));
        note_number(answers, was);
        note_number(answers, bry_window_has(object, key(2 * i), now));
        was = BRY_UNSURE;
        note_number(answers, (uint64_t)bry_window_del(object, key(3 * i), now, &was));
        note_number(answers, was);
    }
}

/* ---- looks ---------------------------------------------------------------------------------- */

static void look_stats(const void *object, bry_buffer *answers)
{
    bry_window_stats stats = {0};
    bry_window_get_stats(object, &stats);
    note_number(answers, stats.time);
    note_number(answers, bry_window_time(object));
    note_number(answers, stats.items);
    note_number(answers, stats.covered);
    note_number(answers, stats.generations);
    note_real(answers, stats.estimated_error);
}

static void look_options(const void *object, bry_buffer *answers)
{
    bry_window_options options = window_like(object);
    note_bytes(answers, &options, sizeof options);
}

/* Now, and while they expire. */
static void look_one_by_one(const void *object, bry_buffer *answers)
{
    uint64_t now = bry_window_time(object);
    for (uint64_t i = 0; i < ASKED; i++)
        for (unsigned later = 0; later < 5 * WINDOW / 4; later += WINDOW / 4)
            note_number(answers, bry_window_has(object, key(i), now + later));
}

static void look_in_a_batch(const void *object, bry_buffer *answers)
{
    bry_hash hashes[ASKED];
    uint8_t has[ASKED];
    for (uint64_t i = 0; i < ASKED; i++)
        hashes[i] = key(i);
    bry_window_has_n(object, hashes, ASKED, bry_window_time(object) + WINDOW / 2, has);
    note_bytes(answers, has, sizeof has);
}

static void look_at_generations(const void *object, bry_buffer *answers)
{
    bry_window_generation generations[32];
    size_t n = bry_window_generations(object, generations, 32);
    note_number(answers, n);
    for (size_t i = 0; i < n && i < 32; i++) {
        note_number(answers, generations[i].begin);
        note_number(answers, generations[i].end);
    }
}

/* As the source of a merge into an empty one; fbf refuses rows that differ. */
static void look_by_merging(const void *object, bry_buffer *answers)
{
    bry_window_options options = window_like(object);
    options.start = 0;
    bry_window *made = NULL;
    assert_int_equal(bry_window_create(&options, &made), BRY_OK);
    note_number(answers, (uint64_t)bry_window_merge(made, object));
    look_one_by_one(made, answers);
    bry_window_destroy(made);
}

static object_look *const looks[] = {
    look_stats,          look_options, look_one_by_one, look_in_a_batch, look_by_merging,
    look_at_generations, NULL};

/* ---- operations ----------------------------------------------------------------------------- */

static bry_status add_at(void *object, uint64_t number, uint64_t now)
{
    bry_answer was = BRY_UNSURE;
    bry_status status = bry_window_add(object, key(100000 + number), now, &was);
    assert_int_equal(status == BRY_OK, was != BRY_UNSURE);
    return status;
}

static bry_status run_add(void *object, uint64_t round)
{
    return add_at(object, round, NOW + round);
}

static bry_status run_add_later(void *object, uint64_t round)
{
    return add_at(object, round, NOW + WINDOW / 2 + round);
}

static bry_status run_add_much_later(void *object, uint64_t round)
{
    return add_at(object, round, NOW + 100 * WINDOW + round);
}

static bry_status add_n_at(void *object, uint64_t now)
{
    bry_hash hashes[BATCH];
    uint8_t was[BATCH], untouched[BATCH];
    for (uint64_t i = 0; i < BATCH; i++)
        hashes[i] = key(500 + i % 350);
    memset(untouched, 77, sizeof untouched);
    memset(was, 77, sizeof was);
    bry_status status = bry_window_add_n(object, hashes, BATCH, now, was);
    if (status != BRY_OK)
        assert_memory_equal(was, untouched, sizeof was);
    return status;
}

static bry_status run_add_n(void *object, uint64_t round)
{
    return add_n_at(object, NOW + round);
}

static bry_status run_add_n_later(void *object, uint64_t round)
{
    return add_n_at(object, NOW + WINDOW / 2 + round);
}

static bry_status run_del_later(void *object, uint64_t round)
{
    return bry_window_del(object, key(500), NOW + WINDOW / 2 + round, NULL);
}

static bry_status run_advance(void *object, uint64_t round)
{
    return bry_window_advance(object, NOW + WINDOW / 2 + round);
}

/* Merges with one that has a few elements of the last period. */
static bry_status run_merge(void *object, uint64_t round)
{
    bry_window_options options = window_like(object);
    options.start = NOW - 2 * WINDOW;
    bry_window *other = NULL;
    assert_int_equal(bry_window_create(&options, &other), BRY_OK);
    for (uint64_t i = 0; i < 40; i++)
        assert_int_equal(bry_window_add(other, key(780 + i), NOW - 40 + i + round, NULL), BRY_OK);
    bry_status status = bry_window_merge(object, other);
    bry_window_destroy(other);
    return status;
}

/* With a row that is longer or shorter than the object's. */
static bry_status merge_row(void *object, uint64_t first)
{
    bry_window_options options = window_like(object);
    options.start = 0;
    bry_window *other = NULL;
    assert_int_equal(bry_window_create(&options, &other), BRY_OK);
    fill_row(other, first);
    bry_status status = bry_window_merge(object, other);
    bry_window_destroy(other);
    return status;
}

static bry_status run_merge_long(void *object, uint64_t round)
{
    (void)round;
    return merge_row(object, 0);
}

static bry_status run_merge_short(void *object, uint64_t round)
{
    (void)round;
    return merge_row(object, 500);
}

/* Merges the object into one without elements, which takes its filters over. */
static bry_status run_merge_into_new(void *object, uint64_t round)
{
    (void)round;
    const bry_window *from = object;
    bry_window_options options = window_like(object);
    options.start = 0;
    options.allocator = from->engine->allocator(from->self);
    bry_window *made = NULL;
    bry_status status = bry_window_create(&options, &made);
    if (status == BRY_OK)
        status = bry_window_merge(made, object);
    if (status != BRY_OK && made)
        assert_true(bry_window_items(made) == 0 && bry_window_time(made) == 0);
    bry_window_destroy(made);
    return status;
}

/* Those that every engine has. */
static const object_operation any_operations[] = {
    {.name = "add", .run = run_add, .may_need_none = true},
    {.name = "add later", .run = run_add_later, .may_need_none = true},
    {.name = "add much later", .run = run_add_much_later, .may_need_none = true},
    {.name = "add_n", .run = run_add_n, .may_need_none = true},
    {.name = "add_n later", .run = run_add_n_later, .may_need_none = true},
    {.name = "advance", .run = run_advance, .may_need_none = true},
    {.name = NULL},
};
static const object_operation compact_operations[] = {
    {.name = "add", .run = run_add, .rounds = 100},
    {.name = "add later", .run = run_add_later, .rounds = 100},
    {.name = "add much later", .run = run_add_much_later, .rounds = 20},
    {.name = "add_n", .run = run_add_n},
    {.name = "add_n later", .run = run_add_n_later},
    {.name = "del later", .run = run_del_later, .may_need_none = true},
    {.name = "advance", .run = run_advance, .may_need_none = true},
    {.name = "merge", .run = run_merge},
    {.name = NULL},
};
static const object_operation fbf_operations[] = {
    {.name = "add", .run = run_add, .may_need_none = true},
    {.name = "add later", .run = run_add_later},
    {.name = "add much later", .run = run_add_much_later},
    {.name = "add_n", .run = run_add_n, .may_need_none = true},
    {.name = "add_n later", .run = run_add_n_later},
    {.name = "advance", .run = run_advance},
    {.name = NULL},
};
static const object_operation merge_long[] = {
    {.name = "merge with a longer row", .run = run_merge_long},
    {.name = NULL},
};
static const object_operation merge_short[] = {
    {.name = "merge with a shorter row", .run = run_merge_short},
    {.name = "merge into a new one", .run = run_merge_into_new},
    {.name = NULL},
};
static const object_operation none[] = {{.name = NULL}};

#define ANY .job = BRY_JOB_WINDOW, .create = create, .use = use, .looks = looks
#define COMPACT ANY, .engine = BRY_ENGINE_COMPACT, .exact_limit = true
#define FBF ANY, .engine = BRY_ENGINE_FBF, .exact_limit = true

/* Rows that can be merged with others. */
#define LONG FBF, .size = 800, .fill = fill_long, .operations = merge_short, .large = true
#define SHORT FBF, .size = 800, .fill = fill_short, .operations = merge_long, .large = true

static const object_kind kinds[] = {
    {ANY, .name = "window, 1", .size = 1, .fill = fill, .operations = none, .exact_limit = true},
    {ANY, .name = "window, 150", .size = 150, .fill = fill, .operations = any_operations,
     .exact_limit = true},
    {COMPACT, .name = "window compact, 200", .size = 200, .fill = fill,
     .operations = compact_operations},
    {COMPACT, .name = "window compact, 5000", .size = 5000, .fill = fill, .operations = none},
    {FBF, .name = "window fbf, 200", .size = 200, .fill = fill, .operations = fbf_operations},
    {FBF, .name = "window fbf, 5000", .size = 5000, .fill = fill, .operations = none,
     .large = true},
    {FBF, .name = "window fbf, fixed, 200", .variant = FIXED, .size = 200, .fill = fill,
     .operations = fbf_operations},
    {LONG, .name = "window fbf, long"},
    {SHORT, .name = "window fbf, short"},
    {LONG, .name = "window fbf, fixed, long", .variant = FIXED},
    {SHORT, .name = "window fbf, fixed, short", .variant = FIXED},
};
OBJECT_KINDS(window_objects, "window", kinds);
