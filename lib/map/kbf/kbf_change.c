/*
 * Changes of single keys and of batches. A batch is all or nothing, and it may fail in the middle
 * (full, unsure, out of memory), because each key changes what the next one finds. So it keeps a
 * journal, and undoes what it did in reverse order: a table then has exactly the bits it had
 * before. The answers are in the journal too and are returned at the end.
 */
#include "map/kbf/kbf_map.h"

enum { SMALL = 64, AHEAD = 4 };

/* One key of the journal: the answer, and if present, its table and code. Bits 0–1, 2–6, 7–20. */
static uint32_t journal_entry(bry_answer was, unsigned table, uint32_t code)
{
    return (uint32_t)was | (uint32_t)table << 2 | code << 7;
}

static bry_answer journal_entry_was(uint32_t entry)
{
    return (bry_answer)(entry & 3);
}

static unsigned journal_entry_table(uint32_t entry)
{
    return entry >> 2 & 31;
}

static uint32_t journal_entry_code(uint32_t entry)
{
    return entry >> 7;
}

typedef struct journal {
    size_t n; /* keys of the batch */
    size_t done; /* keys that are finished */
    uint32_t *entry;
    uint32_t *stuck; /* what bry__kbf_add() returned */
    unsigned tables; /* before */
    uint64_t items[BRY__KBF_TABLES]; /* before */
    uint32_t small[2 * SMALL];
} journal;

static bool journal_begin(journal *log, const bry__kbf_map *map, size_t n)
{
    log->n = n;
    log->done = 0;
    log->tables = map->tables;
    for (unsigned i = 0; i < map->tables; i++)
        log->items[i] = map->table[i].items;
    log->entry = log->small;
    if (n > SMALL)
        log->entry = n <= SIZE_MAX / (2 * sizeof *log->entry)
                         ? bry__alloc(&map->allocator, 2 * n * sizeof *log->entry)
                         : NULL;
    if (!log->entry)
        return false;
    log->stuck = log->entry + n;
    return true;
}

/* Returns the answers if all went well, and frees the journal. */
static void journal_end(journal *log, const bry__kbf_map *map, bool ok, uint8_t *was)
{
    for (size_t i = 0; ok && was && i < log->n; i++)
        was[i] = (uint8_t)journal_entry_was(log->entry[i]);
    if (log->n > SMALL)
        bry__free(&map->allocator, log->entry, 2 * log->n * sizeof *log->entry);
}

static void journal_note(journal *log, uint32_t entry, uint32_t stuck)
{
    log->entry[log->done] = entry;
    log->stuck[log->done] = stuck;
    log->done++;
}

/* ---- room ---------------------------------------------------------------------------------- */

/* Appends a table. BRY_E_FULL, BRY_E_NOMEM. */
static bry_status kbf_change_grow(bry__kbf_map *map)
{
    bry__kbf like;
    if (map->fixed || !bry__kbf_map_next(map, &like))
        return BRY_E_FULL;
    bry_status status = bry__kbf_init(&map->table[map->tables], &like, &map->allocator);
    if (status == BRY_OK)
        map->tables++;
    return status;
}

static void kbf_change_shrink_to(bry__kbf_map *map, unsigned tables)
{
    while (map->tables > tables)
        bry__kbf_map_drop(map, map->tables - 1);
}

/* The first table with room for one more key, grown if needed, with its cells for this key
 * allocated. */
static bry_status kbf_change_make_room(bry__kbf_map *map, const bry_hash *hash, unsigned *table)
{
    unsigned i = 0, tables = map->tables;
    while (i < map->tables && map->table[i].items >= map->table[i].capacity)
        i++;
    bry_status status = i < map->tables ? BRY_OK : kbf_change_grow(map);
    if (status == BRY_OK)
        status = bry__kbf_reach(&map->table[i], hash, 1, &map->allocator);
    if (status != BRY_OK)
        kbf_change_shrink_to(map, tables);
    else
        *table = i;
    return status;
}

/* ---- set ----------------------------------------------------------------------------------- */

static bry_status kbf_change_set_one(bry__kbf_map *map, bry_hash hash, uint32_t code,
                                     uint32_t codes, journal *log)
{
    unsigned table = 0;
    uint32_t old = 0, stuck = 0;
    bry_answer was = bry__kbf_map_locate(map, hash, codes, &table, &old);
    if (was == BRY_PRESENT) {
        bry__kbf_replace(&map->table[table], hash, old, code);
    } else if (was == BRY_ABSENT) {
        bry_status status = kbf_change_make_room(map, &hash, &table);
        if (status != BRY_OK)
            return status;
        stuck = bry__kbf_add(&map->table[table], hash, code);
    }
    journal_note(log, journal_entry(was, table, old), stuck);
    return BRY_OK;
}

static void kbf_change_undo_set(bry__kbf_map *map, const bry_hash *hashes, const uint32_t *codes_in,
                                const journal *log)
{
    for (size_t i = log->done; i-- > 0;) {
        bry__kbf *table = &map->table[journal_entry_table(log->entry[i])];
        if (journal_entry_was(log->entry[i]) == BRY_PRESENT)
            bry__kbf_replace(table, hashes[i], codes_in[i], journal_entry_code(log->entry[i]));
        else if (journal_entry_was(log->entry[i]) == BRY_ABSENT)
            bry__kbf_take(table, hashes[i], codes_in[i], log->stuck[i]);
    }
    kbf_change_shrink_to(map, log->tables);
}

static void kbf_change_prefetch(const bry__kbf_map *map, const bry_hash *hashes, size_t i, size_t n)
{
    for (unsigned t = 0; i + AHEAD < n && t < map->tables; t++)
        bry__kbf_prefetch(&map->table[t], hashes[i + AHEAD]);
}

