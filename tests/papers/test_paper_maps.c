/* kBF at the papers' levels, compared with the library's cells; and sBF compared with an exact
 * twin. */
#include "papers/paper_kbf.h"
#include "papers/sbf.h"

#include "map/kbf/kbf_cells.h"
#include "support/cmocka_all.h"
#include "support/generator.h"
#include "support/key_by_number.h"

#include <stdlib.h>

static bry_allocator heap;

static uint32_t code_of(uint64_t i, uint32_t codes)
{
    generator numbers = {i};
    return (uint32_t)generator_below(&numbers, codes);
}

enum { KEYS = 20000, CODES = 500, SEGMENT = 12000 };

static bry__paper_kbf paper_of(const bry__gf *gf, unsigned hashes, uint64_t segment, bool masked)
{
    bry__encoder encoder = bry__algebraic_encoder(gf);
    bry__paper_kbf paper;
    assert_int_equal(bry__paper_kbf_init(&paper, &encoder, hashes, segment, &heap), BRY_OK);
    paper.gf = gf;
    paper.masked = masked;
    return paper;
}

static bry_answer ask(const bry__paper_kbf *paper, bry__paper_level level, uint32_t *code)
{
    *code = 99;
    return bry__paper_kbf_get(paper, key(1), level, 100, code);
}

/* The answer of each level for two cells with these contents. */
TEST(test_levels_cell_by_cell)
{
    bry__gf gf;
    assert_int_equal(bry__gf_init(&gf, 14, &heap), BRY_OK);
    bry__paper_kbf paper = paper_of(&gf, 2, 1, false); /* all keys in the same two cells */
    uint32_t a = bry__gf_encode(&gf, 11), b = bry__gf_encode(&gf, 12), c = bry__gf_encode(&gf, 13),
             d = bry__gf_encode(&gf, 14), code;
    paper.cells[0] = (a ^ b) << 3 | 2;
    assert_int_equal(ask(&paper, BRY__PAPER_CONSISTENT, &code), BRY_ABSENT); /* one is empty */
    assert_int_equal(ask(&paper, BRY__PAPER_ONES, &code), BRY_ABSENT);
    paper.cells[1] = (a ^ c) << 3 | 2; /* two pairs that share one */
    assert_int_equal(ask(&paper, BRY__PAPER_ONES, &code), BRY_UNSURE);
    assert_int_equal(code, 99);
    for (int level = BRY__PAPER_PAIRS; level <= BRY__PAPER_CONSISTENT; level++) {
        assert_int_equal(ask(&paper, (bry__paper_level)level, &code), BRY_PRESENT);
        assert_int_equal(code, 10);
    }
    paper.cells[1] = (a ^ b) << 3 | 2; /* the same pair again */
    for (int level = BRY__PAPER_ONES; level <= BRY__PAPER_CONSISTENT; level++)
        assert_int_equal(ask(&paper, (bry__paper_level)level, &code), BRY_UNSURE);
    paper.cells[1] = (a ^ b ^ d) << 3 | 3; /* a triple that has both */
    for (int level = BRY__PAPER_ONES; level <= BRY__PAPER_CONSISTENT; level++)
        assert_int_equal(ask(&paper, (bry__paper_level)level, &code), BRY_UNSURE);
    paper.cells[1] = b << 3 | 1; /* contradictions: the papers use the first cell with one key */
    paper.cells[0] = a << 3 | 1;
    assert_int_equal(ask(&paper, BRY__PAPER_CONSISTENT, &code), BRY_ABSENT);
    assert_int_equal(ask(&paper, BRY__PAPER_ONES, &code), BRY_PRESENT);
    assert_int_equal(code, 10);
    /* A triple that has one of the pair: decided every other time, by level 3 and consistent
     * decoding. */
    generator numbers = {3};
    unsigned third = 0;
    enum { TRIALS = 2000 };
    for (unsigned i = 0; i < TRIALS; i++) {
        uint32_t e[4];
        for (int j = 0; j < 4; j++)
            e[j] = bry__gf_encode(&gf, 1 + (uint32_t)generator_below(&numbers, 100));
        if (e[0] == e[1] || e[2] == e[3] || e[0] == e[2] || e[0] == e[3])
            continue;
        paper.cells[0] = (e[0] ^ e[1]) << 3 | 2;
        paper.cells[1] = (e[0] ^ e[2] ^ e[3]) << 3 | 3;
        assert_int_equal(ask(&paper, BRY__PAPER_PAIRS, &code), BRY_UNSURE);
        if (ask(&paper, BRY__PAPER_TRIPLES, &code) == BRY_PRESENT) {
            third++;
            assert_int_equal(code + 1, bry__gf_decode(&gf, e[0]));
            assert_int_equal(ask(&paper, BRY__PAPER_CONSISTENT, &code), BRY_PRESENT);
            assert_int_equal(code + 1, bry__gf_decode(&gf, e[0]));
        }
    }
    assert_true(third > TRIALS * 4 / 10 && third < TRIALS * 6 / 10);
    bry__paper_kbf_free(&paper, &heap);
    bry__gf_free(&gf, &heap);
}

