/* How many rows of bits a look-up reads: the work of a query without the time of a machine. */
#ifndef BLOOMERY_BENCH_DBA_READS_H
#define BLOOMERY_BENCH_DBA_READS_H

#include <bloomery/index.h>

/*
 * Looks an element up in an index of engine dba as the paper's Algorithm 2 does, and counts the rows
 * that are read: a group is left when no unit remains, and the search ends at the first group with a
 * candidate. *found is the answer, which is that of bry_index_has().
 */
uint64_t dba_rows_read(const bry_index *index, bry_hash hash, bool *found);

/* The expected rows for an absent element in one group of g units with `hashes` positions, when a
 * share `fill` of the bits is set. */
double dba_rows_expected(unsigned g, unsigned hashes, double fill);

/* The shape of the units that were made last, and of those made first. */
unsigned dba_hashes_last(const bry_index *index);
unsigned dba_hashes_first(const bry_index *index);

#endif
