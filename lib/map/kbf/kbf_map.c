/*
 * The engine kbf: tables in a chain.
 *
 * A map that may grow plans its first table for half of the error it promises. When that holds its
 * capacity, new keys go to a second one of twice the cells, planned for a quarter of the error; and
 * so on. A look-up asks all of them, and the sum of their errors stays below the promise. All
 * tables have the same number of hashes, and segments that differ by powers of two: a larger one
 * folds into a smaller one, so tables that are nearly empty can become one again. With k fixed,
 * halving the error costs about 5 % of a table's capacity per step.
 *
 * A key that is in one table is absent from the others, which may say otherwise. Two tables that
 * claim it, or one that is unsure, make the answer unsure: even if both give the same code,
 * since a change has to know the one table where the key is, and must not be refused for a key
 * that look-ups are sure of.
 */
#include "map/kbf/kbf_map.h"

#include <math.h>
#include <string.h>

enum { BATCH = 128 }; /* look-ups whose answers from two tables are compared at a time */

#define MARGIN 0.9

/* ---- making -------------------------------------------------------------------------------- */

bool bry__kbf_map_setting(const bry_map_options *options, bry__kbf_setting *setting,
                          unsigned *field_bits)
{
    uint64_t codes =
        options->value_bits ? (uint64_t)1 << (options->value_bits & 63) : options->values;
    *field_bits = bry__gf_bits_for(codes);
    if (options->value_bits > BRY_MAP_KBF_VALUE_BITS_MAX || codes == 0 || *field_bits == 0)
        return false;
    uint32_t order = ((uint32_t)1 << *field_bits) - 1;
    *setting = (bry__kbf_setting){
        .order = order,
        .codes = options->value_bits ? (uint32_t)codes : order,
    };
    return true;
}

bool bry__kbf_map_first(const bry_map_options *options, const bry__kbf_setting *setting,
                        bry__kbf *table)
{
    double share = options->fixed ? options->error : options->error / 2;
    /* The error of a table varies around the expected one; measured over many tables it is up to a
     * twentieth above the formulae. A single table that promises the whole error leaves a margin
     * for that, which takes 0.5 % more cells. */
    double planned =
        options->fixed && options->kbf.layout == BRY_MAP_TUNED ? share * MARGIN : share;
    bry__kbf_shape shape;
    if (options->kbf.cells) {
        if (options->kbf.hashes > BRY__KBF_MAX_HASHES || options->kbf.cells % options->kbf.hashes ||
            !bry__kbf_cells_allowed(options->kbf.cells, options->capacity))
            return false;
        shape = (bry__kbf_shape){options->kbf.hashes, options->kbf.cells / options->kbf.hashes};
    } else if (!bry__kbf_plan(setting, options->kbf.layout, !options->fixed, options->capacity,
                              planned, &shape)) {
        return false;
    }
    if (shape.segment > BRY__KBF_MAX_CELLS / shape.hashes)
        return false;
    /* The error that the next tables halve: the planned share, or more if the shape was given and
     * its error is larger. The papers' shape is far below its share and stays so. */
    bry__kbf_errors errors = bry__kbf_errors_at(setting, &shape, (double)options->capacity);
    double error = bry__kbf_error(&errors);
    if (options->kbf.layout == BRY_MAP_TUNED)
        error = fmax(error, share);
    *table = (bry__kbf){
        .hashes = shape.hashes,
        .segment = shape.segment,
        .capacity = options->capacity,
        .error = fmin(error, 1),
    };
    return true;
}

uint64_t bry__kbf_map_bytes_bare(unsigned field_bits)
{
    return sizeof(bry__kbf_map) + bry__gf_bytes(field_bits);
}

static bry_status kbf_map_plan(const bry_map_options *options, bry_map_shape *shape)
{
    bry__kbf_setting setting;
    unsigned field_bits;
    bry__kbf table;
    if (!bry__kbf_map_setting(options, &setting, &field_bits) ||
        !bry__kbf_map_first(options, &setting, &table))
        return BRY_E_RANGE;
    bry__kbf_shape cells = bry__kbf_shape_of(&table);
    uint64_t count = table.hashes * table.segment, bare = bry__kbf_map_bytes_bare(field_bits);
    *shape = (bry_map_shape){
        .engine = BRY_ENGINE_KBF,
        .capacity = options->capacity,
        .values = setting.codes,
        .value_bits = field_bits,
        .kbf.cells = count,
        .kbf.hashes = table.hashes,
        .errors = bry__kbf_errors_at(&setting, &cells, (double)options->capacity).by_kind,
        .bytes = bare + bry__pieces_bytes_full_of(count * sizeof(uint32_t), BRY__KBF_PIECE_SHIFT),
        .bytes_empty =
            bare + bry__pieces_bytes_empty_of(count * sizeof(uint32_t), BRY__KBF_PIECE_SHIFT),
        .grows_to = options->fixed ? options->capacity : 0,
    };
    return BRY_OK;
}

