/* Shapes, levels of error control, and the errors promised and expected. */
#include "index/dba/dba_index.h"

#include <math.h>

#define LEAST 1e-20 /* smaller errors count as 0: rounding in the sum may be as large */

/* ---- widths -------------------------------------------------------------------------------- */

/* The power of two in [units/8, units/4), if there is one. */
static uint32_t dba_eighth(uint32_t units)
{
    uint32_t width = 8;
    while (width < BRY__DBA_MAX_WIDTH && 8 * width < units)
        width *= 2;
    return width;
}

/* While there are few units, a new group of width 8 would be mostly empty: units start in groups of
 * width 1, and eight of them are merged later. */
uint32_t bry__dba_width(const bry_index_options *options, uint32_t units)
{
    if (options->dba.group)
        return options->dba.group;
    return units <= 32 ? 1 : dba_eighth(units);
}

uint32_t bry__dba_width_wanted(const bry_index_options *options, uint32_t units)
{
    if (options->dba.group)
        return options->dba.group;
    return units < 8 ? 1 : dba_eighth(units);
}

/* ---- levels -------------------------------------------------------------------------------- */

static bry__dba_level dba_level_of(bry__dba_shape shape, uint32_t planned)
{
    return (bry__dba_level){
        .shape = shape,
        .unit_error = bry__dba_shape_error(&shape, (double)shape.capacity),
        .planned = planned,
    };
}

bry_status bry__dba_first_level(const bry_index_options *options, bry__dba_level *level)
{
    bry__dba_shape shape;
    uint32_t planned = options->units;
    if (options->dba.unit_bits || options->dba.hashes) {
        shape = (bry__dba_shape){
            .capacity = options->unit_capacity,
            .range = options->dba.unit_bits,
            .hashes = options->dba.hashes,
            .segmented = options->dba.segmented,
        };
        if (shape.hashes < 1 || shape.hashes > BRY__DBA_MAX_HASHES ||
            (shape.segmented && shape.range % shape.hashes))
            return BRY_E_RANGE;
        if (shape.segmented)
            shape.range /= shape.hashes;
        if (!bry__dba_shape_valid(&shape))
            return BRY_E_RANGE;
        double unit_error = bry__dba_shape_error(&shape, (double)shape.capacity);
        double units = floor(log1p(-options->error) / log1p(-unit_error) + 1e-9);
        planned = !(units > 1)                  ? 1
                  : units < BRY_INDEX_UNITS_MAX ? (uint32_t)units
                                                : BRY_INDEX_UNITS_MAX;
    } else {
        shape = bry__dba_shape_plan(options->unit_capacity,
                                    bry__dba_unit_error(options->error, options->units),
                                    options->dba.segmented);
        if (!bry__dba_shape_valid(&shape))
            return BRY_E_RANGE;
    }
    *level = dba_level_of(shape, planned);
    return BRY_OK;
}

/* The number of units that the next level is planned for. */
static uint32_t more_units(const bry__dba *self, uint32_t planned)
{
    uint64_t more = (uint64_t)planned * self->options.dba.factor;
    return more < BRY_INDEX_UNITS_MAX ? (uint32_t)more : BRY_INDEX_UNITS_MAX;
}

bool bry__dba_raise(const bry__dba *self, uint32_t planned, bool larger, bry__dba_level *raised)
{
    const bry__dba_level *last = &self->level[self->levels - 1];
    uint64_t capacity = last->shape.capacity;
    if (larger && capacity <= BRY_CAPACITY_MAX / self->options.dba.factor)
        capacity *= self->options.dba.factor;
    if (self->levels == BRY__DBA_LEVELS ||
        (planned == last->planned && capacity == last->shape.capacity))
        return false;
    double error = bry__dba_unit_error(self->options.error, planned);
    bry__dba_shape shape = capacity == last->shape.capacity && last->shape.segmented
                               ? bry__dba_shape_tighten(last->shape, error)
                               : bry__dba_shape_plan(capacity, error, last->shape.segmented);
    if (!bry__dba_shape_valid(&shape))
        return false;
    *raised = dba_level_of(shape, planned);
    return true;
}

uint32_t bry__dba_open_level(const bry__dba *self, bry__dba_level *raised)
{
    const bry__dba_level *last = &self->level[self->levels - 1];
    bool control = self->options.dba.control != BRY_INDEX_UNCONTROLLED && !self->options.fixed;
    if (control && self->units >= last->planned &&
        bry__dba_raise(self, more_units(self, last->planned),
                       self->options.dba.control == BRY_INDEX_LARGER, raised))
        return self->levels;
    *raised = *last;
    return self->levels - 1;
}

/*
 * Logarithms may differ in their last bit between machines, and a range that is searched for with
 * them may differ by one row, or, if it is large, by more.
 */
