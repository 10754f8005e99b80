/* Values that are live, dead or free (maplet_values.h): their names and counts. */
#include "maplet/maplet_values.h"

#include "hash/derive.h"

#include <string.h>

/* ---- memory -------------------------------------------------------------------------------- */

static size_t values_size(unsigned tables)
{
    return sizeof(bry__values) + tables * sizeof(uint64_t *);
}

bry_status bry__values_begin(bry__maplet *maplet)
{
    maplet->values = bry__alloc(&maplet->allocator, values_size(1));
    if (!maplet->values)
        return BRY_E_NOMEM;
    maplet->values->tables = 1;
    return BRY_OK;
}

static uint32_t size_of(const bry__values *values)
{
    return values->room - values->first;
}

static void free_arrays(bry__values *values, const bry_allocator *allocator)
{
    for (unsigned i = 0; i < values->tables; i++)
        bry__free(allocator, values->count[i], size_of(values) * sizeof *values->count[i]);
    bry__free(allocator, values->name, size_of(values) * sizeof *values->name);
}

static void free_values(bry__values *values, const bry_allocator *allocator)
{
    free_arrays(values, allocator);
    bry__free(allocator, values, values_size(values->tables));
}

void bry__values_clear(bry__maplet *maplet)
{
    bry__values *values = maplet->values;
    if (!values)
        return;
    free_arrays(values, &maplet->allocator);
    memset(values->count, 0, values->tables * sizeof *values->count);
    *values = (bry__values){.name_bits = values->name_bits, .tables = values->tables};
}

void bry__values_free(bry__maplet *maplet)
{
    if (maplet->values)
        free_values(maplet->values, &maplet->allocator);
    maplet->values = NULL;
}

uint64_t bry__values_bytes(const bry__maplet *maplet)
{
    const bry__values *values = maplet->values;
    if (!values)
        return 0;
    return values_size(values->tables) +
           (uint64_t)size_of(values) *
               (sizeof *values->name + maplet->tables * sizeof *values->count[0]);
}

static uint32_t room_for(const bry__values *values, uint32_t value)
{
    uint64_t room = values->room ? values->room : BRY__VALUES_ROOM;
    while (room <= value)
        room += room / 2;
    if (value < values->room)
        return values->room;
    return room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
}

uint64_t bry__values_use_bytes(const bry__maplet *maplet, uint32_t value)
{
    const bry__values *values = maplet->values;
    unsigned tables = maplet->tables ? maplet->tables : 1;
    return (uint64_t)(room_for(values, value) - values->room) *
           (sizeof *values->name + tables * sizeof *values->count[0]);
}

/* A copy with arrays for values from `first` to `room` - 1, which are at least those of now. NULL:
 * out of memory. */
static bry__values *copy_values(const bry__maplet *maplet, uint32_t first, uint32_t room,
                                const bry_allocator *allocator)
{
    const bry__values *values = maplet->values;
    size_t size = room - first, same = size_of(values), at = same ? values->first - first : 0;
    bry__values *made = bry__alloc(allocator, values_size(values->tables));
    if (!made)
        return NULL;
    *made = *values;
    made->first = first;
    made->room = room;
    made->name = bry__alloc_buffer(allocator, size * sizeof *made->name);
    bool whole = made->name;
    for (unsigned i = 0; i < maplet->tables && whole; i++) {
        made->count[i] = bry__alloc(allocator, size * sizeof *made->count[i]);
        whole = made->count[i];
        if (whole && same)
            memcpy(made->count[i] + at, values->count[i], same * sizeof *made->count[i]);
    }
    if (!whole) {
        free_values(made, allocator);
        return NULL;
    }
    memset(made->name, 0xff, size * sizeof *made->name);
    if (same)
        memcpy(made->name + at, values->name, same * sizeof *made->name);
    return made;
}

static bry_status reserve(bry__maplet *maplet, uint32_t first, uint32_t room)
{
    bry__values *larger = copy_values(maplet, first, room, &maplet->allocator);
    if (!larger)
        return BRY_E_NOMEM;
    free_values(maplet->values, &maplet->allocator);
    maplet->values = larger;
    return BRY_OK;
}

bry_status bry__values_reserve(bry__maplet *maplet, uint32_t n)
{
    const bry__values *values = maplet->values;
    if (values->first == 0 && n <= values->room)
        return BRY_OK;
    return reserve(maplet, 0, n > values->room ? n : values->room);
}

