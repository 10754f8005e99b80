/*
 * Segments as they are written: from entries, or from a segment of which some entries are left out
 * and the values of others become names. The latter needs to know neither u nor quotients. The
 * slots that are kept are written one after the other, and from the runs the 1s of the others are
 * taken.
 */
#include "maplet/segment_layout.h"

#include "kernel/bits.h"

#include <string.h>

/* ---- slots --------------------------------------------------------------------------------- */

/* Bits that are written downwards, towards lower places. */
typedef struct downwards {
    unsigned char *end; /* bytes from here on are complete */
    uint64_t bits; /* those that are not, from the highest bit on … */
    unsigned used; /* … and how many, less than 8 */
} downwards;

/* At most 56 of them; 0: the field is 0. */
static inline void put_bits(downwards *to, uint64_t field, unsigned len)
{
    to->used += len;
    to->bits |= field << 1 << (63 - to->used);
    bry__store64(to->end - 8, to->bits);
    to->end -= to->used >> 3;
    to->bits <<= to->used & ~7u;
    to->used &= 7;
}

static void encode_slots(const bry__entry *entries, unsigned n, unsigned low, unsigned value_bits,
                         unsigned char *end)
{
    downwards to = {.end = end};
    if (low + value_bits < BRY__FIELD_MAX) {
        for (unsigned i = 0; i < n; i++)
            put_bits(&to, (uint64_t)entries[i].value << low | (entries[i].u & bry__low_bits(low)),
                     low + value_bits);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        put_bits(&to, entries[i].value, value_bits);
        put_bits(&to, entries[i].u & bry__low_bits(low), low);
    }
}

/* ---- entries ------------------------------------------------------------------------------- */

