/*
 * A segment keeps n entries (u, value) in sorted order, coded after Elias and Fano. u is split:
 *
 *        u  =  quotient (log2 Q bits)  |  remainder (r bits)
 *
 * and one block of memory holds, from both ends towards a gap:
 *
 *   0                                                                             steps · 32 bytes
 *   ├──────────┬───────────────────┬───── gap ─────┬─────────────┬── … ──┬─────────┬─────────┤
 *   │ samples  │ runs              │ zeros         │ slot n-1    │       │ slot 1  │ slot 0  │
 *   └──────────┴───────────────────┴───────────────┴─────────────┴── … ──┴─────────┴─────────┘
 *
 *   samples   16 bits for each 64 quotients but the first: entries with a lower quotient
 *   runs      for every quotient in turn as many 1s as it has entries, then a 0: Q + n bits
 *   slots     remainder (low bits) and value of entry i at bits [end - (i+1)·w, end - i·w), w = r +
 * v
 *
 * The 1 of entry i stands at place quotient + i of the runs; so after the quotient's run is found,
 * its place minus the quotient is the entry's index. Q is the power of two at or above n, where
 * runs and quotient together cost between 1.91 and 2 bits an entry more than log2 of the density.
 *
 * Adding an entry moves the slots above it by w bits and the runs behind it by one. Nothing ever
 * collides, no order of operations matters to the result, and entries come out sorted.
 */
#include "maplet/segment.h"

#include "common/endian.h"
#include "kernel/bits.h"
#include "kernel/kernel.h"

#include <string.h>

#define SAMPLED 6u /* log2 of the quotients from one sample to the next */
#define MIN_QUOTIENTS SAMPLED

/* Where things are in a block, from what the directory says of it. */
typedef struct layout {
    unsigned remainder_bits, slot_bits;
    size_t runs; /* byte */
    uint64_t end; /* bit, of the block */
} layout;

static size_t samples_of(unsigned quotients)
{
    return ((size_t)1 << (quotients - SAMPLED)) - 1;
}

static layout layout_of(const bry__segment *segment, unsigned u_bits)
{
    unsigned remainder_bits = u_bits - segment->quotients;
    return (layout){
        .remainder_bits = remainder_bits,
        .slot_bits = remainder_bits + segment->value_bits,
        .runs = 2 * samples_of(segment->quotients),
        .end = (uint64_t)segment->steps * BRY__SEGMENT_STEP * 8,
    };
}

static unsigned steps_for(unsigned n, unsigned quotients, unsigned slot_bits)
{
    size_t front = 2 * samples_of(quotients) + (((size_t)1 << quotients) + n + 7) / 8;
    size_t slots = ((size_t)n * slot_bits + 7) / 8;
    if (slots < 8)
        slots = 8; /* reading the runs may pass their end by this much */
    return (unsigned)((front + slots + BRY__SEGMENT_STEP - 1) / BRY__SEGMENT_STEP);
}

static unsigned quotients_for(unsigned n, unsigned u_bits)
{
    unsigned quotients = MIN_QUOTIENTS;
    while ((1u << quotients) < n)
        quotients++;
    return quotients < u_bits ? quotients : u_bits - 1;
}

static uint64_t slot_at(const layout *at, unsigned index)
{
    return at->end - (uint64_t)(index + 1) * at->slot_bits;
}

static uint64_t remainder_of(const bry__segment *segment, const layout *at, unsigned index)
{
    return bry__field_get(segment->bytes, slot_at(at, index), at->remainder_bits);
}

static uint32_t value_of(const bry__segment *segment, const layout *at, unsigned index)
{
    return (uint32_t)bry__field_get(segment->bytes, slot_at(at, index) + at->remainder_bits,
                                    segment->value_bits);
}