/* Makes room for a value where there are few names. */
static bry_status reserve_few(bry__maplet *maplet, uint32_t value)
{
    const bry__values *values = maplet->values;
    uint32_t first = values->first, room = values->room, size = size_of(values);
    uint32_t names = (uint32_t)1 << values->name_bits;
    if (size == 0) {
        first = value;
        room = value + BRY__VALUES_FEW_ROOM;
    } else if (value < first) {
        first = first > size && first - size < value ? first - size : value;
    } else {
        room = value < room + size ? room + size : value + 1;
    }
    uint32_t most = value < names && values->room <= names ? names : BRY__VALUES_FEW;
    return reserve(maplet, first, room < most ? room : most);
}

/* Makes room for a value. */
static bry_status reach(bry__maplet *maplet, uint32_t value)
{
    const bry__values *values = maplet->values;
    if (value >= values->first && value < values->room)
        return BRY_OK;
    bool few = values->name_bits > 0 && values->name_bits <= BRY__FEW_BITS;
    return few && value < BRY__VALUES_FEW && values->room <= BRY__VALUES_FEW
               ? reserve_few(maplet, value)
               : bry__values_reserve(maplet, room_for(values, value));
}

uint64_t bry__values_plan_bytes(uint32_t n, unsigned tables)
{
    return values_size(tables > 0 ? tables : 1) +
           (uint64_t)n * (sizeof(uint32_t) + tables * sizeof(uint64_t));
}

bry_status bry__values_clone(const bry__maplet *maplet, bry__maplet *copy)
{
    copy->values = NULL;
    if (!maplet->values)
        return BRY_OK;
    if (maplet->values->room)
        copy->values =
            copy_values(maplet, maplet->values->first, maplet->values->room, &copy->allocator);
    else if (bry__values_begin(copy) == BRY_OK)
        copy->values->name_bits = maplet->values->name_bits;
    return copy->values ? BRY_OK : BRY_E_NOMEM;
}

uint64_t bry__values_table_bytes(const bry__maplet *maplet)
{
    return size_of(maplet->values) * sizeof *maplet->values->count[0] + sizeof(uint64_t *);
}

bry_status bry__values_open_table(bry__maplet *maplet, unsigned i)
{
    bry__values *values = maplet->values;
    const bry_allocator *allocator = &maplet->allocator;
    if (!values)
        return BRY_OK;
    uint64_t *count = NULL;
    if (values->room) {
        count = bry__alloc(allocator, size_of(values) * sizeof *count);
        if (!count)
            return BRY_E_NOMEM;
    }
    if (i >= values->tables) {
        bry__values *larger = bry__alloc(allocator, values_size(i + 1));
        if (!larger) {
            bry__free(allocator, count, size_of(values) * sizeof *count);
            return BRY_E_NOMEM;
        }
        memcpy(larger, values, values_size(values->tables));
        bry__free(allocator, values, values_size(values->tables));
        larger->tables = (uint8_t)(i + 1);
        maplet->values = values = larger;
    }
    values->count[i] = count;
    return BRY_OK;
}

void bry__values_close_table(bry__maplet *maplet, unsigned i)
{
    bry__values *values = maplet->values;
    if (!values)
        return;
    bry__free(&maplet->allocator, values->count[i], size_of(values) * sizeof *values->count[i]);
    values->count[i] = NULL;
    values->lowest = 0; /* dead entries of the table may have been the last of their values */
}

/* ---- using and killing --------------------------------------------------------------------- */

uint64_t bry__values_entries(const bry__maplet *maplet, uint32_t value)
{
    const bry__values *values = maplet->values;
    uint64_t n = 0;
    if (value >= values->first && value < values->room)
        for (unsigned i = 0; i < maplet->tables; i++)
            n += values->count[i][value - values->first];
    return n;
}

static bool is_free(const bry__maplet *maplet, uint32_t value)
{
    return !bry__values_is_live(maplet, value) && bry__values_entries(maplet, value) == 0;
}

uint32_t bry__values_find_free(const bry__maplet *maplet, uint32_t wanted, uint32_t most)
{
    if (wanted < most && is_free(maplet, wanted))
        return wanted;
    uint32_t lowest = maplet->values->lowest, value = lowest < most ? lowest : most;
    while (value < most && !is_free(maplet, value))
        value++;
    return value;
}

