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

/* About the number of entries with a lower quotient. */
static inline unsigned segment_index_about(const bry__segment *segment, unsigned quotients,
                                           unsigned quotient)
{
    return quotient * segment->n / quotients;
}

/* Prefetches the estimated positions of the run, of where the search for it begins, and of the
 * slot, so that their lines are fetched at the same time. */
BRY__PREFETCHING void segment_prefetch_about(const bry__segment *segment, unsigned quotients,
                                             unsigned quotient, unsigned index)
{
    const unsigned char *runs = bry__runs_of(segment, quotients);
    unsigned run = quotient + index, skipped = quotient & ((1u << BRY__SAMPLED) - 1);
    __builtin_prefetch(runs + (run >> 3));
    __builtin_prefetch(runs + ((run - skipped) >> 3) - (skipped >> 4));
    __builtin_prefetch(segment->bytes + (bry__slot_at(segment, index) >> 3));
}

/* Prefetches what will be moved if an entry is added or removed at about `index`: the slots from
 * there on, and the runs behind the quotient's. */
BRY__PREFETCHING void segment_prefetch_moved(const bry__segment *segment, unsigned quotients,
                                             unsigned quotient, unsigned index)
{
    const unsigned char *runs = bry__runs_of(segment, quotients);
    const unsigned char *from = runs + ((quotient + index) >> 3) + BRY__LINE;
    const unsigned char *to = runs + ((quotients + segment->n) >> 3);
    for (; from <= to; from += BRY__LINE)
        __builtin_prefetch(from, 1);
    from = segment->bytes + (bry__slot_at(segment, segment->n) >> 3);
    to = segment->bytes + (bry__slot_at(segment, index) >> 3);
    for (; from <= to; from += BRY__LINE)
        __builtin_prefetch(from, 1);
}

/* bry__segment_seek() in a run of slots that are wider than a word. */
static BRY__COLD bry__place segment_seek_wide(const bry__segment *segment, uint64_t remainder,
                                              bry__segment_run run, unsigned quotient)
{
    unsigned index = run.index, end = index + run.length, count = 0;
    while (index < end && segment_remainder_at(segment, index) < remainder)
        index++;
    while (index + count < end && segment_remainder_at(segment, index + count) == remainder)
        count++;
    return (bry__place){index, count, quotient + index,
                        count > 0 ? bry__segment_value(segment, index) : 0};
}

bry__place bry__segment_seek(const bry__segment *segment, uint64_t u_most, uint64_t u, bool moving)
{
    if (!segment->bytes)
        return (bry__place){0};
    unsigned low = segment->remainder_bits, bits = bry__slot_bits(segment);
    unsigned quotient = (unsigned)(u >> low), quotients = bry__quotients_of(segment, u_most);
    unsigned about = segment_index_about(segment, quotients, quotient);
    __builtin_prefetch(segment->bytes + 2 * (size_t)(quotient >> BRY__SAMPLED));
    segment_prefetch_about(segment, quotients, quotient, about);
    if (moving)
        segment_prefetch_moved(segment, quotients, quotient, about);
    bry__segment_run run = segment_run_of(segment, quotients, quotient);
    uint64_t remainder = u & bry__low_bits(low), slot = 0;
    if (bits > BRY__FIELD_MAX)
        return segment_seek_wide(segment, remainder, run, quotient);
    uint64_t end = 8 * (uint64_t)bry__segment_block(segment->steps) - (uint64_t)run.index * bits;
    for (; run.length > 0; run.length--, run.index++, end -= bits) {
        slot = bry__slot_before(segment->bytes, end, bits);
        if ((slot & bry__low_bits(low)) >= remainder)
            break;
    }
    bry__place place = {run.index, 0, quotient + run.index, (uint32_t)(slot >> low)};
    while (run.length > place.count && (slot & bry__low_bits(low)) == remainder) {
        place.count++;
        end -= bits;
        if (run.length > place.count)
            slot = bry__slot_before(segment->bytes, end, bits);
    }
    return place;
}

bry__place bry__segment_find(const bry__segment *segment, uint64_t u_most, uint64_t u,
                             uint32_t value)
{
    bry__place place = bry__segment_seek(segment, u_most, u, false);
    while (place.count > 0 && place.value < value) {
        place.index++;
        place.bit++;
        if (--place.count > 0)
            place.value = bry__segment_value(segment, place.index);
    }
    return place;
}

/* segment_pick() for slots that are wider than a word. */
static BRY__COLD bool segment_pick_wide(const bry__segment *segment, uint64_t u,
                                        bry__segment_run *run, uint32_t *value)
{
    uint64_t remainder = u & bry__low_bits(segment->remainder_bits);
    for (; run->length > 0; run->length--, run->index++) {
        if (segment_remainder_at(segment, run->index) == remainder) {
            *value = bry__segment_value(segment, run->index);
            return true;
        }
    }
    return false;
}

/* Finds the first entry of the run with the remainder of u; the run begins with it then. */
static inline bool segment_pick(const bry__segment *segment, uint64_t u, bry__segment_run *run,
                                uint32_t *value)
{
    unsigned low = segment->remainder_bits, bits = bry__slot_bits(segment);
    if (bits > BRY__FIELD_MAX)
        return segment_pick_wide(segment, u, run, value);
    uint64_t end = 8 * (uint64_t)bry__segment_block(segment->steps) - (uint64_t)run->index * bits;
    for (; run->length > 0; run->length--, run->index++, end -= bits) {
        uint64_t slot = bry__slot_before(segment->bytes, end, bits);
        if ((slot ^ u) << (64 - low) == 0) {
            *value = (uint32_t)(slot >> low);
            return true;
        }
    }
    return false;
}

