/* Decoding the cells of a kbf table, and the algebra of whole tables, bit by bit. The model of maps
 * tests the rest. */
#include "map/kbf/kbf_cells.h"

#include "support/cmocka_all.h"
#include "support/generator.h"
#include "support/key_by_number.h"

#include <stdlib.h>
#include <string.h>

static bry_allocator heap;
static bry__gf gf8, gf14;

static int set_up(void **state)
{
    (void)state;
    heap = bry__allocator_or_default(NULL);
    return bry__gf_init(&gf8, 8, &heap) != BRY_OK || bry__gf_init(&gf14, 14, &heap) != BRY_OK;
}

static int tear_down(void **state)
{
    (void)state;
    bry__gf_free(&gf8, &heap);
    bry__gf_free(&gf14, &heap);
    return 0;
}

static bry__kbf make(const bry__gf *gf, unsigned hashes, uint64_t segment)
{
    bry__kbf like = {.gf = gf, .hashes = hashes, .segment = segment}, kbf;
    assert_int_equal(bry__kbf_init(&kbf, &like, &heap), BRY_OK);
    return kbf;
}

static void insert(bry__kbf *kbf, bry_hash hash, uint32_t code)
{
    assert_int_equal(bry__kbf_reach(kbf, &hash, 1, &heap), BRY_OK);
    bry__kbf_add(kbf, hash, code);
}

static size_t bytes_of(const bry__kbf *kbf)
{
    return (size_t)(kbf->hashes * kbf->segment) * sizeof(uint32_t);
}

/* The cells as one array; free() it. */
static uint32_t *cells_of(const bry__kbf *kbf)
{
    unsigned char *cells = calloc(1, bytes_of(kbf));
    assert_non_null(cells);
    for (size_t i = 0; i < kbf->cells.count; i++)
        if (kbf->cells.piece[i])
            memcpy(cells + (i << BRY__KBF_PIECE_SHIFT), kbf->cells.piece[i],
                   bry__piece_size(&kbf->cells, i));
    return (uint32_t *)(void *)cells;
}

static bool same(const bry__kbf *a, const bry__kbf *b)
{
    uint32_t *x = cells_of(a), *y = cells_of(b);
    bool equal = a->hashes == b->hashes && a->segment == b->segment && a->items == b->items &&
                 memcmp(a->counts, b->counts, sizeof a->counts) == 0 &&
                 memcmp(x, y, bytes_of(a)) == 0;
    free(x);
    free(y);
    return equal;
}

static bry__kbf copy_of(const bry__kbf *kbf)
{
    bry__kbf copy;
    assert_int_equal(bry__kbf_init(&copy, kbf, &heap), BRY_OK);
    assert_int_equal(bry__kbf_merge(&copy, kbf, 0, &heap), BRY_OK);
    assert_true(same(&copy, kbf));
    return copy;
}

/* bry__kbf_check() recounts, and must get the numbers that were counted with each change. */
static void check(bry__kbf *kbf)
{
    uint64_t counts[8];
    memcpy(counts, kbf->counts, sizeof counts);
    const char *problem = bry__kbf_check(kbf);
    if (problem)
        fail_msg("%s", problem);
    assert_memory_equal(counts, kbf->counts, sizeof counts);
}

/* ---- single keys --------------------------------------------------------------------------- */

