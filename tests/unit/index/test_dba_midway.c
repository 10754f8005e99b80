/* Changes during the work of engine dba must be in its result. */
#include "support/dba_helpers.h"
#include "support/like.h"

/* Unit u has elements 1000 · u to 1000 · u + n - 1; unit 0 those of unit 1 too, once `merged`. */
typedef struct subsets {
    uint64_t n;
    bool merged;
} subsets;

static bry_status supply_subsets(void *opaque, uint32_t unit, uint64_t tag, uint64_t from,
                                 bry_hash *hashes, size_t room, size_t *got)
{
    const subsets *all = opaque;
    uint64_t n = all->merged && unit == 0 ? 2 * all->n : all->n;
    (void)tag;
    for (*got = 0; *got < room && from < n; ++*got, from++)
        hashes[*got] = element(1000 * (unit + from / all->n) + from % all->n);
    return BRY_OK;
}

static bool located(const bry_index *index, bry_hash hash, uint32_t unit)
{
    uint32_t units[64];
    size_t total = bry_index_locate(index, hash, units, 64);
    for (size_t i = 0; i < total; i++)
        if (units[i] == unit)
            return true;
    return false;
}

static void finish(bry_index *index, subsets *all)
{
    bry_index_supplier supplier = {supply_subsets, all};
    for (uint64_t left = 1; left > 0;)
        assert_int_equal(bry_index_step(index, &supplier, 1000, &left), BRY_OK);
}

/* Nine units in groups of eight, planned for eight: the first group gets further segments, and its
 * first two units have theirs. */
static bry_index *extending(subsets *all, double error)
{
    bry_index *index = make((bry_index_options){
        .units = 8, .unit_capacity = 200, .error = error, .dba.segmented = true, .dba.group = 8});
    const bry__dba *dba = index->elements;
    bry_index_supplier supplier = {supply_subsets, all};
    fill(index, 9, all->n);
    while (dba->rebuild.column < 2)
        assert_int_equal(bry_index_step(index, &supplier, 10, NULL), BRY_OK);
    assert_int_equal(dba->rebuild.kind, BRY__DBA_EXTEND);
    return index;
}

TEST(test_merged_while_segments_are_added)
{
    for (int later = 0; later < 2; later++) {
        subsets all = {.n = 90};
        bry_index *index = extending(&all, 1e-6);
        const bry__dba *dba = index->elements;
        /* Merges into a unit that has its segments, or from such a unit into one that has not. */
        if (later)
            assert_int_equal(bry_index_merge_units(index, 5, 0), BRY_OK);
        else
            assert_int_equal(bry_index_merge_units(index, 0, 1), BRY_OK);
        assert_int_equal(dba->rebuild.kind, BRY__DBA_NO_REBUILD);
        all.merged = !later;
        if (!later) {
            finish(index, &all);
            for (uint64_t i = 0; i < 90; i++)
                assert_true(located(index, element(i), 0) && located(index, element(1000 + i), 0));
        }
        for (uint64_t i = 0; i < 90 && later; i++)
            assert_true(located(index, element(i), 5) && located(index, element(5000 + i), 5));
        bry_index_destroy(index);
    }
}

/* An element that is a false positive of its unit is added: it must be found after the false
 * positive is gone. */
TEST(test_added_while_segments_are_added)
{
    subsets all = {.n = 199};
    bry_index *index = extending(&all, 0.3);
    uint32_t by_chance = 0;
    for (uint64_t i = 500000; by_chance < 40; i++) {
        assert_true(i < 600000);
        if (!located(index, element(i), 1))
            continue;
        bry_answer was = BRY_ABSENT;
        assert_int_equal(bry_index_add(index, element(i), 1, NULL, &was), BRY_OK);
        assert_int_equal(was, BRY_PRESENT);
        by_chance++;
    }
    uint64_t last = 500000, kept = 0;
    for (uint32_t seen = 0; seen < 40; last++)
        seen += located(index, element(last), 1);
    finish(index, &all);
    assert_true(((const bry__dba *)index->elements)->rebuilds >= 8);
    for (uint64_t i = 500000; i < last; i++)
        kept += located(index, element(i), 1);
    assert_true(kept >= 40);
    /* Nearly all neighbours, which were not added, are gone. */
    uint64_t others = 0;
    for (uint64_t i = last; i < 2 * last - 500000; i++)
        others += located(index, element(i), 1);
    assert_true(others < 35);
    bry_index_destroy(index);
}

