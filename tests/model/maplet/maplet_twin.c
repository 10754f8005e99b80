#include "model/maplet/maplet_twin.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

/* A test cannot go on without memory. */
static void *or_abort(void *block)
{
    if (!block)
        abort();
    return block;
}

static int compare(uint64_t f, uint32_t v, const twin_entry *entry)
{
    if (f != entry->fingerprint)
        return f < entry->fingerprint ? -1 : 1;
    return v < entry->value ? -1 : v > entry->value;
}

int twin_order(const void *a, const void *b)
{
    const twin_entry *entry = a;
    return compare(entry->fingerprint, entry->value, b);
}

/* ---- one table ---- */

static twin_list *list_of(twin_table *table, uint64_t f)
{
    return &table->list[(size_t)((wide)f * TWIN_LISTS / table->range)];
}

/* The first entry not below (f, v). */
static size_t place_of(const twin_list *list, uint64_t f, uint32_t v)
{
    size_t low = 0, high = list->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(f, v, &list->entry[middle]) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void put(twin_table *table, twin_entry entry)
{
    twin_list *list = list_of(table, entry.fingerprint);
    if (list->n == list->room) {
        list->room = list->room * 2 + 4;
        list->entry = or_abort(realloc(list->entry, list->room * sizeof entry));
    }
    size_t at = place_of(list, entry.fingerprint, entry.value);
    memmove(list->entry + at + 1, list->entry + at, (list->n - at) * sizeof entry);
    list->entry[at] = entry;
    list->n++;
    table->n++;
}

static bool take(twin_table *table, uint64_t f, uint32_t v)
{
    twin_list *list = list_of(table, f);
    size_t at = place_of(list, f, v);
    if (at == list->n || compare(f, v, &list->entry[at]) != 0)
        return false;
    list->n--;
    memmove(list->entry + at, list->entry + at + 1, (list->n - at) * sizeof *list->entry);
    table->n--;
    return true;
}

/* Value number i of a fingerprint, smallest first; false if there are fewer. */
static bool value_of(twin_table *table, uint64_t f, size_t i, uint32_t *v)
{
    const twin_list *list = list_of(table, f);
    size_t at = place_of(list, f, 0) + i;
    if (at >= list->n || list->entry[at].fingerprint != f)
        return false;
    *v = list->entry[at].value;
    return true;
}

static void empty(twin_table *table)
{
    for (unsigned i = 0; i < TWIN_LISTS; i++) {
        free(table->list[i].entry);
        table->list[i] = (twin_list){0};
    }
    table->n = 0;
}

/* ---- the chain ---- */

static void open_table(maplet_twin *twin, uint64_t range)
{
    twin_table *table = or_abort(calloc(1, sizeof *table));
    table->range = range;
    twin->table[twin->tables++] = table;
}

static void free_table(twin_table *table)
{
    empty(table);
    free(table);
}

void maplet_twin_close(maplet_twin *twin)
{
    free_table(twin->table[--twin->tables]);
}

void maplet_twin_trim(maplet_twin *twin)
{
    while (twin->tables > 1 && twin->table[twin->tables - 1]->n == 0)
        maplet_twin_close(twin);
}

void maplet_twin_make(maplet_twin *twin, const bry__maplet_options *options, uint64_t range)
{
    *twin = (maplet_twin){.options = *options};
    open_table(twin, range);
}

void maplet_twin_free(maplet_twin *twin)
{
    while (twin->tables > 0)
        maplet_twin_close(twin);
}

void maplet_twin_clear(maplet_twin *twin)
{
    while (twin->tables > 1)
        maplet_twin_close(twin);
    empty(twin->table[0]);
}

uint64_t maplet_twin_count(const maplet_twin *twin)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < twin->tables; i++)
        n += twin->table[i]->n;
    return n;
}

double maplet_twin_error(const maplet_twin *twin)
{
    double error = 0;
    for (unsigned i = 0; i < twin->tables; i++)
        error += (double)twin->table[i]->n / (double)twin->table[i]->range;
    return error;
}

uint64_t maplet_twin_fingerprint(const maplet_twin *twin, unsigned table, bry_hash hash)
{
    return (uint64_t)((wide)hash.hi * twin->table[table]->range >> 64);
}

static bool too_wide(const maplet_twin *twin, uint32_t value)
{
    return twin->options.value_bits < 32 && value >= 1u << twin->options.value_bits;
}

