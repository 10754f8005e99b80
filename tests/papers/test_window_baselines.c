/* The windows that the library is compared with: RBF, a ring of plain filters, an exact window.
 * Figure 6.9 has what a counter behind each of them makes of retries. */
#include "bench/peers/exact_window.h"
#include "bench/peers/filter_ring.h"
#include "common/sizing.h"
#include "papers/rbf.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/generator.h"
#include "support/key_by_number.h"

#include <math.h>
#include <stdlib.h>

/* ---- RBF ----------------------------------------------------------------------------------- */

TEST(test_rbf)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    const bry_allocator *allocator = &memory.allocator;
    bry__rbf rbf;
    assert_int_equal(bry__rbf_init(&rbf, 0, 3, 0.01, allocator), BRY_E_RANGE);
    assert_int_equal(bry__rbf_init(&rbf, 1500, 0, 0.01, allocator), BRY_E_RANGE);
    assert_int_equal(bry__rbf_init(&rbf, 1500, 3, 1, allocator), BRY_E_RANGE);
    assert_int_equal(bry__rbf_init(&rbf, 1500, 3, 0.01, allocator), BRY_OK);
    /* The element that takes Eq. 4.1 beyond the target clears it. */
    uint64_t holds = (uint64_t)floor(bry__bloom_capacity(1500, 3, 0.01)), stored = 0;
    bry_answer was;
    for (uint64_t i = 0; rbf.cleared == 0; i++) {
        assert_int_equal(bry__rbf_add(&rbf, key(i), &was, allocator), BRY_OK);
        stored += was == BRY_ABSENT;
        if (rbf.cleared == 0) {
            assert_true(bry__rbf_has(&rbf, key(i)));
            assert_int_equal(rbf.items, stored);
            assert_true(bry__rbf_predicted(&rbf) <= 0.01);
        }
    }
    assert_int_equal(stored, holds + 1);
    for (uint64_t i = 0; i < stored; i++)
        assert_false(bry__rbf_has(&rbf, key(i)));
    assert_int_equal(rbf.items, 0);
    assert_int_equal(bry__rbf_bytes(&rbf), sizeof(void *));
    assert_int_equal(bry__rbf_add(&rbf, key(7), &was, allocator), BRY_OK);
    assert_int_equal(bry__rbf_add(&rbf, key(7), &was, allocator), BRY_OK);
    assert_int_equal(was, BRY_PRESENT);
    assert_int_equal(rbf.items, 1);
    assert_int_equal(bry__rbf_bytes(&rbf), memory.now);
    bry__rbf_free(&rbf, allocator);
    assert_int_equal(memory.now, 0);
}

/* ---- the ring ------------------------------------------------------------------------------ */

TEST(test_ring)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    const bry_allocator *allocator = &memory.allocator;
    bry__filter_ring ring = {0};
    assert_int_equal(bry__filter_ring_init(&ring, 1, 1000, 512, 3, allocator), BRY_E_RANGE);
    assert_int_equal(bry__filter_ring_init(&ring, 4, 0, 512, 3, allocator), BRY_E_RANGE);
    bry_status status = BRY_E_NOMEM;
    for (memory.fail_at = 1; status != BRY_OK; memory.fail_at++) {
        failing_allocator_restart(&memory);
        status = bry__filter_ring_init(&ring, 4, 1000, 1 << 16, 10, allocator);
        assert_true(status == BRY_OK || (status == BRY_E_NOMEM && memory.now == 0));
    }
    memory.fail_at = 0;
    bry_answer was;
    for (uint64_t i = 0; i < 2000; i++) { /* one per ten ms: 100 per period */
        uint64_t now = 5000 + 10 * i;
        assert_int_equal(bry__filter_ring_add(&ring, key(i), now, &was, allocator), BRY_OK);
        assert_int_equal(was, BRY_ABSENT);
        for (uint64_t j = i > 500 ? i - 500 : 0; j <= i; j++) {
            uint64_t periods = now / 1000 - (5000 + 10 * j) / 1000;
            assert_int_equal(bry__filter_ring_has(&ring, key(j)), periods < 4);
        }
    }
    assert_int_equal(bry__filter_ring_bytes(&ring), memory.now);
    assert_int_equal(bry__filter_ring_add(&ring, key(1999), 24990, &was, allocator), BRY_OK);
    assert_int_equal(was, BRY_PRESENT);
    bry__filter_ring_advance(&ring, 1000, allocator); /* back: nothing */
    assert_true(bry__filter_ring_has(&ring, key(1999)));
    bry__filter_ring_advance(&ring, UINT64_MAX, allocator);
    assert_false(bry__filter_ring_has(&ring, key(1999)));
    bry__filter_ring_free(&ring, allocator);
    assert_int_equal(memory.now, 0);
}

/* ---- the exact window ---------------------------------------------------------------------- */

TEST(test_exact)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    const bry_allocator *allocator = &memory.allocator;
    bry__exact_window exact;
    enum { IDS = 3000, WINDOW = 5000 };
    uint64_t *when = calloc(IDS, sizeof *when), now = 10, failed = 0; /* 0: not there */
    assert_int_equal(bry__exact_window_init(&exact, WINDOW, allocator), BRY_OK);
    generator from = {5};
    for (int step = 0; step < 200000; step++) {
        now += generator_below(&from, step / 20000 % 2 ? 20 : 2);
        uint64_t id = generator_below(&from, IDS);
        bool there = when[id] && when[id] + WINDOW >= now;
        bry_answer was = BRY_UNSURE;
        if (step % 997 == 0) { /* where it must grow, and cannot */
            failing_allocator_restart(&memory);
            memory.fail_at = 1 + generator_below(&from, 2);
        }
        bry_status status = bry__exact_window_add(&exact, key(id), now, &was, allocator);
        memory.fail_at = 0;
        if (status != BRY_OK) {
            assert_int_equal(status, BRY_E_NOMEM);
            failed++;
            continue;
        }
        assert_int_equal(was, there ? BRY_PRESENT : BRY_ABSENT);
        if (!there)
            when[id] = now;
        id = generator_below(&from, IDS);
        assert_int_equal(bry__exact_window_has(&exact, key(id)),
                         when[id] && when[id] + WINDOW >= now);
    }
    uint64_t items = 0;
    for (uint64_t i = 0; i < IDS; i++)
        items += when[i] && when[i] + WINDOW >= now;
    assert_int_equal(exact.items, items);
    assert_int_equal(bry__exact_window_bytes(&exact), memory.now);
    bry__exact_window_advance(&exact, now + 2 * WINDOW);
    assert_int_equal(exact.items, 0);
    bry__exact_window_free(&exact, allocator);
    assert_int_equal(memory.now, 0);
    free(when);
}
