/* The shape of a compact window, its bytes, and the table for a new entry under the limit. */
#include "hash/derive.h"
#include "window/compact/compact_window.h"

/* Names beyond those of live generations. Reclaiming may take this many generations before a value
 * has to differ from its name. */
#define SPARE 2u

bry_status bry__compact_window_shape_of(const bry_window_options *options,
                                        bry__compact_shape *shape, bry__maplet_options *maplet)
{
    uint64_t window = options->window, parts = options->generations;
    uint64_t length = window / parts + (window % parts != 0);
    uint64_t live = window / length + (window % length != 0) + 1;
    unsigned bits = 1;
    while ((uint64_t)1 << bits < live + SPARE)
        bits++;
    /* At the worst moment there are the elements of the window and of one more generation. */
    bry__u128 more = ((bry__u128)options->capacity * length + window - 1) / window;
    *shape = (bry__compact_shape){
        .window = window,
        .length = length,
        .bits = (uint8_t)bits,
        .refresh = options->refresh,
        .max_bytes = options->max_bytes,
    };
    uint64_t most = options->capacity + (uint64_t)more;
    *maplet = (bry__maplet_options){
        .capacity = most < BRY__CHAIN_MOST ? most : BRY__CHAIN_MOST,
        .error = options->error,
        .value_bits = bits,
        .fixed = options->fixed ? BRY__ANY_LOAD : BRY__GROWING,
    };
    bry__chain chain;
    return bry__maplet_plan(maplet, &chain) ? BRY_OK : BRY_E_RANGE;
}

uint64_t bry__compact_window_bytes(const bry__compact_window *window)
{
    return sizeof *window + bry__maplet_bytes(&window->maplet) + bry__aside_bytes(window->aside);
}

/* ---- the limit ------------------------------------------------------------------------------ */

/* Expected bytes with n[i] entries in table i. */
static double compact_window_planned(const bry__chain *chain, unsigned bits, const uint64_t *n)
{
    double bytes = 0;
    unsigned tables = 0; /* up to the last one that is not empty */
    for (unsigned i = chain->tables; i-- > 0;) {
        if (tables == 0 && n[i] > 0)
            tables = i + 1;
        if (tables > 0)
            bytes += (double)bry__maplet_plan_table(chain, bits, i, n[i]);
    }
    return tables > 0 ? bytes + (double)bry__values_plan_bytes((uint32_t)1 << bits, tables) : 0;
}

/* Upper bound of the bytes, if the tables are planned to take this many. */
static uint64_t compact_window_most(double planned)
{
    return sizeof(bry__compact_window) + (uint64_t)(planned * 1.04) + 1024;
}

uint64_t bry__compact_window_plan_bytes(const bry__maplet_options *maplet, uint64_t n)
{
    bry__chain chain;
    uint64_t counts[BRY__MAPLET_TABLES] = {n};
    return bry__maplet_plan(maplet, &chain)
               ? (uint64_t)compact_window_planned(&chain, maplet->value_bits, counts)
               : 0;
}

uint64_t bry__compact_window_bytes_first(const bry__maplet_options *maplet)
{
    return sizeof(bry__compact_window) + bry__compact_window_plan_bytes(maplet, 1) +
           bry__maplet_bytes_step();
}

uint64_t bry__compact_window_bytes_least(const bry__maplet_options *maplet)
{
    return compact_window_most((double)bry__compact_window_plan_bytes(maplet, 1));
}

/* Upper bound of the bytes with n[i] live entries in table i. It does not depend on what is still
 * to be reclaimed: so replicas refuse the same elements. */
static uint64_t compact_window_most_bytes(const bry__compact_window *window, const uint64_t *n)
{
    return compact_window_most(
        compact_window_planned(&window->maplet.chain, window->shape.bits, n));
}

/* The same with one more entry in this table, if it exists. */
static uint64_t compact_window_bytes_with(const bry__compact_window *window, unsigned table)
{
    uint64_t n[BRY__MAPLET_TABLES];
    bry__maplet_counts(&window->maplet, n);
    if (table < window->maplet.chain.tables)
        n[table]++;
    return compact_window_most_bytes(window, n);
}

bool bry__compact_window_keeps_limit(const bry__compact_window *window, const bry__maplet *maplet)
{
    uint64_t n[BRY__MAPLET_TABLES];
    bry__maplet_counts(maplet, n);
    return window->shape.max_bytes == 0 ||
           compact_window_most_bytes(window, n) <= window->shape.max_bytes;
}

bool bry__compact_window_at_limit(const bry__compact_window *window)
{
    return window->shape.max_bytes &&
           compact_window_bytes_with(window, bry__maplet_place(&window->maplet)) >
               window->shape.max_bytes;
}

static bool compact_window_is_under_limit(bry__compact_window *window, unsigned table)
{
    if (window->shape.max_bytes == 0)
        return true;
    const bry__maplet *maplet = &window->maplet;
    if (window->allowance > 0 && table < maplet->tables && bry__maplet_live(maplet, table) > 0) {
        window->allowance--;
        return true;
    }
    uint64_t bytes = compact_window_bytes_with(window, table), most = window->shape.max_bytes;
    if (bytes > most)
        return false;
    /* An entry takes less than 64 bytes, but some add a piece of the directory. */
    uint64_t steps = 8192 + bytes / 512;
    uint64_t surely = most - bytes > steps ? (most - bytes - steps) / 64 : 0;
    window->allowance = surely < UINT32_MAX ? (uint32_t)surely : UINT32_MAX;
    return true;
}

bry_status bry__compact_window_place(bry__compact_window *window, unsigned *table)
{
    unsigned i = bry__maplet_place(&window->maplet);
    if (i == window->maplet.chain.tables || !compact_window_is_under_limit(window, i))
        return BRY_E_FULL;
    *table = i;
    return BRY_OK;
}