uint64_t maplet_twin_get_all(const maplet_twin *twin, bry_hash hash, uint32_t *values,
                             uint64_t room)
{
    uint64_t total = 0;
    for (unsigned i = twin->tables; i-- > 0;) {
        uint64_t f = maplet_twin_fingerprint(twin, i, hash);
        uint32_t v;
        for (size_t j = 0; value_of(twin->table[i], f, j, &v); j++) {
            if (total < room)
                values[total] = v;
            total++;
        }
    }
    return total;
}

/* ---- the chain ---- */

/* The number of bits by which fingerprints of table i are longer than the first table's, at most 62
 * in total. */
unsigned maplet_twin_shift(const maplet_twin *twin, unsigned i)
{
    static const unsigned planned[] = {0, 10, 14, 17, 22, 31, 35, 39, 43, 47, 51};
    unsigned bits = planned[i];
    while (bits > 0 && (wide)twin->table[0]->range << bits > (wide)1 << 62)
        bits--;
    return bits;
}

static uint64_t range_of(const maplet_twin *twin, unsigned i)
{
    return twin->table[0]->range << maplet_twin_shift(twin, i);
}

/* The capacity of each table, 0 after the last; returns the number of tables. */
static unsigned capacities(const maplet_twin *twin, uint64_t *capacity)
{
    wide most = (wide)1 << 40, all = 0;
    double error = 0;
    unsigned i = 0;
    bool cut = false;
    memset(capacity, 0, BRY__MAPLET_TABLES * sizeof *capacity);
    for (; i < BRY__MAPLET_TABLES && all < most && !cut && (i == 0 || !twin->options.fixed); i++) {
        static const unsigned planned[] = {0, 10, 14, 17, 22, 31, 35, 39, 43, 47, 51};
        cut = i > 0 && maplet_twin_shift(twin, i) < planned[i];
        wide here = (wide)twin->options.capacity << (i ? 4 * i + 2 : 0);
        if (cut)
            here = (wide)((0.999 * twin->options.error - error) * (double)range_of(twin, i));
        if (here == 0)
            break;
        capacity[i] = (uint64_t)(here < most ? here : most);
        error += (double)capacity[i] / (double)range_of(twin, i);
        all += capacity[i];
    }
    return i;
}

/* Whether the promise holds with these entries if all tables from i on are full. */
static bool holds_from(const maplet_twin *twin, const uint64_t *n, unsigned i)
{
    uint64_t capacity[BRY__MAPLET_TABLES];
    unsigned tables = capacities(twin, capacity);
    double error = 0;
    for (unsigned t = 0; t < tables; t++)
        error +=
            (double)(t >= i && n[t] < capacity[t] ? capacity[t] : n[t]) / (double)range_of(twin, t);
    return error <= twin->options.error * (1 + 1e-9);
}

static unsigned place_for(const maplet_twin *twin)
{
    uint64_t n[BRY__MAPLET_TABLES] = {0}, capacity[BRY__MAPLET_TABLES];
    unsigned tables = capacities(twin, capacity);
    for (unsigned i = 0; i < twin->tables; i++)
        n[i] = twin->table[i]->n;
    for (unsigned i = 0; i < tables; i++)
        if (n[i] < capacity[i] && holds_from(twin, n, i))
            return i;
    if (n[tables - 1] < capacity[tables - 1] &&
        maplet_twin_error(twin) + 1 / (double)range_of(twin, tables - 1) <= twin->options.error)
        return tables - 1;
    return BRY__MAPLET_TABLES;
}

void maplet_twin_open(maplet_twin *twin, unsigned tables)
{
    while (twin->tables < tables)
        open_table(twin, range_of(twin, twin->tables));
}

bry_status maplet_twin_add(maplet_twin *twin, bry_hash hash, uint32_t value)
{
    if (too_wide(twin, value))
        return BRY_E_RANGE;
    unsigned i = place_for(twin);
    if (i == BRY__MAPLET_TABLES)
        return BRY_E_FULL;
    maplet_twin_open(twin, i + 1);
    put(twin->table[i], (twin_entry){maplet_twin_fingerprint(twin, i, hash), value});
    return BRY_OK;
}

