/* Work on whole rows of a group: operations on all columns at once. */
#include "index/dba/dba_group.h"
#include "kernel/rows.h"

#include <string.h>

/* ---- clearing ------------------------------------------------------------------------------ */

/* Repeats the rows' mask up to a whole line. Width 1 has one column: all or nothing. */
static void dba_rows_spread(const bry__dba_group *group, const unsigned char mask[BRY__DBA_MASK],
                            unsigned char line[BRY__LINE])
{
    if (group->width == 1) {
        memset(line, mask[0] & 1 ? 0xff : 0, BRY__LINE);
        return;
    }
    size_t bytes = group->width / 8;
    for (size_t at = 0; at < BRY__LINE; at += bytes)
        memcpy(line + at, mask, bytes);
}

/* Rows per line, if a row is shorter: steps end with whole lines, or with the table. */
static uint64_t dba_rows_line_rows(const bry__dba_group *group)
{
    return 8 * (uint64_t)BRY__LINE / group->width;
}

void bry__dba_rows_clear(bry__dba_group *group, const unsigned char keep[BRY__DBA_MASK],
                         uint32_t *table, uint64_t *row, uint64_t rows)
{
    unsigned char line[BRY__LINE];
    dba_rows_spread(group, keep, line);
    uint64_t lines = rows / dba_rows_line_rows(group) + 1;
    while (lines > 0 && *table < group->tables) {
        bry__dba_table *in = &group->table[*table];
        uint64_t byte = (*row << group->shift) / 8, left = (in->pieces.bytes - byte) / BRY__LINE;
        uint64_t page_left = (BRY__DBA_PAGE - (byte & (BRY__DBA_PAGE - 1))) / BRY__LINE;
        uint64_t n = lines < left ? lines : left;
        if (n > page_left)
            n = page_left;
        unsigned char *at = bry__dba_table_at(in, byte);
        for (uint64_t i = 0; i < n && bry__dba_table_has(in, byte); i++, at += BRY__LINE)
            for (unsigned w = 0; w < BRY__LINE; w += 8)
                bry__store64(at + w, bry__load64(at + w) & bry__load64(line + w));
        lines -= n;
        *row += n * dba_rows_line_rows(group);
        if (n == left) {
            ++*table;
            *row = 0;
        }
    }
}

/* ---- side by side -------------------------------------------------------------------------- */

/* Eight bit strings become the columns of eight rows of one byte each. */
static void merge_bits(unsigned char *to, const unsigned char *const *from, uint64_t rows)
{
    for (uint64_t i = 0; i < rows; i += 8) {
        uint64_t square = 0;
        for (unsigned s = 0; s < 8; s++)
            square |= (uint64_t)from[s][i / 8] << (8 * s);
        uint64_t swap = (square ^ square >> 7) & UINT64_C(0x00aa00aa00aa00aa);
        square ^= swap ^ swap << 7;
        swap = (square ^ square >> 14) & UINT64_C(0x0000cccc0000cccc);
        square ^= swap ^ swap << 14;
        swap = (square ^ square >> 28) & UINT64_C(0x00000000f0f0f0f0);
        square ^= swap ^ swap << 28;
        for (unsigned r = 0; r < 8 && i + r < rows; r++)
            to[i + r] = (unsigned char)(square >> (8 * r));
    }
}

/* Inlined, so that the compiler specializes the loop for each size. */
static inline __attribute__((always_inline)) void dba_rows_merge_two(unsigned char *to,
                                                                     const unsigned char *a,
                                                                     const unsigned char *b,
                                                                     uint64_t rows, size_t bytes)
{
    for (uint64_t i = 0; i < rows; i++, to += 2 * bytes, a += bytes, b += bytes) {
        memcpy(to, a, bytes);
        memcpy(to + bytes, b, bytes);
    }
}

static void merge_rows(unsigned char *to, const unsigned char *a, const unsigned char *b,
                       uint64_t rows, size_t bytes)
{
    switch (bytes) {
    case 1:
        dba_rows_merge_two(to, a, b, rows, 1);
        break;
    case 2:
        dba_rows_merge_two(to, a, b, rows, 2);
        break;
    case 4:
        dba_rows_merge_two(to, a, b, rows, 4);
        break;
    case 8:
        dba_rows_merge_two(to, a, b, rows, 8);
        break;
    case 16:
        dba_rows_merge_two(to, a, b, rows, 16);
        break;
    default:
        dba_rows_merge_two(to, a, b, rows, 32);
    }
}

void bry__dba_rows_merge(bry__dba_group *into, bry__dba_group *const *from, unsigned n,
                         uint64_t rows)
{
    uint64_t in_page = 8 * (uint64_t)BRY__DBA_PAGE / into->width; /* no more in a source */
    while (rows > 0 && into->copied_table < into->tables) {
        uint32_t t = into->copied_table;
        uint64_t row = into->copied_row, here = in_page - row % in_page;
        if (here > into->shape.range - row)
            here = into->shape.range - row;
        if (here > rows && n == 2)
            here = rows;
        else if (here > rows) /* bits: up to a whole byte */
            here = here < ((rows + 7) & ~UINT64_C(7)) ? here : (rows + 7) & ~UINT64_C(7);
        const unsigned char *source[8];
        for (unsigned s = 0; s < 8; s++)
            source[s] = bry__dba_byte(from[s % n], t, row << from[s % n]->shift);
        unsigned char *to = bry__dba_table_write(&into->table[t], row << into->shift >> 3);
        if (n == 2)
            merge_rows(to, source[0], source[1], here, from[0]->width / 8);
        else
            merge_bits(to, source, here);
        rows -= here < rows ? here : rows;
        into->copied_row += here;
        if (into->copied_row == into->shape.range) {
            into->copied_table++;
            into->copied_row = 0;
        }
    }
}
