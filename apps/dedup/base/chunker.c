#include "apps/dedup/base/chunker.h"

enum { WINDOW = 64 }; /* bytes that the hash depends on */

/* The output function of splitmix64: a fixed table without a table in the source. */
static uint64_t mix_gear(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t top_bits(unsigned count)
{
    return ~(uint64_t)0 << (64 - count);
}

void dedup_chunker_init(dedup_chunker *chunker, uint32_t average)
{
    unsigned bits = 12;
    while (bits < 16 && ((uint32_t)1 << bits) < average)
        bits++;
    chunker->least = average / 4;
    chunker->normal = average;
    chunker->most = (size_t)average * 16;
    chunker->before = top_bits(bits + 1);
    chunker->after = top_bits(bits - 1);
    for (unsigned i = 0; i < 256; i++)
        chunker->gear[i] = mix_gear((uint64_t)i * 0xd1342543de82ef95u);
}

size_t dedup_chunker_cut(const dedup_chunker *chunker, const unsigned char *bytes, size_t len)
{
    if (len <= chunker->least)
        return len;
    size_t end = len < chunker->most ? len : chunker->most;
    size_t normal = end < chunker->normal ? end : chunker->normal;
    uint64_t hash = 0;
    /* The first bytes only fill the window, so that every cut depends on its 64 bytes alone. */
    size_t at = chunker->least - WINDOW;
    for (; at < chunker->least; at++)
        hash = (hash << 1) + chunker->gear[bytes[at]];
    for (; at < normal; at++) {
        hash = (hash << 1) + chunker->gear[bytes[at]];
        if (!(hash & chunker->before))
            return at + 1;
    }
    for (; at < end; at++) {
        hash = (hash << 1) + chunker->gear[bytes[at]];
        if (!(hash & chunker->after))
            return at + 1;
    }
    return end;
}
