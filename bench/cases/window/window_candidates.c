#include "bench/cases/window/window_candidates.h"

#include "bench/peers/exact_window.h"
#include "bench/peers/filter_ring.h"
#include "common/sizing.h"
#include "papers/rbf.h"

#include <math.h>
#include <stdlib.h>

#define WINDOW_INLINE static inline __attribute__((always_inline))

/* ---- planning ------------------------------------------------------------------------------ */

static void plan_window_filter(window_work *work, double elements, double error)
{
    work->bits = (uint64_t)ceil(bry__bloom_bits(elements, error));
    work->hashes = bry__bloom_hashes_for_error(error);
    /* Rounding k costs a little, which more bits compensate. */
    while (bry__bloom_error((double)work->bits, work->hashes, elements) > error)
        work->bits += work->bits / 256 + 1;
}

static bry_status plan_library(window_work *work)
{
    const window_settings *its = &work->settings;
    work->options = (bry_window_options)BRY_WINDOW_OPTIONS;
    work->options.engine = its->engine;
    work->options.window = work->window;
    work->options.capacity = its->elements;
    work->options.error = its->error;
    work->options.generations = its->generations;
    work->options.seed = WINDOW_SEED;
    bry_window_shape shape = {0};
    return bry_window_plan(&work->options, &shape);
}

static bry_status plan_paper_fbf(window_work *work)
{
    const window_settings *its = &work->settings;
    work->paper = (bry__paper_fbf_options){
        .check = its->mode == WINDOW_MODE_SIMPLE ? BRY__PAPER_SIMPLE : BRY__PAPER_OPTIMIZED,
        .window = work->window,
        .capacity = its->elements,
        .error = its->error,
        .generations = its->generations,
        .fixed = true, /* at the planned load Algorithm 3 has nothing to adapt to */
    };
    bry__paper_fbf_plan plan;
    return bry__paper_fbf_plan_row(&work->paper, &plan);
}

window_kind window_kind_of(const window_settings *settings)
{
    return settings->mode == WINDOW_MODE_IMPROVED ? WINDOW_LIBRARY : WINDOW_PAPER;
}

bry_status window_work_plan(window_work *work, window_kind kind, const window_settings *settings)
{
    *work = (window_work){.kind = kind, .settings = *settings};
    window_settings *its = &work->settings;
    if (its->generations == 0)
        its->generations = kind == WINDOW_LIBRARY && its->engine == BRY_ENGINE_COMPACT ? 13 : 8;
    work->window = (uint64_t)its->generations * WINDOW_PERIOD;
    work->start = work->window; /* on the grid of generations */
    work->step = (double)work->window / (double)its->elements;
    double part = (double)its->elements / its->generations;
    unsigned filters = its->generations + 1;
    switch (kind) {
    case WINDOW_RBF: /* cleared when it has the elements of a window */
        plan_window_filter(work, (double)its->elements, its->error);
        return BRY_OK;
    case WINDOW_RING:
        plan_window_filter(work, part, -expm1(log1p(-its->error) / filters));
        return BRY_OK;
    case WINDOW_EXACT:
        return BRY_OK;
    case WINDOW_PAPER:
        return plan_paper_fbf(work);
    default:
        break;
    }
    return plan_library(work);
}

uint64_t window_time(const window_work *work, uint64_t i)
{
    uint64_t n = work->settings.elements;
    return work->start + i / n * work->window + (uint64_t)((double)(i % n) * work->step);
}

bry_hash window_element(uint64_t number)
{
    return (bry_hash){bench_random(number + (UINT64_C(1) << 62)), bench_random(~number)};
}

/* ---- the library's ------------------------------------------------------------------------- */

static void *library_make(const window_work *work)
{
    bry_window *window = NULL;
    return bry_window_create(&work->options, &window) == BRY_OK ? window : NULL;
}

static void library_drop(void *state)
{
    bry_window_destroy(state);
}

WINDOW_INLINE bry_answer library_add(void *state, bry_hash hash, uint64_t now)
{
    bry_answer was;
    return bry_window_add(state, hash, now, &was) == BRY_OK ? was : BRY_UNSURE;
}

WINDOW_INLINE bry_answer library_has(const void *state, bry_hash hash, uint64_t now)
{
    return bry_window_has(state, hash, now);
}

static void library_has_n(const void *state, const bry_hash *hashes, size_t n, uint64_t now,
                          uint8_t *answers)
{
    bry_window_has_n(state, hashes, n, now, answers);
}

static uint64_t library_bytes(const void *state)
{
    bry_window_stats stats = {0};
    bry_window_get_stats(state, &stats);
    return stats.bytes;
}

