/* Values that die: the immediate effect, later reclaiming, and when a value is free again. */
#include "maplet/maplet_values.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"

#include <stdlib.h>

enum { MANY = 64 };

static bry__maplet make(uint64_t capacity, const bry_allocator *allocator)
{
    bry__maplet maplet;
    bry__maplet_options options = {.capacity = capacity, .error = 0.01};
    assert_true(bry__maplet_init(&maplet, &options, allocator));
    assert_int_equal(bry__values_begin(&maplet), BRY_OK);
    return maplet;
}

static bry_hash key(uint64_t i)
{
    return bry_hash_key(3, &i, sizeof i);
}

static void use(bry__maplet *maplet, uint32_t value, uint32_t name)
{
    assert_int_equal(bry__values_use(maplet, value, name), BRY_OK);
}

static void add(bry__maplet *maplet, uint64_t from, uint64_t to, uint32_t value)
{
    for (uint64_t i = from; i < to; i++)
        assert_int_equal(bry__maplet_add(maplet, key(i), value), BRY_OK);
}

/* Checks all counts. */
static void check(const bry__maplet *maplet)
{
    const bry__values *values = maplet->values;
    for (unsigned t = 0; t < maplet->tables; t++) {
        uint64_t *count = calloc(values->room + 1, sizeof *count), dead = 0, fingerprint;
        bry__maplet_cursor cursor = {.table = t};
        uint32_t value;
        assert_non_null(count);
        while (bry__maplet_next(maplet, &cursor, &fingerprint, &value) && cursor.table == t) {
            assert_true(value < values->room);
            count[value]++;
            dead += values->name[value - values->first] == BRY__NO_NAME;
        }
        for (uint32_t i = values->first; i < values->room; i++)
            assert_int_equal(values->count[t][i - values->first], count[i]);
        assert_int_equal(maplet->table[t].dead, dead);
        assert_int_equal(bry__maplet_live(maplet, t), maplet->table[t].n - dead);
        free(count);
    }
}

static bool collect(void *context, uint32_t name)
{
    uint64_t *names = context;
    assert_true(name < 64 && !(*names >> name & 1));
    *names |= (uint64_t)1 << name;
    return true;
}

static uint64_t names_of(const bry__maplet *maplet, uint64_t i)
{
    uint64_t names = 0;
    assert_false(bry__values_each(maplet, key(i), collect, &names));
    return names;
}

static void finish(bry__maplet *maplet)
{
    for (unsigned i = 0; i < 100000 && bry__values_dead(maplet) > 0; i++)
        assert_int_equal(bry__values_reclaim(maplet, 300), BRY_OK);
    assert_int_equal(bry__values_dead(maplet), 0);
    for (unsigned i = 0; i < 100000 && bry__values_unsettled(maplet) > 0; i++)
        assert_int_equal(bry__values_reclaim(maplet, 300), BRY_OK);
    /* The segments are saved as they are. */
    for (unsigned i = 0; i < maplet->tables; i++) {
        const bry__table *table = &maplet->table[i];
        assert_int_equal(table->segments,
                         bry__table_segments_for(table->range,
                                                 table->n - bry__overflow_count(&table->overflow)));
    }
}

TEST(test_kill)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry__maplet maplet = make(2000, &memory.allocator);
    use(&maplet, 0, 7);
    use(&maplet, 1, 5);
    assert_int_equal(bry__values_find_free(&maplet, 0, MANY), 2);
    assert_int_equal(bry__values_find_free(&maplet, 9, MANY), 9);
    add(&maplet, 0, 1500, 0);
    add(&maplet, 1400, 1600, 1);
    assert_int_equal(names_of(&maplet, 0), 1 << 7);
    assert_int_equal(names_of(&maplet, 1450), 1 << 7 | 1 << 5);
    double error = bry__maplet_error_now(&maplet);
    bry__values_kill(&maplet, 0);
    check(&maplet);
    assert_int_equal(bry__values_dead(&maplet), 1500);
    assert_int_equal(bry__maplet_count(&maplet), 200);
    assert_true(bry__maplet_error_now(&maplet) < error / 5);
    assert_int_equal(names_of(&maplet, 1450), 1 << 5);
    assert_int_equal(bry__values_name_bits(&maplet), 3);
    assert_int_equal(bry__values_find_free(&maplet, 0, MANY), 2); /* not yet */
    assert_int_equal(bry__values_find_free(&maplet, 0, 2), 2); /* none */

    /* Dead entries do not matter. */
    use(&maplet, 2, 7);
    add(&maplet, 3000, 4800, 2);
    assert_int_equal(bry__maplet_live(&maplet, 0), 2000);
    assert_int_equal(maplet.tables, 1);
    add(&maplet, 4800, 4801, 2);
    assert_int_equal(maplet.tables, 2);
    check(&maplet);

    finish(&maplet);
    check(&maplet);
    assert_int_equal(bry__values_find_free(&maplet, 0, MANY), 0);
    assert_int_equal(bry__values_waiting(&maplet), 0);
    bry__maplet_free(&maplet);
    assert_int_equal(memory.now, 0);
}

