/* The forgetful Bloom filter to the letter: Algorithm 3 step by step, and what it forgets. */
#include "papers/literal_fbf.h"

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/key_by_number.h"

static const bry__literal_options example = {
    .bits = 6250, .hashes = 5, .period = 11000, .target = 1e-3, .most = 24};

static void advance(bry__literal_fbf *fbf, uint64_t now, const bry_allocator *allocator)
{
    assert_int_equal(bry__literal_fbf_advance(fbf, now, allocator), BRY_OK);
}

/* Adds elements from first on, at the same time. */
static void add_many(bry__literal_fbf *fbf, uint64_t first, uint64_t count, uint64_t now,
                     const bry_allocator *allocator)
{
    bry_answer was;
    for (uint64_t i = first; i < first + count; i++)
        assert_int_equal(bry__literal_fbf_add(fbf, key(i), now, &was, allocator), BRY_OK);
}

static uint64_t found(const bry__literal_fbf *fbf, uint64_t first, uint64_t count)
{
    uint64_t in = 0;
    for (uint64_t i = first; i < first + count; i++)
        in += bry__literal_fbf_has(fbf, key(i));
    return in;
}

TEST(test_options)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__literal_options bad[] = {example, example, example, example, example};
    bad[0].bits = 0;
    bad[1].hashes = 0;
    bad[2].period = 999;
    bad[3].target = 1;
    bad[4].most = 2;
    bry__literal_fbf fbf;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(bry__literal_fbf_init(&fbf, &bad[i], &allocator), BRY_E_RANGE);
}

/* Three filters remember an element for two periods at least and three at most. */
TEST(test_window)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__literal_fbf fbf;
    assert_int_equal(bry__literal_fbf_init(&fbf, &example, &allocator), BRY_OK);
    add_many(&fbf, 0, 1, 0, &allocator); /* the start of a period: three of them */
    add_many(&fbf, 1, 1, 10999, &allocator); /* the end of it: two */
    advance(&fbf, 32999, &allocator);
    assert_int_equal(found(&fbf, 0, 2), 2);
    advance(&fbf, 33000, &allocator);
    assert_int_equal(found(&fbf, 0, 2), 0);
    assert_int_equal(fbf.count, 3); /* nothing to adapt to */
    assert_int_equal(fbf.period, 11000);
    bry__literal_fbf_free(&fbf, &allocator);
}

/* Doubling asks an empty filter alone, so what only the former oldest one has is not found. */
TEST(test_doubling_forgets)
{
    failing_allocator memory;
    failing_allocator_init(&memory);
    const bry_allocator *allocator = &memory.allocator;
    bry__literal_fbf fbf;
    assert_int_equal(bry__literal_fbf_init(&fbf, &example, allocator), BRY_OK);
    add_many(&fbf, 0, 150, 10000, allocator);
    advance(&fbf, 22500, allocator); /* in the oldest filter alone */
    assert_int_equal(found(&fbf, 0, 150), 150);
    add_many(&fbf, 1000, 400, 22600, allocator);
    assert_true(bry__literal_fbf_predicted(&fbf) >= 0.9e-3);
    assert_int_equal(fbf.count, 3);

    memory.fail_at = 1; /* none of the new filters; the second is judged again */
    failing_allocator_restart(&memory);
    assert_int_equal(bry__literal_fbf_advance(&fbf, 23000, allocator), BRY_E_NOMEM);
    assert_int_equal(fbf.count, 3);
    assert_int_equal(found(&fbf, 0, 150), 150);
    memory.fail_at = 0;
    advance(&fbf, 23000, allocator);
    assert_int_equal(fbf.count, 6);
    assert_int_equal(fbf.period, 10000);
    assert_true(found(&fbf, 0, 150) < 5); /* after 13 s, where (N + 1)·t is 22 s */
    assert_int_equal(found(&fbf, 1000, 400), 400);
    bry__literal_fbf_free(&fbf, allocator);
    assert_int_equal(memory.now, 0);
}

/* While the error stays, each second doubles, up to the limit; later one goes at a time. */
TEST(test_up_and_down)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__literal_fbf fbf;
    assert_int_equal(bry__literal_fbf_init(&fbf, &example, &allocator), BRY_OK);
    add_many(&fbf, 0, 700, 500, &allocator);
    static const uint32_t counts[] = {6, 12, 24, 24};
    for (unsigned i = 0; i < 4; i++) {
        advance(&fbf, 1000 * (i + 1), &allocator);
        assert_int_equal(fbf.count, counts[i]);
        assert_int_equal(fbf.period, 10000 - 1000 * i);
    }
    /* Refreshed after 6 s, since t is 6 s by then: future is empty, and the elements are in a pair. */
    advance(&fbf, 12000, &allocator);
    assert_true(fbf.filter[0].items == 0 && fbf.count > 3);
    uint32_t before = fbf.count;
    uint64_t period = fbf.period;
    bool down = bry__literal_fbf_predicted(&fbf) <= 1e-4;
    advance(&fbf, 13000, &allocator);
    assert_int_equal(fbf.count, down ? before - 1 : before);
    assert_int_equal(fbf.period, down ? period + 1000 : period);
    /* Everything is forgotten in the end, and three filters are left. */
    advance(&fbf, 1000000, &allocator);
    assert_int_equal(fbf.count, 3);
    assert_true(bry__literal_fbf_predicted(&fbf) <= 0);
    assert_int_equal(found(&fbf, 0, 700), 0);
    bry__literal_fbf_free(&fbf, &allocator);
}