bry_status maplet_twin_upsert(maplet_twin *twin, bry_hash hash, uint32_t value, bry_answer *was,
                              uint32_t *old)
{
    if (too_wide(twin, value))
        return BRY_E_RANGE;
    for (unsigned i = twin->tables; i-- > 0;) {
        uint64_t f = maplet_twin_fingerprint(twin, i, hash);
        if (!value_of(twin->table[i], f, 0, old))
            continue;
        take(twin->table[i], f, *old);
        put(twin->table[i], (twin_entry){f, value});
        *was = BRY_PRESENT;
        return BRY_OK;
    }
    bry_status status = maplet_twin_add(twin, hash, value);
    if (status == BRY_OK)
        *was = BRY_ABSENT;
    return status;
}

uint64_t maplet_twin_del(maplet_twin *twin, bry_hash hash)
{
    uint64_t removed = 0;
    for (unsigned i = 0; i < twin->tables; i++) {
        uint64_t f = maplet_twin_fingerprint(twin, i, hash);
        uint32_t v;
        while (value_of(twin->table[i], f, 0, &v))
            removed += take(twin->table[i], f, v);
    }
    while (removed > 0 && twin->tables > 1 && twin->table[twin->tables - 1]->n == 0)
        maplet_twin_close(twin);
    return removed;
}

bry_answer maplet_twin_del_value(maplet_twin *twin, bry_hash hash, uint32_t value)
{
    for (unsigned i = twin->tables; i-- > 0;)
        if (take(twin->table[i], maplet_twin_fingerprint(twin, i, hash), value))
            return BRY_PRESENT;
    return BRY_ABSENT;
}

bry_status maplet_twin_replace(maplet_twin *twin, bry_hash hash, uint32_t from, uint32_t to,
                               bry_answer *was)
{
    if (too_wide(twin, to))
        return BRY_E_RANGE;
    *was = BRY_ABSENT;
    for (unsigned i = twin->tables; i-- > 0 && *was == BRY_ABSENT;) {
        uint64_t f = maplet_twin_fingerprint(twin, i, hash);
        if (take(twin->table[i], f, from)) {
            put(twin->table[i], (twin_entry){f, to});
            *was = BRY_PRESENT;
        }
    }
    return BRY_OK;
}

bry_status maplet_twin_remap(maplet_twin *twin, bry__map_value *map, void *context)
{
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned t = 0; t < twin->tables; t++) {
            for (unsigned l = 0; l < TWIN_LISTS; l++) {
                twin_list *list = &twin->table[t]->list[l];
                for (size_t i = 0; i < list->n; i++) {
                    uint32_t to = map(context, list->entry[i].value);
                    if (too_wide(twin, to))
                        return BRY_E_RANGE; /* in the first pass, which changes nothing */
                    if (pass > 0)
                        list->entry[i].value = to;
                }
                if (pass > 0 && list->n > 0)
                    qsort(list->entry, list->n, sizeof *list->entry, twin_order);
            }
        }
    }
    return BRY_OK;
}

/* ---- merging ---- */

/* All entries of one side's table, except those that `hidden` leaves to the other side. */
static void put_all(twin_table *to, const twin_table *from, twin_table *hidden)
{
    uint32_t other;
    for (unsigned i = 0; from && i < TWIN_LISTS; i++)
        for (size_t j = 0; j < from->list[i].n; j++) {
            twin_entry entry = from->list[i].entry[j];
            if (!hidden || !value_of(hidden, entry.fingerprint, 0, &other))
                put(to, entry);
        }
}

/* KEEP: entries that are in an earlier table of `into` are omitted. */
static bool is_known(const maplet_twin *into, unsigned table, uint64_t fingerprint)
{
    uint32_t value;
    for (unsigned t = 0; t < table && t < into->tables; t++)
        if (value_of(into->table[t],
                     fingerprint >> (maplet_twin_shift(into, table) - maplet_twin_shift(into, t)),
                     0, &value))
            return true;
    return false;
}

/* REPLACE: the value that an older table of `from` has for the entry. */
static uint32_t taken_over(const maplet_twin *from, unsigned table, twin_entry entry)
{
    uint32_t value;
    for (unsigned t = table < from->tables ? table : from->tables; t-- > 0;)
        if (value_of(from->table[t],
                     entry.fingerprint >>
                         (maplet_twin_shift(from, table) - maplet_twin_shift(from, t)),
                     0, &value))
            return value;
    return entry.value;
}