/* segment_pick() in a segment that is not empty; *run begins with the entry. */
static inline bool segment_find_entry(const bry__segment *segment, uint64_t u_most, uint64_t u,
                                      bry__segment_run *run, uint32_t *value)
{
    unsigned quotient = (unsigned)(u >> segment->remainder_bits);
    unsigned quotients = bry__quotients_of(segment, u_most);
    segment_prefetch_about(segment, quotients, quotient,
                           segment_index_about(segment, quotients, quotient));
    *run = segment_run_of(segment, quotients, quotient);
    return segment_pick(segment, u, run, value);
}

bool bry__segment_get(const bry__segment *segment, uint64_t u_most, uint64_t u, uint32_t *value)
{
    bry__segment_run run;
    return segment->bytes && segment_find_entry(segment, u_most, u, &run, value);
}

bry__swapped bry__segment_swap(bry__segment *segment, uint64_t u_most, uint64_t u, uint32_t to,
                               uint32_t *from)
{
    bry__segment_run run;
    if (!segment->bytes || !segment_find_entry(segment, u_most, u, &run, from))
        return BRY__SWAP_ABSENT;
    uint64_t remainder = u & bry__low_bits(segment->remainder_bits);
    if (!bry__segment_fits(segment, to) ||
        (run.length > 1 && segment_remainder_at(segment, run.index + 1) == remainder))
        return BRY__SWAP_HARD;
    bry__field_put(segment->bytes, bry__slot_at(segment, run.index) + segment->remainder_bits,
                   segment->value_bits, to);
    return BRY__SWAP_DONE;
}

/* Prefetches the quotient's sample and its run, which are about where `index` says. */
BRY__PREFETCHING void segment_prefetch_run(const bry__segment *segment, unsigned quotients,
                                           unsigned quotient, unsigned index)
{
    __builtin_prefetch(segment->bytes + 2 * (size_t)(quotient >> BRY__SAMPLED));
    const unsigned char *about = bry__runs_of(segment, quotients) + ((quotient + index) >> 3);
    __builtin_prefetch(about - 8);
    __builtin_prefetch(about + 12);
}

/* Sets a probe, and prefetches the sample and the runs that it needs. */
static inline void segment_probe(const bry__query *query, bry__probe *probe)
{
    const bry__segment *segment = query->segment;
    if (!segment->bytes) {
        *probe =
            (bry__probe){.bytes = bry__no_block, .end = 8 * BRY__NO_BLOCK, .low = 1, .bits = 1};
        return;
    }
    unsigned quotients = bry__quotients_of(segment, query->u_most);
    unsigned quotient = (unsigned)(query->u >> segment->remainder_bits);
    segment_prefetch_run(segment, quotients, quotient,
                         segment_index_about(segment, quotients, quotient));
    probe->bytes = segment->bytes;
    probe->runs = (uint32_t)(2 * bry__samples_of(quotients));
    probe->end = 8 * (uint32_t)bry__segment_block(segment->steps);
    probe->u = query->u;
    probe->quotient = quotient;
    probe->low = segment->remainder_bits;
    probe->bits = (uint8_t)bry__slot_bits(segment);
}

/* Prefetches the runs, then finds the entries there and prefetches those. */
static void segment_probe_n(const bry__query *queries, size_t n, bry__probe *probes)
{
    for (size_t i = 0; i < n; i++)
        segment_probe(&queries[i], &probes[i]);
    bry__kernels()->probe_runs(probes, n);
}

void bry__segment_get_n(const bry__query *queries, size_t n, uint32_t *values, uint8_t *answers)
{
    bry__probe probes[BRY__SEGMENT_BATCH];
    segment_probe_n(queries, n, probes);
    bry__kernels()->probe_slots(probes, n, values, answers);
}

/* Where a search for u will look, about; prefetches its runs. */
typedef struct segment_spot {
    unsigned quotient, quotients, index;
} segment_spot;

static inline segment_spot segment_prefetch_search(const bry__segment *segment, uint64_t u_most,
                                                   uint64_t u)
{
    segment_spot spot = {(unsigned)(u >> segment->remainder_bits),
                         bry__quotients_of(segment, u_most), 0};
    spot.index = segment_index_about(segment, spot.quotients, spot.quotient);
    segment_prefetch_run(segment, spot.quotients, spot.quotient, spot.index);
    return spot;
}

void bry__segment_prefetch(const bry__segment *segment, uint64_t u_most, uint64_t u)
{
    if (!segment->bytes)
        return;
    unsigned index = segment_prefetch_search(segment, u_most, u).index;
    const unsigned char *slot = segment->bytes + (bry__slot_at(segment, index) >> 3);
    __builtin_prefetch(slot - BRY__LINE / 2);
    __builtin_prefetch(slot + BRY__LINE / 2);
    BRY__PREFETCHES();
}

void bry__segment_prefetch_change(const bry__segment *segment, uint64_t u_most, uint64_t u)
{
    if (!segment->bytes)
        return;
    segment_spot spot = segment_prefetch_search(segment, u_most, u);
    segment_prefetch_moved(segment, spot.quotients, spot.quotient, spot.index);
    BRY__PREFETCHES();
}

void bry__segment_prefetch_n(const bry__query *queries, size_t n)
{
    bry__probe probes[BRY__SEGMENT_BATCH];
    segment_probe_n(queries, n, probes);
}
