/*
 * Engine kbf: maps that are built apart are merged without their keys, a pair is taken out again,
 * and a rebuild removes the ghosts of deletions that were refused.
 */
#include <bloomery/map.h>

#include <inttypes.h>
#include <stdio.h>

enum { PARTS = 2, KEYS = 20000 };

static bry_map_value value_of(uint64_t key)
{
    return bry_map_value_number(key % 100);
}

/* Supplies the pairs that should be in the map: the keys from 1 on. */
static bry_status supply(void *map, uint64_t from, bry_hash *hashes, bry_map_value *values,
                         size_t room, size_t *got)
{
    *got = 0;
    for (uint64_t key = from + 1; key < KEYS && *got < room; key++, ++*got) {
        hashes[*got] = bry_map_hash(map, &key, sizeof key);
        values[*got] = value_of(key);
    }
    return BRY_OK;
}

static bry_status fill(bry_map *map, uint64_t part)
{
    bry_status status = BRY_OK;
    for (uint64_t key = part; key < KEYS && status == BRY_OK; key += PARTS) {
        bry_hash hash = bry_map_hash(map, &key, sizeof key);
        status = bry_map_add(map, hash, value_of(key)); /* known to be new: no look-up */
    }
    return status;
}

int main(void)
{
    bry_map_options options = BRY_MAP_OPTIONS;
    options.engine = BRY_ENGINE_KBF;
    options.capacity = KEYS; /* of all parts: a merge cannot enlarge a map */
    options.value_bits = 7;
    options.seed = 1; /* maps can be merged if they have the same seed and shape */

    bry_map *part[PARTS] = {NULL};
    bry_status status = BRY_OK;
    for (uint64_t i = 0; i < PARTS && status == BRY_OK; i++) {
        status = bry_map_create(&options, &part[i]);
        if (status == BRY_OK)
            status = fill(part[i], i);
    }
    bry_map *all = part[0];
    if (status == BRY_OK)
        status = bry_map_merge(all, part[1]);
    if (status == BRY_OK)
        printf("merged:    %" PRIu64 " keys\n", bry_map_items(all));

    bry_answer was = BRY_ABSENT;
    uint64_t first = 0;
    if (status == BRY_OK) /* known to be there, with this value: leaves no ghost */
        status =
            bry_map_del_pair(all, bry_map_hash(all, &first, sizeof first), value_of(first), &was);
    if (status == BRY_OK)
        printf("taken out: %d pair\n", was == BRY_PRESENT);

    bry_map_supplier supplier = {supply, all};
    if (status == BRY_OK)
        status = bry_map_rebuild(all, &supplier);
    bry_map_stats stats = {0};
    if (status == BRY_OK)
        status = bry_map_get_stats(all, &stats);
    if (status == BRY_OK)
        printf("rebuilt:   %" PRIu64 " keys, %" PRIu64 " ghosts\n", stats.items, stats.kbf.ghosts);
    else
        fprintf(stderr, "%s: %s\n", bry_status_word(status), bry_status_text(status));
    for (int i = 0; i < PARTS; i++)
        bry_map_destroy(part[i]);
    return status == BRY_OK ? 0 : 3;
}
