/*
 * Columns out of their groups and back: on disk a unit is its own bit string, bit i for row i,
 * whatever is next to it in memory.
 *
 * Reading one column of a group passes over all of it, so columns are transposed up to 64 at a
 * time, in tiles of 512 rows. A tile is 64 bytes of each of n units, one after another; tiles
 * follow each other table by table, the last of a table padded with zeros:
 *
 *     frame COLS:  tile of rows 0 … 511      unit 0: 64 bytes | unit 1: 64 bytes | … unit n - 1
 *                  tile of rows 512 … 1023   unit 0: 64 bytes | …
 *
 * With n = 1 these are the unit's bits unchanged.
 */
#include "frame/frame.h"
#include "index/dba/dba_index.h"
#include "kernel/rows.h"

#include <string.h>

#define COLUMNS BRY__FOUR('C', 'O', 'L', 'S')

enum {
    TILE_ROWS = 512,
    TILE_BYTES = TILE_ROWS / 8,
    FRAME_BYTES = 1 << 20, /* at most */
};

typedef unsigned char tile[BRY__DBA_TILE_UNITS][TILE_BYTES];

/* Tiles in a frame of n units. */
static uint64_t frame_tiles(unsigned n)
{
    return FRAME_BYTES / TILE_BYTES / n;
}

/* ---- squares of 64 rows and 64 columns ----------------------------------------------------- */

/* Up to 64 columns of a row, from column 64 · word on. */
static uint64_t dba_columns_load_word(const unsigned char *row, uint32_t width, uint32_t word)
{
    switch (width) {
    case 8:
        return row[0];
    case 16:
        return bry__load16(row);
    case 32:
        return bry__load32(row);
    default:
        return bry__load64(row + 8 * (size_t)word);
    }
}

static void dba_columns_or_word(unsigned char *row, uint32_t width, uint32_t word, uint64_t bits)
{
    switch (width) {
    case 8:
        row[0] |= (unsigned char)bits;
        break;
    case 16:
        bry__store16(row, (uint16_t)(bry__load16(row) | bits));
        break;
    case 32:
        bry__store32(row, (uint32_t)(bry__load32(row) | bits));
        break;
    default:
        bry__store64(row + 8 * (size_t)word, bry__load64(row + 8 * (size_t)word) | bits);
    }
}

/* The units from number i on that are in the same word of the same group. */
static uint64_t dba_columns_neighbours(const bry__dba_place *const *places, unsigned n, unsigned i)
{
    uint64_t set = 0;
    for (unsigned j = i; j < n; j++)
        if (places[j]->group == places[i]->group &&
            places[j]->column / 64 == places[i]->column / 64)
            set |= (uint64_t)1 << j;
    return set;
}

/* A table is whole lines, so the rest of a bit string's last tile may extend beyond the bits. */
static size_t dba_columns_bit_bytes(const bry__dba_group *group, uint64_t row)
{
    uint64_t left = (group->shape.range - row + 7) / 8;
    return left < TILE_BYTES ? (size_t)left : TILE_BYTES;
}

static unsigned square_rows(const bry__dba_group *group, uint64_t row)
{
    uint64_t left = row < group->shape.range ? group->shape.range - row : 0;
    return left < 64 ? (unsigned)left : 64;
}

static void load_squares(const bry__dba_place *const *places, uint64_t which, uint32_t table,
                         uint64_t row, tile out)
{
    const bry__dba_place *first = places[__builtin_ctzll(which)];
    const bry__dba_group *group = first->group;
    for (unsigned b = 0; b < TILE_ROWS / 64; b++) {
        uint64_t square[64] = {0}, from = row + 64 * (uint64_t)b;
        unsigned rows = square_rows(group, from);
        for (unsigned r = 0; r < rows; r++)
            square[r] =
                dba_columns_load_word(bry__dba_byte(group, table, (from + r) << group->shift),
                                      group->width, first->column / 64);
        bry__transpose64(square);
        for (uint64_t left = which; left; left &= left - 1) {
            unsigned i = (unsigned)__builtin_ctzll(left);
            bry__store64(out[i] + 8 * (size_t)b, square[places[i]->column % 64]);
        }
    }
}

static void store_squares(const bry__dba_place *const *places, uint64_t which, uint32_t table,
                          uint64_t row, tile in)
{
    const bry__dba_place *first = places[__builtin_ctzll(which)];
    bry__dba_group *group = first->group;
    for (unsigned b = 0; b < TILE_ROWS / 64; b++) {
        uint64_t square[64] = {0}, from = row + 64 * (uint64_t)b;
        unsigned rows = square_rows(group, from);
        for (uint64_t left = which; left; left &= left - 1) {
            unsigned i = (unsigned)__builtin_ctzll(left);
            square[places[i]->column % 64] = bry__load64(in[i] + 8 * (size_t)b);
        }
        bry__transpose64(square);
        for (unsigned r = 0; r < rows; r++)
            if (square[r])
                dba_columns_or_word(
                    bry__dba_table_write(&group->table[table], (from + r) << group->shift >> 3),
                    group->width, first->column / 64, square[r]);
    }
}

