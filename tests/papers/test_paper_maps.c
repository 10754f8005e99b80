/* kBF at the papers' levels, beside the library's cells; and sBF beside an exact twin. */
#include "papers/greedy.h"
#include "papers/paper_kbf.h"
#include "papers/sbf.h"

#include "map/kbf_cells.h"
#include "support/cmocka_all.h"
#include "support/generator.h"

#include <stdlib.h>

static bry_allocator heap;

static bry_hash key(uint64_t i)
{
    return bry_hash_key(1, &i, sizeof i);
}

static uint32_t code_of(uint64_t i, uint32_t codes)
{
    generator numbers = {i};
    return (uint32_t)generator_below(&numbers, codes);
}

enum { KEYS = 20000, CODES = 500, SEGMENT = 12000 };

/* The same cells and the same levels, written twice: key by key the same answers. */
static void test_levels_are_the_librarys(void **state)
{
    (void)state;
    bry__gf gf;
    assert_int_equal(bry__gf_init(&gf, 9, &heap), BRY_OK);
    bry__encoder encoder = bry__algebraic_encoder(&gf);
    bry__paper_kbf paper;
    bry__kbf like = {.gf = &gf, .hashes = 6, .unmasked = true, .segment = SEGMENT}, kbf;
    assert_int_equal(bry__paper_kbf_init(&paper, &encoder, 6, SEGMENT, &heap), BRY_OK);
    assert_int_equal(bry__kbf_init(&kbf, &like, &heap), BRY_OK);
    for (uint64_t i = 0; i < KEYS; i++) {
        bry_hash hash = key(i);
        bry__paper_kbf_insert(&paper, hash, code_of(i, CODES));
        assert_int_equal(bry__kbf_reach(&kbf, &hash, 1, &heap), BRY_OK);
        bry__kbf_insert(&kbf, hash, code_of(i, CODES));
    }
    uint64_t unsure[5] = {0};
    for (unsigned level = 1; level <= 3; level++)
        for (uint64_t i = 0; i < 2 * KEYS; i++) {
            uint32_t a = CODES, b = CODES;
            kbf.level = level;
            bry_answer answer =
                bry__paper_kbf_get(&paper, key(i), (bry__paper_level)level, CODES, &a);
            assert_int_equal(answer, bry__kbf_get(&kbf, key(i), CODES, &b));
            assert_int_equal(a, b);
            unsure[level] += answer == BRY_UNSURE && i < KEYS;
        }
    /* Each level knows more; the sets know at least what consistent decoding knows. */
    uint64_t consistent = 0;
    kbf.level = 4;
    for (uint64_t i = 0; i < KEYS; i++) {
        uint32_t a = CODES, b = CODES;
        bry_answer sets = bry__paper_kbf_get(&paper, key(i), BRY__PAPER_SETS, CODES, &a);
        bry_answer level4 = bry__kbf_get(&kbf, key(i), CODES, &b);
        assert_int_not_equal(sets, BRY_ABSENT);
        if (sets == BRY_PRESENT)
            assert_int_equal(a, code_of(i, CODES));
        if (level4 == BRY_PRESENT)
            assert_int_equal(sets, BRY_PRESENT);
        unsure[4] += sets == BRY_UNSURE;
        consistent += level4 == BRY_UNSURE;
    }
    assert_true(unsure[1] > unsure[2] && unsure[2] > unsure[3] && unsure[3] > unsure[4]);
    assert_true(unsure[4] > 0 && unsure[4] <= consistent);
    bry__paper_kbf_free(&paper, &heap);
    bry__kbf_free(&kbf, &heap);
    bry__gf_free(&gf, &heap);
}

/* With the papers' own encodings: nothing wrong, and updates and deletes that hold. */
static void test_greedy_map(void **state)
{
    (void)state;
    bry__greedy greedy;
    assert_int_equal(bry__greedy_search(&greedy, CODES, 0, &heap), BRY_OK);
    assert_int_equal(bry__greedy_index(&greedy, 1e-5), BRY_OK);
    bry__encoder encoder = bry__greedy_encoder(&greedy);
    bry__paper_kbf paper;
    enum { N = 3000 };
    assert_int_equal(bry__paper_kbf_init(&paper, &encoder, 6, N, &heap), BRY_OK);
    for (uint64_t i = 0; i < N; i++)
        bry__paper_kbf_insert(&paper, key(i), code_of(i, CODES));
    uint64_t unsure = 0;
    for (uint64_t i = 0; i < N; i++) {
        uint32_t code = CODES;
        bry_answer answer = bry__paper_kbf_get(&paper, key(i), BRY__PAPER_TRIPLES, CODES, &code);
        assert_int_not_equal(answer, BRY_ABSENT);
        unsure += answer == BRY_UNSURE;
        if (answer == BRY_UNSURE)
            continue;
        assert_int_equal(code, code_of(i, CODES));
        assert_int_equal(
            bry__paper_kbf_update(&paper, key(i), BRY__PAPER_TRIPLES, CODES, (uint32_t)i % 7),
            BRY_PRESENT);
    }
    assert_true(unsure < N / 50);
    uint64_t deleted = 0;
    for (uint64_t i = 0; i < N; i++)
        deleted += bry__paper_kbf_delete(&paper, key(i), BRY__PAPER_TRIPLES, CODES) == BRY_PRESENT;
    assert_int_equal(paper.items, N - deleted);
    bry__paper_kbf_free(&paper, &heap);

    encoder.bits = 30; /* a cell has 29 */
    assert_int_equal(bry__paper_kbf_init(&paper, &encoder, 6, N, &heap), BRY_E_RANGE);
    bry__greedy_free(&greedy);
}

