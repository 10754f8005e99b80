/*
 * A segment holds n sorted entries (u, value) in the Elias-Fano code. u is split:
 *
 *        u  =  quotient  |  remainder (r bits)         Q = (largest u >> r) + 1 quotients
 *
 * and one block of memory holds, from both ends towards a gap:
 *
 *   0                                                                       2 · steps + 8 bytes
 *   ├──────────┬───────────────────┬───── gap ─────┬─────────────┬── … ──┬─────────┬─────────┤
 *   │ samples  │ runs              │ zeros         │ slot n-1    │       │ slot 1  │ slot 0  │
 *   └──────────┴───────────────────┴───────────────┴─────────────┴── … ──┴─────────┴─────────┘
 *
 *   samples   16 bits per 128 quotients, except for the first: entries with a lower quotient
 *   runs      for every quotient in turn as many 1s as it has entries, then a 0: Q + n bits
 *   slots     remainder (low bits) and value (v bits) of entry i, w = r + v bits together, at bits
 *             [end - (i+1)·w, end - i·w)
 *
 * The 1 of entry i is bit quotient + i of the runs; so once the run of a quotient is found, its
 * position minus the quotient is the index of its first entry. r is chosen so that Q is between n
 * and 2n. There, runs and remainder together take 1.91 to 2 bits per entry more than log2 of the
 * density.
 *
 * Adding an entry moves the slots above it by w bits and the runs after it by one. There are no
 * collisions, the result does not depend on the order of operations, and entries stay sorted.
 */
#include "maplet/segment.h"

#include "common/endian.h"
#include "kernel/bits.h"
#include "kernel/kernel.h"
#include "maplet/segment_layout.h"
#include "maplet/segment_shift.h"

#include <string.h>

#define MIN_QUOTIENTS 64u
#define SLACK                                                                                      \
    (32 / BRY__SEGMENT_STEP) /* that may be unused after removals; twice in large blocks */

/* ---- the layout ---------------------------------------------------------------------------- */

static size_t segment_front_bytes(unsigned n, unsigned quotients)
{
    return 2 * bry__samples_of(quotients) + ((size_t)quotients + n + 7) / 8;
}

static size_t segment_slots_bytes(unsigned n, unsigned slot)
{
    return ((size_t)n * slot + 7) / 8;
}

static unsigned segment_steps_for(unsigned n, unsigned quotients, unsigned slot)
{
    size_t front = segment_front_bytes(n, quotients), slots = segment_slots_bytes(n, slot);
    if (slots < 8)
        slots = 8; /* reading the runs may go this far beyond their end */
    return (unsigned)((front + slots + BRY__SEGMENT_STEP - 9) / BRY__SEGMENT_STEP);
}

/* The largest number of remainder bits with at least n quotients. */
static unsigned segment_remainder_bits(unsigned n, uint64_t u_most)
{
    uint64_t least = (n > MIN_QUOTIENTS ? n : MIN_QUOTIENTS) - 1;
    unsigned bits = 1; /* at least 1, so that a split finds its bit in the slots */
    while (u_most >> (bits + 1) >= least)
        bits++;
    return bits;
}

bry__segment_layout bry__segment_layout_of(unsigned n, uint64_t u_most, unsigned value_bits)
{
    if (n == 0)
        return (bry__segment_layout){0};
    unsigned remainder_bits = segment_remainder_bits(n, u_most), slot = remainder_bits + value_bits;
    unsigned quotients = (unsigned)(u_most >> remainder_bits) + 1;
    return (bry__segment_layout){remainder_bits, segment_steps_for(n, quotients, slot),
                                 segment_front_bytes(n, quotients), segment_slots_bytes(n, slot)};
}

uint32_t bry__segment_value(const bry__segment *segment, unsigned index)
{
    return (uint32_t)bry__field_get(segment->bytes,
                                    bry__slot_at(segment, index) + segment->remainder_bits,
                                    segment->value_bits);
}