uint32_t bry__values_find_named(const bry__maplet *maplet, uint32_t name)
{
    const bry__values *values = maplet->values;
    if (!values)
        return BRY__NO_NAME;
    uint32_t first = values->first;
    if (name >= first && name < values->room && values->name[name - first] == name)
        return name; /* the usual case */
    for (uint32_t value = first; value < values->room; value++)
        if (values->name[value - first] == name)
            return value;
    return BRY__NO_NAME;
}

static unsigned bits_of(uint32_t value)
{
    return value ? 32 - (unsigned)__builtin_clz(value) : 0;
}

bry_status bry__values_use(bry__maplet *maplet, uint32_t value, uint32_t name)
{
    bry_status status = reach(maplet, value);
    if (status != BRY_OK)
        return status;
    if (bits_of(value) > maplet->value_bits)
        bry__maplet_widen(maplet, bits_of(value));
    maplet->values->name[value - maplet->values->first] = name;
    if (value == maplet->values->lowest)
        maplet->values->lowest++;
    return BRY_OK;
}

static void set_free(bry__values *values, uint32_t value)
{
    if (value < values->lowest)
        values->lowest = value;
}

void bry__values_kill(bry__maplet *maplet, uint32_t value)
{
    bry__values *values = maplet->values;
    uint32_t at = value - values->first;
    uint64_t entries = 0;
    values->name[at] = BRY__NO_NAME;
    for (unsigned i = 0; i < maplet->tables; i++) {
        maplet->table[i].dead += values->count[i][at];
        entries += values->count[i][at];
    }
    if (entries == 0)
        set_free(values, value);
}

void bry__values_revive(bry__maplet *maplet, uint32_t value, uint32_t name)
{
    bry__values *values = maplet->values;
    values->name[value - values->first] = name;
    for (unsigned i = 0; i < maplet->tables; i++)
        maplet->table[i].dead -= values->count[i][value - values->first];
}

void bry__values_narrow(bry__maplet *maplet, unsigned value_bits)
{
    if (maplet->value_bits <= value_bits)
        return;
    for (uint32_t value = (uint32_t)1 << value_bits; value < maplet->values->room; value++)
        if (!is_free(maplet, value))
            return;
    bry__maplet_narrow(maplet, value_bits);
}

typedef struct pair {
    uint32_t into, from;
} pair;

static uint32_t recode(void *context, uint32_t value)
{
    const pair *values = context;
    return value == values->from ? values->into : value;
}

bry_status bry__values_merge(bry__maplet *maplet, uint32_t into, uint32_t from)
{
    pair both = {into, from};
    bry_status status = bry__maplet_remap(maplet, recode, &both);
    if (status != BRY_OK)
        return status;
    bry__values *values = maplet->values;
    for (unsigned i = 0; i < maplet->tables; i++) {
        uint64_t *moved = &values->count[i][from - values->first];
        values->count[i][into - values->first] += *moved;
        *moved = 0;
    }
    bry__values_kill(maplet, from);
    return BRY_OK;
}

/* ---- keeping ------------------------------------------------------------------------------- */

unsigned bry__maplet_live_tables(const bry__maplet *maplet)
{
    unsigned tables = maplet->tables ? maplet->tables : 1;
    while (tables > 1 && bry__maplet_live(maplet, tables - 1) == 0)
        tables--;
    return tables;
}

const uint32_t *bry__values_names(const bry__values *values, uint32_t few[BRY__VALUES_FEW])
{
    if (values->first == 0)
        return values->name;
    memset(few, 0xff, values->first * sizeof *few);
    memcpy(few + values->first, values->name, size_of(values) * sizeof *few);
    return few;
}

unsigned bry__values_name_bits(const bry__maplet *maplet)
{
    const bry__values *values = maplet->values;
    uint32_t most = 0;
    if (values->name_bits)
        return values->name_bits;
    for (uint32_t i = 0; i < size_of(values); i++)
        if (values->name[i] != BRY__NO_NAME && values->name[i] > most)
            most = values->name[i];
    return bits_of(most);
}

bool bry__values_count_loaded(bry__maplet *maplet, uint32_t value)
{
    if (!bry__values_is_live(maplet, value))
        return false;
    maplet->values->count[0][value - maplet->values->first]++;
    return true;
}

