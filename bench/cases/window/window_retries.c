/*
 * Fig. 6.9: a counter whose operations are retried, behind windows of the same memory. The thesis
 * has three filters of 500 bits and k = 3, compared with an RBF of 1500 bits, and does not give the
 * load, t or the target of the RBF: two operations per second, 5 s and 0.01 are ours. Bits and load
 * are SCALE times larger, which does not change the rates and makes the memory large enough for other
 * windows.
 */
#include "bench/cases/window/window_trial.h"

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

static const window_work works[RETRY_ROWS] = {
    [RETRY_RBF] = {.kind = WINDOW_RBF,
                   .settings = {.error = RBF_TARGET},
                   .bits = UINT64_C(3) * BITS,
                   .hashes = HASHES},
    [RETRY_RING] = {.kind = WINDOW_RING,
                    .settings = {.generations = 2},
                    .window = WINDOW_MS,
                    .bits = BITS,
                    .hashes = HASHES},
    [RETRY_PAPER] = {.kind = WINDOW_PAPER,
                     .paper = {.window = WINDOW_MS,
                               .capacity = AHEAD,
                               .error = RBF_TARGET,
                               .generations = 2,
                               .bits = BITS,
                               .hashes = HASHES,
                               .fixed = true}},
    [RETRY_IMPROVED] = {.kind = WINDOW_LIBRARY, .options = {.engine = BRY_ENGINE_FBF}},
    [RETRY_COMPACT] = {.kind = WINDOW_LIBRARY, .options = {.engine = BRY_ENGINE_COMPACT}},
};

/* A window, and the counter behind it. */
typedef struct guarded {
    const window_calls *calls;
    void *state;
    uint64_t counted;
} guarded;

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

static bry_status make_guarded(guarded *row, const window_work *planned, uint64_t bytes)
{
    window_work work = *planned;
    bry_status status = BRY_OK;
    if (work.kind == WINDOW_LIBRARY) {
        work.options.struct_size = sizeof work.options;
        work.options.window = WINDOW_MS;
        work.options.capacity = AHEAD;
        work.options.seed = WINDOW_SEED;
        status = fit_window(&work.options, bytes);
    }
    row->calls = window_calls_of(work.kind);
    row->state = status == BRY_OK ? row->calls->make(&work) : NULL;
    return status == BRY_OK && !row->state ? BRY_E_NOMEM : status;
}

static bry_status apply_operation(guarded rows[RETRY_ROWS], uint64_t id, uint64_t now)
{
    for (int i = 0; i < RETRY_ROWS; i++) {
        bry_answer was = rows[i].calls->add(rows[i].state, window_element(id), now);
        if (was == BRY_UNSURE)
            return BRY_E_NOMEM;
        rows[i].counted += was == BRY_ABSENT;
    }
    return BRY_OK;
}

bry_status window_retries(double share, uint64_t operations, uint64_t trial, retry_facts *facts)
{
    guarded rows[RETRY_ROWS] = {0};
    *facts = (retry_facts){.bytes = 3 * BITS / 8};
    bry_status status = BRY_OK;
    for (int i = 0; i < RETRY_ROWS && status == BRY_OK; i++)
        status = make_guarded(&rows[i], &works[i], facts->bytes);
    uint64_t due[AHEAD + 1] = {0}; /* retries by the operation that they follow; ids from 1 */
    for (uint64_t i = 0; i < operations + AHEAD && status == BRY_OK; i++) {
        uint64_t now = 1000000 + i * 1000 / RATE;
        uint64_t ids[2] = {i < operations ? i + 1 : 0, due[i % (AHEAD + 1)]};
        due[i % (AHEAD + 1)] = 0;
        for (int j = 0; j < 2 && status == BRY_OK; j++)
            if (ids[j])
                status = apply_operation(rows, trial * TRIAL + ids[j], now);
        uint64_t draw = bench_random(trial * TRIAL + i + (UINT64_C(3) << 60));
        if (ids[0] && (double)(draw >> 11) * 0x1p-53 < share) {
            uint64_t later = i + 1 + bench_random(draw) % (AHEAD - 1);
            if (due[later % (AHEAD + 1)] == 0)
                due[later % (AHEAD + 1)] = ids[0];
        }
    }
    for (int i = 0; i < RETRY_ROWS; i++) {
        facts->error[i] = fabs((double)rows[i].counted / (double)operations - 1);
        if (rows[i].state)
            rows[i].calls->drop(rows[i].state);
    }
    return status;
}
