/*
 * Work that needs no elements: clearing the columns of units that are gone, merging narrow groups,
 * and moving units out of groups that are nearly empty. One job of each kind is in progress at a
 * time, and any of them may be abandoned and started again.
 */
#include "index/dba/dba_index.h"

#define BYTES_WORTH UINT64_C(256) /* bytes copied or cleared for the cost of adding an element */
#define ROWS_WORTH UINT64_C(32) /* rows of one column moved for that cost */
#define GROUPS_WORTH 16u /* groups examined for that cost */

static bool dba_cleanup_extending(const bry__dba_group *group)
{
    return bry__dba_positions(group) > group->shape.hashes;
}

static uint64_t dba_cleanup_rows_of(const bry__dba_group *group)
{
    return group->tables * group->shape.range;
}

static uint64_t rows_worth(const bry__dba_group *group, uint64_t rows)
{
    return rows * group->width / 8 / BYTES_WORTH + 1;
}

static uint64_t dba_cleanup_rows_for(const bry__dba_group *group, uint64_t budget)
{
    uint64_t most = UINT64_MAX / (8 * BYTES_WORTH);
    return (budget < most ? budget : most) * 8 * BYTES_WORTH / group->width + 1;
}

static uint64_t dba_cleanup_rows_left(const bry__dba_group *group, uint32_t table, uint64_t row)
{
    return (group->tables - table) * group->shape.range - row;
}

/* ---- abandoning ---------------------------------------------------------------------------- */

void bry__dba_leave_column(bry__dba *self, bry__dba_group *group, uint32_t column, bool clean)
{
    bry__dba_column_become(group, column, clean ? BRY__DBA_FREE : BRY__DBA_DIRTY);
    if (group->units == 0 && group->free + group->dirty == group->width)
        bry__dba_group_done(self, group);
}

static void forget_rebuild(bry__dba *self)
{
    bry__dba_rebuild was = self->rebuild;
    self->rebuild = (bry__dba_rebuild){0};
    if (was.kind == BRY__DBA_EXTEND)
        bry__dba_group_cut(was.group, &self->allocator);
    else if (was.kind == BRY__DBA_REBUILD)
        bry__dba_leave_column(self, was.group, was.column, was.elements == 0);
}

static void forget_move(bry__dba *self)
{
    bry__dba_move was = self->move;
    self->move = (bry__dba_move){0};
    if (was.group)
        bry__dba_leave_column(self, was.group, was.column, false);
}

static void forget_merge(bry__dba *self)
{
    for (unsigned s = 0; s < self->merge.n; s++)
        self->merge.from[s]->into = NULL;
    bry__dba_group_free(self->merge.into, &self->allocator);
    self->merge = (bry__dba_merge){0};
}

void bry__dba_forget_unit(bry__dba *self, uint32_t slot)
{
    if (self->rebuild.kind == BRY__DBA_REBUILD && self->rebuild.slot == slot)
        forget_rebuild(self);
    if (self->move.group && self->move.slot == slot)
        forget_move(self);
}

/* A column under construction keeps its group alive, so only added segments have to be abandoned
 * for the group's sake. */
void bry__dba_forget_group(bry__dba *self, const bry__dba_group *group)
{
    if (group->into)
        forget_merge(self);
    if (self->clear.group == group)
        self->clear = (bry__dba_clear){0};
    if (self->emptying == group)
        self->emptying = NULL;
    if (self->rebuild.kind == BRY__DBA_EXTEND && self->rebuild.group == group)
        forget_rebuild(self);
}

/* Used when all groups are freed: does not tidy up in them. */
void bry__dba_forget_all(bry__dba *self)
{
    forget_merge(self);
    self->rebuild = (bry__dba_rebuild){0};
    self->move = (bry__dba_move){0};
    self->clear = (bry__dba_clear){0};
    self->emptying = NULL;
}

/* ---- clearing ------------------------------------------------------------------------------ */

static bool wants_clear(const bry__dba *self, const bry__dba_group *group)
{
    return group->dirty > 0 && !group->into && group != self->emptying;
}