/* Counts again by table, because entries of several tables were counted together. */
static void recount(bry__maplet *maplet)
{
    bry__values *values = maplet->values;
    bry__maplet_cursor cursor = {0};
    uint64_t fingerprint;
    uint32_t value;
    if (values->room)
        memset(values->count[0], 0, size_of(values) * sizeof *values->count[0]);
    while (bry__maplet_next(maplet, &cursor, &fingerprint, &value))
        values->count[cursor.table][value - values->first]++;
}

bry_status bry__values_adopt(bry__maplet *maplet, const bry__maplet *read)
{
    bry__values *values = maplet->values;
    bry_status status = BRY_OK;
    *maplet = *read;
    maplet->values = values;
    if (maplet->tables == 0)
        bry__values_close_table(maplet, 0);
    for (unsigned i = 1; i < maplet->tables && status == BRY_OK; i++)
        status = bry__values_open_table(maplet, i);
    if (status == BRY_OK && maplet->tables > 1)
        recount(maplet);
    return status;
}

/* ---- keys ---------------------------------------------------------------------------------- */

/* Whether a table from `begin` on has the entry. */
static bool has_from(const bry__maplet *maplet, unsigned begin, bry_hash hash, uint32_t value)
{
    for (unsigned i = maplet->tables; i-- > begin;)
        if (bry__table_has_entry(&maplet->table[i], bry__fingerprint(hash, maplet->table[i].range),
                                 value))
            return true;
    return false;
}

bool bry__values_has(const bry__maplet *maplet, bry_hash hash, uint32_t value)
{
    return has_from(maplet, 0, hash, value);
}

/* Calls `found` for the values of one table that no newer table has. */
static bool each_of_table(const bry__maplet *maplet, unsigned i, bry_hash hash,
                          bry__found_name *found, void *context)
{
    enum { PAGE = 16, LARGE_PAGE = 256 };
    const bry__table *table = &maplet->table[i];
    const uint32_t *names = maplet->values->name;
    uint32_t first = maplet->values->first;
    uint64_t fingerprint = bry__fingerprint(hash, table->range), total;
    uint32_t page_of[LARGE_PAGE], from = 0;
    unsigned page = PAGE;
    for (bool more = true; more; page = LARGE_PAGE) {
        total = bry__table_get_from(table, fingerprint, from, page_of, page);
        for (unsigned j = 0; j < total && j < page; j++) {
            uint32_t value = page_of[j];
            if ((j > 0 && value == page_of[j - 1]) || names[value - first] == BRY__NO_NAME ||
                has_from(maplet, i + 1, hash, value))
                continue;
            if (!found(context, names[value - first]))
                return true;
        }
        more = total > page;
        if (more)
            from = page_of[page - 1] + 1;
    }
    return false;
}

bool bry__values_each(const bry__maplet *maplet, bry_hash hash, bry__found_name *found,
                      void *context)
{
    for (unsigned i = maplet->tables; i-- > 0;)
        if (each_of_table(maplet, i, hash, found, context))
            return true;
    return false;
}

/* Adds fingerprints by rewriting the table. On failure nothing has changed. */
static bry_status add_sorted(bry__maplet *maplet, bry__table *table, const bry__fingerprints *list,
                             uint32_t value)
{
    size_t n = (size_t)list->n, size = 2 * n * sizeof(bry__item);
    bry__item *items = bry__alloc_buffer(&maplet->allocator, size);
    if (!items)
        return BRY_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        items[i] = (bry__item){.key = list->fingerprint[i], .value = value};
    bry_status status = bry__maplet_add_items(maplet, table, items, n);
    bry__free(&maplet->allocator, items, size);
    return status;
}

/* Adds fingerprints to an existing table; *done is their number. If there is no memory for all at
 * once, adds them one by one. */
static bry_status add_list(bry__maplet *maplet, unsigned i, const bry__fingerprints *list,
                           uint32_t value, uint64_t *done)
{
    bry__table *table = &maplet->table[i];
    bry_status status = BRY_OK;
    *done = 0;
    if (bry__maplet_is_bulk(table, list->n) && add_sorted(maplet, table, list, value) == BRY_OK)
        *done = list->n;
    for (; *done < list->n && status == BRY_OK; *done += status == BRY_OK)
        status = bry__table_add(table, list->fingerprint[*done], value, &maplet->allocator);
    return status;
}

