/* Searches in a segment: the run of a quotient, and in it the slot with the remainder. */
#include "common/attributes.h"
#include "common/endian.h"
#include "kernel/bits.h"
#include "kernel/kernel.h"
#include "maplet/segment_layout.h"

static uint64_t segment_remainder_at(const bry__segment *segment, unsigned index)
{
    return bry__field_get(segment->bytes, bry__slot_at(segment, index), segment->remainder_bits);
}

typedef struct bry__segment_run {
    unsigned index, length; /* entries that share a quotient */
} bry__segment_run;

/* The entries of a quotient; their 1s begin at bit quotient + index of the runs. */
static inline bry__segment_run segment_run_of(const bry__segment *segment, unsigned quotients,
                                              unsigned quotient)
{
    unsigned block = quotient >> BRY__SAMPLED, start = block << BRY__SAMPLED;
    if (block)
        start += bry__load16(segment->bytes + 2 * (size_t)(block - 1));
    bry__segment_run run;
    run.index =
        (unsigned)bry__kernels()->run_after(bry__runs_of(segment, quotients), start,
                                            quotient & ((1u << BRY__SAMPLED) - 1), &run.length) -
        quotient;
    return run;
}

/* Estimated positions of run and slot: both lines are fetched at the same time. */
BRY__PREFETCHING void segment_prefetch_about(const bry__segment *segment, unsigned quotients,
                                             unsigned quotient)
{
    unsigned index = quotient * segment->n / quotients;
    __builtin_prefetch(bry__runs_of(segment, quotients) + ((quotient + index) >> 3));
    __builtin_prefetch(segment->bytes + (bry__slot_at(segment, index) >> 3));
}

bry__place bry__segment_find(const bry__segment *segment, uint64_t u_most, uint64_t u,
                             uint32_t value)
{
    bry__place place = {0};
    if (!segment->bytes)
        return place;
    uint64_t remainder = u & bry__low_bits(segment->remainder_bits);
    unsigned quotient = (unsigned)(u >> segment->remainder_bits);
    unsigned quotients = bry__quotients_of(segment, u_most);
    segment_prefetch_about(segment, quotients, quotient);
    bry__segment_run run = segment_run_of(segment, quotients, quotient);
    place.bit = (uint64_t)quotient + run.index;
    place.index = run.index;
    place.run = run.length;
    for (; place.run > 0; place.run--, place.index++, place.bit++) {
        uint64_t here = segment_remainder_at(segment, place.index);
        if (here > remainder)
            break;
        if (here == remainder && bry__segment_value(segment, place.index) >= value) {
            place.found = true;
            break;
        }
    }
    return place;
}

/* segment_pick() for slots that are wider than a word. */
static BRY__COLD bool segment_pick_wide(const bry__segment *segment, uint64_t u,
                                        bry__segment_run run, uint32_t *value)
{
    uint64_t remainder = u & bry__low_bits(segment->remainder_bits);
    for (; run.length > 0; run.length--, run.index++) {
        if (segment_remainder_at(segment, run.index) == remainder) {
            *value = bry__segment_value(segment, run.index);
            return true;
        }
    }
    return false;
}

/* Finds the entry of the run with the remainder of u. */
static inline bool segment_pick(const bry__segment *segment, uint64_t u, bry__segment_run run,
                                uint32_t *value)
{
    unsigned low = segment->remainder_bits, bits = bry__slot_bits(segment);
    if (bits > BRY__FIELD_MAX)
        return segment_pick_wide(segment, u, run, value);
    uint64_t end = 8 * (uint64_t)bry__segment_block(segment->steps) - (uint64_t)run.index * bits;
    for (; run.length > 0; run.length--, end -= bits) {
        /* The word that ends with the slot's last byte, shifted so that it ends with the slot. */
        unsigned behind = -(unsigned)end & 7;
        uint64_t slot = bry__load64(segment->bytes + ((end + 7) >> 3) - 8) << behind >> (64 - bits);
        if ((slot ^ u) << (64 - low) == 0) {
            *value = (uint32_t)(slot >> low);
            return true;
        }
    }
    return false;
}