/* A value without entries is free immediately, and so is one whose last entry was deleted
 * before. */
TEST(test_free_at_once)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry__maplet maplet = make(100, &memory.allocator);
    for (uint32_t i = 0; i < 40; i++)
        use(&maplet, i, i);
    assert_int_equal(bry__maplet_add(&maplet, key(1), 3), BRY_OK);
    bry__values_kill(&maplet, 20);
    assert_int_equal(bry__values_find_free(&maplet, 0, MANY), 20);
    assert_int_equal(bry__maplet_del_value(&maplet, key(1), 3), BRY_PRESENT);
    bry__values_kill(&maplet, 3);
    assert_int_equal(bry__values_find_free(&maplet, 0, MANY), 3);
    bry__maplet_free(&maplet);
}

/* Many entries of one fingerprint, of which some die, in the segment and in the overflow. */
TEST(test_crowds)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    for (unsigned seed = 0; seed < 20; seed++) {
        generator numbers = {seed};
        bry__maplet maplet = make(1000, &memory.allocator);
        uint64_t alive = 0;
        for (uint32_t i = 0; i < 60; i++) {
            use(&maplet, i, i);
            alive |= (uint64_t)1 << i;
            for (uint64_t j = 0; j < 4; j++)
                add(&maplet, j, j + 1, i);
        }
        for (unsigned round = 0; round < 30; round++) {
            uint32_t value = (uint32_t)generator_below(&numbers, 60);
            if (alive >> value & 1) {
                bry__values_kill(&maplet, value);
                alive &= ~((uint64_t)1 << value);
            }
            assert_int_equal(bry__values_reclaim(&maplet, generator_below(&numbers, 40)), BRY_OK);
            check(&maplet);
            assert_int_equal(names_of(&maplet, round % 4), alive);
        }
        finish(&maplet);
        check(&maplet);
        for (uint64_t j = 0; j < 4; j++)
            assert_int_equal(names_of(&maplet, j), alive);
        bry__maplet_free(&maplet);
    }
}