bry_status bry__kbf_map_set_n(void *self, const bry_hash *hashes, const uint32_t *codes_in,
                              size_t n, uint64_t codes, uint8_t *was)
{
    bry__kbf_map *map = self;
    journal log;
    if (!journal_begin(&log, map, n))
        return BRY_E_NOMEM;
    bry_status status = BRY_OK;
    for (size_t i = 0; i < n && status == BRY_OK; i++) {
        kbf_change_prefetch(map, hashes, i, n);
        status = kbf_change_set_one(map, hashes[i], codes_in[i], (uint32_t)codes, &log);
        if (status == BRY_OK && !was && journal_entry_was(log.entry[i]) == BRY_UNSURE)
            status = BRY_E_UNSURE;
    }
    if (status != BRY_OK)
        kbf_change_undo_set(map, hashes, codes_in, &log);
    journal_end(&log, map, status == BRY_OK, was);
    return status;
}

bry_status bry__kbf_map_update(void *self, bry_hash hash, uint32_t code, uint64_t codes,
                               bry_answer *was)
{
    bry__kbf_map *map = self;
    unsigned table;
    uint32_t old;
    bry_answer answer = bry__kbf_map_locate(map, hash, (uint32_t)codes, &table, &old);
    if (answer == BRY_UNSURE)
        return BRY_E_UNSURE;
    if (answer == BRY_PRESENT)
        bry__kbf_replace(&map->table[table], hash, old, code);
    *was = answer;
    return BRY_OK;
}

/* ---- insert -------------------------------------------------------------------------------- */

static uint64_t kbf_change_room_in(const bry__kbf *table)
{
    return table->capacity > table->items ? table->capacity - table->items : 0;
}

/* No look-ups are needed, so the table for each key is known before the first change. */
bry_status bry__kbf_map_add_n(void *self, const bry_hash *hashes, const uint32_t *codes_in,
                              size_t n)
{
    bry__kbf_map *map = self;
    unsigned before = map->tables;
    bry_status status = BRY_OK;
    size_t placed = 0;
    for (unsigned t = 0; placed < n && status == BRY_OK; t++) {
        if (t == map->tables)
            status = kbf_change_grow(map);
        if (status != BRY_OK)
            break;
        uint64_t room = kbf_change_room_in(&map->table[t]);
        size_t here = n - placed < room ? n - placed : (size_t)room;
        status = bry__kbf_reach(&map->table[t], hashes + placed, here, &map->allocator);
        placed += here;
    }
    if (status != BRY_OK) {
        kbf_change_shrink_to(map, before);
        return status;
    }
    placed = 0;
    for (unsigned t = 0; placed < n; t++) {
        uint64_t room = kbf_change_room_in(&map->table[t]);
        size_t here = n - placed < room ? n - placed : (size_t)room;
        bry__kbf_add_n(&map->table[t], hashes + placed, codes_in + placed, here);
        placed += here;
    }
    return BRY_OK;
}

/* ---- delete -------------------------------------------------------------------------------- */

static void kbf_change_undo_del(bry__kbf_map *map, const bry_hash *hashes, const journal *log)
{
    for (size_t i = log->done; i-- > 0;)
        if (journal_entry_was(log->entry[i]) == BRY_PRESENT)
            bry__kbf_add(&map->table[journal_entry_table(log->entry[i])], hashes[i],
                         journal_entry_code(log->entry[i]));
    for (unsigned i = 0; i < log->tables; i++)
        map->table[i].items = log->items[i];
}

bry_status bry__kbf_map_del_n(void *self, const bry_hash *hashes, size_t n, uint64_t codes,
                              uint8_t *was)
{
    bry__kbf_map *map = self;
    journal log;
    if (!journal_begin(&log, map, n))
        return BRY_E_NOMEM;
    bry_status status = BRY_OK;
    bool any = false; /* whether anything was deleted */
    for (size_t i = 0; i < n && status == BRY_OK; i++) {
        kbf_change_prefetch(map, hashes, i, n);
        unsigned table = 0;
        uint32_t old = 0;
        bry_answer answer = bry__kbf_map_locate(map, hashes[i], (uint32_t)codes, &table, &old);
        if (answer == BRY_PRESENT) {
            bry__kbf_take(&map->table[table], hashes[i], old, 0);
            any = true;
        }
        journal_note(&log, journal_entry(answer, table, old), 0);
        if (answer == BRY_UNSURE && !was)
            status = BRY_E_UNSURE;
    }
    if (status != BRY_OK)
        kbf_change_undo_del(map, hashes, &log);
    journal_end(&log, map, status == BRY_OK, was);
    if (status == BRY_OK && any)
        bry__kbf_map_settle(map);
    return status;
}

bry_answer bry__kbf_map_del_pair(void *self, bry_hash hash, uint32_t code, uint64_t codes)
{
    bry__kbf_map *map = self;
    int where = -1;
    for (unsigned i = 0; i < map->tables; i++) {
        const bry__kbf *table = &map->table[i];
        uint32_t said;
        if (!bry__kbf_may_hold(table, hash, code))
            continue;
        if (where < 0)
            where = (int)i;
        /* If several tables may hold the pair, one that reports it. */
        if (bry__kbf_get(table, hash, (uint32_t)codes, &said) == BRY_PRESENT && said == code) {
            where = (int)i;
            break;
        }
    }
    if (where < 0)
        return BRY_ABSENT;
    bry__kbf_take(&map->table[where], hash, code, 0);
    bry__kbf_map_settle(map);
    return BRY_PRESENT;
}