void bry__segment_set_value(bry__segment *segment, unsigned index, uint32_t value)
{
    bry__field_put(segment->bytes, bry__slot_at(segment, index) + segment->remainder_bits,
                   segment->value_bits, value);
}

static uint64_t segment_get_slot(const bry__segment *segment, unsigned index, uint32_t *value)
{
    uint64_t slot = bry__slot_at(segment, index);
    unsigned bits = bry__slot_bits(segment), low = segment->remainder_bits;
    if (bits <= BRY__FIELD_MAX) {
        uint64_t both = bry__field_get(segment->bytes, slot, bits);
        *value = (uint32_t)(both >> low);
        return both & bry__low_bits(low);
    }
    *value = (uint32_t)bry__field_get(segment->bytes, slot + low, segment->value_bits);
    return bry__field_get(segment->bytes, slot, low);
}

/* ---- all entries --------------------------------------------------------------------------- */

bry__block_ends bry__segment_ends(const bry__segment *segment, uint64_t u_most)
{
    unsigned n = segment->n, quotients = bry__quotients_of(segment, u_most);
    unsigned slot = bry__slot_bits(segment);
    return (bry__block_ends){segment_front_bytes(n, quotients), segment_slots_bytes(n, slot),
                             segment_steps_for(n, quotients, slot)};
}

void bry__segment_free(bry__segment *segment, const bry__home *home)
{
    bry__block_free(home, segment);
    *segment = (bry__segment){.spilled = segment->spilled};
}

double bry__segment_plan_bytes(double n, uint64_t u_most, unsigned value_bits)
{
    unsigned remainder_bits = segment_remainder_bits((unsigned)n, u_most);
    unsigned quotients = (unsigned)(u_most >> remainder_bits) + 1;
    double bits = quotients + n + n * (remainder_bits + value_bits);
    return 2 * (double)bry__samples_of(quotients) + bits / 8 + 1; /* of half-filled bytes */
}

bool bry__segment_next(const bry__segment *segment, uint64_t u_most, bry__segment_cursor *cursor,
                       bry__entry *entry)
{
    if (cursor->index >= segment->n)
        return false;
    const unsigned char *runs = bry__runs_of(segment, bry__quotients_of(segment, u_most));
    for (;;) {
        uint64_t ones = bry__load64(runs + (cursor->bit >> 3)) >> (cursor->bit & 7);
        if (ones) {
            cursor->bit += (unsigned)__builtin_ctzll(ones);
            break;
        }
        cursor->bit += 64 - (cursor->bit & 7);
    }
    uint64_t quotient = cursor->bit - cursor->index;
    entry->u = quotient << segment->remainder_bits |
               segment_get_slot(segment, cursor->index, &entry->value);
    cursor->bit++;
    cursor->index++;
    return true;
}

/* bry__segment_read_some() for slots that fit into a word; slots are read as in segment_pick(). */
static inline unsigned segment_read_narrow(const bry__segment *segment, const unsigned char *runs,
                                           uint64_t runs_end, bry__segment_cursor *cursor,
                                           bry__entry *to, unsigned room)
{
    unsigned low = segment->remainder_bits, bits = bry__slot_bits(segment);
    uint64_t end = bry__slot_at(segment, cursor->index) + bits, mask = bry__low_bits(low);
    uint64_t bit = cursor->bit;
    uint64_t quotient = bit - cursor->index; /* of the word's first bit if that is a 1 */
    const bry__entry *first = to;
    for (; bit < runs_end && (size_t)(to - first) <= room - 64; bit += 64, quotient += 64) {
        uint64_t ones = bry__load64(runs + (bit >> 3));
        if (runs_end - bit < 64)
            ones &= bry__low_bits((unsigned)(runs_end - bit));
        for (; ones; ones &= ones - 1, quotient--, end -= bits, to++) {
            uint64_t slot = bry__load64(segment->bytes + ((end + 7) >> 3) - 8)
                                << (-(unsigned)end & 7) >>
                            (64 - bits);
            to->u = (quotient + (unsigned)__builtin_ctzll(ones)) << low | (slot & mask);
            to->value = (uint32_t)(slot >> low);
        }
    }
    cursor->bit = bit;
    cursor->index += (unsigned)(to - first);
    return (unsigned)(to - first);
}

