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
    uint64_t free_count; /* codes that are free: the smallest is the next to be given */
    bry__value_entries entries; /* for each code the place of its bytes, and its keys */
    bry__value_bytes bytes;
    uint64_t tidied; /* code before which no value was found among gaps, so far */
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
bry_status bry__dictionary_clone(const bry__dictionary *dictionary, const bry_allocator *allocator,
                                 bry__dictionary *copy);
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

/* The code of a value, which gets one if it has none. BRY_E_RANGE: too long. BRY_E_FULL: no code is
 * left. BRY_E_NOMEM. A code that it gives is a new one until the call that asked for it is done:
 * bry__dictionary_confirm() or, where keys are counted, bry__dictionary_gain(); or
 * bry__dictionary_forget() where that failed. */
bry_status bry__dictionary_intern(bry__dictionary *dictionary, const void *bytes, size_t len,
                                  uint32_t *code);

/* Gives the next code to a value that has none. As intern. */
bry_status bry__dictionary_append(bry__dictionary *dictionary, const void *bytes, size_t len);

/* For loading: the next code is a free one. */
bry_status bry__dictionary_append_free(bry__dictionary *dictionary);

/* Of n codes that intern gave: those that are new stay, or go again. There were `codes` before. */
void bry__dictionary_confirm(bry__dictionary *dictionary, const uint32_t *codes, size_t n);
void bry__dictionary_forget(bry__dictionary *dictionary, uint64_t before, const uint32_t *codes,
                            size_t n);

/* Drops the values of all codes from this one on. */
void bry__dictionary_cut(bry__dictionary *dictionary, uint64_t codes);

/* ---- codes that no key carries ------------------------------------------------------------- */

/* One key more carries the code, or one less: with the last one its value goes, and a little of the
 * work that gaps make is done. */
void bry__dictionary_gain(bry__dictionary *dictionary, uint32_t code);
void bry__dictionary_lose(bry__dictionary *dictionary, uint32_t code);

static inline uint32_t bry__dictionary_uses(const bry__dictionary *dictionary, uint64_t code)
{
    return *bry__value_uses(&dictionary->entries, code);
}

/* No key carries any, for counting anew. */
void bry__dictionary_unuse(bry__dictionary *dictionary);

/* Drops all values that no key carries, and all gaps as far as there is memory for that. */
void bry__dictionary_pack(bry__dictionary *dictionary);

uint64_t bry__dictionary_bytes_secondary(const bry__dictionary *dictionary);
uint64_t bry__dictionary_bytes(const bry__dictionary *dictionary); /* without the secondary */

#endif