static void put_slot(bry__segment *segment, const layout *at, unsigned index, uint64_t remainder,
                     uint32_t value)
{
    uint64_t slot = slot_at(at, index);
    bry__field_put(segment->bytes, slot, at->remainder_bits, remainder);
    bry__field_put(segment->bytes, slot + at->remainder_bits, segment->value_bits, value);
}

bry__place bry__segment_find(const bry__segment *segment, unsigned u_bits, uint64_t u,
                             uint32_t value)
{
    if (!segment->bytes)
        return (bry__place){0};
    layout at = layout_of(segment, u_bits);
    uint64_t quotient = u >> at.remainder_bits, remainder = u & bry__low_bits(at.remainder_bits);
    uint64_t block = quotient >> SAMPLED;
    uint64_t start = block << SAMPLED;
    if (block)
        start += bry__load16(segment->bytes + 2 * (block - 1));

    bry__place place = {0};
    unsigned ones;
    place.bit = bry__kernels()->run_after(segment->bytes + at.runs, start,
                                          (unsigned)quotient & ((1u << SAMPLED) - 1), &ones);
    place.index = (unsigned)(place.bit - quotient);
    place.run = ones;
    for (; place.run > 0; place.run--, place.index++, place.bit++) {
        uint64_t here = remainder_of(segment, &at, place.index);
        if (here > remainder)
            break;
        if (here == remainder && value_of(segment, &at, place.index) >= value) {
            place.found = true;
            break;
        }
    }
    return place;
}

void bry__segment_prefetch(const bry__segment *segment, unsigned u_bits, uint64_t u)
{
    if (!segment->bytes)
        return;
    layout at = layout_of(segment, u_bits);
    uint64_t quotient = u >> at.remainder_bits;
    uint64_t index = quotient * segment->n >> segment->quotients; /* about */
    const unsigned char *runs = segment->bytes + at.runs + ((quotient + index) >> 3);
    const unsigned char *slot = segment->bytes + ((at.end - (index + 1) * at.slot_bits) >> 3);
    if (segment->quotients > SAMPLED)
        __builtin_prefetch(segment->bytes + 2 * (quotient >> SAMPLED));
    __builtin_prefetch(runs);
    /* How far off the guess is: a standard deviation is below sqrt(n)/2 entries, some 40 bytes. */
    __builtin_prefetch(slot - 32);
    __builtin_prefetch(slot + 32);
}

uint32_t bry__segment_value(const bry__segment *segment, unsigned u_bits, unsigned index)
{
    layout at = layout_of(segment, u_bits);
    return value_of(segment, &at, index);
}

void bry__segment_set_value(bry__segment *segment, unsigned u_bits, unsigned index, uint32_t value)
{
    layout at = layout_of(segment, u_bits);
    bry__field_put(segment->bytes, slot_at(&at, index) + at.remainder_bits, segment->value_bits,
                   value);
}

unsigned bry__segment_count(const bry__segment *segment, unsigned u_bits, uint64_t u,
                            bry__place place)
{
    if (!place.found)
        return 0;
    layout at = layout_of(segment, u_bits);
    uint64_t remainder = u & bry__low_bits(at.remainder_bits);
    unsigned count = 1;
    while (count < place.run && remainder_of(segment, &at, place.index + count) == remainder)
        count++;
    return count;
}

/* ---- building ------------------------------------------------------------------------------ */

static unsigned char *alloc_steps(unsigned steps, const bry_allocator *allocator)
{
    return bry__alloc(allocator, (size_t)steps * BRY__SEGMENT_STEP);
}

size_t bry__segment_bytes(const bry__segment *segment)
{
    return segment->bytes ? (size_t)segment->steps * BRY__SEGMENT_STEP : 0;
}

void bry__segment_free(bry__segment *segment, const bry_allocator *allocator)
{
    bry__free(allocator, segment->bytes, bry__segment_bytes(segment));
    *segment = (bry__segment){.spilled = segment->spilled};
}