/* The same while the unit is rebuilt in another column because many of its elements are stale. */
TEST(test_added_while_rebuilt)
{
    subsets all = {.n = 199};
    bry_index *index = make((bry_index_options){
        .units = 4, .unit_capacity = 200, .error = 0.3, .dba.stale = 0.5, .dba.group = 8});
    const bry__dba *dba = index->elements;
    bry_index_supplier supplier = {supply_subsets, &all};
    bry_hash chance[20];
    size_t n = 0;
    fill(index, 4, 199);
    for (uint64_t i = 80; i < 199; i++)
        assert_int_equal(bry_index_del(index, element(2000 + i), 2, NULL), BRY_OK);
    all.n = 80;
    assert_int_equal(bry_index_step(index, &supplier, 20, NULL), BRY_OK);
    assert_int_equal(dba->rebuild.kind, BRY__DBA_REBUILD);
    for (uint64_t i = 500000; n < 20; i++) {
        assert_true(i < 600000);
        if (!located(index, element(i), 2))
            continue;
        assert_int_equal(bry_index_add(index, element(i), 2, NULL, NULL), BRY_OK);
        chance[n++] = element(i);
    }
    finish(index, &all);
    assert_true(dba->rebuilds >= 1 && dba->rebuild.kind == BRY__DBA_NO_REBUILD);
    for (size_t i = 0; i < n; i++)
        assert_true(located(index, chance[i], 2));
    bry_index_destroy(index);
}

/* Units are merged, filled and dropped while their groups are merged. */
TEST(test_changed_while_side_by_side)
{
    subsets all = {.n = 90};
    bry_index *index = make((bry_index_options){.units = 32, .unit_capacity = 400, .error = 1e-6});
    const bry__dba *dba = index->elements;
    fill(index, 16, 90);
    assert_int_equal(bry_index_step(index, NULL, 8, NULL), BRY_OK);
    assert_non_null(dba->merge.into);
    assert_true(dba->merge.into->copied_row > 100);
    assert_true(dba->merge.into->copied_row < dba->merge.into->shape.range / 2);
    assert_int_equal(bry_index_merge_units(index, 0, 1), BRY_OK); /* within */
    assert_null(dba->merge.into); /* the group of unit 1 is gone */
    assert_int_equal(bry_index_step(index, NULL, 8, NULL), BRY_OK);
    assert_non_null(dba->merge.into);
    assert_int_equal(bry_index_merge_units(index, 2, 15), BRY_OK); /* from elsewhere */
    for (uint64_t i = 0; i < 50; i++)
        assert_int_equal(bry_index_add(index, element(700000 + i), 4, NULL, NULL), BRY_OK);
    assert_non_null(dba->merge.into);
    finish(index, &all);
    assert_int_equal(dba->group[0]->width, 8);
    for (uint64_t i = 0; i < 90; i++) {
        assert_true(located(index, element(i), 0) && located(index, element(1000 + i), 0));
        assert_true(located(index, element(2000 + i), 2) && located(index, element(15000 + i), 2));
        assert_true(located(index, element(4000 + i), 4));
    }
    for (uint64_t i = 0; i < 50; i++)
        assert_true(located(index, element(700000 + i), 4));
    bry_index_destroy(index);
}

/* Installs a unit of another index, with the elements of unit `number`. */
static uint32_t import(bry_index *index, uint32_t number, uint64_t n)
{
    bry_index_options options = index_like(index);
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    bry_index *other = NULL;
    uint32_t unit = 0;
    assert_int_equal(bry_index_create(&options, &other), BRY_OK);
    assert_int_equal(bry_index_open(other, 0, &unit), BRY_OK);
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(
            bry_index_add(other, element(1000 * (uint64_t)number + i), unit, NULL, NULL), BRY_OK);
    assert_int_equal(bry_index_save_unit(other, unit, &sink, NULL), BRY_OK);
    bry_view view = {buffer.bytes, buffer.len, 0};
    bry_source source = bry_view_source(&view);
    assert_int_equal(bry_index_import_unit(index, &source, NULL, &unit), BRY_OK);
    bry_index_destroy(other);
    bry_buffer_free(&buffer);
    return unit;
}

/* A unit is imported in a group that is being merged, of which some rows have been copied. */
TEST(test_imported_while_merging)
{
    subsets all = {.n = 50};
    bry_index *index = make((bry_index_options){.units = 200, .unit_capacity = 100, .error = 1e-4});
    const bry__dba *dba = index->elements;
    fill(index, 64, 50);
    finish(index, &all); /* eight groups of 8 columns */
    fill(index, 16, 50); /* and one of 16 */
    assert_int_equal(bry_index_drop(index, 3), BRY_OK);
    while (!dba->merge.into || dba->merge.into->copied_row < 1000)
        assert_int_equal(bry_index_step(index, NULL, 1, NULL), BRY_OK);
    uint32_t unit = import(index, 80, 50);
    const bry__dba_group *group = bry__dba_place_of(dba, dba->list[dba->units - 1])->group;
    assert_ptr_equal(group->into, dba->merge.into);
    finish(index, &all);
    assert_true(dba->group[0]->width == 16);
    for (uint64_t i = 0; i < 50; i++)
        assert_true(located(index, element(80000 + i), unit));
    bry_index_destroy(index);
}
