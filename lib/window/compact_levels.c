#include "window/compact_levels.h"

#include "hash/derive.h"

/* Numbers that must be free beside those of live generations: so long may reclaiming take. */
#define SPARE 2u
/* ---- shape --------------------------------------------------------------------------------- */

bry_status bry__compact_shape_of(const bry_window_options *options, bry__compact_shape *shape)
{
    uint64_t window = options->window, parts = options->generations;
    uint64_t length = window / parts + (window % parts != 0);
    uint64_t live = window / length + (window % length != 0) + 1;
    unsigned bits = 1;
    while ((uint64_t)1 << bits < live + SPARE)
        bits++;
    /* Elements of window and one generation more are there at the worst moment. */
    bry__u128 more = ((bry__u128)options->capacity * length + window - 1) / window;
    bry__compact_shape made = {
        .window = window,
        .length = length,
        .value_bits = bits,
        .fixed = options->fixed,
        .refresh = options->refresh,
        .max_bytes = options->max_bytes,
    };
    if (!bry__chain_plan(&made.chain, options->capacity + (uint64_t)more, options->error,
                         options->fixed))
        return BRY_E_RANGE;
    *shape = made;
    return BRY_OK;
}

static size_t level_size(const bry__compact_shape *shape)
{
    return sizeof(bry__window_level) + (size_t)bry__window_slots(shape) * sizeof(uint64_t);
}

uint64_t bry__level_plan_bytes(const bry__compact_shape *shape, unsigned level, uint64_t n)
{
    return level_size(shape) +
           bry__table_plan_bytes(shape->chain.range[level], shape->value_bits, n);
}

/* ---- levels -------------------------------------------------------------------------------- */

static void count_live(bry__compact_window *window, unsigned level)
{
    uint64_t live = 0;
    /* Generation 2⁶⁴ - 1 has none after it. */
    uint64_t n = window->oldest <= window->newest ? window->newest - window->oldest + 1 : 0;
    for (uint64_t i = 0; i < n; i++)
        live += *bry__window_count(window, level, window->oldest + i);
    window->level[level]->live = live;
}

void bry__window_move(bry__compact_window *window, uint64_t newest, uint64_t oldest)
{
    if (newest == window->newest && oldest == window->oldest)
        return;
    uint64_t fresh = newest > window->newest ? newest - window->newest : 0;
    if (fresh > bry__window_slots(&window->shape))
        fresh = bry__window_slots(&window->shape);
    window->newest = newest;
    window->oldest = oldest;
    for (unsigned i = 0; i < window->levels; i++) {
        for (uint64_t j = 0; j < fresh; j++)
            *bry__window_count(window, i, newest - j) = 0;
        count_live(window, i);
    }
}

void bry__window_recount(bry__compact_window *window)
{
    for (unsigned i = 0; i < window->levels; i++)
        count_live(window, i);
}

bry_status bry__level_open(bry__compact_window *window)
{
    size_t size = level_size(&window->shape);
    bry__window_level *level = bry__alloc(&window->allocator, size);
    if (!level)
        return BRY_E_NOMEM;
    bry_status status = bry__table_init(&level->table, window->shape.chain.range[window->levels],
                                        window->shape.value_bits, &window->allocator);
    if (status != BRY_OK) {
        bry__free(&window->allocator, level, size);
        return status;
    }
    if (window->levels == 0)
        window->least = window->newest;
    window->level[window->levels++] = level;
    window->allowance = 0;
    return BRY_OK;
}

static bry__window_level *take_last(bry__compact_window *window)
{
    bry__window_level *level = window->level[--window->levels];
    if (window->levels == 0)
        window->sweeping = false;
    return level;
}

void bry__level_close(bry__compact_window *window)
{
    bry__window_level *level = take_last(window);
    bry__table_free(&level->table, &window->allocator);
    bry__free(&window->allocator, level, level_size(&window->shape));
}

void bry__level_discard(bry__compact_window *window, bry__window_level *level)
{
    level->next = window->trash;
    window->trash = level;
}

void bry__past_discard(bry__compact_window *window, bry__compact_window *set)
{
    while (set->levels > 0)
        bry__level_discard(window, take_last(set));
    bry__free(&window->allocator, set, sizeof *set);
}

void bry__levels_free_some(bry__compact_window *window, size_t groups)
{
    while (window->trash && groups > 0) {
        bry__window_level *level = window->trash;
        size_t before = level->table.groups;
        if (!bry__table_free_some(&level->table, groups, &window->allocator))
            return;
        groups -= before < groups ? before : groups;
        window->trash = level->next;
        bry__free(&window->allocator, level, level_size(&window->shape));
    }
}

void bry__levels_free(bry__compact_window *window)
{
    if (window->past)
        bry__past_discard(window, window->past);
    window->past = NULL;
    while (window->levels > 0)
        bry__level_close(window);
    bry__levels_free_some(window, SIZE_MAX);
}

bry_status bry__levels_clone(const bry__compact_window *from, bry__compact_window *to,
                             const bry_allocator *allocator)
{
    bry__compact_window made = *from;
    made.allocator = *allocator;
    made.past = NULL;
    made.trash = NULL;
    for (made.levels = 0; made.levels < from->levels; made.levels++) {
        const bry__window_level *level = from->level[made.levels];
        bry__window_level *copy = bry__alloc(allocator, level_size(&from->shape));
        if (!copy || bry__table_clone(&level->table, &copy->table, allocator) != BRY_OK) {
            bry__free(allocator, copy, level_size(&from->shape));
            bry__levels_free(&made);
            return BRY_E_NOMEM;
        }
        copy->live = level->live;
        for (uint64_t i = 0; i < bry__window_slots(&from->shape); i++)
            copy->count[i] = level->count[i];
        made.level[made.levels] = copy;
    }
    if (from->past && bry__levels_merge(&made, from->past) != BRY_OK) {
        bry__levels_free(&made);
        return BRY_E_NOMEM;
    }
    *to = made;
    return BRY_OK;
}