TEST(test_one_key)
{
    bry__kbf kbf = make(&gf14, 5, 100);
    uint32_t code = 7;
    assert_int_equal(bry__kbf_get(&kbf, key(1), 16383, &code), BRY_ABSENT);
    assert_int_equal(code, 7);
    insert(&kbf, key(1), 16382);
    assert_int_equal(kbf.counts[1], 5);
    assert_int_equal(kbf.items, 1);
    assert_int_equal(bry__kbf_get(&kbf, key(1), 16383, &code), BRY_PRESENT);
    assert_int_equal(code, 16382);
    /* A code that is not assigned is no candidate. */
    assert_int_equal(bry__kbf_get(&kbf, key(1), 16382, &code), BRY_ABSENT);
    assert_true(bry__kbf_may_hold(&kbf, key(1), 16382));
    assert_false(bry__kbf_may_hold(&kbf, key(1), 16381));
    assert_false(bry__kbf_may_hold(&kbf, key(2), 16382));
    bry__kbf_replace(&kbf, key(1), 16382, 0);
    assert_int_equal(bry__kbf_get(&kbf, key(1), 1, &code), BRY_PRESENT);
    assert_int_equal(code, 0);
    bry__kbf_take(&kbf, key(1), 0, 0);
    assert_int_equal(kbf.counts[0], 500);
    assert_int_equal(bry__kbf_get(&kbf, key(1), 1, &code), BRY_ABSENT);
    check(&kbf);
    bry__kbf_free(&kbf, &heap);
}

TEST(test_masks_differ)
{
    uint32_t first = 0;
    unsigned equal = 0;
    for (uint64_t i = 0; i < 200; i++) {
        bry__kbf kbf = make(&gf14, 1, 1);
        insert(&kbf, key(i), 5);
        uint32_t *cells = cells_of(&kbf);
        if (i == 0)
            first = cells[0];
        equal += cells[0] == first;
        free(cells);
        bry__kbf_free(&kbf, &heap);
    }
    assert_int_equal(equal, 1);
}

/* Cells of two keys each: two such cells decide, one never does. */
TEST(test_decoding_from_pairs)
{
    uint32_t a = bry__gf_encode(&gf14, 11), b = bry__gf_encode(&gf14, 12),
             c = bry__gf_encode(&gf14, 13), d = bry__gf_encode(&gf14, 14), code = 99;
    uint32_t cells[3] = {(a ^ b) << 3 | 2, (a ^ c) << 3 | 2, (a ^ b ^ d) << 3 | 3};
    bry__kbf_question question = {&gf14, cells, 2, 0, 100};
    assert_int_equal(bry__kbf_decode(&question, &code), BRY_PRESENT);
    assert_int_equal(code, 10);
    question.n = 1;
    code = 99;
    assert_int_equal(bry__kbf_decode(&question, &code), BRY_UNSURE);
    uint32_t found[2];
    assert_int_equal(bry__kbf_candidates(&question, found), 2);
    assert_true((found[0] == 10 && found[1] == 11) || (found[0] == 11 && found[1] == 10));
    /* The same pair again gives no information. */
    cells[1] = cells[0];
    question.n = 2;
    assert_int_equal(bry__kbf_decode(&question, &code), BRY_UNSURE);
    /* Nor does a triple that has both of the pair. */
    cells[1] = cells[2];
    assert_int_equal(bry__kbf_decode(&question, &code), BRY_UNSURE);
    assert_int_equal(code, 99);
    /* Equal encodings cancel: no clue at all, but a clue elsewhere is enough. */
    cells[0] = cells[1] = 2;
    assert_int_equal(bry__kbf_candidates(&question, found), -1);
    cells[1] = a << 3 | 1;
    assert_int_equal(bry__kbf_decode(&question, &code), BRY_PRESENT);
    assert_int_equal(code, 10);
    /* Cells that contradict each other: the key is not there. */
    cells[0] = b << 3 | 1;
    assert_int_equal(bry__kbf_decode(&question, &code), BRY_ABSENT);
}

