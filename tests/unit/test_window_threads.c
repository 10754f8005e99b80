/*
 * Operations on a const window may run at the same time as each other. A thread sanitizer watches
 * (ctest label thread); without one the answers are compared all the same.
 */
#include "support/like.h"
#include "support/window_helpers.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 6, ELEMENTS = 1500, ROUNDS = 6, NOW = 9000 };

typedef struct shared {
    const bry_window *window;
    bry_hash hashes[ELEMENTS];
    uint8_t expected[ELEMENTS];
    bry_buffer saved;
    size_t generations;
    pthread_barrier_t start;
    atomic_uint wrong, next;
} shared;

static bool saves_alike(const bry_window *window, const bry_buffer *saved)
{
    bry_buffer buffer = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&buffer);
    bool same = bry_window_save(window, &sink, NULL) == BRY_OK && buffer.len == saved->len &&
                memcmp(buffer.bytes, saved->bytes, buffer.len) == 0;
    bry_buffer_free(&buffer);
    return same;
}

/* As the source of a merge into one that is empty. */
static bool merges(const shared *all)
{
    bry_window_options options = window_like(all->window);
    bry_window *made = NULL;
    options.start = 0;
    if (bry_window_create(&options, &made) != BRY_OK)
        return false;
    bry_status status = bry_window_merge(made, all->window);
    bool right = status == BRY_E_MISMATCH && options.engine == BRY_ENGINE_FBF;
    if (status == BRY_OK) {
        right = true;
        for (int i = 0; i < ELEMENTS; i++)
            right = right && (bry_window_has(made, all->hashes[i], NOW) || !all->expected[i]);
    }
    bry_window_destroy(made);
    return right;
}

/* Thread 0 does one operation while thread 1 does the next, and so on around. */
static void *ask_everything(void *opaque)
{
    shared *all = opaque;
    unsigned number = atomic_fetch_add(&all->next, 1), wrong = 0;
    uint8_t answers[ELEMENTS];
    pthread_barrier_wait(&all->start);
    for (unsigned round = 0; round < ROUNDS; round++) {
        bry_window_generation generations[64];
        bry_window_stats stats = BRY_WINDOW_STATS;
        bry_window *made = NULL;
        switch ((number + round) % 6) {
        case 0:
            for (int i = 0; i < ELEMENTS; i++)
                wrong += bry_window_has(all->window, all->hashes[i], NOW) != all->expected[i];
            break;
        case 1:
            bry_window_has_n(all->window, all->hashes, ELEMENTS, NOW, answers);
            wrong += memcmp(answers, all->expected, ELEMENTS) != 0;
            break;
        case 2:
            bry_window_get_stats(all->window, &stats);
            wrong += bry_window_generations(all->window, generations, sizeof *generations, 64) !=
                     all->generations;
            wrong += stats.time != bry_window_time(all->window);
            break;
        case 3:
            wrong += bry_window_clone(all->window, NULL, &made) != BRY_OK ||
                     !saves_alike(made, &all->saved);
            bry_window_destroy(made);
            break;
        case 4:
            wrong += !saves_alike(all->window, &all->saved);
            break;
        default:
            wrong += !merges(all);
        }
    }
    atomic_fetch_add(&all->wrong, wrong);
    return NULL;
}

static void test_const_operations(void **state)
{
    (void)state;
    static shared all;
    for (size_t k = 0; k < WINDOW_KINDS; k++) {
        memset(&all, 0, sizeof all);
        bry_window_options options = options_of(&window_kinds[k]);
        options.window = 1000;
        options.capacity = 500;
        bry_window *window = make(options);
        for (int i = 0; i < ELEMENTS; i++) {
            all.hashes[i] = key((uint64_t)i);
            add(window, (uint64_t)i, NOW - ELEMENTS + (uint64_t)i); /* a third has expired */
        }
        for (int i = 0; i < ELEMENTS; i++)
            all.expected[i] = (uint8_t)bry_window_has(window, all.hashes[i], NOW);
        all.window = window;
        all.saved = saved_of(window);
        all.generations = bry_window_generations(window, NULL, 0, 0);
        pthread_t threads[THREADS];
        assert_int_equal(pthread_barrier_init(&all.start, NULL, THREADS), 0);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, ask_everything, &all), 0);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        pthread_barrier_destroy(&all.start);
        assert_int_equal(all.wrong, 0);
        bry_buffer_free(&all.saved);
        bry_window_destroy(window);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_const_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
