/* Random operations on an index of either engine: the same numbers on an index of the same contents
 * do the same. */
#ifndef BRY_TESTS_INDEX_COMMANDS_H
#define BRY_TESTS_INDEX_COMMANDS_H

#include "support/index_helpers.h"

enum { MOST_UNITS = 40, ELEMENTS = 3000 };

static inline uint32_t pick_unit(const bry_index *index, generator *numbers)
{
    uint32_t units[2 * MOST_UNITS];
    size_t n = bry_index_units(index, units, 2 * MOST_UNITS);
    return n ? units[generator_below(numbers, n)] : UINT32_MAX;
}

static inline bry_status add_some(bry_index *index, generator *numbers)
{
    bry_hash hashes[200];
    uint32_t unit = pick_unit(index, numbers);
    size_t n = 1 + generator_below(numbers, 200);
    for (size_t i = 0; i < n; i++) /* some are in many units, one in all that there are */
        hashes[i] = element(i == 0 ? 0 : generator_below(numbers, ELEMENTS));
    return bry_index_add_n(index, hashes, n, unit, NULL, NULL);
}

static inline bry_status move_unit(bry_index *index, generator *numbers)
{
    bry_buffer bytes = BRY_BUFFER;
    bry_sink sink = bry_buffer_sink(&bytes);
    uint32_t unit = pick_unit(index, numbers), number;
    if (bry_index_save_unit(index, unit, &sink, NULL) != BRY_OK)
        return BRY_E_RANGE;
    bry_view view = {bytes.bytes, bytes.len, 0};
    bry_source source = bry_view_source(&view);
    bry_status status = bry_index_import_unit(index, &source, NULL, &number);
    bry_buffer_free(&bytes);
    return status;
}

/* One random operation. */
static inline bry_status command(bry_index *index, generator *numbers)
{
    uint32_t unit, other;
    unsigned units = stats_of(index).units;
    switch (generator_below(numbers, 20)) {
    case 0:
    case 1:
    case 2:
        return units < MOST_UNITS ? bry_index_open(index, generator_below(numbers, 100), &unit)
                                  : BRY_OK;
    case 3:
    case 4:
        return units > 2 ? bry_index_drop(index, pick_unit(index, numbers)) : BRY_OK;
    case 5:
        unit = pick_unit(index, numbers);
        other = pick_unit(index, numbers);
        return bry_index_merge_units(index, unit, other);
    case 6:
        return units < MOST_UNITS ? move_unit(index, numbers) : BRY_OK;
    case 7:
        return bry_index_step(index, NULL, generator_below(numbers, 3000), NULL);
    case 8:
        for (unsigned i = 0; i < 50; i++)
            bry_index_del(index, element(generator_below(numbers, ELEMENTS)),
                          pick_unit(index, numbers), NULL);
        return BRY_OK;
    case 9: /* nearly all are deleted, so that tables are folded */
        for (unsigned i = 0; units > 4 && i < units - 3 && generator_below(numbers, 4) == 0; i++)
            bry_index_drop(index, pick_unit(index, numbers));
        return BRY_OK;
    default:
        return add_some(index, numbers);
    }
}

#endif
