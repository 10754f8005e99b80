/*
 * Operations on a const filter may run at the same time as each other. A thread sanitizer watches
 * (ctest label thread); without one the answers are compared all the same.
 */
#include "support/crew.h"
#include "support/filter_bits.h"
#include "support/generator.h"
#include "support/like.h"

enum { KEYS = 2000, ROUNDS = 6 };

typedef struct shared {
    crew crew;
    const bry_filter *filter;
    const bry_hash *hashes; /* the first half was added */
    const uint8_t *expected;
    bry_filter_stats stats;
    bry_buffer saved;
    const char *isa[CREW];
} shared;

static void *ask_isa(void *opaque)
{
    shared *all = opaque;
    unsigned number = crew_meet(&all->crew);
    all->isa[number] = bry_isa();
    return NULL;
}

/* Must be the first test of this program: nothing has asked for kernels before. */
static void test_first_use_of_the_kernels(void **state)
{
    (void)state;
    static shared all;
    crew_run(&all.crew, ask_isa, &all);
    for (int i = 0; i < CREW; i++)
        assert_string_equal(all.isa[i], bry_isa());
}

static bool same_stats(const bry_filter_stats *a, const bry_filter_stats *b)
{
    return a->items == b->items && a->fill == b->fill && a->bytes == b->bytes &&
           a->estimated_error == b->estimated_error && a->seed == b->seed;
}

static bool saves_alike(const shared *all)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    bool same = bry_filter_save(all->filter, &sink, NULL) == BRY_OK &&
                buffer.len == all->saved.len &&
                memcmp(buffer.bytes, all->saved.bytes, buffer.len) == 0;
    bry_buffer_free(&buffer);
    return same;
}

/* Thread 0 does one operation while thread 1 does the next, and so on around. */
static void *ask_everything(void *opaque)
{
    shared *all = opaque;
    unsigned number = crew_meet(&all->crew), wrong = 0;
    uint8_t answers[KEYS];
    for (unsigned round = 0; round < ROUNDS; round++) {
        bry_filter_stats stats = BRY_FILTER_STATS;
        bry_filter *made = NULL;
        bry_filter_options options;
        switch ((number + round) % 6) {
        case 0:
            for (int i = 0; i < KEYS; i++)
                wrong += bry_filter_has(all->filter, all->hashes[i]) != all->expected[i];
            break;
        case 1:
            bry_filter_has_n(all->filter, all->hashes, KEYS, answers);
            wrong += memcmp(answers, all->expected, KEYS) != 0;
            break;
        case 2:
            bry_filter_get_stats(all->filter, &stats);
            wrong += !same_stats(&stats, &all->stats);
            break;
        case 3:
            wrong += bry_filter_clone(all->filter, NULL, &made) != BRY_OK ||
                     !filter_same(all->filter, made);
            bry_filter_destroy(made);
            break;
        case 4:
            wrong += !saves_alike(all);
            break;
        default: /* as the source of a merge */
            options = filter_like(all->filter);
            wrong += options.seed != bry_filter_seed(all->filter) ||
                     bry_filter_create(&options, &made) != BRY_OK ||
                     bry_filter_merge(made, all->filter) != BRY_OK ||
                     !filter_same(all->filter, made);
            bry_filter_destroy(made);
        }
    }
    atomic_fetch_add(&all->crew.wrong, wrong);
    return NULL;
}

static void test_const_operations(void **state)
{
    (void)state;
    static bry_hash hashes[KEYS];
    static uint8_t expected[KEYS];
    static shared all;
    generator numbers = {71};
    for (int i = 0; i < KEYS; i++)
        hashes[i] = generator_hash(&numbers);
    /* Two pieces, of which one is short. */
    bry_filter_options options = BRY_FILTER_OPTIONS;
    options.capacity = 5000; /* which allows that many bits */
    options.bloom.bits = (uint64_t)BRY__PIECE_BYTES * 8 + 512 * 1000;
    options.bloom.hashes = 8;
    bry_filter *filter = NULL;
    assert_int_equal(bry_filter_create(&options, &filter), BRY_OK);
    assert_int_equal(bry_filter_add_n(filter, hashes, KEYS / 2, NULL), BRY_OK);

    all.filter = filter;
    all.hashes = hashes;
    all.expected = expected;
    for (int i = 0; i < KEYS; i++)
        expected[i] = (uint8_t)bry_filter_has(filter, hashes[i]);
    all.stats = (bry_filter_stats)BRY_FILTER_STATS;
    bry_filter_get_stats(filter, &all.stats);
    bry_sink sink = bry_buffer_sink(&all.saved);
    assert_int_equal(bry_filter_save(filter, &sink, NULL), BRY_OK);
    crew_run(&all.crew, ask_everything, &all);
    bry_buffer_free(&all.saved);
    bry_filter_destroy(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_use_of_the_kernels),
        cmocka_unit_test(test_const_operations),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
