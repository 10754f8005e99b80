/*
 * The engine kbf as frames: how many tables, then for each its numbers and every piece of its cells
 * that is not all zero, in order, cells little-endian.
 */
#include "frame/frame_numbers.h"
#include "frame/frame_pieces.h"
#include "map/kbf/kbf_map.h"

#define CHAIN BRY__FOUR('K', 'B', 'F', ' ')
#define TABLE BRY__FOUR('K', 'T', 'A', 'B')
#define WORD sizeof(uint32_t) /* a cell */

/* The frame KBF. */
typedef struct kbf_chain {
    uint32_t tables, hashes;
} kbf_chain;

static const bry__number kbf_chain_rows[] = {
    BRY__NUMBER(kbf_chain, tables),
    BRY__NUMBER(kbf_chain, hashes),
    BRY__NUMBERS_END,
};

/* The frame KTAB. */
typedef struct kbf_numbers {
    bry__kbf table;
    uint64_t pieces; /* how many PIEC frames follow */
} kbf_numbers;

#define ROW(field) BRY__NUMBER(kbf_numbers, field)
static const bry__number kbf_rows[] = {
    ROW(table.segment), ROW(table.capacity), ROW(table.items),
    ROW(table.error),   ROW(pieces),         BRY__NUMBERS_END,
};

/* ---- writing ------------------------------------------------------------------------------- */

void bry__kbf_map_write(const void *self, struct bry__frame_writer *writer)
{
    const bry__kbf_map *map = self;
    kbf_chain chain = {map->tables, map->table[0].hashes};
    bry__frame_write_numbers(writer, CHAIN, kbf_chain_rows, &chain);
    for (unsigned t = 0; t < map->tables; t++) {
        const bry__pieces *cells = &map->table[t].cells;
        kbf_numbers numbers = {map->table[t], bry__frame_pieces(cells)};
        bry__frame_write_numbers(writer, TABLE, kbf_rows, &numbers);
        bry__frame_write_pieces(writer, cells, WORD);
    }
}

/* ---- reading ------------------------------------------------------------------------------- */

/*
 * Whether the map may have a further table of this size; `planned` is its first one as created.
 * Folding halves segments, growing doubles them, and nothing else changes them; the first table
 * never grows. The plan uses logarithms, which may differ between machines in the last digit: so it
 * bounds the first table instead of having to match it.
 */
static bool is_derived(const bry__kbf_map *map, const bry__kbf *table, const bry__kbf *planned)
{
    uint64_t cells = planned->hashes * planned->segment;
    if (map->tables == 0)
        return table->hashes * table->segment <= cells + cells / 64 + BRY__KBF_MAX_HASHES;
    return bry__kbf_map_shift(&map->table[0], table) >= 0 ||
           bry__kbf_map_shift(table, &map->table[0]) >= 0;
}

/*
 * Whether tables may have that many hashes. If the options do not give the shape, the number is the
 * one with the smallest table, and between two equally good ones machines may decide differently,
 * as above. A worse one would make all further tables much larger.
 */
static bool may_have_hashes(const bry_map_options *options, const bry__kbf_setting *setting,
                            const bry__kbf *planned, unsigned hashes)
{
    if (hashes == planned->hashes)
        return true;
    uint64_t cells = planned->hashes * planned->segment;
    bry__kbf_shape shape = {hashes, (cells + cells / 64) / hashes + 1};
    bry__kbf_errors errors = bry__kbf_errors_at(setting, &shape, (double)options->capacity);
    return !options->kbf.cells && bry__kbf_error(&errors) <= planned->error;
}

/* Returns what is wrong with the numbers of a table, or NULL. */
static const char *kbf_save_check_numbers(const bry__kbf *like, const bry__kbf_map *map,
                                          const bry__kbf *planned)
{
    if (like->segment < 1 || like->segment > BRY__KBF_MAX_CELLS / like->hashes)
        return "the number of cells is out of range";
    if (!is_derived(map, like, planned))
        return "the number of cells does not match the map's options";
    if (like->capacity < 1 || like->capacity > (uint64_t)1 << 48)
        return "the capacity of a table is out of range";
    if (like->items > like->capacity)
        return "a table has more items than its capacity";
    /* With less, further tables would hold almost nothing. */
    if (!(like->error >= map->least_error * 63 / 64 && like->error <= 1))
        return "the error of a table is out of range";
    return NULL;
}

