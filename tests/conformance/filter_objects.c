/* Filters of both engines, as kinds (object_kind.h). */
#include "conformance/object_kind.h"

#include "support/filter_bits.h"
#include "support/like.h"

enum { PIECES = 3, ASKED = 700, BATCH = 60 };
#define PIECE_BITS ((uint64_t)BRY__PIECE_BYTES * 8)

enum variant { PLANNED, IN_PIECES, FIXED };

static bry_status create(const object_kind *kind, const bry_allocator *allocator, void **object)
{
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.engine = kind->engine;
    options.capacity = kind->size;
    options.error = 1e-6;
    options.fixed = kind->variant == FIXED;
    options.seed = 1;
    options.allocator = allocator;
    if (kind->variant == IN_PIECES) {
        options.bloom.bits = (PIECES - 1) * PIECE_BITS + 5120;
        options.bloom.hashes = 6;
    }
    bry_filter *made = NULL;
    bry_status status = bry_filter_create(&options, &made);
    *object = made;
    return status;
}

/* Partly filled; compact also with deletions and, if it may grow, beyond its capacity. */
static void fill(const object_kind *kind, void *object)
{
    bool compact = kind->engine == BRY_ENGINE_COMPACT;
    uint64_t n = !compact                 ? kind->size / 2
                 : kind->variant == FIXED ? kind->size * 3 / 4
                                          : 3 * kind->size;
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(bry_filter_add(object, key(i), NULL), BRY_OK);
    for (uint64_t i = 0; i < n && compact; i += 7)
        assert_int_equal(bry_filter_del(object, key(i), NULL), BRY_OK);
}

static void fill_first_piece(const object_kind *kind, void *object)
{
    (void)kind;
    for (uint64_t i = 0; i < 30; i++)
        assert_int_equal(bry_filter_add(object, key_in_piece(object, 0, i), NULL), BRY_OK);
}

static void use(void *object, bry_buffer *answers)
{
    for (uint64_t i = 0; i < 150; i++) {
        bry_answer was = BRY_UNSURE;
        note_number(answers, (uint64_t)bry_filter_add(object, key(200 + 5 * i), &was));
        note_number(answers, was);
        was = BRY_UNSURE;
        note_number(answers, (uint64_t)bry_filter_del(object, key(3 * i), &was));
        note_number(answers, was);
    }
}

/* ---- looks ---------------------------------------------------------------------------------- */

static void look_stats(const void *object, bry_buffer *answers)
{
    bry_filter_stats stats = {0};
    bry_filter_get_stats(object, &stats);
    bry_filter_options options = filter_like(object);
    note_number(answers, stats.engine);
    note_number(answers, stats.seed);
    note_number(answers, stats.capacity);
    note_number(answers, stats.items);
    note_number(answers, stats.bloom.hashes);
    note_number(answers, stats.tables);
    note_real(answers, stats.promised_error);
    note_real(answers, stats.estimated_error);
    note_number(answers, bry_filter_seed(object));
    note_bytes(answers, &options, sizeof options);
}

static void look_one_by_one(const void *object, bry_buffer *answers)
{
    for (uint64_t i = 0; i < ASKED; i++)
        note_number(answers, bry_filter_has(object, key(i)));
}

static void look_in_a_batch(const void *object, bry_buffer *answers)
{
    bry_hash hashes[ASKED];
    uint8_t has[ASKED];
    for (uint64_t i = 0; i < ASKED; i++)
        hashes[i] = key(i);
    bry_filter_has_n(object, hashes, ASKED, has);
    note_bytes(answers, has, sizeof has);
}

/* As the source of a merge into an object of the same shape. */
static void look_by_merging(const void *object, bry_buffer *answers)
{
    bry_filter_options options = filter_like(object);
    bry_filter *made = NULL;
    assert_int_equal(bry_filter_create(&options, &made), BRY_OK);
    note_number(answers, (uint64_t)bry_filter_merge(made, object));
    look_one_by_one(made, answers);
    bry_filter_destroy(made);
}

static object_look *const looks[] = {look_stats, look_one_by_one, look_in_a_batch, look_by_merging,
                                     NULL};

/* ---- operations ----------------------------------------------------------------------------- */

