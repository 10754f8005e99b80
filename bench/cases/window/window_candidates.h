/*
 * Windows as candidates: the library's engines through the public functions, and what they are
 * compared with: fbf as published and RBF (papers/), a ring of plain filters, an exact window. All
 * get the same elements at the same times: the planned number in each window, evenly spread.
 *
 *   warm-up: two windows of elements          the window that is looked at        end: just before
 *   ├──────────────────┼──────────────────┼──────────────────────────────────┤    a generation goes
 */
#ifndef BLOOMERY_BENCH_WINDOW_CANDIDATES_H
#define BLOOMERY_BENCH_WINDOW_CANDIDATES_H

#include "bench/cases/window/window_settings.h"
#include "bench/harness/keys.h"
#include "bench/harness/measure.h"
#include "papers/paper_fbf.h"

#define WINDOW_SEED UINT64_C(0x4642462d77696e64)
#define WINDOW_PERIOD 10000u /* ms of a generation */
#define WINDOW_WARM_UP 2u

enum window_phase {
    WINDOW_ADD, /* adds a window of elements to a window in use */
    WINDOW_HIT, /* all of them, in another order */
    WINDOW_MISS, /* the same number of others */
    WINDOW_HIT_BATCH,
    WINDOW_MISS_BATCH,
    WINDOW_PHASES
};

typedef enum window_kind {
    WINDOW_LIBRARY,
    WINDOW_PAPER,
    WINDOW_RBF,
    WINDOW_RING,
    WINDOW_EXACT
} window_kind;

typedef struct window_work {
    window_kind kind;
    window_settings settings; /* generations are set */
    uint64_t window, start; /* ms */
    double step; /* ms from one element to the next */
    bry_window_options options; /* the library's */
    bry__paper_fbf_options paper; /* of fbf as published; the following are for the others */
    uint64_t bits; /* of one filter */
    unsigned hashes;
    const bench_keys *keys; /* of the last window; NULL if times are not measured */
    uint8_t *answers; /* room for a batch */
} window_work;

/* Whether fbf of these settings is the library's or from papers/. */
window_kind window_kind_of(const window_settings *settings);

/* BRY_E_RANGE: not possible. Does not set the keys and the room. */
bry_status window_work_plan(window_work *work, window_kind kind, const window_settings *settings);

/* The time of element number i. */
uint64_t window_time(const window_work *work, uint64_t i);
/* The element of a number below 2^62: all are distinct, and none is in bench_keys. */
bry_hash window_element(uint64_t number);

/* The statistics of a window. */
typedef struct window_counts {
    uint64_t items, ended_early, resizes;
} window_counts;

/* One instance of any kind. Queries are at the time of the last add. An add that fails returns
 * BRY_UNSURE. */
typedef struct window_calls {
    void *(*make)(const window_work *work);
    void (*drop)(void *state);
    bry_answer (*add)(void *state, bry_hash hash, uint64_t now);
    bry_answer (*has)(const void *state, bry_hash hash, uint64_t now);
    void (*has_n)(const void *state, const bry_hash *hashes, size_t n, uint64_t now,
                  uint8_t *answers); /* NULL: it has no batches */
    uint64_t (*bytes)(const void *state);
    double (*predicted)(const window_work *work, const void *state);
    window_counts (*counts)(const void *state); /* NULL: it has none */
} window_calls;

const window_calls *window_calls_of(window_kind kind);

/* For bench_measure(). */
bench_candidate window_candidate(window_kind kind);

#endif