/* A directory for a further table. */
static bry_status kbf_save_make_table(bry__frame_reader *reader, const bry__kbf *like,
                                      bry__kbf *table, const bry_allocator *allocator)
{
    bry_status status = bry__frame_reader_claim(
        reader, bry__pieces_bytes_empty_of(like->hashes * like->segment * sizeof(uint32_t),
                                           BRY__KBF_PIECE_SHIFT));
    if (status == BRY_OK && bry__kbf_init(table, like, allocator) != BRY_OK)
        status = bry__frame_reader_no_memory(reader);
    return status;
}

/* If the first table was folded: what it was when it was created. Folding halves segments, so they
 * are doubled as often as the plan allows; is_derived() says why it is not compared exactly. */
static bry_status kbf_save_make_created(bry__frame_reader *reader, bry__kbf_map *map,
                                        const bry__kbf *planned)
{
    const bry__kbf *first = &map->table[0];
    bry__kbf like = *first;
    uint64_t cells = planned->hashes * planned->segment;
    like.capacity = planned->capacity;
    like.error = planned->error;
    while (UINT64_C(2) * like.hashes * like.segment <= cells + cells / 64)
        like.segment *= 2;
    if (like.segment == first->segment && like.capacity == first->capacity &&
        like.error == first->error)
        return BRY_OK;
    return kbf_save_make_table(reader, &like, &map->created, &map->allocator);
}

static bry_status read_table(bry__frame_reader *reader, bry__kbf_map *map, const bry__kbf *planned,
                             unsigned hashes)
{
    kbf_numbers numbers = {.pieces = 0};
    bry_status status = bry__frame_read_numbers(reader, TABLE, kbf_rows, &numbers);
    if (status != BRY_OK)
        return status;
    bry__kbf *table = &map->table[map->tables];
    numbers.table.gf = &map->gf;
    numbers.table.hashes = hashes;
    const char *problem = kbf_save_check_numbers(&numbers.table, map, planned);
    if (problem)
        return bry__frame_reader_bad(reader, problem);
    status = kbf_save_make_table(reader, &numbers.table, table, &map->allocator);
    if (status != BRY_OK)
        return status;
    map->tables++;
    table->items = numbers.table.items;
    status = bry__frame_read_pieces(reader, &table->cells, WORD, numbers.pieces, &map->allocator);
    if (status == BRY_OK && (problem = bry__kbf_check(table)) != NULL)
        status = bry__frame_reader_bad(reader, problem);
    return status;
}

bry_status bry__kbf_map_read(const bry_map_options *options, uint64_t codes,
                             struct bry__frame_reader *reader, const bry_allocator *allocator,
                             void **self)
{
    kbf_chain chain;
    bry_status status = bry__frame_read_numbers(reader, CHAIN, kbf_chain_rows, &chain);
    if (status != BRY_OK)
        return status;
    unsigned hashes = chain.hashes;
    if (chain.tables < 1 || chain.tables > BRY__KBF_TABLES || (options->fixed && chain.tables > 1))
        return bry__frame_reader_bad(reader, "the number of tables is out of range");
    if (hashes < 1 || hashes > BRY__KBF_MAX_HASHES)
        return bry__frame_reader_bad(reader, "the number of hashes is out of range");
    bry__kbf_setting setting;
    unsigned field_bits;
    bry__kbf planned;
    if (!bry__kbf_map_setting(options, &setting, &field_bits) || codes > setting.codes ||
        !bry__kbf_map_first(options, &setting, &planned))
        return bry__frame_reader_bad(reader, "more values than the map can have");
    if (!may_have_hashes(options, &setting, &planned, hashes))
        return bry__frame_reader_bad(reader,
                                     "the number of hashes does not match the map's options");
    status = bry__frame_reader_claim(reader, bry__kbf_map_bytes_bare(field_bits));
    if (status != BRY_OK)
        return status;
    bry__kbf_map *map = bry__kbf_map_make(options, allocator);
    if (!map)
        return bry__frame_reader_no_memory(reader);
    while (map->tables < chain.tables && status == BRY_OK)
        status = read_table(reader, map, &planned, hashes);
    if (status == BRY_OK)
        status = kbf_save_make_created(reader, map, &planned);
    if (status == BRY_OK && bry__kbf_map_superfluous(map))
        status = bry__frame_reader_bad(reader, "a superfluous empty table");
    if (status == BRY_OK)
        *self = map;
    else
        bry__kbf_map_destroy(map);
    return status;
}