/* A triple decides between two candidates if it can contain only one of them. */
TEST(test_decoding_with_triples)
{
    generator numbers = {3};
    unsigned decided = 0, trials = 20000;
    for (unsigned i = 0; i < trials; i++) {
        uint32_t x[4], e[4], code = 0;
        for (int j = 0; j < 4; j++) {
            x[j] = 1 + (uint32_t)generator_below(&numbers, gf14.order);
            e[j] = bry__gf_encode(&gf14, x[j]);
        }
        uint32_t cells[2] = {(e[0] ^ e[1]) << 3 | 2, (e[0] ^ e[2] ^ e[3]) << 3 | 3};
        bry__kbf_question question = {&gf14, cells, 2, 0, gf14.order};
        bry_answer answer = bry__kbf_decode(&question, &code);
        assert_int_not_equal(answer, BRY_ABSENT);
        if (answer == BRY_PRESENT) {
            assert_int_equal(code + 1, x[0]);
            decided++;
        }
    }
    assert_true(decided > trials * 45 / 100 && decided < trials * 55 / 100);
}

/* ---- counters that stop -------------------------------------------------------------------- */

TEST(test_crowded_cells_stick)
{
    bry__kbf kbf = make(&gf8, 3, 4);
    uint32_t stuck[20];
    for (uint64_t i = 0; i < 20; i++) {
        bry_hash hash = key(i);
        assert_int_equal(bry__kbf_reach(&kbf, &hash, 1, &heap), BRY_OK);
        bry__kbf before = copy_of(&kbf);
        stuck[i] = bry__kbf_add(&kbf, hash, (uint32_t)i);
        /* Undone at once, to the bit. */
        bry__kbf_take(&kbf, hash, (uint32_t)i, stuck[i]);
        assert_true(same(&kbf, &before));
        assert_int_equal(bry__kbf_add(&kbf, hash, (uint32_t)i), stuck[i]);
        bry__kbf_free(&before, &heap);
        check(&kbf);
    }
    assert_true(kbf.counts[7] > 0 && kbf.items == 20);
    uint64_t was = kbf.counts[7];
    bry__kbf all = copy_of(&kbf);
    for (uint64_t i = 20; i-- > 0;) /* without the hint, they stay stuck */
        bry__kbf_take(&kbf, key(i), (uint32_t)i, 0);
    assert_int_equal(kbf.counts[7], was);
    assert_int_equal(kbf.counts[0] + was, 12);
    for (uint64_t i = 20; i-- > 0;) /* with it, undoing all leaves nothing */
        bry__kbf_take(&all, key(i), (uint32_t)i, stuck[i]);
    assert_int_equal(all.counts[0], 12);
    bry__kbf_clear(&kbf, &heap);
    assert_true(same(&kbf, &all));
    bry__kbf_free(&kbf, &heap);
    bry__kbf_free(&all, &heap);
}

/* ---- whole tables -------------------------------------------------------------------------- */

static bry__kbf filled(uint64_t segment, uint64_t from, uint64_t n)
{
    bry__kbf kbf = make(&gf14, 6, segment);
    for (uint64_t i = from; i < from + n; i++)
        insert(&kbf, key(i), (uint32_t)(i % 3000));
    return kbf;
}

static void add(bry__kbf *into, const bry__kbf *from, unsigned shift)
{
    assert_int_equal(bry__kbf_merge(into, from, shift, &heap), BRY_OK);
    check(into);
}

/* (a + b) + c, a + (c + b), and one table with everything have the same cells, even if counters
 * saturate. */
TEST(test_merge_is_commutative_and_associative)
{
    for (uint64_t segment = 64; segment <= 4096; segment *= 8) {
        bry__kbf a = filled(segment, 0, 900), b = filled(segment, 1000, 500),
                 c = filled(segment, 2000, 700), all = filled(segment, 0, 900);
        for (uint64_t i = 1000; i < 1500; i++)
            insert(&all, key(i), (uint32_t)(i % 3000));
        for (uint64_t i = 2000; i < 2700; i++)
            insert(&all, key(i), (uint32_t)(i % 3000));
        bry__kbf left = copy_of(&a), right = copy_of(&c);
        add(&left, &b, 0);
        add(&left, &c, 0);
        add(&right, &b, 0);
        add(&right, &a, 0);
        assert_true(same(&left, &right));
        assert_true(same(&left, &all));
        assert_int_equal(left.counts[7] > 0, segment < 4096);
        /* Subtracting a part gives the rest, if nothing saturated. */
        if (segment == 4096) {
            for (uint64_t i = 1000; i < 1500; i++)
                bry__kbf_take(&left, key(i), (uint32_t)(i % 3000), 0);
            bry__kbf rest = copy_of(&a);
            add(&rest, &c, 0);
            assert_true(same(&left, &rest));
            bry__kbf_free(&rest, &heap);
        }
        bry__kbf *every[] = {&a, &b, &c, &all, &left, &right};
        for (int i = 0; i < 6; i++)
            bry__kbf_free(every[i], &heap);
    }
}

