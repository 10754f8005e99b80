#include "window/counter_meter.h"

static void *meter_alloc(void *opaque, size_t size)
{
    bry__counter_meter *meter = opaque;
    if (meter->ceiling &&
        (meter->bytes >= meter->ceiling || size > meter->ceiling - meter->bytes)) {
        meter->denied = true;
        return NULL;
    }
    void *block = meter->under.alloc(meter->under.opaque, size);
    if (block)
        meter->bytes += size;
    return block;
}

static void meter_free(void *opaque, void *block, size_t size)
{
    bry__counter_meter *meter = opaque;
    meter->bytes -= size;
    meter->under.free(meter->under.opaque, block, size);
}

void bry__counter_meter_init(bry__counter_meter *meter, const bry_allocator *under)
{
    *meter = (bry__counter_meter){.allocator = {meter_alloc, meter_free, meter}, .under = *under};
}