static bool start_clear(bry__dba *self)
{
    for (uint32_t g = 0; g < self->groups; g++) {
        bry__dba_group *group = self->group[g];
        if (!wants_clear(self, group))
            continue;
        self->clear = (bry__dba_clear){.group = group};
        for (uint32_t c = 0; c < group->width; c++)
            if (group->slot[c] != BRY__DBA_DIRTY)
                self->clear.keep[c / 8] |= (unsigned char)(1u << c % 8);
        return true;
    }
    return false;
}

static uint64_t go_on_clearing(bry__dba *self, uint64_t budget)
{
    bry__dba_clear *clear = &self->clear;
    bry__dba_group *group = clear->group;
    uint64_t before = dba_cleanup_rows_left(group, clear->table, clear->row), after = 0;
    bry__dba_rows_clear(group, clear->keep, &clear->table, &clear->row,
                        dba_cleanup_rows_for(group, budget));
    if (clear->table < group->tables) {
        after = dba_cleanup_rows_left(group, clear->table, clear->row);
    } else {
        for (uint32_t c = 0; c < group->width; c++)
            if (!(clear->keep[c / 8] >> c % 8 & 1))
                bry__dba_column_become(group, c, BRY__DBA_FREE);
        *clear = (bry__dba_clear){0};
    }
    return rows_worth(group, before - after);
}

/* ---- merging groups ------------------------------------------------------------------------ */

static bool dba_cleanup_may_merge(const bry__dba *self, const bry__dba_group *group)
{
    return group->width < bry__dba_width_wanted(&self->options, self->units) && !group->into &&
           !dba_cleanup_extending(group) && group != self->rebuild.group &&
           group != self->move.group && group != self->clear.group && group != self->emptying;
}

static unsigned merge_count(const bry__dba_group *group)
{
    return group->width == 1 ? 8 : 2;
}

/* Groups from number `first` on that can be merged; returns how many. */
static unsigned find_merge(const bry__dba *self, uint32_t first, bry__dba_group *from[8])
{
    bry__dba_group *like = self->group[first];
    unsigned n = 0;
    for (uint32_t g = first; g < self->groups && n < merge_count(like); g++) {
        bry__dba_group *group = self->group[g];
        if (group->level == like->level && group->width == like->width &&
            dba_cleanup_may_merge(self, group))
            from[n++] = group;
    }
    return n;
}

static bry_status start_merge(bry__dba *self, bool *started)
{
    *started = false;
    for (uint32_t g = 0; g < self->groups; g++) {
        bry__dba_group *from[8];
        unsigned n = merge_count(self->group[g]);
        if (!dba_cleanup_may_merge(self, self->group[g]) || find_merge(self, g, from) < n)
            continue;
        bry__dba_group *into =
            bry__dba_group_make(&from[0]->shape, n * from[0]->width, &self->allocator);
        if (!into)
            return BRY_E_NOMEM;
        into->level = from[0]->level;
        self->merge = (bry__dba_merge){.into = into, .n = n};
        for (unsigned s = 0; s < n; s++) {
            self->merge.from[s] = from[s];
            from[s]->into = into;
            from[s]->into_column = s * from[s]->width;
        }
        *started = true;
        break;
    }
    return BRY_OK;
}

static void finish_merge(bry__dba *self)
{
    bry__dba_merge merge = self->merge;
    bry__dba_group *into = merge.into;
    self->merge = (bry__dba_merge){0};
    for (unsigned s = 0; s < merge.n; s++) {
        bry__dba_group *from = merge.from[s];
        for (uint32_t c = 0; c < from->width; c++) {
            uint32_t slot = from->slot[c], column = from->into_column + c;
            bry__dba_column_become(into, column, slot);
            if (slot < BRY__DBA_BUILDING) {
                bry__dba_place_of(self, slot)->group = into;
                bry__dba_place_of(self, slot)->column = column;
            }
        }
        if (self->rebuild.kind == BRY__DBA_REBUILD && self->rebuild.group == from) {
            self->rebuild.group = into;
            self->rebuild.column += from->into_column;
        }
        if (self->move.group == from) {
            self->move.group = into;
            self->move.column += from->into_column;
        }
    }
    uint32_t kept = 0;
    for (uint32_t g = 0; g < self->groups; g++) {
        bry__dba_group *group = self->group[g];
        if (group == merge.from[0])
            self->group[kept++] = into;
        else if (group->into != into)
            self->group[kept++] = group;
    }
    self->groups = kept;
    for (unsigned s = 0; s < merge.n; s++)
        bry__dba_group_free(merge.from[s], &self->allocator);
}