unsigned bry__segment_read_some(const bry__segment *segment, uint64_t u_most,
                                bry__segment_cursor *cursor, bry__entry *to, unsigned room)
{
    unsigned quotients = bry__quotients_of(segment, u_most), n = 0;
    if (segment->n > 0 && bry__slot_bits(segment) <= BRY__FIELD_MAX)
        return segment_read_narrow(segment, bry__runs_of(segment, quotients),
                                   (uint64_t)quotients + segment->n, cursor, to, room);
    while (n < room && bry__segment_next(segment, u_most, cursor, to + n))
        n++;
    return n;
}

void bry__segment_read(const bry__segment *segment, uint64_t u_most, bry__entry *to)
{
    bry__segment_read_some(segment, u_most, &(bry__segment_cursor){0}, to, BRY__SEGMENT_MAX + 64);
}

void bry__segment_values(const bry__segment *segment, uint32_t *to)
{
    unsigned bits = bry__slot_bits(segment);
    uint64_t end = 8 * (uint64_t)bry__segment_block(segment->steps);
    if (segment->value_bits == 0) {
        memset(to, 0, segment->n * sizeof *to);
        return;
    }
    for (unsigned i = 0; i < segment->n; i++, end -= bits) /* a value is at the end of its slot */
        to[i] =
            (uint32_t)(bry__load64(segment->bytes + ((end + 7) >> 3) - 8) << (-(unsigned)end & 7) >>
                       (64 - segment->value_bits));
}

/* ---- changing ------------------------------------------------------------------------------ */

bry_status bry__segment_write(bry__segment *segment, uint64_t u_most, const bry__entry *entries,
                              unsigned n, unsigned value_bits, const bry__home *home)
{
    if (n == 0) {
        bry__segment_free(segment, home);
        return BRY_OK;
    }
    bry__segment_layout layout = bry__segment_layout_of(n, u_most, value_bits);
    bry_status status = bry__block_resize(home, segment, layout.steps, 0, 0);
    if (status != BRY_OK)
        return status;
    segment->n = (uint16_t)n;
    segment->remainder_bits = (uint8_t)layout.remainder_bits;
    segment->value_bits = (uint8_t)value_bits;
    bry__segment_encode(entries, n, u_most, value_bits, &layout, segment->bytes,
                        segment->bytes + bry__segment_bytes(segment) - layout.slots);
    return BRY_OK;
}

bry_status bry__segment_clone(const bry__segment *segment, uint64_t u_most, bry__segment *copy,
                              const bry__home *home)
{
    bry__segment made = *copy;
    if (segment->bytes) {
        bry__block_ends ends = bry__segment_ends(segment, u_most);
        bry_status status = bry__block_resize(home, &made, ends.steps, 0, 0);
        if (status != BRY_OK)
            return status;
        memcpy(made.bytes, segment->bytes, ends.front);
        memcpy(made.bytes + bry__segment_bytes(&made) - ends.slots,
               segment->bytes + bry__segment_bytes(segment) - ends.slots, ends.slots);
    }
    *copy = *segment;
    copy->bytes = made.bytes;
    copy->steps = made.steps;
    copy->in_area = made.in_area;
    return BRY_OK;
}

/* Adds 1 to every sample after the quotient, or subtracts 1; four samples at a time. */
static void segment_shift_samples(bry__segment *segment, unsigned quotients, uint64_t quotient,
                                  bool more)
{
    size_t samples = bry__samples_of(quotients), i = (size_t)(quotient >> BRY__SAMPLED);
    uint64_t ones = UINT64_C(0x0001000100010001) << 16 * (i & 3);
    for (i &= ~(size_t)3; i < samples; i += 4, ones = UINT64_C(0x0001000100010001)) {
        if (samples - i < 4)
            ones &= bry__low_bits(16 * (unsigned)(samples - i));
        uint64_t word = bry__load64(segment->bytes + 2 * i);
        bry__store64(segment->bytes + 2 * i, more ? word + ones : word - ones);
    }
}