/* Masked and decoded consistently it equals the library's table: the same answer for every key. And
 * each level decodes more than the one before. */
TEST(test_levels_beside_the_library)
{
    bry__gf gf;
    assert_int_equal(bry__gf_init(&gf, 9, &heap), BRY_OK);
    bry__paper_kbf masked = paper_of(&gf, 6, SEGMENT, true),
                   plain = paper_of(&gf, 6, SEGMENT, false);
    bry__kbf like = {.gf = &gf, .hashes = 6, .segment = SEGMENT}, kbf;
    assert_int_equal(bry__kbf_init(&kbf, &like, &heap), BRY_OK);
    for (uint64_t i = 0; i < KEYS; i++) {
        bry_hash hash = key(i);
        bry__paper_kbf_insert(&masked, hash, code_of(i, CODES));
        bry__paper_kbf_insert(&plain, hash, code_of(i, CODES));
        assert_int_equal(bry__kbf_reach(&kbf, &hash, 1, &heap), BRY_OK);
        bry__kbf_add(&kbf, hash, code_of(i, CODES));
    }
    for (int which = 0; which < 2; which++) {
        const bry__paper_kbf *paper = which ? &masked : &plain;
        uint64_t unsure[BRY__PAPER_CONSISTENT + 1] = {0};
        for (uint64_t i = 0; i < KEYS; i++) {
            bry_answer said[BRY__PAPER_CONSISTENT + 1] = {BRY_ABSENT};
            for (int level = BRY__PAPER_ONES; level <= BRY__PAPER_CONSISTENT; level++) {
                if (which && level == BRY__PAPER_SETS)
                    continue;
                uint32_t code = CODES;
                said[level] =
                    bry__paper_kbf_get(paper, key(i), (bry__paper_level)level, CODES, &code);
                assert_int_not_equal(said[level], BRY_ABSENT);
                if (said[level] == BRY_PRESENT)
                    assert_int_equal(code, code_of(i, CODES));
                unsure[level] += said[level] == BRY_UNSURE;
            }
            /* The sets decode at least what consistent decoding does. */
            if (!which && said[BRY__PAPER_CONSISTENT] == BRY_PRESENT)
                assert_int_equal(said[BRY__PAPER_SETS], BRY_PRESENT);
        }
        assert_true(unsure[1] > unsure[2] && unsure[2] > unsure[3] && unsure[3] > unsure[5]);
        assert_true(unsure[5] > 0 && unsure[4] <= unsure[5]);
    }
    for (uint64_t i = 0; i < 2 * KEYS; i++) {
        uint32_t a = CODES, b = CODES;
        bry_answer answer = bry__kbf_get(&kbf, key(i), CODES, &a);
        assert_int_equal(bry__paper_kbf_get(&masked, key(i), BRY__PAPER_CONSISTENT, CODES, &b),
                         answer);
        assert_int_equal(a, b);
    }
    bry__paper_kbf_free(&masked, &heap);
    bry__paper_kbf_free(&plain, &heap);
    bry__kbf_free(&kbf, &heap);
    bry__gf_free(&gf, &heap);
}

TEST(test_encodings_that_do_not_fit)
{
    bry__gf gf;
    assert_int_equal(bry__gf_init(&gf, 9, &heap), BRY_OK);
    bry__encoder encoder = bry__algebraic_encoder(&gf);
    bry__paper_kbf paper;
    encoder.bits = 30; /* a cell has 29 */
    assert_int_equal(bry__paper_kbf_init(&paper, &encoder, 6, 3000, &heap), BRY_E_RANGE);
    bry__gf_free(&gf, &heap);
}

