/*
 * Groups of engine dba: as wide as they get by themselves, and of every given width, which changes
 * neither what is saved nor any answer. With every instruction set.
 */
#include "frame/frame.h"
#include "index/dba/dba_index.h"
#include "kernel/kernel.h"
#include "support/index_commands.h"

#include <math.h>

/* ---- automatic widths ---------------------------------------------------------------------- */

enum { UNITS = 2500, EACH = 5 };

/* Unit u has elements EACH · u to EACH · u + 4. */
static void assert_located(const bry_index *index, uint32_t unit)
{
    for (uint32_t i = 0; i < EACH; i++) {
        uint32_t found[64];
        size_t total = bry_index_locate(index, element(EACH * unit + i), found, 64), at = 0;
        while (at < total && found[at] != unit)
            at++;
        assert_true(at < total);
    }
}

/* Many small units with few elements: groups become wider, and disappear with their units. */
TEST(test_automatic_widths)
{
    bry_index *index = make((bry_index_options){
        .engine = BRY_ENGINE_DBA, .units = UNITS, .unit_capacity = 100, .error = 0.01});
    uint64_t left, added = 0;
    for (uint32_t r = 1; r <= UNITS; r++) {
        uint32_t unit = open_unit(index, r);
        for (int i = 0; i < EACH; i++, added++) {
            add(index, added, unit);
            assert_int_equal(bry_index_step(index, NULL, 20, &left), BRY_OK);
            /* an old unit, while groups are being merged */
            uint64_t old = added * 2654435761u % (added + 1);
            assert_true(bry_index_has(index, element(old)) == BRY_PRESENT);
        }
        if (r % 100 && r > 70)
            continue;
        finish_steps(index);
        bry_index_stats stats = stats_of(index);
        assert_int_equal(stats.waiting, 0);
        if (r <= 32)
            assert_int_equal(stats.dba.group, r < 8 ? 1 : 8);
        else
            assert_true(8 * stats.dba.group >= r && 4 * stats.dba.group <= r + 31);
        assert_true(stats.dba.groups <= 15);
    }
    for (uint32_t unit = 0; unit < UNITS; unit++)
        assert_located(index, unit);
    for (uint32_t unit = 0; unit < UNITS; unit++) {
        if (unit % 50 == 0)
            continue;
        assert_int_equal(bry_index_drop(index, unit), BRY_OK);
        assert_int_equal(bry_index_step(index, NULL, 200, &left), BRY_OK);
    }
    finish_steps(index);
    bry_index_stats stats = stats_of(index);
    assert_int_equal(stats.units, UNITS / 50);
    assert_int_equal(stats.dba.group, 8);
    assert_true(stats.dba.groups <= 7);
    for (uint32_t unit = 0; unit < UNITS; unit += 50)
        assert_located(index, unit);
    bry_index_clear(index);
    assert_int_equal(stats_of(index).dba.groups, 0);
    bry_index_destroy(index);
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

/* Elements that a unit may never have had, which is allowed. */
static bry_status supply(void *opaque, uint32_t unit, uint64_t tag, uint64_t from, bry_hash *hashes,
                         size_t room, size_t *got)
{
    (void)opaque;
    (void)tag;
    for (*got = 0; *got < room && from + *got < 100; ++*got)
        hashes[*got] = element(unit + 7 * (from + *got));
    return BRY_OK;
}

/* All that was answered, as one number. */
static uint64_t run_same(bry_index *index)
{
    generator numbers = {17}, sum = {0};
    bry_index_supplier supplier = {supply, NULL};
    for (unsigned i = 0; i < 600; i++) {
        sum.state ^= generator_next(&sum) + (uint64_t)command(index, &numbers);
        for (uint64_t left = i % 20 == 19; left > 0;)
            assert_int_equal(bry_index_step(index, &supplier, 5000, &left), BRY_OK);
    }
    for (uint32_t i = 0; i < 2 * ELEMENTS; i++) {
        uint32_t found[8] = {0};
        sum.state ^= generator_next(&sum) + bry_index_locate(index, element(i), found, 8);
        for (size_t j = 0; j < 8; j++)
            sum.state ^= generator_next(&sum) + found[j];
    }
    return sum.state;
}

TEST(test_widths_and_kernels_agree)
{
    bry_buffer first = BRY_BUFFER;
    uint64_t expected = 0;
    bry_index_stats first_stats = {0};
    for (int isa = 0; isa < BRY__ISA_COUNT; isa++) {
        if (!bry__kernel_force((bry__isa)isa))
            continue;
        for (size_t w = 0; w < WIDTHS; w++) {
            bry_index *index = make((bry_index_options){.engine = BRY_ENGINE_DBA,
                                                        .units = 300,
                                                        .unit_capacity = 400,
                                                        .error = 0.3,
                                                        .dba.segmented = true,
                                                        .dba.stale = 0.002,
                                                        .dba.control = BRY_INDEX_UNCONTROLLED,
                                                        .dba.group = widths[w]});
            uint64_t answers = run_same(index);
            bry_buffer image = image_of(index);
            bry_index_stats stats = stats_of(index);
            if (!first.bytes) {
                first = image;
                first_stats = stats;
                expected = answers;
                assert_true(stats.elements > 1000 && stats.dba.rebuilds > 20);
            } else {
                assert_int_equal(image.len, first.len);
                assert_memory_equal(image.bytes, first.bytes, image.len);
                bry_buffer_free(&image);
                assert_true(answers == expected);
                assert_true(stats.fill == first_stats.fill);
                assert_true(fabs(stats.estimated_error - first_stats.estimated_error) <=
                            1e-12 * first_stats.estimated_error);
                assert_int_equal(stats.dba.rebuilds, first_stats.dba.rebuilds);
            }
            bry_index_destroy(index);
        }
    }
    bry_buffer_free(&first);
}