/* Inserts a slot at `index`. If it is wider than a word, its value and its remainder are inserted
 * one after the other. */
static void segment_open_slot(bry__segment *segment, unsigned index, uint64_t remainder,
                              uint32_t value)
{
    const bry__kernel *kernel = bry__kernels();
    unsigned bits = bry__slot_bits(segment), low = segment->remainder_bits;
    uint64_t end = 8 * (uint64_t)bry__segment_block(segment->steps);
    uint64_t lowest = end - (uint64_t)segment->n * bits, at = end - (uint64_t)index * bits;
    if (bits <= BRY__FIELD_MAX) {
        bry__slot_open(kernel, segment->bytes, lowest, at, bits,
                       (uint64_t)value << low | remainder);
    } else {
        bry__slot_open(kernel, segment->bytes, lowest, at, bits - low, value);
        bry__slot_open(kernel, segment->bytes, lowest - (bits - low), at - (bits - low), low,
                       remainder);
    }
}

/* Removes the slot at `index`. */
static void segment_close_slot(bry__segment *segment, unsigned index)
{
    const bry__kernel *kernel = bry__kernels();
    unsigned bits = bry__slot_bits(segment), low = segment->remainder_bits;
    uint64_t end = 8 * (uint64_t)bry__segment_block(segment->steps);
    uint64_t lowest = end - (uint64_t)segment->n * bits, at = end - (uint64_t)index * bits;
    if (bits <= BRY__FIELD_MAX) {
        bry__slot_close(kernel, segment->bytes, lowest, at, bits);
    } else {
        bry__slot_close(kernel, segment->bytes, lowest, at, bits - low);
        bry__slot_close(kernel, segment->bytes, lowest + (bits - low), at, low);
    }
}

bry_status bry__segment_insert(bry__segment *segment, uint64_t u_most, bry__place place,
                               bry__entry entry, unsigned value_bits, const bry__home *home)
{
    unsigned n = segment->n + 1u, quotients = bry__quotients_of(segment, u_most);
    if (!segment->bytes || !bry__segment_fits(segment, entry.value) ||
        (n > quotients && segment->remainder_bits > 1))
        return bry__segment_rewrite(segment, u_most, &entry, value_bits, home);
    unsigned slot = bry__slot_bits(segment), steps = segment_steps_for(n, quotients, slot);
    if (steps > segment->steps) {
        bry_status status =
            bry__block_resize(home, segment, steps, segment_front_bytes(segment->n, quotients),
                              segment_slots_bytes(segment->n, slot));
        if (status != BRY_OK)
            return status;
    }
    segment_shift_samples(segment, quotients, entry.u >> segment->remainder_bits, true);
    segment_open_slot(segment, place.index, entry.u & bry__low_bits(segment->remainder_bits),
                      entry.value);
    bry__run_open(bry__kernels(), bry__runs_of(segment, quotients), place.bit,
                  (uint64_t)quotients + segment->n);
    segment->n = (uint16_t)n;
    return BRY_OK;
}

void bry__segment_remove(bry__segment *segment, uint64_t u_most, bry__place place, uint64_t u,
                         const bry__home *home)
{
    unsigned n = segment->n - 1u, quotients = bry__quotients_of(segment, u_most);
    if (n == 0) {
        bry__segment_free(segment, home);
        return;
    }
    segment_shift_samples(segment, quotients, u >> segment->remainder_bits, false);
    segment_close_slot(segment, place.index);
    bry__run_close(bry__kernels(), bry__runs_of(segment, quotients), place.bit,
                   (uint64_t)quotients + n);
    segment->n = (uint16_t)n;

    /* Failing to shrink is not an error. Some slack keeps alternating adds and removals cheap. */
    unsigned steps = segment_steps_for(n, quotients, bry__slot_bits(segment));
    if (quotients > 4 * MIN_QUOTIENTS && n < quotients / 4)
        (void)bry__segment_rewrite(segment, u_most, NULL, segment->value_bits, home);
    else if (steps + (segment->in_area && steps > 32 * SLACK ? 2 * SLACK : SLACK) <= segment->steps)
        (void)bry__block_resize(home, segment, steps, segment_front_bytes(n, quotients),
                                segment_slots_bytes(n, bry__slot_bits(segment)));
}