static bry_status run_add(void *object, uint64_t round)
{
    bry_answer was = BRY_UNSURE;
    bry_status status = bry_filter_add(object, key(100000 + round), &was);
    assert_int_equal(status == BRY_OK, was != BRY_UNSURE);
    return status;
}

static bry_status add_batch(bry_filter *filter, const bry_hash *hashes)
{
    uint8_t was[BATCH], untouched[BATCH];
    memset(untouched, 77, sizeof untouched);
    memset(was, 77, sizeof was);
    bry_status status = bry_filter_add_n(filter, hashes, BATCH, was);
    if (status != BRY_OK)
        assert_memory_equal(was, untouched, sizeof was);
    return status;
}

static bry_status run_add_n(void *object, uint64_t round)
{
    bry_hash hashes[BATCH];
    for (uint64_t i = 0; i < BATCH; i++)
        hashes[i] = key(200000 + 1000 * round + i % 50);
    return add_batch(object, hashes);
}

static bry_status run_add_to_piece(void *object, uint64_t round)
{
    bry_answer was = BRY_UNSURE;
    bry_status status = bry_filter_add(object, key_in_piece(object, 1, 500 + round), &was);
    assert_int_equal(status == BRY_OK, was != BRY_UNSURE);
    return status;
}

static bry_status run_add_n_to_pieces(void *object, uint64_t round)
{
    bry_hash hashes[BATCH];
    for (uint64_t i = 0; i < BATCH; i++)
        hashes[i] = key_in_piece(object, i % PIECES, 600 + 100 * round + i);
    return add_batch(object, hashes);
}

/* Merges with a filter that has other pieces and keys. */
static bry_status run_merge(void *object, uint64_t round)
{
    bry_filter_options options = filter_like(object);
    bry_filter *other = NULL;
    assert_int_equal(bry_filter_create(&options, &other), BRY_OK);
    for (uint64_t i = 0; i < 20; i++) {
        bool bloom = options.engine == BRY_ENGINE_BLOOM;
        bry_hash hash = bloom ? key_in_piece(other, i % PIECES, i) : key(7000 + 20 * round + i);
        assert_int_equal(bry_filter_add(other, hash, NULL), BRY_OK);
    }
    bry_status status = bry_filter_merge(object, other);
    bry_filter_destroy(other);
    return status;
}

static const object_operation bloom_operations[] = {
    {.name = "add", .run = run_add, .may_need_none = true},
    {.name = "add_n", .run = run_add_n, .may_need_none = true},
    {.name = NULL},
};
static const object_operation piece_operations[] = {
    {.name = "add to another piece", .run = run_add_to_piece},
    {.name = "add_n to all pieces", .run = run_add_n_to_pieces},
    {.name = "merge", .run = run_merge},
    {.name = NULL},
};
static const object_operation compact_operations[] = {
    {.name = "add", .run = run_add, .rounds = 40},
    {.name = "add_n", .run = run_add_n, .rounds = 3},
    {.name = "merge", .run = run_merge},
    {.name = NULL},
};

static const object_operation fixed_operations[] = {
    {.name = "add", .run = run_add, .rounds = 40},
    {.name = "add_n", .run = run_add_n},
    {.name = NULL},
};

static const object_operation none[] = {{.name = NULL}};

#define FILTER .job = BRY_JOB_FILTER, .create = create, .use = use, .looks = looks

static const object_kind kinds[] = {
    {FILTER, .name = "filter", .size = 100, .fill = fill, .operations = none},
    {FILTER, .name = "filter bloom", .engine = BRY_ENGINE_BLOOM, .size = 200, .fill = fill,
     .operations = bloom_operations, .exact_limit = true},
    {FILTER, .name = "filter bloom, pieces", .engine = BRY_ENGINE_BLOOM, .variant = IN_PIECES,
     .size = 20000, .fill = fill_first_piece, .operations = piece_operations, .exact_limit = true,
     .large = true},
    {FILTER, .name = "filter compact", .engine = BRY_ENGINE_COMPACT, .exact_limit = true,
     .size = 200, .fill = fill, .operations = compact_operations},
    {FILTER, .name = "filter compact, fixed", .engine = BRY_ENGINE_COMPACT, .exact_limit = true,
     .variant = FIXED, .size = 400, .fill = fill, .operations = fixed_operations},
};
OBJECT_KINDS(filter_objects, "filter", kinds);