static uint64_t go_on_merging(bry__dba *self, uint64_t budget)
{
    bry__dba_group *into = self->merge.into;
    uint64_t before = dba_cleanup_rows_left(into, into->copied_table, into->copied_row);
    bry__dba_rows_merge(into, self->merge.from, self->merge.n, dba_cleanup_rows_for(into, budget));
    uint64_t after = dba_cleanup_rows_left(into, into->copied_table, into->copied_row);
    uint64_t used = rows_worth(into, before - after);
    if (after == 0)
        finish_merge(self);
    return used;
}

/* ---- moving out ---------------------------------------------------------------------------- */

/* Much wider than a new group would be now, and nearly empty. */
static bool dba_cleanup_too_wide(const bry__dba *self, const bry__dba_group *group)
{
    return group->width > bry__dba_width(&self->options, self->units) &&
           group->units <= group->width / 4 && !self->options.dba.group;
}

static bool may_move_out(const bry__dba *self, const bry__dba_group *group)
{
    return group->units > 0 && !group->into && !dba_cleanup_extending(group) &&
           group != self->rebuild.group && group != self->emptying && group != self->clear.group;
}

static bool takes_moved(const bry__dba *self, const bry__dba_group *group,
                        const bry__dba_group *from)
{
    return group != from && bry__dba_takes_units(self, group, from->level) &&
           !dba_cleanup_too_wide(self, group) &&
           (group->width >= from->width || dba_cleanup_too_wide(self, from));
}

/* Whether units of other groups that are not wider may move into it. */
static bool dba_cleanup_takes_any(const bry__dba *self, const bry__dba_group *group)
{
    return bry__dba_takes_units(self, group, group->level) && !dba_cleanup_too_wide(self, group);
}

/* A group whose units have room elsewhere, with some to spare, so that a unit that comes and goes
 * does not move back and forth; or one that is too wide. The one with the fewest units, or NULL. */
static bry__dba_group *dba_cleanup_find_move(const bry__dba *self)
{
    enum { WIDTHS = 10 }; /* 2^0 … BRY__DBA_MAX_WIDTH */
    bry__dba_group *best = NULL;
    uint64_t room[BRY__DBA_LEVELS][WIDTHS] = {{0}}; /* in groups of at least this width */
    bool any = false;
    for (uint32_t g = 0; g < self->groups; g++) {
        const bry__dba_group *group = self->group[g];
        any |= group->free > 1;
        for (unsigned w = 0; w <= group->shift && dba_cleanup_takes_any(self, group); w++)
            room[group->level][w] += group->free;
    }
    for (uint32_t g = 0; any && g < self->groups; g++) {
        bry__dba_group *group = self->group[g];
        if (!may_move_out(self, group) || (best && best->units <= group->units))
            continue;
        uint64_t own = dba_cleanup_takes_any(self, group) ? group->free : 0;
        if (dba_cleanup_too_wide(self, group) ||
            room[group->level][group->shift] - own > group->units)
            best = group;
    }
    return best;
}

