/*
 * Operations on a const index may run at the same time as each other. A thread sanitizer watches
 * (ctest label thread); without one the answers are compared all the same.
 */
#include "support/index_helpers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { THREADS = 6, ELEMENTS = 1200, ROUNDS = 4, ROOM = 8 };

typedef struct shared {
    const bry_index *index;
    const bry_hash *hashes;
    uint8_t has[ELEMENTS];
    size_t total[ELEMENTS];
    uint32_t units[ELEMENTS * ROOM];
    bry_buffer saved;
    pthread_barrier_t start;
    atomic_uint wrong, next;
} shared;

static bool saves_alike(const shared *all)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    bool same = bry_index_save(all->index, &sink, NULL) == BRY_OK && buffer.len == all->saved.len &&
                memcmp(buffer.bytes, all->saved.bytes, buffer.len) == 0;
    bry_buffer_free(&buffer);
    return same;
}

static bool ask(const shared *all, unsigned what)
{
    static const size_t size = ELEMENTS * ROOM * sizeof(uint32_t);
    uint8_t has[ELEMENTS];
    size_t total[ELEMENTS];
    bool right = true;
    bry_index_stats stats = BRY_INDEX_STATS;
    bry_index_unit info = BRY_INDEX_UNIT;
    uint32_t units[ROOM], *many = malloc(size);
    switch (what % 6) {
    case 0:
        bry_index_has_n(all->index, all->hashes, ELEMENTS, has);
        right = memcmp(has, all->has, sizeof has) == 0;
        break;
    case 1:
        memset(many, 0xee, size);
        bry_index_locate_n(all->index, all->hashes, ELEMENTS, many, ROOM, total);
        right = memcmp(total, all->total, sizeof total) == 0 && memcmp(many, all->units, size) == 0;
        break;
    case 2:
        for (int i = 0; i < ELEMENTS; i++)
            right = right && bry_index_has(all->index, all->hashes[i]) == all->has[i];
        break;
    case 3:
        for (int i = 0; i < ELEMENTS; i++)
            right =
                right && bry_index_locate(all->index, all->hashes[i], units, ROOM) == all->total[i];
        break;
    case 4:
        bry_index_get_stats(all->index, &stats);
        right = bry_index_units(all->index, units, ROOM) == stats.units &&
                bry_index_get_unit(all->index, units[0], &info) == BRY_OK;
        break;
    default:
        right = saves_alike(all);
        break;
    }
    free(many);
    return right;
}

/* Thread 0 does one operation while thread 1 does the next, and so on around. */
static void *ask_everything(void *opaque)
{
    shared *all = opaque;
    unsigned number = atomic_fetch_add(&all->next, 1);
    pthread_barrier_wait(&all->start);
    for (unsigned i = 0; i < ROUNDS * 6; i++)
        if (!ask(all, number + i))
            atomic_fetch_add(&all->wrong, 1);
    return NULL;
}

static void test_readers_side_by_side(void **state)
{
    (void)state;
    for (int e = 0; e < INDEX_ENGINES; e++) {
        static shared all;
        static bry_hash hashes[ELEMENTS];
        memset(&all, 0, sizeof all);
        bry_index *index = exact(index_engines[e], 6, 100);
        add_many(index, 0, 700, BRY_INDEX_NEWEST);
        for (uint32_t i = 0; i < 12; i++)
            add_many(index, 0, 3, open_unit(index, i));
        assert_int_equal(bry_index_drop(index, 1), BRY_OK);
        for (uint64_t i = 0; i < ELEMENTS; i++)
            hashes[i] = element(i);
        all.index = index;
        all.hashes = hashes;
        memset(all.units, 0xee, sizeof all.units);
        bry_index_has_n(index, hashes, ELEMENTS, all.has);
        bry_index_locate_n(index, hashes, ELEMENTS, all.units, ROOM, all.total);
        bry_sink sink = bry_buffer_sink(&all.saved);
        assert_int_equal(bry_index_save(index, &sink, NULL), BRY_OK);

        pthread_t threads[THREADS];
        assert_int_equal(pthread_barrier_init(&all.start, NULL, THREADS), 0);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, ask_everything, &all), 0);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        pthread_barrier_destroy(&all.start);
        assert_int_equal(all.wrong, 0);
        bry_buffer_free(&all.saved);
        bry_index_destroy(index);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_readers_side_by_side)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
