#include "bench/figures/dba/dba_reads.h"

#include "index/dba/dba_index.h"
#include "index/index_object.h"

#include <math.h>
#include <string.h>

static bool is_bit_set(const bry__dba_group *group, unsigned i, uint64_t row)
{
    unsigned bit = group->width == 1 ? row & 7 : 0;
    return *bry__dba_row(group, i, row) >> bit & 1;
}

/* ANDs a row into what is left of the units. False: none is left. */
static bool and_row(const bry__dba_group *group, unsigned i, uint64_t row, unsigned char *left)
{
    if (group->width == 1)
        return is_bit_set(group, i, row);
    const unsigned char *bytes = bry__dba_row(group, i, row);
    unsigned char any = 0;
    for (unsigned b = 0; b < group->width / 8; b++)
        any |= left[b] &= bytes[b];
    return any != 0;
}

uint64_t dba_rows_read(const bry_index *index, bry_hash hash, bool *found)
{
    const bry__dba *dba = index->elements;
    bry__dba_probe probe;
    uint64_t rows = 0;
    *found = false;
    bry__dba_probe_begin(&probe, hash);
    for (uint32_t g = dba->groups; g-- > 0 && !*found;) {
        const bry__dba_group *group = dba->group[g];
        unsigned char left[BRY__DBA_MASK];
        memcpy(left, group->live, sizeof left);
        bry__dba_probe_know(&probe, group->shape.range, group->shape.hashes);
        *found = group->units > 0;
        for (unsigned i = 0; i < group->shape.hashes && *found; i++, rows++)
            *found = and_row(group, i, probe.row[i], left);
    }
    return rows;
}

double dba_rows_expected(unsigned g, unsigned hashes, double fill)
{
    double rows = 0;
    for (unsigned i = 0; i < hashes; i++) /* row i is read if any unit is left after i rows */
        rows += -expm1(g * log1p(-pow(fill, i)));
    return rows;
}

unsigned dba_hashes_last(const bry_index *index)
{
    const bry__dba *dba = index->elements;
    return dba->level[dba->levels - 1].shape.hashes;
}

unsigned dba_hashes_first(const bry_index *index)
{
    const bry__dba *dba = index->elements;
    return dba->level[0].shape.hashes;
}
