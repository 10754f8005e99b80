#include "bench/peers/filter_ring.h"

bry_status bry__filter_ring_init(bry__filter_ring *ring, unsigned filters, uint64_t length,
                                 uint64_t bits, unsigned hashes, const bry_allocator *allocator)
{
    if (filters < 2 || length == 0 || bits == 0 || hashes == 0)
        return BRY_E_RANGE;
    bry__filter_ring made = {.length = length};
    made.filter = bry__alloc(allocator, filters * sizeof *made.filter);
    if (!made.filter)
        return BRY_E_NOMEM;
    bry_status status = BRY_OK;
    while (made.filters < filters && status == BRY_OK) {
        status = bry__bloom_init(&made.filter[made.filters], bits, hashes, allocator);
        made.filters += status == BRY_OK;
    }
    if (status != BRY_OK) {
        for (unsigned i = 0; i < made.filters; i++)
            bry__bloom_free(&made.filter[i], allocator);
        bry__free(allocator, made.filter, filters * sizeof *made.filter);
        return status;
    }
    *ring = made;
    return BRY_OK;
}

void bry__filter_ring_free(bry__filter_ring *ring, const bry_allocator *allocator)
{
    for (unsigned i = 0; i < ring->filters; i++)
        bry__bloom_free(&ring->filter[i], allocator);
    bry__free(allocator, ring->filter, ring->filters * sizeof *ring->filter);
}

void bry__filter_ring_advance(bry__filter_ring *ring, uint64_t now, const bry_allocator *allocator)
{
    uint64_t period = now / ring->length;
    if (period <= ring->period)
        return;
    uint64_t begun = period - ring->period;
    if (begun > ring->filters)
        begun = ring->filters;
    for (uint64_t i = 0; i < begun; i++)
        bry__bloom_clear(&ring->filter[(period - i) % ring->filters], allocator);
    ring->period = period;
}

bool bry__filter_ring_has(const bry__filter_ring *ring, bry_hash hash)
{
    for (unsigned i = 0; i < ring->filters; i++)
        if (bry__bloom_has(&ring->filter[i], hash))
            return true;
    return false;
}

bry_status bry__filter_ring_add(bry__filter_ring *ring, bry_hash hash, uint64_t now,
                                bry_answer *was, const bry_allocator *allocator)
{
    bry__filter_ring_advance(ring, now, allocator);
    if (bry__filter_ring_has(ring, hash)) {
        *was = BRY_PRESENT;
        return BRY_OK;
    }
    bry__bloom *present = &ring->filter[ring->period % ring->filters];
    bry_status status = bry__bloom_add(present, hash, allocator);
    if (status == BRY_OK)
        *was = BRY_ABSENT;
    return status;
}

uint64_t bry__filter_ring_bytes(const bry__filter_ring *ring)
{
    uint64_t bytes = ring->filters * sizeof *ring->filter;
    for (unsigned i = 0; i < ring->filters; i++)
        bytes += bry__pieces_bytes_now(&ring->filter[i].table);
    return bytes;
}
