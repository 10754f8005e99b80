/* One-line calls of indexes for tests, which assert that they succeed. */
#ifndef BRY_TESTS_INDEX_HELPERS_H
#define BRY_TESTS_INDEX_HELPERS_H

#include "index/index_object.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"
#include "support/like.h"

#include <string.h>

static const bry_engine index_engines[] = {BRY_ENGINE_COMPACT, BRY_ENGINE_DBA};
enum { INDEX_ENGINES = sizeof index_engines / sizeof index_engines[0] };

MAKE(index)

/* An error so small that no test has a false positive. */
static inline bry_index *exact(bry_engine engine, uint32_t units, uint64_t capacity)
{
    return make((bry_index_options){
        .engine = engine, .units = units, .unit_capacity = capacity, .error = 1e-9});
}

STATS_OF(index)

static inline bry_index_unit_info unit_of(const bry_index *index, uint32_t unit)
{
    bry_index_unit_info info = {0};
    memset(&info, 0x5a, sizeof info);
    assert_int_equal(bry_index_get_unit_info(index, unit, &info), BRY_OK);
    return info;
}

static inline bry_hash element(uint64_t i)
{
    return bry_hash_key(1, &i, sizeof i);
}

static inline uint32_t open_unit(bry_index *index, uint64_t tag)
{
    uint32_t unit = UINT32_MAX;
    assert_int_equal(bry_index_open(index, tag, &unit), BRY_OK);
    return unit;
}

static inline void add(bry_index *index, uint64_t i, uint32_t unit)
{
    uint32_t went;
    assert_int_equal(bry_index_add(index, element(i), unit, &went, NULL), BRY_OK);
    if (unit != BRY_INDEX_NEWEST)
        assert_int_equal(went, unit);
}

/* Elements from `first` on. */
static inline void add_many(bry_index *index, uint64_t first, uint64_t n, uint32_t unit)
{
    for (uint64_t i = first; i < first + n; i++)
        add(index, i, unit);
}

/* Whether the candidates of an element are exactly these, in this order. */
static inline void assert_units(const bry_index *index, uint64_t i, const uint32_t *units, size_t n)
{
    uint32_t found[64];
    assert_int_equal(bry_index_locate(index, element(i), found, 64), n);
    for (size_t j = 0; j < n; j++)
        assert_int_equal(found[j], units[j]);
    assert_int_equal(bry_index_has(index, element(i)), n ? BRY_PRESENT : BRY_ABSENT);
}

static inline void assert_unit(const bry_index *index, uint64_t i, uint32_t unit)
{
    assert_units(index, i, &unit, 1);
}

static inline void assert_absent(const bry_index *index, uint64_t i)
{
    assert_units(index, i, NULL, 0);
}

static inline void finish_steps(bry_index *index)
{
    uint64_t left = 1;
    for (int i = 0; i < 100000 && left > 0; i++)
        assert_int_equal(bry_index_step(index, NULL, 1000, &left), BRY_OK);
    assert_int_equal(left, 0);
}

/* Whether two indexes have the same units with the same candidates for elements below n. */
static inline void assert_same_index(const bry_index *a, const bry_index *b, uint64_t n)
{
    uint32_t units[2][300];
    size_t count = bry_index_units(a, units[0], 300);
    assert_true(count <= 300);
    assert_int_equal(bry_index_units(b, units[1], 300), count);
    assert_memory_equal(units[0], units[1], count * sizeof units[0][0]);
    for (size_t i = 0; i < count; i++) {
        bry_index_unit_info x = unit_of(a, units[0][i]), y = unit_of(b, units[0][i]);
        assert_int_equal(x.tag, y.tag);
        assert_int_equal(x.sealed, y.sealed);
        assert_int_equal(x.capacity, y.capacity);
        assert_int_equal(x.elements, y.elements);
        assert_int_equal(x.dba.stale, y.dba.stale);
    }
    for (uint64_t i = 0; i < n; i++) {
        size_t total = bry_index_locate(a, element(i), units[0], 300);
        assert_int_equal(bry_index_locate(b, element(i), units[1], 300), total);
        assert_memory_equal(units[0], units[1], total * sizeof units[0][0]);
    }
}

#endif
