/*
 * A table of the papers' kBF with random pairs, to look up at each decoding level: for the figures
 * about codes and decoding. Keys are numbers and values are codes, all equally frequent.
 */
#ifndef BLOOMERY_BENCH_KBF_TRIAL_H
#define BLOOMERY_BENCH_KBF_TRIAL_H

#include "bench/figures/figure.h"
#include "papers/paper_plan.h"

typedef struct kbf_trial {
    bry__paper_kbf kbf;
    bry_allocator allocator;
    uint64_t seed, keys;
    uint32_t codes;
} kbf_trial;

/* Cells for this many keys at capacity coefficient rho: λ = n/s = rho · ln 2. */
bry__kbf_shape kbf_shape_at(unsigned hashes, uint64_t keys, double rho);

/* The smallest field with this many codes; false, after a message, if memory runs out. */
bool kbf_field_make(bry__gf *gf, uint32_t codes, const bry_allocator *allocator);

/* Fills a table. The setting has seed, keys and codes, and the kBF's field and whether it is masked,
 * if it has a field. False, after a message, if memory runs out; then there is nothing to free. */
bool kbf_trial_make(kbf_trial *trial, const kbf_trial *setting, const bry__encoder *encoder,
                    const bry__kbf_shape *shape);
void kbf_trial_free(kbf_trial *trial);

/* Looks up all keys: *missed is the share that got no answer. False, after a message, if one got a
 * wrong answer, which no level may give. */
bool kbf_trial_ask(const kbf_trial *trial, bry__paper_level level, double *missed);

/* The share of cells that hold at least this many keys, up to 7. */
double kbf_trial_cells_from(const kbf_trial *trial, unsigned count);

/* Whether all repetitions together have enough errors to be compared with what is expected, or at
 * larger scales to be shown. Points with fewer are left out. */
bool kbf_tells(const figure_run *run, double rate, double trials);

#endif
