/*
 * Look-ups: the AND of the rows at an element's positions leaves the columns that may hold it.
 *
 * Filters are about half full, so each row halves what is left: of 512 columns nothing remains
 * after about ten rows, of one after two. That many rows are prefetched before the first is read;
 * few elements need more, and those that do are mostly present and need all. A batch does each of
 * these stages for all its elements before the next.
 */
#include "common/attributes.h"
#include "index/dba/dba_index.h"
#include "kernel/kernel.h"
#include "kernel/rows.h"

#include <string.h>

enum {
    CHUNK = 32, /* elements of a batch that are processed together */
    SECOND = 4, /* rows of the second stage */
    LATER = 24, /* rows of a later stage; the first has fewer */
};

static unsigned first_stage(const bry__dba_group *group)
{
    unsigned rows = 33 - (unsigned)__builtin_clz(group->units);
    return rows < group->shape.hashes ? rows : group->shape.hashes;
}

static unsigned dba_stage_end(const bry__dba_group *group, unsigned done)
{
    unsigned k = group->shape.hashes, first = first_stage(group);
    if (done == 0)
        return first;
    unsigned end = done + (done == first ? SECOND : LATER);
    return end < k ? end : k;
}

BRY__PREFETCHING void dba_prefetch(const bry__dba_group *group, bry__dba_probe *probe,
                                   unsigned from, unsigned to, const unsigned char **rows)
{
    bry__dba_probe_know(probe, group->shape.range, to);
    for (unsigned i = from; i < to; i++) {
        rows[i - from] = bry__dba_row(group, i, probe->row[i]);
        __builtin_prefetch(rows[i - from]);
    }
}

static bool dba_ask_rows(const bry__kernel *kernel, const bry__dba_group *group,
                         bry__dba_probe *probe, unsigned char mask[BRY__DBA_MASK])
{
    size_t bytes = group->width / 8;
    const unsigned char *rows[LATER];
    memcpy(mask, group->live, BRY__DBA_MASK);
    for (unsigned done = 0; done < group->shape.hashes;) {
        unsigned end = dba_stage_end(group, done);
        dba_prefetch(group, probe, done, end, rows);
        if (!kernel->rows_and(mask, rows, end - done, bytes))
            return false;
        done = end;
    }
    return true;
}

bry_answer bry__dba_has(const void *self, bry_hash hash)
{
    const bry__dba *dba = self;
    const bry__kernel *kernel = bry__kernels();
    bry__dba_probe probe;
    bry__dba_probe_begin(&probe, hash);
    for (uint32_t g = dba->groups; g-- > 0;) {
        const bry__dba_group *group = dba->group[g];
        unsigned char mask[BRY__DBA_MASK];
        if (group->units == 0)
            continue;
        if (group->width == 1 ? bry__dba_column_has(group, 0, &probe)
                              : dba_ask_rows(kernel, group, &probe, mask))
            return BRY_PRESENT;
    }
    return BRY_ABSENT;
}

/* Reports the units of the columns that are left. */
static void dba_report(const bry__dba_group *group, const unsigned char mask[BRY__DBA_MASK],
                       bry__index_found *found)
{
    if (group->width == 1) {
        bry__index_found_add(found, group->slot[0]);
        return;
    }
    for (uint32_t word = (group->width + 63) / 64; word-- > 0;) {
        uint64_t left = 0;
        if (group->width >= 64)
            left = bry__load64(mask + 8 * (size_t)word);
        else
            for (unsigned b = 0; b < group->width / 8; b++)
                left |= (uint64_t)mask[b] << (8 * b);
        while (left) { /* from the last column down: mostly newest first */
            unsigned last = 63 - (unsigned)__builtin_clzll(left);
            bry__index_found_add(found, group->slot[64 * word + last]);
            left ^= (uint64_t)1 << last;
        }
    }
}

void bry__dba_locate(const void *self, bry_hash hash, bry__index_found *found)
{
    const bry__dba *dba = self;
    const bry__kernel *kernel = bry__kernels();
    bry__dba_probe probe;
    bry__dba_probe_begin(&probe, hash);
    for (uint32_t g = dba->groups; g-- > 0;) {
        const bry__dba_group *group = dba->group[g];
        unsigned char mask[BRY__DBA_MASK];
        if (group->units == 0)
            continue;
        if (group->width == 1 ? bry__dba_column_has(group, 0, &probe)
                              : dba_ask_rows(kernel, group, &probe, mask))
            dba_report(group, mask, found);
    }
}

/* ---- batches ------------------------------------------------------------------------------- */