/* ---- tiles --------------------------------------------------------------------------------- */

static void dba_columns_load_tile(const bry__dba_place *const *places, unsigned n, uint32_t table,
                                  uint64_t row, tile out)
{
    uint64_t done = 0;
    for (unsigned i = 0; i < n; i++) {
        const bry__dba_group *group = places[i]->group;
        if (done >> i & 1)
            continue;
        if (group->width == 1) {
            size_t bytes = dba_columns_bit_bytes(group, row);
            memset(out[i], 0, TILE_BYTES);
            memcpy(out[i], bry__dba_byte(group, table, row), bytes);
            continue;
        }
        uint64_t which = dba_columns_neighbours(places, n, i);
        load_squares(places, which, table, row, out);
        done |= which;
    }
}

static void store_tile(const bry__dba_place *const *places, unsigned n, uint32_t table,
                       uint64_t row, tile in)
{
    uint64_t done = 0;
    for (unsigned i = 0; i < n; i++) {
        const bry__dba_group *group = places[i]->group;
        if (done >> i & 1)
            continue;
        if (group->width == 1) {
            memcpy(bry__dba_table_write(&group->table[table], row >> 3), in[i],
                   dba_columns_bit_bytes(group, row));
            continue;
        }
        uint64_t which = dba_columns_neighbours(places, n, i);
        store_squares(places, which, table, row, in);
        done |= which;
    }
}

static uint64_t table_tiles(const bry__dba_shape *shape)
{
    return (shape->range + TILE_ROWS - 1) / TILE_ROWS;
}

static uint32_t dba_columns_tables_of(const bry__dba_shape *shape)
{
    return shape->segmented ? shape->hashes : 1;
}

void bry__dba_columns_write(const bry__dba_place *const *places, unsigned n,
                            struct bry__frame_writer *writer)
{
    const bry__dba_shape *shape = &places[0]->group->shape;
    uint64_t tiles = table_tiles(shape), most = frame_tiles(n);
    for (uint32_t t = 0; t < dba_columns_tables_of(shape); t++) {
        for (uint64_t i = 0; i < tiles && writer->status == BRY_OK; i++) {
            tile turned;
            uint64_t left = tiles - i;
            if (i % most == 0)
                bry__frame_writer_open(writer, COLUMNS,
                                       (size_t)(left < most ? left : most) * n * TILE_BYTES);
            dba_columns_load_tile(places, n, t, i * TILE_ROWS, turned);
            bry__frame_writer_put(writer, turned, (size_t)n * TILE_BYTES);
        }
    }
}

/* Whether the bits past the last row are clear. */
static bool tail_clear(const unsigned char *bytes, uint64_t rows)
{
    for (uint64_t i = rows; i < TILE_ROWS; i++)
        if (bytes[i / 8] >> (i & 7) & 1)
            return false;
    return true;
}

static bry_status dba_columns_read_tile(const bry__dba_place *const *places, unsigned n,
                                        uint32_t table, uint64_t row,
                                        struct bry__frame_reader *reader, uint64_t *set)
{
    tile turned;
    uint64_t rows = places[0]->group->shape.range - row;
    bry_status status = bry__frame_reader_read(reader, turned, (size_t)n * TILE_BYTES);
    for (unsigned i = 0; i < n && status == BRY_OK; i++) {
        if (rows < TILE_ROWS && !tail_clear(turned[i], rows))
            status = bry__frame_reader_bad(reader, "bits are set past the last row of a unit");
        for (unsigned b = 0; b < TILE_BYTES; b += 8)
            set[i] += (unsigned)__builtin_popcountll(bry__load64(turned[i] + b));
    }
    if (status == BRY_OK)
        store_tile(places, n, table, row, turned);
    return status;
}

bry_status bry__dba_columns_read(const bry__dba_place *const *places, unsigned n,
                                 struct bry__frame_reader *reader, uint64_t *set)
{
    const bry__dba_shape *shape = &places[0]->group->shape;
    uint64_t tiles = table_tiles(shape), most = frame_tiles(n);
    bry_status status = BRY_OK;
    memset(set, 0, n * sizeof *set);
    for (uint32_t t = 0; t < dba_columns_tables_of(shape); t++) {
        for (uint64_t i = 0; i < tiles && status == BRY_OK; i++) {
            if (i % most == 0) {
                size_t length = (tiles - i < most ? tiles - i : most) * n * TILE_BYTES;
                status = bry__frame_reader_expect(reader, COLUMNS, "the bits of a unit are missing",
                                                  length, length, &length);
            }
            if (status == BRY_OK)
                status = dba_columns_read_tile(places, n, t, i * TILE_ROWS, reader, set);
        }
    }
    for (unsigned i = 0; i < n && status == BRY_OK; i++)
        bry__dba_column_written(places[i]->group, places[i]->column);
    return status;
}