static int compare(const void *a, const void *b)
{
    const bry__table_entry *x = a, *y = b;
    if (x->fingerprint != y->fingerprint)
        return x->fingerprint < y->fingerprint ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* Whether two have the same live entries in the same tables. */
static void assert_same(const bry__maplet *a, const bry__maplet *b)
{
    const bry__maplet *both[2] = {a, b};
    unsigned tables = bry__maplet_live_tables(a);
    assert_int_equal(bry__maplet_live_tables(b), tables);
    for (unsigned t = 0; t < tables; t++) {
        uint64_t n = bry__maplet_live(a, t);
        bry__table_entry *entry[2];
        assert_int_equal(bry__maplet_live(b, t), n);
        for (unsigned i = 0; i < 2; i++) {
            bry__maplet_cursor cursor = {.table = t};
            uint64_t fingerprint, at = 0;
            uint32_t value;
            entry[i] = calloc(n + 1, sizeof *entry[i]);
            assert_non_null(entry[i]);
            while (bry__maplet_next(both[i], &cursor, &fingerprint, &value) && cursor.table == t)
                if (bry__values_is_live(both[i], value))
                    entry[i][at++] = (bry__table_entry){fingerprint, value};
            assert_int_equal(at, n);
            qsort(entry[i], n, sizeof *entry[i], compare);
        }
        for (uint64_t i = 0; i < n; i++)
            assert_int_equal(compare(&entry[0][i], &entry[1][i]), 0);
        free(entry[0]);
        free(entry[1]);
    }
}

/* Merging two values, clones, and a list of fingerprints that is added completely or not at all. */
TEST(test_whole)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry__maplet maplet = make(500, &memory.allocator), copy;
    for (uint32_t i = 0; i < 4; i++) {
        use(&maplet, i, 10 + i);
        add(&maplet, 400 * i, 400 * i + 600, i);
    }
    bry__values_kill(&maplet, 3);
    uint64_t list[300];
    for (unsigned i = 0; i < 300; i++)
        list[i] = i * UINT64_C(101);
    bry__fingerprints lists[BRY__MAPLET_TABLES] = {{list, 100}, {list, 300}, {list, 200}};
    memory.keep_failing = true; /* otherwise lists are added one by one */
    for (memory.fail_at = 1;; memory.fail_at++) {
        failing_allocator_restart(&memory);
        bry_status status = bry__maplet_clone(&maplet, &copy, &maplet.allocator);
        if (status == BRY_OK)
            status = bry__values_merge(&copy, 0, 1);
        else
            copy.tables = 0;
        if (status == BRY_OK)
            status = bry__values_add_all(&copy, lists, 2);
        if (status == BRY_OK)
            break;
        assert_int_equal(status, BRY_E_NOMEM);
        if (copy.tables > 0) {
            check(&copy);
            assert_int_equal(bry__maplet_count(&copy), 1800);
            bry__maplet_free(&copy);
        }
    }
    memory.fail_at = 0;
    check(&copy);
    check(&maplet);
    assert_int_equal(copy.tables, 3);
    assert_int_equal(bry__maplet_count(&copy), 2400);
    assert_int_equal(names_of(&maplet, 500), 3 << 10);
    assert_int_equal(names_of(&copy, 500), 1 << 10);
    assert_int_equal(bry__values_find_free(&copy, 0, MANY), 1);
    bry__maplet_free(&copy);
    bry__maplet_clear(&maplet);
    assert_int_equal(bry__values_find_free(&maplet, 3, MANY), 3);
    use(&maplet, 0, 0);
    add(&maplet, 0, 10, 0);
    check(&maplet);
    bry__maplet_free(&maplet);
    assert_int_equal(memory.now, 0);
}

/* Sorted lists give the same as single fingerprints, also with equal fingerprints, many of them,
 * and dead entries. */
TEST(test_sorted_lists)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    enum { LIST = 3000 };
    static uint64_t list[LIST];
    for (unsigned round = 0; round < 6; round++) {
        bry__maplet maplet = make(500, &allocator), singly;
        for (uint32_t i = 0; i < 4; i++) {
            use(&maplet, i, 3 - i);
            add(&maplet, 400 * i, 400 * i + 600, i);
        }
        if (round % 2)
            bry__values_kill(&maplet, round % 4);
        assert_int_equal(bry__maplet_clone(&maplet, &singly, &allocator), BRY_OK);
        unsigned step = round < 2 ? 97 : round < 4 ? 1 : 0; /* far apart, dense, all the same … */
        for (unsigned i = 0; i < LIST; i++)
            list[i] = 1000 + i / (round % 3 + 1) * step; /* … and up to three times each */
        bry__fingerprints lists[BRY__MAPLET_TABLES] = {{list, 0}, {list, LIST}, {list, LIST / 2}};
        assert_int_equal(bry__values_add_all(&maplet, lists, 2), BRY_OK);
        for (unsigned i = 0; i < LIST; i++) {
            bry__fingerprints one[BRY__MAPLET_TABLES] = {{list, 0}, {list + i, 1}};
            assert_int_equal(bry__values_add_all(&singly, one, 2), BRY_OK);
            one[1].n = 0;
            one[2] = (bry__fingerprints){list + i, i < LIST / 2};
            assert_int_equal(bry__values_add_all(&singly, one, 2), BRY_OK);
        }
        check(&maplet);
        assert_same(&maplet, &singly);
        bry__maplet_free(&maplet);
        bry__maplet_free(&singly);
    }
}