static bool dba_is_near(const bry__dba_level *stored, const bry__dba_level *made)
{
    uint64_t a = stored->shape.range, b = made->shape.range;
    return stored->shape.capacity == made->shape.capacity &&
           stored->shape.hashes == made->shape.hashes && stored->planned == made->planned &&
           (a > b ? a - b : b - a) <= 1 + (b >> 24);
}

bool bry__dba_is_first_level(const bry__dba *self, const bry__dba_level *stored)
{
    bry__dba_level made = self->level[0];
    if (self->options.dba.unit_bits == 0)
        return dba_is_near(stored, &made);
    /* The shape is given, and the number of units it is planned for is rounded. */
    bool planned = stored->planned >= 1 && stored->planned <= BRY_INDEX_UNITS_MAX &&
                   stored->planned + 1 >= made.planned && stored->planned <= made.planned + 1;
    return planned && bry__dba_shape_same(&stored->shape, &made.shape);
}

bool bry__dba_is_next_level(const bry__dba *self, const bry__dba_level *stored)
{
    bool larger = self->options.dba.control == BRY_INDEX_LARGER;
    uint32_t planned = self->level[self->levels - 1].planned;
    bry__dba_level made;
    if (self->options.dba.control == BRY_INDEX_UNCONTROLLED || (self->options.fixed && !larger))
        return false;
    return (!self->options.fixed &&
            bry__dba_raise(self, more_units(self, planned), larger, &made) &&
            dba_is_near(stored, &made)) ||
           (larger && bry__dba_raise(self, planned, true, &made) && dba_is_near(stored, &made));
}

double bry__dba_full_log(const bry__dba *self)
{
    double sum = 0;
    for (uint32_t i = 0; i < self->levels; i++)
        if (self->level[i].units)
            sum += self->level[i].units * log1p(-self->level[i].unit_error);
    return sum;
}

bool bry__dba_over(const bry__dba *self)
{
    return bry__dba_full_log(self) < log1p(-self->options.error) * (1 + 1e-9);
}

bool bry__dba_cramped(const bry__dba *self, const bry__index_slots *slots)
{
    const bry__dba_level *last = &self->level[self->levels - 1];
    if (self->options.dba.control != BRY_INDEX_LARGER || self->units < last->planned)
        return false;
    uint64_t capacity = 0;
    for (uint32_t i = 0; i < self->levels; i++)
        capacity += self->level[i].units * self->level[i].shape.capacity;
    return slots->elements + last->shape.capacity / 2 >= capacity;
}

/* ---- plans --------------------------------------------------------------------------------- */

/* Bytes of the planned units when all groups have been merged. */
static uint64_t units_cost(const bry_index_options *options, const bry__dba_shape *shape)
{
    uint64_t bytes = 0;
    uint32_t left = options->units, width = bry__dba_width_wanted(options, left);
    uint64_t groups = left / width;
    bytes += groups * bry__dba_group_cost(shape, width);
    left %= width;
    width = bry__dba_width(options, options->units);
    groups = left / width + (left % width != 0);
    return bytes + groups * bry__dba_group_cost(shape, width);
}

static uint64_t tables_cost(const bry_index_options *options)
{
    uint64_t width = bry__dba_width_wanted(options, options->units);
    uint64_t groups = options->units / width + 1, room = BRY__DBA_FIRST_GROUPS;
    while (room < groups)
        room *= 2;
    return bry__dba_slot_cost(options->units) + room * sizeof(bry__dba_group *);
}

bry_status bry__dba_plan(const bry_index_options *options, bry_index_shape *shape)
{
    bry__dba_level level;
    if (options->dba.group && !bry__dba_width_valid(options->dba.group))
        return BRY_E_RANGE;
    if (options->dba.control != BRY_INDEX_TIGHTER && options->dba.control != BRY_INDEX_LARGER &&
        options->dba.control != BRY_INDEX_UNCONTROLLED)
        return BRY_E_RANGE;
    if (options->dba.factor != 0 && (options->dba.factor < 2 || options->dba.factor > 16))
        return BRY_E_RANGE;
    bry_status status = bry__dba_first_level(options, &level);
    if (status != BRY_OK)
        return status;
    *shape = (bry_index_shape){
        .engine = BRY_ENGINE_DBA,
        .units = options->units,
        .unit_capacity = options->unit_capacity,
        .dba.group = bry__dba_width_wanted(options, options->units),
        .dba.unit_bits = bry__dba_rows(&level.shape),
        .dba.hashes = level.shape.hashes,
        .unit_error = level.unit_error,
        .error = -expm1(options->units * log1p(-level.unit_error)),
        .bytes = sizeof(bry__dba) + tables_cost(options) + units_cost(options, &level.shape),
        .bytes_empty = sizeof(bry__dba),
    };
    return BRY_OK;
}

