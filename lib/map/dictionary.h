/*
 * The dictionary of a map of byte strings: value → code, and code → value. dictionary.c explains.
 */
#ifndef BRY_MAP_DICTIONARY_H
#define BRY_MAP_DICTIONARY_H

#include "map/map_engine.h"
#include "map/value_bytes.h"
#include "map/value_entries.h"

typedef struct bry__dictionary {
    bry_allocator allocator;
    const bry__map_engine *engine;
    bry_map_options options; /* of the secondary */
    void *secondary; /* value's hash → code */
    uint64_t most; /* codes that there may be */
    uint64_t codes; /* 0 to codes - 1 are assigned or free */
    uint64_t value_bytes; /* of all values that have a code */
    uint64_t since_scan; /* codes assigned since the last scan for unused ones, and … */
    uint64_t lost; /* … keys that were deleted or got another code since: the map counts them */
    bry__value_entries entries; /* for each code the place of its bytes */
    uint32_t *free; /* the free codes, largest first: the last of them is the next to be given */
    size_t free_count, free_room;
    bry__value_bytes bytes;
} bry__dictionary;

/* What a dictionary without values allocates, and what one with all values of the options does
 * without their bytes. `options` are the map's. BRY_E_RANGE. */
bry_status bry__dictionary_plan(const bry__map_engine *engine, const bry_map_options *options,
                                uint64_t values, uint64_t *bytes_empty, uint64_t *bytes);

/* values: the map's shape's. BRY_E_NOMEM. */
bry_status bry__dictionary_init(bry__dictionary *dictionary, const bry__map_engine *engine,
                                const bry_map_options *options, uint64_t values,
                                const bry_allocator *allocator);
void bry__dictionary_free(bry__dictionary *dictionary);
bry_status bry__dictionary_clone(const bry__dictionary *dictionary, bry__dictionary *copy);
void bry__dictionary_clear(bry__dictionary *dictionary);

/* ---- asking -------------------------------------------------------------------------------- */

static inline uint64_t bry__dictionary_count(const bry__dictionary *dictionary)
{
    return dictionary->codes - dictionary->free_count;
}

bool bry__dictionary_has(const bry__dictionary *dictionary, uint64_t code);

/* The value of a code that is assigned; number is 0. */
bry_map_value bry__dictionary_value(const bry__dictionary *dictionary, uint32_t code);

/* The code of a value; false when it has none. */
bool bry__dictionary_find(const bry__dictionary *dictionary, const void *bytes, size_t len,
                          uint32_t *code);

/* ---- changing ------------------------------------------------------------------------------ */

/* A state to come back to. */
typedef struct bry__dictionary_mark {
    uint64_t codes, since_scan;
    size_t free_count, pieces, used; /* used: of the last piece */
} bry__dictionary_mark;

bry__dictionary_mark bry__dictionary_remember(const bry__dictionary *dictionary);

/* Forgets the values that came since, in reverse order. Nothing else may have happened since. */
void bry__dictionary_forget(bry__dictionary *dictionary, const bry__dictionary_mark *mark);

/* The code of a value, which gets one if it has none. BRY_E_RANGE: too long. BRY_E_FULL: no code is
 * left. BRY_E_NOMEM. */
bry_status bry__dictionary_intern(bry__dictionary *dictionary, const void *bytes, size_t len,
                                  uint32_t *code);

/* Gives the next code to a value that has none. As intern. */
bry_status bry__dictionary_append(bry__dictionary *dictionary, const void *bytes, size_t len);

/* For loading: the next code is a free one; and, after the last, finds all that are. */
bry_status bry__dictionary_append_free(bry__dictionary *dictionary);
bry_status bry__dictionary_list_free(bry__dictionary *dictionary);

/* Frees the codes whose bit is not set, and packs the others' bytes. Without memory for that they
 * all stay, and so do the counts since the last scan. */
void bry__dictionary_keep(bry__dictionary *dictionary, const uint64_t *used);

uint64_t bry__dictionary_bytes_secondary(const bry__dictionary *dictionary);
uint64_t bry__dictionary_bytes(const bry__dictionary *dictionary); /* without the secondary */

#endif