bry__kbf_map *bry__kbf_map_make(const bry_map_options *options, const bry_allocator *allocator)
{
    bry__kbf_setting setting;
    unsigned field_bits;
    if (!bry__kbf_map_setting(options, &setting, &field_bits))
        return NULL;
    bry__kbf_map *map = bry__alloc(allocator, sizeof *map);
    if (!map)
        return NULL;
    bry__kbf first = {.error = 0};
    bry__kbf_map_first(options, &setting, &first);
    *map = (bry__kbf_map){.allocator = *allocator,
                          .fixed = options->fixed,
                          .setting = setting,
                          .least_error = ldexp(first.error, -(int)BRY__KBF_TABLES)};
    if (bry__gf_init(&map->gf, field_bits, allocator) != BRY_OK) {
        bry__free(allocator, map, sizeof *map);
        return NULL;
    }
    return map;
}

void bry__kbf_map_destroy(void *self)
{
    bry__kbf_map *map = self;
    bry_allocator allocator = map->allocator;
    for (unsigned i = 0; i < map->tables; i++)
        bry__kbf_free(&map->table[i], &allocator);
    bry__kbf_free(&map->created, &allocator);
    bry__gf_free(&map->gf, &allocator);
    bry__free(&allocator, map, sizeof *map);
}

static bry_status kbf_map_create(const bry_map_options *options, const bry_allocator *allocator,
                                 void **self)
{
    bry__kbf_setting setting;
    unsigned field_bits;
    bry__kbf like;
    if (!bry__kbf_map_setting(options, &setting, &field_bits) ||
        !bry__kbf_map_first(options, &setting, &like))
        return BRY_E_RANGE;
    bry__kbf_map *map = bry__kbf_map_make(options, allocator);
    if (!map)
        return BRY_E_NOMEM;
    like.gf = &map->gf;
    bry_status status = bry__kbf_init(&map->table[0], &like, allocator);
    if (status != BRY_OK) {
        bry__kbf_map_destroy(map);
        return status;
    }
    map->tables = 1;
    *self = map;
    return BRY_OK;
}

static bry_status kbf_map_clone(const void *self, const bry_allocator *allocator, void **copy)
{
    const bry__kbf_map *map = self;
    bry__kbf_map *made = bry__alloc(allocator, sizeof *made);
    if (!made)
        return BRY_E_NOMEM;
    *made = (bry__kbf_map){.allocator = *allocator,
                           .fixed = map->fixed,
                           .setting = map->setting,
                           .least_error = map->least_error};
    bry_status status = bry__gf_init(&made->gf, map->gf.bits, allocator);
    if (status != BRY_OK) {
        bry__free(allocator, made, sizeof *made);
        return status;
    }
    if (map->created.cells.count > 0) {
        bry__kbf like = map->created;
        like.gf = &made->gf;
        status = bry__kbf_init(&made->created, &like, allocator);
    }
    for (unsigned i = 0; i < map->tables && status == BRY_OK; i++) {
        bry__kbf like = map->table[i];
        like.gf = &made->gf;
        status = bry__kbf_init(&made->table[i], &like, allocator);
        if (status == BRY_OK) {
            made->tables++;
            status = bry__kbf_copy(&made->table[i], &map->table[i], allocator);
        }
    }
    if (status == BRY_OK)
        *copy = made;
    else
        bry__kbf_map_destroy(made);
    return status;
}

void bry__kbf_map_drop(bry__kbf_map *map, unsigned i)
{
    bry__kbf_free(&map->table[i], &map->allocator);
    map->tables--;
    memmove(&map->table[i], &map->table[i + 1], (map->tables - i) * sizeof map->table[i]);
}

void bry__kbf_map_fold_first(bry__kbf_map *map, const bry__kbf *folded)
{
    if (map->created.cells.count > 0) {
        bry__kbf_free(&map->table[0], &map->allocator);
    } else {
        map->created = map->table[0];
        bry__kbf_clear(&map->created, &map->allocator);
    }
    map->table[0] = *folded;
}

