/* Every index of engine dba can be saved and loaded, as a stream and as a directory. What it would
 * never save is refused. */
#include "index/dba/dba_index.h"
#include "index/index_save.h"
#include "support/altered_file.h"
#include "support/dba_count.h"
#include "support/index_helpers.h"
#include "support/recording_io.h"

#include <math.h>

/* Saves and loads both ways; the loaded index saves to the same bytes. */
static void assert_loads(const bry_index *index)
{
    bry_buffer image = job_saved(BRY_JOB_INDEX, index);
    bry_index *loaded = job_reloaded(BRY_JOB_INDEX, index);
    /* Running sums equal the actual ones. */
    const bry__dba *dba = index->elements;
    double kept = stats_of(index).estimated_error, counted = stats_of(loaded).estimated_error;
    assert_int_equal(dba->set, all_set(dba));
    assert_true(fabs(kept - counted) <= 1e-12 * counted);
    assert_true(stats_of(index).fill == stats_of(loaded).fill);
    bry_index_destroy(loaded);
    assert_int_equal(bry_index_clone(index, NULL, &loaded), BRY_OK);
    assert_true(stats_of(loaded).estimated_error == kept);
    bry_index_destroy(loaded);

    recording_io disk;
    bry_load load = BRY_LOAD;
    recording_init(&disk);
    assert_int_equal(bry__index_save_dir(&disk.io, index, "f", NULL), BRY_OK);
    assert_int_equal(bry__index_load_dir(&disk.io, "f", &load, &loaded), BRY_OK);
    job_assert_saved(BRY_JOB_INDEX, loaded, &image);
    bry_index_destroy(loaded);
    recording_free(&disk);
    bry_buffer_free(&image);
}

/* ---- what is saved ------------------------------------------------------------------------- */

