#include "kernel/kernel.h"

#include <bloomery/base.h>
#include <stdlib.h>
#include <string.h>

const unsigned char bry__no_block[BRY__NO_BLOCK];

const bry__kernel *bry__kernel_of(bry__isa isa)
{
    if (!bry__cpu_has(isa))
        return NULL;
    switch (isa) {
    case BRY__ISA_SCALAR:
        return &bry__kernel_scalar;
#if defined(__x86_64__)
    case BRY__ISA_AVX2:
        return &bry__kernel_avx2;
    case BRY__ISA_AVX512:
        return &bry__kernel_avx512;
#elif defined(__aarch64__)
    case BRY__ISA_NEON:
        return &bry__kernel_neon;
#endif
    default:
        return NULL;
    }
}

_Atomic(const bry__kernel *) bry__kernel_picked;

static const bry__kernel *best_or_forced(void)
{
    const bry__kernel *best = &bry__kernel_scalar;
    const char *forced = getenv("BLOOMERY_ISA");
    for (int isa = 0; isa < BRY__ISA_COUNT; isa++) {
        const bry__kernel *kernel = bry__kernel_of((bry__isa)isa);
        if (!kernel)
            continue;
        if (forced && strcmp(forced, bry__isa_names[isa]) == 0)
            return kernel;
        best = kernel;
    }
    return best;
}

const bry__kernel *bry__kernel_pick(void)
{
    const bry__kernel *kernel = best_or_forced();
    atomic_store_explicit(&bry__kernel_picked, kernel, memory_order_release);
    return kernel;
}

bool bry__kernel_force(bry__isa isa)
{
    const bry__kernel *kernel = bry__kernel_of(isa);
    if (kernel)
        atomic_store_explicit(&bry__kernel_picked, kernel, memory_order_release);
    return kernel != NULL;
}

const char *bry_isa(void)
{
    return bry__isa_names[bry__kernels()->isa];
}