static void kbf_map_clear(void *self, uint64_t codes)
{
    (void)codes;
    bry__kbf_map *map = self;
    while (map->tables > 1)
        bry__kbf_map_drop(map, map->tables - 1);
    if (map->created.cells.count > 0) {
        bry__kbf_free(&map->table[0], &map->allocator);
        map->table[0] = map->created;
        map->created = (bry__kbf){.hashes = 0};
    }
    bry__kbf_clear(&map->table[0], &map->allocator);
}

static void kbf_map_like(const void *self, bry_map_options *options)
{
    const bry__kbf *first = &((const bry__kbf_map *)self)->table[0];
    options->capacity = first->capacity;
    options->kbf.cells = first->hashes * first->segment;
    options->kbf.hashes = first->hashes;
}

int bry__kbf_map_shift(const bry__kbf *large, const bry__kbf *small)
{
    int shift = 0;
    uint64_t segment = small->segment;
    for (; segment < large->segment; segment *= 2)
        shift++;
    return segment == large->segment ? shift : -1;
}

/* Cells per segment of the largest table other than `except`. */
static uint64_t largest_segment(const bry__kbf_map *map, unsigned except)
{
    uint64_t largest = 0;
    for (unsigned i = 0; i < map->tables; i++)
        if (i != except && map->table[i].segment > largest)
            largest = map->table[i].segment;
    return largest;
}

unsigned bry__kbf_map_superfluous(const bry__kbf_map *map)
{
    unsigned empty = 0, last = 0;
    for (unsigned i = 1; i < map->tables; i++)
        if (map->table[i].items == 0) {
            empty++;
            last = i;
        }
    bool large = last && map->table[last].segment / 2 > largest_segment(map, last);
    return empty > 1 || large ? last : 0;
}

bool bry__kbf_map_next(const bry__kbf_map *map, bry__kbf *next)
{
    bry__kbf made = map->table[0];
    for (unsigned i = 1; i < map->tables; i++) {
        if (map->table[i].segment > made.segment)
            made.segment = map->table[i].segment;
        if (map->table[i].capacity > made.capacity)
            made.capacity = map->table[i].capacity;
        made.error = fmin(made.error, map->table[i].error);
    }
    uint64_t keys = 0;
    for (unsigned i = 0; i < map->tables; i++)
        keys += map->table[i].capacity;
    if (map->tables == BRY__KBF_TABLES || made.segment > BRY__KBF_MAX_CELLS / made.hashes / 2 ||
        !bry__kbf_cells_allowed(made.segment * made.hashes, keys))
        return false;
    made.segment *= 2;
    made.error = fmax(made.error / 2, map->least_error);
    bry__kbf_shape shape = bry__kbf_shape_of(&made);
    made.capacity = bry__kbf_capacity(&map->setting, &shape, made.error, 2 * made.capacity);
    if (made.capacity == 0)
        made.capacity = 1;
    *next = made;
    return true;
}

/* ---- asking -------------------------------------------------------------------------------- */

uint64_t bry__kbf_map_items(const void *self)
{
    const bry__kbf_map *map = self;
    uint64_t items = 0;
    for (unsigned i = 0; i < map->tables; i++)
        items += map->table[i].items;
    return items;
}

/* Limits the number of codes to what the field has. */
static uint32_t kbf_map_limited(uint64_t codes)
{
    return codes < UINT32_MAX ? (uint32_t)codes : UINT32_MAX;
}

bry_answer bry__kbf_map_locate(const bry__kbf_map *map, bry_hash hash, uint32_t codes,
                               unsigned *table, uint32_t *code)
{
    bool found = false;
    uint32_t its_code = 0;
    unsigned where = 0;
    for (unsigned i = 0; i < map->tables; i++) {
        uint32_t here;
        bry_answer answer = bry__kbf_get(&map->table[i], hash, codes, &here);
        if (answer == BRY_UNSURE || (answer == BRY_PRESENT && found))
            return BRY_UNSURE;
        if (answer == BRY_ABSENT)
            continue;
        found = true;
        where = i;
        its_code = here;
    }
    if (!found)
        return BRY_ABSENT;
    *table = where;
    *code = its_code;
    return BRY_PRESENT;
}

