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

/* ---- fbf as published ---------------------------------------------------------------------- */

static void *make_paper_fbf(const window_work *work)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__paper_fbf *fbf = malloc(sizeof *fbf);
    if (fbf && bry__paper_fbf_init(fbf, &work->paper, &allocator) == BRY_OK)
        return fbf;
    free(fbf);
    return NULL;
}

static void drop_paper_fbf(void *state)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__paper_fbf_free(state, &allocator);
    free(state);
}

WINDOW_INLINE bry_answer paper_fbf_add(void *state, bry_hash hash, uint64_t now)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry_answer was;
    return bry__paper_fbf_add(state, hash, now, &was, &allocator) == BRY_OK ? was : BRY_UNSURE;
}

WINDOW_INLINE bry_answer paper_fbf_has(const void *state, bry_hash hash, uint64_t now)
{
    (void)now;
    return bry__paper_fbf_has(state, hash) ? BRY_PRESENT : BRY_ABSENT;
}

static void paper_fbf_has_n(const void *state, const bry_hash *hashes, size_t n, uint64_t now,
                            uint8_t *answers)
{
    for (size_t i = 0; i < n; i++)
        answers[i] = (uint8_t)paper_fbf_has(state, hashes[i], now);
}

static uint64_t paper_fbf_bytes(const void *state)
{
    return bry__paper_fbf_bytes(state);
}

static double paper_fbf_predicted(const window_work *work, const void *state)
{
    (void)work;
    return bry__paper_fbf_predicted(state);
}

static window_counts paper_fbf_counts(const void *state)
{
    const bry__paper_fbf *fbf = state;
    return (window_counts){.items = fbf->items, .resizes = fbf->resizes};
}

/* ---- RBF ----------------------------------------------------------------------------------- */

static void *rbf_make(const window_work *work)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__rbf *rbf = malloc(sizeof *rbf);
    if (rbf &&
        bry__rbf_init(rbf, work->bits, work->hashes, work->settings.error, &allocator) == BRY_OK)
        return rbf;
    free(rbf);
    return NULL;
}

static void rbf_drop(void *state)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__rbf_free(state, &allocator);
    free(state);
}

WINDOW_INLINE bry_answer rbf_add(void *state, bry_hash hash, uint64_t now)
{
    (void)now;
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry_answer was;
    return bry__rbf_add(state, hash, &was, &allocator) == BRY_OK ? was : BRY_UNSURE;
}

WINDOW_INLINE bry_answer rbf_has(const void *state, bry_hash hash, uint64_t now)
{
    (void)now;
    return bry__rbf_has(state, hash) ? BRY_PRESENT : BRY_ABSENT;
}

static uint64_t rbf_bytes(const void *state)
{
    return bry__rbf_bytes(state);
}

static double rbf_predicted(const window_work *work, const void *state)
{
    (void)work;
    return bry__rbf_predicted(state);
}

/* ---- a ring of plain filters --------------------------------------------------------------- */

static void *ring_make(const window_work *work)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__filter_ring *ring = malloc(sizeof *ring);
    uint64_t length = work->window / work->settings.generations;
    if (ring && bry__filter_ring_init(ring, work->settings.generations + 1, length, work->bits,
                                      work->hashes, &allocator) == BRY_OK)
        return ring;
    free(ring);
    return NULL;
}

static void ring_drop(void *state)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__filter_ring_free(state, &allocator);
    free(state);
}

WINDOW_INLINE bry_answer ring_add(void *state, bry_hash hash, uint64_t now)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry_answer was;
    return bry__filter_ring_add(state, hash, now, &was, &allocator) == BRY_OK ? was : BRY_UNSURE;
}

WINDOW_INLINE bry_answer ring_has(const void *state, bry_hash hash, uint64_t now)
{
    (void)now;
    return bry__filter_ring_has(state, hash) ? BRY_PRESENT : BRY_ABSENT;
}

static uint64_t ring_bytes(const void *state)
{
    return bry__filter_ring_bytes(state);
}

/* At the end of a generation, when all filters are at their planned load. */
static double ring_predicted(const window_work *work, const void *state)
{
    (void)state;
    double part = (double)work->settings.elements / work->settings.generations;
    double one = bry__bloom_error((double)work->bits, work->hashes, part);
    return -expm1(log1p(-one) * (work->settings.generations + 1));
}

/* ---- exact --------------------------------------------------------------------------------- */

static void *make_exact_window(const window_work *work)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__exact_window *exact = malloc(sizeof *exact);
    if (exact && bry__exact_window_init(exact, work->window, &allocator) == BRY_OK)
        return exact;
    free(exact);
    return NULL;
}

static void drop_exact_window(void *state)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry__exact_window_free(state, &allocator);
    free(state);
}

WINDOW_INLINE bry_answer exact_add(void *state, bry_hash hash, uint64_t now)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry_answer was;
    return bry__exact_window_add(state, hash, now, &was, &allocator) == BRY_OK ? was : BRY_UNSURE;
}

WINDOW_INLINE bry_answer exact_has(const void *state, bry_hash hash, uint64_t now)
{
    (void)now;
    return bry__exact_window_has(state, hash) ? BRY_PRESENT : BRY_ABSENT;
}

static uint64_t exact_bytes(const void *state)
{
    return bry__exact_window_bytes(state);
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
static const window_calls paper_calls = {make_paper_fbf,      drop_paper_fbf,  paper_fbf_add,
                                         paper_fbf_has,       paper_fbf_has_n, paper_fbf_bytes,
                                         paper_fbf_predicted, paper_fbf_counts};
static const window_calls rbf_calls = {rbf_make, rbf_drop,  rbf_add,       rbf_has,
                                       NULL,     rbf_bytes, rbf_predicted, NULL};
static const window_calls ring_calls = {ring_make, ring_drop,  ring_add,       ring_has,
                                        NULL,      ring_bytes, ring_predicted, NULL};
static const window_calls exact_calls = {
    make_exact_window, drop_exact_window, exact_add, exact_has, NULL,
    exact_bytes,       exact_predicted,   NULL};

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
        [WINDOW_PAPER] = {"fbf, as published", make_window_state, drop_paper_fbf, run_paper, 0},
        [WINDOW_RBF] = {"RBF", make_window_state, rbf_drop, run_rbf, NO_BATCH},
        [WINDOW_RING] = {"ring of filters", make_window_state, ring_drop, run_ring, NO_BATCH},
        [WINDOW_EXACT] = {"exact window", make_window_state, drop_exact_window, run_exact,
                          NO_BATCH},
    };
    return candidates[kind];
}
