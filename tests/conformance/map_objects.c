/* Maps of both engines, as kinds (object_kind.h). */
#include "conformance/object_kind.h"

#include "map/map_object.h"
#include "support/generator.h"
#include "support/like.h"

#include <stdio.h>
#include <stdlib.h>

enum { ASKED = 640, BATCH = 400, VALUES = 64, VALUE_ROOM = 16 };

/* Values as bytes, as numbers, and values that need several frames. */
enum variant { BYTES, NUMBERS, LARGE_VALUES };

/* Value number i, of the map's kind; its bytes are in `room`. */
static bry_map_value value_of(const bry_map *map, uint64_t i, char room[VALUE_ROOM])
{
    uint32_t bits = map->options.value_bits;
    if (bits)
        return bry_map_value_number(i & ((1u << bits) - 1));
    int len = snprintf(room, VALUE_ROOM, "value %ju", (uintmax_t)i);
    return bry_map_value_bytes(room, (size_t)len);
}

static bry_status create(const object_kind *kind, const bry_allocator *allocator, void **object)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    options.engine = kind->engine;
    options.capacity = kind->size;
    options.error = 1e-6;
    options.value_bits = kind->variant == NUMBERS ? 9 : 0;
    options.values = 77;
    options.seed = 1;
    options.allocator = allocator;
    bry_map *made = NULL;
    bry_status status = bry_map_create(&options, &made);
    *object = made;
    return status;
}

static void set(bry_map *map, uint64_t i, uint64_t number)
{
    char room[VALUE_ROOM];
    assert_int_equal(bry_map_set(map, key(i), value_of(map, number, room), NULL), BRY_OK);
}

/* Everything that a file can contain: growth, free codes, refusals. */
static void fill(const object_kind *kind, void *object)
{
    bry_map *map = object;
    for (uint64_t i = 0; i < 500; i++)
        set(map, i, i % 60);
    for (uint64_t i = 0; i < 500; i++)
        if (i % 60 % 7 == 3)
            assert_int_equal(bry_map_del(map, key(i), NULL), BRY_OK);
    if (kind->engine == BRY_ENGINE_COMPACT)
        assert_int_equal(bry_map_compress(map, 0), BRY_OK); /* frees codes */
    map->refused_full = 5;
    map->refused_unsure = 6;
}

/* Grown, with so many values that one more needs memory. */
static void fill_all_values(const object_kind *kind, void *object)
{
    (void)kind;
    for (uint64_t i = 0; i < 500; i++)
        set(object, i, i % VALUES);
}

/* Several frames of values, and several pieces of memory for them. */
static void fill_large_values(const object_kind *kind, void *object)
{
    (void)kind;
    static unsigned char bytes[BRY_MAP_VALUE_MAX];
    generator_fill(&(generator){8}, bytes, sizeof bytes);
    for (uint64_t i = 0; i < 40; i++) {
        bry_map_value value = bry_map_value_bytes(bytes + i, sizeof bytes - 100 * i);
        assert_int_equal(bry_map_set(object, key(i), value, NULL), BRY_OK);
    }
}

static void use(void *object, bry_buffer *answers)
{
    char room[VALUE_ROOM];
    for (uint64_t i = 0; i < 200; i++) {
        bry_answer was = BRY_UNSURE;
        bry_map_value value = value_of(object, i % 99, room);
        note_number(answers, (uint64_t)bry_map_set(object, key(400 + i), value, &was));
        note_number(answers, was);
        was = BRY_UNSURE;
        note_number(answers, (uint64_t)bry_map_del(object, key(2 * i), &was));
        note_number(answers, was);
    }
    note_number(answers, (uint64_t)bry_map_compress(object, 0));
}

/* ---- looks ---------------------------------------------------------------------------------- */

static void note_value(bry_buffer *answers, bry_answer answer, bry_map_value value)
{
    note_number(answers, answer);
    if (answer != BRY_PRESENT)
        return;
    note_number(answers, value.number);
    note_number(answers, value.len);
    note_bytes(answers, value.bytes, value.len);
}

