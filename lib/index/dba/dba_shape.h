/*
 * The shape of one unit's filter, and its error.
 *
 * A filter has `hashes` positions per element. In a plain filter they are anywhere in its rows; in
 * a segmented one position i is in segment i, and every segment has `range` rows of its own: then
 * each further segment reduces the error by a fixed factor, and the segments before it do not
 * change.
 */
#ifndef BRY_INDEX_DBA_SHAPE_H
#define BRY_INDEX_DBA_SHAPE_H

#include <bloomery/base.h>

#define BRY__DBA_MAX_HASHES 64u
#define BRY__DBA_MAX_ROWS ((uint64_t)1 << 48)

typedef struct bry__dba_shape {
    uint64_t capacity; /* elements it is planned for */
    uint64_t range; /* rows that a position is chosen from: of the filter, or of one segment */
    uint32_t hashes;
    bool segmented;
} bry__dba_shape;

/* The error of each of `units` filters that together have `error`: 1 - (1 - error)^(1/units). */
double bry__dba_unit_error(double error, uint32_t units);

/* The smallest shape with ceil(log2(1/error)) hashes that holds `capacity` elements at this error.
 */
bry__dba_shape bry__dba_shape_plan(uint64_t capacity, double error, bool segmented);

/* The same segments, and as many more as this error needs. */
bry__dba_shape bry__dba_shape_tighten(bry__dba_shape segmented, double error);

bool bry__dba_shape_same(const bry__dba_shape *a, const bry__dba_shape *b);

/* Whether this library creates or accepts it. */
bool bry__dba_shape_valid(const bry__dba_shape *shape);

static inline uint64_t bry__dba_rows(const bry__dba_shape *shape)
{
    return shape->segmented ? shape->range * shape->hashes : shape->range;
}

/* The error with n elements. */
double bry__dba_shape_error(const bry__dba_shape *shape, double n);

#endif
