/* One entry per fingerprint, with values that die: their widths and names, and unused tables, which
 * are freed in steps. The model of windows tests what is put, undone and united. */
#include "maplet/maplet_single.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"

enum { BITS = 4 };

static bry__maplet make(failing_allocator *memory)
{
    bry__maplet maplet;
    bry__maplet_options options = {.capacity = 500, .error = 0.01, .value_bits = BITS};
    assert_true(bry__maplet_init(&maplet, &options, &memory->allocator));
    assert_int_equal(bry__single_begin(&maplet, false), BRY_OK);
    for (uint32_t value = 0; value < 8; value++)
        assert_int_equal(bry__values_use(&maplet, value, value), BRY_OK);
    return maplet;
}

static bry_hash key(uint64_t i)
{
    return bry_hash_key(3, &i, sizeof i);
}

/* Puts keys into the table that has room. */
static void put(bry__maplet *maplet, uint64_t from, uint64_t to, uint32_t value)
{
    bry__single_step step;
    for (uint64_t i = from; i < to; i++)
        assert_int_equal(
            bry__single_put(maplet, bry__maplet_place(maplet), key(i), value, true, &step), BRY_OK);
}

/* The counts of live and dead entries are correct. */
static void check(const bry__maplet *maplet)
{
    for (unsigned i = 0; i < maplet->tables; i++) {
        uint64_t count[64] = {0}, dead = 0, fingerprint;
        bry__maplet_cursor cursor = {.table = i};
        uint32_t value;
        while (bry__maplet_next(maplet, &cursor, &fingerprint, &value) && cursor.table == i) {
            assert_true(value < maplet->values->room && value < 64);
            assert_int_equal(bry__table_get_all(&maplet->table[i], fingerprint, NULL, 0), 1);
            count[value]++;
            dead += !bry__values_is_live(maplet, value);
        }
        assert_int_equal(maplet->table[i].dead, dead);
        const bry__values *values = maplet->values;
        for (value = values->first; value < values->room; value++)
            assert_int_equal(values->count[i][value - values->first], count[value]);
    }
}

static uint64_t digest(const bry__maplet *maplet)
{
    uint64_t sum = 0, fingerprint;
    bry__maplet_cursor cursor = {0};
    uint32_t value;
    while (bry__maplet_next(maplet, &cursor, &fingerprint, &value))
        sum += bry__mix64(fingerprint + bry__mix64((uint64_t)cursor.table << 32 | value));
    return sum;
}

/* Wider values while the others are in use; the width shrinks again when their entries are gone. */
TEST(test_widths)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry__maplet maplet = make(&memory);
    put(&maplet, 0, 100, 1);
    assert_int_equal(bry__values_use(&maplet, 20, 9), BRY_OK);
    put(&maplet, 50, 150, 20);
    check(&maplet);
    assert_int_equal(maplet.value_bits, 5);
    bry__values_narrow(&maplet, BITS);
    assert_int_equal(maplet.value_bits, 5);
    bry__values_kill(&maplet, 20);
    assert_int_equal(bry__single_reclaim_all(&maplet), BRY_OK);
    bry__values_narrow(&maplet, BITS);
    assert_int_equal(maplet.value_bits, BITS);
    put(&maplet, 200, 300, 2);
    check(&maplet);
    bry__maplet_free(&maplet);
    assert_int_equal(memory.now, 0);
}

/* Values that still have entries are not reused, even if all below a limit are in use. */
TEST(test_late)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry__maplet maplet = make(&memory);
    for (uint32_t value = 0; value < 20; value++) {
        assert_int_equal(bry__values_find_free(&maplet, 0, 16), value < 8    ? 8
                                                                : value < 16 ? value
                                                                             : 16);
        if (value >= 8)
            assert_int_equal(bry__values_use(&maplet, value, value), BRY_OK);
        put(&maplet, value, value + 1, value);
    }
    for (uint32_t value = 0; value < 20; value++)
        bry__values_kill(&maplet, value);
    assert_int_equal(bry__values_find_free(&maplet, 3, 16), 16);
    assert_int_equal(bry__values_find_free(&maplet, 16, BRY__NO_NAME), 20);
    bry__maplet_free(&maplet);
}

/* Names and counts are kept from the first value in use on, wherever that is, as more are used. */
TEST(test_few_values)
{
    const uint32_t all = 1u << BITS;
    for (uint32_t begin = 0; begin < all; begin++) {
        failing_allocator memory;
        failing_allocator_init(&memory);
        bry__maplet maplet, copy;
        bry__maplet_options options = {.capacity = 500, .error = 0.01, .value_bits = BITS};
        assert_true(bry__maplet_init(&maplet, &options, &memory.allocator));
        assert_int_equal(bry__single_begin(&maplet, false), BRY_OK);
        for (uint32_t i = 0; i < all + 4; i++) { /* the last ones are wider than names */
            uint32_t value = i < all ? (begin + i) % all : i, name = value % all;
            assert_false(bry__values_is_live(&maplet, value));
            bry_status status = BRY_E_NOMEM;
            for (memory.fail_at = 1; status != BRY_OK; memory.fail_at++) {
                failing_allocator_restart(&memory);
                status = bry__values_use(&maplet, value, name);
                check(&maplet);
            }
            memory.fail_at = 0;
            assert_true(bry__values_is_live(&maplet, value));
            put(&maplet, 20 * (uint64_t)i, 20 * (uint64_t)i + 20, value);
            check(&maplet);
            assert_true(maplet.values->room <= (i < all ? all : 2 * all));
            if (i == 0 || (i == 1 && begin < all - 1))
                assert_true(maplet.values->room - maplet.values->first <= 2);
            if (i % 5 == 4) { /* dead entries are reclaimed among them */
                bry__values_kill(&maplet, value);
                assert_int_equal(bry__single_reclaim_all(&maplet), BRY_OK);
                check(&maplet);
                assert_int_equal(bry__values_entries(&maplet, value), 0);
            }
        }
        assert_int_equal(bry__maplet_clone(&maplet, &copy, &memory.allocator), BRY_OK);
        check(&copy);
        assert_int_equal(digest(&copy), digest(&maplet));
        bry__maplet_free(&copy);
        bry__maplet_free(&maplet);
        assert_int_equal(memory.now, 0);
    }
}

TEST(test_aside)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    bry__maplet maplet = make(&memory);
    bry__aside *aside = NULL;
    put(&maplet, 0, 500, 1);
    put(&maplet, 500, 200000, 2);
    assert_int_equal(maplet.tables, 3);
    bry__values_kill(&maplet, 2);
    bry__aside_put_dead(&aside, &maplet); /* the live entries are in the first table */
    assert_int_equal(maplet.tables, 1);
    check(&maplet);
    assert_true(bry__maplet_count(&maplet) > 480);

    uint64_t before = digest(&maplet);
    assert_int_equal(bry__aside_put(&aside, &maplet), BRY_OK);
    assert_int_equal(maplet.tables, 0);
    assert_int_equal(bry__maplet_count(&maplet), 0);
    bry__aside_take_back(&aside, &maplet);
    assert_int_equal(digest(&maplet), before);
    check(&maplet);

    unsigned calls = 0;
    for (uint64_t last = UINT64_MAX; aside; calls++) {
        assert_int_equal(memory.now, bry__maplet_bytes(&maplet) + bry__aside_bytes(aside));
        assert_true(bry__aside_bytes(aside) < last);
        last = bry__aside_bytes(aside);
        bry__aside_free_some(&aside, 1);
    }
    assert_true(calls >= 3);
    bry__maplet_free(&maplet);
    assert_int_equal(memory.now, 0);
}
