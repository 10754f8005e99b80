/* Threads that start together, for calls that may run concurrently. */
#ifndef BRY_TESTS_CREW_H
#define BRY_TESTS_CREW_H

#include "support/cmocka_all.h"

#include <pthread.h>
#include <stdatomic.h>

enum { CREW = 6 };

typedef struct crew {
    pthread_barrier_t start;
    atomic_uint next, wrong;
} crew;

/* Each thread calls this first, so that they start together. Returns the number of the thread, from
 * 0.
 */
static inline unsigned crew_meet(crew *all)
{
    unsigned number = atomic_fetch_add(&all->next, 1);
    pthread_barrier_wait(&all->start);
    return number;
}

/* Runs work(shared) in all threads; `all` is a part of `shared`. Threads count errors in
 * all->wrong. */
static inline void crew_run(crew *all, void *(*work)(void *), void *shared)
{
    pthread_t threads[CREW];
    atomic_store(&all->next, 0);
    atomic_store(&all->wrong, 0);
    assert_int_equal(pthread_barrier_init(&all->start, NULL, CREW), 0);
    for (int i = 0; i < CREW; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, shared), 0);
    for (int i = 0; i < CREW; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&all->start);
    assert_int_equal(all->wrong, 0);
}

#endif
