#include "papers/rbf.h"

#include "common/sizing.h"

bry_status bry__rbf_init(bry__rbf *rbf, uint64_t bits, unsigned hashes, double target,
                         const bry_allocator *allocator)
{
    if (bits == 0 || hashes == 0 || !(target > 0 && target < 1))
        return BRY_E_RANGE;
    bry__rbf made = {.target = target};
    bry_status status = bry__bloom_init(&made.bloom, bits, hashes, allocator);
    if (status == BRY_OK)
        *rbf = made;
    return status;
}

void bry__rbf_free(bry__rbf *rbf, const bry_allocator *allocator)
{
    bry__bloom_free(&rbf->bloom, allocator);
}

bool bry__rbf_has(const bry__rbf *rbf, bry_hash hash)
{
    return bry__bloom_has(&rbf->bloom, hash);
}

double bry__rbf_predicted(const bry__rbf *rbf)
{
    return bry__bloom_error((double)rbf->bloom.bits, rbf->bloom.hashes, (double)rbf->items);
}

bry_status bry__rbf_add(bry__rbf *rbf, bry_hash hash, bry_answer *was,
                        const bry_allocator *allocator)
{
    if (bry__rbf_has(rbf, hash)) {
        *was = BRY_PRESENT;
        return BRY_OK;
    }
    bry_status status = bry__bloom_add(&rbf->bloom, hash, allocator);
    if (status != BRY_OK)
        return status;
    *was = BRY_ABSENT;
    rbf->items++;
    if (bry__rbf_predicted(rbf) > rbf->target) {
        bry__bloom_clear(&rbf->bloom, allocator);
        rbf->items = 0;
        rbf->cleared++;
    }
    return BRY_OK;
}

uint64_t bry__rbf_bytes(const bry__rbf *rbf)
{
    return bry__pieces_bytes_now(&rbf->bloom.table);
}