static void look_stats(const void *object, bry_buffer *answers)
{
    bry_map_stats stats = {0};
    bry_map_get_stats(object, &stats);
    note_number(answers, stats.engine);
    note_number(answers, stats.items);
    note_number(answers, stats.tables);
    note_number(answers, stats.values);
    note_number(answers, stats.values_left);
    note_number(answers, stats.refused_full);
    note_number(answers, stats.kbf.refused_unsure);
    note_real(answers, stats.load);
    note_real(answers, stats.estimated.false_positive);
    note_real(answers, stats.estimated.false_negative);
    note_bytes(answers, stats.kbf.cells, sizeof stats.kbf.cells);
}

static void look_options(const void *object, bry_buffer *answers)
{
    bry_map_options options = map_like(object);
    note_bytes(answers, &options, sizeof options);
    note_number(answers, bry_map_seed(object));
}

static void look_one_by_one(const void *object, bry_buffer *answers)
{
    for (uint64_t i = 0; i < ASKED; i++) {
        bry_map_value value = {NULL, 0, 0};
        bry_answer answer = bry_map_get(object, key(i), &value);
        note_value(answers, answer, value);
    }
}

static void look_in_a_batch(const void *object, bry_buffer *answers)
{
    bry_hash hashes[ASKED];
    bry_map_value values[ASKED];
    uint8_t found[ASKED];
    for (uint64_t i = 0; i < ASKED; i++)
        hashes[i] = key(i);
    bry_map_get_n(object, hashes, ASKED, values, found);
    for (int i = 0; i < ASKED; i++)
        note_value(answers, found[i], values[i]);
}

/* As the source of a merge into an object of the same shape. */
static void look_by_merging(const void *object, bry_buffer *answers)
{
    bry_map *made = NULL;
    assert_int_equal(bry_map_create_like(object, NULL, &made), BRY_OK);
    note_number(answers, (uint64_t)bry_map_merge(made, object));
    look_one_by_one(made, answers);
    bry_map_destroy(made);
}

static object_look *const looks[] = {look_stats,      look_options,    look_one_by_one,
                                     look_in_a_batch, look_by_merging, NULL};

/* ---- operations ----------------------------------------------------------------------------- */

static const bry_map_value brand_new = {"brand new", 9, 0};

static bry_status run_set(void *object, uint64_t round)
{
    bry_answer was = BRY_UNSURE;
    bry_status status = bry_map_set(object, key(1000 + round), brand_new, &was);
    assert_int_equal(status == BRY_OK, was != BRY_UNSURE);
    return status;
}

static bry_status run_update(void *object, uint64_t round)
{
    return bry_map_update(object, key(5 + round), brand_new, NULL);
}

static bry_status run_add(void *object, uint64_t round)
{
    return bry_map_add(object, key(1000 + round), brand_new);
}

typedef struct batch {
    bry_hash hashes[BATCH];
    bry_map_value values[BATCH];
    char room[BATCH][VALUE_ROOM];
} batch;

/* Sets keys from `first` on to 30 new values. */
static const batch *make_batch(const bry_map *map, uint64_t first)
{
    static batch keys;
    for (uint64_t i = 0; i < BATCH; i++) {
        keys.hashes[i] = key(first + i);
        keys.values[i] = value_of(map, i % (VALUES + 30), keys.room[i]);
    }
    return &keys;
}

static bry_status run_set_n(void *object, uint64_t round)
{
    const batch *keys = make_batch(object, 300 + BATCH * round);
    return bry_map_set_n(object, keys->hashes, keys->values, BATCH, NULL);
}

static bry_status run_update_n(void *object, uint64_t round)
{
    const batch *keys = make_batch(object, 300 + BATCH * round);
    return bry_map_update_n(object, keys->hashes, keys->values, BATCH, NULL);
}

static bry_status run_add_n(void *object, uint64_t round)
{
    const batch *keys = make_batch(object, 500 + BATCH * round);
    return bry_map_add_n(object, keys->hashes, keys->values, BATCH);
}