bool bry__segment_get(const bry__segment *segment, uint64_t u_most, uint64_t u, uint32_t *value)
{
    if (!segment->bytes)
        return false;
    unsigned quotient = (unsigned)(u >> segment->remainder_bits);
    unsigned quotients = bry__quotients_of(segment, u_most);
    segment_prefetch_about(segment, quotients, quotient);
    return segment_pick(segment, u, segment_run_of(segment, quotients, quotient), value);
}

/* Prefetches the estimated position of the quotient's run, and its sample. */
BRY__PREFETCHING void segment_prefetch_runs(const bry__segment *segment, uint64_t u_most,
                                            uint64_t u)
{
    if (!segment->bytes)
        return;
    unsigned quotient = (unsigned)(u >> segment->remainder_bits);
    unsigned quotients = bry__quotients_of(segment, u_most);
    unsigned index = quotient * segment->n / quotients;
    __builtin_prefetch(segment->bytes + 2 * (size_t)(quotient >> BRY__SAMPLED));
    const unsigned char *about = bry__runs_of(segment, quotients) + ((quotient + index) >> 3);
    __builtin_prefetch(about - 8);
    __builtin_prefetch(about + 12);
}

BRY__PREFETCHING bry__segment_run segment_locate(const bry__segment *segment, uint64_t u_most,
                                                 uint64_t u)
{
    bry__segment_run run = {0};
    if (segment->bytes)
        run = segment_run_of(segment, bry__quotients_of(segment, u_most),
                             (unsigned)(u >> segment->remainder_bits));
    if (run.length) { /* the word that is read may begin in the line before */
        const unsigned char *end =
            segment->bytes + ((bry__slot_at(segment, run.index) + bry__slot_bits(segment)) >> 3);
        __builtin_prefetch(end);
        __builtin_prefetch(end - 8);
    }
    return run;
}

void bry__segment_get_n(const bry__query *queries, size_t n, uint32_t *values, uint8_t *answers)
{
    bry__segment_run runs[BRY__SEGMENT_BATCH];
    for (size_t i = 0; i < n; i++)
        segment_prefetch_runs(queries[i].segment, queries[i].u_most, queries[i].u);
    for (size_t i = 0; i < n; i++)
        runs[i] = segment_locate(queries[i].segment, queries[i].u_most, queries[i].u);
    for (size_t i = 0; i < n; i++)
        if (!answers[i])
            answers[i] = segment_pick(queries[i].segment, queries[i].u, runs[i], &values[i]);
}

void bry__segment_prefetch(const bry__segment *segment, uint64_t u_most, uint64_t u)
{
    if (!segment->bytes)
        return;
    segment_prefetch_runs(segment, u_most, u);
    unsigned quotient = (unsigned)(u >> segment->remainder_bits);
    unsigned index = quotient * segment->n / bry__quotients_of(segment, u_most); /* about */
    const unsigned char *slot = segment->bytes + (bry__slot_at(segment, index) >> 3);
    __builtin_prefetch(slot - BRY__LINE / 2);
    __builtin_prefetch(slot + BRY__LINE / 2);
}

void bry__segment_prefetch_change(const bry__segment *segment, uint64_t u_most, uint64_t u)
{
    if (!segment->bytes)
        return;
    segment_prefetch_runs(segment, u_most, u);
    unsigned quotient = (unsigned)(u >> segment->remainder_bits);
    unsigned index = quotient * segment->n / bry__quotients_of(segment, u_most); /* about */
    const unsigned char *from = segment->bytes + (bry__slot_at(segment, segment->n) >> 3);
    const unsigned char *to = segment->bytes + (bry__slot_at(segment, index) >> 3);
    for (; from <= to; from += BRY__LINE)
        __builtin_prefetch(from, 1);
}

void bry__segment_prefetch_n(const bry__query *queries, size_t n)
{
    for (size_t i = 0; i < n; i++)
        segment_prefetch_runs(queries[i].segment, queries[i].u_most, queries[i].u);
    for (size_t i = 0; i < n; i++)
        (void)segment_locate(queries[i].segment, queries[i].u_most, queries[i].u);
}

unsigned bry__segment_count(const bry__segment *segment, uint64_t u, bry__place place)
{
    if (!place.found)
        return 0;
    uint64_t remainder = u & bry__low_bits(segment->remainder_bits);
    unsigned count = 1;
    while (count < place.run && segment_remainder_at(segment, place.index + count) == remainder)
        count++;
    return count;
}
