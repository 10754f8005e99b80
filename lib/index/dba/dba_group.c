#include "index/dba/dba_group.h"

#include <string.h>

bool bry__dba_width_valid(uint32_t width)
{
    return width == 1 || (width >= 8 && width <= BRY__DBA_MAX_WIDTH && (width & (width - 1)) == 0);
}

/* ---- memory -------------------------------------------------------------------------------- */

/* Whole lines, so that they can be zeroed as such; bits past the last row stay clear. */
static uint64_t dba_group_table_bytes(uint64_t range, uint32_t width)
{
    uint64_t line_bits = 8 * (uint64_t)BRY__LINE, bits = range * width;
    return (bits / line_bits + (bits % line_bits != 0)) * BRY__LINE;
}

static uint32_t dba_group_tables_of(const bry__dba_shape *shape)
{
    return shape->segmented ? shape->hashes : 1;
}

uint64_t bry__dba_group_cost(const bry__dba_shape *shape, uint32_t width)
{
    uint64_t table = bry__dba_table_cost(dba_group_table_bytes(shape->range, width));
    return sizeof(bry__dba_group) + width * sizeof(uint32_t) +
           dba_group_tables_of(shape) * (sizeof(bry__dba_table) + table);
}

static void dba_group_free_tables(bry__dba_table *table, uint32_t from, uint32_t to,
                                  const bry_allocator *allocator)
{
    for (uint32_t t = from; t < to; t++)
        bry__dba_table_free(&table[t], allocator);
}

/* Allocates tables [from, to) of a group. All or nothing. */
static bry_status init_tables(bry__dba_table *table, uint32_t from, uint32_t to, uint64_t bytes,
                              const bry_allocator *allocator)
{
    for (uint32_t t = from; t < to; t++) {
        if (bry__dba_table_init(&table[t], bytes, allocator) != BRY_OK) {
            dba_group_free_tables(table, from, t, allocator);
            return BRY_E_NOMEM;
        }
    }
    return BRY_OK;
}

bry__dba_group *bry__dba_group_make(const bry__dba_shape *shape, uint32_t width,
                                    const bry_allocator *allocator)
{
    bry__dba_group *group = bry__alloc(allocator, sizeof *group);
    if (!group)
        return NULL;
    group->shape = *shape;
    group->width = width;
    group->shift = (unsigned)__builtin_ctz(width);
    group->free = width;
    group->slot = bry__alloc(allocator, width * sizeof *group->slot);
    uint32_t tables = dba_group_tables_of(shape);
    group->table = bry__alloc(allocator, tables * sizeof *group->table);
    bool made = group->slot && group->table &&
                init_tables(group->table, 0, tables, dba_group_table_bytes(shape->range, width),
                            allocator) == BRY_OK;
    if (!made) {
        bry__free(allocator, group->slot, width * sizeof *group->slot);
        bry__free(allocator, group->table, tables * sizeof *group->table);
        bry__free(allocator, group, sizeof *group);
        return NULL;
    }
    group->tables = group->table_room = tables;
    for (uint32_t c = 0; c < width; c++)
        group->slot[c] = BRY__DBA_FREE;
    return group;
}

static void forget_grown(bry__dba_group *group, const bry_allocator *allocator)
{
    bry__free(allocator, group->grown, group->width * sizeof *group->grown);
    group->grown = NULL;
}

void bry__dba_group_free(bry__dba_group *group, const bry_allocator *allocator)
{
    if (!group)
        return;
    forget_grown(group, allocator);
    dba_group_free_tables(group->table, 0, group->tables, allocator);
    bry__free(allocator, group->table, group->table_room * sizeof *group->table);
    bry__free(allocator, group->slot, group->width * sizeof *group->slot);
    bry__free(allocator, group, sizeof *group);
}

bry__dba_group *bry__dba_group_clone(const bry__dba_group *group, const bry_allocator *allocator)
{
    bry__dba_group *copy = bry__dba_group_make(&group->shape, group->width, allocator);
    if (!copy)
        return NULL;
    copy->level = group->level;
    for (uint32_t c = 0; c < group->width; c++) {
        uint32_t slot = group->slot[c];
        bry__dba_column_become(copy, c, slot == BRY__DBA_BUILDING ? BRY__DBA_DIRTY : slot);
    }
    for (uint32_t t = 0; t < copy->tables; t++)
        bry__dba_table_copy(&copy->table[t], &group->table[t]);
    return copy;
}

bry_status bry__dba_group_extend(bry__dba_group *group, uint32_t tables,
                                 const bry_allocator *allocator)
{
    if (tables > group->table_room) {
        bry__dba_table *list = bry__alloc(allocator, tables * sizeof *list);
        if (!list)
            return BRY_E_NOMEM;
        memcpy(list, group->table, group->tables * sizeof *list);
        bry__free(allocator, group->table, group->table_room * sizeof *list);
        group->table = list;
        group->table_room = tables;
    }
    bry__dba_grown *grown = bry__alloc(allocator, group->width * sizeof *grown);
    bry_status status =
        grown ? init_tables(group->table, group->tables, tables,
                            dba_group_table_bytes(group->shape.range, group->width), allocator)
              : BRY_E_NOMEM;
    if (status == BRY_OK) {
        group->tables = tables;
        group->grown = grown;
    } else {
        bry__free(allocator, grown, group->width * sizeof *grown);
    }
    return status;
}

