/* The errors of the papers' kBF, by decoding level; lib/map/kbf/kbf_plan.c explains the symbols. */
#ifndef BRY_PAPERS_PAPER_PLAN_H
#define BRY_PAPERS_PAPER_PLAN_H

#include "map/kbf/kbf_plan.h"
#include "papers/paper_kbf.h"

/*
 * Expected with n keys at level 1, 2, 3 or BRY__PAPER_CONSISTENT, where `codes` of `order`
 * encodings are assigned. Unmasked, all values are assumed to be equally frequent; if they are not,
 * the errors of consistent decoding cannot be predicted.
 */
bry_map_errors bry__paper_errors_at(bry__paper_level level, bool masked, uint32_t order,
                                    uint32_t codes, const bry__kbf_shape *shape, double n);

#endif