/* ---- sBF ----------------------------------------------------------------------------------- */

static void test_sbf_cells(void **state)
{
    (void)state;
    bry__sbf sbf;
    assert_int_equal(bry__sbf_init(&sbf, 0, 10, &heap), BRY_E_RANGE);
    assert_int_equal(bry__sbf_init(&sbf, 2, UINT64_MAX, &heap), BRY_E_RANGE);
    assert_int_equal(bry__sbf_init(&sbf, 1, 1, &heap), BRY_OK); /* all keys in one cell */
    uint8_t got = 9;
    assert_int_equal(bry__sbf_get(&sbf, key(1), &got), BRY_ABSENT);
    bry__sbf_insert(&sbf, key(1), 3);
    assert_int_equal(bry__sbf_get(&sbf, key(1), &got), BRY_PRESENT);
    assert_int_equal(got, 3);
    bry__sbf_insert(&sbf, key(2), 3); /* the same state: still known */
    assert_int_equal(bry__sbf_get(&sbf, key(2), &got), BRY_PRESENT);
    bry__sbf_update(&sbf, key(2), 4); /* which of the two it was, the cell cannot tell */
    assert_int_equal(bry__sbf_get(&sbf, key(2), &got), BRY_UNSURE);
    bry__sbf_delete(&sbf, key(2));
    assert_int_equal(bry__sbf_get(&sbf, key(1), &got), BRY_UNSURE); /* and it stays so */
    bry__sbf_delete(&sbf, key(1));
    assert_int_equal(bry__sbf_get(&sbf, key(1), &got), BRY_ABSENT);
    bry__sbf_insert(&sbf, key(5), 4);
    assert_int_equal(bry__sbf_get(&sbf, key(5), &got), BRY_PRESENT);
    assert_int_equal(got, 4);
    assert_int_equal(sbf.items, 1);
    bry__sbf_free(&sbf, &heap);
}

/* A key that is there has its state or is unknown, whatever happens to others. */
static void test_sbf_against_twin(void **state)
{
    (void)state;
    enum { N = 2000, STATES = 11 };
    bry__sbf sbf;
    assert_int_equal(bry__sbf_init(&sbf, 7, 2000, &heap), BRY_OK);
    uint8_t twin[N] = {0}, got = 0;
    generator numbers = {4};
    uint64_t unsure = 0, asked = 0, live = 0;
    for (int step = 0; step < 40000; step++) {
        uint64_t i = generator_below(&numbers, N);
        uint8_t to = (uint8_t)(1 + generator_below(&numbers, STATES));
        if (!twin[i]) {
            if (live > N / 2)
                continue;
            bry__sbf_insert(&sbf, key(i), to);
            live++;
            twin[i] = to;
            continue;
        }
        bry_answer answer = bry__sbf_get(&sbf, key(i), &got);
        assert_int_not_equal(answer, BRY_ABSENT);
        if (answer == BRY_PRESENT)
            assert_int_equal(got, twin[i]);
        unsure += answer == BRY_UNSURE;
        asked++;
        if (generator_below(&numbers, 4)) {
            bry__sbf_update(&sbf, key(i), to);
            twin[i] = to;
        } else {
            bry__sbf_delete(&sbf, key(i));
            twin[i] = 0;
            live--;
        }
    }
    assert_int_equal(sbf.items, live);
    assert_true(unsure > 0 && unsure < asked / 4);
    bry__sbf_free(&sbf, &heap);
}

int main(void)
{
    heap = bry__allocator_or_default(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_are_the_librarys),
        cmocka_unit_test(test_greedy_map),
        cmocka_unit_test(test_sbf_cells),
        cmocka_unit_test(test_sbf_against_twin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
