#include "papers/sbf.h"

#include "common/checked.h"
#include "hash/derive.h"

bry_status bry__sbf_init(bry__sbf *sbf, unsigned hashes, uint64_t segment,
                         const bry_allocator *allocator)
{
    uint64_t bytes;
    size_t size;
    if (hashes < 1 || segment < 1 || !bry__mul(hashes * sizeof *sbf->cells, segment, &bytes) ||
        !bry__to_size(bytes, &size))
        return BRY_E_RANGE;
    bry__sbf_cell *cells = bry__alloc(allocator, size);
    if (!cells)
        return BRY_E_NOMEM;
    *sbf = (bry__sbf){.hashes = hashes, .segment = segment, .cells = cells};
    return BRY_OK;
}

void bry__sbf_free(bry__sbf *sbf, const bry_allocator *allocator)
{
    bry__free(allocator, sbf->cells, (size_t)(sbf->hashes * sbf->segment) * sizeof *sbf->cells);
    sbf->cells = NULL;
}

static bry__sbf_cell *sbf_cell_at(const bry__sbf *sbf, bry_hash hash, unsigned i)
{
    return &sbf->cells[i * sbf->segment + bry__position(hash, i, sbf->segment)];
}

bry_answer bry__sbf_get(const bry__sbf *sbf, bry_hash hash, uint8_t *state)
{
    uint8_t found = BRY__SBF_UNKNOWN;
    bool differ = false;
    for (unsigned i = 0; i < sbf->hashes; i++) {
        const bry__sbf_cell *cell = sbf_cell_at(sbf, hash, i);
        if (cell->count == 0)
            return BRY_ABSENT;
        if (cell->state == BRY__SBF_UNKNOWN)
            continue;
        differ |= found != BRY__SBF_UNKNOWN && found != cell->state;
        found = cell->state;
    }
    if (differ)
        return BRY_ABSENT;
    if (found == BRY__SBF_UNKNOWN)
        return BRY_UNSURE;
    *state = found;
    return BRY_PRESENT;
}

void bry__sbf_insert(bry__sbf *sbf, bry_hash hash, uint8_t state)
{
    for (unsigned i = 0; i < sbf->hashes; i++) {
        bry__sbf_cell *cell = sbf_cell_at(sbf, hash, i);
        bool lost = sbf->for_good && cell->state == BRY__SBF_UNKNOWN;
        if (cell->count == 0 && !lost)
            cell->state = state;
        else if (cell->state != state)
            cell->state = BRY__SBF_UNKNOWN;
        if (cell->count < UINT8_MAX)
            cell->count++;
    }
    sbf->items++;
}

void bry__sbf_update(bry__sbf *sbf, bry_hash hash, uint8_t state)
{
    for (unsigned i = 0; i < sbf->hashes; i++) {
        bry__sbf_cell *cell = sbf_cell_at(sbf, hash, i);
        bool lost = sbf->for_good && cell->state == BRY__SBF_UNKNOWN;
        if (cell->count == 1 && !lost)
            cell->state = state;
        else if (cell->state != state)
            cell->state = BRY__SBF_UNKNOWN;
    }
}

void bry__sbf_delete(bry__sbf *sbf, bry_hash hash)
{
    for (unsigned i = 0; i < sbf->hashes; i++) {
        bry__sbf_cell *cell = sbf_cell_at(sbf, hash, i);
        if (cell->count > 0 && cell->count < UINT8_MAX)
            cell->count--;
    }
    if (sbf->items > 0)
        sbf->items--;
}
