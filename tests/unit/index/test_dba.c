/*
 * The parts of engine dba: rows by every instruction set, shapes, groups and their columns, and the
 * rules of widths, levels and steps.
 */
#include "kernel/kernel.h"
#include "kernel/rows.h"
#include "support/dba_helpers.h"
#include "support/failing_allocator.h"
#include "support/generator.h"
#include "support/like.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bry_allocator heap;

/* ---- kernels ------------------------------------------------------------------------------- */

TEST(test_rows_and)
{
    for (int isa = 0; isa < BRY__ISA_COUNT; isa++) {
        const bry__kernel *kernel = bry__kernel_of((bry__isa)isa);
        generator numbers = {21};
        for (size_t bytes = 1; kernel && bytes <= BRY__ROW_MAX; bytes *= 2) {
            for (unsigned round = 0; round < 2000; round++) {
                size_t n = generator_below(&numbers, 12), sets = generator_below(&numbers, 12);
                unsigned char *row[12], mask[BRY__ROW_MAX + 8], left[BRY__ROW_MAX];
                const unsigned char *rows[12];
                /* Rows of exactly this size, so that a sanitizer detects reads beyond them. */
                for (size_t i = 0; i < 12; i++) {
                    row[i] = malloc(bytes);
                    assert_non_null(row[i]);
                    memset(row[i], 0xff, bytes);
                    for (size_t bit = 0; bit < 8 * bytes; bit++)
                        if (generator_below(&numbers, 12) > sets)
                            row[i][bit / 8] &= (unsigned char)~(1u << bit % 8);
                    rows[i] = row[i];
                }
                memset(mask, 0xaa, sizeof mask);
                generator_fill(&numbers, mask, bytes);
                memcpy(left, mask, bytes);
                bool any = false;
                for (size_t b = 0; b < bytes; b++) {
                    for (size_t i = 0; i < n; i++)
                        left[b] &= row[i][b];
                    any |= left[b] != 0;
                }
                assert_int_equal(kernel->rows_and(mask, rows, n, bytes), any);
                assert_memory_equal(mask, left, bytes);
                for (size_t b = bytes; b < sizeof mask; b++)
                    assert_int_equal(mask[b], 0xaa);
                for (size_t i = 0; i < 12; i++)
                    free(row[i]);
            }
        }
    }
}

TEST(test_transpose)
{
    generator numbers = {22};
    uint64_t square[64], turned[64];
    for (unsigned i = 0; i < 64; i++)
        turned[i] = square[i] = generator_next(&numbers);
    bry__transpose64(turned);
    for (unsigned i = 0; i < 64; i++)
        for (unsigned j = 0; j < 64; j++)
            assert_int_equal(turned[i] >> j & 1, square[j] >> i & 1);
}

/* ---- shapes -------------------------------------------------------------------------------- */

TEST(test_published_shapes)
{
    /* 64 units of 2^19 at 2^-14, and the error for three times as many. */
    double first = bry__dba_unit_error(0x1p-14, 64), tight = bry__dba_unit_error(0x1p-14, 192);
    assert_true(fabs(first / 9.5e-7 - 1) < 0.01 && fabs(tight / 3.1e-7 - 1) < 0.03);
    assert_int_equal(bry__dba_shape_plan(1 << 19, first, false).hashes, 20);
    assert_int_equal(bry__dba_shape_plan(1 << 19, tight, false).hashes, 22);
    /* Segments of the first, and two more. */
    bry__dba_shape segmented = bry__dba_shape_plan(1 << 19, first, true);
    assert_int_equal(segmented.hashes, 20);
    bry__dba_shape more = bry__dba_shape_tighten(segmented, tight);
    assert_int_equal(more.hashes, 22);
    assert_int_equal(more.range, segmented.range);
    assert_true(bry__dba_shape_error(&more, 1 << 19) <= tight);
}