/* A folded table equals a table built with half as many cells. */
TEST(test_fold_lands_where_the_hash_does)
{
    bry__kbf large = filled(7 * 1024, 0, 1500);
    for (unsigned shift = 1; shift <= 10; shift++) {
        bry__kbf small = filled((uint64_t)7 * 1024 >> shift, 0, 1500),
                 folded = make(&gf14, 6, (uint64_t)7 * 1024 >> shift);
        add(&folded, &large, shift);
        assert_true(same(&small, &folded));
        bry__kbf_free(&small, &heap);
        bry__kbf_free(&folded, &heap);
    }
    bry__kbf_free(&large, &heap);
}

/* The same with several pieces, some of them missing. */
TEST(test_many_pieces)
{
    uint64_t segment = 700000; /* six segments, a little over 1025 pieces */
    bry__kbf large = make(&gf14, 6, segment), small = make(&gf14, 6, segment / 2);
    assert_int_equal(large.cells.count, 1026);
    for (uint64_t i = 0; i < 3; i++) {
        insert(&large, key(i), (uint32_t)i);
        insert(&small, key(i), (uint32_t)i);
    }
    assert_in_range(large.cells.present, 6, 18); /* only pieces that keys use are cleared */
    bry__kbf folded = make(&gf14, 6, segment / 2), copy = copy_of(&large);
    add(&folded, &large, 1);
    assert_true(same(&folded, &small));
    check(&large);
    bry__kbf *every[] = {&large, &small, &folded, &copy};
    for (int i = 0; i < 4; i++)
        bry__kbf_free(every[i], &heap);
}

/* What bry__kbf_check() refuses. */
TEST(test_check_sees_what_is_wrong)
{
    bry__kbf kbf = make(&gf14, 6, 500);
    bry_hash hash = key(1);
    insert(&kbf, hash, 5);
    uint32_t *cells = (uint32_t *)(void *)kbf.cells.piece[0], *one = cells;
    while (*one == 0)
        one++;
    uint32_t *empty = one + 1;
    assert_int_equal(*empty, 0);
    uint32_t good = *one, triple = bry__gf_encode(&gf14, 1) ^ bry__gf_encode(&gf14, 2) ^
                                   bry__gf_encode(&gf14, 3);
    assert_false(bry__gf_is_two(&gf14, triple));
    uint32_t wrong[] = {good ^ 8, /* not an encoding */
                        1, /* one key, nothing in it */
                        good ^ 1u << 31, /* beyond the field */
                        good & ~(uint32_t)7, /* content without a key */
                        good + 1, /* a single encoding under a count of two */
                        triple << 3 | 2,
                        3 /* three keys never give zero */};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        *one = wrong[i];
        assert_non_null(bry__kbf_check(&kbf));
    }
    *one = good;
    assert_null(bry__kbf_check(&kbf));
    kbf.items = 2;
    assert_non_null(bry__kbf_check(&kbf));
    kbf.items = 1;
    *empty = good;
    assert_non_null(bry__kbf_check(&kbf));
    *empty = BRY__KBF_STUCK; /* then the sum of that segment cannot be told */
    assert_null(bry__kbf_check(&kbf));
    assert_int_equal(kbf.counts[7], 1);
    bry__kbf_free(&kbf, &heap);
}

int main(void)
{
    return run_all_tests(set_up, tear_down);
}
