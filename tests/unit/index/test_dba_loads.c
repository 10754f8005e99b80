/* Every index of engine dba can be saved and loaded, as a stream and as a directory. What it would
 * never save is refused. */
#include "common/endian.h"
#include "index/dba/dba_index.h"
#include "index/index_save.h"
#include "support/dba_count.h"
#include "support/index_helpers.h"
#include "support/job_calls.h"
#include "support/recording_io.h"
#include "support/repair.h"

#include <math.h>

enum { FRAME_HEAD = 16 };

static bry_buffer saved(const bry_index *index)
{
    return job_saved(BRY_JOB_INDEX, index);
}

static bry_status load_bytes(const bry_buffer *image, bry_index **index)
{
    bry_view view = {image->bytes, image->len, 0};
    bry_source source = bry_view_source(&view);
    bry_load load = BRY_LOAD;
    bry_status status = bry_index_load(&source, &load, index);
    if (status != BRY_OK)
        print_message("refused: %s at %d\n", load.problem, (int)load.offset);
    return status;
}

/* Saves and loads both ways; the loaded index saves to the same bytes. */
static void assert_loads(const bry_index *index)
{
    bry_buffer image = saved(index);
    bry_index *loaded = NULL;
    assert_int_equal(load_bytes(&image, &loaded), BRY_OK);
    job_assert_saved(BRY_JOB_INDEX, loaded, &image);
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

/* The offset of this level in the stream. */
static unsigned char *level_at(const bry_buffer *image, unsigned level)
{
    for (size_t at = 0; at + 4 <= image->len; at++)
        if (memcmp(image->bytes + at, "DBA ", 4) == 0)
            return image->bytes + at + FRAME_HEAD + 16 + 24 * (size_t)level;
    fail_msg("no levels");
    return NULL;
}

static void assert_forged(const bry_buffer *image, unsigned level, size_t offset, unsigned size,
                          uint64_t value)
{
    bry_buffer forged = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&forged);
    bry_index *index = NULL;
    assert_int_equal(sink.write(sink.opaque, image->bytes, image->len), BRY_OK);
    if (size == 8)
        bry__store64(level_at(&forged, level) + offset, value);
    else
        bry__store32(level_at(&forged, level) + offset, (uint32_t)value);
    repair_stream(forged.bytes, forged.len);
    bry_view view = {forged.bytes, forged.len, 0};
    bry_source source = bry_view_source(&view);
    assert_int_equal(bry_index_load(&source, NULL, &index), BRY_E_BADDATA);
    assert_null(index);
    bry_buffer_free(&forged);
}

/* Levels must follow from the options: a small file with a large level would become a large object
 * when the next unit is opened. */
TEST(test_forged_levels)
{
    for (unsigned how = 0; how < 4; how++) {
        bool larger = how / 2 != 0;
        bry_index *index = make((bry_index_options){
            .engine = BRY_ENGINE_DBA,
            .units = 2,
            .unit_capacity = 40,
            .error = 0.01,
            .dba.segmented = how % 2 != 0,
            .dba.control = larger ? BRY_INDEX_LARGER : BRY_INDEX_TIGHTER,
        });
        for (uint32_t u = 0; u < 6; u++)
            open_unit(index, u);
        bry_buffer image = saved(index);
        for (uint32_t u = 6; u-- > 0;) /* the bits of a unit do not depend on levels then */
            assert_int_equal(bry_index_drop(index, u), BRY_OK);
        bry_buffer empty = saved(index);
        assert_forged(&empty, 0, 8, 8, (uint64_t)1 << 33);
        assert_forged(&empty, 0, 16, 4, 64);
        assert_forged(&empty, 0, 16, 4, 1);
        assert_forged(&empty, 0, 20, 4, 1);
        assert_forged(&empty, 0, 20, 4, 1 << 20);
        for (unsigned level = 0; level < 2; level++) {
            const unsigned char *numbers = level_at(&image, level);
            uint64_t range = bry__load64(numbers + 8);
            uint32_t hashes = bry__load32(numbers + 16), planned = bry__load32(numbers + 20);
            assert_forged(&image, level, 0, 8, (uint64_t)1 << 40);
            assert_forged(&image, level, 8, 8, (uint64_t)1 << 33);
            assert_forged(&image, level, 8, 8, range + 5);
            assert_forged(&image, level, 16, 4, hashes + 1);
            assert_forged(&image, level, 20, 4, planned + 1);
        }
        bry_buffer_free(&image);
        bry_buffer_free(&empty);
        bry_index_destroy(index);
    }
}