double bry__segment_plan_bytes(double n, unsigned u_bits, unsigned value_bits)
{
    unsigned quotients = quotients_for((unsigned)n, u_bits);
    double slots = n * (u_bits - quotients + value_bits);
    double runs = (double)((uint64_t)1 << quotients) + n;
    /* Half of the last step is empty on average, and of the last bytes of runs and slots. */
    return 2 * (double)samples_of(quotients) + (runs + slots) / 8 + 1 + BRY__SEGMENT_STEP / 2.0;
}

bry_status bry__segment_begin(bry__segment_builder *builder, unsigned n, unsigned u_bits,
                              unsigned value_bits, const bry_allocator *allocator)
{
    bry__segment segment = {.value_bits = (uint8_t)value_bits};
    if (n > 0) {
        segment.quotients = (uint8_t)quotients_for(n, u_bits);
        segment.steps =
            (uint16_t)steps_for(n, segment.quotients, u_bits - segment.quotients + value_bits);
        segment.bytes = alloc_steps(segment.steps, allocator);
        if (!segment.bytes)
            return BRY_E_NOMEM;
    }
    *builder = (bry__segment_builder){.segment = segment, .u_bits = u_bits};
    return BRY_OK;
}

static void sample_up_to(bry__segment_builder *builder, size_t samples)
{
    for (; builder->sampled < samples; builder->sampled++)
        bry__store16(builder->segment.bytes + 2 * (size_t)builder->sampled,
                     (uint16_t)builder->done);
}

void bry__segment_append(bry__segment_builder *builder, bry__entry entry)
{
    bry__segment *segment = &builder->segment;
    layout at = layout_of(segment, builder->u_bits);
    uint64_t quotient = entry.u >> at.remainder_bits;
    sample_up_to(builder, (size_t)(quotient >> SAMPLED));
    uint64_t one = quotient + builder->done;
    segment->bytes[at.runs + (one >> 3)] |= (unsigned char)(1u << (one & 7));
    put_slot(segment, &at, builder->done, entry.u & bry__low_bits(at.remainder_bits), entry.value);
    segment->n = (uint16_t)++builder->done;
}

bry__segment bry__segment_end(bry__segment_builder *builder)
{
    if (builder->segment.bytes)
        sample_up_to(builder, samples_of(builder->segment.quotients));
    return builder->segment;
}

bool bry__segment_next(const bry__segment *segment, unsigned u_bits, bry__segment_cursor *cursor,
                       bry__entry *entry)
{
    if (cursor->index >= segment->n)
        return false;
    layout at = layout_of(segment, u_bits);
    const unsigned char *runs = segment->bytes + at.runs;
    for (;;) {
        uint64_t ones = bry__load64(runs + (cursor->bit >> 3)) >> (cursor->bit & 7);
        if (ones) {
            cursor->bit += (unsigned)__builtin_ctzll(ones);
            break;
        }
        cursor->bit += 64 - (cursor->bit & 7);
    }
    uint64_t quotient = cursor->bit - cursor->index;
    entry->u = quotient << at.remainder_bits | remainder_of(segment, &at, cursor->index);
    entry->value = value_of(segment, &at, cursor->index);
    cursor->bit++;
    cursor->index++;
    return true;
}

/* The same entries and one more, if there is one, in a new block with the layout that suits them.
 */
static bry_status rewrite(bry__segment *segment, unsigned u_bits, const bry__entry *more,
                          unsigned value_bits, const bry_allocator *allocator)
{
    bry__segment_builder builder;
    bry_status status =
        bry__segment_begin(&builder, segment->n + (more != NULL), u_bits, value_bits, allocator);
    if (status != BRY_OK)
        return status;
    bry__segment_cursor cursor = {0};
    bry__entry entry;
    while (bry__segment_next(segment, u_bits, &cursor, &entry)) {
        if (more && (more->u < entry.u || (more->u == entry.u && more->value <= entry.value))) {
            bry__segment_append(&builder, *more);
            more = NULL;
        }
        bry__segment_append(&builder, entry);
    }
    if (more)
        bry__segment_append(&builder, *more);
    bry__segment made = bry__segment_end(&builder);
    made.spilled = segment->spilled;
    bry__segment_free(segment, allocator);
    *segment = made;
    return BRY_OK;
}

