/*
 * Fig. 6.9: a counter whose operations are retried, behind windows of the same memory. The thesis
 * has three filters of 500 bits and k = 3, compared with an RBF of 1500 bits, and does not give the
 * load, t or the target of the RBF: two operations per second, 5 s and 0.01 are ours. Bits and load
 * are SCALE times larger, which does not change the rates and makes the memory large enough for other
 * windows.
 */
#include "bench/cases/window/window_trial.h"

#include "bench/peers/filter_ring.h"
#include "papers/rbf.h"

#include <math.h>

enum {
    SCALE = 64,
    BITS = 500 * SCALE,
    HASHES = 3,
    PART = 5000, /* ms: t */
    WINDOW_MS = 2 * PART,
    RATE = 2 * SCALE, /* operations per second */
    AHEAD = WINDOW_MS / 1000 * RATE, /* a retry comes after at most this many operations */
};
#define RBF_TARGET 0.01
#define TRIAL (UINT64_C(1) << 44) /* ids, at most */

enum { STEPS = 121 }; /* of 0.8, from 0.5 down to 1e-12 */

typedef struct rows {
    bry__rbf rbf;
    bry__filter_ring ring;
    bry__paper_fbf paper;
    bry_window *window[RETRY_ROWS]; /* of the last two */
    uint64_t counted[RETRY_ROWS];
} rows;

/* The smallest error that is possible in these bytes. */
static bry_status fit_window(bry_window_options *options, uint64_t bytes)
{
    bry_status status = BRY_E_RANGE;
    bry_window_shape shape = {0};
    for (int i = 0; i < STEPS; i++) {
        bry_window_options tried = *options;
        tried.error = 0.5 * pow(0.8, i);
        if (bry_window_plan(&tried, &shape) == BRY_OK && shape.bytes <= bytes) {
            *options = tried;
            status = BRY_OK;
        }
    }
    return status;
}

static void drop_retry_rows(rows *all)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    for (int i = RETRY_IMPROVED; i < RETRY_ROWS; i++)
        bry_window_destroy(all->window[i]);
    bry__paper_fbf_free(&all->paper, &allocator);
    bry__filter_ring_free(&all->ring, &allocator);
    bry__rbf_free(&all->rbf, &allocator);
}

/* The windows of the papers. */
static bry_status make_published_rows(rows *all)
{
    const bry__paper_fbf_options options = {
        .window = WINDOW_MS,
        .capacity = AHEAD,
        .error = RBF_TARGET,
        .generations = 2,
        .bits = BITS,
        .hashes = HASHES,
        .fixed = true,
    };
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry_status status =
        bry__rbf_init(&all->rbf, UINT64_C(3) * BITS, HASHES, RBF_TARGET, &allocator);
    if (status == BRY_OK)
        status = bry__filter_ring_init(&all->ring, 3, PART, BITS, HASHES, &allocator);
    return status == BRY_OK ? bry__paper_fbf_init(&all->paper, &options, &allocator) : status;
}

static bry_status make_retry_rows(rows *all, uint64_t bytes)
{
    bry_status status = make_published_rows(all);
    for (int i = RETRY_IMPROVED; i < RETRY_ROWS && status == BRY_OK; i++) {
        bry_window_options options = BRY_WINDOW_OPTIONS;
        options.engine = i == RETRY_COMPACT ? BRY_ENGINE_COMPACT : BRY_ENGINE_FBF;
        options.window = WINDOW_MS;
        options.capacity = AHEAD;
        options.seed = WINDOW_SEED;
        status = fit_window(&options, bytes);
        if (status == BRY_OK)
            status = bry_window_create(&options, &all->window[i]);
    }
    if (status != BRY_OK)
        drop_retry_rows(all);
    return status;
}

static bry_status apply_operation(rows *all, uint64_t id, uint64_t now)
{
    bry_allocator allocator = bry__allocator_or_default(NULL);
    bry_hash hash = window_element(id);
    bry_answer was;
    bry_status status = bry__rbf_add(&all->rbf, hash, &was, &allocator);
    if (status != BRY_OK)
        return status;
    all->counted[RETRY_RBF] += was == BRY_ABSENT;
    status = bry__filter_ring_add(&all->ring, hash, now, &was, &allocator);
    all->counted[RETRY_RING] += was == BRY_ABSENT;
    if (status == BRY_OK)
        status = bry__paper_fbf_add(&all->paper, hash, now, &was, &allocator);
    all->counted[RETRY_PAPER] += was == BRY_ABSENT;
    for (int i = RETRY_IMPROVED; i < RETRY_ROWS && status == BRY_OK; i++) {
        status = bry_window_add(all->window[i], hash, now, &was);
        all->counted[i] += was == BRY_ABSENT;
    }
    return status;
}

bry_status window_retries(double share, uint64_t operations, uint64_t trial, retry_facts *facts)
{
    rows all = {0};
    *facts = (retry_facts){.bytes = 3 * BITS / 8};
    bry_status status = make_retry_rows(&all, facts->bytes);
    if (status != BRY_OK)
        return status;
    uint64_t due[AHEAD + 1] = {0}; /* retries by the operation that they follow; ids from 1 */
    for (uint64_t i = 0; i < operations + AHEAD && status == BRY_OK; i++) {
        uint64_t now = 1000000 + i * 1000 / RATE;
        uint64_t ids[2] = {i < operations ? i + 1 : 0, due[i % (AHEAD + 1)]};
        due[i % (AHEAD + 1)] = 0;
        for (int j = 0; j < 2 && status == BRY_OK; j++)
            if (ids[j])
                status = apply_operation(&all, trial * TRIAL + ids[j], now);
        uint64_t draw = bench_random(trial * TRIAL + i + (UINT64_C(3) << 60));
        if (ids[0] && (double)(draw >> 11) * 0x1p-53 < share) {
            uint64_t later = i + 1 + bench_random(draw) % (AHEAD - 1);
            if (due[later % (AHEAD + 1)] == 0)
                due[later % (AHEAD + 1)] = ids[0];
        }
    }
    for (int i = 0; i < RETRY_ROWS; i++)
        facts->error[i] = fabs((double)all.counted[i] / (double)operations - 1);
    drop_retry_rows(&all);
    return status;
}