uint64_t bry__levels_own_live(const bry__compact_window *window)
{
    uint64_t live = 0;
    for (unsigned i = 0; i < window->levels; i++)
        live += window->level[i]->live;
    return live;
}

uint64_t bry__levels_live(const bry__compact_window *window)
{
    return bry__levels_own_live(window) + (window->past ? bry__levels_own_live(window->past) : 0);
}

uint64_t bry__level_live(const bry__compact_window *window, unsigned level)
{
    const bry__compact_window *past = window->past;
    return (level < window->levels ? window->level[level]->live : 0) +
           (past && level < past->levels ? past->level[level]->live : 0);
}

/* Levels that this window or its past has. */
static unsigned levels_of(const bry__compact_window *window)
{
    return window->past && window->past->levels > window->levels ? window->past->levels
                                                                 : window->levels;
}

uint64_t bry__levels_own(const bry__compact_window *window)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < window->levels; i++)
        all += window->level[i]->table.n;
    return all;
}

uint64_t bry__levels_bytes(const bry__compact_window *window)
{
    uint64_t bytes = sizeof *window;
    for (unsigned i = 0; i < window->levels; i++)
        bytes += level_size(&window->shape) + bry__table_bytes(&window->level[i]->table);
    for (const bry__window_level *level = window->trash; level; level = level->next)
        bytes += level_size(&window->shape) + bry__table_bytes(&level->table);
    return window->past ? bytes + bry__levels_bytes(window->past) : bytes;
}

/* What is remembered in each level, for the functions of maplet_plan.h. */
static void count_levels(const bry__compact_window *window, uint64_t n[BRY__WINDOW_LEVELS])
{
    for (unsigned i = 0; i < BRY__WINDOW_LEVELS; i++)
        n[i] = bry__level_live(window, i);
}

double bry__levels_error(const bry__compact_window *window)
{
    uint64_t n[BRY__WINDOW_LEVELS];
    count_levels(window, n);
    return bry__chain_error(&window->shape.chain, n);
}

bool bry__levels_keep_error(const bry__compact_window *window)
{
    uint64_t n[BRY__WINDOW_LEVELS];
    count_levels(window, n);
    return window->shape.fixed || bry__chain_keeps(&window->shape.chain, n);
}

/* ---- where a new entry goes ---------------------------------------------------------------- */

/* The most that tables take which are planned to take this many bytes. */
static uint64_t at_most(double planned)
{
    return sizeof(bry__compact_window) + (uint64_t)(planned * 1.04) + 1024;
}

/* What the entries that are remembered, and one more in `level`, take at most. It depends on those
 * alone, not on what is still to be reclaimed: so the same elements are refused everywhere. */
#define NO_LEVEL BRY__WINDOW_LEVELS
static uint64_t bytes_at_most(const bry__compact_window *window, unsigned level)
{
    double bytes = 0;
    bool needed = false; /* those before the last that holds something */
    for (unsigned i = window->shape.chain.tables; i-- > 0;) {
        uint64_t n = bry__level_live(window, i) + (i == level);
        needed = needed || n > 0;
        if (needed)
            bytes += (double)bry__level_plan_bytes(&window->shape, i, n);
    }
    return at_most(bytes);
}

uint64_t bry__levels_bytes_first(const bry__compact_shape *shape)
{
    return sizeof(bry__compact_window) + bry__level_plan_bytes(shape, 0, 1) + bry__segment_block(1);
}

uint64_t bry__levels_bytes_least(const bry__compact_shape *shape)
{
    return at_most((double)bry__level_plan_bytes(shape, 0, 1));
}

static bool is_under_ceiling(bry__compact_window *window, unsigned level)
{
    if (window->shape.max_bytes == 0)
        return true;
    if (window->allowance > 0 && bry__level_live(window, level) > 0) {
        window->allowance--;
        return true;
    }
    uint64_t bytes = bytes_at_most(window, level), most = window->shape.max_bytes;
    if (bytes > most)
        return false;
    /* No entry takes 64 bytes, but now and then one brings a piece of the directory. */
    uint64_t steps = 8192 + bytes / 512;
    window->allowance = most - bytes > steps ? (most - bytes - steps) / 64 : 0;
    return true;
}

unsigned bry__levels_first_with_room(const bry__compact_window *window)
{
    const bry__chain *chain = &window->shape.chain;
    if (window->shape.fixed ||
        (levels_of(window) <= 1 && bry__level_live(window, 0) < chain->capacity[0]))
        return 0;
    uint64_t n[BRY__WINDOW_LEVELS];
    count_levels(window, n);
    return bry__chain_place(chain, n);
}

bool bry__levels_keep_ceiling(const bry__compact_window *window)
{
    return window->shape.max_bytes == 0 ||
           bytes_at_most(window, NO_LEVEL) <= window->shape.max_bytes;
}

bool bry__levels_at_ceiling(const bry__compact_window *window)
{
    return window->shape.max_bytes &&
           bytes_at_most(window, bry__levels_first_with_room(window)) > window->shape.max_bytes;
}

bry_status bry__levels_place(bry__compact_window *window, unsigned *level)
{
    unsigned i = bry__levels_first_with_room(window);
    if (i == window->shape.chain.tables || !is_under_ceiling(window, i))
        return BRY_E_FULL;
    *level = i;
    return BRY_OK;
}
