/*
 * Many look-ups at once, in three passes over a few dozen keys: fetch the directory's records,
 * fetch the cache lines that those point to, answer. Each pass finds what the last one has asked
 * for.
 */
#include "hash/derive.h"
#include "maplet/maplet.h"

#define BATCH 48u

/* The fingerprints of up to BATCH keys in one table, on their way to the cache. */
static void fetch(const bry__table *table, const bry_hash *hashes, size_t n, uint64_t *fingerprints)
{
    for (size_t i = 0; i < n; i++) {
        fingerprints[i] = bry__fingerprint(hashes[i], table->range);
        bry__table_prefetch_directory(table, fingerprints[i]);
    }
    for (size_t i = 0; i < n; i++)
        bry__table_prefetch_block(table, fingerprints[i]);
}

void bry__maplet_get_n(const bry__maplet *maplet, const bry_hash *hashes, size_t n,
                       uint32_t *values, uint8_t *answers)
{
    uint64_t fingerprints[BATCH];
    for (size_t done = 0; done < n; done += BATCH) {
        size_t here = n - done < BATCH ? n - done : BATCH;
        for (unsigned t = maplet->tables; t-- > 0;) {
            const bry__table *table = maplet->table[t];
            bool newest = t + 1 == maplet->tables;
            fetch(table, hashes + done, here, fingerprints);
            for (size_t i = 0; i < here; i++)
                if (newest || answers[done + i] == BRY_ABSENT)
                    answers[done + i] = bry__table_get(table, fingerprints[i], &values[done + i]);
        }
    }
}

void bry__maplet_has_n(const bry__maplet *maplet, const bry_hash *hashes, size_t n,
                       uint8_t *answers)
{
    uint32_t values[BATCH];
    for (size_t done = 0; done < n; done += BATCH)
        bry__maplet_get_n(maplet, hashes + done, n - done < BATCH ? n - done : BATCH, values,
                          answers + done);
}

void bry__maplet_get_all_n(const bry__maplet *maplet, const bry_hash *hashes, size_t n,
                           uint32_t *values, uint64_t room, uint64_t *totals)
{
    uint64_t fingerprints[BATCH];
    for (size_t done = 0; done < n; done += BATCH) {
        size_t here = n - done < BATCH ? n - done : BATCH;
        for (unsigned t = maplet->tables; t-- > 0;)
            fetch(maplet->table[t], hashes + done, here, fingerprints);
        for (size_t i = done; i < done + here; i++)
            totals[i] = bry__maplet_get_all(maplet, hashes[i], values + i * room, room);
    }
}

bry_status bry__maplet_upsert_n(bry__maplet *maplet, const bry_hash *hashes, const uint32_t *values,
                                size_t n, uint8_t *was, size_t *done)
{
    uint64_t fingerprints[BATCH];
    for (size_t i = 0; i < n; i++) {
        if (i % BATCH == 0)
            for (unsigned t = maplet->tables; t-- > 0;)
                fetch(maplet->table[t], hashes + i, n - i < BATCH ? n - i : BATCH, fingerprints);
        bry_answer answer;
        bry_status status = bry__maplet_upsert(maplet, hashes[i], values[i], &answer, NULL);
        if (status != BRY_OK) {
            *done = i;
            return status;
        }
        if (was)
            was[i] = (uint8_t)answer;
    }
    *done = n;
    return BRY_OK;
}
