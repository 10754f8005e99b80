/*
 * The engine kbf as frames: how many tables, then for each its numbers and every piece of its cells
 * that is not all zero, in order, cells little-endian.
 */
#include "common/endian.h"
#include "frame/frame.h"
#include "map/kbf/kbf_map.h"

#define CHAIN BRY__FOUR('K', 'B', 'F', ' ')
#define TABLE BRY__FOUR('K', 'T', 'A', 'B')
#define PIECE BRY__FOUR('P', 'I', 'E', 'C')

enum { /* the frame KBF */
       AT_TABLES = 0, /* u32 */
       AT_HASHES = 4, /* u32 */
       CHAIN_SIZE = 8
};

enum { /* the frame KTAB */
       AT_SEGMENT = 0, /* u64 */
       AT_CAPACITY = 8, /* u64 */
       AT_ITEMS = 16, /* u64 */
       AT_ERROR = 24, /* double */
       AT_PIECES = 32, /* u64, how many PIEC frames follow */
       TABLE_SIZE = 40
};

enum { CHUNK = 1024 }; /* cells converted at a time */

static const uint32_t *kbf_save_cells_of(const bry__kbf *table, size_t piece)
{
    return (const uint32_t *)(const void *)table->cells.piece[piece];
}

static size_t kbf_save_cells_in(const bry__kbf *table, size_t piece)
{
    return bry__piece_size(&table->cells, piece) / sizeof(uint32_t);
}

static bool kbf_save_has_keys(const bry__kbf *table, size_t piece)
{
    const uint32_t *cells = kbf_save_cells_of(table, piece);
    for (size_t i = 0; cells && i < kbf_save_cells_in(table, piece); i++)
        if (cells[i])
            return true;
    return false;
}

/* ---- writing ------------------------------------------------------------------------------- */

static void write_piece(const bry__kbf *table, size_t piece, bry__frame_writer *writer)
{
    unsigned char index[8], bytes[CHUNK * sizeof(uint32_t)];
    size_t n = kbf_save_cells_in(table, piece);
    const uint32_t *cells = kbf_save_cells_of(table, piece);
    bry__store64(index, piece);
    bry__frame_writer_open(writer, PIECE, sizeof index + n * sizeof(uint32_t));
    bry__frame_writer_put(writer, index, sizeof index);
    for (size_t done = 0; done < n; done += CHUNK) {
        size_t here = n - done < CHUNK ? n - done : CHUNK;
        for (size_t i = 0; i < here; i++)
            bry__store32(bytes + i * sizeof(uint32_t), cells[done + i]);
        bry__frame_writer_put(writer, bytes, here * sizeof(uint32_t));
    }
}

void bry__kbf_map_write(const void *self, struct bry__frame_writer *writer)
{
    const bry__kbf_map *map = self;
    unsigned char chain[CHAIN_SIZE];
    bry__store32(chain + AT_TABLES, map->tables);
    bry__store32(chain + AT_HASHES, map->table[0].hashes);
    bry__frame_writer_write(writer, CHAIN, chain, sizeof chain);
    for (unsigned t = 0; t < map->tables; t++) {
        const bry__kbf *table = &map->table[t];
        uint64_t pieces = 0;
        for (size_t i = 0; i < table->cells.count; i++)
            pieces += kbf_save_has_keys(table, i);
        unsigned char numbers[TABLE_SIZE];
        bry__store64(numbers + AT_SEGMENT, table->segment);
        bry__store64(numbers + AT_CAPACITY, table->capacity);
        bry__store64(numbers + AT_ITEMS, table->items);
        bry__store_double(numbers + AT_ERROR, table->error);
        bry__store64(numbers + AT_PIECES, pieces);
        bry__frame_writer_write(writer, TABLE, numbers, sizeof numbers);
        for (size_t i = 0; i < table->cells.count; i++)
            if (kbf_save_has_keys(table, i))
                write_piece(table, i, writer);
    }
}

/* ---- reading ------------------------------------------------------------------------------- */

