#include "bench/harness/value_mix.h"

#include <math.h>
#include <stdlib.h>

/* The weight of value i. If the share of the first is given, the others are relative to each
 * other. */
static double value_weight(uint32_t i, double skew, double top)
{
    return i == 0 && top > 0 ? 0 : pow((double)i + (top > 0 ? 0 : 1), -skew);
}

bool value_mix_make(value_mix *mix, uint32_t count, double skew, double top)
{
    *mix = (value_mix){.count = count, .below = malloc(count * sizeof *mix->below)};
    if (!mix->below)
        return false;
    double sum = 0, before = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += value_weight(i, skew, top);
    for (uint32_t i = 0; i < count; i++) {
        double share = i == 0 && top > 0 ? top : value_weight(i, skew, top) / sum * (1 - top);
        before += share;
        mix->same += share * share;
        mix->below[i] = before < 1 ? (uint64_t)(before * 0x1p64) : UINT64_MAX;
    }
    mix->below[count - 1] = UINT64_MAX; /* the last one absorbs rounding errors */
    if (count == 1)
        mix->same = 1;
    return true;
}

void value_mix_free(value_mix *mix)
{
    free(mix->below);
    *mix = (value_mix){0};
}

uint32_t value_mix_draw(const value_mix *mix, uint64_t random)
{
    uint32_t low = 0, high = mix->count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (random < mix->below[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