/* Joined or folded tables equal one that was filled with all pairs. */
TEST(test_join_and_fold)
{
    enum { N = 2000 };
    bry__gf gf;
    assert_int_equal(bry__gf_init(&gf, 9, &heap), BRY_OK);
    bry__paper_kbf all = paper_of(&gf, 5, N, false), half = paper_of(&gf, 5, N, false),
                   other = paper_of(&gf, 5, N, false), wide = paper_of(&gf, 5, 2 * N, false),
                   folded = paper_of(&gf, 5, N, false);
    for (uint64_t i = 0; i < N; i++) {
        bry__paper_kbf_insert(&all, key(i), code_of(i, CODES));
        bry__paper_kbf_insert(i % 3 ? &half : &other, key(i), code_of(i, CODES));
        bry__paper_kbf_insert(&wide, key(i), code_of(i, CODES));
    }
    bry__paper_kbf_join(&half, &other, 0);
    bry__paper_kbf_join(&folded, &wide, 1);
    const bry__paper_kbf *made[] = {&half, &folded};
    for (int which = 0; which < 2; which++) {
        assert_int_equal(made[which]->items, N);
        assert_memory_equal(made[which]->cells, all.cells, 5 * N * sizeof *all.cells);
    }
    for (int i = 0; i < 4; i++) /* counters stick */
        bry__paper_kbf_join(&all, &other, 0);
    bry__paper_kbf_join(&all, &all, 0);
    unsigned most = 0;
    for (uint64_t i = 0; i < (uint64_t)5 * N; i++)
        if (bry__cell_count(all.cells[i]) > most)
            most = bry__cell_count(all.cells[i]);
    assert_int_equal(most, BRY__KBF_STUCK);
    bry__paper_kbf *tables[] = {&all, &half, &other, &wide, &folded};
    for (int i = 0; i < 5; i++)
        bry__paper_kbf_free(tables[i], &heap);
    bry__gf_free(&gf, &heap);
}

/* As long as the key can be decoded, an update to the letter is an update. Otherwise it damages what
 * is there, but never touches an empty cell. */
TEST(test_update_to_the_letter)
{
    bry__gf gf;
    assert_int_equal(bry__gf_init(&gf, 9, &heap), BRY_OK);
    bry__paper_kbf paper = paper_of(&gf, 2, 1, false); /* all keys in the same two cells */
    uint32_t code;
    bry__paper_kbf_insert(&paper, key(1), 10);
    bry__paper_kbf_update_blindly(&paper, key(1), BRY__PAPER_TRIPLES, 100, 11);
    assert_int_equal(ask(&paper, BRY__PAPER_TRIPLES, &code), BRY_PRESENT);
    assert_int_equal(code, 11);
    bry__paper_kbf_insert(&paper, key(2), 12); /* neither can be decoded now */
    bry__paper_kbf_update_blindly(&paper, key(1), BRY__PAPER_TRIPLES, 100, 13);
    uint32_t sum = bry__gf_encode(&gf, 12) ^ bry__gf_encode(&gf, 13) ^ bry__gf_encode(&gf, 14);
    assert_int_equal(paper.cells[0], sum << 3 | 2);
    assert_int_equal(paper.cells[1], paper.cells[0]);
    paper.cells[0] = paper.cells[1] = 0;
    bry__paper_kbf_update_blindly(&paper, key(1), BRY__PAPER_TRIPLES, 100, 13);
    assert_int_equal(paper.cells[0], 0);
    bry__paper_kbf_free(&paper, &heap);
    bry__gf_free(&gf, &heap);
}

/* ---- sBF ----------------------------------------------------------------------------------- */

TEST(test_sbf_cells)
{
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
    bry__sbf_update(&sbf, key(2), 4); /* the cell does not know which of the two it was */
    assert_int_equal(bry__sbf_get(&sbf, key(2), &got), BRY_UNSURE);
    bry__sbf_delete(&sbf, key(2));
    assert_int_equal(bry__sbf_get(&sbf, key(1), &got), BRY_UNSURE); /* and it stays so */
    bry__sbf_delete(&sbf, key(1));
    assert_int_equal(bry__sbf_get(&sbf, key(1), &got), BRY_ABSENT);
    bry__sbf_insert(&sbf, key(5), 4);
    assert_int_equal(bry__sbf_get(&sbf, key(5), &got), BRY_PRESENT);
    assert_int_equal(got, 4);
    assert_int_equal(sbf.items, 1);
    sbf.for_good = true;
    bry__sbf_insert(&sbf, key(6), 3);
    bry__sbf_delete(&sbf, key(6));
    bry__sbf_update(&sbf, key(5), 4);
    assert_int_equal(bry__sbf_get(&sbf, key(5), &got), BRY_UNSURE);
    bry__sbf_delete(&sbf, key(5));
    bry__sbf_insert(&sbf, key(7), 4);
    assert_int_equal(bry__sbf_get(&sbf, key(7), &got), BRY_UNSURE);
    bry__sbf_free(&sbf, &heap);
}

/* A present key has its state or is unknown, whatever happens to others. */
TEST(test_sbf_against_twin)
{
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
    return run_all_tests(NULL, NULL);
}
