#include "common/cpu.h"

const char *const bry__isa_names[BRY__ISA_COUNT] = {"scalar", "avx2", "avx512", "neon"};

bool bry__cpu_has(bry__isa isa)
{
    switch (isa) {
    case BRY__ISA_SCALAR:
        return true;
#if defined(__x86_64__)
    case BRY__ISA_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
               __builtin_cpu_supports("popcnt");
    case BRY__ISA_AVX512:
        return bry__cpu_has(BRY__ISA_AVX2) && __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vpopcntdq");
#elif defined(__aarch64__)
    case BRY__ISA_NEON:
        return true; /* part of the base architecture */
#endif
    default:
        return false;
    }
}
