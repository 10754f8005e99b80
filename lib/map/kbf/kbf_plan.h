/* The shapes of kbf tables and their errors. kbf_plan.c derives the formulae. */
#ifndef BRY_MAP_KBF_PLAN_H
#define BRY_MAP_KBF_PLAN_H

#include "map/kbf/kbf_cells.h"

#include <bloomery/map.h>

/* Upper limit on the cells per key that a table is planned for, plus a constant. Planned shapes are
 * far below, even those of the last tables of a map that has grown; the limit bounds what an exact
 * shape, or a file, can demand. */
#define BRY__KBF_CELLS_A_KEY ((uint64_t)1 << 14)
#define BRY__KBF_CELLS_AT_LEAST ((uint64_t)1 << 16)

static inline bool bry__kbf_cells_allowed(uint64_t cells, uint64_t keys)
{
    return cells <= BRY__KBF_CELLS_AT_LEAST ||
           (cells - BRY__KBF_CELLS_AT_LEAST) / BRY__KBF_CELLS_A_KEY < keys;
}

/* What the errors depend on besides cells and keys. */
typedef struct bry__kbf_setting {
    uint32_t order; /* of the field: the number of encodings */
    uint32_t codes; /* that are or can be assigned */
} bry__kbf_setting;

typedef struct bry__kbf_shape {
    unsigned hashes;
    uint64_t segment; /* cells of each of the `hashes` segments */
} bry__kbf_shape;

/* Distribution of keys per cell, by counter: for a cell of an absent key, and of a present key. */
typedef struct bry__kbf_odds {
    double absent[8], present[8];
    double one_in_segment;
} bry__kbf_odds;

bry__kbf_odds bry__kbf_odds_at(const bry__kbf_shape *shape, double n);

typedef struct bry__kbf_errors {
    bry_map_errors by_kind;
    double unsure; /* for absent keys: no error, unless another table has the key */
} bry__kbf_errors;

/* Expected for a table of that shape with n keys. */
bry__kbf_errors bry__kbf_errors_at(const bry__kbf_setting *setting, const bry__kbf_shape *shape,
                                   double n);

/* Estimated from the counters of a table as it is. */
bry__kbf_errors bry__kbf_errors_now(const bry__kbf_setting *setting, const bry__kbf *kbf);

/* The three kinds, summed. */
double bry__kbf_error(const bry__kbf_errors *errors);

/*
 * The papers' shape for n keys at error p, or the smallest one whose errors sum up to at most p; if
 * `grows`, one that further tables can follow. False: there is none. 1 <= n <= 2^40, 0 < p <= 0.5.
 */
bool bry__kbf_plan(const bry__kbf_setting *setting, bry_map_layout layout, bool grows, uint64_t n,
                   double p, bry__kbf_shape *shape);

/* The most keys that a shape holds at error p: the largest n, up to `most`, with errors that sum up
 * to at most p. */
uint64_t bry__kbf_capacity(const bry__kbf_setting *setting, const bry__kbf_shape *shape, double p,
                           uint64_t most);

#endif