static bry_status run_del_n(void *object, uint64_t round)
{
    const batch *keys = make_batch(object, BATCH * round);
    return bry_map_del_n(object, keys->hashes, BATCH, NULL);
}

static bry_status run_merge(void *object, uint64_t round)
{
    (void)round;
    bry_map *other = NULL;
    bry_allocator allocator = bry__allocator_or_default(NULL);
    assert_int_equal(bry_map_create_like(object, &allocator, &other), BRY_OK);
    for (uint64_t i = 600; i < 640; i++)
        set(other, i, i % (VALUES + 20));
    bry_status status = bry_map_merge(object, other);
    bry_map_destroy(other);
    return status;
}

/* Merges with a map that has more tables. */
static bry_status run_merge_grown(void *object, uint64_t round)
{
    (void)round;
    bry_map *other = NULL;
    bry_allocator allocator = bry__allocator_or_default(NULL);
    assert_int_equal(bry_map_create_like(object, &allocator, &other), BRY_OK);
    for (uint64_t i = 2000; i < 6000; i++)
        set(other, i, i % VALUES);
    bry_status status = bry_map_merge(object, other);
    bry_map_destroy(other);
    return status;
}

static bry_status run_create_like(void *object, uint64_t round)
{
    (void)round;
    bry_map *made = NULL;
    bry_status status = bry_map_create_like(object, NULL, &made);
    assert_int_equal(status == BRY_OK, made != NULL);
    bry_map_destroy(made);
    return status;
}

static bry_status run_compress(void *object, uint64_t round)
{
    (void)round;
    return bry_map_compress(object, 0);
}

static const object_operation none[] = {{.name = NULL}};
static const object_operation compact_operations[] = {
    {.name = "set", .run = run_set},
    {.name = "update", .run = run_update},
    {.name = "add", .run = run_add},
    {.name = "set_n", .run = run_set_n},
    {.name = "update_n", .run = run_update_n},
    {.name = "add_n", .run = run_add_n},
    {.name = "merge", .run = run_merge},
    {.name = "create_like", .run = run_create_like},
    {.name = NULL},
};
static const object_operation kbf_operations[] = {
    {.name = "set", .run = run_set},
    {.name = "update", .run = run_update},
    {.name = "add", .run = run_add},
    {.name = "set_n", .run = run_set_n},
    {.name = "update_n", .run = run_update_n},
    {.name = "add_n", .run = run_add_n},
    {.name = "del_n", .run = run_del_n},
    {.name = "merge", .run = run_merge},
    {.name = "merge a grown one", .run = run_merge_grown},
    {.name = "create_like", .run = run_create_like},
    {.name = "compress", .run = run_compress},
    {.name = NULL},
};

#define MAP .job = BRY_JOB_MAP, .create = create, .use = use, .looks = looks
#define COMPACT MAP, .engine = BRY_ENGINE_COMPACT, .exact_limit = true
#define KBF MAP, .engine = BRY_ENGINE_KBF

static const object_kind kinds[] = {
    {MAP, .name = "map", .size = 200, .fill = fill, .operations = none},
    {MAP, .name = "map, numbers", .exact_limit = true, .variant = NUMBERS, .size = 200,
     .fill = fill, .operations = none},
    {COMPACT, .name = "map compact, all values", .size = 300, .fill = fill_all_values,
     .operations = compact_operations},
    {COMPACT, .name = "map compact, large values", .variant = LARGE_VALUES, .size = 200,
     .fill = fill_large_values, .operations = none, .frame_bytes = 1 << 21, .large = true},
    {KBF, .name = "map kbf, all values", .size = 300, .fill = fill_all_values,
     .operations = kbf_operations},
    {KBF, .name = "map kbf, large values", .variant = LARGE_VALUES, .size = 200,
     .fill = fill_large_values, .operations = none, .frame_bytes = 1 << 21, .large = true},
};
OBJECT_KINDS(map_objects, "map", kinds);