/* ---- checking ------------------------------------------------------------------------------ */

static bool segment_bit_at(const unsigned char *bytes, uint64_t i)
{
    return bytes[i >> 3] >> (i & 7) & 1;
}

/* Checks that the runs have n ones, and the samples match. */
static const char *segment_check_runs(const bry__segment *segment, unsigned quotients)
{
    const unsigned char *runs = bry__runs_of(segment, quotients);
    uint64_t end = (uint64_t)quotients + segment->n;
    size_t samples = bry__samples_of(quotients), sample = 0; /* the next one to check */
    unsigned ones = 0;
    bool agree = true;
    for (uint64_t from = 0; from < end; from += 64) {
        uint64_t word = bry__load64(runs + (from >> 3));
        if (end - from < 64)
            word &= bry__low_bits((unsigned)(end - from));
        for (; word; word &= word - 1, ones++) {
            uint64_t quotient = from + (unsigned)__builtin_ctzll(word) - ones;
            for (; sample < samples && sample < quotient >> BRY__SAMPLED; sample++)
                agree = agree && bry__load16(segment->bytes + 2 * sample) == ones;
        }
    }
    for (; sample < samples; sample++)
        agree = agree && bry__load16(segment->bytes + 2 * sample) == ones;
    if (ones != segment->n || segment_bit_at(runs, end - 1))
        return "a segment's runs do not match its entries";
    return agree ? NULL : "a segment's sample does not match its runs";
}

const char *bry__segment_check_layout(const bry__segment *segment, uint64_t u_most)
{
    if (segment->n == 0 && (segment->bytes || segment->steps))
        return "an empty segment has memory";
    if (segment->n == 0) /* the layout is chosen when the first entry is added */
        return segment->remainder_bits || segment->value_bits > 32 ? "an empty segment has a layout"
                                                                   : NULL;
    if (!segment->bytes || segment->n > BRY__SEGMENT_MAX || segment->value_bits > 32 ||
        segment->remainder_bits < 1 || segment->remainder_bits >= BRY__FIELD_MAX ||
        u_most >> segment->remainder_bits < MIN_QUOTIENTS - 1 ||
        u_most >> segment->remainder_bits >= (uint64_t)16 * BRY__SEGMENT_MAX)
        return "a segment's numbers are out of range";
    unsigned quotients = bry__quotients_of(segment, u_most), slot = bry__slot_bits(segment);
    if (segment->n > quotients && segment->remainder_bits > 1)
        return "a segment has too few quotients";
    if (segment_steps_for(segment->n, quotients, slot) > segment->steps)
        return "a segment is too small for its entries";
    const char *problem = segment_check_runs(segment, quotients);
    if (problem)
        return problem;
    uint64_t gap = 16 * bry__samples_of(quotients) + quotients + segment->n;
    for (; gap < bry__slot_at(segment, segment->n - 1u); gap++)
        if (segment_bit_at(segment->bytes, gap))
            return "a segment has bits outside its entries";
    return NULL;
}

const char *bry__segment_check(const bry__segment *segment, uint64_t u_most, uint64_t u_limit)
{
    const char *problem = bry__segment_check_layout(segment, u_most);
    if (problem)
        return problem;
    bry__segment_cursor cursor = {0};
    bry__entry last = {0}, entry;
    for (bool first = true; bry__segment_next(segment, u_most, &cursor, &entry); first = false) {
        if (entry.u > u_limit)
            return "a fingerprint is out of range";
        if (!first && (entry.u < last.u || (entry.u == last.u && entry.value < last.value)))
            return "a segment's entries are out of order";
        last = entry;
    }
    return NULL;
}
