/*
 * Visits every entry once, in steps; the maplet may change in any way between them. maplet_visit.c
 * explains how the order makes that possible.
 */
#ifndef BRY_MAPLET_MAPLET_VISIT_H
#define BRY_MAPLET_MAPLET_VISIT_H

#include "maplet/maplet.h"

typedef enum bry__verdict { BRY__KEEP, BRY__CHANGE, BRY__DROP } bry__verdict;

typedef struct bry__visitor {
    /* Decides about an entry with this value; BRY__CHANGE: its new value is *to, which must fit
     * value_bits. A status other than BRY_OK ends the visit before this entry. */
    bry_status (*judge)(void *context, uint32_t value, bry__verdict *verdict, uint32_t *to);
    /* An entry was changed or dropped. */
    void (*done)(void *context, uint32_t value, bry__verdict verdict, uint32_t to);
    void *context;
} bry__visitor;

/*
 * Looks at about `budget` entries, at least one. *cursor is 0 to begin, and 0 again at the end.
 * BRY_E_RANGE: not a cursor of this function. BRY_E_NOMEM, or what judge() returned: *cursor is
 * before the entry that failed, and earlier changes are kept.
 *
 * An entry that is there from begin to end is visited exactly once, or, if a fold moves it
 * meanwhile, once or twice. For maplets with at most one value per fingerprint in each table.
 */
bry_status bry__maplet_visit(bry__maplet *maplet, const bry__visitor *visitor, uint64_t budget,
                             uint64_t *cursor);

#endif