static bry_answer kbf_map_get(const void *self, bry_hash hash, uint64_t codes, uint32_t *code)
{
    unsigned table;
    return bry__kbf_map_locate(self, hash, kbf_map_limited(codes), &table, code);
}

/* Combines two tables' answers about one key; the code goes to *code. */
static bry_answer kbf_map_together(bry_answer a, uint32_t *code, bry_answer b, uint32_t code_b)
{
    if (a == BRY_ABSENT) {
        *code = code_b;
        return b;
    }
    return b == BRY_ABSENT ? a : BRY_UNSURE;
}

static void kbf_map_get_n(const void *self, const bry_hash *hashes, size_t n, uint64_t codes,
                          uint32_t *codes_out, uint8_t *answers)
{
    const bry__kbf_map *map = self;
    bry__kbf_get_n(&map->table[0], hashes, n, kbf_map_limited(codes), codes_out, answers);
    for (unsigned t = 1; t < map->tables; t++)
        for (size_t done = 0; done < n; done += BATCH) {
            size_t here = n - done < BATCH ? n - done : BATCH;
            uint32_t more[BATCH] = {0};
            uint8_t said[BATCH];
            bry__kbf_get_n(&map->table[t], hashes + done, here, kbf_map_limited(codes), more, said);
            for (size_t i = 0; i < here; i++)
                answers[done + i] =
                    (uint8_t)kbf_map_together((bry_answer)answers[done + i], &codes_out[done + i],
                                              (bry_answer)said[i], more[i]);
        }
}

static bool kbf_map_is_blank(const void *self)
{
    const bry__kbf_map *map = self;
    for (unsigned i = 0; i < map->tables; i++)
        if (!bry__kbf_is_zero(&map->table[i]))
            return false;
    return true;
}

/* ---- counting ------------------------------------------------------------------------------ */

static uint64_t kbf_map_bytes(const void *self)
{
    const bry__kbf_map *map = self;
    uint64_t sum =
        bry__kbf_map_bytes_bare(map->gf.bits) + bry__pieces_bytes_now(&map->created.cells);
    for (unsigned i = 0; i < map->tables; i++)
        sum += bry__pieces_bytes_now(&map->table[i].cells);
    return sum;
}

static void kbf_map_stats(const void *self, uint64_t codes, bry_map_stats *out)
{
    const bry__kbf_map *map = self;
    bry__kbf_setting setting = map->setting;
    if (codes < setting.codes)
        setting.codes = (uint32_t)codes;
    uint64_t items = bry__kbf_map_items(map);
    double capacity = 0, fp = 0, fn = 0;
    for (unsigned i = 0; i < map->tables; i++) {
        const bry__kbf *table = &map->table[i];
        bry__kbf_errors errors = bry__kbf_errors_now(&setting, table);
        /* The share of the keys in this table. For the others it is a chance to be unsure. */
        double here = items > 0 ? (double)table->items / (double)items : 1;
        fp += errors.by_kind.false_positive;
        fn += here * errors.by_kind.false_negative +
              (1 - here) * (errors.by_kind.false_positive + errors.unsure);
        capacity += (double)table->capacity;
        for (int c = 0; c < 8; c++)
            out->kbf.cells[c] += table->counts[c];
    }
    out->items += items;
    out->tables += map->tables;
    out->load = (double)items / capacity;
    out->estimated.false_positive += fmin(1, fp);
    out->estimated.false_negative += fmin(1, fn);
}

const bry__map_engine bry__kbf_map_engine = {
    .engine = BRY_ENGINE_KBF,
    .plan = kbf_map_plan,
    .create = kbf_map_create,
    .destroy = bry__kbf_map_destroy,
    .clone = kbf_map_clone,
    .clear = kbf_map_clear,
    .like = kbf_map_like,
    .items = bry__kbf_map_items,
    .get = kbf_map_get,
    .get_n = kbf_map_get_n,
    .is_blank = kbf_map_is_blank,
    .set_n = bry__kbf_map_set_n,
    .add_n = bry__kbf_map_add_n,
    .del_n = bry__kbf_map_del_n,
    .update = bry__kbf_map_update,
    .del_pair = bry__kbf_map_del_pair,
    .merge = bry__kbf_map_merge,
    .recodes = false,
    .compress = bry__kbf_map_compress,
    .bytes = kbf_map_bytes,
    .stats = kbf_map_stats,
    .write = bry__kbf_map_write,
    .read = bry__kbf_map_read,
};