bry_status bry__segment_widen(bry__segment *segment, unsigned u_bits, unsigned value_bits,
                              const bry_allocator *allocator)
{
    return rewrite(segment, u_bits, NULL, value_bits, allocator);
}

bry_status bry__segment_clone(const bry__segment *segment, bry__segment *copy,
                              const bry_allocator *allocator)
{
    bry__segment made = *segment;
    if (segment->bytes) {
        made.bytes = alloc_steps(segment->steps, allocator);
        if (!made.bytes)
            return BRY_E_NOMEM;
        memcpy(made.bytes, segment->bytes, bry__segment_bytes(segment));
    }
    *copy = made;
    return BRY_OK;
}

/* Another block size for the same layout: the two ends are copied, the gap between them changes. */
static bry_status resize(bry__segment *segment, unsigned u_bits, unsigned steps,
                         const bry_allocator *allocator)
{
    unsigned char *bytes = alloc_steps(steps, allocator);
    if (!bytes)
        return BRY_E_NOMEM;
    layout at = layout_of(segment, u_bits);
    size_t front = at.runs + (((size_t)1 << segment->quotients) + segment->n + 7) / 8;
    size_t slots = ((size_t)segment->n * at.slot_bits + 7) / 8;
    size_t size = (size_t)steps * BRY__SEGMENT_STEP;
    memcpy(bytes, segment->bytes, front);
    memcpy(bytes + size - slots, segment->bytes + at.end / 8 - slots, slots);
    bry__free(allocator, segment->bytes, bry__segment_bytes(segment));
    segment->bytes = bytes;
    segment->steps = (uint16_t)steps;
    return BRY_OK;
}

/* Adds `by` to every sample behind the quotient. */
static void shift_samples(bry__segment *segment, uint64_t quotient, int by)
{
    size_t samples = samples_of(segment->quotients);
    for (size_t i = (size_t)(quotient >> SAMPLED); i < samples; i++) {
        unsigned char *sample = segment->bytes + 2 * i;
        bry__store16(sample, (uint16_t)(bry__load16(sample) + by));
    }
}

bry_status bry__segment_insert(bry__segment *segment, unsigned u_bits, bry__place place,
                               bry__entry entry, unsigned value_bits,
                               const bry_allocator *allocator)
{
    unsigned n = segment->n + 1u;
    if (!segment->bytes || !bry__segment_fits(segment, entry.value) ||
        quotients_for(n, u_bits) > segment->quotients)
        return rewrite(segment, u_bits, &entry, value_bits, allocator);

    unsigned slot_bits = u_bits - segment->quotients + segment->value_bits;
    unsigned steps = steps_for(n, segment->quotients, slot_bits);
    if (steps > segment->steps) {
        bry_status status = resize(segment, u_bits, steps, allocator);
        if (status != BRY_OK)
            return status;
    }
    layout at = layout_of(segment, u_bits);
    const bry__kernel *kernel = bry__kernels();
    unsigned char *runs = segment->bytes + at.runs;
    kernel->bits_down(segment->bytes, at.end - (uint64_t)segment->n * at.slot_bits,
                      at.end - (uint64_t)place.index * at.slot_bits, at.slot_bits);
    put_slot(segment, &at, place.index, entry.u & bry__low_bits(at.remainder_bits), entry.value);
    kernel->bits_up(runs, place.bit, ((uint64_t)1 << segment->quotients) + segment->n, 1);
    runs[place.bit >> 3] |= (unsigned char)(1u << (place.bit & 7));
    shift_samples(segment, entry.u >> at.remainder_bits, 1);
    segment->n = (uint16_t)n;
    return BRY_OK;
}

