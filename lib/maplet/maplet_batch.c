/*
 * Many keys at once. table.c does the work, in passes over a few dozen keys: fetch the directory's
 * records, fetch what tells where entries are, fetch the entries, answer. Each pass finds in the
 * cache what the one before has asked for.
 */
#include "hash/derive.h"
#include "maplet/maplet.h"

#include <string.h>

#define BATCH BRY__TABLE_BATCH

static void fingerprints_of(const bry__table *table, const bry_hash *hashes, size_t n,
                            uint64_t *fingerprints)
{
    for (size_t i = 0; i < n; i++)
        fingerprints[i] = bry__fingerprint(hashes[i], table->range);
}

/* Fetches what the next up to BATCH keys need. */
static void prefetch(const bry__maplet *maplet, const bry_hash *hashes, size_t n)
{
    uint64_t fingerprints[BATCH];
    for (unsigned t = maplet->tables; t-- > 0;) {
        fingerprints_of(maplet->table[t], hashes, n, fingerprints);
        bry__table_prefetch_n(maplet->table[t], fingerprints, n);
    }
}

void bry__maplet_get_n(const bry__maplet *maplet, const bry_hash *hashes, size_t n,
                       uint32_t *values, uint8_t *answers)
{
    uint64_t fingerprints[BATCH];
    for (size_t done = 0; done < n; done += BATCH) {
        size_t here = n - done < BATCH ? n - done : BATCH;
        memset(answers + done, BRY_ABSENT, here);
        for (unsigned t = maplet->tables; t-- > 0;) {
            fingerprints_of(maplet->table[t], hashes + done, here, fingerprints);
            bry__table_get_n(maplet->table[t], fingerprints, here, values + done, answers + done);
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
    for (size_t done = 0; done < n; done += BATCH) {
        size_t here = n - done < BATCH ? n - done : BATCH;
        prefetch(maplet, hashes + done, here);
        for (size_t i = done; i < done + here; i++)
            totals[i] = bry__maplet_get_all(maplet, hashes[i], values + i * room, room);
    }
}

bry_status bry__maplet_upsert_n(bry__maplet *maplet, const bry_hash *hashes, const uint32_t *values,
                                size_t n, uint8_t *was, size_t *done)
{
    for (size_t i = 0; i < n; i++) {
        if (i % BATCH == 0)
            prefetch(maplet, hashes + i, n - i < BATCH ? n - i : BATCH);
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