/* Samples and runs: the front, which has `size` bytes. */
static void encode_front(const bry__entry *entries, unsigned n, unsigned low, unsigned quotients,
                         unsigned char *front, size_t size)
{
    size_t samples = bry__samples_of(quotients), sampled = 0, at = 2 * samples;
    uint64_t word = 0, from = 0; /* bits that are not written yet, and where they begin */
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

/* ---- names --------------------------------------------------------------------------------- */

/* Which entries are kept: a bit for each, and how many. */
typedef struct selection {
    uint64_t kept[BRY__SEGMENT_MAX / 64 + 1]; /* one more, which is 0 */
    unsigned n;
} selection;

/* The slot that ends at a bit of the block, as in pick() of segment.c. */
static inline uint64_t slot_before(const unsigned char *bytes, uint64_t end, unsigned bits)
{
    return bry__load64(bytes + ((end + 7) >> 3) - 8) << (-(unsigned)end & 7) >> (64 - bits);
}

/* Whether the values of one u are in order by their names too. Goes by remainders alone, so it may
 * say no where they are. */
static bool keeps_order(const bry__segment *segment, const uint32_t *name)
{
    unsigned low = segment->remainder_bits, bits = bry__slot_bits(segment);
    uint64_t from = 8 * (uint64_t)bry__segment_block(segment->steps), mask = bry__low_bits(low);
    uint64_t last = UINT64_MAX; /* the remainder before, and its name */
    uint32_t last_name = 0;
    for (unsigned i = 0; i < segment->n; i++, from -= bits) {
        uint64_t slot = slot_before(segment->bytes, from, bits);
        uint32_t named = name[slot >> low];
        if ((slot & mask) == last && named < last_name)
            return false;
        last = slot & mask;
        last_name = named;
    }
    return true;
}

/* Writes up to 64 slots of `bits` bits, the first of which ends at bit `from` of the block, if they
 * are kept; which ones. */
static uint64_t copy_slots(const unsigned char *bytes, uint64_t from, unsigned n, unsigned low,
                           unsigned bits, const uint32_t *name, unsigned value_bits, downwards *to)
{
    uint64_t mask = bry__low_bits(low), kept = 0;
    downwards out = *to;
    for (unsigned i = 0; i < n; i++, from -= bits) {
        uint64_t slot =
            bry__load64(bytes + ((from + 7) >> 3) - 8) << (-(unsigned)from & 7) >> (64 - bits);
        uint64_t named = name[slot >> low];
        if (named == BRY__NOT_KEPT)
            continue;
        put_bits(&out, named << low | (slot & mask), low + value_bits);
        kept |= (uint64_t)1 << i;
    }
    *to = out;
    return kept;
}

/* Drops the 1s whose bits in `kept` are 0; how many. */
static unsigned drop_ones(uint64_t *word, uint64_t kept)
{
    unsigned dropped = 0;
    for (uint64_t ones = *word; ones; ones &= ones - 1, kept >>= 1) {
        if (kept & 1)
            continue;
        uint64_t below = bry__low_bits((unsigned)__builtin_ctzll(ones) - dropped++);
        *word = (*word & below) | (*word >> 1 & ~below);
    }
    return dropped;
}

/* Writes the runs without the 1s of what is not kept, and up to eight bytes of zeros behind. */
static void copy_runs(const unsigned char *runs, uint64_t end, const selection *chosen,
                      unsigned char *to)
{
    uint64_t bits = 0; /* that are not written yet … */
    unsigned used = 0, index = 0; /* … and how many, less than 64 */
    for (uint64_t at = 0; at < end; at += 64) {
        unsigned len = end - at < 64 ? (unsigned)(end - at) : 64;
        uint64_t word = bry__load64(runs + (at >> 3));
        if (len < 64)
            word &= bry__low_bits(len);
        unsigned ones = (unsigned)__builtin_popcountll(word), shift = index % 64;
        const uint64_t *from = &chosen->kept[index / 64];
        uint64_t kept = from[0] >> shift | from[1] << 1 << (63 - shift);
        uint64_t all = ones < 64 ? bry__low_bits(ones) : UINT64_MAX;
        if ((kept & all) != all)
            len -= drop_ones(&word, kept);
        index += ones;
        bits |= word << used;
        bry__store64(to, bits);
        if (used + len >= 64) {
            to += 8;
            bits = used ? word >> (64 - used) : 0;
        }
        used = (used + len) % 64;
    }
    bry__store64(to, bits);
}

/* How many of the first n entries are kept. */
static unsigned count_kept(const selection *chosen, unsigned n)
{
    unsigned count = 0, i = 0;
    for (; n >= 64; n -= 64)
        count += (unsigned)__builtin_popcountll(chosen->kept[i++]);
    return count + (unsigned)__builtin_popcountll(chosen->kept[i] & bry__low_bits(n));
}

bool bry__segment_encode_named(const bry__segment *segment, uint64_t u_most, const uint32_t *name,
                               bool rising, unsigned value_bits, unsigned char *front, unsigned *n,
                               bry__segment_layout *layout)
{
    if (segment->n == 0 || bry__slot_bits(segment) >= BRY__FIELD_MAX ||
        segment->remainder_bits + value_bits >= BRY__FIELD_MAX ||
        (!rising && !keeps_order(segment, name)))
        return false;
    selection chosen = {.n = 0};
    unsigned quotients = bry__quotients_of(segment, u_most), bits = bry__slot_bits(segment);
    size_t samples = bry__samples_of(quotients);
    /* Behind the longest front that there can be, until it is known how long it is. */
    unsigned char *slots_end = front + BRY__SEGMENT_RECORD_MOST;
    downwards slots = {.end = slots_end};
    uint64_t from = 8 * (uint64_t)bry__segment_block(segment->steps);
    for (unsigned i = 0; i < segment->n; i += 64, from -= 64 * (uint64_t)bits) {
        unsigned here = segment->n - i < 64 ? segment->n - i : 64;
        chosen.kept[i / 64] = copy_slots(segment->bytes, from, here, segment->remainder_bits, bits,
                                         name, value_bits, &slots);
        chosen.n += (unsigned)__builtin_popcountll(chosen.kept[i / 64]);
    }
    *n = chosen.n;
    *layout = bry__segment_layout_of(chosen.n, u_most, value_bits);
    if (chosen.n == 0)
        return true;
    if (layout->remainder_bits != segment->remainder_bits)
        return false;
    copy_runs(segment->bytes + 2 * samples, (uint64_t)quotients + segment->n, &chosen,
              front + 2 * samples);
    for (size_t i = 0; i < samples; i++)
        bry__store16(front + 2 * i,
                     (uint16_t)count_kept(&chosen, bry__load16(segment->bytes + 2 * i)));
    memmove(front + layout->front, slots_end - layout->slots, layout->slots);
    return true;
}