void bry__segment_remove(bry__segment *segment, unsigned u_bits, bry__place place, uint64_t u,
                         const bry_allocator *allocator)
{
    unsigned n = segment->n - 1u;
    if (n == 0) {
        bry__segment_free(segment, allocator);
        return;
    }
    layout at = layout_of(segment, u_bits);
    const bry__kernel *kernel = bry__kernels();
    unsigned char *runs = segment->bytes + at.runs;
    uint64_t lowest = slot_at(&at, n), runs_end = ((uint64_t)1 << segment->quotients) + n;
    kernel->bits_up(segment->bytes, lowest, slot_at(&at, place.index), at.slot_bits);
    bry__field_put(segment->bytes, lowest, at.remainder_bits, 0);
    bry__field_put(segment->bytes, lowest + at.remainder_bits, segment->value_bits, 0);
    kernel->bits_down(runs, place.bit + 1, runs_end + 1, 1);
    runs[runs_end >> 3] &= (unsigned char)~(1u << (runs_end & 7));
    shift_samples(segment, u >> at.remainder_bits, -1);
    segment->n = (uint16_t)n;

    /* Giving memory back is worth a try, not an error; some slack keeps add-and-remove cheap. */
    unsigned steps = steps_for(n, segment->quotients, at.slot_bits);
    if (segment->quotients > MIN_QUOTIENTS && n < 1u << (segment->quotients - 2))
        (void)rewrite(segment, u_bits, NULL, segment->value_bits, allocator);
    else if (steps + 2 <= segment->steps)
        (void)resize(segment, u_bits, steps, allocator);
}

/* ---- checking ------------------------------------------------------------------------------ */

const char *bry__segment_check(const bry__segment *segment, unsigned u_bits, uint64_t u_most)
{
    unsigned n = segment->n;
    if (n == 0)
        return segment->bytes ? "an empty segment has memory" : NULL;
    if (!segment->bytes || n > BRY__SEGMENT_MAX || segment->value_bits > 32)
        return "a segment's counts are out of range";
    if (segment->quotients < MIN_QUOTIENTS || segment->quotients >= u_bits ||
        quotients_for(n, u_bits) > segment->quotients)
        return "a segment has the wrong number of quotients";
    layout at = layout_of(segment, u_bits);
    if (steps_for(n, segment->quotients, at.slot_bits) > segment->steps)
        return "a segment is too small for its entries";

    const unsigned char *runs = segment->bytes + at.runs;
    uint64_t runs_end = ((uint64_t)1 << segment->quotients) + n, ones = 0;
    for (uint64_t i = 0; i < runs_end; i++) {
        uint64_t zeros = i - ones;
        bool one = runs[i >> 3] >> (i & 7) & 1;
        if (!one && (zeros + 1) % (1u << SAMPLED) == 0 && zeros + 1 < 1u << segment->quotients &&
            bry__load16(segment->bytes + 2 * (zeros >> SAMPLED)) != ones)
            return "a segment's sample does not agree with its runs";
        ones += one;
    }
    if (ones != n || runs[(runs_end - 1) >> 3] >> ((runs_end - 1) & 7) & 1)
        return "a segment's runs do not hold its entries";
    for (uint64_t i = at.runs * 8 + runs_end; i < at.end - (uint64_t)n * at.slot_bits; i++)
        if (segment->bytes[i >> 3] >> (i & 7) & 1)
            return "a segment has bits outside its entries";

    bry__segment_cursor cursor = {0};
    bry__entry last = {0}, entry;
    for (bool first = true; bry__segment_next(segment, u_bits, &cursor, &entry); first = false) {
        if (entry.u > u_most)
            return "a fingerprint is out of range";
        if (!first && (entry.u < last.u || (entry.u == last.u && entry.value < last.value)))
            return "a segment's entries are out of order";
        last = entry;
    }
    return NULL;
}