static bry_status kbf_save_read_piece(bry__frame_reader *reader, bry__kbf *table, size_t *lowest,
                                      const bry_allocator *allocator)
{
    bry__frame frame;
    unsigned char index_bytes[8];
    bry_status status = bry__frame_reader_next(reader, &frame);
    if (status == BRY_OK && frame.type != PIECE)
        status = bry__frame_reader_bad(reader, "a piece of the cells is missing");
    if (status == BRY_OK)
        status = bry__frame_reader_read(reader, index_bytes, sizeof index_bytes);
    if (status != BRY_OK)
        return status;
    uint64_t index = bry__load64(index_bytes);
    if (index < *lowest || index >= table->cells.count)
        return bry__frame_reader_bad(reader, "a piece of the cells is out of place");
    size_t i = (size_t)index, size = bry__piece_size(&table->cells, i);
    if (frame.length != sizeof index_bytes + size)
        return bry__frame_reader_bad(reader, "a piece of the cells has the wrong size");
    status = bry__frame_reader_claim(reader, bry__lines_cost(size));
    if (status == BRY_OK && bry__piece_reach(&table->cells, i, allocator) != BRY_OK)
        status = bry__frame_reader_fail(reader, BRY_E_NOMEM, "not enough memory for the cells");
    if (status == BRY_OK)
        status = bry__frame_reader_read(reader, table->cells.piece[i], size);
    if (status != BRY_OK)
        return status;
    uint32_t *cells = (uint32_t *)(void *)table->cells.piece[i];
    for (size_t c = 0; c < kbf_save_cells_in(table, i); c++)
        cells[c] = bry__swap32(cells[c]);
    if (!kbf_save_has_keys(table, i))
        return bry__frame_reader_bad(reader, "a piece of the cells is empty");
    *lowest = i + 1;
    return BRY_OK;
}

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

/* Reads the numbers into a table without cells; returns what is wrong with them, or NULL. */
static const char *kbf_save_read_numbers(const unsigned char *numbers, const bry__kbf_map *map,
                                         const bry__kbf *planned, unsigned hashes, bry__kbf *like)
{
    *like = (bry__kbf){
        .gf = &map->gf,
        .hashes = hashes,
        .segment = bry__load64(numbers + AT_SEGMENT),
        .capacity = bry__load64(numbers + AT_CAPACITY),
        .items = bry__load64(numbers + AT_ITEMS),
        .error = bry__load_double(numbers + AT_ERROR),
    };
    if (like->segment < 1 || like->segment > BRY__KBF_MAX_CELLS / hashes)
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
        status = bry__frame_reader_fail(reader, BRY_E_NOMEM,
                                        "not enough memory for a table's directory");
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
    while (2 * like.hashes * like.segment <= cells + cells / 64)
        like.segment *= 2;
    if (like.segment == first->segment && like.capacity == first->capacity &&
        like.error == first->error)
        return BRY_OK;
    return kbf_save_make_table(reader, &like, &map->created, &map->allocator);
}

static bry_status read_table(bry__frame_reader *reader, bry__kbf_map *map, const bry__kbf *planned,
                             unsigned hashes)
{
    unsigned char numbers[TABLE_SIZE];
    bry_status status = bry__frame_reader_read_frame(reader, TABLE, numbers, sizeof numbers);
    if (status != BRY_OK)
        return status;
    bry__kbf like, *table = &map->table[map->tables];
    const char *problem = kbf_save_read_numbers(numbers, map, planned, hashes, &like);
    if (problem)
        return bry__frame_reader_bad(reader, problem);
    status = kbf_save_make_table(reader, &like, table, &map->allocator);
    if (status != BRY_OK)
        return status;
    map->tables++;
    table->items = like.items;
    size_t lowest = 0;
    uint64_t pieces = bry__load64(numbers + AT_PIECES);
    for (uint64_t i = 0; i < pieces && status == BRY_OK; i++)
        status = kbf_save_read_piece(reader, table, &lowest, &map->allocator);
    if (status == BRY_OK && (problem = bry__kbf_check(table)) != NULL)
        status = bry__frame_reader_bad(reader, problem);
    return status;
}

bry_status bry__kbf_map_read(const bry_map_options *options, uint64_t codes,
                             struct bry__frame_reader *reader, const bry_allocator *allocator,
                             void **self)
{
    unsigned char chain[CHAIN_SIZE];
    bry_status status = bry__frame_reader_read_frame(reader, CHAIN, chain, sizeof chain);
    if (status != BRY_OK)
        return status;
    unsigned tables = bry__load32(chain + AT_TABLES), hashes = bry__load32(chain + AT_HASHES);
    if (tables < 1 || tables > BRY__KBF_TABLES || (options->fixed && tables > 1))
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
        return bry__frame_reader_fail(reader, BRY_E_NOMEM, "not enough memory for the map");
    while (map->tables < tables && status == BRY_OK)
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