static bry_status start_move(bry__dba *self, bool *started)
{
    bry__dba_group *from = dba_cleanup_find_move(self), *to = NULL;
    *started = from != NULL;
    if (!from)
        return BRY_OK;
    for (uint32_t g = 0; g < self->groups && !to; g++)
        if (takes_moved(self, self->group[g], from))
            to = self->group[g];
    if (!to)
        to = bry__dba_add_group(self, from->level, bry__dba_width(&self->options, self->units));
    if (!to)
        return BRY_E_NOMEM;
    uint32_t column = 0;
    while (from->slot[column] >= BRY__DBA_BUILDING)
        column++;
    self->move = (bry__dba_move){
        .group = to, .column = bry__dba_column_find(to), .slot = from->slot[column]};
    bry__dba_column_become(to, self->move.column, BRY__DBA_BUILDING);
    return BRY_OK;
}

void bry__dba_resettle(bry__dba *self, uint32_t slot, bry__dba_group *group, uint32_t column)
{
    bry__dba_place *place = bry__dba_place_of(self, slot);
    bry__dba_group *old = place->group;
    self->level[old->level].units--;
    self->level[group->level].units++;
    bry__dba_column_become(group, column, slot);
    bry__dba_column_become(old, place->column, BRY__DBA_DIRTY);
    place->group = group;
    place->column = column;
    if (old->units == 0 && old->free + old->dirty == old->width)
        bry__dba_group_done(self, old);
}

static uint64_t go_on_moving(bry__dba *self, uint64_t budget)
{
    bry__dba_move *move = &self->move;
    uint64_t most = UINT64_MAX / ROWS_WORTH;
    uint64_t rows = (budget < most ? budget : most) * ROWS_WORTH, done = 0;
    const bry__dba_place *place = bry__dba_place_of(self, move->slot);
    while (done < rows && move->table < place->group->tables) {
        uint64_t left = place->group->shape.range - move->row;
        uint64_t n = rows - done < left ? rows - done : left;
        bry__dba_column_or_rows(move->group, move->column, place->group, place->column, move->table,
                                move->row, n);
        done += n;
        move->row += n;
        if (n == left) {
            move->table++;
            move->row = 0;
        }
    }
    if (move->table == place->group->tables) {
        bry__dba_move was = *move;
        *move = (bry__dba_move){0};
        bry__dba_resettle(self, was.slot, was.group, was.column);
    }
    return done / ROWS_WORTH + 1;
}

/* ---- all together -------------------------------------------------------------------------- */

bry_status bry__dba_tidy(bry__dba *self, uint64_t budget, uint64_t *used)
{
    bool under_way = self->clear.group || self->merge.into || self->move.group;
    bool started = under_way || start_clear(self);
    uint64_t looked = under_way ? 0 : self->groups / GROUPS_WORTH;
    bry_status status = BRY_OK;
    *used = 0;
    if (!started)
        status = start_merge(self, &started);
    if (status == BRY_OK && !started)
        status = start_move(self, &started);
    if (status != BRY_OK || !started)
        return status;
    if (self->clear.group)
        *used = go_on_clearing(self, budget);
    else if (self->merge.into)
        *used = go_on_merging(self, budget);
    else
        *used = go_on_moving(self, budget);
    *used += looked;
    return BRY_OK;
}

uint64_t bry__dba_tidy_waiting(const bry__dba *self)
{
    uint64_t sum = 0;
    const bry__dba_group *into = self->merge.into;
    if (into)
        sum += rows_worth(into, dba_cleanup_rows_left(into, into->copied_table, into->copied_row));
    for (uint32_t g = 0; g < self->groups; g++) {
        const bry__dba_group *group = self->group[g];
        bry__dba_group *from[8];
        if (wants_clear(self, group))
            sum += rows_worth(group, dba_cleanup_rows_of(group));
        if (dba_cleanup_may_merge(self, group) && find_merge(self, g, from) == merge_count(group))
            sum += rows_worth(group, dba_cleanup_rows_of(group));
    }
    const bry__dba_group *moves = dba_cleanup_find_move(self);
    if (self->move.group)
        sum +=
            dba_cleanup_rows_left(self->move.group, self->move.table, self->move.row) / ROWS_WORTH +
            1;
    if (moves)
        sum += moves->units * (dba_cleanup_rows_of(moves) / ROWS_WORTH + 1);
    return sum;
}