TEST(test_planned_error_is_kept)
{
    for (int e = 0; e < 34; e++) {
        double error = 0.5 * pow(0.37, e);
        for (uint64_t n = 1; n <= (uint64_t)1 << 40; n *= 7)
            for (int segmented = 0; segmented < 2; segmented++) {
                bry__dba_shape shape = bry__dba_shape_plan(n, error, segmented);
                assert_true(bry__dba_shape_valid(&shape));
                assert_int_equal(shape.hashes, (unsigned)ceil(-log2(error) - 1e-9));
                assert_true(bry__dba_shape_error(&shape, (double)n) <= error);
                /* with no more rows than needed */
                bry__dba_shape less = shape;
                less.range -= 1 + less.range / 10000;
                assert_true(less.range == 0 || bry__dba_shape_error(&less, (double)n) > error);
            }
    }
}

/* ---- groups -------------------------------------------------------------------------------- */

static const bry__dba_shape plain = {50, 1500, 9, false};
static const bry__dba_shape segments = {50, 190, 9, true};

static void add(bry__dba_group *group, uint32_t column, uint64_t i)
{
    bry__dba_probe probe;
    bry__dba_probe_begin(&probe, element(i));
    bry__dba_column_set(group, column, &probe, 0, bry__dba_positions(group));
}

static bool has(const bry__dba_group *group, uint32_t column, uint64_t i)
{
    bry__dba_probe probe;
    bry__dba_probe_begin(&probe, element(i));
    return bry__dba_column_has(group, column, &probe);
}

/* A group with units in most columns, slots counted from `first`; column c has elements from
 * 1000 · slot on. */
static bry__dba_group *busy_group(const bry__dba_shape *shape, uint32_t width, uint32_t first)
{
    bry__dba_group *group = bry__dba_group_make(shape, width, &heap);
    assert_non_null(group);
    for (uint32_t c = 0; c < width; c++) {
        if (c % 5 == 3)
            continue;
        bry__dba_column_become(group, c, first + c);
        for (uint64_t i = 0; i < 1 + c % 50; i++)
            add(group, c, 1000 * (uint64_t)(first + c) + i);
    }
    return group;
}

TEST(test_group_cost)
{
    for (uint32_t width = 1; width <= 512; width = width == 1 ? 8 : 2 * width)
        for (int segmented = 0; segmented < 2; segmented++) {
            failing_allocator memory;
            failing_allocator_init(&memory);
            const bry__dba_shape *shape = segmented ? &segments : &plain;
            bry__dba_group *group = bry__dba_group_make(shape, width, &memory.allocator);
            assert_int_equal(memory.now, bry__dba_group_cost(shape, width));
            bry__dba_group_free(group, &memory.allocator);
            assert_int_equal(memory.now, 0);
            assert_true(bry__dba_width_valid(width));
            assert_false(bry__dba_width_valid(width + 2));
        }
    assert_false(bry__dba_width_valid(2) || bry__dba_width_valid(4) || bry__dba_width_valid(0) ||
                 bry__dba_width_valid(1024));
}

TEST(test_or_columns_and_segments)
{
    bry__dba_group *a = busy_group(&segments, 16, 0), *b = busy_group(&segments, 64, 100);
    assert_false(has(a, 2, 140000));
    bry__dba_column_or(a, 2, b, 40);
    for (uint64_t i = 0; i < 3; i++)
        assert_true(has(a, 2, 2000 + i));
    for (uint64_t i = 0; i < 41; i++)
        assert_true(has(a, 2, 140000 + i) && has(b, 40, 140000 + i));

    /* Further segments: additions use them, look-ups only when the shape includes them. */
    assert_int_equal(bry__dba_group_extend(a, 12, &heap), BRY_OK);
    assert_int_equal(bry__dba_positions(a), 12);
    add(a, 0, 77);
    assert_true(has(a, 0, 77) && has(a, 2, 2000));
    a->shape.hashes = 12;
    assert_true(has(a, 0, 77));
    assert_false(has(a, 2, 2000));
    a->shape.hashes = 9;
    bry__dba_group_cut(a, &heap);
    assert_true(has(a, 0, 77) && has(a, 2, 2000));
    assert_int_equal(bry__dba_positions(a), 9);
    bry__dba_group_free(a, &heap);
    bry__dba_group_free(b, &heap);
}