void bry__dba_group_extended(bry__dba_group *group, const bry__dba_shape *shape,
                             const bry_allocator *allocator)
{
    group->shape = *shape;
    forget_grown(group, allocator);
}

void bry__dba_group_cut(bry__dba_group *group, const bry_allocator *allocator)
{
    uint32_t tables = dba_group_tables_of(&group->shape);
    dba_group_free_tables(group->table, tables, group->tables, allocator);
    group->tables = tables;
    forget_grown(group, allocator);
}

/* ---- columns ------------------------------------------------------------------------------- */

uint32_t bry__dba_column_find(const bry__dba_group *group)
{
    uint32_t column = 0;
    while (group->slot[column] != BRY__DBA_FREE)
        column++;
    return column;
}

static bool dba_group_has_unit(uint32_t slot)
{
    return slot < BRY__DBA_BUILDING;
}

void bry__dba_column_become(bry__dba_group *group, uint32_t column, uint32_t slot)
{
    uint32_t was = group->slot[column];
    group->units += (uint32_t)dba_group_has_unit(slot) - (uint32_t)dba_group_has_unit(was);
    group->free += (uint32_t)(slot == BRY__DBA_FREE) - (uint32_t)(was == BRY__DBA_FREE);
    group->dirty += (uint32_t)(slot == BRY__DBA_DIRTY) - (uint32_t)(was == BRY__DBA_DIRTY);
    unsigned char bit = (unsigned char)(1u << (column & 7));
    if (dba_group_has_unit(slot))
        group->live[column / 8] |= bit;
    else
        group->live[column / 8] &= (unsigned char)~bit;
    group->slot[column] = slot;
}

bool bry__dba_column_has(const bry__dba_group *group, uint32_t column, bry__dba_probe *probe)
{
    for (unsigned i = 0; i < group->shape.hashes; i++) {
        bry__dba_probe_know(probe, group->shape.range, i + 1);
        uint64_t bit = (probe->row[i] << group->shift) + column;
        if (!(*bry__dba_byte(group, group->shape.segmented ? i : 0, bit) >> (bit & 7) & 1))
            return false;
    }
    return true;
}

static bool dba_group_copied(const bry__dba_group *into, unsigned table, uint64_t row)
{
    return table < into->copied_table || (table == into->copied_table && row < into->copied_row);
}

static inline bool dba_group_set_bit(bry__dba_group *group, unsigned table, uint64_t row,
                                     uint32_t column)
{
    uint64_t bit = (row << group->shift) + column;
    unsigned char *byte = bry__dba_table_write(&group->table[table], bit >> 3),
                  mask = (unsigned char)(1u << (bit & 7));
    bool was_clear = !(*byte & mask);
    *byte |= mask;
    return was_clear;
}

unsigned bry__dba_column_set(bry__dba_group *group, uint32_t column, bry__dba_probe *probe,
                             unsigned from, unsigned to)
{
    unsigned changed = 0;
    bry__dba_probe_know(probe, group->shape.range, to);
    for (unsigned i = from; i < to; i++) {
        unsigned table = group->shape.segmented ? i : 0;
        changed += dba_group_set_bit(group, table, probe->row[i], column);
        if (group->into && dba_group_copied(group->into, table, probe->row[i]))
            dba_group_set_bit(group->into, table, probe->row[i], group->into_column + column);
    }
    return changed;
}

uint64_t bry__dba_column_or_rows(bry__dba_group *group, uint32_t into, const bry__dba_group *other,
                                 uint32_t from, uint32_t table, uint64_t row, uint64_t rows)
{
    uint64_t changed = 0;
    for (uint64_t end = row + rows; row < end; row++) {
        uint64_t bit = (row << other->shift) + from;
        if (!(*bry__dba_byte(other, table, bit) >> (bit & 7) & 1))
            continue;
        changed += dba_group_set_bit(group, table, row, into);
        if (group->into && dba_group_copied(group->into, table, row))
            dba_group_set_bit(group->into, table, row, group->into_column + into);
    }
    return changed;
}

void bry__dba_column_written(const bry__dba_group *group, uint32_t column)
{
    bry__dba_group *into = group->into;
    for (uint32_t t = 0; into && t < into->tables && t <= into->copied_table; t++)
        bry__dba_column_or_rows(into, group->into_column + column, group, column, t, 0,
                                t < into->copied_table ? into->shape.range : into->copied_row);
}

uint64_t bry__dba_column_or(bry__dba_group *group, uint32_t into, const bry__dba_group *other,
                            uint32_t from)
{
    uint64_t changed = 0;
    for (uint32_t t = 0; t < dba_group_tables_of(&group->shape); t++)
        changed += bry__dba_column_or_rows(group, into, other, from, t, 0, group->shape.range);
    return changed;
}
