/* The engines that every test of windows goes through. */
#ifndef BRY_TESTS_WINDOW_KINDS_H
#define BRY_TESTS_WINDOW_KINDS_H

#include <bloomery/job.h>
#include <bloomery/window.h>

typedef struct window_kind {
    const char *name;
    bry_engine engine;
    bool forgets; /* single elements */
    bool counts; /* stats.items is exact while no two elements share a fingerprint */
} window_kind;

enum { MOST_WINDOW_KINDS = 8 };

static inline size_t window_kind_count(void)
{
    size_t n = 0;
    while (n < MOST_WINDOW_KINDS && bry_job_engine_at(BRY_JOB_WINDOW, n) != BRY_ENGINE_AUTO)
        n++;
    return n;
}

static inline const window_kind *window_kind_list(void)
{
    static window_kind kinds[MOST_WINDOW_KINDS];
    for (size_t i = 0; i < window_kind_count(); i++) {
        bry_engine engine = bry_job_engine_at(BRY_JOB_WINDOW, i);
        bool single = engine != BRY_ENGINE_FBF; /* fbf knows whole generations only */
        kinds[i] = (window_kind){bry_engine_name(engine), engine, single, single};
    }
    return kinds;
}

#define window_kinds window_kind_list()
#define WINDOW_KINDS window_kind_count()

#endif