static double library_predicted(const window_work *work, const void *state)
{
    (void)work;
    bry_window_stats stats = {0};
    bry_window_get_stats(state, &stats);
    return stats.engine == BRY_ENGINE_FBF ? stats.fbf.predicted_error : stats.estimated_error;
}

static window_counts library_counts(const void *state)
{
    bry_window_stats stats = {0};
    bry_window_get_stats(state, &stats);
    return (window_counts){stats.items, stats.fbf.ended_early, stats.fbf.resizes};
}

/* ---- what it is compared with ---------------------------------------------------------------- */

/* The calls of a window `it` of this type, in memory of its own. `made` and `added` are the calls that
 * create it for some `work`, and that add a `hash` at the time `now`. */
#define BASELINE(kind, type, made, added)                                                          \
    static void *kind##_make(const window_work *work)                                              \
    {                                                                                              \
        bry_allocator allocator = bry__allocator_or_default(NULL);                                 \
        type *it = malloc(sizeof *it); /* NOLINT(bugprone-macro-parentheses) */                    \
        if (it && (made) == BRY_OK)                                                                \
            return it;                                                                             \
        free(it);                                                                                  \
        return NULL;                                                                               \
    }                                                                                              \
    static void kind##_drop(void *it)                                                              \
    {                                                                                              \
        bry_allocator allocator = bry__allocator_or_default(NULL);                                 \
        type##_free(it, &allocator);                                                               \
        free(it);                                                                                  \
    }                                                                                              \
    WINDOW_INLINE bry_answer kind##_add(void *it, bry_hash hash, uint64_t now)                     \
    {                                                                                              \
        bry_allocator allocator = bry__allocator_or_default(NULL);                                 \
        bry_answer was;                                                                            \
        (void)now;                                                                                 \
        return (added) == BRY_OK ? was : BRY_UNSURE;                                               \
    }                                                                                              \
    WINDOW_INLINE bry_answer kind##_has(const void *it, bry_hash hash, uint64_t now)               \
    {                                                                                              \
        (void)now;                                                                                 \
        return type##_has(it, hash) ? BRY_PRESENT : BRY_ABSENT;                                    \
    }                                                                                              \
    static uint64_t kind##_bytes(const void *it)                                                   \
    {                                                                                              \
        return type##_bytes(it);                                                                   \
    }

BASELINE(paper, bry__paper_fbf, bry__paper_fbf_init(it, &work->paper, &allocator),
         bry__paper_fbf_add(it, hash, now, &was, &allocator))
BASELINE(rbf, bry__rbf,
         bry__rbf_init(it, work->bits, work->hashes, work->settings.error, &allocator),
         bry__rbf_add(it, hash, &was, &allocator))
BASELINE(ring, bry__filter_ring,
         bry__filter_ring_init(it, work->settings.generations + 1,
                               work->window / work->settings.generations, work->bits, work->hashes,
                               &allocator),
         bry__filter_ring_add(it, hash, now, &was, &allocator))
BASELINE(exact, bry__exact_window, bry__exact_window_init(it, work->window, &allocator),
         bry__exact_window_add(it, hash, now, &was, &allocator))

static void paper_has_n(const void *state, const bry_hash *hashes, size_t n, uint64_t now,
                        uint8_t *answers)
{
    for (size_t i = 0; i < n; i++)
        answers[i] = (uint8_t)paper_has(state, hashes[i], now);
}

static window_counts paper_counts(const void *state)
{
    const bry__paper_fbf *fbf = state;
    return (window_counts){.items = fbf->items, .resizes = fbf->resizes};
}

static double paper_predicted(const window_work *work, const void *state)
{
    (void)work;
    return bry__paper_fbf_predicted(state);
}

static double rbf_predicted(const window_work *work, const void *state)
{
    (void)work;
    return bry__rbf_predicted(state);
}

/* At the end of a generation, when all filters are at their planned load. */
static double ring_predicted(const window_work *work, const void *state)
{
    (void)state;
    double part = (double)work->settings.elements / work->settings.generations;
    double one = bry__bloom_error((double)work->bits, work->hashes, part);
    return -expm1(log1p(-one) * (work->settings.generations + 1));
}

static double exact_predicted(const window_work *work, const void *state)
{
    (void)work;
    (void)state;
    return 0;
}

/* ---- phases -------------------------------------------------------------------------------- */

static const window_calls library_calls = {library_make,      library_drop,  library_add,
                                           library_has,       library_has_n, library_bytes,
                                           library_predicted, library_counts};
static const window_calls paper_calls = {paper_make,  paper_drop,  paper_add,       paper_has,
                                         paper_has_n, paper_bytes, paper_predicted, paper_counts};