/* The next level of such a shape has fewer hashes, or more, or fewer rows. */
TEST(test_exact_shapes)
{
    static const struct {
        uint64_t bits;
        uint32_t hashes;
    } shapes[] = {{576, 12}, {40, 1}, {1, 1}, {4096, 64}, {5000, 3}, {64, 64}};
    for (unsigned s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (unsigned how = 0; how < 12; how++) {
            bool segmented = how % 2 != 0;
            bry_index *index = make((bry_index_options){
                .engine = BRY_ENGINE_DBA,
                .units = 2,
                .unit_capacity = 40,
                .error = 0.01,
                .dba.segmented = segmented,
                .dba.control = (bry_index_control)(how / 2 % 3),
                .dba.factor = how / 6 ? 16 : 2,
                .dba.unit_bits = segmented ? shapes[s].bits * shapes[s].hashes : shapes[s].bits,
                .dba.hashes = shapes[s].hashes,
            });
            open_unit(index, 20);
            assert_loads(index); /* without an element */
            assert_true(stats_of(index).estimated_error == 0);
            assert_true(unit_of(index, 0).error == 0);
            for (uint32_t u = 0; u < 20; u++) {
                uint32_t unit = open_unit(index, u);
                add(index, u, unit);
                if (u % 5 == 4)
                    assert_loads(index);
            }
            bry_index_destroy(index);
        }
}

/* Unit u has the elements 1000 · u + i; `more` of them were never added. */
typedef struct stock {
    uint64_t n;
} stock;

static bry_status supply(void *opaque, uint32_t unit, uint64_t tag, uint64_t from, bry_hash *hashes,
                         size_t room, size_t *got)
{
    const stock *has = opaque;
    (void)tag;
    for (*got = 0; *got < room && from + *got < has->n; ++*got)
        hashes[*got] = element(1000 * (uint64_t)unit + from + *got);
    return BRY_OK;
}

static bry_index *segmented(double error, uint32_t units, uint64_t capacity)
{
    return make((bry_index_options){.engine = BRY_ENGINE_DBA,
                                    .units = units,
                                    .unit_capacity = capacity,
                                    .error = error,
                                    .dba.segmented = true});
}

/* An added element that was already a false positive of its unit is not counted, but the supplier
 * returns it. */
TEST(test_uncounted_elements)
{
    static const double errors[] = {0.5, 0.1, 1e-6};
    for (unsigned e = 0; e < 3; e++) {
        bry_index *index = segmented(errors[e], 1, 60);
        stock all = {e == 0 ? 60 : 200};
        bry_index_supplier supplier = {supply, &all};
        for (uint32_t u = 0; u < 40; u++) {
            uint32_t unit = open_unit(index, u);
            for (uint64_t i = 0; i < 50; i++)
                (void)bry_index_add(index, element(1000 * (uint64_t)unit + i), unit, NULL, NULL);
            uint64_t left = 1;
            for (unsigned i = 0; left > 0; i++) {
                assert_int_equal(bry_index_step(index, &supplier, 150, &left), BRY_OK);
                if (i < 10) /* also while the unit's group gets further segments */
                    (void)bry_index_add(index, element(1000 * (uint64_t)unit + 50 + i), unit, NULL,
                                        NULL);
                if (u < 4 || (u % 13 == 0 && i % 8 == 0))
                    assert_loads(index);
            }
            if (u % 3 == 0)
                assert_loads(index);
        }
        for (uint64_t i = 0; i < 40; i++)
            assert_int_equal(bry_index_unit_has(index, element(1000 * i + 49), (uint32_t)i),
                             BRY_PRESENT);
        bry_index_destroy(index);
    }
}

/* A unit without counted elements is dropped while its group gets further segments, to which
 * elements were supplied: its column is not clear. */
TEST(test_dropped_while_extended)
{
    for (uint64_t budget = 1; budget < 120; budget += 3) {
        bry_index *index = segmented(0.1, 2, 30);
        stock all = {20};
        bry_index_supplier supplier = {supply, &all};
        uint64_t left;
        for (uint32_t u = 0; u < 9; u++)
            open_unit(index, u); /* none has an element */
        assert_int_equal(bry_index_step(index, &supplier, budget, &left), BRY_OK);
        for (uint32_t u = 0; u < 9; u += 2)
            assert_int_equal(bry_index_drop(index, u), BRY_OK);
        for (left = 1; left > 0;)
            assert_int_equal(bry_index_step(index, &supplier, 1000, &left), BRY_OK);
        for (uint32_t u = 0; u < 9; u++)
            open_unit(index, u);
        assert_loads(index);
        bry_index_destroy(index);
    }
}

/* ---- what is not --------------------------------------------------------------------------- */

/* Levels must follow from the options: a small file with a large level would become a large object
 * when the next unit is opened. */
TEST(test_forged_levels)
{
    enum { UNITS = 6, RECORDS = UNITS * 56 + FRAME_SUM + FRAME_HEAD };
    enum { AT = NUMBERS_AT + 80 + FRAME_SUM + FRAME_HEAD + 16 };
    static const char first[] = "the first level does not match the options";
    static const char next[] = "a level does not follow from the one before";
    for (unsigned how = 0; how < 4; how++) {
        bry_index *index = make((bry_index_options){
            .engine = BRY_ENGINE_DBA,
            .units = 2,
            .unit_capacity = 40,
            .error = 0.01,
            .dba.segmented = how % 2 != 0,
            .dba.control = how / 2 ? BRY_INDEX_LARGER : BRY_INDEX_TIGHTER,
        });
        for (uint32_t u = 0; u < UNITS; u++)
            open_unit(index, u);
        for (unsigned l = 0; l < 2; l++) {
            const bry__dba_level *level = &((const bry__dba *)index->elements)->level[l];
            const char *problem = l == 0 ? first : next;
            size_t at = AT + RECORDS + l * 24;
            const altered_number altered[] = {
                {at, 8, (uint64_t)1 << 40, problem},
                {at + 8, 8, (uint64_t)1 << 33, problem},
                {at + 8, 8, level->shape.range + 5, problem},
                {at + 16, 4, level->shape.hashes + 1, problem},
                {at + 20, 4, level->planned + 1, problem},
            };
            ASSERT_ALTERED_REFUSED(BRY_JOB_INDEX, index, altered);
        }
        for (uint32_t u = UNITS; u-- > 0;) /* the bits of a unit do not depend on levels then */
            assert_int_equal(bry_index_drop(index, u), BRY_OK);
        static const altered_number empty[] = {
            {AT + 8, 8, (uint64_t)1 << 33, first},
            {AT + 16, 4, 64, first},
            {AT + 16, 4, 1, first},
            {AT + 20, 4, 1, first},
            {AT + 20, 4, 1 << 20, first},
        };
        ASSERT_ALTERED_REFUSED(BRY_JOB_INDEX, index, empty);
        bry_index_destroy(index);
    }
}