/* ---- rules --------------------------------------------------------------------------------- */

TEST(test_widths)
{
    bry_index_options options = {0};
    for (uint32_t r = 1; r <= 1 << 20; r += 1 + r / 50) {
        uint32_t width = bry__dba_width(&options, r), wanted = bry__dba_width_wanted(&options, r);
        assert_true(bry__dba_width_valid(width) && bry__dba_width_valid(wanted));
        if (r > 32) {
            assert_int_equal(width, wanted);
            assert_true(width == 512 || 8 * width >= r); /* in [r/8, r/4) */
            assert_true(4 * width < r || width == 8);
        }
    }
    options.dba.group = 64;
    assert_int_equal(bry__dba_width(&options, 1), 64);
    assert_int_equal(bry__dba_width_wanted(&options, 100000), 64);
}

static bry_index_stats stats_of(const bry_index *index)
{
    bry_index_stats stats = {0};
    bry_index_get_stats(index, &stats);
    return stats;
}

/* Without a supplier the index reports the pending work and the future error. */
TEST(test_waiting_without_supplier)
{
    bry_index *index = make((bry_index_options){.units = 10, .unit_capacity = 100, .error = 1e-4});
    uint64_t left = 99;
    fill(index, 10, 90);
    bry_index_stats stats = stats_of(index);
    assert_true(stats.full_error <= 1e-4 && stats.estimated_error < stats.full_error);
    assert_int_equal(stats.promised_units, 10);
    while (left > 0)
        assert_int_equal(bry_index_step(index, NULL, 100, &left), BRY_OK);
    stats = stats_of(index);
    assert_int_equal(stats.waiting, 0);

    uint32_t unit = 0;
    assert_int_equal(bry_index_open(index, 0, &unit), BRY_OK);
    stats = stats_of(index);
    assert_true(stats.full_error > 1.04e-4 && stats.full_error < 1.06e-4);
    assert_int_equal(stats.promised_units, 10 - 0); /* the eleventh has half the error */
    assert_true(stats.waiting_for_supplier > 0);
    bry_index_unit_info info = {0};
    assert_int_equal(bry_index_get_unit_info(index, 0, &info), BRY_OK);
    assert_true(info.wants_refresh);
    assert_int_equal(bry_index_get_unit_info(index, unit, &info), BRY_OK);
    assert_false(info.wants_refresh);
    left = 99;
    assert_int_equal(bry_index_step(index, NULL, 1000000, &left), BRY_OK);
    assert_int_equal(left, 0);
    assert_true(stats_of(index).full_error > 1e-4);

    /* With a supplier the work is done, and takes what was reported. */
    uint64_t n = 90, waiting = stats.waiting_for_supplier, steps = 0;
    bry_index_supplier supplier = {supply, &n};
    for (left = 1; left > 0; steps++)
        assert_int_equal(bry_index_step(index, &supplier, 10, &left), BRY_OK);
    stats = stats_of(index);
    assert_true(stats.full_error <= 1e-4 && stats.waiting == 0 && stats.dba.rebuilds > 0);
    assert_true(10 * steps >= waiting && waiting >= 90);
    for (uint32_t u = 0; u < 10; u++)
        for (uint64_t i = 0; i < 90; i++)
            assert_int_equal(bry_index_has(index, element(1000 * (uint64_t)u + i)), BRY_PRESENT);
    bry_index_destroy(index);
}

