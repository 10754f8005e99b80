#include "counter/counter_meter.h"

static void *meter_alloc(void *opaque, size_t size)
{
    bry__counter_meter *meter = opaque;
    if (meter->limit) {
        uint64_t bytes = meter->bytes;
        if (bytes >= meter->limit || size > meter->limit - bytes) {
            meter->denied = true;
            return NULL;
        }
    }
    void *block = meter->under.alloc(meter->under.opaque, size);
    if (block)
        atomic_fetch_add_explicit(&meter->bytes, size, memory_order_relaxed);
    return block;
}

static void meter_free(void *opaque, void *block, size_t size)
{
    bry__counter_meter *meter = opaque;
    atomic_fetch_sub_explicit(&meter->bytes, size, memory_order_relaxed);
    meter->under.free(meter->under.opaque, block, size);
}

void bry__counter_meter_init(bry__counter_meter *meter, const bry_allocator *under)
{
    *meter = (bry__counter_meter){.allocator = {meter_alloc, meter_free, meter}, .under = *under};
}
