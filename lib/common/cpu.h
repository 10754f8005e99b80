/* The instruction sets that this machine supports. */
#ifndef BRY_COMMON_CPU_H
#define BRY_COMMON_CPU_H

#include <stdbool.h>

typedef enum bry__isa {
    BRY__ISA_SCALAR,
    BRY__ISA_AVX2, /* with BMI2 and POPCNT */
    BRY__ISA_AVX512, /* F, BW, DQ, VL, VPOPCNTDQ and everything above */
    BRY__ISA_NEON,
    BRY__ISA_COUNT
} bry__isa;

extern const char *const bry__isa_names[BRY__ISA_COUNT];

bool bry__cpu_has(bry__isa isa);

#endif
