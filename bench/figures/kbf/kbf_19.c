/*
 * kBF, figure 19: an image whose pixels are the states of flows, compared with the one that a kBF
 * returns, in the moments of its patches of 8 × 8.
 */
#include "bench/figures/figure.h"

#include "bench/figures/kbf/kbf_store.h"
#include "bench/harness/bench_fail.h"
#include "bench/harness/flow_states.h"
#include "bench/harness/hu_moments.h"
#include "bench/harness/keys.h"

#include <stdlib.h>

enum { PATCH = 8 };

static const double errors[] = {1e-2, 1e-3, 1e-4};

/* Ranks of patches, the one that differs most first, as shares of all. */
static const double ranks[] = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3};

enum { ERRORS = sizeof errors / sizeof errors[0], RANKS = sizeof ranks / sizeof ranks[0] };

typedef struct state_image {
    size_t side; /* in pixels, a multiple of PATCH */
    uint64_t first_flow;
    uint8_t *exact, *asked;
    double *distance; /* of each patch */
    size_t patches;
    kbf_pairs pairs; /* `later` is the state that a flow changes to next */
} state_image;

static void free_image(state_image *image)
{
    free(image->exact);
    free(image->asked);
    free(image->distance);
    kbf_pairs_free(&image->pairs);
}

static bool make_image(state_image *image, const figure_run *run, size_t side)
{
    const size_t count = side * side, patches = count / PATCH / PATCH;
    *image = (state_image){
        .side = side,
        .first_flow = run->seed >> 1 & ~(uint64_t)0xffffffff,
        .exact = malloc(count),
        .asked = malloc(count),
        .distance = malloc(patches * sizeof *image->distance),
        .patches = patches,
    };
    if (!image->exact || !image->asked || !image->distance)
        return bench_no_memory();
    if (!kbf_pairs_make_bare(&image->pairs, count, FLOW_STATES))
        return false;
    for (size_t i = 0; i < count; i++)
        image->pairs.hash[i] = flow_hash(image->first_flow + i);
    return true;
}

/* All flows begin, then take their steps, each up to one of its own. */
static bool replay_flows(state_image *image, kbf_store *store)
{
    kbf_pairs *pairs = &image->pairs;
    for (size_t i = 0; i < pairs->count; i++)
        pairs->first[i] = image->exact[i] = flow_state_at(image->first_flow + i, 0);
    if (!kbf_store_fill(store, 0, pairs->count))
        return false;
    for (unsigned step = 1; step < FLOW_STEPS; step++)
        for (size_t i = 0; i < pairs->count; i++) {
            uint64_t flow = image->first_flow + i;
            uint8_t state = flow_state_at(flow, step);
            if (state == image->exact[i] || bench_random(flow) % FLOW_STEPS < step)
                continue;
            pairs->later[i] = image->exact[i] = state;
            kbf_store_update(store, i, i + 1);
        }
    return true;
}

/* Where there is no answer the pixel is 0. */
static void ask_flows(state_image *image, const kbf_store *store)
{
    for (size_t i = 0; i < image->pairs.count; i++) {
        uint32_t state = 0;
        image->asked[i] = kbf_store_get(store, i, &state) ? (uint8_t)state : 0;
    }
}

static void measure_patches(state_image *image)
{
    const size_t across = image->side / PATCH;
    for (size_t i = 0; i < image->patches; i++) {
        size_t at = (i / across * image->side + i % across) * PATCH;
        double exact[HU_MOMENTS], asked[HU_MOMENTS];
        hu_moments(image->exact + at, PATCH, PATCH, image->side, exact);
        hu_moments(image->asked + at, PATCH, PATCH, image->side, asked);
        image->distance[i] = hu_distance(exact, asked);
    }
}

static int larger_first(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static void report_patches(const figure_run *run, state_image *image, kbf_kind kind, double p)
{
    size_t different = 0;
    qsort(image->distance, image->patches, sizeof *image->distance, larger_first);
    while (different < image->patches && image->distance[different] > 0)
        different++;
    figure_point(run, "patches", kbf_kind_names[kind], p,
                 (double)different / (double)image->patches);
    for (unsigned i = 0; i < RANKS; i++)
        kbf_point(run, "distance", kind, p, ranks[i],
                  image->distance[(size_t)(ranks[i] * (double)image->patches)]);
}

static bool measure_image(const figure_run *run, state_image *image, kbf_kind kind, double p)
{
    const uint64_t count = image->pairs.count;
    const kbf_plan plan = {.p = p, .capacity = count, .size = 1, .most = count};
    kbf_store store;
    bool good = kbf_store_make(&store, kind, &image->pairs, &plan) && replay_flows(image, &store);
    if (good) {
        ask_flows(image, &store);
        measure_patches(image);
        report_patches(run, image, kind, p);
    }
    kbf_store_free(&store);
    return good;
}

static bool measure_moments(const figure_run *run)
{
    static const kbf_kind kinds[] = {KBF_PUBLISHED, KBF_OURS, KBF_COMPACT};
    state_image image;
    bool good = make_image(&image, run, run->scale == FIGURE_SMALL ? 128 : 496);
    for (unsigned k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (unsigned i = 0; i < ERRORS && good; i++)
            good = measure_image(run, &image, kinds[k], errors[i]);
    free_image(&image);
    return good;
}

FIGURE(kbf_19, "kbf-19", "Moments of an image of flow states", {6, 5, 10}, measure_moments);