static const window_calls rbf_calls = {rbf_make, rbf_drop,  rbf_add,       rbf_has,
                                       NULL,     rbf_bytes, rbf_predicted, NULL};
static const window_calls ring_calls = {ring_make, ring_drop,  ring_add,       ring_has,
                                        NULL,      ring_bytes, ring_predicted, NULL};
static const window_calls exact_calls = {exact_make, exact_drop,  exact_add,       exact_has,
                                         NULL,       exact_bytes, exact_predicted, NULL};

static const window_calls *const all_calls[] = {
    [WINDOW_LIBRARY] = &library_calls, [WINDOW_PAPER] = &paper_calls, [WINDOW_RBF] = &rbf_calls,
    [WINDOW_RING] = &ring_calls,       [WINDOW_EXACT] = &exact_calls,
};

const window_calls *window_calls_of(window_kind kind)
{
    return all_calls[kind];
}

/* An instance after two windows of elements. */
static void *make_window_state(const void *given)
{
    const window_work *work = given;
    const window_calls *calls = all_calls[work->kind];
    void *state = calls->make(work);
    bool good = state != NULL;
    for (uint64_t i = 0; i < WINDOW_WARM_UP * work->settings.elements && good; i++)
        good = calls->add(state, window_element(i), window_time(work, i)) != BRY_UNSURE;
    if (good || !state)
        return state;
    calls->drop(state);
    return NULL;
}

WINDOW_INLINE bool run(const window_work *work, void *state, window_calls calls, unsigned phase,
                       bench_watch *watch, uint64_t *found)
{
    uint64_t n = work->settings.elements, present = 0;
    uint64_t begin = window_time(work, WINDOW_WARM_UP * n);
    uint64_t now = window_time(work, (WINDOW_WARM_UP + 1) * n - 1);
    double step = work->step; /* as window_time(), without its division */
    const bry_hash *added = (const bry_hash *)(const void *)work->keys->added;
    bool hit = phase == WINDOW_HIT || phase == WINDOW_HIT_BATCH;
    const bry_hash *asked =
        (const bry_hash *)(const void *)(hit ? work->keys->hits : work->keys->misses);
    bool good = true;
    switch (phase) {
    case WINDOW_ADD:
        bench_start(watch);
        for (uint64_t i = 0; i < n; i++) {
            bry_answer was = calls.add(state, added[i], begin + (uint64_t)((double)i * step));
            good &= was != BRY_UNSURE;
            present += was == BRY_PRESENT;
        }
        bench_stop(watch);
        break;
    case WINDOW_HIT:
    case WINDOW_MISS:
        bench_start(watch);
        for (uint64_t i = 0; i < n; i++)
            present += calls.has(state, asked[i], now) == BRY_PRESENT;
        bench_stop(watch);
        break;
    default:
        if (!calls.has_n)
            return false;
        bench_start(watch);
        for (uint64_t done = 0; done < n; done += work->settings.batch) {
            size_t here =
                n - done < work->settings.batch ? (size_t)(n - done) : work->settings.batch;
            calls.has_n(state, asked + done, here, now, work->answers);
            for (size_t i = 0; i < here; i++)
                present += work->answers[i] == BRY_PRESENT;
        }
        bench_stop(watch);
    }
    *found = present;
    return good;
}

/* Compiled for each kind, so that the times include no calls through pointers. */
#define RUN_WINDOW(kind)                                                                           \
    static bool run_##kind(const void *work, void *state, unsigned phase, bench_watch *watch,      \
                           uint64_t *found)                                                        \
    {                                                                                              \
        return run(work, state, kind##_calls, phase, watch, found);                                \
    }
RUN_WINDOW(library)
RUN_WINDOW(paper)
RUN_WINDOW(rbf)
RUN_WINDOW(ring)
RUN_WINDOW(exact)

#define NO_BATCH (1u << WINDOW_HIT_BATCH | 1u << WINDOW_MISS_BATCH)

bench_candidate window_candidate(window_kind kind)
{
    static const bench_candidate candidates[] = {
        [WINDOW_LIBRARY] = {"window", make_window_state, library_drop, run_library, 0},
        [WINDOW_PAPER] = {"fbf, as published", make_window_state, paper_drop, run_paper, 0},
        [WINDOW_RBF] = {"RBF", make_window_state, rbf_drop, run_rbf, NO_BATCH},
        [WINDOW_RING] = {"ring of filters", make_window_state, ring_drop, run_ring, NO_BATCH},
        [WINDOW_EXACT] = {"exact window", make_window_state, exact_drop, run_exact, NO_BATCH},
    };
    return candidates[kind];
}