/* A fixed index, and one without control, never rebuild for the error. */
TEST(test_no_control)
{
    bry_index *index = make((bry_index_options){
        .units = 4, .unit_capacity = 50, .error = 1e-3, .dba.control = BRY_INDEX_UNCONTROLLED});
    fill(index, 12, 50);
    bry_index_stats stats = stats_of(index);
    assert_true(stats.full_error > 2.9e-3 && stats.full_error < 3.1e-3);
    assert_int_equal(stats.waiting_for_supplier, 0);
    assert_int_equal(stats.unit_capacity, 50);
    bry_index_destroy(index);
    index =
        make((bry_index_options){.units = 4, .unit_capacity = 50, .error = 1e-3, .fixed = true});
    uint32_t unit;
    fill(index, 4, 50);
    assert_int_equal(bry_index_open(index, 0, &unit), BRY_E_FULL);
    assert_int_equal(stats_of(index).waiting_for_supplier, 0);
    bry_index_destroy(index);
}

/* Stale elements are removed when their share is large enough, and not before. */
TEST(test_refresh)
{
    bry_index *index = make((bry_index_options){
        .units = 8, .unit_capacity = 100, .error = 1e-9, .dba.stale = 0.3, .dba.group = 8});
    uint64_t left = 1, n = 70;
    bry_index_unit_info info = {0};
    bry_index_supplier supplier = {supply, &n};
    fill(index, 8, 100);
    for (uint64_t i = 99; i >= 71; i--)
        assert_int_equal(bry_index_del(index, element(3000 + i), 3, NULL), BRY_OK);
    assert_int_equal(bry_index_get_unit_info(index, 3, &info), BRY_OK);
    assert_int_equal(info.dba.stale, 29);
    assert_false(info.wants_refresh);
    assert_int_equal(stats_of(index).waiting, 0);
    assert_int_equal(bry_index_del(index, element(3070), 3, NULL), BRY_OK);
    assert_int_equal(bry_index_get_unit_info(index, 3, &info), BRY_OK);
    assert_true(info.wants_refresh);
    assert_int_equal(bry_index_has(index, element(3099)), BRY_PRESENT);
    /* One is added and one deleted while it is rebuilt. */
    assert_int_equal(bry_index_step(index, &supplier, 10, &left), BRY_OK);
    assert_true(left > 0);
    assert_int_equal(bry_index_has(index, element(3099)), BRY_PRESENT);
    assert_int_equal(bry_index_del(index, element(3000), 3, NULL), BRY_OK);
    while (left > 0)
        assert_int_equal(bry_index_step(index, &supplier, 10, &left), BRY_OK);
    assert_int_equal(bry_index_get_unit_info(index, 3, &info), BRY_OK);
    assert_int_equal(info.elements, 70);
    assert_int_equal(info.dba.stale, 1);
    assert_int_equal(stats_of(index).dba.rebuilds, 1);
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(bry_index_has(index, element(3000 + i)),
                         i < 70 ? BRY_PRESENT : BRY_ABSENT);
    bry_index_destroy(index);
}

/* Method A: units that were sealed because they were full accept elements again; one that was
 * sealed explicitly does not. */