static void merge_table(maplet_twin *merged, unsigned t, const maplet_twin *a, const maplet_twin *b,
                        bry__merge_mode mode)
{
    twin_table *into = t < a->tables ? a->table[t] : NULL,
               *from = t < b->tables ? b->table[t] : NULL;
    twin_table *kept = or_abort(calloc(1, sizeof *kept)),
               *added = or_abort(calloc(1, sizeof *kept));
    kept->range = added->range = merged->table[t]->range;
    for (unsigned i = 0; i < TWIN_LISTS; i++) {
        for (size_t j = 0; into && j < into->list[i].n; j++) {
            twin_entry entry = into->list[i].entry[j];
            entry.value = mode == BRY__MERGE_REPLACE ? taken_over(b, t, entry) : entry.value;
            put(kept, entry);
        }
        for (size_t j = 0; from && j < from->list[i].n; j++) {
            twin_entry entry = from->list[i].entry[j];
            if (mode != BRY__MERGE_KEEP || !is_known(a, t, entry.fingerprint))
                put(added, entry);
        }
    }
    put_all(merged->table[t], kept, mode == BRY__MERGE_REPLACE && from ? from : NULL);
    put_all(merged->table[t], added, mode == BRY__MERGE_KEEP && into ? into : NULL);
    free_table(kept);
    free_table(added);
}

bry_status maplet_twin_merge(const maplet_twin *into, const maplet_twin *from, bry__merge_mode mode,
                             maplet_twin *merged)
{
    if (into->options.value_bits < from->options.value_bits)
        return BRY_E_RANGE;
    maplet_twin_make(merged, &into->options, into->table[0]->range);
    maplet_twin_open(merged, into->tables > from->tables ? into->tables : from->tables);
    uint64_t n[BRY__MAPLET_TABLES] = {0}, sum = 0;
    for (unsigned i = 0; i < merged->tables; i++) {
        merge_table(merged, i, into, from, mode);
        n[i] = merged->table[i]->n;
        sum += n[i];
    }
    if (holds_from(merged, n, BRY__MAPLET_TABLES) &&
        (!into->options.fixed || sum <= into->options.capacity))
        return BRY_OK;
    maplet_twin_free(merged);
    return BRY_E_FULL;
}

/* ---- what the maplet chooses ---- */

size_t maplet_twin_list(const maplet_twin *twin, unsigned table, twin_entry **entries)
{
    const twin_table *from = twin->table[table];
    size_t n = 0;
    *entries = or_abort(calloc((size_t)from->n + 1, sizeof **entries));
    for (unsigned i = 0; i < TWIN_LISTS; i++) {
        if (from->list[i].n > 0)
            memcpy(*entries + n, from->list[i].entry, from->list[i].n * sizeof **entries);
        n += from->list[i].n;
    }
    return n;
}

bool maplet_twin_keep(maplet_twin *twin, unsigned table, const twin_entry *left, size_t n,
                      twin_entry **lost, size_t *lost_n)
{
    twin_entry *had;
    size_t had_n = maplet_twin_list(twin, table, &had), kept = 0;
    *lost = or_abort(malloc((had_n + 1) * sizeof **lost));
    *lost_n = 0;
    for (size_t i = had_n; i-- > 0;) {
        if (kept < n && twin_order(&left[n - 1 - kept], &had[i]) == 0)
            kept++;
        else
            (*lost)[(*lost_n)++] = had[i];
    }
    free(had);
    if (kept < n)
        return false;
    for (size_t i = 0; i < *lost_n; i++)
        take(twin->table[table], (*lost)[i].fingerprint, (*lost)[i].value);
    return true;
}

unsigned maplet_twin_fold_to(const maplet_twin *twin)
{
    uint64_t capacity[BRY__MAPLET_TABLES];
    unsigned last = twin->tables - 1, to = 0;
    capacities(twin, capacity);
    for (unsigned i = 0; i <= last; i++)
        if (twin->table[i]->n > capacity[i])
            return last;
    while (to < last && twin->table[to]->n + twin->table[last]->n > capacity[to])
        to++;
    return to;
}

void maplet_twin_fold_entry(maplet_twin *twin, unsigned from, unsigned to, twin_entry entry)
{
    entry.fingerprint >>= maplet_twin_shift(twin, from) - maplet_twin_shift(twin, to);
    put(twin->table[to], entry);
}
