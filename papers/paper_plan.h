/* The errors of the papers' kBF, by decoding level; lib/map/kbf/kbf_plan.c explains the symbols. */
#ifndef BRY_PAPERS_PAPER_PLAN_H
#define BRY_PAPERS_PAPER_PLAN_H

#include "map/kbf/kbf_plan.h"
#include "papers/paper_kbf.h"

typedef struct bry__paper_setting {
    bry__paper_level level;
    bool masked;
    uint32_t order; /* encodings there are */
    uint32_t codes; /* of these, assigned */
    /* The share of random contents that look like a pair: half with algebraic encodings,
     * bry__greedy_pair_share() with those of the search. */
    double pairs;
} bry__paper_setting;

/*
 * Expected with n keys. Unmasked, all values are assumed to be equally frequent; if they are not,
 * the errors of consistent decoding and of the sets cannot be predicted.
 */
bry_map_errors bry__paper_errors_at(const bry__paper_setting *setting, const bry__kbf_shape *shape,
                                    double n);

/* ---- as published -------------------------------------------------------------------------- */

/* P_n(ρ), the share of cells that hold three or more keys: section 4. */
double bry__published_full_cells(double rho);

/* The share of keys that cannot be decoded, by the formula of section 4. It is for the cells of a
 * random key, not of one that is there, and so far too low: bry__paper_errors_at() is right. */
double bry__published_undecodable(unsigned k, double rho);

#endif