typedef struct chunk {
    bry__dba_probe probe[CHUNK];
    unsigned char mask[CHUNK][BRY__DBA_MASK];
    const unsigned char *rows[CHUNK][LATER];
} chunk;

/* Asks a group for the n elements listed in asked[]; keeps those that it may hold there, and
 * returns how many. */
static unsigned dba_ask_many(const bry__kernel *kernel, const bry__dba_group *group, chunk *batch,
                             uint8_t *asked, unsigned n)
{
    size_t bytes = group->width / 8;
    for (unsigned i = 0; i < n; i++)
        memcpy(batch->mask[asked[i]], group->live, BRY__DBA_MASK);
    for (unsigned done = 0; done < group->shape.hashes && n > 0;) {
        unsigned end = dba_stage_end(group, done), left = 0;
        for (unsigned i = 0; i < n; i++)
            dba_prefetch(group, &batch->probe[asked[i]], done, end, batch->rows[asked[i]]);
        for (unsigned i = 0; i < n; i++) {
            uint8_t element = asked[i];
            asked[left] = element;
            left += kernel->rows_and(batch->mask[element], batch->rows[element], end - done, bytes);
        }
        n = left;
        done = end;
    }
    return n;
}

/* The same for a group of width 1, whose rows are bits. */
static unsigned ask_many_bits(const bry__dba_group *group, chunk *batch, uint8_t *asked, unsigned n)
{
    unsigned ahead = group->shape.hashes < 2 ? group->shape.hashes : 2, left = 0;
    for (unsigned i = 0; i < n; i++)
        dba_prefetch(group, &batch->probe[asked[i]], 0, ahead, batch->rows[asked[i]]);
    for (unsigned i = 0; i < n; i++) {
        uint8_t element = asked[i];
        asked[left] = element;
        left += bry__dba_column_has(group, 0, &batch->probe[element]);
    }
    return left;
}

static unsigned dba_ask_group(const bry__kernel *kernel, const bry__dba_group *group, chunk *batch,
                              uint8_t *asked, unsigned n)
{
    if (group->units == 0)
        return 0;
    return group->width == 1 ? ask_many_bits(group, batch, asked, n)
                             : dba_ask_many(kernel, group, batch, asked, n);
}

static void dba_has_chunk(const bry__dba *dba, const bry_hash *hashes, unsigned n, uint8_t *answers)
{
    const bry__kernel *kernel = bry__kernels();
    chunk batch;
    uint8_t open[CHUNK] = {0}, asked[CHUNK];
    unsigned left = n;
    for (unsigned i = 0; i < n; i++) {
        bry__dba_probe_begin(&batch.probe[i], hashes[i]);
        answers[i] = BRY_ABSENT;
        open[i] = (uint8_t)i;
    }
    for (uint32_t g = dba->groups; g-- > 0 && left > 0;) {
        memcpy(asked, open, left);
        unsigned found = dba_ask_group(kernel, dba->group[g], &batch, asked, left), still = 0;
        if (found == 0)
            continue;
        for (unsigned i = 0; i < found; i++)
            answers[asked[i]] = BRY_PRESENT;
        for (unsigned i = 0; i < left; i++) {
            open[still] = open[i];
            still += answers[open[i]] == BRY_ABSENT;
        }
        left = still;
    }
}

void bry__dba_has_n(const void *self, const bry_hash *hashes, size_t n, uint8_t *answers)
{
    for (size_t done = 0; done < n; done += CHUNK)
        dba_has_chunk(self, hashes + done, n - done < CHUNK ? (unsigned)(n - done) : CHUNK,
                      answers + done);
}

static void locate_chunk(const bry__dba *dba, const bry_hash *hashes, unsigned n,
                         bry__index_found *found)
{
    const bry__kernel *kernel = bry__kernels();
    chunk batch;
    uint8_t asked[CHUNK];
    for (unsigned i = 0; i < n; i++)
        bry__dba_probe_begin(&batch.probe[i], hashes[i]);
    for (uint32_t g = dba->groups; g-- > 0;) {
        for (unsigned i = 0; i < n; i++)
            asked[i] = (uint8_t)i;
        unsigned hits = dba_ask_group(kernel, dba->group[g], &batch, asked, n);
        for (unsigned i = 0; i < hits; i++)
            dba_report(dba->group[g], batch.mask[asked[i]], &found[asked[i]]);
    }
}

void bry__dba_locate_n(const void *self, const bry_hash *hashes, size_t n, bry__index_found *found)
{
    for (size_t done = 0; done < n; done += CHUNK)
        locate_chunk(self, hashes + done, n - done < CHUNK ? (unsigned)(n - done) : CHUNK,
                     found + done);
}