bry_status bry__values_add_all(bry__maplet *maplet, const bry__fingerprints *lists, uint32_t value)
{
    uint64_t done[BRY__MAPLET_TABLES] = {0};
    unsigned most = BRY__MAPLET_TABLES;
    bry_status status = BRY_OK;
    while (most > 0 && lists[most - 1].n == 0)
        most--;
    while (maplet->tables < most && status == BRY_OK)
        status = bry__maplet_open_table(maplet);
    for (unsigned i = 0; i < most && status == BRY_OK; i++)
        status = add_list(maplet, i, &lists[i], value, &done[i]);
    for (unsigned i = 0; i < most; i++) {
        if (status == BRY_OK)
            maplet->values->count[i][value - maplet->values->first] += done[i];
        while (status != BRY_OK && done[i]-- > 0)
            bry__table_del(&maplet->table[i], lists[i].fingerprint[done[i]], value,
                           &maplet->allocator);
    }
    bry__maplet_close_empty(maplet);
    return status;
}

/* ---- reclaiming ---------------------------------------------------------------------------- */

enum { SEGMENT = 384 }; /* entries per segment, roughly */

uint64_t bry__values_dead(const bry__maplet *maplet)
{
    uint64_t dead = 0;
    for (unsigned i = 0; i < maplet->tables && maplet->values; i++)
        dead += maplet->table[i].dead;
    return dead;
}

uint64_t bry__values_waiting(const bry__maplet *maplet)
{
    uint64_t work = 0;
    for (unsigned i = 0; i < maplet->tables; i++)
        work += maplet->table[i].dead > 0 ? maplet->table[i].n : 0;
    return work;
}

uint64_t bry__values_unsettled(const bry__maplet *maplet)
{
    uint64_t excess = 0;
    for (unsigned i = 0; i < maplet->tables; i++)
        excess += maplet->table[i].settling ? bry__table_excess(&maplet->table[i]) : 0;
    return excess * SEGMENT;
}

void bry__values_note_gone(bry__maplet *maplet, unsigned table, uint32_t value)
{
    bry__values *values = maplet->values;
    uint64_t left = --values->count[table][value - values->first];
    if (values->name[value - values->first] != BRY__NO_NAME)
        return;
    maplet->table[table].dead--;
    if (left == 0 && bry__values_entries(maplet, value) == 0)
        set_free(values, value);
}

typedef struct reclaim_state {
    bry__maplet *maplet;
    unsigned table;
} reclaim_state;

static void note_gone(void *context, uint32_t value)
{
    const reclaim_state *work = context;
    bry__values_note_gone(work->maplet, work->table, value);
}

/* The next table with work, in turn, so that none waits forever; maplet->tables: no work. */
static unsigned table_to_reclaim(const bry__maplet *maplet)
{
    const bry__values *values = maplet->values;
    for (unsigned i = 0; i < maplet->tables; i++) {
        unsigned table = (values->turn + i) % maplet->tables;
        if (maplet->table[table].dead > 0 || maplet->table[table].settling)
            return table;
    }
    return maplet->tables;
}

bry_status bry__values_reclaim(bry__maplet *maplet, uint64_t budget)
{
    unsigned i = table_to_reclaim(maplet);
    if (i == maplet->tables)
        return BRY_OK;
    bry__table *table = &maplet->table[i];
    reclaim_state work = {maplet, i};
    bool done = false;
    bry_status status = BRY_OK;
    if (table->dead > 0) {
        uint32_t few[BRY__VALUES_FEW];
        bry__kept_values names =
            bry__keep_named(bry__values_names(maplet->values, few), maplet->values->room);
        status =
            bry__table_reclaim(table, &names, note_gone, &work, budget, &done, &maplet->allocator);
        table->settling = table->dead == 0;
    }
    if (table->dead == 0)
        bry__table_restart_reclaim(table);
    for (uint64_t moved = 0; table->settling && moved < budget; moved += SEGMENT)
        table->settling = bry__table_settle(table, &maplet->allocator);
    maplet->values->turn = (uint8_t)((table->dead > 0 && !done) || table->settling ? i : i + 1);
    bry__maplet_close_empty(maplet);
    return status;
}

/*
 * One segment is reclaimed every CHANGES changes, so that dead entries do not accumulate. A change
 * pays for one or two dozen entries: in the long run, less than an eighth of all entries are dead.
 */
void bry__values_reclaim_along(bry__maplet *maplet)
{
    enum { CHANGES = 32 };
    if (bry__values_dead(maplet) > 0 && ++maplet->values->changes >= CHANGES) {
        maplet->values->changes = 0;
        bry__values_reclaim(maplet, 1);
    }
}