TEST(test_larger_opens_again)
{
    bry_index *index = make((bry_index_options){.units = 5,
                                                .unit_capacity = 100,
                                                .error = 1e-9,
                                                .dba.group = 8,
                                                .dba.control = BRY_INDEX_LARGER,
                                                .dba.factor = 3});
    uint32_t by_hand = 99;
    assert_int_equal(bry_index_open(index, 0, &by_hand), BRY_OK);
    for (uint64_t i = 0; i < 99; i++)
        assert_int_equal(bry_index_add(index, element(i), by_hand, NULL, NULL), BRY_OK);
    assert_int_equal(bry_index_seal(index, by_hand), BRY_OK);
    uint64_t left = 1, n = 99;
    uint32_t went = 0;
    bry_index_unit_info info = {0};
    bry_index_supplier supplier = {supply, &n};
    for (uint64_t i = 0; i < 399; i++)
        assert_int_equal(bry_index_add(index, element(1000 * (1 + i / 100) + i % 100),
                                       BRY_INDEX_NEWEST, &went, NULL),
                         BRY_OK);
    while (left > 0)
        assert_int_equal(bry_index_step(index, &supplier, 50, &left), BRY_OK);
    bry_index_stats stats = stats_of(index);
    assert_int_equal(stats.units, 5);
    assert_true(stats.dba.rebuilds > 0 && stats.full_error <= 1e-9 * (1 + 1e-6));
    for (uint64_t i = 0; i < 700; i++)
        assert_int_equal(bry_index_add(index, element(900000 + i), BRY_INDEX_NEWEST, &went, NULL),
                         BRY_OK);
    stats = stats_of(index);
    assert_int_equal(stats.units, 5);
    assert_int_equal(bry_index_get_unit_info(index, went, &info), BRY_OK);
    assert_int_equal(info.capacity, 300);
    assert_false(info.sealed);
    assert_int_equal(bry_index_get_unit_info(index, by_hand, &info), BRY_OK);
    assert_true(info.sealed && info.capacity == 300 && info.elements == 99);
    bry_index_destroy(index);
}

/* With segments, method B changes no count, requests only the elements it needs, and keeps existing
 * bits.
 */
TEST(test_segments_are_added)
{
    bry_index *index = make((bry_index_options){.units = 16,
                                                .unit_capacity = 900,
                                                .error = 1e-4,
                                                .dba.segmented = true,
                                                .dba.group = 16,
                                                .dba.factor = 4});
    uint64_t left = 1, n = 900;
    bry_index_supplier supplier = {supply, &n};
    fill(index, 17, 900);
    bry_index_options before = index_like(index);
    while (left > 0)
        assert_int_equal(bry_index_step(index, &supplier, 100, &left), BRY_OK);
    bry_index_stats stats = stats_of(index);
    assert_int_equal(stats.dba.rebuilds, 16);
    assert_int_equal(stats.elements, 17 * 900);
    assert_true(stats.full_error <= 1e-4);
    assert_int_equal(stats.dba.groups, 2);
    for (uint32_t u = 0; u < 17; u++)
        for (uint64_t i = 0; i < 900; i++)
            assert_int_equal(bry_index_has(index, element(1000 * (uint64_t)u + i)), BRY_PRESENT);
    bry_index_options after = index_like(index);
    assert_int_equal(before.dba.unit_bits, after.dba.unit_bits);
    bry_index_destroy(index);
}

/* Memory of a large unit is cleared when an element first uses it, not when the unit is opened. */
TEST(test_pages)
{
    static const bry__dba_shape large = {(uint64_t)1 << 24, (uint64_t)1 << 28, 10, false};
    bry__dba_group *group = bry__dba_group_make(&large, 1, &heap);
    assert_non_null(group);
    bry__dba_column_become(group, 0, 0);
    uint64_t pages = (large.range / 8) >> BRY__DBA_PAGE_SHIFT;
    assert_int_equal(group->table[0].unready, pages);
    assert_false(has(group, 0, 7));
    assert_int_equal(group->table[0].unready, pages);
    add(group, 0, 7);
    assert_true(has(group, 0, 7));
    assert_false(has(group, 0, 8));
    assert_true(group->table[0].unready >= pages - large.hashes);
    bry__dba_group *copy = bry__dba_group_clone(group, &heap);
    assert_true(has(copy, 0, 7));
    assert_int_equal(copy->table[0].unready, group->table[0].unready);
    bry__dba_group_free(copy, &heap);
    bry__dba_group_free(group, &heap);
}

int main(void)
{
    heap = bry__allocator_or_default(NULL);
    return run_all_tests(NULL, NULL);
}
