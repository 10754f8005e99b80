/* Encodes entries as the bytes of a segment. */
#include "maplet/segment_layout.h"

#include "kernel/kernel.h"

#include <string.h>

/* ---- slots --------------------------------------------------------------------------------- */

static inline uint64_t slot_of(const bry__entry *entry, unsigned low)
{
    return (uint64_t)entry->value << low | (entry->u & bry__low_bits(low));
}

static void encode_slots(const bry__entry *entries, unsigned n, unsigned low, unsigned value_bits,
                         unsigned char *end)
{
    bry__downwards to = {.end = end};
    unsigned bits = low + value_bits, i = 0;
    if (bits < BRY__FIELD_MAX) {
        for (; 2 * bits < BRY__FIELD_MAX && i + 1 < n; i += 2) /* two at once: twice as fast */
            bry__put_bits(&to, slot_of(&entries[i], low) << bits | slot_of(&entries[i + 1], low),
                          2 * bits);
        for (; i < n; i++)
            bry__put_bits(&to, slot_of(&entries[i], low), bits);
        return;
    }
    for (; i < n; i++) {
        bry__put_bits(&to, entries[i].value, value_bits);
        bry__put_bits(&to, entries[i].u & bry__low_bits(low), low);
    }
}

/* ---- entries ------------------------------------------------------------------------------- */

/* The front, `size` bytes: samples and runs. */
static void encode_front(const bry__entry *entries, unsigned n, unsigned low, unsigned quotients,
                         unsigned char *front, size_t size)
{
    size_t samples = bry__samples_of(quotients), sampled = 0, at = 2 * samples;
    uint64_t word = 0, from = 0; /* bits not written yet, and the number of the first */
    for (unsigned i = 0; i < n; i++) {
        uint64_t quotient = entries[i].u >> low, one = quotient + i;
        for (; sampled < quotient >> BRY__SAMPLED; sampled++)
            bry__store16(front + 2 * sampled, (uint16_t)i);
        for (; one - from >= 64; from += 64, at += 8, word = 0)
            bry__store64(front + at, word);
        word |= (uint64_t)1 << (one - from);
    }
    for (; sampled < samples; sampled++)
        bry__store16(front + 2 * sampled, (uint16_t)n);
    for (; at < size; at++, word >>= 8)
        front[at] = (unsigned char)word;
}

void bry__segment_encode(const bry__entry *entries, unsigned n, uint64_t u_most,
                         unsigned value_bits, const bry__segment_layout *layout,
                         unsigned char *front, unsigned char *slots)
{
    unsigned low = layout->remainder_bits;
    encode_slots(entries, n, low, value_bits, slots + layout->slots);
    encode_front(entries, n, low, (unsigned)(u_most >> low) + 1, front, layout->front);
}