/* ---- statistics ---------------------------------------------------------------------------- */

bool bry__dba_stale(const bry__dba *self, const bry__index_slot *unit)
{
    return unit->stale > 0 &&
           (double)unit->stale >= self->options.dba.stale * (double)unit->elements;
}

void bry__dba_unit_info(const void *self, const bry__index_slots *slots, uint32_t slot,
                        bry_index_unit_info *info)
{
    const bry__dba *dba = self;
    const bry__dba_group *group = bry__dba_place_of(dba, slot)->group;
    const bry__index_slot *unit = bry__slot(slots, slot);
    bool control = dba->options.dba.control != BRY_INDEX_UNCONTROLLED &&
                   ((group->level + 1 < dba->levels && bry__dba_over(dba)) ||
                    group == dba->emptying || bry__dba_cramped(dba, slots));
    info->wants_refresh = control || bry__dba_stale(dba, unit);
    info->error = bry__dba_shape_error(&group->shape, (double)unit->elements);
}

/* Adds x to the sum without loss: what is rounded off the high part goes to the low one. */
static void dba_sum_add(bry__dba_sum *sum, double x)
{
    double high = sum->high + x, part = high - sum->high;
    double lost = (sum->high - (high - part)) + (x - part) + sum->low;
    sum->high = high + lost;
    sum->low = lost - (sum->high - high);
}

static void dba_sum_put(bry__dba_sum *sum, double none)
{
    if (isinf(none))
        sum->certain++;
    else
        dba_sum_add(sum, none);
}

static void dba_sum_take(bry__dba_sum *sum, double none)
{
    if (isinf(none))
        sum->certain--;
    else
        dba_sum_add(sum, -none);
}

/* Updates the sum for the unit that was counted last; returns what the unit adds to it. */
static double dba_sum_recent(const bry__dba *self, bry__dba_sum *sum)
{
    const bry__dba_place *place = bry__dba_place_of(self, self->recent.slot);
    double error = bry__dba_shape_error(&place->group->shape, (double)self->recent.elements);
    double none = log1p(-error);
    dba_sum_take(sum, place->none);
    dba_sum_put(sum, none);
    return none;
}

void bry__dba_uncount(bry__dba *self, uint32_t slot)
{
    if (self->recent.slot == slot)
        self->recent.waits = false;
    dba_sum_take(&self->none, bry__dba_place_of(self, slot)->none);
    bry__dba_place_of(self, slot)->none = 0;
}

void bry__dba_counted(void *self, uint32_t slot, uint64_t elements)
{
    bry__dba *dba = self;
    if (dba->recent.waits && dba->recent.slot != slot)
        bry__dba_place_of(dba, dba->recent.slot)->none = dba_sum_recent(dba, &dba->none);
    dba->recent = (bry__dba_recent){.waits = true, .slot = slot, .elements = elements};
}

/* How many units there may be: those there are, and as many more (or fewer) of the last level as
 * the promise allows. */
static uint32_t dba_promised_units(const bry__dba *self)
{
    double slack = log1p(-self->options.error) - bry__dba_full_log(self);
    double more = floor(slack / log1p(-self->level[self->levels - 1].unit_error) + 1e-6);
    double units = self->units + more;
    return !(units > 0) ? 0 : units < BRY_INDEX_UNITS_MAX ? (uint32_t)units : BRY_INDEX_UNITS_MAX;
}

void bry__dba_stats(const void *self, const bry__index_slots *slots, bry_index_stats *stats)
{
    const bry__dba *dba = self;
    bry__dba_level next;
    bry__dba_sum sum = dba->none;
    if (dba->recent.waits)
        dba_sum_recent(dba, &sum);
    double rows = 0, none = sum.high + sum.low;
    bry__dba_open_level(dba, &next);
    stats->promised_units = dba_promised_units(dba);
    stats->unit_capacity = next.shape.capacity;
    stats->dba.groups = dba->groups;
    stats->dba.group = 0;
    for (uint32_t g = 0; g < dba->groups; g++) {
        const bry__dba_group *group = dba->group[g];
        if (group->width > stats->dba.group)
            stats->dba.group = group->width;
    }
    for (uint32_t i = 0; i < dba->levels; i++)
        rows += (double)dba->level[i].units * (double)bry__dba_rows(&dba->level[i].shape);
    stats->fill = rows > 0 ? (double)dba->set / rows : 0;
    stats->promised_error = dba->options.error;
    stats->estimated_error = sum.certain ? 1 : none < -LEAST ? -expm1(none) : 0;
    stats->full_error = -expm1(bry__dba_full_log(dba));
    stats->waiting = bry__dba_waiting(dba, slots, &stats->waiting_for_supplier);
    stats->dba.rebuilds = dba->rebuilds;
}
